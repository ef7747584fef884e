//! What a command line of IOzone says, option by option, before it is judged as a whole.

use super::number::{integer, is_plain, is_plain_size, kilobytes};
use super::words::{Word, Words, processes};
use super::{USAGE, catalogue, notes};
use crate::front::{Host, Note, Refusal};
use crate::option::Care;
use std::collections::BTreeSet;

/// Tests that IOzone builds for Linux have.
const TESTS: [i64; 11] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const NO_SUCH_TEST: &str = "Selected test not available on the version.";
/// kB of a file and of a record where nothing is said.
pub(super) const FILE_KB: u64 = 512;
pub(super) const RECORD_KB: u64 = 4;
/// Records of a stride where nothing is said.
const STRIDE: u64 = 17;

/// In which unit values are printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Unit {
    /// kB (of 1024 bytes) a second.
    #[default]
    KilobytesPerSecond,
    /// Operations a second.
    OperationsPerSecond,
    /// Microseconds an operation.
    MicrosecondsPerOperation,
}

/// How writes are made durable one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Durable {
    /// O_SYNC (`-o`, `-+r`).
    Synchronous,
    /// O_DSYNC (`-+D`).
    DataSynchronous,
}

/// What a line says.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Line {
    pub(super) printed: Vec<String>,
    pub(super) splash: Vec<String>,
    pub(super) notes: Vec<Note>,
    pub(super) operations: bool,
    pub(super) microseconds: bool,
    pub(super) report: bool,
    pub(super) sheet: Option<String>,
    pub(super) tests: BTreeSet<u32>,
    pub(super) names_tests: bool,
    pub(super) no_retest: bool,
    pub(super) flush: bool,
    pub(super) close: bool,
    pub(super) direct: bool,
    pub(super) durable: Option<Durable>,
    pub(super) mapped: bool,
    pub(super) sync_mapping: bool,
    pub(super) stride: u64,
    pub(super) names_stride: bool,
    pub(super) file: Option<String>,
    pub(super) files: Vec<String>,
    pub(super) keep: bool,
    pub(super) processes: Option<u32>,
    pub(super) lower: Option<u32>,
    pub(super) upper: Option<u32>,
    pub(super) threads: bool,
    pub(super) no_stonewall: bool,
    pub(super) children: bool,
    pub(super) extended: bool,
    pub(super) auto: bool,
    pub(super) auto_dense: bool,
    pub(super) all_records: bool,
    pub(super) sizes_kb: Vec<u64>,
    pub(super) records_kb: Vec<u64>,
    pub(super) smallest_file_kb: Option<u64>,
    pub(super) largest_file_kb: Option<u64>,
    pub(super) smallest_record_kb: Option<u64>,
    pub(super) largest_record_kb: Option<u64>,
    pub(super) factor: u64,
    pub(super) remount: Option<String>,
    pub(super) think_ms: u64,
    pub(super) verify: bool,
    pub(super) first_cpu: Option<u32>,
    /// CPUs of the machine; 0 where that is not known.
    pub(super) host_cpus: u32,
    pub(super) cache_kb: u64,
    pub(super) cache_line_bytes: u64,
    pub(super) pause_s: u64,
    pub(super) read_percent: Option<u32>,
    pub(super) mix_in_order: bool,
    pub(super) one_file: bool,
    pub(super) size_of_all: bool,
    pub(super) over_old_blocks: bool,
    pub(super) reads_foreign: bool,
    /// `-h` or `-v` came first.
    pub(super) asks: Option<char>,
}

