//! One word for each comparison, derived and never written by hand.

use crate::data::{NoAnswer, enough, is_constant};
use crate::family::holm;
use crate::planning::{repetitions_for_equivalence, repetitions_to_detect};
use crate::resampling::{least_permutation_p, permutation_test};
use crate::welch::{Equivalence, Welch, ratio_band};
use serde::{Deserialize, Serialize};

/// Repetitions a side below which a t test is not believed alone.
const T_TEST_MIN: usize = 5;
/// The level of all tests.
const ALPHA: f64 = 0.05;

/// What a comparison of two samples comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// All values of both are the same number.
    Identical,
    /// Two constants that differ: without noise nothing can be said of chance.
    Degenerate,
    /// The interval of the ratio lies wholly outside the band.
    Changed,
    /// A difference that is real and below the threshold.
    ChangedNegligible,
    /// A difference that is real, of unsettled size.
    ChangedMaybeRelevant,
    /// No change larger than the band.
    Equivalent,
    /// The data cannot tell.
    Inconclusive,
}

/// A ratio `after/before` with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// Ratio of geometric means.
    pub value: f64,
    /// Low end; `None` where no interval can be given.
    pub low: Option<f64>,
    /// High end.
    pub high: Option<f64>,
}

/// Two samples that are compared, and what counts as unchanged.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// Before, the baseline.
    pub before: &'a [f64],
    /// After, the candidate.
    pub after: &'a [f64],
    /// The ratio may lie within `[1 − delta, 1/(1 − delta)]`.
    pub delta: f64,
}

/// What one pair of a family comes to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// In a word.
    pub verdict: Verdict,
    /// After by before.
    pub ratio: Ratio,
    /// p-value of a difference, adjusted over the family; `None` where there was no test.
    pub p_adjusted: Option<f64>,
    /// The same of equivalence.
    pub equivalence_p_adjusted: Option<f64>,
    /// Where the verdict leaves something open: repetitions a side that would most likely settle
    /// it.
    pub needs_n: Option<u64>,
}

/// What is known of a pair before the family is looked at.
struct Tested {
    ratio: Ratio,
    p: Option<f64>,
    equivalence_p: Option<f64>,
    constant: Option<Verdict>,
    /// Relative spread of one value.
    cv: Option<f64>,
}

/// Judges a family of pairs together: p-values are adjusted over all that were tested (Holm).
///
/// # Errors
/// An empty sample, a value that is not finite or not above zero, of the first such pair.
pub fn judge(family: &[Pair<'_>]) -> Result<Vec<Judged>, NoAnswer> {
    let tested: Vec<Tested> = family.iter().map(test).collect::<Result<_, _>>()?;
    let p = holm(&tested.iter().map(|it| it.p).collect::<Vec<_>>());
    let equivalence_p = holm(&tested.iter().map(|it| it.equivalence_p).collect::<Vec<_>>());
    let together = family.iter().zip(tested).zip(p.into_iter().zip(equivalence_p));
    Ok(together
        .map(|((pair, tested), (p, equivalence_p))| {
            let verdict = tested
                .constant
                .unwrap_or_else(|| word(&tested.ratio, pair.delta, p, equivalence_p));
            Judged {
                verdict,
                ratio: tested.ratio,
                p_adjusted: p,
                equivalence_p_adjusted: equivalence_p,
                needs_n: needs(verdict, pair, tested.cv, family.len()),
            }
        })
        .collect())
}

fn test(pair: &Pair<'_>) -> Result<Tested, NoAnswer> {
    let (before, after) = (pair.before, pair.after);
    enough(before, 1)?;
    enough(after, 1)?;
    let logs = (crate::data::logarithms(before)?, crate::data::logarithms(after)?);
    let value = libm::exp(crate::data::average(&logs.1) - crate::data::average(&logs.0));
    let alone = Ratio { value, low: None, high: None };
    let nothing = Tested { ratio: alone, p: None, equivalence_p: None, constant: None, cv: None };
    let least = before.len().min(after.len());
    if least < 2 {
        return Ok(nothing);
    }
    if is_constant(before) && is_constant(after) {
        let is_same = is_constant(&[before, after].concat());
        let constant = if is_same { Verdict::Identical } else { Verdict::Degenerate };
        return Ok(Tested { constant: Some(constant), ..nothing });
    }
    let welch = match Welch::of(&logs.0, &logs.1) {
        // Rounding is another share of a logarithm than of its value.
        Err(NoAnswer::Constant) => {
            let is_same = (value - 1.0).abs() < 1e-12;
            let constant = if is_same { Verdict::Identical } else { Verdict::Degenerate };
            return Ok(Tested { constant: Some(constant), ..nothing });
        }
        other => other?,
    };
    let (low, high) = welch.interval(0.95);
    let ratio = Ratio { value, low: Some(libm::exp(low)), high: Some(libm::exp(high)) };
    let of_one = 1.0 / before.len() as f64 + 1.0 / after.len() as f64;
    let cv = Some(welch.standard_error / of_one.sqrt());
    if least >= T_TEST_MIN {
        let equivalence_p = Some(Equivalence::of_ratio(&welch, pair.delta).p());
        return Ok(Tested { ratio, p: Some(welch.p()), equivalence_p, cv, ..nothing });
    }
    // Too few for the t test alone: it counts where an exact test agrees.
    if least_permutation_p(before.len(), after.len()) > ALPHA {
        return Ok(Tested { ratio, cv, ..nothing });
    }
    let exact = permutation_test(&logs.0, &logs.1, 0)?.p();
    if exact > ALPHA {
        return Ok(Tested { ratio, cv, ..nothing });
    }
    let equivalence_p = Some(Equivalence::of_ratio(&welch, pair.delta).p());
    Ok(Tested { ratio, p: Some(exact.max(welch.p())), equivalence_p, cv, ..nothing })
}

/// The first row of the table that holds.
fn word(ratio: &Ratio, delta: f64, p: Option<f64>, equivalence_p: Option<f64>) -> Verdict {
    let (Some(p), Some(equivalence_p), Some(low), Some(high)) =
        (p, equivalence_p, ratio.low, ratio.high)
    else {
        return Verdict::Inconclusive;
    };
    let band = ratio_band(delta);
    let (is_different, is_equivalent) = (p <= ALPHA, equivalence_p <= ALPHA);
    match () {
        () if high < band.0 || low > band.1 => Verdict::Changed,
        () if is_different && is_equivalent => Verdict::ChangedNegligible,
        () if is_different => Verdict::ChangedMaybeRelevant,
        () if is_equivalent => Verdict::Equivalent,
        () => Verdict::Inconclusive,
    }
}

/// Repetitions a side that would most likely give a final word.
fn needs(verdict: Verdict, pair: &Pair<'_>, cv: Option<f64>, family: usize) -> Option<u64> {
    if !matches!(verdict, Verdict::Inconclusive | Verdict::ChangedMaybeRelevant) {
        return None;
    }
    let cv = cv?;
    // In a family each test has its share of the level, as the first of Holm's has.
    let alpha = ALPHA / family.max(1) as f64;
    let planned = repetitions_to_detect(cv, pair.delta, alpha)
        .max(repetitions_for_equivalence(cv, pair.delta, alpha));
    let had = pair.before.len().min(pair.after.len()) as u64;
    Some(planned.max(had + 1))
}
