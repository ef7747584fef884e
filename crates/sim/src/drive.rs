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
