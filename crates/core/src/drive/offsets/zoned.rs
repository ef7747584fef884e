//! Zones of a drive: an order over what they hold, laid out on the drive, with a reset before the
//! first write of each.

use super::Offsets;
use super::region::share_start;
use crate::op::{Action, DataOp, Op};
use crate::plan::{self, Sharing, Stream};
use crate::quantity::counted;
use crate::queue::Trouble;
use crate::units::Size;

/// What comes behind the operation that was handed out last, in order.
type Due = [Option<(Op, u64)>; 2];

/// An order over the bytes that zones hold.
#[derive(Debug, Clone)]
pub(super) struct Zoned {
    inner: Box<Offsets>,
    zone_bytes: u64,
    used_bytes: u64,
    finishes: bool,
    writes: bool,
    appends: bool,
    /// First byte of the first zone.
    base: u64,
    zones: u64,
    due: Due,
}

impl Zoned {
    /// The zones of `worker`.
    ///
    /// # Errors
    /// Fewer zones than workers that need their own, or what any order of that stream refuses.
    pub(super) fn new(
        stream: &Stream,
        zoned: plan::Zoned,
        worker: u32,
        file_bytes: u64,
        seed: u64,
    ) -> Result<Self, Trouble> {
        let (zone_bytes, used_bytes) = (zoned.size.0.max(1), zoned.used().max(1));
        let available = file_bytes.saturating_sub(stream.offset.0);
        let bytes = stream.length.map_or(available, |length| length.0.min(available));
        let all = bytes / zone_bytes;
        let workers = u64::from(stream.workers.max(1));
        let (first, end) = match stream.sharing() {
            Sharing::Disjoint => {
                let part = u64::from(stream.part_of(worker));
                (share_start(all, part, workers), share_start(all, part + 1, workers))
            }
            Sharing::Shared | Sharing::Whole => (0, all),
        };
        if first >= end {
            return Err(Trouble::usage(format!(
                "the region holds {}, too few for {} with zones of their own; use fewer workers or \
                 a longer region",
                counted(all, "zone"),
                counted(workers, "worker")
            )));
        }
        let is_split = stream.sharing() == Sharing::Disjoint;
        let regions = if is_split { Some(Sharing::Whole) } else { stream.regions };
        let inner = Stream {
            zoned: None,
            offset: Size(first * used_bytes),
            length: Some(Size((end - first) * used_bytes)),
            regions,
            ..stream.clone()
        };
        Ok(Zoned {
            inner: Box::new(Offsets::new(&inner, worker, all * used_bytes, seed)?),
            zone_bytes,
            used_bytes,
            finishes: zoned.finish_after.is_some(),
            writes: stream.mix.write > 0,
            appends: stream.zone_append,
            base: stream.offset.0,
            zones: end - first,
            due: Due::default(),
        })
    }

    /// The order over what zones hold.
    pub(super) fn inner(&self) -> &Offsets {
        &self.inner
    }

    /// The next operation on the drive.
    pub(super) fn next(&mut self) -> (Op, u64) {
        if let Some(due) = self.due[0].take() {
            self.due.swap(0, 1);
            return due;
        }
        let (op, pass) = self.inner.next();
        let Op::Data(inner) = op else { return (op, pass) };
        let within = inner.offset % self.used_bytes;
        let zone = self.base + inner.offset / self.used_bytes * self.zone_bytes;
        let data = DataOp { offset: zone + within, ..inner };
        if data.action != Action::Write {
            return (Op::Data(data), pass);
        }
        let whole = |action| (Op::Data(DataOp { action, offset: zone, len: 0, ..data }), pass);
        let is_last = self.finishes && within + u64::from(data.len) >= self.used_bytes;
        let finish = is_last.then(|| whole(Action::Finish));
        // Of an append only the zone is known.
        let place = if self.appends { zone } else { data.offset };
        let write = (Op::Data(DataOp { offset: place, ..data }), pass);
        if within == 0 {
            self.due = [Some(write), finish];
            return whole(Action::Reset);
        }
        self.due[0] = finish;
        write
    }

    /// Operations of one pass: those on data, and each zone's reset and finish.
    pub(super) fn pass_operations(&self) -> Option<u64> {
        let each = u64::from(self.writes) + u64::from(self.writes && self.finishes);
        self.inner.pass_operations().map(|inner| inner + self.zones * each)
    }
}
