//! What another program reads of a drive's health, held against what drivelab reads itself.

use crate::facts::WearFacts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a second program says of the health of a drive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecondWitness {
    /// The program and its version.
    pub source: String,
    /// Nothing but this program could read the drive's health.
    pub is_alone: bool,
    /// What both read alike, in words.
    pub same: Vec<String>,
    /// What they read otherwise, in words.
    pub otherwise: Vec<String>,
}

/// Hours may pass from one count to the next while both ask.
const HOURS_APART: u64 = 1;

impl SecondWitness {
    /// What both read, compared; `None` where there is nothing that both tell.
    pub fn of(source: &str, ours: &WearFacts, theirs: &WearFacts) -> Option<SecondWitness> {
        let warns = |wear: &WearFacts| {
            let known = wear.failing.or((wear.used_percent.is_some()).then_some(false));
            known.map(|fails| fails || wear.critical_warning != 0)
        };
        let pairs = [
            ("hours", ours.power_on_hours, theirs.power_on_hours, HOURS_APART),
            ("percent used", percent(ours.used_percent), percent(theirs.used_percent), 0),
            ("percent spare", percent(ours.spare_percent), percent(theirs.spare_percent), 0),
            ("media errors", ours.media_errors, theirs.media_errors, 0),
            ("sectors replaced", ours.reallocated_sectors, theirs.reallocated_sectors, 0),
            ("sectors pending", ours.pending_sectors, theirs.pending_sectors, 0),
        ];
        let mut found = SecondWitness {
            source: source.to_owned(),
            is_alone: false,
            same: Vec::new(),
            otherwise: Vec::new(),
        };
        match warns(ours).zip(warns(theirs)) {
            Some((our, their)) if our == their => found.same.push("whether it warns".into()),
            Some((_, true)) => found.otherwise.push("that it warns".into()),
            Some((_, false)) => found.otherwise.push("that it does not warn".into()),
            None => {}
        }
        for (name, our, their, apart) in pairs {
            match our.zip(their) {
                Some((our, their)) if our.abs_diff(their) <= apart => found.same.push(name.into()),
                Some((our, their)) => {
                    found.otherwise.push(format!("{their} {name} instead of {our}"));
                }
                None => {}
            }
        }
        (!found.same.is_empty() || !found.otherwise.is_empty()).then_some(found)
    }

    /// The only one that tells of a drive.
    pub fn alone(source: &str) -> SecondWitness {
        SecondWitness {
            source: source.to_owned(),
            is_alone: true,
            same: Vec::new(),
            otherwise: Vec::new(),
        }
    }
}

fn percent(percent: Option<u32>) -> Option<u64> {
    percent.map(u64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_tell_is_compared_and_nothing_else() {
        let ours = WearFacts {
            power_on_hours: Some(100),
            used_percent: Some(3),
            media_errors: Some(0),
            reallocated_sectors: Some(7),
            ..WearFacts::default()
        };
        let theirs = WearFacts {
            power_on_hours: Some(101),
            used_percent: Some(4),
            media_errors: Some(0),
            critical_warning: 4,
            ..WearFacts::default()
        };
        let found = SecondWitness::of("smartctl 7.3", &ours, &theirs).unwrap();
        assert_eq!(found.same, ["hours", "media errors"]);
        let otherwise = ["that it warns", "4 percent used instead of 3"];
        assert_eq!(found.otherwise, otherwise);
        assert_eq!(SecondWitness::of("smartctl 7.3", &ours, &WearFacts::default()), None);
    }
}
