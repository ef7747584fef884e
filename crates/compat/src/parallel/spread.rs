//! Most, least, mean and deviation over repetitions.

/// Of at least one value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    /// Largest.
    pub max: f64,
    /// Smallest.
    pub min: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Sum of the squared differences from the mean.
    squares: f64,
    /// Number of values.
    count: usize,
}

impl Spread {
    /// Of these values; `None` without one.
    pub fn of(values: &[f64]) -> Option<Self> {
        let first = *values.first()?;
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        Some(Spread {
            max: values.iter().copied().fold(first, f64::max),
            min: values.iter().copied().fold(first, f64::min),
            mean,
            squares: values.iter().map(|value| (value - mean) * (value - mean)).sum(),
            count: values.len(),
        })
    }

    /// Standard deviation of these very values (÷ n), as IOR has it.
    pub fn population_deviation(&self) -> f64 {
        (self.squares / self.count as f64).sqrt()
    }

    /// Standard deviation of what they are a sample of (÷ n − 1), as mdtest 4 has it; 0 of one.
    pub fn sample_deviation(&self) -> f64 {
        if self.count < 2 { 0.0 } else { (self.squares / (self.count - 1) as f64).sqrt() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_deviations_are_those_that_the_tools_printed() {
        // IOR 2.10.3 printed 2316.12, 501.62, 1408.87 and 907.25 of two repetitions.
        let ior = Spread::of(&[2316.12, 501.62]).unwrap();
        assert!((ior.mean - 1408.87).abs() < 0.005);
        assert!((ior.population_deviation() - 907.25).abs() < 0.005);
        // mdtest 4.0.0 printed 23198.584, 6249.894, 14724.239 and 11984.534.
        let mdtest = Spread::of(&[23198.584, 6249.894]).unwrap();
        assert!((mdtest.mean - 14724.239).abs() < 0.0005);
        assert!((mdtest.sample_deviation() - 11984.534).abs() < 0.001);
        assert_eq!((mdtest.max, mdtest.min), (23198.584, 6249.894));
        let one = Spread::of(&[3.0]).unwrap();
        assert_eq!((one.population_deviation(), one.sample_deviation()), (0.0, 0.0));
        assert_eq!(Spread::of(&[]), None);
    }
}
