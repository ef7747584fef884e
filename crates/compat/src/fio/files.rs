//! Which files the jobs of a line use, and how large they are.

use super::place::{Place, Places, State};
use super::settings::Settings;
use super::value::Amount;
use super::words::{STATUS, unsupported};
use super::{threads, zones};
use crate::front::{Found, Refusal, Scale, World};
use drivelab_core::plan::PlanFile;
use drivelab_core::units::Size;
use std::collections::HashSet;
use std::ops::Range;

/// The way out of a line without a size.
const SIZELESS: &str =
    "Say how much, as in --size=1G; only existing files and devices have a size.";

/// Jobs that there is room for, clones counted, as in fio.
const CLONES_MAX: u64 = 4096;
/// Files that one plan may name.
const FILES_MAX: u64 = 65_536;

/// Finds the places of all jobs.
///
/// # Errors
/// More jobs or files than there is room for; a job without a size; several targets in one line; a
/// path that is neither file nor device.
pub fn places(jobs: &[(String, Settings)], world: &dyn World) -> Result<Places, Refusal> {
    let Listed { paths, wanted, sizes, mut states } = listed(jobs, world)?;
    let is_one = |found: &Found| matches!(found, Found::Device { .. } | Found::Simulated { .. });
    let nothing = jobs.iter().all(|(_, settings)| !settings.engine.1.reaches_target());
    if nothing {
        let jobs = wanted.iter().map(Wanted::place).collect();
        return Ok(Places { target: ".".into(), jobs, ..Places::default() });
    }
    if paths.iter().any(|path| is_one(&world.found(path))) {
        return match paths.as_slice() {
            [one] => Ok(Places {
                target: one.clone(),
                jobs: wanted.iter().map(Wanted::place).collect(),
                ..Places::default()
            }),
            [first, second, ..] => Err(Refusal::new(
                STATUS,
                format!("drivelab uses one drive per run, and the line names {first} and {second}"),
                "Run one line for each drive; several files in directories may go together.",
            )),
            [] => Ok(Places::default()),
        };
    }
    have_directories(&paths, world)?;
    let (target, names) = below_one_directory(&paths)?;
    for ((path, state), size) in paths.iter().zip(&mut states).zip(&sizes) {
        state.bytes = match world.found(path) {
            Found::File { bytes } => Some(bytes),
            _ => None,
        };
        state.is_there = state.bytes.is_some_and(|bytes| bytes >= *size);
    }
    for ((_, settings), place) in jobs.iter().zip(&wanted) {
        if settings.turns.files_exist {
            are_there(&paths[place.files()], &states[place.files()])?;
        }
    }
    let file = |(name, size): (String, u64)| PlanFile { name, size: Size(size), grows: false };
    Ok(Places {
        target,
        files: names.into_iter().zip(sizes).map(file).collect(),
        states,
        jobs: wanted.iter().map(Wanted::place).collect(),
        on_drive: None,
    })
}

/// Refuses, as fio does, files that would have to be made or made longer.
fn are_there(paths: &[String], states: &[State]) -> Result<(), Refusal> {
    let missing = paths.iter().zip(states).find(|(_, state)| !state.is_there);
    let Some((path, state)) = missing else { return Ok(()) };
    let what = state.bytes.map_or("is not there".into(), |bytes| format!("has {bytes} bytes"));
    Err(Refusal::new(
        STATUS,
        "fio: allow_file_create=0, and a file would have to be made",
        format!("{path} {what}: leave the option out, or make the file first."),
    ))
}

/// The files of all jobs, and what is done with each.
pub struct Listed {
    /// Their names.
    pub paths: Vec<String>,
    /// Which of them a job uses.
    pub wanted: Vec<Wanted>,
    /// Bytes of each.
    pub sizes: Vec<u64>,
    /// What is done with each; whether it is there is not known yet.
    pub states: Vec<State>,
}

