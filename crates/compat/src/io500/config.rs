//! What the file asks for: every value held against what it can be.

use super::ini::{self, Entry};
use super::known::{EXTENDED, Key, Kind, SECTIONS, keys_of};
use super::phase::Phase;
use crate::front::{Note, Refusal, Treatment};
use crate::option::Care;
use crate::parallel::number;
use drivelab_core::plan_text::nearest;
use std::collections::BTreeMap;

/// The exit status where the suite does nothing, or cannot go on.
pub const FAILED: u8 = 1;
/// Characters that mean something else in lines of IOR and mdtest, or in names of theirs.
const NOT_IN_PATHS: [char; 6] = [',', '@', '{', '}', '\0', '"'];
/// Longest stonewall in seconds: a day.
const STONEWALL_MAX: u64 = 86_400;
/// Most files of a process.
const FILES_MAX: u64 = 1 << 30;

/// The file, understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// As it was read.
    pub text: String,
    values: BTreeMap<(&'static str, &'static str), String>,
}

impl Config {
    /// What a file says.
    ///
    /// # Errors
    /// Something in it makes no sense or is not supported, with its line.
    pub fn of(path: &str, text: &str, notes: &mut Vec<Note>) -> Result<Config, Refusal> {
        let wrong = |line: usize, text: String, advice: String| {
            Refusal::new(FAILED, format!("{path} line {line}: {text}"), advice)
        };
        let (sections, entries) = ini::parse(text).map_err(|error| {
            let advice = "Write sections as [global], and keys as datadir = DIR.".into();
            wrong(error.line, error.text, advice)
        })?;
        for (line, typed) in &sections {
            let known = || SECTIONS.iter().chain(&EXTENDED);
            if !known().any(|known| known.eq_ignore_ascii_case(typed)) {
                let advice = near_to(typed, &known().copied().collect::<Vec<_>>());
                return Err(wrong(
                    *line,
                    format!("[{typed}] is not a section of the suite"),
                    advice,
                ));
            }
        }
        let mut values = BTreeMap::new();
        for entry in &entries {
            let known = SECTIONS.iter().find(|it| it.eq_ignore_ascii_case(&entry.section));
            let Some(section) = known else { continue };
            let (key, value) = understood(section, entry, notes)
                .map_err(|(text, advice)| wrong(entry.line, text, advice))?;
            values.insert((*section, key.name()), value);
        }
        if sections
            .iter()
            .any(|(_, typed)| EXTENDED.iter().any(|known| known.eq_ignore_ascii_case(typed)))
        {
            let text =
                "Sections of the extended mode ask for nothing: only the standard mode is run.";
            notes.push(Note::new("extended_mode", "", Treatment::Ignored, text));
        }
        let config = Config { text: text.to_owned(), values };
        config.contradictions(path)?;
        Ok(config)
    }

    fn contradictions(&self, path: &str) -> Result<(), Refusal> {
        let wrong = |text: String, advice: &str| {
            Err(Refusal::new(FAILED, format!("{path}: {text}"), advice))
        };
        for key in ["datadir", "resultdir"] {
            let typed = self.value("global", key);
            if typed.starts_with("sim:") {
                let text = format!("{key} = {typed} is a simulated drive, which keeps no files");
                return wrong(text, "Name a directory.");
            }
            if let Some(found) = typed.chars().find(|c| NOT_IN_PATHS.contains(c)) {
                let text =
                    format!("{key} = {typed} holds `{found}`, which IOR or mdtest takes apart");
                return wrong(text, "Name a directory without it.");
            }
        }
        let stonewall = self.count("debug", "stonewall-time");
        if !(1..=STONEWALL_MAX).contains(&stonewall) {
            let text = format!("a stonewall-time of {stonewall} s is not supported");
            return wrong(text, "Use 300, or 1 to 86400 for debugging; --scale-time scales it.");
        }
        for (section, key) in [("mdtest-easy", "n"), ("mdtest-hard", "n")] {
            if !(1..=FILES_MAX).contains(&self.count(section, key)) {
                let text = format!("[{section}] {key} = {} files", self.value(section, key));
                return wrong(text, "Use 1 to 1073741824 files of a process.");
            }
        }
        if self.count("ior-hard", "segmentCount") == 0 {
            return wrong("[ior-hard] segmentCount = 0 moves nothing".into(), "Use 1 or more.");
        }
        let of = |key| number::bytes(self.value("ior-easy", key)).unwrap_or(0);
        let (block, transfer) = (of("blockSize"), of("transferSize"));
        if transfer == 0 || block == 0 || !block.is_multiple_of(transfer) {
            let text = format!(
                "blockSize = {} is not a multiple of transferSize = {}",
                self.value("ior-easy", "blockSize"),
                self.value("ior-easy", "transferSize")
            );
            return wrong(text, "As in blockSize = 9920000m and transferSize = 2m.");
        }
        Ok(())
    }

