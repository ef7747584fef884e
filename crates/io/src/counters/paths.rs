//! What the paths of a drive counted, where the kernel counts on them and not on the drive: native
//! NVMe multipath before Linux 6.2.

use crate::facts::hidden_paths;
use crate::system::{read_number, read_text};
use std::path::Path;

/// The fields of `stat` of all paths, added up; so busy is at most what they were together.
pub(super) fn counted(disk: &Path) -> Option<Vec<u64>> {
    let mut sum: Vec<u64> = Vec::new();
    for path in hidden_paths(disk) {
        // One that counts nothing would make the others look like all.
        if read_number::<u8>(&path.join("queue/iostats")) == Some(0) {
            return None;
        }
        let text = read_text(&path.join("stat"))?;
        let fields: Option<Vec<u64>> = text.split_whitespace().map(|it| it.parse().ok()).collect();
        let fields = fields?;
        sum.resize(sum.len().max(fields.len()), 0);
        sum.iter_mut().zip(fields).for_each(|(sum, field)| *sum = sum.saturating_add(field));
    }
    (sum.len() >= 11).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_two_paths_counted_is_added_up_and_a_blind_one_makes_it_unknown() {
        let root = tempfile::tempdir().expect("a directory");
        let subsystem = root.path().join("nvme-subsys0");
        let disk = subsystem.join("nvme0n1");
        fs::create_dir_all(&disk).expect("a disk");
        std::os::unix::fs::symlink(&subsystem, disk.join("device")).expect("its subsystem");
        fs::write(subsystem.join("iopolicy"), "numa\n").expect("a policy");
        assert_eq!(counted(&disk), None, "no path at all");
        for (controller, reads) in [(0, 5), (1, 7)] {
            let path = subsystem.join(format!("nvme{controller}/nvme0c{controller}n1"));
            fs::create_dir_all(path.join("queue")).expect("a path");
            fs::write(path.join("stat"), format!("{reads} 0 8 0 1 0 16 0 0 3 4 0 0 0 0 2 1\n"))
                .expect("counters");
            // Of the drive's other namespace.
            let other = subsystem.join(format!("nvme{controller}/nvme0c{controller}n2"));
            fs::create_dir_all(other).expect("a path");
        }
        let sum = counted(&disk).expect("counters");
        assert_eq!(sum, [12, 0, 16, 0, 2, 0, 32, 0, 0, 6, 8, 0, 0, 0, 0, 4, 2]);
        let blind = subsystem.join("nvme1/nvme0c1n1/queue/iostats");
        fs::write(blind, "0\n").expect("switched off");
        assert_eq!(counted(&disk), None);
    }
}
