//! What a test is asked to do, as the line or the script says it.

use super::known::{self, Known, OTHER_INTERFACES};
use crate::front::{Note, Refusal};
use crate::option::Care;
use crate::parallel::number;

/// Which program the line is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// `IOR`, 2.10.3.
    Old,
    /// `ior`, 4.x; letters of 3.x are understood.
    New,
}

impl Era {
    /// By the name that the program was called by.
    pub fn of(program: &str) -> Self {
        let name = program.rsplit('/').next().unwrap_or(program);
        if name == "IOR" { Era::Old } else { Era::New }
    }

    /// The exit status of a line that is not understood.
    pub fn usage(self) -> u8 {
        if self == Era::Old { FAILED } else { 1 }
    }
}

/// The exit status of a test that contradicts itself or fails.
pub const FAILED: u8 = 255;

/// What IOR fills its buffers with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Packet {
    /// Numbers of task, time and place, which compress well.
    #[default]
    Plain,
    /// The same, with the offset in the file.
    Offset,
    /// Random numbers.
    Random,
}

/// What carries its transfers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Interface {
    /// read(2) and write(2).
    #[default]
    Posix,
    /// Mappings of its files.
    Mmap,
    /// Nothing: no file is touched.
    Dummy,
}

/// How the results of 4.x are laid out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Summary {
    /// As text.
    #[default]
    Text,
    /// As JSON.
    Json,
    /// As values separated by commas.
    Csv,
}

/// One test, as it was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// `-o`.
    pub test_file: String,
    /// `-b` in bytes.
    pub block_bytes: u64,
    /// `-t` in bytes.
    pub transfer_bytes: u64,
    /// `-s`.
    pub segments: u64,
    /// `-i`.
    pub repetitions: u32,
    /// `-F`.
    pub file_per_process: bool,
    /// `-N`; absent: all.
    pub tasks: Option<u64>,
    /// `-w` as given.
    pub write: bool,
    /// `-r` as given.
    pub read: bool,
    /// `-W`.
    pub check_write: bool,
    /// `-R`.
    pub check_read: bool,
    /// `-e`.
    pub fsync: bool,
    /// `-Y`.
    pub fsync_per_write: bool,
    /// `-k`.
    pub keep: bool,
    /// `-K`.
    pub keep_with_error: bool,
    /// `-E`.
    pub existing: bool,
    /// `-C`.
    pub reorder_constant: bool,
    /// `-Z`.
    pub reorder_random: bool,
    /// `-Q`.
    pub task_offset: u64,
    /// `-X`.
    pub reorder_seed: i64,
    /// `-z`.
    pub random: bool,
    /// `-B`.
    pub direct: bool,
    /// `-u`.
    pub unique_directory: bool,
    /// `-m`.
    pub multi_file: bool,
    /// `-d` in seconds.
    pub delay_s: u64,
    /// `-D` in seconds.
    pub deadline_s: u64,
    /// `-A`.
    pub reference: i64,
    /// `-v`, as often as it was given.
    pub verbose: u8,
    /// `-G`.
    pub signature: i64,
    /// `-l`.
    pub packet: Packet,
    /// `-O summaryFormat`.
    pub summary: Summary,
    /// `-O summaryFile`.
    pub summary_file: Option<String>,
    /// `-O stoneWallingWearOut`.
    pub wear_out: bool,
    /// `-O stoneWallingStatusFile`.
    pub status_file: Option<String>,
    /// `-O saveRankPerformanceDetailsCSV`.
    pub ranks_file: Option<String>,
    /// `-a`.
    pub interface: Interface,
    /// The same, as it was typed.
    pub interface_name: String,
    /// `-z -z`: blocks are drawn, and some more than once.
    pub draws_blocks: bool,
    /// `--dummy.delay-create` in microseconds.
    pub create_delay_us: u64,
    /// `--dummy.delay-xfer` in microseconds.
    pub transfer_delay_us: u64,
}

impl Settings {
    /// What holds where nothing is said.
    pub fn new(era: Era) -> Self {
        Settings {
            test_file: "testFile".to_owned(),
            block_bytes: 1 << 20,
            transfer_bytes: 256 << 10,
            segments: 1,
            repetitions: 1,
            task_offset: 1,
            reference: if era == Era::Old { -1 } else { 0 },
            interface_name: "POSIX".to_owned(),
            ..Settings::default()
        }
    }

