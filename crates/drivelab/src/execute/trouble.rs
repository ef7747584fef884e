//! What went wrong in a step, in words: failures that end it, and warnings that stay with it.

use drivelab_core::driver::Failure;
use drivelab_core::facts::TargetKind;
use drivelab_core::op::{Action, Errno, Op};
use drivelab_core::plan::{IoClass, Pattern, Rate, RateMin, Role, Step, Stream};
use drivelab_core::quantity;
use drivelab_core::queue::Trouble;
use drivelab_core::record::Warning;
use drivelab_core::run::{Run, StepRun};
use drivelab_core::tally::Phase;
use drivelab_core::verified::Verified;

/// Numbers of Linux's errors that deserve advice of their own.
const EPERM: i32 = 1;
const EIO: i32 = 5;
const EOVERFLOW: i32 = 75;
const ETOOMANYREFS: i32 = 109;
const ENXIO: i32 = 6;
const ENODEV: i32 = 19;
const EINVAL: i32 = 22;
const ENOSPC: i32 = 28;
const ENODATA: i32 = 61;
const EILSEQ: i32 = 84;
const EOPNOTSUPP: i32 = 95;
const ESTALE: i32 = 116;
const EREMOTEIO: i32 = 121;

/// The trouble that a failed operation is on a target of that kind. Of a drive that went away the
/// kernel says a dozen things, such as that its end is at 0: `gone` is its name, where it is so.
pub fn of_failure(
    failure: &Failure,
    stream: &Stream,
    target: TargetKind,
    gone: Option<&str>,
) -> Trouble {
    let (action, place) = (failure.op.action(), failure.op.place());
    let what = match failure.op {
        Op::Name(_) => format!("{} {place}", action.word()),
        Op::Data(op) if matches!(action, Action::Reset | Action::Finish) => {
            format!("{} of the zone at byte {}", action.word(), op.offset)
        }
        // It has neither a length nor a place.
        Op::Data(_) if action == Action::Flush => action.word().to_owned(),
        Op::Data(op) => format!("{} of {} bytes {place}", action.word(), op.len),
    };
    if let Some(name) = gone {
        return Trouble::failed(went_away(name, &format!("a {what} was the first that failed")));
    }
    match failure.errno {
        None => {
            let moved = failure.moved;
            // A write makes a file longer; only room for a part of it makes it short (write(2)).
            let in_file = matches!(target, TargetKind::File | TargetKind::Directory);
            let reason = if action == Action::Write && in_file {
                format!("no space was left for the rest; {}", advice(Errno(ENOSPC), stream))
            } else {
                "the target ends there or became smaller".to_string()
            };
            Trouble::failed(format!("a {what} moved only {moved} bytes; {reason}"))
        }
        Some(errno) => {
            let error = std::io::Error::from_raw_os_error(errno.0);
            Trouble::failed(format!("a {what} failed: {error}; {}", advice(errno, stream)))
        }
    }
}

/// What is said of a drive that is no longer there, and of what failed first.
pub fn went_away(name: &str, first: &str) -> String {
    format!(
        "the drive {name} went away while it was used: {first}; see the kernel log (dmesg) for \
         why: pulled out, reset, or its last path was lost"
    )
}

/// The end of a step whose operations all went well and whose drive is no longer there.
pub fn went_unnoticed(name: &str) -> Trouble {
    let first = "no operation failed, since it went after the last of them or memory served them";
    Trouble::failed(went_away(name, first))
}

fn asks_for_realtime(stream: &Stream) -> bool {
    stream.request_priorities.iter().any(|one| one.priority.class == IoClass::Realtime)
}

fn advice(errno: Errno, stream: &Stream) -> String {
    match errno.0 {
        // Of commands that were handed to a drive itself the kernel logs nothing.
        EIO | ENODATA | EILSEQ | EREMOTEIO if stream.engine.traits().is_passthrough => {
            "the drive answered so: see its error log (nvme error-log) and the kernel log (dmesg)"
                .into()
        }
        EIO => "the drive or its driver reports a fault: see the kernel log (dmesg)".into(),
        ENOSPC => "the file system is full: free some space or use a smaller --size".into(),
        ENODEV | ENXIO | ESTALE => "the drive or file system went away".into(),
        EINVAL if stream.io.word() == "direct" => {
            "direct I/O may need larger blocks here: try --bs 4k, or --io buffered".into()
        }
        EOVERFLOW | ETOOMANYREFS if stream.zoned.is_some() => {
            "the drive keeps no more zones open: others are partly written; use fewer workers, or \
             finish them (blkzone finish)"
                .into()
        }
        EPERM if asks_for_realtime(stream) => {
            "a realtime priority wants CAP_SYS_NICE, which root has where nothing took it away: \
             use best effort instead"
                .into()
        }
        EOPNOTSUPP => "the target cannot do that: leave it out".into(),
        _ => "the kernel refuses it".into(),
    }
}

