//! Whether a drive has reached a steady state: the criterion of SNIA's performance test
//! specification, and a statistical one that is harder to fool.

use crate::data::{NoAnswer, average, enough};
use crate::descriptive::mean_interval;

/// Rounds of a measurement window.
pub const WINDOW_ROUNDS: usize = 5;
/// Least and greatest of a window may differ by this share of its mean.
pub const RANGE_MAX: f64 = 0.20;
/// The best line may change over a window by this share of its mean.
pub const SLOPE_MAX: f64 = 0.10;

/// One measurement window, judged by PTS 2.0.2, section 2.1.24. Rounds are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// The round that ends it.
    pub last_round: usize,
    /// Mean of its rounds.
    pub mean: f64,
    /// Greatest less least.
    pub range: f64,
    /// Slope of the best line, per round.
    pub slope: f64,
    /// Value of that line at round 0.
    pub intercept: f64,
    /// What that line changes over the window.
    pub slope_excursion: f64,
    /// Correlation of value and round; `None` when all values are equal.
    pub correlation: Option<f64>,
}

impl Window {
    /// Judges `values`, the first of which belongs to `first_round`.
    ///
    /// # Errors
    /// Fewer than two values, or one that is not finite.
    pub fn of(values: &[f64], first_round: usize) -> Result<Self, NoAnswer> {
        enough(values, 2)?;
        let mean = average(values);
        let rounds = values.len() as f64;
        let middle = first_round as f64 + (rounds - 1.0) / 2.0;
        let off = |index: usize| (first_round + index) as f64 - middle;
        let indexed = || values.iter().enumerate();
        let across: f64 = indexed().map(|(index, _)| off(index).powi(2)).sum();
        let together: f64 = indexed().map(|(index, value)| off(index) * (value - mean)).sum();
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let slope = together / across;
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Ok(Self {
            last_round: first_round + values.len() - 1,
            mean,
            range: greatest - least,
            slope,
            intercept: mean - slope * middle,
            slope_excursion: slope.abs() * (rounds - 1.0),
            correlation: (greatest > least).then(|| together / (across * squares).sqrt()),
        })
    }

    /// The largest range that is allowed.
    pub fn range_allowed(&self) -> f64 {
        RANGE_MAX * self.mean
    }

    /// The largest change of the best line that is allowed.
    pub fn slope_excursion_allowed(&self) -> f64 {
        SLOPE_MAX * self.mean
    }

    /// Whether the range is within what is allowed; exactly at the limit it is.
    pub fn is_range_met(&self) -> bool {
        self.range <= self.range_allowed()
    }

    /// Whether the change of the best line is within what is allowed.
    pub fn is_slope_met(&self) -> bool {
        self.slope_excursion <= self.slope_excursion_allowed()
    }

    /// Whether both are.
    pub fn is_steady(&self) -> bool {
        self.is_range_met() && self.is_slope_met()
    }
}

/// The windows of a series of rounds, the first of which is round 1.
///
/// # Errors
/// Fewer rounds than a window has, or a value that is not finite.
pub fn windows(rounds: &[f64]) -> Result<Vec<Window>, NoAnswer> {
    enough(rounds, WINDOW_ROUNDS)?;
    let starts = rounds.windows(WINDOW_ROUNDS).zip(1..);
    starts.map(|(values, first_round)| Window::of(values, first_round)).collect()
}

/// The first round at which all `variables` are steady in the same window.
///
/// # Errors
/// As [`windows`], for any of them.
pub fn first_steady_round(variables: &[&[f64]]) -> Result<Option<usize>, NoAnswer> {
    let all: Vec<Vec<Window>> =
        variables.iter().map(|rounds| windows(rounds)).collect::<Result<_, _>>()?;
    let rounds = all.iter().map(Vec::len).min().unwrap_or(0);
    let steady = (0..rounds).find(|index| all.iter().all(|windows| windows[*index].is_steady()));
    Ok(steady.map(|index| index + WINDOW_ROUNDS))
}

/// What fio's two criteria would look at on the same values, as shares of the mean: the largest
/// distance from the mean, and the slope from one value to the next. Neither is SNIA's.
///
/// # Errors
/// As [`Window::of`].
pub fn fio_criteria(values: &[f64]) -> Result<(f64, f64), NoAnswer> {
    let window = Window::of(values, 1)?;
    let farthest = values.iter().map(|value| (value - window.mean).abs()).fold(0.0, f64::max);
    Ok((farthest / window.mean, window.slope / window.mean))
}

/// Rounds in one turn: each of them writes one eighth of what is written.
pub const TURN_ROUNDS: usize = 8;
/// At least two turns are looked at.
const ROUNDS_MIN: usize = 2 * TURN_ROUNDS;
/// The means of the two halves of what is looked at may differ by this share.
pub const HALVES_DIFFER_MAX: f64 = 0.01;
/// No trend found is no proof that there is none, and one that was found may be too small to
/// matter: the best line must be shown to change by less than this share, over all that is looked
/// at, at a level of 5 %.
pub const DRIFT_MAX: f64 = 0.03;
/// One-sided 95 % of the normal distribution.
const ONE_SIDED: f64 = 1.644_854;
/// Capacities that must have been written since a drive was emptied, if every block of it was
/// written: one fills it, half of one uses up the most spare flash that drives have, two are
/// looked at, and the rest is for what collects in a rhythm.
pub const TURNS_FILLED: f64 = 4.0;
/// The same if only chance decides which blocks were written. Of all blocks e^-n are then still
/// empty after n capacities, and a drive has them as spare flash besides its own.
pub const TURNS_UNFILLED: f64 = 8.0;
/// A rate has fallen when it is below this share of the best.
pub const FALLEN: f64 = 0.90;

