//! Worksheets of Excel 2 (BIFF2), as far as IOzone writes them: texts and numbers in cells.
//!
//! Despite the suffix `.wks` that people give them they are no Lotus files.

/// Every such file begins with this: a beginning-of-file record (9) of version 2, worksheet.
pub const BEGINNING: [u8; 8] = [9, 0, 4, 0, 2, 0, 0x10, 0];
/// The end-of-file record (10).
const END: [u8; 4] = [10, 0, 0, 0];
/// A text in a cell: type 4. Its payload has a fixed length whatever the text.
const LABEL: [u8; 4] = [4, 0, 8, 1];
/// A number in a cell: type 3, 15 bytes.
const NUMBER: [u8; 4] = [3, 0, 15, 0];
/// Attributes of a cell: none.
const PLAIN: [u8; 3] = [0; 3];
/// A text is at most this long; a byte holds its length.
const TEXT_MAX: usize = 255;

/// A worksheet that is being written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sheet {
    bytes: Vec<u8>,
}

impl Default for Sheet {
    fn default() -> Self {
        Sheet { bytes: BEGINNING.to_vec() }
    }
}

impl Sheet {
    /// A text in a cell; what is longer than 255 bytes is cut off, and what is no ASCII is `?`.
    pub fn label(&mut self, row: u16, column: u16, text: &str) {
        let one = |c: char| if c.is_ascii() { c as u8 } else { b'?' };
        let mut padded: Vec<u8> = text.chars().map(one).take(TEXT_MAX).collect();
        let length = padded.len() as u8;
        padded.resize(TEXT_MAX + 1, 0);
        self.head(LABEL, row, column);
        self.bytes.push(length);
        self.bytes.extend(padded);
    }

    /// A number in a cell.
    pub fn number(&mut self, row: u16, column: u16, value: f64) {
        self.head(NUMBER, row, column);
        self.bytes.extend(value.to_le_bytes());
    }

    /// The bytes of the file.
    pub fn finish(mut self) -> Vec<u8> {
        self.bytes.extend(END);
        self.bytes
    }

    fn head(&mut self, record: [u8; 4], row: u16, column: u16) {
        self.bytes.extend(record);
        self.bytes.extend(row.to_le_bytes());
        self.bytes.extend(column.to_le_bytes());
        self.bytes.extend(PLAIN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_have_their_lengths() {
        let mut sheet = Sheet::default();
        sheet.label(0, 0, "Writer Report");
        sheet.number(4, 1, 1024.0);
        let bytes = sheet.finish();
        assert_eq!(bytes[..8], BEGINNING);
        // Type, length 264, row, column, attributes, length of the text, text, padding.
        assert_eq!(bytes[8..20], [4, 0, 8, 1, 0, 0, 0, 0, 0, 0, 0, 13]);
        assert_eq!(&bytes[20..33], b"Writer Report");
        let number = 8 + 4 + 264;
        assert_eq!(bytes[number..number + 11], [3, 0, 15, 0, 4, 0, 1, 0, 0, 0, 0]);
        assert_eq!(bytes[number + 11..number + 19], 1024f64.to_le_bytes());
        assert_eq!(bytes[number + 19..], END);
    }

    #[test]
    fn long_and_foreign_texts_are_cut_and_marked() {
        let mut sheet = Sheet::default();
        sheet.label(1, 2, &"é".repeat(300));
        let bytes = sheet.finish();
        assert_eq!(bytes[19], 255);
        assert_eq!(bytes[20..22], *b"??");
        assert_eq!(bytes.len(), 8 + 4 + 264 + 4);
    }
}
