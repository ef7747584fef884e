//! From the words of a line to tests: one, or those of a script.

use super::known::{KNOWN, by_typed};
use super::settings::{Era, FAILED, Settings};
use crate::front::{Note, Refusal, Treatment, World};
use crate::letters::{Given, Grammar, Word, read, with_hyphens};

/// A line that was parsed.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// What is to be tested, in order; at least one.
    pub tests: Vec<Settings>,
    /// Only the help was asked for.
    pub helps: bool,
    /// What is to be said of it.
    pub notes: Vec<Note>,
}

/// Reads the words of a line.
///
/// # Errors
/// What is not known, not supported, or makes no sense.
pub fn line(args: &[String], era: Era, world: &dyn World) -> Result<Line, Refusal> {
    let (args, changed) = with_hyphens(args);
    let mut notes: Vec<Note> = changed.iter().map(|word| typographic(word)).collect();
    // Help, directives and scripts are no settings.
    let others = ["-h", "--help", "-O KEY=VALUE", "-f FILE"];
    let spellings = KNOWN.iter().flat_map(|known| known.typed_in(era)).chain(others).collect();
    let grammar = Grammar { spellings, has_equals: era == Era::New };
    let words = read(&args, &grammar);
    let mut settings = Settings::new(era);
    let mut script: Option<&Given> = None;
    for (at, word) in words.iter().enumerate() {
        let given = match word {
            Word::Option(given) => given,
            // As in -z-k: 4.x goes on behind it.
            Word::Unknown(typed) if typed == "--" && era == Era::New => {
                let text = "A dash among letters has no effect, as in ior 4.";
                notes.push(Note::new("dash_among_letters", "-", Treatment::Same, text));
                continue;
            }
            Word::Lacking(typed) => return Err(lacking(typed, era)),
            Word::Unknown(typed) | Word::Stray(typed) => return Err(unknown(typed, era)),
        };
        match given.name.as_str() {
            "-h" | "--help" => return Ok(Line { tests: Vec::new(), helps: true, notes }),
            "-O" => settings.take_directives(&given.value, era, &mut notes)?,
            "-f" => {
                script = Some(given);
                // In 4.x what stands behind it holds as well.
                if era == Era::Old {
                    if at + 1 < words.len() {
                        notes.push(behind_script(&given.typed));
                    }
                    break;
                }
            }
            "-v" => settings.verbose = settings.verbose.saturating_add(1).min(5),
            // Twice is another order in 4.x.
            "-z" if era == Era::New && settings.random => settings.draws_blocks = true,
            name => {
                let Some(known) = by_typed(name, era) else {
                    return Err(unknown(&given.typed, era));
                };
                let value = if known.is_flag() { "1" } else { given.value.as_str() };
                settings.take(known, value, &given.typed, era, &mut notes)?;
            }
        }
    }
    let tests = match script {
        Some(given) => {
            let text = world.text(&given.value).map_err(|error| unreadable(given, &error))?;
            super::script::tests(&text, &settings, era, &mut notes)?
        }
        None => vec![settings],
    };
    Ok(Line { tests, helps: false, notes })
}

fn typographic(word: &str) -> Note {
    let text = "Typographic dash treated as `-`.";
    Note::new("typographic_dash", word, Treatment::Approximated, text)
}

fn behind_script(typed: &str) -> Note {
    let text = "Options after the script do not apply to its tests.";
    Note::new("behind_script", typed, Treatment::Same, text)
}

fn unknown(typed: &str, era: Era) -> Refusal {
    let is_option = typed.starts_with('-') && typed != "-" && typed != "--";
    let text = match (era, is_option) {
        (Era::Old, true) => format!("ParseCommandLine: unknown option `{typed}'."),
        (Era::Old, false) => format!("non-option argument: {typed}"),
        (Era::New, _) => format!("Error invalid argument: {typed}"),
    };
    let advice = match era {
        Era::Old => "IOR 2.10.3 reports it and continues without it; remove it.",
        Era::New => "Remove it; -h lists the supported options.",
    };
    Refusal::new(era.usage(), text, advice)
}

fn lacking(typed: &str, era: Era) -> Refusal {
    let text = match era {
        Era::Old => format!("ParseCommandLine: unknown option `{typed}'."),
        Era::New => {
            format!("Error, argument missing for option {}", typed.trim_start_matches('-'))
        }
    };
    Refusal::new(era.usage(), text, format!("{typed} needs a value."))
}

fn unreadable(given: &Given, error: &str) -> Refusal {
    let text = format!("ERROR: cannot open file. ({}: {error})", given.value);
    Refusal::new(FAILED, text, "Name a script that can be read.")
}
