//! The tree of directories as mdtest numbers and names it.

/// A tree in which every directory but the deepest has the same number of directories in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    depth: u64,
    branching: u64,
    directories: u64,
    leaves_only: bool,
}

impl Tree {
    /// A tree of at most this many directories.
    pub fn new(depth: u64, branching: u64, leaves_only: bool, max: u64) -> Option<Self> {
        let (mut level, mut directories) = (1u64, 1u64);
        if depth >= max || (depth > 0 && branching == 0) {
            return None;
        }
        for _ in 0..depth {
            level = level.checked_mul(branching)?;
            directories = directories.checked_add(level).filter(|all| *all <= max)?;
        }
        Some(Tree { depth, branching, directories, leaves_only })
    }

    /// All directories.
    pub fn directories(&self) -> u64 {
        self.directories
    }

    /// Those in which items are.
    pub fn with_items(&self) -> u64 {
        if self.leaves_only { self.branching.pow(self.depth as u32) } else { self.directories }
    }

    /// The numbers of all directories in the order in which they are made: each before what is in
    /// it.
    pub fn from_the_root(&self) -> Vec<u64> {
        let mut order = Vec::new();
        let mut open = vec![0];
        while let Some(number) = open.pop() {
            order.push(number);
            let first = number * self.branching + 1;
            if first < self.directories {
                open.extend((first..first + self.branching).rev());
            }
        }
        order
    }

    /// The numbers in the order in which they are removed: each after what is in it.
    pub fn to_the_root(&self) -> Vec<u64> {
        let mut order = Vec::new();
        // What is put in twice is looked into the first time, and removed the second.
        let mut open = vec![(0, false)];
        while let Some((number, is_empty)) = open.pop() {
            let first = number * self.branching + 1;
            if is_empty || first >= self.directories {
                order.push(number);
                continue;
            }
            open.push((number, true));
            open.extend((first..first + self.branching).rev().map(|child| (child, false)));
        }
        order
    }

    /// The numbers of those in which items are, in the order in which they are made.
    pub fn items_from_the_root(&self) -> Vec<u64> {
        self.from_the_root().into_iter().filter(|number| self.has_items(*number)).collect()
    }

    /// The numbers of those in which items are, level by level.
    pub fn items_by_level(&self) -> Vec<u64> {
        (0..self.directories).filter(|number| self.has_items(*number)).collect()
    }

    fn has_items(&self, number: u64) -> bool {
        !self.leaves_only || self.depth == 0 || number * self.branching + 1 >= self.directories
    }

    /// The path of a directory, from the test directory on. In a tree of each task's own its number
    /// stands in every name.
    pub fn path(&self, number: u64, unique: bool) -> String {
        let name = |number: u64| match unique {
            true => format!("mdtest_tree.{{worker}}.{number}"),
            false => format!("mdtest_tree.{number}"),
        };
        let mut names = vec![name(number)];
        let mut above = number;
        while above > 0 {
            above = (above - 1) / self.branching.max(1);
            names.push(name(above));
        }
        names.reverse();
        names.join("/")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_that_of_mdtest() {
        let tree = Tree::new(2, 2, false, 100).unwrap();
        assert_eq!((tree.directories(), tree.with_items()), (7, 7));
        // As mdtest 4.0.0 made and removed them.
        assert_eq!(tree.from_the_root(), [0, 1, 3, 4, 2, 5, 6]);
        assert_eq!(tree.to_the_root(), [3, 4, 1, 5, 6, 2, 0]);
        assert_eq!(tree.items_by_level(), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(tree.path(4, false), "mdtest_tree.0/mdtest_tree.1/mdtest_tree.4");
        assert_eq!(
            tree.path(5, true),
            "mdtest_tree.{worker}.0/mdtest_tree.{worker}.2/mdtest_tree.{worker}.5"
        );
        let leaves = Tree::new(1, 2, true, 100).unwrap();
        assert_eq!((leaves.with_items(), leaves.items_from_the_root()), (2, vec![1, 2]));
    }

    #[test]
    fn one_directory_is_a_tree() {
        for tree in [Tree::new(0, 1, false, 1), Tree::new(0, 0, true, 1)] {
            let tree = tree.unwrap();
            assert_eq!((tree.directories(), tree.with_items()), (1, 1));
            assert_eq!((tree.from_the_root(), tree.to_the_root()), (vec![0], vec![0]));
            assert_eq!(
                (tree.items_by_level(), tree.path(0, false)),
                (vec![0], "mdtest_tree.0".into())
            );
        }
        let chain = Tree::new(3, 1, true, 10).unwrap();
        assert_eq!(chain.items_by_level(), [3]);
        assert_eq!(chain.to_the_root(), [3, 2, 1, 0]);
    }

    #[test]
    fn too_many_directories_are_no_tree() {
        assert_eq!(Tree::new(5, 5, false, 1000), None);
        assert_eq!(Tree::new(u64::MAX, 1, false, 1000), None);
        assert_eq!(Tree::new(2, u64::MAX, false, 1000), None);
        assert!(Tree::new(1, 999, false, 1000).is_some());
    }
}
