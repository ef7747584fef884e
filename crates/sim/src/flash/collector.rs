//! Which block is collected next.

use super::blocks::{BlockState, Blocks};
use drivelab_stats::Random;
use serde::Deserialize;
use std::collections::VecDeque;

/// How victims are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// Fewest valid units.
    Greedy,
    /// Fewest valid units of a few random blocks.
    DChoices,
    /// Closed first.
    Fifo,
    /// Fewest valid units of the blocks closed first.
    Windowed,
    /// Largest age × invalid ÷ valid. Rosenblum and Ousterhout 1992.
    CostBenefit,
    /// Any.
    Random,
}

impl Policy {
    /// Every policy, with the word for it.
    pub const ALL: [(Policy, &'static str); 6] = [
        (Policy::Greedy, "greedy"),
        (Policy::DChoices, "d-choices"),
        (Policy::Fifo, "fifo"),
        (Policy::Windowed, "windowed"),
        (Policy::CostBenefit, "cost-benefit"),
        (Policy::Random, "random"),
    ];
}

/// Blocks with at most this many valid units more than the emptiest are kept as candidates.
const CANDIDATE_SPAN: u32 = 3;

/// Chooses victims.
#[derive(Debug, Clone)]
pub struct Collector {
    policy: Policy,
    /// d of d-choices, or the length of the window.
    choices: u32,
    random: Random,
    /// Closed blocks, oldest first, where the policy asks for age; may hold blocks that were
    /// collected since.
    queue: VecDeque<(u32, u32)>,
    /// Greedy: candidates by valid units, at most `threshold`; entries may be stale.
    stacks: Vec<Vec<u32>>,
    threshold: u32,
    entries: usize,
}

impl Collector {
    /// A collector for blocks of `block_units`.
    pub fn new(policy: Policy, choices: u32, block_units: u32, random: Random) -> Self {
        Collector {
            policy,
            choices: choices.max(1),
            random,
            queue: VecDeque::new(),
            stacks: vec![Vec::new(); block_units as usize + 1],
            threshold: 0,
            entries: 0,
        }
    }

    /// A block was closed.
    pub fn closed(&mut self, blocks: &Blocks, block: u32) {
        match self.policy {
            Policy::Greedy => self.fell(block, blocks.valid[block as usize]),
            Policy::Fifo | Policy::Windowed => {
                self.queue.push_back((block, blocks.closed_at[block as usize]));
            }
            Policy::DChoices | Policy::CostBenefit | Policy::Random => {}
        }
    }

    /// A block holds `valid` units, one less than before. Blocks that are not closed are told from
    /// the others when a victim is chosen.
    #[inline]
    pub fn fell(&mut self, block: u32, valid: u32) {
        if valid <= self.threshold {
            self.note_candidate(block, valid);
        }
    }

    #[cold]
    fn note_candidate(&mut self, block: u32, valid: u32) {
        if self.policy == Policy::Greedy {
            self.stacks[valid as usize].push(block);
            self.entries += 1;
        }
    }

    /// The next victim; `None` where no closed block has anything to give.
    pub fn choose(&mut self, blocks: &Blocks) -> Option<u32> {
        match self.policy {
            Policy::Greedy => self.emptiest(blocks),
            Policy::Fifo => self.oldest(blocks, 1),
            Policy::Windowed => self.oldest(blocks, self.choices),
            Policy::DChoices => self.emptiest_of_some(blocks, self.choices),
            Policy::Random => self.emptiest_of_some(blocks, 1),
            Policy::CostBenefit => most_benefit(blocks),
        }
    }

    fn emptiest(&mut self, blocks: &Blocks) -> Option<u32> {
        if self.entries > 4 * blocks.valid.len() + 1024 {
            self.look_again(blocks);
        }
        if let Some(found) = self.pop_candidate(blocks) {
            return Some(found);
        }
        self.look_again(blocks);
        self.pop_candidate(blocks)
    }

    fn pop_candidate(&mut self, blocks: &Blocks) -> Option<u32> {
        for valid in 0..=self.threshold {
            while let Some(block) = self.stacks[valid as usize].pop() {
                self.entries -= 1;
                let at = block as usize;
                if blocks.state[at] == BlockState::Closed && blocks.valid[at] == valid {
                    return Some(block);
                }
            }
        }
        None
    }

    /// Looks at all blocks, and begins the candidates again.
    fn look_again(&mut self, blocks: &Blocks) {
        self.stacks.iter_mut().for_each(Vec::clear);
        self.entries = 0;
        let closed = || {
            (0..blocks.count()).filter(|block| blocks.state[*block as usize] == BlockState::Closed)
        };
        let Some(least) = closed().map(|block| blocks.valid[block as usize]).min() else { return };
        self.threshold = (least + CANDIDATE_SPAN).min(self.stacks.len() as u32 - 1);
        // Pushed backwards: of equal blocks the first is taken first.
        for block in closed().rev() {
            self.fell(block, blocks.valid[block as usize]);
        }
    }

    fn oldest(&mut self, blocks: &Blocks, window: u32) -> Option<u32> {
        let is_current = |(block, closed_at): &(u32, u32)| {
            let at = *block as usize;
            blocks.state[at] == BlockState::Closed && blocks.closed_at[at] == *closed_at
        };
        while self.queue.front().is_some_and(|entry| !is_current(entry)) {
            self.queue.pop_front();
        }
        let first = self.queue.iter().enumerate().filter(|(_, entry)| is_current(entry));
        let (place, _) = first
            .take(window as usize)
            .min_by_key(|(place, (block, _))| (blocks.valid[*block as usize], *place))?;
        self.queue.remove(place).map(|(block, _)| block)
    }

    fn emptiest_of_some(&mut self, blocks: &Blocks, choices: u32) -> Option<u32> {
        let count = u64::from(blocks.count());
        let mut best: Option<u32> = None;
        let (mut seen, mut tries) = (0, 0);
        while seen < choices && tries < 64 * (u64::from(choices) + count) {
            tries += 1;
            let block = self.random.below(count) as u32;
            if blocks.state[block as usize] != BlockState::Closed {
                continue;
            }
            seen += 1;
            let fewer = |best: u32| blocks.valid[block as usize] < blocks.valid[best as usize];
            if best.is_none_or(fewer) {
                best = Some(block);
            }
        }
        best
    }
}

fn most_benefit(blocks: &Blocks) -> Option<u32> {
    let closed =
        (0..blocks.count()).filter(|block| blocks.state[*block as usize] == BlockState::Closed);
    let capacity = closed.clone().map(|block| blocks.valid[block as usize]).max()?.max(1);
    closed.max_by_key(|block| {
        let valid = u64::from(blocks.valid[*block as usize]);
        let invalid = u64::from(capacity) - valid.min(u64::from(capacity));
        let age = u64::from(blocks.age(*block)) + 1;
        (age * invalid * 1024 / (2 * valid + 1), Reversed(*block))
    })
}

/// Orders backwards, so that of equal blocks the first wins.
#[derive(PartialEq, Eq)]
struct Reversed(u32);

impl Ord for Reversed {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.0.cmp(&self.0)
    }
}

impl PartialOrd for Reversed {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