/// Reads the options of a line in their order.
///
/// # Errors
/// An option that is not supported, by name.
pub(super) fn read(words: Words, host: &Host) -> Result<Line, Refusal> {
    let mut line = Line {
        printed: words.printed,
        stride: STRIDE,
        factor: 2,
        cache_kb: 1024,
        cache_line_bytes: 32,
        host_cpus: host.cpus,
        ..Line::default()
    };
    line.notes.extend(words.dashed.iter().map(|typed| notes::dashed(typed)));
    for word in &words.words {
        let name = match word {
            Word::Plus(letter, _) => format!("-+{letter}"),
            Word::Flag(letter) | Word::Valued(letter, _) => format!("-{letter}"),
            Word::Names(_) | Word::Extra(_) => String::new(),
        };
        let care = catalogue::find(&name).map_or(Care::Same, |option| option.care);
        if let Some(refusal) = care.refusal(USAGE, &format!("{name} is not supported here")) {
            return Err(refusal);
        }
        if let Care::Ignored(_) = care {
            line.notes.extend(care.note("no_effect", &word.typed(), "It changes nothing here"));
        }
        match word {
            Word::Flag(letter @ ('h' | 'v')) => {
                line.asks = Some(*letter);
                return Ok(line);
            }
            Word::Flag(letter) => line.flag(*letter, host),
            Word::Valued(letter, value) => line.valued(*letter, value, word),
            Word::Plus(letter, operand) => line.plus(*letter, operand, word),
            Word::Names(names) => line.files.clone_from(names),
            Word::Extra(extra) => line.notes.push(notes::extra(extra)),
        }
    }
    Ok(line)
}

impl Line {
    /// In which unit values are printed; microseconds win.
    pub(super) fn unit(&self) -> Unit {
        match (self.microseconds, self.operations) {
            (true, _) => Unit::MicrosecondsPerOperation,
            (false, true) => Unit::OperationsPerSecond,
            (false, false) => Unit::KilobytesPerSecond,
        }
    }

    /// Whether it asks for the throughput mode.
    pub(super) fn is_throughput(&self) -> bool {
        self.processes.is_some() || self.lower.is_some() || self.upper.is_some()
    }

    fn flag(&mut self, letter: char, host: &Host) {
        let said = match letter {
            'a' => set(&mut self.auto, "Auto Mode"),
            'A' => {
                self.auto = true;
                set(&mut self.auto_dense, "Auto Mode 2. This option is obsolete. Use -az -i0 -i1 ")
            }
            'B' => set(&mut self.mapped, "Using mmap files"),
            'c' => set(&mut self.close, "Include close in write timing"),
            'C' => set(&mut self.children, ""),
            'D' => set(&mut self.mapped, "Using msync(MS_ASYNC) on mmap files"),
            'e' => set(&mut self.flush, "Include fsync in write timing"),
            'E' => set(&mut self.extended, ""),
            'G' => set(&mut self.sync_mapping, "Using msync(MS_SYNC) on mmap files"),
            'I' => set(&mut self.direct, "O_DIRECT feature enabled"),
            'M' => {
                let words = ["Machine = Linux", &host.name, &host.kernel, &host.machine];
                words.join(" ")
            }
            'N' => set(
                &mut self.microseconds,
                "Microseconds/op Mode. Output is in microseconds per operation.",
            ),
            'o' => {
                self.durable = Some(Durable::Synchronous);
                "SYNC Mode. ".to_owned()
            }
            'O' => set(&mut self.operations, "OPS Mode. Output is in operations per second."),
            'p' => "Purge Mode On".to_owned(),
            'R' => set(&mut self.report, "Excel chart generation enabled"),
            'T' => set(&mut self.threads, ""),
            'w' => set(&mut self.keep, "Setting no_unlink"),
            'W' => "Lock file when reading/writing.".to_owned(),
            'x' => set(&mut self.no_stonewall, "Stonewall disabled"),
            'z' => set(&mut self.all_records, "Cross over of record size disabled."),
            _ => String::new(),
        };
        self.say(said);
    }

    fn valued(&mut self, letter: char, value: &str, word: &Word) {
        let is_size = "gnqrsy".contains(letter);
        let is_text = "bfU".contains(letter);
        if is_size && !is_plain_size(value) {
            self.notes.push(notes::size_read_as(word, kilobytes(value)));
        } else if !is_size && !is_text && !is_plain(value) {
            self.notes.push(notes::number_read_as(word, integer(value)));
        }
        if is_size {
            return self.size(letter, kilobytes(value));
        }
        let number = u64::try_from(integer(value)).unwrap_or(0);
        let small = u32::try_from(number).unwrap_or(u32::MAX);
        match letter {
            'b' => self.sheet = Some(value.to_owned()),
            'f' => self.file = Some(value.to_owned()),
            'i' => self.test(integer(value)),
            'j' => (self.stride, self.names_stride) = (number, true),
            'J' => {
                self.think_ms = number;
                let seconds = number as f64 / 1e3;
                self.say(format!("Compute time {seconds:.6} seconds for reads and writes."));
            }
            'l' => self.lower = Some(processes(value)),
            'u' => self.upper = Some(processes(value)),
            't' => self.processes = Some(processes(value)),
            'L' => self.cache_line_bytes = number,
            'S' => self.cache_kb = number,
            'P' => {
                self.first_cpu = Some(small);
                self.say(format!("Binding of processors beginning with {small} "));
            }
            'U' => self.remount = Some(value.to_owned()),
            'V' => {
                self.verify = true;
                let pattern = u32::from(number as u8) * 0x0101_0101;
                self.say(format!("Verify Mode. Pattern {pattern:x}"));
            }
            _ => {}
        }
    }

