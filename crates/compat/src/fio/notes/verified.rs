//! What reading back means for jobs that something else than their size may end.

use super::{Whole, given};
use crate::front::{Note, Treatment};

/// Nothing is told of jobs that are read back as fio reads them.
pub fn of(whole: &Whole<'_>, notes: &mut Vec<Note>) {
    let (settings, marks) = (whole.settings, &whole.settings.marks);
    if marks.verify.is_none() || !settings.rw.kinds[1] || marks.only || !marks.reads_back {
        return;
    }
    let about = given(whole, "verify").unwrap_or_default();
    let mut note = |code, text| notes.push(Note::new(code, &*about, Treatment::Approximated, text));
    if !settings.engine.1.moves_data() {
        return note("verifies_nothing", "the null engine moves no data: nothing is looked at.");
    }
    if settings.runtime_ns > 0 && settings.time_based {
        note(
            "verified_after",
            "the time is that of the writes alone; what they wrote is read back after it, blocks \
             of a pass once. fio reads back within the time, after each pass, and not at all \
             where iodepth is 1 and no verify_backlog is said.",
        );
    } else if settings.runtime_ns > 0 || settings.ends_when_steady() || settings.turns.exitall {
        note(
            "verified_after",
            "where the job ends before its size, what it wrote until then is read back; fio reads \
             nothing back then.",
        );
    }
}
