//! What a stream over the zones of a drive must fulfil.

use super::{Geometry, Problems};
use crate::facts::TargetKind;
use crate::plan::{Arrival, IoMode, Pattern, Sequence, Sharing, Stream, Sync, Zoned};
use crate::quantity::counted;
use crate::units::Size;

pub(super) fn validate_zoned(stream: &Stream, geometry: &Geometry, problems: &mut Problems) {
    problems.need(!stream.zone_append || stream.writes_zones(), "zone_append", || {
        "only writes to the zones of a drive are appends; write to a zoned drive, or leave \
         zone_append out"
            .to_string()
    });
    let Some(zoned) = stream.zoned else { return };
    problems.need(geometry.kind == TargetKind::BlockDevice, "zone_size", || {
        "only drives have zones; name a zoned device, or leave zone_size out".to_string()
    });
    let bytes = stream.length.map(|length| length.0);
    let bytes = bytes.or(geometry.file_bytes.map(|all| all.saturating_sub(stream.offset.0)));
    let zones = bytes.map(|bytes| bytes / zoned.size.0.max(1));
    let workers = if stream.sharing() == Sharing::Disjoint { stream.workers } else { 1 };
    problems.need(zones.is_none_or(|zones| zones >= u64::from(workers)), "workers", || {
        format!(
            "the region holds {}, too few for {} with zones of their own; use fewer workers or a \
             longer region",
            counted(zones.unwrap_or(0), "zone"),
            counted(u64::from(workers), "worker")
        )
    });
    sizes(stream, zoned, problems);
    order(stream, problems);
    if stream.mix.write > 0 {
        writes(stream, problems);
    } else {
        problems.need(zoned.finish_after.is_none(), "zone_finish_after", || {
            "only zones that are written are finished; leave zone_finish_after out, or write".into()
        });
    }
}

fn sizes(stream: &Stream, zoned: Zoned, problems: &mut Problems) {
    let (size, used, holds) = (zoned.size.0, zoned.used(), zoned.holds());
    problems.need(size > 0 && used > 0, "zone_size", || {
        "a zone of 0 bytes holds nothing; use the size that the drive tells".to_string()
    });
    problems.need(used <= holds && holds <= size, "zone_capacity", || {
        format!(
            "a zone of {} cannot hold {}, nor be finished after {}; use no more",
            zoned.size,
            Size(holds),
            Size(used)
        )
    });
    problems.need(stream.sizes.is_empty(), "sizes", || {
        "requests on zones have one size; use `size`".to_string()
    });
    let grid = stream.alignment().max(1);
    let fits = used.is_multiple_of(grid) && grid >= stream.size.0;
    problems.need(fits, "size", || {
        format!(
            "zones of {} do not hold a whole number of requests of {}, and one cannot lie in two \
             zones; use a size that divides it",
            Size(used),
            Size(grid.max(stream.size.0))
        )
    });
    for (key, bytes) in
        [("offset", stream.offset.0), ("length", stream.length.map_or(0, |it| it.0))]
    {
        problems.need(size == 0 || bytes.is_multiple_of(size), key, || {
            format!("{key} {} is not a whole number of zones of {}", Size(bytes), zoned.size)
        });
    }
}

fn order(stream: &Stream, problems: &mut Problems) {
    use Pattern as P;
    let has_order = matches!(
        stream.pattern,
        P::Sequential(_) | P::Uniform | P::Permutation | P::Zipf { .. } | P::HotZones(_)
    );
    problems.need(has_order, "pattern", || {
        format!(
            "{} order is not laid out over zones; use sequential, uniform, permutation, zipf or \
             hot-zones",
            stream.pattern.name().word()
        )
    });
    let is_plain = stream.reply.is_none()
        && stream.read_back.is_none()
        && !stream.writes_in_order
        && stream.shift.0 == 0
        && stream.offset_each.0 == 0
        && stream.files_of_worker() == 1;
    problems.need(is_plain, "zone_size", || {
        "streams over zones have no replies, shift, offset_each, read_back, writes_in_order or \
         several files; leave them out"
            .to_string()
    });
    problems.need(stream.mix.trim == 0, "mix", || {
        "zones are reset, not trimmed: each before it is written; leave trims out".to_string()
    });
}

/// A zone takes writes only at its write pointer: one in flight, by one worker.
fn writes(stream: &Stream, problems: &mut Problems) {
    let plain = Pattern::Sequential(Sequence::default());
    let is_in_order = stream.pattern == plain;
    problems.need(is_in_order && stream.mix.read == 0, "pattern", || {
        "a zone takes writes only in order: write sequentially, and read in a stream of its own"
            .to_string()
    });
    problems.need(stream.depth == 1 || stream.zone_append, "depth", || {
        format!(
            "a zone takes one write at a time here, and depth {} would bring them out of order; \
             use depth 1 and a worker for each open zone, or zone_append with io_uring_cmd",
            stream.depth
        )
    });
    if stream.zone_append {
        appends(stream, problems);
    }
    problems.need(stream.sharing() == Sharing::Disjoint, "regions", || {
        "each worker writes zones of its own; use regions = disjoint".to_string()
    });
    let is_direct = stream.io == IoMode::Direct && !stream.engine.traits().is_through_page_cache;
    problems.need(is_direct, "io", || {
        "the page cache does not write zones in order; use io = direct".to_string()
    });
    problems.need(!stream.iopoll, "iopoll", || {
        "iopoll can only read and write, and zones are reset; remove iopoll".to_string()
    });
}

/// The drive says where an append landed only when it is done.
fn appends(stream: &Stream, problems: &mut Problems) {
    problems.need(stream.engine.traits().is_passthrough, "zone_append", || {
        "only an NVMe command appends to a zone; use engine = io_uring_cmd, or leave zone_append \
         out"
        .to_string()
    });
    problems.need(!stream.stamp, "stamp", || {
        "a stamp names its place, and the drive chooses where an append lands; leave stamp or \
         zone_append out"
            .to_string()
    });
    let is_plain = matches!(stream.arrival, Arrival::Closed { burst: None, think: None })
        && !matches!(stream.sync, Sync::Fsync(_) | Sync::Fdatasync(_));
    problems.need(is_plain, "zone_append", || {
        "appends come as fast as they are served: leave rate, burst, think and fsync out, or \
         zone_append"
            .to_string()
    });
}
