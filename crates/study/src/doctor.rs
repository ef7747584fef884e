//! `doctor`: is this machine fit to measure?
//!
//! The question before every other one: would a number taken here be that of the drive? Each
//! check turns one known way to fool oneself into a finding with its figure and advice. What
//! could not be seen is unknown, which is no finding and never passes for one.

mod machine;
mod measured;
mod target;

use drivelab_core::fitness::{Check, Observations, Severity};

/// All checks, from the target outwards.
pub fn judge(seen: &Observations) -> Vec<Check> {
    let mut checks = Checks::default();
    checks.target(seen);
    checks.devices(&seen.facts.target);
    checks.activity(seen);
    checks.limits(&seen.facts);
    checks.machine(seen);
    checks.clock(seen);
    checks.measured(seen);
    checks.settings(&seen.settings_left);
    checks.leftovers(&seen.leftovers);
    checks.found
}

/// One sentence over all checks, and whether something is bad.
pub fn verdict(checks: &[Check]) -> (String, bool) {
    let names = |severity: Severity| -> Vec<&str> {
        let of = checks.iter().filter(|check| check.severity == severity);
        let mut names: Vec<&str> = of.map(|check| check.name.as_str()).collect();
        names.dedup();
        names
    };
    let (bad, warnings) = (names(Severity::Bad), names(Severity::Warning));
    let unknown = names(Severity::Unknown).len();
    let mut words = match (bad.is_empty(), warnings.is_empty()) {
        (false, _) => format!("not fit to measure: {}", bad.join(", ")),
        (true, false) => "fit to measure, with care".to_owned(),
        (true, true) => "fit to measure".to_owned(),
    };
    if !warnings.is_empty() {
        words += &format!("; beware of {}", warnings.join(", "));
    }
    match unknown {
        0 => {}
        1 => words += "; one check gave no answer",
        count => words += &format!("; {count} checks gave no answer"),
    }
    (format!("{words}."), !bad.is_empty())
}

/// What was judged so far.
#[derive(Debug, Default)]
struct Checks {
    found: Vec<Check>,
}

/// Severity, what was found, advice.
type Finding = (Severity, String, &'static str);

impl Checks {
    fn add(&mut self, name: &str, severity: Severity, found: impl Into<String>, advice: &str) {
        self.found.push(Check {
            name: name.to_owned(),
            severity,
            found: found.into(),
            advice: (!advice.is_empty()).then(|| advice.to_owned()),
        });
    }

    fn fine(&mut self, name: &str, found: impl Into<String>) {
        self.add(name, Severity::Fine, found, "");
    }

    fn note(&mut self, name: &str, found: impl Into<String>, advice: &str) {
        self.add(name, Severity::Note, found, advice);
    }

    fn warning(&mut self, name: &str, found: impl Into<String>, advice: &str) {
        self.add(name, Severity::Warning, found, advice);
    }

    fn bad(&mut self, name: &str, found: impl Into<String>, advice: &str) {
        self.add(name, Severity::Bad, found, advice);
    }

    fn unknown(&mut self, name: &str, reason: impl Into<String>) {
        self.add(name, Severity::Unknown, reason, "");
    }

    /// One check for all things that have the same finding, with their names before it.
    fn together(&mut self, name: &str, findings: impl IntoIterator<Item = (String, Finding)>) {
        let mut groups: Vec<(Vec<String>, Finding)> = Vec::new();
        for (thing, finding) in findings {
            match groups.iter_mut().find(|(_, known)| *known == finding) {
                Some((things, _)) => things.push(thing),
                None => groups.push((vec![thing], finding)),
            }
        }
        for (things, (severity, found, advice)) in groups {
            self.add(name, severity, format!("{}: {found}", things.join(", ")), advice);
        }
    }
}

#[cfg(test)]
mod tests;
