//! One number for one thing, and no suspect number in a conclusion.

use super::case::{Case, Said};
use super::judged::{Judged, Level, short};
use super::numbers::plain;
use serde_json::Value;

fn cells(json: &Value) -> impl Iterator<Item = &Value> {
    json["cells"].as_array().into_iter().flatten()
}

/// Cells of which every repetition is suspect.
fn suspect_cells(json: &Value) -> Vec<&str> {
    let suspect = |cell: &&Value| cell["valid"] == false;
    cells(json).filter(suspect).filter_map(|cell| cell["name"].as_str()).collect()
}

/// Cells of this run that a compared name stands for.
fn sources<'a>(study: &str, compared: &'a str) -> Vec<&'a str> {
    match (study, compared) {
        ("trim", "random read, depth 1") => {
            vec!["random read, before TRIM", "random read, after TRIM"]
        }
        ("trim", "random write") => {
            vec!["random write, before TRIM", "random write, after TRIM"]
        }
        ("stutter", "random read 4 KiB, depth 1") => vec!["reader with a writer", "reader alone"],
        _ => vec![compared],
    }
}

/// Suspect cells, doubled numbers, sentences that one form of the report does not have.
pub fn judge(case: &Case, said: &Said, all: &mut Vec<Judged>) {
    let Some(json) = &said.json else { return };
    suspects(case, json, all);
    doubled(json, all);
    // The page of a rank is that of one of its targets.
    if case.study != "rank" {
        forms(said, all);
    }
}

fn suspects(case: &Case, json: &Value, all: &mut Vec<Judged>) {
    let suspect = suspect_cells(json);
    if suspect.is_empty() {
        return;
    }
    let comparison = json["findings"]["comparison"]["cells"].as_array();
    let judged = comparison.into_iter().flatten().filter(|cell| cell["verdict"].is_string());
    let entered: Vec<String> = judged
        .filter_map(|cell| cell["name"].as_str())
        .flat_map(|name| sources(case.study, name))
        .filter(|name| suspect.contains(name))
        .map(String::from)
        .collect();
    let truth = format!("{} suspect cells, {} of them compared", suspect.len(), entered.len());
    let is_right = entered.is_empty();
    all.push(Judged::held("suspects", Level::Promise, is_right, entered.join(", "), truth));
}

/// A figure and a cell of one name give one number.
fn doubled(json: &Value, all: &mut Vec<Judged>) {
    let figures = json["findings"]["figures"].as_array().into_iter().flatten();
    for figure in figures.filter(|figure| figure["unit"] == "iops") {
        let Some(cell) = cells(json).find(|cell| cell["name"] == figure["name"]) else { continue };
        let rate = &cell["streams"][0]["total"]["iops"];
        let (Some(one), Some(two)) = (figure["estimate"]["value"].as_f64(), rate["value"].as_f64())
        else {
            continue;
        };
        let said = format!("{}: figure {one:.1}, cell {two:.1}", short(&figure["name"]));
        let is_right = (one / two - 1.0).abs() < 1e-3;
        all.push(Judged::held("one number", Level::Promise, is_right, said, "they are one"));
    }
}

/// Letters alone: what a terminal quotes, a page sets in another font.
fn joined(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_whitespace() && *letter != '`').collect()
}

/// What JSON concludes, the terminal and the page conclude, too.
fn forms(said: &Said, all: &mut Vec<Judged>) {
    let page = joined(&plain(&said.html));
    for sentence in said.sentences("verdict") {
        let is_there = page.contains(&joined(sentence));
        all.push(Judged::held("forms", Level::Promise, is_there, sentence, "stands in the page"));
    }
}
