//! What lies over drives: partitions, RAID, logical volumes, mappings, file systems, swap, loops.

use super::facts;
use crate::guest::{PATIENCE, node};
use crate::support::binary::{Laboratory, must};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

/// A block device of the stack: its node, and whether something else uses it.
#[derive(Debug)]
struct Layer {
    node: String,
    in_use: bool,
}

/// Writes to nothing that something lies over, whatever token is shown; and to what is free only
/// with its own token.
pub fn guarded() {
    let layers = layers();
    let laboratory = Laboratory::new();
    let attempt = |node: &str, token: &str| {
        let line = ["run", node, "--rw", "randwrite", "--bs", "4k", "--operations", "1"];
        laboratory.run([&line[..], &["--erase", token]].concat(), PATIENCE)
    };
    let free: Vec<&Layer> = layers.iter().filter(|layer| !layer.in_use).collect();
    let tokens: Vec<String> = free.iter().map(|layer| laboratory.token(&layer.node)).collect();
    let mut tries = 0;
    for layer in layers {
        let before = written(&layer.node);
        let own = free.iter().position(|free| free.node == layer.node);
        for (at, token) in tokens.iter().enumerate().filter(|(at, _)| Some(*at) != own) {
            let outcome = attempt(&layer.node, token);
            tries += 1;
            let what = format!("{} with the token of {}", layer.node, free[at].node);
            assert_eq!(outcome.status, Some(3), "{what}: {outcome:?}");
            let words = outcome.stderr.split_whitespace().skip_while(|word| *word != "--erase");
            let shown = words.map(str::to_owned).nth(1).filter(|shown| shown != token);
            assert!(!layer.in_use || shown.is_none(), "{what}, in use: {}", outcome.stderr);
        }
        assert_eq!(written(&layer.node), before, "{} was written", layer.node);
    }
    println!("{tries} tries over {} devices", layers.len());
    assert!(tries >= 98, "{tries} tries");
    for (layer, token) in free.iter().zip(&tokens) {
        let outcome = attempt(&layer.node, token);
        assert!(matches!(outcome.status, Some(0 | 4)), "{}: {outcome:?}", layer.node);
    }
}

/// What goes through a layer is asked of the drives below it: each of a mirror moves all of it, and
/// the truth guard, which saw that, does not accuse the number.
pub fn counted() {
    layers();
    let (first, second, sata, scsi, card) =
        (node("first"), node("second"), node("sata"), node("scsi"), node("card"));
    let stacks: [(&str, &[&str], u64); 3] = [
        ("/dev/md0", &[&first, &second], 2),
        ("/dev/group/data", &[&sata, &scsi], 1),
        ("/dev/mapper/mapped", &[&card], 1),
    ];
    const BYTES: u64 = 4 << 20;
    for (top, below, times) in stacks {
        let laboratory = Laboratory::new();
        let token = laboratory.token(top);
        let line = ["run", top, "--rw", "write", "--bs", "128k", "--operations", "32", "--json"];
        let outcome = laboratory.run([&line[..], &["--erase", &token]].concat(), PATIENCE);
        let json = outcome.json();
        let step = json["steps"].as_array().unwrap().last().unwrap();
        assert_eq!(step["streams"][0]["write"]["bytes"], BYTES, "{top}: {step}");
        let of = |node: &&str| moved(step, node.trim_start_matches("/dev/"));
        let all: u64 = below.iter().map(of).sum();
        // A mirror notes in its bitmap where it writes.
        assert!((BYTES * times..BYTES * times + (1 << 20)).contains(&all), "{top}: {step}");
        assert_ne!(step["valid"], false, "{top}: {step}");
    }
}

/// What is known of each layer is what lsblk, blkid, dmsetup and losetup say of it.
pub fn facts() {
    let layers = layers();
    let list = facts::list();
    let mut wrong = Vec::new();
    for layer in layers {
        wrong.extend(facts::hold(&list, &facts::node_of_kernel(&layer.node)));
    }
    assert_eq!(wrong, Vec::<String>::new(), "{}", wrong.join("\n"));
}

