//! The sections that are about all workers: set-up, display, access specifications.

use super::reader::{IcfError, Line, Reader};
use super::values::{exactly, fields, whole};
use super::{
    Access, Assignment, Cycle, Growth, LINES_MAX, REQUEST_BYTES_MAX, Recorded, Setup, Spawned,
    Specification, TestType,
};

/// Workers beyond any machine are a typing error.
const WORKERS_MAX: u32 = 4096;
/// As are outstanding I/Os.
const OUTSTANDING_MAX: u32 = 65_536;
/// And times: a year.
const SECONDS_MAX: u64 = 366 * 86_400;

const GROWTHS: [(Growth, &str); 2] =
    [(Growth::Linear, "LINEAR"), (Growth::Exponential, "EXPONENTIAL")];
const RECORDED: [(Recorded, &str); 5] = [
    (Recorded::All, "ALL"),
    (Recorded::NoTargets, "NO_TARGETS"),
    (Recorded::NoWorkers, "NO_WORKERS"),
    (Recorded::NoMachines, "NO_MANAGERS"),
    (Recorded::Nothing, "NONE"),
];

/// Section TEST SETUP, behind its heading.
pub fn read_setup(reader: &mut Reader<'_>) -> Result<Setup, IcfError> {
    const KNOWN: &str = "a setting of TEST SETUP ('Test Description, 'Run Time, 'Ramp Up Time (s), \
                         'Default Disk Workers to Spawn, 'Default Network Workers to Spawn, \
                         'Record Results, 'Worker Cycling, 'Disk Cycling, 'Queue Depth Cycling, \
                         'Test Type) or 'END test setup";
    let mut setup = Setup::default();
    loop {
        let line = reader.next(KNOWN)?;
        match line.heading().unwrap_or_default().as_str() {
            "test description" => reader.text().clone_into(&mut setup.description),
            "run time" => setup.run_time_s = run_time(reader)?,
            "ramp up time (s)" | "ramp up time" => {
                const SECONDS: &str = "the seconds of the ramp-up";
                setup.ramp_up_s = whole(&reader.value(SECONDS)?).number(SECONDS, SECONDS_MAX)?;
            }
            "default disk workers to spawn" | "default workers to spawn" => {
                setup.disk_workers = spawned(reader)?;
            }
            "default network workers to spawn" => setup.network_workers = spawned(reader)?,
            "record results" => {
                const WHAT: &str = "what is recorded";
                setup.record = whole(&reader.value(WHAT)?).word(WHAT, &RECORDED)?;
            }
            "worker cycling" => setup.workers = cycle(reader)?,
            "disk cycling" | "target cycling" => setup.targets = cycle(reader)?,
            "queue depth cycling" => outstanding(reader, &mut setup)?,
            "test type" => {
                const WHAT: &str = "a test type";
                let line = reader.value(WHAT)?;
                setup.test = whole(&line).word(WHAT, &TestType::ALL)?;
                setup.test_line = line.number;
            }
            "end test setup" => return Ok(setup),
            _ => return Err(line.wrong(KNOWN)),
        }
    }
}

fn run_time(reader: &mut Reader<'_>) -> Result<u64, IcfError> {
    reader.takes("hours minutes seconds");
    let line = reader.value("hours, minutes and seconds")?;
    let mut seconds = 0;
    for (field, unit) in exactly(&line, &["hours", "minutes", "seconds"])?.iter().zip([3600, 60, 1])
    {
        seconds += field.number("a time", SECONDS_MAX / unit)? * unit;
    }
    Ok(seconds)
}

fn spawned(reader: &mut Reader<'_>) -> Result<Spawned, IcfError> {
    const WHAT: &str = "NUMBER_OF_CPUS, or a number of workers";
    let line = reader.value(WHAT)?;
    if line.text.eq_ignore_ascii_case("NUMBER_OF_CPUS") {
        return Ok(Spawned::Cpus);
    }
    whole(&line).small(WHAT, WORKERS_MAX).map(Spawned::Count)
}

fn cycle(reader: &mut Reader<'_>) -> Result<Cycle, IcfError> {
    reader.takes("start step step type");
    let line = reader.value("start, step and step type")?;
    let found = exactly(&line, &["start", "step", "step type"])?;
    Ok(Cycle {
        start: found[0].small("the first number", WORKERS_MAX)?,
        step: found[1].small("a step", WORKERS_MAX)?,
        growth: found[2].word("a step type", &GROWTHS)?,
    })
}

fn outstanding(reader: &mut Reader<'_>, setup: &mut Setup) -> Result<(), IcfError> {
    reader.takes("start end step step type");
    let line = reader.value("start, end, step and step type")?;
    let found = exactly(&line, &["start", "end", "step", "step type"])?;
    setup.outstanding_end = found[1].small("the last number", OUTSTANDING_MAX)?;
    setup.outstanding = Cycle {
        start: found[0].small("the first number", OUTSTANDING_MAX)?,
        step: found[2].small("a step", OUTSTANDING_MAX)?,
        growth: found[3].word("a step type", &GROWTHS)?,
    };
    Ok(())
}

