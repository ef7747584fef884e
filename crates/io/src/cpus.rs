//! Which CPUs a thread may use.

use drivelab_core::queue::Trouble;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Reads a list such as `0-3,8`.
///
/// # Errors
/// Not a list of CPU numbers.
pub fn parse(list: &str) -> Result<Vec<usize>, Trouble> {
    let bad = || {
        Trouble::usage(format!("`{list}` is no list of CPUs; write numbers and ranges as 0-3,8"))
    };
    let mut cpus = Vec::new();
    for part in list.split(',').filter(|part| !part.trim().is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let first: usize = first.trim().parse().map_err(|_| bad())?;
        let last: usize = last.trim().parse().map_err(|_| bad())?;
        if first > last || last >= CpuSet::MAX_CPU {
            return Err(bad());
        }
        cpus.extend(first..=last);
    }
    Ok(cpus)
}

/// CPUs this thread may use now.
pub fn allowed() -> Vec<usize> {
    let set = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
    (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect()
}

/// Confines this thread to `cpus`; an empty list changes nothing.
///
/// # Errors
/// None of the CPUs may be used here.
pub fn confine(cpus: &[usize]) -> Result<(), Trouble> {
    if cpus.is_empty() {
        return Ok(());
    }
    let mut set = CpuSet::new();
    cpus.iter().for_each(|cpu| set.set(*cpu));
    sched_setaffinity(None, &set).map_err(|error| {
        Trouble::usage(format!(
            "CPUs {cpus:?} cannot be used here ({error}); allowed are {:?}",
            allowed()
        ))
    })
}
