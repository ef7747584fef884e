//! One part of the region after the other, in each an order that begins again.

use super::address::Address;
use super::{Offsets, Region, Walk};
use crate::op::{DataOp, Op};
use crate::plan::{Files, Sharing, Stream, Window};
use crate::queue::Trouble;
use drivelab_stats::{Permutation, splitmix64};

/// An order over the part at the beginning of the region, moved on from time to time.
#[derive(Debug, Clone)]
pub(super) struct Windowed {
    inner: Box<Offsets>,
    window: Window,
    count: u64,
    number: u64,
    /// Bytes until it moves on.
    left: u64,
    pass: u64,
    /// What the next order within a part follows from.
    key: u64,
}

impl Windowed {
    /// The parts of the region of `worker`, and that region.
    ///
    /// # Errors
    /// A region that holds no whole part, or what the order refuses.
    pub(super) fn new(
        stream: &Stream,
        window: Window,
        worker: u32,
        file_bytes: u64,
        seed: u64,
    ) -> Result<(Self, Region), Trouble> {
        let own = stream.offset_each.0.saturating_mul(u64::from(stream.part_of(worker)));
        let offset = stream.offset.0.saturating_add(own);
        let available = file_bytes.saturating_sub(offset);
        let bytes = stream.length.map_or(available, |length| length.0.min(available));
        let count = window.count(bytes);
        if count == 0 {
            return Err(Trouble::usage(format!(
                "a region of {bytes} bytes holds no window of {}; use a larger file or a smaller \
                 window",
                window.size
            )));
        }
        let first = Stream { window: None, length: Some(window.size), ..stream.clone() };
        let inner = Box::new(Offsets::of_file(&first, worker, file_bytes, seed)?);
        let part = inner.region();
        let whole = Region { bytes, slots: part.slots.saturating_mul(count), ..part };
        // Those that share a part split one order of it.
        let shared = stream.sharing() == Sharing::Shared && stream.files == Files::One;
        let own = if shared { 0 } else { u64::from(worker) };
        let (left, key) = (window.moved(), seed ^ own);
        Ok((Windowed { inner, window, count, number: 0, left, pass: 0, key }, whole))
    }

    /// The order within a part.
    pub(super) fn inner(&self) -> Offsets {
        (*self.inner).clone()
    }

    /// Operations of one pass, where all are of one size.
    pub(super) fn pass_operations(&self) -> Option<u64> {
        let bytes = u64::from(self.inner.sizes.only()?);
        Some(self.window.moved().div_ceil(bytes.max(1)).saturating_mul(self.count))
    }

    /// The next operation, and the pass over all parts that it belongs to.
    pub(super) fn next(&mut self, pass: &mut u64) -> (Op, u64) {
        let (op, _) = self.inner.next();
        let of = self.pass;
        let Op::Data(inner) = op else { return (op, of) };
        let moved = DataOp { offset: inner.offset + self.number * self.window.step(), ..inner };
        self.left = self.left.saturating_sub(u64::from(inner.len));
        if self.left == 0 {
            self.move_on();
            *pass = self.pass;
        }
        (Op::Data(moved), of)
    }

    fn move_on(&mut self) {
        self.left = self.window.moved();
        self.number += 1;
        if self.number == self.count {
            self.number = 0;
            self.pass += 1;
        }
        let slots = self.inner.region.slots;
        match &mut self.inner.walk {
            Walk::Address(Address::Stride { start, position, .. }) => (*start, *position) = (0, 0),
            Walk::Address(Address::Onward { position, .. }) => *position = 0,
            Walk::Address(Address::Permutation { order, next, first, .. }) => {
                *order = Permutation::new(slots, splitmix64(&mut self.key));
                *next = *first;
            }
            _ => {}
        }
    }
}
