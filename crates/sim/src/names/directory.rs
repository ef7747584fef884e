//! A directory as blocks: a hashed tree that splits, or names in the order in which they came.

use std::collections::BTreeMap;

/// Bytes of a block for entries: the rest is its checksum.
pub(super) const LEAF_BYTES: u32 = 4084;
/// What `.` and `..` take of the only block.
const DOTS_BYTES: u32 = 24;
/// Blocks that the root of the tree can tell, and that one below it can.
pub(super) const ROOT_ENTRIES: usize = 507;
pub(super) const NODE_ENTRIES: u32 = 510;

/// Bytes of the entry of a name of this many.
pub(super) fn entry_bytes(name_bytes: usize) -> u32 {
    (8 + name_bytes as u32).next_multiple_of(4)
}

/// A block of entries.
#[derive(Debug, Clone)]
struct Leaf {
    block: u64,
    used: u32,
    /// Place and bytes of each.
    entries: Vec<(u32, u32)>,
}

/// A block between the root and the leaves.
#[derive(Debug, Clone, Copy)]
struct Node {
    block: u64,
    leaves: u32,
}

/// The blocks that a call needed of a directory, and those that it changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Blocks {
    /// Looked at, in this order.
    pub looked_at: Vec<u64>,
    /// Changed.
    pub changed: Vec<u64>,
    /// Made, of those that changed.
    pub made: Vec<u64>,
    /// The inode that it was about.
    pub inode: Option<u64>,
}

/// One directory.
#[derive(Debug, Clone)]
pub(super) struct Directory {
    /// Its inode.
    pub inode: u64,
    /// Entries.
    pub count: u64,
    is_hashed: bool,
    /// Names that came so far, by which those of a list have their place.
    came: u32,
    /// Its first block, which becomes the root of the tree.
    root: u64,
    /// By the first place of each.
    leaves: BTreeMap<u32, Leaf>,
    /// By the first place of each; empty while the root tells all leaves.
    nodes: BTreeMap<u32, Node>,
}

impl Directory {
    /// An empty one.
    pub fn new(inode: u64, block: u64, is_hashed: bool) -> Self {
        let leaf = Leaf { block, used: DOTS_BYTES, entries: Vec::new() };
        Directory {
            inode,
            count: 0,
            is_hashed,
            came: 0,
            root: block,
            leaves: BTreeMap::from([(0, leaf)]),
            nodes: BTreeMap::new(),
        }
    }

    /// All of its blocks.
    pub fn blocks(&self) -> impl Iterator<Item = u64> {
        let leaves = self.leaves.values().map(|leaf| leaf.block);
        let nodes = self.nodes.values().map(|node| node.block);
        let root = (self.leaves.len() > 1 && self.is_hashed).then_some(self.root);
        root.into_iter().chain(nodes).chain(leaves)
    }

    fn is_tree(&self) -> bool {
        self.is_hashed && self.leaves.len() > 1
    }

    /// What is read on the way to a place.
    pub fn way_to(&self, place: u32, blocks: &mut Blocks) {
        if self.is_tree() {
            blocks.looked_at.push(self.root);
            let node = self.nodes.range(..=place).next_back();
            blocks.looked_at.extend(node.map(|(_, node)| node.block));
        }
        let leaf = self.leaves.range(..=place).next_back();
        blocks.looked_at.extend(leaf.map(|(_, leaf)| leaf.block));
    }

    /// Adds an entry, and says its place; `allocate` gives blocks.
    pub fn add(
        &mut self,
        hash: u32,
        bytes: u32,
        blocks: &mut Blocks,
        allocate: &mut dyn FnMut() -> Option<u64>,
    ) -> Option<u32> {
        let place = if self.is_hashed { hash } else { self.came };
        self.way_to(place, blocks);
        let (from, leaf) = self.leaves.range(..=place).next_back()?;
        let from = *from;
        if leaf.used + bytes > LEAF_BYTES {
            match self.is_hashed {
                true => self.split(from, blocks, allocate)?,
                false => self.append(blocks, allocate)?,
            }
        }
        let (_, leaf) = self.leaves.range_mut(..=place).next_back()?;
        leaf.used += bytes;
        leaf.entries.push((place, bytes));
        blocks.changed.push(leaf.block);
        self.count += 1;
        self.came += 1;
        Some(place)
    }

