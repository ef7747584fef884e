//! What one stream must fulfil: its load, its keys, its addresses, its checks.

use super::orders::{begin_of, validate_orders};
use super::{Geometry, HOUR, Problems};
use crate::facts::TargetKind;
use crate::op::{Action, NameOp};
use crate::plan::{
    Arrival, Content, Engine, Files, IoMode, Jump, Names, Pattern, Sharing, Stream, Sync,
    SyncTiming, Zone,
};
use crate::quantity::counted;
use crate::units::Size;

/// More workers or operations in flight than any machine can hold is a typing error.
const WORKERS_MAX: u32 = 4096;
const DEPTH_MAX: u32 = 65_536;
/// Linux moves at most 2 GiB less a page in one call.
const REQUEST_MAX: u64 = 1 << 30;
const RATE_MAX: f64 = 1e9;
const WEIGHT_MAX: u32 = 1_000_000;
/// Rounding of shares typed with a few decimals.
const SHARE_ROUNDING: f64 = 1e-9;

pub(super) fn validate_stream(stream: &Stream, geometry: &Geometry, problems: &mut Problems) {
    load(stream, problems);
    arrival(stream, problems);
    pattern(stream, problems);
    kinds(stream, problems);
    engine(stream, problems);
    super::threads::threads(stream, geometry, problems);
    super::checks::checks(stream, problems);
    match &stream.pattern {
        Pattern::Names(of) => names(stream, of, geometry, problems),
        Pattern::Trace(requests) => {
            data(stream, geometry, problems);
            super::validate_trace(stream, requests, geometry, problems);
        }
        _ => data(stream, geometry, problems),
    }
}

fn load(stream: &Stream, problems: &mut Problems) {
    problems
        .need(stream.depth > 0, "depth", || "depth 0 issues nothing; use 1 or more".to_string());
    problems.need(stream.depth <= DEPTH_MAX, "depth", || {
        format!("depth {} is too large; use at most {DEPTH_MAX} per worker", stream.depth)
    });
    problems
        .need(stream.workers > 0, "workers", || "0 workers do nothing; use 1 or more".to_string());
    problems.need(stream.workers <= WORKERS_MAX, "workers", || {
        format!("{} workers are too many; use at most {WORKERS_MAX}", stream.workers)
    });
    for (key, batch) in
        [("batch_submit", stream.batch_submit), ("batch_complete", stream.batch_complete)]
    {
        problems.need(batch.is_none_or(|n| n > 0 && n <= stream.depth.max(1)), key, || {
            let n = batch.unwrap_or(0);
            format!("{key} {n} does not fit depth {}; use 1 to the depth", stream.depth)
        });
    }
    problems.need(stream.gap_over.0 > 0, "gap_over", || {
        "gap_over 0 would list every operation; use more, such as 100ms".to_string()
    });
}

fn arrival(stream: &Stream, problems: &mut Problems) {
    if let Some(rate) = stream.arrival.rate() {
        problems.need(rate.is_finite() && rate > 0.0 && rate <= RATE_MAX, "rate", || {
            format!("a rate of {rate} a second cannot be kept; use more than 0, at most 1e9")
        });
        let slowest = f64::from(stream.workers) / HOUR.seconds();
        problems.need(rate >= slowest || rate <= 0.0 || rate.is_nan(), "rate", || {
            format!("a rate of {rate} a second is less than one operation an hour; raise it")
        });
    }
    problems.need(stream.arrival.burst() != Some(0), "burst", || {
        "a burst of 0 submits nothing; use 1 or more".to_string()
    });
    let think = stream.think_time();
    problems.need(think <= HOUR, "think", || {
        format!("a think time of {think} is more than an hour; shorten it")
    });
    if let Some(flow) = stream.flow {
        problems.need((1..=WEIGHT_MAX).contains(&flow.weight), "flow", || {
            format!("a weight of {} is out of range; use 1 to {WEIGHT_MAX}", flow.weight)
        });
        problems.need(flow.pause <= HOUR, "flow", || {
            format!("a pause of {} is more than an hour; shorten it", flow.pause)
        });
        problems.need(!stream.zone_append, "flow", || {
            "appends to zones keep no ratio to other streams; remove `flow` or `zone_append`".into()
        });
    }
    let is_traced = matches!(stream.pattern, Pattern::Trace(_));
    problems.need(is_traced || !matches!(stream.arrival, Arrival::Trace { .. }), "pace", || {
        "the times of a trace need its requests; use pattern trace".to_string()
    });
}

