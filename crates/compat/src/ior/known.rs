//! Every option of IOR that its documentation has, and what becomes of it here.
//!
//! From the user guide of 2.10.3, the options page of 3.x and 4.x, and what both programs print of
//! themselves.

use super::settings::Era;

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

/// An option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// The directive, as the documentation spells it.
    pub name: &'static str,
    /// What it is for.
    pub what: &'static str,
    /// Its letter.
    pub letter: Option<char>,
    /// Its long name on the command line of 4.x.
    pub long: Option<&'static str>,
    /// A letter without a value.
    pub is_flag: bool,
    /// Which programs have it.
    pub having: Having,
    /// What becomes of it.
    pub care: Care,
}

impl Known {
    const fn letter(mut self, letter: char) -> Self {
        self.letter = Some(letter);
        self
    }

    const fn long(mut self, long: &'static str) -> Self {
        self.long = Some(long);
        self
    }

    const fn of_old(mut self) -> Self {
        self.having = Having::Old;
        self
    }

    const fn of_new(mut self) -> Self {
        self.having = Having::New;
        self
    }

    const fn but(mut self, differs: &'static str) -> Self {
        self.care = Care::Approximated(differs);
        self
    }

    const fn without_effect(mut self, reason: &'static str) -> Self {
        self.care = Care::Ignored(reason);
        self
    }

    const fn refused(mut self, way: &'static str) -> Self {
        self.care = Care::Refused(way);
        self
    }
}

/// Without a value on the command line.
const fn switch(name: &'static str, what: &'static str) -> Known {
    let (letter, long, having) = (None, None, Having::Both);
    Known { name, what, letter, long, is_flag: true, having, care: Care::Same }
}

/// With one.
const fn value(name: &'static str, what: &'static str) -> Known {
    Known { is_flag: false, ..switch(name, what) }
}

const MPI: &str = "it is about MPI-IO, and IOR itself does without it on POSIX";
const HDF5: &str = "it is about HDF5 only";
const CLUSTER: &str = "leave it out; set it on the file system itself";
const MEMORY: &str =
    "leave it out; use files larger than memory, direct I/O, or a memory limit of a cgroup";
const WEAR_OUT: &str = "leave it out: here a task ends when its time is over";
const STAMPS: &str = "checked are stamps, which files that IOR itself wrote do not have";

