//! What drives of the kernel's SCSI layer have, by sg3-utils, hdparm, smartctl and the kernel's
//! own log; and what an SD card and a virtual disk are.

use super::witness::{Witness, labelled, number_after};
use crate::guest::log_of_kernel;
use crate::support::binary::must;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// What a tool prints, whatever status it ends with.
fn said(program: &str, words: &[&str]) -> String {
    let output = Command::new(program).args(words).output();
    let output = output.unwrap_or_else(|error| panic!("{program} does not start: {error}"));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Any drive of the SCSI layer.
pub fn device(witness: &mut Witness, node: &str, subsystems: &str) {
    let inquiry = said("sg_inq", &[node]);
    witness.equal("model", labelled(&inquiry, "Product identification"), "sg_inq");
    witness.equal("firmware", labelled(&inquiry, "Product revision level"), "sg_inq");
    let serial = labelled(&said("sg_vpd", &["--page=sn", node]), "Unit serial number:");
    witness.where_told("serial", serial, "sg_vpd");
    let capacity = must("sg_readcap", ["--long", node]);
    let number = |label: &str| number_after(&capacity, label);
    let block = number("Logical block length").expect("a length");
    witness.equal("logical_block_bytes", block, "sg_readcap");
    let blocks = number("Number of logical blocks").expect("a count");
    witness.equal("bytes", blocks * block, "sg_readcap");
    let exponent = "Logical blocks per physical block exponent";
    if let Some(power) = number(exponent) {
        witness.equal("physical_block_bytes", block << power, "sg_readcap");
    }
    cache(witness, node);
    let identifiers = said("sg_vpd", &["--page=di", node]);
    let naa = identifiers.lines().map(str::trim).find_map(|line| line.strip_prefix("0x"));
    witness.where_told("world_wide_name", naa.map(|it| format!("naa.{it}")), "sg_vpd");
    if naa.is_none()
        && let Some(vendor) = labelled(&identifiers, "vendor id")
    {
        let specific = labelled(&identifiers, "vendor specific").unwrap_or_default();
        witness.equal_words("world_wide_name", &format!("t10.{vendor} {specific}"), "sg_vpd");
    }
    let transport = match subsystems {
        it if it.contains("usb") => Some("usb"),
        it if it.contains("virtio") => Some("virtio-scsi"),
        _ => None,
    };
    witness.where_told("transport", transport, "lsblk");
    if subsystems.contains("usb") {
        usb(witness);
    }
}

/// The caching page: WCE, and whether forced unit access is taken.
fn cache(witness: &mut Witness, node: &str) {
    let page = said("sg_modes", &["--page=8", node]);
    let Some((_, behind)) = page.split_once("Caching") else { return };
    let bytes = behind.lines().find_map(|line| line.trim().strip_prefix("00     "));
    let third = bytes.and_then(|bytes| bytes.split_whitespace().nth(2));
    let Some(flags) = third.and_then(|byte| u8::from_str_radix(byte, 16).ok()) else { return };
    let is_on = flags & 0b100 != 0;
    let kernel = if is_on { "write back" } else { "write through" };
    witness.equal("write_cache", kernel, "sg_modes");
    witness.equal("drive_write_cache", if is_on { "on" } else { "off" }, "sg_modes");
    let takes_fua = number_after(&page, "DpoFua").map(|bit| bit == 1);
    witness.where_told("fua", takes_fua, "sg_modes");
}

/// The speed and version of the bus, from the kernel's list of USB devices.
fn usb(witness: &mut Witness) {
    let list = fs::read_to_string("/sys/kernel/debug/usb/devices").expect("a list");
    let device = list.split("\n\n").find(|device| device.contains("Driver=usb-storage"));
    let device = device.unwrap_or_else(|| panic!("no storage in {list}"));
    let speed = number_after(device, "Spd").expect("a speed");
    let (_, version) = device.split_once("Ver=").expect("a version");
    let version = version.split_whitespace().next().expect("a version");
    let link = format!("{speed} Mb/s USB {version}");
    witness.equal("link", link, "the kernel's list of USB devices");
    let serial = device.lines().find_map(|line| line.strip_prefix("S:  SerialNumber="));
    witness.where_told("serial", serial, "the kernel's list of USB devices");
}

/// A drive of ATA: IDENTIFY DEVICE by hdparm and smartctl, SMART by smartctl.
pub fn ata(witness: &mut Witness, node: &str, theirs: &Value) {
    let identity = must("hdparm", ["-I", node]);
    for (path, label) in [
        ("wear.names.model", "Model Number"),
        ("wear.names.serial", "Serial Number"),
        ("wear.names.firmware", "Firmware Revision"),
    ] {
        witness.equal(path, labelled(&identity, label), "hdparm -I");
    }
    let serial = labelled(&identity, "Serial Number");
    witness.equal("serial", serial, "hdparm -I");
    let name = labelled(&identity, "Logical Unit WWN Device Identifier");
    witness.where_told("world_wide_name", name.map(|name| format!("naa.{name}")), "hdparm -I");
    let cache = number_after(&said("hdparm", &["-W", node]), "write-caching");
    let word = cache.map(|on| if on == 1 { "on" } else { "off" });
    witness.where_told("drive_write_cache", word, "hdparm -W");
    let rate = &theirs["rotation_rate"];
    witness.where_told("rotational", rate.as_u64().map(|rate| rate > 1), "smartctl");
    witness.where_told("form_factor", theirs["form_factor"]["name"].as_str(), "smartctl");
    let table = theirs["ata_smart_attributes"]["table"].as_array().cloned().unwrap_or_default();
    let raw = |number: u64| {
        let row = table.iter().find(|row| row["id"] == number)?;
        row["raw"]["value"].as_u64()
    };
    for (path, number) in [
        ("wear.reallocated_sectors", 5),
        ("wear.pending_sectors", 197),
        ("wear.unreadable_sectors", 198),
        ("wear.link_errors", 199),
    ] {
        witness.where_told(path, raw(number), "smartctl");
    }
    let status = &theirs["ata_smart_data"]["self_test"]["status"]["passed"];
    let failed = status.as_bool().map(|passed| !passed);
    witness.where_told("wear.self_test_failed", failed, "smartctl");
    let tests = &theirs["ata_smart_self_test_log"]["standard"]["table"];
    if tests[0].is_object() {
        let last = "wear.self_test.last";
        let hours = tests[0]["lifetime_hours"].as_u64();
        witness.equal(&format!("{last}.power_on_hours"), hours, "smartctl");
        let failed = tests[0]["status"]["passed"].as_bool().map(|passed| !passed);
        witness.equal(&format!("{last}.failed"), failed, "smartctl");
        witness.equal("wear.self_test_failed", failed, "smartctl");
        let kind = match tests[0]["type"]["value"].as_u64() {
            Some(1) => "short",
            Some(2) => "long",
            other => panic!("{other:?}"),
        };
        witness.equal(&format!("{last}.kind"), kind, "smartctl");
    }
    statistics(witness, node);
}

/// Device statistics by smartctl.
fn statistics(witness: &mut Witness, node: &str) {
    let text = said("smartctl", &["--json", "--log=devstat", node]);
    let theirs: Value = serde_json::from_str(&text).expect("JSON");
    let pages = theirs["ata_device_statistics"]["pages"].as_array().cloned().unwrap_or_default();
    let value = |name: &str| {
        let rows = pages.iter().filter_map(|page| page["table"].as_array()).flatten();
        rows.filter(|row| row["name"] == name).find_map(|row| row["value"].as_u64())
    };
    let tool = "smartctl --log=devstat";
    let sectors = |name: &str| value(name).map(|count| count * 512);
    witness.where_told("wear.written_bytes", sectors("Logical Sectors Written"), tool);
    witness.where_told("wear.read_bytes", sectors("Logical Sectors Read"), tool);
    let used = value("Percentage Used Endurance Indicator");
    witness.where_told("wear.used_percent", used, tool);
    witness.where_told("wear.power_on_hours", value("Power-on Hours"), tool);
    let damaged = value("Number of Interface CRC Errors");
    witness.where_told("wear.link_errors", damaged, tool);
}

/// Health that smartctl tells of drives of both kinds.
pub fn health(witness: &mut Witness, theirs: &Value) {
    for (path, their) in [
        ("wear.temperature_c", &theirs["temperature"]["current"]),
        ("wear.power_on_hours", &theirs["power_on_time"]["hours"]),
        ("wear.power_cycles", &theirs["power_cycle_count"]),
        ("wear.used_percent", &theirs["scsi_percentage_used_endurance_indicator"]),
    ] {
        witness.where_told(path, their.as_u64(), "smartctl");
    }
    let passed = theirs["smart_status"]["passed"].as_bool();
    witness.where_told("wear.failing", passed.map(|passed| !passed), "smartctl");
    let errors = &theirs["scsi_error_counter_log"];
    let count = |kind: &str| errors[kind]["total_uncorrected_errors"].as_u64();
    let sum = count("read").zip(count("write")).map(|(read, write)| read + write);
    witness.where_told("wear.media_errors", sum, "smartctl");
    witness.where_told("bytes", theirs["user_capacity"]["bytes"].as_u64(), "smartctl");
    witness.where_told("logical_block_bytes", theirs["logical_block_size"].as_u64(), "smartctl");
}

/// The link of the drive on AHCI, as the kernel told when it found it.
pub fn ahci(witness: &mut Witness) {
    let log = log_of_kernel();
    let up = log.lines().find_map(|line| line.split_once("SATA link up ").map(|it| it.1));
    let speed = up.and_then(|rest| rest.split_once(" (")).expect("a link").0;
    witness.equal("link", speed, "the kernel's log");
    witness.equal("transport", "sata", "the kernel's log");
}

/// An SD card: its CID register, as the kernel shows it whole (SD Physical Layer Specification,
/// 5.2): bytes 3 to 7 are its name, byte 8 its revision, bytes 9 to 12 its serial number.
pub fn card(witness: &mut Witness, disk: &Path) {
    let text = fs::read_to_string(disk.join("device/cid")).expect("a register");
    let byte = |at: usize| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).expect("digits");
    let name: String = (3..8).map(|at| char::from(byte(at))).collect();
    witness.equal("model", name.trim_matches(['\0', ' ']), "its CID register");
    let serial = u32::from_be_bytes([9, 10, 11, 12].map(byte));
    witness.equal("serial", format!("0x{serial:08x}"), "its CID register");
    witness.equal("transport", "mmc", "lsblk");
}

