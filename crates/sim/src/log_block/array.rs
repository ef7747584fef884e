//! The timelines of a drive without a queue of its own: controller, link, channels and dies.
//!
//! Early firmware worked one step after the other and had no background, so every step is booked
//! in the foreground, in the order in which commands came.

use crate::lane::{Background, Lane, Worked};
use drivelab_core::inside::Cause;
use drivelab_core::op::Time;
use std::collections::VecDeque;

/// Nothing is owed: all work is in the foreground.
const NO_BACKGROUND: Background =
    Background { operation_ns: 1, debt_max_ns: u64::MAX, suspend_ns: None };

/// What every step takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timing {
    pub page_bytes: u32,
    pub channels: u32,
    pub dies: u32,
    pub read_ns: u64,
    pub program_ns: u64,
    pub erase_ns: u64,
    pub channel_bytes_per_s: u64,
    pub link_bytes_per_s: u64,
    pub command_ns: u64,
    pub queue_depth: u32,
    pub copies_per_channel: u32,
}

impl Timing {
    /// Names what is out of range, in one sentence.
    pub fn check(&self) -> Result<(), String> {
        let page_bytes = self.page_bytes;
        if !(512..=32_768).contains(&page_bytes) || !page_bytes.is_power_of_two() {
            return Err(format!("page_bytes is {page_bytes}: a power of two, 512 to 32768."));
        }
        for (name, value) in [
            ("channels", u64::from(self.channels)),
            ("dies", u64::from(self.dies)),
            ("channel_bytes_per_s", self.channel_bytes_per_s),
            ("link_bytes_per_s", self.link_bytes_per_s),
            ("queue_depth", u64::from(self.queue_depth)),
            ("copies_per_channel", u64::from(self.copies_per_channel)),
        ] {
            if value == 0 {
                return Err(format!("{name} is 0: at least 1 is needed."));
            }
        }
        if self.channels > 4_096 || self.dies > 4_096 {
            return Err("dies and channels are 4096 at most.".to_owned());
        }
        for (name, value) in [
            ("read_ns", self.read_ns),
            ("program_ns", self.program_ns),
            ("erase_ns", self.erase_ns),
            ("command_ns", self.command_ns),
        ] {
            if value > 1_000_000_000 {
                return Err(format!("{name} is {value}: one second (1000000000) at most."));
            }
        }
        Ok(())
    }

    /// Nanoseconds that `bytes` are on a channel, rounded up.
    pub fn channel_ns(&self, bytes: u32) -> u64 {
        transfer_ns(bytes, self.channel_bytes_per_s)
    }

    /// Nanoseconds that `bytes` are on the link, rounded up.
    pub fn link_ns(&self, bytes: u32) -> u64 {
        transfer_ns(bytes, self.link_bytes_per_s)
    }
}

fn transfer_ns(bytes: u32, bytes_per_s: u64) -> u64 {
    (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(bytes_per_s)) as u64
}

/// For whom a die works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// The host's own pages.
    Host,
    /// Copies and erases.
    Upkeep,
}

/// When a step on the flash began to be served and when it ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    /// Wait for other steps on the die and its channel.
    pub queued_ns: u64,
    /// Time at which the step ends.
    pub end: Time,
}

/// A command that the drive works on, or has ended.
#[derive(Debug, Clone, Copy)]
struct Command {
    end: Time,
    cause: Cause,
}

/// All timelines.
#[derive(Debug, Clone)]
pub(crate) struct Array {
    pub timing: Timing,
    /// Nothing takes time: conditioning.
    pub is_timeless: bool,
    host_busy_ns: u64,
    upkeep_busy_ns: u64,
    worked: Worked,
    controller: Lane,
    link: Lane,
    channels: Vec<Lane>,
    dies: Vec<Lane>,
    /// Ends of the latest copies by channel: the controller has room for this many pages in copy.
    copies: Vec<VecDeque<Time>>,
    commands: Vec<Command>,
    /// End of the latest read that was let in between two merges.
    between_until: Time,
}

impl Array {
    pub fn new(timing: Timing) -> Self {
        Array {
            timing,
            is_timeless: false,
            host_busy_ns: 0,
            upkeep_busy_ns: 0,
            worked: Worked::default(),
            controller: Lane::default(),
            link: Lane::default(),
            channels: vec![Lane::default(); timing.channels as usize],
            dies: vec![Lane::default(); timing.dies as usize],
            copies: vec![VecDeque::new(); timing.channels as usize],
            commands: Vec::new(),
            between_until: 0,
        }
    }

    /// When a command that comes at `at` is taken.
    pub fn taken_at(&self, at: Time) -> Time {
        let is_full = self.commands.len() >= self.timing.queue_depth as usize;
        let first = self.commands.iter().map(|command| command.end).min();
        first.filter(|end| is_full && *end > at).unwrap_or(at)
    }

    /// Takes a command that came at `at`; returns when it has been understood, and what the
    /// command in front of it was kept by, if there was a wait.
    pub fn begin(&mut self, at: Time) -> (Time, Option<Cause>) {
        let mut start = at;
        let mut kept_by = None;
        if self.commands.len() >= self.timing.queue_depth as usize {
            let first = (0..self.commands.len()).min_by_key(|index| self.commands[*index].end);
            if let Some(index) = first {
                let command = self.commands.swap_remove(index);
                if command.end > at {
                    start = command.end;
                    kept_by = Some(command.cause);
                }
            }
        }
        let slot = self.controller.book(start, self.timing.command_ns, &NO_BACKGROUND);
        (slot.end, kept_by.or((slot.queued_ns > 0).then_some(Cause::Link)))
    }

