//! Which CPUs a thread may use.

use drivelab_core::queue::Trouble;
use drivelab_core::validate::cpu_list;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Reads a list such as `0-3,8`.
///
/// # Errors
/// Not a list of CPU numbers, or one beyond what the kernel's masks hold.
pub fn parse(list: &str) -> Result<Vec<usize>, Trouble> {
    let cpus: Vec<usize> =
        cpu_list(list).map_err(Trouble::usage)?.into_iter().map(|cpu| cpu as usize).collect();
    match cpus.last() {
        Some(last) if *last >= CpuSet::MAX_CPU => {
            Err(Trouble::usage(format!("there is no CPU {last} here; allowed are {:?}", allowed())))
        }
        _ => Ok(cpus),
    }
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

/// Keeps this thread off the CPUs that measure, until it is dropped; where every CPU measures there
/// is nothing to leave for.
#[derive(Debug)]
pub struct Aside {
    before: Vec<usize>,
}

/// Moves this thread to the CPUs that `measuring` leaves free.
pub fn stand_aside(measuring: &[usize]) -> Aside {
    let before = allowed();
    let others: Vec<usize> =
        before.iter().copied().filter(|cpu| !measuring.contains(cpu)).collect();
    if others.len() < before.len() {
        let _ = confine(&others);
    }
    Aside { before }
}

impl Drop for Aside {
    fn drop(&mut self) {
        let _ = confine(&self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_stands_aside_and_comes_back() {
        let before = allowed();
        let (measuring, others) = before.split_first().expect("this thread runs somewhere");
        let aside = stand_aside(&[*measuring]);
        assert_eq!(allowed(), if others.is_empty() { &before } else { others });
        drop(aside);
        assert_eq!(allowed(), before);
        let nowhere = stand_aside(&before);
        assert_eq!(allowed(), before);
        drop(nowhere);
    }
}