/// What the order of addresses, or of names, is made from.
fn pattern(stream: &Stream, problems: &mut Problems) {
    let lacks = |key: &'static str| {
        let owner = stream.pattern.name().word();
        move || format!("pattern {owner} needs `{key}`; add it")
    };
    match &stream.pattern {
        Pattern::Sequential(_) | Pattern::Uniform | Pattern::Permutation | Pattern::RandomMap => {}
        Pattern::SemiRandom(Jump::Share(share)) => {
            problems.need(share.is_none_or(|share| (0.0..=1.0).contains(&share)), "share", || {
                "`share` is a probability; use 0 to 1".to_string()
            });
        }
        Pattern::SemiRandom(Jump::Shares(shares)) => {
            let are_shares = shares.each().iter().all(|share| (0.0..=1.0).contains(share));
            problems.need(are_shares, "shares", || {
                "`shares` are probabilities; use 0 to 1".to_string()
            });
        }
        Pattern::SemiRandom(Jump::Run(run)) => {
            problems.need(*run > 0, "run", || "`run` counts operations; use 1 or more".to_string())
        }
        Pattern::Zipf { theta } => {
            problems.need(theta.is_none_or(|theta| (0.0..5.0).contains(&theta)), "theta", || {
                "`theta` of Zipf goes from 0 (uniform) to below 5; 1 is the classical law".into()
            });
        }
        Pattern::SelfSimilar { skew } => {
            problems.need(skew.is_none_or(|skew| skew > 0.0 && skew < 1.0), "skew", || {
                "`skew` is a share of the addresses; use more than 0 and less than 1".to_string()
            });
        }
        Pattern::Bell { plateau } => {
            let half = |plateau| (0.0..=0.5).contains(&plateau);
            problems.need(plateau.is_none_or(half), "plateau", || {
                "`plateau` is a share of the region; use 0 to 0.5".to_string()
            });
        }
        Pattern::HotZones(all) => {
            problems.need(!all.is_empty(), "zones", lacks("zones"));
            zones(all, problems);
        }
        Pattern::Segments { segments, .. } => {
            problems.need(*segments != Some(0), "segments", || {
                "0 segments hold nothing; use 1 or more".to_string()
            });
        }
        Pattern::Replay(offsets) => {
            problems.need(!offsets.is_empty(), "offsets", lacks("offsets"));
        }
        Pattern::Trace(requests) => {
            problems.need(!requests.is_empty(), "requests", lacks("requests"));
        }
        Pattern::Names(names) => {
            problems.need(!names.actions.is_empty(), "actions", lacks("actions"));
        }
    }
}

fn zones(zones: &[Zone], problems: &mut Problems) {
    let in_range = |share: f64| (0.0..=1.0).contains(&share);
    let fine = zones.iter().all(|zone| in_range(zone.addresses) && in_range(zone.accesses));
    problems.need(fine, "zones", || {
        "the shares of a zone are from 0 to 1 (of addresses, of accesses)".to_string()
    });
    let empty = zones.iter().any(|zone| zone.addresses == 0.0);
    problems.need(!empty, "zones", || {
        "a zone without addresses cannot be accessed; give it a share or remove it".to_string()
    });
    let addresses: f64 = zones.iter().map(|zone| zone.addresses).sum();
    let accesses: f64 = zones.iter().map(|zone| zone.accesses).sum();
    problems.need(addresses <= 1.0 + SHARE_ROUNDING, "zones", || {
        format!("the zones hold {addresses:.3} of the addresses, more than all; make it 1 or less")
    });
    problems.need(accesses <= 1.0 + SHARE_ROUNDING, "zones", || {
        format!("the zones get {accesses:.3} of the accesses, more than all; make it 1 or less")
    });
    let rest_is_empty = addresses >= 1.0 - SHARE_ROUNDING && accesses < 1.0 - SHARE_ROUNDING;
    problems.need(!rest_is_empty, "zones", || {
        format!(
            "the zones hold all addresses, but get {accesses:.3} of the accesses; the shares of \
             accesses must then sum to 1"
        )
    });
}

