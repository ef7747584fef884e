//! Section MANAGER LIST: copies of Dynamo with their workers, specifications and targets.

use super::reader::{IcfError, Reader};
use super::values::{exactly, whole};
use super::{DataPattern, Machine, Worker};

const OUTSTANDING_MAX: u32 = 65_536;

/// The section, behind its heading.
pub fn read(reader: &mut Reader<'_>) -> Result<Vec<Machine>, IcfError> {
    const KNOWN: &str = "'Manager ID, manager name, or 'END manager list";
    let mut found = Vec::new();
    loop {
        let line = reader.next(KNOWN)?;
        match line.heading().unwrap_or_default().as_str() {
            "manager id,manager name" => found.push(machine(reader)?),
            "end manager list" => return Ok(found),
            _ => return Err(line.wrong(KNOWN)),
        }
    }
}

fn machine(reader: &mut Reader<'_>) -> Result<Machine, IcfError> {
    const NAMED: &str = "a number, a comma, and a name";
    const KNOWN: &str = "'Manager network address, 'Worker, or 'End manager";
    let line = reader.value(NAMED)?;
    let (_, name) = line.text.split_once(',').ok_or_else(|| line.wrong(NAMED))?;
    let (address, workers) = (String::new(), Vec::new());
    let mut found = Machine { line: line.number, name: name.trim().to_owned(), address, workers };
    loop {
        let line = reader.next(KNOWN)?;
        match line.heading().unwrap_or_default().as_str() {
            "manager network address" => reader.text().clone_into(&mut found.address),
            "worker" => found.workers.push(worker(reader)?),
            "end manager" => return Ok(found),
            _ => return Err(line.wrong(KNOWN)),
        }
    }
}

fn worker(reader: &mut Reader<'_>) -> Result<Worker, IcfError> {
    const KNOWN: &str = "'Worker type, 'Default target settings for worker, 'Assigned access \
                         specs, 'Target assignments, or 'End worker";
    let line = reader.value("the name of a worker")?;
    let mut found = Worker::disk(line.number, line.text);
    loop {
        let line = reader.next(KNOWN)?;
        match line.heading().unwrap_or_default().as_str() {
            "worker type" => {
                let line = reader.value("the type of a worker: DISK, or a network type")?;
                if !line.text.eq_ignore_ascii_case("DISK") {
                    found.network = Some(line.text.to_owned());
                    return over(reader, found);
                }
            }
            "default target settings for worker" => settings(reader, &mut found)?,
            "assigned access specs" => found.assigned = assigned(reader)?,
            "target assignments" => found.targets = targets(reader)?,
            "end worker" => return Ok(found),
            _ => return Err(line.wrong(KNOWN)),
        }
    }
}

/// What a network worker holds is not read.
fn over(reader: &mut Reader<'_>, worker: Worker) -> Result<Worker, IcfError> {
    while !reader.takes("end worker") {
        reader.next("'End worker")?;
    }
    Ok(worker)
}

fn settings(reader: &mut Reader<'_>, worker: &mut Worker) -> Result<(), IcfError> {
    const KNOWN: &str = "'Number of outstanding IOs,test connection rate,transactions per \
                         connection, 'Disk maximum size,starting sector (both with or without \
                         the columns of 1.1.0), or 'End default target settings for worker";
    const QUEUE: &str =
        "number of outstanding ios,test connection rate,transactions per connection";
    const PLACE: &str = "disk maximum size,starting sector";
    loop {
        let line = reader.next(KNOWN)?;
        let heading = line.heading().unwrap_or_default();
        if heading == "end default target settings for worker" {
            return Ok(());
        }
        match (heading.strip_prefix(QUEUE), heading.strip_prefix(PLACE)) {
            (Some(""), _) => queue(reader, worker, false)?,
            (Some(",use fixed seed,fixed seed value"), _) => queue(reader, worker, true)?,
            (_, Some("")) => place(reader, worker, &[])?,
            (_, Some(",data pattern")) => {
                place(
                    reader,
                    worker,
                    &[
                        (DataPattern::RepeatingBytes, "0"),
                        (DataPattern::PseudoRandom, "1"),
                        (DataPattern::FullRandom, "2"),
                    ],
                )?;
            }
            // Test builds between 2006.07.27 and 1.1.0.
            (_, Some(",use random data")) => {
                place(
                    reader,
                    worker,
                    &[(DataPattern::Unsaid, "0"), (DataPattern::FullRandom, "1")],
                )?;
            }
            _ => return Err(line.wrong(KNOWN)),
        }
    }
}