    fn size(&mut self, letter: char, kb: i64) {
        let or = |least: u64| u64::try_from(kb).ok().filter(|kb| *kb > 0).unwrap_or(least);
        let plain = or(0);
        match letter {
            's' => {
                self.sizes_kb.push(or(FILE_KB));
                self.say(format!("File size set to {} kB", or(FILE_KB)));
            }
            'r' => {
                self.records_kb.push(or(RECORD_KB));
                self.say(format!("Record Size {} kB", or(RECORD_KB)));
            }
            'n' => {
                self.smallest_file_kb = Some(plain);
                self.say(format!("Using minimum file size of {plain} kilobytes."));
            }
            'g' => {
                self.largest_file_kb = Some(plain);
                self.say(format!("Using maximum file size of {plain} kilobytes."));
            }
            'y' => {
                self.smallest_record_kb = Some(or(RECORD_KB));
                self.say(format!("Using Minimum Record Size {} kB", or(RECORD_KB)));
            }
            _ => {
                self.largest_record_kb = Some(or(RECORD_KB));
                self.say(format!("Using Maximum Record Size {} kB", or(RECORD_KB)));
            }
        }
    }

    fn test(&mut self, number: i64) {
        self.names_tests = true;
        match TESTS.contains(&number) {
            true => {
                self.tests.insert(number as u32);
            }
            false => {
                self.notes.push(notes::no_such_test(number));
                self.say(NO_SUCH_TEST.to_owned());
            }
        }
    }

    fn plus(&mut self, letter: char, operand: &str, word: &Word) {
        if !operand.is_empty() && !is_plain(operand) {
            self.notes.push(notes::number_read_as(word, integer(operand)));
        }
        let number = u64::try_from(integer(operand)).unwrap_or(0);
        let said = match letter {
            'a' => format!("Zero Percent {number}"),
            'B' => set(&mut self.mix_in_order, ">>> Sequential Mixed workload. <<<"),
            'd' => set(
                &mut self.verify,
                ">>> I/O Diagnostic mode enabled. <<<\n\tPerformance measurements are invalid in \
                 this mode.",
            ),
            'D' => {
                self.durable = Some(Durable::DataSynchronous);
                ">>> O_DSYNC mode enabled. <<<".to_owned()
            }
            'E' => set(&mut self.reads_foreign, ">>> No Verify mode. <<<"),
            'k' => set(&mut self.size_of_all, ""),
            'n' => set(&mut self.no_retest, "No retest option selected"),
            'N' => set(&mut self.over_old_blocks, ""),
            'p' => {
                let percent = number.min(100);
                self.read_percent = u32::try_from(percent).ok();
                format!("Percent read in mix test is {percent}")
            }
            'q' => {
                self.pause_s = number;
                format!("Delay {number} seconds between tests enabled.")
            }
            'r' => {
                self.durable = Some(Durable::Synchronous);
                "Read & Write sync mode active.".to_owned()
            }
            'V' => set(&mut self.one_file, ">>> Shared file mode enabled. <<<"),
            'x' => {
                self.factor = number.max(2);
                String::new()
            }
            'Z' => "Using old data sets.\n\t Performance measurements may be invalid in this\n\t \
                    mode due to published hack."
                .to_owned(),
            _ => String::new(),
        };
        self.say(said);
    }

    fn say(&mut self, line: String) {
        if !line.is_empty() {
            self.splash.push(line);
        }
    }
}

/// Turns an option on; IOzone then says `line`.
fn set(option: &mut bool, line: &str) -> String {
    *option = true;
    line.to_owned()
}