fn kinds(stream: &Stream, problems: &mut Problems) {
    let is_names = stream.is_metadata();
    problems.need(is_names || stream.mix.total() > 0, "mix", || {
        "the mix has no reads, no writes and no trims; give one of them a share".to_string()
    });
    problems.need(stream.reply.is_none() || stream.mix.trim == 0, "reply", || {
        "a trim has no opposite direction; use reply without trims".to_string()
    });
    problems.need(stream.reply.is_none() || !is_names, "reply", || {
        "metadata actions have no opposite direction; remove `reply`".to_string()
    });
    super::validate_replies(stream, problems);
    in_order(stream, problems);
    let writes = !is_names && (stream.mix.write > 0 || stream.reply.is_some());
    // On names it belongs to the create.
    let creates = stream.names().is_some_and(|of| of.actions.contains(&Action::Create));
    let writes = writes || (creates && stream.sync == Sync::Fsync(1));
    problems.need(writes || stream.sync == Sync::None, "sync", || {
        format!("sync = {} without writes does nothing; remove it or add writes", stream.sync)
    });
    let has_flushes = !matches!(stream.sync, Sync::None | Sync::Dsync);
    problems.need(has_flushes || stream.sync_timing == SyncTiming::Inside, "sync_timing", || {
        "sync timing is about fsync, and none is asked for; set sync or remove it".to_string()
    });
    // What counts up is what a read that verifies expects.
    let is_expected = (stream.verify || creates) && matches!(stream.content, Content::Counting(_));
    problems.need(writes || is_expected || stream.content == Content::Random, "content", || {
        "content is about writes, and there are none; remove it or add writes".to_string()
    });
}

/// Writes with an order of their own have whole slots, and reads next to them.
fn in_order(stream: &Stream, problems: &mut Problems) {
    use Pattern as P;
    let has_slots = matches!(stream.pattern, P::Uniform | P::Zipf { .. } | P::HotZones(_));
    let has_both = stream.mix.read > 0 && stream.mix.write > 0 && stream.reply.is_none();
    let fits = has_slots && has_both && stream.sizes.is_empty() && stream.workers == 1;
    problems.need(fits || !stream.writes_in_order, "writes_in_order", || {
        "writes_in_order is for one worker that mixes reads of one size at random (uniform, zipf \
         or hot-zones) with writes; drop it, or make it that"
            .to_string()
    });
}

fn engine(stream: &Stream, problems: &mut Problems) {
    let engine = stream.engine;
    for (key, set) in [
        ("sqpoll", stream.sqpoll),
        ("iopoll", stream.iopoll),
        ("unregistered", stream.unregistered),
    ] {
        problems.need(!set || engine.traits().is_ring, key, || {
            format!("`{key}` is a mode of io_uring, and the engine is {}", engine.word())
        });
    }
    if stream.iopoll {
        problems.need(stream.io == IoMode::Direct, "iopoll", || {
            "iopoll polls the device and needs direct I/O; remove iopoll or use io = direct"
                .to_string()
        });
        let flushes = !matches!(stream.sync, Sync::None | Sync::Dsync);
        problems.need(!flushes && stream.mix.trim == 0, "iopoll", || {
            "iopoll can only read and write; remove iopoll, or the fsync and trims".to_string()
        });
    }
    let traits = engine.traits();
    let cached = traits.is_through_page_cache;
    problems.need(!cached || stream.io == IoMode::Buffered, "io", || {
        format!("{} goes through the page cache; say io = buffered", engine.word())
    });
    problems.need(traits.can_trim || stream.mix.trim == 0, "mix", || {
        let able = Engine::words_of(|it| it.moves_data() && it.traits().can_trim);
        format!("{} cannot trim; use {able}", engine.word())
    });
    changes_files(stream, problems);
    problems.need(!traits.is_mapping || stream.sync != Sync::Dsync, "sync", || {
        "O_DSYNC does not reach stores on a mapping; use fsync:N (msync) or end".to_string()
    });
}

/// What moves no data bypasses no cache, and knows some operations alone.
fn changes_files(stream: &Stream, problems: &mut Problems) {
    let (word, traits) = (stream.engine.word(), stream.engine.traits());
    problems.need(!traits.changes_files || stream.io == IoMode::Buffered, "io", || {
        format!("{word} moves no data that could bypass the page cache; say io = buffered")
    });
    let mix = &stream.mix;
    let is_write = mix.read == 0 && mix.trim == 0 && stream.reply.is_none();
    problems.need(!traits.only_writes || is_write, "mix", || {
        format!("{word} knows writes alone; leave reads, trims and replies out")
    });
}

