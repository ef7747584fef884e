//! The words of the command line.

use super::USAGE;
use crate::front::Refusal;

/// What `/?` prints.
pub const HELP: &str = "\
iometer [/c CONFIGURATION] /r RESULTS [/t SECONDS] [--target PATH]
  /c, -c CONFIGURATION  what is measured: an .icf file (iometer.icf if not given)
  /r, -r RESULTS        where results go; they are appended to an existing file
  /t, -t SECONDS        how long Iometer waits for its managers; without effect here
  --target PATH         the drive that the file calls by a name of another machine: a device,
                        a directory (its file iobw.tst is used), or sim:PROFILE
CONFIGURATION, RESULTS and SECONDS may also stand in this order without their switches.
";

/// A command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The configuration file, and whether it was named.
    pub configuration: (String, bool),
    /// The file of results.
    pub results: String,
    /// What `/t` says, and how it was typed.
    pub timeout: Option<(u64, String)>,
    /// The drive.
    pub target: Option<String>,
}

/// What a command line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Words {
    /// Help.
    Help,
    /// A run.
    Line(Line),
}

/// Reads the words.
///
/// # Errors
/// A word that is none of Iometer's, a switch without its value, or no file of results.
pub fn read(words: &[String]) -> Result<Words, Refusal> {
    const SWITCHES: &str = "Iometer has /c, /r and /t; see iometer /?";
    let (mut configuration, mut results, mut timeout, mut target) = (None, None, None, None);
    let mut bare = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let mut value = || {
            let text = format!("`{word}` needs a value after it");
            rest.next().cloned().ok_or_else(|| Refusal::new(USAGE, text, SWITCHES))
        };
        match word.to_ascii_lowercase().as_str() {
            "/?" | "-?" | "--help" => return Ok(Words::Help),
            "/c" | "-c" => configuration = Some(value()?),
            "/r" | "-r" => results = Some(value()?),
            "/t" | "-t" => timeout = Some((value()?, word.clone())),
            "--target" => target = Some(value()?),
            long if long.starts_with("--target=") => target = word.get(9..).map(String::from),
            _ if is_switch(word) => {
                let text = format!("`{word}` is not a known switch");
                return Err(Refusal::new(USAGE, text, SWITCHES));
            }
            _ => bare.push(word.clone()),
        }
    }
    let mut bare = bare.into_iter();
    let mut or_bare = |given: Option<String>| given.or_else(|| bare.next());
    let configuration = or_bare(configuration);
    let results = or_bare(results);
    let timeout = timeout.or_else(|| bare.next().map(|word| (word, "/t".to_owned())));
    if let Some(word) = bare.next() {
        return Err(Refusal::new(USAGE, format!("`{word}` is one argument too many"), SWITCHES));
    }
    let results = results.ok_or_else(|| {
        Refusal::new(
            USAGE,
            "without a file of results Iometer opens its window and asks for one",
            "name it: /r results.csv",
        )
    })?;
    let timeout = timeout.map(seconds).transpose()?;
    let is_named = configuration.is_some();
    let configuration = configuration.unwrap_or_else(|| "iometer.icf".into());
    Ok(Words::Line(Line { configuration: (configuration, is_named), results, timeout, target }))
}

/// Whether a word is a switch, and no path: a slash and one letter, or a minus and anything.
fn is_switch(word: &str) -> bool {
    let is_slashed = word.strip_prefix('/').is_some_and(|rest| rest.chars().count() == 1);
    is_slashed || (word.len() > 1 && word.starts_with('-'))
}

fn seconds((value, typed): (String, String)) -> Result<(u64, String), Refusal> {
    let text = format!("`{value}` after {typed} is not a number of seconds");
    let number = value.parse().map_err(|_| Refusal::new(USAGE, text, "write it as /t 60"))?;
    Ok((number, format!("{typed} {value}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(String::from).collect()
    }

    fn line(text: &str) -> Line {
        match read(&words(text)).unwrap() {
            Words::Line(line) => line,
            Words::Help => panic!("help"),
        }
    }

    #[test]
    fn switches_may_be_slashes_minuses_or_absent() {
        let expected = Line {
            configuration: ("a.icf".into(), true),
            results: "b.csv".into(),
            timeout: Some((60, "/t 60".into())),
            target: None,
        };
        assert_eq!(line("/c a.icf /r b.csv /t 60"), expected);
        assert_eq!(line("/R b.csv /C a.icf /t 60"), expected);
        assert_eq!(line("a.icf b.csv 60"), expected);
        assert_eq!(line("/c a.icf b.csv /t 60"), expected);
        assert_eq!(line("a.icf b.csv --target=/mnt/X").target.as_deref(), Some("/mnt/X"));
        let minus = line("-c a.icf -r b.csv -t 60 --target sim:x25-m");
        assert_eq!(minus.timeout, Some((60, "-t 60".into())));
        assert_eq!(minus.target.as_deref(), Some("sim:x25-m"));
        let rooted = line("/x/a.icf /tmp/b.csv");
        assert_eq!(rooted.configuration, ("/x/a.icf".into(), true));
        assert_eq!(line("/r b.csv").configuration, ("iometer.icf".into(), false));
    }

    #[test]
    fn help_is_asked_for_in_three_ways() {
        for word in ["/?", "-?", "--help"] {
            assert_eq!(read(&words(word)).unwrap(), Words::Help);
        }
        assert!(HELP.lines().all(|line| line.chars().count() <= 100));
    }

    #[test]
    fn other_lines_are_refused_with_a_way_out() {
        for (text, says) in [
            ("/c a.icf", "without a file of results"),
            ("", "without a file of results"),
            ("/c", "`/c` needs a value"),
            ("/c a.icf /r b.csv /t soon", "`soon` after /t"),
            ("a b 60 c", "`c` is one argument too many"),
            ("/m 1 /c a /r b", "`/m` is not a known switch"),
            ("--force /c a /r b", "`--force` is not a known switch"),
            ("/c a /r b --target", "`--target` needs a value"),
        ] {
            let refusal = read(&words(text)).unwrap_err();
            assert!(refusal.text.contains(says), "{text}: {}", refusal.text);
            assert!(!refusal.advice.is_empty() && refusal.status == USAGE);
        }
    }
}
