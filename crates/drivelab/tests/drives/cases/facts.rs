//! What is known of a drive before it is used, held against the drives' own tools.

mod block;
mod farm;
mod nvme;
mod scsi;
mod witness;

use super::health::smartctl;
use super::purges::with_scripted;
use crate::guest::{PATIENCE, by_two, kernel_name, node};
use crate::support::binary::{Laboratory, kind_of, must};
pub use nvme::same_errors;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use witness::Witness;

/// All drives but the one that has data with protection information.
const NAMES: [&str; 10] =
    ["first", "second", "coarse", "zones", "paths", "sata", "scsi", "virtio", "stick", "card"];

pub fn list() -> Value {
    Laboratory::new().run(["list", "--json"], PATIENCE).expect_status(0).json()
}

/// What `list` knows of a drive.
#[track_caller]
pub fn of(list: &Value, name: &str) -> Value {
    of_node(list, &kernel_name(name)).clone()
}

/// What `list` knows of the device of this node.
#[track_caller]
pub fn of_node<'a>(list: &'a Value, node: &str) -> &'a Value {
    let kernel = node.trim_start_matches("/dev/");
    let devices = list["devices"].as_array().expect("devices");
    let found = devices.iter().find(|device| device["name"] == kernel);
    found.unwrap_or_else(|| panic!("{kernel} is not in {list}"))
}

/// D8, D12: zones, paths and memory are told in the table.
pub fn listed() {
    must("modprobe", ["-r", "null_blk"]);
    must("modprobe", ["null_blk", "nr_devices=1", "gb=1"]);
    let said = Laboratory::new().run(["list"], PATIENCE).expect_status(0).stdout;
    let line = |kernel: &str| {
        let line = said.lines().find(|line| line.starts_with(&format!("/dev/{kernel} ")));
        line.unwrap_or_else(|| panic!("no {kernel} in {said}")).to_owned()
    };
    let told = |kernel: &str, words: &str| {
        let line = line(kernel);
        assert!(line.contains(words), "{words:?} is not in {line:?}");
    };
    told("nullb0", "memory, not a drive");
    told(&kernel_name("zones"), "host-managed zones");
    told(&kernel_name("paths"), "2 paths");
    assert!(!line(&kernel_name("first")).contains("memory"));
    must("modprobe", ["-r", "null_blk"]);
}

/// Fields that no other tool tells, and why.
const WITHOUT_WITNESS: [(&str, &str); 11] = [
    ("backing", "words of drivelab for what lies below a loop device's file"),
    ("wear.critical_warning", "of NVMe drives, where nvme smart-log holds it; else 0"),
    ("queue_settable", "what drivelab itself may do"),
    ("wear_unknown", "words of drivelab"),
    ("wear.used_from", "words of drivelab; its cases hold them"),
    ("wear.written_from", "words of drivelab; its cases hold them"),
    ("wear.flash_written_from", "words of drivelab; its cases hold them"),
    ("wear.written_unit_bytes", "from the standard, not from the drive"),
    ("wear.flash_written_unit_bytes", "from the standard, not from the drive"),
    ("wear.self_test.last.how", "words of drivelab; its cases hold them"),
    ("numa_node", "the guest has one node, of which tools say nothing"),
];

/// Fields that the driver of a layer, a virtual disk or a card makes up itself: only its files show
/// them.
const OF_DRIVERS: [(&str, &str); 5] = [
    ("write_cache", "queue/write_cache"),
    ("fua", "queue/fua"),
    ("world_wide_name", "wwid"),
    ("firmware", "device/fwrev"),
    ("serial", "serial"),
];

