//! `read_iolog`: a job that issues what a trace holds, and at its times.

use super::settings::{Direction, Settings};
use super::value::Amount;
use super::words::{STATUS, unsupported};
use crate::front::{Refusal, World};
use crate::trace::{self, Trace};
use drivelab_core::op::Action;
use drivelab_core::plan::{Arrival, Pattern, Stream, Sync, Until};

/// What a job says of a trace, and the trace.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// `read_iolog`.
    pub path: Option<String>,
    /// `replay_no_stall`.
    pub no_stall: bool,
    /// `replay_redirect`.
    pub redirect: Option<String>,
    /// `replay_time_scale`: the speed in percent.
    pub percent: u32,
    /// The trace, once it has been read.
    pub trace: Option<Trace>,
}

impl Default for Replay {
    fn default() -> Self {
        Replay { path: None, no_stall: false, redirect: None, percent: 100, trace: None }
    }
}

/// Reads the trace of a job that has one; its file, kinds and sizes are then the job's.
///
/// # Errors
/// It cannot be read, is none, or the job asks for something that a replay has not.
pub fn read(settings: &mut Settings, world: &dyn World) -> Result<(), Refusal> {
    let Some(path) = settings.turns.replay.path.clone() else { return Ok(()) };
    if let Some(word) = not_of_a_trace(settings) {
        return Err(unsupported(&format!("read_iolog with {word}"), "leave one of the two out"));
    }
    let unread = |why: String| {
        Refusal::new(
            STATUS,
            format!("fio: read_iolog={path}: {why}"),
            "Give an iolog of fio in version 2 or 3, or what blktrace wrote, of one file or drive.",
        )
    };
    let data = world.bytes(&path).map_err(unread)?;
    let trace = trace::parse(&data).map_err(|error| unread(error.to_string()))?;
    let file = settings.turns.replay.redirect.clone().or_else(|| trace.file.clone());
    settings.directories.clear();
    match file {
        Some(file) => settings.filenames = vec![file],
        None if settings.filenames.len() == 1 => {}
        None => {
            return Err(Refusal::new(
                STATUS,
                format!("fio: read_iolog={path}: a blktrace does not say which drive it is of"),
                "Say replay_redirect=DEVICE.",
            ));
        }
    }
    let has = |action| trace.count(action) > 0;
    settings.rw = Direction {
        random: false,
        kinds: [Action::Read, Action::Write, Action::Trim].map(has),
        is_traced: true,
        ..settings.rw.clone()
    };
    let largest = trace.requests.iter().map(|request| u64::from(request.bytes)).max();
    settings.bs = [largest.unwrap_or(0).max(1); 3];
    (settings.bsrange, settings.bssplit, settings.ba) = (None, None, None);
    (settings.size, settings.io_size) = (Some(Amount::Bytes(trace.end().max(1))), None);
    (settings.filesize, settings.nrfiles, settings.number_ios) = (None, 1, None);
    settings.turns.replay.trace = Some(trace);
    Ok(())
}

/// The first option that a trace leaves no room for.
fn not_of_a_trace(settings: &Settings) -> Option<&'static str> {
    let no_offset = Amount::Bytes(0);
    let all = [
        ("verify", settings.marks.verify.is_some()),
        ("numjobs", settings.numjobs > 1),
        ("loops", settings.loops > 1),
        ("time_based", settings.time_based && settings.runtime_ns > 0),
        ("rate", settings.rate != [0; 3] || settings.rate_iops != [0; 3]),
        ("thinktime", settings.thinktime_ns > 0),
        ("fsync", settings.sync != Sync::None || settings.end_fsync),
        ("offset", settings.offset != no_offset || settings.offset_increment != no_offset),
        ("serialize_overlap", settings.turns.no_overlap),
        ("steadystate", settings.ends_when_steady()),
    ];
    all.into_iter().find(|(_, is_asked)| *is_asked).map(|(word, _)| word)
}

/// The stream issues the requests of its trace, once.
pub fn apply(settings: &Settings, trace: &Trace, stream: &mut Stream) {
    stream.mix = trace.mix();
    stream.sizes = trace.sizes();
    stream.align = None;
    stream.drop_cached_each_pass = false;
    stream.pattern = Pattern::Trace(trace.requests.clone());
    let is_timed = trace.is_timed && !settings.turns.replay.no_stall;
    let pace = f64::from(settings.turns.replay.percent) / 100.0;
    stream.arrival = if is_timed { Arrival::Trace { pace } } else { Arrival::AT_ONCE };
    let elapsed = stream.until.take().and_then(|until| until.elapsed);
    stream.until = Some(Until { passes: Some(1), elapsed, ..Until::default() });
    stream.order = None;
}
