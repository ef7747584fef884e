//! What is printed for `-h`.

use super::known::{KNOWN, by_name};
use super::settings::Era;
use crate::option;

/// Where meanings begin.
const COLUMN: usize = 24;

/// Every option of this program, and what becomes of it here.
pub fn text(program: &str, era: Era) -> String {
    let version = if era == Era::Old { "2.10.3" } else { "4.x" };
    let known = KNOWN.iter().filter_map(|known| {
        let name = known.own.name;
        let typed = known.typed_in(era).next();
        let typed = typed.or_else(|| by_name(name, era).map(|_| "-O"))?;
        Some((typed.to_owned(), format!("{name}: {}{}", known.meaning, known.care.in_brief())))
    });
    let others = [
        ("-f FILE", "a script of such directives"),
        ("-O KEY=VALUE[,...]", "directives, by the names above"),
    ];
    let others = others.map(|(typed, said)| (typed.to_owned(), said.to_owned()));
    format!(
        "Usage: {program} [OPTIONS]\n\nOptions of IOR {version}, as drivelab understands them:\n{}",
        option::help(COLUMN, known.chain(others))
    )
}
