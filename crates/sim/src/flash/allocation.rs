//! Dies that have blocks and free lists of their own: each stripe goes to the die that is free
//! first, and where several are, to the next in turn.

use super::ftl::{Frontier, Ftl, Medium, NO_FRONTIER};
use super::layout::Layout;
use crate::memory::NONE;

/// The block of each die that is being filled by the host.
#[derive(Debug, Clone)]
pub(super) struct Allocation {
    open: Vec<Frontier>,
    /// The die of the latest stripe.
    latest: u32,
}

impl Allocation {
    pub(super) fn new(layout: &Layout) -> Option<Box<Self>> {
        let dies = layout.allocation_dies;
        (dies > 0).then(|| {
            Box::new(Allocation { open: vec![NO_FRONTIER; dies as usize], latest: dies - 1 })
        })
    }
}

impl Ftl {
    /// Goes on with a stripe of another die, when there is room.
    #[cold]
    pub(super) fn open_stripe<M: Medium>(&mut self, medium: &mut M) {
        self.put_stripe_back();
        // The last free blocks belong to collection.
        while self.blocks.free() <= self.layout.low_blocks {
            if !self.collect_now(medium) {
                break;
            }
        }
        // Copies among host writes may have begun one.
        if self.host.next == self.host.end {
            self.takes_stripe(medium);
        }
    }

    /// Takes the next stripe for what the host writes; `false`: blocks span all dies.
    #[cold]
    pub(super) fn takes_stripe<M: Medium>(&mut self, medium: &M) -> bool {
        self.put_stripe_back();
        let Some(mut allocation) = self.allocation.take() else { return false };
        let dies = self.layout.allocation_dies;
        let has_room =
            |die: &u32| allocation.open[*die as usize].block != NONE || self.blocks.has_free(*die);
        let in_turn = (1..=dies).map(|step| (allocation.latest + step) % dies);
        let Some(die) = in_turn.filter(has_room).min_by_key(|die| medium.settled_at(*die)) else {
            unreachable!("`check` keeps more blocks free than collection can hold open")
        };
        allocation.latest = die;
        let open = &mut allocation.open[die as usize];
        if open.block == NONE {
            let Some(block) = self.blocks.open_of(die, 0) else { unreachable!("it has one") };
            let first = block * self.layout.block_units;
            *open = Frontier { block, next: first, end: first + self.layout.block_units };
        }
        self.host = Frontier { end: open.next + self.layout.stripe_units, ..*open };
        self.allocation = Some(allocation);
        true
    }

    /// The die keeps what is left of its block; a full one is closed.
    fn put_stripe_back(&mut self) {
        let host = std::mem::replace(&mut self.host, NO_FRONTIER);
        let Some(allocation) = self.allocation.as_mut() else {
            self.host = host;
            return;
        };
        if host.block == NONE {
            return;
        }
        let open = &mut allocation.open[(host.block % self.layout.allocation_dies) as usize];
        open.next = host.next;
        if open.next == open.end {
            *open = NO_FRONTIER;
            self.close(host);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flash::collector::Policy;
    use drivelab_core::op::Time;

    /// Dies that are free at these times.
    struct Dies([Time; 3]);

    impl Medium for Dies {
        fn host_program(&mut self, _last: u32) {}
        fn background_program(&mut self, _last: u32) {}
        fn background_read(&mut self, _unit: u32) {}
        fn erase(&mut self, _block: u32) {}
        fn settled_at(&self, die: u32) -> Time {
            self.0[die as usize]
        }
    }

    /// Three dies, 30 blocks of 4 units in turn on them, stripes of 2 units.
    fn ftl(collection_frontiers: u32) -> Ftl {
        let layout = Layout {
            logical_units: 40,
            block_units: 4,
            blocks: 30,
            program_units: 1,
            page_units: 1,
            stripe_units: 2,
            allocation_dies: 3,
            low_blocks: 5,
            high_blocks: 7,
            policy: Policy::Greedy,
            choices: 1,
            collection_frontiers,
            paces: true,
            levels_wear: true,
            wear_difference_max: None,
            endurance_cycles: 0,
            seed: 1,
        };
        Ftl::new(layout).unwrap()
    }

    fn dies_of(ftl: &mut Ftl, medium: &mut Dies, logical: std::ops::Range<u32>) -> Vec<u32> {
        logical.map(|logical| ftl.write(medium, logical) / 4 % 3).collect()
    }

    #[test]
    fn stripes_go_to_the_die_that_is_free_first_and_else_in_turn() {
        let (mut ftl, mut medium) = (ftl(1), Dies([0; 3]));
        assert_eq!(dies_of(&mut ftl, &mut medium, 0..8), [0, 0, 1, 1, 2, 2, 0, 0]);
        medium.0 = [0, 900, 0];
        assert_eq!(dies_of(&mut ftl, &mut medium, 8..16), [2, 2, 0, 0, 2, 2, 0, 0]);
        medium.0 = [500, 900, 600];
        assert_eq!(dies_of(&mut ftl, &mut medium, 16..20), [0; 4]);
        ftl.assert_consistent();
        // Of 10 blocks of a die the host may fill all; then the next die has its turn.
        medium.0 = [0, 900, 600];
        assert_eq!(dies_of(&mut ftl, &mut medium, 0..40)[39], 2);
        ftl.assert_consistent();
    }

    #[test]
    fn what_is_overwritten_at_random_stays_consistent() {
        for frontiers in [0, 1, 2] {
            let (mut ftl, mut medium) = (ftl(frontiers), Dies([0; 3]));
            let mut random = drivelab_stats::Random::new(5);
            for _ in 0..5_000 {
                medium.0[random.below(3) as usize] = random.below(9);
                ftl.write(&mut medium, random.below(40) as u32);
            }
            ftl.assert_consistent();
            assert!(ftl.inside().collection_units > 0 && ftl.mapped_units() <= 40);
        }
    }
}
