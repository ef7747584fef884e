//! The arithmetic of a mix, in units of one read (Da Zhou's slides, with 99 + k for 100 + k).

use drivelab_stats::{Counts, Estimate, NoAnswer, jackknife, jackknife_difference};

/// What one repetition counted: seconds, reads, writes, nanoseconds that reads took together.
pub type Repetition = Counts;

const SECONDS: usize = 0;
const READS: usize = 1;
const WRITES: usize = 2;
const READ_NS: usize = 3;

/// What a mix says, each with its interval over the repetitions of all cells that it rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// k: the time of one write alone in times of one read alone.
    pub alone: Estimate,
    /// The rate that a mix would reach if every operation took its time alone, by that of reads
    /// alone: 1 ÷ ((1 − w) + w · k).
    pub ideal: Estimate,
    /// The rate reached, by that of reads alone.
    pub real: Estimate,
    /// Real by ideal.
    pub efficiency: Estimate,
    /// What one write takes from the mix, in reads: (1 ÷ real − (1 − w)) ÷ w; `None` where its
    /// interval reaches down to nothing.
    pub cost: Option<Estimate>,
    /// F: that by k; 1 is no interference; `None` as `cost`.
    pub factor: Option<Estimate>,
    /// The mean latency of a read in the mix by that of a read alone.
    pub reads_slower: Estimate,
    /// w: the share of writes that really were.
    pub share: f64,
}

fn operations(sums: &Repetition) -> f64 {
    sums[READS] + sums[WRITES]
}

/// Seconds that one operation takes of the whole.
fn each(sums: &Repetition) -> f64 {
    sums[SECONDS] / operations(sums)
}

fn share(sums: &Repetition) -> f64 {
    sums[WRITES] / operations(sums)
}

fn ideal(reads: &Repetition, writes: &Repetition, mixed: &Repetition) -> f64 {
    let (w, k) = (share(mixed), each(writes) / each(reads));
    1.0 / ((1.0 - w) + w * k)
}

fn cost(reads: &Repetition, mixed: &Repetition) -> f64 {
    (mixed[SECONDS] / each(reads) - mixed[READS]) / mixed[WRITES]
}

/// An estimate that does not reach down to nothing.
fn positive(estimate: Estimate) -> Option<Estimate> {
    (estimate.low.unwrap_or(estimate.value) > 0.0).then_some(estimate)
}

/// The cost of writes, from the repetitions of reads alone, writes alone and both together.
///
/// # Errors
/// A cell without repetitions, or without reads or writes where it should have them, even with one
/// repetition left out.
pub fn of(
    reads: &[Repetition],
    writes: &[Repetition],
    mixed: &[Repetition],
) -> Result<Cost, NoAnswer> {
    let all = [reads, writes, mixed];
    let read_ns = |sums: &Repetition| sums[READ_NS] / sums[READS];
    let writes_done = mixed.iter().map(|counts| counts[WRITES]).sum::<f64>();
    let done = mixed.iter().map(operations).sum::<f64>();
    Ok(Cost {
        alone: jackknife(&[reads, writes], |it| each(&it[1]) / each(&it[0]))?,
        ideal: jackknife(&all, |it| ideal(&it[0], &it[1], &it[2]))?,
        real: jackknife(&[reads, mixed], |it| each(&it[0]) / each(&it[1]))?,
        efficiency: jackknife(&all, |it| {
            each(&it[0]) / each(&it[2]) / ideal(&it[0], &it[1], &it[2])
        })?,
        cost: positive(jackknife_difference(&[reads, mixed], |it| cost(&it[0], &it[1]))?),
        factor: positive(jackknife_difference(&all, |it| {
            cost(&it[0], &it[2]) / (each(&it[1]) / each(&it[0]))
        })?),
        reads_slower: jackknife(&[reads, mixed], |it| read_ns(&it[1]) / read_ns(&it[0]))?,
        share: writes_done / done,
    })
}

/// What there is to say of a mix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grade {
    /// It reaches what the two alone let expect.
    None,
    /// It reaches more: a write among reads is cheaper than one after the other.
    Cheaper,
    /// It falls short.
    Felt,
    /// It falls short, and a write takes more than [`BAD`] times its own time.
    Bad,
    /// The interval allows several of these.
    Unsettled,
}

/// Beyond this factor a write hurts far more than it should.
pub const BAD: f64 = 5.0;

impl Cost {
    /// The word for it: whether the whole interval of the efficiency lies on one side of the band.
    pub fn grade(&self, delta: f64) -> Grade {
        let (low_band, high_band) = (1.0 - delta, 1.0 / (1.0 - delta));
        let (Some(low), Some(high)) = (self.efficiency.low, self.efficiency.high) else {
            return Grade::Unsettled;
        };
        match () {
            () if high < low_band && self.factor.is_some_and(|it| it.value > BAD) => Grade::Bad,
            () if high < low_band => Grade::Felt,
            () if low > high_band => Grade::Cheaper,
            () if low >= low_band => Grade::None,
            () => Grade::Unsettled,
        }
    }
}
