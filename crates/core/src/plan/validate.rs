//! Refuses plans that make no sense on a target, each with one sentence and the way out.
//!
//! Everything here is about what can be done at all. What is merely unwise is refused, with
//! advice, by the command that asks for it.

use crate::facts::TargetKind;
use crate::plan::{Act, Find, Interval, Mount, Plan, PlanFile, Step, Stream, Until};
use crate::units::{Size, Span};
use std::fmt;

mod checks;
mod commands;
mod files;
mod level;
mod orders;
mod pairs;
mod rate_min;
mod read_back;
mod replies;
mod steady;
mod stream;
mod threads;
mod trace;
mod zoned;

use commands::validate_commands;
use replies::validate_replies;
use trace::validate_trace;

/// What a plan must fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    /// File, directory, device or nothing.
    pub kind: TargetKind,
    /// Bytes of the device or file that data goes to, per worker with `files = "each"`; absent
    /// where not known yet.
    pub file_bytes: Option<u64>,
    /// Smallest unit of direct I/O in bytes.
    pub logical_block_bytes: u32,
    /// A simulated drive without a page cache in front of it.
    pub lacks_page_cache: bool,
    /// Memory of the machine in bytes, if known: buffers may take half of it.
    pub memory_bytes: Option<u64>,
}

/// One reason why a plan is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Index of the step in the plan; absent for the plan itself.
    pub step: Option<usize>,
    /// Index of the stream in the step; absent for the step itself.
    pub stream: Option<usize>,
    /// The key that is wrong.
    pub key: &'static str,
    /// What is wrong and what to do, in one sentence.
    pub text: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.step, self.stream) {
            (Some(step), Some(stream)) => {
                write!(f, "step {}, stream {}: {}", step + 1, stream + 1, self.text)
            }
            (Some(step), None) => write!(f, "step {}: {}", step + 1, self.text),
            _ => f.write_str(&self.text),
        }
    }
}

/// Most repetitions of all steps together: more is a typing error, and no run file holds them.
const EXECUTIONS_MAX: u64 = 100_000;
/// Shortest and longest recording interval.
const INTERVAL: (Span, Span) = (Span(10_000_000), Span(60_000_000_000));
/// Histograms end here, so nothing may last longer between two operations.
pub(crate) const HOUR: Span = Span(3_600_000_000_000);

/// Collects problems of one step or stream.
pub(crate) struct Problems {
    found: Vec<Problem>,
    step: Option<usize>,
    stream: Option<usize>,
}

impl Problems {
    /// Notes a problem unless `fine`.
    pub(crate) fn need(&mut self, fine: bool, key: &'static str, text: impl FnOnce() -> String) {
        if !fine {
            let (step, stream) = (self.step, self.stream);
            self.found.push(Problem { step, stream, key, text: text() });
        }
    }
}

/// Says everything that makes `plan` impossible or senseless on a target of this geometry.
///
/// ```
/// use drivelab_core::facts::TargetKind;
/// use drivelab_core::plan::Plan;
/// use drivelab_core::validate::{Geometry, validate};
///
/// let geometry = Geometry {
///     kind: TargetKind::BlockDevice,
///     file_bytes: Some(1 << 30),
///     logical_block_bytes: 4096,
///     lacks_page_cache: false,
///     memory_bytes: None,
/// };
/// let problems = validate(&Plan::default(), &geometry).unwrap_err();
/// assert_eq!(problems[0].key, "steps");
/// assert!(problems[0].text.contains("the plan has no steps"));
/// ```
pub fn validate(plan: &Plan, geometry: &Geometry) -> Result<(), Vec<Problem>> {
    let mut problems = Problems { found: Vec::new(), step: None, stream: None };
    let Interval(interval) = plan.interval;
    problems.need((INTERVAL.0..=INTERVAL.1).contains(&interval), "interval", || {
        format!("the interval of {interval} is out of range; use {} to {}", INTERVAL.0, INTERVAL.1)
    });
    problems.need(!plan.steps.is_empty(), "steps", || {
        "the plan has no steps; add a [[steps]] section".to_string()
    });
    let executions: u64 = plan.steps.iter().map(|step| u64::from(step.repetitions())).sum();
    problems.need(executions <= EXECUTIONS_MAX, "repeat", || {
        format!("{executions} repetitions in all are too many; keep to {EXECUTIONS_MAX}")
    });
    files::validate_files(&plan.files, geometry, &mut problems);
    level::validate_interval(plan, &mut problems);
    let mut mounted = None;
    for (index, step) in plan.steps.iter().enumerate() {
        problems.step = Some(index);
        read_back::validate_issued(&plan.steps[..index], step, &mut problems);
        problems.stream = None;
        validate_step(step, mounted.as_ref().unwrap_or(geometry), &plan.files, &mut problems);
        match &step.act {
            Some(Act::Mount(mount)) => {
                let (kind, file_bytes) = (TargetKind::Directory, Some(mount.bytes.0));
                mounted = Some(Geometry { kind, file_bytes, ..*geometry });
            }
            Some(Act::Unmount) => mounted = None,
            _ => {}
        }
    }
    if problems.found.is_empty() { Ok(()) } else { Err(problems.found) }
}

