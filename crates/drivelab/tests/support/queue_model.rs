//! What an open loop must report, computed from arrivals, service time and logged stalls alone.

use super::stalling_file::Stall;

/// A queue with one server, first come first served.
///
/// The answer to request k is due at `begin + service`, where `begin` is the later of its arrival
/// and the answer before it, moved to the end of a stall it falls into (a request in service when
/// a stall begins is finished). This is Lindley's recursion with a server on leave. For arrivals
/// each `gap`, a stall S makes the request that arrives t into it wait `S − t(1 − service/gap)`.
pub fn responses(arrivals: &[u64], service_ns: u64, stalls: &[Stall]) -> Vec<u64> {
    let mut previous_answer = 0;
    let mut stalls = stalls.iter().copied().peekable();
    let mut responses = Vec::with_capacity(arrivals.len());
    for &arrival in arrivals {
        let mut begin = arrival.max(previous_answer);
        while let Some(stall) = stalls.next_if(|stall| stall.from <= begin) {
            begin = begin.max(stall.to);
        }
        previous_answer = begin + service_ns;
        responses.push(previous_answer - arrival);
    }
    responses
}

/// The value at rank `ceil(share · n)` of all values.
pub fn percentile(values: &[u64], share: f64) -> u64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}
