//! A name where nothing is: what was probably meant. It never becomes a file by mistake.

use crate::outcome::Failure;
use drivelab_core::plan_text::nearest;
use drivelab_core::units::Size;
use drivelab_sim::profile::EMBEDDED;
use std::path::Path;

/// What becomes of a name where nothing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing<'a> {
    /// A file of that name is made: its size was typed, or the line of another tool makes it.
    Made,
    /// This command has nothing to measure.
    Refused {
        /// What was typed before the name, as far as it matters: `check`, `study wsat`.
        line: &'a str,
        /// Whether the command makes a file when it is given a size.
        takes_size: bool,
    },
}

impl<'a> Missing<'a> {
    /// For a command that makes a file only if its size was typed.
    pub fn unless_sized(size: Option<Size>, line: &'a str) -> Self {
        match size {
            Some(_) => Missing::Made,
            None => Missing::Refused { line, takes_size: true },
        }
    }
}

/// The refusal, with the line that was probably meant.
pub fn refusal(typed: &str, line: &str, takes_size: bool) -> Failure {
    let path = Path::new(typed);
    if path.starts_with("/dev") && !path.starts_with("/dev/shm") {
        return Failure::usage(format!("there is no device `{typed}`."))
            .advise("`drivelab list` shows the devices that can be measured here.");
    }
    if path.extension().is_some_and(|extension| extension == "toml") {
        return Failure::usage(format!("there is no such plan: `{typed}`."))
            .advise("A plan is followed by its target:  drivelab run PLAN.toml DIRECTORY");
    }
    let nothing = format!("there is no file or directory `{typed}`.");
    if let Some((what, meant)) = meant(typed) {
        return Failure::usage(format!("{nothing} Did you mean {what}?  drivelab {line} {meant}"));
    }
    Failure::usage(nothing).advise(match takes_size {
        true => format!("To create a file of that name:  drivelab {line} {typed} --size 1g"),
        false => format!("Name a directory, a file or a drive that is there:  drivelab {line} ."),
    })
}

/// What was probably meant, and how it is typed.
fn meant(typed: &str) -> Option<(&'static str, String)> {
    let name = typed.split(',').next().unwrap_or(typed);
    if EMBEDDED.iter().any(|(known, _)| *known == name) {
        return Some(("the simulated drive", format!("sim:{typed}")));
    }
    let is_bare = !typed.is_empty() && !typed.contains('/');
    if is_bare && (Path::new("/dev").join(typed).exists() || is_like_a_device(typed)) {
        return Some(("the device", format!("/dev/{typed}")));
    }
    if let Some(there) = neighbour(Path::new(typed)) {
        return Some(("the one that is there", there));
    }
    let known: Vec<&str> = EMBEDDED.iter().map(|(known, _)| *known).collect();
    let near = nearest(name, &known).filter(|_| is_bare)?;
    Some(("the simulated drive", format!("sim:{near}{}", &typed[name.len()..])))
}

/// Whether a name is one that the kernel gives to drives.
fn is_like_a_device(name: &str) -> bool {
    let letters: String = name.chars().take_while(char::is_ascii_alphabetic).collect();
    let rest = &name[letters.len()..];
    let is_disk = ["sd", "vd", "hd", "xvd"]
        .iter()
        .any(|begin| letters.strip_prefix(begin).is_some_and(|disk| (1..=2).contains(&disk.len())));
    let numbered = ["nvme", "mmcblk", "loop", "md", "nbd", "zram", "pmem", "sr"];
    let is_numbered =
        numbered.contains(&letters.as_str()) && rest.starts_with(|c: char| c.is_ascii_digit());
    (is_disk && rest.chars().all(|c| c.is_ascii_digit())) || is_numbered || name.starts_with("dm-")
}

/// What stands next to a name that is not there and is nearly called so.
fn neighbour(path: &Path) -> Option<String> {
    /// More names than that are not looked through.
    const NAMES_MAX: usize = 1000;
    let given = path.file_name()?.to_str()?;
    let above = path.parent().filter(|above| !above.as_os_str().is_empty());
    let listed = std::fs::read_dir(above.unwrap_or(Path::new("."))).ok()?.take(NAMES_MAX);
    let names: Vec<String> =
        listed.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    let near = nearest(given, &known).filter(|near| near.chars().all(|c| !c.is_control()))?;
    Some(path.with_file_name(near).display().to_string())
}
