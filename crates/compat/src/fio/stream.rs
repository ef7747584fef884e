//! One job as a stream: its load, sizes, order and pace.

use super::least;
use super::marks;
use super::names;
use super::place::Place;
use super::replay;
use super::sequence;
use super::settings::{Distribution, Settings};
use super::sizes;
use super::steadystate;
use super::translate::Whole;
use super::value::Amount;
use super::words::{STATUS, unsupported};
use super::zones;
use crate::front::{Refusal, World};
use drivelab_core::plan::{
    Arrival, Files, IoMode, Jump, KindShares, Mix, Pattern, Sequence, Sharing, Stream, Sync,
    ThreadSettings, Until, Zone,
};
use drivelab_core::units::{Size, Span};

/// Engines with which fio has single writes be whole or not at all.
const WRITES_WHOLE: [&str; 3] = ["libaio", "io_uring", "pvsync2"];

/// The stream of a job, which is the one of this number.
///
/// # Errors
/// What fits no stream, by name.
pub fn of(whole: &Whole<'_>, index: usize, world: &dyn World) -> Result<Stream, Refusal> {
    match &whole.place.names {
        Some(named) => Ok(names::stream(whole, named, world)),
        None => on_data(whole, index, world),
    }
}

fn on_data(whole: &Whole<'_>, index: usize, world: &dyn World) -> Result<Stream, Refusal> {
    let (settings, place) = (whole.settings, whole.place);
    let engine = settings.engine.1;
    let traits = engine.traits();
    let is_direct = settings.is_direct() && !traits.is_always_buffered();
    if settings.logs[3].is_some() && (settings.numjobs > 1 || place.per_clone > 1) {
        return Err(unsupported(
            "write_iolog of several jobs or files",
            "say numjobs=1 and one file",
        ));
    }
    let mut stream = Stream {
        name: whole.job.name.clone(),
        engine,
        io: if is_direct { IoMode::Direct } else { IoMode::Buffered },
        mix: mix(settings),
        offset: Size(place.offset),
        offset_each: Size(place.offset_each),
        length: length(place, settings.numjobs),
        regions: Some(Sharing::Whole),
        files: place.shared(),
        first_file: place.first_file(),
        files_in_turn: (place.per_clone > 1).then_some(place.per_clone),
        keep_requests: settings.logs[3].is_some()
            || (settings.log_lines.every_ms == 0 && settings.logs.iter().any(Option::is_some)),
        // fio's clat is of what is left after submission.
        keep_completion: engine.is_asynchronous() && !settings.without.completion,
        depth: if engine.is_synchronous() { 1 } else { settings.depth },
        workers: settings.numjobs,
        align: settings.ba.map(Size),
        iopoll: settings.hipri && traits.is_ring,
        sqpoll: settings.sqthread_poll && traits.is_ring,
        order: repeated_order(settings, index as u64),
        flow: Some(settings.turns.flow).filter(|flow| flow.weight > 0),
        start_after: Span(world.scale_time().of(settings.turns.start_ns, 1_000_000)),
        until: Some(Until {
            rate_min: least::rate_min(whole, world)?,
            ..until(settings, place, world)
        }),
        ..Stream::default()
    };
    if !engine.reaches_target() {
        stream.io = IoMode::Direct;
        (stream.first_file, stream.files_in_turn, stream.files) = (0, None, Files::One);
        stream.length = Some(Size(place.length.max(1)));
    }
    batches(settings, &mut stream);
    told(settings, &mut stream)?;
    if stream.mix.write > 0 {
        stream.content = settings.content;
        stream.sync = sync(settings)?;
    }
    stream.trim_first = settings.rw.is_trimmed_first();
    stream.advise = settings.advise && stream.io == IoMode::Buffered && engine.moves_data();
    // Of mapped pages fio lets go at the beginning only, as the counters of a device show.
    stream.drop_cached_each_pass = settings.invalidate
        && stream.io == IoMode::Buffered
        && traits.moves_data
        && !traits.is_mapping
        && settings.goes_round();
    if let Some(trace) = &settings.turns.replay.trace {
        replay::apply(settings, trace, &mut stream);
        return Ok(stream);
    }
    sizes::apply(settings, &mut stream);
    in_its_way(settings, place, &mut stream)?;
    zones::apply(settings, place, &mut stream)?;
    Ok(stream)
}

