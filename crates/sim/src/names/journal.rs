//! The journal: transactions, what a commit writes, and what keeps its blocks in use.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

/// Blocks that one descriptor tells: tags of 16 bytes, behind 12 of a header and the name of the
/// journal, before a checksum.
pub(super) const TAGS: u64 = (4096 - 12 - 16 - 4) / 16;

/// Blocks that one request writes: 512 KiB, as `max_sectors_kb` often is.
pub(super) const REQUEST_BLOCKS: u64 = 128;

/// Blocks that a commit of this many changed ones writes, the last one included.
pub(super) fn commit_blocks(changed: u64) -> u64 {
    changed.div_ceil(TAGS) + changed + 1
}

/// What is changed together.
#[derive(Debug, Clone, Default)]
struct Transaction {
    number: u64,
    blocks: BTreeSet<u64>,
    began: u64,
}

/// What a finished commit leaves to be written to its place.
#[derive(Debug, Clone)]
struct Checkpoint {
    number: u64,
    journal_blocks: u64,
    blocks: BTreeSet<u64>,
}

/// The journal of one drive.
#[derive(Debug)]
pub(super) struct Journal {
    place: Range<u64>,
    /// Where the next block goes, from the beginning of its place.
    head: u64,
    used: u64,
    next_number: u64,
    running: Option<Transaction>,
    committing: Option<Transaction>,
    checkpoints: VecDeque<Checkpoint>,
    /// In which of them a block is.
    checkpoint_of: BTreeMap<u64, u64>,
}

impl Journal {
    pub fn new(place: Range<u64>) -> Self {
        Journal {
            place,
            head: 0,
            used: 0,
            next_number: 1,
            running: None,
            committing: None,
            checkpoints: VecDeque::new(),
            checkpoint_of: BTreeMap::new(),
        }
    }

    fn blocks(&self) -> u64 {
        self.place.end - self.place.start
    }

    /// A block changes; the number of its transaction.
    pub fn change(&mut self, now: u64, block: u64) -> u64 {
        let next_number = &mut self.next_number;
        let running = self.running.get_or_insert_with(|| {
            *next_number += 1;
            Transaction { number: *next_number - 1, blocks: BTreeSet::new(), began: now }
        });
        running.blocks.insert(block);
        running.number
    }

    /// Whether a new call must wait until blocks of the journal are free: a quarter is what one
    /// transaction may have.
    pub fn is_short(&self) -> bool {
        let quarter = self.blocks() / 4;
        let open = |it: &Option<Transaction>| it.as_ref().map_or(0, |it| it.blocks.len() as u64);
        let running = open(&self.running);
        self.blocks().saturating_sub(self.used) < quarter + running + open(&self.committing)
            || running >= quarter
    }

    /// When the running transaction began; absent: nothing has changed.
    pub fn began(&self) -> Option<u64> {
        self.running.as_ref().map(|it| it.began)
    }

    pub fn is_committing(&self) -> bool {
        self.committing.is_some()
    }

    /// Whether what this transaction changed is in the journal.
    pub fn is_committed(&self, number: u64) -> bool {
        let is = |it: &Option<Transaction>| it.as_ref().is_some_and(|it| it.number == number);
        !is(&self.running) && !is(&self.committing)
    }

    /// Whether this transaction still takes changes.
    pub fn is_running(&self, number: u64) -> bool {
        self.running.as_ref().is_some_and(|it| it.number == number)
    }

    /// A block has no use any longer.
    pub fn forget(&mut self, block: u64) {
        if let Some(running) = &mut self.running {
            running.blocks.remove(&block);
        }
        self.settled(block);
    }

    /// Whether a block waits for a commit, and must not be written to its place.
    pub fn holds(&self, block: u64) -> bool {
        let has =
            |it: &Option<Transaction>| it.as_ref().is_some_and(|it| it.blocks.contains(&block));
        has(&self.running) || has(&self.committing)
    }

    /// The running transaction is closed. The blocks that its commit writes first, as requests;
    /// the last block comes behind them.
    pub fn close(&mut self) -> Vec<Range<u64>> {
        debug_assert!(self.committing.is_none(), "one commit at a time");
        self.committing = self.running.take();
        let Some(closed) = &self.committing else { return Vec::new() };
        let blocks = commit_blocks(closed.blocks.len() as u64) - 1;
        self.advance(blocks)
    }

    /// The last block of the commit that is under way.
    pub fn last_block(&mut self) -> Range<u64> {
        let first = self.place.start + self.head;
        self.advance(1);
        first..first + 1
    }

