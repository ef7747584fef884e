//! Every option of mdtest that its documentation has, and what becomes of it here.
//!
//! From its manual page (1.8), and from what 4.0.0 prints of itself.

/// What becomes of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Care {
    /// It means here what it means there, or nearly; a note says where not.
    Done,
    /// It changes nothing here, for this reason.
    Ignored(&'static str),
    /// It cannot be had: what to do instead.
    Refused(&'static str),
}

/// An option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// The letter, or the long name.
    pub name: &'static str,
    /// It has no value.
    pub is_flag: bool,
    /// What it is for.
    pub what: &'static str,
    /// What becomes of it.
    pub care: Care,
}

const fn flag(name: &'static str, what: &'static str) -> Known {
    Known { name, is_flag: true, what, care: Care::Done }
}

const fn value(name: &'static str, what: &'static str) -> Known {
    Known { name, is_flag: false, what, care: Care::Done }
}

const fn refused(
    name: &'static str,
    is_flag: bool,
    what: &'static str,
    way: &'static str,
) -> Known {
    Known { name, is_flag, what, care: Care::Refused(way) }
}

const fn ignored(
    name: &'static str,
    is_flag: bool,
    what: &'static str,
    why: &'static str,
) -> Known {
    Known { name, is_flag, what, care: Care::Ignored(why) }
}

const CONTENT: &str = "files hold zeros here, and nothing reads more than their length";
const PER_RANK: &str = "leave it out; the run file has the times of every task";
const COMMAND: &str = "leave it out; nothing is started beside a measurement";
const WALL: &str = "leave it out, and say how many with -n: all tasks do the same number";

/// All of them.
pub const KNOWN: &[Known] = &[
    value("a", "interface: POSIX"),
    value("b", "directories in each directory of the tree"),
    refused("B", false, "no barriers between phases", "leave it out: phases are steps here"),
    flag("c", "task 0 does all creates and removals"),
    flag("C", "create"),
    value("d", "directory"),
    flag("D", "directories only"),
    value("e", "bytes to read from each file"),
    flag("E", "read"),
    value("f", "first number of tasks"),
    flag("F", "files only"),
    refused("g", true, "layout of Lustre", "leave it out; set it on the file system itself"),
    ignored("G", false, "offset in the buffer", CONTENT),
    value("i", "iterations"),
    value("I", "items in each directory of the tree"),
    refused("k", true, "create by mknod", "leave it out; files are made by open"),
    value("l", "last number of tasks"),
    flag("L", "items at the leaves of the tree only"),
    value("n", "items of each task"),
    value("N", "stride between tasks from phase to phase"),
    value("p", "delay before each iteration in seconds"),
    flag("P", "rates and times"),
    flag("r", "remove"),
    refused("R", true, "random order of stat", "leave it out: names are visited in order here"),
    value("s", "stride between numbers of tasks"),
    refused("S", true, "one file for all tasks", "leave it out: a name is of one task here"),
    flag("t", "time of the unique directories"),
    flag("T", "stat"),
    flag("u", "a tree of each task's own"),
    flag("v", "more is said"),
    value("V", "how much is said"),
    value("w", "bytes to write into each file"),
    refused("W", false, "seconds until creating stops", WALL),
    refused("x", false, "file with the number of items", WALL),
    refused("X", true, "check what is read", "use `drivelab ior -W`, which checks data"),
    flag("y", "fsync of each file"),
    refused("Y", true, "sync after each phase", "use -y, which makes each file durable"),
    value("z", "depth of the tree"),
    flag("Z", "times instead of rates"),
    refused("verify-read", true, "check what is read", "use `drivelab ior -W`, which checks data"),
    refused("verify-write", true, "check what is written", "use `drivelab ior -W`"),
    refused("print-all-procs", true, "results of each task", PER_RANK),
    refused("showRankStatistics", true, "results of each task", PER_RANK),
    refused("saveRankPerformanceDetails", false, "results of each task", PER_RANK),
    refused("allocateBufferOnGPU", true, "buffer of a GPU", "leave it out"),
    refused("warningAsErrors", true, "warnings end it", "leave it out; notes are no errors here"),
    refused("run-cmd-before-phase", false, "a command before each phase", COMMAND),
    refused("run-cmd-after-phase", false, "a command after each phase", COMMAND),
    refused("posix.odirect", true, "direct I/O", "leave it out, or use `drivelab ior`"),
    refused("posix.rangelocks", true, "locks", "leave it out: nothing is locked here"),
    ignored("random-seed", false, "seed of -R", "there is no -R here"),
    ignored("dataPacketType", false, "content of files", CONTENT),
];

/// The option of this name.
pub fn by_name(name: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.name == name)
}

/// The letters, or the long names, without a value or with one.
pub fn names(is_long: bool, is_flag: bool) -> Vec<&'static str> {
    let fits = |known: &&Known| (known.name.len() > 1) == is_long && known.is_flag == is_flag;
    KNOWN.iter().filter(fits).map(|known| known.name).collect()
}