/// The code of the warning below.
pub const RATE_NOT_KEPT: &str = "rate_not_kept";

/// Operations that were due and were never issued.
pub fn rate_not_kept(step: &Step, number: u32, unissued: u64) -> Warning {
    let asked: f64 = step.streams.iter().filter_map(|stream| stream.arrival.rate()).sum();
    Warning {
        code: RATE_NOT_KEPT.into(),
        // Rates of several streams add up to more digits than anybody asked for.
        text: format!(
            "`{}` could not keep {} operations a second: {unissued} were due and not issued.",
            step.name,
            (asked * 1e3).round() / 1e3
        ),
        advice: "The backlog is in the response times. Lower the rate, or raise \
                 the depth where the drive can serve more at once."
            .into(),
        step: Some(number),
    }
}

/// The code of the warning below.
pub const BELOW_RATE_MIN: &str = "below_rate_min";

/// Workers that ended since their rate fell below the least that was asked for.
fn below_rate_min(step: &StepRun, number: u32) -> impl Iterator<Item = Warning> {
    let phases = step.end.iter().flat_map(|end| &end.phases);
    let text = |phase: &Phase| {
        let stream = step.plan.streams.get(phase.stream as usize)?;
        let rate_min = step.plan.until_of(stream).rate_min?;
        let rates = phase.below?.rates();
        let words = |rate: u64| match rate_min.of {
            Rate::Bytes => quantity::bandwidth(rate as f64),
            Rate::Operations | Rate::Latency => {
                format!("{} operations a second", quantity::operations(rate as f64))
            }
        };
        let told = (0..3).filter_map(|place| {
            let (kind, least) = (RateMin::KINDS[place].word(), rate_min.least()[place]);
            Some(format!("{}s at {} of {}", kind, words(rates[place]?), words(least)))
        });
        let told: Vec<String> = told.collect();
        let name = if stream.name.is_empty() { &step.begin.name } else { &stream.name };
        Some(format!(
            "worker {} of `{name}` was ended early by `rate_min`, in its last window with {}.",
            phase.worker,
            told.join(" and ")
        ))
    };
    phases.filter_map(text).map(move |text| Warning {
        code: BELOW_RATE_MIN.into(),
        text,
        advice: "Its numbers are of the time until then. Ask for less, or let the rate be taken \
                 over a longer time (`every`)."
            .into(),
        step: Some(number),
    })
}

/// Code, text and advice where what the step `name` read is not what it should be, or is unknown.
fn not_as_it_should_be(
    found: Verified,
    name: &str,
) -> Option<(&'static str, String, &'static str)> {
    const LISTED: &str = "The run file lists the first hundred with their offsets.";
    match found {
        Verified::Wrong { wrong, checked } => Some((
            "mismatches",
            format!("{wrong} of {checked} blocks that `{name}` read are not what was written."),
            LISTED,
        )),
        Verified::Unlike { wrong, checked } => Some((
            "mismatches",
            format!(
                "{wrong} of {checked} blocks that `{name}` read hold other bytes than they should."
            ),
            LISTED,
        )),
        Verified::Foreign(units) => Some((
            "not_verified",
            format!("None of the {units} blocks that `{name}` read has a stamp of drivelab."),
            "Verify data with the program that wrote it, or write it with drivelab first.",
        )),
        Verified::Unchecked | Verified::Right(_) => None,
    }
}

