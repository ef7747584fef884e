use super::*;
use crate::passthrough::fake::Fake;
use drivelab_core::queue::TroubleKind;
use std::fs;
use std::os::unix::fs::symlink;

/// A tree of two controllers with a namespace each, of which the second has another name among
/// character devices, as it has where a subsystem has several controllers.
struct Machine {
    root: tempfile::TempDir,
}

impl Machine {
    fn new() -> Machine {
        let root = tempfile::tempdir().unwrap();
        let machine = Machine { root };
        machine.namespace("nvme0", ("nvme0n1", "259:0"), ("ng0n1", "243:0"), 1);
        machine.namespace("nvme0", ("nvme0n2", "259:1"), ("ng0n2", "243:1"), 2);
        machine.namespace("nvme1", ("nvme5n1", "259:2"), ("ng1n1", "243:2"), 9);
        machine
    }

    fn namespace(&self, parent: &str, block: (&str, &str), generic: (&str, &str), nsid: u32) {
        let sys = self.root.path().join("sys");
        let parent = sys.join("devices").join(parent);
        for (class, (name, number), index) in
            [("block", block, "dev/block"), ("nvme-generic", generic, "dev/char")]
        {
            let directory = parent.join(name);
            fs::create_dir_all(directory.join("queue")).unwrap();
            fs::write(directory.join("dev"), number).unwrap();
            symlink(&parent, directory.join("device")).unwrap();
            for (place, link) in [(sys.join("class").join(class), name), (sys.join(index), number)]
            {
                fs::create_dir_all(&place).unwrap();
                symlink(&directory, place.join(link)).unwrap();
            }
        }
        let block = parent.join(block.0);
        fs::write(block.join("nsid"), nsid.to_string()).unwrap();
        let of_queue = [
            ("logical_block_size", "4096"),
            ("max_hw_sectors_kb", "512"),
            ("max_segments", "127"),
            ("discard_max_hw_bytes", "2097152"),
        ];
        for (file, text) in of_queue {
            fs::write(block.join("queue").join(file), text).unwrap();
        }
    }

    fn block(&self, parent: &str, name: &str) -> PathBuf {
        self.root.path().join("sys/devices").join(parent).join(name)
    }

    fn system(&self) -> System {
        System::captured(self.root.path())
    }

    fn look(&self, minor: u32) -> Result<Namespace, Trouble> {
        Namespace::of_sysfs(&self.system(), DeviceNumber { major: 259, minor })
    }
}

#[test]
fn a_namespace_is_found_by_its_parent_and_its_number_and_not_by_its_name() {
    let machine = Machine::new();
    for (minor, name, generic, identifier) in
        [(0, "nvme0n1", "ng0n1", 1), (1, "nvme0n2", "ng0n2", 2), (2, "nvme5n1", "ng1n1", 9)]
    {
        let found = machine.look(minor).unwrap();
        assert_eq!((found.name.as_str(), found.identifier), (name, identifier));
        assert_eq!(found.generic, machine.system().dev.join(generic));
        let number = DeviceNumber { major: 243, minor };
        assert_eq!(found.generic_number, Some(number));
        let back = block_of_number(&machine.system(), number);
        assert_eq!(back, Some(machine.system().dev.join(name)));
    }
    let unknown = DeviceNumber { major: 1, minor: 3 };
    assert_eq!(block_of_number(&machine.system(), unknown), None);
    assert_eq!(block_of_generic(&machine.system(), Path::new("/dev/null")), None);
    assert_eq!(block_of_generic(&machine.system(), Path::new("/no/such")), None);
}

#[test]
fn a_command_moves_no_more_than_drive_and_pages_allow() {
    let machine = Machine::new();
    let page = rustix::param::page_size() as u64;
    assert_eq!(machine.look(0).unwrap().request_bytes_max, (512 << 10).min(127 * page));
    assert_eq!(machine.look(0).unwrap().trim_bytes_max, 2 << 20);
    let block = machine.block("nvme0", "nvme0n1");
    fs::write(block.join("queue/max_hw_sectors_kb"), "128").unwrap();
    assert_eq!(machine.look(0).unwrap().request_bytes_max, 128 << 10);
    fs::remove_file(block.join("queue/discard_max_hw_bytes")).unwrap();
    assert_eq!(machine.look(0).unwrap().trim_bytes_max, 0);
}

#[test]
fn what_takes_no_commands_is_refused_with_the_way_out() {
    let machine = Machine::new();
    let said = |minor| {
        let trouble = machine.look(minor).unwrap_err();
        assert_eq!(trouble.kind, TroubleKind::Usage, "{trouble}");
        assert!(trouble.text.contains("--engine io_uring"), "{trouble}");
        trouble.text
    };
    fs::remove_file(machine.root.path().join("sys/class/nvme-generic/ng0n1")).unwrap();
    assert!(said(0).contains("no character device for nvme0n1"), "{}", said(0));
    fs::remove_file(machine.block("nvme0", "nvme0n2").join("nsid")).unwrap();
    assert!(said(1).contains("nvme0n2 is not an NVMe namespace"), "{}", said(1));
    let disk = machine.block("nvme1", "nvme5n1");
    fs::write(disk.join("partition"), "1").unwrap();
    assert!(said(2).contains("nvme5n1 is a partition"), "{}", said(2));
    let gone = machine.look(7).unwrap_err();
    assert!(gone.text.contains("no longer"), "{gone}");
}

/// A namespace with the format of this number in force.
fn described(flbas: u8, metadata: u16, shift: u8, protection: u8) -> Result<(), Trouble> {
    let mut fake = Fake::nvme(1);
    fake.described.resize(4096, 0);
    fake.described[26] = flbas;
    fake.described[29] = protection;
    let format = usize::from(flbas & 0xf | (flbas & 0x60) >> 1);
    let place = 128 + 4 * format;
    fake.described[place..place + 2].copy_from_slice(&metadata.to_le_bytes());
    fake.described[place + 2] = shift;
    let namespace = Namespace {
        name: "nvme0n1".into(),
        identifier: fake.own,
        block_bytes: 4096,
        ..Namespace::default()
    };
    namespace.check_blocks(&mut fake)
}

#[test]
fn blocks_with_metadata_are_refused() {
    described(0, 0, 12, 0).unwrap();
    described(3, 0, 12, 0).unwrap();
    described(0x20 | 1, 0, 12, 0).unwrap();
    let said = |protection| described(1, 8, 12, protection).unwrap_err().text;
    assert!(said(0).contains("8 bytes of metadata with each block"), "{}", said(0));
    assert!(said(1).contains("metadata with protection information"), "{}", said(1));
    assert!(said(1).contains("--engine io_uring"), "{}", said(1));
    let other = described(0, 0, 9, 0).unwrap_err().text;
    assert!(other.contains("2^9 bytes, and the kernel says 4096"), "{other}");
}
