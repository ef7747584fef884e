//! `--price`: what each target costs, in the order of the targets or by name.

use crate::outcome::Failure;
use drivelab_core::price::Price;
use drivelab_study::across::short;

/// The price of `target` among `targets`, if one was said of it.
///
/// # Errors
/// The list does not fit the targets, or something in it is not a price.
pub fn price_of(
    list: Option<&str>,
    targets: &[String],
    target: &str,
) -> Result<Option<Price>, Failure> {
    let Some(list) = list else { return Ok(None) };
    let names = short(&targets.iter().map(String::as_str).collect::<Vec<_>>());
    let mut found: Vec<Option<Price>> = vec![None; targets.len()];
    let words: Vec<&str> = list.split(',').map(str::trim).collect();
    let named = words.iter().filter(|word| word.contains('=')).count();
    if named == 0 && words.len() != targets.len() {
        return Err(Failure::usage(format!(
            "--price {list} is {} for {}",
            counted(words.len(), "price"),
            counted(targets.len(), "target")
        ))
        .advise(format!("Give one for each in their order, or some by name: {}=300", names[0])));
    }
    for (index, word) in words.iter().enumerate() {
        let (place, text) = match word.rsplit_once('=') {
            None if named > 0 => {
                return Err(Failure::usage(format!(
                    "--price {list} has names for some and not all"
                ))
                .advise(format!("Write NAME=PRICE for each, such as {}=300", names[0])));
            }
            None => (index, *word),
            Some((name, text)) => (place_of(name, targets, &names)?, text),
        };
        if found[place].is_some() {
            return Err(Failure::usage(format!("--price gives {} two prices", names[place]))
                .advise("Leave one of them out."));
        }
        found[place] = Some(Price::parse(text).map_err(|wrong| {
            Failure::usage(format!("--price {list}: {wrong}")).advise("Try --price 300")
        })?);
    }
    let place = targets.iter().position(|known| known == target);
    Ok(place.and_then(|place| found[place].take()))
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn place_of(name: &str, targets: &[String], names: &[String]) -> Result<usize, Failure> {
    let is_it = |place: &usize| targets[*place] == name || names[*place] == name;
    (0..targets.len()).find(is_it).ok_or_else(|| {
        Failure::usage(format!("--price names `{name}`, which is none of the targets"))
            .advise(format!("They are {}.", names.join(", ")))
    })
}
