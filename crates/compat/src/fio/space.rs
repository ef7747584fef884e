//! `ioengine=falloc` and `ftruncate`: jobs that change a file and move no data.

use super::settings::Settings;
use super::translate::Whole;
use super::words::{STATUS, unsupported};
use crate::front::{Note, Refusal, Treatment};
use drivelab_core::plan::{Engine, Sync};

/// Whether its engine is one of them.
pub fn is_changed(settings: &Settings) -> bool {
    settings.engine.1.traits().changes_files
}

/// What does not go with them.
///
/// # Errors
/// It is asked for.
pub fn check(settings: &Settings) -> Result<(), Refusal> {
    if !is_changed(settings) {
        return Ok(());
    }
    let engine = &settings.engine.0;
    let refused = |option: &str, way: &str| {
        Err(unsupported(&format!("{option} with ioengine={engine}"), way))
    };
    if settings.engine.1.traits().only_writes && settings.rw.kinds != [false, true, false] {
        return Err(Refusal::new(
            STATUS,
            format!(
                "fio: ioengine={engine} knows writes alone, and fails on rw={}",
                settings.rw.word
            ),
            "Say rw=write or rw=randwrite: each sets the end of the file to where it would begin.",
        ));
    }
    if settings.marks.verify.is_some() {
        return refused("verify", "leave it out: no data is moved that could be read back");
    }
    if settings.engine.1 == Engine::Falloc && settings.sync == Sync::Dsync {
        return refused("sync", "leave it out: fio opens the file without it");
    }
    if matches!(settings.sync, Sync::Fsync(_) | Sync::Fdatasync(_)) {
        return refused("fsync and fdatasync", "leave them out: fio fails on the first of them");
    }
    if settings.turns.replay.trace.is_some() {
        return refused("read_iolog", "replay a trace with an engine that moves data");
    }
    Ok(())
}

/// What is measured, and what changes nothing.
pub fn notes(whole: &Whole<'_>, notes: &mut Vec<Note>) {
    let settings = whole.settings;
    if !is_changed(settings) {
        return;
    }
    let about = format!("ioengine={}", settings.engine.0);
    let each = match settings.engine.1.traits().only_writes {
        true => "each write sets the end of the file to where it would begin (ftruncate)",
        false => {
            "each request is a call of fallocate for its range: reads set it aside and keep the \
             size of the file, writes set it aside, trims punch a hole"
        }
    };
    let text = format!(
        "{each}. No data is moved: bytes and their rates are those of the ranges that requests \
         name, as in fio, and times are the file system's."
    );
    notes.push(Note::new("moves_no_data", about, Treatment::Same, text));
    if settings.is_direct() {
        let text = "without data there is nothing that could bypass the page cache.";
        notes.push(Note::new("direct_without_effect", "direct=1", Treatment::Ignored, text));
    }
}