/// What the tallies of a finished step warn of.
pub fn warnings_of(run: &Run, step: &StepRun, number: u32) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn = |code: &str, text: String, advice: &str| {
        let (code, advice) = (code.to_string(), advice.to_string());
        warnings.push(Warning { code, text, advice, step: Some(number) });
    };
    let name = &step.begin.name;
    let errors: u64 = step.tallies.iter().map(|tally| tally.error_count()).sum();
    if errors > 0 {
        warn(
            "errors",
            format!("{errors} operations of `{name}` failed."),
            "The numbers count only what succeeded. See the kernel log (dmesg).",
        );
    }
    if let Some((code, text, advice)) = not_as_it_should_be(Verified::of(run, step), name) {
        warn(code, text, advice);
    }
    let unordered = |stream: &Stream| {
        let writes = stream.mix.write > 0 || stream.reply.is_some();
        stream.verify
            && !stream.has_known_bytes()
            && writes
            && !matches!(stream.pattern, Pattern::Sequential(_) | Pattern::Permutation)
    };
    if step.plan.streams.iter().any(unordered) {
        warn(
            "pass_not_verified",
            format!("`{name}` overwrites in no fixed order: a lost overwrite would not be seen."),
            "Address, seed and checksum were checked. Use sequential or permutation order.",
        );
    }
    // The kernel has no asynchronous trim for devices and files alike.
    let waits = |stream: &Stream| {
        let asynchronous = stream.engine.is_asynchronous();
        stream.mix.trim > 0
            && stream.mix.read + stream.mix.write > 0
            && stream.depth > 1
            && asynchronous
    };
    if step.plan.streams.iter().any(waits) {
        warn(
            "trims_hold_up",
            format!(
                "each trim of `{name}` blocks its worker, so what completes meanwhile is timed \
                 only when the trim is over."
            ),
            "Give the trims a stream of their own in a plan (workers do not wait for each other).",
        );
    }
    let measured = step.begin.role == Role::Measure && step.plan.act.is_none();
    let ops: u64 = step.tallies.iter().filter(|t| !t.ramp).map(|tally| tally.ops()).sum();
    if measured && ops == 0 && errors == 0 {
        warn(
            "no_operations",
            format!("no operation of `{name}` completed after the ramp."),
            "Give a longer --runtime or a shorter --ramp.",
        );
    }
    warnings.extend(below_rate_min(step, number));
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::op::DataOp;
    use drivelab_core::plan::Zoned;
    use drivelab_core::units::Size;

    fn short(action: Action, target: TargetKind) -> String {
        let op = DataOp { action, offset: 1_835_008, len: 65_536, ..DataOp::default() };
        let failure = Failure { errno: None, op: op.into(), moved: 20_480 };
        of_failure(&failure, &Stream::default(), target, None).text
    }

    #[test]
    fn zones_that_cannot_be_opened_are_told_with_the_way_out() {
        let zoned = Zoned { size: Size(1 << 24), capacity: None, finish_after: None };
        let stream = Stream { zoned: Some(zoned), ..Stream::default() };
        let said = |action, errno| {
            let op = DataOp { action, offset: 1 << 24, len: 0, ..DataOp::default() };
            let failure = Failure { errno: Some(Errno(errno)), op: op.into(), moved: 0 };
            of_failure(&failure, &stream, TargetKind::BlockDevice, None).text
        };
        for errno in [EOVERFLOW, ETOOMANYREFS] {
            let text = said(Action::Write, errno);
            assert!(text.contains("keeps no more zones open") && text.contains("fewer"), "{text}");
        }
        let text = said(Action::Reset, EIO);
        assert!(text.starts_with("a reset of the zone at byte 16777216 failed"), "{text}");
    }

    #[test]
    fn a_drive_that_went_away_is_neither_full_nor_shorter() {
        let op = DataOp { action: Action::Write, len: 4096, ..DataOp::default() };
        for errno in [None, Some(Errno(ENOSPC)), Some(Errno(EIO))] {
            let failure = Failure { errno, op: op.into(), moved: 0 };
            let kind = TargetKind::BlockDevice;
            let text = of_failure(&failure, &Stream::default(), kind, Some("nvme0n1")).text;
            assert!(text.starts_with("the drive nvme0n1 went away while it was used"), "{text}");
            assert!(!text.contains("full") && !text.contains("ends there"), "{text}");
        }
    }

    #[test]
    fn a_flush_has_neither_length_nor_place() {
        let op = DataOp { action: Action::Flush, ..DataOp::default() };
        let failure = Failure { errno: Some(Errno(EIO)), op: op.into(), moved: 0 };
        let kind = TargetKind::BlockDevice;
        let text = of_failure(&failure, &Stream::default(), kind, None).text;
        assert!(text.starts_with("a flush failed: Input/output error"), "{text}");
    }

    #[test]
    fn a_short_write_of_a_file_is_a_full_file_system_and_of_a_drive_its_end() {
        for target in [TargetKind::File, TargetKind::Directory] {
            let text = short(Action::Write, target);
            assert!(text.contains("moved only 20480 bytes; no space was left"), "{text}");
            assert!(text.contains("the file system is full"), "{text}");
            assert!(short(Action::Read, target).contains("the target ends there"));
        }
        assert!(short(Action::Write, TargetKind::BlockDevice).contains("the target ends there"));
    }
}
