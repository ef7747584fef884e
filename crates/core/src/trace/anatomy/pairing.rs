//! Which events belong to which I/O.
//!
//! Both are laid out on one axis of time. An I/O is open from when the program issued it until the
//! program had it back; an event belongs to the open I/O whose sectors it touches. That needs no
//! knowledge of how requests were merged or cut: a request that carries several I/Os touches the
//! sectors of each, and an I/O that was cut is done when all of its sectors are. Where two open
//! I/Os share a sector nobody can tell, and both are dropped.

use super::{Anatomy, Dissected, KindAnatomy, SLOWEST_MIN, Stamped};
use crate::op::{Action, Time};
use crate::trace::block::{BlockEvent, Point, Trace};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const SECTOR_BYTES: u64 = 512;

/// Where a part of the target lies on the disk; all in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// First byte on the target.
    pub offset: u64,
    /// Length of the range in bytes.
    pub bytes: u64,
    /// First byte on the disk.
    pub on_disk: u64,
}

/// An I/O that the program has not got back yet.
#[derive(Debug, Clone, Copy, Default)]
struct Open {
    io: usize,
    sectors: u64,
    queued: Option<Time>,
    issued: Option<Time>,
    completed: Time,
    issued_sectors: u64,
    completed_sectors: u64,
    is_ambiguous: bool,
}

struct Sweep<'a> {
    ios: &'a [Stamped],
    /// First sectors of those that were opened.
    starts: Vec<Option<u64>>,
    open: BTreeMap<u64, Open>,
    /// No I/O has more sectors.
    longest: u64,
    anatomy: Anatomy,
    found: Vec<(Action, Dissected)>,
}

/// Takes the I/Os of one step apart. The trace is in order of time, on the same clock as the
/// stamps plus `zero`; `pieces` are in the order of their offsets.
pub fn dissect(
    trace: &Trace,
    zero: Time,
    device: u32,
    mut ios: Vec<Stamped>,
    pieces: &[Piece],
) -> Anatomy {
    ios.sort_by_key(|io| (io.issued, io.completed));
    let mut ends: Vec<usize> = (0..ios.len()).collect();
    ends.sort_by_key(|io| ios[*io].completed);
    let mut sweep = Sweep {
        longest: ios.iter().map(sectors_of).max().unwrap_or(0),
        ios: &ios,
        starts: vec![None; ios.len()],
        open: BTreeMap::new(),
        anatomy: Anatomy {
            events: trace.events.len() as u64,
            missed: trace.missed,
            missed_more: trace.missed_more,
            stamped: ios.len() as u64,
            ..Anatomy::default()
        },
        found: Vec::with_capacity(ios.len()),
    };
    let (mut begins, mut ends) = ((0..ios.len()).peekable(), ends.into_iter().peekable());
    for event in trace.events.iter().filter(|event| event.device == device) {
        let at = event.at.saturating_sub(zero);
        sweep.until(at, &mut begins, &mut ends, pieces);
        sweep.event(event, at);
    }
    sweep.until(Time::MAX, &mut begins, &mut ends, pieces);
    gather(sweep.anatomy, sweep.found)
}

