//! How the results of a run are to be shown: as JSON or text, and whether as a page.

use crate::outcome::Failure;
use crate::outputs::{can_be_made, may_write};
use std::path::Path;

/// How results are shown.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// As one JSON object instead of text.
    pub as_json: bool,
    /// Where the HTML goes.
    pub page: Page<'a>,
}

/// Where the HTML of a run goes.
#[derive(Debug, Clone, Copy)]
pub enum Page<'a> {
    /// Nowhere.
    None,
    /// `drivelab-ID.html` in the current directory, if there are findings.
    Default,
    /// This file.
    At(&'a Path),
}

impl<'a> Shown<'a> {
    /// With a page only where one was asked for.
    pub fn plainly(as_json: bool, out: Option<&'a Path>) -> Self {
        Shown { as_json, page: out.map_or(Page::None, Page::At) }
    }

    /// With a page unless JSON was asked for.
    pub fn with_page(as_json: bool, out: Option<&'a Path>) -> Self {
        let by_default = if as_json { Page::None } else { Page::Default };
        Shown { as_json, page: out.map_or(by_default, Page::At) }
    }

    /// Tries the place of the page, before anything is measured.
    ///
    /// # Errors
    /// Something else is there, or nothing can be written there.
    pub fn is_possible(&self) -> Result<(), Failure> {
        match self.page {
            Page::None => Ok(()),
            Page::Default => can_be_made(None),
            Page::At(path) => {
                may_write(Some(path))?;
                can_be_made(Some(path))
            }
        }
    }
}
