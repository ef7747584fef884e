//! Numbers as these lines have them.

/// A count without sign or unit.
pub(crate) fn count(text: &str) -> Option<u64> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain)
}

/// Bytes with one letter behind them at most: k, m, g or t, of 1024.
pub(crate) fn bytes(text: &str) -> Option<u64> {
    let units = [("k", 10), ("m", 20), ("g", 30), ("t", 40)];
    let lower = text.to_ascii_lowercase();
    let unit = units.iter().find_map(|(unit, bits)| Some((lower.strip_suffix(unit)?, *bits)));
    let (digits, bits) = unit.unwrap_or((&lower, 0));
    count(digits)?.checked_mul(1 << bits)
}

/// As C prints it for `%.10e`: `1.5622160435e+00`.
pub(crate) fn scientific(value: f64) -> String {
    let text = format!("{value:.10e}");
    match text.split_once('e') {
        Some((digits, power)) => {
            let (sign, power) = match power.strip_prefix('-') {
                Some(power) => ('-', power),
                None => ('+', power),
            };
            format!("{digits}e{sign}{power:0>2}")
        }
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_of_1024() {
        for (text, value) in [
            ("4k", Some(4096)),
            ("4K", Some(4096)),
            ("1M", Some(1 << 20)),
            ("2g", Some(2 << 30)),
            ("1T", Some(1 << 40)),
            ("8", Some(8)),
            ("0", Some(0)),
            ("", None),
            ("k", None),
            ("-1", None),
            ("+1", None),
            ("8x", None),
            ("1.5k", None),
            ("4kb", None),
            ("99999999999t", None),
            ("99999999999999999999", None),
            ("\u{664}k", None),
            ("4\u{212a}", None),
        ] {
            assert_eq!(bytes(text), value, "{text}");
        }
    }

    #[test]
    fn numbers_are_as_c_prints_them() {
        for (value, text) in [
            (1.5622160435, "1.5622160435e+00"),
            (9.2504978180e-2, "9.2504978180e-02"),
            (1.6944132509e9, "1.6944132509e+09"),
            (0.0, "0.0000000000e+00"),
            (1e120, "1.0000000000e+120"),
        ] {
            assert_eq!(scientific(value), text);
        }
    }
}
