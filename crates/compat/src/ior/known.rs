//! Every option of IOR that its documentation has, and what becomes of it here.
//!
//! From the user guide of 2.10.3, the options page of 3.x and 4.x, and what both programs print of
//! themselves.

use super::settings::Era;
use crate::option::{Care, Opt, spelt, table as table_of};

/// Which programs have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Having {
    /// `IOR` 2.10.3 and `ior` 4.x.
    Both,
    /// 2.10.3; 3.x in part.
    Old,
    /// 4.x only.
    New,
}

/// What only IOR has of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Directive {
    /// Its name in scripts, as the documentation spells it.
    pub name: &'static str,
    /// Which programs have it.
    pub having: Having,
}

/// An option; of the command line too where it can be typed there.
pub type Known = Opt<Directive>;

const fn option(typed: &'static str, name: &'static str, meaning: &'static str) -> Known {
    Opt { typed, meaning, care: Care::Same, own: Directive { name, having: Having::Both } }
}

impl Known {
    const fn of(self, having: Having) -> Self {
        Opt { own: Directive { name: self.own.name, having }, ..self }
    }

    const fn of_old(self) -> Self {
        self.of(Having::Old)
    }

    const fn of_new(self) -> Self {
        self.of(Having::New)
    }

    const fn near(self, differs: &'static str) -> Self {
        self.with(Care::Near(differs))
    }

    const fn ignored(self, why: &'static str) -> Self {
        self.with(Care::Ignored(why))
    }

    const fn no(self, why: &'static str) -> Self {
        self.with(Care::no(why))
    }

    const fn instead(self, way: &'static str) -> Self {
        self.with(Care::instead(way))
    }
}

const MPI: &str = "it is about MPI-IO, and IOR itself does without it on POSIX";
const HDF5: &str = "it is about HDF5 only";
const CLUSTER: &str = "leave it out; set it on the file system itself";
const MEMORY: &str =
    "leave it out; use files larger than memory, direct I/O, or a memory limit of a cgroup";
const WEAR_OUT: &str = "leave it out; name a status file, which holds the amount";
const STAMPS: &str = "of 4.x with -l timestamp what is in the data, IOR's own files too; else \
                      stamps, which files that IOR itself wrote do not have";

