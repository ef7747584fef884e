//! From the options of `run` to a plan: one step, one stream.

use crate::bounded;
use crate::cli::run::{Kind, Pace, RunOptions};
use crate::outcome::Failure;
use drivelab_compat::trace;
use drivelab_core::plan::{
    Engine, Files, IoMode, Mix, Pattern, PatternName, Plan, Role, Sharing, Step, Stream,
    StreamText, Until, WeightedSize,
};
use drivelab_core::units::{Size, Span};
use std::path::Path;

/// How long a load runs when nothing says it.
const RUNTIME_DEFAULT: Span = Span(10_000_000_000);

/// Operations in flight of a trace, where nothing says it.
const TRACE_DEPTH: u32 = 64;

/// The plan that the options describe.
pub fn plan_of(options: &RunOptions, seed: u64) -> Result<Plan, Failure> {
    let stream = stream_of(options)?;
    let name = options.what.title.clone().unwrap_or_else(|| name_of(options, &stream));
    let step = Step {
        name: name.clone(),
        ramp: options.span.ramp.unwrap_or_default(),
        until: until_of(options, &stream),
        repeat: options.span.repeat.unwrap_or(1),
        cpus: options.load.cpus.clone().unwrap_or_default(),
        streams: vec![stream],
        ..Step::default()
    };
    if options.span.repeat == Some(0) {
        return Err(Failure::usage("--repeat 0 does nothing; use 1 or more"));
    }
    let before = options.span.precondition.map(|within| until_steady(&step, within));
    let steps = before.into_iter().chain([step]).collect();
    let mut plan = Plan { title: name, seed, steps, ..Plan::default() };
    if let Some(interval) = options.record.interval {
        plan.interval.0 = interval;
    }
    Ok(plan)
}

/// The same load before it is measured, in rounds until it is steady.
fn until_steady(step: &Step, within: Span) -> Step {
    Step {
        name: "until steady".into(),
        role: Role::Precondition,
        ramp: Span(0),
        until: Until { elapsed: Some(within), steady: true, ..Until::default() },
        repeat: 1,
        ..step.clone()
    }
}

fn until_of(options: &RunOptions, stream: &Stream) -> Until {
    let span = &options.span;
    let mut until = Until {
        elapsed: span.runtime,
        operations: span.operations,
        bytes: span.bytes,
        passes: span.passes,
        issued_by: None,
        steady: false,
        wear_out: false,
        stonewall: span.stonewall,
        ends_all: false,
        level: None,
        rate_min: None,
    };
    let bounded = until.operations.is_some() || until.bytes.is_some() || until.passes.is_some();
    match (bounded || until.elapsed.is_some(), &stream.pattern) {
        (true, _) => {}
        (false, Pattern::Names(_) | Pattern::Trace(_)) => until.passes = Some(1),
        (false, _) => until.elapsed = Some(RUNTIME_DEFAULT),
    }
    until
}

fn stream_of(options: &RunOptions) -> Result<Stream, Failure> {
    let (what, place, load) = (&options.what, &options.place, &options.load);
    let engine = what.engine.unwrap_or_default();
    let mut text = StreamText {
        engine,
        io: what.io.unwrap_or(match engine.traits().is_always_buffered() {
            true => IoMode::Buffered,
            false => IoMode::Direct,
        }),
        pattern: pattern_of(options)?,
        mix: mix_of(options)?,
        reply: what.reply,
        actions: what.actions.clone().map_or(Vec::new(), |list| list.0),
        names: what.names,
        directories: what.directories.unwrap_or_default(),
        stride: place.stride,
        share: place.share,
        theta: place.theta,
        zones: place.zones.clone().map_or(Vec::new(), |zones| zones.0),
        block: place.block,
        segments: place.segments,
        offsets: place.replay.as_deref().map_or(Ok(Vec::new()), offsets_of)?,
        offset: place.offset.unwrap_or_default(),
        length: place.length,
        align: place.align,
        shift: place.shift.unwrap_or_default(),
        regions: place.regions,
        files: place.files.unwrap_or_default(),
        depth: load.depth.unwrap_or(1),
        workers: load.workers.unwrap_or(1),
        rate: load.rate,
        poisson: load.poisson,
        burst: load.burst,
        think: load.think.unwrap_or_default(),
        think_first: load.think_first,
        batch_submit: load.batch_submit,
        batch_complete: load.batch_complete,
        sqpoll: load.sqpoll,
        iopoll: load.iopoll,
        unregistered: load.unregistered,
        zone_append: load.zone_append,
        ..StreamText::absent()
    };
    apply_data(options, &mut text);
    if let Some(path) = &place.trace {
        text.depth = load.depth.unwrap_or(TRACE_DEPTH);
        replayed(path, place.pace, &mut text)?;
    } else {
        match what.bs.clone().map(|sizes| sizes.0).unwrap_or_default().as_slice() {
            [] => {}
            [one] => text.size = one.size,
            several => text.sizes = several.to_vec(),
        }
    }
    Stream::try_from(text).map_err(|contradiction| Failure::usage(contradiction.to_string()))
}

