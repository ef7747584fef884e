//! Figures as IOR and mdtest print them.

/// One figure of what is printed.
pub struct Figure {
    /// What it is called in the table.
    pub name: &'static str,
    label: &'static str,
    is_rate: bool,
}

impl Figure {
    /// Operations a second: the mean of mdtest's summary, `label max min mean deviation`.
    pub const fn rate(name: &'static str, label: &'static str) -> Self {
        Figure { name, label, is_rate: true }
    }

    /// MiB a second: the greatest in IOR's summary, `label max min mean …`, which comes last.
    pub const fn bandwidth(name: &'static str, label: &'static str) -> Self {
        Figure { name, label, is_rate: false }
    }

    /// The figure in what one run printed; panics where there is none.
    pub fn read(&self, text: &str) -> f64 {
        let lines = || text.lines().rev().map(str::trim);
        let rest = lines().find_map(|line| line.strip_prefix(self.label));
        let rest = rest.unwrap_or_else(|| panic!("no {} in:\n{text}", self.label));
        let place = if self.is_rate { 2 } else { 0 };
        let word = rest.split_whitespace().nth(place).unwrap_or_default();
        word.parse().unwrap_or_else(|_| panic!("no figure behind {}:\n{text}", self.label))
    }

    /// A value with its unit.
    pub fn shown(&self, value: f64) -> String {
        if self.is_rate { format!("{:.1} K/s", value / 1e3) } else { format!("{value:.0} MiB/s") }
    }
}

/// The median of an odd number of values.
pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
