//! Where the files are, how they are called, and which of them a test uses.

use super::check::Test;
use super::settings::{Era, FAILED, Interface, Settings};
use crate::front::{Found, Refusal, World};
use drivelab_core::plan::PlanFile;
use drivelab_core::units::Size;
use std::collections::BTreeMap;

/// More files than that are a mistake.
const FILES_MAX: u64 = 65_536;

/// What the tests of a line work on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// A directory, a device or a simulated drive.
    pub target: String,
    /// There are no files: the blocks lie on the drive itself.
    pub is_drive: bool,
    /// It is simulated.
    pub is_simulated: bool,
    /// The files, by their names in the directory.
    pub files: Vec<PlanFile>,
    /// For each test the first file of each set; one set, or one for each repetition (`-m`).
    pub sets: Vec<Vec<u32>>,
    /// For each test the bytes of which blocks are drawn, if they are.
    pub drawn: Vec<Option<u64>>,
    /// Where each name is among the files.
    index: BTreeMap<String, usize>,
}

/// Finds them a place.
///
/// # Errors
/// There is none: no directory, several of them, or no file to read.
pub fn places(tests: &[Test], era: Era, world: &dyn World) -> Result<Places, Refusal> {
    // What goes nowhere has no place.
    let placed = tests.iter().filter(|test| !test.settings.is_dummy());
    let names: Vec<&str> = placed.flat_map(|test| test.settings.test_file.split('@')).collect();
    let Some(first) = names.first().copied() else {
        return Ok(nowhere(".".to_owned(), tests));
    };
    let drive = match world.found(first) {
        Found::Device { bytes } => Some((false, bytes)),
        Found::Simulated { bytes } => Some((true, bytes)),
        Found::Unusable(why) => {
            let text = format!("cannot open file. ({why})");
            return Err(failed(&text, "Name another file with -o."));
        }
        Found::Directory => {
            let text = format!("cannot open file. ({first} is a directory)");
            return Err(failed(&text, "Name a file in it with -o."));
        }
        Found::Absent | Found::File { .. } => None,
    };
    if let Some((is_simulated, bytes)) = drive {
        let needed = tests.iter().map(Test::bytes).max().unwrap_or(0);
        if tests.iter().any(|test| test.settings.draws_blocks) {
            let text = "-z -z on a drive is not supported here.";
            return Err(failed(text, "Leave one -z out, or name a file with -o."));
        }
        if needed > bytes {
            let text = format!("{first} has {bytes} bytes, and {needed} are to be moved.");
            return Err(failed(&text, "Use a smaller -b or -s."));
        }
        return on_drive(tests, &names, first, is_simulated);
    }
    let mut places = nowhere(directory(&names, world)?, &[]);
    for test in tests {
        let drawn = drawn(test, era, world)?;
        let sets = match test.settings.is_dummy() {
            true => vec![0],
            false => places.sets_of(test, drawn.unwrap_or(test.used_bytes()), era)?,
        };
        places.sets.push(sets);
        places.drawn.push(drawn);
    }
    places.look_for_what_is_read(tests, era, world)?;
    let largest = places.files.iter().map(|file| file.size.0).max().unwrap_or(0);
    if tests.iter().any(|test| test.settings.is_dummy() && test.reached_task_bytes() > largest) {
        let text = "a test of DUMMY that is larger than the files of the others is not supported \
                    in one script.";
        return Err(failed(text, "Make it a line of its own."));
    }
    Ok(places)
}

/// Places without a file.
fn nowhere(target: String, tests: &[Test]) -> Places {
    Places {
        target,
        is_drive: false,
        is_simulated: false,
        files: Vec::new(),
        sets: vec![vec![0]; tests.len()],
        drawn: vec![None; tests.len()],
        index: BTreeMap::new(),
    }
}

