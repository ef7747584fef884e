//! Profiles: what a simulated drive is made of, each parameter with its unit, source and status.

use crate::state::State;
use drivelab_core::plan_text::{Spanned, error_at, nearest, parse_as};
use drivelab_core::price::Price;
use drivelab_core::units::{Size, Span};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use toml::Value;

/// How well a parameter is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// From a specification.
    Spec,
    /// Measured by somebody.
    Measured,
    /// Chosen so that a published figure comes out.
    Fitted,
    /// Typical of its class.
    Guess,
}

impl Status {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Status::Spec => "spec",
            Status::Measured => "measured",
            Status::Fitted => "fitted",
            Status::Guess => "guess",
        }
    }
}

/// Which model a profile is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Model {
    /// Flash with page mapping.
    Flash,
    /// Flash with log blocks.
    LogBlock,
    /// Flash with block mapping.
    BlockMap,
    /// A disk with heads.
    Disk,
    /// Disks together, perhaps behind a network.
    Array,
    /// A volume with limits.
    Volume,
}

impl Model {
    /// The word for it in a profile's `kind`.
    pub fn word(self) -> &'static str {
        match self {
            Model::Flash => "flash",
            Model::LogBlock => "log_block",
            Model::BlockMap => "block_map",
            Model::Disk => "disk",
            Model::Array => "array",
            Model::Volume => "volume",
        }
    }
}

/// One parameter.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// Its value.
    pub value: Value,
    /// Where it comes from.
    pub source: String,
    /// How well it is known.
    pub status: Status,
}

pub use toml::Value as TomlValue;

/// The source of what was typed.
pub(crate) const GIVEN: &str = "given on the command line";

type Section = BTreeMap<Spanned<String>, Parameter>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    name: String,
    title: String,
    kind: Model,
    about: String,
    #[serde(default)]
    published_state: Option<Spanned<Parameter>>,
    #[serde(default)]
    price: Option<Spanned<Parameter>>,
    parameters: Section,
    #[serde(default)]
    member: Section,
    #[serde(default)]
    network: Section,
    #[serde(default)]
    cells: BTreeMap<String, BTreeMap<String, Parameter>>,
}

/// A profile as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The word on the command line.
    pub name: String,
    /// Which drive it is.
    pub title: String,
    /// Which model serves it.
    pub model: Model,
    /// What should be known of it.
    pub about: String,
    /// The state in which its published figures are taken to be measured, in a word of the
    /// contract.
    pub published_state: Option<Parameter>,
    /// What such a drive cost, as it was published.
    pub price: Option<Price>,
    /// Its tables by name: `parameters`, and `member` and `network` of an array.
    pub sections: BTreeMap<&'static str, BTreeMap<String, Parameter>>,
    /// What `bits_per_cell=N` sets besides, by N: the kinds of cells that it can be made of.
    pub cells: BTreeMap<String, BTreeMap<String, Parameter>>,
    text: String,
    file: String,
    spans: BTreeMap<String, std::ops::Range<usize>>,
}

/// Names and texts of the profiles that are part of the program, as `drivelab sim list` shows them.
pub const EMBEDDED: &[(&str, &str)] = &[
    ("x25-e", include_str!("../../../profiles/x25-e.toml")),
    ("x25-m", include_str!("../../../profiles/x25-m.toml")),
    ("ocz-core", include_str!("../../../profiles/ocz-core.toml")),
    ("samsung-slc", include_str!("../../../profiles/samsung-slc.toml")),
    ("pqi", include_str!("../../../profiles/pqi.toml")),
    ("zhou-intel", include_str!("../../../profiles/zhou-intel.toml")),
    ("zhou-ocz", include_str!("../../../profiles/zhou-ocz.toml")),
    ("zhou-hdd", include_str!("../../../profiles/zhou-hdd.toml")),
    ("pblaze5-c916", include_str!("../../../profiles/pblaze5-c916.toml")),
    ("sata-mlc", include_str!("../../../profiles/sata-mlc.toml")),
    ("nvme-tlc", include_str!("../../../profiles/nvme-tlc.toml")),
    ("nvme-qlc", include_str!("../../../profiles/nvme-qlc.toml")),
    ("momentus-7200", include_str!("../../../profiles/momentus-7200.toml")),
    ("sas-raid10", include_str!("../../../profiles/sas-raid10.toml")),
    ("sas-raid5", include_str!("../../../profiles/sas-raid5.toml")),
    ("san", include_str!("../../../profiles/san.toml")),
    ("gp2", include_str!("../../../profiles/gp2.toml")),
    ("gp3", include_str!("../../../profiles/gp3.toml")),
    ("essd", include_str!("../../../profiles/essd.toml")),
    ("textbook", include_str!("../../../profiles/textbook.toml")),
];

