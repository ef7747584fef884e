//! `drivelab runs prune`: removes old run files.

use crate::cli::PruneOptions;
use crate::documents::{Pruned, Removed};
use crate::outcome::{Failure, Status};
use crate::store::pruning::{Limits, Protection, Stored, stored, to_remove};
use crate::wall_clock::WallTime;
use crate::{print, store};
use drivelab_core::quantity::capacity;

/// Removes run files beyond what is to be kept, or says which would go.
pub fn prune(options: &PruneOptions) -> Result<Status, Failure> {
    if options.keep.is_none() && options.max.is_none() {
        return Err(Failure::usage("`runs prune` needs to know what to keep")
            .advise("Such as:  drivelab runs prune --keep 30d --dry-run"));
    }
    let directory = store::directory(options.store.runs.as_deref())?;
    let all = stored(&directory)?;
    let before = options.keep.map(|span| WallTime::now().earlier_by(span.0 / 1_000_000_000));
    let before = before.map(WallTime::compact);
    let limits = Limits { before: before.as_deref(), bytes_max: options.max.map(|size| size.0) };
    let gone = to_remove(&all, limits);
    if !options.dry_run {
        for run in &gone {
            std::fs::remove_file(&run.path).map_err(|error| {
                Failure::invalid(format!("cannot remove {}: {error}", run.path.display()))
            })?;
        }
    }
    match options.json {
        true => print::document(in_json(&all, &gone, options.dry_run))?,
        false => print::text(&in_words(&all, &gone, options.dry_run)),
    }
    Ok(Status::Fine)
}

fn bytes_of<'a>(runs: impl Iterator<Item = &'a Stored>) -> u64 {
    runs.map(|run| run.bytes).sum()
}

fn in_words(all: &[Stored], gone: &[&Stored], is_dry: bool) -> String {
    let verb = if is_dry { "would be removed" } else { "removed" };
    let mut text = String::new();
    for run in gone {
        text.push_str(&format!("{}  {verb}  {}\n", run.id, capacity(run.bytes)));
    }
    let bytes = bytes_of(gone.iter().copied());
    let (left, left_bytes) = (all.len() - gone.len(), bytes_of(all.iter()) - bytes);
    text.push_str(&format!(
        "{} of {} runs {verb} ({}); {left} {} ({})\n",
        gone.len(),
        all.len(),
        capacity(bytes),
        if left == 1 { "stays" } else { "stay" },
        capacity(left_bytes)
    ));
    let kept = |is: fn(&Protection) -> bool| {
        all.iter().filter(|run| run.protected.as_ref().is_some_and(is)).count()
    };
    for (count, why) in [
        (kept(|it| matches!(it, Protection::Tagged(_))), "tagged"),
        (kept(|it| matches!(it, Protection::Open)), "still running"),
        (kept(|it| matches!(it, Protection::Unreadable)), "not readable as runs"),
    ] {
        if count > 0 {
            text.push_str(&format!("  never removed: {count} {why}\n"));
        }
    }
    text
}

fn in_json(all: &[Stored], gone: &[&Stored], is_dry: bool) -> Pruned {
    let removed_bytes = bytes_of(gone.iter().copied());
    let removed = |run: &&Stored| Removed { run: run.id.clone(), bytes: run.bytes };
    Pruned {
        dry_run: is_dry,
        removed: gone.iter().map(removed).collect(),
        removed_bytes,
        runs_left: all.len() - gone.len(),
        bytes_left: bytes_of(all.iter()) - removed_bytes,
    }
}