fn apply_data(options: &RunOptions, text: &mut StreamText) {
    let data = &options.data;
    text.sync = data.sync.unwrap_or_default();
    text.sync_timing = data.sync_timing.unwrap_or_default();
    text.content = data.content.unwrap_or_default();
    text.stamp = data.stamp;
    text.verify = data.verify;
    text.pass = data.pass;
    if let Some(gap_over) = options.record.gap_over {
        text.gap_over = gap_over;
    }
}

/// The order that `--pattern` names, or that `--rw` and the keys of one pattern imply.
fn pattern_of(options: &RunOptions) -> Result<PatternName, Failure> {
    let place = &options.place;
    if let Some(pattern) = place.pattern {
        return Ok(pattern);
    }
    let implied = [
        (place.stride.is_some(), PatternName::Sequential),
        (place.share.is_some(), PatternName::SemiRandom),
        (place.theta.is_some(), PatternName::Zipf),
        (place.zones.is_some(), PatternName::HotZones),
        (place.block.is_some(), PatternName::Segments),
        (place.replay.is_some(), PatternName::Replay),
        (place.trace.is_some(), PatternName::Trace),
        (options.what.actions.is_some(), PatternName::Names),
    ];
    let mut given = implied.iter().filter(|(is_given, _)| *is_given).map(|(_, pattern)| *pattern);
    match (given.next(), given.next()) {
        (Some(_), Some(_)) => Err(Failure::usage(
            "these options belong to different orders of addresses; name one with --pattern",
        )),
        (Some(pattern), None) => Ok(pattern),
        (None, _) => Ok(match options.what.rw {
            Some(Kind::RandRead | Kind::RandWrite | Kind::RandReadWrite | Kind::RandTrim) => {
                PatternName::Uniform
            }
            _ => PatternName::Sequential,
        }),
    }
}

fn mix_of(options: &RunOptions) -> Result<Mix, Failure> {
    let given = options.what.mix;
    let fixed = match options.what.rw {
        None if given.is_some() => None,
        Some(Kind::ReadWrite | Kind::RandReadWrite) => None,
        None | Some(Kind::Read | Kind::RandRead) => Some(Mix::READ),
        Some(Kind::Write | Kind::RandWrite) => Some(Mix::WRITE),
        Some(Kind::Trim | Kind::RandTrim) => Some(Mix { read: 0, write: 0, trim: 100 }),
    };
    match (fixed, given) {
        (Some(fixed), None) => Ok(fixed),
        (None, given) => Ok(given.unwrap_or(Mix { read: 50, write: 50, trim: 0 })),
        (Some(_), Some(_)) => {
            let word = options.what.rw.map_or("", Kind::word);
            Err(Failure::usage(format!(
                "--mix contradicts --rw {word}; use --rw rw or --rw randrw with it"
            )))
        }
    }
}

/// Makes a stream replay a trace.
fn replayed(path: &Path, pace: Option<Pace>, text: &mut StreamText) -> Result<(), Failure> {
    let data = bounded::bytes(path, bounded::TRACE_BYTES_MAX)
        .map_err(|error| Failure::usage(format!("cannot read {}: {error}", path.display())))?;
    let found = trace::parse(&data)
        .map_err(|error| Failure::usage(format!("{} {error}", path.display())))?;
    text.pace = match pace {
        Some(Pace::Max) => None,
        None if !found.is_timed => None,
        _ if !found.is_timed => {
            return Err(Failure::usage(format!(
                "{} ({}) has no times; replay it with --pace max",
                path.display(),
                found.format
            )));
        }
        Some(Pace::Times(factor)) => Some(factor),
        None => Some(1.0),
    };
    (text.mix, text.sizes) = (found.mix(), found.sizes());
    text.requests = found.requests;
    Ok(())
}

