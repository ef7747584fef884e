//! One line on a terminal while a step runs: which step, how far, how fast, how long yet.
//!
//! It is redrawn when the testbed asks whether to go on, at most four times a second; nothing
//! ticks, and on anything but a terminal nothing is written.

use drivelab_core::op::Action;
use drivelab_core::plan::Step;
use drivelab_core::tally::Tally;
use drivelab_report::units;
use drivelab_stats::Histogram;
use std::time::{Duration, Instant};

const REDRAWN_EVERY: Duration = Duration::from_millis(250);
const BAR_CELLS: usize = 8;

/// The progress line.
#[derive(Debug)]
pub struct Progress {
    active: bool,
    label: String,
    began: Instant,
    expected: Option<Duration>,
    left_after: Option<Duration>,
    drawn: Option<Instant>,
    latest: Option<Rates>,
    counted: Counted,
}

#[derive(Debug, Clone, Copy)]
struct Rates {
    per_second: f64,
    bytes_per_second: f64,
    p99_ns: Option<u64>,
}

/// Tallies of one interval, gathered over workers.
#[derive(Debug, Default)]
struct Counted {
    from: u64,
    to: u64,
    ops: u64,
    bytes: u64,
    service: Option<Histogram>,
}

impl Progress {
    /// A line on stderr, if that is a terminal.
    pub fn new() -> Self {
        let capable = std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        Progress {
            active: crate::print::shows_progress() && capable,
            label: String::new(),
            began: Instant::now(),
            expected: None,
            left_after: None,
            drawn: None,
            latest: None,
            counted: Counted::default(),
        }
    }

    /// A step begins: `number` of `count`; `left_after` is what follows it, where known.
    pub fn begin(&mut self, number: u64, count: u64, step: &Step, left_after: Option<Duration>) {
        self.label = format!("{number}/{count} {}", step.name);
        self.began = Instant::now();
        let elapsed = step.elapsed().map(|span| span.0 + step.ramp.0);
        self.expected = elapsed.map(Duration::from_nanos);
        self.left_after = left_after;
        self.latest = None;
        self.counted = Counted::default();
        self.drawn = None;
        self.redraw();
    }

    /// Takes an interval into account.
    pub fn tally(&mut self, tally: &Tally) {
        if !self.active {
            return;
        }
        if tally.from >= self.counted.to && self.counted.to > 0 {
            self.latest = self.counted.rates();
            self.counted = Counted::default();
        }
        self.counted.add(tally);
    }

    /// Redraws the line if it is time to.
    pub fn redraw(&mut self) {
        if !self.active || self.drawn.is_some_and(|drawn| drawn.elapsed() < REDRAWN_EVERY) {
            return;
        }
        self.drawn = Some(Instant::now());
        let line = self.line(self.began.elapsed());
        crate::print::progress(&line);
    }

    /// Takes the line away.
    pub fn clear(&mut self) {
        if self.active {
            crate::print::progress("");
            self.drawn = None;
        }
    }

    fn line(&self, elapsed: Duration) -> String {
        let mut line = self.label.clone();
        if let Some(expected) = self.expected {
            let share = elapsed.as_secs_f64() / expected.as_secs_f64().max(1e-9);
            let full = ((share * BAR_CELLS as f64) as usize).min(BAR_CELLS);
            line += &format!("   [{}{}]", "▇".repeat(full), "▁".repeat(BAR_CELLS - full));
        }
        if let Some(rates) = self.latest {
            line += &format!("  {}", units::operations(rates.per_second));
            if rates.bytes_per_second > 0.0 {
                line += &format!("  {}", units::bandwidth(rates.bytes_per_second));
            }
            if let Some(p99) = rates.p99_ns {
                line += &format!("  p99 {}", units::time(p99 as f64));
            }
        }
        match (self.expected, self.left_after) {
            (Some(expected), Some(after)) => {
                let left = expected.saturating_sub(elapsed) + after;
                line + &format!("   {} left", clock(left))
            }
            _ => line + &format!("   {}", clock(elapsed)),
        }
    }
}

impl Counted {
    fn add(&mut self, tally: &Tally) {
        self.from = if self.to == 0 { tally.from } else { self.from.min(tally.from) };
        self.to = self.to.max(tally.to);
        for kind in tally.kinds.iter().filter(|kind| kind.kind != Action::Flush) {
            self.ops += kind.ops;
            self.bytes += kind.bytes;
            self.service.get_or_insert_with(Histogram::new).merge(&kind.service);
        }
    }

    fn rates(&self) -> Option<Rates> {
        let seconds = self.to.saturating_sub(self.from) as f64 / 1e9;
        let p99_ns = self
            .service
            .as_ref()
            .and_then(|service| drivelab_stats::supported_quantile(service, 0.99));
        (seconds > 0.0).then(|| Rates {
            per_second: self.ops as f64 / seconds,
            bytes_per_second: self.bytes as f64 / seconds,
            p99_ns,
        })
    }
}

/// Minutes and seconds: `1:12`.
fn clock(span: Duration) -> String {
    let seconds = span.as_secs_f64().ceil() as u64;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::plan::Until;
    use drivelab_core::units::Span;

    #[test]
    fn the_line_says_what_and_how_far() {
        let mut progress = Progress { active: false, ..Progress::new() };
        let until = Until { elapsed: Some(Span(8_000_000_000)), ..Until::default() };
        let step = Step { name: "randwrite 4k qd32".into(), until, ..Step::default() };
        progress.begin(4, 9, &step, Some(Duration::from_secs(70)));
        progress.latest =
            Some(Rates { per_second: 741_000.0, bytes_per_second: 0.0, p99_ns: Some(90_400) });
        assert_eq!(
            progress.line(Duration::from_secs(6)),
            "4/9 randwrite 4k qd32   [▇▇▇▇▇▇▁▁]  741 k/s  p99 90.4 µs   1:12 left"
        );
    }
}
