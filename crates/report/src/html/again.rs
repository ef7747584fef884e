//! The line that does it again, as a shell takes it.

use drivelab_core::run::Run;
use std::fmt::Write;

use crate::html::prose;
use crate::text::{Html, escape};
use crate::view::method;

/// The line, and what it rests on.
pub(super) fn again(out: &mut String, run: &Run) {
    let again = method::again(run);
    let mut what = prose(again.same);
    if let Some(directory) = &again.typed_in {
        let directory = escape(directory);
        what = Html::around(format_args!("{what} The line was typed in <code>{directory}</code>."));
    }
    let _ = writeln!(
        out,
        "<section><h2>Again</h2><pre class=\"wrap\">{}</pre>\
         <p class=\"faint\">{what}</p></section>",
        escape(&again.line)
    );
}