    /// A value, or its default; empty where there is neither.
    pub fn value(&self, section: &str, key: &str) -> &str {
        let given = self.values.iter().find(|((of, name), _)| *of == section && *name == key);
        let default = || {
            let known = keys_of(section).find(|known| known.name() == key);
            known.map_or("", |known| known.own.default)
        };
        given.map_or_else(default, |(_, value)| value.as_str())
    }

    /// Whether a switch is on.
    pub fn is_on(&self, section: &str, key: &str) -> bool {
        self.value(section, key) == "TRUE"
    }

    /// A number; 0 where none was given.
    pub fn count(&self, section: &str, key: &str) -> u64 {
        self.value(section, key).parse().unwrap_or(0)
    }

    /// Whether a phase is to be run.
    pub fn runs(&self, phase: Phase) -> bool {
        let own = |section: &str| section.is_empty() || self.is_on(section, "run");
        own(phase.name()) && own(phase.family())
    }

    /// The options of the interface that a phase has.
    pub fn is_direct(&self, phase: Phase) -> bool {
        let own = self.value(phase.name(), "API");
        let all = self.value(phase.family(), "API");
        let said = if own.is_empty() { all } else { own };
        said.contains(ODIRECT)
    }

    /// Every section and key with what holds, as the suite keeps it next to its results.
    pub fn in_full(&self) -> String {
        let mut text = String::new();
        for section in SECTIONS {
            let end = if text.is_empty() { "" } else { "\n" };
            text += &format!("{end}[{section}]\n");
            for key in keys_of(section) {
                text += &format!("{} = {}\n", key.name(), self.value(section, key.name()));
            }
        }
        text
    }
}

const ODIRECT: &str = "--posix.odirect";

fn near_to(typed: &str, names: &[&str]) -> String {
    match nearest(typed, names) {
        Some(near) => format!("Did you mean {near}?"),
        None => "--list shows all sections and keys.".into(),
    }
}

/// A key that is known, with a value that it can have; else what is wrong, and a way out.
fn understood(
    section: &'static str,
    entry: &Entry,
    notes: &mut Vec<Note>,
) -> Result<(&'static Key, String), (String, String)> {
    let Some(key) = keys_of(section).find(|key| key.name().eq_ignore_ascii_case(&entry.key)) else {
        let names: Vec<&str> = keys_of(section).map(|key| key.name()).collect();
        let text = format!("[{section}] has no key {}", entry.key);
        return Err((text, near_to(&entry.key, &names)));
    };
    let typed = format!("{} = {}", key.name(), entry.value);
    let value = of_kind(key, &entry.value).map_err(|what| {
        (format!("{typed} is not {what}"), format!("Write it as in {}.", example(key)))
    })?;
    // What is set to its default asks for nothing.
    let asks = value != key.own.default && value != "FALSE";
    match key.care {
        Care::Unsupported { why, .. } if asks => {
            return Err((format!("{typed} is not supported"), crate::option::sentence(why)));
        }
        Care::Near(_) | Care::Ignored(_) if asks => {
            notes.extend(key.care.note("without_effect", &typed, "It is understood so"));
        }
        _ => {}
    }
    if key.name().eq_ignore_ascii_case("api") {
        interface(section, &value).map_err(|text| {
            (format!("{typed}: {text}"), "Use API = POSIX; IOR alone takes --posix.odirect.".into())
        })?;
    }
    if key.name() == "dataPacketType" && !PACKETS.contains(&value.to_lowercase().as_str()) {
        return Err((
            format!("{typed} is not known"),
            format!("Use one of {}.", PACKETS.join(", ")),
        ));
    }
    Ok((key, value))
}

const PACKETS: [&str; 4] = ["timestamp", "offset", "incompressible", "random"];

fn of_kind(key: &Key, value: &str) -> Result<String, &'static str> {
    match key.own.kind {
        Kind::Text => Ok(value.to_owned()),
        Kind::Switch if value.eq_ignore_ascii_case("true") || value == "1" => Ok("TRUE".into()),
        Kind::Switch if value.eq_ignore_ascii_case("false") || value == "0" => Ok("FALSE".into()),
        Kind::Switch => Err("TRUE or FALSE"),
        Kind::Count => match value.parse::<u64>() {
            Ok(count) => Ok(count.to_string()),
            Err(_) => Err("a whole number from 0 on"),
        },
        Kind::Bytes => match number::bytes(value) {
            Some(_) => Ok(value.to_owned()),
            None => Err("a size"),
        },
    }
}

fn example(key: &Key) -> String {
    let value = match key.own.kind {
        Kind::Switch => "TRUE",
        Kind::Count => "1",
        Kind::Text | Kind::Bytes => "2m",
    };
    format!("{} = {value}", key.name())
}

/// POSIX, and of IOR's with direct I/O.
fn interface(section: &str, value: &str) -> Result<(), String> {
    let mut words = value.split_whitespace();
    if !words.next().is_some_and(|word| word.eq_ignore_ascii_case("POSIX")) {
        return Err("only POSIX is supported here".into());
    }
    for word in words {
        if word != ODIRECT || !section.starts_with("ior") {
            return Err(format!("`{word}` is not supported here"));
        }
    }
    Ok(())
}
