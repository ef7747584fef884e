//! Published figures and what simulated drives say, by load.

use crate::load::is_there;
use crate::page::Table;

/// Several figures of one load on one profile.
pub struct Group<F: 'static> {
    /// The profile.
    pub profile: &'static str,
    /// The load in words.
    pub load: &'static str,
    /// Its figures, in the order in which `measure` gives them.
    pub figures: &'static [F],
    /// Runs the load.
    pub measure: fn() -> Result<Vec<f64>, String>,
}

/// What one figure came to, and the words for it.
pub struct Verdict {
    /// Whether it came out as it should.
    pub holds: bool,
    /// Cells behind profile and load.
    pub cells: Vec<String>,
}

/// Sums over a table.
#[derive(Default)]
pub struct Score {
    /// Figures that came out.
    pub held: u32,
    /// Figures that did not.
    pub failed: u32,
    /// Figures whose profile is not there, or whose load could not run.
    pub absent: u32,
}

impl<F> Group<F> {
    /// Runs the load and adds a row for each figure; `judge` gets the simulated value, `absent` the
    /// reason why there is none.
    pub fn add_to(
        &self,
        table: &mut Table,
        score: &mut Score,
        judge: impl Fn(&F, f64) -> Verdict,
        absent: impl Fn(&F, &str) -> Vec<String>,
    ) {
        let measured = match is_there(self.profile) {
            true => (self.measure)(),
            false => Err("profile not there".to_owned()),
        };
        for (index, figure) in self.figures.iter().enumerate() {
            let value = match &measured {
                Ok(values) => values.get(index).copied().ok_or("not measured".to_owned()),
                Err(error) => Err(error.clone()),
            };
            let cells = match value {
                Ok(value) => {
                    let verdict = judge(figure, value);
                    *if verdict.holds { &mut score.held } else { &mut score.failed } += 1;
                    verdict.cells
                }
                Err(error) => {
                    score.absent += 1;
                    absent(figure, &error)
                }
            };
            let mut row = vec![format!("`{}`", self.profile), self.load.to_owned()];
            row.extend(cells);
            table.row(&row);
        }
    }
}

/// A range in words; one figure where both ends are equal.
pub fn range(low: f64, high: f64) -> String {
    match (low == high, high.is_infinite()) {
        (true, _) => written(low),
        (false, true) => format!("at least {}", written(low)),
        (false, false) => format!("{} to {}", written(low), written(high)),
    }
}

/// A constant as it stands in the source.
pub fn written(value: f64) -> String {
    format!("{value}").replace('-', "−")
}
