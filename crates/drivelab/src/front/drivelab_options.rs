//! Options of our own among those of another tool: long, and anywhere behind its name.

use crate::outcome::Failure;
use drivelab_compat::front::Scale;
use drivelab_core::units::Span;
use std::path::PathBuf;

/// Longest time one operation may take before the run is given up.
pub const STUCK_AFTER: Span = Span(120_000_000_000);

/// Names of our own options, with which no tool may have one in common.
pub const NAMES: [&str; 6] =
    ["--scale-size", "--scale-time", "--erase", "--runs", "--dry-run", "--notes"];

/// What was asked of drivelab itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrivelabOptions {
    /// Sizes and counts of files are this many times as large.
    pub scale: Scale,
    /// Times are this many times as long.
    pub scale_time: Scale,
    /// Consent to destroy what a device holds.
    pub erase: Option<String>,
    /// Directory of the run files.
    pub runs: Option<PathBuf>,
    /// The plan is printed, and nothing is touched.
    pub dry_run: bool,
    /// Where notes go besides the run file.
    pub notes: Notes,
}

/// Where notes go besides the run file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notes {
    /// To stderr.
    Stderr,
    /// Notes are not printed.
    None,
    /// To stderr, and nothing is run.
    Only,
}

impl Default for DrivelabOptions {
    fn default() -> Self {
        DrivelabOptions {
            scale: Scale::WHOLE,
            scale_time: Scale::WHOLE,
            erase: None,
            runs: None,
            dry_run: false,
            notes: Notes::Stderr,
        }
    }
}

/// Takes our own options out of a line.
pub fn take(
    words: &[String],
    usual_notes: Notes,
) -> Result<(DrivelabOptions, Vec<String>), Failure> {
    let usual = DrivelabOptions { notes: usual_notes, ..DrivelabOptions::default() };
    let (mut options, mut rest) = (usual, Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_string())),
            None => (word.as_str(), None),
        };
        if !NAMES.contains(&name) {
            rest.push(word.clone());
            continue;
        }
        if name == "--dry-run" {
            options.dry_run = true;
            continue;
        }
        let value = value.or_else(|| words.next().cloned()).ok_or_else(|| {
            Failure::usage(format!("{name} needs a value")).advise(format!("As in {name}=VALUE."))
        })?;
        match name {
            "--scale-size" => options.scale = scale(name, &value)?,
            "--scale-time" => options.scale_time = scale(name, &value)?,
            "--erase" => options.erase = Some(value),
            "--runs" => options.runs = Some(PathBuf::from(value)),
            _ => options.notes = notes(&value)?,
        }
    }
    Ok((options, rest))
}

fn notes(text: &str) -> Result<Notes, Failure> {
    match text {
        "stderr" => Ok(Notes::Stderr),
        "none" => Ok(Notes::None),
        "only" => Ok(Notes::Only),
        _ => Err(Failure::usage(format!("`{text}` is not a place for notes"))
            .advise("Use --notes=stderr, none, or only (which runs nothing).")),
    }
}

/// `1/1024`, `0.001`, `2`.
fn scale(name: &str, text: &str) -> Result<Scale, Failure> {
    const DECIMALS_MAX: usize = 9;
    let bad = || {
        Failure::usage(format!("`{text}` is not a share"))
            .advise(format!("Write it as in {name}=1/1024 or {name}=0.001."))
    };
    let whole = |text: &str| text.parse::<u64>().map_err(|_| bad());
    let (numerator, denominator) = match (text.split_once('/'), text.split_once('.')) {
        (Some((above, below)), _) => (whole(above)?, whole(below)?),
        (None, Some((before, behind))) if behind.len() <= DECIMALS_MAX => {
            let denominator = 10u64.pow(behind.len() as u32);
            let before = if before.is_empty() { 0 } else { whole(before)? };
            let numerator = before.checked_mul(denominator).ok_or_else(bad)? + whole(behind)?;
            (numerator, denominator)
        }
        _ => (whole(text)?, 1),
    };
    if numerator == 0 || denominator == 0 {
        return Err(bad());
    }
    Ok(Scale { numerator, denominator })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front::world::RealWorld;
    use drivelab_compat::TOOLS;
    use drivelab_io::facts::System;
    use drivelab_io::ranks::Ranks;

    fn of(line: &str) -> Result<(DrivelabOptions, Vec<String>), Failure> {
        take(&line.split(' ').map(String::from).collect::<Vec<_>>(), Notes::Stderr)
    }

    #[test]
    fn our_own_options_stand_anywhere() -> Result<(), Failure> {
        let (options, rest) = of("--rw=read --scale-size 1/1024 --erase=X --name=a --dry-run")?;
        assert_eq!(options.scale, Scale { numerator: 1, denominator: 1024 });
        assert_eq!((options.erase.as_deref(), options.dry_run), (Some("X"), true));
        assert_eq!(rest, ["--rw=read", "--name=a"]);
        let (options, _) = of("--scale-time=0.25 --notes=only")?;
        assert_eq!(options.scale_time, Scale { numerator: 25, denominator: 100 });
        assert_eq!(options.notes, Notes::Only);
        Ok(())
    }

    /// The options of a tool as its table has them: all words of the first two columns.
    fn options_of(table: &str) -> Vec<&str> {
        let cells = table.lines().skip(2).flat_map(|row| row.split('|').skip(1).take(2));
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+');
        cells.flat_map(|cell| cell.split(move |c| !is_part(c))).collect()
    }

    #[test]
    fn no_tool_has_an_option_of_ours_in_its_table() {
        // Compared without dashes, as directives have none, and fio takes `_` for `-`.
        let bare = |name: &str| name.trim_start_matches('-').replace('-', "_").to_lowercase();
        for tool in TOOLS {
            let (word, Some(table)) = (tool.word(), tool.table) else { continue };
            let table = table();
            let options = options_of(&table);
            assert!(options.len() > 10, "{word}: {options:?}");
            for ours in NAMES.map(bare) {
                // What begins with one of ours could be abbreviated to it.
                let theirs = options.iter().find(|theirs| bare(theirs).starts_with(&ours));
                // A meaning in words is no option.
                assert_eq!(theirs, None, "{word} has --{ours}");
            }
        }
    }

    #[test]
    fn no_tool_takes_an_option_of_ours_for_its_own() {
        let world = &RealWorld::new(Ranks::ALONE, System::live(), &DrivelabOptions::default());
        for name in NAMES {
            for tool in TOOLS {
                let words = tool.example.split(' ').chain([name, "1"]).map(String::from);
                let words: Vec<String> = words.collect();
                for called in tool.names {
                    let is_refused = (tool.parse)(called, &words, world).is_err();
                    assert!(is_refused, "{called} takes {name}");
                }
            }
        }
    }

    #[test]
    fn nonsense_is_refused_with_the_way_out() {
        for line in [
            "--scale-size=0",
            "--scale-size=1/0",
            "--scale-size=x",
            "--notes=loud",
            "--erase",
            "--scale-time=-1",
            "--scale-size=1.2.3",
            "--scale-size=1.0123456789",
        ] {
            let failure = of(line).map(|_| ()).expect_err(line);
            assert!(failure.advice.is_some(), "{line}");
        }
    }
}
