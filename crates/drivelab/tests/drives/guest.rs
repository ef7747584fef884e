//! Inside the emulated machine: its drives found by what they call themselves, and the cases.

use crate::cases::{Case, SETS, SOAK};
use crate::support::binary::must;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Debian's kernel is not fast without a real CPU behind it.
pub const PATIENCE: Duration = Duration::from_secs(180);

const MODULES: &str = "nvme nvme_tcp ahci sd_mod sg virtio_blk virtio_scsi xhci_pci usb_storage \
     uas sdhci_pci mmc_block ext4 xfs loop drivetemp dm_mod raid1 iscsi_tcp";

/// What each drive calls itself: its serial number, and the namespace where it has several.
const MINE: [(&str, &str, Option<u32>); 12] = [
    ("plugged", "DLSOAK01", None),
    ("first", "DLNVME01", Some(1)),
    ("second", "DLNVME01", Some(2)),
    ("coarse", "DLNVME01", Some(3)),
    ("zones", "DLNVME01", Some(4)),
    ("protected", "DLNVME01", Some(5)),
    ("paths", "DLPATHS1", Some(1)),
    ("sata", "DLSATA01", None),
    ("scsi", "DLSCSI01", None),
    ("virtio", "DLVIRT01", None),
    ("stick", "", None),
    ("card", "", None),
];

/// Runs the cases of a set, or of it those that are named, and says how each ended.
pub fn run(set: &str, named: &[&str]) {
    must("modprobe", ["-a"].into_iter().chain(MODULES.split_whitespace()));
    must("modprobe", ["null_blk", "nr_devices=0"]);
    fs::create_dir_all(env!("CARGO_TARGET_TMPDIR")).ok();
    let sets = SETS.iter().chain([&SOAK]);
    let stages = sets.clone().find(|(name, _)| *name == set).expect("a set of that name").1;
    wait_until("all drives are there", || {
        // This one is plugged in where it is wanted.
        let mut names = MINE.iter().map(|(name, ..)| *name).filter(|name| *name != "plugged");
        names.all(|name| found(name).is_some())
    });
    let failed = AtomicUsize::new(0);
    let lane = |cases: &[(&str, Case)]| {
        for (name, case) in cases.iter().filter(|it| named.is_empty() || named.contains(&it.0)) {
            let begin = Instant::now();
            let outcome = catch_unwind(AssertUnwindSafe(case));
            let word = if outcome.is_ok() { "held" } else { "FAILED" };
            failed.fetch_add(usize::from(outcome.is_err()), Ordering::Relaxed);
            say(&format!("{word}: {name} ({:.1} s)", begin.elapsed().as_secs_f64()));
        }
    };
    for lanes in stages {
        std::thread::scope(|scope| {
            for cases in *lanes {
                scope.spawn(|| lane(cases));
            }
        });
    }
    say(&format!("ended: {} failed", failed.into_inner()));
}

/// A line of what the guest says.
pub fn say(text: &str) {
    writeln!(std::io::stdout(), "{text}").expect("stdout");
}

/// Waits until something is so, for what the kernel does in its own time.
#[track_caller]
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Does something with each of these, with two at a time: the machine has two CPUs, and what a
/// case waits for is mostly the start of a program.
pub fn by_two<T: Sync>(all: &[T], act: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            act(one);
        }
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(work);
        work();
        other.join().expect("what the other thread tried holds");
    });
}

fn attribute(block: &Path, name: &str) -> Option<String> {
    fs::read_to_string(block.join(name)).ok().map(|text| text.trim().to_owned())
}

fn is(block: &Path, name: &str, serial: &str, namespace: Option<u32>) -> bool {
    if attribute(block, "hidden").as_deref() == Some("1") {
        return false;
    }
    let real = fs::canonicalize(block).unwrap_or_default();
    let kernel = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match name {
        "stick" => return real.to_string_lossy().contains("/usb"),
        "card" => return kernel.starts_with("mmcblk"),
        _ => {}
    }
    let page = fs::read(block.join("device/vpd_pg80")).ok();
    let page = page.map(|page| String::from_utf8_lossy(page.get(4..).unwrap_or(&[])).into_owned());
    let said = attribute(block, "serial").or_else(|| attribute(block, "device/serial")).or(page);
    let number = attribute(block, "nsid").and_then(|text| text.parse().ok());
    said.is_some_and(|said| said.trim_matches(['\0', ' ']) == serial)
        && (namespace.is_none() || number == namespace)
}

/// The kernel's name of a drive, where it is there. Names are dealt anew at each boot.
pub fn found(name: &str) -> Option<String> {
    let (_, serial, namespace) = MINE.iter().find(|(mine, ..)| *mine == name).expect("a drive");
    let blocks = fs::read_dir("/sys/block").expect("sysfs").flatten();
    let mut blocks = blocks.map(|entry| entry.path());
    let block = blocks.find(|block| is(block, name, serial, *namespace))?;
    Some(block.file_name()?.to_string_lossy().into_owned())
}

/// The kernel's name of a drive.
#[track_caller]
pub fn kernel_name(name: &str) -> String {
    found(name).unwrap_or_else(|| panic!("no drive {name}"))
}

/// Its node.
#[track_caller]
pub fn node(name: &str) -> String {
    format!("/dev/{}", kernel_name(name))
}

/// What the kernel has logged since it started.
pub fn log_of_kernel() -> String {
    must("dmesg", [""; 0])
}

/// A file of it in sysfs, without its last line end.
#[track_caller]
pub fn sysfs(name: &str, file: &str) -> String {
    let path = format!("/sys/block/{}/{file}", kernel_name(name));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    text.trim().to_owned()
}

/// Has QEMU do something to the machine, which it must be able to; what it answered.
pub fn to_the_machine(commands: &[Value]) -> Value {
    let answers = asked(commands);
    for one in answers.as_array().expect("a list") {
        assert!(one.get("error").is_none(), "QEMU: {one}");
    }
    answers
}

/// Asks QEMU to do something to the machine; what it answered.
pub fn asked(commands: &[Value]) -> Value {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    let number = ASKED.fetch_add(1, Ordering::Relaxed);
    let made = format!("/run/out/ask-{number}.new");
    fs::write(&made, Value::from(commands.to_vec()).to_string()).expect("a request");
    fs::rename(made, format!("/run/out/ask-{number}")).expect("a request");
    let answer = format!("/run/out/answer-{number}");
    wait_until("QEMU answers", || Path::new(&answer).exists());
    serde_json::from_slice(&fs::read(answer).expect("an answer")).expect("JSON")
}

/// Pulls a drive out.
pub fn pull_out(id: &str) {
    to_the_machine(&[json!({"execute": "device_del", "arguments": {"id": id}})]);
}

/// Sets a property of an emulated device.
pub fn set_property(id: &str, property: &str, value: u64) {
    let path = format!("/machine/peripheral/{id}");
    let arguments = json!({"path": path, "property": property, "value": value});
    to_the_machine(&[json!({"execute": "qom-set", "arguments": arguments})]);
}