/// Lists the files of all jobs.
///
/// # Errors
/// As [`places`].
pub fn listed(jobs: &[(String, Settings)], world: &dyn World) -> Result<Listed, Refusal> {
    has_room(jobs)?;
    let mut paths: Vec<String> = Vec::new();
    let mut wanted: Vec<Wanted> = Vec::new();
    for (name, settings) in jobs {
        let one = wanted_of(name, settings, world, (&mut paths, &wanted))?;
        wanted.push(one);
    }
    let mut states = vec![State { is_there: true, ..State::default() }; paths.len()];
    let mut sizes = vec![0u64; paths.len()];
    for ((_, settings), place) in jobs.iter().zip(&wanted) {
        for file in place.files() {
            let (state, size) = (&mut states[file], &mut sizes[file]);
            *size = (*size).max(place.file_bytes);
            // A mapped file is written through its pages, which fio makes beforehand.
            let is_mapped = settings.engine.1.traits().is_mapping;
            state.is_read |= settings.rw.kinds[0]
                || settings.overwrite
                || settings.turns.create_only
                || is_mapped;
            state.is_written |= settings.rw.kinds[1] || settings.rw.kinds[2];
        }
    }
    Ok(Listed { paths, wanted, sizes, states })
}

/// Refuses what would be a list of billions.
fn has_room(jobs: &[(String, Settings)]) -> Result<(), Refusal> {
    let (mut clones, mut files) = (0u64, 0u64);
    for (_, settings) in jobs {
        let own = u64::from(settings.numjobs);
        clones = clones.saturating_add(own);
        files = files.saturating_add(match settings.filenames.len() {
            0 => own.saturating_mul(u64::from(settings.nrfiles)),
            count => count as u64,
        });
    }
    if clones > CLONES_MAX {
        let advice = format!("There is room for {CLONES_MAX}: use a smaller numjobs.");
        return Err(Refusal::new(STATUS, "error: maximum number of jobs reached.", advice));
    }
    if files > FILES_MAX {
        let text = format!("{files} files are more than one run supports");
        let advice = format!("Use at most {FILES_MAX}: a smaller nrfiles.");
        return Err(Refusal::new(STATUS, text, advice));
    }
    Ok(())
}

/// The files of one job, before all paths are known.
pub struct Wanted {
    first: usize,
    count: usize,
    per_clone: u32,
    each: bool,
    offset: u64,
    offset_each: u64,
    length: u64,
    size: u64,
    file_bytes: u64,
    /// What is there already of each file.
    found_bytes: u64,
}

impl Wanted {
    /// Its files among all.
    pub fn files(&self) -> Range<usize> {
        self.first..self.first + self.count
    }

    /// Where its I/O goes.
    pub fn place(&self) -> Place {
        Place {
            first: u32::try_from(self.first).unwrap_or(u32::MAX),
            per_clone: self.per_clone,
            each: self.each,
            offset: self.offset,
            offset_each: self.offset_each,
            length: self.length,
            size: self.size,
            file_bytes: self.file_bytes.max(self.found_bytes),
            is_on_drive: false,
            names: None,
        }
    }
}

