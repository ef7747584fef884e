//! Wordings that nobody in the field uses, in what users read: strings, help, profiles, documents.

use crate::tidy::source::{Source, Tree, Violation, crate_of, literals};

/// Crates whose strings reach users.
const SPEAKING: [&str; 7] = ["compat", "core", "drivelab", "io", "report", "sim", "study"];

/// A phrase and what to write instead.
const PHRASES: [(&str, &str); 10] = [
    ("to be had", "say `not supported` or `not available`"),
    ("so many", "say the number, or `that many`"),
    ("anew", "say `again`"),
    ("beside", "say `with`, `next to` or `compared with`"),
    ("taken apart", "say `broken down` or `traced`"),
    ("let go of", "say `closed` or `released`"),
    ("let that be said", "say `too noisy to tell`"),
    ("in a row", "say `sequential`"),
    ("stood still", "say `was stable`"),
    ("1 I/Os", "count with `quantity::counted`"),
];

/// What may follow `is no` and `are no`: of anything else it `is not a`.
const AFTER_NO: [&str; 5] = ["faster", "larger", "longer", "more", "slower"];

/// What other tools print themselves, and drivelab prints as they do.
const OF_OTHER_TOOLS: [&str; 12] = [
    "job(s) defined",
    "total task(s) on 1 node(s)",
    "file(s) just written",
    "file(s) twice",
    "second(s)",
    "Latency(s)",
    "open(s)",
    "wr/rd(s)",
    "close(s)",
    "total(s)",
    "Mean(s)",
    "Stonewall(s)",
];

/// Documents that name the words in order to say that they are not used.
const NAMING: [&str; 1] = ["docs/GLOSSARY.md"];

/// Banned wordings in strings of the program, in its help and in the documents.
pub fn wording(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in tree.files.values() {
        for (line, text) in read_by_users(file) {
            for what in faults(&text) {
                violations.push(Violation { path: file.path.clone(), line, what });
            }
        }
    }
    violations
}

/// What users read of a file, piece by piece with its line.
fn read_by_users(file: &Source) -> Vec<(usize, String)> {
    let is_document = file.path.starts_with("docs/") && file.path.ends_with(".md");
    if is_document && !NAMING.contains(&file.path.as_str()) {
        return prose(&file.text);
    }
    if file.path.starts_with("profiles/") || file.path.starts_with("plans/") {
        return (1..).zip(file.text.lines().map(str::to_string)).collect();
    }
    let speaks = crate_of(&file.path).is_some_and(|name| SPEAKING.contains(&name));
    if !speaks || file.shipped.trim().is_empty() {
        return Vec::new();
    }
    let mut pieces = literals(file);
    if file.path.starts_with("crates/drivelab/src/cli") {
        // Doc comments there are the help.
        let lines = (1..).zip(file.text.lines());
        let help = lines.filter(|(_, text)| text.trim_start().starts_with("///"));
        pieces.extend(help.map(|(line, text)| (line, text.to_string())));
    }
    pieces
}

/// The lines of a document outside of its blocks of code: what is printed there is a program's.
fn prose(text: &str) -> Vec<(usize, String)> {
    let mut is_code = false;
    let mut lines = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        if text.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            lines.push((line, text.to_string()));
        }
    }
    lines
}

/// What is wrong with a text.
fn faults(text: &str) -> Vec<String> {
    let text = OF_OTHER_TOOLS.iter().fold(text.to_string(), |text, own| text.replace(own, ""));
    let mut faults: Vec<String> = PHRASES
        .iter()
        .filter(|(phrase, _)| holds(&text, phrase))
        .map(|(phrase, instead)| format!("`{phrase}`: {instead}"))
        .collect();
    if let Some(found) = no_something(&text) {
        faults.push(format!("`{found}`: say `is not a …`, and what would do"));
    }
    if text.as_bytes().windows(4).any(|four| four[0].is_ascii_lowercase() && &four[1..] == b"(s)") {
        faults.push("`(s)`: count with `quantity::counted`".into());
    }
    if is_rate_without_unit(&text) {
        faults.push("a rate of operations is spelt `80.1k IOPS`".into());
    }
    faults
}

