//! What makes a drive's times differ from run to run. A simulated drive repeats itself to the
//! nanosecond; a real one does not, and whoever wants to see error bars, or to learn what a
//! difference must overcome, asks for that by `noise=`.
//!
//! The drive's clock wanders: while its pace is 0.98, all that it does takes 1 ÷ 0.98 as long, its
//! own background work included. Nothing else about it changes, and no order of ends.

use crate::drive::{Drive, Ends, Ticket, Way, handed_on};
use drivelab_core::inside::Inside;
use drivelab_core::op::{DataOp, Time};
use drivelab_stats::{Domain, Random};
use std::collections::VecDeque;
use std::fmt;

const SECOND_NS: u64 = 1_000_000_000;

/// What lets the pace wander.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Slowly and steadily, as temperature does: a Gauss–Markov process whose memory is a minute.
    Temperature,
    /// Now and then for some seconds, as a drive reads its own media: each 30 s on average, for 3 s
    /// on average, both exponential.
    Scan,
    /// From one tenth of a second to the next, as a host with other work does.
    Host,
}

impl Source {
    const ALL: [(Source, &'static str); 3] =
        [(Source::Temperature, "temperature"), (Source::Scan, "scan"), (Source::Host, "host")];
}

/// One source, and how far it goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// Source of the noise.
    pub source: Source,
    /// The standard deviation of the logarithm of the pace; of a scan, the share of the pace that
    /// it takes while it lasts.
    pub share: f64,
}

impl Noise {
    /// The largest share that a source may have.
    pub const SHARE_MAX: f64 = 0.5;

    /// Understands `2%` (temperature), and `SOURCE:SHARE` with `+` between several, such as
    /// `temperature:2%+scan:20%`.
    ///
    /// # Errors
    /// What is wrong and the way out, in a sentence.
    pub fn parse(text: &str) -> Result<Vec<Self>, String> {
        text.split('+').map(|part| Noise::one(part, text)).collect()
    }

    fn one(part: &str, text: &str) -> Result<Self, String> {
        let form = || {
            format!(
                "noise={text}: give a share up to 50%, such as noise=2%, or sources with theirs, \
                 such as noise=temperature:2%+scan:20%+host:1%"
            )
        };
        let (source, share) = part.split_once(':').unwrap_or((Source::ALL[0].1, part));
        let known = Source::ALL.iter().find(|(_, word)| *word == source);
        let share = match share.strip_suffix('%') {
            Some(percent) => percent.parse().map(|percent: f64| percent / 100.0),
            None => share.parse(),
        };
        match (known, share) {
            (Some(&(source, _)), Ok(share)) if (0.0..=Noise::SHARE_MAX).contains(&share) => {
                Ok(Noise { source, share })
            }
            _ => Err(form()),
        }
    }
}

/// A source as it goes on, a tenth of a second at a time.
#[derive(Debug)]
struct Process {
    noise: Noise,
    random: Random,
    /// The present logarithm of the pace, in standard deviations.
    level: f64,
    /// Of a scan: ticks until it begins or ends.
    ticks_left: u64,
    is_scanning: bool,
}

/// How long a pace lasts.
const TICK_NS: u64 = SECOND_NS / 10;
const TEMPERATURE_MEMORY_TICKS: f64 = 600.0;
const SCAN_EVERY_TICKS: f64 = 300.0;
const SCAN_TICKS: f64 = 30.0;

impl Process {
    fn new(noise: Noise, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let level = random.normal();
        let ticks_left = random.exponential(SCAN_EVERY_TICKS) as u64;
        Process { noise, random, level, ticks_left, is_scanning: false }
    }

    /// The factor of the pace in the next tick.
    fn pace(&mut self) -> f64 {
        match self.noise.source {
            Source::Temperature => {
                let kept = libm::exp(-1.0 / TEMPERATURE_MEMORY_TICKS);
                let fresh = libm::sqrt(1.0 - kept * kept);
                self.level = kept * self.level + fresh * self.random.normal();
            }
            Source::Host => self.level = self.random.normal(),
            Source::Scan => return self.scan(),
        }
        libm::exp(self.noise.share * self.level)
    }

    fn scan(&mut self) -> f64 {
        while self.ticks_left == 0 {
            self.is_scanning = !self.is_scanning;
            let mean = if self.is_scanning { SCAN_TICKS } else { SCAN_EVERY_TICKS };
            self.ticks_left = libm::round(self.random.exponential(mean)) as u64;
        }
        self.ticks_left -= 1;
        if self.is_scanning { 1.0 - self.noise.share } else { 1.0 }
    }
}

/// A stretch of time of one pace.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    /// Where it begins on the host's clock.
    host: Time,
    /// The same on the drive's clock.
    drive: Time,
    pace: f64,
}

