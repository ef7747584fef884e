//! What a plan will cost before it starts: bytes written and time, as far as the plan says.

use drivelab_core::op::Action;
use drivelab_core::plan::{Act, Arrival, Files, Pattern, Plan, Sharing, Step, Stream, Zoned};
use drivelab_core::units::Span;
use drivelab_report::units;
use schemars::JsonSchema;
use serde::Serialize;

/// The cost of a plan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct Forecast {
    /// Bytes that will be written, where a bound is known.
    pub written_bytes: u64,
    /// Time in which writes go as fast as the drive takes them, in nanoseconds.
    pub unbounded_write_ns: u64,
    /// Time of all steps that end by time, in nanoseconds.
    pub timed_ns: u64,
    /// Repetitions that end by work, not by time.
    pub untimed: u64,
    /// Bytes that will be discarded.
    pub trimmed_bytes: u64,
}

/// The cost of `plan` on files of `file_bytes`.
pub fn forecast(plan: &Plan, file_bytes: u64) -> Forecast {
    let mut total = Forecast::default();
    for step in &plan.steps {
        let one = of_step(step, file_bytes);
        let times = u64::from(step.repetitions());
        total.written_bytes =
            total.written_bytes.saturating_add(one.written_bytes.saturating_mul(times));
        total.trimmed_bytes =
            total.trimmed_bytes.saturating_add(one.trimmed_bytes.saturating_mul(times));
        total.unbounded_write_ns += one.unbounded_write_ns.saturating_mul(times);
        total.timed_ns = total.timed_ns.saturating_add(one.timed_ns.saturating_mul(times));
        total.untimed += one.untimed * times;
    }
    total
}

fn of_step(step: &Step, file_bytes: u64) -> Forecast {
    let mut cost = Forecast::default();
    match &step.act {
        Some(Act::Idle(span)) => cost.timed_ns = span.0,
        Some(Act::Trim { offset, length }) => {
            let rest = file_bytes.saturating_sub(offset.0);
            cost.trimmed_bytes = length.map_or(rest, |length| length.0.min(rest));
        }
        Some(Act::Purge(_)) => cost.trimmed_bytes = file_bytes,
        Some(
            Act::DropCaches
            | Act::Allocate
            | Act::WriteCache(_)
            | Act::Mkfs(_)
            | Act::Mount(_)
            | Act::Unmount
            | Act::Queue { .. }
            | Act::Find(_),
        ) => {}
        None => match step.elapsed() {
            Some(elapsed) => cost.timed_ns = elapsed.0.saturating_add(step.ramp.0),
            None => cost.untimed = 1,
        },
    }
    for stream in &step.streams {
        if of_trace(step, stream, &mut cost) {
            continue;
        }
        let Some(bytes) = issued_bytes(step, stream, file_bytes) else {
            if written_share(stream) > 0.0 {
                cost.unbounded_write_ns = cost.timed_ns;
            }
            continue;
        };
        let part = |action| (bytes as f64 * share(stream, action)).round() as u64;
        cost.written_bytes = cost.written_bytes.saturating_add(part(Action::Write));
        cost.trimmed_bytes = cost.trimmed_bytes.saturating_add(part(Action::Trim));
    }
    cost
}

/// A trace that is played so and so often moves what it says.
fn of_trace(step: &Step, stream: &Stream, cost: &mut Forecast) -> bool {
    let is_paced = matches!(stream.arrival, Arrival::Trace { .. });
    let passes = if is_paced { Some(1) } else { step.until.passes };
    let (Pattern::Trace(requests), Some(passes)) = (&stream.pattern, passes) else { return false };
    let sum = |action| {
        let own = requests.iter().filter(|request| request.action == action);
        own.map(|request| u64::from(request.bytes)).sum::<u64>().saturating_mul(passes)
    };
    cost.written_bytes = cost.written_bytes.saturating_add(sum(Action::Write));
    cost.trimmed_bytes = cost.trimmed_bytes.saturating_add(sum(Action::Trim));
    true
}

/// Share of the bytes of one kind; a reply adds one operation of the opposite direction to each.
fn share(stream: &Stream, action: Action) -> f64 {
    if stream.is_metadata() || stream.engine.traits().changes_files || stream.mix.total() == 0 {
        return 0.0;
    }
    let weight = match action {
        Action::Write => stream.mix.write,
        Action::Trim => stream.mix.trim,
        _ => stream.mix.read,
    };
    let asked = f64::from(weight) / stream.mix.total() as f64;
    if stream.reply.is_none() || action == Action::Trim {
        return asked;
    }
    let sizes = stream.weighted_sizes();
    let weights: f64 = sizes.iter().map(|entry| f64::from(entry.weight)).sum();
    let moved: f64 = sizes.iter().map(|entry| entry.size.0 as f64 * f64::from(entry.weight)).sum();
    let request = moved / weights.max(1.0);
    let reply = stream.reply_size.map_or(request, |size| size.0 as f64);
    (asked * request + (1.0 - asked) * reply) / (request + reply).max(1.0)
}

