//! Which notes a line gets.

use super::choice::{nearly, without_effect};
use super::line::{Durable, Line};
use super::notes::{self, Reads, about};
use super::options::Cell;
use super::test::Test;
use crate::front::{Note, Treatment, World};

/// What a line does, as far as notes depend on it.
#[derive(Debug, Clone)]
pub(super) struct Doing<'a> {
    pub(super) line: &'a Line,
    /// The tests that really run.
    pub(super) tests: &'a [Test],
    /// The largest file.
    pub(super) cell: Cell,
    /// Records of the file that has fewest.
    pub(super) fewest_records: u64,
    /// Files of that size.
    pub(super) files: u32,
    /// Whether a process that ends stops others.
    pub(super) is_cut_short: bool,
    /// Whether there are several sizes of file.
    pub(super) is_grid: bool,
    pub(super) is_drive: bool,
    pub(super) is_simulated: bool,
    /// Whether files stay that this run only reads.
    pub(super) stays: bool,
    /// Whether files stay that IOzone would remove, as they were there before.
    pub(super) leaves: bool,
    /// The largest file that was asked for, before scaling, in kB.
    pub(super) asked_kb: u64,
}

impl Doing<'_> {
    fn has(&self, wanted: impl Fn(Test) -> bool) -> bool {
        self.tests.iter().any(|test| wanted(*test))
    }

    fn is_cached(&self, test: Test) -> bool {
        !self.line.direct || self.line.mapped || test.is_stdio()
    }
}

/// All notes of a line: those of its words first, then what the whole of it measures.
pub(super) fn notes(doing: &Doing, world: &dyn World) -> Vec<Note> {
    let line = doing.line;
    let mut found = line.notes.clone();
    found.extend(without_effect(line, doing.tests));
    found.extend(nearly_same(doing));
    if doing.asked_kb != doing.cell.file_kb {
        found.push(notes::scaled(doing.asked_kb, doing.cell.file_kb));
    }
    let cached_reads = doing.has(|test| !test.writes() && doing.is_cached(test));
    let is_cached = cached_reads || doing.has(|test| doing.is_cached(test));
    if is_cached && !doing.is_simulated {
        let reads = match (cached_reads, line.remount.is_some()) {
            (false, _) => Reads::None,
            (true, false) => Reads::Cached,
            (true, true) => Reads::Dropped,
        };
        let files = u64::from(doing.files);
        let all_bytes = doing.cell.bytes().saturating_mul(files);
        found.push(notes::memory(all_bytes, files, world.host().memory_bytes, reads));
    }
    found.extend(of_tests(doing, cached_reads));
    found
}

/// Options that are understood nearly.
fn nearly_same(doing: &Doing) -> Vec<Note> {
    let line = doing.line;
    let unreached = line.direct || line.durable.is_some();
    let synchronous = line.durable == Some(Durable::Synchronous) && !line.mapped;
    let cases = [
        (line.close, "-c", notes::CLOSE),
        (synchronous && doing.has(Test::writes), "-o", notes::DATA_SYNC),
        (line.remount.is_some(), "-U", notes::REMOUNT),
        (line.think_ms > 0, "-J", notes::THINK),
        (line.verify, "-V", notes::STAMPS),
        (line.first_cpu.is_some(), "-P", notes::CPUS),
        (line.direct && doing.has(Test::is_stdio), "-I", notes::STDIO_IS_CACHED),
        (line.mapped && unreached, "", notes::MAPPING_IS_CACHED),
        (doing.is_grid && !doing.is_drive, "", notes::LARGEST_FILE),
        (line.is_throughput() && !line.threads, "-t", notes::THREADS),
        (doing.leaves, "", notes::FILE_STAYS),
    ];
    let said = |(_, option, note): &(bool, &str, (&'static str, &str))| nearly(option, *note);
    cases.iter().filter(|(is_so, ..)| *is_so).map(said).collect()
}

/// What the tests measure.
fn of_tests(doing: &Doing, cached_reads: bool) -> Vec<Note> {
    let (line, cell) = (doing.line, doing.cell);
    let is = |wanted: Test| doing.has(|test| test == wanted);
    let writes = doing.has(Test::writes);
    let follows = cached_reads && is(Test::Write) && line.remount.is_none();
    let strides = is(Test::StrideRead);
    let in_place = doing.fewest_records <= line.stride;
    let moves = cell.records() > line.stride;
    let throughput = line.is_throughput();
    let mixes = throughput && (!line.names_tests || line.tests.contains(&8));
    let same = Treatment::Same;
    let near = Treatment::Approximated;
    let cases = [
        (follows, notes::READ_FOLLOWS_WRITE, same),
        (writes && line.flush, notes::FSYNC_INSIDE, near),
        (writes && !line.flush && line.durable.is_none(), notes::FSYNC_OUTSIDE, same),
        (is(Test::Write) && !doing.is_drive && !line.over_old_blocks, notes::NEW_BLOCKS, near),
        (writes && !line.verify, notes::SAME_DATA, near),
        (is(Test::RandomRead), notes::FIXED_ORDER, near),
        (is(Test::RecordRewrite), notes::ONE_RECORD, same),
        (strides && in_place, notes::STRIDE_IN_PLACE, same),
        (strides && moves, notes::STRIDE, near),
        (throughput && doing.is_cut_short, notes::STONEWALL, same),
        (mixes, notes::MIX_IS_BY_PROCESS, near),
        (throughput && line.one_file, notes::ONE_FILE, same),
        (line.no_retest && !throughput, notes::ZEROS, same),
        (!throughput, notes::WHOLE_NUMBERS, same),
    ];
    let said = |(_, note, how): &(bool, (&'static str, &str), Treatment)| about("", *note, *how);
    cases.iter().filter(|(is_so, ..)| *is_so).map(said).collect()
}
