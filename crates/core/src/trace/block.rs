//! Events of the block layer: where an I/O stands on its way to the drive and back.

use super::format::{Field, Format, PageLayout};
use super::page::{self, Missed};
use crate::op::{Action, Time};

/// Where an I/O stands. The letters are those of blktrace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Point {
    /// Q: handed to the block layer.
    Queue,
    /// G: has a request of its own.
    Request,
    /// I: in the scheduler.
    Insert,
    /// D: handed to the driver of the drive.
    Issue,
    /// C: the drive is done with it.
    Complete,
    /// Cut in two, because it is larger than a request may be.
    Split,
    /// Joined a request in front of it, or behind it, or two requests became one.
    Merge,
    /// Taken back from the driver.
    Requeue,
}

impl Point {
    /// Events to enable, each with what it says.
    pub const EVENTS: [(&'static str, Point); 10] = [
        ("block_bio_queue", Point::Queue),
        ("block_getrq", Point::Request),
        ("block_rq_insert", Point::Insert),
        ("block_rq_issue", Point::Issue),
        ("block_rq_complete", Point::Complete),
        ("block_split", Point::Split),
        ("block_bio_backmerge", Point::Merge),
        ("block_bio_frontmerge", Point::Merge),
        ("block_rq_merge", Point::Merge),
        ("block_rq_requeue", Point::Requeue),
    ];
    /// Without one of these nothing can be said.
    pub const NEEDED: [Point; 3] = [Point::Queue, Point::Issue, Point::Complete];
}

/// One event of the block layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockEvent {
    /// On the trace's clock, in nanoseconds.
    pub at: Time,
    /// What happened.
    pub point: Point,
    /// The disk: major number in bits 20 and up, minor below.
    pub device: u32,
    /// First sector of 512 bytes on it.
    pub sector: u64,
    /// How many sectors.
    pub sectors: u32,
    /// What the I/O does; `None`: nothing that programs ask for.
    pub action: Option<Action>,
}

/// A whole trace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    /// In order of time, once all pages are in.
    pub events: Vec<BlockEvent>,
    /// Events that were overwritten before they were read, as far as counted.
    pub missed: u64,
    /// More were overwritten than were counted.
    pub missed_more: bool,
}

#[derive(Debug, Clone)]
struct Layout {
    id: u64,
    point: Point,
    device: Field,
    sector: Field,
    /// Absent in a split, which tells two sectors.
    sectors: Option<Field>,
    flags: Field,
}

/// Knows the layouts of one kernel.
#[derive(Debug, Clone)]
pub struct Decoder {
    page: PageLayout,
    layouts: Vec<Layout>,
}

impl Decoder {
    /// From the text of `events/header_page` and the `format` texts of the events.
    ///
    /// # Errors
    /// A layout that lacks what is needed.
    pub fn new(header_page: &str, formats: &[String]) -> Result<Decoder, String> {
        Decoder::with(header_page, formats, &Point::NEEDED)
    }

    /// The same for a trace of some points alone, of which these are needed.
    ///
    /// # Errors
    /// As [`Decoder::new`].
    pub fn with(
        header_page: &str,
        formats: &[String],
        needed: &[Point],
    ) -> Result<Decoder, String> {
        let page = PageLayout::parse(header_page)?;
        let layouts: Vec<Layout> =
            formats.iter().map(|text| layout(text)).collect::<Result<_, _>>()?;
        let lacks = |point: &&Point| !layouts.iter().any(|layout| layout.point == **point);
        match needed.iter().find(lacks) {
            Some(point) => Err(format!("this kernel traces no {point:?} of block devices")),
            None => Ok(Decoder { page, layouts }),
        }
    }

    /// Bytes of a page.
    pub fn page_bytes(&self) -> usize {
        self.page.bytes
    }

    /// Reads whole pages of `page_bytes` each.
    ///
    /// # Errors
    /// A page that contradicts itself.
    pub fn read(&self, pages: &[u8], page_bytes: usize, into: &mut Trace) -> Result<(), String> {
        for page in pages.chunks(page_bytes.max(1)) {
            let events = &mut into.events;
            let missed = page::read(&self.page, page, &mut |at, bytes| {
                events.extend(self.event(at, bytes));
            })?;
            match missed {
                Missed::Nothing => {}
                Missed::Events(count) => into.missed = into.missed.saturating_add(count),
                Missed::Unknown => into.missed_more = true,
            }
        }
        Ok(())
    }

    fn event(&self, at: Time, bytes: &[u8]) -> Option<BlockEvent> {
        let id = u64::from(u16::from_le_bytes(bytes.get(..2)?.try_into().ok()?));
        let layout = self.layouts.iter().find(|layout| layout.id == id)?;
        let sectors = layout.sectors.as_ref().map_or(Some(0), |field| field.number(bytes))?;
        Some(BlockEvent {
            at,
            point: layout.point,
            device: layout.device.number(bytes)? as u32,
            sector: layout.sector.number(bytes)?,
            sectors: sectors as u32,
            action: action(layout.flags.bytes(bytes)?),
        })
    }
}

impl Trace {
    /// Brings the events of all CPUs into the order of time.
    pub fn sort(&mut self) {
        self.events.sort_by_key(|event| (event.at, event.point));
    }
}

fn layout(text: &str) -> Result<Layout, String> {
    let format = Format::parse(text)?;
    let known = Point::EVENTS.iter().find(|(name, _)| *name == format.name);
    let (_, point) = known.ok_or_else(|| format!("{} is not an event of an I/O", format.name))?;
    Ok(Layout {
        id: u64::from(format.id),
        point: *point,
        device: format.field("dev")?,
        sector: format.field("sector")?,
        sectors: match point {
            Point::Split => None,
            _ => Some(format.field("nr_sector")?),
        },
        flags: format.field("rwbs")?,
    })
}

/// The letters of `rwbs`: a flush before it, what it does, and how.
fn action(flags: &[u8]) -> Option<Action> {
    let mut letters = flags.iter().skip_while(|letter| **letter == b'F');
    match letters.next().copied() {
        Some(b'R') => Some(Action::Read),
        Some(b'W') => Some(Action::Write),
        Some(b'D') => Some(Action::Trim),
        None | Some(0) if flags.first() == Some(&b'F') => Some(Action::Flush),
        _ => None,
    }
}