/// How many requests a call carries, and how many it waits for.
fn batches(settings: &Settings, stream: &mut Stream) {
    let depth = stream.depth;
    // One request a call is fio's habit: what a call costs is in slat.
    stream.batch_submit = Some(settings.batch_submit.unwrap_or(1).min(depth)).filter(|_| depth > 1);
    // Down to the low mark it submits nothing.
    let emptied = settings.turns.depth_low.map_or(0, |low| depth.saturating_sub(low));
    stream.batch_complete = settings.batch_complete.or(settings.turns.depth_low);
    stream.batch_complete =
        stream.batch_complete.map(|_| settings.batch_complete.unwrap_or(0).max(emptied).min(depth));
    stream.batch_complete = stream.batch_complete.filter(|batch| *batch > 0);
}

/// What the kernel is told of its threads, and of its writes.
fn told(settings: &Settings, stream: &mut Stream) -> Result<(), Refusal> {
    let kernel = &settings.kernel;
    stream.thread = (*kernel != ThreadSettings::default()).then(|| kernel.clone());
    stream.atomic = settings.turns.atomic && stream.mix.write > 0;
    settings.turns.priorities.apply(&settings.engine.0, settings.rw.kinds, stream)?;
    match stream.atomic && !WRITES_WHOLE.contains(&settings.engine.0.as_str()) {
        false => Ok(()),
        true => Err(Refusal::new(
            STATUS,
            format!("fio: ioengine={} does not write atomically", settings.engine.0),
            "Use ioengine=libaio, io_uring or pvsync2, with direct=1.",
        )),
    }
}

/// Bytes of the region; up to where the file ends, where clones have different amounts left of it.
fn length(place: &Place, clones: u32) -> Option<Size> {
    let reach = place.offset_each.saturating_mul(u64::from(clones.max(1) - 1));
    let end = place.offset.saturating_add(reach).saturating_add(place.length);
    let is_shared = place.offset_each > 0 && !place.is_on_drive && place.file_bytes > 0;
    (place.length > 0 && !(is_shared && end > place.file_bytes)).then_some(Size(place.length))
}

/// Its order, its pace and its marks.
fn in_its_way(settings: &Settings, place: &Place, stream: &mut Stream) -> Result<(), Refusal> {
    match settings.first_distribution() {
        Distribution::Sequence(blocks) if settings.rw.random => {
            sequence::apply(settings, place, blocks, stream)?;
        }
        _ => order(settings, stream)?,
    }
    if settings.rw.hole != 0 {
        holes(settings, place, stream)?;
    }
    if settings.turns.no_overlap {
        none_overlap(settings, stream)?;
    }
    if settings.turns.start_ns > 0 && settings.ends_when_steady() {
        return Err(unsupported("startdelay with steadystate", "use one of them"));
    }
    pace(settings, stream)?;
    marks::apply(settings, stream)?;
    Ok(())
}

fn mix(settings: &Settings) -> Mix {
    match settings.rw.kinds {
        [true, true, _] => {
            let read = settings.rwmixread.unwrap_or(50);
            Mix { read, write: 100 - read, trim: 0 }
        }
        [true, ..] => Mix::READ,
        [_, true, true] => Mix { read: 0, write: 50, trim: 50 },
        [_, true, _] => Mix::WRITE,
        _ => Mix { read: 0, write: 0, trim: 100 },
    }
}

fn sync(settings: &Settings) -> Result<Sync, Refusal> {
    match (settings.sync, settings.end_fsync) {
        (sync, false) => Ok(sync),
        (Sync::None, true) => Ok(Sync::End),
        (_, true) => Err(unsupported(
            "end_fsync with fsync, fdatasync or sync",
            "leave end_fsync out: the last writes are synced with the others",
        )),
    }
}

