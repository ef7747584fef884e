//! Files in `directory=sim:…`: a simulated drive has no names, so each file is a region of it, one
//! behind the other.

use super::files::{self, Listed};
use super::place::{OnDrive, Place, Places};
use super::settings::Settings;
use super::words::{STATUS, unsupported};
use crate::front::{Found, Note, Refusal, Treatment, World};
use drivelab_core::plan::{Content, Engine, IoMode, Mix, PlanFile, Role, Step, Stream, Until};
use drivelab_core::quantity::{capacity, size};
use drivelab_core::units::Size;

/// The largest request that a region is laid out with.
const LAYOUT_REQUEST_BYTES: u64 = 1 << 20;
/// Requests of the layout in flight: it is no result, and is not to wait.
const LAYOUT_DEPTH: u32 = 32;
/// A file of this many of them is rounded to a multiple of one.
const COARSE_REQUESTS: u64 = 16;

/// The simulated drive that the jobs have for a directory.
pub fn drive_of(jobs: &[(String, Settings)]) -> Option<&str> {
    let mut directories = jobs.iter().flat_map(|(_, settings)| &settings.directories);
    directories.find(|directory| is_drive(directory)).map(String::as_str)
}

fn is_drive(name: &str) -> bool {
    name.starts_with("sim:")
}

/// Finds the places of all jobs on the drive.
///
/// # Errors
/// No such drive; jobs that use something else as well; files that have no room even if they are
/// made smaller.
pub fn places(
    jobs: &[(String, Settings)],
    drive: &str,
    world: &dyn World,
) -> Result<Places, Refusal> {
    let bytes = match world.found(drive) {
        Found::Simulated { bytes } => bytes,
        Found::Unusable(what) => {
            return Err(Refusal::new(STATUS, format!("fio: {drive}: {what}"), ""));
        }
        _ => return Err(Refusal::new(STATUS, format!("fio: there is no drive {drive}"), "")),
    };
    are_alike(jobs, drive)?;
    let mut listed = files::listed(jobs, world)?;
    for state in &mut listed.states {
        state.is_there = world.is_written(drive);
        state.bytes = state.is_there.then_some(0);
    }
    make_alike(&mut listed);
    let grain = jobs.iter().map(|(_, settings)| files::grain(settings)).max().unwrap_or(4096);
    let on_drive = end_to_end(&mut listed.sizes, bytes, grain);
    let file = |(path, size): (&String, &u64)| {
        let name = path.strip_prefix(drive).unwrap_or(path).trim_start_matches('/').to_string();
        PlanFile { name, size: Size(*size), grows: false }
    };
    let places = Places {
        target: drive.to_string(),
        files: listed.paths.iter().zip(&listed.sizes).map(file).collect(),
        jobs: listed.wanted.iter().map(|wanted| moved(wanted.place(), &on_drive)).collect(),
        states: listed.states,
        on_drive: Some(on_drive),
    };
    for ((_, settings), place) in jobs.iter().zip(&places.jobs) {
        files::holds_a_block(settings, place.size, place.length)?;
    }
    Ok(places)
}

/// Refuses jobs that use another drive or a directory besides, or several files each.
fn are_alike(jobs: &[(String, Settings)], drive: &str) -> Result<(), Refusal> {
    for (_, settings) in jobs {
        let other = settings.directories.iter().find(|directory| *directory != drive);
        let named = settings.filenames.iter().find(|file| is_drive(file));
        let other = match settings.directories.is_empty() {
            true => Some("a job without directory=".to_string()),
            false => other.or(named).cloned(),
        };
        if let Some(other) = other {
            return Err(Refusal::new(
                STATUS,
                format!("drivelab uses one drive per run, and the line names {drive} and {other}"),
                "Give all jobs of the line the same directory=, or run one line for each.",
            ));
        }
        if settings.nrfiles > 1 || settings.filenames.len() > 1 {
            return Err(unsupported(
                "several files for one job, on a simulated drive",
                "give each job one file: numjobs=N makes N of them",
            ));
        }
    }
    Ok(())
}

/// The clones of a job step from file to file by equal distances, so their files get one size.
fn make_alike(listed: &mut Listed) {
    let mut is_changed = true;
    while std::mem::take(&mut is_changed) {
        for wanted in &listed.wanted {
            let own = &mut listed.sizes[wanted.files()];
            let most = own.iter().copied().max().unwrap_or(0);
            is_changed |= own.iter().any(|size| *size != most);
            own.fill(most);
        }
    }
}

/// Where files of these sizes begin; they are made smaller in proportion if the drive is.
fn end_to_end(sizes: &mut [u64], bytes: u64, grain: u64) -> OnDrive {
    let rounded = |size: u64| size.checked_next_multiple_of(grain).unwrap_or(u64::MAX);
    let asked = sizes.iter().fold(0u64, |sum, size| sum.saturating_add(rounded(*size)));
    let files = sizes.len().max(1) as u64;
    let is_coarse = LAYOUT_REQUEST_BYTES.is_multiple_of(grain)
        && bytes / files >= LAYOUT_REQUEST_BYTES * COARSE_REQUESTS;
    let grain = if is_coarse { LAYOUT_REQUEST_BYTES } else { grain };
    let mut on_drive = OnDrive { begins: Vec::new(), asked, bytes, grain };
    let mut begin = 0;
    for size in sizes {
        *size = on_drive.shrunk(*size);
        on_drive.begins.push(begin);
        begin += if on_drive.is_shrunk() { *size } else { rounded(*size) };
    }
    on_drive.begins.push(begin);
    on_drive
}

