//! Which jobs run together, and which of them end each other.

use super::settings::Ends;
use super::translate::Whole;
use super::words::unsupported;
use crate::front::Refusal;
use drivelab_core::plan::Step;

/// Jobs that run together, by their numbers.
pub type Wave<'a, 'b> = Vec<(usize, &'b Whole<'a>)>;

/// All of them, one after the other.
///
/// # Errors
/// A job that waits for one of several that run.
pub fn waves<'a, 'b>(jobs: &'b [Whole<'a>]) -> Result<Vec<Wave<'a, 'b>>, Refusal> {
    let mut waves: Vec<Wave<'_, '_>> = Vec::new();
    for (index, whole) in jobs.iter().enumerate() {
        let settings = whole.settings;
        if let (Some(awaited), Some(wave), false) =
            (&settings.turns.wait_for, waves.last(), settings.stonewall)
        {
            if wave.iter().any(|(_, whole)| whole.job.name != *awaited) {
                return Err(unsupported(
                    &format!("wait_for={awaited} while other jobs run"),
                    "use stonewall, which waits for all jobs before",
                ));
            }
            waves.push(vec![(index, whole)]);
            continue;
        }
        match waves.last_mut() {
            Some(wave) if !settings.stonewall => wave.push((index, whole)),
            _ => waves.push(vec![(index, whole)]),
        }
    }
    Ok(waves)
}

/// `exitall`: whom the end of each job ends, of those that run together.
///
/// # Errors
/// What neither ends a stream nor a step.
pub fn end_together(wave: &Wave<'_, '_>, step: &mut Step, is_last: bool) -> Result<(), Refusal> {
    let mut groups = Vec::new();
    for (place, (_, whole)) in wave.iter().enumerate() {
        let group = groups.last().copied().unwrap_or(0);
        groups.push(group + u32::from(place > 0 && whole.settings.turns.new_group));
    }
    let is_divided = groups.last().is_some_and(|last| *last > 0);
    for (place, (_, whole)) in wave.iter().enumerate() {
        let Some(ends) = whole.settings.ends_others() else { continue };
        if ends == Ends::All && !is_last {
            return Err(unsupported(
                "exit_what=all with jobs that would follow",
                "leave exit_what out, or run a line for each of them",
            ));
        }
        let own = groups.iter().filter(|group| **group == groups[place]).count();
        let of_group = ends == Ends::Group && is_divided;
        if of_group && own > 1 {
            return Err(unsupported(
                "exitall of one group of several that run together",
                "add exit_what=stonewall, or leave new_group out",
            ));
        }
        let until = step.streams[place].until.as_mut().unwrap_or(&mut step.until);
        (until.stonewall, until.ends_all) = (of_group, !of_group);
    }
    Ok(())
}