fn until(settings: &Settings, place: &Place, world: &dyn World) -> Until {
    let runtime = world.scale_time().of(settings.runtime_ns, 1_000_000);
    let mut until =
        Until { elapsed: (settings.runtime_ns > 0).then_some(Span(runtime)), ..Until::default() };
    // What bounds a job counts trims and the writes behind them apart.
    let each = 1 + u64::from(settings.rw.is_trimmed_first());
    let clones = each * u64::from(settings.numjobs.max(1));
    if !(settings.time_based && settings.runtime_ns > 0) {
        let amount = match settings.io_size {
            Some(amount) => {
                let amount = match amount {
                    Amount::Bytes(bytes) | Amount::Zones(bytes) => world.scale().of(bytes, 4096),
                    percent => percent.of(place.size),
                };
                // Of several loops none moves more than the size.
                match settings.loops {
                    0 | 1 => amount,
                    loops => amount.min(place.size).saturating_mul(loops),
                }
            }
            None => place.size,
        };
        let amount = in_requests(settings, place, amount);
        let amount = match settings.io_size {
            Some(_) => amount,
            None => amount.saturating_mul(settings.loops),
        };
        until.bytes = Some(Size(amount.saturating_mul(clones)));
    }
    until.level = steadystate::level(settings, world);
    until.operations = settings
        .number_ios
        .map(|count| count.saturating_mul(settings.loops.max(1)).saturating_mul(clones));
    until
}

/// An amount as fio reaches it in requests of one size: the last one may go beyond it, unless the
/// files end there.
pub fn in_requests(settings: &Settings, place: &Place, amount: u64) -> u64 {
    let kinds = settings.bs.iter().zip(settings.rw.kinds).filter(|(_, is_issued)| *is_issued);
    let sizes: Vec<u64> = kinds.map(|(bytes, _)| *bytes).collect();
    let is_one = sizes.windows(2).all(|pair| pair[0] == pair[1]);
    let several = !is_one || settings.bsrange.is_some() || settings.bssplit.is_some();
    let Some(bytes) = sizes.first().filter(|bytes| !several && **bytes > 0) else { return amount };
    let (whole, pass) = (amount / bytes, place.size / bytes);
    let has_ends = !(settings.rw.random && settings.norandommap);
    let is_at_end = has_ends && pass > 0 && whole > 0 && whole.is_multiple_of(pass);
    match amount.is_multiple_of(*bytes) || is_at_end {
        true => whole * bytes,
        false => whole.saturating_add(1).saturating_mul(*bytes),
    }
}

/// The order of a job is its own, the same in every run and when it is read back; a seed makes
/// another one, and without repetition the run draws one, unless what was written is read back.
fn repeated_order(settings: &Settings, index: u64) -> Option<u64> {
    /// So that neighbouring seeds have no order in common.
    const APART: u64 = 0x9e37_79b9_7f4a_7c15;
    match (settings.randseed, settings.randrepeat || settings.marks.verify.is_some()) {
        (Some(seed), _) => Some(seed.wrapping_mul(APART).wrapping_add(index) >> 1),
        (None, true) => Some(index),
        (None, false) => None,
    }
}

fn in_order(each_kind_in_order: bool) -> Pattern {
    Pattern::Sequential(Sequence { each_kind_in_order, ..Sequence::default() })
}

