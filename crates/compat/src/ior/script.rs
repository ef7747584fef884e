//! Scripts of IOR: directives between `IOR START` and `IOR STOP`, and `RUN` for each test.

use super::settings::{Era, Settings};
use crate::front::{Note, Refusal};

/// More tests than that are a mistake.
const TESTS_MAX: usize = 1000;

/// The tests of a script; what stood before it on the line holds until it says otherwise.
///
/// # Errors
/// A directive that is not known or cannot be had, or no beginning or end.
pub fn tests(
    text: &str,
    before: &Settings,
    era: Era,
    notes: &mut Vec<Note>,
) -> Result<Vec<Settings>, Refusal> {
    let wrong = |text: String, advice: &str| Refusal::new(era.usage(), text, advice);
    let mut settings = before.clone();
    let mut tests = Vec::new();
    let mut begun = false;
    let mut changed = true;
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<String> = line.split_whitespace().map(str::to_lowercase).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            [] => {}
            ["ior", "start"] => begun = true,
            // Before the beginning anything may stand.
            _ if !begun => {}
            // The documentation says END, and the programs read STOP.
            ["ior", "stop" | "end"] => {
                if changed {
                    tests.push(settings);
                }
                return Ok(tests);
            }
            ["run"] => {
                tests.push(settings.clone());
                changed = false;
            }
            _ => {
                settings.take_directives(line, era, notes)?;
                changed = true;
            }
        }
        if tests.len() > TESTS_MAX {
            let text = format!("the script has more than {TESTS_MAX} tests");
            return Err(wrong(text, "Make several scripts of it."));
        }
    }
    let (text, advice) = match begun {
        false => (
            "the script has no line IOR START, so IOR would ignore all of it",
            "Put IOR START before the first directive, and IOR STOP after the last RUN.",
        ),
        true => ("the script has no line IOR STOP", "Put one after the last RUN."),
    };
    Err(wrong(text.to_owned(), advice))
}

#[cfg(test)]
mod tests_of_scripts {
    use super::*;
    use crate::front::Refusal;

    fn of(text: &str) -> Result<Vec<Settings>, Refusal> {
        tests(text, &Settings::new(Era::New), Era::New, &mut Vec::new())
    }

    #[test]
    fn what_was_set_stays_set() {
        let tests = of("junk\nIOR START\n# a comment\n testFile=f1 # and one behind\n\
                        blockSize=8k, transferSize = 4k\nRUN\n  SEGMENTCOUNT=2\nrun\nior stop\nx")
        .unwrap();
        let shape: Vec<(&str, u64, u64, u64)> = tests
            .iter()
            .map(|test| {
                (test.test_file.as_str(), test.block_bytes, test.transfer_bytes, test.segments)
            })
            .collect();
        assert_eq!(shape, [("f1", 8192, 4096, 1), ("f1", 8192, 4096, 2)]);
    }

    #[test]
    fn the_end_runs_what_was_set_since_the_last_run() {
        assert_eq!(of("IOR START\nsegmentCount=2\nIOR STOP").unwrap().len(), 1);
        assert_eq!(of("IOR START\nRUN\nsegmentCount=2\nIOR STOP").unwrap().len(), 2);
        assert_eq!(of("IOR START\nsegmentCount=2\nRUN\nIOR END").unwrap().len(), 1);
    }

    #[test]
    fn broken_scripts_are_refused() {
        for (text, words) in [
            ("", "no line IOR START"),
            ("blockSize=8k\nRUN\n", "no line IOR START"),
            ("IOR START\nRUN\n", "no line IOR STOP"),
            ("IOR START\nfoo=1\nIOR STOP", "Unrecognized parameter \"foo\""),
            ("IOR START\nblockSize\nIOR STOP", "Syntax error in configuration options"),
            ("IOR START\nsegmentCount=x\nIOR STOP", "`x` is not a value of segmentCount"),
        ] {
            let refusal = of(text).unwrap_err();
            assert!(refusal.text.contains(words), "{}", refusal.text);
        }
        assert!(of(&format!("IOR START\n{}IOR STOP", "RUN\n".repeat(2000))).is_err());
    }
}