fn wanted_of(
    name: &str,
    settings: &Settings,
    world: &dyn World,
    (paths, before): (&mut Vec<String>, &[Wanted]),
) -> Result<Wanted, Refusal> {
    is_possible(settings, world)?;
    let own = paths_of(name, settings);
    let each = settings.filenames.is_empty() && settings.numjobs > 1;
    let per_clone = match settings.filenames.len() {
        0 => settings.nrfiles,
        count => count as u32,
    };
    let first = place_of(paths, &own)?;
    let whole = whole_bytes(&own, settings, world, |path| {
        // What jobs before it lay out is there when it begins.
        let place = paths.iter().position(|known| known == path)?;
        let users = before.iter().filter(|wanted| wanted.files().contains(&place));
        users.map(|wanted| wanted.file_bytes).max()
    })?;
    let parts = u64::from(per_clone.max(1));
    let scale = world.scale();
    let grain = grain(settings);
    let filesize = settings.filesize.map(|bytes| scale.of(bytes, grain));
    let offset = scaled(settings.offset, whole, scale, grain);
    let align = settings.offset_align.max(1);
    let offset = offset / align * align;
    let offset_each = scaled(settings.offset_increment, whole, scale, grain);
    let behind = |bytes: u64| bytes.saturating_sub(offset).saturating_mul(parts);
    let size = match (settings.size, filesize) {
        // Of files whose size is said, a share is one of that size, whatever is there.
        (Some(share @ Amount::Percent(_)), Some(bytes)) => {
            scaled(share, bytes.saturating_mul(parts), scale, grain).min(behind(bytes))
        }
        (Some(size), _) => scaled(size, whole, scale, grain * parts),
        (None, Some(bytes)) => behind(bytes),
        (None, None) => whole.saturating_sub(offset),
    };
    is_said(settings, size)?;
    let clones = u64::from(settings.numjobs.max(1));
    let reach = offset.saturating_add(offset_each.saturating_mul(clones - 1));
    // A file whose size is said ends there, wherever a job begins in it.
    let end = filesize.filter(|_| !matches!(settings.size, Some(Amount::Percent(_))));
    let part = end.map_or(size / parts, |bytes| bytes.saturating_sub(offset));
    holds_a_block(settings, size, part)?;
    // A job moves no more than its files hold, whatever its size says.
    let size = size.min(part.saturating_mul(parts));
    let least = end.map_or(part, |bytes| bytes.saturating_sub(reach));
    if size > least.saturating_mul(parts) {
        return Err(unsupported(
            "offset_increment up to where clones have different amounts left of filesize",
            "say a size that each of them has behind its offset",
        ));
    }
    let file_bytes = end.unwrap_or_else(|| reach.saturating_add(part));
    Ok(Wanted {
        first,
        count: own.len(),
        per_clone,
        each,
        offset,
        offset_each,
        length: part,
        size,
        file_bytes,
        found_bytes: whole / own.len().max(1) as u64,
    })
}

/// Refuses what this machine does not have, and what has no bytes.
fn is_possible(settings: &Settings, world: &dyn World) -> Result<(), Refusal> {
    are_directories(settings, world)?;
    zones::are_known(settings)?;
    threads::are_here(settings, world)
}

/// Refuses a job without a size.
fn is_said(settings: &Settings, size: u64) -> Result<(), Refusal> {
    match (size, settings.turns.fills) {
        (1.., _) => Ok(()),
        (0, true) => Err(unsupported(
            "fill_device of a file without a size",
            "say a size: room is kept on file systems; a device is filled to its end",
        )),
        (0, false) => Err(Refusal::new(STATUS, "fio: you need to specify size=", SIZELESS)),
    }
}

/// Refuses what has no room for a request.
///
/// # Errors
/// Less than a block.
pub fn holds_a_block(settings: &Settings, size: u64, part: u64) -> Result<(), Refusal> {
    if !settings.engine.1.reaches_target() {
        return Ok(());
    }
    let blocks = blocks(settings);
    let least = blocks.iter().map(|(least, _)| *least).min().unwrap_or(1);
    if settings.size.is_some() && size < least {
        let text = "fio: size too small, must not be less than minimum block size";
        let text = format!("{text}: {size} < {least}");
        return Err(Refusal::new(STATUS, text, "Use a larger size, or a smaller bs."));
    }
    let issued = blocks.iter().zip(settings.rw.kinds).filter(|(_, is_issued)| *is_issued);
    let most = issued.map(|((_, most), _)| *most).max().unwrap_or(1);
    if part < most {
        let text = "fio: blocksize is larger than data set range";
        let advice = format!(
            "Each file has {part} bytes, and here there is to be room for a request of {most} in \
             it: use a larger size, fewer files, or a smaller bs."
        );
        return Err(Refusal::new(STATUS, text, advice));
    }
    Ok(())
}

