//! Plain columns of numbers, as spreadsheets and scripts write them.

use drivelab_core::comparison::{Metric, Sample};

/// Reads the columns of `text`, separated by commas, semicolons or white space. Lines that are
/// empty or begin with `#` are left out; the first line may name the columns. A column may be
/// shorter than the others.
///
/// # Errors
/// What is wrong, and in which line of `name`.
pub fn columns(text: &str, name: &str) -> Result<Vec<Sample>, String> {
    let mut heads: Option<Vec<String>> = None;
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let words = words(line);
        let values: Vec<Option<f64>> = words.iter().map(|word| parse(word)).collect();
        let is_first = heads.is_none() && columns.is_empty();
        if is_first && values.iter().all(Option::is_none) {
            heads = Some(words.into_iter().map(str::to_owned).collect());
            continue;
        }
        for (place, (word, value)) in words.iter().zip(values).enumerate() {
            if word.is_empty() {
                continue;
            }
            let Some(value) = value.filter(|value| value.is_finite()) else {
                return Err(format!("{name} line {number}: {word:?} is not a finite number"));
            };
            if columns.len() <= place {
                columns.resize(place + 1, Vec::new());
            }
            columns[place].push(value);
        }
    }
    if columns.iter().all(Vec::is_empty) {
        return Err(format!("{name} holds no numbers"));
    }
    let head = |place: usize| heads.as_ref().and_then(|heads| heads.get(place).cloned());
    let sample = |(place, values): (usize, Vec<f64>)| Sample {
        name: head(place).unwrap_or_else(|| format!("column {}", place + 1)),
        metric: Metric::Numbers,
        values,
        is_ordered: true,
        suspect: None,
    };
    let all = columns.into_iter().enumerate().filter(|(_, values)| !values.is_empty());
    let samples: Vec<Sample> = all.map(sample).collect();
    for (place, sample) in samples.iter().enumerate() {
        if samples[..place].iter().any(|other| other.name == sample.name) {
            return Err(format!("{name} has two columns called {:?}", sample.name));
        }
    }
    Ok(samples)
}

fn words(line: &str) -> Vec<&str> {
    match [',', ';', '\t'].into_iter().find(|mark| line.contains(*mark)) {
        Some(mark) => line.split(mark).map(str::trim).collect(),
        None => line.split_whitespace().collect(),
    }
}

fn parse(word: &str) -> Option<f64> {
    word.parse().ok()
}
