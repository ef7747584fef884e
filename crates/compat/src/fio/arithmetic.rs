//! Sums in parentheses, as fio takes them where a number is wanted.

use super::value::{BadValue, size};

const SUM: BadValue =
    BadValue::wants("a number, or a sum in parentheses: (4k*16), (1g-4k), ((1+2)*3)");

/// So that parentheses are not nested for ever.
const LETTERS_MAX: usize = 256;

/// A value: fio counts in whole numbers until one of them has a fraction.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Value {
    Whole(i64),
    Broken(f64),
}

/// What a sum comes to.
///
/// # Errors
/// It is none, has no room, or is below 0.
pub fn sum(text: &str, kb_base: u64) -> Result<u64, BadValue> {
    if text.len() > LETTERS_MAX {
        return Err(SUM);
    }
    let mut reader = Reader { rest: text.trim(), kb_base };
    let value = reader.parenthesis()?;
    match (reader.rest.trim(), value) {
        ("", Value::Whole(whole)) => u64::try_from(whole).map_err(|_| SUM),
        ("", Value::Broken(value)) if (0.0..1e18).contains(&value) => Ok(value as u64),
        _ => Err(SUM),
    }
}

/// A number in front of an operator that stands outside of parentheses: fio reads no further.
pub fn read_of(text: &str) -> &str {
    text.find(['*', '/', '+', '^']).map_or(text, |at| &text[..at])
}

struct Reader<'a> {
    rest: &'a str,
    kb_base: u64,
}

impl Reader<'_> {
    fn next_is(&mut self, letter: char) -> bool {
        let rest = self.rest.trim_start();
        let behind = rest.strip_prefix(letter);
        self.rest = behind.unwrap_or(rest);
        behind.is_some()
    }

    fn parenthesis(&mut self) -> Result<Value, BadValue> {
        if !self.next_is('(') {
            return Err(SUM);
        }
        let value = self.added()?;
        if self.next_is(')') { Ok(value) } else { Err(SUM) }
    }

    fn added(&mut self) -> Result<Value, BadValue> {
        let mut value = self.multiplied()?;
        loop {
            value = match () {
                () if self.next_is('+') => {
                    with(value, self.multiplied()?, i64::checked_add, |a, b| a + b)?
                }
                () if self.next_is('-') => {
                    with(value, self.multiplied()?, i64::checked_sub, |a, b| a - b)?
                }
                () => return Ok(value),
            }
        }
    }

    fn multiplied(&mut self) -> Result<Value, BadValue> {
        let mut value = self.raised()?;
        loop {
            value = match () {
                () if self.next_is('*') => {
                    with(value, self.raised()?, i64::checked_mul, |a, b| a * b)?
                }
                () if self.next_is('/') => {
                    with(value, self.raised()?, i64::checked_div, |a, b| a / b)?
                }
                () => return Ok(value),
            }
        }
    }

    fn raised(&mut self) -> Result<Value, BadValue> {
        let base = self.remainder()?;
        if !self.next_is('^') {
            return Ok(base);
        }
        let power = self.raised()?;
        match (base, power) {
            (Value::Whole(base), Value::Whole(power)) => {
                let power = u32::try_from(power).map_err(|_| SUM)?;
                base.checked_pow(power).map(Value::Whole).ok_or(SUM)
            }
            _ => Err(SUM),
        }
    }

    fn remainder(&mut self) -> Result<Value, BadValue> {
        let mut value = self.one()?;
        while self.next_is('%') {
            value = with(value, self.one()?, i64::checked_rem, |a, b| a % b)?;
        }
        Ok(value)
    }

    fn one(&mut self) -> Result<Value, BadValue> {
        if self.next_is('-') {
            return with(Value::Whole(0), self.one()?, i64::checked_sub, |a, b| a - b);
        }
        if self.rest.trim_start().starts_with('(') {
            return self.parenthesis();
        }
        let rest = self.rest.trim_start();
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '.';
        let end = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
        let (number, behind) = rest.split_at(end);
        self.rest = behind;
        if number.contains('.') {
            let digits = number.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
            let unit = size(&format!("1{}", &number[digits.len()..]), self.kb_base)?;
            let value: f64 = digits.parse().map_err(|_| SUM)?;
            return Ok(Value::Broken(value * unit as f64));
        }
        let whole = size(number, self.kb_base).map_err(|_| SUM)?;
        i64::try_from(whole).map(Value::Whole).map_err(|_| SUM)
    }
}

/// Two values made into one.
fn with(
    one: Value,
    other: Value,
    whole: impl Fn(i64, i64) -> Option<i64>,
    broken: impl Fn(f64, f64) -> f64,
) -> Result<Value, BadValue> {
    let number = |value| match value {
        Value::Whole(whole) => whole as f64,
        Value::Broken(value) => value,
    };
    match (one, other) {
        (Value::Whole(one), Value::Whole(other)) => whole(one, other).map(Value::Whole).ok_or(SUM),
        _ => {
            let value = broken(number(one), number(other));
            if value.is_finite() { Ok(Value::Broken(value)) } else { Err(SUM) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_school() {
        let of = |text| sum(text, 1024).ok();
        assert_eq!(of("(5*1024*1024*24105/8)"), Some(15_797_452_800));
        assert_eq!(of("(4m-1)"), Some((4 << 20) - 1));
        assert_eq!(of("( (1 + 2) * 4k )"), Some(12_288));
        assert_eq!(of("(7/2)"), Some(3));
        assert_eq!(of("(7/2.0)"), Some(3));
        assert_eq!(of("(1.5*2m)"), Some(3 << 20));
        assert_eq!(of("(10 % 4 + 2^3^2)"), Some(514));
        assert_eq!(of("(-2 + 3)"), Some(1));
        for bad in ["(1", "(1))", "()", "(1-2)", "(1/0)", "(4x)", "(9g*9g*9g)", "(1) 2", "4k"] {
            assert_eq!(of(bad), None, "{bad}");
        }
    }
}
