//! Every option of mdtest that its documentation has, and what becomes of it here.
//!
//! From its manual page (1.8), and from what 4.0.0 prints of itself.

use crate::option::{self, Opt, ignored, near, refused, same};

const CONTENT: &str = "files hold zeros here, and nothing reads more than their length";
const PER_RANK: &str = "leave it out; the run file has the times of every task";
const COMMAND: &str = "leave it out; nothing is started during a measurement";
const TREE: &str = "with several directories, at least 64 names of a task in each of at most 128, \
                    numbered from 0 in each";
const LEFT: &str = "only together with -C: existing names are not touched";
const WALL: &str = "leave it out, and say how many with -n: all tasks do the same number";

/// Every option of mdtest, with what becomes of it here.
pub const KNOWN: &[Opt] = &[
    same("-a N", "interface: POSIX"),
    near("-b N", "directories in each directory of the tree", TREE),
    refused("-B N", "no barriers between phases", "leave it out: phases are steps here", ""),
    same("-c", "task 0 does all creates and removals"),
    same("-C", "create"),
    near("-d N", "directory; ./out", "one directory, not A@B"),
    near("-D", "directories only", "mdtest 4 renames them too; its row is 0 here"),
    same("-e N", "bytes to read from each file"),
    near("-E", "read", LEFT),
    same("-f N", "first number of tasks"),
    same("-F", "files only"),
    refused("-g", "layout of Lustre", "leave it out; set it on the file system itself", ""),
    ignored("-G N", "offset in the buffer", CONTENT),
    same("-i N", "iterations"),
    same("-I N", "items in each directory of the tree"),
    refused("-k", "create by mknod", "leave it out; files are made by open", ""),
    same("-l N", "last number of tasks"),
    same("-L", "items at the leaves of the tree only"),
    same("-n N", "items of each task"),
    near(
        "-N N",
        "stride between tasks from phase to phase",
        "with -u names are made in a task's own tree",
    ),
    same("-p N", "delay before each iteration in seconds"),
    same("-P", "rates and times"),
    near("-r", "remove", LEFT),
    refused("-R", "random order of stat", "leave it out: names are visited in order here", ""),
    same("-s N", "stride between numbers of tasks"),
    refused("-S", "one file for all tasks", "leave it out: a name is of one task here", ""),
    near("-t", "time of the unique directories", "it counts with the tree only"),
    near("-T", "stat", LEFT),
    same("-u", "a tree of each task's own"),
    near("-v", "more is said", "nothing more is said"),
    near("-V N", "how much is said", "nothing more is said"),
    near("-w N", "bytes to write into each file", "they are zeros"),
    refused("-W N", "seconds until creating stops", WALL, ""),
    refused("-x N", "file with the number of items", WALL, ""),
    refused("-X", "check what is read", "", "use `drivelab ior -W`, which checks data"),
    same("-y", "fsync of each file"),
    refused("-Y", "sync after each phase", "", "use -y, which makes each file durable"),
    near("-z N", "depth of the tree", TREE),
    same("-Z", "times instead of rates"),
    refused("--verify-read", "check what is read", "", "use `drivelab ior -W`, which checks data"),
    refused("--verify-write", "check what is written", "", "use `drivelab ior -W`"),
    refused("--print-all-procs", "results of each task", PER_RANK, ""),
    refused("--showRankStatistics", "results of each task", PER_RANK, ""),
    refused("--saveRankPerformanceDetails N", "results of each task", PER_RANK, ""),
    refused("--allocateBufferOnGPU", "buffer of a GPU", "leave it out", ""),
    refused("--warningAsErrors", "warnings end it", "leave it out; notes are not errors here", ""),
    refused("--run-cmd-before-phase N", "a command before each phase", COMMAND, ""),
    refused("--run-cmd-after-phase N", "a command after each phase", COMMAND, ""),
    refused("--posix.odirect", "direct I/O", "leave it out, or use `drivelab ior`", ""),
    refused("--posix.rangelocks", "locks", "leave it out: nothing is locked here", ""),
    ignored("--random-seed N", "seed of -R", "there is no -R here"),
    ignored("--dataPacketType N", "content of files", CONTENT),
];

/// Every option with how it is treated, as a table in Markdown: what the documentation shows.
pub fn table() -> String {
    option::markdown(KNOWN.iter())
}
