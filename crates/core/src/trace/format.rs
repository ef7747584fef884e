//! The `format` files of events and of the pages that carry them.

/// One field of an event or page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// First byte.
    pub offset: usize,
    /// Bytes.
    pub size: usize,
}

/// The layout of one kind of event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Format {
    /// Name of the event.
    pub name: String,
    /// What stands in the first two bytes of such an event.
    pub id: u16,
    fields: Vec<Field>,
}

/// The layout of a page of the ring buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageLayout {
    /// Time of the first event.
    pub timestamp: Field,
    /// Bytes of events, and what is missing before them.
    pub commit: Field,
    /// Where the events begin.
    pub data_offset: usize,
    /// Bytes of a whole page.
    pub bytes: usize,
}

impl Field {
    /// Its value as an unsigned number; `None` where the bytes end before it.
    #[inline]
    pub fn number(&self, bytes: &[u8]) -> Option<u64> {
        let bytes = self.bytes(bytes)?;
        if bytes.len() > 8 {
            return None;
        }
        let mut whole = [0; 8];
        whole[..bytes.len()].copy_from_slice(bytes);
        Some(u64::from_le_bytes(whole))
    }

    /// The bytes of the field within an event.
    #[inline]
    pub fn bytes<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        bytes.get(self.offset..self.offset.checked_add(self.size)?)
    }
}

impl Format {
    /// Reads the text of a `format` file.
    ///
    /// # Errors
    /// A text without name, number or fields; the sentence says what is missing.
    pub fn parse(text: &str) -> Result<Format, String> {
        let after = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
        let name = after("name:").ok_or("a format without a name")?.to_string();
        let id = after("ID:").and_then(|id| id.parse().ok());
        let id = id.ok_or_else(|| format!("the format of {name} has no number"))?;
        let fields = fields(text);
        if fields.is_empty() {
            return Err(format!("the format of {name} has no fields"));
        }
        Ok(Format { name, id, fields })
    }

    /// The field of this name.
    ///
    /// # Errors
    /// There is none: this kernel's event holds something else.
    pub fn field(&self, name: &str) -> Result<Field, String> {
        let found = self.fields.iter().find(|field| field.name == name).cloned();
        found.ok_or_else(|| format!("this kernel's {} has no field `{name}`", self.name))
    }
}

impl PageLayout {
    /// Reads the text of `events/header_page`.
    ///
    /// # Errors
    /// A field is missing.
    pub fn parse(text: &str) -> Result<PageLayout, String> {
        let fields = fields(text);
        let field = |name: &str| {
            let found = fields.iter().find(|field| field.name == name).cloned();
            found.ok_or_else(|| format!("pages of this kernel's trace have no `{name}`"))
        };
        let (timestamp, commit) = (field("timestamp")?, field("commit")?);
        let data = field("data")?;
        let bytes = data.offset.checked_add(data.size).ok_or("a page of the trace has no end")?;
        Ok(PageLayout { timestamp, commit, data_offset: data.offset, bytes })
    }
}

/// All lines that describe a field; others are no fields.
fn fields(text: &str) -> Vec<Field> {
    text.lines().filter_map(|line| field(line.trim())).collect()
}

/// Such as `field:char rwbs[10];` with its offset, size and sign behind it.
fn field(line: &str) -> Option<Field> {
    let mut parts = line.strip_prefix("field:")?.split(';').map(str::trim);
    let declared = parts.next()?.split_whitespace().next_back()?;
    let name = declared.split('[').next().filter(|name| !name.is_empty())?.to_string();
    let mut value = |key: &str| parts.next()?.strip_prefix(key)?.parse().ok();
    Some(Field { name, offset: value("offset:")?, size: value("size:")? })
}
