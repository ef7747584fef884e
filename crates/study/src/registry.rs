//! All studies, by name: help, the tables of the documents and the command line ask here.

use crate::experiment::{Allowance, OwnOption, Setting, Study};
use crate::{STUDIES, accept, battery, check, methods};
use drivelab_core::quantity::size;
use drivelab_core::record::Warning;
use drivelab_core::run::Run;
use drivelab_core::study::{Scale, StudyOptions};

/// Costs are told of a drive of this size.
const DRIVE_BYTES: u64 = 1 << 40;
/// Studies that are commands of their own.
const COMMANDS: [Study; 2] = [check::STUDY, accept::STUDY];

/// Studies made of the suites of old, whose tests are to last for a minute each.
const BATTERIES: [&str; 4] = ["torture", "files", "ior", "meta"];

/// What a reader of a run must be warned of that only the run could tell.
pub fn remarks(study: &Study, setting: &Setting<'_>, run: &Run) -> Vec<Warning> {
    let is_battery = BATTERIES.contains(&study.name);
    is_battery.then(|| battery::brief(setting, run)).flatten().into_iter().collect()
}

/// The study that a run was made for.
///
/// # Errors
/// This drivelab knows none of that name.
pub fn of_run(options: &StudyOptions) -> Result<Study, String> {
    let own = COMMANDS.into_iter().find(|study| study.name == options.name);
    own.map_or_else(|| named(&options.name), Ok)
}

/// The study of this name.
///
/// # Errors
/// There is none; the sentence names those there are.
pub fn named(name: &str) -> Result<Study, String> {
    STUDIES.iter().find(|study| study.name == name).copied().ok_or_else(|| {
        let names: Vec<&str> = STUDIES.iter().map(|study| study.name).collect();
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

/// Why the study does not take an option, and what to do; `None`: it does.
pub fn refusal(study: &Study, option: OwnOption) -> Option<(String, String)> {
    if study.options.contains(&option) {
        return None;
    }
    let takes = |one: &&Study| one.options.contains(&option);
    let names: Vec<String> =
        STUDIES.iter().filter(takes).map(|it| format!("`{}`", it.name)).collect();
    let (plural, names) = (if names.len() == 1 { "y" } else { "ies" }, names.join(", "));
    Some((
        format!("{} is for the stud{plural} {names}", option.word()),
        format!("`{}` does not take it: leave it out.", study.name),
    ))
}

/// What one study asks, what it costs and which options it alone takes.
pub fn help_of(study: &Study) -> String {
    let cost = |words: &str, scale| {
        let Allowance { time, budget } = (study.allowance)(scale, DRIVE_BYTES);
        let hours = time.0 as f64 / 3.6e12;
        format!("  {words:<12} {:>10}  {:>10}\n", span(hours), size(budget.0))
    };
    let own: Vec<&str> = study.options.iter().map(|it| it.word()).collect();
    let own = match own.is_empty() {
        true => String::new(),
        false => format!("Options of its own: {}.\n", own.join(", ")),
    };
    let each = match study.options.contains(&OwnOption::Cycles) {
        true => ", each cycle",
        false if study.needs.targets > 1 => ", each target",
        false => "",
    };
    let targets = if study.needs.targets > 1 { "TARGET TARGET …" } else { "TARGET" };
    let (method, answer) = methods::of(study.name).map_or_else(Default::default, |it| {
        let lines: String = it.lines.iter().map(|line| format!("  {line}\n")).collect();
        (format!("Method:\n{lines}"), format!("An answer reads like this:\n{}", wrapped(it.answer)))
    });
    format!(
        "{}\n\nUsage: drivelab study {} [OPTIONS] {targets}\n\n{method}\n\
         Most that it takes and writes on a real drive of {}{each}:\n{}{}{}\n\
         {answer}\n{own}\
         All options: `drivelab study --help`. What a line would do here: --dry-run.\n\
         How it is done in full: docs/MODELS.md and docs/METHODOLOGY.md.\n",
        study.question,
        study.name,
        size(DRIVE_BYTES),
        cost("--quick", Scale::Quick),
        cost("by default", Scale::Default),
        cost("--full", Scale::Full),
    )
}

/// A sentence in lines of 78 columns at most, two of them in front.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::from(" ")];
    for word in text.split_whitespace() {
        let is_full = |line: &String| line.chars().count() + 1 + word.chars().count() > 78;
        if lines.last().is_some_and(is_full) {
            lines.push(" ".into());
        }
        if let Some(line) = lines.last_mut() {
            line.push(' ');
            line.push_str(word);
        }
    }
    lines.join("\n") + "\n"
}

fn span(hours: f64) -> String {
    match hours {
        hours if hours < 1.0 => format!("{:.0} min", 60.0 * hours),
        hours if hours > 72.0 => format!("{:.0} d", hours / 24.0),
        hours => format!("{hours:.0} h"),
    }
}

/// Two lines for each study, of 80 columns at most: its name and what a quick one costs; its
/// question.
pub fn help() -> String {
    let one = |study: &Study| {
        format!("  {:<10} {}\n    {}\n", study.name, quick_cost(study), study.question)
    };
    STUDIES.iter().map(one).collect()
}

/// The table of docs/GUIDE.md: names and questions in Markdown.
pub fn table() -> String {
    let row = |study: &Study| format!("| `{}` | {} |\n", study.name, study.question);
    format!("| study | asks |\n|---|---|\n{}", STUDIES.iter().map(row).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_study_declares_itself() {
        for study in STUDIES {
            assert!(named(study.name).is_ok_and(|found| found.question == study.question));
            assert!(study.question.ends_with('?') && !study.name.is_empty(), "{}", study.name);
            assert!(quick_cost(study).contains(" min, "), "{}", quick_cost(study));
        }
        let names: std::collections::BTreeSet<&str> = STUDIES.iter().map(|it| it.name).collect();
        assert_eq!(names.len(), STUDIES.len());
        assert!(help().lines().all(|line| line.chars().count() <= 80), "{}", help());
        for study in STUDIES {
            let help = help_of(study);
            assert!(help.starts_with(study.question) && help.contains(study.name), "{help}");
            assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
            let Some(method) = methods::of(study.name) else { panic!("{}", study.name) };
            assert!(method.lines.iter().all(|line| help.contains(line)), "{help}");
            assert!(help.split_whitespace().collect::<Vec<_>>().join(" ").contains(method.answer));
            assert!(help.lines().count() <= 24, "{help}");
            let own = study.options.iter().map(|it| it.word());
            assert!(own.into_iter().all(|word| help.contains(word)), "{help}");
            assert!(study.options.iter().all(|option| refusal(study, *option).is_none()));
        }
        let (text, _) = refusal(&crate::wsat::STUDY, OwnOption::Profile).unwrap();
        assert_eq!(text, "--profile is for the studies `pts-iops`, `pts-tp`, `pts-lat`");
        let asked = |name: &str| StudyOptions { name: name.into(), ..StudyOptions::default() };
        assert!(of_run(&asked("check")).is_ok_and(|study| study.name == "check"));
        assert!(of_run(&asked("wsat")).is_ok() && of_run(&asked("nonesuch")).is_err());
        assert!(named("nonesuch").is_err_and(|text| text.contains("wsat, trim")));
    }
}
