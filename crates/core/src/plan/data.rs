//! Bytes that written blocks repeat, and that reads expect.

use crate::units::Size;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes that written blocks repeat, and that reads expect.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// The bytes, as pairs of hexadecimal digits.
    #[serde(serialize_with = "write_hex", deserialize_with = "read_hex")]
    #[schemars(with = "String")]
    pub hex: Vec<u8>,
    /// Where among them the byte offset at which they begin stands, in eight bytes, the lowest
    /// first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offset_at: Vec<u32>,
    /// They begin again after this many bytes, and with each request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Size>,
}

impl Data {
    /// The most bytes that are repeated.
    pub const BYTES_MAX: usize = 128 << 10;
    /// Bytes that an offset takes.
    pub const OFFSET_BYTES: usize = 8;

    /// What is wrong with it, in words.
    ///
    /// # Errors
    /// No bytes or too many, or offsets that do not fit in them.
    pub fn check(&self) -> Result<(), String> {
        if self.hex.is_empty() || self.hex.len() > Data::BYTES_MAX {
            return Err(format!(
                "`hex` has {} bytes; use 1 to {}",
                self.hex.len(),
                Data::BYTES_MAX
            ));
        }
        let ends_outside = |at: &&u32| **at as usize + Data::OFFSET_BYTES > self.hex.len();
        if let Some(at) = self.offset_at.iter().find(ends_outside) {
            return Err(format!(
                "an offset takes {} bytes, and there are fewer from byte {at} of `hex` on; use a \
                 smaller `offset_at`",
                Data::OFFSET_BYTES
            ));
        }
        match self.every {
            Some(Size(0)) => Err("`every` is a number of bytes; use more than 0".to_string()),
            _ => Ok(()),
        }
    }
}

fn write_hex<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    serializer.serialize_str(&text)
}

fn read_hex<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let pairs = text.as_bytes().chunks(2);
    let byte = |pair: &[u8]| {
        let digits = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
        let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        u8::from_str_radix(digits, 16).ok().filter(|_| is_hex)
    };
    pairs.map(byte).collect::<Option<_>>().ok_or_else(|| {
        serde::de::Error::custom("`hex` is not pairs of hexadecimal digits; write such as \"0aff\"")
    })
}
