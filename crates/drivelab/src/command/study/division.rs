//! `study endurance` without a drive: its maker's promise divided by what a day writes. Nothing is
//! measured, opened or kept.

use super::several;
use crate::cli::study::StudyCommandOptions;
use crate::outcome::{Failure, Status};
use crate::target::{Kind, Missing, ResolvedTarget};
use drivelab_core::facts::Facts;
use drivelab_core::study::StudyOptions;
use drivelab_io::facts::System;
use drivelab_study::endurance;
use drivelab_study::experiment::{Setting, Study};

/// What a line is told that names no drive, or a directory or file instead; `None`: it names one,
/// or asks for more than a division.
///
/// # Errors
/// There is nothing of that name, or nothing to divide.
pub fn attempt(options: &StudyCommandOptions, study: Study) -> Option<Result<Status, Failure>> {
    let facts = match options.targets.as_slice() {
        [] => Facts::default(),
        [target] if is_asked(options, &study) => {
            let missing = Missing::Refused { line: "study endurance", takes_size: false };
            match ResolvedTarget::look(&System::live(), target, missing) {
                Ok(found) if matches!(found.kind, Kind::Directory | Kind::File) => found.facts,
                Ok(_) => return None,
                Err(failure) => return Some(Err(failure)),
            }
        }
        _ => return None,
    };
    Some(divide(options, study, &facts))
}

fn is_asked(options: &StudyCommandOptions, study: &Study) -> bool {
    study.name == endurance::STUDY.name && options.rated.is_some() && options.per_day.is_some()
}

fn divide(options: &StudyCommandOptions, study: Study, facts: &Facts) -> Result<Status, Failure> {
    let (rated, per_day) = (options.rated, options.per_day);
    let asked = StudyOptions { name: study.name.into(), rated, per_day, ..StudyOptions::default() };
    let setting = Setting { options: &asked, facts };
    let findings = endurance::by_promise(&setting).map_err(Failure::usage)?;
    several::print(options, study, &[], findings, None)
}
