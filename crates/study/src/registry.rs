//! All studies, by name: help, the tables of the documents and the command line ask here.

use crate::experiment::Study;
use crate::{
    aa, anatomy, apps, endurance, file_system, files, ior, meta, mix, modes, patterns, pts, rank,
    steady, stutter, torture, trim, tune, wsat,
};
use drivelab_core::quantity::size;
use drivelab_core::study::Scale;

/// All of them, in the order of the help.
pub const ALL: &[Study] = &[
    aa::STUDY,
    wsat::STUDY,
    trim::STUDY,
    pts::IOPS,
    pts::THROUGHPUT,
    pts::LATENCY,
    rank::STUDY,
    patterns::STUDY,
    mix::STUDY,
    steady::STUDY,
    file_system::STUDY,
    stutter::STUDY,
    apps::STUDY,
    modes::STUDY,
    endurance::STUDY,
    files::STUDY,
    ior::STUDY,
    meta::STUDY,
    torture::STUDY,
    anatomy::STUDY,
    tune::STUDY,
];

/// The study of this name.
///
/// # Errors
/// There is none; the sentence names those there are.
pub fn named(name: &str) -> Result<Study, String> {
    ALL.iter().find(|study| study.name == name).copied().ok_or_else(|| {
        let names: Vec<&str> = ALL.iter().map(|study| study.name).collect();
        format!("there is no study `{name}`; there are {}", names.join(", "))
    })
}

/// What a quick study costs, in words: the most that it takes and writes.
pub fn quick_cost(study: &Study) -> String {
    let allowance = (study.allowance)(Scale::Quick, u64::MAX);
    let minutes = allowance.time.0 / 60_000_000_000;
    match study.quick_cost {
        Some(cost) => format!("{minutes} min, {cost}"),
        None => format!("{minutes} min, {} written", size(allowance.budget.0)),
    }
}

/// Two lines for each study, of 80 columns at most: its name and what a quick one costs; its
/// question.
pub fn help() -> String {
    let one = |study: &Study| {
        format!("  {:<10} {}\n    {}\n", study.name, quick_cost(study), study.question)
    };
    ALL.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_study_declares_itself() {
        for study in ALL {
            assert!(named(study.name).is_ok_and(|found| found.question == study.question));
            assert!(study.question.ends_with('?') && !study.name.is_empty(), "{}", study.name);
            assert!(quick_cost(study).contains(" min, "), "{}", quick_cost(study));
        }
        let names: std::collections::BTreeSet<&str> = ALL.iter().map(|it| it.name).collect();
        assert_eq!(names.len(), ALL.len());
        assert!(help().lines().all(|line| line.chars().count() <= 80), "{}", help());
        assert!(named("nonesuch").is_err_and(|text| text.contains("wsat, trim")));
    }
}
