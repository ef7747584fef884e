//! A counter of write amplification that shares nothing with the crate: blocks are lists of what
//! was written to them. A victim is emptied as a whole when the last free blocks are reached, or
//! little by little: each write then pays for its share.
#![allow(clippy::unwrap_used, reason = "what cannot be done fails the test")]

/// How the counter chooses victims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    Oldest,
    Emptiest,
    EmptiestOf(usize),
    EmptiestOfOldest(usize),
}

/// A victim that is being emptied.
struct Scan {
    victim: usize,
    content: Vec<usize>,
    next: usize,
    credit: usize,
    step: usize,
}

pub struct Counter {
    pages: usize,
    /// Free blocks below which the next victim is begun; 0: victims are emptied as a whole.
    high: usize,
    scan: Option<Scan>,
    choice: Choice,
    /// Copies have an open block of their own.
    separate: bool,
    reserve: usize,
    home: Vec<usize>,
    blocks: Vec<Vec<usize>>,
    valid: Vec<usize>,
    free: Vec<usize>,
    /// Closed blocks, in the order in which they were closed.
    closed: Vec<usize>,
    open: [usize; 2],
    state: u64,
    pub host: u64,
    pub copies: u64,
}

const NOWHERE: usize = usize::MAX;

impl Counter {
    /// A drive of `blocks` of `pages`, of which `logical` are written once in order.
    pub fn new(
        blocks: usize,
        pages: usize,
        logical: usize,
        reserve: usize,
        choice: Choice,
        separate: bool,
    ) -> Self {
        let mut counter = Counter {
            pages,
            high: 0,
            scan: None,
            choice,
            separate,
            reserve,
            home: vec![NOWHERE; logical],
            blocks: vec![Vec::new(); blocks],
            valid: vec![0; blocks],
            free: (0..blocks).rev().collect(),
            closed: Vec::new(),
            open: [NOWHERE; 2],
            state: 0x9e37_79b9_7f4a_7c15,
            host: 0,
            copies: 0,
        };
        (0..logical).for_each(|page| counter.write(page));
        (counter.host, counter.copies) = (0, 0);
        counter
    }

    /// The same, but each write pays for its share of collection while fewer blocks are free.
    #[must_use]
    pub fn paced(mut self, high: usize) -> Self {
        self.high = high;
        self
    }

    /// The same, but other numbers are drawn from here on.
    #[must_use]
    pub fn seeded(mut self, seed: u64) -> Self {
        self.state ^= seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 1;
        self
    }

    /// xorshift64*, Vigna 2016.
    pub fn below(&mut self, limit: usize) -> usize {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        let number = self.state.wrapping_mul(0x2545_f491_4f6c_dd1d);
        ((u128::from(number) * limit as u128) >> 64) as usize
    }

    pub fn write(&mut self, page: usize) {
        self.host += 1;
        if self.is_full(0) {
            if self.open[0] != NOWHERE {
                self.closed.push(self.open[0]);
            }
            self.open[0] = NOWHERE;
            while self.free.len() <= self.reserve {
                self.collect();
            }
            if self.is_full(0) {
                self.begin(0);
            }
        }
        self.append(0, page);
        if self.high > 0 {
            self.keep_pace();
        }
    }

    fn keep_pace(&mut self) {
        if self.scan.is_none() && self.free.len() < self.high {
            self.begin_scan();
        }
        let pages = self.pages;
        let Some(scan) = &mut self.scan else { return };
        scan.credit += pages;
        let count = scan.credit / scan.step;
        scan.credit %= scan.step;
        self.empty(count);
    }

    fn is_full(&self, stream: usize) -> bool {
        let block = self.open[stream];
        block == NOWHERE || self.blocks[block].len() == self.pages
    }

    fn begin(&mut self, stream: usize) {
        if self.open[stream] != NOWHERE {
            self.closed.push(self.open[stream]);
        }
        self.open[stream] = self.free.pop().unwrap();
    }

    fn append(&mut self, stream: usize, page: usize) {
        let block = self.open[stream];
        if self.home[page] != NOWHERE {
            self.valid[self.home[page]] -= 1;
        }
        self.home[page] = block;
        self.valid[block] += 1;
        self.blocks[block].push(page);
    }

    fn collect(&mut self) {
        if self.scan.is_none() {
            self.begin_scan();
        }
        self.empty(self.pages);
        assert!(self.scan.is_none());
    }

    fn begin_scan(&mut self) {
        let count = self.closed.len();
        let place = match self.choice {
            Choice::Oldest => 0,
            Choice::Emptiest => self.emptiest(0..count),
            Choice::EmptiestOfOldest(window) => self.emptiest(0..window.min(count)),
            Choice::EmptiestOf(some) => {
                let drawn: Vec<usize> = (0..some).map(|_| self.below(count)).collect();
                self.emptiest(drawn.into_iter())
            }
        };
        let victim = self.closed.remove(place);
        let step = (self.pages - self.valid[victim]).max(1);
        let content = std::mem::take(&mut self.blocks[victim]);
        self.scan = Some(Scan { victim, content, next: 0, credit: 0, step });
    }

    /// Looks at this many pages of the victim, and copies what is still there.
    fn empty(&mut self, count: usize) {
        let Some(mut scan) = self.scan.take() else { return };
        let stream = usize::from(self.separate);
        let end = scan.content.len().min(scan.next.saturating_add(count));
        for page in &scan.content[scan.next..end] {
            if self.home[*page] != scan.victim {
                continue;
            }
            if self.is_full(stream) {
                self.begin(stream);
            }
            // A page that was written twice to the victim is listed twice.
            self.append(stream, *page);
            self.copies += 1;
        }
        scan.next = end;
        if end < scan.content.len() {
            self.scan = Some(scan);
            return;
        }
        assert_eq!(self.valid[scan.victim], 0);
        self.free.insert(0, scan.victim);
    }

    fn emptiest(&self, places: impl Iterator<Item = usize>) -> usize {
        places.min_by_key(|place| self.valid[self.closed[*place]]).unwrap()
    }
}
