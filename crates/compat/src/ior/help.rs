//! What is printed for `-h`.

use super::known::{Care, KNOWN, Known};
use super::settings::Era;

/// Every option of this program, and what becomes of it here.
pub fn text(program: &str, era: Era) -> String {
    let mut out = format!(
        "Usage: {program} [OPTIONS]\n\nOptions of IOR {}, as drivelab understands them:\n",
        if era == Era::Old { "2.10.3" } else { "4.x" }
    );
    for known in KNOWN {
        if let Some(typed) = typed(known, era) {
            let what = match known.care {
                Care::Same | Care::Approximated(_) => "",
                Care::Ignored(_) => " (without effect)",
                Care::Refused(_) => " (refused)",
            };
            out.push_str(&format!("  {typed:<24}{}: {}{what}\n", known.name, known.what));
        }
    }
    out.push_str("  -f FILE                 a script of such directives\n");
    out.push_str("  -O KEY=VALUE[,...]      directives, by the names above\n");
    out
}

fn typed(known: &Known, era: Era) -> Option<String> {
    let value = if known.is_flag { "" } else { " N" };
    let letter = known.letter.filter(|letter| super::known::by_letter(*letter, era) == Some(known));
    match (letter, known.long) {
        (Some(letter), _) => Some(format!("-{letter}{value}")),
        (None, Some(long)) if era == Era::New => Some(format!("--{long}{value}")),
        _ => super::known::by_name(known.name, era).map(|_| "-O".to_owned()),
    }
}
