//! What every simulated drive is: it takes operations at a virtual time and says when they end.

pub use crate::ends::{End, Ends, Ticket};
use drivelab_core::driver::Setup;
use drivelab_core::inside::Inside;
use drivelab_core::op::{DataOp, Errno, NameOp, Op, Time};
use drivelab_core::plan::QueueSetting;

/// Whether an operation goes through the page cache of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Route {
    /// Past it.
    #[default]
    Direct,
    /// Past it and past the file system, which asks itself.
    Below,
    /// Through it, by a system call.
    Buffered,
    /// Through it, by loads and stores on a mapping.
    Mapped,
}

/// How an operation is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Way {
    /// Past the page cache or through it.
    pub route: Route,
    /// A write must be durable when it ends (FUA, O_DSYNC).
    pub is_durable: bool,
    /// Who asks: each has a read-ahead of its own.
    pub reader: u32,
}

/// A drive in virtual time. Pure: equal operations at equal times give equal ends.
///
/// ```
/// use drivelab_core::op::{Action, DataOp};
/// use drivelab_sim::drive::{Drive, Ends};
/// use drivelab_sim::flash::{FlashDrive, Parameters};
/// use drivelab_sim::profile::{Profile, TomlValue};
///
/// let mut profile = Profile::embedded("textbook")?;
/// profile.set("user_bytes", TomlValue::Integer(64 << 20))?;
/// let parameters: Parameters = profile.section("parameters")?;
/// let mut drive = FlashDrive::new(parameters, 1)?;
/// drive.ftl_mut().fill();
///
/// let mut ends = Ends::default();
/// let read = DataOp { action: Action::Read, offset: 0, len: 4096, ..DataOp::default() };
/// drive.submit(0, 0, &read, &mut ends);
/// let alone = ends.next_at();
/// assert_eq!(ends.pop(alone).expect("it has ended").ticket, 0);
/// assert!(alone >= drive.parameters().read_ns, "a page was read from flash");
/// # Ok::<(), String>(())
/// ```
pub trait Drive {
    /// Bytes a host can address.
    fn bytes(&self) -> u64;

    /// Takes an operation at `now`, which never goes back. Its end goes to `ends`, at once or in a
    /// later [`Drive::advance`].
    fn submit_by(&mut self, now: Time, ticket: Ticket, op: &DataOp, way: Way, ends: &mut Ends);

    /// The same for an operation that goes past every cache of the host.
    #[inline]
    fn submit(&mut self, now: Time, ticket: Ticket, op: &DataOp, ends: &mut Ends) {
        self.submit_by(now, ticket, op, Way::default(), ends);
    }

    /// A worker on names begins, by the number of its way; `false`: there is no file system.
    fn open_names(&mut self, _reader: u32, _setup: &Setup) -> bool {
        false
    }

    /// Takes an operation on a name, of a worker that was opened.
    fn submit_name(&mut self, _: Time, _: Ticket, _: &NameOp, _: Way, _: &mut Ends) {}

    /// Why an operation that has just ended failed.
    #[inline]
    fn failure_of(&mut self, _ticket: Ticket) -> Option<Errno> {
        None
    }

    /// Lets go of the clean pages that the host keeps.
    fn forget_pages(&mut self) {}

    /// What is asked for from here on comes through the file system of the host, or no longer.
    fn mount(&mut self, _is_mounted: bool) {}

    /// The next time at which [`Drive::advance`] has something to do; `Time::MAX`: never.
    fn next_event(&self) -> Time {
        Time::MAX
    }

    /// Brings the drive to `now`.
    fn advance(&mut self, _now: Time, _ends: &mut Ends) {}

    /// Operations that will be submitted soon.
    fn hint(&mut self, _ops: &[Op]) {}

    /// Forgets everything it holds, whatever it makes of TRIM; `false`: it has no such command.
    fn purge(&mut self, _now: Time) -> bool {
        false
    }

    /// The kernel's queue in front of it is set.
    fn set_queue(&mut self, _setting: QueueSetting, _value: &str) {}

    /// It tells `ends` from here on, or no longer, where the time of each operation goes. What
    /// stands around another drive does not hand this on, and then counts as one stage.
    fn watch_stages(&mut self, _is_watched: bool) {}

    /// What went on inside since the drive was made, and how full it is at `now`.
    fn inside(&mut self, now: Time) -> Inside;
}

impl Drive for Box<dyn Drive> {
    fn bytes(&self) -> u64 {
        (**self).bytes()
    }

    fn submit_by(&mut self, now: Time, ticket: Ticket, op: &DataOp, way: Way, ends: &mut Ends) {
        (**self).submit_by(now, ticket, op, way, ends);
    }

    fn submit(&mut self, now: Time, ticket: Ticket, op: &DataOp, ends: &mut Ends) {
        (**self).submit(now, ticket, op, ends);
    }

    fn open_names(&mut self, reader: u32, setup: &Setup) -> bool {
        (**self).open_names(reader, setup)
    }

