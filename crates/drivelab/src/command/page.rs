//! Whether the page of a run can be written, asked before anything is measured.

use crate::outcome::Failure;
use drivelab_io::results::{There, try_out};
use std::path::Path;

/// Tries the place of a page: `out`, or without one the current directory. What is there already
/// was looked at by [`super::report::may_write`].
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
