//! An access specification as one stream, where it is one.
//!
//! Iometer draws a line for each I/O, then its direction, then whether it jumps. Lines may differ
//! in size and direction, which a stream draws together; whether to jump must then not depend on
//! what was drawn, and the rest (delay, burst, align, reply) must be the same on all lines.

use super::icf::{Access, SECTOR_BYTES, Specification};
use drivelab_core::op::Action;
use drivelab_core::plan::{Arrival, Jump, Mix, Pattern, Reply, Stream, Think, WeightedSize};
use drivelab_core::units::{Size, Span};

const NS_PER_MS: u64 = 1_000_000;

/// Why a specification is no single stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unlike {
    /// What it is about, as the file calls it.
    pub field: &'static str,
    /// The lines that disagree; the same twice where one disagrees with itself.
    pub lines: (usize, usize),
    /// What stands there and why that is no stream.
    pub text: String,
}

/// The multiple of bytes on which the requests of a line begin.
pub fn grid(access: &Access) -> u64 {
    if access.align == 0 { SECTOR_BYTES } else { access.align }
}

/// The lines that are drawn at all.
pub fn drawn(specification: &Specification) -> impl Iterator<Item = &Access> {
    specification.lines.iter().filter(|access| access.share > 0)
}

/// The stream of a specification: everything but workers, depth, place and content.
pub fn stream(specification: &Specification) -> Result<Stream, Unlike> {
    let lines: Vec<Access> = drawn(specification).copied().collect();
    let Some(first) = lines.first() else {
        return Err(Unlike { field: "% of size", lines: (0, 0), text: "no line is drawn".into() });
    };
    alike(&lines)?;
    let pattern = pattern(&lines)?;
    let (size, sizes) = sizes(&lines);
    apart(&lines, &pattern, &sizes)?;
    let mut stream = Stream { mix: mix(&lines), size, sizes, pattern, ..Stream::default() };
    stream.align = align(&stream, grid(first));
    if first.delay_ms > 0 {
        let time = Span(first.delay_ms.saturating_mul(NS_PER_MS));
        let burst = Some(u32::try_from(first.burst).unwrap_or(u32::MAX));
        stream.arrival = Arrival::Closed { burst, think: Some(Think { time, first: true }) };
    }
    if first.reply > 0 {
        stream.reply = Some(Reply::Next);
        stream.reply_size = reply_size(&lines)?.map(Size);
        let (place, reply) = (place(&stream), stream.reply_size.unwrap_or(stream.size).0);
        // The reply takes the next address, and the next request the one behind it.
        if let Pattern::Sequential(sequence) = &mut stream.pattern
            && stream.sizes.is_empty()
        {
            sequence.stride = Some(1 + reply.div_ceil(place) as i64);
        }
    }
    Ok(stream)
}

/// Bytes from one place of requests in order to the next.
pub fn place(stream: &Stream) -> u64 {
    stream.size.0.next_multiple_of(stream.alignment().max(1)).max(1)
}

/// Bytes of all replies, where they are not those of their requests.
fn reply_size(lines: &[Access]) -> Result<Option<u64>, Unlike> {
    let first = &lines[0];
    if lines.iter().all(|access| access.reply == access.size) {
        return Ok(None);
    }
    match lines.iter().find(|access| access.reply != first.reply) {
        None => Ok(Some(first.reply)),
        Some(other) => Err(Unlike {
            field: "reply",
            lines: (first.line, other.line),
            text: format!(
                "replies of {} bytes to requests of {} and of {} to {} cannot be one stream",
                first.reply, first.size, other.reply, other.size
            ),
        }),
    }
}

