//! Writes a run file from a thread of its own, so that measuring never waits for the store.
//!
//! Records are appended a few seconds after they came, at once where a step begins or ends. If
//! the store lies on the target's own drive, they wait in memory until the step has ended, or until
//! they are many. When the file cannot be written, the run goes on and says so at the end: the
//! results are not lost. When it is written too slowly, the recorder waits, not the workers, and
//! the run says for how long.

use crate::store::reader::Kept;
use drivelab_core::facts::TargetKind;
use drivelab_core::record::{Begin, End, Record, Warning};
use drivelab_core::run::Run;
use drivelab_io::channel::{Outbox, Receiver, RecvTimeoutError, sync_channel};
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Records are in the file after this time at the latest.
const APPENDED_AFTER: Duration = Duration::from_secs(5);

/// Records on their way to the writing thread: a minute of a hundred workers at ten intervals a
/// second.
const RECORDS_MAX: usize = 65_536;
/// Bytes that are held back from a drive that is measured.
const HELD_BACK_MAX: usize = 256 << 20;
/// Waiting for less in all is not worth a word.
const WAITED_SAID: Duration = Duration::from_millis(100);

/// Where a run is written, and how carefully.
#[derive(Debug, Clone)]
pub struct RunDirectory {
    /// Directory of the runs.
    pub path: PathBuf,
    /// It lies on a drive of the target: nothing is written while a step runs.
    pub shares_drive: bool,
    /// CPUs that measure, which the writer avoids.
    pub measuring_cpus: Vec<usize>,
}

/// Sees each record in the writing thread, before it is appended.
pub trait Witness: Send {
    /// Sees one.
    fn see(&mut self, record: &Record);
}

/// Takes the records of a run, keeps them for the results and appends them to its file.
#[derive(Debug)]
pub struct Recorder {
    run: Run,
    path: PathBuf,
    /// To the writing thread.
    outbox: Outbox<Record>,
    writer: Option<JoinHandle<Result<(), String>>>,
    trouble: Option<String>,
    /// The file that is written.
    inode: Option<(u64, u64)>,
}

impl Recorder {
    /// A run that nobody else sees.
    #[cfg(test)]
    pub fn begin(directory: &RunDirectory, begin: Begin) -> Self {
        Recorder::begin_before(directory, begin, None)
    }

    /// Begins a run. A store that cannot be written is told at the end, and ends nothing; who wants
    /// to see the records sees them all the same.
    pub fn begin_before(
        directory: &RunDirectory,
        begin: Begin,
        witness: Option<Box<dyn Witness>>,
    ) -> Self {
        let path = directory.path.join(format!("{}.jsonl", begin.run));
        let mut recorder = Recorder::unwritten(Run::default(), path);
        let (file, trouble) = match create(&recorder.path) {
            Ok(file) => (Some(file), None),
            Err(error) => (None, Some(error.to_string())),
        };
        recorder.trouble = trouble;
        if file.is_some() || witness.is_some() {
            let started = recorder.start_writer(directory, file, witness);
            recorder.trouble = recorder.trouble.take().or(started.err());
        }
        recorder.record(Record::Begin(Box::new(begin)));
        recorder
    }

    fn unwritten(run: Run, path: PathBuf) -> Self {
        let (outbox, writer, trouble, inode) = (Outbox::default(), None, None, None);
        Recorder { run, path, outbox, writer, trouble, inode }
    }

    /// Keeps the records of a run, and writes none of them: rank 0 does.
    pub fn silent(begin: Begin) -> Self {
        let mut recorder = Recorder::unwritten(Run::default(), PathBuf::new());
        recorder.record(Record::Begin(Box::new(begin)));
        recorder
    }

    /// Goes on with a run that was broken off: what is kept stays, what follows it is dropped.
    pub fn go_on(directory: &RunDirectory, kept: &Kept) -> Self {
        let mut recorder = Recorder::unwritten(kept.run.clone(), kept.path.clone());
        let opened = File::options().append(true).open(&kept.path).and_then(|file| {
            file.set_len(kept.bytes)?;
            Ok(file)
        });
        recorder.trouble = opened
            .map_err(|error| error.to_string())
            .and_then(|file| recorder.start_writer(directory, Some(file), None))
            .err();
        recorder
    }

