//! The end of another tool's line: its own layout on stdout, everything else on stderr.

use super::drivelab_options::Notes;
use super::files;
use crate::execute::RATE_NOT_KEPT;
use crate::outcome::{Failure, Status};
use crate::print;
use crate::ranks::broadcast;
use crate::session::Ended;
use drivelab_compat::front::Host;
use drivelab_compat::front_end::{FrontEnd, Layout};
use drivelab_core::verified::Verified;
use drivelab_io::scratch::ScratchList;

/// Prints results, says what was really measured, and removes scratch. Gives the exit status.
pub fn show(
    tool: &FrontEnd,
    ended: Ended,
    layout: &Layout,
    notes: Notes,
    (host, list): (&Host, &ScratchList),
) -> Result<u8, Failure> {
    let ranks = ended.ranks;
    if !ranks.is_rank_0() {
        ended.open_target.close();
        return broadcast(ranks, &0);
    }
    let output = layout(&ended.run, host);
    print::verbatim(&output.text);
    output.errors.iter().for_each(|said| print::error(said));
    if notes != Notes::None {
        output.notes.iter().for_each(|note| print::error(&format!("note: {note}")));
        let unkept = ended.run.warnings.iter().filter(|one| one.code == RATE_NOT_KEPT);
        unkept.for_each(|one| print::error(&format!("note: {}", one.text)));
    }
    let written: Vec<Result<(), Failure>> =
        output.files.iter().map(|file| files::write(file, list)).collect();
    for (file, written) in output.files.iter().zip(&written) {
        match (written, std::str::from_utf8(&file.bytes)) {
            (Ok(()), _) => print::verbatim(&file.said),
            // What a person waited for is not lost with the name it was meant for.
            (Err(_), Ok(text)) => print::verbatim(text),
            (Err(_), Err(_)) => {}
        }
    }
    let verified = ended.run.steps.iter().map(|step| Verified::of(&ended.run, step));
    let mismatched = verified.clone().any(|verified| verified.objection().is_some());
    let is_mere_suspicion = ended.status == Status::Invalid && ended.run.complete() && !mismatched;
    // Who wants no notes reads them, and what is suspect, in the run file.
    let is_quiet = notes == Notes::None;
    if let Some(failure) = ended.failure.as_ref().filter(|_| !(is_quiet && is_mere_suspicion)) {
        print::failure(failure);
        if mismatched && !is_quiet {
            let run = &ended.run.begin.run;
            print::error(&format!("  Where the first of them are:  drivelab report {run}"));
        }
    } else if ended.status.is_interruption() {
        print::error("drivelab: interrupted; what was measured until then is kept");
    }
    if ended.path.is_some() && !is_quiet {
        print::error(&format!("note: the run is kept as {}", ended.run.begin.run));
    }
    let status = match (ended.status, ended.run.complete()) {
        (Status::Refused, _) => ended.status as u8,
        (status, _) if status.is_interruption() => status as u8,
        (_, false) => tool.failed,
        // What is merely suspect is said, and is what the tool itself would have printed.
        // Neither wrong data nor data that nobody could check is a success.
        (_, true) if mismatched => tool.failed,
        (_, true) => output.status,
    };
    ended.open_target.close();
    let status = broadcast(ranks, &status)?;
    written.into_iter().collect::<Result<(), Failure>>()?;
    Ok(status)
}
