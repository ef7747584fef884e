//! The control blocks of kernel AIO: one for each tag, and those that are to be submitted.
//!
//! The kernel reads a block, and writes its key, while `io_submit` runs, through pointers that
//! were made before other blocks were filled in. So the blocks are cells, and no reference to
//! their inside is ever made: a unique one to the next would forbid the pointers to the last.

use drivelab_core::op::Tag;
use std::cell::UnsafeCell;

/// `struct iocb` of linux/aio_abi.h, little endian.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Iocb {
    pub(super) data: u64,
    pub(super) key: u32,
    pub(super) rw_flags: i32,
    pub(super) opcode: u16,
    pub(super) priority: i16,
    pub(super) descriptor: u32,
    pub(super) buffer: u64,
    pub(super) bytes: u64,
    pub(super) offset: i64,
    pub(super) reserved: u64,
    pub(super) flags: u32,
    pub(super) event_descriptor: u32,
}

const _: () = assert!(size_of::<Iocb>() == 64);

/// Blocks for all tags of a queue.
#[derive(Debug)]
pub(super) struct Blocks {
    blocks: Box<[UnsafeCell<Iocb>]>,
    pointers: Vec<*mut Iocb>,
    tags: Vec<Tag>,
}

// SAFETY: the pointers lead into `blocks`, which moves with them and never grows.
unsafe impl Send for Blocks {}

impl Blocks {
    pub(super) fn new(depth: usize) -> Blocks {
        Blocks {
            blocks: (0..depth).map(|_| UnsafeCell::new(Iocb::default())).collect(),
            pointers: Vec::with_capacity(depth),
            tags: Vec::with_capacity(depth),
        }
    }

    /// Fills in the block of a tag that is not in flight, and queues it.
    #[inline]
    pub(super) fn push(&mut self, tag: Tag, block: Iocb) {
        let pointer = self.blocks[tag as usize].get();
        // SAFETY: the cell is ours alone until the block is submitted.
        unsafe { pointer.write(block) };
        self.pointers.push(pointer);
        self.tags.push(tag);
    }

    /// How many are queued.
    pub(super) fn len(&self) -> usize {
        self.tags.len()
    }

    /// The queued ones from the `from`th on, as `io_submit` takes them; good until the next call
    /// of anything here.
    pub(super) fn list(&mut self, from: usize) -> (usize, *mut *mut Iocb) {
        let rest = &mut self.pointers[from..];
        (rest.len(), rest.as_mut_ptr())
    }

    /// The tags of the queued ones, in order.
    pub(super) fn tags(&self) -> &[Tag] {
        &self.tags
    }

    /// Forgets those that were submitted.
    pub(super) fn clear(&mut self) {
        self.pointers.clear();
        self.tags.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_stay_what_they_are_while_others_are_filled_in() {
        let mut blocks = Blocks::new(3);
        for tag in [2, 0, 1] {
            let data = u64::from(tag) + 10;
            blocks.push(tag, Iocb { data, ..Iocb::default() });
        }
        assert_eq!((blocks.len(), blocks.tags()), (3, &[2, 0, 1][..]));
        for from in [0, 1] {
            let (count, list) = blocks.list(from);
            assert_eq!(count, 3 - from);
            for index in 0..count {
                // SAFETY: as the kernel does: reads the block, writes its key.
                let data = unsafe {
                    let block = *list.add(index);
                    (*block).key = 7;
                    (*block).data
                };
                assert_eq!(data, [12, 10, 11][from + index]);
            }
        }
        blocks.clear();
        blocks.push(1, Iocb { data: 5, ..Iocb::default() });
        let (count, list) = blocks.list(0);
        // SAFETY: as above.
        assert_eq!((count, unsafe { (**list).data }), (1, 5));
    }
}