    fn start_writer(
        &mut self,
        directory: &RunDirectory,
        file: Option<File>,
        witness: Option<Box<dyn Witness>>,
    ) -> Result<(), String> {
        if let Some(file) = &file {
            // Where locks are not known, nobody can tell that the run goes on, and nobody needs to.
            let _ = file.try_lock();
            self.inode = file.metadata().ok().map(|found| (found.dev(), found.ino()));
        }
        let (sender, records) = sync_channel(RECORDS_MAX);
        let avoided = directory.measuring_cpus.clone();
        let appender = Appender::new(file, directory.shares_drive, witness);
        let write = move || {
            let _aside = drivelab_io::cpus::stand_aside(&avoided);
            appender.write_all(&records)
        };
        let thread = std::thread::Builder::new().name("run file".into()).spawn(write);
        self.writer = Some(thread.map_err(|error| error.to_string())?);
        self.outbox = Outbox::new(sender);
        Ok(())
    }

    /// Keeps and appends a record.
    pub fn record(&mut self, record: Record) {
        if self.outbox.is_open() {
            self.outbox.pass(record.clone());
        }
        if let Err(error) = self.run.push(record) {
            self.trouble.get_or_insert(error);
        }
    }

    /// Notes something that a reader of the numbers must know.
    pub fn warn(&mut self, warning: Warning) {
        self.record(Record::Warning(warning));
    }

    /// The run so far.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Ends the run: appends the end, waits for the writer and gives the run and its file back.
    /// The text says why there is no (whole) file, if so.
    pub fn end(mut self, end: End) -> (Run, PathBuf, Option<String>) {
        let is_real = self.run.begin.facts.target.kind != TargetKind::Simulated;
        if let Some(warning) = self.slowness().filter(|_| is_real) {
            self.warn(warning);
        }
        self.record(Record::End(end));
        self.outbox.close();
        let mut trouble = self.trouble.take();
        if let Some(writer) = self.writer.take() {
            match writer.join() {
                Ok(Ok(())) => {}
                Ok(Err(error)) => trouble = Some(error),
                Err(_) => trouble = Some("the writing thread panicked (a defect)".to_string()),
            }
        }
        let path = std::mem::take(&mut self.path);
        let is_there = std::fs::metadata(&path).ok();
        if trouble.is_none() && self.inode.is_some() {
            let inode = is_there.map(|found| (found.dev(), found.ino()));
            let gone = || "it was removed or moved while the run lasted".to_string();
            trouble = (inode != self.inode).then(gone);
        }
        let text = trouble
            .map(|error| format!("the run file {} could not be written: {error}", path.display()));
        (std::mem::take(&mut self.run), path, text)
    }
}

impl Recorder {
    /// What a run file that could not be written fast enough did to the run.
    fn slowness(&self) -> Option<Warning> {
        let (records, time) = self.outbox.waited();
        (time >= WAITED_SAID).then(|| Warning {
            code: "run_file_slow".into(),
            text: format!(
                "The run file could not be written as fast as its records came: {records} of them \
                 waited, for {:.1} s in all.",
                time.as_secs_f64()
            ),
            advice: "Keep run files on another disk (--runs DIR), or give longer intervals.".into(),
            step: None,
        })
    }
}

fn create(path: &Path) -> std::io::Result<File> {
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory)?;
    }
    // It holds serial numbers and names of the machine.
    File::options().append(true).create_new(true).mode(0o600).open(path)
}

struct Appender {
    /// Absent where it could not be made: the others are told all the same.
    file: Option<File>,
    witness: Option<Box<dyn Witness>>,
    pending: Vec<u8>,
    since: Option<Instant>,
    holds_back: bool,
    in_step: bool,
}

impl Appender {
    fn new(file: Option<File>, holds_back: bool, witness: Option<Box<dyn Witness>>) -> Self {
        Appender { file, witness, pending: Vec::new(), since: None, holds_back, in_step: false }
    }

