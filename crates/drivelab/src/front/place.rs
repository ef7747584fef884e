//! Where a suite works and leaves its results: only in directories that are empty or that it makes,
//! and what it takes away is drivelab's own.

use super::{Line, files};
use crate::outcome::Failure;
use crate::{print, store};
use drivelab_compat::front::{Job, OutputFile, ResultFile};
use drivelab_compat::suite::Suite;
use drivelab_core::plan::Plan;
use drivelab_io::made::Made;
use drivelab_io::scratch::{ScratchList, remove_kept};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The directories of a suite, as rank 0 has prepared them.
pub struct Place {
    made: Made,
    /// Files that drivelab has made or may write over.
    scratch: ScratchList,
    results: ScratchList,
}

impl Place {
    /// Makes the directories that are missing, and the files that say what was asked for.
    ///
    /// # Errors
    /// Something is there that is not drivelab's; then nothing is left of what was made.
    pub fn prepare(line: &Line<'_>, suite: &dyn Suite) -> Result<Place, Failure> {
        let runs = store::directory(line.options.runs.as_deref())?;
        let scratch = ScratchList::at(store::scratch_list(Some(&runs))?);
        let results = store::results(Some(&runs))?;
        apart(suite.data(), suite.results())?;
        empty(Path::new(suite.data()))?;
        let mut place = Place { made: Made::default(), scratch, results };
        match place.begin(suite) {
            Ok(()) => Ok(place),
            Err(failure) => {
                place.made.remove_empty();
                Err(failure)
            }
        }
    }

    fn begin(&mut self, suite: &dyn Suite) -> Result<(), Failure> {
        let make = |made: &mut Made, path: &str| {
            made.make(Path::new(path)).map_err(|error| {
                Failure::usage(format!("{path} cannot be made: {error}"))
                    .advise("Name another directory with datadir or resultdir.")
            })
        };
        make(&mut self.made, suite.results())?;
        let asked = suite.asked_files();
        let names = suite.phases().into_iter().map(|name| suite.file(&format!("{name}.txt")));
        let told = asked.iter().cloned().chain(suite.told_files(&[])).map(|file| file.place);
        let results: Vec<ResultFile> = told.chain(names).collect();
        let target = suite.data().to_owned();
        let job = Job { plan: Plan::default(), target, keeps: true, notes: Vec::new(), results };
        files::check(&job, &self.results, false)?;
        for directory in suite.directories() {
            make(&mut self.made, &directory)?;
        }
        self.write(&asked)
    }

    /// Writes files of results.
    pub fn write(&self, all: &[OutputFile]) -> Result<(), Failure> {
        all.iter().try_for_each(|file| files::write(file, &self.results))
    }

    /// Removes drivelab's own files of data and the directories that are empty then, and names what
    /// stays.
    pub fn clear(self, suite: &dyn Suite) {
        let absolute = |path: &str| std::path::absolute(path).unwrap_or_else(|_| path.into());
        let data = absolute(suite.data());
        let passing: Vec<PathBuf> =
            suite.passing_files().iter().map(|path| absolute(path)).collect();
        let removed = [
            remove_kept(&self.scratch, |path| path.starts_with(&data)),
            remove_kept(&self.results, |path| passing.iter().any(|own| own == path)),
        ];
        for error in removed.into_iter().filter_map(Result::err) {
            print::error(&format!("drivelab: files of the suite could not be removed: {error}"));
        }
        self.made.remove_empty();
        let left = std::fs::read_dir(&data).map_or(0, Iterator::count);
        if left > 0 {
            print::error(&format!(
                "drivelab: {} stays, with what phases have left there; remove it by hand:  \
                 rm -r {}",
                suite.data(),
                quoted(suite.data())
            ));
        }
    }
}

/// As a shell takes it for one word.
fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    match path.chars().all(is_plain) {
        true => path.to_owned(),
        false => format!("'{}'", path.replace('\'', "'\\''")),
    }
}

/// Results among the data would be found, and data among the results would stay.
fn apart(data: &str, results: &str) -> Result<(), Failure> {
    let whole = |path: &str| std::path::absolute(path).unwrap_or_else(|_| path.into());
    let (first, second) = (whole(data), whole(results));
    match first.starts_with(&second) || second.starts_with(&first) {
        true => Err(Failure::usage(format!("{data} and {results} lie in one another"))
            .advise("Name directories apart from each other with datadir and resultdir.")),
        false => Ok(()),
    }
}

/// Data goes only where nothing is.
fn empty(data: &Path) -> Result<(), Failure> {
    let shown = data.display();
    let mut entries = match std::fs::read_dir(data) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => {
            return Err(Failure::usage(format!("{shown} cannot be used: {error}"))
                .advise("Name another directory with datadir."));
        }
        Ok(entries) => entries,
    };
    match entries.next() {
        None => Ok(()),
        Some(_) => Err(Failure::refused(format!("refused: {shown} is not empty")).advise(
            "Nothing was written. Name an empty directory with datadir, or set timestamp-datadir = \
             TRUE.",
        )),
    }
}
