//! What blocks are told by when they are read: drivelab's stamps, or bytes that the line names.

use super::settings::Settings;
use super::value::BadValue;
use super::words::{STATUS, unsupported};
use crate::front::{Refusal, World};
use drivelab_core::plan::{Arrival, Content, Data, Mix, Stream, Sync, Until, WeightedSize};
use drivelab_core::units::{Size, Span};

/// `verify` and what belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marks {
    /// `verify`, in fio's word.
    pub verify: Option<String>,
    /// `do_verify`.
    pub reads_back: bool,
    /// `verify_only`.
    pub only: bool,
    /// `buffer_pattern`.
    pub written: Option<Bytes>,
    /// `verify_pattern`.
    pub expected: Option<Bytes>,
    /// `verify_pattern_interval`.
    pub every: u64,
}

impl Default for Marks {
    fn default() -> Self {
        let (verify, written, expected) = (None, None, None);
        Marks { verify, reads_back: true, only: false, written, expected, every: 0 }
    }
}

/// Bytes that a line names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bytes {
    /// Themselves.
    Here(Data),
    /// By a file that holds them.
    File(String),
}

/// Strings in double quotes, numbers, bytes behind 0x and `%o`, one behind the other; or the name
/// of a file in single quotes.
pub fn bytes(text: &str) -> Result<Bytes, BadValue> {
    const FORMS: BadValue = BadValue::wants(
        "strings in double quotes, numbers, 0x and hexadecimal digits, or %o, one behind the \
         other; or a file in single quotes",
    );
    if let Some(file) = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')) {
        return Ok(Bytes::File(file.to_string()));
    }
    let mut data = Data::default();
    let mut rest = text;
    while !rest.is_empty() {
        rest = match rest.strip_prefix('"') {
            Some(string) => {
                let (string, behind) = string.split_once('"').ok_or(FORMS)?;
                data.hex.extend(string.bytes());
                behind
            }
            None => number(rest, &mut data).ok_or(FORMS)?,
        };
    }
    data.check().map_err(|_| FORMS)?;
    Ok(Bytes::Here(data))
}

/// The same without `%o`, which fio does not take in `buffer_pattern`.
pub fn plain_bytes(text: &str) -> Result<Bytes, BadValue> {
    match bytes(text)? {
        Bytes::Here(data) if !data.offset_at.is_empty() => {
            Err(BadValue::wants("no %o, which is for verify_pattern"))
        }
        bytes => Ok(bytes),
    }
}

/// Takes a number, bytes behind 0x or `%o`; returns what is left.
fn number<'a>(text: &'a str, data: &mut Data) -> Option<&'a str> {
    if let Some(rest) = text.strip_prefix("%o") {
        data.offset_at.push(u32::try_from(data.hex.len()).ok()?);
        data.hex.extend([0; Data::OFFSET_BYTES]);
        return Some(rest);
    }
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let end = digits.find(|digit: char| !digit.is_ascii_hexdigit()).unwrap_or(digits.len());
        let (digits, rest) = digits.split_at(end);
        let even = if digits.len() % 2 == 0 { digits.to_string() } else { format!("0{digits}") };
        for pair in even.as_bytes().chunks(2) {
            let pair = std::str::from_utf8(pair).ok()?;
            data.hex.push(u8::from_str_radix(pair, 16).ok()?);
        }
        return (end > 0).then_some(rest);
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_negative = digits.len() < text.len();
    let end = digits.find(|digit: char| !digit.is_ascii_digit()).unwrap_or(digits.len());
    // A 0 before an x begins the next one.
    let is_next = digits[end..].starts_with(['x', 'X']) && digits[..end].ends_with('0') && end > 1;
    let (digits, rest) = digits.split_at(end - usize::from(is_next));
    let value: i64 = digits.parse().ok()?;
    if is_negative {
        data.hex.extend(i32::try_from(-value).ok()?.to_le_bytes());
    } else {
        let bytes = u32::try_from(value).ok()?.to_le_bytes();
        let count = bytes.iter().rposition(|byte| *byte != 0).map_or(1, |last| last + 1);
        data.hex.extend(&bytes[..count]);
    }
    Some(rest)
}

/// Reads the files that hold bytes.
///
/// # Errors
/// One that cannot be read, or holds none or too many.
pub fn read(settings: &mut Settings, world: &dyn World) -> Result<(), Refusal> {
    let marks = &mut settings.marks;
    let both = [("buffer_pattern", &mut marks.written), ("verify_pattern", &mut marks.expected)];
    for (name, bytes) in both {
        let Some(Bytes::File(path)) = bytes else { continue };
        let refused = |why: String| {
            Refusal::new(
                STATUS,
                format!("fio: {name}='{path}': {why}"),
                "Name a file that holds the bytes, or write them out.",
            )
        };
        let data = Data { hex: world.bytes(path).map_err(refused)?, ..Data::default() };
        if data.hex.is_empty() || data.hex.len() > Data::BYTES_MAX {
            let bytes = data.hex.len();
            return Err(refused(format!("{bytes} bytes, not 1 to {}", Data::BYTES_MAX)));
        }
        *bytes = Some(Bytes::Here(data));
    }
    Ok(())
}

