//! Lines that are nearly right: what is meant is told in place of what clap would guess.

use crate::outcome::Failure;

/// The refusal of such a line with the one that is meant; `None`: it is none of these.
pub fn refusal(words: &[String]) -> Option<Failure> {
    let (command, rest) = words.get(1..)?.split_first()?;
    match command.as_str() {
        "run" => markdown(rest).or_else(|| durable(rest)),
        "runs" => shown(rest),
        "compare" => sides(rest),
        _ => None,
    }
}

/// `run` prints text; a page in Markdown is made of a run that is there.
fn markdown(rest: &[String]) -> Option<Failure> {
    rest.iter().find(|word| word.split('=').next() == Some("--markdown"))?;
    let advice = "Of the run that ended last:  drivelab report last --markdown run.md";
    Some(Failure::usage("run does not take --markdown").advise(advice))
}

/// fio's word for what `--sync` says.
fn durable(rest: &[String]) -> Option<Failure> {
    let (word, value) = rest.iter().enumerate().find_map(|(at, typed)| {
        let (word, value) = typed
            .split_once('=')
            .map_or((typed.as_str(), None), |(word, value)| (word, Some(value.to_owned())));
        let next = || rest.get(at + 1).filter(|next| next.parse::<u32>().is_ok()).cloned();
        matches!(word, "--fsync" | "--fdatasync").then(|| (word, value.or_else(next)))
    })?;
    let value = value.unwrap_or_else(|| "1".into());
    let kind = word.trim_start_matches("--");
    let when = match value.as_str() {
        "1" => "After each write".to_owned(),
        _ => format!("After every {value} writes"),
    };
    Some(
        Failure::usage(format!("run does not take {word}"))
            .advise(format!("{when}:  --sync {kind}:{value}")),
    )
}

/// `runs show RUN`.
fn shown(rest: &[String]) -> Option<Failure> {
    let [word, run, ..] = rest else { return None };
    matches!(word.as_str(), "show" | "list").then(|| {
        Failure::usage(format!("runs has no `{word}`"))
            .advise(format!("Its lines:  drivelab runs {run}\n  All of it:  drivelab report {run}"))
    })
}

/// More than two words where two sides are asked for, as a shell makes of `before*.json`.
fn sides(rest: &[String]) -> Option<Failure> {
    let mut names = Vec::new();
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        match word.strip_prefix("--") {
            Some("json") => {}
            Some(option) if option.contains('=') => {}
            Some("help") => return None,
            Some(_) => drop(words.next()),
            None if word.starts_with('-') => return None,
            None => names.push(word.as_str()),
        }
    }
    if names.len() < 3 {
        return None;
    }
    let (before, after) = names.split_at(names.len() / 2);
    Some(
        Failure::usage(format!("compare takes two sides, and {} names were typed", names.len()))
            .advise(format!(
                "Several of one side are joined by commas:  drivelab compare {} {}",
                before.join(","),
                after.join(",")
            )),
    )
}

#[cfg(test)]
mod tests {
    use super::refusal;

    fn advice(line: &str) -> Option<String> {
        let words: Vec<String> = line.split(' ').map(String::from).collect();
        refusal(&words).and_then(|failure| failure.advice)
    }

    #[test]
    fn the_line_that_is_meant_is_in_the_answer() {
        for (line, meant) in [
            ("drivelab run . --rw read --markdown -", "drivelab report last --markdown run.md"),
            ("drivelab run . --rw write --fsync 8", "--sync fsync:8"),
            ("drivelab run . --rw write --fdatasync=1", "--sync fdatasync:1"),
            ("drivelab runs show last", "drivelab runs last"),
            ("drivelab compare b1 b2 a1 a2 --metric p99", "drivelab compare b1,b2 a1,a2"),
        ] {
            assert!(advice(line).is_some_and(|said| said.contains(meant)), "{line}");
        }
    }

    #[test]
    fn lines_that_are_right_are_left_alone() {
        for line in [
            "drivelab",
            "drivelab run . --rw read --sync fsync:1",
            "drivelab runs last",
            "drivelab compare a b --metric p99 --band 5%",
            "drivelab compare --baseline a --max-slowdown 5% b",
            "drivelab compare a b -h",
            "drivelab compare a b --markdown -",
        ] {
            assert_eq!(advice(line), None, "{line}");
        }
    }
}