/// All of them.
pub const KNOWN: &[Known] = &[
    value("api", "interface: POSIX, others are refused by name").letter('a'),
    value("refNum", "number for the reader").letter('A'),
    value("testnum", "number for the reader").of_old(),
    value("blockSize", "bytes of a task in a segment").letter('b'),
    switch("useO_DIRECT", "past the page cache").letter('B').of_old(),
    switch("posix.odirect", "past the page cache").long("posix.odirect").of_new(),
    switch("collective", "collective I/O").letter('c').long("collective").without_effect(MPI),
    switch("reorderTasksConstant", "reads are shifted by -Q nodes").letter('C'),
    switch("reorderTasks", "the same"),
    value("interTestDelay", "seconds before each write and read").letter('d'),
    value("deadlineForStonewalling", "seconds until tasks stop")
        .letter('D')
        .but("writing and reading in one line is refused: what was not written is not read"),
    switch("fsync", "fsync after writing, in its time").letter('e'),
    switch("useExistingTestFile", "old files are overwritten in place").letter('E'),
    switch("filePerProc", "a file of each task").letter('F'),
    switch("intraTestBarriers", "barriers between open, transfer and close")
        .letter('g')
        .without_effect("tasks start together, and opening and closing are not timed alone"),
    value("setTimeStampSignature", "number in the data").letter('G').but("the content is ours"),
    switch("showHints", "print hints").letter('H').of_old().without_effect(MPI),
    value("repetitions", "repetitions").letter('i'),
    switch("individualDataSets", "data sets of each task")
        .letter('I')
        .of_old()
        .without_effect(HDF5),
    value("outlierThreshold", "warn of tasks so many seconds from the mean")
        .letter('j')
        .without_effect("no warning is printed; the run file has the times of every task"),
    value("setAlignment", "alignment in HDF5").letter('J').of_old().without_effect(HDF5),
    switch("keepFile", "files stay").letter('k'),
    switch("keepFileWithError", "files with wrong data stay")
        .letter('K')
        .but("with -W or -R files stay in any case"),
    switch("storeFileOffset", "offsets of the file in the data")
        .letter('l')
        .of_old()
        .but("the content is ours"),
    value("dataPacketType", "content: offset, timestamp, incompressible, random")
        .letter('l')
        .long("dataPacketType")
        .of_new()
        .but("as compressible as IOR's, but never the same twice"),
    switch("multiFile", "files of their own for each repetition").letter('m'),
    value("memoryPerNode", "take memory away").letter('M').of_new().refused(MEMORY),
    value("memoryPerTask", "take memory away").refused(MEMORY),
    switch("noFill", "no fill in HDF5").letter('n').of_old().refused("leave it out: HDF5 only"),
    value("numTasks", "tasks that take part").letter('N'),
    value("testFile", "file, or A@B for several with -F")
        .letter('o')
        .but("all in one directory; a device or sim:... can stand in its place"),
    switch("preallocate", "preallocate").letter('p').of_old().without_effect(MPI),
    switch("useSharedFilePointer", "one file pointer").letter('P').of_old().without_effect(MPI),
    switch("quitOnError", "stop at wrong data")
        .letter('q')
        .of_old()
        .without_effect("wrong data is counted, listed and an error here"),
    value("taskPerNodeOffset", "nodes by which -C shifts").letter('Q'),
    switch("readFile", "read").letter('r').but("files that were only read stay, also without -k"),
    switch("checkRead", "check what is read").letter('R').but(STAMPS),
    value("segmentCount", "segments").letter('s'),
    switch("useStridedDatatype", "strided types").letter('S').of_old().without_effect(MPI),
    value("transferSize", "bytes of a call").letter('t'),
    value("maxTimeDuration", "minutes after which no repetition begins")
        .letter('T')
        .refused("leave it out, and ask for fewer repetitions; what is planned is done"),
    switch("uniqueDir", "a directory of each task with -F")
        .letter('u')
        .but("only where these directories are there already"),
    value("hintsFileName", "file of hints").letter('U').of_old().without_effect(MPI),
    switch("verbose", "say more").letter('v').but("up to -vv; transfers are not listed"),
    switch("useFileView", "file views").letter('V').of_old().without_effect(MPI),
    switch("writeFile", "write")
        .letter('w')
        .but("a new file has its full size from the start; IOR's grows as it is written"),
    switch("checkWrite", "check what was written").letter('W').but(STAMPS),
    switch("singleXferAttempt", "no second try of a short transfer")
        .letter('x')
        .without_effect("a transfer that comes back short is an error here in any case"),
    value("reorderTasksRandomSeed", "seed of -Z").letter('X').but("of a draw of our own"),
    switch("dualMount", "two mount points").letter('y').of_new().refused("name one directory"),
    switch("fsyncPerWrite", "fsync after each write").letter('Y'),
    switch("randomOffset", "random order")
        .letter('z')
        .but("in one file tasks have equal shares; in 4.x several segments are refused"),
    switch("reorderTasksRandom", "reads of another task's data")
        .letter('Z')
        .but("all tasks go equally far, and none reads its own"),
    value("randomPrefill", "write the file before -z")
        .long("randomPrefill")
        .of_new()
        .refused("leave it out; write the file first, with -k"),
    value("random-offset-seed", "seed of -z")
        .long("random-offset-seed")
        .of_new()
        .but("the order is one of ours"),
    switch("warningAsErrors", "warnings end it")
        .long("warningAsErrors")
        .of_new()
        .refused("leave it out; notes are no errors here"),
    switch("dryRun", "no I/O").long("dryRun").of_new().refused("use --dry-run: it shows the plan"),
    switch("posix.rangelocks", "locks")
        .long("posix.rangelocks")
        .of_new()
        .refused("leave it out: nothing is locked here"),
    value("summaryFormat", "default, JSON, CSV").of_new(),
    value("summaryFile", "file of results").of_new(),
    switch("summaryAlways", "print results of a broken run too")
        .of_new()
        .without_effect("what was measured is printed in any case"),
    value("saveRankPerformanceDetailsCSV", "results of each task")
        .of_new()
        .refused("leave it out; the run file has the times of every task"),
    switch("stoneWallingWearOut", "all tasks reach the same amount").of_new().refused(WEAR_OUT),
    value("stoneWallingWearOutIterations", "the amount").of_new().refused(WEAR_OUT),
    value("stoneWallingStatusFile", "file with the amount").of_new().refused(WEAR_OUT),
    value("minTimeDuration", "begin again until so many seconds are over")
        .of_new()
        .refused("leave it out; use a larger -s"),
    value("lustreStripeCount", "stripes").refused(CLUSTER),
    value("lustreStripeSize", "bytes of a stripe").refused(CLUSTER),
    value("lustreStartOST", "first server").refused(CLUSTER),
    switch("lustreIgnoreLocks", "no range locks").refused(CLUSTER),
    switch("gpfsHintAccess", "hints").of_new().refused(CLUSTER),
    switch("gpfsReleaseToken", "release locks").of_new().refused(CLUSTER),
    switch("hdf5.collectiveMetadata", "collective metadata").of_new().without_effect(HDF5),
];