/// Bytes that a drive wrote within a step.
fn moved(step: &Value, name: &str) -> u64 {
    let devices = step["devices"].as_array().expect("devices");
    let of = devices.iter().filter(|device| device["name"] == name);
    of.filter_map(|device| device["written_bytes"].as_u64()).sum()
}

/// The stacks, made once.
fn layers() -> &'static [Layer] {
    static LAYERS: OnceLock<Vec<Layer>> = OnceLock::new();
    LAYERS.get_or_init(built)
}

/// Writes completed on a block device, by the kernel's own account.
fn written(node: &str) -> String {
    // Without udev a volume's node is no link to the kernel's name.
    let number = rustix::fs::stat(node).expect("a node").st_rdev;
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let stat = format!("/sys/dev/block/{major}:{minor}/stat");
    let text = fs::read_to_string(&stat).unwrap_or_else(|error| panic!("{stat}: {error}"));
    text.split_whitespace().nth(4).expect("a count").to_owned()
}

/// Makes one stack of each kind, and lists its devices.
fn built() -> Vec<Layer> {
    let used = |node: String| Layer { node, in_use: true };
    let free = |node: String| Layer { node, in_use: false };
    let mut layers = Vec::new();

    let parted = node("virtio");
    fs::write("/run/parts", "label: gpt\nsize=48M\nsize=48M\nsize=48M\nsize=48M\n").unwrap();
    must("sh", ["-c", &format!("sfdisk --quiet {parted} </run/parts")]);
    let part = |number: u32| format!("{parted}{number}");
    // Neither tables that are written later, nor times of reads, nor a commit after seconds: what
    // is written while the guard is tried is not the file system's.
    let at_once = "lazy_itable_init=0,lazy_journal_init=0";
    must("mkfs.ext4", ["-q", "-E", at_once, &part(1)]);
    fs::create_dir_all("/run/mounted").unwrap();
    must("mount", ["-o", "noatime", &part(1), "/run/mounted"]);
    must("mkswap", ["-q", &part(2)]);
    must("swapon", [&part(2)]);
    layers.extend([used(parted.clone()), used(part(1)), used(part(2))]);
    layers.extend([free(part(3)), free(part(4))]);

    fs::File::create("/run/mounted/inner.img").unwrap().set_len(24 << 20).unwrap();
    rustix::fs::sync();
    let inner = must("losetup", ["--find", "--show", "/run/mounted/inner.img"]);
    layers.push(free(inner.trim().to_owned()));

    let (one, other) = (node("first"), node("second"));
    let line = ["--create", "/dev/md0", "--run", "--level=1", "--metadata=1.2", "--raid-devices=2"];
    must("mdadm", [&line[..], &["--assume-clean", &one, &other]].concat());
    layers.extend([used(one), used(other), free("/dev/md0".to_owned())]);

    let (sata, scsi) = (node("sata"), node("scsi"));
    let quietly = "activation { udev_sync=0 udev_rules=0 } devices { use_devicesfile=0 }";
    let lvm = |words: &[&str]| must("lvm", [words, &["--config", quietly]].concat());
    lvm(&["pvcreate", "--yes", &sata, &scsi]);
    lvm(&["vgcreate", "group", &sata, &scsi]);
    for volume in ["data", "log"] {
        lvm(&["lvcreate", "--yes", "--wipesignatures", "n", "-L", "64M", "-n", volume, "group"]);
    }
    layers.extend([used(sata), used(scsi)]);
    layers.extend(["data", "log"].map(|volume| free(format!("/dev/group/{volume}"))));

    let card = node("card");
    must(
        "dmsetup",
        ["create", "mapped", "--noudevsync", "--table", &format!("0 65536 linear {card} 2048")],
    );
    must("dmsetup", ["mknodes", "--noudevsync"]);
    layers.extend([used(card), free("/dev/mapper/mapped".to_owned())]);

    for layer in &layers {
        assert!(Path::new(&layer.node).exists(), "no {}", layer.node);
    }
    layers
}
