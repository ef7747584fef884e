//! What the real program said of a device.

use super::case::Case;
use super::device::PlantedDevice;
use crate::support::binary::{Laboratory, RunFile};
use serde_json::Value;
use std::time::Duration;

/// The answer of one command.
pub struct Said {
    pub status: Option<i32>,
    pub json: Value,
    pub file: RunFile,
    pub stderr: String,
    /// The whole command.
    pub took: Duration,
}

impl Said {
    /// Runs the line of a case on its device, whose schedules begin with it.
    pub fn of(case: &Case, device: &PlantedDevice) -> Said {
        let mut laboratory = Laboratory::new();
        laboratory.go_first();
        let path = device.path().to_str().expect("a path in UTF-8");
        let token = laboratory.token(path);
        let mut line: Vec<&str> = case.line.iter().map(String::as_str).collect();
        let target = if line[0] == "study" { 2 } else { 1 };
        line.insert(target, path);
        line.extend(["--erase", &token]);
        device.begin();
        let outcome = laboratory.run(line, case.limit);
        assert!(outcome.stdout.starts_with('{'), "{:?}: {}", case.line, outcome.stderr);
        let (status, json) = (outcome.status, outcome.json());
        let (stderr, took) = (outcome.stderr, outcome.took);
        Said { status, json, file: laboratory.only_run(), stderr, took }
    }

    /// All sentences of these parts of the findings.
    pub fn sentences(&self, parts: &[&str]) -> Vec<String> {
        let of = |part: &&str| {
            let list = self.json["findings"][*part].as_array().cloned().unwrap_or_default();
            list.into_iter().filter_map(|it| Some(it.as_str()?.to_string())).collect::<Vec<_>>()
        };
        parts.iter().flat_map(of).collect()
    }

    /// The sentence of these parts that holds these words.
    pub fn sentence(&self, parts: &[&str], words: &str) -> Option<String> {
        self.sentences(parts).into_iter().find(|sentence| sentence.contains(words))
    }

    /// The value of a figure of the findings.
    pub fn figure(&self, name: &str) -> Option<f64> {
        let figures = self.json["findings"]["figures"].as_array()?;
        figures.iter().find(|it| it["name"] == name)?["estimate"]["value"].as_f64()
    }

    /// The first stream of the only measured step of a `run`.
    pub fn stream(&self) -> &Value {
        &self.json["steps"][0]["streams"][0]
    }
}

/// The number that follows these words, with its unit taken into account (`20.0 s`, `4.60k IOPS`).
pub fn number_after(text: &str, words: &str) -> Option<f64> {
    let rest = text.split_once(words)?.1;
    let mut parts = rest.split([' ', ':', ',', ';']).filter(|part| !part.is_empty());
    let value = prefixed(parts.next()?)?;
    let times = match parts.next()? {
        "ms" => 1e-3,
        "µs" => 1e-6,
        "s" | "IOPS" => 1.0,
        _ => return None,
    };
    Some(value * times)
}

/// A number with the letter that may follow its digits: `100`, `4.60k`, `1.00M`.
pub fn prefixed(text: &str) -> Option<f64> {
    let (digits, times) = match text.char_indices().last()? {
        (at, 'k') => (&text[..at], 1e3),
        (at, 'M') => (&text[..at], 1e6),
        _ => (text, 1.0),
    };
    Some(digits.parse::<f64>().ok()? * times)
}