/// What must be the same on all lines, and what one line must not ask for.
fn alike(lines: &[Access]) -> Result<(), Unlike> {
    for access in lines {
        let unlike = |field, text| Err(Unlike { field, lines: (access.line, access.line), text });
        let whole = [("size", access.size), ("align", access.align), ("reply", access.reply)];
        for (field, bytes) in whole {
            if !bytes.is_multiple_of(SECTOR_BYTES) {
                let text = format!(
                    "{bytes} bytes are not whole sectors of {SECTOR_BYTES} bytes, and a disk does \
                     not transfer parts of a sector"
                );
                return unlike(field, text);
            }
        }
        if access.delay_ms > 0 && access.burst == 0 {
            return unlike("burst", "a burst of 0 I/Os after a delay issues nothing".into());
        }
    }
    let first = &lines[0];
    for other in lines {
        let pairs = [
            ("delay", first.delay_ms, other.delay_ms),
            ("align", grid(first), grid(other)),
            ("reply", u64::from(first.reply > 0), u64::from(other.reply > 0)),
            // Without a delay a burst means nothing.
            ("burst", first.burst * first.delay_ms.min(1), other.burst * other.delay_ms.min(1)),
        ];
        if let Some((field, one, two)) = pairs.into_iter().find(|(_, one, two)| one != two) {
            let what = match field {
                "delay" => format!("{one} ms before some I/Os and {two} ms before others"),
                "align" => format!("some I/Os on multiples of {one} bytes, others of {two}"),
                "reply" => "some I/Os with a reply and others without".to_owned(),
                _ => format!("bursts of {one} and of {two}"),
            };
            let text = format!("{what} are not a single stream");
            return Err(Unlike { field, lines: (first.line, other.line), text });
        }
    }
    Ok(())
}

/// Of each size and direction: weight in all, and weight that jumps, in 1/10 000 and 1/1 000 000.
#[derive(Debug, Clone, Copy)]
struct Cell {
    line: usize,
    size: u64,
    is_read: bool,
    weight: u64,
    jumps: u64,
}

fn cells(lines: &[Access]) -> Vec<Cell> {
    let mut found: Vec<Cell> = Vec::new();
    for access in lines {
        for (is_read, percent) in [(true, access.reads), (false, 100 - access.reads)] {
            let weight = u64::from(access.share) * u64::from(percent);
            let jumps = weight * u64::from(access.random);
            let mine = found.iter_mut().find(|it| it.size == access.size && it.is_read == is_read);
            match mine {
                _ if weight == 0 => {}
                Some(cell) => {
                    cell.weight += weight;
                    cell.jumps += jumps;
                }
                None => {
                    let Access { line, size, .. } = *access;
                    found.push(Cell { line, size, is_read, weight, jumps });
                }
            }
        }
    }
    found
}

/// Whether an I/O jumps must not depend on its size and direction.
fn pattern(lines: &[Access]) -> Result<Pattern, Unlike> {
    let cells = cells(lines);
    let (weight, jumps) =
        cells.iter().fold((0, 0), |sum, cell| (sum.0 + cell.weight, sum.1 + cell.jumps));
    let percent = |cell: &Cell| cell.jumps as f64 / cell.weight as f64;
    let first = &cells[0];
    if let Some(other) = cells.iter().find(|it| it.jumps * first.weight != first.jumps * it.weight)
    {
        let name = |cell: &Cell| {
            let kind = if cell.is_read { "reads" } else { "writes" };
            format!("{kind} of {} bytes {:.0} % random", cell.size, percent(cell))
        };
        let text = format!(
            "{} and {} are not a single stream: one stream jumps with one probability",
            name(first),
            name(other)
        );
        return Err(Unlike { field: "% random", lines: (first.line, other.line), text });
    }
    Ok(match jumps {
        0 => Pattern::SEQUENTIAL,
        jumps if jumps == weight * 100 => Pattern::Uniform,
        jumps => {
            let share = jumps as f64 / (weight * 100) as f64;
            Pattern::SemiRandom(Jump::Share(Some(share)))
        }
    })
}

