//! What a drive costs.

use crate::quantity::{count, digits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Signs that are typed before an amount, and the currencies they stand for.
const SIGNS: [(char, &str); 4] = [('$', "USD"), ('€', "EUR"), ('£', "GBP"), ('¥', "JPY")];
/// Nothing that stores data costs more.
const MOST: f64 = 1e12;

/// A price, as somebody said it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Price {
    /// How much.
    pub amount: f64,
    /// Of what, as three letters; empty: nobody said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub currency: String,
    /// Who says so and when; empty: who asked.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
}

impl Price {
    /// Reads `300`, `299.90 EUR`, `300USD`, `$300`.
    ///
    /// # Errors
    /// What is wrong with it, in a sentence without a full stop.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| Err(format!("`{text}` is not a price: {why}"));
        let typed = text.trim();
        let sign = SIGNS.iter().find(|(sign, _)| typed.starts_with(*sign));
        let rest = sign.map_or(typed, |(sign, _)| &typed[sign.len_utf8()..]);
        let letters = rest.trim_end_matches(|letter: char| letter.is_ascii_alphabetic()).len();
        let (number, word) = rest.split_at(letters);
        if number.trim().is_empty() {
            return wrong("give a number such as 300, 299.90EUR or $300");
        }
        if !(word.is_empty() || word.len() == 3 && sign.is_none()) {
            return wrong("a currency is three letters, such as 300USD");
        }
        let is_plain = |byte: u8| byte.is_ascii_digit() || byte == b'.';
        let plain = Some(number.trim()).filter(|it| it.bytes().all(is_plain));
        let amount = match plain.and_then(|it| it.parse::<f64>().ok()) {
            None => return wrong("give a number such as 300, 299.90EUR or $300"),
            Some(amount) if amount <= 0.0 => return wrong("a price must be above 0"),
            Some(amount) if amount > MOST => return wrong("no drive costs that much"),
            Some(amount) => amount,
        };
        let currency = sign.map_or_else(|| word.to_uppercase(), |(_, word)| (*word).to_string());
        Ok(Price { amount, currency, source: String::new() })
    }

    /// A part of it in words, such as that of one gigabyte.
    #[must_use]
    pub fn words(&self, amount: f64) -> String {
        let number = match amount {
            tiny if tiny < 0.000_995 => format!("{tiny:.2e}"),
            small if small < 0.0995 => {
                let places = (1.0 - small.log10()).ceil() as usize;
                format!("{small:.places$}")
            }
            large if (999.5..1e15).contains(&large) => count(large.round() as u64),
            other => digits(other),
        };
        format!("{number} {}", self.currency).trim_end().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_read_as_it_is_typed_and_nonsense_is_refused() {
        let read = |text: &str| {
            let price = Price::parse(text).unwrap();
            (price.amount, price.currency)
        };
        assert_eq!(read("300"), (300.0, String::new()));
        assert_eq!(read("299.90 eur"), (299.9, "EUR".into()));
        assert_eq!(read("300USD"), (300.0, "USD".into()));
        assert_eq!(read(" $300 "), (300.0, "USD".into()));
        for nonsense in
            ["", "0", "-3", "many", "3e3", "inf", "nan", "1.2.3", "300US", "$300EUR", "1e13", "$"]
        {
            assert!(Price::parse(nonsense).is_err(), "{nonsense}");
        }
        assert!(Price::parse("9999999999999").is_err());
    }

    #[test]
    fn a_part_of_a_price_keeps_its_digits() {
        let price = Price::parse("300USD").unwrap();
        assert_eq!(price.words(4.6875), "4.69 USD");
        assert_eq!(price.words(0.0781), "0.078 USD");
        assert_eq!(price.words(0.00123), "0.0012 USD");
        assert_eq!(price.words(0.000123), "1.23e-4 USD");
        assert_eq!(price.words(999.4), "999 USD");
        assert_eq!(price.words(17_131.4), "17,131 USD");
        assert_eq!(price.words(1_234_567.0), "1,234,567 USD");
        assert_eq!(Price::parse("300").unwrap().words(300.0), "300");
    }
}
