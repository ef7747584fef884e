//! How the numbers came about: the plans, what words mean, the line that does it again.

use drivelab_core::plan::Plan;
use drivelab_core::record::Begin;
use drivelab_core::run::Run;
use drivelab_core::summary::Summary;
use std::collections::BTreeSet;

use crate::units;

/// Commands of drivelab's own that leave a run; every other one is a tool whose line was typed.
const OWN: [&str; 4] = ["run", "check", "accept", "study"];

/// What holds of every run.
const MEANINGS: [&str; 3] = [
    "Service time runs from just before the system call that carried the I/O to just after the \
     call that returned it. Response time runs from when the I/O was due, and exists only in an \
     open loop.",
    "A rate counts completions in the measured window, ramp left out. Its interval comes from the \
     repetitions, or from batch means within a single one, or there is none.",
    "Percentiles are at most 0.1 % above the exact ones; minimum, mean and maximum are exact.",
];

/// What the words of a report mean, a sentence each.
pub(crate) fn meanings(run: &Run, summary: &Summary) -> Vec<String> {
    let mut sentences = MEANINGS.map(str::to_owned).to_vec();
    let streams = summary.steps.iter().flat_map(|step| &step.streams);
    let over: BTreeSet<u64> = streams.map(|stream| stream.gaps.over_ns).collect();
    sentences.extend(over.into_iter().map(|over| {
        let over = units::time(over as f64);
        format!(
            "A gap is a time of {over} or more in which no worker of a stream had a completion."
        )
    }));
    if run.end.is_none() {
        let sentence = "The run file has no end: all figures come from what was recorded in it.";
        sentences.push(sentence.to_owned());
    }
    sentences
}

/// What decided every I/O: each plan's title and its text, which can be run again.
pub(crate) fn plans(run: &Run) -> Vec<(String, String)> {
    let all = run.plans.len();
    let titled = |(number, plan): (usize, &Plan)| {
        let text = match toml::to_string(plan) {
            Ok(text) => text,
            Err(error) => format!("# this plan cannot be written as TOML: {error}"),
        };
        let steps = plan.steps.len();
        (format!("plan {number} of {all}, {}", units::counted(steps as u64, "step")), text)
    };
    (1..).zip(&run.plans).map(titled).collect()
}

/// The line that does it again, and what it rests on.
pub(crate) struct Again {
    /// As a shell takes it.
    pub(crate) line: String,
    /// What is the same then.
    pub(crate) same: &'static str,
    /// Where the line of another tool was typed.
    pub(crate) typed_in: Option<String>,
}

fn is_tool(command: &str) -> bool {
    !command.is_empty() && !OWN.contains(&command)
}

/// How to do it again.
pub(crate) fn again(run: &Run) -> Again {
    let begin = &run.begin;
    let mut words = words(begin);
    let is_tool = is_tool(&begin.command);
    let is_seeded = words.iter().any(|word| word == "--seed" || word.starts_with("--seed="));
    if !is_seeded && matches!(begin.command.as_str(), "run" | "check" | "study") {
        words.extend(["--seed".to_owned(), begin.seed.to_string()]);
    }
    Again {
        line: words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" "),
        same: match is_tool {
            true => "`drivelab run` with the plan above issues the same I/Os in the same order.",
            false => "The same seed issues the same I/Os in the same order.",
        },
        typed_in: begin.directory.clone().filter(|_| is_tool),
    }
}

/// What was typed, with the program by its own name and the processes it was started in.
fn words(begin: &Begin) -> Vec<String> {
    let mut words = Vec::new();
    if begin.processes.len() > 1 {
        let processes = begin.processes.len().to_string();
        words.extend(["mpirun".to_owned(), "-np".to_owned(), processes]);
    }
    words.push("drivelab".to_owned());
    if let Some((program, rest)) = begin.arguments.split_first() {
        // Called through a link, the name of the program is that of the tool.
        let name = program.rsplit('/').next().unwrap_or_default();
        if is_tool(&begin.command) && name.eq_ignore_ascii_case(&begin.command) {
            words.push(name.to_owned());
        }
        words.extend_from_slice(rest);
    }
    words
}

/// A word as a shell takes it.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::record::ProcessFacts;

    fn line(command: &str, arguments: &[&str], processes: usize) -> String {
        let mut run = Run::default();
        run.begin.command = command.to_owned();
        run.begin.seed = 7;
        run.begin.arguments = arguments.iter().map(|&word| word.to_owned()).collect();
        run.begin.processes = vec![ProcessFacts::default(); processes];
        again(&run).line
    }

    #[test]
    fn the_line_of_another_tool_runs_when_it_is_pasted() {
        for (command, arguments, processes, expected) in [
            (
                "fio",
                &["/tmp/u/old/fio", "--name=a", "--rw=read"][..],
                0,
                "drivelab fio --name=a --rw=read",
            ),
            (
                "fio",
                &["/usr/bin/drivelab", "fio", "--name=my job"],
                0,
                "drivelab fio '--name=my job'",
            ),
            ("fio", &["/tmp/renamed", "fio", "j.fio"], 0, "drivelab fio j.fio"),
            ("ior", &["./IOR", "-b", "1m"], 2, "mpirun -np 2 drivelab IOR -b 1m"),
            (
                "metarates",
                &["./metarates", "-n", "10", "-C"],
                4,
                "mpirun -np 4 drivelab metarates -n 10 -C",
            ),
            (
                "run",
                &["target/debug/drivelab", "run", "it's.toml", "."],
                0,
                r"drivelab run 'it'\''s.toml' . --seed 7",
            ),
            (
                "run",
                &["/opt/dl", "run", "p.toml", ".", "--seed=9"],
                0,
                "drivelab run p.toml . --seed=9",
            ),
            (
                "run",
                &["drivelab", "run", "p.toml", "d"],
                3,
                "mpirun -np 3 drivelab run p.toml d --seed 7",
            ),
        ] {
            assert_eq!(line(command, arguments, processes), expected);
        }
    }
}
