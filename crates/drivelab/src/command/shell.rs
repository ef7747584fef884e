//! What goes with the program into a system: completions of shells and man pages, from the one
//! definition of the command line; and `drivelab help`.

use crate::cli::{CommandLine, CompletionsOptions, HelpOptions, ManOptions};
use crate::outcome::{Failure, Status};
use crate::print;
use clap::CommandFactory;
use clap_mangen::Man;
use drivelab_compat::tool_named;
use std::path::Path;

/// What each man page of drivelab has, and a page of another program has not.
const TITLE: &str = ".TH drivelab";

/// `drivelab help`, `drivelab help CMD …` as the words that it stands for: the command with
/// `--help`.
pub fn help_words(words: &[String]) -> Option<Vec<String>> {
    let [program, help, rest @ ..] = words else { return None };
    // A link by the name of a tool takes the tool's own words.
    let called = Path::new(program).file_name().and_then(|name| name.to_str());
    if called.and_then(tool_named).is_some() {
        return None;
    }
    // Tools have no option in common that asks for help: see `help`.
    let is_other = |word: &String| word.starts_with('-') || tool_named(word).is_some();
    if help != "help" || rest.first().is_some_and(is_other) {
        return None;
    }
    let end = ["--help".to_owned()];
    Some([std::slice::from_ref(program), rest, &end].concat())
}

/// Prints the help of a tool whose lines are understood; that of a command is asked for otherwise.
pub fn help(options: &HelpOptions) -> Result<Status, Failure> {
    let word = options.words.first().map(String::as_str).unwrap_or_default();
    let Some(tool) = tool_named(word) else {
        return Err(Failure::usage(format!("`{word}` is neither a command nor a tool"))
            .advise("`drivelab --help` lists them."));
    };
    print::text(&format!(
        "Lines of {word} run as they are on drivelab's engine, and print what {word} prints.\n\n\
         Example:\n  drivelab {word} {}\n\n\
         Options of drivelab's own, anywhere behind `{word}`:\n\
         \x20 --notes only        what the line really measures; runs nothing\n\
         \x20 --dry-run           the plan, the bytes and the time; touches nothing\n\
         \x20 --scale-size FACTOR, --scale-time FACTOR\n\
         \x20                     sizes or times of the line multiplied, such as 1/16\n\
         \x20 --erase TOKEN       consent to destroy what a device holds\n\
         \x20 --runs DIR          where the run file goes\n\n\
         docs/COMPATIBILITY.md has each option of {word}: same, approximated, ignored, refused.\n",
        tool.example
    ));
    Ok(Status::Fine)
}

/// Prints the completions of a shell.
pub fn completions(options: &CompletionsOptions) -> Result<Status, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(options.shell, &mut CommandLine::command(), "drivelab", &mut text);
    print::bytes(&text);
    Ok(Status::Fine)
}

/// Prints the man page of the program, or writes those of all commands into a directory.
pub fn man(options: &ManOptions) -> Result<Status, Failure> {
    let Some(directory) = &options.directory else {
        let mut text = Vec::new();
        let page = Man::new(CommandLine::command());
        page.render(&mut text)
            .map_err(|error| Failure::usage(format!("the man page cannot be written: {error}")))?;
        print::bytes(&text);
        return Ok(Status::Fine);
    };
    let failed = |error: std::io::Error| {
        Failure::usage(format!("cannot write man pages to {}: {error}", directory.display()))
            .advise("Name a directory that you may write to:  drivelab man DIR")
    };
    std::fs::create_dir_all(directory).map_err(failed)?;
    let mut command = CommandLine::command();
    command.build();
    refuse_foreign(&command, directory)?;
    clap_mangen::generate_to(CommandLine::command(), directory).map_err(failed)?;
    Ok(Status::Fine)
}

/// Pages of ours are replaced, other files of their names are not.
fn refuse_foreign(command: &clap::Command, directory: &Path) -> Result<(), Failure> {
    let path = directory.join(Man::new(command.clone()).get_filename());
    let is_ours = |path: &Path| {
        let text = crate::bounded::text(path, crate::bounded::TEXT_BYTES_MAX);
        text.is_ok_and(|text| text.contains(TITLE))
    };
    if std::fs::symlink_metadata(&path).is_ok() && !is_ours(&path) {
        return Err(Failure::refused(format!(
            "refused: {} exists and is not a man page of drivelab.",
            path.display()
        ))
        .advise("Nothing was written. Name another directory:  drivelab man DIR"));
    }
    let mut shown = command.get_subcommands().filter(|it| !it.is_hide_set());
    shown.try_for_each(|command| refuse_foreign(command, directory))
}

#[cfg(test)]
mod tests {
    use super::help_words;

    #[test]
    fn help_stands_for_the_option_behind_the_words() {
        let of = |line: &str| {
            let words: Vec<String> = line.split(' ').map(String::from).collect();
            help_words(&words).map(|words| words.join(" "))
        };
        assert_eq!(of("drivelab help"), Some("drivelab --help".into()));
        assert_eq!(of("drivelab help study wsat"), Some("drivelab study wsat --help".into()));
        assert_eq!(of("drivelab check help"), None);
        assert_eq!(of("drivelab help --json"), None);
        assert_eq!(of("drivelab"), None);
        assert_eq!(of("drivelab help ior"), None);
        assert_eq!(of("/usr/bin/fio help"), None, "a job file of that name");
    }
}
