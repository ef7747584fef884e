//! Which drivers end because of others, or of their rate: stonewalls, background streams, levels.

use crate::driver::Driver;
use crate::level::{Watch, Worker};
use crate::plan::Level;
use crate::tally::Tally;

/// What the drivers of a step owe each other.
#[derive(Debug)]
pub struct Team {
    members: Vec<Member>,
    watches: Vec<(Watch, Vec<usize>)>,
}

#[derive(Debug)]
struct Member {
    stream: u32,
    background: bool,
    stonewall: bool,
    stopped: bool,
}

impl Team {
    /// The team of these drivers, by index.
    pub fn new<'a>(drivers: impl IntoIterator<Item = &'a Driver>) -> Self {
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
        Team { members, watches: watches(levels) }
    }

    /// Looks at an interval that a driver handed over. True where [`Team::to_stop`] must be asked.
    #[inline]
    pub fn take(&mut self, tally: &Tally) -> bool {
        self.watches.iter_mut().for_each(|(watch, _)| watch.take(tally));
        !self.watches.is_empty()
    }

    /// The drivers to stop now, each told once.
    pub fn to_stop(&mut self, finished: impl Fn(usize) -> bool) -> Vec<usize> {
        let foreground_over =
            (0..self.members.len()).all(|index| self.members[index].background || finished(index));
        let walls: Vec<u32> = (0..self.members.len())
            .filter(|index| self.members[*index].stonewall && finished(*index))
            .map(|index| self.members[index].stream)
            .collect();
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
