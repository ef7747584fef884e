//! Which drivers end because others have: stonewalls, background streams, failures.

use crate::driver::Driver;

/// What the drivers of a step owe each other.
#[derive(Debug)]
pub struct Team {
    members: Vec<Member>,
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
        let member = |driver: &Driver| Member {
            stream: driver.setup().stream_index,
            background: driver.stream().background,
            stonewall: driver.setup().until.stonewall,
            stopped: false,
        };
        Team { members: drivers.into_iter().map(member).collect() }
    }

    /// The drivers to stop now, each told once.
    pub fn to_stop(&mut self, finished: impl Fn(usize) -> bool) -> Vec<usize> {
        let foreground_over =
            (0..self.members.len()).all(|index| self.members[index].background || finished(index));
        let walls: Vec<u32> = (0..self.members.len())
            .filter(|index| self.members[*index].stonewall && finished(*index))
            .map(|index| self.members[index].stream)
            .collect();
        let mut stop = Vec::new();
        for (index, member) in self.members.iter_mut().enumerate() {
            let ends = (member.background && foreground_over) || walls.contains(&member.stream);
            if ends && !member.stopped && !finished(index) {
                member.stopped = true;
                stop.push(index);
            }
        }
        stop
    }
}
