//! Time: the calibrated TSC where it can be trusted, else CLOCK_MONOTONIC; the run says which.
//!
//! Sources: Intel SDM vol. 3, 18.17 (invariant TSC); clock_gettime(2).

use drivelab_core::op::Time;
use drivelab_core::record::ClockFacts;
use rustix::time::{ClockId, clock_gettime};

/// Largest disagreement with CLOCK_MONOTONIC that the TSC may have.
pub const DISAGREEMENT_PPM_MAX: f64 = 10.0;
const CALIBRATION_NS: u64 = 50_000_000;

/// Reads nanoseconds since it was calibrated. Copies agree with each other.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// CLOCK_MONOTONIC at time zero, in nanoseconds.
    monotonic_zero: u64,
    scale: Option<TscScale>,
}

/// `ns = zero_ns + (tsc - zero_tsc) * multiplier / 2³²`.
#[derive(Debug, Clone, Copy)]
struct TscScale {
    zero_tsc: u64,
    zero_ns: u64,
    multiplier: u64,
}

/// CLOCK_MONOTONIC in nanoseconds.
pub fn monotonic_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn tsc() -> u64 {
    // SAFETY: RDTSC exists on every x86-64 CPU and touches no memory.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn tsc() -> u64 {
    0
}

/// One moment seen by both clocks, as exactly as a few tries allow.
#[derive(Debug, Clone, Copy)]
struct Pair {
    tsc: u64,
    monotonic: u64,
}

fn pair() -> Pair {
    let mut best = (u64::MAX, Pair { tsc: 0, monotonic: 0 });
    for _ in 0..20 {
        let before = tsc();
        let monotonic = monotonic_ns();
        let after = tsc();
        let width = after.wrapping_sub(before);
        if width < best.0 {
            best = (width, Pair { tsc: before + width / 2, monotonic });
        }
    }
    best.1
}

/// Why the TSC cannot be used, by what /proc/cpuinfo says.
fn tsc_unfit(cpuinfo: &str) -> Option<&'static str> {
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags")).unwrap_or("");
    let has = |flag: &str| flags.split_whitespace().any(|word| word == flag);
    if !cfg!(target_arch = "x86_64") {
        Some("this CPU has no TSC")
    } else if !has("constant_tsc") {
        Some("the TSC is not constant on this CPU")
    } else if !has("nonstop_tsc") {
        Some("the TSC may stop in deep sleep on this CPU")
    } else {
        None
    }
}

impl Clock {
    /// Chooses and calibrates; takes about a tenth of a second.
    pub fn calibrate() -> (Clock, ClockFacts) {
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let (clock, source, reason, ppm) = match tsc_unfit(&cpuinfo) {
            Some(reason) => (Clock::monotonic(), "monotonic", reason.to_string(), None),
            None => Clock::calibrate_tsc(),
        };
        let readings = 10_000;
        let begin = monotonic_ns();
        for _ in 0..readings {
            std::hint::black_box(clock.now());
        }
        let read_ns = (monotonic_ns() - begin) as f64 / f64::from(readings);
        let facts = ClockFacts {
            source: source.to_string(),
            reason,
            disagreement_ppm: ppm,
            read_ns: Some(read_ns),
            monotonic_zero_ns: Some(clock.monotonic_zero),
        };
        (clock, facts)
    }

    /// CLOCK_MONOTONIC, from now on.
    pub fn monotonic() -> Clock {
        Clock { monotonic_zero: monotonic_ns(), scale: None }
    }

    fn calibrate_tsc() -> (Clock, &'static str, String, Option<f64>) {
        let first = pair();
        pause(CALIBRATION_NS);
        let second = pair();
        let ticks = second.tsc.wrapping_sub(first.tsc).max(1);
        let nanoseconds = second.monotonic - first.monotonic;
        let multiplier = ((u128::from(nanoseconds) << 32) / u128::from(ticks)) as u64;
        let scale = TscScale { zero_tsc: second.tsc, zero_ns: 0, multiplier };
        let clock = Clock { monotonic_zero: second.monotonic, scale: Some(scale) };
        pause(CALIBRATION_NS);
        let ppm = clock.disagreement_ppm();
        if ppm.abs() > DISAGREEMENT_PPM_MAX {
            let reason = format!(
                "the TSC disagrees with CLOCK_MONOTONIC by {ppm:.1} ppm, more than \
                 {DISAGREEMENT_PPM_MAX} ppm"
            );
            return (Clock::monotonic(), "monotonic", reason, Some(ppm));
        }
        let reason = "constant, nonstop and in agreement with CLOCK_MONOTONIC".to_string();
        (clock, "tsc", reason, Some(ppm))
    }

