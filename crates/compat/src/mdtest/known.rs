//! Every option of mdtest that its documentation has, and what becomes of it here.
//!
//! From its manual page (1.8), and from what 4.0.0 prints of itself.

use crate::option::{self, Opt, ignored, near, refused, same};

const CONTENT: &str = "files hold numbers that count up from -G, as mdtest's do without it";
const PER_RANK: &str = "leave it out; the run file has the times of every task";
const COMMAND: &str = "leave it out; nothing is started during a measurement";
const TREE: &str = "at most 128 directories with items; all tasks go to the next one together, and \
                    the time between is left out";
const LEFT: &str = "without -C on names of an earlier line, of drivelab's own";
const WALL: &str = "in a line with -C alone, and in one directory with items";
const STATUS: &str = "a file that another program wrote is not replaced";

/// Every option of mdtest, with what becomes of it here.
pub const KNOWN: &[Opt] = &[
    same("-a N", "interface: POSIX, or DUMMY without I/O"),
    near("-b N", "directories in each directory of the tree", TREE),
    refused("-B N", "no barriers between phases", "leave it out: phases are steps here", ""),
    same("-c", "task 0 does all creates and removals"),
    same("-C", "create"),
    near("-d N", "directory; ./out", "one directory, not A@B"),
    near("-D", "directories only", "mdtest 4 renames them too; its row is 0 here"),
    same("-e N", "bytes to read from each file"),
    near("-E", "read", "without -C on names that are there"),
    same("-f N", "first number of tasks"),
    same("-F", "files only"),
    refused("-g", "layout of Lustre", "leave it out; set it on the file system itself", ""),
    near("-G N", "number in the data", "without it IOR takes the time, and drivelab 0"),
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
    near("-T", "stat", "without -C on names that are there"),
    same("-u", "a tree of each task's own"),
    near("-v", "more is said", "nothing more is said"),
    near("-V N", "how much is said", "nothing more is said"),
    same("-w N", "bytes to write into each file"),
    near("-W N", "seconds until creating stops; all go on to what the fastest made", WALL),
    near("-x N", "file with the number of items: written with -W, read without -C", STATUS),
    near("-X", "check what is read", "needs -G and -e; wrong data ends the run"),
    same("-y", "fsync of each file"),
    near("-Y", "sync after each phase, in its time", "of the file system of -d alone"),
    near("-z N", "depth of the tree", TREE),
    same("-Z", "times instead of rates"),
    near("--verify-read", "check what is read", "as -X"),
    refused("--verify-write", "check what is written", "", "use `drivelab ior -W`"),
    refused("--print-all-procs", "results of each task", PER_RANK, ""),
    refused("--showRankStatistics", "results of each task", PER_RANK, ""),
    near("--saveRankPerformanceDetails N", "file with the results of each task", STATUS),
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