impl Marks {
    /// Whether what is read is compared with bytes that the line names.
    fn is_of_bytes(&self) -> bool {
        self.verify.as_deref() == Some("pattern")
    }

    /// Whether what is read is looked at: `null` reads, and looks at nothing.
    fn is_checked(&self) -> bool {
        self.verify.as_deref().is_some_and(|word| word != "null")
    }

    /// Whether blocks carry stamps.
    pub fn are_stamps(&self) -> bool {
        self.is_checked() && !self.is_of_bytes()
    }

    /// What blocks hold that are written, or laid out before they are read.
    pub fn data(&self) -> Option<Data> {
        let bytes = match (self.is_of_bytes(), self.are_stamps()) {
            (true, _) => &self.expected,
            (_, true) => &None,
            _ => &self.written,
        };
        let every = (self.is_of_bytes() && self.every > 0).then_some(Size(self.every));
        match bytes {
            Some(Bytes::Here(data)) => Some(Data { every, ..data.clone() }),
            _ => None,
        }
    }
}

/// What is written can be read back and told.
pub fn apply(settings: &Settings, stream: &mut Stream) -> Result<(), Refusal> {
    let marks = &settings.marks;
    let is_checked = marks.is_checked();
    if marks.only && marks.verify.is_none() {
        return Err(unsupported("verify_only without verify", "say verify= too"));
    }
    if is_checked && settings.rw.is_trimmed_first() {
        return Err(unsupported("verify of trimwrite", "verify a job that writes"));
    }
    if marks.is_of_bytes() && marks.expected.is_none() {
        return Err(unsupported(
            "verify=pattern without verify_pattern",
            "say verify_pattern= too",
        ));
    }
    if !stream.engine.moves_data() {
        // As in fio, nothing is looked at that was never moved.
        return Ok(());
    }
    // The reads of a mix are not checked: what they find may be older.
    stream.verify = is_checked && stream.mix.read > 0 && !settings.rw.is_mixed();
    if stream.mix.write > 0 || stream.verify {
        stream.data = marks.data();
    }
    if stream.data.is_some() {
        stream.content = Content::Random;
    }
    if stream.mix.write > 0 && marks.verify.is_some() {
        stream.stamp = marks.are_stamps();
    }
    Ok(())
}

/// The stream that reads back what `written` wrote until it ended by these bounds.
pub fn read_back(settings: &Settings, written: &Stream, until: Until) -> Result<Stream, Refusal> {
    let mixed = settings.rw.is_mixed();
    if settings.marks.are_stamps() && written.content == Content::Zero {
        return Err(Refusal::new(
            STATUS,
            "fio: verify of zero_buffers leaves nothing to tell blocks by",
            "Leave zero_buffers out.",
        ));
    }
    Ok(Stream {
        mix: Mix::READ,
        sync: Sync::None,
        content: Content::Random,
        data: written.data.clone().filter(|_| settings.marks.is_of_bytes()),
        stamp: false,
        verify: settings.marks.is_checked() && written.engine.moves_data(),
        read_back: mixed.then_some(written.mix),
        start_after: Span(0),
        arrival: match &written.arrival {
            Arrival::Open { .. } => Arrival::AT_ONCE,
            other => other.clone(),
        },
        until: Some(until),
        sizes: written
            .sizes
            .iter()
            .map(|entry| WeightedSize { kind: entry.kind.filter(|_| mixed), ..*entry })
            .collect(),
        // What is read back has the priority of its thread.
        request_priorities: Vec::new(),
        ..written.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Option<Vec<u8>> {
        match bytes(text) {
            Ok(Bytes::Here(data)) => Some(data.hex),
            _ => None,
        }
    }

    /// As fio 3.33 wrote them.
    #[test]
    fn patterns_are_the_bytes_that_fio_writes() {
        let several: [(&str, &[u8]); 8] = [
            ("\"abcd\"-120xdeadface", b"abcd\xf4\xff\xff\xff\xde\xad\xfa\xce"),
            ("0x1234", b"\x12\x34"),
            ("0x123", b"\x01\x23"),
            ("-12", b"\xf4\xff\xff\xff"),
            ("300", b"\x2c\x01"),
            ("70000", b"\x70\x11\x01"),
            ("\"a\"1\"b\"", b"a\x01b"),
            ("12\"abc\"", b"\x0cabc"),
        ];
        for (text, expected) in several {
            assert_eq!(hex(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["", "4294967296", "abc", "\"abc", "0x", "-", "%d", "1-"] {
            assert_eq!(hex(text), None, "{text}");
        }
        let Ok(Bytes::Here(data)) = bytes("\"ab\"%o") else { panic!("bytes") };
        assert_eq!((data.hex.len(), data.offset_at), (10, vec![2]));
        assert_eq!(bytes("'a file'").ok(), Some(Bytes::File("a file".into())));
    }
}
