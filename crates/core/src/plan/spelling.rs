//! How a plan spells names.

/// What stands before the number of a name, the number of the first name, and what stands behind
/// it: `n{name}` counts from 0, and `n{name+20}` from 20. `None` of a form without a number.
pub fn numbered(form: &str) -> Option<(&str, u32, &str)> {
    let (before, rest) = form.split_once("{name")?;
    let (first, behind) = rest.split_once('}')?;
    let first = match first.strip_prefix('+') {
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().ok()?,
        Some(_) => return None,
        None if first.is_empty() => 0,
        None => return None,
    };
    Some((before, first, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_says_where_its_numbers_begin() {
        assert_eq!(numbered("d/n{name}.x"), Some(("d/n", 0, ".x")));
        assert_eq!(numbered("n{name+20}"), Some(("n", 20, "")));
        let others = ["n", "{nam}", "{name", "{name+}", "{name-1}", "{name++1}", "{names}"];
        for none in others.iter().chain(&["{name+4294967296}", "{name+1x}", "{name 1}"]) {
            assert_eq!(numbered(none), None, "{none}");
        }
    }
}
