//! How changes get to the drive: commits, blocks that go to their places, and fsync.

use super::journal::REQUEST_BLOCKS;
use super::{Named, Request};
use crate::drive::Ticket;
use drivelab_core::inside::Cause;
use drivelab_core::op::{Action, Time};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// How often the kernel looks for blocks that have been changed for long
/// (`dirty_writeback_centisecs`).
const TICK_NS: u64 = 5_000_000_000;
/// Requests to places in flight, as `nr_requests` often has it.
const IN_FLIGHT_MAX: u32 = 128;

/// Blocks that must go to their places.
#[derive(Debug, Default)]
pub(super) struct Homes {
    /// Since when.
    since: BTreeMap<u64, Time>,
    tick_at: Option<Time>,
    queue: VecDeque<Range<u64>>,
    pub in_flight: u32,
    /// The last transaction that changed an inode.
    changed_in: BTreeMap<u64, u64>,
}

impl Homes {
    pub fn tick_at(&self) -> Time {
        self.tick_at.unwrap_or(Time::MAX)
    }

    fn add(&mut self, now: Time, block: u64, age_ns: u64) {
        self.since.entry(block).or_insert(now);
        self.tick_at.get_or_insert((now + age_ns).next_multiple_of(TICK_NS));
    }

    /// Blocks in order as requests: what lies together goes together.
    fn requests(blocks: impl IntoIterator<Item = u64>) -> Vec<Range<u64>> {
        let mut requests: Vec<Range<u64>> = Vec::new();
        for block in blocks {
            match requests.last_mut() {
                Some(last) if last.end == block && last.end - last.start < REQUEST_BLOCKS => {
                    last.end += 1;
                }
                _ => requests.push(block..block + 1),
            }
        }
        requests
    }
}

impl Named {
    /// A block has changed: it is of the running transaction, or goes to its place in time.
    pub(super) fn change(&mut self, now: Time, block: u64) -> Option<u64> {
        self.cache.change(block);
        if self.parameters.has_journal {
            return Some(self.journal.change(now, block));
        }
        self.homes.add(now, block, self.parameters.writeback_ns);
        None
    }

    /// Content is not kept in the journal.
    pub(super) fn change_content(&mut self, now: Time, block: u64) {
        self.cache.change(block);
        self.homes.add(now, block, self.parameters.writeback_ns);
    }

    pub(super) fn note_change(&mut self, inode: Option<u64>, ticket: Ticket) {
        let transaction = self.calls[ticket as usize].transaction;
        if let (Some(inode), Some(number)) = (inode, transaction) {
            self.homes.changed_in.insert(inode, number);
        } else if let Some(inode) = inode {
            let number = self.homes.changed_in.get(&inode).copied();
            self.call(ticket).transaction = number;
        }
    }

    /// A block has no use any longer.
    pub(super) fn forget(&mut self, block: u64) {
        self.homes.since.remove(&block);
        self.journal.forget(block);
        self.cache.forget(block);
    }

    /// When the running transaction is committed at the latest.
    pub(super) fn commit_at(&self) -> Time {
        let began = self.journal.began().filter(|_| !self.journal.is_committing());
        began.map_or(Time::MAX, |began| began + self.parameters.commit_ns)
    }

    /// The running transaction is committed, after the one that is under way.
    pub(super) fn commit(&mut self, now: Time) {
        if self.journal.is_committing() {
            self.is_commit_wanted = true;
            return;
        }
        self.is_commit_wanted = false;
        let requests = self.journal.close();
        self.commit_requests = requests.len() as u32;
        for blocks in requests {
            self.send(now, Request::Commit, Action::Write, &blocks);
        }
    }

    pub(super) fn commit_written(&mut self, now: Time) {
        match self.parameters.has_barrier {
            true => self.flush(now, Request::CommitFlush),
            false => self.commit_last(now),
        }
    }

    pub(super) fn commit_last(&mut self, now: Time) {
        let block = self.journal.last_block();
        self.send(now, Request::CommitLast, Action::Write, &block);
    }