/// The order of the addresses.
fn order(settings: &Settings, stream: &mut Stream) -> Result<(), Refusal> {
    let several = !stream.sizes.is_empty();
    if !settings.rw.random {
        stream.pattern = in_order(settings.rw.is_mixed());
        return Ok(());
    }
    let issued = || (0..3).filter(|place| settings.rw.kinds[*place]);
    let first = issued().next().unwrap_or(0);
    let distribution = &settings.distribution[first];
    if issued().any(|place| settings.distribution[place] != *distribution) {
        return Err(unsupported(
            "random_distribution that differs between directions",
            "say one for all, or use two jobs",
        ));
    }
    let share_of = |place: usize| settings.percentage_random[place] as f64 / 100.0;
    let is_whole = issued().all(|place| settings.percentage_random[place] == 100);
    if settings.rw.run > 1 {
        if *distribution != Distribution::Random || !is_whole {
            return Err(unsupported(
                "rw=…:N with random_distribution or percentage_random",
                "use one of them",
            ));
        }
        stream.pattern = Pattern::SemiRandom(Jump::Run(settings.rw.run));
        return Ok(());
    }
    match distribution {
        Distribution::Zipf(theta) => {
            stream.pattern = Pattern::Zipf { theta: Some(*theta) };
        }
        Distribution::Pareto(power) => {
            stream.pattern = Pattern::SelfSimilar { skew: Some(*power) };
        }
        Distribution::Normal(deviation) => {
            // What fio does with it, as its offsets show: half of the file is the most.
            stream.pattern = Pattern::Bell { plateau: Some((deviation / 100.0).min(0.5)) };
        }
        Distribution::Zoned(zones) => {
            let zone = |(accesses, addresses): &(f64, f64)| Zone {
                addresses: addresses / 100.0,
                accesses: accesses / 100.0,
            };
            stream.pattern = Pattern::HotZones(zones.iter().map(zone).collect());
        }
        Distribution::Random if !is_whole => {
            stream.pattern = Pattern::SemiRandom(jumps(settings, share_of)?);
        }
        // Every block once a pass, where there is a map of them and they have one size.
        Distribution::Random if !settings.norandommap && !several => {
            stream.pattern = Pattern::Permutation;
        }
        // With several sizes larger ones are cut to what is free in it.
        Distribution::Random if several && sizes::have_map(settings) => {
            stream.pattern = Pattern::RandomMap;
        }
        Distribution::Random | Distribution::Sequence(_) => stream.pattern = Pattern::Uniform,
    }
    let by_kind = stream.sizes.iter().any(|entry| entry.kind.is_some());
    let has_lanes =
        matches!(stream.pattern, Pattern::Uniform | Pattern::SemiRandom(Jump::Shares(_)));
    if by_kind && !has_lanes {
        return Err(unsupported(
            "a bs for each direction with random_distribution",
            "use one bs for reads and writes",
        ));
    }
    Ok(())
}

/// How often each direction jumps; it goes on behind its own last request in between.
fn jumps(settings: &Settings, share_of: impl Fn(usize) -> f64) -> Result<Jump, Refusal> {
    let kinds = settings.rw.kinds;
    if settings.rw.is_trimmed_first() {
        return match settings.percentage_random[1] == settings.percentage_random[2] {
            true => Ok(Jump::Share(Some(share_of(1)))),
            false => Err(unsupported(
                "randtrimwrite with different shares of trims and of the writes that follow them",
                "say one percentage_random for both",
            )),
        };
    }
    let mut issued = (0..3).filter(|place| kinds[*place]);
    match (issued.next(), issued.next()) {
        (Some(only), None) => Ok(Jump::Share(Some(share_of(only)))),
        _ => Ok(Jump::Shares(KindShares {
            read: share_of(0),
            write: share_of(1),
            trim: share_of(2),
        })),
    }
}

/// `rw=read:8k`: that much is left out behind each request.
fn holes(settings: &Settings, place: &Place, stream: &mut Stream) -> Result<(), Refusal> {
    let (bytes, hole) = (stream.size.0, settings.rw.hole);
    let is_one = stream.sizes.is_empty() && settings.ba.is_none();
    if !is_one || settings.io_size.is_some() || place.per_clone > 1 {
        return Err(unsupported(
            "rw=…:N in order with several block sizes or files, ba, or io_size",
            "use one bs and one file, and end the job by its size or runtime",
        ));
    }
    let step = i64::try_from(bytes).unwrap_or(i64::MAX).saturating_add(hole);
    if step == 0 {
        return Err(unsupported("rw=…:N that stays in place", "use a file as small as a request"));
    }
    let (grid, stride) = match hole.unsigned_abs().is_multiple_of(bytes.max(1)) {
        true => (bytes, step / bytes as i64),
        // Requests that do not lie next to each other stand on a grid of their own.
        false if hole > 0 => (step.unsigned_abs(), 1),
        false => {
            return Err(unsupported(
                "rw=…:-N in order with an N that is not a multiple of bs",
                "go back by whole blocks",
            ));
        }
    };
    stream.align = (grid > bytes).then_some(Size(grid));
    let slots = (place.length.saturating_sub(bytes) / grid).saturating_add(1);
    // Backwards fio leaves out the last block, as it steps back before it begins.
    let first = if stride < 0 { stride.unsigned_abs().min(slots - 1) } else { 0 };
    stream.pattern = Pattern::Sequential(Sequence {
        stride: Some(stride),
        begin: (first > 0).then_some(Size(first * grid)),
        restart: true,
        ..Sequence::default()
    });
    let pass = (slots - first).div_ceil(stride.unsigned_abs());
    // Where the next request would begin behind the file, fio begins again until the size is moved,
    // unless the last one ended where the region ends; else a pass is all there is.
    let end = (pass - 1) * stride.unsigned_abs() * grid + bytes;
    let next = place.offset.saturating_add(end).saturating_add(hole.unsigned_abs());
    if hole > 0 && end < place.length && next >= place.file_bytes {
        return Ok(());
    }
    let clones = u64::from(settings.numjobs.max(1));
    if let Some(bound) = stream.until.as_mut().and_then(|until| until.bytes.as_mut()) {
        let moved = pass.saturating_mul(bytes).saturating_mul(settings.loops);
        *bound = Size(moved.saturating_mul(clones));
    }
    Ok(())
}