/// Section RESULTS DISPLAY, behind its heading: only whether each update is to be recorded
/// matters without a window. Gives the line that asks for it.
pub fn read_display(reader: &mut Reader<'_>) -> Result<Option<usize>, IcfError> {
    const KNOWN: &str = "a setting of RESULTS DISPLAY ('Update Frequency,Update Type, 'Record Last \
                         Update Results,Update Frequency,Update Type, 'Bar chart …) or 'END \
                         results display";
    let mut recorded = None;
    loop {
        let line = reader.next(KNOWN)?;
        match line.heading().unwrap_or_default().as_str() {
            "end results display" => return Ok(recorded),
            "record last update results,update frequency,update type" => {
                let line = reader.value("ENABLED or DISABLED, a frequency and a type")?;
                let found = fields(&line);
                let switch = found.first().map_or(Ok(false), |it| it.switch("a switch"))?;
                recorded = switch.then_some(line.number);
            }
            heading if heading.starts_with("update frequency") => reader.skip_values(),
            heading if heading.starts_with("bar chart") => reader.skip_values(),
            _ => return Err(line.wrong(KNOWN)),
        }
    }
}

/// Section ACCESS SPECIFICATIONS, behind its heading.
pub fn read_specifications(reader: &mut Reader<'_>) -> Result<Vec<Specification>, IcfError> {
    const KNOWN: &str = "'Access specification name,default assignment, or 'END access \
                         specifications";
    const COLUMNS: &str = "'size,% of size,% reads,% random,delay,burst,align,reply";
    let mut found: Vec<Specification> = Vec::new();
    loop {
        let line = reader.next(KNOWN)?;
        match line.heading().unwrap_or_default().as_str() {
            "access specification name,default assignment" => {}
            "end access specifications" => return Ok(found),
            _ => return Err(line.wrong(KNOWN)),
        }
        let (named, name, assignment) = name_and_assignment(reader)?;
        if found.iter().any(|known| known.name.eq_ignore_ascii_case(&name)) {
            return Err(named.wrong("another name: this one is there already"));
        }
        let columns = reader.next(COLUMNS)?;
        if columns.heading().as_deref() != Some(&COLUMNS[1..]) {
            return Err(columns.wrong(COLUMNS));
        }
        found.push(Specification { name, assignment, lines: accesses(reader, columns)? });
    }
}

fn name_and_assignment<'a>(
    reader: &mut Reader<'a>,
) -> Result<(Line<'a>, String, Assignment), IcfError> {
    const EXPECTED: &str = "a name, a comma, and NONE, ALL, DISK or NET";
    let line = reader.value(EXPECTED)?;
    let (name, word) = line.text.rsplit_once(',').ok_or_else(|| line.wrong(EXPECTED))?;
    let known = Assignment::ALL.iter().find(|(_, it)| it.eq_ignore_ascii_case(word.trim()));
    let (assignment, _) = known.ok_or_else(|| line.wrong(EXPECTED))?;
    match name.trim() {
        "" => Err(line.wrong(EXPECTED)),
        name => Ok((line, name.to_owned(), *assignment)),
    }
}

/// The lines of a specification, up to the next heading.
fn accesses(reader: &mut Reader<'_>, columns: Line<'_>) -> Result<Vec<Access>, IcfError> {
    let mut found = Vec::new();
    while reader.peek().is_some_and(|line| !line.is_heading()) {
        let line = reader.value("a line of the specification")?;
        if found.len() == LINES_MAX {
            return Err(line.wrong(format!("at most {LINES_MAX} lines in a specification")));
        }
        found.push(access(&line)?);
    }
    let share: u32 = found.iter().map(|access| access.share).sum();
    match found.last() {
        None => Err(columns.wrong("lines of eight values after this heading")),
        Some(_) if share == 100 => Ok(found),
        Some(last) => Err(IcfError {
            line: last.line,
            column: 1,
            found: format!("{share} in all as % of size"),
            expected: "100: the lines of a specification are all of its I/Os".into(),
        }),
    }
}

fn access(line: &Line<'_>) -> Result<Access, IcfError> {
    const NAMES: [&str; 8] =
        ["size", "% of size", "% reads", "% random", "delay", "burst", "align", "reply"];
    let found = exactly(line, &NAMES)?;
    let size = found[0].number("the bytes of a request", REQUEST_BYTES_MAX)?;
    if size == 0 {
        return Err(found[0].wrong("the bytes of a request, at least 1"));
    }
    Ok(Access {
        line: line.number,
        size,
        share: found[1].small("% of size", 100)?,
        reads: found[2].small("% reads", 100)?,
        random: found[3].small("% random", 100)?,
        delay_ms: found[4].number("a delay in milliseconds", u64::from(u32::MAX))?,
        burst: found[5].number("the I/Os of a burst", u64::from(u32::MAX))?,
        align: found[6].number("the bytes of an alignment", REQUEST_BYTES_MAX)?,
        reply: found[7].number("the bytes of a reply", REQUEST_BYTES_MAX)?,
    })
}