/// All that is known of a device, next to what every other tool says of it; what does not agree, or
/// was given and compared with nothing.
pub fn hold(list: &Value, node: &str) -> Vec<String> {
    let kernel = node.trim_start_matches("/dev/");
    let mut witness = Witness::new(of_node(list, node));
    let row = block::by_lsblk(node);
    block::device(&mut witness, node, &row);
    if witness.ours()["zones"].is_object() {
        block::zones(&mut witness, node);
    }
    // A partition has the files of its disk.
    let own = std::fs::canonicalize(Path::new("/sys/class/block").join(kernel)).expect("a device");
    let disk = if own.join("partition").exists() { own.join("..") } else { own };
    let subsystems = row["subsystems"].to_string();
    let is_whole = witness.ours()["layer"] == "disk";
    match kernel {
        _ if !is_whole => {}
        name if name.starts_with("nvme") => nvme::device(&mut witness, node),
        name if name.starts_with("sd") => of_scsi_layer(&mut witness, node, &row),
        name if name.starts_with("mmc") => scsi::card(&mut witness, &disk),
        _ if subsystems.contains("virtio") => witness.equal("transport", "virtio", "lsblk"),
        _ => {}
    }
    if !is_whole || kernel.starts_with("mmc") || kernel.starts_with("vd") {
        let is_part = witness.ours()["layer"] == "partition";
        let files = OF_DRIVERS.into_iter().filter(|(_, it)| !is_part || it.starts_with("queue"));
        for (path, file) in files {
            let text = std::fs::read_to_string(disk.join(file)).ok();
            let text = text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
            match (path, text) {
                ("fua", Some(text)) => witness.equal(path, text == "1", file),
                (_, text) => witness.where_told(path, text, file),
            }
        }
    }
    witness.end(&WITHOUT_WITNESS)
}

fn of_scsi_layer(witness: &mut Witness, node: &str, row: &Value) {
    scsi::device(witness, node, &row["subsystems"].to_string());
    let theirs = smartctl(node);
    if witness.ours()["wear"].is_object() {
        scsi::health(witness, &theirs);
    }
    let vendor = sysfs_of(node, "device/vendor");
    if vendor == "ATA" {
        scsi::ata(witness, node, &theirs);
        farm::of_ata(witness, node);
    } else if witness.ours()["wear"].is_object() {
        scsi::logs(witness, node);
        farm::of_scsi(witness, node);
    }
    match row["tran"].as_str() {
        Some("iscsi") => witness.equal("transport", "iscsi", "lsblk"),
        _ if vendor == "ATA" => scsi::ahci(witness),
        _ => {}
    }
}

/// The kernel's own name of a node: without udev a volume's is no link to it.
pub fn node_of_kernel(node: &str) -> String {
    let number = rustix::fs::stat(node).expect("a node").st_rdev;
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let link = std::fs::read_link(format!("/sys/dev/block/{major}:{minor}")).expect("a device");
    format!("/dev/{}", link.file_name().expect("a name").to_string_lossy())
}

