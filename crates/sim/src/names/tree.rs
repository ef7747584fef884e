//! What there is: names, inodes, directories, and the blocks that each call needs and changes.

use super::NamesParameters;
use super::directory::{Blocks, Directory, entry_bytes};
use super::hash::{Keyed, mixed};
use super::layout::{BLOCK_BYTES, Layout};
use drivelab_core::op::Errno;
use std::collections::{BTreeMap, BTreeSet, HashMap};

const NOT_FOUND: Errno = Errno(2);
const EXISTS: Errno = Errno(17);
const NOT_A_DIRECTORY: Errno = Errno(20);
const IS_A_DIRECTORY: Errno = Errno(21);
const NO_SPACE: Errno = Errno(28);
const NOT_EMPTY: Errno = Errno(39);

/// Inodes of the first group that mke2fs takes for itself.
const RESERVED_INODES: u32 = 11;
/// The directory above all.
const ROOT: u32 = 0;
const ROOT_INODE: u64 = 1;

/// Numbers of one group that are given out, the lowest free one first.
#[derive(Debug, Clone, Default)]
struct Numbers {
    next: u64,
    end: u64,
    free: BTreeSet<u64>,
}

impl Numbers {
    fn take(&mut self) -> Option<u64> {
        if let Some(number) = self.free.pop_first() {
            return Some(number);
        }
        (self.next < self.end).then(|| {
            self.next += 1;
            self.next - 1
        })
    }
}

/// A name in a directory.
#[derive(Debug, Clone, Copy)]
struct Entry {
    inode: u64,
    place: u32,
    bytes: u32,
    /// Of a directory, which.
    directory: Option<u32>,
    /// Blocks of its content, the first of which lies here.
    content: Option<(u64, u32)>,
}

/// A name as a call means it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spelt {
    /// The directory in which it is.
    pub parent: u32,
    key: u64,
    bytes: u32,
}

/// The file system.
#[derive(Debug)]
pub(super) struct Tree {
    layout: Layout,
    is_hashed: bool,
    inodes: BTreeMap<u32, Numbers>,
    data: BTreeMap<u32, Numbers>,
    directories: Vec<Directory>,
    names: HashMap<u64, Entry, Keyed>,
    next_group: u32,
}

impl Tree {
    pub fn new(layout: Layout, parameters: &NamesParameters) -> Self {
        let mut tree = Tree {
            layout,
            is_hashed: parameters.is_hashed,
            inodes: BTreeMap::new(),
            data: BTreeMap::new(),
            directories: Vec::new(),
            names: HashMap::default(),
            next_group: 0,
        };
        let block = take_blocks(&tree.layout, &mut tree.data, 0, 1).map_or(0, |(_, block)| block);
        tree.directories.push(Directory::new(ROOT_INODE, block, tree.is_hashed));
        tree
    }

    /// The name at the end of a path from the top.
    ///
    /// # Errors
    /// What stands before it is no directory, or not there.
    pub fn spelt(&self, path: &[u8]) -> Result<Spelt, Errno> {
        let mut parts = path.split(|byte| *byte == b'/').filter(|part| !part.is_empty());
        let mut name = parts.next().ok_or(NOT_FOUND)?;
        let mut parent = ROOT;
        for next in parts {
            let above = self.names.get(&mixed(parent, name)).ok_or(NOT_FOUND)?;
            parent = above.directory.ok_or(NOT_A_DIRECTORY)?;
            name = next;
        }
        Ok(Spelt { parent, key: mixed(parent, name), bytes: entry_bytes(name.len()) })
    }

    fn entry(&self, of: Spelt) -> Result<Entry, Errno> {
        self.names.get(&of.key).copied().ok_or(NOT_FOUND)
    }