    pub(super) fn committed(&mut self, now: Time, cause: Cause) {
        for block in self.journal.committed() {
            self.homes.add(now, block, self.parameters.writeback_ns);
        }
        let waiting = std::mem::take(&mut self.waiting);
        for (number, ticket) in waiting {
            match self.journal.is_committed(number) {
                true => {
                    self.call(ticket).cause = cause;
                    self.finish(now, ticket);
                }
                false => self.waiting.push((number, ticket)),
            }
        }
        if self.is_commit_wanted {
            self.commit(now);
        }
    }

    /// What has been changed for long goes to its place.
    pub(super) fn write_back(&mut self, now: Time) {
        let age_ns = self.parameters.writeback_ns;
        let is_due = |(block, since): &(&u64, &Time)| {
            **since + age_ns <= now && !self.journal.holds(**block)
        };
        let due: Vec<u64> = self.homes.since.iter().filter(is_due).map(|it| *it.0).collect();
        self.take_home(now, &due);
        let next = self.homes.since.values().min().map(|since| since + age_ns);
        let after = |at: Time| at.next_multiple_of(TICK_NS).max(now + TICK_NS);
        self.homes.tick_at = next.map(after);
    }

    fn take_home(&mut self, now: Time, blocks: &[u64]) {
        for block in blocks {
            self.homes.since.remove(block);
        }
        self.homes.queue.extend(Homes::requests(blocks.iter().copied()));
        self.send_home(now);
    }

    pub(super) fn send_home(&mut self, now: Time) {
        while self.homes.in_flight < IN_FLIGHT_MAX
            && let Some(blocks) = self.homes.queue.pop_front()
        {
            self.homes.in_flight += 1;
            self.send(now, Request::Home(blocks.clone()), Action::Write, &blocks);
        }
    }

    /// Blocks are at their places, unless they have changed meanwhile.
    pub(super) fn at_home(&mut self, blocks: &Range<u64>) {
        for block in blocks.clone() {
            if self.homes.since.contains_key(&block) {
                continue;
            }
            self.journal.settled(block);
            if !self.journal.holds(block) {
                self.cache.settle(block);
            }
        }
    }

    /// Calls that wait for a place in the journal go on, or the journal is made shorter.
    pub(super) fn relieve(&mut self, now: Time) {
        while !self.short.is_empty() {
            if !self.journal.is_short() {
                if let Some(ticket) = self.short.pop_front() {
                    self.perform(now, ticket);
                }
                continue;
            }
            if self.journal.began().is_some() {
                self.commit(now);
            }
            let oldest: Vec<u64> = self
                .journal
                .oldest()
                .into_iter()
                .filter(|block| self.homes.since.contains_key(block) && !self.journal.holds(*block))
                .collect();
            self.take_home(now, &oldest);
            return;
        }
    }

    /// fsync: content first, then the transaction; without a journal the blocks themselves.
    pub(super) fn sync(&mut self, now: Time, ticket: Ticket) {
        let call = &self.calls[ticket as usize];
        let mut blocks: Vec<u64> = call.content.clone();
        if !self.parameters.has_journal {
            blocks.extend(call.blocks.looked_at.iter().chain(&call.blocks.changed));
        }
        blocks.sort_unstable();
        blocks.dedup();
        blocks.retain(|block| self.homes.since.remove(block).is_some());
        let requests = Homes::requests(blocks);
        self.call(ticket).writes = requests.len() as u32;
        if requests.is_empty() {
            return self.written(now, ticket);
        }
        for blocks in requests {
            self.send(now, Request::Sync(ticket, blocks.clone()), Action::Write, &blocks);
        }
    }

    pub(super) fn written(&mut self, now: Time, ticket: Ticket) {
        let transaction = self.calls[ticket as usize].transaction;
        match transaction.filter(|number| !self.journal.is_committed(*number)) {
            Some(number) => {
                self.waiting.push((number, ticket));
                if self.journal.is_running(number) {
                    self.commit(now);
                }
            }
            None if self.parameters.has_barrier => self.flush(now, Request::SyncFlush(ticket)),
            None => self.finish(now, ticket),
        }
    }
}