/// In percent where that is exact, else in 1/10 000.
fn mix(lines: &[Access]) -> Mix {
    let sum = |is_read| -> u64 {
        cells(lines).iter().filter(|it| it.is_read == is_read).map(|it| it.weight).sum()
    };
    let (reads, writes) = (sum(true), sum(false));
    let unit = if reads.is_multiple_of(100) && writes.is_multiple_of(100) { 100 } else { 1 };
    let weight = |sum: u64| u32::try_from(sum / unit).unwrap_or(u32::MAX);
    Mix { read: weight(reads), write: weight(writes), trim: 0 }
}

/// One size; or several with weights, for reads and writes apart where they differ.
fn sizes(lines: &[Access]) -> (Size, Vec<WeightedSize>) {
    let cells = cells(lines);
    let mut found: Vec<(u64, u64, u64)> = Vec::new();
    for cell in &cells {
        let (reads, writes) = if cell.is_read { (cell.weight, 0) } else { (0, cell.weight) };
        match found.iter_mut().find(|(size, ..)| *size == cell.size) {
            Some(known) => (known.1, known.2) = (known.1 + reads, known.2 + writes),
            None => found.push((cell.size, reads, writes)),
        }
    }
    if let [(size, ..)] = found.as_slice() {
        return (Size(*size), Vec::new());
    }
    let (_, reads, writes) = found[0];
    let together = found.iter().all(|(_, read, write)| read * writes == write * reads);
    let entry = |size: u64, weight: u64, unit: u64, kind: Option<Action>| WeightedSize {
        size: Size(size),
        weight: u32::try_from(weight / unit).unwrap_or(u32::MAX),
        kind,
    };
    let entries = match together {
        // A share of 1 % weighs 100.
        true => {
            found.iter().map(|(size, read, write)| entry(*size, read + write, 100, None)).collect()
        }
        false => {
            let of = |is_read: bool, kind| {
                let mine = move |it: &&Cell| it.is_read == is_read;
                let weights = cells.iter().filter(mine).map(|it| it.weight);
                let unit = if weights.clone().all(|it| it.is_multiple_of(100)) { 100 } else { 1 };
                let mine = cells.iter().filter(mine);
                mine.map(move |it| entry(it.size, it.weight, unit, Some(kind))).collect::<Vec<_>>()
            };
            [of(true, Action::Read), of(false, Action::Write)].concat()
        }
    };
    (Stream::default().size, entries)
}

/// Where reads and writes differ in size they have places of their own, and only where each I/O
/// jumps does that not matter.
fn apart(lines: &[Access], pattern: &Pattern, sizes: &[WeightedSize]) -> Result<(), Unlike> {
    let is_apart = sizes.iter().any(|entry| entry.kind.is_some());
    let has_places = *pattern != Pattern::Uniform || lines[0].reply > 0;
    let reads = |access: &&Access| access.reads != lines[0].reads;
    let other = lines.iter().find(reads).filter(|_| is_apart && has_places);
    other.map_or(Ok(()), |other| {
        let (first, second) = (&lines[0], other);
        let text = format!(
            "{} bytes with {} % reads and {} bytes with {} % are a single stream only if all are \
             100 % random and have no reply",
            first.size, first.reads, second.size, second.reads
        );
        Err(Unlike { field: "% reads", lines: (first.line, second.line), text })
    })
}

/// The grid, where it is not what a stream has without one.
fn align(stream: &Stream, grid: u64) -> Option<Size> {
    let is_default = match &stream.pattern {
        // In order the next request begins behind the last; only a hole is to be told.
        Pattern::Sequential(_) if stream.sizes.is_empty() => stream.size.0.is_multiple_of(grid),
        // Reads and writes of sizes of their own would have a grid each.
        _ => stream.size_min() == grid && stream.sizes.iter().all(|entry| entry.kind.is_none()),
    };
    (!is_default).then_some(Size(grid))
}

#[cfg(test)]
mod tests;
