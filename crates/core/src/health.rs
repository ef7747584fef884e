//! What a drive says of its own wear and health, and what that means in words.
//!
//! NVMe drives have one log for it; ATA and SCSI drives tell it in several places, or in part.
//! What a drive does not tell is `None`.

mod farm;

pub use farm::{FarmFacts, differ};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a drive says of its own wear and health: an NVMe drive's SMART log, an ATA drive's SMART
/// data and device statistics, a SCSI drive's log pages.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WearFacts {
    /// Percent of its rated endurance that its maker counts as used; may exceed 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_percent: Option<u32>,
    /// Where an ATA or SCSI drive tells this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_from: Option<String>,
    /// Bytes that hosts have written to it so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_bytes: Option<u64>,
    /// Where an ATA or SCSI drive tells this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_from: Option<String>,
    /// The unit in which it counts these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_unit_bytes: Option<u64>,
    /// Bytes that it has written to its flash so far: hosts' data and its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flash_written_bytes: Option<u64>,
    /// Where it tells this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flash_written_from: Option<String>,
    /// The unit in which it counts these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flash_written_unit_bytes: Option<u64>,
    /// Spare blocks left, in percent of those it had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spare_percent: Option<u32>,
    /// Times that it could not give back what was written, or not write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_errors: Option<u64>,
    /// Bits of the critical warning of an NVMe drive (see [`CRITICAL_WARNINGS`]); 0: it warns of
    /// nothing.
    #[serde(default)]
    pub critical_warning: u8,
    /// Whether an ATA or SCSI drive says of itself that it fails or soon will.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing: Option<bool>,
    /// What it names as the reason for that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failing_because: Vec<String>,
    /// What a SCSI drive reports that is no prediction of a failure, as a sense code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reports: Option<String>,
    /// Spare below which it warns, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spare_threshold_percent: Option<u32>,
    /// Hours under power.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_on_hours: Option<u64>,
    /// Times that power went away without notice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsafe_shutdowns: Option<u64>,
    /// Minutes above its warning temperature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_minutes: Option<u32>,
    /// Minutes above its critical temperature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hot_minutes: Option<u32>,
    /// Times that it slowed itself down because of its temperature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_times: Option<u64>,
    /// Seconds in which it was slowed down by its temperature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_s: Option<u64>,
    /// Times that it was turned on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_cycles: Option<u64>,
    /// Minutes in which it worked on commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_minutes: Option<u64>,
    /// Errors that it has noted in its log so far; a command that it does not know is one, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_entries: Option<u64>,
    /// The newest entries of its error log, the newest first; at most eight.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ErrorEntry>,
    /// Blocks of its flash that it no longer uses for data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bad_blocks: Option<u64>,
    /// Bytes that hosts have read from it so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bytes: Option<u64>,
    /// Its temperature when it was asked, in degrees Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_c: Option<i32>,
    /// What else it keeps of its temperature (ATA: SCT status).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperatures: Option<TemperatureFacts>,
    /// Sectors that it has replaced by others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reallocated_sectors: Option<u64>,
    /// Sectors that it could not read and will replace when they are written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_sectors: Option<u64>,
    /// Sectors that it could not read when it looked for itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable_sectors: Option<u64>,
    /// Transfers that arrived damaged over its cable or connector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_errors: Option<u64>,
    /// Whether its last self-test ended with a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub self_test_failed: Option<bool>,
    /// What it tests of itself, and how that ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub self_test: Option<SelfTestFacts>,
    /// What a drive of Seagate's counts for itself besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub farm: Option<FarmFacts>,
    /// What an ATA drive calls itself: the kernel cuts its names short, and a bridge has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<OwnNames>,
}

/// Tests that a drive makes of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SelfTestFacts {
    /// Whether one is going on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_running: bool,
    /// Percent that is done of it, where the drive says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done_percent: Option<u32>,
    /// The last one that ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<SelfTestEnd>,
}

