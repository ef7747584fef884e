//! Files that are written next to a run: what may be replaced, and whether it can be written.

use crate::outcome::Failure;
use crate::{card, print, store};
use drivelab_io::results::{self, There, try_out};
use std::io::ErrorKind;
use std::path::Path;

/// The kinds of files that a report can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made {
    Html,
    Markdown,
    Csv,
    Series,
    Histograms,
    Workbook,
    Feed,
    Metrics,
    Card,
}

impl Made {
    fn word(self) -> &'static str {
        match self {
            Made::Html => "report",
            Made::Markdown => "Markdown",
            Made::Csv => "CSV",
            Made::Series => "CSV of intervals",
            Made::Histograms => "CSV of histograms",
            Made::Workbook => "workbook",
            Made::Feed => "feed",
            Made::Metrics => "file of metrics",
            Made::Card => "card",
        }
    }

    /// What stands before its path where the files are listed.
    pub fn label(self) -> &'static str {
        match self {
            Made::Html => "Report",
            Made::Markdown => "Markdown",
            Made::Csv => "CSV",
            Made::Series => "Series",
            Made::Histograms => "Latency",
            Made::Workbook => "Workbook",
            Made::Feed => "Feed",
            Made::Metrics => "Metrics",
            Made::Card => "Card",
        }
    }

    fn option(self) -> &'static str {
        match self {
            Made::Html => "--out",
            Made::Markdown => "--markdown",
            Made::Csv => "--csv",
            Made::Series => "--series",
            Made::Histograms => "--histograms",
            Made::Workbook => "--xlsx",
            Made::Feed => "--feed",
            Made::Metrics => "--openmetrics",
            Made::Card => "--card",
        }
    }
}

/// Writes a file of its own, or in the place of one that drivelab made.
pub fn write_new(path: &Path, made: Made, bytes: &[u8]) -> Result<(), Failure> {
    if is_stdout(path) {
        print::bytes(bytes);
        return Ok(());
    }
    let list = store::results(None).ok();
    results::write(path, bytes, list.as_ref()).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => foreign(path, made),
        _ => unwritable(path, made, &error),
    })
}

/// Refuses to replace anything but a report; asked before a run, and again when it is written.
pub fn may_write(out: Option<&Path>) -> Result<(), Failure> {
    may_replace(out, Made::Html)
}

pub fn may_replace(out: Option<&Path>, made: Made) -> Result<(), Failure> {
    let Some(path) = out.filter(|path| !is_stdout(path)) else { return Ok(()) };
    let list = store::results(None).ok();
    let there = results::look(path, list.as_ref());
    let there = there.map_err(|error| unwritable(path, made, &error))?;
    if matches!(there, There::Foreign | There::NoFile) {
        return Err(foreign(path, made));
    }
    results::try_out(path, there).map_err(|error| unwritable(path, made, &error))
}

/// Refuses a card that is neither SVG nor PNG, and to replace anything but a card.
pub fn may_write_card(card: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = card else { return Ok(()) };
    let is_svg = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg"));
    if !is_stdout(path) && !is_svg && !card::is_png(path) {
        return Err(Failure::usage(format!(
            "a card is an SVG or a PNG, and {} ends in neither .svg nor .png",
            path.display()
        ))
        .advise(format!("For example:  --card {}", path.with_extension("png").display())));
    }
    may_replace(card, Made::Card)
}

/// Whether it is where results are printed.
pub fn is_stdout(path: &Path) -> bool {
    path == Path::new("/dev/stdout")
}

fn foreign(path: &Path, made: Made) -> Failure {
    let shown = path.display();
    let text =
        format!("refused: {shown} exists and is not an unchanged {} of drivelab.", made.word());
    let advice = format!("Nothing was written. Name another file with {} FILE.", made.option());
    Failure::refused(text).advise(advice)
}

fn unwritable(path: &Path, made: Made, error: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot write the {} {}: {error}", made.word(), path.display()))
        .advise(format!("Name another file with {} FILE.", made.option()))
}

/// Tries the place of a page: `out`, or without one the current directory. What is there already
/// was looked at by [`may_write`].
pub fn can_be_made(out: Option<&Path>) -> Result<(), Failure> {
    match out {
        None => tried(Path::new(&format!(".drivelab-{}.html", std::process::id()))),
        Some(path) if std::fs::symlink_metadata(path).is_ok() => Ok(()),
        Some(path) => tried(path),
    }
}

fn tried(path: &Path) -> Result<(), Failure> {
    try_out(path, There::Nothing).map_err(|error| {
        let directory = path.parent().filter(|it| !it.as_os_str().is_empty());
        let directory = directory.unwrap_or(Path::new(".")).display();
        Failure::usage(format!("the report cannot be written to {directory}: {error}"))
            .advise("Nothing was measured. Name a place for it, such as --out /tmp/page.html.")
    })
}

#[cfg(test)]
mod tests {
    use super::can_be_made;
    use std::path::Path;

    #[test]
    fn a_place_that_is_not_there_is_found_out_before_anything_is_measured() {
        let place = tempfile::tempdir().unwrap();
        let page = place.path().join("page.html");
        assert!(can_be_made(Some(&page)).is_ok());
        assert!(!page.exists(), "nothing is left behind");
        let failure = can_be_made(Some(Path::new("/nowhere/page.html"))).unwrap_err();
        assert!(failure.text.starts_with("the report cannot be written to /nowhere: "));
    }
}