    /// A file, or a directory, is made.
    pub fn make(
        &mut self,
        of: Spelt,
        is_directory: bool,
        content_bytes: u64,
        blocks: &mut Blocks,
    ) -> Result<(), Errno> {
        let parent_inode = self.directories[of.parent as usize].inode;
        if self.names.contains_key(&of.key) {
            self.directories[of.parent as usize].way_to((of.key >> 32) as u32, blocks);
            return Err(EXISTS);
        }
        let group = match is_directory {
            true => self.spread_group(),
            false => self.layout.place(parent_inode).0,
        };
        let inode = self.take_inode(group, blocks)?;
        let place = self.insert(of, blocks)?;
        let group = self.layout.place(inode).0;
        let directory = match is_directory {
            true => Some(self.add_directory(inode, group, blocks)?),
            false => None,
        };
        let content = match content_bytes.div_ceil(BLOCK_BYTES) {
            0 => None,
            count => Some((self.take_content(group, count, blocks)?, count as u32)),
        };
        blocks.changed.push(self.layout.inode_block(parent_inode));
        blocks.inode = Some(inode);
        let entry = Entry { inode, place, bytes: of.bytes, directory, content };
        self.names.insert(of.key, entry);
        Ok(())
    }

    /// The blocks of the content of a name.
    pub fn content(&self, of: Spelt) -> impl Iterator<Item = u64> + use<> {
        let content = self.names.get(&of.key).and_then(|entry| entry.content);
        content.into_iter().flat_map(|(first, count)| first..first + u64::from(count))
    }

    /// It is opened and read, or looked at: entry and inode are needed.
    pub fn look(&self, of: Spelt, blocks: &mut Blocks) -> Result<u64, Errno> {
        let place = self.names.get(&of.key).map_or((of.key >> 32) as u32, |entry| entry.place);
        self.directories[of.parent as usize].way_to(place, blocks);
        let entry = self.entry(of)?;
        let block = self.layout.inode_block(entry.inode);
        blocks.looked_at.push(block);
        blocks.inode = Some(entry.inode);
        Ok(block)
    }

    /// Its time stamps change.
    pub fn touch(&self, of: Spelt, blocks: &mut Blocks) -> Result<(), Errno> {
        let block = self.look(of, blocks)?;
        blocks.changed.push(block);
        Ok(())
    }

    /// It gets another name.
    pub fn rename(&mut self, old: Spelt, new: Spelt, blocks: &mut Blocks) -> Result<(), Errno> {
        self.look(old, blocks)?;
        if self.names.contains_key(&new.key) {
            // What had the name before is gone.
            self.remove(new, false, blocks)?;
        }
        let entry = self.entry(old)?;
        let place = self.insert(new, blocks)?;
        self.directories[old.parent as usize].remove(entry.place, entry.bytes, blocks);
        self.names.remove(&old.key);
        self.names.insert(new.key, Entry { place, bytes: new.bytes, ..entry });
        for inode in [
            entry.inode,
            self.directories[old.parent as usize].inode,
            self.directories[new.parent as usize].inode,
        ] {
            blocks.changed.push(self.layout.inode_block(inode));
        }
        Ok(())
    }

    /// It is removed; what it held is free.
    pub fn remove(
        &mut self,
        of: Spelt,
        is_directory: bool,
        blocks: &mut Blocks,
    ) -> Result<Vec<u64>, Errno> {
        self.look(of, blocks)?;
        let entry = self.entry(of)?;
        match (entry.directory, is_directory) {
            (Some(_), false) => return Err(IS_A_DIRECTORY),
            (None, true) => return Err(NOT_A_DIRECTORY),
            (Some(index), true) if self.directories[index as usize].count > 0 => {
                return Err(NOT_EMPTY);
            }
            _ => {}
        }
        self.directories[of.parent as usize].remove(entry.place, entry.bytes, blocks);
        self.names.remove(&of.key);
        let mut freed: Vec<u64> = match entry.directory {
            Some(index) => self.directories[index as usize].blocks().collect(),
            // It stands in the list of orphans meanwhile, which begins in the superblock.
            None => {
                blocks.changed.push(self.layout.superblock());
                Vec::new()
            }
        };
        freed.extend(
            entry.content.iter().flat_map(|(first, count)| *first..*first + u64::from(*count)),
        );
        for block in &freed {
            self.free_block(*block, blocks);
        }
        let (group, index) = self.layout.place(entry.inode);
        self.inodes.entry(group).or_default().free.insert(u64::from(index));
        let parent_inode = self.directories[of.parent as usize].inode;
        blocks.changed.extend([
            self.layout.inode_bitmap(group),
            self.layout.descriptor(group),
            self.layout.inode_block(entry.inode),
            self.layout.inode_block(parent_inode),
        ]);
        Ok(freed)
    }

