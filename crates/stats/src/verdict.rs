//! One word for each comparison, derived and never written by hand.

use crate::data::{NoAnswer, enough, is_constant};
use crate::family::holm;
use crate::planning::{repetitions_for_equivalence, repetitions_to_detect};
use crate::resampling::{least_permutation_p, permutation_test};
use crate::series::von_neumann;
use crate::welch::{Equivalence, Welch, ratio_band};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Repetitions a side below which a t test is not believed alone.
const T_TEST_MIN: usize = 5;
/// The level of all tests.
const ALPHA: f64 = 0.05;
/// The one-sided 5 % point of the normal distribution: from here on values are taken to depend.
const DEPENDS: f64 = 1.644_853_626_951_472_7;
/// Values a side from which on what they remember is always taken into account.
const ALWAYS_FROM: f64 = 20.0;
/// Independent values that a side must be worth.
const WORTH_MIN: f64 = 5.0;
/// More repetitions a side than this are no advice.
const REPETITIONS_ADVISED_MAX: u64 = 1000;

/// What a comparison of two samples comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// All values of both are the same number.
    Identical,
    /// Two constants that differ: without noise nothing can be said of chance.
    Degenerate,
    /// A difference that is real, and the interval of the ratio lies wholly outside the band.
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

/// What keeps a comparison from a word, besides noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Open {
    /// So few values can never tell: no order of them is rare enough.
    TooFew,
    /// They could tell alone, and not in a family of this many cells.
    TooFewForFamily,
    /// Values of a side depend on each other, and are worth too few independent ones.
    Depends,
    /// They differ so much that more than a thousand a side would be needed.
    TooNoisy,
}

/// Which test a p-value is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    /// Two to four values a side: the larger p-value of an exact permutation test and Welch's.
    Permutation,
    /// From five on: Welch's test of logarithms.
    Welch,
    /// The same, with the number of values that those which depend on each other are worth.
    WelchOfDependent,
}

/// A ratio `after/before` with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// The verdict.
    pub verdict: Verdict,
    /// After by before.
    pub ratio: Ratio,
    /// p-value of a difference, adjusted over the family; `None` where there was no test.
    pub p_adjusted: Option<f64>,
    /// Adjusted p-value of the equivalence test.
    pub equivalence_p_adjusted: Option<f64>,
    /// Where the verdict leaves something open: repetitions a side that would most likely settle
    /// it, where a thousand are enough.
    pub needs_n: Option<u64>,
    /// Which test `p_adjusted` is of.
    pub test: Option<Test>,
    /// What keeps it from a word, besides noise.
    pub open: Option<Open>,
}

/// What is known of a pair before the family is looked at.
struct Tested {
    ratio: Ratio,
    p: Option<f64>,
    equivalence_p: Option<f64>,
    constant: Option<Verdict>,
    /// Relative spread of one value.
    cv: Option<f64>,
    test: Option<Test>,
    /// The least p-value that the test could give.
    least_p: f64,
    open: Option<Open>,
}