    /// Notes when the command taken last ends.
    pub fn finish(&mut self, end: Time, cause: Cause) {
        self.commands.push(Command { end, cause });
    }

    /// Moves bytes over the link; returns the end.
    pub fn link(&mut self, at: Time, bytes: u32) -> Time {
        self.link.book(at, self.timing.link_ns(bytes), &NO_BACKGROUND).end
    }

    /// Senses a page and brings `bytes` of it to the controller. The die is taken until they are
    /// there: its register holds them.
    pub fn read(&mut self, die: u32, at: Time, bytes: u32, work: Work) -> Step {
        if self.is_timeless {
            return Step { queued_ns: 0, end: at };
        }
        let sensed = self.dies[die as usize].book(at, self.timing.read_ns, &NO_BACKGROUND);
        let transfer_ns = self.timing.channel_ns(bytes);
        let moved = self.channel(die).book(sensed.end, transfer_ns, &NO_BACKGROUND);
        self.dies[die as usize].book(sensed.end, moved.end - sensed.end, &NO_BACKGROUND);
        self.note(work, self.timing.read_ns + transfer_ns);
        Step { queued_ns: sensed.queued_ns + moved.queued_ns, end: moved.end }
    }

    /// Whether a read of `die` that comes at `at` would wait beyond `gap`.
    pub fn is_taken_beyond(&self, die: u32, gap: Time) -> bool {
        let channel = (die % self.timing.channels) as usize;
        self.dies[die as usize].free_at().max(self.channels[channel].free_at()) > gap
    }

    /// Reads a page in the gap between two merges, which begins at `gap`: what is booked behind it
    /// moves back.
    pub fn read_between(&mut self, die: u32, at: Time, gap: Time, bytes: u32) -> Step {
        let transfer_ns = self.timing.channel_ns(bytes);
        let busy_ns = self.timing.read_ns + transfer_ns;
        let start = gap.max(self.between_until);
        self.between_until = start + busy_ns;
        self.dies[die as usize].delay(busy_ns);
        self.channel(die).delay(transfer_ns);
        self.note(Work::Host, busy_ns);
        Step { queued_ns: start - at, end: start + busy_ns }
    }

    /// Moves the bytes of a read that went between two merges; returns the end. What is booked is
    /// the transfer of a write that waits for the end of all merges, and comes later.
    pub fn link_between(&mut self, at: Time, bytes: u32) -> Time {
        let busy_ns = self.timing.link_ns(bytes);
        self.link.delay(busy_ns);
        at + busy_ns
    }

    /// Brings a page to a die and programs it.
    pub fn program(&mut self, die: u32, at: Time, work: Work) -> Step {
        if self.is_timeless {
            return Step { queued_ns: 0, end: at };
        }
        // The register is free when the die is.
        let ready = at.max(self.dies[die as usize].free_at());
        let transfer_ns = self.timing.channel_ns(self.timing.page_bytes);
        let moved = self.channel(die).book(ready, transfer_ns, &NO_BACKGROUND);
        let programmed =
            self.dies[die as usize].book(moved.end, self.timing.program_ns, &NO_BACKGROUND);
        self.note(work, transfer_ns + self.timing.program_ns);
        Step { queued_ns: moved.start - at, end: programmed.end }
    }

    /// Copies a page through the controller; returns the end.
    pub fn copy(&mut self, from_die: u32, to_die: u32, at: Time) -> Time {
        if self.is_timeless {
            return at;
        }
        let channel = (to_die % self.timing.channels) as usize;
        let mut start = at;
        if self.copies[channel].len() >= self.timing.copies_per_channel as usize {
            start = self.copies[channel].pop_front().map_or(at, |end| end.max(at));
        }
        let read = self.read(from_die, start, self.timing.page_bytes, Work::Upkeep);
        let end = self.program(to_die, read.end, Work::Upkeep).end;
        self.copies[channel].push_back(end);
        end
    }

    /// Erases one block on each of `dies`, together; returns the end.
    pub fn erase(&mut self, dies: std::ops::Range<u32>, at: Time) -> Time {
        if self.is_timeless {
            return at;
        }
        let mut end = at;
        for die in dies {
            let slot = self.dies[die as usize].book(at, self.timing.erase_ns, &NO_BACKGROUND);
            end = end.max(slot.end);
            self.note(Work::Upkeep, self.timing.erase_ns);
        }
        end
    }

    /// Time that dies worked until `now`, for the host and for upkeep.
    pub fn worked_ns(&mut self, now: Time) -> [u64; 2] {
        self.worked.until(now, [self.host_busy_ns, self.upkeep_busy_ns], &self.dies)
    }

    fn channel(&mut self, die: u32) -> &mut Lane {
        &mut self.channels[(die % self.timing.channels) as usize]
    }

    fn note(&mut self, work: Work, busy_ns: u64) {
        match work {
            Work::Host => self.host_busy_ns += busy_ns,
            Work::Upkeep => self.upkeep_busy_ns += busy_ns,
        }
    }
}