/// How a test of a drive by itself ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SelfTestEnd {
    /// `short`, `long` or another word; absent where the drive does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// In words that follow `it`.
    pub how: String,
    /// Whether it found something wrong; absent where it did not come to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<bool>,
    /// Hours under power when it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_on_hours: Option<u64>,
}

/// What an NVMe drive noted of a command that failed, or of an error of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorEntry {
    /// Its number since the drive was made: each error has the next one.
    pub number: u64,
    /// The submission queue of the command, 0 for that of admin commands; absent where the error
    /// belongs to no command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<u16>,
    /// Identifier of the command in its queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_id: Option<u16>,
    /// Opcode of the command; older drives do not tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opcode: Option<u8>,
    /// Status code type.
    pub status_type: u8,
    /// Status code.
    pub status_code: u8,
    /// Both in words.
    pub status: String,
    /// First logical block with the error, as the drive says; many say 0 where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lba: Option<u64>,
    /// Namespace of the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<u32>,
}

/// Status code type of media and data integrity errors.
const MEDIA: u8 = 2;

impl ErrorEntry {
    /// Its status, and where it was: an LBA means something where media or data failed.
    pub fn words(&self) -> String {
        let status = u16::from(self.status_type) << 8 | u16::from(self.status_code);
        let lba = self.lba.filter(|_| self.status_type == MEDIA);
        let place = match (lba, self.namespace) {
            (Some(lba), Some(namespace)) => format!(" at block {lba} of namespace {namespace}"),
            (Some(lba), None) => format!(" at block {lba}"),
            (None, Some(namespace)) => format!(" on namespace {namespace}"),
            (None, None) => String::new(),
        };
        format!("{} ({status:03X}h){place}", self.status)
    }
}

/// Temperatures that a drive keeps, in degrees Celsius; absent where it does not know.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TemperatureFacts {
    /// When it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_c: Option<i32>,
    /// The least since it was turned on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_cycle_min_c: Option<i32>,
    /// The most since it was turned on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_cycle_max_c: Option<i32>,
    /// The least ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetime_min_c: Option<i32>,
    /// The most ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetime_max_c: Option<i32>,
    /// Intervals of its temperature log above the temperature at which it may work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_limit_count: Option<u32>,
    /// Intervals below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under_limit_count: Option<u32>,
}

/// What a drive calls itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OwnNames {
    /// Model string.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// Firmware revision.
    pub firmware: Option<String>,
}

impl OwnNames {
    /// These, and where one is missing that of others.
    pub fn or(self, others: OwnNames) -> OwnNames {
        OwnNames {
            model: self.model.or(others.model),
            serial: self.serial.or(others.serial),
            firmware: self.firmware.or(others.firmware),
        }
    }
}

/// What the bits of an NVMe drive's critical warning say, the lowest first (SMART log, byte 0, of
/// the NVM Express base specification).
pub const CRITICAL_WARNINGS: [&str; 6] = [
    "its spare blocks are below the threshold",
    "it is, or was, too hot or too cold",
    "its reliability is degraded by media or internal errors",
    "it has become read-only",
    "the backup of its volatile memory has failed",
    "its persistent memory region has become read-only or unreliable",
];

/// What a drive that has used up its rated endurance may be told.
const ALL_PERCENT: u32 = 100;

/// Fewer damaged transfers than this may come from one unplugged cable, years ago.
const LINK_ERRORS_MIN: u64 = 100;

impl WearFacts {
    /// What the drive itself warns of: not to be trusted with data.
    pub fn warnings(&self) -> Vec<String> {
        let is_set = |bit: usize| self.critical_warning >> bit & 1 == 1;
        let bits = CRITICAL_WARNINGS.iter().enumerate();
        let mut words: Vec<String> =
            bits.filter(|(bit, _)| is_set(*bit)).map(|(_, words)| (*words).to_owned()).collect();
        if let (Some(spare), Some(threshold)) = (self.spare_percent, self.spare_threshold_percent)
            && spare < threshold
            && words.is_empty()
        {
            words.push(format!("its spare is {spare} %, below its {threshold} %"));
        }
        if self.failing == Some(true) {
            words.push(match self.failing_because.is_empty() {
                true => "it says of itself that it fails".to_owned(),
                false => {
                    format!("it says of itself that it fails: {}", self.failing_because.join(", "))
                }
            });
        }
        words.extend(self.reports.iter().map(|sense| format!("it reports {sense}")));
        words
    }

