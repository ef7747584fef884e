//! fio's job files: sections of options, with includes and variables.

use super::known;
use super::words::{Job, STATUS, Word, unknown};
use crate::front::{Refusal, World};

/// More files in each other than that are a circle.
const INCLUDES_MAX: u32 = 16;

/// What a job file holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Jobs {
    /// Its jobs, in order.
    pub jobs: Vec<Job>,
    /// Options of `[global]`, as typed.
    pub global_shown: Vec<(String, String)>,
    /// Lines of it that cannot be read.
    pub refusals: Vec<Refusal>,
}

/// Reads a job file; `defaults` hold for all its jobs.
///
/// # Errors
/// It cannot be read, or a line of it is none that fio knows.
pub fn read(path: &str, defaults: &[Word], world: &dyn World) -> Result<Jobs, Refusal> {
    let mut reader =
        Reader { world, global: defaults.to_vec(), found: Jobs::default(), section: Section::None };
    reader.file(path, 0)?;
    Ok(reader.found)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    None,
    Global,
    Job,
}

struct Reader<'a> {
    world: &'a dyn World,
    global: Vec<Word>,
    found: Jobs,
    section: Section,
}

impl Reader<'_> {
    fn file(&mut self, path: &str, depth: u32) -> Result<(), Refusal> {
        if depth > INCLUDES_MAX {
            return Err(Refusal::new(
                STATUS,
                format!("fio: {path} includes itself"),
                "Remove one of the include lines.",
            ));
        }
        let text = self.world.text(path).map_err(|error| {
            Refusal::new(STATUS, format!("fio: unable to open '{path}' job file"), error)
        })?;
        for (number, line) in (1..).zip(text.lines()) {
            if let Err(refusal) = self.line(path, number, line.trim(), depth) {
                self.found.refusals.push(refusal);
            }
        }
        Ok(())
    }

    fn line(&mut self, path: &str, number: usize, line: &str, depth: u32) -> Result<(), Refusal> {
        // What stands behind either sign is a comment, wherever it stands.
        let line = line.split(['#', ';']).next().unwrap_or_default().trim_end();
        if line.is_empty() {
            return Ok(());
        }
        if let Some(included) = line.strip_prefix("include ") {
            let included = included.trim();
            let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
            let beside = match (included.starts_with('/'), directory) {
                (true, _) | (_, "") => included.to_string(),
                (false, directory) => format!("{directory}/{included}"),
            };
            return self.file(&beside, depth + 1);
        }
        if let Some(name) = line.strip_prefix('[') {
            let name = name.split(']').next().unwrap_or_default();
            if !line.contains(']') || name.is_empty() {
                return Err(at(path, number, line, "a section is written [name]"));
            }
            if name == "global" {
                self.section = Section::Global;
            } else {
                self.section = Section::Job;
                let (name, global) = (name.to_string(), self.global.clone());
                self.found.jobs.push(Job { name, global, own: Vec::new() });
            }
            return Ok(());
        }
        self.option(path, number, line)
    }

    fn option(&mut self, path: &str, number: usize, line: &str) -> Result<(), Refusal> {
        let line = self.with_variables(line);
        let (name, value) = match line.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim().to_string())),
            None => (line.trim(), None),
        };
        let Some(known) = known::find(name) else {
            let refusal = unknown(name, name);
            let text = format!("fio: {path} line {number}: Bad option <{line}>");
            return Err(Refusal::new(STATUS, text, refusal.advice));
        };
        // A log without a name has that of its job.
        let is_log = matches!(known.name(), "write_bw_log" | "write_lat_log" | "write_iops_log");
        if value.is_none() && !(known.own.bare || is_log) {
            return Err(at(path, number, &line, "the option needs a value, as in name=value"));
        }
        let shown = (name.to_string(), value.clone().unwrap_or_default());
        let word = Word { name: known.name(), typed: name.to_string(), value };
        match (self.section, self.found.jobs.last_mut()) {
            (Section::Job, Some(job)) if word.name == "name" => {
                job.name = word.value.clone().unwrap_or_default();
                job.own.push(word);
            }
            (Section::Job, Some(job)) => job.own.push(word),
            (Section::Global, _) => {
                if word.value.is_some() {
                    self.found.global_shown.push(shown);
                }
                self.global.push(word);
            }
            _ => return Err(at(path, number, &line, "it stands before the first [section]")),
        }
        Ok(())
    }

    /// Puts the environment's values for `${NAME}`, and the machine's for fio's own words.
    fn with_variables(&self, line: &str) -> String {
        let mut out = String::new();
        let mut rest = line;
        while let Some((before, behind)) = rest.split_once("${") {
            out.push_str(before);
            match behind.split_once('}') {
                Some((name, behind)) => {
                    out.push_str(&self.world.variable(name).unwrap_or_default());
                    rest = behind;
                }
                None => {
                    out.push_str("${");
                    rest = behind;
                }
            }
        }
        out.push_str(rest);
        if !out.contains('$') {
            return out;
        }
        let host = self.world.host();
        out.replace("$pagesize", "4096")
            .replace("$mb_memory", &(host.memory_bytes >> 20).to_string())
            .replace("$ncpus", &host.cpus.to_string())
    }
}

fn at(path: &str, number: usize, line: &str, what: &str) -> Refusal {
    Refusal::new(STATUS, format!("fio: {path} line {number}: `{line}`"), format!("{what}."))
}
