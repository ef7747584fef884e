//! What drives of Seagate's count for themselves next to SMART: FARM, Field Accessible Reliability
//! Metrics. Who set the counts of SMART back, as on used drives that were sold as new, mostly left
//! these as they were.

use super::WearFacts;
use crate::quantity::count;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a drive of Seagate's keeps of its use (FARM, Field Accessible Reliability Metrics); absent
/// where it does not count it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FarmFacts {
    /// Hours under power.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_on_hours: Option<u64>,
    /// Hours in which its platters turned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spindle_hours: Option<u64>,
    /// Hours in which its heads flew over them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head_flight_hours: Option<u64>,
    /// Times that its heads were moved over the platters from where they rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head_loads: Option<u64>,
    /// Times that its heads had to be brought back in haste, as when power goes away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emergency_unloads: Option<u64>,
    /// Times that it was turned on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_cycles: Option<u64>,
    /// Year in which it was put together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assembled_year: Option<u32>,
    /// Week of that year, as its maker counts weeks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assembled_week: Option<u32>,
    /// Commands that read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_commands: Option<u64>,
    /// Commands that wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_commands: Option<u64>,
    /// Bytes that hosts have read from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bytes: Option<u64>,
    /// Bytes that hosts have written to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_bytes: Option<u64>,
    /// Percent of the workload that it is rated for; newer drives do not count it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rated_workload_percent: Option<u64>,
    /// Reads that failed for good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unrecoverable_reads: Option<u64>,
    /// Writes that failed for good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unrecoverable_writes: Option<u64>,
    /// Sectors that it has replaced by others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reallocated_sectors: Option<u64>,
    /// Sectors that it may have to replace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidate_sectors: Option<u64>,
    /// Transfers that arrived damaged over its cable or connector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_errors: Option<u64>,
    /// Commands that took it too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_timeouts: Option<u64>,
    /// Its temperature when it was asked, in degrees Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_c: Option<i32>,
    /// The least ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetime_min_c: Option<i32>,
    /// The most ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetime_max_c: Option<i32>,
    /// Minutes above the most that it is specified for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hot_minutes: Option<u64>,
    /// Whether the pressure of its helium has fallen below the least that it needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub helium_lost: Option<bool>,
}

/// Counts of one drive's hours are equal on drives that nobody touched. Two days are left for what
/// a maker or a firmware may count in one place only.
const HOURS_APART: u64 = 48;
/// Some drives keep the hours of SMART in 16 bits.
const HOURS_AROUND: u64 = 1 << 16;
/// Counts of other things are taken one after the other while the drive is used: they are equal
/// where they differ by no more than so many percent.
const PERCENT_APART: u128 = 1;

impl FarmFacts {
    /// What a careful owner would act on.
    pub(super) fn cautions(&self, wear: &WearFacts) -> Vec<String> {
        let lost = self.helium_lost.filter(|is_lost| *is_lost);
        let lost = lost.map(|_| "the pressure of its helium is too low".to_owned());
        self.set_back(wear.power_on_hours).into_iter().chain(lost).collect()
    }

    /// Its hours under power and those that it counts elsewhere, where they are too far apart to
    /// be of one drive.
    pub fn apart(&self, elsewhere: Option<u64>) -> Option<(u64, u64)> {
        let (own, elsewhere) = self.power_on_hours.zip(elsewhere)?;
        let apart = own.abs_diff(elsewhere);
        let begun_anew = own > elsewhere && apart >= HOURS_AROUND - HOURS_APART;
        let from_around = (apart + HOURS_APART) % HOURS_AROUND;
        let is_same = apart <= HOURS_APART || begun_anew && from_around <= 2 * HOURS_APART;
        (!is_same).then_some((own, elsewhere))
    }

    /// The same in words.
    fn set_back(&self, elsewhere: Option<u64>) -> Option<String> {
        let (own, elsewhere) = self.apart(elsewhere)?;
        let like = if own > elsewhere { ", as on used drives that were sold as new" } else { "" };
        Some(format!(
            "it counts {} h under power, but {} h in its FARM log: one of these is wrong or was \
             set back{like}",
            count(elsewhere),
            count(own),
        ))
    }
}

/// Whether two counts of the same thing are not the same.
pub fn differ(one: u64, other: u64) -> bool {
    let (less, more) = (u128::from(one.min(other)), u128::from(one.max(other)));
    100 * less < (100 - PERCENT_APART) * more
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(own: u64, elsewhere: Option<u64>) -> Vec<String> {
        let farm = FarmFacts { power_on_hours: Some(own), ..FarmFacts::default() };
        let wear = WearFacts { power_on_hours: elsewhere, ..WearFacts::default() };
        WearFacts { farm: Some(farm), ..wear }.cautions()
    }

    #[test]
    fn hours_that_were_set_back_are_told() {
        let words = "it counts 12 h under power, but 15,442 h in its FARM log: one of these is \
                     wrong or was set back, as on used drives that were sold as new";
        assert_eq!(said(15_442, Some(12)), [words]);
        let words = "it counts 15,442 h under power, but 12 h in its FARM log: one of these is \
                     wrong or was set back";
        assert_eq!(said(12, Some(15_442)), [words], "who sells a drive gains nothing by it");
        assert_eq!(said(12 + HOURS_APART + 1, Some(12)).len(), 1);
        assert_eq!(said(12, Some(12 + HOURS_APART + 1)).len(), 1);
    }

    #[test]
    fn hours_that_are_equal_or_not_known_are_no_caution() {
        let none: [String; 0] = [];
        for elsewhere in [None, Some(15_442), Some(15_442 - HOURS_APART), Some(15_490)] {
            assert_eq!(said(15_442, elsewhere), none, "{elsewhere:?}");
        }
        let wear = WearFacts { power_on_hours: Some(12), ..WearFacts::default() };
        let silent = WearFacts { farm: Some(FarmFacts::default()), ..wear };
        assert_eq!(silent.cautions(), none);
    }

    #[test]
    fn a_count_of_16_bits_that_began_anew_was_not_set_back() {
        let none: [String; 0] = [];
        for rounds in 1..=3 {
            for slip in [0, HOURS_APART] {
                assert_eq!(said(rounds * HOURS_AROUND + 100 + slip, Some(100)), none, "{slip}");
                assert_eq!(said(rounds * HOURS_AROUND + 100 - slip, Some(100)), none, "{slip}");
            }
            assert_eq!(said(rounds * HOURS_AROUND + 200, Some(100)).len(), 1);
        }
        assert_eq!(said(100, Some(HOURS_AROUND + 100)).len(), 1, "FARM has more bits");
    }

    #[test]
    fn lost_helium_is_a_caution() {
        let farm = |helium_lost| Some(FarmFacts { helium_lost, ..FarmFacts::default() });
        let of = |lost| WearFacts { farm: farm(lost), ..WearFacts::default() }.cautions();
        assert_eq!(of(Some(true)), ["the pressure of its helium is too low"]);
        assert!(of(Some(false)).is_empty() && of(None).is_empty());
    }

    #[test]
    fn counts_differ_by_more_than_a_percent() {
        assert!(!differ(0, 0) && !differ(100, 99) && !differ(99, 100));
        assert!(differ(100, 98) && differ(0, 1) && differ(u64::MAX, u64::MAX / 2));
    }
}