    /// The next blocks of the journal, which is a ring, as requests.
    fn advance(&mut self, blocks: u64) -> Vec<Range<u64>> {
        self.used += blocks;
        let mut requests = Vec::new();
        let mut rest = blocks;
        while rest > 0 {
            let count = rest.min(REQUEST_BLOCKS).min(self.blocks() - self.head);
            let first = self.place.start + self.head;
            requests.push(first..first + count);
            self.head = (self.head + count) % self.blocks();
            rest -= count;
        }
        requests
    }

    /// The commit is done; its blocks can go to their places.
    pub fn committed(&mut self) -> BTreeSet<u64> {
        let Some(done) = self.committing.take() else { return BTreeSet::new() };
        let journal_blocks = commit_blocks(done.blocks.len() as u64);
        for block in &done.blocks {
            // The newer copy is the one that counts.
            self.drop_from_checkpoint(*block);
            self.checkpoint_of.insert(*block, done.number);
        }
        let (number, blocks) = (done.number, done.blocks.clone());
        self.checkpoints.push_back(Checkpoint { number, journal_blocks, blocks: done.blocks });
        self.free();
        blocks
    }

    /// A block is at its place, or of no use any longer.
    pub fn settled(&mut self, block: u64) {
        self.drop_from_checkpoint(block);
        self.free();
    }

    fn drop_from_checkpoint(&mut self, block: u64) {
        let Some(number) = self.checkpoint_of.remove(&block) else { return };
        let first = self.checkpoints.front().map_or(0, |it| it.number);
        // Numbers of transactions follow each other.
        if let Some(it) = self.checkpoints.get_mut((number - first) as usize) {
            it.blocks.remove(&block);
        }
    }

    /// The oldest transactions whose blocks are all at their places give theirs back.
    fn free(&mut self) {
        while self.checkpoints.front().is_some_and(|it| it.blocks.is_empty()) {
            let freed = self.checkpoints.pop_front().map_or(0, |it| it.journal_blocks);
            self.used -= freed;
        }
    }

    /// The blocks that keep the oldest part of the journal in use.
    pub fn oldest(&self) -> Vec<u64> {
        self.checkpoints.front().map_or(Vec::new(), |it| it.blocks.iter().copied().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn committed(journal: &mut Journal, blocks: Range<u64>) -> Vec<Range<u64>> {
        blocks.for_each(|block| {
            journal.change(0, block);
        });
        let mut requests = journal.close();
        requests.push(journal.last_block());
        journal.committed();
        requests
    }

    #[test]
    fn a_commit_is_descriptors_blocks_and_the_last_block() {
        assert_eq!(TAGS, 254);
        for (changed, blocks) in [(1, 3), (254, 256), (255, 258), (508, 511)] {
            assert_eq!(commit_blocks(changed), blocks, "{changed}");
        }
        let mut journal = Journal::new(1000..2024);
        assert_eq!(committed(&mut journal, 0..1), [1000..1002, 1002..1003]);
        // 200 blocks and a descriptor are two requests.
        let requests = committed(&mut journal, 0..200);
        assert_eq!(requests, [1003..1131, 1131..1204, 1204..1205]);
    }

    #[test]
    fn the_journal_is_a_ring_whose_oldest_part_is_free_when_its_blocks_are_at_their_places() {
        let mut journal = Journal::new(0..100);
        committed(&mut journal, 0..30);
        committed(&mut journal, 29..59);
        assert_eq!(journal.used, 2 * 32);
        assert_eq!(journal.oldest(), (0..29).collect::<Vec<_>>(), "29 has a newer copy");
        (0..29).for_each(|block| journal.settled(block));
        assert_eq!(journal.used, 32);
        assert!(!journal.is_short());
        assert_eq!(committed(&mut journal, 70..110), [64..100, 0..5, 5..6]);
        journal.change(0, 1);
        assert!(!journal.is_short(), "26 of 100 are free, and a transaction may have 25");
        journal.change(0, 2);
        assert!(journal.is_short());
    }

    #[test]
    fn a_transaction_has_a_quarter_at_most() {
        let mut journal = Journal::new(0..100);
        (0..24).for_each(|block| {
            journal.change(7, block);
        });
        assert!(!journal.is_short());
        assert_eq!(journal.change(9, 24), 1);
        assert!(journal.is_short() && journal.began() == Some(7));
        journal.close();
        assert!(journal.is_committing() && !journal.is_committed(1));
        assert_eq!(journal.change(9, 24), 2, "the next one");
        assert!(journal.holds(24) && !journal.holds(25));
    }
}