/// Every option of IOR, with what becomes of it here.
pub const KNOWN: &[Known] = &[
    option(
        "-a N",
        "api",
        "interface: POSIX, and MMAP and DUMMY of 4.x; others are refused by name",
    ),
    option("-A N", "refNum", "number for the reader"),
    option("", "testnum", "number for the reader").of_old(),
    option("-b N", "blockSize", "bytes of a task in a segment"),
    option("-B", "useO_DIRECT", "bypassing the page cache").of_old(),
    option("--posix.odirect", "posix.odirect", "bypassing the page cache").of_new(),
    option("-c, --collective", "collective", "collective I/O").ignored(MPI),
    option("-C", "reorderTasksConstant", "reads are shifted by -Q nodes"),
    option("", "reorderTasks", "the same"),
    option("-d N", "interTestDelay", "whole seconds before each write and read"),
    option("-D N", "deadlineForStonewalling", "seconds until tasks stop")
        .near("writing and reading in one line is refused: what was not written is not read"),
    option("-e", "fsync", "fsync after writing, in its time"),
    option("-E", "useExistingTestFile", "old files are overwritten in place"),
    option("-F", "filePerProc", "a file of each task"),
    option("-g", "intraTestBarriers", "barriers between open, transfer and close")
        .ignored("tasks start together, and opening and closing are not timed alone"),
    option("-G N", "setTimeStampSignature", "number in the data")
        .near("as in 4.x with -l timestamp; in 2.10.3 the content is ours"),
    option("-H", "showHints", "print hints").of_old().ignored(MPI),
    option("-i N", "repetitions", "repetitions"),
    option("-I", "individualDataSets", "data sets of each task").of_old().ignored(HDF5),
    option("-j N", "outlierThreshold", "warn of tasks that many seconds from the mean")
        .ignored("no warning is printed; the run file has the times of every task"),
    option("-J N", "setAlignment", "alignment in HDF5").of_old().ignored(HDF5),
    option(
        "-k",
        "keepFile",
        "files stay; without it, files that an earlier line kept are removed too",
    ),
    option("-K", "keepFileWithError", "files with wrong data stay")
        .near("with -W or -R files stay in any case"),
    option("-l", "storeFileOffset", "offsets of the file in the data")
        .of_old()
        .near("the content is ours"),
    option(
        "-l N, --dataPacketType N",
        "dataPacketType",
        "content: offset, timestamp, incompressible, random",
    )
    .of_new()
    .near("timestamp: IOR's own; the others as compressible as IOR's, but never the same twice"),
    option("-m", "multiFile", "files of their own for each repetition"),
    option("-M N", "memoryPerNode", "take memory away").of_new().no(MEMORY),
    option("", "memoryPerTask", "take memory away").no(MEMORY),
    option("-n", "noFill", "no fill in HDF5").of_old().no("leave it out: HDF5 only"),
    option("-N N", "numTasks", "tasks that take part"),
    option("-o N", "testFile", "file, or A@B for several with -F")
        .near("all in one directory; a device or sim:... can stand in its place"),
    option("-p", "preallocate", "preallocate").of_old().ignored(MPI),
    option("-P", "useSharedFilePointer", "one file pointer").of_old().ignored(MPI),
    option("-q", "quitOnError", "stop at wrong data")
        .of_old()
        .ignored("wrong data is counted, listed and an error here"),
    option("-Q N", "taskPerNodeOffset", "nodes by which -C shifts"),
    option("-r", "readFile", "read").near("files that were only read stay, also without -k"),
    option("-R", "checkRead", "check what is read").near(STAMPS),
    option("-s N", "segmentCount", "segments"),
    option("-S", "useStridedDatatype", "strided types").of_old().ignored(MPI),
    option("-t N", "transferSize", "bytes of a call"),
    option("-T N", "maxTimeDuration", "minutes after which no repetition begins")
        .no("leave it out, and ask for fewer repetitions; what is planned is done"),
    option("-u", "uniqueDir", "a directory of each task with -F")
        .near("only where these directories exist already"),
    option("-U N", "hintsFileName", "file of hints").of_old().ignored(MPI),
    option("-v", "verbose", "say more").near("up to -vv; transfers are not listed"),
    option("-V", "useFileView", "file views").of_old().ignored(MPI),
    option("-w", "writeFile", "write")
        .near("with -E a file that is too short gets its full size at once"),
    option("-W", "checkWrite", "check what was written").near(STAMPS),
    option("-x", "singleXferAttempt", "no second try of a short transfer")
        .ignored("a transfer that comes back short is an error here in any case"),
    option("-X N", "reorderTasksRandomSeed", "seed of -Z").near("of a draw of our own"),
    option("-y", "dualMount", "two mount points").of_new().instead("name one directory"),
    option("-Y", "fsyncPerWrite", "fsync after each write"),
    option("-z", "randomOffset", "random order").near(
        "in one file tasks have equal shares, and each segment an order of its own; -z -z of \
               4.x for reading alone",
    ),
    option("-Z", "reorderTasksRandom", "reads of another task's data")
        .near("all tasks go equally far, and none reads its own"),
    option("--randomPrefill N", "randomPrefill", "write the file before -z")
        .of_new()
        .no("leave it out; write the file first, with -k"),
    option("--random-offset-seed N", "random-offset-seed", "seed of -z")
        .of_new()
        .near("the order is one of ours"),
    option("--warningAsErrors", "warningAsErrors", "warnings end it")
        .of_new()
        .no("leave it out; notes are not errors here"),
    option("--dryRun", "dryRun", "no I/O").of_new().instead("use --dry-run: it shows the plan"),
    option("--dummy.delay-create N", "dummy.delay-create", "microseconds of a create of DUMMY")
        .of_new(),
    option("--dummy.delay-xfer N", "dummy.delay-xfer", "microseconds of a transfer of DUMMY")
        .of_new(),
    option("--dummy.delay-close N", "dummy.delay-close", "microseconds of a close of DUMMY")
        .of_new()
        .no("leave it out: closing is not timed alone here"),
    option("--dummy.delay-sync N", "dummy.delay-sync", "microseconds of a sync of DUMMY")
        .of_new()
        .no("leave it out: ior itself does no sync that it would delay"),
    option("--dummy.delay-only-rank0", "dummy.delay-only-rank0", "delays of task 0 alone")
        .of_new()
        .no("leave it out: all tasks wait here"),
    option("--posix.rangelocks", "posix.rangelocks", "locks")
        .of_new()
        .no("leave it out: nothing is locked here"),
    option("", "summaryFormat", "default, JSON, CSV").of_new(),
    option("", "summaryFile", "file of results").of_new(),
    option("", "summaryAlways", "print results of a broken run too")
        .of_new()
        .ignored("what was measured is printed in any case"),
    option("", "saveRankPerformanceDetailsCSV", "results of each task")
        .of_new()
        .near("opening and closing are not in it; a file that another program wrote is kept"),
    option("", "stoneWallingWearOut", "after -D all tasks go on to what the fastest has done")
        .of_new(),
    option("", "stoneWallingWearOutIterations", "the amount").of_new().no(WEAR_OUT),
    option("", "stoneWallingStatusFile", "file with the amount: written, or read for reading")
        .of_new()
        .near("reading and writing in one line is refused; -z too"),
    option("", "minTimeDuration", "begin again until that many seconds have passed")
        .of_new()
        .no("leave it out; use a larger -s"),
    option("", "lustreStripeCount", "stripes").no(CLUSTER),
    option("", "lustreStripeSize", "bytes of a stripe").no(CLUSTER),
    option("", "lustreStartOST", "first server").no(CLUSTER),
    option("", "lustreIgnoreLocks", "no range locks").no(CLUSTER),
    option("", "gpfsHintAccess", "hints").of_new().no(CLUSTER),
    option("", "gpfsReleaseToken", "release locks").of_new().no(CLUSTER),
    option("", "hdf5.collectiveMetadata", "collective metadata").of_new().ignored(HDF5),
];

