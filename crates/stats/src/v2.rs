//! HdrHistogram's V2 encoding of the buckets (not compressed) in base64.
//!
//! Written here although the `hdrhistogram` crate has it: that decoder allocates whatever length
//! the input claims, and overflows on a run of 2^63 empty buckets. Tests hold the two equal byte
//! by byte.

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};

/// The highest value with a bucket of its own: 1 h, in ns. Larger values share its bucket.
pub const HIGHEST_TRACKABLE_NS: u64 = 3_600_000_000_000;

const HEADER_BYTES: usize = 40;

/// V2, not compressed, words of 8 bytes.
const COOKIE: u32 = 0x1c84_9313;
const SIGNIFICANT_DIGITS: u32 = 3;
const LOWEST_DISCERNIBLE: u64 = 1;

/// Why a stored histogram was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The text is not base64 (standard alphabet, padded).
    Base64,
    /// The header is not V2 with 3 digits from 1 ns to 1 h and the right length.
    Header,
    /// The counts are cut off, or reach beyond the last bucket or beyond 2^64.
    Counts,
    /// The named exact value cannot belong to these buckets.
    Contradiction(&'static str),
}

impl fmt::Display for DecodeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Base64 => formatter.write_str("the histogram is not valid base64"),
            Self::Header => formatter
                .write_str("the histogram is not HdrHistogram V2 with 3 digits from 1 ns to 1 h"),
            Self::Counts => formatter.write_str("the counts of the histogram are damaged"),
            Self::Contradiction(what) => {
                write!(formatter, "the {what} contradicts the buckets of the histogram")
            }
        }
    }
}

impl std::error::Error for DecodeError {}

/// What was found in the buckets. `first` and `last` mean nothing when `count` is 0.
pub(crate) struct Decoded {
    pub(crate) count: u64,
    pub(crate) first: usize,
    pub(crate) last: usize,
}

/// Encodes `counts`, whose last element should be the last nonzero one.
pub(crate) fn encode(counts: &[u64]) -> String {
    let mut payload = Vec::with_capacity(counts.len());
    let mut rest = counts;
    while let Some((&count, tail)) = rest.split_first() {
        let zeros = rest.iter().take_while(|count| **count == 0).count();
        if zeros > 1 {
            write_varint(&mut payload, zig_zag(-(zeros as i64)));
            rest = &rest[zeros..];
        } else {
            write_varint(&mut payload, zig_zag(i64::try_from(count).unwrap_or(i64::MAX)));
            rest = tail;
        }
    }
    let mut bytes = Vec::with_capacity(HEADER_BYTES + payload.len());
    bytes.extend(COOKIE.to_be_bytes());
    bytes.extend((payload.len() as u32).to_be_bytes());
    bytes.extend(0_u32.to_be_bytes());
    bytes.extend(SIGNIFICANT_DIGITS.to_be_bytes());
    bytes.extend(LOWEST_DISCERNIBLE.to_be_bytes());
    bytes.extend(HIGHEST_TRACKABLE_NS.to_be_bytes());
    bytes.extend(1.0_f64.to_be_bytes());
    bytes.extend(payload);
    STANDARD.encode(bytes)
}

/// Decodes into `counts`, which must be all 0 and is left half written by an error.
pub(crate) fn decode(text: &str, counts: &mut [u64]) -> Result<Decoded, DecodeError> {
    let bytes = STANDARD.decode(text).map_err(|_| DecodeError::Base64)?;
    let (header, mut payload) =
        bytes.split_first_chunk::<HEADER_BYTES>().ok_or(DecodeError::Header)?;
    let mut expected = Vec::with_capacity(HEADER_BYTES);
    expected.extend(COOKIE.to_be_bytes());
    expected.extend(u32::try_from(payload.len()).map_err(|_| DecodeError::Header)?.to_be_bytes());
    expected.extend(0_u32.to_be_bytes());
    expected.extend(SIGNIFICANT_DIGITS.to_be_bytes());
    expected.extend(LOWEST_DISCERNIBLE.to_be_bytes());
    expected.extend(HIGHEST_TRACKABLE_NS.to_be_bytes());
    expected.extend(1.0_f64.to_be_bytes());
    if header.as_slice() != expected {
        return Err(DecodeError::Header);
    }
    let mut decoded = Decoded { count: 0, first: usize::MAX, last: 0 };
    let mut index = 0_usize;
    while !payload.is_empty() {
        let value = un_zig_zag(read_varint(&mut payload).ok_or(DecodeError::Counts)?);
        if value < 0 {
            let zeros = usize::try_from(value.unsigned_abs()).map_err(|_| DecodeError::Counts)?;
            index = index.checked_add(zeros).ok_or(DecodeError::Counts)?;
            continue;
        }
        let cell = counts.get_mut(index).ok_or(DecodeError::Counts)?;
        if value > 0 {
            *cell = value.unsigned_abs();
            decoded.count = decoded.count.checked_add(*cell).ok_or(DecodeError::Counts)?;
            decoded.first = decoded.first.min(index);
            decoded.last = index;
        }
        index += 1;
    }
    if index > counts.len() { Err(DecodeError::Counts) } else { Ok(decoded) }
}

/// Small magnitudes of either sign become small numbers: 0, -1, 1, -2 → 0, 1, 2, 3.
fn zig_zag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

fn un_zig_zag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// LEB128 with at most 9 bytes: the ninth carries 8 bits, so that 64 bits fit.
fn write_varint(bytes: &mut Vec<u8>, mut value: u64) {
    for _ in 0..8 {
        if value < 0x80 {
            break;
        }
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for place in 0..9 {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        if place == 8 {
            value |= u64::from(byte) << 56;
            break;
        }
        value |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(value)
}
