//! Weighted draws.

use drivelab_stats::Random;

/// A weighted draw; a single value costs nothing.
#[derive(Debug, Clone)]
pub(super) struct Draw<T> {
    values: Vec<(u64, T)>,
    total: u64,
}

impl<T: Copy> Draw<T> {
    pub(super) fn new(weighted: impl IntoIterator<Item = (u64, T)>) -> Self {
        let mut total = 0;
        let values = weighted
            .into_iter()
            .filter(|(weight, _)| *weight > 0)
            .map(|(weight, value)| {
                total += weight;
                (total, value)
            })
            .collect();
        Draw { values, total }
    }

    /// The value, where there is one alone.
    pub(super) fn only(&self) -> Option<T> {
        (self.values.len() == 1).then(|| self.values[0].1)
    }

    #[inline(always)]
    pub(super) fn next(&self, random: &mut Random) -> T {
        if self.values.len() == 1 {
            return self.values[0].1;
        }
        let drawn = random.below(self.total);
        let position = self.values.iter().position(|(end, _)| drawn < *end).unwrap_or(0);
        self.values[position].1
    }
}