/// What may hold a rate level although the drive has not settled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Holder {
    /// The host or the link, while a drive of flash, or an unknown one, has spare blocks left.
    #[default]
    Spare,
    /// Nothing: it is an arm over a disk or a fixed quota that bounds the rate, and no spare flash.
    Nothing,
    /// Credits that are used up one day.
    Credits,
}

/// What is known of a drive before the first round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Past {
    /// Capacities written since it was emptied, or since anything is known of it.
    pub turns: f64,
    /// Capacities that one turn of rounds adds: less than 1 where they write a small part of it.
    pub turn: f64,
    /// Every block was written since then.
    pub is_filled: bool,
    /// What may hold its rate.
    pub holder: Holder,
}

impl Past {
    /// Of a drive that cannot hide anything.
    pub const OPEN: Past = Past { turns: 0.0, turn: 1.0, is_filled: true, holder: Holder::Nothing };

    /// Capacities written when this many rounds were done.
    pub fn turns_after(&self, rounds: usize) -> f64 {
        self.turns + self.turn * rounds as f64 / TURN_ROUNDS as f64
    }

    /// Capacities that a proof takes.
    pub fn turns_needed(&self) -> f64 {
        match (self.holder, self.is_filled) {
            (Holder::Nothing | Holder::Credits, _) => 0.0,
            (_, true) => TURNS_FILLED,
            (_, false) => TURNS_UNFILLED,
        }
    }
}

/// What keeps a series from being called settled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unsettled {
    /// Fewer rounds than two turns.
    TooShort,
    /// The drive may have spare flash left: the capacities written, and those it takes.
    Spare(f64, f64),
    /// The rate never fell, and credits may hold it.
    Credits,
    /// SNIA's window of the last five rounds is not steady.
    Window,
    /// The two halves have different means; the share by which they differ.
    Halves(f64),
    /// A drift is not ruled out; the largest that the rounds still allow, as a share.
    Drift(f64),
}

/// A steady state that is proved by two turns of rounds or more, and not by five rounds alone.
///
/// SNIA's window allows a change of 10 % and knows nothing of what is slower than five rounds: on
/// the way down after a cliff, or in the ringing after a sequential fill, it is met long before
/// the drive has settled. Here a turn is one rewriting of the whole drive, the longest period that
/// its collector has. What is looked at are the last two turns, or the last half of all rounds
/// where that is more, so that noise and slow settling are met with more data: its halves must
/// agree, and it must be shown to have no large drift.
///
/// A level rate alone proves nothing: one that the host or the link bounds is level before the
/// cliff too. So it also takes bytes ([`Past`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settled {
    /// Mean of what was looked at.
    pub mean: f64,
    /// Low end of its 95 % interval.
    pub low: f64,
    /// High end.
    pub high: f64,
    /// How many rounds that is.
    pub rounds: usize,
}

/// The largest change of the best line over `rounds` that they do not rule out, as a share of
/// their mean: least squares, one-sided.
fn drift_at_most(rounds: &[f64]) -> f64 {
    let Ok(line) = Window::of(rounds, 1) else { return f64::INFINITY };
    let count = rounds.len() as f64;
    let at = |index: usize| line.intercept + line.slope * (index + 1) as f64;
    let residuals = rounds.iter().enumerate().map(|(index, value)| (value - at(index)).powi(2));
    let variance = residuals.sum::<f64>() / (count - 2.0);
    // The sum of squares of 1..n about their mean is n(n² − 1)/12.
    let error = (variance * 12.0 / (count * (count * count - 1.0))).sqrt() * (count - 1.0);
    (line.slope_excursion + ONE_SIDED * error) / line.mean
}

impl Settled {
    /// Looks at the last of `rounds`, each of which is the mean over an eighth of a turn, on a
    /// drive of this past.
    ///
    /// # Errors
    /// What keeps them from being settled, the first reason that holds.
    pub fn of(rounds: &[f64], past: &Past) -> Result<Self, Unsettled> {
        let count = ROUNDS_MIN.max(rounds.len() / 2);
        let Some(start) = rounds.len().checked_sub(count) else {
            return Err(Unsettled::TooShort);
        };
        let (turns, needed) = (past.turns_after(rounds.len()), past.turns_needed());
        if turns < needed {
            return Err(Unsettled::Spare(turns, needed));
        }
        let best = rounds.iter().copied().fold(0.0, f64::max);
        if past.holder == Holder::Credits && average(&rounds[start..]) >= FALLEN * best {
            return Err(Unsettled::Credits);
        }
        let last = &rounds[start..];
        let window = Window::of(&last[count - WINDOW_ROUNDS..], 1);
        if !window.is_ok_and(|window| window.is_steady()) {
            return Err(Unsettled::Window);
        }
        let (before, after) = last.split_at(count / 2);
        let mean = average(last);
        let apart = (average(after) - average(before)).abs() / mean;
        if apart > HALVES_DIFFER_MAX {
            return Err(Unsettled::Halves(apart));
        }
        let drift = drift_at_most(last);
        if drift > DRIFT_MAX {
            return Err(Unsettled::Drift(drift));
        }
        // With so little drift allowed, half of this interval is at most 1.1 % of the mean.
        let (low, high) = mean_interval(last, 0.95).unwrap_or((mean, mean));
        Ok(Settled { mean, low, high, rounds: count })
    }

    /// Half the width of the interval as a share of the mean.
    pub fn relative_half_width(&self) -> f64 {
        (self.high - self.low) / 2.0 / self.mean
    }
}
