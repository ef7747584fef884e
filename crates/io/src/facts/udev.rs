//! What udev noted of a device when it last looked (`udevadm info` prints the same).

use crate::system::{DeviceNumber, System, read_text};

/// The type of the content, by libblkid's name; `None` where udev is not there or found nothing.
/// What it says may be old: it is good for a second witness, not for the only one.
pub(crate) fn content_type(system: &System, number: DeviceNumber) -> Option<String> {
    let root = system.sysfs.parent()?;
    let text = read_text(&root.join("run/udev/data").join(format!("b{number}")))?;
    let value = |key: &str| {
        let of = |line: &str| {
            line.strip_prefix("E:")?.strip_prefix(key)?.strip_prefix('=').map(str::to_owned)
        };
        text.lines().find_map(of).filter(|value| !value.is_empty())
    };
    value("ID_FS_TYPE").or_else(|| value("ID_PART_TABLE_TYPE"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_udev_found_is_read_from_its_notes() {
        let root = tempfile::tempdir().expect("a directory");
        let system = System::captured(root.path());
        let number = DeviceNumber { major: 8, minor: 1 };
        assert_eq!(content_type(&system, number), None);
        let notes = root.path().join("run/udev/data");
        std::fs::create_dir_all(&notes).expect("a directory");
        let says = |text: &str| {
            std::fs::write(notes.join("b8:1"), text).expect("notes");
            content_type(&system, number)
        };
        let both = "S:disk/by-id/x\nE:ID_FS_TYPE=zfs_member\nE:ID_PART_TABLE_TYPE=gpt\n";
        assert_eq!(says(both).as_deref(), Some("zfs_member"));
        let table = "E:ID_FS_TYPE=\nE:ID_FS_TYPE_X=a\nE:ID_PART_TABLE_TYPE=gpt\n";
        assert_eq!(says(table).as_deref(), Some("gpt"));
        assert_eq!(says("I:12\nG:systemd\n"), None);
    }
}
