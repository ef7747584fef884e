//! What the requests of a trace must fulfil.

use super::{Geometry, Problems};
use crate::op::Action;
use crate::plan::{Arrival, IoMode, Request, Stream, Sync};
use crate::units::Size;
use std::collections::BTreeSet;

/// A plan is read as a whole, and copied into the run file.
const REQUESTS_MAX: usize = 1_000_000;
const PACE_MAX: f64 = 1e6;

pub(super) fn validate_trace(
    stream: &Stream,
    requests: &[Request],
    geometry: &Geometry,
    problems: &mut Problems,
) {
    problems.need(requests.len() <= REQUESTS_MAX, "requests", || {
        format!("{} requests are more than {REQUESTS_MAX}; replay a part", requests.len())
    });
    problems.need(requests.is_sorted_by_key(|it| it.at_ns), "requests", || {
        "requests stand in the order of their times; sort them".to_string()
    });
    let is_possible = match stream.arrival {
        Arrival::Trace { pace } => pace > 0.0 && pace <= PACE_MAX,
        Arrival::Closed { .. } | Arrival::Open { .. } => true,
    };
    problems.need(is_possible, "pace", || {
        "a pace is how many times as fast; use more than 0, such as 1 or 2.5".to_string()
    });
    problems.need(!stream.verify && stream.reply.is_none(), "verify", || {
        "a trace knows neither what its reads should find nor replies; remove it".to_string()
    });
    problems.need(stream.sync == Sync::None || stream.sync == Sync::Dsync, "sync", || {
        "a trace has its own flushes; use sync = none or dsync".to_string()
    });
    kinds_and_sizes(stream, requests, problems);
    places(stream, requests, geometry, problems);
}

/// `mix` and `sizes` say what the requests are, so that everything else need not look at them.
fn kinds_and_sizes(stream: &Stream, requests: &[Request], problems: &mut Problems) {
    let has = |action| requests.iter().any(|request| request.action == action);
    for (action, weight) in [
        (Action::Read, stream.mix.read),
        (Action::Write, stream.mix.write),
        (Action::Trim, stream.mix.trim),
    ] {
        let word = action.word();
        problems.need(has(action) == (weight > 0), "mix", || match weight {
            0 => format!("the requests hold a {word} and the mix does not; add it to the mix"),
            _ => format!("the mix has {word}s and the requests do not; remove them from the mix"),
        });
    }
    let known: BTreeSet<u64> = stream.weighted_sizes().iter().map(|it| it.size.0).collect();
    let is_data = |request: &&Request| request.action != Action::Flush;
    let is_other = |it: &&Request| !known.contains(&u64::from(it.bytes));
    let other = requests.iter().filter(is_data).find(is_other);
    problems.need(other.is_none(), "sizes", || {
        let bytes = other.map_or(0, |request| request.bytes);
        format!("a request has {bytes} bytes, which `sizes` does not name; add it")
    });
}

fn places(stream: &Stream, requests: &[Request], geometry: &Geometry, problems: &mut Problems) {
    let block = u64::from(geometry.logical_block_bytes.max(1));
    let is_bound = stream.io == IoMode::Direct && stream.engine.moves_data();
    let is_off = |it: &&Request| !it.offset.is_multiple_of(block);
    let off = requests.iter().find(is_off).filter(|_| is_bound);
    problems.need(off.is_none(), "requests", || {
        let at = off.map_or(0, |request| request.offset);
        format!(
            "a request at byte {at} does not begin at a {block}-byte block, which direct I/O needs \
             here; use io = buffered"
        )
    });
    let rest = geometry.file_bytes.map(|bytes| bytes.saturating_sub(stream.offset.0));
    let bytes = stream.length.map(|length| length.0).or(rest).unwrap_or(u64::MAX);
    let end = requests.iter().map(Request::end).max().unwrap_or(0);
    problems.need(end <= bytes, "requests", || {
        let needed = Size(end.next_multiple_of(1 << 20));
        format!(
            "a request ends at byte {end}, beyond the region of {bytes} bytes; use a target of \
             {needed}, such as by --size {needed} where drivelab makes a file"
        )
    });
}