impl Profile {
    /// A profile that is part of the program.
    ///
    /// # Errors
    /// No such name, with the nearest one.
    ///
    /// ```
    /// use drivelab_sim::profile::{EMBEDDED, Profile};
    ///
    /// let profile = Profile::embedded("nvme-tlc")?;
    /// assert_eq!(profile.name, "nvme-tlc");
    /// for (name, _) in EMBEDDED {
    ///     let profile = Profile::embedded(name)?;
    ///     let parameters = profile.sections.values().flat_map(|section| section.values());
    ///     assert!(parameters.into_iter().all(|parameter| !parameter.source.is_empty()));
    /// }
    /// # Ok::<(), String>(())
    /// ```
    pub fn embedded(name: &str) -> Result<Self, String> {
        let known: Vec<&str> = EMBEDDED.iter().map(|(known, _)| *known).collect();
        match EMBEDDED.iter().find(|(known, _)| *known == name) {
            Some((known, text)) => Profile::parse(text, &format!("{known}.toml")),
            None => Err(match nearest(name, &known) {
                Some(near) => {
                    format!("there is no simulated drive `{name}`; did you mean `{near}`?")
                }
                None => format!(
                    "there is no simulated drive `{name}`; `drivelab sim list` shows them: {}",
                    known.join(", ")
                ),
            }),
        }
    }

    /// Reads a profile.
    ///
    /// # Errors
    /// What is wrong with the text, with line and caret.
    pub fn parse(text: &str, file: &str) -> Result<Self, String> {
        let document: Document =
            parse_as(text, file, "the profile").map_err(|error| error.to_string())?;
        let mut spans = BTreeMap::new();
        let mut sections = BTreeMap::new();
        for (name, section) in [
            ("parameters", document.parameters),
            ("member", document.member),
            ("network", document.network),
        ] {
            let mut plain = BTreeMap::new();
            for (key, parameter) in section {
                spans.insert(format!("{name}.{}", key.get_ref()), key.span());
                plain.insert(key.into_inner(), parameter);
            }
            if !plain.is_empty() {
                sections.insert(name, plain);
            }
        }
        let published_state = match document.published_state {
            Some(state) if !is_state(state.get_ref()) => {
                let wrong = "`published_state` is not a state; use one of those of state=";
                return Err(error_at(text, file, state.span(), wrong).to_string());
            }
            state => state.map(Spanned::into_inner),
        };
        let price = document.price.map(|price| price_of(text, file, &price)).transpose()?;
        Ok(Profile {
            name: document.name,
            title: document.title,
            model: document.kind,
            about: document.about.trim().to_owned(),
            published_state,
            price,
            sections,
            cells: document.cells,
            text: text.to_owned(),
            file: file.to_owned(),
            spans,
        })
    }

    /// Sets a parameter, wherever it stands; what it was counts no more.
    ///
    /// # Errors
    /// The profile has no such parameter, with the nearest one.
    pub fn set(&mut self, key: &str, value: Value) -> Result<(), String> {
        let (section, name) = match key.split_once('.') {
            Some((section, name)) => (Some(section), name),
            None => (None, key),
        };
        let found = self
            .sections
            .iter_mut()
            .filter(|(known, _)| section.is_none_or(|section| section == **known))
            .find_map(|(known, parameters)| Some((*known, parameters.get_mut(name)?)));
        let Some((section, parameter)) = found else { return Err(self.unknown(key)) };
        // An error about it is no error in the file.
        self.spans.remove(&format!("{section}.{name}"));
        parameter.value = value;
        parameter.source = GIVEN.to_owned();
        parameter.status = Status::Guess;
        Ok(())
    }

    /// Adds a parameter that the profile leaves to its default.
    pub fn add(&mut self, key: &str, value: Value) {
        self.replace(key, value, GIVEN, Status::Guess);
    }

    /// Gives a parameter of the drive itself a value, whether it had one or not.
    pub(crate) fn replace(&mut self, key: &str, value: Value, source: &str, status: Status) {
        self.spans.remove(&format!("parameters.{key}"));
        let parameter = Parameter { value, source: source.to_owned(), status };
        self.sections.entry("parameters").or_default().insert(key.to_owned(), parameter);
    }

    /// Takes a parameter out.
    pub fn remove(&mut self, key: &str) {
        if let Some(parameters) = self.sections.get_mut("parameters") {
            parameters.remove(key);
        }
    }