    /// Takes the entry at a place out.
    pub fn remove(&mut self, place: u32, bytes: u32, blocks: &mut Blocks) {
        self.way_to(place, blocks);
        let Some((_, leaf)) = self.leaves.range_mut(..=place).next_back() else { return };
        if let Some(index) = leaf.entries.iter().position(|entry| *entry == (place, bytes)) {
            leaf.entries.swap_remove(index);
            leaf.used -= bytes;
            self.count -= 1;
        }
        blocks.changed.push(leaf.block);
    }

    /// A list goes on in a new block.
    fn append(
        &mut self,
        blocks: &mut Blocks,
        allocate: &mut dyn FnMut() -> Option<u64>,
    ) -> Option<()> {
        let block = allocate()?;
        blocks.changed.push(block);
        blocks.made.push(block);
        self.leaves.insert(self.came, Leaf { block, used: 0, entries: Vec::new() });
        Some(())
    }

    /// The upper half of a full leaf goes to a new one.
    fn split(
        &mut self,
        from: u32,
        blocks: &mut Blocks,
        allocate: &mut dyn FnMut() -> Option<u64>,
    ) -> Option<()> {
        let was_tree = self.is_tree();
        let mut make = |blocks: &mut Blocks| {
            let block = allocate()?;
            blocks.changed.push(block);
            blocks.made.push(block);
            Some(block)
        };
        if !was_tree {
            // The only block becomes the root, and its entries move.
            let moved = make(blocks)?;
            let leaf = self.leaves.get_mut(&from)?;
            (leaf.block, leaf.used) = (moved, leaf.used - DOTS_BYTES);
            blocks.changed.push(self.root);
        }
        let block = make(blocks)?;
        let leaf = self.leaves.get_mut(&from)?;
        leaf.entries.sort_unstable();
        let mut moved_bytes = 0;
        let mut first = leaf.entries.len();
        while first > 1 && moved_bytes + leaf.entries[first - 1].1 / 2 <= LEAF_BYTES / 2 {
            first -= 1;
            moved_bytes += leaf.entries[first].1;
        }
        // Equal hashes stay together, or one of them would not be found.
        while first > 1 && leaf.entries[first - 1].0 == leaf.entries[first].0 {
            first -= 1;
            moved_bytes += leaf.entries[first].1;
        }
        let entries = leaf.entries.split_off(first);
        leaf.used -= moved_bytes;
        blocks.changed.push(leaf.block);
        let place = entries.first()?.0;
        self.leaves.insert(place, Leaf { block, used: moved_bytes, entries });
        self.tell(place, blocks, &mut make)
    }

