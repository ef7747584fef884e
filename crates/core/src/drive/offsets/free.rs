//! Which blocks of a pass are still free, kept so that the next free one is found at once.

/// Free blocks as bits, and above each level the words of it that have any. A pass that is over
/// turns the meaning of all bits around, so that the next one begins without clearing them.
#[derive(Debug, Clone)]
pub(super) struct Free {
    levels: Vec<Vec<u64>>,
    /// What a bit is combined with (exclusive or) to be 1 where it is free.
    turned: u64,
    blocks: u64,
    left: u64,
}

impl Free {
    /// Words of the lowest level for `blocks`.
    pub(super) fn words(blocks: u64) -> u64 {
        blocks.div_ceil(64)
    }

    /// All of them free; at least one.
    pub(super) fn new(blocks: u64) -> Self {
        debug_assert!(blocks > 0, "a map of nothing");
        let mut levels = Vec::new();
        let mut bits = blocks.max(1);
        loop {
            let mut words = vec![u64::MAX; Free::words(bits) as usize];
            if let Some(last) = words.last_mut() {
                *last = tail(bits);
            }
            bits = words.len() as u64;
            levels.push(words);
            if bits == 1 {
                break;
            }
        }
        Free { levels, turned: 0, blocks: blocks.max(1), left: blocks.max(1) }
    }

    fn bits(&self, level: usize, word: u64) -> u64 {
        self.levels[level].get(word as usize).map_or(0, |bits| bits ^ self.turned)
    }

    /// The first free block from `from` on, and from the first one on where there is none.
    pub(super) fn at_or_after(&self, from: u64) -> u64 {
        debug_assert!(self.left > 0, "none is free");
        self.search(from).or_else(|| self.search(0)).unwrap_or_default()
    }

    fn search(&self, from: u64) -> Option<u64> {
        let mut at = from;
        for level in 0..self.levels.len() {
            let (word, bit) = (at / 64, at % 64);
            let bits = self.bits(level, word) & (u64::MAX << bit);
            if bits != 0 {
                let found = word * 64 + u64::from(bits.trailing_zeros());
                let down =
                    |found, level| found * 64 + u64::from(self.bits(level, found).trailing_zeros());
                return Some((0..level).rev().fold(found, down));
            }
            at = word + 1;
        }
        None
    }

    /// Takes the free block `first` and those behind it that are free too, up to `most`; returns
    /// how many, and whether none is left: then all are free again.
    pub(super) fn take(&mut self, first: u64, most: u64) -> (u64, bool) {
        let mut taken = 0;
        while taken < most {
            let (word, bit) = ((first + taken) / 64, (first + taken) % 64);
            let free = self.bits(0, word) >> bit;
            let run = u64::from((!free).trailing_zeros()).min(64 - bit);
            let run = run.min(most - taken);
            if run == 0 {
                break;
            }
            self.clear(word, (u64::MAX >> (64 - run)) << bit);
            taken += run;
            if bit + run < 64 {
                break;
            }
        }
        debug_assert!(taken > 0, "block {first} was not free");
        self.left -= taken;
        let is_over = self.left == 0;
        if is_over {
            self.turn();
        }
        (taken, is_over)
    }

    fn clear(&mut self, word: u64, mask: u64) {
        let (mut word, mut mask) = (word, mask);
        for level in 0..self.levels.len() {
            self.levels[level][word as usize] ^= mask;
            if self.bits(level, word) != 0 {
                return;
            }
            (word, mask) = (word / 64, 1 << (word % 64));
        }
    }

    /// What is behind the last block is never free, whichever way bits are read.
    fn turn(&mut self) {
        self.turned = !self.turned;
        let mut bits = self.blocks;
        for words in &mut self.levels {
            let behind = !tail(bits);
            bits = words.len() as u64;
            if let Some(last) = words.last_mut() {
                *last ^= behind;
            }
        }
        self.left = self.blocks;
    }
}

/// The bits of the last word that stand for something.
fn tail(bits: u64) -> u64 {
    match bits % 64 {
        0 => u64::MAX,
        used => (1 << used) - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_stats::Random;

    #[test]
    fn each_block_is_taken_once_a_pass_and_the_next_free_one_is_found() {
        let mut random = Random::new(7);
        for blocks in [1, 2, 63, 64, 65, 127, 4095, 4096, 4097, 70_000] {
            let mut free = Free::new(blocks);
            for _ in 0..3 {
                let mut plain = vec![true; blocks as usize];
                loop {
                    let from = random.below(blocks);
                    let behind = (from..blocks).chain(0..from);
                    let expected = behind.clone().find(|at| plain[*at as usize]);
                    let first = free.at_or_after(from);
                    assert_eq!(Some(first), expected, "of {blocks} from {from}");
                    let most = 1 + random.below(200);
                    let run = (first..blocks).take(most as usize);
                    let run = run.take_while(|at| plain[*at as usize]).count() as u64;
                    let (taken, is_over) = free.take(first, most);
                    assert_eq!(taken, run, "of {blocks} at {first}, at most {most}");
                    (first..first + taken).for_each(|at| plain[at as usize] = false);
                    assert_eq!(is_over, plain.iter().all(|is_free| !is_free));
                    if is_over {
                        break;
                    }
                }
            }
        }
    }
}
