//! A drive that becomes too warm for the rate that is asked of it, and slows itself down until it
//! has cooled: what host-controlled and drive-controlled thermal management do (NVM Express Base
//! Specification, Host Controlled Thermal Management), reduced to one body that is warmed by the
//! bytes it moves and cools by Newton's law.

use crate::drive::{Drive, Ends, Ticket, Way, handed_on};
use crate::kept_back::KeptBack;
use drivelab_core::inside::{Cause, Inside};
use drivelab_core::op::{DataOp, Time};
use drivelab_core::units::{Size, Span};
use std::fmt;

const SECOND_NS: f64 = 1e9;
/// The drive is fast again below this share of the warmth at which it became slow.
pub const COOL: f64 = 0.9;

/// How a drive warms up, and what it does then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thermal {
    /// Bytes a second that it can sustain: they just bring it to its limit.
    pub sustained_bytes_per_s: u64,
    /// The time constant of its warming and cooling, in nanoseconds.
    pub constant_ns: u64,
    /// Bytes a second that it moves while it is too warm.
    pub throttled_bytes_per_s: u64,
}

impl Thermal {
    /// Understands `1GB:60s:300MB`: it sustains 1 GB/s, the time constant is 60 s, and 300 MB/s
    /// are left while it is throttled.
    ///
    /// # Errors
    /// What is wrong and the way out, in a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let form = || {
            format!(
                "thermal={text}: give SUSTAINED:CONSTANT:THROTTLED, such as 1GB:60s:300MB: the \
                 drive sustains 1 GB/s, and 300 MB/s are left while it is throttled"
            )
        };
        let parts: Vec<&str> = text.split(':').collect();
        let &[sustained, constant, throttled] = parts.as_slice() else { return Err(form()) };
        let size = |text: &str| -> Result<u64, String> {
            let size: Size = text.parse().map_err(|error| format!("{}: {error}", form()))?;
            Ok(size.0)
        };
        let constant: Span = constant.parse().map_err(|error| format!("{}: {error}", form()))?;
        let thermal = Thermal {
            sustained_bytes_per_s: size(sustained)?,
            constant_ns: constant.0,
            throttled_bytes_per_s: size(throttled)?,
        };
        let cools =
            (thermal.throttled_bytes_per_s as f64) < COOL * thermal.sustained_bytes_per_s as f64;
        match thermal.constant_ns > 0 && thermal.throttled_bytes_per_s > 0 && cools {
            true => Ok(thermal),
            false => Err(format!(
                "{}; the throttled rate must be above 0 and below {:.0} % of the sustained one, or \
                 the drive would never cool",
                form(),
                COOL * 100.0
            )),
        }
    }
}

/// How warm the drive is, as a share of its limit.
#[derive(Debug, Clone, Copy, Default)]
struct Warmth {
    share: f64,
    at: Time,
    is_too_warm: bool,
}

impl Warmth {
    /// Cools until `now`; it may be fast again.
    fn cool(&mut self, now: Time, how: &Thermal) {
        let past = now.saturating_sub(self.at) as f64;
        self.share *= libm::exp(-past / how.constant_ns as f64);
        self.at = self.at.max(now);
        self.is_too_warm &= self.share > COOL;
    }

    /// Moves this many bytes.
    fn warm(&mut self, bytes: u32, how: &Thermal) {
        let constant_s = how.constant_ns as f64 / SECOND_NS;
        self.share += f64::from(bytes) / (how.sustained_bytes_per_s as f64 * constant_s);
        self.is_too_warm |= self.share >= 1.0;
    }
}

/// The drive, and how warm it is. What is asked of it while it is too warm is let through at the
/// rate that is left.
pub struct Warming {
    drive: Box<dyn Drive>,
    how: Thermal,
    warmth: Warmth,
    /// While it is too warm: when the next operation is let through.
    free_at: Time,
    throttled_ns: u64,
    kept: KeptBack,
    /// Of the drive itself.
    own_ends: Ends,
    /// By ticket: when it went to the drive, and how long it had waited.
    let_through: Vec<(Time, u64)>,
}

impl fmt::Debug for Warming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Warming").field("how", &self.how).finish_non_exhaustive()
    }
}

impl Warming {
    /// `drive`, cold.
    pub fn new(drive: Box<dyn Drive>, how: Thermal) -> Self {
        Warming {
            drive,
            how,
            warmth: Warmth::default(),
            free_at: 0,
            throttled_ns: 0,
            kept: KeptBack::default(),
            own_ends: Ends::default(),
            let_through: Vec::new(),
        }
    }

    /// When an operation that comes at `now` is let through.
    fn admit(&mut self, now: Time, bytes: u32) -> Time {
        let at = now.max(self.free_at);
        self.warmth.cool(at, &self.how);
        self.warmth.warm(bytes, &self.how);
        if self.warmth.is_too_warm {
            let pause_ns = f64::from(bytes) * SECOND_NS / self.how.throttled_bytes_per_s as f64;
            self.free_at = at + pause_ns as Time;
        }
        at
    }

    /// Tells what has ended, and of what waited for the drive to cool that it did.
    fn bring_out(&mut self, ends: &mut Ends) {
        while let Some(end) = self.own_ends.pop(Time::MAX) {
            let (from, waited_ns) = self.let_through[end.ticket as usize];
            let has_waited_longer = waited_ns > end.at.saturating_sub(from);
            let cause = if has_waited_longer { Cause::Throttle } else { end.cause };
            ends.push(end.at, end.ticket, cause);
        }
    }
}

