//! An option of `run` that was typed after `check`: the loads of `check` are fixed, so that its
//! figures can be compared, and the line of `run` that was meant is printed.

use crate::cli::CommandLine;
use crate::outcome::Failure;
use clap::CommandFactory;

/// What a line of `run` needs besides the options that were typed, if it has not got it.
const NEEDED: [(&str, &str); 2] = [("rw", "randread"), ("bs", "4k")];

/// The refusal of such a line; `None`: it is not one.
pub fn refusal(words: &[String]) -> Option<Failure> {
    let [_, command, rest @ ..] = words else { return None };
    if command != "check" {
        return None;
    }
    let command_line = CommandLine::command();
    let of = |name: &str| command_line.find_subcommand(name);
    let (check, run) = (of("check")?, of("run")?);
    if let Some(refused) = markdown(rest) {
        return Some(refused);
    }
    let mut loads: Vec<String> = Vec::new();
    let mut target = None;
    let mut words = rest.iter().peekable();
    while let Some(word) = words.next() {
        let Some(typed) = word.strip_prefix("--") else {
            target = target.or(Some(word));
            continue;
        };
        let name = typed.split('=').next().unwrap_or(typed);
        let is_fixed = argument(check, name).is_none();
        let known = argument(check, name).or_else(|| argument(run, name))?;
        let follows = known.get_action().takes_values() && !typed.contains('=');
        let value = if follows { words.next() } else { None };
        if is_fixed {
            loads.push(word.clone());
            loads.extend(value.cloned());
        }
    }
    let first = loads.first()?.split('=').next().unwrap_or_default().to_owned();
    for (name, value) in NEEDED.iter().rev() {
        if !loads.iter().any(|word| word.split('=').next() == Some(&format!("--{name}"))) {
            loads.splice(0..0, [format!("--{name}"), (*value).to_owned()]);
        }
    }
    let target = target.map_or(".", String::as_str);
    let text = format!("check has fixed loads and does not take {first}");
    let line = format!("drivelab run {target} {}", loads.join(" "));
    Some(Failure::usage(text).advise(format!("One load of your own:  {line}")))
}

/// A file typed after the switch `--markdown`, which prints.
fn markdown(words: &[String]) -> Option<Failure> {
    let at =
        words.iter().position(|word| word == "--markdown" || word.starts_with("--markdown="))?;
    let given = words[at].strip_prefix("--markdown=");
    let is_file = |word: &&str| word.ends_with(".md") || given.is_some();
    let file = given.or(words.get(at + 1).map(String::as_str)).filter(is_file)?;
    let others = words.iter().enumerate().filter(|(place, word)| *place != at && *word != file);
    let others: Vec<&str> = others.map(|(_, word)| word.as_str()).collect();
    let line = ["drivelab check"].into_iter().chain(others).collect::<Vec<_>>().join(" ");
    Some(Failure::usage("check prints Markdown; it takes no file after --markdown").advise(
        format!(
            "Into a file:  {line} --markdown > {file}\n  Of a run that is there:  drivelab report \
             last --markdown {file}"
        ),
    ))
}

/// The option of a command by its long name.
fn argument<'a>(command: &'a clap::Command, name: &str) -> Option<&'a clap::Arg> {
    command.get_arguments().find(|argument| argument.get_long() == Some(name))
}

#[cfg(test)]
mod tests {
    use super::refusal;

    fn said(line: &str) -> Option<(String, String)> {
        let words: Vec<String> = line.split(' ').map(String::from).collect();
        refusal(&words).map(|failure| (failure.text, failure.advice.unwrap_or_default()))
    }

    #[test]
    fn the_line_of_run_that_was_meant_is_printed() {
        let (text, advice) = said("drivelab check --depth=3").expect("a refusal");
        assert_eq!(text, "check has fixed loads and does not take --depth");
        assert!(advice.ends_with("  drivelab run . --rw randread --bs 4k --depth=3"), "{advice}");
        let line = "drivelab check /mnt --seed 7 --bs 8k --rw write --time 1m --poisson";
        let (text, advice) = said(line).expect("a refusal");
        assert_eq!(text, "check has fixed loads and does not take --bs");
        assert!(advice.ends_with("drivelab run /mnt --bs 8k --rw write --poisson"), "{advice}");
    }

    #[test]
    fn a_file_for_markdown_is_told_where_it_comes_from() {
        for line in ["check /mnt --markdown check.md --seed 7", "check --markdown=check.md /mnt"] {
            let (text, advice) = said(&format!("drivelab {line}")).expect("a refusal");
            assert!(text.contains("takes no file after --markdown"), "{text}");
            assert!(advice.contains("drivelab check /mnt"), "{advice}");
            assert!(advice.contains(" --markdown > check.md"), "{advice}");
        }
        assert_eq!(said("drivelab check --markdown ."), None);
    }

    #[test]
    fn other_lines_are_left_to_clap() {
        for line in ["check . --seed 7", "check", "run . --depth=3", "check --dpeth 3", "check -h"]
        {
            assert_eq!(said(&format!("drivelab {line}")), None, "{line}");
        }
    }
}
