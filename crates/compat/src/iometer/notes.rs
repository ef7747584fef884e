//! What a line and its file really measure.

use super::drive::{Drive, DriveKind, FILE, part};
use super::icf::{DataPattern, Icf, Recorded, SECTOR_BYTES, Specification, TestType, Worker};
use super::line::Line;
use super::workers::Workers;
use super::{Era, access};
use crate::front::{Note, Scale, Treatment};
use drivelab_core::plan::{Jump, Pattern, Sequence, Stream};

/// Flash and file systems work in blocks of these.
const BLOCK_BYTES: u64 = 4096;

/// Notes, each once.
#[derive(Debug, Default)]
pub struct Notes {
    found: Vec<Note>,
}

impl Notes {
    fn add(&mut self, code: &'static str, about: &str, treatment: Treatment, text: String) {
        let is_new = !self.found.iter().any(|it| it.code == code && it.about == about);
        if is_new {
            self.found.push(Note::new(code, about, treatment, text));
        }
    }

    /// About the line and the settings of the whole file.
    pub fn line(&mut self, line: &Line, icf: &Icf) {
        if !line.configuration.1 {
            let text = "No configuration file is named; Iometer then looks for iometer.icf.";
            self.add("default_configuration", "", Treatment::Same, text.into());
        }
        if let Some((seconds, typed)) = &line.timeout {
            let about = "is how many seconds Iometer waits for its managers to log in";
            let (code, treatment, text) = match icf.setup.run_time_s {
                0 => (
                    "timeout_as_run_time",
                    Treatment::Approximated,
                    format!(
                        "{typed} {about}, and no run time. The file has none (0 0 0: each test \
                         runs until someone stops it), so each test takes {seconds} s here."
                    ),
                ),
                _ => (
                    "login_timeout",
                    Treatment::Ignored,
                    format!(
                        "{typed} {about}; there is no login here. It is not a run time: that is in \
                         the file."
                    ),
                ),
            };
            self.add(code, typed, treatment, text);
        }
        if icf.has_display {
            let text = "The section is about Iometer's window; results files do not depend on it.";
            self.add("results_display", "RESULTS DISPLAY", Treatment::Ignored, text.into());
        }
        if icf.setup.record == Recorded::Nothing {
            let text = "The file says NONE, but where the line names a file of results, Iometer \
                        records everything anyway.";
            self.add("record_all", "Record Results", Treatment::Same, text.into());
        }
        self.test_type(icf);
    }

    fn test_type(&mut self, icf: &Icf) {
        let text = match icf.setup.test {
            TestType::Normal => return,
            TestType::CycleTargets => "Each worker has one target, so there is one test.",
            TestType::CycleWorkers => "Each specification is run with more and more workers.",
            TestType::CycleWorkersAndTargets => {
                "Each worker has one target, so only the workers become more."
            }
            TestType::IncrementTargetsParallel | TestType::IncrementTargetsSerial => {
                "Each worker has one target, so one target more is one worker more."
            }
            TestType::CycleOutstandingIos => {
                "Each specification is run with more and more outstanding I/Os, whatever the \
                 workers say themselves."
            }
            TestType::CycleOutstandingIosAndTargets => {
                "Each worker has one target, so only the outstanding I/Os become more."
            }
        };
        self.add("cycling", icf.setup.test.word(), Treatment::Same, text.into());
    }

    /// About who works.
    pub fn workers(&mut self, icf: &Icf, workers: &Workers) {
        match &workers.machine {
            Some(name) => {
                let text = "A file with one manager is about this machine, whatever name and \
                            address it has there, as in Iometer.";
                self.add("one_manager", &format!("manager {name}"), Treatment::Same, text.into());
            }
            None if icf.machines.is_none() => {
                let text = format!(
                    "The file lists none, so {} are made as Iometer makes them, with the access \
                     specifications whose default assignment is ALL or DISK.",
                    workers.all.len()
                );
                self.add("default_workers", "workers", Treatment::Same, text);
            }
            None => {}
        }
        let idle = workers.all.iter().filter(|it| it.targets.is_empty()).count();
        if idle > 0 && idle < workers.all.len() {
            let text = format!("{idle} of the workers have no target and do nothing.");
            self.add("idle_workers", "workers", Treatment::Same, text);
        }
        if let Some(seed) = workers.all.iter().find_map(|it| it.seed) {
            let text = format!(
                "With seed {seed} every test goes the same way again, and workers of one seed go \
                 together. The addresses are not those of Iometer's own random numbers."
            );
            self.add("fixed_seed", "use fixed seed", Treatment::Approximated, text);
        }
    }

