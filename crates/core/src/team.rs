//! Which drivers end because of others, or of their rate: stonewalls, background streams, levels.

use crate::driver::Driver;
use crate::level::{Watch, Worker};
use crate::plan::Level;
use crate::tally::Tally;

/// What the drivers of one process have come to, for those of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// A worker of this stream is done, which ends with the first of its workers.
    Wall(u32),
    /// No worker runs any more that background streams would wait for.
    Over,
}

/// What the drivers of a step owe each other.
#[derive(Debug)]
pub struct Team {
    members: Vec<Member>,
    watches: Vec<(Watch, Vec<usize>)>,
    /// Other processes in which the foreground is not over.
    others: u32,
    /// Streams of which a worker is done somewhere, and whether the others know.
    walls: Vec<u32>,
    is_over_told: bool,
}

#[derive(Debug)]
struct Member {
    stream: u32,
    background: bool,
    stonewall: bool,
    stopped: bool,
}

impl Team {
    /// The team of these drivers, by index, where `others` processes have the rest of them.
    pub fn new<'a>(drivers: impl IntoIterator<Item = &'a Driver>, others: u32) -> Self {
        let (mut members, mut levels) = (Vec::new(), Vec::new());
        for driver in drivers {
            let setup = driver.setup();
            if let Some(level) = setup.until.level {
                levels.push((level, (setup.stream_index, setup.worker), members.len()));
            }
            members.push(Member {
                stream: setup.stream_index,
                background: driver.stream().background,
                stonewall: setup.until.stonewall,
                stopped: false,
            });
        }
        let watches = watches(levels);
        Team { members, watches, others, walls: Vec::new(), is_over_told: others == 0 }
    }

    /// Takes in what another process says.
    pub fn hear(&mut self, word: Word) {
        match word {
            Word::Wall(stream) if !self.walls.contains(&stream) => self.walls.push(stream),
            Word::Wall(_) => {}
            Word::Over => self.others = self.others.saturating_sub(1),
        }
    }

    /// What the others must hear now, each word once; empty where there are none.
    pub fn to_tell(&mut self, finished: impl Fn(usize) -> bool) -> Vec<Word> {
        let mut words = Vec::new();
        for (index, member) in self.members.iter().enumerate() {
            if member.stonewall && finished(index) && !self.walls.contains(&member.stream) {
                self.walls.push(member.stream);
                words.push(Word::Wall(member.stream));
            }
        }
        if !self.is_over_told && self.is_own_over(finished) {
            self.is_over_told = true;
            words.push(Word::Over);
        }
        words
    }

    fn is_own_over(&self, finished: impl Fn(usize) -> bool) -> bool {
        (0..self.members.len()).all(|index| self.members[index].background || finished(index))
    }

    /// Looks at an interval that a driver handed over. True where [`Team::to_stop`] must be asked.
    #[inline]
    pub fn take(&mut self, tally: &Tally) -> bool {
        self.watches.iter_mut().for_each(|(watch, _)| watch.take(tally));
        !self.watches.is_empty()
    }

    /// The drivers to stop now, each told once.
    pub fn to_stop(&mut self, finished: impl Fn(usize) -> bool) -> Vec<usize> {
        let foreground_over = self.others == 0 && self.is_own_over(&finished);
        let own = (0..self.members.len())
            .filter(|index| self.members[*index].stonewall && finished(*index))
            .map(|index| self.members[index].stream);
        let walls: Vec<u32> = own.chain(self.walls.iter().copied()).collect();
        let mut level = Vec::new();
        for (watch, indices) in &mut self.watches {
            if watch.is_level(|member| finished(indices[member])) {
                level.extend_from_slice(indices);
            }
        }
        let mut stop = Vec::new();
        for (index, member) in self.members.iter_mut().enumerate() {
            let ends = (member.background && foreground_over)
                || walls.contains(&member.stream)
                || level.contains(&index);
            if ends && !member.stopped && !finished(index) {
                member.stopped = true;
                stop.push(index);
            }
        }
        stop
    }
}

/// One watch for each group, and for each worker without one.
fn watches(levels: Vec<(Level, Worker, usize)>) -> Vec<(Watch, Vec<usize>)> {
    let mut groups: Vec<(Level, Vec<(Worker, usize)>)> = Vec::new();
    for (level, worker, index) in levels {
        let its =
            |known: &&mut (Level, Vec<_>)| level.group.is_some() && known.0.group == level.group;
        match groups.iter_mut().find(its) {
            Some((_, members)) => members.push((worker, index)),
            None => groups.push((level, vec![(worker, index)])),
        }
    }
    let watch = |(level, members): (Level, Vec<(Worker, usize)>)| {
        let (workers, indices) = members.into_iter().unzip();
        (Watch::new(level, workers), indices)
    };
    groups.into_iter().map(watch).collect()
}
