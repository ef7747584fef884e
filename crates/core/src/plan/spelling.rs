//! How a plan spells names.

/// Leaves room for the numbers of all names.
const FIRST_MAX: u64 = u64::MAX >> 1;

/// What stands before the number of a name, the number of the first name, and what stands behind
/// it: `n{name}` counts from 0, and `n{name+20}` from 20. `None` of a form without a number.
pub fn numbered(form: &str) -> Option<(&str, u64, &str)> {
    let (before, rest) = form.split_once("{name")?;
    let (first, behind) = rest.split_once('}')?;
    let first = match first.strip_prefix('+') {
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().ok()?,
        Some(_) => return None,
        None if first.is_empty() => 0,
        None => return None,
    };
    (first <= FIRST_MAX).then_some((before, first, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_says_where_its_numbers_begin() {
        assert_eq!(numbered("d/n{name}.x"), Some(("d/n", 0, ".x")));
        assert_eq!(numbered("n{name+20}"), Some(("n", 20, "")));
        assert_eq!(numbered("{name+4294967296}"), Some(("", 1 << 32, "")));
        let others = ["n", "{nam}", "{name", "{name+}", "{name-1}", "{name++1}", "{names}"];
        for none in others.iter().chain(&["{name+9223372036854775808}", "{name+1x}", "{name 1}"]) {
            assert_eq!(numbered(none), None, "{none}");
        }
    }
}