    /// Whether a test of it by itself is going on.
    pub fn tests_itself(&self) -> bool {
        self.self_test.as_ref().is_some_and(|test| test.is_running)
    }

    /// What a careful owner would watch or act on although the drive does not warn.
    pub fn cautions(&self) -> Vec<String> {
        let counted = |count: Option<u64>| count.filter(|count| *count > 0);
        let mut words = Vec::new();
        if let Some(used) = self.used_percent.filter(|used| *used >= ALL_PERCENT) {
            words.push(format!("{used} % of its rated endurance is used"));
        }
        let times = |count: u64| if count == 1 { "once".into() } else { format!("{count} times") };
        if let Some(errors) = counted(self.media_errors) {
            words.push(format!("it failed {} to read or write data", times(errors)));
        }
        let sectors =
            |count: u64| if count == 1 { "1 sector".into() } else { format!("{count} sectors") };
        if let Some(count) = counted(self.pending_sectors) {
            words.push(format!("unreadable, waiting to be replaced: {}", sectors(count)));
        }
        if let Some(count) = counted(self.unreadable_sectors) {
            words.push(format!("its own scan found {} that cannot be read", sectors(count)));
        }
        if self.self_test_failed == Some(true) {
            words.push("its last self-test failed".into());
        }
        if let Some(count) = self.link_errors.filter(|count| *count >= LINK_ERRORS_MIN) {
            words.push(format!("{count} transfers arrived damaged: look at cable and connector"));
        }
        words.extend(self.farm.iter().flat_map(|farm| farm.cautions(self)));
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_of_which_nothing_is_known_warns_of_nothing() {
        let nothing = WearFacts::default();
        assert!(nothing.warnings().is_empty() && nothing.cautions().is_empty());
    }

    #[test]
    fn what_it_says_of_itself_is_a_warning_with_its_reason() {
        let mut wear = WearFacts { failing: Some(true), ..WearFacts::default() };
        assert_eq!(wear.warnings(), ["it says of itself that it fails"]);
        wear.failing_because = vec!["attribute 5 is 3, threshold 10".into()];
        let words = "it says of itself that it fails: attribute 5 is 3, threshold 10";
        assert_eq!(wear.warnings(), [words]);
        let mut nvme = WearFacts { critical_warning: 0b101, ..WearFacts::default() };
        (nvme.spare_percent, nvme.spare_threshold_percent) = (Some(9), Some(10));
        assert_eq!(nvme.warnings(), [CRITICAL_WARNINGS[0], CRITICAL_WARNINGS[2]]);
        nvme.critical_warning = 0;
        assert_eq!(nvme.warnings(), ["its spare is 9 %, below its 10 %"]);
    }

    #[test]
    fn counts_of_nothing_are_no_caution() {
        let zero = Some(0);
        let mut wear = WearFacts {
            media_errors: zero,
            pending_sectors: zero,
            unreadable_sectors: zero,
            link_errors: Some(3),
            self_test_failed: Some(false),
            used_percent: Some(99),
            ..WearFacts::default()
        };
        assert!(wear.cautions().is_empty(), "{:?}", wear.cautions());
        wear.pending_sectors = Some(1);
        wear.media_errors = Some(2);
        let words = [
            "it failed 2 times to read or write data",
            "unreadable, waiting to be replaced: 1 sector",
        ];
        assert_eq!(wear.cautions(), words);
    }

    #[test]
    fn old_run_files_still_read() {
        let old = r#"{"used_percent":3,"written_bytes":5,"spare_percent":100,"media_errors":0}"#;
        let wear: WearFacts = serde_json::from_str(old).unwrap();
        assert_eq!((wear.used_percent, wear.written_bytes), (Some(3), Some(5)));
    }
}