    fn submit_name(&mut self, now: Time, ticket: Ticket, op: &NameOp, way: Way, ends: &mut Ends) {
        (**self).submit_name(now, ticket, op, way, ends);
    }

    fn failure_of(&mut self, ticket: Ticket) -> Option<Errno> {
        (**self).failure_of(ticket)
    }

    fn forget_pages(&mut self) {
        (**self).forget_pages();
    }

    fn mount(&mut self, is_mounted: bool) {
        (**self).mount(is_mounted);
    }

    fn next_event(&self) -> Time {
        (**self).next_event()
    }

    fn advance(&mut self, now: Time, ends: &mut Ends) {
        (**self).advance(now, ends);
    }

    fn hint(&mut self, ops: &[Op]) {
        (**self).hint(ops);
    }

    fn purge(&mut self, now: Time) -> bool {
        (**self).purge(now)
    }

    fn set_queue(&mut self, setting: QueueSetting, value: &str) {
        (**self).set_queue(setting, value);
    }

    fn watch_stages(&mut self, is_watched: bool) {
        (**self).watch_stages(is_watched);
    }

    fn inside(&mut self, now: Time) -> Inside {
        (**self).inside(now)
    }
}

/// What a drive around another one hands on as it is: it asks for a field `drive`.
macro_rules! handed_on {
    () => {
        fn forget_pages(&mut self) {
            self.drive.forget_pages();
        }

        fn hint(&mut self, ops: &[drivelab_core::op::Op]) {
            self.drive.hint(ops);
        }

        fn set_queue(&mut self, setting: drivelab_core::plan::QueueSetting, value: &str) {
            self.drive.set_queue(setting, value);
        }
    };
}
pub(crate) use handed_on;

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    /// Notes what it is asked.
    struct Probe(Rc<RefCell<Vec<&'static str>>>);

    impl Probe {
        fn note(&self, name: &'static str) {
            self.0.borrow_mut().push(name);
        }
    }

    impl Drive for Probe {
        fn bytes(&self) -> u64 {
            self.note("bytes");
            7
        }
        fn submit_by(&mut self, _: Time, _: Ticket, _: &DataOp, _: Way, _: &mut Ends) {
            self.note("submit_by");
        }
        fn submit(&mut self, _: Time, _: Ticket, _: &DataOp, _: &mut Ends) {
            self.note("submit");
        }
        fn open_names(&mut self, _: u32, _: &Setup) -> bool {
            self.note("open_names");
            true
        }
        fn submit_name(&mut self, _: Time, _: Ticket, _: &NameOp, _: Way, _: &mut Ends) {
            self.note("submit_name");
        }
        fn failure_of(&mut self, _: Ticket) -> Option<Errno> {
            self.note("failure_of");
            None
        }
        fn forget_pages(&mut self) {
            self.note("forget_pages");
        }
        fn mount(&mut self, _: bool) {
            self.note("mount");
        }
        fn next_event(&self) -> Time {
            self.note("next_event");
            7
        }
        fn advance(&mut self, _: Time, _: &mut Ends) {
            self.note("advance");
        }
        fn hint(&mut self, _: &[Op]) {
            self.note("hint");
        }
        fn purge(&mut self, _: Time) -> bool {
            self.note("purge");
            true
        }
        fn set_queue(&mut self, _: QueueSetting, _: &str) {
            self.note("set_queue");
        }
        fn watch_stages(&mut self, _: bool) {
            self.note("watch_stages");
        }
        fn inside(&mut self, _: Time) -> Inside {
            self.note("inside");
            Inside::default()
        }
    }

    /// All that a drive can be asked, but for a worker on names: the tests of names need that.
    fn asked(mut drive: impl Drive) {
        let (mut ends, way) = (Ends::default(), Way::default());
        assert_eq!((drive.bytes(), drive.next_event()), (7, 7));
        drive.submit_by(0, 0, &DataOp::default(), way, &mut ends);
        drive.submit(0, 0, &DataOp::default(), &mut ends);
        drive.submit_name(0, 0, &NameOp::default(), way, &mut ends);
        drive.failure_of(0);
        drive.forget_pages();
        drive.mount(true);
        drive.advance(0, &mut ends);
        drive.hint(&[]);
        assert!(drive.purge(0));
        drive.set_queue(QueueSetting::Scheduler, "none");
        drive.watch_stages(true);
        drive.inside(0);
    }

    #[test]
    fn a_drive_behind_a_table_is_asked_the_same() {
        let [plain, boxed] = [false, true].map(|is_boxed| {
            let notes = Rc::default();
            let probe = Probe(Rc::clone(&notes));
            match is_boxed {
                true => asked(Box::new(probe) as Box<dyn Drive>),
                false => asked(probe),
            }
            notes.take()
        });
        assert_eq!(plain.len(), 14, "{plain:?}");
        assert_eq!(boxed, plain);
    }
}
