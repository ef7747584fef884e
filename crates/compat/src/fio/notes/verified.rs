//! What reading back means for jobs that something else than their size may end.

use super::super::issued;
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
        return note("verifies_nothing", "the null engine moves no data: nothing is verified.");
    }
    if issued::goes_round(whole) {
        note(
            "verified_once",
            "io_size is more than the size: all of it is written, and each block is read back \
             once. fio 3.33 writes one pass and reads it back; the tests of fio 3.42 ask for \
             what is done here.",
        );
    }
    if settings.runtime_ns > 0 && settings.time_based {
        note(
            "verified_after",
            "the time is that of the writes alone, and what they wrote is read back afterwards. \
             fio reads back within the time, after each pass; with a synchronous engine it does \
             not, unless verify_backlog is set.",
        );
    } else if settings.runtime_ns > 0 || settings.ends_when_steady() || settings.turns.exitall {
        note(
            "verified_after",
            "where the job ends before its size, what it wrote until then is read back; fio does \
             not read it back, unless verify_backlog is set.",
        );
    }
}