    /// Nothing is said of what to do, so that both writing and reading are meant.
    pub fn does_both(&self) -> bool {
        !(self.write || self.read || self.check_write || self.check_read)
    }

    /// It writes.
    pub fn writes(&self) -> bool {
        self.write || self.does_both()
    }

    /// Its transfers go nowhere.
    pub fn is_dummy(&self) -> bool {
        self.interface == Interface::Dummy
    }

    /// The transfers of a block are put in another order, and it has one.
    pub fn shuffles_single_transfers(&self) -> bool {
        self.random && !self.draws_blocks && self.block_bytes == self.transfer_bytes
    }

    /// Some of what was written or read is checked.
    pub fn checks(&self) -> bool {
        self.check_write || self.check_read
    }

    /// Takes one option; `typed` is what notes are about.
    ///
    /// # Errors
    /// It cannot be had here, or its value makes no sense.
    pub fn take(
        &mut self,
        known: &Known,
        value: &str,
        typed: &str,
        era: Era,
        notes: &mut Vec<Note>,
    ) -> Result<(), Refusal> {
        let value = value.trim();
        // What a script sets to its default asks for nothing.
        let name = known.own.name;
        let default = if name == "lustreStartOST" { "-1" } else { "0" };
        let is_nothing =
            value == default || value.is_empty() || (name == "setAlignment" && value == "1");
        match known.care {
            Care::Same | Care::InPart(_) | Care::Near(_) => self.set(name, value, typed, era),
            _ if is_nothing => Ok(()),
            care => {
                let clause = format!("{name} has no effect");
                notes.extend(care.note("without_effect", typed, &clause));
                let clause = format!("{typed} ({name}) is not supported here.");
                care.refusal(era.usage(), &clause).map_or(Ok(()), Err)
            }
        }
    }

    fn set(&mut self, name: &str, value: &str, typed: &str, era: Era) -> Result<(), Refusal> {
        let bad = || {
            let text = format!("`{value}` is not a value of {name} ({typed}).");
            let advice = "IOR itself parses the leading digits and ignores the rest silently.";
            Refusal::new(era.usage(), text, advice)
        };
        let whole = || value.parse::<i64>().map_err(|_| bad());
        let count = || number::count(value).ok_or_else(bad);
        let bytes = || number::bytes(value).ok_or_else(bad);
        match name {
            "api" => {
                self.interface = interface(value, era)?;
                value.clone_into(&mut self.interface_name);
            }
            "dummy.delay-create" => self.create_delay_us = count()?,
            "dummy.delay-xfer" => self.transfer_delay_us = count()?,
            "randomOffset" if era == Era::New => {
                let times = count()?;
                (self.random, self.draws_blocks) = (times > 0, times > 1);
            }
            "refNum" | "testnum" => self.reference = whole()?,
            "blockSize" => self.block_bytes = bytes()?,
            "transferSize" => self.transfer_bytes = bytes()?,
            "segmentCount" => self.segments = count()?,
            "repetitions" => {
                self.repetitions = u32::try_from(whole()?.max(0)).map_err(|_| bad())?;
            }
            "numTasks" => self.tasks = u64::try_from(whole()?).ok(),
            "testFile" => value.clone_into(&mut self.test_file),
            "taskPerNodeOffset" => self.task_offset = count()?,
            "reorderTasksRandomSeed" => self.reorder_seed = whole()?,
            // IOR takes the digits before the point.
            "interTestDelay" => {
                let (digits, rest) = value.split_once('.').unwrap_or((value, ""));
                number::count(if rest.is_empty() { "0" } else { rest }).ok_or_else(bad)?;
                self.delay_s = number::count(digits).ok_or_else(bad)?;
            }
            "deadlineForStonewalling" => self.deadline_s = count()?,
            "setTimeStampSignature" => self.signature = whole()?,
            "verbose" => self.verbose = u8::try_from(whole()?.clamp(0, 5)).map_err(|_| bad())?,
            "dataPacketType" => self.packet = packet(value).ok_or_else(bad)?,
            "summaryFormat" => self.summary = summary(value).ok_or_else(bad)?,
            "summaryFile" => self.summary_file = Some(value.to_owned()),
            "stoneWallingStatusFile" => self.status_file = Some(value.to_owned()),
            "saveRankPerformanceDetailsCSV" => self.ranks_file = Some(value.to_owned()),
            // Each run draws again, or always the same.
            "random-offset-seed" => drop(whole()?),
            name => {
                let on = match value {
                    "1" => true,
                    "0" => false,
                    _ => return Err(bad()),
                };
                if let Some(place) = self.switch(name) {
                    *place = on;
                }
                if name == "storeFileOffset" && on {
                    self.packet = Packet::Offset;
                }
            }
        }
        Ok(())
    }