    /// About the drive.
    pub fn drive(&mut self, drive: &Drive, bytes: u64) {
        let path = drive.path.as_str();
        match (drive.kind, drive.bytes) {
            (DriveKind::Mounted, None) => {
                let text = format!(
                    "{FILE} of {bytes} bytes is made there and written once, sequentially, before \
                     the first test, as Iometer prepares a drive; it stays."
                );
                self.add("drive_prepared", path, Treatment::Same, text);
            }
            (DriveKind::Mounted, Some(bytes)) => {
                let text = format!(
                    "{FILE} exists already and is used as it is: {bytes} bytes. Iometer changes \
                     neither its size nor what was never written in it."
                );
                self.add("drive_as_found", path, Treatment::Same, text);
            }
            _ => {
                let text = "A drive without a file system is not prepared: reads of what was never \
                            written may be answered without the flash. Write it once before.";
                self.add("drive_not_prepared", path, Treatment::Same, text.into());
            }
        }
        let text = "Requests go around the page cache (O_DIRECT) by libaio, as those of Dynamo \
                    1.1.0 on Linux.";
        self.add("direct", "", Treatment::Same, text.into());
    }

    /// About what one worker does.
    pub fn task(&mut self, worker: &Worker, specification: &Specification, stream: &Stream) {
        self.order(specification, stream);
        self.grid(specification, stream);
        self.pace(specification, stream);
        if stream.mix.write > 0 || stream.reply.is_some() {
            self.pattern(worker.pattern);
        }
    }

    fn order(&mut self, specification: &Specification, stream: &Stream) {
        let name = specification.name.as_str();
        match &stream.pattern {
            Pattern::Uniform => {
                let text = "Each I/O goes to any place, also to one that it was at before: after \
                            as many I/Os as there are places, 37 % of them were never touched.";
                self.add("random_with_repetition", name, Treatment::Same, text.into());
            }
            Pattern::SemiRandom(jump) => {
                let share = if let Jump::Share(Some(share)) = jump { *share } else { 0.0 };
                let text = format!(
                    "Each I/O goes to any place with probability {share}, and otherwise right \
                     after the one before it."
                );
                self.add("semi_random", name, Treatment::Same, text);
            }
            _ => {}
        }
        let lines = access::drawn(specification).count();
        if lines > 1 {
            let text = format!(
                "Each I/O draws one of {lines} lines by its % of size, then read or write by its % \
                 reads: shares are of I/Os, not of bytes."
            );
            self.add("lines_drawn", name, Treatment::Same, text);
        }
        if name.eq_ignore_ascii_case("default") && stream.size.0 == 2048 {
            let text = "It is what Iometer begins with: 2 KiB, less than a page of flash, two \
                        reads to a write.";
            self.add("default_specification", name, Treatment::Same, text.into());
        }
    }

    fn grid(&mut self, specification: &Specification, stream: &Stream) {
        let name = specification.name.as_str();
        let Some(first) = access::drawn(specification).next() else { return };
        let (grid, size) = (access::grid(first), stream.size_min());
        let jumps = matches!(stream.pattern, Pattern::Uniform | Pattern::SemiRandom(_));
        if jumps && grid == SECTOR_BYTES && stream.size_max() > SECTOR_BYTES {
            let text = format!(
                "Align is {} (sectors), so requests begin at any multiple of {SECTOR_BYTES} bytes, \
                 7 of 8 inside a block of {BLOCK_BYTES}. Write {BLOCK_BYTES} as align where that \
                 is not meant.",
                first.align
            );
            self.add("sector_aligned", name, Treatment::Same, text);
        }
        if !jumps && stream.sizes.is_empty() && !size.is_multiple_of(grid) {
            let hole = size.next_multiple_of(grid) - size;
            let text = format!(
                "Requests of {size} bytes on multiples of {grid} leave holes of {hole} bytes \
                 between them: they are not sequential."
            );
            self.add("holes", name, Treatment::Same, text);
        }
    }