/// Bytes of the whole blocks that are in the smallest file of a test that draws blocks.
fn drawn(test: &Test, era: Era, world: &dyn World) -> Result<Option<u64>, Refusal> {
    let settings = &test.settings;
    if !settings.draws_blocks || settings.is_dummy() {
        return Ok(None);
    }
    let tasks = if settings.file_per_process { test.tasks } else { 1 };
    let paths = (0..tasks).map(|rank| path(settings, era, rank, 0));
    let sizes = paths.map(|path| match world.found(&path) {
        Found::File { bytes } => bytes / test.block_bytes * test.block_bytes,
        // That it is not there is said where files are looked for.
        _ => test.block_bytes,
    });
    match sizes.min() {
        Some(0) => {
            let text = "the file holds no whole block, so that there is none to be drawn.";
            Err(failed(text, "Use a smaller -b."))
        }
        bytes => Ok(bytes),
    }
}

fn failed(text: &str, advice: &str) -> Refusal {
    Refusal::new(FAILED, format!("ERROR: {text}"), advice)
}

fn on_drive(
    tests: &[Test],
    names: &[&str],
    first: &str,
    is_simulated: bool,
) -> Result<Places, Refusal> {
    if names.iter().any(|name| *name != first) {
        let advice = "Run the tests of one drive as a line of their own.";
        return Err(failed("a drive together with other files is not supported here.", advice));
    }
    for test in tests.iter().filter(|test| !test.settings.is_dummy()) {
        let settings = &test.settings;
        if settings.file_per_process && !is_simulated {
            let text = format!("{first} is a device, and -F makes files next to it.");
            return Err(failed(&text, "Leave -F out, or name a file in a directory with -o."));
        }
        if settings.random && settings.file_per_process && test.segments > 1 {
            let text = "-z with -F and several segments on a drive is not supported here.";
            return Err(failed(text, "Use -s 1 with a larger -b."));
        }
        if settings.checks() && is_simulated {
            let text = "a simulated drive keeps no data to be checked.";
            return Err(failed(text, "Leave -W and -R out."));
        }
        if settings.multi_file {
            let advice = "Leave -m out, or name a file in a directory with -o.";
            return Err(failed("a drive has no second file for -m.", advice));
        }
    }
    let sets = vec![vec![0]; tests.len()];
    Ok(Places { is_drive: true, is_simulated, sets, ..nowhere(first.to_owned(), tests) })
}

/// The directory of a name.
fn above(name: &str) -> String {
    match name.rsplit_once('/') {
        Some((directory, _)) if directory.trim_end_matches('/').is_empty() => "/".to_owned(),
        Some((directory, _)) => directory.to_owned(),
        None => ".".to_owned(),
    }
}

/// The directory of all names.
fn directory(names: &[&str], world: &dyn World) -> Result<String, Refusal> {
    let target = names.first().map_or_else(String::new, |name| above(name));
    if let Some(other) = names.iter().find(|name| above(name) != target) {
        let text = format!(
            "files in several directories ({other} is not in {target}) are not supported here."
        );
        return Err(failed(&text, "Run them as lines of their own: one target is one run."));
    }
    let is_file = |name: &str| {
        let last = name.rsplit('/').next().unwrap_or_default();
        !matches!(last, "" | "." | "..") && !name.contains('\0')
    };
    if let Some(name) = names.iter().find(|name| !is_file(name)) {
        return Err(failed(&format!("cannot open file. (`{name}` names none)"), "Use -o FILE."));
    }
    match world.found(&target) {
        Found::Directory => Ok(target),
        _ => {
            let text = format!("cannot open file. No such file or directory ({target})");
            Err(failed(&text, "Make the directory, or name another file with -o."))
        }
    }
}

/// The path of a file, as IOR names it.
pub fn path(settings: &Settings, era: Era, rank: u32, repetition: u32) -> String {
    let names: Vec<&str> = settings.test_file.split('@').collect();
    let each = settings.file_per_process;
    let base = names[if each { rank as usize % names.len() } else { 0 }];
    let mut path = match settings.unique_directory && each {
        true => in_own_directory(base, era, rank),
        false => base.to_owned(),
    };
    if each {
        path.push_str(&format!(".{rank:08}"));
    }
    if settings.multi_file {
        path.push_str(&format!(".{repetition}"));
    }
    path
}

