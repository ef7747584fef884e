//! Weighted draws.

use crate::defect::defect;
use crate::plan::WeightedSize;
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
        let values: Vec<(u64, T)> = weighted
            .into_iter()
            .filter(|(weight, _)| *weight > 0)
            .map(|(weight, value)| {
                total += weight;
                (total, value)
            })
            .collect();
        debug_assert!(
            values.is_sorted_by(|one, other| one.0 < other.0),
            "the ends of weights rise"
        );
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
        debug_assert!(self.total > 0, "a draw among nothing");
        let drawn = random.below(self.total);
        match self.values.iter().find(|(end, _)| drawn < *end) {
            Some((_, value)) => *value,
            None => defect("a weighted draw fell beyond its weights"),
        }
    }
}

impl Draw<u32> {
    /// Of sizes, each with its weight.
    pub(super) fn of_sizes(sizes: &[WeightedSize]) -> Self {
        Draw::new(sizes.iter().map(|entry| (u64::from(entry.weight), entry.size.0 as u32)))
    }

    /// A size among those that fit in `room` bytes, by their weights; among all, if none does.
    #[inline(always)]
    pub(super) fn within(&self, room: u64, random: &mut Random) -> u32 {
        let fits = |size: u32| u64::from(size) <= room;
        if self.values.iter().all(|(_, size)| fits(*size)) {
            return self.next(random);
        }
        let weights = |begin: &mut u64, (end, size): &(u64, u32)| {
            Some((*end - std::mem::replace(begin, *end), *size))
        };
        let fitting = || self.values.iter().scan(0, weights).filter(|(_, size)| fits(*size));
        let total: u64 = fitting().map(|(weight, _)| weight).sum();
        if total == 0 {
            return self.next(random);
        }
        let mut drawn = random.below(total);
        for (weight, size) in fitting() {
            if drawn < weight {
                return size;
            }
            drawn -= weight;
        }
        defect("a size that fits was drawn beyond the weights of those that do")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::defect::ended_by_defects;
    use crate::queue::TroubleKind;

    #[test]
    fn a_draw_beyond_the_weights_is_no_draw_of_the_first() {
        let draw = Draw { values: vec![(1, 'a'), (2, 'b')], total: 100 };
        let mut random = Random::new(1);
        let drawn = || Ok((0..100).map(|_| draw.next(&mut random)).collect::<String>());
        let trouble = ended_by_defects(drawn).expect_err("a defect");
        assert_eq!(trouble.kind, TroubleKind::Defect);
        assert!(trouble.text.starts_with("a weighted draw fell beyond its weights"), "{trouble}");
    }
}
