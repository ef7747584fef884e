//! Memory for I/O: one aligned, page-backed piece for each tag.

use drivelab_core::queue::Trouble;

/// Page-aligned memory for all tags of a queue; every page is touched before time runs.
///
/// A piece is either ours or lent to the kernel. What is lent cannot be had as a slice, so that
/// no reference ever covers memory that somebody else writes.
#[derive(Debug)]
pub struct Buffers {
    base: *mut u8,
    stride: usize,
    length: usize,
    lent: Box<[bool]>,
}

// SAFETY: the memory belongs to this value alone; it moves to the worker thread with its queue.
unsafe impl Send for Buffers {}

impl Buffers {
    /// `count` buffers of `bytes` each.
    ///
    /// # Errors
    /// Not enough memory.
    pub fn new(count: usize, bytes: usize) -> Result<Buffers, Trouble> {
        let stride = bytes.max(1).next_multiple_of(4096);
        let too_large = || {
            Trouble::usage(format!(
                "no memory for {count} buffers of {bytes} bytes; use a smaller depth or size"
            ))
        };
        let length = stride.checked_mul(count.max(1)).ok_or_else(too_large)?;
        let base = pages::take(length).ok_or_else(too_large)?;
        Ok(Buffers { base, stride, length, lent: vec![false; count].into() })
    }

    #[inline]
    fn pointer(&self, tag: u32) -> *mut u8 {
        // SAFETY: a tag is below the count wherever this is called, so that the result stays
        // inside the mapping.
        unsafe { self.base.add(tag as usize * self.stride) }
    }

    /// Gives a tag's memory to the kernel, until [`Buffers::take_back`].
    ///
    /// # Panics
    /// There is no such tag, or its memory is lent already.
    #[inline]
    pub fn lend(&mut self, tag: u32) -> *mut u8 {
        let was_lent = std::mem::replace(&mut self.lent[tag as usize], true);
        assert!(!was_lent, "the memory of operation {tag} is lent twice (a defect of drivelab)");
        self.pointer(tag)
    }

    /// A tag's memory is ours again.
    ///
    /// # Safety
    /// Whoever it was lent to must be done with it.
    #[inline]
    pub unsafe fn take_back(&mut self, tag: u32) {
        self.lent[tag as usize] = false;
    }

    /// A tag's memory.
    ///
    /// # Panics
    /// There is no such tag, or the kernel has its memory.
    #[inline]
    pub fn slice(&mut self, tag: u32) -> &mut [u8] {
        let is_lent = self.lent[tag as usize];
        assert!(!is_lent, "operation {tag} is in flight, its memory is not ours (a defect)");
        // SAFETY: the piece lies inside the mapping, nobody else has it, and `&mut self` makes
        // this the only reference to it.
        unsafe { std::slice::from_raw_parts_mut(self.pointer(tag), self.stride) }
    }

    /// Where all of it begins and how long it is, to be registered; nothing may be read or
    /// written by it.
    pub fn whole(&self) -> (*mut u8, usize) {
        (self.base, self.stride * self.count())
    }

    /// Never gives the memory back to the system: somebody may still write there.
    pub fn leak(&mut self) {
        self.length = 0;
    }

    /// Bytes from one buffer to the next.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// How many buffers there are.
    pub fn count(&self) -> usize {
        self.lent.len()
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        if self.length > 0 {
            // SAFETY: base and length are those of `new`, and they are given back only here.
            unsafe { pages::give(self.base, self.length) };
        }
    }
}

/// Pages of the system.
#[cfg(not(miri))]
mod pages {
    use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

    pub(super) fn take(length: usize) -> Option<*mut u8> {
        let flags = MapFlags::PRIVATE | MapFlags::POPULATE;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a fresh anonymous mapping at an address the kernel chooses aliases nothing.
        let base = unsafe { mmap_anonymous(std::ptr::null_mut(), length, protection, flags) };
        base.ok().map(<*mut core::ffi::c_void>::cast)
    }

    /// # Safety
    /// They came from `take` with this length, and nobody uses them.
    pub(super) unsafe fn give(base: *mut u8, length: usize) {
        // SAFETY: as the caller promises.
        let _ = unsafe { munmap(base.cast(), length) };
    }
}

/// Pages of the interpreter, which makes no system calls.
#[cfg(miri)]
mod pages {
    use std::alloc::{Layout, alloc_zeroed, dealloc};

    pub(super) fn take(length: usize) -> Option<*mut u8> {
        let layout = Layout::from_size_align(length, 4096).ok()?;
        // SAFETY: the length is not 0.
        let base = unsafe { alloc_zeroed(layout) };
        (!base.is_null()).then_some(base)
    }

    /// # Safety
    /// They came from `take` with this length, and nobody uses them.
    pub(super) unsafe fn give(base: *mut u8, length: usize) {
        if let Ok(layout) = Layout::from_size_align(length, 4096) {
            // SAFETY: as the caller promises.
            unsafe { dealloc(base, layout) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn what_the_kernel_has_cannot_be_had() {
        let mut buffers = Buffers::new(3, 5000).expect("memory");
        assert_eq!((buffers.stride(), buffers.count(), buffers.whole().1), (8192, 3, 3 * 8192));
        let fails = |attempt: &mut dyn FnMut()| {
            assert!(catch_unwind(AssertUnwindSafe(attempt)).is_err());
        };
        let lent = buffers.lend(1);
        fails(&mut || {
            buffers.slice(1);
        });
        fails(&mut || {
            buffers.lend(1);
        });
        fails(&mut || {
            buffers.slice(3);
        });
        fails(&mut || {
            buffers.lend(3);
        });
        // Neighbours stay ours while the kernel writes, and neither disturbs the other.
        buffers.slice(0).fill(1);
        buffers.slice(2).fill(2);
        // SAFETY: the piece is lent to this test, which plays the kernel.
        unsafe { lent.write_bytes(7, 8192) };
        buffers.slice(0).fill(3);
        // SAFETY: the test is done with it.
        unsafe { buffers.take_back(1) };
        assert!(buffers.slice(1).iter().all(|byte| *byte == 7));
        assert!(buffers.slice(0).iter().all(|byte| *byte == 3));
        assert!(buffers.slice(2).iter().all(|byte| *byte == 2));
    }

    #[test]
    fn what_may_still_be_written_is_never_given_back() {
        let mut buffers = Buffers::new(1, 4096).expect("memory");
        let lent = buffers.lend(0);
        let length = buffers.length;
        buffers.leak();
        drop(buffers);
        // SAFETY: the memory outlives its owner, for that is what was asked for.
        unsafe { lent.write_bytes(7, 4096) };
        // SAFETY: nobody else knows of it any more; it was taken with this length.
        unsafe { pages::give(lent, length) };
    }
}
