//! Files that a line asks for besides its output: how far its tasks came, and the times of each.

use super::timing::Result;
use super::{Access, Options, Test};
use crate::front::{Existing, OutputFile, ResultFile};
use crate::parallel::number::scientific;
use crate::parallel::tasks::per_second;

/// The first line of the times of each task.
const HEADING: &str = "access,rank,runtime-with-openclose,runtime,throughput-withopenclose,\
                       throughput\n";

/// Where all of them go. What another program wrote there stays, and the line is refused.
pub fn places(tests: &[Test]) -> Vec<ResultFile> {
    let mut places: Vec<ResultFile> = place_of_summary(tests).into_iter().collect();
    for path in tests.iter().flat_map(|test| [status_file(test), ranks_file(test)]).flatten() {
        if !places.iter().any(|place| place.path == *path) {
            places.push(place(path));
        }
    }
    places
}

/// Where the results go instead of to the terminal; those of another line are replaced there.
pub fn place_of_summary(tests: &[Test]) -> Option<ResultFile> {
    tests.first()?.settings.summary_file.as_ref().map(|path| place(path))
}

fn place(path: &str) -> ResultFile {
    ResultFile { path: path.to_owned(), existing: Existing::ReplaceOwn }
}

/// It is written only where something is written that may end before it is done.
fn status_file(test: &Test) -> Option<&String> {
    test.settings.status_file.as_ref().filter(|_| test.writes)
}

fn ranks_file(test: &Test) -> Option<&String> {
    test.settings.ranks_file.as_ref()
}

/// The files of these results; of several tests that name one file the last status holds, and all
/// times are in it.
pub fn of(options: &Options, results: &[Result]) -> Vec<OutputFile> {
    let file = |path: &str, bytes: String| OutputFile {
        place: place(path),
        bytes: bytes.into_bytes(),
        said: String::new(),
    };
    let mut files: Vec<OutputFile> = Vec::new();
    let mut put = |new: OutputFile| match files.iter_mut().find(|old| old.place == new.place) {
        Some(old) => *old = new,
        None => files.push(new),
    };
    for (index, test) in options.tests.iter().enumerate() {
        let written = |result: &&Result| result.test == index && result.access == Access::Write;
        if let Some(path) = status_file(test)
            && let Some(last) = results.iter().rev().find(written)
        {
            put(file(path, last.farthest(test).to_string()));
        }
        if let Some(path) = ranks_file(test) {
            let same = |result: &&Result| {
                options.tests.get(result.test).and_then(ranks_file) == Some(path)
            };
            let lines = results.iter().filter(same).flat_map(lines_of);
            put(file(path, HEADING.to_owned() + &lines.collect::<String>()));
        }
    }
    files
}

/// One line a task: seconds, and bytes a second.
fn lines_of(result: &Result) -> Vec<String> {
    let access = match result.access {
        Access::Write => "write",
        Access::Read => "read",
        _ => return Vec::new(),
    };
    let line = |(rank, task): (usize, &super::timing::OfTask)| {
        let rate = |seconds| scientific(per_second(task.bytes as f64, seconds));
        format!(
            "{access},{rank},{},{},{},{}\n",
            scientific(task.whole_s),
            scientific(task.transfer_s),
            rate(task.whole_s),
            rate(task.transfer_s)
        )
    };
    result.tasks.iter().enumerate().map(line).collect()
}