/// `serialize_overlap`: nothing is to be done where no two requests in flight can meet.
fn none_overlap(settings: &Settings, stream: &Stream) -> Result<(), Refusal> {
    let is_mapped = stream.pattern == Pattern::RandomMap;
    let is_once = (stream.sizes.is_empty() || is_mapped)
        && !settings.goes_round()
        && (is_mapped || matches!(stream.pattern, Pattern::Permutation | Pattern::Sequential(_)))
        && settings.io_size.is_none()
        && !settings.rw.is_mixed();
    match is_once || stream.depth == 1 || stream.mix.write == 0 && stream.mix.trim == 0 {
        true => Ok(()),
        false => Err(unsupported(
            "serialize_overlap of requests that may overlap",
            "visit each block once: no norandommap, time_based, loops or io_size",
        )),
    }
}

/// How fast: think time, or an open loop.
fn pace(settings: &Settings, stream: &mut Stream) -> Result<(), Refusal> {
    let clones = f64::from(settings.numjobs);
    let places: Vec<usize> = (0..3).filter(|place| settings.rw.kinds[*place]).collect();
    let mean = |place: usize| {
        let sizes: Vec<(f64, f64)> = stream
            .weighted_sizes()
            .iter()
            .filter(|entry| entry.kind.is_none_or(|kind| kind.index() == place))
            .map(|entry| (entry.size.0 as f64, f64::from(entry.weight)))
            .collect();
        let weights: f64 = sizes.iter().map(|(_, weight)| weight).sum();
        sizes.iter().map(|(size, weight)| size * weight).sum::<f64>() / weights.max(1.0)
    };
    let of = |place: usize| match (settings.rate_iops[place], settings.rate[place]) {
        (0, 0) => None,
        (0, bytes) => Some(bytes as f64 / mean(place)),
        (iops, _) => Some(iops as f64),
    };
    let rates: Vec<Option<f64>> = places.iter().map(|place| of(*place)).collect();
    if rates.iter().any(Option::is_some) {
        if rates.iter().any(Option::is_none) || settings.thinktime_ns > 0 {
            return Err(unsupported(
                "rate of one direction alone, or with thinktime",
                "give rates of both directions, and no thinktime",
            ));
        }
        let sum: f64 = rates.iter().flatten().sum();
        stream.arrival = Arrival::Open { rate: sum * clones, poisson: settings.poisson };
        if stream.trim_first && rates.windows(2).any(|pair| pair[0] != pair[1]) {
            return Err(unsupported(
                "trimwrite with different rates of trims and of the writes that follow them",
                "give both directions one rate",
            ));
        }
        if let ([Some(read), Some(write)], true) = (rates.as_slice(), settings.rw.is_mixed()) {
            // What each direction may do is what decides the shares.
            let share = (read / (read + write) * 10_000.0).round() as u32;
            stream.mix = Mix { read: share, write: 10_000 - share, trim: 0 };
        }
    } else if settings.thinktime_ns > 0 {
        let burst = Some(settings.thinktime_blocks);
        stream.arrival = Arrival::thinking(burst, Span(settings.thinktime_ns));
    }
    Ok(())
}