fn names(stream: &Stream, of: &Names, geometry: &Geometry, problems: &mut Problems) {
    // Without I/O there are none, and they need no place.
    let has_names = matches!(geometry.kind, TargetKind::Directory | TargetKind::Simulated)
        || !stream.engine.reaches_target();
    problems.need(!stream.engine.traits().changes_files, "engine", || {
        format!("{} does nothing to names; use psync", stream.engine.word())
    });
    problems.need(has_names, "pattern", || {
        "metadata actions need a directory or a simulated drive as target; give one".to_string()
    });
    let is_data = |action: &&Action| !action.is_metadata() && **action != Action::Flush;
    let data = of.actions.iter().find(is_data);
    problems.need(data.is_none(), "actions", || {
        let action = data.map_or("", |action| action.word());
        format!(
            "`{action}` is not a metadata action; use create, open, stat, utime, rename, unlink, \
             mkdir, or flush for an fsync of each name"
        )
    });
    problems.need(of.names != Some(0), "names", || "0 names do nothing; use 1 or more".into());
    problems.need(of.names <= Some(NameOp::NAMES_MAX), "names", || {
        format!("a worker can have {} names at most", NameOp::NAMES_MAX)
    });
    let sized = stream.length.is_some() || stream.offset.0 > 0 || !stream.sizes.is_empty();
    problems.need(!sized && stream.align.is_none() && stream.shift.0 == 0, "length", || {
        "names have no addresses; remove offset, length, sizes, align and shift".to_string()
    });
    super::files::validate_form(stream, of, problems);
    let is_checked = stream.verify
        && matches!(stream.content, Content::Counting(_))
        && of.actions == [Action::Open]
        && stream.engine == Engine::Psync;
    problems.need(!stream.stamp && (!stream.verify || is_checked), "verify", || {
        "names hold no data to stamp or verify, but what counts up and is opened by psync; remove \
         it"
        .to_string()
    });
}

fn data(stream: &Stream, geometry: &Geometry, problems: &mut Problems) {
    sizes(stream, problems);
    if stream.io == IoMode::Direct && stream.engine.moves_data() {
        blocks(stream, geometry, problems);
    }
    validate_orders(stream, problems);
    let has_files = matches!(geometry.kind, TargetKind::File | TargetKind::Directory);
    problems.need(has_files || !stream.engine.traits().changes_files, "engine", || {
        format!(
            "{} changes a file by itself, and a device has none; name a file, or a directory with \
             room for one",
            stream.engine.word()
        )
    });
    if geometry.kind == TargetKind::Simulated {
        simulated(stream, geometry, problems);
    }
    let on_device = matches!(geometry.kind, TargetKind::BlockDevice | TargetKind::Simulated);
    problems.need(stream.files == Files::One || !on_device, "files", || {
        "a device is one file; use files = one".to_string()
    });
    if stream.size_min() > 0 && stream.workers > 0 {
        region(stream, geometry, problems);
    }
}

/// A simulated drive has a page cache in front of it only where one was asked for, and keeps no
/// data.
fn simulated(stream: &Stream, geometry: &Geometry, problems: &mut Problems) {
    let cached = stream.engine.traits().is_through_page_cache;
    let is_direct = !cached && stream.io == IoMode::Direct;
    problems.need(is_direct || !geometry.lacks_page_cache, "io", || {
        let what = if cached { "this engine" } else { "buffered I/O" };
        format!(
            "{what} needs a page cache, and this simulated drive has none; add page_cache=1GiB to \
             the target, as in sim:x25-e,page_cache=1GiB, or use direct I/O (io = direct; direct=1 \
             in fio's words)"
        )
    });
    problems.need(!stream.verify, "verify", || {
        "a simulated drive keeps no data to verify; remove it".to_string()
    });
}

fn sizes(stream: &Stream, problems: &mut Problems) {
    problems.need(stream.size_min() > 0, "size", || {
        "a request of 0 bytes moves nothing; use a size such as 4k".to_string()
    });
    problems.need(stream.memory_max() <= REQUEST_MAX, "size", || {
        format!("a request of {} is more than 1GiB; use less", Size(stream.memory_max()))
    });
    let weights: u64 = stream.weighted_sizes().iter().map(|entry| u64::from(entry.weight)).sum();
    problems.need(weights > 0, "sizes", || {
        "the weights of the sizes sum to 0; give one of them a weight".to_string()
    });
    let lanes = stream.sizes.iter().any(|entry| entry.kind.is_some());
    let jumps_by_kind = matches!(stream.pattern, Pattern::SemiRandom(Jump::Shares(_)));
    let lanes = lanes || jumps_by_kind;
    let may_be = jumps_by_kind || stream.pattern == Pattern::Uniform || stream.is_sequential();
    let has_lanes = may_be
        && stream.stride().is_none()
        && stream.reply.is_none()
        && stream.sharing() != Sharing::Disjoint;
    problems.need(has_lanes || !(lanes || stream.is_each_kind_in_order()), "sizes", || {
        "sizes and places of each kind of their own are for sequential and uniform order, and \
         `shares`, in shared or whole regions, without stride and reply"
            .to_string()
    });
    problems.need(stream.align != Some(Size(0)), "align", || {
        "align 0 puts every request at one address; use 1 or more".to_string()
    });
}