/// Share of the bytes of a stream that is written.
pub fn written_share(stream: &Stream) -> f64 {
    share(stream, Action::Write)
}

/// The most bytes that a stream can issue, where its plan bounds them.
pub fn issued_bytes(step: &Step, stream: &Stream, file_bytes: u64) -> Option<u64> {
    let until = step.until_of(stream);
    let replies = if stream.reply.is_some() { 2 } else { 1 };
    let rest = file_bytes.saturating_sub(stream.offset.0);
    let each = stream.files == Files::Each || stream.sharing() == Sharing::Whole;
    let files = if each { u64::from(stream.workers) } else { 1 };
    let files = files * u64::from(stream.files_of_worker());
    let region = stream.length.map_or(rest, |length| length.0.min(rest));
    let held = |zoned: Zoned| region / zoned.size.0.max(1) * zoned.used();
    let region = stream.zoned.map_or(region, held).saturating_mul(files);
    let largest = stream.size_max();
    let by_rate = match (stream.arrival.rate(), until.elapsed) {
        (Some(rate), Some(elapsed)) => {
            let seconds = Span(elapsed.0.saturating_add(step.ramp.0)).seconds();
            Some((rate * seconds * largest as f64) as u64)
        }
        _ => None,
    };
    let bounds = [
        until.bytes.map(|bytes| bytes.0),
        until.operations.map(|operations| operations.saturating_mul(largest)),
        until.passes.map(|passes| region.saturating_mul(passes)),
        by_rate,
    ];
    bounds.into_iter().flatten().min().map(|bytes| bytes.saturating_mul(replies))
}

impl Forecast {
    /// Two sentences for people.
    pub fn in_words(&self) -> String {
        let seconds = Span(self.timed_ns).seconds();
        let time = match (self.timed_ns, self.untimed) {
            (0, 0) => "takes no time".to_string(),
            (_, 0) => format!("takes {}", duration(seconds)),
            (0, _) => "takes as long as its operations need".to_string(),
            (_, n) => format!(
                "takes {}, plus the time of {} bounded by operations",
                duration(seconds),
                units::counted(n, "step")
            ),
        };
        let bounded = self.written_bytes;
        let unbounded = Span(self.unbounded_write_ns).seconds();
        let written = match (bounded, self.unbounded_write_ns) {
            (0, 0) => "writes nothing".to_string(),
            (bytes, 0) => format!("writes at most {}", units::size(bytes)),
            (0, _) => {
                format!("writes as much as the drive takes in {}", duration(unbounded))
            }
            (bytes, _) => format!(
                "writes {} and as much as the drive takes in {}",
                units::size(bytes),
                duration(unbounded)
            ),
        };
        match self.trimmed_bytes {
            0 => format!("{time}, {written}"),
            bytes => format!("{time}, {written}, discards {}", units::size(bytes)),
        }
    }
}

/// `10 s`, `3 min 20 s`, `2 h 5 min`.
fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        _ if seconds < 10.0 => format!("{seconds:.1} s"),
        s if s < 120 => format!("{s} s"),
        s if s < 7200 && s.is_multiple_of(60) => format!("{} min", s / 60),
        s if s < 7200 => format!("{} min {} s", s / 60, s % 60),
        s => format!("{} h {} min", s / 3600, s % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::plan::{Mix, Until};
    use drivelab_core::units::Size;

    const GIB: u64 = 1 << 30;

    fn one(stream: Stream, until: Until) -> String {
        let step = Step { until, streams: vec![stream], ..Step::default() };
        forecast(&Plan { steps: vec![step], ..Plan::default() }, GIB).in_words()
    }

    #[test]
    fn costs_in_words() {
        let time = || Until { elapsed: Some(Span(10_000_000_000)), ..Until::default() };
        let writes = || Stream { mix: Mix::WRITE, ..Stream::default() };
        assert_eq!(one(Stream::default(), time()), "takes 10 s, writes nothing");
        let unbounded = one(writes(), time());
        assert_eq!(unbounded, "takes 10 s, writes as much as the drive takes in 10 s");
        let passes = Until { passes: Some(2), ..Until::default() };
        let fixed = one(writes(), passes);
        assert_eq!(fixed, "takes as long as its operations need, writes at most 2 GiB");
        let paced = Stream { arrival: Arrival::paced(1000.0), ..writes() };
        assert_eq!(one(paced, time()), "takes 10 s, writes at most 39.1 MiB");
        let passes = Until { passes: Some(2), ..Until::default() };
        let zoned =
            Zoned { size: Size(GIB / 4), capacity: Some(Size(GIB / 8)), finish_after: None };
        let zones = one(Stream { zoned: Some(zoned), ..writes() }, passes);
        assert_eq!(zones, "takes as long as its operations need, writes at most 1 GiB");
        let both = Until { bytes: Some(Size(GIB)), ..time() };
        let mixed = Stream { mix: Mix { read: 50, write: 50, trim: 0 }, ..Stream::default() };
        assert_eq!(one(mixed, both), "takes 10 s, writes at most 512 MiB");
    }
}
