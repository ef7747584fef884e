//! Loads on a simulated drive: the same drivers that measure real drives, in virtual time.

use drivelab_core::driver::drivers_of;
use drivelab_core::inside::{Inside, InsideInterval};
use drivelab_core::op::Action;
use drivelab_core::plan::{Engine, Mix, Pattern, Step, Stream, Until};
use drivelab_core::queue::{Sink, Testbed};
use drivelab_core::tally::Tally;
use drivelab_core::units::{Size, Span};
use drivelab_sim::profile::EMBEDDED;
use drivelab_sim::target::SimTarget;
use drivelab_stats::{Histogram, derive};

const SEED: u64 = 20_260_801;
pub const KIB: u64 = 1024;
pub const MIB: u64 = 1024 * KIB;
pub const GIB: u64 = 1024 * MIB;

/// A drive under test.
pub struct Bench {
    testbed: Box<dyn Testbed>,
    bytes: u64,
    runs: u64,
}

/// What one load came to.
pub struct Outcome {
    pub ops: u64,
    pub bytes: u64,
    pub seconds: f64,
    pub reads: Histogram,
    pub writes: Histogram,
    /// Reads and writes together.
    pub all: Histogram,
    /// What went on inside meanwhile.
    pub inside: Inside,
}

#[derive(Default)]
struct Sum {
    ops: u64,
    bytes: u64,
    reads: Histogram,
    writes: Histogram,
    errors: u64,
}

impl Sink for Sum {
    fn tally(&mut self, tally: &Tally) {
        self.ops += tally.ops();
        self.bytes += tally.bytes();
        self.errors += tally.error_count();
        for kind in &tally.kinds {
            match kind.kind {
                Action::Read => self.reads.merge(&kind.service),
                Action::Write => self.writes.merge(&kind.service),
                _ => {}
            }
        }
    }
    fn inside(&mut self, _interval: &InsideInterval) {}
}

/// Whether a profile is part of the program.
pub fn is_there(profile: &str) -> bool {
    EMBEDDED.iter().any(|(known, _)| *known == profile)
}

impl Bench {
    /// Builds `sim:` and what follows it.
    pub fn of(target: &str) -> Result<Self, String> {
        let no_file = |file: &str| Err(format!("{file}: only profiles of the program are tested"));
        let built = SimTarget::parse(&format!("sim:{target}"), no_file)?.build()?;
        let bytes = built.facts().target.bytes.ok_or_else(|| format!("{target}: size unknown"))?;
        Ok(Bench { testbed: built, bytes, runs: 0 })
    }

    /// Bytes that a host can address.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What went on inside so far.
    pub fn inside(&mut self) -> Inside {
        self.testbed.inside().unwrap_or_default()
    }

    /// Runs one stream to its bound, with a seed of its own.
    pub fn run(&mut self, stream: Stream, until: Until) -> Result<Outcome, String> {
        self.run_together(vec![stream], until)
    }

    /// Runs several streams at once, each to its bound.
    pub fn run_together(&mut self, streams: Vec<Stream>, until: Until) -> Result<Outcome, String> {
        let step = Step { name: "load".into(), streams, until, ..Step::default() };
        self.runs += 1;
        let seed = derive(SEED, 0x6c6f_6164, self.runs);
        let drivers = drivers_of(&step, 0, seed, Span(1_000_000_000), self.bytes)
            .map_err(|trouble| trouble.text)?;
        let before = self.inside();
        let mut sum = Sum::default();
        let finished = self.testbed.run(drivers, &mut sum).map_err(|trouble| trouble.text)?;
        if sum.errors > 0 {
            return Err(format!("{} operations failed", sum.errors));
        }
        let first = finished.iter().map(|worker| worker.phase.first).min().unwrap_or(0);
        let last = finished.iter().map(|worker| worker.phase.last).max().unwrap_or(0);
        let mut all = Histogram::new();
        all.merge(&sum.reads);
        all.merge(&sum.writes);
        Ok(Outcome {
            ops: sum.ops,
            bytes: sum.bytes,
            seconds: (last.saturating_sub(first)) as f64 / 1e9,
            reads: sum.reads,
            writes: sum.writes,
            all,
            inside: self.inside().since(&before),
        })
    }
}

impl Outcome {
    /// Operations a second.
    pub fn iops(&self) -> f64 {
        self.ops as f64 / self.seconds
    }

    /// Mean latency of reads and writes in nanoseconds.
    pub fn mean_ns(&self) -> Result<f64, String> {
        self.all.mean().ok_or_else(|| "no operation came to its end".to_owned())
    }

    /// Units programmed by unit that the host wrote.
    pub fn amplification(&self) -> Result<f64, String> {
        self.inside.write_amplification().ok_or_else(|| "nothing was programmed".to_owned())
    }
}

/// Random operations, each address equally likely.
pub fn random(mix: Mix, size: u64, depth: u32) -> Stream {
    Stream {
        engine: Engine::IoUring,
        mix,
        pattern: Pattern::Uniform,
        size: Size(size),
        depth,
        ..Stream::default()
    }
}

/// One operation after the other.
pub fn sequential(mix: Mix, size: u64, depth: u32) -> Stream {
    Stream { pattern: Pattern::SEQUENTIAL, ..random(mix, size, depth) }
}

/// Until this many operations were issued.
pub fn operations(count: u64) -> Until {
    Until { operations: Some(count), ..Until::default() }
}

/// Until the bytes of the drive were issued so often.
pub fn passes(count: u64) -> Until {
    Until { passes: Some(count), ..Until::default() }
}

/// For this many virtual seconds.
pub fn virtual_seconds(count: u64) -> Until {
    Until { elapsed: Some(Span(count * 1_000_000_000)), ..Until::default() }
}