fn validate_step(step: &Step, geometry: &Geometry, files: &[PlanFile], problems: &mut Problems) {
    match (&step.act, step.streams.is_empty()) {
        (None, true) => problems.need(false, "streams", || {
            "nothing to do; add a [[steps.streams]] section or an act".to_string()
        }),
        (Some(_), false) => problems.need(false, "act", || {
            "a step has either an act or streams; make two steps of it".to_string()
        }),
        (Some(act), true) => validate_act(act, step, geometry, problems),
        (None, false) => {
            if !step.streams.iter().all(|stream| stream.until.is_some()) {
                validate_until(&step.until, step, problems);
            }
            validate_tracing(step, geometry, problems);
            validate_together(step, geometry, problems);
            level::validate_groups(step, problems);
            for (index, stream) in step.streams.iter().enumerate() {
                problems.stream = Some(index);
                if let Some(until) = &stream.until {
                    validate_until(until, step, problems);
                    problems.need(!until.steady, "until", || {
                        "rounds until steady are of a whole step; put `steady` there".to_string()
                    });
                }
                pairs::validate_pairs(stream, problems);
                zoned::validate_zoned(stream, geometry, problems);
                read_back::validate_read_back(stream, step.until_of(stream), problems);
                let geometry = files::geometry_of(stream, geometry, files, problems);
                stream::validate_stream(stream, &geometry, problems);
                validate_commands(stream, &geometry, problems);
            }
        }
    }
}

fn validate_find(find: &Find, geometry: &Geometry, problems: &mut Problems) {
    problems.need(geometry.kind == TargetKind::Directory, "act", || {
        "files are looked for in a directory; name one".to_string()
    });
    problems.need(find.processes != Some(0), "act", || {
        "0 processes find nothing; give 1 or more, or leave `processes` out".to_string()
    });
}

fn validate_act(act: &Act, step: &Step, geometry: &Geometry, problems: &mut Problems) {
    problems
        .need(!step.trace, "trace", || "an act has no I/O to trace; remove `trace`".to_string());
    problems.need(step.until == Until::default() && step.ramp.0 == 0, "until", || {
        "an act has no `until` and no ramp; remove them".to_string()
    });
    match act {
        Act::Idle(span) => problems.need(span.0 > 0 && *span <= Span(24 * HOUR.0), "act", || {
            format!("idle for {span} makes no sense; use more than 0 and at most 24h")
        }),
        Act::DropCaches => problems.need(geometry.kind != TargetKind::Nothing, "act", || {
            "nothing is cached without a target; remove drop-caches".to_string()
        }),
        Act::Purge(purge) => {
            let is_drive = matches!(geometry.kind, TargetKind::BlockDevice | TargetKind::Simulated);
            problems.need(is_drive, "act", || {
                format!("{} needs a whole drive, not a file; name a device", purge.word())
            });
        }
        Act::WriteCache(_) => {
            problems.need(geometry.kind == TargetKind::BlockDevice, "act", || {
                "a write cache is a drive's: name a block device, or leave write-cache out"
                    .to_string()
            })
        }
        // Of a device there is nothing to set aside.
        Act::Unmount | Act::Allocate => {}
        Act::Mkfs(_) | Act::Mount(Mount { directory: None, .. }) => {
            let is_drive = matches!(geometry.kind, TargetKind::BlockDevice | TargetKind::Simulated);
            problems.need(is_drive, "act", || {
                "a file system is made and mounted on a device, not on a file; name a device, or \
                 the directory where one is mounted"
                    .to_string()
            });
        }
        Act::Mount(mount) => {
            problems.need(mount.files > 0 && mount.bytes.0 > 0, "act", || {
                "no file to use; give `files` and `bytes` above 0".to_string()
            });
        }
        Act::Find(find) => validate_find(find, geometry, problems),
        Act::Queue { setting, value } => {
            let has_queue = geometry.kind != TargetKind::Nothing;
            problems.need(has_queue, "act", || {
                format!("there is no drive whose {} could be set; name one", setting.word())
            });
            let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
            problems.need(!value.is_empty() && value.bytes().all(is_word), "act", || {
                format!("`{value}` is not a value of {}; give one word", setting.word())
            });
        }
        Act::Trim { offset, length } => {
            problems.need(length.is_none_or(|length| length.0 > 0), "act", || {
                "a trim of 0 bytes does nothing; give a length or leave it out".to_string()
            });
            let end = offset.0.checked_add(length.map_or(1, |length| length.0));
            let fits = |bytes| end.is_some_and(|end| end <= bytes);
            problems.need(geometry.file_bytes.is_none_or(fits), "act", || {
                let bytes = Size(geometry.file_bytes.unwrap_or(0));
                format!("the trim reaches beyond the target's {bytes}; shorten it")
            });
            let block = u64::from(geometry.logical_block_bytes.max(1));
            let length = length.map_or(0, |length| length.0);
            let whole = offset.0.is_multiple_of(block) && length.is_multiple_of(block);
            problems.need(whole || geometry.kind != TargetKind::BlockDevice, "act", || {
                format!("a trim on this device needs multiples of {block} bytes")
            });
        }
    }
}

