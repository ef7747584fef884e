//! The plan's small words that carry a number (`fsync:16`, `compressible:50`): text in, text out.

use crate::plan::{Content, IoMode, Sync};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

fn every(text: &str, number: &str) -> Result<u32, String> {
    match number.parse() {
        Ok(n) if n > 0 => Ok(n),
        _ => Err(format!("`{text}` needs a count of writes from 1 on, such as `fsync:1`")),
    }
}

impl FromStr for Sync {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "none" => Ok(Sync::None),
            None if text == "dsync" => Ok(Sync::Dsync),
            None if text == "end" => Ok(Sync::End),
            Some(("fsync", n)) => every(text, n).map(Sync::Fsync),
            Some(("fdatasync", n)) => every(text, n).map(Sync::Fdatasync),
            _ => Err(format!(
                "`{text}` is not a sync mode; use none, dsync, fsync:N, fdatasync:N or end, such \
                 as fsync:1"
            )),
        }
    }
}

impl fmt::Display for Sync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sync::None => f.write_str("none"),
            Sync::Dsync => f.write_str("dsync"),
            Sync::Fsync(n) => write!(f, "fsync:{n}"),
            Sync::Fdatasync(n) => write!(f, "fdatasync:{n}"),
            Sync::End => f.write_str("end"),
        }
    }
}

impl FromStr for Content {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || {
            format!(
                "`{text}` is not a kind of content; use random, zero, compressible:PERCENT, such \
                 as compressible:50, or counting:NUMBER"
            )
        };
        match text.split_once(':') {
            None if text == "random" => Ok(Content::Random),
            None if text == "zero" => Ok(Content::Zero),
            Some(("compressible", percent)) => match percent.parse() {
                Ok(percent) if percent <= 100 => Ok(Content::Compressible(percent)),
                _ => Err(bad()),
            },
            Some(("counting", number)) => number.parse().map(Content::Counting).map_err(|_| bad()),
            _ => Err(bad()),
        }
    }
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Content::Random => f.write_str("random"),
            Content::Zero => f.write_str("zero"),
            Content::Compressible(percent) => write!(f, "compressible:{percent}"),
            Content::Counting(first) => write!(f, "counting:{first}"),
        }
    }
}

impl IoMode {
    /// The word in plans and tables.
    pub fn word(self) -> &'static str {
        match self {
            IoMode::Direct => "direct",
            IoMode::Buffered => "buffered",
        }
    }
}

macro_rules! as_text {
    ($($name:ident: $pattern:literal),*) => {$(
        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "pattern": $pattern })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(de::Error::custom)
            }
        }
    )*};
}

as_text!(
    Sync: "^(none|dsync|end|fsync:[0-9]+|fdatasync:[0-9]+)$",
    Content: "^(random|zero|compressible:[0-9]+)$"
);