    /// The index tells of a new leaf.
    fn tell(
        &mut self,
        place: u32,
        blocks: &mut Blocks,
        make: &mut dyn FnMut(&mut Blocks) -> Option<u64>,
    ) -> Option<()> {
        if self.nodes.is_empty() {
            blocks.changed.push(self.root);
            if self.leaves.len() > ROOT_ENTRIES {
                let block = make(blocks)?;
                self.nodes.insert(0, Node { block, leaves: self.leaves.len() as u32 });
            }
            return Some(());
        }
        let (from, node) = self.nodes.range_mut(..=place).next_back()?;
        node.leaves += 1;
        blocks.changed.push(node.block);
        if node.leaves > NODE_ENTRIES {
            let (kept, from) = (node.leaves / 2, *from);
            let more = node.leaves - kept;
            node.leaves = kept;
            let first = self.leaves.range(from..).nth(kept as usize)?;
            let first = *first.0;
            let block = make(blocks)?;
            self.nodes.insert(first, Node { block, leaves: more });
            blocks.changed.push(self.root);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(number: u32) -> u32 {
        (super::super::hash::mixed(0, &number.to_le_bytes()) >> 32) as u32
    }

    /// This many names of 16 bytes an entry, and the blocks of the last.
    fn filled(names: u32, is_hashed: bool) -> (Directory, Blocks) {
        let mut directory = Directory::new(12, 100, is_hashed);
        let mut next = 100;
        let mut last = Blocks::default();
        for number in 0..names {
            last = Blocks::default();
            let mut allocate = || {
                next += 1;
                Some(next)
            };
            directory.add(spread(number), 16, &mut last, &mut allocate).unwrap();
        }
        (directory, last)
    }

    /// A block holds (4084 - 24) / 16 = 253 entries; the next one makes root and two leaves of it.
    #[test]
    fn the_254th_name_splits_the_block() {
        assert_eq!(entry_bytes(7), 16);
        let (whole, last) = filled(253, true);
        assert_eq!(whole.blocks().collect::<Vec<_>>(), [100]);
        assert_eq!((last.looked_at, last.changed), (vec![100], vec![100]));
        let (split, last) = filled(254, true);
        assert_eq!(last.made, [101, 102], "entries move to one new block, half of them to another");
        let mut changed = last.changed;
        changed.sort_unstable();
        changed.dedup();
        assert_eq!(changed, [100, 101, 102]);
        assert_eq!(split.blocks().collect::<Vec<_>>(), [100, 101, 102]);
        let sizes: Vec<usize> = split.leaves.values().map(|leaf| leaf.entries.len()).collect();
        // 127 or 128 of them are half of a block; the new one comes to either.
        assert_eq!(sizes.iter().sum::<usize>(), 254);
        assert!(sizes.iter().all(|size| (125..=129).contains(size)), "{sizes:?}");
    }

    /// A list needs as many blocks as its bytes fill, and a look at one of them.
    #[test]
    fn a_list_grows_at_its_end() {
        let (list, last) = filled(253 + 255 + 1, false);
        assert_eq!(list.blocks().collect::<Vec<_>>(), [100, 101, 102]);
        assert_eq!((last.made, last.changed), (vec![102], vec![102, 102]));
        let mut found = Blocks::default();
        list.way_to(0, &mut found);
        assert_eq!(found.looked_at, [100]);
    }

    /// What is found stands in the leaf that the index tells, however often it was split.
    #[test]
    fn entries_stand_where_the_index_tells() {
        let (mut tree, _) = filled(300_000, true);
        assert!(tree.leaves.len() > ROOT_ENTRIES, "{} leaves", tree.leaves.len());
        let told: u32 = tree.nodes.values().map(|node| node.leaves).sum();
        assert_eq!(told as usize, tree.leaves.len());
        assert!(tree.nodes.len() > 1 && tree.nodes.values().all(|it| it.leaves <= NODE_ENTRIES));
        for leaf in tree.leaves.values() {
            let used: u32 = leaf.entries.iter().map(|(_, bytes)| bytes).sum();
            assert!(used == leaf.used && used <= LEAF_BYTES, "{} of {used}", leaf.used);
        }
        let mut blocks = Blocks::default();
        for number in 0..300_000 {
            tree.remove(spread(number), 16, &mut blocks);
        }
        assert_eq!(tree.count, 0, "each was where it was looked for");
        assert_eq!(blocks.looked_at.len(), 3 * 300_000, "root, node and leaf");
        // A split leaves half-full leaves: they are about 69 % full in the long run.
        let fill = 300_000.0 * 16.0 / (tree.leaves.len() as f64 * f64::from(LEAF_BYTES));
        assert!((0.6..0.8).contains(&fill), "{fill}");
    }
}