impl Sweep<'_> {
    /// Opens and closes what the program issued and got back before `at`.
    fn until(
        &mut self,
        at: Time,
        begins: &mut std::iter::Peekable<std::ops::Range<usize>>,
        ends: &mut std::iter::Peekable<std::vec::IntoIter<usize>>,
        pieces: &[Piece],
    ) {
        loop {
            let begin = begins.peek().map(|io| self.ios[*io].issued).filter(|time| *time <= at);
            let end = ends.peek().map(|io| self.ios[*io].completed).filter(|time| *time < at);
            match (begin, end) {
                (None, None) => return,
                // One I/O may end at the very instant at which the next one begins.
                (Some(begin), end) if end.is_none_or(|end| begin < end) => {
                    let Some(io) = begins.next() else { return };
                    self.begin(io, pieces);
                }
                _ => {
                    let Some(io) = ends.next() else { return };
                    self.end(io);
                }
            }
        }
    }

    fn begin(&mut self, io: usize, pieces: &[Piece]) {
        let stamped = self.ios[io];
        let Some(start) = sector_of(&stamped, pieces) else {
            self.anatomy.unmapped += 1;
            return;
        };
        let sectors = sectors_of(&stamped);
        let mut is_ambiguous = false;
        for (_, other) in touched(&mut self.open, self.longest, start, sectors) {
            other.is_ambiguous = true;
            is_ambiguous = true;
        }
        if self.open.contains_key(&start) {
            // The other one stands there already; both are lost.
            self.anatomy.ambiguous += 1;
            return;
        }
        self.starts[io] = Some(start);
        let open = Open { io, sectors, is_ambiguous, ..Open::default() };
        self.open.insert(start, open);
    }

    fn event(&mut self, event: &BlockEvent, at: Time) {
        match event.point {
            Point::Split => self.anatomy.splits += 1,
            Point::Merge => self.anatomy.merges += 1,
            Point::Requeue => self.anatomy.requeues += 1,
            _ => {}
        }
        let sectors = u64::from(event.sectors);
        for (start, open) in touched(&mut self.open, self.longest, event.sector, sectors) {
            if event.action == Some(self.ios[open.io].action) {
                let end = (start + open.sectors).min(event.sector.saturating_add(sectors));
                open.take(event.point, at, end - start.max(event.sector));
            }
        }
    }

    fn end(&mut self, io: usize) {
        let Some(open) = self.starts[io].and_then(|start| self.open.remove(&start)) else { return };
        if open.is_ambiguous {
            self.anatomy.ambiguous += 1;
            return;
        }
        let is_whole =
            open.issued_sectors == open.sectors && open.completed_sectors == open.sectors;
        let (Some(queued), Some(issued), true) = (open.queued, open.issued, is_whole) else {
            self.anatomy.unpaired += 1;
            return;
        };
        let stamped = self.ios[io];
        // What a clock has backward counts as nothing, and makes the parts more than the total.
        let points = [stamped.issued, queued, issued, open.completed, stamped.completed];
        let dissected = Dissected {
            issued: stamped.issued,
            offset: stamped.offset,
            total_ns: stamped.completed.saturating_sub(stamped.issued),
            segments_ns: std::array::from_fn(|part| points[part + 1].saturating_sub(points[part])),
        };
        self.found.push((stamped.action, dissected));
    }
}

impl Open {
    fn take(&mut self, point: Point, at: Time, sectors: u64) {
        match point {
            // An attempt that may not wait can fail, and another follows: the first one counts.
            Point::Queue => self.queued = self.queued.or(Some(at)),
            Point::Issue => {
                self.issued = self.issued.or(Some(at));
                self.issued_sectors += sectors;
            }
            Point::Requeue => {
                self.issued_sectors = self.issued_sectors.saturating_sub(sectors);
                if self.issued_sectors == 0 {
                    self.issued = None;
                }
            }
            Point::Complete => {
                self.completed = at;
                self.completed_sectors += sectors;
            }
            Point::Request | Point::Insert | Point::Split | Point::Merge => {}
        }
    }
}

fn sectors_of(io: &Stamped) -> u64 {
    u64::from(io.bytes).div_ceil(SECTOR_BYTES).max(1)
}

/// The open I/Os that share a sector with these.
fn touched(
    open: &mut BTreeMap<u64, Open>,
    longest: u64,
    start: u64,
    sectors: u64,
) -> impl Iterator<Item = (u64, &mut Open)> {
    let end = start.saturating_add(sectors);
    let near = open.range_mut(start.saturating_sub(longest)..end);
    near.map(|(at, open)| (*at, open)).filter(move |(at, open)| at + open.sectors > start)
}

/// Where an I/O begins on the disk, if it lies there in one piece.
fn sector_of(io: &Stamped, pieces: &[Piece]) -> Option<u64> {
    let place = pieces.partition_point(|piece| piece.offset <= io.offset).checked_sub(1)?;
    let piece = pieces[place];
    let within = io.offset - piece.offset;
    let end = within.checked_add(u64::from(io.bytes))?;
    let on_disk = piece.on_disk.checked_add(within)?;
    (end <= piece.bytes).then_some(on_disk / SECTOR_BYTES)
}

fn gather(mut anatomy: Anatomy, mut found: Vec<(Action, Dissected)>) -> Anatomy {
    found.sort_by_key(|(_, io)| (std::cmp::Reverse(io.total_ns), io.issued));
    for (action, io) in &found {
        let place = anatomy.kinds.iter().position(|kind| kind.kind == *action);
        let place = place.unwrap_or_else(|| {
            anatomy.kinds.push(KindAnatomy::new(*action));
            anatomy.kinds.len() - 1
        });
        anatomy.kinds[place].add(io);
    }
    for kind in &mut anatomy.kinds {
        let most = SLOWEST_MIN.max(kind.total.count().div_ceil(1000) as usize);
        let of_kind = found.iter().filter(|(action, _)| *action == kind.kind);
        kind.slowest = of_kind.map(|(_, io)| *io).take(most).collect();
    }
    anatomy.kinds.sort_by_key(|kind| kind.kind);
    anatomy
}