/// The place of a job in its region.
fn moved(place: Place, on_drive: &OnDrive) -> Place {
    let first = place.first as usize;
    let pitch = if place.each { on_drive.begins[first + 1] - on_drive.begins[first] } else { 0 };
    Place {
        offset: on_drive.begins[first] + on_drive.shrunk(place.offset),
        offset_each: pitch + on_drive.shrunk(place.offset_each),
        length: on_drive.shrunk(place.length),
        size: on_drive.shrunk(place.size),
        is_on_drive: true,
        ..place
    }
}

/// Steps that write what is read later and is not there, as fio lays out files.
pub fn lay_out(places: &Places, on_drive: &OnDrive) -> Vec<Step> {
    let is_laid = |file: usize| {
        let state = places.states[file];
        state.is_read && !state.is_there
    };
    let mut steps = Vec::new();
    let mut file = 0;
    while file < places.files.len() {
        if !is_laid(file) {
            file += 1;
            continue;
        }
        let end = (file..places.files.len()).find(|file| !is_laid(*file));
        let end = end.unwrap_or(places.files.len());
        let name = match (&places.files[file].name, &places.files[end - 1].name) {
            (first, last) if first == last => format!("lay out {first}"),
            (first, last) => format!("lay out {first} to {last}"),
        };
        steps.push(written(name, on_drive.begins[file], on_drive.begins[end]));
        file = end;
    }
    steps
}

fn written(name: String, begin: u64, end: u64) -> Step {
    let length = end - begin;
    let request = 1 << (begin | length | LAYOUT_REQUEST_BYTES).trailing_zeros();
    let stream = Stream {
        engine: Engine::Libaio,
        io: IoMode::Direct,
        mix: Mix::WRITE,
        size: Size(request),
        offset: Size(begin),
        length: Some(Size(length)),
        depth: LAYOUT_DEPTH,
        content: Content::Random,
        ..Stream::default()
    };
    Step {
        name,
        role: Role::Prepare,
        until: Until { passes: Some(1), ..Until::default() },
        repeat: 1,
        streams: vec![stream],
        ..Step::default()
    }
}

/// What a line has to be told of files that are none.
pub fn notes(places: &Places, on_drive: &OnDrive, notes: &mut Vec<Note>) {
    let about = || format!("directory={}", places.target);
    let count = places.files.len();
    let (files, regions) = match count {
        1 => ("the file is a region".to_string(), "it"),
        count => (format!("the {count} files are regions"), "them"),
    };
    notes.push(Note::new(
        "no_file_system",
        about(),
        Treatment::Approximated,
        format!(
            "a simulated drive holds no names and no file system is simulated: {files} of it, end \
             to end. Making {regions} costs nothing, and what XFS or another file system adds to \
             an I/O is not in these figures (file_system_ns= plants a time for it)."
        ),
    ));
    if on_drive.is_shrunk() {
        let each = places.files.first().map_or(0, |file| file.size.0);
        let each = if count == 1 { size(each) } else { format!("{} for the first", size(each)) };
        notes.push(Note::new(
            "files_made_smaller",
            about(),
            Treatment::Approximated,
            format!(
                "the files need {} bytes ({}) and the drive has {} ({}), so they are made smaller \
                 in proportion: {each}.",
                on_drive.asked,
                capacity(on_drive.asked),
                on_drive.bytes,
                capacity(on_drive.bytes),
            ),
        ));
    }
    let is_read = places.states.iter().any(|state| state.is_read);
    if is_read && places.states.iter().any(|state| state.is_there) {
        notes.push(Note::new(
            "written_by_its_state",
            about(),
            Treatment::Same,
            "the drive begins with all of it written (state=), so nothing is laid out.",
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_fit_keep_their_sizes_and_begin_on_the_grid() {
        let mut sizes = [10_000, 4096];
        let on_drive = end_to_end(&mut sizes, 1 << 20, 4096);
        assert_eq!(sizes, [10_000, 4096]);
        assert_eq!(on_drive.begins, [0, 12_288, 16_384]);
    }

    #[test]
    fn files_that_do_not_fit_keep_their_proportion() {
        let mut sizes = [3 << 30, 1 << 30];
        let on_drive = end_to_end(&mut sizes, 1 << 30, 4096);
        assert_eq!(sizes, [768 << 20, 256 << 20]);
        assert_eq!(on_drive.begins, [0, 768 << 20, 1 << 30]);
        let mut one = [3200 << 30];
        let drive = 3_200_631_791_616;
        end_to_end(&mut one, drive, 131_072);
        assert!(one[0] <= drive && drive - one[0] < LAYOUT_REQUEST_BYTES, "{}", one[0]);
    }

    #[test]
    fn what_is_read_is_written_before_in_one_step_for_neighbours() {
        let names = ["a", "b", "c"];
        let file =
            |name: &&str| PlanFile { name: (*name).into(), size: Size(1 << 20), grows: false };
        let state =
            |is_read| crate::fio::place::State { is_read, ..crate::fio::place::State::default() };
        let mut sizes = [1 << 20; 3];
        let on_drive = end_to_end(&mut sizes, 1 << 30, 4096);
        let places = Places {
            files: names.iter().map(file).collect(),
            states: vec![state(true), state(true), state(false)],
            ..Places::default()
        };
        let steps = lay_out(&places, &on_drive);
        assert_eq!(steps.len(), 1);
        assert_eq!(steps[0].name, "lay out a to b");
        assert_eq!(steps[0].streams[0].length, Some(Size(2 << 20)));
    }
}