    /// How far the clock is from CLOCK_MONOTONIC, in parts per million of its age.
    pub fn disagreement_ppm(&self) -> f64 {
        let Some(scale) = self.scale else { return 0.0 };
        let now = pair();
        let ours = scale.at(now.tsc);
        let theirs = now.monotonic - self.monotonic_zero;
        (ours as f64 - theirs as f64) / (theirs.max(1) as f64) * 1e6
    }

    /// How far the clock is ahead of CLOCK_MONOTONIC, in nanoseconds.
    pub fn ahead_ns(&self) -> i64 {
        let Some(scale) = self.scale else { return 0 };
        let now = pair();
        scale.at(now.tsc) as i64 - (now.monotonic - self.monotonic_zero) as i64
    }

    /// The same clock anchored again: the longer it has run, the better the scale is known. Time
    /// stays continuous; call it between steps, never within one.
    pub fn anchored_anew(&self) -> Clock {
        let Some(scale) = self.scale else { return *self };
        let now = pair();
        let age_ns = now.monotonic - self.monotonic_zero;
        let ours = scale.at(now.tsc);
        let ticks = now.tsc.wrapping_sub(scale.zero_tsc);
        if ticks < 1 << 28 {
            return *self;
        }
        let spent = age_ns.saturating_sub(scale.zero_ns).max(1);
        let multiplier = ((u128::from(spent) << 32) / u128::from(ticks)) as u64;
        let zero_ns = age_ns.max(ours);
        let scale = TscScale { zero_tsc: now.tsc, zero_ns, multiplier };
        Clock { monotonic_zero: self.monotonic_zero, scale: Some(scale) }
    }

    /// CLOCK_MONOTONIC at time zero, in nanoseconds.
    pub fn monotonic_zero(&self) -> u64 {
        self.monotonic_zero
    }

    /// Nanoseconds since time zero.
    #[inline(always)]
    pub fn now(&self) -> Time {
        match &self.scale {
            Some(scale) => scale.at(tsc()),
            None => monotonic_ns() - self.monotonic_zero,
        }
    }
}

impl TscScale {
    #[inline(always)]
    fn at(&self, tsc: u64) -> Time {
        let ticks = tsc.wrapping_sub(self.zero_tsc);
        self.zero_ns + ((u128::from(ticks) * u128::from(self.multiplier)) >> 32) as u64
    }
}

/// Sleeps for about this long.
pub fn pause(nanoseconds: u64) {
    std::thread::sleep(std::time::Duration::from_nanos(nanoseconds));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_agrees_with_the_kernel() {
        let (clock, facts) = Clock::calibrate();
        let (ours, theirs) = (clock.now(), monotonic_ns() - clock.monotonic_zero());
        assert!(ours.abs_diff(theirs) < 5_000_000, "{ours} {theirs} {facts:?}");
        assert!(clock.disagreement_ppm().abs() < 1000.0);
        let anew = clock.anchored_anew();
        assert!(anew.now() >= ours);
        assert_eq!(anew.monotonic_zero(), clock.monotonic_zero());
    }

    #[test]
    fn a_clock_never_runs_backward() {
        let (clock, _) = Clock::calibrate();
        let mut last = clock.now();
        for _ in 0..100_000 {
            let now = clock.now();
            assert!(now >= last);
            last = now;
        }
    }

    #[test]
    fn an_unfit_tsc_is_named() {
        assert!(tsc_unfit("flags : fpu constant_tsc nonstop_tsc").is_none());
        assert!(tsc_unfit("flags : fpu nonstop_tsc").is_some_and(|why| why.contains("constant")));
        assert!(tsc_unfit("flags : fpu constant_tsc").is_some_and(|why| why.contains("stop")));
    }
}
