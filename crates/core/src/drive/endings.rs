//! Which drivers end because of others, or of their rate: stonewalls, background streams, levels.

use crate::driver::Driver;
use crate::level::{Watch, Worker, WorkerInterval};
use crate::plan::Level;
use crate::tally::Tally;
use serde::{Deserialize, Serialize};

/// The other ranks of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherRanks {
    /// How many there are whose messages count.
    pub count: u32,
    /// This one is rank 0, which judges for all.
    pub is_rank_0: bool,
}

impl OtherRanks {
    /// A run of one process: there are no other ranks.
    pub const NONE: OtherRanks = OtherRanks { count: 0, is_rank_0: true };
}

/// What the drivers of one rank have come to, for those of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum EndingMessage {
    /// A worker of this stream is done, which ends with the first of its workers.
    Stonewall(u32),
    /// A worker is done with which all others end.
    EndsAll,
    /// No worker runs any more that background streams would wait for.
    ForegroundOver,
    /// What a worker did, of whose rate another rank judges.
    Progress(WorkerInterval),
    /// Such a worker will do no more.
    WorkerDone(Worker),
    /// The rate that this stream is a part of has become level.
    Level(u32),
    /// How many operations a worker has come to whose time is over, or that has done all.
    CameTo(Worker, u64),
}

/// What the drivers of a step owe each other.
#[derive(Debug)]
pub struct Endings {
    members: Vec<Member>,
    watches: Vec<(Watch, Vec<Place>)>,
    other_ranks: OtherRanks,
    /// Other ranks in which the foreground is not over.
    foregrounds_elsewhere: u32,
    is_over_sent: bool,
    /// Streams whose end is known here: their stonewalls, and their levels.
    stonewalls: Vec<u32>,
    levels: Vec<u32>,
    levels_sent: usize,
    /// Here or elsewhere a worker is done with which all others end.
    is_all_over: bool,
    /// Workers of other ranks that are done.
    done: Vec<Worker>,
    /// How far workers of streams that are worn out have come, here and elsewhere.
    came_to: Vec<(Worker, u64)>,
}

#[derive(Debug)]
struct Member {
    worker: Worker,
    background: bool,
    stonewall: bool,
    ends_all: bool,
    /// Another rank judges its rate; none of the following messages is sent twice.
    reports: bool,
    is_done_sent: bool,
    stopped: bool,
    /// Workers of its stream in all ranks, where it goes on to what the farthest has done.
    worn_out_by: Option<u32>,
    is_way_sent: bool,
    goes_on: bool,
}

/// Where a watched worker is: a driver here, or one of another rank.
#[derive(Debug, Clone, Copy)]
enum Place {
    Here(usize),
    There(Worker),
}

