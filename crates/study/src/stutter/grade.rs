//! One letter for how much a person would feel, the rule behind it, and when a rule may be used.
//!
//! Tenths of a second are where waiting begins to be noticed, and a second is where a thought is
//! interrupted (Miller 1968; Card, Robertson and Mackinlay 1991). Every rule is one of a rate or a
//! share, because only such can be bounded by what was watched: no time rules out what comes once
//! a year.

use super::freezes::Waits;
use drivelab_core::findings::{Entry, Head, Table};

/// A wait that a person notices.
pub const FREEZE_NS: u64 = 100_000_000;
/// A wait that interrupts a thought.
pub const LONG_NS: u64 = 1_000_000_000;
const SELDOM_A_MINUTE: f64 = 1.0;
const OFTEN_A_MINUTE: f64 = 10.0;
/// Shares of the time in freezes from which a drive is D, E and F.
const SHARES: [f64; 3] = [0.01, 0.03, 0.1];
/// Seconds without a freeze that rule out one a minute: the upper bound of a Poisson count of
/// none, one-sided at 95 %, is −ln 0.05.
pub const NONE_SECONDS: f64 = 179.744;
/// How many times longer a watch is tried when it is said how long it would take.
const TIMES: [usize; 9] = [2, 3, 4, 6, 10, 20, 40, 100, 400];

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

/// Too little was watched for a grade.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Open {
    /// Seconds that were.
    pub watched: f64,
    /// Seconds that it would take if all goes on as it did; `None`: more than can be said.
    pub needed: Option<f64>,
}

/// The grade, where what was watched rules out every grade more than one away from it.
///
/// # Errors
/// It does not.
pub fn graded(waits: &Waits) -> Result<Grade, Open> {
    let watched = waits.seconds();
    if waits.count(FREEZE_NS) == 0 {
        let is_enough = watched >= NONE_SECONDS;
        return match is_enough {
            true => Ok(Grade::of(waits)),
            false => Err(Open { watched, needed: Some(NONE_SECONDS) }),
        };
    }
    let grade = Grade::of(waits);
    if is_sure(waits, grade) {
        return Ok(grade);
    }
    let times = TIMES.into_iter().find(|times| is_sure(&waits.stretched(*times), grade));
    Err(Open { watched, needed: times.map(|times| times as f64 * watched) })
}

/// Whether the grades at both ends of the intervals are at most one away.
fn is_sure(waits: &Waits, grade: Grade) -> bool {
    let [best, worst] = Grade::between(waits);
    let step = |grade: Grade| grade as i32;
    step(grade) - step(best) <= 1 && step(worst) - step(grade) <= 1
}

impl Grade {
    const ALL: [Grade; 6] = [Grade::F, Grade::E, Grade::D, Grade::C, Grade::B, Grade::A];

    /// The first rule that holds, from the worst.
    pub fn of(waits: &Waits) -> Self {
        let a_minute = waits.a_minute().map_or(0.0, |estimate| estimate.value);
        let share = waits.share().map_or(0.0, |estimate| estimate.value);
        Grade::by(a_minute, share, waits)
    }

    /// The best and the worst that the intervals of rate and share allow.
    pub fn between(waits: &Waits) -> [Self; 2] {
        let (Some(rate), Some(share)) = (waits.a_minute(), waits.share()) else {
            return [Grade::A, Grade::F];
        };
        // Where there is no interval anything may be true.
        let low = |it: drivelab_stats::Estimate| it.low.unwrap_or(0.0);
        let high = |it: drivelab_stats::Estimate| it.high.unwrap_or(f64::INFINITY);
        [Grade::by(low(rate), low(share), waits), Grade::by(high(rate), high(share), waits)]
    }

    /// What the grade would be at other freezes a minute and another share.
    fn by(a_minute: f64, share: f64, waits: &Waits) -> Self {
        match () {
            () if share >= SHARES[2] => Grade::F,
            () if share >= SHARES[1] => Grade::E,
            () if share >= SHARES[0] || a_minute >= OFTEN_A_MINUTE => Grade::D,
            () if a_minute >= SELDOM_A_MINUTE => Grade::C,
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
            Grade::E => "3 % of the time or more",
            Grade::D => "1 % of the time or more, or ten freezes a minute or more",
            Grade::C => "one freeze a minute or more",
            Grade::B => "fewer, or waits of 10 ms or longer",
            Grade::A => "no wait of 10 ms or longer",
        }
    }

    /// The rules, with the one that holds marked.
    pub fn table(found: Option<Grade>) -> Table {
        let head = |name: &str| Head { name: name.into(), unit: None };
        let row = |grade: Grade| {
            let mark = if Some(grade) == found { "this drive" } else { "" };
            [grade.letter(), grade.rule(), mark].map(|text| Entry::Text(text.into())).to_vec()
        };
        Table {
            title: "The grade".into(),
            note:
                "A freeze is a wait of 100 ms or longer of the reader with the writer. The first \
                   rule from the top that holds gives the grade. It is given where what was \
                   watched rules out, at 95 %, every grade more than one step away."
                    .into(),
            heads: vec![head("grade"), head("rule"), head("")],
            rows: Grade::ALL.map(row).to_vec(),
        }
    }
}
