//! What a worker tells the kernel of its thread: priorities, and the NUMA nodes that it uses.

use crate::cpus;
use drivelab_core::plan::{MemoryMode, MemoryPolicy, ThreadSettings};
use drivelab_core::queue::Trouble;
use drivelab_core::validate::cpu_list;
use std::path::Path;

/// `ioprio_set` of a process or thread.
const WHO_PROCESS: libc::c_int = 1;
/// Nodes that a mask has room for.
const NODES_MAX: u32 = 1024;

/// Tells the kernel of this thread.
///
/// # Errors
/// The kernel refuses it, or there is no such node.
pub fn apply(settings: &ThreadSettings) -> Result<(), Trouble> {
    if !settings.cpu_nodes.is_empty() {
        let mut all = Vec::new();
        for node in cpu_list(&settings.cpu_nodes).map_err(Trouble::usage)? {
            all.extend(cpus::parse(&cpus_of(node)?)?);
        }
        cpus::confine(&all)?;
    }
    if let Some(policy) = &settings.memory {
        take_memory(policy)?;
    }
    if let Some(priority) = settings.io_priority {
        let number = libc::c_long::from(priority.number());
        // SAFETY: ioprio_set takes three numbers; 0 is the calling thread.
        let status =
            unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS as libc::c_long, 0, number) };
        refused(status, "the priority of its I/O cannot be set")?;
    }
    if let Some(nice) = settings.nice {
        // SAFETY: setpriority takes three numbers; 0 is the calling thread.
        let status = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, i32::from(nice)) };
        refused(status.into(), "the nice value cannot be set")?;
    }
    Ok(())
}

fn refused(status: libc::c_long, what: &str) -> Result<(), Trouble> {
    let error = std::io::Error::last_os_error();
    match status {
        0 => Ok(()),
        _ => Err(Trouble::usage(format!("{what}: {error}; run as root, or ask for less"))),
    }
}

/// The CPUs of a node, as the kernel lists them.
fn cpus_of(node: u32) -> Result<String, Trouble> {
    let nodes = Path::new("/sys/devices/system/node");
    let list = std::fs::read_to_string(nodes.join(format!("node{node}/cpulist")));
    list.map(|text| text.trim().to_owned())
        .map_err(|_| Trouble::usage(format!("this machine has no NUMA node {node}")))
}

fn take_memory(policy: &MemoryPolicy) -> Result<(), Trouble> {
    let mode = match policy.mode {
        MemoryMode::Bind => libc::MPOL_BIND,
        MemoryMode::Prefer => libc::MPOL_PREFERRED,
        MemoryMode::Interleave => libc::MPOL_INTERLEAVE,
        MemoryMode::Local => libc::MPOL_LOCAL,
    };
    let mut mask = [0u64; (NODES_MAX / u64::BITS) as usize];
    for node in cpu_list(&policy.nodes).map_err(Trouble::usage)? {
        let word = mask.get_mut((node / u64::BITS) as usize);
        let word =
            word.ok_or_else(|| Trouble::usage(format!("this machine has no NUMA node {node}")))?;
        *word |= 1 << (node % u64::BITS);
    }
    // A mode without nodes takes no mask.
    let (pointer, bits) = match policy.mode {
        MemoryMode::Local => (std::ptr::null(), 0),
        _ => (mask.as_ptr(), NODES_MAX + 1),
    };
    // SAFETY: the mask lives through the call and has as many bits as are named, less one, which
    // is how the kernel counts them.
    let status = unsafe {
        libc::syscall(
            libc::SYS_set_mempolicy,
            libc::c_long::from(mode),
            pointer,
            libc::c_ulong::from(bits),
        )
    };
    refused(status, &format!("memory cannot come from NUMA nodes {}", policy.nodes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::plan::{IoClass, IoPriority};

    /// Does it on a thread of its own, and says what became of that.
    fn on_a_thread<T: Send + 'static>(
        settings: ThreadSettings,
        look: fn() -> T,
    ) -> (Result<(), String>, T) {
        let work = move || (apply(&settings).map_err(|trouble| trouble.text), look());
        std::thread::spawn(work).join().expect("the thread ends")
    }

    fn io_priority() -> libc::c_long {
        // SAFETY: ioprio_get takes two numbers.
        unsafe { libc::syscall(libc::SYS_ioprio_get, libc::c_long::from(WHO_PROCESS), 0) }
    }

    #[test]
    fn the_kernel_is_told_of_priorities_of_this_thread_alone() {
        let before = io_priority();
        for (class, number) in [(IoClass::BestEffort, 2), (IoClass::Idle, 3)] {
            let settings = ThreadSettings {
                io_priority: Some(IoPriority { class, level: 5, hint: 0 }),
                nice: Some(7),
                ..ThreadSettings::default()
            };
            let look = || {
                // SAFETY: getpriority takes two numbers.
                (io_priority(), unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) })
            };
            let (done, (priority, nice)) = on_a_thread(settings, look);
            assert_eq!(done, Ok(()));
            assert_eq!((priority, nice), (number << 13 | 5, 7));
        }
        assert_eq!(io_priority(), before);
    }

    #[test]
    fn a_node_that_is_not_there_is_named() {
        let nowhere = ThreadSettings { cpu_nodes: "900".into(), ..ThreadSettings::default() };
        let (done, ()) = on_a_thread(nowhere, || ());
        assert_eq!(done, Err("this machine has no NUMA node 900".to_string()));
        let memory = MemoryPolicy { mode: MemoryMode::Bind, nodes: "900".into() };
        let nowhere = ThreadSettings { memory: Some(memory), ..ThreadSettings::default() };
        assert!(on_a_thread(nowhere, || ()).0.is_err());
    }

    #[test]
    fn memory_comes_from_the_node_that_is_there() {
        if !Path::new("/sys/devices/system/node/node0").exists() {
            let nowhere = ThreadSettings { cpu_nodes: "0".into(), ..ThreadSettings::default() };
            assert!(on_a_thread(nowhere, || ()).0.is_err(), "a kernel without NUMA");
            return;
        }
        for mode in [MemoryMode::Bind, MemoryMode::Interleave, MemoryMode::Prefer] {
            let memory = MemoryPolicy { mode, nodes: "0".into() };
            let settings = ThreadSettings {
                cpu_nodes: "0".into(),
                memory: Some(memory),
                ..ThreadSettings::default()
            };
            let policy = || {
                let mut mode: libc::c_int = -1;
                // SAFETY: the kernel writes one number, and no mask.
                let status = unsafe {
                    libc::syscall(libc::SYS_get_mempolicy, &mut mode, 0usize, 0usize, 0usize, 0)
                };
                (status, mode)
            };
            let (done, (status, found)) = on_a_thread(settings, policy);
            assert_eq!((done, status), (Ok(()), 0));
            assert_ne!(found, libc::MPOL_DEFAULT);
        }
    }
}
