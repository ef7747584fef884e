//! What `drivelab doctor` found: one line a check, then the verdict; and what `--clean` did.

use drivelab_core::facts::Facts;
use drivelab_core::fitness::Check;
use std::path::PathBuf;

use crate::text::{hanging, printable};
use crate::view::headline;

/// Room for the severity and the two spaces on both sides of it.
const SEVERITY_COLUMNS: usize = 11;

/// The checks in their order, and the verdict below them.
pub fn doctor_table(
    version: &str,
    target: &str,
    facts: &Facts,
    checks: &[Check],
    verdict: &str,
) -> String {
    let target = printable(&headline::target(target, facts));
    let mut text = format!("drivelab {version}  ·  {target}\n\n");
    text += &lines(checks);
    text.push('\n');
    text.push_str(&hanging("Verdict", &printable(verdict), 9));
    text
}

/// How the drive was, and should be, set up for a file system; empty where nothing can be said.
pub fn set_up_table(advice: &[Check]) -> String {
    match advice {
        [] => String::new(),
        some => format!("\nSet-up  text only: drivelab never runs any of it\n\n{}", lines(some)),
    }
}

/// One line a check.
fn lines(checks: &[Check]) -> String {
    let mut text = String::new();
    let name_columns = checks.iter().map(|check| check.name.chars().count()).max().unwrap_or(0);
    let indent = SEVERITY_COLUMNS + name_columns + 2;
    for check in checks {
        let severity = check.severity.word();
        let label = format!("  {severity:<9}{:<name_columns$}  ", check.name);
        let mut words = printable(&check.found);
        if let Some(advice) = &check.advice {
            words = format!("{}. {}", words.trim_end_matches('.'), printable(advice));
        }
        text.push_str(&hanging(&label, &words, indent));
    }
    text
}

/// What became of the settings and the scratch of runs that were killed.
pub fn leftovers_list(
    settings: &[String],
    removed: &[PathBuf],
    in_use: &[PathBuf],
    left: &[(PathBuf, String)],
) -> String {
    let mut lines: Vec<String> = Vec::new();
    lines.extend(settings.iter().map(|sentence| format!("setting  {sentence}")));
    lines.extend(removed.iter().map(|path| format!("removed  {}", path.display())));
    let used = "a run is still working on it";
    lines.extend(in_use.iter().map(|path| format!("in use   {}: {used}", path.display())));
    lines.extend(left.iter().map(|(path, why)| format!("left     {}: {why}", path.display())));
    if lines.is_empty() {
        lines.push(
            "nothing to clean: neither scratch nor a changed setting of a killed run is known"
                .to_owned(),
        );
    }
    lines.iter().map(|line| printable(line) + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::fitness::Severity;

    #[test]
    fn each_check_is_a_line_and_advice_follows_the_finding() {
        let check = |name: &str, severity, found: &str, advice: Option<&str>| Check {
            name: name.into(),
            severity,
            found: found.into(),
            advice: advice.map(str::to_owned),
        };
        let checks = [
            check("direct I/O", Severity::Fine, "works", None),
            check("clock", Severity::Bad, "stood\u{1b}[31m still", Some("Mend it.")),
            check("link", Severity::Unknown, "virtio tells of no link", None),
        ];
        let text =
            doctor_table("0.1.0", ".", &Facts::default(), &checks, "not fit to measure: clock.");
        let lines = [
            "drivelab 0.1.0  ·  .",
            "",
            "  fine     direct I/O  works",
            "  bad      clock       stood\u{fffd}[31m still. Mend it.",
            "  unknown  link        virtio tells of no link",
            "",
            "Verdict  not fit to measure: clock.",
            "",
        ];
        assert_eq!(text, lines.join("\n"));
    }

    #[test]
    fn what_was_cleaned_is_listed() {
        let path = |name: &str| PathBuf::from(name);
        let none = leftovers_list(&[], &[], &[], &[]);
        assert_eq!(
            none,
            "nothing to clean: neither scratch nor a changed setting of a killed run is known\n"
        );
        let left = [(path("/c"), "why".to_owned())];
        let set = ["scheduler of sda is `none` again".to_owned()];
        let some = leftovers_list(&set, &[path("/a\n")], &[path("/b")], &left);
        let lines = [
            "setting  scheduler of sda is `none` again",
            "removed  /a\u{fffd}",
            "in use   /b: a run is still working on it",
            "left     /c: why",
        ];
        assert_eq!(some, lines.join("\n") + "\n");
    }
}