/// The smallest and the largest request of reads, writes and trims.
fn blocks(settings: &Settings) -> [(u64, u64); 3] {
    match (&settings.bssplit, settings.bsrange) {
        (Some(split), _) => [0, 1, 2].map(|kind: usize| {
            let sizes = || split[kind].iter().map(|(bytes, _)| *bytes);
            (sizes().min().unwrap_or(1), sizes().max().unwrap_or(1))
        }),
        (None, Some(range)) => range,
        (None, None) => settings.bs.map(|bytes| (bytes, bytes)),
    }
}

/// The smallest amount that a scaled size must be a multiple of.
pub fn grain(settings: &Settings) -> u64 {
    blocks(settings).into_iter().map(|(_, most)| most).max().unwrap_or(4096).max(4096)
}

fn scaled(amount: Amount, whole: u64, scale: Scale, grain: u64) -> u64 {
    match amount {
        Amount::Bytes(bytes) | Amount::Zones(bytes) => scale.of(bytes, grain),
        // Shares of something are rounded to whole blocks, as fio does.
        percent @ Amount::Percent(_) => percent.of(whole) / grain.max(1) * grain.max(1),
    }
}

/// Refuses what is no directory, as fio does when it reads the line.
pub(super) fn are_directories(settings: &Settings, world: &dyn World) -> Result<(), Refusal> {
    for directory in &settings.directories {
        let found = world.found(directory);
        if !matches!(found, Found::Directory | Found::Simulated { .. }) {
            let given = settings.directories.join(":");
            let text = format!(
                "fio: {directory} is not a directory\nfio: failed parsing directory={given}"
            );
            return Err(Refusal::new(STATUS, text, "Create it first, or name one that exists."));
        }
    }
    Ok(())
}

/// Refuses files in directories that are not there. fio makes them, and then measures whatever
/// drive they happen to lie on: a mount that is missing goes unnoticed.
pub(super) fn have_directories(paths: &[String], world: &dyn World) -> Result<(), Refusal> {
    let mut known: HashSet<&str> = ["", "."].into();
    for path in paths {
        let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
        if !known.insert(directory) {
            continue;
        }
        return Err(match world.found(directory) {
            Found::Directory => continue,
            Found::Absent => Refusal::new(
                STATUS,
                format!("fio: {path}: there is no directory {directory}"),
                format!(
                    "fio would create it, on whatever drive that turns out to be; to do so: mkdir \
                     -p {directory}"
                ),
            ),
            _ => Refusal::new(
                STATUS,
                format!("fio: {path}: Not a directory"),
                format!("{directory} is not a directory; name a file in one."),
            ),
        });
    }
    Ok(())
}

/// The paths of a job's files, clone by clone.
pub(super) fn paths_of(name: &str, settings: &Settings) -> Vec<String> {
    let directories = &settings.directories;
    let below = |clone: u32, file: String| match directories.len() {
        0 => file,
        count => format!("{}/{file}", directories[clone as usize % count].trim_end_matches('/')),
    };
    if !settings.filenames.is_empty() {
        // A file with a name of its own is in the first directory, for all clones.
        let is_whole = |file: &str| file.starts_with("sim:");
        let file = |file: &String| {
            if is_whole(file) { file.clone() } else { below(0, file.clone()) }
        };
        return settings.filenames.iter().map(file).collect();
    }
    let form = settings.filename_format.as_deref().unwrap_or("$jobname.$jobnum.$filenum");
    let spell = |clone: u32, file: u32| {
        let spelt = form
            .replace("$jobname", name)
            .replace("$jobnum", &clone.to_string())
            .replace("$filenum", &file.to_string());
        below(clone, spelt)
    };
    let clones = 0..settings.numjobs;
    clones
        .flat_map(|clone| (0..settings.nrfiles).map(move |file| (clone, file)))
        .map(|(clone, file)| spell(clone, file))
        .collect()
}