/// Interfaces to storage that some builds of IOR have, besides POSIX.
pub const OTHER_INTERFACES: [&str; 20] = [
    "MPIIO", "HDF5", "NCMPI", "HDFS", "S3", "S3_EMC", "S3-libs3", "RADOS", "CEPHFS", "MMAP", "AIO",
    "DFS", "DAOS", "IME", "GFARM", "PMDK", "FINCHFS", "CHFS", "LIBNFS", "DUMMY",
];

impl Known {
    /// Its letter on the command line, with the dash.
    pub fn letter(&self) -> Option<&'static str> {
        self.names().find(|name| !name.starts_with("--"))
    }

    /// Whether `era` has the letter with this meaning; letters that 4.x gave up are those of 3.x.
    fn fits(&self, era: Era) -> bool {
        let taken =
            |other: &Known| other.letter() == self.letter() && other.own.having == Having::New;
        match (self.own.having, era) {
            (Having::Both, _) | (Having::Old, Era::Old) | (Having::New, Era::New) => true,
            (Having::Old, Era::New) => !KNOWN.iter().any(taken),
            (Having::New, Era::Old) => false,
        }
    }

    /// How it is typed on the command line of `era`.
    pub fn typed_in(&self, era: Era) -> impl Iterator<Item = &'static str> + use<> {
        let is_had = self.fits(era);
        let has_long = era == Era::New;
        self.spellings().filter(move |typed| is_had && (has_long || !typed.starts_with("--")))
    }
}

/// The option of the command line that has this name, dashes included.
pub fn by_typed(wanted: &str, era: Era) -> Option<&'static Known> {
    let is_it = |known: &&Known| known.fits(era) && known.names().any(|name| name == wanted);
    KNOWN.iter().find(is_it)
}

/// The directive of this name; case does not matter.
pub fn by_name(name: &str, era: Era) -> Option<&'static Known> {
    let is_it = |known: &&Known| known.own.name.eq_ignore_ascii_case(name);
    KNOWN.iter().find(|known| is_it(known) && (known.own.having != Having::New || era == Era::New))
}

/// Every option with how it is treated, as a table in Markdown: what the documentation shows.
pub fn table() -> String {
    let cells = |known: &Known| {
        let program = match known.own.having {
            Having::Both => "",
            Having::Old => " (2.10.3, 3.x)",
            Having::New => " (4.x)",
        };
        vec![spelt(known) + program, known.own.name.to_owned(), known.meaning.to_owned()]
    };
    let head = "| option | directive | meaning | here | what differs |";
    table_of(head, KNOWN.iter().map(|known| (cells(known), &known.care)))
}