impl Endings {
    /// The endings of these drivers, by index, where other ranks may have the rest of them.
    pub fn new<'a>(drivers: impl IntoIterator<Item = &'a Driver>, other_ranks: OtherRanks) -> Self {
        let (mut members, mut levels) = (Vec::new(), Vec::new());
        for driver in drivers {
            let setup = driver.setup();
            let worker = (setup.stream_index, setup.worker);
            let level = setup.until.level;
            let shared = other_ranks.count > 0 && level.is_some_and(|level| level.group.is_some());
            if let Some(level) = level.filter(|_| !shared || other_ranks.is_rank_0) {
                levels.push((level, worker, Place::Here(members.len())));
            }
            members.push(Member {
                worker,
                background: driver.stream().background,
                stonewall: setup.until.stonewall,
                ends_all: setup.until.ends_all,
                reports: shared && !other_ranks.is_rank_0,
                is_done_sent: false,
                stopped: false,
                worn_out_by: setup.until.wear_out.then(|| driver.stream().workers.max(1)),
                is_way_sent: false,
                goes_on: false,
            });
            // Rank 0 has the first worker of every stream.
            if let Some(level) = level.filter(|_| shared && other_ranks.is_rank_0 && worker.1 == 0)
            {
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
        Endings {
            members,
            watches: watches(levels),
            other_ranks,
            foregrounds_elsewhere: other_ranks.count,
            is_over_sent: other_ranks.count == 0,
            stonewalls: Vec::new(),
            levels: Vec::new(),
            levels_sent: 0,
            is_all_over: false,
            done: Vec::new(),
            came_to: Vec::new(),
        }
    }

    /// Takes in how far the driver of this index has come, once it says so.
    #[inline]
    pub fn note_way(&mut self, index: usize, operations: Option<u64>) {
        if let Some(operations) = operations
            && self.members[index].worn_out_by.is_some()
        {
            self.add_way(self.members[index].worker, operations);
        }
    }

    fn add_way(&mut self, worker: Worker, operations: u64) {
        if !self.came_to.iter().any(|(known, _)| *known == worker) {
            self.came_to.push((worker, operations));
        }
    }

    /// The drivers that go on now, each named once, and to how many operations: those of a stream
    /// all of whose workers have come as far as their time allowed.
    pub fn to_go_on(&mut self) -> Vec<(usize, u64)> {
        let mut go_on = Vec::new();
        for (index, member) in self.members.iter_mut().enumerate() {
            let Some(workers) = member.worn_out_by.filter(|_| !member.goes_on) else { continue };
            let of_stream = self.came_to.iter().filter(|(known, _)| known.0 == member.worker.0);
            if of_stream.clone().count() < workers as usize {
                continue;
            }
            member.goes_on = true;
            go_on.extend(of_stream.map(|(_, came_to)| *came_to).max().map(|most| (index, most)));
        }
        go_on
    }

    /// Takes in what another rank has sent.
    pub fn receive(&mut self, message: EndingMessage) {
        match message {
            EndingMessage::Stonewall(stream) => add(&mut self.stonewalls, stream),
            EndingMessage::EndsAll => self.is_all_over = true,
            EndingMessage::Level(stream) => add(&mut self.levels, stream),
            EndingMessage::ForegroundOver => {
                debug_assert!(self.foregrounds_elsewhere > 0, "more ranks are over than there are");
                self.foregrounds_elsewhere = self.foregrounds_elsewhere.saturating_sub(1)
            }
            EndingMessage::Progress(interval) => {
                self.watches.iter_mut().for_each(|(watch, _)| watch.take(interval))
            }
            EndingMessage::WorkerDone(worker) => self.done.push(worker),
            EndingMessage::CameTo(worker, operations) => self.add_way(worker, operations),
        }
    }

    /// What the others must receive now, each message once; empty where there are none.
    pub fn to_send(&mut self, finished: impl Fn(usize) -> bool) -> Vec<EndingMessage> {
        let mut messages = Vec::new();
        if self.other_ranks.count == 0 {
            return messages;
        }
        for (index, member) in self.members.iter_mut().enumerate() {
            let way = self.came_to.iter().find(|(known, _)| *known == member.worker);
            if let Some((worker, operations)) = way.filter(|_| !member.is_way_sent) {
                member.is_way_sent = true;
                messages.push(EndingMessage::CameTo(*worker, *operations));
            }
            if !finished(index) {
                continue;
            }
            if member.stonewall && !self.stonewalls.contains(&member.worker.0) {
                self.stonewalls.push(member.worker.0);
                messages.push(EndingMessage::Stonewall(member.worker.0));
            }
            if member.ends_all && !self.is_all_over {
                self.is_all_over = true;
                messages.push(EndingMessage::EndsAll);
            }
            if member.reports && !member.is_done_sent {
                member.is_done_sent = true;
                messages.push(EndingMessage::WorkerDone(member.worker));
            }
        }
        if self.other_ranks.is_rank_0 {
            messages
                .extend(self.levels[self.levels_sent..].iter().copied().map(EndingMessage::Level));
            self.levels_sent = self.levels.len();
        }
        if !self.is_over_sent && self.is_own_over(finished) {
            self.is_over_sent = true;
            messages.push(EndingMessage::ForegroundOver);
        }
        messages
    }

    /// What another rank must receive of an interval that a driver handed over.
    pub fn to_report(&self, tally: &Tally) -> Option<EndingMessage> {
        let interval = WorkerInterval::of(tally);
        let reports = |member: &&Member| member.worker == interval.worker && member.reports;
        self.members.iter().find(reports).map(|_| EndingMessage::Progress(interval))
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

    /// Looks at an interval that a driver handed over. True where [`Endings::to_stop`] must be
    /// asked.
    #[inline]
    pub fn take(&mut self, tally: &Tally) -> bool {
        self.watches.iter_mut().for_each(|(watch, _)| watch.take(WorkerInterval::of(tally)));
        !self.watches.is_empty()
    }

    /// The drivers to stop now, each named once.
    pub fn to_stop(&mut self, finished: impl Fn(usize) -> bool) -> Vec<usize> {
        let foreground_over = self.foregrounds_elsewhere == 0 && self.is_own_over(&finished);
        let ends_all = |index: usize| self.members[index].ends_all && finished(index);
        let is_all_over = self.is_all_over || (0..self.members.len()).any(ends_all);
        let own = (0..self.members.len())
            .filter(|index| self.members[*index].stonewall && finished(*index))
            .map(|index| self.members[index].worker.0);
        let stonewalls: Vec<u32> = own.chain(self.stonewalls.iter().copied()).collect();
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
            let ends = is_all_over
                || (member.background && foreground_over)
                || stonewalls.contains(&stream)
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
