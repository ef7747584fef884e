//! One drive as drivelab describes it, next to what other tools say of it.

use serde_json::Value;
use std::collections::BTreeSet;

/// What is held together of a drive: which fields were compared, and which did not agree.
pub struct Witness<'a> {
    name: String,
    ours: &'a Value,
    compared: BTreeSet<String>,
    wrong: Vec<String>,
}

impl<'a> Witness<'a> {
    pub fn new(ours: &'a Value) -> Witness<'a> {
        let name = ours["name"].as_str().expect("a name").to_owned();
        Witness { name, ours, compared: BTreeSet::new(), wrong: Vec::new() }
    }

    pub fn ours(&self) -> &'a Value {
        self.ours
    }

    /// What drivelab says under this path (`wear.media_errors`); of a list of objects
    /// (`paths[].state`) a list of what each says.
    pub fn said(&self, path: &str) -> Value {
        match path.split_once("[].") {
            Some((list, field)) => {
                let list = dotted(self.ours, list);
                let rows = list.as_array().map(Vec::as_slice).unwrap_or_default();
                rows.iter().map(|row| dotted(row, field).clone()).collect()
            }
            None => dotted(self.ours, path).clone(),
        }
    }

    /// Both must say the same; neither may say what the other does not know.
    pub fn equal(&mut self, path: &str, theirs: impl Into<Value>, tool: &str) {
        let (ours, theirs) = (self.said(path), theirs.into());
        self.compared.insert(path.to_owned());
        if ours != theirs {
            self.wrong.push(format!("{}: {path} is {ours}, by {tool} {theirs}", self.name));
        }
    }

    /// A count that went on growing before the tool was asked.
    pub fn at_most(&mut self, path: &str, theirs: u64, tool: &str) {
        let ours = self.said(path).as_u64().filter(|ours| *ours <= theirs);
        self.equal(path, ours.unwrap_or(theirs), tool);
    }

    /// Texts that tools fill with blanks each in their own way.
    pub fn equal_words(&mut self, path: &str, theirs: &str, tool: &str) {
        let words = |text: &str| text.split_whitespace().collect::<String>();
        let ours = self.said(path);
        let is_same = ours.as_str().is_some_and(|ours| words(ours) == words(theirs));
        self.equal(path, if is_same { ours } else { theirs.into() }, tool);
    }

    /// Where the tool says something, both must say the same.
    pub fn where_told(&mut self, path: &str, theirs: Option<impl Into<Value>>, tool: &str) {
        if let Some(theirs) = theirs {
            self.equal(path, theirs, tool);
        }
    }

    /// What is wrong with this drive, and what was not compared although it was given and is not
    /// in the table.
    pub fn end(mut self, without_witness: &[(&str, &str)]) -> Vec<String> {
        let mut given = BTreeSet::new();
        leaves(self.ours, "", &mut given);
        for path in given.difference(&self.compared) {
            if !without_witness.iter().any(|(known, _)| known == path) {
                let said = self.said(path);
                self.wrong.push(format!("{}: {path} ({said}) has no witness", self.name));
            }
        }
        self.wrong
    }
}

fn dotted<'a>(from: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(from, |value, key| &value[key])
}

/// Paths of all that is given: what is null or empty says nothing.
fn leaves(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Null => {}
        Value::Array(rows) if rows.is_empty() => {}
        Value::Array(rows) if rows.iter().all(Value::is_object) => {
            rows.iter().for_each(|row| leaves(row, &format!("{path}[]"), found));
        }
        Value::Object(fields) => {
            for (key, value) in fields {
                let below = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                leaves(value, &below, found);
            }
        }
        _ => {
            found.insert(path.to_owned());
        }
    }
}

/// What follows a label in the lines of a tool (`Unit serial number: X`), without blanks.
pub fn labelled(text: &str, label: &str) -> Option<String> {
    let of = |line: &str| {
        let rest = line.trim_start().strip_prefix(label)?.trim_start();
        Some(rest.strip_prefix(['=', ':']).unwrap_or(rest).trim().to_owned())
    };
    text.lines().find_map(of).filter(|value| !value.is_empty())
}

/// The number after a label, in whatever base it is written.
pub fn number_after(text: &str, label: &str) -> Option<u64> {
    let (_, rest) = text.split_once(label)?;
    let word = rest.trim_start_matches([' ', '=', ':', '\t']);
    let end = word.find(|it: char| !it.is_ascii_alphanumeric()).unwrap_or(word.len());
    match word[..end].strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word[..end].parse().ok(),
    }
}