    fn switch(&mut self, name: &str) -> Option<&mut bool> {
        Some(match name {
            "filePerProc" => &mut self.file_per_process,
            "writeFile" => &mut self.write,
            "readFile" => &mut self.read,
            "checkWrite" => &mut self.check_write,
            "checkRead" => &mut self.check_read,
            "fsync" => &mut self.fsync,
            "fsyncPerWrite" => &mut self.fsync_per_write,
            "keepFile" => &mut self.keep,
            "keepFileWithError" => &mut self.keep_with_error,
            "useExistingTestFile" => &mut self.existing,
            "reorderTasksConstant" | "reorderTasks" => &mut self.reorder_constant,
            "stoneWallingWearOut" => &mut self.wear_out,
            "reorderTasksRandom" => &mut self.reorder_random,
            "randomOffset" => &mut self.random,
            "useO_DIRECT" | "posix.odirect" => &mut self.direct,
            "uniqueDir" => &mut self.unique_directory,
            "multiFile" => &mut self.multi_file,
            _ => return None,
        })
    }

    /// Takes `key=value` or several of them with commas between.
    ///
    /// # Errors
    /// A key is not known, or cannot be had here.
    pub fn take_directives(
        &mut self,
        text: &str,
        era: Era,
        notes: &mut Vec<Note>,
    ) -> Result<(), Refusal> {
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let Some((name, value)) = part.split_once('=') else {
                let text = format!("Syntax error in configuration options: {part}");
                return Err(Refusal::new(era.usage(), text, "Write it as in blockSize=1m."));
            };
            // In a script an option may stand as it is typed.
            let name = name.trim();
            let name = name.strip_prefix("--").unwrap_or(name);
            let Some(known) = known::by_name(name, era) else {
                return Err(unrecognized(name, era));
            };
            self.take(known, value, part, era, notes)?;
        }
        Ok(())
    }
}

fn unrecognized(name: &str, era: Era) -> Refusal {
    let names: Vec<&str> = known::KNOWN
        .iter()
        .map(|known| known.own.name)
        .filter(|name| known::by_name(name, era).is_some())
        .collect();
    let advice = match drivelab_core::plan_text::nearest(name, &names) {
        Some(near) => format!("Did you mean {near}?"),
        None => "-h lists the supported options.".to_owned(),
    };
    Refusal::new(era.usage(), format!("Unrecognized parameter \"{name}\""), advice)
}

fn interface(name: &str, era: Era) -> Result<Interface, Refusal> {
    let all = [("POSIX", Interface::Posix), ("MMAP", Interface::Mmap), ("DUMMY", Interface::Dummy)];
    let of_era = if era == Era::New { &all[..] } else { &all[..1] };
    if let Some((_, found)) = of_era.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
        return Ok(*found);
    }
    let known = OTHER_INTERFACES.iter().find(|known| known.eq_ignore_ascii_case(name));
    let advice = "Only -a POSIX, and of 4.x -a MMAP and -a DUMMY, are supported here.";
    Err(match (era, known) {
        (Era::Old, Some(known)) => {
            let text = format!("ERROR: This copy of IOR was not compiled with {known} support.");
            Refusal::new(FAILED, text, advice)
        }
        (Era::Old, None) => {
            Refusal::new(FAILED, format!("WARNING: unrecognized IO API. ({name})"), advice)
        }
        (Era::New, _) => Refusal::new(1, format!("ERROR: Unrecognized I/O API ({name})"), advice),
    })
}

fn packet(value: &str) -> Option<Packet> {
    Some(match value.to_ascii_lowercase().as_str() {
        "t" | "timestamp" => Packet::Plain,
        "o" | "offset" => Packet::Offset,
        "i" | "incompressible" | "r" | "random" => Packet::Random,
        _ => return None,
    })
}

fn summary(value: &str) -> Option<Summary> {
    Some(match value.to_ascii_lowercase().as_str() {
        "default" => Summary::Text,
        "json" => Summary::Json,
        "csv" => Summary::Csv,
        _ => return None,
    })
}
