//! The line that does it again, as a shell takes it.

use drivelab_core::run::Run;
use std::fmt::Write;

use crate::html::prose;
use crate::text::escape;
use crate::view::method;

/// The line, and what it rests on.
pub(super) fn again(out: &mut String, run: &Run) {
    let again = method::again(run);
    let mut what = prose(again.same);
    if let Some(directory) = &again.typed_in {
        let _ = write!(what, " The line was typed in <code>{}</code>.", escape(directory));
    }
    let _ = writeln!(
        out,
        "<section><h2>Again</h2><pre class=\"wrap\">{}</pre>\
         <p class=\"faint\">{what}</p></section>",
        escape(&again.line)
    );
}
