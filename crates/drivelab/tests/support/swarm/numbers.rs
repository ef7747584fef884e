//! Numbers that no drive can have: negative, infinite, empty, outside their own interval.

use super::case::Said;
use super::judged::{Judged, Level, short};
use serde_json::Value;

/// Collects what is impossible in a JSON value; `path` says where.
fn impossible(value: &Value, path: &mut Vec<String>, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            if map.contains_key("value") && map.contains_key("low") {
                interval(value, path, found);
            }
            for (key, inner) in map {
                path.push(key.clone());
                impossible(inner, path, found);
                path.pop();
            }
        }
        Value::Array(all) => {
            for (place, inner) in all.iter().enumerate() {
                path.push(place.to_string());
                impossible(inner, path, found);
                path.pop();
            }
        }
        Value::Number(number) => {
            let is_negative = number.as_f64().is_some_and(|it| it < 0.0);
            let is_amount = path
                .iter()
                .any(|key| key.ends_with("_ns") || key.ends_with("iops") || key.contains("bytes"));
            if is_negative && is_amount {
                found.push(format!("{}: {number}", path.join(".")));
            }
        }
        _ => {}
    }
}

fn interval(value: &Value, path: &[String], found: &mut Vec<String>) {
    let of = |key: &str| value[key].as_f64();
    let Some(middle) = of("value") else {
        return found.push(format!("{}: no value", path.join(".")));
    };
    let (low, high) = (of("low"), of("high"));
    let is_impossible = low.is_some() != high.is_some()
        || low.is_some_and(|low| low > middle || low < 0.0)
        || high.is_some_and(|high| high < middle);
    if is_impossible {
        found.push(format!("{}: {}", path.join("."), short(value)));
    }
}

/// Words that are no text for a person.
const HOLLOW: [&str; 8] = ["NaN", "nan", "inf", "-inf", "null", "None", "undefined", "Some"];

/// A number with the letter that may follow its digits: `100`, `4.60k`, `1.00M`.
pub fn prefixed(text: &str) -> Option<f64> {
    let (digits, times) = match text.char_indices().last()? {
        (at, 'k') => (&text[..at], 1e3),
        (at, 'M') => (&text[..at], 1e6),
        _ => (text, 1.0),
    };
    Some(digits.parse::<f64>().ok()? * times)
}

/// Words of a text that are impossible.
fn hollow_words(text: &str, found: &mut Vec<String>) {
    for line in text.lines() {
        let words: Vec<&str> = line.split([' ', '(', ')', ',', ';', '\u{a0}']).collect();
        for (place, word) in words.iter().enumerate() {
            let is_wide = *word == "±"
                && words.get(place + 1).and_then(|it| it.parse::<f64>().ok()) > Some(100.0);
            let unit = words.get(place + 1).copied().unwrap_or_default();
            let is_amount =
                unit.ends_with("/s") || ["IOPS", "ns", "µs", "ms", "s", "GB"].contains(&unit);
            let is_negative = is_amount && prefixed(word).is_some_and(|it| it < 0.0);
            if is_wide || is_negative || HOLLOW.contains(word) {
                let near = &words[place.saturating_sub(8)..words.len().min(place + 3)];
                found.push(near.join(" ").trim().into());
            }
        }
    }
}

/// The text of a page, without its tags, styles and scripts.
pub fn plain(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some(open) = rest.find('<') {
        text.push_str(&rest[..open]);
        text.push(' ');
        let tag = &rest[open..];
        let close = ["<script", "<style"].iter().find(|it| tag.starts_with(**it));
        let end = close.and_then(|it| tag.find(&format!("</{}", &it[1..])));
        let end = end.or_else(|| tag.find('>').map(|at| at + 1));
        rest = end.map_or("", |at| &tag[at..]);
    }
    text.push_str(rest);
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ];
    entities.iter().fold(text, |text, (entity, sign)| text.replace(entity, sign))
}

/// Every place where a number is said.
pub fn judge(said: &Said, all: &mut Vec<Judged>) {
    let mut found = Vec::new();
    if let Some(json) = &said.json {
        impossible(json, &mut Vec::new(), &mut found);
    }
    let texts = [("JSON", found), ("text", words(&said.text)), ("HTML", words(&plain(&said.html)))];
    for (place, found) in texts {
        let shown = found.iter().take(3).cloned().collect::<Vec<_>>().join(" | ");
        let is_right = found.is_empty();
        let truth = format!("{} impossible in {place}", found.len());
        all.push(Judged::held("numbers", Level::Promise, is_right, shown, truth));
    }
}

fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    hollow_words(text, &mut found);
    found
}