/// The log pages of a drive that has them.
pub fn logs(witness: &mut Witness, node: &str) {
    let page = |number: &str| said("sg_logs", &[&format!("--page={number}"), node]);
    let (write, read) = (page("2"), page("3"));
    let bytes = |text: &str| number_after(text, "Total bytes processed");
    witness.where_told("wear.written_bytes", bytes(&write), "sg_logs");
    witness.where_told("wear.read_bytes", bytes(&read), "sg_logs");
    let errors = |text: &str| number_after(text, "Total uncorrected errors");
    let sum = errors(&write).zip(errors(&read)).map(|(one, other)| one + other);
    witness.where_told("wear.media_errors", sum, "sg_logs");
    let warmth = number_after(&page("0xd"), "Current temperature");
    witness.where_told("wear.temperature_c", warmth, "sg_logs");
    let code = number_after(&page("0x2f"), "IE asc");
    witness.where_told("wear.failing", code.map(|code| code == 0x5d), "sg_logs");
    let used = number_after(&page("0x11"), "Percentage used endurance indicator");
    witness.where_told("wear.used_percent", used, "sg_logs");
    let minutes = number_after(&page("0x15"), "Accumulated power on minutes");
    witness.where_told("wear.power_on_hours", minutes.map(|it| it / 60), "sg_logs");
}
