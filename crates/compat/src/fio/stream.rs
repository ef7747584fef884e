//! One job as a stream: its load, sizes, order and pace.

use super::place::Place;
use super::settings::{Distribution, Settings};
use super::steadystate;
use super::translate::Whole;
use super::value::Amount;
use super::words::not_to_be_had;
use crate::front::{Refusal, World};
use drivelab_core::op::Action;
use drivelab_core::plan::{
    Arrival, Files, IoMode, Jump, Mix, Pattern, Sequence, Sharing, Stream, Sync, Until,
    WeightedSize, Zone,
};
use drivelab_core::units::{Size, Span};

/// Sizes that a range is divided into at most.
pub const SIZES_MAX: u64 = 64;

/// The stream of a job, which is the one of this number.
///
/// # Errors
/// What fits no stream, by name.
pub fn of(whole: &Whole<'_>, index: usize, world: &dyn World) -> Result<Stream, Refusal> {
    let (settings, place) = (whole.settings, whole.place);
    let engine = settings.engine.1;
    let traits = engine.traits();
    let cached = traits.is_through_page_cache;
    let mut stream = Stream {
        name: whole.job.name.clone(),
        engine,
        io: if settings.direct && !cached { IoMode::Direct } else { IoMode::Buffered },
        mix: mix(settings),
        offset: Size(place.offset),
        offset_each: Size(place.offset_each),
        length: (place.length > 0).then_some(Size(place.length)),
        regions: Some(Sharing::Whole),
        files: place.shared(),
        first_file: place.first_file(),
        files_in_turn: (place.per_clone > 1).then_some(place.per_clone),
        depth: if engine.is_synchronous() { 1 } else { settings.depth },
        workers: settings.numjobs,
        align: settings.ba.map(Size),
        iopoll: settings.hipri && traits.is_ring,
        sqpoll: settings.sqthread_poll && traits.is_ring,
        // The order of a job is its own, and the same when it is read back.
        order: Some(index as u64),
        until: Some(until(settings, place, world)),
        ..Stream::default()
    };
    if !engine.moves_data() {
        stream.io = IoMode::Direct;
        (stream.first_file, stream.files_in_turn, stream.files) = (0, None, Files::One);
        stream.length = Some(Size(place.length.max(1)));
    }
    let depth = stream.depth;
    // One request a call is fio's habit: what a call costs is in slat.
    stream.batch_submit = Some(settings.batch_submit.unwrap_or(1).min(depth)).filter(|_| depth > 1);
    stream.batch_complete =
        settings.batch_complete.filter(|batch| *batch > 0).map(|batch| batch.min(depth));
    if stream.mix.write > 0 {
        stream.content = settings.content;
        stream.sync = sync(settings)?;
    }
    stream.trim_first = settings.rw.is_trimmed_first();
    stream.advise = settings.advise
        && stream.io == IoMode::Buffered
        && !traits.is_mapping
        && engine.moves_data();
    // Of mapped pages fio lets go at the beginning only, as the counters of a device show.
    stream.drop_cached_each_pass = settings.invalidate
        && stream.io == IoMode::Buffered
        && !traits.is_mapping
        && settings.goes_round();
    sizes(settings, &mut stream);
    if stream.trim_first && stream.sizes.iter().any(|entry| entry.kind.is_some()) {
        return Err(not_to_be_had(
            "trimwrite with blocks that are written in other sizes than they are trimmed",
            "give one bs for all directions",
        ));
    }
    order(settings, &mut stream)?;
    pace(settings, &mut stream)?;
    if settings.verify.is_some() {
        stamps(settings, &mut stream)?;
    }
    Ok(stream)
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
        (_, true) => Err(not_to_be_had(
            "end_fsync beside fsync, fdatasync or sync",
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
                    Amount::Bytes(bytes) => world.scale().of(bytes, 4096),
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
fn in_requests(settings: &Settings, place: &Place, amount: u64) -> u64 {
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

/// Sizes of requests; one alone where that is so.
fn sizes(settings: &Settings, stream: &mut Stream) {
    let kinds = [Action::Read, Action::Write, Action::Trim];
    let weights = [stream.mix.read, stream.mix.write, stream.mix.trim];
    let issued: Vec<usize> = (0..3).filter(|place| weights[*place] > 0).collect();
    let lists: [Vec<(u64, u32)>; 3] = match (&settings.bssplit, settings.bsrange) {
        (Some(split), _) => split.clone(),
        (None, Some(range)) => range.map(ranged),
        (None, None) => settings.bs.map(|bs| vec![(bs, 1)]),
    };
    if let Some(range) = settings.bsrange {
        // Where several sizes are taken for one, places are still those of the smallest.
        let low = issued.iter().map(|place| range[*place].0).min();
        let is_thinned = issued.iter().any(|place| lists[*place][0].0 != range[*place].0);
        stream.align = stream.align.or(low.filter(|_| is_thinned).map(Size));
    }
    let first = &lists[issued.first().copied().unwrap_or(0)];
    let alike = issued.iter().all(|place| lists[*place] == *first);
    match (alike, first.as_slice()) {
        (true, [(bytes, _)]) => stream.size = Size(*bytes),
        (true, several) => {
            let entry = |(bytes, weight): &(u64, u32)| WeightedSize {
                size: Size(*bytes),
                weight: *weight,
                kind: None,
            };
            stream.sizes = several.iter().map(entry).collect();
        }
        (false, _) => {
            for place in issued {
                let entry = |(bytes, weight): &(u64, u32)| WeightedSize {
                    size: Size(*bytes),
                    weight: *weight,
                    kind: Some(kinds[place]),
                };
                stream.sizes.extend(lists[place].iter().map(entry));
            }
        }
    }
}

/// Sizes of a range with their shares. fio draws a number up to the largest size and rounds it up
/// to a multiple of the smallest one; what is above the largest is that.
fn ranged((low, high): (u64, u64)) -> Vec<(u64, u32)> {
    let (count, rest) = (high / low.max(1), high % low.max(1));
    let unit = greatest_divisor(low, rest).max(1);
    let weight = |bytes: u64| u32::try_from(bytes / unit).unwrap_or(u32::MAX);
    let step = count.div_ceil(SIZES_MAX).max(1);
    let group = |first: u64| {
        let last = (first + step - 1).min(count);
        (low * (first + last).div_ceil(2), weight(low * (last + 1 - first)))
    };
    let whole = (1..=count).step_by(step as usize).map(group);
    whole.chain((rest > 0).then(|| (high, weight(rest)))).collect()
}

fn greatest_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { greatest_divisor(other, one % other) }
}

/// The order of the addresses.
fn order(settings: &Settings, stream: &mut Stream) -> Result<(), Refusal> {
    let several = !stream.sizes.is_empty();
    if !settings.rw.random {
        let each_kind_in_order = settings.rw.is_mixed();
        stream.pattern =
            Pattern::Sequential(Sequence { each_kind_in_order, ..Sequence::default() });
        return Ok(());
    }
    if settings.rw.run > 1 {
        if settings.distribution != Distribution::Random || settings.percentage_random < 100 {
            return Err(not_to_be_had(
                "rw=…:N beside random_distribution or percentage_random",
                "use one of them",
            ));
        }
        stream.pattern = Pattern::SemiRandom(Jump::Run(settings.rw.run));
        return Ok(());
    }
    let share = settings.percentage_random as f64 / 100.0;
    match &settings.distribution {
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
        Distribution::Random if share < 1.0 => {
            stream.pattern = Pattern::SemiRandom(Jump::Share(Some(share)));
        }
        // Every block once a pass, where there is a map of them and they have one size.
        Distribution::Random if !settings.norandommap && !several => {
            stream.pattern = Pattern::Permutation;
        }
        Distribution::Random => stream.pattern = Pattern::Uniform,
    }
    let by_kind = stream.sizes.iter().any(|entry| entry.kind.is_some());
    if by_kind && stream.pattern != Pattern::Uniform {
        return Err(not_to_be_had(
            "bs of its own for each direction beside random_distribution or percentage_random",
            "use one bs for reads and writes",
        ));
    }
    Ok(())
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
            return Err(not_to_be_had(
                "a rate for one direction alone, or beside thinktime",
                "give rates of both directions, and no thinktime",
            ));
        }
        let sum: f64 = rates.iter().flatten().sum();
        stream.arrival = Arrival::Open { rate: sum * clones, poisson: settings.poisson };
        if stream.trim_first && rates.windows(2).any(|pair| pair[0] != pair[1]) {
            return Err(not_to_be_had(
                "trimwrite with a rate of trims that is not that of the writes behind them",
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

/// What is written can be read back and told.
fn stamps(settings: &Settings, stream: &mut Stream) -> Result<(), Refusal> {
    if settings.rw.is_trimmed_first() {
        return Err(not_to_be_had("verify of trimwrite", "verify a job that writes"));
    }
    // The reads of a mix are not checked: what they find may be older.
    if stream.mix.read > 0 && !settings.rw.is_mixed() {
        stream.verify = true;
        return Ok(());
    }
    if stream.mix.write > 0 {
        stream.stamp = true;
        let ends_by_time = settings.runtime_ns > 0 || settings.ends_when_steady();
        if ends_by_time && settings.do_verify {
            return Err(not_to_be_had(
                "verify of a job that time ends",
                "end it by size, so that it is known what was written",
            ));
        }
    }
    Ok(())
}
