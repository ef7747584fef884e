//! mmap: loads and stores on a shared mapping of the whole target.
//!
//! A page that cannot be read raises SIGBUS; the handler puts a page of zeros in its place and
//! remembers, so that the operation ends as an I/O error instead of the process. Source: mmap(2).

use crate::engine::Opened;
use crate::errno::errno;
use crate::opening::Advice as Order;
use crate::sync::Mover;
use drivelab_core::op::{Action, DataOp, Errno};
use drivelab_core::queue::Trouble;
use rustix::mm::{Advice, MapFlags, MsyncFlags, ProtFlags, madvise, mmap, msync, munmap};
use std::cell::Cell;
use std::sync::Once;
use std::sync::atomic::{Ordering::SeqCst, compiler_fence};

const PAGE_BYTES: usize = 4096;

thread_local! {
    /// The mapping this thread works on: base and length; zero length: none.
    static MAPPED: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    static FAULTED: Cell<bool> = const { Cell::new(false) };
}

extern "C" fn on_bus_error(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    _context: *mut libc::c_void,
) {
    // SAFETY: the kernel passes a valid siginfo to a SA_SIGINFO handler.
    let address = unsafe { (*info).si_addr() } as usize;
    let (base, length) = MAPPED.get();
    if address >= base && address < base + length {
        let page = address & !(PAGE_BYTES - 1);
        // SAFETY: replaces one page of our own mapping, which this very thread was touching.
        let replaced = unsafe {
            libc::mmap(
                page as *mut libc::c_void,
                PAGE_BYTES,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
                -1,
                0,
            )
        };
        if replaced != libc::MAP_FAILED {
            FAULTED.set(true);
            return;
        }
    }
    // SAFETY: restoring the default lets the fault kill the process, as it would have.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

fn catch_bus_errors() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: an all-zero sigaction is a valid one to fill in.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
            on_bus_error;
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_SIGINFO;
        // SAFETY: the handler only touches thread-local cells and calls mmap and signal.
        unsafe { libc::sigaction(libc::SIGBUS, &action, std::ptr::null_mut()) };
    });
}

/// A mapping of the whole target.
#[derive(Debug)]
pub struct Map {
    opened: Opened,
    base: *mut u8,
    length: usize,
}

// SAFETY: the mapping belongs to this value alone and moves to one worker thread with it.
unsafe impl Send for Map {}

impl Map {
    /// Maps the whole target; the kernel is told in which `order` its pages will be touched, if in
    /// one.
    ///
    /// # Errors
    /// The target cannot be mapped.
    pub fn new(opened: Opened, writes: bool, order: Option<Order>) -> Result<Self, Trouble> {
        catch_bus_errors();
        let length = usize::try_from(opened.bytes).unwrap_or(0);
        let protection = if writes { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
        let null = std::ptr::null_mut();
        // SAFETY: a new mapping at an address the kernel chooses aliases nothing of ours.
        let base =
            unsafe { mmap(null, length, protection, MapFlags::SHARED, &opened.descriptor, 0) };
        let base = base.map_err(|error| {
            Trouble::usage(format!("the target cannot be mapped: {error}; use another engine"))
        })?;
        if let Some(order) = order {
            let advice = match order {
                Order::InOrder => Advice::Sequential,
                Order::AtRandom => Advice::Random,
            };
            // SAFETY: base and length are those of the mapping just made; this advice changes how
            // far pages are read ahead, and nothing of what they hold.
            let advised = unsafe { madvise(base, length, advice) };
            advised.map_err(|error| {
                Trouble::failed(format!("the mapping takes no advice on its order: {error}"))
            })?;
        }
        Ok(Map { opened, base: base.cast(), length })
    }
}

impl Mover for Map {
    type Op = DataOp;

    #[inline]
    fn transfer(&mut self, op: &DataOp, data: &mut [u8]) -> Result<u32, Errno> {
        if op.action == Action::Flush {
            // SAFETY: base and length are those of the mapping.
            let synced = unsafe { msync(self.base.cast(), self.length, MsyncFlags::SYNC) };
            return synced.map(|()| 0).map_err(errno);
        }
        if op.action.is_a_call_of_its_own() {
            return self.opened.perform(op);
        }
        debug_assert!(data.len() == op.len as usize, "the memory is not as long as the request");
        debug_assert!(matches!(op.action, Action::Read | Action::Write), "neither load nor store");
        let start = usize::try_from(op.offset).unwrap_or(usize::MAX);
        if start.checked_add(data.len()).is_none_or(|end| end > self.length) {
            return Err(Errno(libc::EINVAL));
        }
        MAPPED.set((self.base as usize, self.length));
        FAULTED.set(false);
        // Neither this store nor the later load may move across the copy: the handler stores too.
        compiler_fence(SeqCst);
        // SAFETY: the range was checked to lie in the mapping; `data` is our own buffer, so the
        // two never overlap; a page that cannot be had is replaced by the handler.
        unsafe {
            let target = self.base.add(start);
            if op.action == Action::Read {
                std::ptr::copy_nonoverlapping(target, data.as_mut_ptr(), data.len());
            } else {
                std::ptr::copy_nonoverlapping(data.as_ptr(), target, data.len());
            }
        }
        compiler_fence(SeqCst);
        if FAULTED.get() { Err(Errno(libc::EIO)) } else { Ok(op.len) }
    }

    fn drop_cached(&mut self) -> Result<(), Trouble> {
        // SAFETY: base and length are those of the mapping, which is shared and backed by the
        // file: pages that this thread lets go of are read from it again.
        let dropped = unsafe { madvise(self.base.cast(), self.length, Advice::LinuxDontNeed) };
        dropped.map_err(|error| {
            Trouble::failed(format!("mapped pages cannot be dropped between passes: {error}"))
        })?;
        self.opened.drop_cached()
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        MAPPED.set((0, 0));
        // SAFETY: base and length are those of the mapping made in `new`, unmapped only here.
        let _ = unsafe { munmap(self.base.cast(), self.length) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel has noted of a mapping (`VmFlags` of proc_pid_smaps(5)).
    fn flags(base: usize) -> String {
        let smaps = std::fs::read_to_string("/proc/self/smaps").expect("our mappings");
        let from = smaps.find(&format!("{base:x}-")).expect("the mapping");
        let line = smaps[from..].lines().find(|line| line.starts_with("VmFlags:"));
        format!("{} ", line.expect("its flags"))
    }

    #[test]
    fn the_kernel_knows_in_which_order_pages_will_be_touched() {
        let file = tempfile::tempfile().expect("a file");
        file.set_len(1 << 20).expect("its size");
        for (order, noted) in [
            (None, None),
            (Some(Order::AtRandom), Some(" rr ")),
            (Some(Order::InOrder), Some(" sr ")),
        ] {
            let descriptor = file.try_clone().expect("a descriptor").into();
            let opened = Opened {
                commands: None,
                descriptor,
                is_device: false,
                data_only: false,
                zone_bytes: 0,
                bytes: 1 << 20,
                others: Vec::new(),
            };
            let map = Map::new(opened, true, order).expect("mapped");
            let flags = flags(map.base as usize);
            for word in [" rr ", " sr "] {
                assert_eq!(flags.contains(word), noted == Some(word), "{order:?}: {flags}");
            }
        }
    }
}
