//! Every option of IOR that its documentation has, and what becomes of it here.
//!
//! From the user guide of 2.10.3, the options page of 3.x and 4.x, and what both programs print of
//! themselves.

use super::settings::Era;

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

    const fn of(mut self, having: Having) -> Self {
        self.having = having;
        self
    }
}

const fn known(name: &'static str, is_flag: bool, care: Care) -> Known {
    Known { name, letter: None, long: None, is_flag, having: Having::Both, care }
}

/// A switch that is done.
const fn switch(name: &'static str, letter: char) -> Known {
    known(name, true, Care::Done).letter(letter)
}

/// A value that is used.
const fn value(name: &'static str, letter: char) -> Known {
    known(name, false, Care::Done).letter(letter)
}

const MPI: Care = Care::Ignored("it is about MPI-IO, and IOR itself does without it on POSIX");
const HDF5: Care = Care::Ignored("it is about HDF5 only");
const CLUSTER: Care = Care::Refused("leave it out; set it on the file system itself");
const MEMORY: Care = Care::Refused(
    "leave it out; use files larger than memory, direct I/O, or a memory limit of a cgroup",
);
const WEAR_OUT: Care = Care::Refused("leave it out: here a task ends when its time is over");
const PER_RANK: Care = Care::Refused("leave it out; the run file has the times of every task");

/// All of them.
pub const KNOWN: &[Known] = &[
    value("api", 'a'),
    value("refNum", 'A'),
    known("testnum", false, Care::Done).of(Having::Old),
    value("blockSize", 'b'),
    switch("useO_DIRECT", 'B').of(Having::Old),
    known("posix.odirect", true, Care::Done).long("posix.odirect").of(Having::New),
    known("collective", true, MPI).letter('c').long("collective"),
    switch("reorderTasksConstant", 'C'),
    known("reorderTasks", true, Care::Done),
    value("interTestDelay", 'd'),
    value("deadlineForStonewalling", 'D'),
    switch("fsync", 'e'),
    switch("useExistingTestFile", 'E'),
    switch("filePerProc", 'F'),
    known(
        "intraTestBarriers",
        true,
        Care::Ignored("tasks start together, and opening and closing are not timed by themselves"),
    )
    .letter('g'),
    value("setTimeStampSignature", 'G'),
    known("showHints", true, MPI).letter('H').of(Having::Old),
    value("repetitions", 'i'),
    known("individualDataSets", true, HDF5).letter('I').of(Having::Old),
    known(
        "outlierThreshold",
        false,
        Care::Ignored("no warning is printed; the run file has the times of every task"),
    )
    .letter('j'),
    known("setAlignment", false, HDF5).letter('J').of(Having::Old),
    switch("keepFile", 'k'),
    switch("keepFileWithError", 'K'),
    switch("storeFileOffset", 'l').of(Having::Old),
    value("dataPacketType", 'l').long("dataPacketType").of(Having::New),
    switch("multiFile", 'm'),
    known("memoryPerNode", false, MEMORY).letter('M').of(Having::New),
    known("memoryPerTask", false, MEMORY),
    known("noFill", true, Care::Refused("leave it out: it is for HDF5 only"))
        .letter('n')
        .of(Having::Old),
    value("numTasks", 'N'),
    value("testFile", 'o'),
    known("preallocate", true, MPI).letter('p').of(Having::Old),
    known("useSharedFilePointer", true, MPI).letter('P').of(Having::Old),
    known("quitOnError", true, Care::Ignored("wrong data is counted, listed and an error here"))
        .letter('q')
        .of(Having::Old),
    value("taskPerNodeOffset", 'Q'),
    switch("readFile", 'r'),
    switch("checkRead", 'R'),
    value("segmentCount", 's'),
    known("useStridedDatatype", true, MPI).letter('S').of(Having::Old),
    value("transferSize", 't'),
    known(
        "maxTimeDuration",
        false,
        Care::Refused("leave it out, and ask for fewer repetitions; what is planned is done"),
    )
    .letter('T'),
    switch("uniqueDir", 'u'),
    known("hintsFileName", false, MPI).letter('U').of(Having::Old),
    switch("verbose", 'v'),
    known("useFileView", true, MPI).letter('V').of(Having::Old),
    switch("writeFile", 'w'),
    switch("checkWrite", 'W'),
    known(
        "singleXferAttempt",
        true,
        Care::Ignored("a transfer that comes back short is an error here in any case"),
    )
    .letter('x'),
    value("reorderTasksRandomSeed", 'X'),
    known("dualMount", true, Care::Refused("leave it out; name one directory"))
        .letter('y')
        .of(Having::New),
    switch("fsyncPerWrite", 'Y'),
    switch("randomOffset", 'z'),
    switch("reorderTasksRandom", 'Z'),
    known("randomPrefill", false, Care::Refused("leave it out; write the file first, with -k"))
        .long("randomPrefill")
        .of(Having::New),
    known("random-offset-seed", false, Care::Done).long("random-offset-seed").of(Having::New),
    known("warningAsErrors", true, Care::Refused("leave it out; notes are no errors here"))
        .long("warningAsErrors")
        .of(Having::New),
    known("dryRun", true, Care::Refused("use --dry-run, which shows the plan"))
        .long("dryRun")
        .of(Having::New),
    known("posix.rangelocks", true, Care::Refused("leave it out: nothing is locked here"))
        .long("posix.rangelocks")
        .of(Having::New),
    known("summaryFormat", false, Care::Done).of(Having::New),
    known("summaryFile", false, Care::Done).of(Having::New),
    known(
        "summaryAlways",
        true,
        Care::Ignored("what was measured is printed in any case, also of a run that broke off"),
    )
    .of(Having::New),
    known("saveRankPerformanceDetailsCSV", false, PER_RANK).of(Having::New),
    known("stoneWallingWearOut", true, WEAR_OUT).of(Having::New),
    known("stoneWallingWearOutIterations", false, WEAR_OUT).of(Having::New),
    known("stoneWallingStatusFile", false, WEAR_OUT).of(Having::New),
    known("minTimeDuration", false, Care::Refused("leave it out; use a larger -s")).of(Having::New),
    known("lustreStripeCount", false, CLUSTER),
    known("lustreStripeSize", false, CLUSTER),
    known("lustreStartOST", false, CLUSTER),
    known("lustreIgnoreLocks", true, CLUSTER),
    known("gpfsHintAccess", true, CLUSTER).of(Having::New),
    known("gpfsReleaseToken", true, CLUSTER).of(Having::New),
    known("hdf5.collectiveMetadata", true, HDF5).of(Having::New),
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
