//! Large tables of 32-bit numbers: huge pages and prefetching, the only `unsafe` of this crate.
//!
//! A translation table of a large drive has no locality: each access is a cache miss and, on small
//! pages, a miss of the address translation too.
#![expect(unsafe_code, reason = "prefetch and madvise have no safe form")]

/// A number that stands for nothing.
pub const NONE: u32 = u32::MAX;

/// Bytes of a huge page.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// An entry of a table that was never set.
pub const UNTOUCHED: u32 = NONE - 1;

/// A fixed table of 32-bit numbers, all [`UNTOUCHED`] at first: what is never set takes no memory.
///
/// Numbers up to [`NONE`] − 2, and [`NONE`], can be set.
#[derive(Debug, Clone)]
pub struct Table {
    /// Two above the numbers, around the end: fresh memory, which is zero, stands for `UNTOUCHED`.
    entries: Vec<u32>,
}

/// What zero stands for, as it is kept.
const SHIFT: u32 = 0_u32.wrapping_sub(UNTOUCHED);

impl Table {
    /// A table of `len` entries.
    pub fn new(len: usize) -> Self {
        let mut entries = vec![0; len];
        if len * 4 >= 2 * HUGE_PAGE_BYTES {
            advise_huge_pages(entries.as_mut_ptr().cast(), len * 4);
        }
        Table { entries }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it has no entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entry at `index`.
    ///
    /// # Panics
    /// When there is none.
    #[inline]
    pub fn get(&self, index: u32) -> u32 {
        self.entries[index as usize].wrapping_sub(SHIFT)
    }

    /// Sets the entry at `index`.
    ///
    /// # Panics
    /// When there is none.
    #[inline]
    pub fn set(&mut self, index: u32, value: u32) {
        self.entries[index as usize] = value.wrapping_add(SHIFT);
    }

    /// Asks for the memory of the entry at `index`, which need not exist.
    #[inline]
    pub fn prefetch(&self, index: u32) {
        prefetch(&self.entries, index as usize);
    }
}

/// `len` times the same number, on huge pages where they are many.
pub fn numbers(len: usize, number: u32) -> Vec<u32> {
    let mut entries: Vec<u32> = Vec::with_capacity(len);
    if len * 4 >= 2 * HUGE_PAGE_BYTES {
        advise_huge_pages(entries.as_mut_ptr().cast(), len * 4);
    }
    entries.resize(len, number);
    entries
}

/// Asks for the memory of `entries[index]`, which need not exist.
#[inline]
pub fn prefetch<T>(entries: &[T], index: usize) {
    let address = entries.as_ptr().wrapping_add(index);
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing and faults at no address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Asks the kernel for huge pages; where it has none, small ones serve.
fn advise_huge_pages(start: *mut u8, bytes: usize) {
    let offset = start.align_offset(HUGE_PAGE_BYTES);
    if offset >= bytes {
        return;
    }
    let length = (bytes - offset) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    if length == 0 {
        return;
    }
    // SAFETY: the range lies inside of an allocation that we own, and MADV_HUGEPAGE changes how it
    // is mapped, never what it holds.
    unsafe {
        libc::madvise(start.add(offset).cast(), length, libc::MADV_HUGEPAGE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_holds_what_was_set_and_nothing_else() {
        let mut table = Table::new(3 << 20);
        table.set(0, 7);
        table.set((3 << 20) - 1, 9);
        table.prefetch(5);
        table.prefetch(u32::MAX);
        assert_eq!((table.get(0), table.get(1), table.get((3 << 20) - 1)), (7, UNTOUCHED, 9));
        table.set(1, NONE);
        assert_eq!(table.get(1), NONE);
        assert_eq!(table.len(), 3 << 20);
    }
}
