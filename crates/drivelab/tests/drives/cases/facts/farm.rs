//! What drives of Seagate's count besides (FARM). No tool of this machine knows its fields: their
//! bytes are read by smartctl and sg_logs, which take them for anything, and looked up here.

use super::witness::Witness;
use crate::support::binary::must;
use serde_json::Value;
use std::process::Command;

/// Field, page and place of an ATA drive's.
const OF_ATA: [(&str, usize, usize); 18] = [
    ("power_on_hours", 1, 152),
    ("spindle_hours", 1, 160),
    ("head_flight_hours", 1, 168),
    ("head_loads", 1, 176),
    ("power_cycles", 1, 184),
    ("rated_workload_percent", 2, 16),
    ("read_commands", 2, 24),
    ("write_commands", 2, 32),
    ("unrecoverable_reads", 3, 16),
    ("unrecoverable_writes", 3, 24),
    ("reallocated_sectors", 3, 32),
    ("candidate_sectors", 3, 56),
    ("link_errors", 3, 72),
    ("command_timeouts", 3, 112),
    ("temperature_c", 4, 16),
    ("lifetime_max_c", 4, 24),
    ("lifetime_min_c", 4, 32),
    ("hot_minutes", 4, 88),
];

/// The log of an ATA drive, by smartctl.
pub fn of_ata(witness: &mut Witness, node: &str) {
    if !witness.said("wear.farm").is_object() {
        return;
    }
    let tool = "smartctl --log=gplog,0xa6";
    // Pages of the log are 32 times as long as those that are asked for.
    let block = |number: usize| of_block(node, number);
    let pages: Vec<Vec<u8>> = (0..=4).map(|page| block(32 * page)).collect();
    let field = |bytes: &[u8], at: usize| {
        let field = u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        (field >> 62 == 0b11).then_some(field << 8 >> 8)
    };
    assert!(pages[0].starts_with(b"REMRAF"), "{node}");
    for (name, page, at) in OF_ATA {
        witness.equal(&format!("wear.farm.{name}"), field(&pages[page], at), tool);
    }
    let sector = field(&pages[1], 72);
    for (name, at) in [("written_bytes", 64), ("read_bytes", 72)] {
        let bytes = field(&pages[2], at).zip(sector).map(|(count, bytes)| count * bytes);
        witness.equal(&format!("wear.farm.{name}"), bytes, tool);
    }
    let date = std::str::from_utf8(&pages[1][360..364]).expect("digits");
    let number = |text: &str| text.parse::<u64>().expect("digits");
    witness.equal("wear.farm.assembled_year", 2000 + number(&date[..2]), tool);
    witness.equal("wear.farm.assembled_week", number(&date[2..]), tool);
    let unloads = field(&block(5 * 32 + 2), 1520 - 2 * 512);
    witness.equal("wear.farm.emergency_unloads", unloads, tool);
    let helium = field(&block(5 * 32 + 10), 5576 - 10 * 512).map(|tripped| tripped != 0);
    witness.equal("wear.farm.helium_lost", helium, tool);
}

/// 512 bytes of the log, as smartctl prints them: offsets, bytes in hexadecimal, and text.
fn of_block(node: &str, number: usize) -> Vec<u8> {
    let log = format!("--log=gplog,0xa6,{number}");
    let output = Command::new("smartctl").args([&log, node]).output().expect("smartctl starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let of_line = |line: &str| {
        let (offset, rest) = line.split_once(": ")?;
        usize::from_str_radix(offset, 16).ok()?;
        let (bytes, _) = rest.split_once('|').unwrap_or((rest, ""));
        Some(bytes.split_whitespace().map(|byte| u8::from_str_radix(byte, 16)).collect::<Vec<_>>())
    };
    let bytes: Result<Vec<u8>, _> = said.lines().filter_map(of_line).flatten().collect();
    let bytes = bytes.unwrap_or_else(|error| panic!("{error}: {said}"));
    assert_eq!(bytes.len(), 512, "{said}");
    bytes
}

/// The page of a SCSI drive, by sg_logs.
pub fn of_scsi(witness: &mut Witness, node: &str) {
    if !witness.said("wear.farm").is_object() {
        return;
    }
    let tool = "sg_logs --page=0x3d,0x3";
    let said = must("sg_logs", ["--page=0x3d,0x3", "--hex", "--hex", node]);
    let rows = said.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        usize::from_str_radix(words.next()?, 16).ok()?;
        let bytes = words.map_while(|word| u8::from_str_radix(word, 16).ok());
        Some(bytes.take(16).collect::<Vec<u8>>())
    });
    let page: Vec<u8> = rows.flatten().collect();
    assert_eq!(page[..2], [0x7d, 3], "{said}");
    let field = |wanted: u16, at: usize| -> Option<u64> {
        let mut rest = &page[4..];
        while let [high, low, _, length, behind @ ..] = rest {
            let (data, next) = behind.split_at(usize::from(*length));
            if u16::from_be_bytes([*high, *low]) == wanted {
                let field = u64::from_be_bytes(data[at..at + 8].try_into().expect("eight bytes"));
                return (field >> 62 == 0b11).then_some(field << 8 >> 8);
            }
            rest = next;
        }
        None
    };
    let whole = |tenths: Option<u64>| -> Value { tenths.map(|it| (it + 5) / 10).into() };
    let theirs: [(&str, Value); 6] = [
        ("power_on_hours", field(1, 152).into()),
        ("power_cycles", field(1, 184).into()),
        ("temperature_c", whole(field(4, 16))),
        ("lifetime_max_c", whole(field(4, 24))),
        ("lifetime_min_c", whole(field(4, 32))),
        ("reallocated_sectors", field(0x52, 24).into()),
    ];
    for (name, value) in theirs {
        witness.equal(&format!("wear.farm.{name}"), value, tool);
    }
}