fn queue(reader: &mut Reader<'_>, worker: &mut Worker, has_seed: bool) -> Result<(), IcfError> {
    const NAMES: [&str; 5] = [
        "outstanding IOs",
        "test connection rate",
        "transactions per connection",
        "use fixed seed",
        "fixed seed value",
    ];
    let line = reader.value("outstanding I/Os, test connection rate and transactions")?;
    let found = exactly(&line, if has_seed { &NAMES } else { &NAMES[..3] })?;
    worker.outstanding = found[0].small("outstanding I/Os", OUTSTANDING_MAX)?;
    if worker.outstanding == 0 {
        return Err(found[0].wrong("outstanding I/Os, at least 1"));
    }
    let transactions = found[2].number("transactions per connection", u64::MAX)?;
    worker.connection = found[1]
        .switch("whether targets are opened and closed again and again")?
        .then_some((line.number, transactions));
    if let [_, _, _, switch, seed] = found.as_slice() {
        let seed = seed.number("a seed", u64::MAX)?;
        worker.seed = switch.switch("whether the seed is fixed")?.then_some(seed);
    }
    Ok(())
}

/// Sectors, and what is written if the file has a column for it.
fn place(
    reader: &mut Reader<'_>,
    worker: &mut Worker,
    patterns: &[(DataPattern, &str)],
) -> Result<(), IcfError> {
    const NAMES: [&str; 3] = ["maximum size", "starting sector", "data pattern"];
    const SECTORS_MAX: u64 = u64::MAX / super::SECTOR_BYTES / 2;
    let line = reader.value("maximum size and starting sector")?;
    let found = exactly(&line, if patterns.is_empty() { &NAMES[..2] } else { &NAMES })?;
    worker.maximum_sectors = found[0].number("a size in sectors", SECTORS_MAX)?;
    worker.starting_sector = found[1].number("a sector", SECTORS_MAX)?;
    if let Some(pattern) = found.get(2) {
        worker.pattern = pattern.word("a data pattern", patterns)?;
    }
    Ok(())
}

fn assigned(reader: &mut Reader<'_>) -> Result<Vec<(usize, String)>, IcfError> {
    const KNOWN: &str = "the name of an access specification, or 'End assigned access specs";
    let mut found = Vec::new();
    while !reader.takes("end assigned access specs") {
        let line = reader.value(KNOWN)?;
        found.push((line.number, line.text.to_owned()));
    }
    Ok(found)
}

fn targets(reader: &mut Reader<'_>) -> Result<Vec<(usize, String)>, IcfError> {
    const KNOWN: &str = "'Target, or 'End target assignments";
    let mut found = Vec::new();
    loop {
        let line = reader.next(KNOWN)?;
        match line.heading().unwrap_or_default().as_str() {
            "end target assignments" => return Ok(found),
            "target" => {}
            _ => return Err(line.wrong(KNOWN)),
        }
        let line = reader.value("the name of a target")?;
        found.push((line.number, line.text.to_owned()));
        if reader.takes("target type") {
            whole(&reader.value("DISK")?).word("the type of a disk target", &[((), "DISK")])?;
        }
        if !reader.takes("end target") {
            return Err(reader.next("'End target")?.wrong("'Target type, or 'End target"));
        }
    }
}
