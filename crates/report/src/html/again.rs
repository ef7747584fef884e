//! The line that does it again, as a shell takes it.

use drivelab_core::record::Begin;
use drivelab_core::run::Run;
use std::fmt::Write;

use crate::text::escape;

/// Commands whose lines are those of other tools.
const TOOLS: [&str; 6] = ["fio", "iometer", "iozone", "ior", "mdtest", "metarates"];

/// The line, and what it rests on.
pub(super) fn again(out: &mut String, run: &Run) {
    let begin = &run.begin;
    let mut words = words(begin);
    let is_tool = TOOLS.contains(&begin.command.as_str());
    let is_seeded = words.iter().any(|word| word == "--seed" || word.starts_with("--seed="));
    if !is_seeded && matches!(begin.command.as_str(), "run" | "check" | "study") {
        words.extend(["--seed".to_owned(), begin.seed.to_string()]);
    }
    let line = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    let same = "issues the same I/Os in the same order.";
    let mut what = match is_tool {
        true => format!("<code>drivelab run</code> with the plan above {same}"),
        false => format!("The same seed {same}"),
    };
    if let Some(directory) = begin.directory.as_deref().filter(|_| is_tool) {
        let _ = write!(what, " The line was typed in <code>{}</code>.", escape(directory));
    }
    let _ = writeln!(
        out,
        "<section><h2>Again</h2><pre class=\"wrap\">{}</pre>\
         <p class=\"faint\">{what}</p></section>",
        escape(&line)
    );
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
        if TOOLS.contains(&begin.command.as_str()) && name.eq_ignore_ascii_case(&begin.command) {
            words.push(name.to_owned());
        }
        words.extend_from_slice(rest);
    }
    words
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
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
        let mut out = String::new();
        again(&mut out, &run);
        let line = out.split_once("wrap\">").and_then(|(_, rest)| rest.split_once("</pre>"));
        line.map_or(out.clone(), |(line, _)| line.replace("&#39;", "'"))
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
