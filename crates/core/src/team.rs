//! Which drivers end because of others, or of their rate: stonewalls, background streams, levels.

use crate::driver::Driver;
use crate::level::{Did, Watch, Worker};
use crate::plan::Level;
use crate::tally::Tally;
use serde::{Deserialize, Serialize};

/// The other processes of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Company {
    /// How many there are whose words count.
    pub others: u32,
    /// This one judges for all.
    pub leads: bool,
}

impl Company {
    /// No others.
    pub const NONE: Company = Company { others: 0, leads: true };
}

/// What the drivers of one process have come to, for those of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Word {
    /// A worker of this stream is done, which ends with the first of its workers.
    Wall(u32),
    /// No worker runs any more that background streams would wait for.
    Over,
    /// What a worker did, of whose rate another process judges.
    Did(Did),
    /// Such a worker will do no more.
    Done(Worker),
    /// The rate that this stream is a part of has become level.
    Level(u32),
}

/// What the drivers of a step owe each other.
#[derive(Debug)]
pub struct Team {
    members: Vec<Member>,
    watches: Vec<(Watch, Vec<Place>)>,
    company: Company,
    /// Other processes in which the foreground is not over.
    running: u32,
    is_over_told: bool,
    /// Streams whose end is known here: their walls, and their levels.
    walls: Vec<u32>,
    levels: Vec<u32>,
    levels_told: usize,
    /// Workers of other processes that are done.
    done: Vec<Worker>,
}

#[derive(Debug)]
struct Member {
    worker: Worker,
    background: bool,
    stonewall: bool,
    /// Another process judges its rate; none of the following words was said twice.
    reports: bool,
    is_done_told: bool,
    stopped: bool,
}

/// Where a watched worker is: a driver here, or one of another process.
#[derive(Debug, Clone, Copy)]
enum Place {
    Here(usize),
    There(Worker),
}

