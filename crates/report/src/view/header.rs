//! Who, what, on which target, and whether all of it was done.

use drivelab_core::facts::TargetKind;
use drivelab_core::findings::Findings;
use drivelab_core::record::Warning;
use drivelab_core::run::Run;
use drivelab_core::summary::Summary;
use drivelab_core::uses::{Grade, Use};

/// What the run is called: the first title of its plans, else its command.
pub(crate) fn heading(run: &Run, summary: &Summary) -> String {
    let planned = run.plans.iter().map(|plan| plan.title.trim()).find(|title| !title.is_empty());
    match planned {
        Some(title) => title.to_owned(),
        None => format!("drivelab {}", summary.command).trim().to_owned(),
    }
}

/// Where the numbers come from, in a word, and what must be said of that.
pub(crate) fn origin(run: &Run) -> (&'static str, &'static str) {
    let is_virtual = run.begin.clock.source == "virtual" || run.begin.target.starts_with("sim:");
    match (is_virtual, run.begin.facts.target.kind) {
        (true, _) => ("simulated", "Virtual time: no drive was touched."),
        (false, TargetKind::Nothing) => ("no drive", "The generator alone: no drive was touched."),
        (false, _) => ("measured", ""),
    }
}

/// The state in which the first step found the drive.
pub(crate) fn state(summary: &Summary) -> &str {
    summary.steps.first().map_or("unknown", |step| step.state.as_str())
}

/// Why the run did not come to its end, if so.
pub(crate) fn incomplete(summary: &Summary) -> Option<&str> {
    let unsaid = "it has no end record, so it was killed or is still running";
    (!summary.complete).then(|| summary.incomplete.as_deref().unwrap_or(unsaid))
}

/// Whether a cell is suspect.
pub(crate) fn is_suspect(summary: &Summary) -> bool {
    summary.cells.iter().any(|cell| cell.valid == Some(false))
}

/// What was concluded: the words in their order, and the sentences under each.
pub(crate) fn judgement(findings: &Findings) -> [(&'static str, &[String]); 4] {
    [
        ("Verdict", &findings.verdict),
        ("Suspect", &findings.suspect),
        ("Beware", &findings.beware),
        ("Unknown", &findings.unknown),
    ]
}

/// What a drive is good for and what it is like: the words in their order, and what stands under
/// each; none of them is empty.
pub(crate) fn uses(findings: &Findings) -> Vec<(&'static str, Vec<String>)> {
    let of = |grade: Grade| {
        let uses = findings.uses.iter().filter(|one| one.grade == grade);
        (grade.label(), uses.map(Use::told).collect::<Vec<String>>())
    };
    let class = findings.class.iter().map(|class| ("Like", vec![class.told()]));
    Grade::ALL.into_iter().map(of).chain(class).filter(|(_, list)| !list.is_empty()).collect()
}

/// Why there are numbers and no sentences.
pub(crate) fn unjudged(summary: &Summary) -> &'static str {
    match summary.complete {
        true => "This run has figures and no verdict.",
        false => "No verdict: the run did not finish.",
    }
}

/// Warnings, then what is merely to be noted.
pub(crate) fn alarms_and_notes(warnings: &[Warning]) -> (Vec<&Warning>, Vec<&Warning>) {
    // What a line of another tool really measures is no reason to do anything.
    warnings.iter().partition(|warning| warning.step.is_some() || !warning.advice.is_empty())
}

/// The step that a warning is of, as the beginning of a sentence; empty for the whole run.
pub(crate) fn step_of(summary: &Summary, warning: &Warning) -> String {
    let number = warning.step;
    let step = summary.steps.iter().find(|step| Some(step.step) == number);
    step.map_or_else(String::new, |step| format!("{}, repetition {}: ", step.name, step.repetition))
}
