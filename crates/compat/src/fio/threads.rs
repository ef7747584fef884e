//! What a job says of the thread that does it: priorities, and the NUMA nodes that it uses.

use super::reading::Given;
use super::settings::{Settings, Wrong};
use super::value::BadValue;
use super::words::STATUS;
use crate::front::{Found, Refusal, World};
use crate::option::Care;
use drivelab_core::plan::{IoClass, IoPriority, MemoryMode, MemoryPolicy};
use drivelab_core::validate::cpu_list;

/// Options that tell the kernel something of a job's threads or requests.
pub const TOLD: [&str; 8] = [
    "prio",
    "prioclass",
    "priohint",
    "cmdprio_percentage",
    "cmdprio_bssplit",
    "nice",
    "numa_cpu_nodes",
    "numa_mem_policy",
];

/// Where the kernel lists the nodes of a machine.
const NODES: &str = "/sys/devices/system/node";

const LEVEL: BadValue = BadValue::wants("0, the highest, to 7");
const CLASS: BadValue = BadValue::wants("1 (realtime), 2 (best effort) or 3 (idle)");
const NICE: BadValue = BadValue::wants("a whole number from -20 to 19");
const POLICY: BadValue = BadValue::wants(
    "default, local, prefer:NODE, bind:NODES or interleave:NODES, where NODES is such as 0-1",
);

/// `prio`: of best effort where no class is said.
pub fn prio(to: &mut Settings, it: &Given<'_>) -> Result<(), Wrong> {
    let level = it.number()?;
    let level = u8::try_from(level).ok().filter(|level| *level <= IoPriority::LEVEL_MAX);
    to.kernel.io_priority.get_or_insert_default().level = level.ok_or(LEVEL)?;
    Ok(())
}

/// `prioclass`.
pub fn prioclass(to: &mut Settings, it: &Given<'_>) -> Result<(), Wrong> {
    let class = match it.number()? {
        1 => IoClass::Realtime,
        2 => IoClass::BestEffort,
        3 => IoClass::Idle,
        _ => return Err(CLASS.into()),
    };
    to.kernel.io_priority.get_or_insert_default().class = class;
    Ok(())
}

/// `nice`.
pub fn nice(to: &mut Settings, it: &Given<'_>) -> Result<(), Wrong> {
    let nice = it.text().trim().parse::<i8>().ok().filter(|nice| (-20..=19).contains(nice));
    to.kernel.nice = Some(nice.ok_or(NICE)?);
    Ok(())
}

/// `numa_cpu_nodes`.
pub fn cpu_nodes(to: &mut Settings, it: &Given<'_>) -> Result<(), Wrong> {
    to.kernel.cpu_nodes = match it.text() {
        "all" => String::new(),
        list => nodes(list)?,
    };
    Ok(())
}

/// `numa_mem_policy`.
pub fn memory(to: &mut Settings, it: &Given<'_>) -> Result<(), Wrong> {
    let (mode, list) = match it.text().split_once(':') {
        Some((mode, list)) => (mode, Some(list)),
        None => (it.text(), None),
    };
    let of = |mode, nodes| Some(MemoryPolicy { mode, nodes });
    to.kernel.memory = match (mode, list) {
        ("default", None) => None,
        ("local", None) => of(MemoryMode::Local, String::new()),
        ("prefer", Some(node)) => {
            node.parse::<u32>().map_err(|_| POLICY)?;
            of(MemoryMode::Prefer, node.to_owned())
        }
        ("bind", Some(list)) => of(MemoryMode::Bind, nodes(list)?),
        ("interleave", Some(list)) => of(MemoryMode::Interleave, nodes(list)?),
        ("interleave", None) => {
            return Err(Wrong::NotHere(Care::instead("say the nodes: interleave:0-1")));
        }
        _ => return Err(POLICY.into()),
    };
    Ok(())
}

fn nodes(list: &str) -> Result<String, Wrong> {
    let is_list = !list.is_empty() && cpu_list(list).is_ok();
    match is_list {
        true => Ok(list.to_owned()),
        false => Err(Wrong::Value("numbers of nodes, such as 0-1,3".into())),
    }
}

/// Refuses nodes that this machine does not have, as far as it lists any.
///
/// # Errors
/// The first one that is not there.
pub fn are_here(settings: &Settings, world: &dyn World) -> Result<(), Refusal> {
    let thread = &settings.kernel;
    let memory = thread.memory.as_ref().map_or("", |memory| memory.nodes.as_str());
    let is_there = |node: u32| world.found(&format!("{NODES}/node{node}")) == Found::Directory;
    for list in [thread.cpu_nodes.as_str(), memory] {
        let nodes = cpu_list(list).unwrap_or_default();
        let absent = nodes.into_iter().find(|node| !is_there(*node));
        if let Some(node) = absent.filter(|_| is_there(0)) {
            return Err(Refusal::new(
                STATUS,
                format!("fio: this machine has no NUMA node {node}"),
                format!("`ls {NODES}` shows those of this machine."),
            ));
        }
    }
    Ok(())
}
