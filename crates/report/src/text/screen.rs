//! The screen that text is set for: how wide its lines may be, and which characters it knows.
//!
//! The program looks once, when it starts, and sets it here; whoever sets nothing gets lines of 80
//! characters, so that tests and libraries print the same everywhere.

use std::borrow::Cow;
use std::cell::Cell;

/// What a document, a pipe or a terminal of unknown width gets, and the least that any gets.
pub const COLUMNS_MIN: usize = 80;
/// Tables are not set wider.
pub const COLUMNS_MAX: usize = 160;
/// Paragraphs are not set wider: longer lines are hard to read.
const PROSE_MAX: usize = 100;

/// Characters that an ASCII screen does not know, and what stands there instead.
const IN_ASCII: [(char, &str); 46] = [
    ('µ', "u"),
    ('±', "+-"),
    ('×', "x"),
    ('…', "..."),
    ('·', "-"),
    ('–', "-"),
    ('—', "-"),
    ('−', "-"),
    ('→', "->"),
    ('←', "<-"),
    ('≤', "<="),
    ('≥', ">="),
    ('≈', "~"),
    ('°', ""),
    ('²', "^2"),
    ('ρ', "rho"),
    ('“', "\""),
    ('”', "\""),
    ('‘', "'"),
    ('’', "'"),
    ('¹', "^1"),
    ('³', "^3"),
    ('÷', "/"),
    ('▏', "|"),
    ('│', "|"),
    ('┊', "|"),
    ('├', "|"),
    ('┤', "|"),
    ('└', "`"),
    ('─', "-"),
    ('●', "o"),
    ('◂', "<"),
    ('▸', ">"),
    ('◎', "o"),
    ('▢', "#"),
    ('✓', "+"),
    ('\u{a0}', " "),
    ('▁', "_"),
    ('▂', "."),
    ('▃', ":"),
    ('▄', "-"),
    ('▅', "="),
    ('▆', "+"),
    ('▇', "#"),
    ('█', "@"),
    ('⁻', "-"),
];

/// What the lines are set for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// The widest line, in characters.
    pub columns: usize,
    /// Whether it shows nothing but ASCII.
    pub is_ascii: bool,
}

thread_local! {
    static CURRENT: Cell<Screen> =
        const { Cell::new(Screen { columns: COLUMNS_MIN, is_ascii: false }) };
}

impl Screen {
    /// A screen of this width, as far as text can be set for it.
    pub fn of(columns: Option<usize>, is_ascii: bool) -> Self {
        let columns = columns.unwrap_or(COLUMNS_MIN).clamp(COLUMNS_MIN, COLUMNS_MAX);
        Screen { columns, is_ascii }
    }

    /// What this thread prints is set for it from here on.
    pub fn set(self) {
        CURRENT.set(self);
    }

    /// The screen that this thread sets text for.
    pub fn current() -> Self {
        CURRENT.get()
    }
}

/// The widest line of a table.
pub(crate) fn columns_max() -> usize {
    Screen::current().columns
}

/// The widest line of a paragraph.
pub(super) fn prose_max() -> usize {
    columns_max().min(PROSE_MAX)
}

/// Text in characters that the screen of this thread knows.
pub(super) fn known(text: &str) -> Cow<'_, str> {
    match Screen::current().is_ascii {
        true => in_ascii(text),
        false => Cow::Borrowed(text),
    }
}

/// The first on a screen that knows nothing but ASCII, else the second.
pub(crate) fn in_ascii_or(plain: String, sign: String) -> String {
    if Screen::current().is_ascii { plain } else { sign }
}

/// The signs that drivelab itself uses, in ASCII; names of others stay as they are.
pub fn in_ascii(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut signs = text.chars().peekable();
    while let Some(c) = signs.next() {
        match IN_ASCII.iter().find(|(sign, _)| *sign == c) {
            Some((_, instead)) => plain.push_str(instead),
            // Names are somebody's own.
            None => plain.push(c),
        }
        // As wide as before: columns stay where they are.
        if c == '±' {
            signs.next_if_eq(&' ');
        }
    }
    Cow::Owned(plain)
}
