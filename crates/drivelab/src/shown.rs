//! How the results of a run are to be shown: as JSON or text, and whether as a page.

use crate::outcome::Failure;
use crate::outputs::{can_be_made, may_write, may_write_card};
use std::path::Path;

/// How results are shown.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// As one JSON object instead of text.
    pub as_json: bool,
    /// Text goes to stderr: stdout has a feed.
    pub is_aside: bool,
    /// Where the HTML goes.
    pub page: Page<'a>,
    /// As Markdown instead of text.
    pub as_markdown: bool,
    /// Where the card goes.
    pub card: Option<&'a Path>,
    /// Without serial numbers and host names.
    pub is_redacted: bool,
}

/// Where the HTML of a run goes.
#[derive(Debug, Clone, Copy)]
pub enum Page<'a> {
    /// No report is written.
    None,
    /// `drivelab-ID.html` in the current directory, if there are findings.
    Default,
    /// This file.
    At(&'a Path),
}

impl<'a> Shown<'a> {
    /// As text or JSON, and with this page.
    pub fn of(as_json: bool, page: Page<'a>) -> Self {
        Shown { as_json, is_aside: false, page, as_markdown: false, card: None, is_redacted: false }
    }

    /// With a page only where one was asked for.
    pub fn plainly(as_json: bool, out: Option<&'a Path>) -> Self {
        Shown::of(as_json, out.map_or(Page::None, Page::At))
    }

    /// With a page unless JSON was asked for.
    pub fn with_page(as_json: bool, out: Option<&'a Path>) -> Self {
        let by_default = if as_json { Page::None } else { Page::Default };
        Shown::of(as_json, out.map_or(by_default, Page::At))
    }

    /// Tries the place of the page, before anything is measured.
    ///
    /// # Errors
    /// Something else is there, or nothing can be written there.
    pub fn is_possible(&self) -> Result<(), Failure> {
        may_write_card(self.card)?;
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