    /// The value of a parameter of the drive itself.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.sections.get("parameters")?.get(key).map(|parameter| &parameter.value)
    }

    /// How many parameters were fitted.
    pub fn fitted(&self) -> usize {
        let all = self.sections.values().flat_map(BTreeMap::values);
        all.filter(|parameter| parameter.status == Status::Fitted).count()
    }

    fn unknown(&self, key: &str) -> String {
        let known: Vec<&str> =
            self.sections.values().flat_map(|section| section.keys().map(String::as_str)).collect();
        let near = nearest(key, &known).map(|near| format!("; did you mean `{near}`?"));
        format!(
            "`{}` has no parameter `{key}`{}",
            self.name,
            near.unwrap_or_else(|| format!(
                "; `drivelab sim show {}` lists its parameters",
                self.name
            ))
        )
    }

    /// One section as the parameters of a model.
    ///
    /// # Errors
    /// A parameter that the model does not know, of another type, or missing, with line and caret.
    pub fn section<T: DeserializeOwned>(&self, name: &str) -> Result<T, String> {
        let parameters = self.sections.get(name).into_iter().flatten();
        let plain: toml::Table =
            parameters.map(|(key, parameter)| (key.clone(), parameter.value.clone())).collect();
        T::deserialize(Value::Table(plain))
            .map_err(|error| self.at_its_place(name, error.message()))
    }

    /// A sentence about a parameter, with the line it stands in where it names one.
    pub fn at_its_place(&self, section: &str, message: &str) -> String {
        let named = self.spans.iter().find(|(key, _)| {
            key.strip_prefix(section)
                .and_then(|key| key.strip_prefix('.'))
                .is_some_and(|key| message.split(|c: char| !is_word(c)).any(|word| word == key))
        });
        let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
        match named {
            Some((_, span)) => error_at(&self.text, &self.file, span.clone(), message).to_string(),
            None => format!("{}: {message}", self.file),
        }
    }
}

fn is_state(parameter: &Parameter) -> bool {
    parameter.value.as_str().is_some_and(|word| State::named(word).is_some())
}

fn price_of(text: &str, file: &str, price: &Spanned<Parameter>) -> Result<Price, String> {
    let parameter = price.get_ref();
    let read = parameter.value.as_str().map_or_else(
        || Err("a price is text in quotes, such as \"300 USD\"".to_owned()),
        Price::parse,
    );
    match read {
        Ok(read) => Ok(Price { source: parameter.source.clone(), ..read }),
        Err(wrong) => Err(error_at(text, file, price.span(), &wrong).to_string()),
    }
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// A value as typed: a size where the key says bytes, a time where it says nanoseconds, a number, a
/// truth, or a word. A number alone has the unit of its key.
pub(crate) fn value_of(key: &str, text: &str) -> Result<Value, String> {
    if key.ends_with("_bytes") || key.ends_with("_bytes_per_s") {
        let amount = text.strip_suffix("/s").filter(|_| key.ends_with("_per_s")).unwrap_or(text);
        let size: Size = amount.parse().map_err(|error| format!("{key}={text}: {error}"))?;
        let bytes = i64::try_from(size.0).map_err(|_| format!("{key}={text} is too large"))?;
        return Ok(Value::Integer(bytes));
    }
    let plain = text.replace('_', "");
    if key.ends_with("_ns") && plain.parse::<f64>().is_err() {
        let span: Span = text.parse().map_err(|error| format!("{key}={text}: {error}"))?;
        let ns = i64::try_from(span.0).map_err(|_| format!("{key}={text} is too large"))?;
        return Ok(Value::Integer(ns));
    }
    Ok(if let Ok(number) = plain.parse::<i64>() {
        Value::Integer(number)
    } else if let Ok(number) = plain.parse::<f64>() {
        Value::Float(number)
    } else if let Ok(truth) = text.parse::<bool>() {
        Value::Boolean(truth)
    } else {
        Value::String(text.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_may_have_its_unit() {
        let number = |key, text| value_of(key, text).unwrap().as_integer().unwrap();
        assert_eq!(number("firmware_write_ns", "60us"), 60_000);
        assert_eq!(number("firmware_write_ns", "60_000"), 60_000);
        assert_eq!(number("link_bytes_per_s", "300MB/s"), 300_000_000);
        assert_eq!(number("link_bytes_per_s", "300MB"), 300_000_000);
        assert_eq!(number("buffer_bytes", "16MiB"), 16 << 20);
        assert!(value_of("buffer_bytes", "16MiB/s").is_err());
        let wrong = value_of("firmware_write_ns", "60 parsecs").unwrap_err();
        assert!(wrong.starts_with("firmware_write_ns=60 parsecs: "), "{wrong}");
    }
}
