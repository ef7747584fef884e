//! Every section and key of the suite's file, and what becomes of it here.
//!
//! From the file that it prints of itself (`io500 --list`).

use crate::option::{self, Care, Opt, ignored, near, refused, same};

/// What a value must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// TRUE or FALSE.
    Switch,
    /// A whole number from 0 on.
    Count,
    /// A size as IOR has it: `2m`.
    Bytes,
}

/// Where a key stands, and what its value must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Sections that have it, separated by blanks.
    pub sections: &'static str,
    /// What it must be.
    pub kind: Kind,
    /// The value that holds where none is given.
    pub default: &'static str,
}

/// A key.
pub type Key = Opt<Place>;

const fn of(known: Opt, sections: &'static str, kind: Kind, default: &'static str) -> Key {
    let Opt { typed, meaning, care, .. } = known;
    Opt { typed, meaning, care, own: Place { sections, kind, default } }
}

const GLOBAL: &str = "global";
const FIND: &str = "find";
const IOR: &str = "ior-easy ior-hard";
const EASY: &str = "ior-easy";
const PHASES: &str = "ior-easy ior-easy-write ior-easy-read ior-hard ior-hard-write ior-hard-read \
                      mdtest-easy mdtest-easy-write mdtest-easy-stat mdtest-easy-delete \
                      mdtest-hard mdtest-hard-write mdtest-hard-stat mdtest-hard-read \
                      mdtest-hard-delete";
const HARD: &str = "ior-hard ior-hard-write ior-hard-read";

const UTC: &str = "in UTC";
const POSIX: &str = "POSIX alone, for IOR also `POSIX --posix.odirect`";
const DROP: &str = "the data of IOR's files is dropped when it was written; names stay in memory";
const NOTHING_STARTED: &str = "nothing is started during a measurement";
const NO_SCRIPT: &str = "there is no external script";
const OWN_WALK: &str = "directories are divided over the processes, level by level";