fn sysfs_of(node: &str, file: &str) -> String {
    let path = format!("/sys/block/{}/{file}", node.trim_start_matches("/dev/"));
    std::fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

/// One drive of each kind, and the others: further namespaces of a drive that is among the first.
const OF_EACH_KIND: [&str; 8] =
    ["first", "zones", "paths", "sata", "scsi", "virtio", "stick", "card"];
const OTHERS: [&str; 3] = ["second", "coarse", "protected"];

/// What does not hold of these drives.
fn wrong_of(list: &Value, names: &[&str]) -> Vec<String> {
    let wrong = Mutex::new(Vec::new());
    // Namespaces of one controller count together: what reads one must not move another meanwhile.
    let is_nvme = |name: &&str| kernel_name(name).starts_with("nvme");
    let groups: [Vec<&str>; 2] = names.iter().copied().partition(is_nvme).into();
    by_two(&groups, |names| {
        for name in names {
            let found = hold(list, &node(name));
            wrong.lock().expect("what was found").extend(found);
        }
    });
    wrong.into_inner().expect("what was found")
}

/// The same of what the short boot leaves out.
pub fn equal_of_others() {
    let all: BTreeSet<&str> = OF_EACH_KIND.into_iter().chain(OTHERS).collect();
    assert_eq!(all, NAMES.into_iter().chain(["protected"]).collect(), "each drive is held once");
    let wrong = wrong_of(&list(), &OTHERS);
    assert_eq!(wrong, Vec::<String>::new(), "{}", wrong.join("\n"));
}

/// Every field of every drive is what another tool says, or stands in a table with the reason why
/// there is none.
pub fn equal() {
    // One zone of each state that a command can bring it to, and something on a drive and over it.
    let zoned = node("zones");
    let sectors = (16u64 << 20) / 512;
    for (number, action) in [(1, "open"), (2, "open"), (2, "close"), (3, "finish")] {
        let offset = (number * sectors).to_string();
        must("blkzone", [action, "--offset", &offset, "--count", "1", &zoned]);
    }
    let held = node("virtio");
    must("mkfs.ext4", ["-q", &held]);
    std::fs::create_dir_all("/run/held").expect("a directory");
    must("mount", [&held, "/run/held"]);
    let list = list();
    let wrong = wrong_of(&list, &OF_EACH_KIND);
    must("umount", ["/run/held"]);
    must("wipefs", ["--all", "--quiet", &held]);
    must("blkzone", ["reset", &zoned]);
    assert_eq!(wrong, Vec::<String>::new(), "{}", wrong.join("\n"));
    let zones = &of(&list, "zones")["zones"];
    let count = |word: &str| zones[word].as_u64();
    assert!(count("partly_written") > Some(0) && count("full") == Some(1), "{zones}");
    assert_eq!(of(&list, "virtio")["serial"], "DLVIRT01", "as it was made");
    assert_eq!(of(&list, "paths")["paths"].as_array().map(Vec::len), Some(2));
}

/// What QEMU's drives do not have: sleep by itself, which is turned off and on, placement of data,
/// atomic writes of a namespace.
pub fn of_scripted() {
    with_scripted(&["is_rich=1"], |node| {
        for value in ["0", "1"] {
            let words = ["set-feature", node, "--feature-id=0x0c", "--data-len=256", "--value"];
            let zeros = std::env::temp_dir().join("zeros");
            std::fs::write(&zeros, [0; 256]).expect("a file");
            let data = format!("--data={}", zeros.display());
            must("nvme", [&words[..], &[value, &data]].concat());
            let list = list();
            let ours = &of_node(&list, node)["nvme"];
            assert_eq!(hold(&list, node), Vec::<String>::new());
            assert_eq!(ours["apst"], if value == "1" { "on" } else { "off" }, "{ours}");
            assert_eq!(ours["places_data"], true, "{ours}");
            assert_eq!(ours["atomic_writes"]["boundary_bytes"], 64 * 512, "{ours}");
            assert_eq!(ours["nguid"], "5a".repeat(16), "{ours}");
        }
    });
}

/// D1: native multipath of this kernel counts on the paths, not on the drive.
pub fn paths() {
    let node = node("paths");
    let laboratory = Laboratory::new();
    let token = laboratory.token(&node);
    let line = ["run", &node, "--rw", "write", "--bs", "128k", "--operations", "512", "--json"];
    let mut outcomes = Vec::new();
    outcomes.push(laboratory.run([&line[..], &["--erase", &token]].concat(), PATIENCE));
    let line = ["run", &node, "--rw", "randread", "--bs", "4k", "--size", "64m", "--json"];
    outcomes.push(laboratory.run([&line[..], &["--operations", "2000"]].concat(), PATIENCE));
    for outcome in outcomes {
        let json = outcome.json();
        let step = json["steps"].as_array().expect("steps").last().expect("a step").clone();
        assert_ne!(step["valid"], false, "{step}");
        assert_ne!(outcome.status, Some(4), "{outcome:?}");
        // Which of the two controllers counts what is not told.
        let change = &json["health"][0];
        assert!(change["written_bytes"].is_number(), "{change}");
        assert_eq!(change["kernel_written_bytes"], Value::Null, "{change}");
    }
}

/// Every drive answers; what is verified was there.
pub fn measured() {
    by_two(&NAMES, |name| {
        let node = node(name);
        let laboratory = Laboratory::new();
        let line =
            ["run", &node, "--rw", "randread", "--bs", "4k", "--operations", "200", "--json"];
        let outcome = laboratory.run(line, PATIENCE);
        assert!(matches!(outcome.status, Some(0 | 1 | 4)), "{name}: {outcome:?}");
        assert_eq!(kind_of(&outcome.json(), "read")["ops"], 200, "{name}");
        assert!(!outcome.stdout.contains("of nothing"), "{outcome:?}");
    });
}