/// For each test the files that are there when it begins to write, by the names that 4.x looks for
/// (a file for each repetition, `-m`, has another one): from before, or kept by an earlier test.
pub fn overwritten(tests: &[Test], era: Era, world: &dyn World) -> Vec<Vec<String>> {
    let mut kept: BTreeMap<String, bool> = BTreeMap::new();
    let mut all = Vec::new();
    for test in tests {
        let settings = Settings { multi_file: false, ..test.settings.clone() };
        let tasks = if settings.file_per_process { test.tasks } else { 1 };
        let paths: Vec<String> = (0..tasks).map(|rank| path(&settings, era, rank, 0)).collect();
        let is_there = |path: &String| {
            let is_kept = kept.get(path).copied();
            is_kept.unwrap_or_else(|| matches!(world.found(path), Found::File { .. }))
        };
        let is_dummy = settings.is_dummy();
        let found = paths.iter().filter(|path| test.writes && !is_dummy && is_there(path));
        all.push(found.cloned().collect());
        if !test.settings.multi_file && !is_dummy {
            kept.extend(paths.into_iter().map(|path| (path, settings.keep)));
        }
    }
    all
}

/// Bytes of the files of a test that only reads.
pub fn bytes_there(test: &Test, era: Era, world: &dyn World) -> Option<u64> {
    if test.settings.is_dummy()
        || test.writes
        || (test.reach.is_none() && !test.settings.draws_blocks)
    {
        return None;
    }
    // Blocks are drawn from the file that is read.
    let multi_file = test.settings.multi_file && test.settings.draws_blocks;
    let settings = Settings { multi_file, ..test.settings.clone() };
    let tasks = if settings.file_per_process { test.tasks } else { 1 };
    let found = (0..tasks).map(|rank| match world.found(&path(&settings, era, rank, 0)) {
        Found::File { bytes } => Some(bytes),
        _ => None,
    });
    found.sum::<Option<u64>>().filter(|bytes| *bytes > 0)
}

/// The same from the directory of the line on.
fn name(settings: &Settings, era: Era, rank: u32, repetition: u32) -> String {
    let names: Vec<&str> = settings.test_file.split('@').collect();
    let base = names[if settings.file_per_process { rank as usize % names.len() } else { 0 }];
    let below = base.rfind('/').map_or(0, |slash| slash + 1);
    path(settings, era, rank, repetition).split_off(below)
}

/// In a directory of the rank. A name without a directory confuses both programs, each its own way.
fn in_own_directory(base: &str, era: Era, rank: u32) -> String {
    match (base.rsplit_once('/'), era) {
        (Some((directory, name)), _) => format!("{directory}/{rank}/{name}"),
        (None, Era::Old) => format!("{base}{rank}/{base}"),
        (None, Era::New) => {
            let split = base.chars().next().map_or(0, char::len_utf8);
            format!("{}{rank}/{}", &base[..split], &base[split..])
        }
    }
}

impl Places {
    /// The path of a file, as it lies in the directory.
    fn full(&self, name: &str) -> String {
        match self.target.as_str() {
            "." => name.to_owned(),
            "/" => format!("/{name}"),
            directory => format!("{directory}/{name}"),
        }
    }

    fn sets_of(&mut self, test: &Test, bytes: u64, era: Era) -> Result<Vec<u32>, Refusal> {
        let settings = &test.settings;
        let sets = if settings.multi_file { test.repetitions } else { 1 };
        let tasks = if settings.file_per_process { test.tasks } else { 1 };
        if u64::from(sets) * u64::from(tasks) > FILES_MAX {
            let text = format!("{sets} times {tasks} files are more than one run supports.");
            return Err(failed(&text, "Use a smaller -i, or leave -m out."));
        }
        (0..sets)
            .map(|set| {
                let names = (0..tasks).map(|rank| name(settings, era, rank, set));
                let maps = settings.interface == Interface::Mmap;
                let begins = test.writes && !settings.existing && !maps;
                self.set(&names.collect::<Vec<_>>(), bytes, begins)
            })
            .collect()
    }