/// Every key, with what becomes of it here.
pub const KNOWN: &[Key] = &[
    of(same("datadir", "where data goes"), GLOBAL, Kind::Text, "./datafiles"),
    of(
        near("timestamp-datadir", "a directory of its time in it", UTC),
        GLOBAL,
        Kind::Switch,
        "TRUE",
    ),
    of(same("resultdir", "where results go"), GLOBAL, Kind::Text, "./results"),
    of(
        near("timestamp-resultdir", "a directory of its time in it", UTC),
        GLOBAL,
        Kind::Switch,
        "TRUE",
    ),
    of(
        same("api", "interface").with(Care::InPart("POSIX alone: `POSIX`")),
        GLOBAL,
        Kind::Text,
        "POSIX",
    ),
    of(near("drop-caches", "caches are dropped", DROP), GLOBAL, Kind::Switch, "FALSE"),
    of(ignored("drop-caches-cmd", "command that does", NOTHING_STARTED), GLOBAL, Kind::Text, ""),
    of(
        refused("io-buffers-on-gpu", "buffers of a GPU", "leave it out", ""),
        GLOBAL,
        Kind::Switch,
        "FALSE",
    ),
    of(ignored("verbosity", "how much is said", "nothing more is said"), GLOBAL, Kind::Count, "1"),
    of(same("scc", "30 s are enough"), GLOBAL, Kind::Switch, "FALSE"),
    of(
        near("dataPacketType", "content of files", "of IOR's files alone"),
        GLOBAL,
        Kind::Text,
        "timestamp",
    ),
    of(same("stonewall-time", "seconds of writing"), "debug", Kind::Count, "300"),
    of(
        refused("pause-dir", "pauses between phases", "leave it out: phases follow each other", ""),
        "debug",
        Kind::Text,
        "",
    ),
    of(same("API", "interface of the phase").with(Care::InPart(POSIX)), PHASES, Kind::Text, ""),
    of(same("run", "the phase is run"), PHASES, Kind::Switch, "TRUE"),
    of(same("run", "the phase is run"), FIND, Kind::Switch, "TRUE"),
    of(ignored("verbosity", "how much is said", "nothing more is said"), IOR, Kind::Count, ""),
    of(same("transferSize", "bytes of a transfer"), EASY, Kind::Bytes, "2m"),
    of(same("blockSize", "most bytes of a process"), EASY, Kind::Bytes, "9920000m"),
    of(same("filePerProc", "a file for each process"), EASY, Kind::Switch, "TRUE"),
    of(same("uniqueDir", "a directory for each file"), EASY, Kind::Switch, "FALSE"),
    of(same("segmentCount", "most segments"), "ior-hard", Kind::Count, "10000000"),
    of(
        refused("collective", "collective I/O", "leave it out: POSIX has none", ""),
        HARD,
        Kind::Switch,
        "",
    ),
    of(same("n", "most files of a process"), "mdtest-easy mdtest-hard", Kind::Count, "1000000"),
    of(
        refused("files-per-dir", "files in a directory", "leave it out: it is for debugging", ""),
        "mdtest-hard",
        Kind::Count,
        "",
    ),
    of(
        refused("external-script", "program that finds", "leave it out: drivelab itself finds", ""),
        FIND,
        Kind::Text,
        "",
    ),
    of(ignored("external-mpi-args", "of the script", NO_SCRIPT), FIND, Kind::Text, ""),
    of(ignored("external-extra-args", "of the script", NO_SCRIPT), FIND, Kind::Text, ""),
    of(same("nproc", "processes that find"), FIND, Kind::Count, ""),
    of(ignored("pfind-queue-length", "of pfind", OWN_WALK), FIND, Kind::Count, "10000"),
    of(ignored("pfind-steal-next", "of pfind", OWN_WALK), FIND, Kind::Switch, "FALSE"),
    of(
        ignored("pfind-parallelize-single-dir-access-using-hashing", "of pfind", OWN_WALK),
        FIND,
        Kind::Switch,
        "FALSE",
    ),
];

/// Sections of the extended mode, which is not run: what stands in them asks for nothing.
pub const EXTENDED: [&str; 8] = [
    "find-easy",
    "find-hard",
    "ior-rnd4K-easy-read",
    "mdworkbench",
    "mdworkbench-create",
    "mdworkbench-bench",
    "mdworkbench-delete",
    "timestamp",
];

/// Sections in the order of the suite's file.
pub const SECTIONS: [&str; 18] = [
    "global",
    "debug",
    "ior-easy",
    "ior-easy-write",
    "mdtest-easy",
    "mdtest-easy-write",
    "ior-hard",
    "ior-hard-write",
    "mdtest-hard",
    "mdtest-hard-write",
    "find",
    "ior-easy-read",
    "mdtest-easy-stat",
    "ior-hard-read",
    "mdtest-hard-stat",
    "mdtest-easy-delete",
    "mdtest-hard-read",
    "mdtest-hard-delete",
];

/// The keys of a section.
pub fn keys_of(section: &str) -> impl Iterator<Item = &'static Key> {
    KNOWN.iter().filter(move |key| key.own.sections.split(' ').any(|one| one == section))
}

/// Every key with how it is treated, as a table in Markdown: what the documentation shows.
pub fn table() -> String {
    let shown = |key: &Key| match key.own.sections {
        PHASES => "phases of IOR and mdtest".to_owned(),
        sections => sections.replace(' ', ", "),
    };
    let cells = |key: &Key| {
        let default = match key.own.default {
            "" => String::new(),
            default => format!("`{default}`"),
        };
        vec![option::spelt(key), shown(key), key.meaning.to_owned(), default]
    };
    option::table(
        "| key | section | meaning | default | here | what differs |",
        KNOWN.iter().map(|key| (cells(key), &key.care)),
    )
}
