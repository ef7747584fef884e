//! What NVMe drives have, by nvme-cli, and by the registers of their PCI functions.

use super::super::health::health_of;
use super::witness::Witness;
use crate::support::binary::must;
use serde_json::Value;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

fn by_nvme(words: &[&str]) -> Value {
    let line = [words, &["--output-format=json"]].concat();
    let run = || Command::new("nvme").args(&line).output().expect("nvme starts");
    let mut output = run();
    // Version 2.3 frees something twice where controllers come and go, and has said nothing then.
    if output.status.signal().is_some() {
        output = run();
    }
    assert!(output.status.success(), "nvme {line:?}: {output:?}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// A number of nvme-cli; some versions print those of 128 bits as text.
fn number(from: &Value, word: &str) -> u64 {
    let text = from[word].to_string();
    text.trim_matches('"').parse().unwrap_or_else(|_| panic!("no {word} in {from}"))
}

/// All that a namespace and its drive tell.
pub fn device(witness: &mut Witness, node: &str) {
    let controller = by_nvme(&["id-ctrl", node]);
    let text = |word: &str| Some(controller[word].as_str()?.trim().to_owned());
    for (path, word) in [("model", "mn"), ("serial", "sn"), ("firmware", "fr")] {
        witness.equal(path, text(word), "nvme id-ctrl");
    }
    let said = must("nvme", ["get-ns-id", node]);
    let own: u64 = said.trim().rsplit(':').next().and_then(|it| it.parse().ok()).expect("a number");
    witness.equal("namespace", own, "nvme get-ns-id");
    namespace(witness, node, &controller);
    power(witness, node, &controller);
    cache(witness, node, &controller);
    purges(witness, node, &controller);
    health(witness, node);
    paths(witness, node);
    if witness.said("zones.model").is_string() {
        let theirs = by_nvme(&["zns", "id-ns", node]);
        for (path, word) in [("zones.open_max", "mor"), ("zones.active_max", "mar")] {
            // Less one; all ones: no limit.
            let most = (number(&theirs, word) as u32).wrapping_add(1);
            witness.equal(path, most, "nvme zns id-ns");
        }
    }
}

/// What a drive says of a namespace.
fn namespace(witness: &mut Witness, node: &str, controller: &Value) {
    let theirs = by_nvme(&["id-ns", node]);
    let tool = "nvme id-ns";
    for word in ["eui64", "nguid"] {
        let their = theirs[word].as_str().expect("an identifier").replace('-', "");
        let their = Some(their).filter(|digits| digits.bytes().any(|digit| digit != b'0'));
        witness.equal(&format!("nvme.{word}"), their, tool);
    }
    let rows = theirs["lbafs"].as_array().expect("formats");
    let in_use = number(&theirs, "flbas") & 0xf;
    let words = ["best", "better", "good", "degraded"];
    let of = |make: &dyn Fn(usize, &Value) -> Value| -> Value {
        rows.iter().enumerate().map(|(index, row)| make(index, row)).collect()
    };
    let list = "nvme.block_formats[]";
    let formats = [
        ("number", of(&|index, _| index.into())),
        ("data_bytes", of(&|_, row| (1u64 << number(row, "ds")).into())),
        ("metadata_bytes", of(&|_, row| row["ms"].clone())),
        ("performance", of(&|_, row| words[number(row, "rp") as usize].into())),
        ("is_in_use", of(&|index, _| (index as u64 == in_use).into())),
    ];
    for (field, theirs) in formats {
        witness.equal(&format!("{list}.{field}"), theirs, tool);
    }
    witness.equal("nvme.protection_type", number(&theirs, "dps") & 7, tool);
    let block = 1u64 << number(&rows[in_use as usize], "ds");
    witness.equal("logical_block_bytes", block, tool);
    let is_of_namespace = number(&theirs, "nsfeat") & 2 != 0;
    witness.equal("nvme.atomic_writes.is_of_namespace", is_of_namespace, tool);
    for (our, own, of_all) in
        [("write_bytes", "nawun", "awun"), ("power_fail_write_bytes", "nawupf", "awupf")]
    {
        let blocks = match number(&theirs, own) {
            blocks if is_of_namespace && blocks > 0 => blocks,
            _ => number(controller, of_all),
        };
        witness.equal(&format!("nvme.atomic_writes.{our}"), (blocks + 1) * block, tool);
    }
    for (our, word) in [("boundary_bytes", "nabsn"), ("power_fail_boundary_bytes", "nabspf")] {
        let blocks = Some(number(&theirs, word)).filter(|it| is_of_namespace && *it > 0);
        let bytes = blocks.map(|blocks| (blocks + 1) * block);
        witness.equal(&format!("nvme.atomic_writes.{our}"), bytes, tool);
    }
    let places_data = number(controller, "ctratt") >> 19 & 1 == 1;
    witness.equal("nvme.places_data", places_data, "nvme id-ctrl");
    names(witness, node, &theirs, controller);
}

/// QEMU's vendor. The kernel trusts no identifier of its drives (NVME_QUIRK_BOGUS_NID), since they
/// once had the same in all machines.
const UNTRUSTED: u64 = 0x1b36;

/// The name in all the world: of UUID, NGUID and EUI64 the first that there is; else one that the
/// kernel makes of vendor, serial number, model and namespace.
fn names(witness: &mut Witness, node: &str, namespace: &Value, controller: &Value) {
    let list = must("nvme", ["ns-descs", node]);
    let uuid = list.lines().find_map(|line| line.trim().strip_prefix("uuid"));
    let uuid = uuid.map(|text| text.trim_matches([' ', ':', '\t']).to_owned());
    let digits = |word: &str| {
        let digits = namespace[word].as_str()?.replace('-', "");
        digits.bytes().any(|digit| digit != b'0').then_some(digits)
    };
    let hex = |word: &str| -> String {
        let text = controller[word].as_str().unwrap_or_default().trim_end();
        text.bytes().map(|byte| format!("{byte:02x}")).collect()
    };
    let vendor = number(controller, "vid");
    let known = digits("nguid").or_else(|| digits("eui64")).filter(|_| vendor != UNTRUSTED);
    let by_kernel = || {
        let own = witness.said("namespace").as_u64().unwrap_or_default();
        format!("nvme.{vendor:04x}-{}-{}-{own:08x}", hex("sn"), hex("mn"))
    };
    let name = match (&uuid, known) {
        (Some(uuid), _) => format!("uuid.{uuid}"),
        (None, Some(digits)) => format!("eui.{digits}"),
        (None, None) => by_kernel(),
    };
    witness.equal("nvme.uuid", uuid, "nvme ns-descs");
    witness.equal("world_wide_name", name, "nvme id-ns");
}

/// Sleep by itself.
fn power(witness: &mut Witness, node: &str, controller: &Value) {
    let can = number(controller, "apsta") & 1 == 1;
    let apst = match can {
        false => "absent",
        true => {
            let said = must("nvme", ["get-feature", node, "--feature-id=0x0c"]);
            let value = super::witness::number_after(&said, "value:").expect("a value");
            if value & 1 == 1 { "on" } else { "off" }
        }
    };
    witness.equal("nvme.apst", apst, "nvme get-feature");
    let states = controller["psds"].as_array().cloned().unwrap_or_default();
    let asleep = states.iter().filter(|state| can && number(state, "flags") & 2 != 0);
    let times: Vec<u64> =
        asleep.map(|state| number(state, "entry_lat") + number(state, "exit_lat")).collect();
    witness.equal("sleeps_us", times, "nvme id-ctrl");
}

/// Commands that Identify Controller has and that are not missing from the list of log page 05h.
fn purges(witness: &mut Witness, node: &str, controller: &Value) {
    let has_list = number(controller, "lpa") & 2 != 0;
    let list = has_list.then(|| {
        // `nvme effects-log` of Debian 12 prints nothing as bytes.
        let line = ["get-log", node, "--log-id=5", "--log-len=4096", "--raw-binary"];
        let output = Command::new("nvme").args(line).output().expect("nvme starts");
        assert!(output.stdout.len() >= 4096, "{output:?}");
        output.stdout
    });
    let is_listed = |opcode: usize| list.as_ref().is_none_or(|list| list[4 * opcode] & 1 == 1);
    let format = number(controller, "oacs") & 2 != 0 && is_listed(0x80);
    let sanitize = number(controller, "sanicap") & 2 != 0 && is_listed(0x84);
    let known = [(format, "nvme-format"), (sanitize, "nvme-sanitize")];
    let words: Vec<&str> = known.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect();
    witness.equal("nvme.purges", words, "nvme get-log");
}

fn cache(witness: &mut Witness, node: &str, controller: &Value) {
    let has_cache = number(controller, "vwc") & 1 == 1;
    let of_kernel = if has_cache { "write back" } else { "write through" };
    witness.equal("write_cache", of_kernel, "nvme id-ctrl");
    // NVMe drives all know it; the kernel offers it where there is a cache to go past.
    witness.equal("fua", has_cache, "nvme id-ctrl");
    let own = match has_cache {
        false => "absent",
        true => {
            let said = must("nvme", ["get-feature", node, "--feature-id=6"]);
            let value = super::witness::number_after(&said, "value:").expect("a value");
            if value & 1 == 1 { "on" } else { "off" }
        }
    };
    witness.equal("drive_write_cache", own, "nvme get-feature");
}

/// The SMART log.
fn health(witness: &mut Witness, node: &str) {
    // Tools have read from the drive since it was listed: its counts have grown.
    let now = health_of(node);
    let theirs = by_nvme(&["smart-log", node]);
    let tool = "nvme smart-log";
    for (our, their) in [
        ("used_percent", "percent_used"),
        ("spare_percent", "avail_spare"),
        ("media_errors", "media_errors"),
        ("power_on_hours", "power_on_hours"),
        ("unsafe_shutdowns", "unsafe_shutdowns"),
        ("critical_warning", "critical_warning"),
        ("spare_threshold_percent", "spare_thresh"),
        ("power_cycles", "power_cycles"),
        ("busy_minutes", "controller_busy_time"),
        ("error_entries", "num_err_log_entries"),
        ("warm_minutes", "warning_temp_time"),
        ("hot_minutes", "critical_comp_time"),
    ] {
        witness.equal(&format!("wear.{our}"), number(&theirs, their), tool);
    }
    for (our, their) in [("written_bytes", "data_units_written"), ("read_bytes", "data_units_read")]
    {
        let bytes = number(&theirs, their) * 512_000;
        assert_eq!(now["wear"][our], bytes, "{our}: {now} {theirs}");
        witness.at_most(&format!("wear.{our}"), bytes, tool);
    }
    for (our, one, other) in [
        ("throttled_times", "thm_temp1_trans_count", "thm_temp2_trans_count"),
        ("throttled_s", "thm_temp1_total_time", "thm_temp2_total_time"),
    ] {
        let sum = number(&theirs, one) + number(&theirs, other);
        witness.equal(&format!("wear.{our}"), sum, tool);
    }
    let kelvin = number(&theirs, "temperature") as i64;
    witness.equal("wear.temperature_c", kelvin - 273, tool);
}

/// What leads to a namespace, and where the links of its PCI functions stand.
fn paths(witness: &mut Witness, node: &str) {
    let name = node.trim_start_matches("/dev/");
    let json = by_nvme(&["list-subsys", node]);
    // Older versions give an object, newer ones a list of one for each host.
    let subsystems = json["Subsystems"].as_array().or_else(|| json[0]["Subsystems"].as_array());
    let subsystems = subsystems.unwrap_or_else(|| panic!("no subsystems in {json}"));
    let paths = subsystems.iter().find_map(|it| it["Paths"].as_array()).expect("paths");
    let of = |word: &str| -> Value { paths.iter().map(|path| path[word].clone()).collect() };
    let has_paths = witness.said("paths").as_array().is_some_and(|paths| !paths.is_empty());
    if has_paths {
        for (our, their) in [("controller", "Name"), ("transport", "Transport"), ("state", "State")]
        {
            witness.equal(&format!("paths[].{our}"), of(their), "nvme list-subsys");
        }
        let bare = |text: &Value| text.as_str().unwrap_or_default().to_owned();
        let addresses: Value = paths.iter().map(|path| bare(&path["Address"])).collect();
        witness.equal("paths[].address", addresses, "nvme list-subsys");
        // Where the drive has no such states, the kernel shows none, and nvme-cli assumes the best.
        let given = witness.said("paths[].access");
        if given.as_array().is_some_and(|list| list.iter().any(Value::is_string)) {
            witness.equal("paths[].access", of("ANAState"), "nvme list-subsys");
        }
        let links: Vec<Option<String>> = paths.iter().map(|path| link(path).0).collect();
        if links.iter().all(Option::is_some) {
            witness.equal("paths[].link", links, "the PCI function's registers");
        }
        let subsystem = subsystems[0]["Name"].as_str().expect("a name");
        let file = format!("/sys/class/nvme-subsystem/{subsystem}/iopolicy");
        let policy = fs::read_to_string(&file).unwrap_or_default();
        witness.equal("path_policy", policy.trim(), &file);
    }
    let kind = paths[0]["Transport"].as_str().expect("a transport");
    let transport = if kind == "pcie" { "nvme".into() } else { format!("nvme-{kind}") };
    witness.equal("transport", transport, "nvme list-subsys");
    let (now, most) = link(&paths[0]);
    witness.where_told("link", now, &format!("the PCI function's registers ({name})"));
    witness.where_told("link_max", most, &format!("the PCI functions' registers ({name})"));
}

/// The link of a path's PCI function now, and what it and the port above can do at most.
fn link(path: &Value) -> (Option<String>, Option<String>) {
    let name = path["Name"].as_str().expect("a name");
    let Ok(function) = fs::canonicalize(format!("/sys/class/nvme/{name}/device")) else {
        return (None, None);
    };
    let Some(own) = capability(&function) else { return (None, None) };
    let above = function.parent().and_then(capability).unwrap_or(own);
    let words = |rate: (u16, u16)| {
        let speed = ["?", "2.5", "5.0", "8.0", "16.0", "32.0", "64.0"][usize::from(rate.0)];
        format!("{speed} GT/s PCIe x{}", rate.1)
    };
    let rate = |register: u16| (register & 0xf, register >> 4 & 0x3f);
    let (mine, port) = (rate(own.0), rate(above.0));
    (Some(words(rate(own.1))), Some(words((mine.0.min(port.0), mine.1.min(port.1)))))
}

/// Lower half of the link capabilities, and link status, of PCI Express functions (PCI Express Base
/// Specification, 7.5.3): offsets 0Ch and 12h of capability 10h.
fn capability(function: &Path) -> Option<(u16, u16)> {
    let file: PathBuf = function.join("config");
    let space = fs::read(file).ok()?;
    let word = |at: usize| Some(u16::from_le_bytes([*space.get(at)?, *space.get(at + 1)?]));
    let mut at = usize::from(*space.get(0x34)?);
    while at >= 0x40 {
        if space.get(at) == Some(&0x10) {
            // A function that is a part of the root complex has no link.
            if word(at + 2)? >> 4 & 0xf == 9 {
                return None;
            }
            return Some((word(at + 0x0c)?, word(at + 0x12)?));
        }
        at = usize::from(*space.get(at + 1)?);
    }
    None
}

/// Entries of the error log, the newest first, as nvme-cli has them in as many of its rows.
#[track_caller]
pub fn same_errors(ours: &[Value], node: &str) {
    let line = ["error-log", node, "--log-entries=12"];
    let theirs = by_nvme(&line);
    let theirs = theirs["errors"].as_array().expect("errors");
    assert!(theirs.len() >= ours.len(), "{ours:?} {theirs:?}");
    for (our, their) in ours.iter().zip(theirs) {
        // It prints unsigned numbers as signed ones.
        let number = |word: &str| match their[word].as_i64() {
            Some(number) => number as u64,
            None => panic!("no {word} in {their}"),
        };
        assert_eq!(our["number"], their["error_count"], "{our} {their}");
        let none = |word: &str| Some(number(word)).filter(|it| *it != 0xffff);
        assert_eq!(our["queue"].as_u64(), none("sqid"), "{our} {their}");
        assert_eq!(our["command_id"].as_u64(), none("cmdid"), "{our} {their}");
        let status = number("status_field") & 0x7ff;
        assert_eq!(our["status_code"], status & 0xff, "{our} {their}");
        assert_eq!(our["status_type"], status >> 8, "{our} {their}");
        let lba = Some(number("lba")).filter(|_| !matches!(number("sqid"), 0 | 0xffff));
        assert_eq!(our["lba"].as_u64(), lba, "{our} {their}");
        let namespace = Some(number("nsid") as u32).filter(|it| !matches!(*it, 0 | u32::MAX));
        assert_eq!(our["namespace"].as_u64(), namespace.map(u64::from), "{our} {their}");
    }
}