    fn write_all(mut self, records: &Receiver<Record>) -> Result<(), String> {
        loop {
            let wait = match self.since {
                Some(since) if !self.holding() => APPENDED_AFTER.saturating_sub(since.elapsed()),
                _ => APPENDED_AFTER,
            };
            match records.recv_timeout(wait) {
                Ok(record) => {
                    self.witness.iter_mut().for_each(|witness| witness.see(&record));
                    self.take(&record).map_err(|error| error.to_string())?;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let is_due = self.since.is_some_and(|since| since.elapsed() >= APPENDED_AFTER);
            if is_due && !self.holding() {
                self.flush().map_err(|error| error.to_string())?;
            }
        }
        let synced = self.flush().and_then(|()| self.file.map_or(Ok(()), |file| file.sync_all()));
        synced.map_err(|error| error.to_string())
    }

    fn holding(&self) -> bool {
        self.holds_back && self.in_step && self.pending.len() < HELD_BACK_MAX
    }

    fn take(&mut self, record: &Record) -> std::io::Result<()> {
        serde_json::to_writer(&mut self.pending, record)?;
        self.pending.push(b'\n');
        self.since.get_or_insert_with(Instant::now);
        let at_once = match record {
            Record::Tally(_) => false,
            Record::StepBegin(_) => {
                self.flush()?;
                self.in_step = true;
                false
            }
            Record::StepEnd(_) => {
                self.in_step = false;
                true
            }
            _ => !self.holding(),
        };
        if at_once { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        if let Some(file) = &mut self.file {
            file.write_all(&self.pending)?;
        }
        self.pending.clear();
        self.since = None;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::reader;
    use drivelab_core::plan::{Plan, Role, Step};
    use drivelab_core::record::StepBegin;

    fn run_directory(directory: &Path, shares_drive: bool) -> RunDirectory {
        RunDirectory { path: directory.into(), shares_drive, measuring_cpus: Vec::new() }
    }

    fn begin() -> Begin {
        Begin { format: 1, run: "20260101-000000-0000".into(), ..Begin::default() }
    }

    fn fill(recorder: &mut Recorder) {
        let plan = Plan { steps: vec![Step::default()], ..Plan::default() };
        recorder.record(Record::Plan { plan });
        recorder.record(Record::StepBegin(StepBegin {
            step: 0,
            plan_step: 0,
            plan: 0,
            repetition: 1,
            name: "a".into(),
            role: Role::Measure,
            state: "unknown".into(),
            opened: Vec::new(),
        }));
    }

    #[test]
    fn a_slow_store_loses_nothing_and_is_said() {
        let (sender, records) = sync_channel(1);
        let slow = std::thread::spawn(move || {
            let mut taken = 0_u64;
            while records.recv().is_ok() {
                std::thread::sleep(Duration::from_millis(30));
                taken += 1;
            }
            if taken == 13 { Ok(()) } else { Err(format!("{taken} records")) }
        });
        let mut recorder = Recorder::silent(begin());
        (recorder.outbox, recorder.writer) = (Outbox::new(sender), Some(slow));
        for _ in 0..11 {
            let note = Warning {
                code: "x".into(),
                text: String::new(),
                advice: String::new(),
                step: None,
            };
            recorder.warn(note);
        }
        let (run, _, trouble) = recorder.end(End { complete: true, status: 0, reason: None });
        assert_eq!(trouble, None);
        let said = run.warnings.last().unwrap();
        assert_eq!((run.warnings.len(), said.code.as_str()), (12, "run_file_slow"));
        assert!(said.text.contains(" of them waited, for 0."), "{}", said.text);
    }

    #[test]
    fn what_was_recorded_reads_back_equal() {
        let directory = tempfile::tempdir().unwrap();
        for shares_drive in [false, true] {
            let directory = directory.path().join(shares_drive.to_string());
            let mut recorder = Recorder::begin(&run_directory(&directory, shares_drive), begin());
            fill(&mut recorder);
            recorder.record(Record::StepEnd(Box::default()));
            let end = End { complete: true, status: 0, reason: None };
            let (run, path, trouble) = recorder.end(end);
            assert_eq!(trouble, None);
            assert_eq!(reader::read(&path).unwrap(), run);
            assert!(run.complete());
        }
    }

    #[test]
    fn records_wait_only_where_the_store_shares_the_drive() {
        let directory = tempfile::tempdir().unwrap();
        for (shares_drive, seen) in [(false, 1), (true, 0)] {
            let directory = directory.path().join(shares_drive.to_string());
            let mut recorder = Recorder::begin(&run_directory(&directory, shares_drive), begin());
            fill(&mut recorder);
            recorder.warn(Warning {
                code: "x".into(),
                text: String::new(),
                advice: String::new(),
                step: None,
            });
            let path = recorder.path.clone();
            let mut found = usize::MAX;
            for _ in 0..100 {
                std::thread::sleep(Duration::from_millis(10));
                found = reader::read(&path).map_or(usize::MAX, |run| run.warnings.len());
                if found == 1 {
                    break;
                }
            }
            assert_eq!(found, seen, "shares drive: {shares_drive}");
        }
    }

    #[test]
    fn a_store_that_cannot_be_written_loses_no_result() {
        let full =
            RunDirectory { path: "/proc/nowhere".into(), ..run_directory(Path::new("/"), false) };
        let mut recorder = Recorder::begin(&full, begin());
        fill(&mut recorder);
        let (run, _, trouble) = recorder.end(End { complete: true, status: 0, reason: None });
        assert_eq!(run.steps.len(), 1);
        assert!(trouble.unwrap().contains("/proc/nowhere/20260101-000000-0000.jsonl"));
    }
}