    /// The entry goes into its directory, which may grow.
    fn insert(&mut self, of: Spelt, blocks: &mut Blocks) -> Result<u32, Errno> {
        let directory = &mut self.directories[of.parent as usize];
        let group = self.layout.place(directory.inode).0;
        let (layout, data) = (&self.layout, &mut self.data);
        let mut counted = Vec::new();
        let mut allocate = || {
            let (group, block) = take_blocks(layout, data, group, 1)?;
            counted.push(group);
            Some(block)
        };
        let place = directory.add((of.key >> 32) as u32, of.bytes, blocks, &mut allocate);
        for group in counted {
            self.count_block(group, blocks);
        }
        place.ok_or(NO_SPACE)
    }

    fn add_directory(&mut self, inode: u64, group: u32, blocks: &mut Blocks) -> Result<u32, Errno> {
        let taken = take_blocks(&self.layout, &mut self.data, group, 1);
        let (of_group, block) = taken.ok_or(NO_SPACE)?;
        self.count_block(of_group, blocks);
        blocks.changed.push(block);
        blocks.made.push(block);
        self.directories.push(Directory::new(inode, block, self.is_hashed));
        Ok(self.directories.len() as u32 - 1)
    }

    /// Directories are spread over the drive, one a group.
    fn spread_group(&mut self) -> u32 {
        self.next_group = (self.next_group + 1) % self.layout.groups();
        self.next_group
    }

    fn take_inode(&mut self, group: u32, blocks: &mut Blocks) -> Result<u64, Errno> {
        let groups = self.layout.groups();
        for group in (group..groups).chain(0..group) {
            let all = u64::from(self.layout.inodes_of_group());
            let next = if group == 0 { u64::from(RESERVED_INODES) } else { 0 };
            let new = || Numbers { next, end: all, free: BTreeSet::new() };
            let Some(index) = self.inodes.entry(group).or_insert_with(new).take() else { continue };
            let inode = u64::from(group) * all + index;
            blocks.changed.extend([
                self.layout.inode_bitmap(group),
                self.layout.descriptor(group),
                self.layout.inode_block(inode),
            ]);
            return Ok(inode);
        }
        Err(NO_SPACE)
    }

    fn take_content(&mut self, group: u32, count: u64, blocks: &mut Blocks) -> Result<u64, Errno> {
        let taken = take_blocks(&self.layout, &mut self.data, group, count);
        let (group, first) = taken.ok_or(NO_SPACE)?;
        self.count_block(group, blocks);
        Ok(first)
    }

    fn count_block(&self, group: u32, blocks: &mut Blocks) {
        blocks.changed.extend([self.layout.block_bitmap(group), self.layout.descriptor(group)]);
    }

    fn free_block(&mut self, block: u64, blocks: &mut Blocks) {
        let group = self.layout.group_of(block);
        if let Some(numbers) = self.data.get_mut(&group) {
            numbers.free.insert(block);
        }
        self.count_block(group, blocks);
    }
}

/// This many blocks of this group, or of the next that has them, and of which.
fn take_blocks(
    layout: &Layout,
    data: &mut BTreeMap<u32, Numbers>,
    group: u32,
    count: u64,
) -> Option<(u32, u64)> {
    let groups = layout.groups();
    for group in (group..groups).chain(0..group) {
        let range = layout.data_of(group);
        let new = || Numbers { next: range.start, end: range.end, free: BTreeSet::new() };
        let numbers = data.entry(group).or_insert_with(new);
        if count == 1 {
            if let Some(block) = numbers.take() {
                return Some((group, block));
            }
        } else if numbers.next + count <= numbers.end {
            numbers.next += count;
            return Some((group, numbers.next - count));
        }
    }
    None
}
