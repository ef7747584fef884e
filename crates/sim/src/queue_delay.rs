//! The kernel's queue in front of a drive, one of whose settings delays every operation by a time
//! that is known. What a study says of settings can be compared with the truth.

use crate::drive::{Drive, Ends, Ticket, Way};
use crate::kept_back::KeptBack;
use drivelab_core::inside::Inside;
use drivelab_core::op::{DataOp, Op, Time};
use drivelab_core::plan::QueueSetting;
use drivelab_core::units::Span;
use std::collections::BTreeMap;
use std::fmt;

/// One value of one setting, and what it costs each operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueDelay {
    setting: QueueSetting,
    value: String,
    delay_ns: u64,
}

impl QueueDelay {
    /// Understands `scheduler:bfq:30us`.
    ///
    /// # Errors
    /// What is wrong and the way out, in a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let form = || {
            format!(
                "setting_delay={text} is not SETTING:VALUE:TIME; write it as \
                        scheduler:bfq:30us"
            )
        };
        let parts: Vec<&str> = text.split(':').collect();
        let [word, value, delay] = parts.as_slice() else { return Err(form()) };
        let setting = QueueSetting::ALL.into_iter().find(|known| known.word() == *word);
        let setting = setting.ok_or_else(|| {
            let known = QueueSetting::ALL.map(QueueSetting::word);
            format!("setting_delay={text}: `{word}` is not known; known are {}", known.join(", "))
        })?;
        if !setting.simulated().contains(value) {
            let known = setting.simulated().join(", ");
            return Err(format!("setting_delay={text}: {word} is one of {known}"));
        }
        let delay: Span = delay.parse().map_err(|error| format!("{}: {error}", form()))?;
        Ok(QueueDelay { setting, value: (*value).into(), delay_ns: delay.0 })
    }
}

/// A drive behind a queue with such settings.
pub struct Delayed {
    drive: Box<dyn Drive>,
    planted: Vec<QueueDelay>,
    /// Settings in force.
    values: BTreeMap<QueueSetting, String>,
    /// Operations that the queue still keeps.
    kept: KeptBack,
    delay_ns: u64,
}

impl fmt::Debug for Delayed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delayed").field("planted", &self.planted).finish_non_exhaustive()
    }
}

impl Delayed {
    /// `drive` behind a queue that is set as a simulated kernel begins.
    pub fn new(drive: Box<dyn Drive>, planted: Vec<QueueDelay>) -> Self {
        let values = QueueSetting::ALL.map(|it| (it, it.simulated()[0].to_string())).into();
        let kept = KeptBack::default();
        let mut delayed = Delayed { drive, planted, values, kept, delay_ns: 0 };
        delayed.settle();
        delayed
    }

    fn settle(&mut self) {
        let is_on = |it: &&QueueDelay| self.values.get(&it.setting) == Some(&it.value);
        self.delay_ns = self.planted.iter().filter(is_on).map(|it| it.delay_ns).sum();
    }
}

impl Drive for Delayed {
    fn bytes(&self) -> u64 {
        self.drive.bytes()
    }

    fn submit_by(&mut self, now: Time, ticket: Ticket, op: &DataOp, way: Way, ends: &mut Ends) {
        if self.delay_ns == 0 {
            return self.drive.submit_by(now, ticket, op, way, ends);
        }
        self.kept.keep(now + self.delay_ns, ticket, op, way);
    }

    fn next_event(&self) -> Time {
        self.kept.next_event(&*self.drive)
    }

    fn advance(&mut self, now: Time, ends: &mut Ends) {
        self.kept.advance(&mut *self.drive, now, ends);
    }

    fn hint(&mut self, ops: &[Op]) {
        self.drive.hint(ops);
    }

    fn set_queue(&mut self, setting: QueueSetting, value: &str) {
        self.values.insert(setting, value.into());
        self.settle();
    }

    fn purge(&mut self, now: Time) -> bool {
        self.drive.purge(now)
    }

    fn inside(&mut self, now: Time) -> Inside {
        self.drive.inside(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::inside::Cause;

    /// Takes 1000 ns for everything.
    struct Even;

    impl Drive for Even {
        fn bytes(&self) -> u64 {
            1 << 20
        }

        fn submit_by(&mut self, now: Time, ticket: Ticket, _: &DataOp, _: Way, ends: &mut Ends) {
            ends.push(now + 1000, ticket, Cause::Flash);
        }

        fn inside(&mut self, _now: Time) -> Inside {
            Inside::default()
        }
    }

    fn takes(drive: &mut Delayed) -> Time {
        let mut ends = Ends::default();
        drive.submit_by(0, 3, &DataOp::default(), Way::default(), &mut ends);
        while ends.is_empty() {
            let at = drive.next_event();
            drive.advance(at, &mut ends);
        }
        assert_eq!(drive.next_event(), Time::MAX);
        ends.next_at()
    }

    #[test]
    fn only_the_planted_value_delays() {
        let planted = vec![QueueDelay::parse("scheduler:bfq:30us").unwrap()];
        let mut drive = Delayed::new(Box::new(Even), planted);
        assert_eq!(takes(&mut drive), 1000);
        drive.set_queue(QueueSetting::Scheduler, "bfq");
        assert_eq!(takes(&mut drive), 31_000);
        drive.set_queue(QueueSetting::RqAffinity, "2");
        assert_eq!(takes(&mut drive), 31_000);
        drive.set_queue(QueueSetting::Scheduler, "kyber");
        assert_eq!(takes(&mut drive), 1000);
    }

    #[test]
    fn what_is_no_setting_is_refused_with_the_way_out() {
        for (text, says) in [
            ("bfq", "as scheduler:bfq:30us"),
            ("elevator:bfq:1us", "known are scheduler"),
            ("scheduler:cfq:1us", "one of none, mq-deadline"),
            ("scheduler:bfq:soon", "is not SETTING:VALUE:TIME"),
        ] {
            let error = QueueDelay::parse(text).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }
}
