//! Who works: the disk workers of the one machine, with what is assigned to them.

use super::USAGE;
use super::drive::bare;
use super::icf::{Access, Assignment, Icf, Spawned, Specification, Worker};
use crate::front::{Refusal, World};

/// The workers of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Workers {
    /// All of them, in order; those without a target do nothing.
    pub all: Vec<Worker>,
    /// The target, with its line, if one is named.
    pub target: Option<(usize, String)>,
    /// The machine as the file calls it, if it does.
    pub machine: Option<String>,
}

/// A refusal at a line of the file.
pub fn refused(file: &str, line: usize, text: &str, advice: &str) -> Refusal {
    Refusal::new(USAGE, format!("{file}:{line}: {text}"), advice)
}

/// The workers that a file names, or those that Iometer would make.
///
/// # Errors
/// Several machines or drives, network workers, and targets that are opened again and again.
pub fn of(icf: &Icf, file: &str, world: &dyn World) -> Result<Workers, Refusal> {
    let Some(machines) = &icf.machines else {
        return Ok(Workers { all: made(icf, world), target: None, machine: None });
    };
    let mut busy = machines.iter().filter(|machine| !machine.workers.is_empty());
    let first = busy.next();
    if let (Some(one), Some(two)) = (first, busy.next()) {
        let text = format!(
            "`{}` is a second manager after `{}`, and one machine is measured at a time",
            two.name, one.name
        );
        return Err(refused(file, two.line, &text, "split the file, and run each on its machine"));
    }
    let all = first.map_or_else(Vec::new, |machine| machine.workers.clone());
    for worker in &all {
        let name = &worker.name;
        if let Some(kind) = &worker.network {
            let text = format!("worker `{name}` is of type {kind}, and only disks are measured");
            return Err(refused(file, worker.line, &text, "remove it from the file"));
        }
        if let Some((line, transactions)) = worker.connection {
            let text = format!(
                "Test Connection Rate: worker `{name}` opens and closes its target around every \
                 {transactions} transactions, which is not done here"
            );
            return Err(refused(file, line, &text, "write DISABLED to keep it open"));
        }
    }
    let target = target(&all, file)?;
    Ok(Workers { all, target, machine: first.map(|machine| machine.name.clone()) })
}

/// The one target of all workers.
fn target(workers: &[Worker], file: &str) -> Result<Option<(usize, String)>, Refusal> {
    let mut targets = workers.iter().flat_map(|worker| &worker.targets);
    let Some(first) = targets.next() else { return Ok(None) };
    let other = targets.find(|(_, name)| bare(name) != bare(&first.1));
    other.map_or(Ok(Some(first.clone())), |(line, name)| {
        let text = format!(
            "target `{name}` is a second one after `{}`, and one drive is measured at a time",
            first.1
        );
        Err(refused(file, *line, &text, "make a file of each target, and run them one by one"))
    })
}

/// The workers that a new manager gets, with the specifications that are assigned by default.
fn made(icf: &Icf, world: &dyn World) -> Vec<Worker> {
    let count = match icf.setup.disk_workers {
        Spawned::Cpus => world.host().cpus.max(1),
        Spawned::Count(count) => count,
    };
    let is_default =
        |it: &&Specification| matches!(it.assignment, Assignment::All | Assignment::Disk);
    let names = icf.specifications.iter().filter(is_default).map(|it| (0, it.name.clone()));
    let assigned: Vec<(usize, String)> = names.collect();
    let worker = |number| Worker {
        assigned: assigned.clone(),
        ..Worker::disk(0, format!("Worker {number}"))
    };
    (1..=count).map(worker).collect()
}

/// The specification of a name; `None` for the one that does nothing.
///
/// # Errors
/// A name that the file does not define and Iometer does not have of itself.
pub fn specification(
    icf: &Icf,
    file: &str,
    assigned: &(usize, String),
) -> Result<Option<Specification>, Refusal> {
    let (line, name) = assigned;
    let known = icf.specifications.iter().find(|it| it.name.eq_ignore_ascii_case(name));
    if let Some(known) = known {
        return Ok(Some(known.clone()));
    }
    match name.to_ascii_lowercase().as_str() {
        "idle" => Ok(None),
        "default" => Ok(Some(default_specification())),
        _ => Err(refused(
            file,
            *line,
            &format!("there is no access specification `{name}`"),
            "define it in the section ACCESS SPECIFICATIONS",
        )),
    }
}

/// What Iometer has without a file: 2 KiB, two reads to a write, random.
fn default_specification() -> Specification {
    let access = Access {
        line: 0,
        size: 2048,
        share: 100,
        reads: 67,
        random: 100,
        delay_ms: 0,
        burst: 1,
        align: 0,
        reply: 0,
    };
    Specification { name: "Default".into(), assignment: Assignment::All, lines: vec![access] }
}
