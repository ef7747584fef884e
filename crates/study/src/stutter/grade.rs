//! One letter for how much a person would feel, and the rule behind it.
//!
//! Tenths of a second are where waiting begins to be noticed, and a second is where a thought is
//! interrupted (Miller 1968; Card, Robertson and Mackinlay 1991).

use super::freezes::Waits;
use drivelab_core::findings::{Entry, Head, Table};

/// A wait that a person notices.
pub const FREEZE_NS: u64 = 100_000_000;
/// A wait that interrupts a thought.
pub const LONG_NS: u64 = 1_000_000_000;
const OFTEN_A_MINUTE: f64 = 10.0;
const SHARE: f64 = 0.1;

/// From the best to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    A,
    B,
    C,
    D,
    E,
    F,
}

impl Grade {
    const ALL: [Grade; 6] = [Grade::F, Grade::E, Grade::D, Grade::C, Grade::B, Grade::A];

    /// The first rule that holds, from the worst.
    pub fn of(waits: &Waits) -> Self {
        let a_minute = waits.a_minute().map_or(0.0, |estimate| estimate.value);
        Grade::by(a_minute, waits)
    }

    /// What the grade would be at another rate of freezes.
    pub fn by(a_minute: f64, waits: &Waits) -> Self {
        match () {
            () if waits.share().is_some_and(|share| share.value >= SHARE) => Grade::F,
            () if waits.count(LONG_NS) > 0 || a_minute >= OFTEN_A_MINUTE => Grade::E,
            () if a_minute >= 1.0 => Grade::D,
            () if waits.count(FREEZE_NS) > 0 || a_minute > 0.0 => Grade::C,
            () if waits.count(super::cells::LISTED_NS) > 0 => Grade::B,
            () => Grade::A,
        }
    }

    /// Its letter.
    pub fn letter(self) -> &'static str {
        match self {
            Grade::A => "A",
            Grade::B => "B",
            Grade::C => "C",
            Grade::D => "D",
            Grade::E => "E",
            Grade::F => "F",
        }
    }

    fn rule(self) -> &'static str {
        match self {
            Grade::F => "a tenth of the time or more passes in freezes",
            Grade::E => "a freeze of a second or longer, or ten or more a minute",
            Grade::D => "one freeze a minute or more",
            Grade::C => "freezes, but fewer",
            Grade::B => "no freeze, but waits of 10 ms or longer",
            Grade::A => "no wait of 10 ms or longer",
        }
    }

    /// The rules, with the one that holds marked.
    pub fn table(self) -> Table {
        let head = |name: &str| Head { name: name.into(), unit: None };
        let row = |grade: Grade| {
            let mark = if grade == self { "this drive" } else { "" };
            [grade.letter(), grade.rule(), mark].map(|text| Entry::Text(text.into())).to_vec()
        };
        Table {
            title: "The grade".into(),
            note: "A freeze is a wait of 100 ms or longer of the reader beside the writer. The \
                   first rule from the top that holds gives the grade."
                .into(),
            heads: vec![head("grade"), head("rule"), head("")],
            rows: Grade::ALL.map(row).to_vec(),
        }
    }
}