impl Team {
    /// The team of these drivers, by index, where other processes may have the rest of them.
    pub fn new<'a>(drivers: impl IntoIterator<Item = &'a Driver>, company: Company) -> Self {
        let (mut members, mut levels) = (Vec::new(), Vec::new());
        for driver in drivers {
            let setup = driver.setup();
            let worker = (setup.stream_index, setup.worker);
            let level = setup.until.level;
            let shared = company.others > 0 && level.is_some_and(|level| level.group.is_some());
            if let Some(level) = level.filter(|_| !shared || company.leads) {
                levels.push((level, worker, Place::Here(members.len())));
            }
            members.push(Member {
                worker,
                background: driver.stream().background,
                stonewall: setup.until.stonewall,
                reports: shared && !company.leads,
                is_done_told: false,
                stopped: false,
            });
            // The first process has the first worker of every stream.
            if let Some(level) = level.filter(|_| shared && company.leads && worker.1 == 0) {
                let others = (1..driver.stream().workers).map(|other| (worker.0, other));
                levels.extend(others.map(|other| (level, other, Place::There(other))));
            }
        }
        let is_here = |place: &Place| matches!(place, Place::Here(_));
        let here: Vec<Worker> = levels
            .iter()
            .filter(|(.., place)| is_here(place))
            .map(|(_, worker, _)| *worker)
            .collect();
        levels.retain(|(_, worker, place)| is_here(place) || !here.contains(worker));
        Team {
            members,
            watches: watches(levels),
            company,
            running: company.others,
            is_over_told: company.others == 0,
            walls: Vec::new(),
            levels: Vec::new(),
            levels_told: 0,
            done: Vec::new(),
        }
    }

    /// Takes in what another process says.
    pub fn hear(&mut self, word: Word) {
        match word {
            Word::Wall(stream) => add(&mut self.walls, stream),
            Word::Level(stream) => add(&mut self.levels, stream),
            Word::Over => {
                debug_assert!(self.running > 0, "more processes are over than there are");
                self.running = self.running.saturating_sub(1);
            }
            Word::Did(did) => self.watches.iter_mut().for_each(|(watch, _)| watch.take(did)),
            Word::Done(worker) => self.done.push(worker),
        }
    }

    /// What the others must hear now, each word once; empty where there are none.
    pub fn to_tell(&mut self, finished: impl Fn(usize) -> bool) -> Vec<Word> {
        let mut words = Vec::new();
        if self.company.others == 0 {
            return words;
        }
        for (index, member) in self.members.iter_mut().enumerate() {
            if !finished(index) {
                continue;
            }
            if member.stonewall && !self.walls.contains(&member.worker.0) {
                self.walls.push(member.worker.0);
                words.push(Word::Wall(member.worker.0));
            }
            if member.reports && !member.is_done_told {
                member.is_done_told = true;
                words.push(Word::Done(member.worker));
            }
        }
        if self.company.leads {
            words.extend(self.levels[self.levels_told..].iter().copied().map(Word::Level));
            self.levels_told = self.levels.len();
        }
        if !self.is_over_told && self.is_own_over(finished) {
            self.is_over_told = true;
            words.push(Word::Over);
        }
        words
    }

    /// What another process must hear of an interval that a driver handed over.
    pub fn to_report(&self, tally: &Tally) -> Option<Word> {
        let did = Did::of(tally);
        let reports = |member: &&Member| member.worker == did.worker && member.reports;
        self.members.iter().find(reports).map(|_| Word::Did(did))
    }

    /// Whether workers of others still do what is judged here.
    pub fn judges_others(&self) -> bool {
        self.watches.iter().flat_map(|(watch, places)| watch.workers().zip(places)).any(
            |(worker, place)| {
                let there = matches!(place, Place::There(_));
                there && !self.done.contains(&worker) && !self.levels.contains(&worker.0)
            },
        )
    }

    fn is_own_over(&self, finished: impl Fn(usize) -> bool) -> bool {
        (0..self.members.len()).all(|index| self.members[index].background || finished(index))
    }

    /// Looks at an interval that a driver handed over. True where [`Team::to_stop`] must be asked.
    #[inline]
    pub fn take(&mut self, tally: &Tally) -> bool {
        self.watches.iter_mut().for_each(|(watch, _)| watch.take(Did::of(tally)));
        !self.watches.is_empty()
    }

    /// The drivers to stop now, each told once.
    pub fn to_stop(&mut self, finished: impl Fn(usize) -> bool) -> Vec<usize> {
        let foreground_over = self.running == 0 && self.is_own_over(&finished);
        let own = (0..self.members.len())
            .filter(|index| self.members[*index].stonewall && finished(*index))
            .map(|index| self.members[index].worker.0);
        let walls: Vec<u32> = own.chain(self.walls.iter().copied()).collect();
        let mut level = Vec::new();
        for (watch, places) in &mut self.watches {
            let is_over = |member: usize| match places[member] {
                Place::Here(index) => finished(index),
                Place::There(worker) => self.done.contains(&worker),
            };
            if !watch.is_level(is_over) {
                continue;
            }
            for place in places {
                match *place {
                    Place::Here(index) => level.push(index),
                    Place::There((stream, _)) => add(&mut self.levels, stream),
                }
            }
        }
        debug_assert!(level.iter().all(|index| *index < self.members.len()), "nobody's watch");
        let mut stop = Vec::new();
        for (index, member) in self.members.iter_mut().enumerate() {
            let stream = member.worker.0;
            let ends = (member.background && foreground_over)
                || walls.contains(&stream)
                || level.contains(&index)
                || (member.reports && self.levels.contains(&stream));
            if ends && !member.stopped && !finished(index) {
                member.stopped = true;
                stop.push(index);
            }
        }
        stop
    }
}

fn add(streams: &mut Vec<u32>, stream: u32) {
    if !streams.contains(&stream) {
        streams.push(stream);
    }
}

/// One watch for each group, and for each worker without one.
fn watches(levels: Vec<(Level, Worker, Place)>) -> Vec<(Watch, Vec<Place>)> {
    let mut groups: Vec<(Level, Vec<(Worker, Place)>)> = Vec::new();
    for (level, worker, index) in levels {
        let its =
            |known: &&mut (Level, Vec<_>)| level.group.is_some() && known.0.group == level.group;
        match groups.iter_mut().find(its) {
            Some((_, members)) => members.push((worker, index)),
            None => groups.push((level, vec![(worker, index)])),
        }
    }
    let watch = |(level, members): (Level, Vec<(Worker, Place)>)| {
        let (workers, indices) = members.into_iter().unzip();
        (Watch::new(level, workers), indices)
    };
    groups.into_iter().map(watch).collect()
}
