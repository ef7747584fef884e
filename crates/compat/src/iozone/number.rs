//! Numbers as IOzone reads them: what comes first and is a digit, and the last letter.

/// The digits at the beginning, as C's `atoi` reads them; 0 where there are none.
pub(super) fn integer(text: &str) -> i64 {
    let text = text.trim_start();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    match digits[..end].parse::<i64>() {
        Ok(value) => sign * value,
        Err(_) if end > 0 => sign * i64::MAX,
        Err(_) => 0,
    }
}

/// Whether `text` is nothing but digits.
pub(super) fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A size in kB (of 1024 bytes): kB without a letter, and k, m or g where that is the last one.
pub(super) fn kilobytes(text: &str) -> i64 {
    let scale = match text.chars().next_back() {
        Some('m' | 'M') => 1 << 10,
        Some('g' | 'G') => 1 << 20,
        _ => 1,
    };
    integer(text).saturating_mul(scale)
}

/// Whether [`kilobytes`] reads all of `text`.
pub(super) fn is_plain_size(text: &str) -> bool {
    is_plain(text.strip_suffix(['k', 'K', 'm', 'M', 'g', 'G']).unwrap_or(text))
}

/// `16 GiB`, `1.5 MiB`, `512 KiB`: exact where it can be, with one decimal elsewhere.
pub(super) fn bytes_in_words(bytes: u64) -> String {
    let units = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    match units.into_iter().find(|(_, shift)| bytes >> shift > 0) {
        None => format!("{bytes} bytes"),
        Some((unit, shift)) if bytes.is_multiple_of(1 << shift) => {
            format!("{} {unit}", bytes >> shift)
        }
        Some((unit, shift)) => format!("{:.1} {unit}", bytes as f64 / (1u64 << shift) as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_iozone_reads_them() {
        for (text, expected, plain) in [
            ("512", 512, true),
            ("16G", 16 << 20, true),
            ("16g", 16 << 20, true),
            ("4k", 4, true),
            ("64K", 64, true),
            ("1M", 1024, true),
            ("1.5m", 1024, false),
            ("16GB", 16, false),
            ("1T", 1, false),
            ("abc", 0, false),
            ("-5", -5, false),
            ("", 0, false),
            ("99999999999999999999g", i64::MAX, true),
        ] {
            assert_eq!((kilobytes(text), is_plain_size(text)), (expected, plain), "{text}");
        }
        assert_eq!((integer("0,1"), integer("01"), integer(" 7x"), integer("x")), (0, 1, 7, 0));
    }

    #[test]
    fn sizes_are_told_in_words() {
        assert_eq!(bytes_in_words(16 << 30), "16 GiB");
        assert_eq!(bytes_in_words((3 << 30) / 2), "1.5 GiB");
        assert_eq!(bytes_in_words(512 << 10), "512 KiB");
        assert_eq!(bytes_in_words(7), "7 bytes");
    }
}
