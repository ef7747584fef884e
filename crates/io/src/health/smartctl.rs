//! What smartmontools reads of a drive, as a second witness: `smartctl --json` (its manual,
//! smartctl(8); it asks bridges of many makers in their own ways).

use drivelab_core::facts::WearFacts;
use serde_json::Value;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A drive that does not answer must not hold anybody up.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// What it prints has some 30 KiB.
const OUTPUT_BYTES_MAX: u64 = 4 << 20;

/// What smartctl says of a drive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// `smartctl` and its version.
    pub source: String,
    /// What it reads.
    pub wear: WearFacts,
}

/// Asks it about a device; `None` where it is not installed, knows nothing or takes too long.
pub fn ask(node: &Path) -> Option<Told> {
    let mut child = Command::new("smartctl")
        // Other logs are not asked for: a question that a drive does not know is an error it notes.
        .args(["--json", "--info", "--health", "--attributes"])
        .arg(node)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let output = child.stdout.take()?;
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        output.take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes).map(|_| bytes)
    });
    // Whoever waits for a drive in the kernel is not waited for.
    if !ends(&mut child) {
        child.kill().ok();
        return None;
    }
    read(&reader.join().ok()?.ok()?)
}

fn ends(child: &mut Child) -> bool {
    let begin = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(_)) => return true,
            Ok(None) if begin.elapsed() < PATIENCE => std::thread::sleep(LOOK_EVERY),
            _ => return false,
        }
    }
}

/// What its JSON says; `None` where that is nothing of a drive's health.
pub fn read(json: &[u8]) -> Option<Told> {
    let all: Value = serde_json::from_slice(json).ok()?;
    let version = all.pointer("/smartctl/version").and_then(Value::as_array);
    let version: Vec<String> = version?.iter().map(Value::to_string).collect();
    let source = format!("smartctl {}", version.join("."));
    let number = |path: &str| all.pointer(path).and_then(Value::as_u64);
    let small = |path: &str| number(path).and_then(|number| u32::try_from(number).ok());
    let attribute = |id: u64| {
        let table = all.pointer("/ata_smart_attributes/table")?.as_array()?;
        let row = table.iter().find(|row| row["id"].as_u64() == Some(id))?;
        row.pointer("/raw/value")?.as_u64()
    };
    let nvme = "/nvme_smart_health_information_log";
    let of_nvme = |name: &str| number(&format!("{nvme}/{name}"));
    let passed = all.pointer("/smart_status/passed").and_then(Value::as_bool);
    let is_nvme = all.pointer(nvme).is_some();
    let temperature = all.pointer("/temperature/current").and_then(Value::as_i64);
    let wear = WearFacts {
        failing: passed.filter(|_| !is_nvme).map(|passed| !passed),
        critical_warning: critical_warning_of(of_nvme("critical_warning")),
        used_percent: small(&format!("{nvme}/percentage_used")),
        spare_percent: small(&format!("{nvme}/available_spare")),
        media_errors: of_nvme("media_errors"),
        power_on_hours: number("/power_on_time/hours"),
        power_cycles: number("/power_cycle_count"),
        // It prints 0 for a temperature that it could not read.
        temperature_c: temperature.and_then(|it| i32::try_from(it).ok()).filter(|it| *it != 0),
        reallocated_sectors: attribute(5).or(number("/scsi_grown_defect_list")),
        pending_sectors: attribute(197),
        ..WearFacts::default()
    };
    // A temperature alone is what it prints of drives that keep no log.
    let is_known =
        wear.failing.is_some() || wear.used_percent.is_some() || wear.power_on_hours.is_some();
    is_known.then_some(Told { source, wear })
}

fn critical_warning_of(bits: Option<u64>) -> u8 {
    bits.and_then(|bits| u8::try_from(bits).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests;
