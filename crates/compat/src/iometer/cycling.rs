//! The series of tests that each access specification is run with.
//!
//! Every worker has at most one target here, which makes test types that let the number of targets
//! grow the same as others: of each worker there is one to begin with and no second to add.

use super::icf::{Cycle, Growth, Setup, TestType};

/// One test of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// How many workers take part, from the first on; absent: all.
    pub workers: Option<u32>,
    /// How many targets take part, in the order of the workers that have one; absent: all.
    pub targets: Option<u32>,
    /// Outstanding I/Os of each, instead of its own.
    pub outstanding: Option<u32>,
}

/// More tests than this are a typing error.
const TESTS_MAX: usize = 10_000;

/// The numbers from `start` up to `end`.
///
/// # Errors
/// A step that never gets there, in words.
fn numbers(cycle: Cycle, end: u32, what: &str) -> Result<Vec<u32>, String> {
    let least = if cycle.growth == Growth::Linear { 1 } else { 2 };
    if cycle.start == 0 || cycle.step < least {
        let (start, step) = (cycle.start, cycle.step);
        return Err(format!("{what} that begin with {start} and grow by {step} never end"));
    }
    let mut found = Vec::new();
    let mut number = cycle.start;
    while number <= end {
        found.push(number);
        let next = match cycle.growth {
            Growth::Linear => number.checked_add(cycle.step),
            Growth::Exponential => number.checked_mul(cycle.step),
        };
        match next {
            Some(next) if found.len() < TESTS_MAX => number = next,
            Some(_) => {
                return Err(format!(
                    "more than {TESTS_MAX} tests are taken for a typing \
                                           error"
                ));
            }
            None => break,
        }
    }
    match found.is_empty() {
        true => Err(format!(
            "{what} that begin with {} and end with {end} are an empty range",
            cycle.start
        )),
        false => Ok(found),
    }
}

/// The tests of one access specification with `workers` workers, `targets` of them with a target.
///
/// # Errors
/// A series that never ends, or has no test, in words.
pub fn points(setup: &Setup, workers: u32, targets: u32) -> Result<Vec<Point>, String> {
    let all = Point { workers: None, targets: None, outstanding: None };
    Ok(match setup.test {
        TestType::Normal | TestType::CycleTargets => vec![all],
        TestType::CycleWorkers | TestType::CycleWorkersAndTargets => {
            let found = numbers(setup.workers, workers, "workers")?;
            found.into_iter().map(|count| Point { workers: Some(count), ..all }).collect()
        }
        TestType::IncrementTargetsParallel | TestType::IncrementTargetsSerial => {
            let found = numbers(setup.targets, targets, "targets")?;
            found.into_iter().map(|count| Point { targets: Some(count), ..all }).collect()
        }
        TestType::CycleOutstandingIos | TestType::CycleOutstandingIosAndTargets => {
            let found = numbers(setup.outstanding, setup.outstanding_end, "outstanding I/Os")?;
            found.into_iter().map(|count| Point { outstanding: Some(count), ..all }).collect()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(growth: Growth, start: u32, step: u32, end: u32) -> Result<Vec<u32>, String> {
        numbers(Cycle { start, step, growth }, end, "workers")
    }

    #[test]
    fn series_are_those_of_the_guide() {
        assert_eq!(series(Growth::Linear, 3, 2, 9).unwrap(), [3, 5, 7, 9]);
        assert_eq!(series(Growth::Exponential, 1, 2, 8).unwrap(), [1, 2, 4, 8]);
        assert_eq!(series(Growth::Exponential, 1, 2, 9).unwrap(), [1, 2, 4, 8]);
        assert_eq!(series(Growth::Exponential, 1, 10, u32::MAX).unwrap().len(), 10);
    }

    #[test]
    fn series_without_end_or_test_are_refused() {
        for (growth, start, step) in
            [(Growth::Linear, 1, 0), (Growth::Exponential, 1, 1), (Growth::Exponential, 0, 2)]
        {
            assert!(series(growth, start, step, 8).unwrap_err().ends_with("never end"));
        }
        assert!(series(Growth::Linear, 9, 1, 8).unwrap_err().ends_with("are an empty range"));
        assert!(series(Growth::Linear, 1, 1, 20_000).unwrap_err().contains("typing error"));
    }

    #[test]
    fn each_test_type_lets_its_number_grow() {
        let of = |test| {
            let setup = Setup { test, outstanding_end: 4, ..Setup::default() };
            let found = points(&setup, 3, 2).unwrap();
            let each = found.into_iter().map(|it| (it.workers, it.targets, it.outstanding));
            each.collect::<Vec<_>>()
        };
        for (test, _) in TestType::ALL {
            use TestType as T;
            let expected: &[_] = match test {
                T::Normal | T::CycleTargets => &[(None, None, None)],
                T::CycleOutstandingIos | T::CycleOutstandingIosAndTargets => {
                    &[(None, None, Some(1)), (None, None, Some(2)), (None, None, Some(4))]
                }
                T::CycleWorkers | T::CycleWorkersAndTargets => {
                    &[(Some(1), None, None), (Some(2), None, None), (Some(3), None, None)]
                }
                T::IncrementTargetsParallel | T::IncrementTargetsSerial => {
                    &[(None, Some(1), None), (None, Some(2), None)]
                }
            };
            assert_eq!(of(test), expected, "{test:?}");
        }
    }
}