/// Where these paths stand in the list of all, one after the other; they are added if they are new.
fn place_of(paths: &mut Vec<String>, own: &[String]) -> Result<usize, Refusal> {
    if let Some(first) = paths.windows(own.len().max(1)).position(|known| known == own) {
        return Ok(first);
    }
    let known: HashSet<&String> = paths.iter().collect();
    if let Some(shared) = own.iter().find(|path| known.contains(path)) {
        return Err(Refusal::new(
            STATUS,
            format!("{shared} is used by jobs that also have other files"),
            "Name the same files, in the same order, in all jobs that share one.",
        ));
    }
    let first = paths.len();
    paths.extend(own.iter().cloned());
    Ok(first)
}

/// Bytes of what is there: of a device, of an existing file; 0 where nothing is.
fn whole_bytes(
    own: &[String],
    settings: &Settings,
    world: &dyn World,
    laid_out: impl Fn(&str) -> Option<u64>,
) -> Result<u64, Refusal> {
    let is_on_drive = settings.directories.iter().any(|directory| directory.starts_with("sim:"));
    if is_on_drive || !settings.engine.1.reaches_target() {
        return Ok(0);
    }
    let mut whole = 0u64;
    for path in own {
        whole = whole.saturating_add(match world.found(path) {
            Found::Absent => laid_out(path).unwrap_or(0),
            Found::File { bytes } => bytes.max(laid_out(path).unwrap_or(0)),
            Found::Device { bytes } | Found::Simulated { bytes } => bytes,
            Found::Directory => {
                return Err(Refusal::new(
                    STATUS,
                    format!("fio: {path} is a directory"),
                    "Name it with --directory, and the file in it with --filename.",
                ));
            }
            Found::Unusable(what) => {
                return Err(Refusal::new(STATUS, format!("fio: {path}: {what}"), ""));
            }
        });
    }
    Ok(whole)
}

/// The directory that all files are below, and their names from there on.
pub(super) fn below_one_directory(paths: &[String]) -> Result<(String, Vec<String>), Refusal> {
    let split = |path: &String| match path.rsplit_once('/') {
        Some(("", file)) => ("/".to_string(), file.to_string()),
        Some((directory, file)) => (directory.to_string(), file.to_string()),
        None => (".".to_string(), path.clone()),
    };
    let pairs: Vec<(String, String)> = paths.iter().map(split).collect();
    let Some((first, _)) = pairs.first() else { return Ok((".".into(), Vec::new())) };
    if pairs.iter().all(|(directory, _)| directory == first) {
        return Ok((first.clone(), pairs.into_iter().map(|(_, file)| file).collect()));
    }
    let absolute = paths.iter().all(|path| path.starts_with('/'));
    let parts: Vec<Vec<&str>> = pairs
        .iter()
        .map(|(directory, _)| directory.split('/').filter(|part| !part.is_empty()).collect())
        .collect();
    let common = (0..)
        .take_while(|at| {
            let part = parts[0].get(*at);
            part.is_some() && parts.iter().all(|other| other.get(*at) == part)
        })
        .count();
    let names: Vec<String> = parts
        .iter()
        .zip(&pairs)
        .map(|(parts, (_, file))| {
            parts[common..].iter().copied().chain([file.as_str()]).collect::<Vec<_>>().join("/")
        })
        .collect();
    let leads_up = names.iter().any(|name| name.split('/').any(|part| part == ".."));
    if leads_up || (!absolute && paths.iter().any(|path| path.starts_with('/'))) {
        return Err(Refusal::new(
            STATUS,
            "the files of this line have no common directory",
            "Give all of them absolute paths.",
        ));
    }
    let joined = parts[0][..common].join("/");
    let target = match (absolute, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_string(),
        (false, false) => joined,
    };
    Ok((target, names))
}
