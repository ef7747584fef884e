//! Files that a plan names, and which of them a stream uses.

use super::{Geometry, Problems};
use crate::facts::TargetKind;
use crate::plan::{Files, Names, PlanFile, Stream, numbered};
use crate::quantity::counted;
use std::collections::BTreeSet;

/// More files than that are a typing error.
const FILES_MAX: usize = 65_536;
/// Longest form of a name in bytes.
const FORM_MAX: usize = 200;

/// Names lead nowhere else, and are there once.
pub(super) fn validate_files(files: &[PlanFile], geometry: &Geometry, problems: &mut Problems) {
    if files.is_empty() {
        return;
    }
    problems.need(geometry.kind == TargetKind::Directory, "files", || {
        "named files need a directory as target; give one, or drop [[files]]".to_string()
    });
    problems.need(files.len() <= FILES_MAX, "files", || {
        format!("{} files are too many; use at most {FILES_MAX}", files.len())
    });
    let mut names = BTreeSet::new();
    for file in files.iter().take(FILES_MAX) {
        problems.need(leads_below(&file.name), "files", || {
            format!("`{}` is not the name of a file below the target directory", file.name)
        });
        problems.need(file.size.0 > 0, "files", || {
            format!("the file {} has no size; give one above 0", file.name)
        });
        problems.need(names.insert(&file.name), "files", || {
            format!("the file {} is named twice", file.name)
        });
    }
}

/// What a stream must fit: the smallest of the files that it uses.
pub(super) fn geometry_of(
    stream: &Stream,
    geometry: &Geometry,
    files: &[PlanFile],
    problems: &mut Problems,
) -> Geometry {
    let is_data = stream.reaches_target();
    problems.need(stream.files_in_turn != Some(0), "files_in_turn", || {
        "a worker needs a file; use files_in_turn of 1 or more".to_string()
    });
    let keys = stream.first_file > 0 || stream.files_in_turn.is_some_and(|count| count > 1);
    problems.need(!keys || (is_data && !files.is_empty()), "first_file", || {
        "first_file and files_in_turn choose among the files that the plan names, and it names \
         none; add [[files]]"
            .to_string()
    });
    problems.need(stream.neighbour < stream.workers.max(1), "neighbour", || {
        format!(
            "neighbour = {} reaches past the {}; use at most {}",
            stream.neighbour,
            counted(u64::from(stream.workers), "worker"),
            stream.workers.max(1) - 1
        )
    });
    let single = !stream.engine.traits().takes_several_files;
    problems.need(!single || stream.files_of_worker() == 1, "files_in_turn", || {
        format!("{} uses one file a worker; leave files_in_turn out", stream.engine.word())
    });
    if files.is_empty() || !is_data {
        return *geometry;
    }
    let (first, needed) = (stream.first_file as usize, stream.files_needed() as usize);
    problems.need(needed <= files.len(), "files", || {
        format!(
            "the stream uses {}, and the plan names {}",
            counted(needed as u64, "file"),
            files.len()
        )
    });
    let used = files.iter().take(needed).skip(first);
    Geometry { file_bytes: used.map(|file| file.size.0).min(), ..*geometry }
}

/// Whether a path leads to something below the directory that it is taken from.
fn leads_below(path: &str) -> bool {
    let is_plain = |part: &str| !part.is_empty() && part != "." && part != "..";
    !path.contains('\0') && path.split('/').all(is_plain)
}

/// Names that are spelt stand in the target directory, among what is not ours.
pub(super) fn validate_form(stream: &Stream, of: &Names, problems: &mut Problems) {
    let Some(form) = &of.form else { return };
    let numbered = numbered(form);
    let spelt = match numbered {
        Some((before, _, behind)) => format!("{before}0{behind}"),
        None => form.clone(),
    };
    let spelt = spelt.replace("{worker}", "0");
    problems.need(leads_below(&spelt) && !spelt.contains(['{', '}']), "form", || {
        format!(
            "`{form}` spells no names below the target directory; write it as in \
             n{{worker}}f{{name}}"
        )
    });
    problems.need(form.len() <= FORM_MAX, "form", || {
        format!("a form of {} bytes is too long; use at most {FORM_MAX}", form.len())
    });
    problems.need(numbered.is_some() || of.names == Some(1), "form", || {
        format!("`{form}` spells one name alone; put {{name}} into it, or say names = 1")
    });
    problems.need(stream.workers <= 1 || form.contains("{worker}"), "form", || {
        format!("`{form}` spells the same names for all workers; put {{worker}} into it")
    });
    let plain = of.directories == Files::One && stream.depth == 1;
    problems.need(plain, "form", || {
        "names that are spelt are done one at a time, in the target directory; use depth 1 and \
         directories = one"
            .to_string()
    });
}