/// Whether a phrase stands in a text, not within longer words.
fn holds(text: &str, phrase: &str) -> bool {
    let is_inside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let lower = text.to_lowercase();
    let phrase = phrase.to_lowercase();
    lower.match_indices(&phrase).any(|(at, _)| {
        let before = lower[..at].chars().next_back();
        let after = lower[at + phrase.len()..].chars().next();
        // A number that only ends in the phrase is another number.
        let is_number = before.is_some_and(|c| c == ',' || c == '.') && phrase.starts_with('1');
        !is_inside(before) && !is_inside(after) && !is_number
    })
}

/// `x is no number`, but not `there is no number` and `it is no longer`.
fn no_something(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let found = words.windows(3).enumerate().find(|(at, three)| {
        let is_no = ["is", "are"].contains(&three[0]) && three[1] == "no";
        let before = at.checked_sub(1).map_or("", |at| words[at]);
        let is_there = before.to_lowercase().ends_with("there");
        is_no && !is_there && !AFTER_NO.iter().any(|fine| three[2].starts_with(fine))
    });
    found.map(|(_, three)| three.join(" "))
}

/// `80.1 k/s` or `{rate:.0} /s`, but not `MB/s`.
fn is_rate_without_unit(text: &str) -> bool {
    let ends_number = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit() || c == '}');
    text.match_indices("/s").any(|(at, _)| {
        let after = text[at + 2..].chars().next();
        let before = text[..at].trim_end_matches(['k', 'M', 'G']);
        let is_spaced = before.ends_with(' ') && ends_number(before.trim_end().chars().next_back());
        !after.is_some_and(char::is_alphanumeric) && is_spaced
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::source::one;

    fn said(text: &str) -> usize {
        let code = format!("fn f() -> &'static str {{ \"{text}\" }}\n");
        wording(&one("crates/core/src/x.rs", &code)).len()
    }

    #[test]
    fn each_wording_is_found_in_a_string() {
        for planted in [
            "it is not to be had here",
            "so many of them",
            "start it anew",
            "a reader beside a writer",
            "whose I/O was taken apart",
            "it was let go of",
            "which does not let that be said",
            "transfers in a row",
            "the drive stood still",
            "1 I/Os were done",
            "`x` is no number",
            "they are no numbers",
            "3 file(s) are missing",
            "it does 80.1 k/s",
            "it does {rate:.1} /s",
        ] {
            assert_eq!(said(planted), 1, "{planted}");
            let broken = planted.replacen(' ', " \\\n    ", 1);
            assert_eq!(said(&broken), 1, "over two lines: {planted}");
        }
    }

    #[test]
    fn what_only_looks_alike_is_left_alone() {
        for fine in [
            "there is no number",
            "it is no longer open",
            "it is no slower",
            "11 I/Os and 2,001 I/Os",
            "80.1k IOPS, 1.04 GB/s, {rate} MB/s",
            "/proc/self/stat",
            "besides that",
            "open(s)   close(s)",
        ] {
            assert_eq!(said(fine), 0, "{fine}");
        }
    }

    #[test]
    fn help_and_documents_are_read_and_tests_are_not() {
        let help = "struct Options {\n    /// Times so many\n    times: u32,\n}\n";
        assert_eq!(wording(&one("crates/drivelab/src/cli.rs", help)).len(), 1);
        assert_eq!(wording(&one("crates/core/src/x.rs", help)).len(), 0);
        let document = "It is beside it.\n```\nbeside\n```\n";
        assert_eq!(wording(&one("docs/X.md", document)).len(), 1);
        assert_eq!(wording(&one("docs/GLOSSARY.md", document)).len(), 0);
        assert_eq!(wording(&one("profiles/x.toml", "source = \"small beside it\"\n")).len(), 1);
        let test = "#[cfg(test)]\nmod tests { const A: &str = \"anew\"; }\n";
        assert_eq!(wording(&one("crates/core/src/x.rs", test)).len(), 0);
        assert_eq!(wording(&one("crates/core/tests/x.rs", "const A: &str = \"anew\";")).len(), 0);
    }
}
