//! A line of iostat, understood.

/// Whose layout the reports have. Ours: no iostat has an option for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Era {
    /// sysstat 9, as in RHEL 6.
    Nine,
    /// sysstat 10, as in RHEL 7.
    Ten,
    /// sysstat 12.6.
    #[default]
    Twelve,
}

/// In what amounts of data are told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Unit {
    /// Blocks of 512 bytes.
    Blocks,
    /// kB of 1024 bytes.
    #[default]
    Kilobytes,
    /// MB of 1 048 576 bytes.
    Megabytes,
}

/// How dates are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Dates {
    /// `11/22/26`, as in the C locale.
    #[default]
    C,
    /// `11/22/2026` and `06:03:52 AM`.
    American,
    /// `2026-11-22`.
    Iso,
}

/// Which devices are told of where no group is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Shown {
    /// Those that were ever used.
    #[default]
    Used,
    /// All (`ALL`).
    All,
    /// These.
    Named(Vec<String>),
}

/// Which devices are told of with their partitions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Partitions {
    /// No device is listed with its partitions.
    #[default]
    None,
    /// Those of these (`-p DEVICE[,...]`).
    Of(Vec<String>),
    /// Those of all devices that were ever used (`-p`).
    OfUsed,
    /// Those of all devices (`-p ALL`).
    OfAll,
}

/// Devices that are summed up (`-g`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Group {
    /// What the sum is called.
    pub name: String,
    /// Its devices; `ALL` is every device, and none are those that were ever used.
    pub members: Vec<String>,
}

/// What to report, and how often.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// Whose layout.
    pub era: Era,
    /// The block of the processors.
    pub cpu: bool,
    /// The block of the devices.
    pub devices: bool,
    /// `-x`.
    pub extended: bool,
    /// `-s`.
    pub short: bool,
    /// `-k`, `-m`, or the environment.
    pub unit: Unit,
    /// Sizes with letters (`--human`, `-h`).
    pub human: bool,
    /// Names at the end, one block for each kind of request (`--pretty`, `-h`).
    pub pretty: bool,
    /// One block all the same (`--compact`).
    pub compact: bool,
    /// Decimals, 0 to 2.
    pub decimals: usize,
    /// A line with the time (`-t`).
    pub time: bool,
    /// No report since the start of the kernel (`-y`).
    pub omits_first: bool,
    /// No devices without requests in the interval (`-z`).
    pub active_only: bool,
    /// Names of the device mapper (`-N`).
    pub mapped_names: bool,
    /// JSON (`-o JSON`).
    pub json: bool,
    /// Which devices.
    pub shown: Shown,
    /// Which with their partitions.
    pub partitions: Partitions,
    /// Sums.
    pub groups: Vec<Group>,
    /// Only the sums (`-H`).
    pub groups_only: bool,
    /// How dates are written.
    pub dates: Dates,
    /// Seconds between reports; absent: one report alone.
    pub interval_s: Option<u64>,
    /// Reports; absent with an interval: until interrupted.
    pub count: Option<u64>,
}

impl Options {
    /// Whether the first sample is only what the next is compared with: with `-y`, where there is
    /// an interval.
    pub fn skips_first(&self) -> bool {
        self.omits_first && self.interval_s.is_some()
    }
}