/// Direct I/O moves whole blocks from block boundaries.
fn blocks(stream: &Stream, geometry: &Geometry, problems: &mut Problems) {
    let block = u64::from(geometry.logical_block_bytes.max(1));
    let mut whole = |key: &'static str, bytes: u64| {
        problems.need(bytes.is_multiple_of(block), key, || {
            format!(
                "{key} {} is not a multiple of the {block}-byte block that direct I/O needs here; \
                 use a multiple, or buffered I/O",
                bytes_in_words(bytes)
            )
        });
    };
    for entry in stream.weighted_sizes() {
        whole("size", entry.size.0);
    }
    whole("reply_size", stream.reply_size.map_or(0, |size| size.0));
    whole("align", stream.align.map_or(0, |align| align.0));
    whole("shift", stream.shift.0);
    whole("offset", stream.offset.0);
    whole("begin", begin_of(stream).map_or(0, |begin| begin.0));
    whole("offset_each", stream.offset_each.0);
    whole("length", stream.length.map_or(0, |length| length.0));
    match &stream.pattern {
        Pattern::Segments { block, .. } => whole("block", block.0),
        Pattern::Replay(offsets) => offsets.iter().for_each(|offset| whole("offsets", offset.0)),
        _ => {}
    }
}

/// `4KiB`, or `1834 bytes` where no unit divides it.
fn bytes_in_words(bytes: u64) -> String {
    let text = Size(bytes).to_string();
    if text.ends_with('B') { text } else { format!("{text} bytes") }
}

fn region(stream: &Stream, geometry: &Geometry, problems: &mut Problems) {
    let last = stream.offset_each.0.saturating_mul(u64::from(stream.workers.max(1) - 1));
    let offset = stream.offset.0.saturating_add(last);
    let end = stream.length.map(|length| offset.checked_add(length.0));
    let beyond = match (geometry.file_bytes, end) {
        (_, Some(None)) => true,
        (Some(bytes), Some(Some(end))) => end > bytes,
        (Some(bytes), None) => offset >= bytes,
        (None, _) => false,
    };
    problems.need(!beyond, "length", || {
        let bytes = geometry.file_bytes.map_or("its size".to_string(), |b| Size(b).to_string());
        format!("the region reaches beyond the end of the target ({bytes}); shorten it")
    });
    let rest = geometry.file_bytes.map(|bytes| bytes.saturating_sub(offset));
    let Some(bytes) = stream.length.map(|length| length.0).or(rest).filter(|_| !beyond) else {
        return;
    };
    let one_file = stream.files == Files::One;
    let is_segmented = matches!(stream.pattern, Pattern::Segments { .. });
    let disjoint = stream.sharing() == Sharing::Disjoint && !is_segmented;
    let parts = if disjoint && one_file { u64::from(stream.workers) } else { 1 };
    let needed = stream.size_max().saturating_add(stream.shift.0);
    let slot = stream.alignment().max(1);
    let slots = bytes.checked_sub(needed).map_or(0, |room| room / slot + 1);
    problems.need(slots >= parts, "length", || {
        format!(
            "a region of {} is too small for {} with requests of {}; use a larger region, a \
             smaller size or fewer workers",
            bytes_in_words(bytes),
            counted(parts, "worker"),
            bytes_in_words(needed)
        )
    });
    if let Pattern::Segments { block, segments: Some(segments) } = stream.pattern {
        let owners = if one_file { stream.workers } else { 1 };
        let total = u128::from(block.0) * u128::from(segments) * u128::from(owners);
        problems.need(total <= u128::from(bytes), "segments", || {
            format!("block x segments x workers is {total} bytes, the region {bytes}; use less")
        });
    }
    let replayed: &[Size] =
        if let Pattern::Replay(offsets) = &stream.pattern { offsets } else { &[] };
    let outside = replayed.iter().find(|at| at.0.saturating_add(stream.size_max()) > bytes);
    problems.need(outside.is_none(), "offsets", || {
        let at = outside.map_or(0, |at| at.0);
        format!("a replayed request at byte {at} ends beyond the region of {bytes} bytes")
    });
}