/// Judges a family of pairs together: p-values are adjusted over all that were tested (Holm).
///
/// The values of a side were drawn in shuffled order, or interleaved with those of the other.
///
/// # Errors
/// An empty sample, a value that is not finite or not above zero, of the first such pair.
///
/// ```
/// use drivelab_stats::{Open, Pair, Verdict, judge};
///
/// let pair = |before, after| Pair { before, after, delta: 0.05 };
/// let judged = judge(&[pair(&[10.0, 11.0], &[12.0, 13.0])])?[0];
/// assert_eq!(judged.verdict, Verdict::Inconclusive);
/// assert_eq!(judged.open, Some(Open::TooFew), "no order of four values is rare enough");
///
/// let judged = judge(&[pair(&[7.0, 7.0, 7.0], &[7.0, 7.0, 7.0])])?[0];
/// assert_eq!(judged.verdict, Verdict::Identical);
/// # Ok::<(), drivelab_stats::NoAnswer>(())
/// ```
pub fn judge(family: &[Pair<'_>]) -> Result<Vec<Judged>, NoAnswer> {
    judge_ordered(&family.iter().map(|pair| (*pair, false)).collect::<Vec<_>>())
}

/// The same; `true` next to a pair says that the values of each side were measured one after the
/// other and may know of each other.
///
/// # Errors
/// As [`judge`].
pub fn judge_ordered(family: &[(Pair<'_>, bool)]) -> Result<Vec<Judged>, NoAnswer> {
    let tested: Vec<Tested> =
        family.iter().map(|(pair, ordered)| test(pair, *ordered)).collect::<Result<_, _>>()?;
    let p = holm(&tested.iter().map(|it| it.p).collect::<Vec<_>>());
    let equivalence_p = holm(&tested.iter().map(|it| it.equivalence_p).collect::<Vec<_>>());
    let asked = p.iter().flatten().count();
    let together = family.iter().zip(tested).zip(p.into_iter().zip(equivalence_p));
    Ok(together
        .map(|(((pair, _), tested), (p, equivalence_p))| {
            let verdict =
                tested.constant.unwrap_or_else(|| word(&tested, pair.delta, p, equivalence_p));
            let never = tested.p.is_some() && tested.least_p * asked as f64 > ALPHA;
            let needs_n = needs(verdict, pair, &tested, family.len());
            let is_noisy = needs_n.is_some_and(|n| n > REPETITIONS_ADVISED_MAX);
            let open = tested.open.or_else(|| never.then_some(Open::TooFewForFamily));
            Judged {
                verdict,
                ratio: tested.ratio,
                p_adjusted: p,
                equivalence_p_adjusted: equivalence_p,
                needs_n: needs_n.filter(|_| !is_noisy),
                test: tested.test,
                open: open.or_else(|| is_noisy.then_some(Open::TooNoisy)),
            }
        })
        .collect())
}

fn test(pair: &Pair<'_>, ordered: bool) -> Result<Tested, NoAnswer> {
    let (before, after) = (pair.before, pair.after);
    enough(before, 1)?;
    enough(after, 1)?;
    let logs = (crate::data::logarithms(before)?, crate::data::logarithms(after)?);
    let value = libm::exp(crate::data::average(&logs.1) - crate::data::average(&logs.0));
    let nothing = Tested {
        ratio: Ratio { value, low: None, high: None },
        p: None,
        equivalence_p: None,
        constant: None,
        cv: None,
        test: None,
        least_p: 0.0,
        open: None,
    };
    let few = Tested { open: Some(Open::TooFew), ..nothing };
    let least = before.len().min(after.len());
    if least < 2 {
        return Ok(few);
    }
    let constant = |is_same: bool| {
        let constant = if is_same { Verdict::Identical } else { Verdict::Degenerate };
        Ok(Tested { constant: Some(constant), ..nothing })
    };
    if is_constant(before) && is_constant(after) {
        return constant(is_constant(&[before, after].concat()));
    }
    let mut welch = match Welch::of(&logs.0, &logs.1) {
        // Rounding is another share of a logarithm than of its value.
        Err(NoAnswer::Constant) => return constant((value - 1.0).abs() < 1e-12),
        other => other?,
    };
    let memory = if ordered { shared_memory(&[&logs.0, &logs.1]) } else { 0.0 };
    if memory > 0.0 {
        welch = welch.of_dependent(memory);
    }
    let (low, high) = welch.interval(0.95);
    let of_one = 1.0 / before.len() as f64 + 1.0 / after.len() as f64;
    let known = Tested {
        ratio: Ratio { value, low: Some(libm::exp(low)), high: Some(libm::exp(high)) },
        cv: Some(welch.standard_error / of_one.sqrt()),
        ..nothing
    };
    if memory > 0.0 && least as f64 * worth(memory) < WORTH_MIN {
        return Ok(Tested { open: Some(Open::Depends), ..known });
    }
    let equivalence_p = Some(Equivalence::of_ratio(&welch, pair.delta).p());
    if least >= T_TEST_MIN {
        let test = if memory > 0.0 { Test::WelchOfDependent } else { Test::Welch };
        return Ok(Tested { p: Some(welch.p()), equivalence_p, test: Some(test), ..known });
    }
    // Too few for the t test alone: it counts where an exact test agrees.
    let least_p = least_permutation_p(before.len(), after.len());
    if least_p > ALPHA {
        return Ok(Tested { open: few.open, ..known });
    }
    // What came out large stays in the family: leaving it out would make the others look rarer.
    let p = Some(permutation_test(&logs.0, &logs.1, 0)?.p().max(welch.p()));
    Ok(Tested { p, equivalence_p, test: Some(Test::Permutation), least_p, ..known })
}

/// The first row of the table that holds.
fn word(tested: &Tested, delta: f64, p: Option<f64>, equivalence_p: Option<f64>) -> Verdict {
    let Ratio { low: Some(low), high: Some(high), .. } = tested.ratio else {
        return Verdict::Inconclusive;
    };
    let (Some(p), Some(equivalence_p)) = (p, equivalence_p) else { return Verdict::Inconclusive };
    let band = ratio_band(delta);
    let (is_different, is_equivalent) = (p <= ALPHA, equivalence_p <= ALPHA);
    let is_few = tested.test == Some(Test::Permutation);
    match () {
        () if is_different && (high < band.0 || low > band.1) => Verdict::Changed,
        () if is_different && is_equivalent => Verdict::ChangedNegligible,
        () if is_different => Verdict::ChangedMaybeRelevant,
        () if is_equivalent && !is_few => Verdict::Equivalent,
        () => Verdict::Inconclusive,
    }
}

/// Repetitions a side that would most likely give a final word.
fn needs(verdict: Verdict, pair: &Pair<'_>, tested: &Tested, family: usize) -> Option<u64> {
    if !matches!(verdict, Verdict::Inconclusive | Verdict::ChangedMaybeRelevant) {
        return None;
    }
    let cv = tested.cv?;
    // In a family each test has its share of the level, as the first of Holm's has.
    let alpha = ALPHA / family.max(1) as f64;
    let planned = repetitions_to_detect(cv, pair.delta, alpha)
        .max(repetitions_for_equivalence(cv, pair.delta, alpha));
    let had = pair.before.len().min(pair.after.len()) as u64;
    Some(planned.max(had + 1))
}

/// How many independent values one is worth that remembers `memory` of the one before.
fn worth(memory: f64) -> f64 {
    (1.0 - memory) / (1.0 + memory)
}

/// What the values of both sides remember of those before them. Below 20 values a side it is 0
/// where von Neumann's ratio of the sides together shows nothing at the one-sided level of 5 %:
/// of few values nobody can tell it from chance, and to admit it always would cost too much power.
///
/// Under independence 1 − ratio/2 is about normal with variance (n − 2)/(n² − 1) (Young 1941).
fn shared_memory(sides: &[&[f64]]) -> f64 {
    let known = |side: &&&[f64]| side.len() >= 3 && !is_constant(side);
    let of_side = |side: &&[f64]| {
        let n = side.len() as f64;
        let shown = 1.0 - von_neumann(side).ok()? / 2.0;
        // A side's own bias, as of a mean (Kendall 1954).
        Some((n, shown, (n * shown + 1.0) / (n - 3.0).max(1.0)))
    };
    let all: Vec<(f64, f64, f64)> = sides.iter().filter(known).filter_map(of_side).collect();
    let n: f64 = all.iter().map(|side| side.0).sum();
    let together =
        |of: fn(&(f64, f64, f64)) -> f64| all.iter().map(|side| side.0 * of(side)).sum::<f64>() / n;
    let variance =
        all.iter().map(|(n, ..)| n * n * (n - 2.0) / (n * n - 1.0)).sum::<f64>() / (n * n);
    let least = all.iter().map(|side| side.0).fold(f64::INFINITY, f64::min);
    let is_shown = || together(|side| side.1) > DEPENDS * variance.sqrt();
    match !all.is_empty() && (least >= ALWAYS_FROM || is_shown()) {
        true => together(|side| side.2).clamp(0.0, 0.98),
        false => 0.0,
    }
}