    /// The place of a row of names among the files; those that are new are added.
    fn set(&mut self, names: &[String], bytes: u64, grows: bool) -> Result<u32, Refusal> {
        let known: Vec<Option<usize>> =
            names.iter().map(|name| self.index.get(name).copied()).collect();
        let count = self.files.len();
        let first = known.first().copied().flatten().unwrap_or(count);
        // What is known must stand in one row, and what is new behind all the rest.
        let fits = known.iter().enumerate().all(|(at, place)| match place {
            Some(place) => *place == first + at,
            None => first + at >= count,
        });
        if !fits {
            let text = "the files of two tests are the same in part only.";
            return Err(failed(text, "Run them as lines of their own."));
        }
        for (at, name) in names.iter().enumerate() {
            match self.files.get_mut(first + at) {
                Some(file) => file.size = Size(file.size.0.max(bytes)),
                None => {
                    self.index.insert(name.clone(), self.files.len());
                    self.files.push(PlanFile { name: name.clone(), size: Size(bytes), grows });
                }
            }
        }
        u32::try_from(first).map_err(|_| failed("too many files.", "Use fewer."))
    }

    /// What is read must have been written: by an earlier test, or before.
    fn look_for_what_is_read(
        &self,
        tests: &[Test],
        era: Era,
        world: &dyn World,
    ) -> Result<(), Refusal> {
        let mut written = vec![false; self.files.len()];
        let placed = tests.iter().zip(&self.sets).zip(&self.drawn);
        for ((test, sets), drawn) in placed.filter(|((test, _), _)| !test.settings.is_dummy()) {
            let tasks = if test.settings.file_per_process { test.tasks } else { 1 };
            for first in sets {
                let own = *first as usize..(*first + tasks) as usize;
                self.need_directories(&own, world)?;
                if drawn.is_some() && written[own.clone()].contains(&true) {
                    let text = "-z -z on files of an earlier test is not supported here.";
                    return Err(failed(text, "Make it a line of its own."));
                }
                if test.writes {
                    written[own].fill(true);
                    continue;
                }
                for at in own.filter(|at| !written[*at]) {
                    self.need(at, drawn.unwrap_or(test.used_bytes()), era, world)?;
                }
            }
        }
        Ok(())
    }

    fn need(&self, at: usize, bytes: u64, era: Era, world: &dyn World) -> Result<(), Refusal> {
        let path = self.full(&self.files[at].name);
        let advice = "Write it first, with -w -k.";
        match (world.found(&path), era) {
            (Found::File { bytes: there }, _) if there >= bytes => Ok(()),
            (Found::File { bytes: there }, _) => {
                let text = format!(
                    "hit EOF prematurely. ({path} has {there} bytes, and {bytes} are to be read)"
                );
                Err(failed(&text, advice))
            }
            (_, Era::Old) => {
                let text = format!("cannot open file. No such file or directory ({path})");
                Err(failed(&text, advice))
            }
            (_, Era::New) => {
                let text = format!("open64(\"{path}\", 0) failed: No such file or directory");
                Err(failed(&text, advice))
            }
        }
    }

    /// Directories of `-u` cannot be made in the same run as files in them.
    fn need_directories(
        &self,
        own: &std::ops::Range<usize>,
        world: &dyn World,
    ) -> Result<(), Refusal> {
        for file in &self.files[own.clone()] {
            let Some((directory, _)) = file.name.rsplit_once('/') else { continue };
            let directory = self.full(directory);
            if world.found(&directory) != Found::Directory {
                let text = format!(
                    "-u is supported only where its directories exist already, and {directory} \
                     does not."
                );
                let advice = "Make one for each task (they stay, as IOR leaves them), or leave -u \
                              out.";
                return Err(failed(&text, advice));
            }
        }
        Ok(())
    }
}
