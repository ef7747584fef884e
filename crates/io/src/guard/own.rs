//! Whether a file is drivelab's own: made by it, and since then written by nobody else.

use std::collections::HashMap;
use std::os::fd::AsFd;

use super::refusal::{Refusal, failed};
use crate::identity::Identity;
use crate::scratch::{Entry, Left, ScratchList};

/// The entry of a file that drivelab may overwrite.
///
/// # Errors
/// A [`Refusal`] for safety: `foreign_file` when drivelab did not make it, `changed_since` when it
/// is not as the last run that wrote to it left it. `failed` when that cannot be found out.
pub(crate) fn own_file(
    label: &str,
    descriptor: &impl AsFd,
    identity: Identity,
    list: &ScratchList,
) -> Result<Entry, Refusal> {
    // Looked at first: a run of ours that begins meanwhile takes back what the list says of it.
    let now = now(label, descriptor)?;
    let entry = list.ours(identity).map_err(|error| unread(list, &error))?;
    let Some(entry) = entry else {
        return Err(Refusal::safety(
            "foreign_file",
            format!("{label} exists and was not made by drivelab."),
        )
        .advise("Nothing was written. drivelab never overwrites such a file, whatever the options.")
        .advise("Name a file that does not exist yet, or a directory."));
    };
    matching(label, descriptor, now, &entry).map(|()| entry)
}

/// Everything that the list holds, by what it is of.
///
/// # Errors
/// A [`Refusal`] when it cannot be read.
pub(crate) fn own_entries(list: &ScratchList) -> Result<HashMap<Identity, Entry>, Refusal> {
    let entries = list.entries().map_err(|error| unread(list, &error))?;
    Ok(entries.into_iter().map(|entry| (entry.identity, entry)).collect())
}

/// Whether what the list has an entry of is as drivelab left it.
///
/// # Errors
/// As [`own_file`].
pub(crate) fn as_left(label: &str, descriptor: &impl AsFd, entry: &Entry) -> Result<(), Refusal> {
    matching(label, descriptor, now(label, descriptor)?, entry)
}

fn now(label: &str, descriptor: &impl AsFd) -> Result<Option<Left>, Refusal> {
    Left::of(descriptor).map_err(|error| failed(format!("{label} cannot be examined"), &error))
}

fn unread(list: &ScratchList, error: &std::io::Error) -> Refusal {
    match error.kind() {
        std::io::ErrorKind::InvalidData => foreign_list(list, error),
        _ => failed(format!("{} cannot be read", list.path().display()), error),
    }
}

fn matching(
    label: &str,
    descriptor: &impl AsFd,
    now: Option<Left>,
    entry: &Entry,
) -> Result<(), Refusal> {
    match (entry.left, now) {
        (Some(left), Some(now)) if left != now => Err(changed_since(label, left, now)),
        (None, Some(_)) => match entry.as_killed(descriptor) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(reason)) => Err(changed_after_kill(label, reason)),
            Err(error) => Err(failed(format!("{label} cannot be examined"), &error)),
        },
        _ => Ok(()),
    }
}

/// Nobody knows how its last run left it, and it may hold what somebody wrote since.
fn changed_after_kill(label: &str, reason: &str) -> Refusal {
    Refusal::safety(
        "changed_since",
        format!(
            "{label} was made by drivelab and was being written when a run was killed; {reason}."
        ),
    )
    .advise("Nothing was written. Move or remove the file and run the command again.")
}

/// Something else stands where the list of drivelab's own files should be.
pub fn foreign_list(list: &ScratchList, error: &std::io::Error) -> Refusal {
    Refusal::safety("foreign_ledger", format!("{}: {error}.", list.path().display()))
        .advise("It was left as it is. Move it, or set XDG_DATA_HOME to another directory.")
}

fn changed_since(label: &str, left: Left, now: Left) -> Refusal {
    let is_written = (left.bytes, left.modified) != (now.bytes, now.modified);
    let what = match is_written {
        true => "was changed since: its content is no longer drivelab's",
        false => {
            "was renamed, linked, given other rights, or changed with its time set back since: its \
             content may not be drivelab's"
        }
    };
    Refusal::safety("changed_since", format!("{label} was made by drivelab and {what}."))
        .advise("Nothing was written. Move or remove the file and run the command again.")
}