impl Stretch {
    fn drive_at(self, host: Time) -> Time {
        self.drive + (((host - self.host) as f64) * self.pace) as Time
    }
}

/// Two clocks, one of which wanders.
#[derive(Debug)]
struct Clock {
    sources: Vec<Process>,
    /// From the latest time asked for by the host on.
    stretches: VecDeque<Stretch>,
}

impl Clock {
    fn new(noise: &[Noise], seed: u64) -> Self {
        let sources = noise.iter().enumerate();
        let sources = sources
            .map(|(index, &noise)| Process::new(noise, Domain::Noise.seed(seed, index as u64)));
        let mut clock = Clock { sources: sources.collect(), stretches: VecDeque::new() };
        let pace = clock.pace();
        clock.stretches.push_back(Stretch { host: 0, drive: 0, pace });
        clock
    }

    fn pace(&mut self) -> f64 {
        self.sources.iter_mut().map(Process::pace).product()
    }

    fn go_on(&mut self) {
        if let Some(&last) = self.stretches.back() {
            let host = last.host + TICK_NS;
            let pace = self.pace();
            self.stretches.push_back(Stretch { host, drive: last.drive_at(host), pace });
        }
    }

    /// What the drive's clock shows when the host's shows `now`, which never goes back.
    fn drive_at(&mut self, now: Time) -> Time {
        loop {
            match (self.stretches.front(), self.stretches.get(1)) {
                (Some(_), Some(next)) if next.host <= now => drop(self.stretches.pop_front()),
                (Some(_), None) => self.go_on(),
                (Some(at), Some(_)) => return at.drive_at(now),
                (None, _) => return now,
            }
        }
    }

    /// The first time of the host at which the drive's clock has reached `drive`, which lies not
    /// before the latest that was asked for.
    fn host_at(&mut self, drive: Time) -> Time {
        if drive == Time::MAX {
            return Time::MAX;
        }
        while self.stretches.back().is_some_and(|last| last.drive < drive) {
            self.go_on();
        }
        let index = self.stretches.partition_point(|stretch| stretch.drive < drive);
        let Some(at) = self.stretches.get(index.saturating_sub(1)) else { return drive };
        let mut host = at.host + ((drive.saturating_sub(at.drive)) as f64 / at.pace) as Time;
        while at.drive_at(host) < drive {
            host += 1;
        }
        while host > at.host && at.drive_at(host - 1) >= drive {
            host -= 1;
        }
        host
    }
}

/// A drive whose pace wanders.
pub struct Noisy {
    drive: Box<dyn Drive>,
    clock: Clock,
    /// By the drive's clock.
    own_ends: Ends,
    /// By the host's.
    next_event: Time,
}

impl fmt::Debug for Noisy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Noisy").field("clock", &self.clock).finish_non_exhaustive()
    }
}

impl Noisy {
    /// `drive` with what makes it wander, drawn by the seed.
    pub fn new(drive: Box<dyn Drive>, noise: &[Noise], seed: u64) -> Self {
        let mut clock = Clock::new(noise, seed);
        let next_event = clock.host_at(drive.next_event());
        Noisy { drive, clock, own_ends: Ends::default(), next_event }
    }

    /// Tells by the host's clock what the drive has told by its own.
    fn bring_out(&mut self, ends: &mut Ends) {
        while let Some(end) = self.own_ends.pop(Time::MAX) {
            ends.push(self.clock.host_at(end.at), end.ticket, end.cause);
        }
        self.next_event = self.clock.host_at(self.drive.next_event());
    }
}

impl Drive for Noisy {
    fn bytes(&self) -> u64 {
        self.drive.bytes()
    }

    fn submit_by(&mut self, now: Time, ticket: Ticket, op: &DataOp, way: Way, ends: &mut Ends) {
        let at = self.clock.drive_at(now);
        self.drive.submit_by(at, ticket, op, way, &mut self.own_ends);
        self.bring_out(ends);
    }

    fn next_event(&self) -> Time {
        self.next_event
    }

    fn advance(&mut self, now: Time, ends: &mut Ends) {
        let at = self.clock.drive_at(now);
        self.drive.advance(at, &mut self.own_ends);
        self.bring_out(ends);
    }

    handed_on!();

    fn purge(&mut self, now: Time) -> bool {
        let at = self.clock.drive_at(now);
        self.drive.purge(at)
    }

    fn inside(&mut self, now: Time) -> Inside {
        let at = self.clock.drive_at(now);
        self.drive.inside(at)
    }
}

#[cfg(test)]
mod tests;