/// Interfaces to storage that some builds of IOR have, besides POSIX.
pub const OTHER_INTERFACES: [&str; 20] = [
    "MPIIO", "HDF5", "NCMPI", "HDFS", "S3", "S3_EMC", "S3-libs3", "RADOS", "CEPHFS", "MMAP", "AIO",
    "DFS", "DAOS", "IME", "GFARM", "PMDK", "FINCHFS", "CHFS", "LIBNFS", "DUMMY",
];

impl Known {
    /// Whether `era` has the letter with this meaning; letters that 4.x gave up are those of 3.x.
    fn fits(&self, era: Era) -> bool {
        let taken = |other: &&Known| other.letter == self.letter && other.having == Having::New;
        match (self.having, era) {
            (Having::Both, _) | (Having::Old, Era::Old) | (Having::New, Era::New) => true,
            (Having::Old, Era::New) => !KNOWN.iter().any(|other| taken(&other)),
            (Having::New, Era::Old) => false,
        }
    }
}

/// The option of this letter.
pub fn by_letter(letter: char, era: Era) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.letter == Some(letter) && known.fits(era))
}

/// The option of this long name.
pub fn by_long(name: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.long == Some(name))
}

/// The directive of this name; case does not matter.
pub fn by_name(name: &str, era: Era) -> Option<&'static Known> {
    let is_it = |known: &&Known| known.name.eq_ignore_ascii_case(name);
    KNOWN.iter().find(|known| is_it(known) && (known.having != Having::New || era == Era::New))
}

/// The letters of `era` that take no value, and those that do.
pub fn letters(era: Era) -> (String, String) {
    let of = |is_flag: bool| {
        let fitting = KNOWN.iter().filter(|known| known.is_flag == is_flag && known.fits(era));
        fitting.filter_map(|known| known.letter).collect::<String>()
    };
    // Help, directives and scripts are no settings.
    (of(true) + "h", of(false) + "Of")
}

/// The long names of 4.x that take no value, or those that do.
pub fn long_names(is_flag: bool) -> Vec<&'static str> {
    KNOWN.iter().filter(|known| known.is_flag == is_flag).filter_map(|known| known.long).collect()
}

/// Every option with how it is treated, as a table in Markdown: what the documentation shows.
pub fn table() -> String {
    let mut text = String::from("| option | directive | meaning | here | what differs |\n");
    text.push_str("|---|---|---|---|---|\n");
    for known in KNOWN {
        let value = if known.is_flag { "" } else { " N" };
        let letter = known.letter.map(|letter| format!("`-{letter}{value}`"));
        let long = known.long.map(|long| format!("`--{long}{value}`"));
        let typed: Vec<String> = letter.into_iter().chain(long).collect();
        let program = match known.having {
            Having::Both => "",
            Having::Old => " (2.10.3, 3.x)",
            Having::New => " (4.x)",
        };
        let (word, differs) = match known.care {
            Care::Same => ("same", ""),
            Care::Approximated(differs) => ("approximated", differs),
            Care::Ignored(reason) => ("ignored", reason),
            Care::Refused(way) => ("refused", way),
        };
        text += &format!(
            "| {}{program} | {} | {} | {word} | {differs} |\n",
            typed.join(", "),
            known.name,
            known.what
        );
    }
    text
}
