//! What follows from the parameters of a simulated drive, before it is built.

use crate::flash;
use crate::profile::Model;
use crate::target::SimTarget;
use drivelab_core::lifetime::days_of_cells;

/// Formulas are evaluated for blocks of up to this many units: they take time that grows with it.
const FORMULA_UNITS_MAX: u32 = 1 << 20;
/// The same for the fixed point of d-choices.
const CHOICES_UNITS_MAX: u32 = 1 << 10;

/// A figure that follows from the parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Its name, with the unit.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
    /// The value for people.
    pub words: String,
    /// What it says.
    pub meaning: &'static str,
}

impl SimTarget {
    /// What follows from the parameters of a page-mapped drive; nothing for others.
    /// `written_by_day`: also, for how many days the cells bear this many bytes of the host a day.
    ///
    /// # Errors
    /// Parameters out of range or contradictory; a lifetime asked of cells that are not known.
    ///
    /// ```
    /// use drivelab_sim::target::SimTarget;
    ///
    /// let target = SimTarget::parse("sim:textbook", |_: &str| Err(String::new()))?;
    /// let figures = target.figures(None)?;
    /// let spare = figures.iter().find(|figure| figure.name == "spare").expect("flash has spare");
    /// assert!(spare.value > 0.0, "{}", spare.words);
    /// # Ok::<(), String>(())
    /// ```
    pub fn figures(&self, written_by_day: Option<u64>) -> Result<Vec<Figure>, String> {
        if self.profile.model != Model::Flash {
            return match written_by_day {
                None => Ok(Vec::new()),
                Some(_) => Err(self.has_no_cycles()),
            };
        }
        let flash = self.flash()?;
        let layout = flash.layout(0).map_err(|error| self.placed(&error))?;
        let user = f64::from(layout.logical_units);
        let raw = f64::from(layout.blocks) * f64::from(layout.block_units);
        let (nominal, effective) = (raw / user - 1.0, layout.spare());
        let percent = |share: f64| format!("{:.2} %", 100.0 * share);
        let figure = |name, value: f64, words, meaning| Figure { name, value, words, meaning };
        let mut figures = vec![
            figure(
                "spare_nominal",
                nominal,
                percent(nominal),
                "(raw - user) / user: all good blocks",
            ),
            figure(
                "spare",
                effective,
                percent(effective),
                "the same after reserve and open blocks: what counts",
            ),
            figure(
                "spare_factor",
                effective / (1.0 + effective),
                percent(effective / (1.0 + effective)),
                "(T - U) / T, as some papers say it",
            ),
            figure(
                "blocks",
                f64::from(layout.blocks),
                layout.blocks.to_string(),
                "erased together over all dies",
            ),
            figure(
                "block_units",
                f64::from(layout.block_units),
                layout.block_units.to_string(),
                "map units in each",
            ),
        ];
        let expected = match layout.policy {
            _ if layout.block_units > FORMULA_UNITS_MAX => None,
            flash::Policy::DChoices if layout.block_units > CHOICES_UNITS_MAX => None,
            flash::Policy::Greedy => Some(crate::theory::greedy(effective, layout.block_units)),
            flash::Policy::Fifo => Some(crate::theory::fifo(effective)),
            flash::Policy::Random => Some(crate::theory::random_victims(effective)),
            flash::Policy::DChoices => {
                Some(crate::theory::d_choices(effective, layout.block_units, layout.choices))
            }
            flash::Policy::Windowed | flash::Policy::CostBenefit => None,
        };
        figures.extend(expected.map(|expected| {
            figure(
                "write_amplification_expected",
                expected,
                format!("{expected:.3}"),
                "of uniform random writes in the long run, by the formula",
            )
        }));
        if let Some(bytes) = written_by_day {
            figures.extend(self.lifetime(expected, bytes)?);
        }
        Ok(figures)
    }

    /// For how many days the cells bear `bytes` of the host a day, at best and where they are
    /// written at random.
    fn lifetime(&self, expected: Option<f64>, bytes: u64) -> Result<Vec<Figure>, String> {
        let flash = self.flash_facts().filter(|flash| flash.cycles_left > 0);
        let flash = flash.ok_or_else(|| self.has_no_cycles())?;
        let cycles = f64::from(flash.cycles_left);
        let days = |factor| days_of_cells(flash.bytes as f64, cycles, factor, bytes as f64);
        let figure = |name, factor: Option<f64>, meaning| {
            let value = days(factor?)?;
            Some(Figure { name, value, words: drivelab_core::quantity::days(value), meaning })
        };
        let sequential = figure(
            "lifetime_sequential_days",
            Some(1.0),
            "until the cells are worn out, with a write amplification of 1",
        );
        let random = figure("lifetime_random_days", expected, "the same of uniform random writes");
        Ok(sequential.into_iter().chain(random).collect())
    }

    fn has_no_cycles(&self) -> String {
        format!(
            "how long `{}` lasts is not known: it has no endurance_cycles; add \
             endurance_cycles=3000 after the name of a flash drive",
            self.profile.name
        )
    }
}
