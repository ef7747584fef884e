//! Memory for I/O: one aligned, page-backed piece for each tag.

use drivelab_core::queue::Trouble;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Page-aligned memory for all tags of a queue; every page is touched before time runs.
#[derive(Debug)]
pub struct Buffers {
    base: *mut u8,
    stride: usize,
    length: usize,
    count: usize,
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
        let flags = MapFlags::PRIVATE | MapFlags::POPULATE;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a fresh anonymous mapping at an address the kernel chooses aliases nothing.
        let base = unsafe { mmap_anonymous(std::ptr::null_mut(), length, protection, flags) }
            .map_err(|_| too_large())?;
        Ok(Buffers { base: base.cast(), stride, length, count })
    }

    /// The start of a tag's memory.
    #[inline]
    pub fn pointer(&self, tag: u32) -> *mut u8 {
        debug_assert!((tag as usize) < self.count);
        // SAFETY: tags are below `count`, so the result stays inside the mapping.
        unsafe { self.base.add(tag as usize * self.stride) }
    }

    /// A tag's memory. Not to be called while the kernel may write to it.
    #[inline]
    pub fn slice(&mut self, tag: u32) -> &mut [u8] {
        let pointer = self.pointer(tag);
        // SAFETY: the piece lies inside the mapping and `&mut self` makes it the only reference;
        // drivers ask for it only before submission or after completion of that tag.
        unsafe { std::slice::from_raw_parts_mut(pointer, self.stride) }
    }

    /// Bytes from one buffer to the next.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// How many buffers there are.
    pub fn count(&self) -> usize {
        self.count
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: base and length are those of the mapping made in `new`, unmapped only here.
        let _ = unsafe { munmap(self.base.cast(), self.length) };
    }
}
