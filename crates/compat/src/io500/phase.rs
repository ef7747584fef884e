//! The phases in their order, and the lines of IOR and mdtest that they are.

use super::Io500;

/// A phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "they are called as the suite calls them")]
pub enum Phase {
    IorEasyWrite,
    MdtestEasyWrite,
    /// An empty file, by which later files are known.
    Timestamp,
    IorHardWrite,
    MdtestHardWrite,
    Find,
    IorEasyRead,
    MdtestEasyStat,
    IorHardRead,
    MdtestHardStat,
    MdtestEasyDelete,
    MdtestHardRead,
    MdtestHardDelete,
}

/// What a phase counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Nothing.
    None,
    /// Bandwidth in GiB/s.
    Bandwidth,
    /// Operations on names in kIOPS.
    Metadata,
}

impl Phase {
    /// All of them, in the order of the suite.
    pub const ALL: [Phase; 13] = [
        Phase::IorEasyWrite,
        Phase::MdtestEasyWrite,
        Phase::Timestamp,
        Phase::IorHardWrite,
        Phase::MdtestHardWrite,
        Phase::Find,
        Phase::IorEasyRead,
        Phase::MdtestEasyStat,
        Phase::IorHardRead,
        Phase::MdtestHardStat,
        Phase::MdtestEasyDelete,
        Phase::MdtestHardRead,
        Phase::MdtestHardDelete,
    ];

    /// The one at this place; the last one beyond them.
    pub fn at(place: usize) -> Phase {
        Phase::ALL.get(place).copied().unwrap_or(Phase::MdtestHardDelete)
    }

    /// As the suite calls it.
    pub fn name(self) -> &'static str {
        match self {
            Phase::IorEasyWrite => "ior-easy-write",
            Phase::MdtestEasyWrite => "mdtest-easy-write",
            Phase::Timestamp => "timestamp",
            Phase::IorHardWrite => "ior-hard-write",
            Phase::MdtestHardWrite => "mdtest-hard-write",
            Phase::Find => "find",
            Phase::IorEasyRead => "ior-easy-read",
            Phase::MdtestEasyStat => "mdtest-easy-stat",
            Phase::IorHardRead => "ior-hard-read",
            Phase::MdtestHardStat => "mdtest-hard-stat",
            Phase::MdtestEasyDelete => "mdtest-easy-delete",
            Phase::MdtestHardRead => "mdtest-hard-read",
            Phase::MdtestHardDelete => "mdtest-hard-delete",
        }
    }

    /// The section of what it shares with others; empty where it shares nothing.
    pub fn family(self) -> &'static str {
        FAMILIES.into_iter().find(|family| self.name().starts_with(family)).unwrap_or("")
    }

    /// What it counts for.
    pub fn group(self) -> Group {
        match self {
            Phase::Timestamp => Group::None,
            _ if self.name().starts_with("ior") => Group::Bandwidth,
            _ => Group::Metadata,
        }
    }

    /// Whether it writes until its time is over.
    pub fn has_stonewall(self) -> bool {
        self.name().ends_with("-write")
    }

    /// The unit of its result.
    pub fn unit(self) -> &'static str {
        if self.group() == Group::Bandwidth { "GiB/s" } else { "kIOPS" }
    }
}

/// Phases that work on the same files.
pub const FAMILIES: [&str; 4] = ["ior-easy", "ior-hard", "mdtest-easy", "mdtest-hard"];
/// The numbers that the data of each family counts up from.
const EASY: &str = "271";
const HARD: &str = "27";
/// Bytes of a transfer of ior-hard.
const HARD_BYTES: &str = "47008";
/// Bytes of a file of mdtest-hard.
pub const FILE_BYTES: u64 = 3901;

impl Io500 {
    /// The line that a phase is; `None` for those that are no line of IOR or mdtest.
    pub fn line(&self, phase: Phase) -> Option<Vec<String>> {
        let family = phase.family();
        match family {
            "ior-easy" | "ior-hard" => Some(self.ior(phase, family)),
            "mdtest-easy" | "mdtest-hard" => Some(self.mdtest(phase, family)),
            _ => None,
        }
    }

    fn ior(&self, phase: Phase, family: &str) -> Vec<String> {
        let (config, data, results) = (&self.config, &self.data, &self.results);
        let is_easy = family == "ior-easy";
        let mut line = Words::new("ior -C -Q 1 -g -G");
        line.more(if is_easy { EASY } else { HARD });
        line.more("-k -e -o");
        line.one(format!("{data}/{family}/{}", if is_easy { "ior_file_easy" } else { "file" }));
        line.more("-O");
        line.one(format!("stoneWallingStatusFile={results}/{family}.stonewall"));
        line.more("-O");
        line.one(format!("saveRankPerformanceDetailsCSV={results}/{}.csv", phase.name()));
        match is_easy {
            true => {
                let of = |key| config.value("ior-easy", key).to_owned();
                line.two("-t", of("transferSize"));
                line.two("-b", of("blockSize"));
                line.flag(config.is_on("ior-easy", "uniqueDir"), "-u");
                line.flag(config.is_on("ior-easy", "filePerProc"), "-F");
            }
            false => {
                line.two("-t", HARD_BYTES.to_owned());
                line.two("-b", HARD_BYTES.to_owned());
                line.two("-s", config.value("ior-hard", "segmentCount").to_owned());
            }
        }
        let packet = config.value("global", "dataPacketType");
        if packet != "timestamp" {
            line.two("-l", packet.to_owned());
        }
        match phase.has_stonewall() {
            true => {
                line.more("-w -O stoneWallingWearOut=1");
                line.two("-D", config.value("debug", "stonewall-time").to_owned());
            }
            false => line.more("-r -R"),
        }
        line.more("-a POSIX");
        line.flag(config.is_direct(phase), "--posix.odirect");
        line.0
    }

    fn mdtest(&self, phase: Phase, family: &str) -> Vec<String> {
        let (config, data, results) = (&self.config, &self.data, &self.results);
        let is_easy = family == "mdtest-easy";
        let mut line = Words::new("mdtest");
        line.two("-n", config.value(family, "n").to_owned());
        line.more(if is_easy { "-u -L -F -P -G" } else { "-t -F -P -w 3901 -e 3901 -G" });
        line.more(if is_easy { EASY } else { HARD });
        line.more("-N 1");
        line.two("-d", format!("{data}/{family}"));
        line.two("-x", format!("{results}/{family}.stonewall"));
        match phase.name().rsplit('-').next() {
            Some("write") => {
                line.more("-C -Y");
                line.two("-W", config.value("debug", "stonewall-time").to_owned());
            }
            Some("stat") => line.more("-T"),
            Some("read") => line.more("-E -X"),
            _ => line.more("-r"),
        }
        line.more("-a POSIX");
        line.0
    }
}

/// The words of a line; a path is one of them, whatever is in it.
struct Words(Vec<String>);

impl Words {
    fn new(first: &str) -> Self {
        let mut words = Words(Vec::new());
        words.more(first);
        words
    }

    fn more(&mut self, words: &str) {
        self.0.extend(words.split(' ').map(String::from));
    }

    fn one(&mut self, word: String) {
        self.0.push(word);
    }

    fn two(&mut self, name: &str, value: String) {
        self.0.extend([name.to_owned(), value]);
    }

    fn flag(&mut self, is_on: bool, name: &str) {
        if is_on {
            self.0.push(name.to_owned());
        }
    }
}