impl Drive for Warming {
    fn bytes(&self) -> u64 {
        self.drive.bytes()
    }

    fn submit_by(&mut self, now: Time, ticket: Ticket, op: &DataOp, way: Way, ends: &mut Ends) {
        let from = self.admit(now, op.len);
        let waited_ns = from - now;
        self.throttled_ns += waited_ns;
        if self.let_through.len() <= ticket as usize {
            self.let_through.resize(ticket as usize + 1, Default::default());
        }
        self.let_through[ticket as usize] = (from, waited_ns);
        if waited_ns > 0 {
            return self.kept.keep(from, ticket, op, way);
        }
        self.drive.submit_by(now, ticket, op, way, &mut self.own_ends);
        self.bring_out(ends);
    }

    fn next_event(&self) -> Time {
        self.kept.next_event(&*self.drive)
    }

    fn advance(&mut self, now: Time, ends: &mut Ends) {
        self.kept.advance(&mut *self.drive, now, &mut self.own_ends);
        self.bring_out(ends);
    }

    handed_on!();

    fn purge(&mut self, now: Time) -> bool {
        self.drive.purge(now)
    }

    fn inside(&mut self, now: Time) -> Inside {
        let mut warmth = self.warmth;
        warmth.cool(now, &self.how);
        Inside { throttled_ns: self.throttled_ns, warmth: warmth.share, ..self.drive.inside(now) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes 1 ms for everything.
    struct Even;

    impl Drive for Even {
        fn bytes(&self) -> u64 {
            1 << 40
        }

        fn submit_by(&mut self, now: Time, ticket: Ticket, _: &DataOp, _: Way, ends: &mut Ends) {
            ends.push(now + 1_000_000, ticket, Cause::Flash);
        }

        fn inside(&mut self, _now: Time) -> Inside {
            Inside::default()
        }
    }

    /// One operation of 1 MB after the other until `end_s`: when each ended, and why.
    fn ends_until(drive: &mut Warming, end_s: f64) -> Vec<(f64, Cause)> {
        let op = DataOp { len: 1_000_000, ..DataOp::default() };
        let (mut now, mut told, mut ends) = (0, Vec::new(), Ends::default());
        while (now as f64) < end_s * SECOND_NS {
            drive.submit(now, 0, &op, &mut ends);
            while ends.is_empty() {
                drive.advance(drive.next_event(), &mut ends);
            }
            let end = ends.pop(Time::MAX).unwrap();
            now = end.at;
            told.push((end.at as f64 / SECOND_NS, end.cause));
        }
        told
    }

    /// It moves 1 GB/s, of which it sustains 0.5: the warmth is 2 (1 - e^(-t/60)), and 1 at
    /// 60 ln 2 s. At 0.1 GB/s it falls from 1 towards 0.2 and is 0.9 after 60 ln (0.8 ÷ 0.7) s, and
    /// rises again towards 2 to 1 within 60 ln (1.1 ÷ 1) s.
    #[test]
    fn it_becomes_too_warm_and_cool_again_when_newton_s_law_says() {
        let how = Thermal::parse("500MB:60s:100MB").unwrap();
        let mut drive = Warming::new(Box::new(Even), how);
        let told = ends_until(&mut drive, 120.0);
        let rate = |from: f64, to: f64| {
            let ended = told.iter().filter(|(at, _)| (from..to).contains(at)).count();
            ended as f64 / (to - from)
        };
        let warm_at = 60.0 * 2f64.ln();
        let cool_at = warm_at + 60.0 * (0.8f64 / 0.7).ln();
        let again_at = cool_at + 60.0 * 1.1f64.ln();
        for (from, to, expected) in [
            (1.0, warm_at - 0.1, 1000.0),
            (warm_at + 0.1, cool_at - 0.1, 100.0),
            (cool_at + 0.1, again_at - 0.1, 1000.0),
            (again_at + 0.1, again_at + 5.0, 100.0),
        ] {
            let found = rate(from, to);
            assert!((found / expected - 1.0).abs() < 0.02, "{found} from {from} to {to}");
        }
        let why = |at: f64| told.iter().find(|(ended, _)| *ended > at).unwrap().1;
        assert_eq!(why(warm_at - 1.0), Cause::Flash);
        assert_eq!(why(warm_at + 1.0), Cause::Throttle);
        let inside = drive.inside((120.0 * SECOND_NS) as Time);
        assert!(inside.throttled_ns > 0 && (0.8..1.01).contains(&inside.warmth), "{inside:?}");
    }

    #[test]
    fn a_sustained_rate_is_never_throttled() {
        let how = Thermal::parse("1001MB:60s:100MB").unwrap();
        let mut drive = Warming::new(Box::new(Even), how);
        let told = ends_until(&mut drive, 600.0);
        assert!(told.iter().all(|(_, cause)| *cause == Cause::Flash));
        assert_eq!(drive.inside(0).throttled_ns, 0);
    }

    #[test]
    fn a_drive_that_would_never_cool_is_refused() {
        for text in ["1GB", "1GB:60s", "1GB:60s:1GB", "1GB:60s:0", "1GB:0s:1MB", "a:b:c", "::", ""]
        {
            assert!(Thermal::parse(text).unwrap_err().contains("1GB:60s:300MB"), "{text}");
        }
    }
}