    fn pace(&mut self, specification: &Specification, stream: &Stream) {
        let name = specification.name.as_str();
        let Some(first) = access::drawn(specification).next() else { return };
        if first.delay_ms > 0 {
            let few = match u64::from(stream.depth) < first.burst {
                true => format!(", {} at a time", stream.depth),
                false => String::new(),
            };
            let text = format!(
                "{} ms pass before each burst of {}{few}. IOps have them in, response times have \
                 not. The next delay begins when the burst has completed.",
                first.delay_ms, first.burst
            );
            self.add("delay", name, Treatment::Approximated, text);
        } else if access::drawn(specification).any(|access| access.burst != 1) {
            let text = format!("A burst of {} means nothing while the delay is 0.", first.burst);
            self.add("burst_without_delay", name, Treatment::Ignored, text);
        }
        if stream.reply.is_none() {
            return;
        }
        let text = "A request and its reply are two I/Os and one transaction. Average Transaction \
                    Time is the mean of both together; Maximum Transaction Time is the longest \
                    read and the longest write together, which no transaction exceeded.";
        self.add("transactions", name, Treatment::Approximated, text.into());
        let place = access::place(stream);
        let has_hole = stream.reply_size.is_some_and(|size| !size.0.is_multiple_of(place));
        let (code, treatment, text) = match &stream.pattern {
            Pattern::Sequential(Sequence { stride: Some(_), .. }) if has_hole => (
                "reply_with_hole",
                Treatment::Approximated,
                "Each reply takes the next place in order. The next request begins on a multiple \
                 of its own size after that, where Iometer's begins right after the reply.",
            ),
            Pattern::Sequential(Sequence { stride: Some(_), .. }) => (
                "reply_in_order",
                Treatment::Same,
                "Each reply takes the next place in order, and the next request the one after it.",
            ),
            Pattern::Sequential(_) => (
                "reply_between",
                Treatment::Approximated,
                "Each reply takes the next place in order; requests of several sizes go on from \
                 their own last one, so they come to that place too.",
            ),
            Pattern::SemiRandom(_) => (
                "reply_behind",
                Treatment::Approximated,
                "Iometer's reply is as random as its request; here it goes to the place after its \
                 request, and a request that goes on in order comes to that place too.",
            ),
            _ => (
                "reply_behind",
                Treatment::Approximated,
                "Iometer's reply to a random request is random itself; here it goes to the place \
                 after its request. A disk with an arm saves a seek by that.",
            ),
        };
        self.add(code, name, treatment, text.into());
    }

    fn pattern(&mut self, pattern: DataPattern) {
        let (code, text) = match pattern {
            DataPattern::RepeatingBytes => (
                "data_repeating_bytes",
                "Iometer repeats one byte. Here blocks are zeros but for 16 bytes each: they \
                 compress as well, and unlike Iometer's no two are equal.",
            ),
            DataPattern::PseudoRandom => (
                "data_pseudo_random",
                "Iometer writes pseudo-random bytes. Here they are random, and no two blocks are \
                 equal.",
            ),
            DataPattern::FullRandom => (
                "data_full_random",
                "Iometer takes what it writes from 16 MB of random bytes, so parts of them \
                 return. Here no two blocks are equal.",
            ),
            DataPattern::Unsaid => (
                "data_unsaid",
                "The file does not say what is written; Iometer's own notes on versions up to \
                 2006.07.27 have zeros in one place and pseudo-random bytes in another. Here they \
                 are random and do not compress.",
            ),
        };
        self.add(code, "Data pattern", Treatment::Approximated, text.into());
    }

    /// About the streams of one test together.
    pub fn together(&mut self, streams: &[&Stream]) {
        let depth: u64 = streams.iter().map(|stream| u64::from(stream.depth)).sum();
        if streams.len() > 1 {
            let text = format!(
                "{} workers have up to {depth} I/Os outstanding together: the number in the file \
                 is that of each.",
                streams.len()
            );
            self.add("outstanding_each", "outstanding I/Os", Treatment::Same, text);
        }
        let in_order = streams.iter().filter(|it| it.is_sequential()).count();
        if in_order > 1 {
            let text = format!(
                "{in_order} workers go in order, each from its own starting sector on: where those \
                 are the same they touch the same places, and the drive sees no single sequence."
            );
            self.add("sequences", "workers", Treatment::Same, text);
        }
    }

    /// Sizes that reach beyond the end of the drive.
    pub fn cut(&mut self, worker: &Worker, bytes: u64, scale: Scale) {
        if part(worker, bytes, bytes, SECTOR_BYTES, scale).is_cut {
            let text = format!(
                "{} sectors from sector {} on reach beyond the end; Iometer then uses all there \
                 is, and so it is here.",
                worker.maximum_sectors, worker.starting_sector
            );
            self.add("maximum_size", &worker.name, Treatment::Same, text);
        }
    }

    /// All of them, with those on the file of results.
    pub fn finished(mut self, era: Era) -> Vec<Note> {
        let text = "Response times are those of each I/O, from its submission to its completion.";
        self.add("response_time", "results", Treatment::Same, text.into());
        let text = "The columns of processors and of the network, % CPU Utilization to Segments \
                    Retransmitted/Second, stay empty, and CPU Effectiveness with them: only the \
                    workers are measured. Raw times are in nanoseconds, time stamps in UTC.";
        self.add("empty_columns", "results", Treatment::Approximated, text.into());
        if era == Era::Dated {
            let text = "MBps are 1 048 576 bytes a second, as in Iometer before 1.1.0.";
            self.add("megabytes", "results", Treatment::Same, text.into());
        }
        self.found
    }
}
