//! ATA and SAS drives that are scripted: what QEMU's do not have.

use super::facts;
use super::health::{health_of, smartctl};
use super::purges::{ended_by_ctrl_c, first_bytes, planned, put};
use crate::guest::{PATIENCE, wait_until};
use crate::support::binary::{Laboratory, Outcome, must};
use serde_json::{Value, json};
use std::fs;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};

/// A drive that ends with the case.
struct Served {
    process: Child,
    name: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        // First from the kernel: it would wait for a server that is gone.
        fs::write(format!("/sys/block/{}/device/delete", self.name), "1").ok();
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn named(serial: &str) -> Option<String> {
    let blocks = fs::read_dir("/sys/block").ok()?.flatten();
    let mut names = blocks.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.find(|name| {
        let page = fs::read(format!("/sys/block/{name}/device/vpd_pg80")).unwrap_or_default();
        String::from_utf8_lossy(&page).contains(serial)
            // The node is there before the kernel has looked at the drive.
            && fs::File::open(format!("/dev/{name}")).is_ok()
    })
}

/// Serves a drive of this kind and connects the kernel to it.
fn with(kind: &str, script: &[&str], judge: impl FnOnce(&str)) {
    static PORT: AtomicU16 = AtomicU16::new(3260);
    let port = PORT.fetch_add(1, Ordering::Relaxed).to_string();
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new(program);
    command.args(["serve-scsi", kind, &port]).args(script).stdin(Stdio::null());
    let mut served = Served { process: command.spawn().expect("it starts"), name: String::new() };
    wait_until("the scripted drive listens", || {
        std::net::TcpStream::connect(format!("127.0.0.1:{port}")).is_ok()
    });
    let target = format!("iqn.2026-11.example:{port}");
    let line = ["-i", "iqn.2026-11.example:guest", "-t", &target, "-g", "1", "-a", "127.0.0.1"];
    must("iscsistart", [&line[..], &["-p", &port]].concat());
    let serial = format!("DL{}{port}", kind.to_uppercase());
    wait_until("the kernel knows the scripted drive", || named(&serial).is_some());
    served.name = named(&serial).expect("it is there");
    judge(&format!("/dev/{}", served.name));
    drop(served);
}

/// What no emulator counts, equal to what smartctl reads of it.
pub fn health() {
    with("ata", &["used_percent=7", "pending=3"], |node| {
        let (drive, theirs) = (health_of(node), smartctl(node));
        let ours = &drive["wear"];
        let told: [(&str, u64); 6] = [
            ("used_percent", 7),
            ("written_bytes", 512 << 31),
            ("read_bytes", 512 << 30),
            ("power_on_hours", 4321),
            ("pending_sectors", 3),
            ("link_errors", 5),
        ];
        for (field, value) in told {
            assert_eq!(ours[field], value, "{field}: {drive}");
        }
        assert_eq!(ours["temperature_c"], theirs["temperature"]["current"], "{drive} {theirs}");
        assert_eq!(ours["power_on_hours"], theirs["power_on_time"]["hours"], "{drive} {theirs}");
        assert_eq!(ours["power_cycles"], theirs["power_cycle_count"], "{drive} {theirs}");
        assert_eq!(ours["used_from"], "device statistics", "{drive}");
        assert_eq!(drive["serial"], theirs["serial_number"], "{drive} {theirs}");
        assert_eq!(drive["state"], "watch", "sectors wait to be replaced: {drive}");
        assert_eq!(facts::hold(&facts::list(), node), Vec::<String>::new());
    });
    with("ata", &["failing=1"], |node| {
        let outcome = Laboratory::new().run(["health", node], PATIENCE).expect_status(1);
        assert!(outcome.stdout.contains("it says of itself that it fails"), "{outcome:?}");
        assert_eq!(smartctl(node)["smart_status"]["passed"], false);
    });
    with("sas", &["read_errors=4", "write_errors=1"], |node| {
        let (drive, theirs) = (health_of(node), smartctl(node));
        let ours = &drive["wear"];
        assert_eq!(ours["temperature_c"], theirs["temperature"]["current"], "{drive} {theirs}");
        let told: [(&str, u64); 5] = [
            ("used_percent", 9),
            ("written_bytes", 3 << 40),
            ("read_bytes", 2 << 40),
            ("power_on_hours", 4321),
            ("media_errors", 5),
        ];
        for (field, value) in told {
            assert_eq!(ours[field], value, "{field}: {drive}");
        }
        assert_eq!(drive["state"], "watch", "{drive}");
        assert_eq!(facts::hold(&facts::list(), node), Vec::<String>::new());
    });
    with("sas", &["failing=1"], |node| {
        Laboratory::new().run(["health", node], PATIENCE).expect_status(1);
    });
}

/// What drives of Seagate's count besides: hours that were set back are told, equal ones are not
/// told twice.
pub fn farm() {
    let shown = |node: &str| {
        let outcome = Laboratory::new().run(["health", node], PATIENCE).expect_status(0);
        outcome.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    with("ata", &["farm_hours=4321"], |node| {
        let drive = health_of(node);
        assert_eq!(drive["wear"]["farm"]["power_on_hours"], 4321, "{drive}");
        assert_eq!((&drive["state"], &drive["cautions"]), (&"well".into(), &json!([])), "{drive}");
        assert_eq!(facts::hold(&facts::list(), node), Vec::<String>::new());
        let words = shown(node);
        let told = "assembled in week 31 of 2019, spindle on for 4,300 h, heads in flight for \
                    4,200 h and loaded 229 times, 3 emergency unloads";
        assert!(words.contains(told), "{words}");
        assert!(words.contains("from 17 to 58 °C in its life"), "{words}");
        assert_eq!(words.matches("4,321 h").count(), 1, "{words}");
    });
    with("ata", &["farm_hours=15442"], |node| {
        let words = shown(node);
        let told = "to be watched: it counts 4,321 h under power, but 15,442 h in its FARM log: \
                    one of these is wrong or was set back, as on used drives that were sold as new";
        assert!(words.contains(told), "{words}");
        assert_eq!(words.matches("15,442").count(), 1, "{words}");
    });
    with("ata", &[], |node| {
        let drive = health_of(node);
        assert_eq!(drive["wear"]["farm"], Value::Null, "its directory lists none: {drive}");
    });
    with("sas", &["farm_hours=40000"], |node| {
        let drive = health_of(node);
        let farm = &drive["wear"]["farm"];
        assert_eq!((&farm["power_on_hours"], &farm["temperature_c"]), (&40_000.into(), &37.into()));
        assert_eq!(drive["state"], "watch", "{drive}");
        assert_eq!(facts::hold(&facts::list(), node), Vec::<String>::new());
    });
}

/// Temperatures of the SCT status, equal to what smartctl reads of it.
pub fn temperatures() {
    with("ata", &["has_sct=1"], |node| {
        let drive = health_of(node);
        let ours = &drive["wear"]["temperatures"];
        let output = Command::new("smartctl").args(["--json", "-l", "scttempsts", node]).output();
        let theirs: Value =
            serde_json::from_slice(&output.expect("smartctl starts").stdout).expect("JSON");
        let theirs = &theirs["ata_sct_status"]["temperature"];
        for (our, their) in [
            ("current_c", "current"),
            ("power_cycle_min_c", "power_cycle_min"),
            ("power_cycle_max_c", "power_cycle_max"),
            ("lifetime_min_c", "lifetime_min"),
            ("lifetime_max_c", "lifetime_max"),
            ("over_limit_count", "over_limit_count"),
            ("under_limit_count", "under_limit_count"),
        ] {
            assert!(theirs[their].is_number(), "{their}: {theirs}");
            assert_eq!(ours[our], theirs[their], "{our}: {ours} {theirs}");
        }
    });
    with("ata", &[], |node| {
        let drive = health_of(node);
        assert_eq!(drive["wear"]["temperatures"], Value::Null, "it has no SCT: {drive}");
    });
}

fn self_test(node: &str, kind: &str) -> Outcome {
    Laboratory::new().run(["health", node, "--self-test", kind], PATIENCE)
}

/// Tests of drives by themselves are started, waited for, and told.
pub fn self_tests() {
    with("ata", &[], |node| {
        let outcome = self_test(node, "short").expect_status(0);
        assert!(outcome.stdout.contains("the last short one found nothing wrong"), "{outcome:?}");
    });
    with("ata", &["self_test_fails=1"], |node| {
        let outcome = self_test(node, "long").expect_status(1);
        assert!(outcome.stdout.contains("the last long one found something wrong"), "{outcome:?}");
    });
    with("sas", &[], |node| {
        let outcome = self_test(node, "long").expect_status(0);
        assert!(outcome.stdout.contains("the last long one found nothing wrong"), "{outcome:?}");
    });
}

fn erase(laboratory: &Laboratory, node: &str) -> Vec<String> {
    let token = laboratory.token(node);
    let line = ["study", "pts-iops", node, "--quick", "--purge", "ata-secure-erase", "--erase"];
    line.into_iter().map(str::to_owned).chain([token]).collect()
}

/// What hdparm says of the security of a drive.
fn security(node: &str) -> String {
    let said = must("hdparm", ["-I", node]);
    said.split_once("Security:").map(|(_, rest)| rest.to_owned()).unwrap_or_default()
}

/// ATA secure erase, through the kernel; the drive is left without a password.
pub fn secure_erase() {
    with("ata", &["erase_s=1"], |node| {
        put(node, &[0xa5; 1 << 20]);
        let laboratory = Laboratory::new();
        let mut running = planned(&laboratory, node, "ata-secure-erase");
        wait_until("the drive is empty", || {
            running.has_ended() || first_bytes(node, 1 << 20).iter().all(|byte| *byte == 0)
        });
        ended_by_ctrl_c(running);
        assert!(security(node).contains("not\tenabled"), "{}", security(node));
    });
}

/// Refused where the drive is frozen, failed in the middle; no drive is left with a password.
pub fn secure_erase_fails() {
    with("ata", &["frozen=1"], |node| {
        put(node, &[0xa5; 4096]);
        let laboratory = Laboratory::new();
        let outcome = laboratory.run(erase(&laboratory, node), PATIENCE);
        outcome.expect_plain_words();
        assert!(matches!(outcome.status, Some(2..=4)), "{outcome:?}");
        assert!(outcome.stderr.contains("frozen"), "{outcome:?}");
        assert_eq!(laboratory.run_files(), Vec::<std::path::PathBuf>::new());
        assert_eq!(first_bytes(node, 4096), [0xa5; 4096]);
    });
    for code in [0xf1u8, 0xf4] {
        with("ata", &[&format!("aborts={code}")], |node| {
            put(node, &[0xa5; 4096]);
            let laboratory = Laboratory::new();
            let outcome = laboratory.run(erase(&laboratory, node), PATIENCE);
            outcome.expect_plain_words();
            assert_eq!(outcome.status, Some(4), "{code:x}: {outcome:?}");
            assert_eq!(first_bytes(node, 4096), [0xa5; 4096], "{code:x}");
            assert!(security(node).contains("not\tenabled"), "{code:x}: {}", security(node));
        });
    }
}

/// Health in JSON of a run on a drive whose statistics count in sectors.
pub fn counted() {
    with("ata", &[], |node| {
        let laboratory = Laboratory::new();
        let line = ["run", node, "--rw", "read", "--time", "1s", "--json"];
        let json: Value = laboratory.run(line, PATIENCE).json();
        let change = &json["health"][0];
        assert_eq!(change["written_bytes"], 0, "this drive's counters stand still: {change}");
        assert_eq!(change["written_unit_bytes"], 512, "{change}");
        assert_eq!(change["events"].as_array().map(Vec::len), Some(0), "{change}");
    });
}
