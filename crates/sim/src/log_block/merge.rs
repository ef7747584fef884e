//! Merges: log blocks go back to their logical blocks.

use super::flash::Flash;
use super::group::{Group, Log, Need};
use crate::memory::NONE;
use drivelab_core::op::Time;

impl Group {
    /// Does what a write needs first; returns the end.
    pub(super) fn make_room(&mut self, flash: &mut Flash, need: Need, at: Time) -> Time {
        match need {
            Need::MergeLog(age) => match self.logs.remove(age) {
                Some(log) if log.is_in_order => self.merge_in_order(flash, log, at),
                Some(log) => self.merge_owner(flash, log, at),
                None => at,
            },
            Need::MergeSequential => match self.sequential.take() {
                Some(log) => self.merge_in_order(flash, log, at),
                None => at,
            },
            Need::DrainPage => self.drain_page(flash, at),
            Need::DrainLog => self.drain_log(flash, at),
        }
    }

    /// Switch merge, or partial merge if pages are missing: the log block becomes the data block.
    fn merge_in_order(&mut self, flash: &mut Flash, log: Log, at: Time) -> Time {
        let first = log.owner * self.pages;
        let written = log.pages.len() as u32;
        let mut end = at;
        for slot in written..self.pages {
            // The log block is not listed any more: this is the copy elsewhere.
            if let Some(from) = self.spot(first + slot) {
                self.use_row((log.block, slot));
                end = end.max(flash.copy(self.dies, from, (log.block, slot), at));
                self.newest.remove(&(first + slot));
            }
        }
        // Newer copies of pages that it holds can be in other log blocks; its own are data now.
        for slot in 0..written {
            let is_own = self.newest.get(&(first + slot)).is_some_and(|at| at.0 == log.block);
            if is_own {
                self.newest.remove(&(first + slot));
            }
        }
        self.replace_data(flash, log.owner, log.block, end)
    }

    /// Full merge with the log block of one logical block.
    fn merge_owner(&mut self, flash: &mut Flash, log: Log, at: Time) -> Time {
        let end = self.merge_pages(flash, log.owner, at);
        self.erase(flash, log.block, end)
    }

    /// Full merge of a logical block: every page from its newest place. The log blocks stay.
    fn merge_pages(&mut self, flash: &mut Flash, owner: u32, at: Time) -> Time {
        let first = owner * self.pages;
        let logged: Vec<u32> =
            self.newest.range(first..first + self.pages).map(|(page, _)| *page).collect();
        // Where the others are: one look for all of them.
        let held = self.sequential.as_ref().filter(|log| log.owner == owner);
        let held = held.map_or((NONE, 0), |log| (log.block, log.pages.len() as u32));
        let data = self.data[owner as usize];
        let mut to = NONE;
        let mut end = at;
        let mut logged = logged.into_iter().peekable();
        for slot in 0..self.pages {
            let page = first + slot;
            let from = if logged.next_if_eq(&page).is_some() {
                self.newest.remove(&page)
            } else if self.mapped.get(page) {
                Some((if slot < held.1 { held.0 } else { data }, slot))
            } else {
                None
            };
            let Some(from) = from else { continue };
            if to == NONE {
                to = self.take_free();
            }
            self.use_row((to, slot));
            end = end.max(flash.copy(self.dies, from, (to, slot), at));
        }
        let end = self.replace_data(flash, owner, to, end);
        match self.sequential.take_if(|log| log.owner == owner) {
            Some(log) => self.erase(flash, log.block, end),
            None => end,
        }
    }

    /// Moves the next block in turn to an erased place, where wear asks for it; returns the end.
    pub(super) fn level_wear(&mut self, flash: &mut Flash, at: Time) -> Time {
        if !self.is_swap_due() {
            return at;
        }
        let owner = self.next_swapped;
        self.next_swapped = (owner + 1) % self.data.len() as u32;
        // What its own log block holds would be stale behind a move.
        let end = match self.logs.iter().position(|log| log.owner == owner) {
            Some(age) => self.make_room(flash, Need::MergeLog(age), at),
            None => self.merge_pages(flash, owner, at),
        };
        self.unlevelled_erases = 0;
        end
    }

    fn replace_data(&mut self, flash: &mut Flash, owner: u32, to: u32, at: Time) -> Time {
        match std::mem::replace(&mut self.data[owner as usize], to) {
            NONE => at,
            old => self.erase(flash, old, at),
        }
    }

    /// Merges what the next page of the oldest log block belongs to, if it is the newest copy.
    fn drain_page(&mut self, flash: &mut Flash, at: Time) -> Time {
        let slot = self.drained;
        self.drained += 1;
        let Some((page, block)) =
            self.logs.front().and_then(|log| Some((*log.pages.get(slot as usize)?, log.block)))
        else {
            return at;
        };
        if self.newest.get(&page) == Some(&(block, slot)) {
            self.merge_pages(flash, page / self.pages, at)
        } else {
            at
        }
    }

    /// Merges the rest of the oldest log block and erases it.
    fn drain_log(&mut self, flash: &mut Flash, at: Time) -> Time {
        let mut end = at;
        while self.drained < self.pages {
            end = self.drain_page(flash, end);
        }
        self.drained = 0;
        match self.logs.pop_front() {
            Some(log) => self.erase(flash, log.block, end),
            None => end,
        }
    }
}
