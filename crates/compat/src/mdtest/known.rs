//! Every option of mdtest that its documentation has, and what becomes of it here.
//!
//! From its manual page (1.8), and from what 4.0.0 prints of itself.

/// What becomes of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Care {
    /// It means here what it means there.
    Same,
    /// Nearly: what differs.
    Approximated(&'static str),
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
    Known { name, is_flag: true, what, care: Care::Same }
}

const fn value(name: &'static str, what: &'static str) -> Known {
    Known { name, is_flag: false, what, care: Care::Same }
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

const fn but(known: Known, differs: &'static str) -> Known {
    Known { care: Care::Approximated(differs), ..known }
}

const CONTENT: &str = "files hold zeros here, and nothing reads more than their length";
const PER_RANK: &str = "leave it out; the run file has the times of every task";
const COMMAND: &str = "leave it out; nothing is started beside a measurement";
const TREE: &str = "with several directories, at least 64 names of a task in each of at most 128, \
                    numbered from 0 in each";
const LEFT: &str = "only together with -C: names that are there already are not touched";
const WALL: &str = "leave it out, and say how many with -n: all tasks do the same number";

/// All of them.
pub const KNOWN: &[Known] = &[
    value("a", "interface: POSIX"),
    but(value("b", "directories in each directory of the tree"), TREE),
    refused("B", false, "no barriers between phases", "leave it out: phases are steps here"),
    flag("c", "task 0 does all creates and removals"),
    flag("C", "create"),
    but(value("d", "directory; ./out"), "one directory, not A@B"),
    but(flag("D", "directories only"), "mdtest 4 renames them too; its row is 0 here"),
    value("e", "bytes to read from each file"),
    but(flag("E", "read"), LEFT),
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
    but(
        value("N", "stride between tasks from phase to phase"),
        "with -u names are made in a task's own tree",
    ),
    value("p", "delay before each iteration in seconds"),
    flag("P", "rates and times"),
    but(flag("r", "remove"), LEFT),
    refused("R", true, "random order of stat", "leave it out: names are visited in order here"),
    value("s", "stride between numbers of tasks"),
    refused("S", true, "one file for all tasks", "leave it out: a name is of one task here"),
    but(flag("t", "time of the unique directories"), "it counts with the tree only"),
    but(flag("T", "stat"), LEFT),
    flag("u", "a tree of each task's own"),
    but(flag("v", "more is said"), "nothing more is said"),
    but(value("V", "how much is said"), "nothing more is said"),
    but(value("w", "bytes to write into each file"), "they are zeros"),
    refused("W", false, "seconds until creating stops", WALL),
    refused("x", false, "file with the number of items", WALL),
    refused("X", true, "check what is read", "use `drivelab ior -W`, which checks data"),
    flag("y", "fsync of each file"),
    refused("Y", true, "sync after each phase", "use -y, which makes each file durable"),
    but(value("z", "depth of the tree"), TREE),
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

/// Every option with how it is treated, as a table in Markdown: what the documentation shows.
pub fn table() -> String {
    let mut text = String::from("| option | meaning | here | what differs |\n|---|---|---|---|\n");
    for known in KNOWN {
        let dashes = if known.name.len() > 1 { "--" } else { "-" };
        let value = if known.is_flag { "" } else { " N" };
        let (word, differs) = match known.care {
            Care::Same => ("same", ""),
            Care::Approximated(differs) => ("approximated", differs),
            Care::Ignored(reason) => ("ignored", reason),
            Care::Refused(way) => ("refused", way),
        };
        let typed = format!("`{dashes}{}{value}`", known.name);
        text += &format!("| {typed} | {} | {word} | {differs} |\n", known.what);
    }
    text
}