fn validate_tracing(step: &Step, geometry: &Geometry, problems: &mut Problems) {
    if !step.trace {
        return;
    }
    problems.need(geometry.kind != TargetKind::Nothing, "trace", || {
        "the target has no drive whose I/O could be traced; remove `trace`".to_string()
    });
    let moves_data = step.streams.iter().all(|stream| !stream.is_metadata());
    problems.need(moves_data, "trace", || {
        "names have no address on the drive by which to trace them; remove `trace`".to_string()
    });
    let is_seen = step.streams.iter().all(|stream| !stream.engine.traits().is_passthrough);
    problems.need(is_seen, "trace", || {
        "the kernel's tracer sees no addresses of commands that io_uring_cmd hands to the drive; \
         remove `trace`, or use io_uring"
            .to_string()
    });
}

fn validate_until(until: &Until, step: &Step, problems: &mut Problems) {
    let zero = [
        ("elapsed", until.elapsed.map(|span| span.0)),
        ("operations", until.operations),
        ("bytes", until.bytes.map(|bytes| bytes.0)),
        ("passes", until.passes),
    ];
    for (name, bound) in zero {
        problems.need(bound != Some(0), "until", || {
            let named = if name == "elapsed" { "a time (`elapsed`)" } else { &format!("`{name}`") };
            format!("{named} of 0 ends before it begins; use more than 0")
        });
    }
    let ends = until.issued_by.is_some() || zero.iter().any(|(_, bound)| bound.is_some());
    problems.need(ends, "until", || {
        match until.steady {
            false if until.level.is_some() => {
                "a rate may never become level; give up after a runtime, operations, bytes or \
                 passes too"
            }
            false => "nothing says when the step ends; give a runtime, operations, bytes or passes",
            true => "a drive may never be steady; give up after a runtime, bytes or passes too",
        }
        .to_string()
    });
    if let Some(level) = &until.level {
        level::validate_level(level, until, step, problems);
    }
    if let Some(rate_min) = &until.rate_min {
        rate_min::validate_rate_min(rate_min, until, step, problems);
    }
    let objection = steady::objection(step).filter(|_| until.steady);
    problems.need(objection.is_none(), "until", || objection.unwrap_or_default().to_string());
    let moves_data = |stream: &Stream| !stream.is_metadata();
    let only_bytes = until.bytes.is_some()
        && until.elapsed.is_none()
        && until.operations.is_none()
        && until.passes.is_none();
    problems.need(!only_bytes || step.streams.iter().all(moves_data), "until", || {
        "metadata actions move no bytes; end them by time, operations or passes".to_string()
    });
    let year = Span(366 * 24 * HOUR.0);
    problems.need(until.elapsed.is_none_or(|span| span <= year), "until", || {
        "the step would run for more than a year; shorten it".to_string()
    });
    problems.need(step.ramp <= year, "ramp", || {
        "the ramp would last more than a year; shorten it".to_string()
    });
}

/// What concerns all streams of a step at once.
fn validate_together(step: &Step, geometry: &Geometry, problems: &mut Problems) {
    problems.need(step.streams.iter().any(|stream| !stream.background), "background", || {
        "every stream is in the background, so nothing ends the step; leave one in front"
            .to_string()
    });
    let buffers: u128 = step
        .streams
        .iter()
        .map(|stream| {
            u128::from(stream.memory_max()) * u128::from(stream.depth) * u128::from(stream.workers)
        })
        .sum();
    let limit = geometry.memory_bytes.map_or(u128::from(u64::MAX), |bytes| u128::from(bytes / 2));
    problems.need(buffers <= limit, "depth", || {
        format!(
            "buffers of size x depth x workers take {buffers} bytes and this machine can give \
             {limit}; use less of one of them"
        )
    });
    if let Err(text) = cpu_list(&step.cpus) {
        problems.need(false, "cpus", || text);
    }
}

/// Reads a list of CPUs such as `0-3,8`; empty text gives none.
pub fn cpu_list(text: &str) -> Result<Vec<u32>, String> {
    let bad = || format!("`{text}` is not a list of CPUs; write it like 0-3,8");
    let mut cpus = Vec::new();
    for part in text.split(',').filter(|_| !text.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let first: u32 = first.trim().parse().map_err(|_| bad())?;
        let last: u32 = last.trim().parse().map_err(|_| bad())?;
        if first > last || last > 4095 {
            return Err(bad());
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

#[cfg(test)]
mod tests;
