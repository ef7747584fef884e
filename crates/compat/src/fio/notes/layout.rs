//! Files whose making is part of what is measured, and files that jobs share.

use super::{Whole, given};
use crate::fio::place::Places;
use crate::front::{Note, Treatment};
use drivelab_core::plan::{Act, Plan, PlanFile};
use drivelab_core::quantity::size;
use std::collections::HashSet;
use std::ops::Range;

/// What a line has to be told of its files; of drives there is nothing.
pub fn of(jobs: &[Whole<'_>], places: &Places, plan: &Plan, notes: &mut Vec<Note>) {
    let mut begun = HashSet::new();
    let is_set_aside = plan.steps.iter().any(|step| step.act == Some(Act::Allocate));
    for whole in jobs.iter().filter(|whole| whole.settings.engine.1.moves_data()) {
        if places.on_drive.is_none() {
            made_by_writes(whole, places, is_set_aside, &mut begun, notes);
        }
        shared(whole, places, notes);
    }
}

fn files_of(whole: &Whole<'_>, places: &Places) -> Range<usize> {
    let place = whole.place;
    let count = place.per_clone * if place.each { whole.settings.numjobs } else { 1 };
    let end = ((place.first + count) as usize).min(places.files.len());
    (place.first as usize).min(end)..end
}

/// What is read somewhere in the line is written before it begins; the rest is made by the job that
/// comes to it first.
fn made_by_writes(
    whole: &Whole<'_>,
    places: &Places,
    is_set_aside: bool,
    begun: &mut HashSet<usize>,
    notes: &mut Vec<Note>,
) {
    if !whole.settings.rw.kinds[1] || whole.settings.marks.only {
        return;
    }
    let files = files_of(whole, places);
    let is_made_here = |file: &usize| {
        let state = places.states[*file];
        !state.is_there && !state.is_read && !begun.contains(file)
    };
    let made = files.clone().find(is_made_here);
    begun.extend(files);
    let Some(made) = made else { return };
    let PlanFile { name, size: wanted, .. } = &places.files[made];
    let what = match places.states[made].bytes {
        None => format!("{name} does not exist yet"),
        Some(bytes) => {
            format!("{name} has {} of the {} that it needs", size(bytes), size(wanted.0))
        }
    };
    let work = match is_set_aside {
        true => {
            "its blocks are set aside before the job where the file system can do that, and these \
             writes still have it mark each as written"
        }
        false => "these writes have the file system find a place for each block and enter it",
    };
    notes.push(Note::new(
        "writes_make_the_file",
        given(whole, "rw").unwrap_or_else(|| format!("rw={}", whole.settings.rw.word)),
        Treatment::Same,
        format!(
            "{what}, and nothing lays it out before a job that only writes: {work}, the first time \
             they come to it. That work counts in the result, in fio too; what a job reads is laid \
             out before it is timed. To measure writes to an existing file, add overwrite=1."
        ),
    ));
}

fn shared(whole: &Whole<'_>, places: &Places, notes: &mut Vec<Note>) {
    let jobs = whole.settings.numjobs;
    if whole.settings.filenames.is_empty() || jobs < 2 || places.files.is_empty() {
        return;
    }
    let files = whole.settings.filenames.len();
    let these =
        if files == 1 { "this one file".to_string() } else { format!("these {files} files") };
    let bytes = match whole.place.offset_each {
        0 => "access the same bytes",
        _ => "begin at positions of their own in it",
    };
    // Readers of one file do not keep each other out.
    let waits = match whole.settings.rw.kinds[1] {
        true => {
            ": where a file system lets one writer at a time into a file, they wait for each other \
             and not for the drive"
        }
        false => "",
    };
    notes.push(Note::new(
        "jobs_share_a_file",
        given(whole, "filename").unwrap_or_default(),
        Treatment::Same,
        format!(
            "the {jobs} jobs of numjobs={jobs} use {these} and {bytes}{waits}. With directory= and \
             without filename= each job has a file of its own."
        ),
    ));
}
