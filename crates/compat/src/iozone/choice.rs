//! Which tests a line runs, and lines that contradict themselves.

use super::grid::is_auto;
use super::line::Line;
use super::options::Columns;
use super::test::{Load, Test};
use super::{USAGE, notes};
use crate::front::{Note, Refusal, Treatment};

/// What IOzone ends with at options that do not go together.
const MIXED_UP: u8 = 17;
/// More processes than the plan of a run takes.
const PROCESSES_MAX: u32 = 4096;
/// What IOzone ends with at -+E next to tests that write.
const READS_ONLY: u8 = 20;

/// Lines that IOzone ends at once, each in its words.
///
/// # Errors
/// The first contradiction.
pub(super) fn contradictions(line: &Line) -> Result<(), Refusal> {
    let bounds = [
        line.smallest_file_kb,
        line.largest_file_kb,
        line.smallest_record_kb,
        line.largest_record_kb,
    ];
    let is_ranged = bounds.iter().any(Option::is_some);
    let throughput = line.is_throughput();
    let writes = |line: &Line| {
        !line.names_tests || [0, 2, 4, 6, 8, 9].iter().any(|number| line.tests.contains(number))
    };
    let (lower, upper) = (line.lower.unwrap_or(1), line.upper.unwrap_or(u32::MAX));
    let most = [line.processes, line.lower, line.upper].into_iter().flatten().max();
    let found = [
        (
            throughput && line.microseconds,
            MIXED_UP,
            "Microsecond mode not supported in throughput mode.",
            "leave -N out; the run file holds the latencies",
        ),
        (
            throughput && (is_auto(line) || is_ranged),
            MIXED_UP,
            "Can not mix throughput mode and auto-mode flags.",
            "give one -s and one -r with -t",
        ),
        (
            throughput && line.file.is_some(),
            MIXED_UP,
            "You must use -F when using multiple threads or processes.",
            "name the files by -F, as many as -t says",
        ),
        (
            line.reads_foreign && writes(line),
            READS_ONLY,
            "You must disable any test that writes when using -+E",
            "select tests that only read: -i 1 -i 3 -i 5 -i 7",
        ),
        (
            most.is_some_and(|most| most > PROCESSES_MAX),
            USAGE,
            "drivelab runs at most 4096 workers at once",
            "use fewer processes",
        ),
        (
            lower > upper,
            USAGE,
            "-l is more than -u: no number of processes lies between them",
            "IOzone prints nothing; give -l at most as much as -u",
        ),
    ];
    match found.into_iter().find(|(is_so, ..)| *is_so) {
        Some((_, status, text, advice)) => Err(Refusal::new(status, text, advice)),
        None => Ok(()),
    }
}

/// The columns of the table and the tests in it.
///
/// # Errors
/// No test is left.
pub(super) fn tests(line: &mut Line) -> Result<(Columns, Vec<Test>), Refusal> {
    let columns = match (line.auto_dense, line.mapped, line.extended) {
        (true, ..) => Columns::Four,
        (_, true, _) => Columns::Mapped,
        (_, _, true) => Columns::Extended,
        _ => Columns::Thirteen,
    };
    let all = columns.tests();
    if !line.names_tests || line.auto_dense {
        return Ok((columns, all.to_vec()));
    }
    let chosen = |test: &&Test| line.tests.contains(&test.number());
    let tests: Vec<Test> = all.iter().filter(chosen).copied().collect();
    let missing = |number: &&u32| !all.iter().any(|test| test.number() == **number);
    let missing: Vec<u32> = line.tests.iter().filter(missing).copied().collect();
    line.notes.extend(missing.iter().map(|number| notes::not_in_this_mode(*number)));
    if tests.is_empty() { Err(nothing_left(&line.notes)) } else { Ok((columns, tests)) }
}

/// The loads of the throughput mode.
///
/// # Errors
/// No load is left.
pub(super) fn loads(line: &mut Line) -> Result<Vec<Load>, Refusal> {
    let possible = |load: &Load| !(line.mapped && load.test().is_stdio());
    let chosen = |load: &Load| !line.names_tests || line.tests.contains(&load.number());
    let all: Vec<Load> = Load::ALL.into_iter().filter(possible).collect();
    let loads: Vec<Load> = all.iter().copied().filter(chosen).collect();
    let missing = |number: &&u32| !all.iter().any(|load| load.number() == **number);
    let missing: Vec<u32> = line.tests.iter().filter(missing).copied().collect();
    line.notes.extend(missing.iter().map(|number| notes::not_in_this_mode(*number)));
    if loads.is_empty() { Err(nothing_left(&line.notes)) } else { Ok(loads) }
}

fn nothing_left(notes: &[Note]) -> Refusal {
    let why: Vec<&str> = notes
        .iter()
        .filter(|note| matches!(note.code, "not_in_this_mode" | "no_such_test"))
        .map(|note| note.text.as_str())
        .collect();
    let text = format!("no test is left to run: {}", why.join(" "));
    Refusal::new(USAGE, text, "IOzone prints an empty row; select a test of this mode")
}

/// The first test that reads before anything has filled the file.
pub(super) fn first_unfilled(tests: &[Test]) -> Option<Test> {
    let fills = |test: &Test| matches!(test, Test::Write | Test::Fwrite | Test::Pwrite);
    let filled_from = tests.iter().position(fills).unwrap_or(tests.len());
    tests[..filled_from].iter().copied().find(|test| *test != Test::RecordRewrite)
}

/// Options that only mean something next to others that are not there.
pub(super) fn without_effect(line: &Line, tests: &[Test]) -> Vec<Note> {
    let throughput = line.is_throughput();
    let alone = "It only means something in the throughput mode (-t N).";
    let not_auto = "It only means something with -a or with several sizes.";
    let auto = is_auto(line);
    let cases = [
        (line.children && !throughput, "-C", alone),
        (line.no_stonewall && !throughput, "-x", alone),
        (line.threads && !throughput, "-T", alone),
        (line.read_percent.is_some() && !throughput, "-+p", alone),
        (line.mix_in_order && !throughput, "-+B", alone),
        (line.one_file && !throughput, "-+V", alone),
        (line.size_of_all && !throughput, "-+k", alone),
        (line.extended && throughput, "-E", "With -t tests 9 and 10 run without it."),
        (line.all_records && !auto, "-z", not_auto),
        (line.smallest_file_kb.is_some() && !auto, "-n", not_auto),
        (line.largest_file_kb.is_some() && !auto, "-g", not_auto),
        (line.smallest_record_kb.is_some() && !auto, "-y", not_auto),
        (line.largest_record_kb.is_some() && !auto, "-q", not_auto),
        (line.factor != 2 && !auto, "-+x", not_auto),
        (line.sync_mapping && !line.mapped, "-G", "It only means something with -B."),
        (
            line.names_stride && !tests.contains(&Test::StrideRead),
            "-j",
            "It only means something to test 5, which does not run.",
        ),
        (line.auto_dense && line.names_tests, "-i", "-A runs tests 0 and 1 whatever -i says."),
        (
            line.microseconds && line.operations,
            "-O",
            "-N is given too, and values are then microseconds an operation.",
        ),
    ];
    let said = |(_, option, text): &(bool, &str, &str)| notes::without_effect(option, text);
    cases.iter().filter(|(is_so, ..)| *is_so).map(said).collect()
}

/// A note that an option is understood nearly.
pub(super) fn nearly(option: &str, note: (&'static str, &str)) -> Note {
    notes::about(option, note, Treatment::Approximated)
}
