//! The flash under a translation layer: timelines, what is stored, and the counts of both.

use super::array::{Array, Step, Work};
use super::content::{Content, Spot};
use drivelab_core::inside::Inside;
use drivelab_core::op::Time;

/// Dies that hold one block together, page by page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dies {
    pub first: u32,
    pub count: u32,
}

impl Dies {
    /// The die of a page of a block.
    pub fn of(self, slot: u32) -> u32 {
        self.first + slot % self.count
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Flash {
    pub array: Array,
    pub content: Option<Content>,
    /// Counts of units and erases.
    pub inside: Inside,
}

impl Flash {
    pub fn new(array: Array) -> Self {
        Flash { array, content: None, inside: Inside::default() }
    }

    /// Programs `mask` of `page`, as the controller holds it, at `to`; where `from` is given, the
    /// rest is read there first.
    pub fn program(
        &mut self,
        dies: Dies,
        page: u32,
        mask: u64,
        from: Option<Spot>,
        to: Spot,
        at: Time,
    ) -> Step {
        let mut ready = at;
        let mut queued_ns = 0;
        if let Some(spot) = from {
            let bytes = self.array.timing.page_bytes;
            let step = self.array.read(dies.of(spot.1), at, bytes, Work::Host);
            ready = step.end;
            queued_ns = step.queued_ns;
        }
        if let Some(content) = &mut self.content {
            content.program(page, mask, from, to);
        }
        self.inside.programmed_host_units += 1;
        let step = self.array.program(dies.of(to.1), ready, Work::Host);
        Step { queued_ns: queued_ns + step.queued_ns, end: step.end }
    }

    /// Copies a page between blocks of the same dies; returns the end.
    pub fn copy(&mut self, dies: Dies, from: Spot, to: Spot, at: Time) -> Time {
        if let Some(content) = &mut self.content {
            content.copy(from, to);
        }
        self.inside.merge_units += 1;
        self.array.copy(dies.of(from.1), dies.of(to.1), at)
    }

    /// Erases `block` of `pages` on its dies; returns the end.
    pub fn erase(&mut self, dies: Dies, block: u32, pages: u32, at: Time) -> Time {
        if let Some(content) = &mut self.content {
            content.erase(block, pages);
        }
        self.inside.erases += 1;
        self.array.erase(dies.first..dies.first + dies.count, at)
    }
}