/// Reads byte offsets, one a line; empty lines and `#` comments are skipped.
fn offsets_of(path: &Path) -> Result<Vec<Size>, Failure> {
    let text = bounded::text(path, bounded::TRACE_BYTES_MAX)
        .map_err(|error| Failure::usage(format!("cannot read {}: {error}", path.display())))?;
    let mut offsets = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        offsets.push(line.parse().map_err(|error| {
            Failure::usage(format!("{} line {}: {error}", path.display(), index + 1))
        })?);
    }
    if offsets.is_empty() {
        return Err(Failure::usage(format!(
            "{} holds no offsets; write one a line",
            path.display()
        )));
    }
    Ok(offsets)
}

/// What a table calls this load: `randread 4k qd32 x4`.
fn name_of(options: &RunOptions, stream: &Stream) -> String {
    if let Some(path) = &options.place.trace {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        return with_workers(format!("trace {name}"), stream);
    }
    let kind = kind_word(options, stream);
    if stream.is_metadata() {
        let depth = if stream.depth > 1 { format!(" qd{}", stream.depth) } else { String::new() };
        return with_workers(kind + &depth, stream);
    }
    let sizes = match stream.weighted_sizes().as_slice() {
        [one] => short(one.size),
        several => {
            several.iter().map(|e: &WeightedSize| short(e.size)).collect::<Vec<_>>().join("+")
        }
    };
    let mut name = format!("{kind} {sizes} qd{}", stream.depth);
    if stream.engine != Engine::default() {
        name = format!("{name} {}", stream.engine.word());
    }
    with_workers(name, stream)
}

fn with_workers(name: String, stream: &Stream) -> String {
    let each = if stream.files == Files::Each { " files" } else { "" };
    let split = if stream.regions == Some(Sharing::Disjoint) { " disjoint" } else { "" };
    match stream.workers {
        1 => name,
        workers => format!("{name} x{workers}{each}{split}"),
    }
}

fn kind_word(options: &RunOptions, stream: &Stream) -> String {
    if let Some(names) = stream.names() {
        let words: Vec<&str> = names.actions.iter().map(|action| action.word()).collect();
        return words.join("+");
    }
    let by_rw = options.place.pattern.is_none()
        && matches!(stream.pattern, Pattern::Sequential(_) | Pattern::Uniform)
        && stream.stride().is_none();
    let Mix { read, write, trim } = stream.mix;
    let shares = match (read, write, trim) {
        (_, 0, 0) => "read".to_string(),
        (0, _, 0) => "write".to_string(),
        (0, 0, _) => "trim".to_string(),
        (_, _, 0) => format!("rw {read}:{write}"),
        _ => format!("rw {read}:{write}:{trim}"),
    };
    match (by_rw, stream.pattern.name(), stream.stride()) {
        (true, PatternName::Uniform, _) => format!("rand{shares}"),
        (true, ..) => shares,
        (false, PatternName::Sequential, Some(stride)) => format!("stride {stride} {shares}"),
        (false, pattern, _) => format!("{} {shares}", pattern.word()),
    }
}

/// `4k` for 4 KiB: the words of the command line.
fn short(size: Size) -> String {
    let text = size.to_string();
    match text.strip_suffix("iB") {
        Some(text) => text.to_lowercase(),
        None => text,
    }
}

/// Refuses what can be done but misleads: the advice that a front end of another tool must not
/// give, because there the same words mean the same thing.
pub fn refuse_misleading(plan: &Plan) -> Result<(), Failure> {
    for stream in plan.steps.iter().flat_map(|step| &step.streams) {
        let engine = stream.engine;
        if let Some(burst) = stream.arrival.burst().filter(|burst| *burst > stream.depth) {
            return Err(Failure::usage(format!(
                "a burst of {burst} does not fit depth {}: it would not be submitted at once",
                stream.depth
            ))
            .advise(format!("Use --depth {burst}, or a burst of 1 to the depth.")));
        }
        if engine.is_synchronous() && stream.depth > 1 {
            return Err(Failure::usage(format!(
                "{} does one operation at a time, so depth {} would measure waiting in the \
                 program, not in the drive",
                engine.word(),
                stream.depth
            ))
            .advise(format!(
                "Use --workers {} --depth 1 instead, or --engine io_uring.",
                stream.depth
            )));
        }
        if engine.traits().waits_when_buffered && stream.io == IoMode::Buffered {
            return Err(Failure::usage(format!(
                "{} on a buffered file waits inside the submitting call, so its depth is not \
                 reached",
                engine.word()
            ))
            .advise("Use --io direct, or --engine io_uring for buffered I/O."));
        }
    }
    Ok(())
}
