//! Engines that make, look at and remove names (`ioengine=filecreate` and its like): no data moves.
//!
//! fio does one operation for each name, when it would open the file, and then counts as many
//! requests as the file has blocks, of which none does anything.

use super::files;
use super::place::{Place, Places};
use super::settings::Settings;
use super::translate::Whole;
use super::value::Amount;
use super::words::{STATUS, unsupported};
use crate::front::{Found, Note, Refusal, Scale, Treatment, World};
use drivelab_core::op::Action;
use drivelab_core::plan::{Engine, IoMode, Names, Pattern, Role, Step, Stream, Until};
use drivelab_core::units::{Size, Span};
use std::collections::HashSet;

/// Names of all jobs of a line at most.
const NAMES_MAX: u64 = 1 << 20;
/// Names that can stay: each has a line in the list of what is drivelab's.
const NAMES_KEPT_MAX: u64 = 1 << 16;
/// Bytes of a file that is only made to be looked at or removed.
const BYTES_MAX: u64 = 64 << 20;

/// What an engine does with names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    /// What is measured.
    pub action: Action,
    /// They are of directories.
    pub of_directories: bool,
}

impl Work {
    /// What the engine of this name does; `None`: it moves data.
    pub fn of(engine: &str) -> Option<Self> {
        let of = |action, of_directories| Some(Work { action, of_directories });
        match engine {
            "filecreate" => of(Action::Create, false),
            "filestat" => of(Action::Stat, false),
            "filedelete" => of(Action::Unlink, false),
            "dircreate" => of(Action::Mkdir, true),
            "dirstat" => of(Action::Stat, true),
            "dirdelete" => of(Action::Unlink, true),
            _ => None,
        }
    }

    /// What makes such names.
    fn making(self) -> Action {
        if self.of_directories { Action::Mkdir } else { Action::Create }
    }

    fn makes(self) -> bool {
        self.action == self.making()
    }
}

/// The names of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    work: Work,
    /// How they are spelt.
    form: String,
    /// Names of each clone.
    count: u32,
    /// Bytes of each file that is made to be looked at or removed.
    bytes: u64,
    /// Requests that fio counts for each name.
    pub requests: u64,
    /// They are there.
    existing: bool,
}

/// The names of all jobs; `None` where no job is of names.
///
/// # Errors
/// Jobs of data beside them; names that cannot be spelt, are of several directories or of several
/// jobs; what does not go with them.
pub fn places(jobs: &[(String, Settings)], world: &dyn World) -> Result<Option<Places>, Refusal> {
    match jobs.iter().filter(|(_, settings)| settings.turns.names.is_some()).count() {
        0 => return Ok(None),
        all if all == jobs.len() => {}
        _ => {
            let way = "run a line for each of both";
            return Err(unsupported("jobs on names next to jobs on data", way));
        }
    }
    are_few(jobs)?;
    let (mut named, mut forms, mut known) = (Vec::new(), Vec::new(), HashSet::new());
    for (name, settings) in jobs {
        let Some(work) = settings.turns.names else { continue };
        check(settings, work)?;
        files::are_directories(settings, world)?;
        let settings = &scaled(settings, world.scale());
        forms.push(form(name, settings)?);
        let paths = files::paths_of(name, settings);
        if let Some(shared) = paths.iter().find(|path| !known.insert((*path).clone())) {
            let text = format!("{shared} is of several jobs, or clones, of the line");
            return Err(Refusal::new(
                STATUS,
                text,
                "Give each job names of its own, or run a line for each job.",
            ));
        }
        named.push(of_job(settings, work, &paths, world)?);
    }
    let (target, names) = below_one(&forms, jobs, world)?;
    let place = |(named, form): (Named, String)| place(Named { form, ..named });
    let jobs = named.into_iter().zip(names).map(place).collect();
    Ok(Some(Places { target, jobs, ..Places::default() }))
}

fn place(named: Named) -> Place {
    Place {
        first: 0,
        per_clone: 1,
        each: false,
        offset: 0,
        offset_each: 0,
        length: 0,
        size: named.bytes.saturating_mul(u64::from(named.count)),
        file_bytes: named.bytes,
        is_on_drive: false,
        names: Some(named),
    }
}

/// A scaled line has fewer names.
fn scaled(settings: &Settings, scale: Scale) -> Settings {
    let nrfiles = scale.of(u64::from(settings.nrfiles), 1);
    Settings { nrfiles: u32::try_from(nrfiles).unwrap_or(u32::MAX), ..settings.clone() }
}

fn are_few(jobs: &[(String, Settings)]) -> Result<(), Refusal> {
    let of = |(_, settings): &(String, Settings)| {
        u64::from(settings.numjobs).saturating_mul(u64::from(settings.nrfiles))
    };
    let all = jobs.iter().map(of).fold(0u64, u64::saturating_add);
    if all > NAMES_MAX {
        let text = format!("{all} names are more than one run supports");
        let advice = format!("Use at most {NAMES_MAX}: a smaller nrfiles.");
        return Err(Refusal::new(STATUS, text, advice));
    }
    Ok(())
}

/// Refuses what does nothing to names, or would have nothing left to do.
fn check(settings: &Settings, work: Work) -> Result<(), Refusal> {
    let engine = &settings.engine.0;
    if settings.rw.is_mixed() || settings.rw.kinds[2] {
        let what = format!("rw={} with ioengine={engine}", settings.rw.word);
        let way = "say rw=read or rw=write: it only says where operations on names are counted";
        return Err(unsupported(&what, way));
    }
    let turns = &settings.turns;
    let is_rated = settings.rate.iter().chain(&settings.rate_iops).any(|rate| *rate > 0);
    let asked = [
        (settings.marks.verify.is_some(), "verify"),
        (turns.replay.trace.is_some(), "read_iolog"),
        (settings.logs[3].is_some(), "write_iolog"),
        (turns.create_only, "create_only"),
        (turns.files_exist && !work.makes(), "allow_file_create=0"),
        (settings.pre_read, "pre_read"),
        (settings.io_size.is_some(), "io_size"),
        (settings.number_ios.is_some(), "number_ios"),
        (settings.bsrange.is_some() || settings.bssplit.is_some(), "bsrange and bssplit"),
        (settings.offset != Amount::Bytes(0), "offset"),
        (is_rated, "rate"),
        (turns.least.is_given(), "rate_min and rate_iops_min"),
        (turns.priorities.are_given(), "cmdprio_percentage and cmdprio_bssplit"),
        (settings.thinktime_ns > 0, "thinktime"),
        (settings.steadystate.is_given, "steadystate"),
    ];
    if let Some((_, option)) = asked.iter().find(|(is_asked, _)| *is_asked) {
        let what = format!("{option} with ioengine={engine}");
        return Err(unsupported(&what, "leave it out: each name is worked on once"));
    }
    if work.action != Action::Stat && settings.goes_round() {
        let what = format!("loops and time_based with ioengine={engine}");
        let way = match work.makes() {
            true => "use a larger nrfiles: fio would open what is there already, and make nothing",
            false => "use a larger nrfiles: fio fails where nothing is left to remove",
        };
        return Err(unsupported(&what, way));
    }
    Ok(())
}

/// How the names of a job are spelt, clone by clone and one by one.
fn form(job: &str, settings: &Settings) -> Result<String, Refusal> {
    let engine = &settings.engine.0;
    let directory = match settings.directories.as_slice() {
        [] => String::new(),
        [one] => format!("{}/", one.trim_end_matches('/')),
        _ => return Err(several_directories()),
    };
    let by_number = settings.filename_format.as_deref().unwrap_or("$jobname.$jobnum.$filenum");
    let text = match settings.filenames.as_slice() {
        [] => by_number.replace("$jobname", job),
        [one] => one.clone(),
        _ => {
            let what = format!("several names in filename= with ioengine={engine}");
            return Err(unsupported(&what, "leave it out: nrfiles=N makes N names"));
        }
    };
    if text.contains(['{', '}']) || text.matches("$filenum").count() > 1 {
        return Err(unsupported(&format!("the name {text}"), "use a plainer one"));
    }
    let is_by_number = settings.filenames.is_empty();
    let has = |part: &str| is_by_number && text.contains(part);
    if settings.numjobs > 1 && !has("$jobnum") {
        let what = format!("one name for all clones with ioengine={engine}");
        return Err(unsupported(&what, "leave filename out, or put $jobnum into filename_format"));
    }
    if is_by_number && settings.nrfiles > 1 && !has("$filenum") {
        let what = format!("one name for all of nrfiles with ioengine={engine}");
        return Err(unsupported(&what, "put $filenum into filename_format"));
    }
    Ok(match is_by_number {
        true => directory + &text.replace("$jobnum", "{worker}").replace("$filenum", "{name}"),
        false => directory + &text,
    })
}

fn several_directories() -> Refusal {
    unsupported("names in several directories", "run a line for each directory")
}

/// The directory that all names are in, and how they are spelt there.
fn below_one(
    forms: &[String],
    jobs: &[(String, Settings)],
    world: &dyn World,
) -> Result<(String, Vec<String>), Refusal> {
    if let Some(drive) = super::simulated::drive_of(jobs) {
        let below = |form: &String| {
            let name = form.strip_prefix(drive)?.strip_prefix('/')?;
            (!name.contains('/')).then(|| name.to_owned())
        };
        let names: Option<Vec<String>> = forms.iter().map(below).collect();
        return Ok((drive.to_owned(), names.ok_or_else(several_directories)?));
    }
    files::have_directories(forms, world)?;
    let (target, names) = files::below_one_directory(forms)?;
    // What is in the target is told from what is not ours name by name, what is below it is not.
    match names.iter().any(|name| name.contains('/')) {
        true => Err(several_directories()),
        false => Ok((target, names)),
    }
}

/// The names of a job, but for how they are spelt.
fn of_job(
    settings: &Settings,
    work: Work,
    paths: &[String],
    world: &dyn World,
) -> Result<Named, Refusal> {
    let is_on_drive = settings.directories.iter().any(|directory| directory.starts_with("sim:"));
    let found = match work.makes() || is_on_drive {
        true => None,
        false => found(paths, work, world)?,
    };
    let count = if settings.filenames.is_empty() { settings.nrfiles } else { 1 };
    let bytes = bytes_of(settings, work, count, found)?;
    let total = match settings.size {
        Some(Amount::Bytes(bytes)) => bytes,
        _ => bytes.saturating_mul(u64::from(count)),
    };
    files::holds_a_block(settings, total, bytes)?;
    if bytes > BYTES_MAX && found.is_none() && !work.makes() {
        let what = format!("files of more than {BYTES_MAX} bytes to look at or remove");
        return Err(unsupported(&what, "use a smaller filesize"));
    }
    let kind = usize::from(settings.rw.kinds[1]);
    let requests = bytes / settings.bs[kind].max(1);
    let existing = found.is_some();
    Ok(Named { work, form: String::new(), count, bytes, requests, existing })
}

/// Bytes of each of the names that are there; `None` where none of them is.
fn found(paths: &[String], work: Work, world: &dyn World) -> Result<Option<u64>, Refusal> {
    let (mut first_bytes, mut absent, mut alike) = (None, None, true);
    for path in paths {
        let bytes = match world.found(path) {
            Found::Absent => {
                absent = absent.or(Some(path));
                continue;
            }
            Found::File { bytes } if !work.of_directories => bytes,
            Found::Directory if work.of_directories => 0,
            Found::Unusable(what) => {
                return Err(Refusal::new(STATUS, format!("fio: {path}: {what}"), ""));
            }
            _ => {
                let kind = if work.of_directories { "directory" } else { "regular file" };
                let text = format!("fio: {path} is not a {kind}");
                return Err(Refusal::new(STATUS, text, "Move it away, or use another name."));
            }
        };
        alike &= *first_bytes.get_or_insert(bytes) == bytes;
    }
    match (first_bytes, absent) {
        (Some(_), Some(absent)) => Err(Refusal::new(
            STATUS,
            format!("fio: {absent} does not exist, and other names of the job do"),
            "Nothing was done. Remove those that are there, or use other names.",
        )),
        (Some(bytes), None) if alike => Ok(Some(bytes)),
        // Of several sizes none is that of all.
        (found, _) => Ok(found.map(|_| 0)),
    }
}

/// Bytes of each name, by which fio counts requests.
fn bytes_of(
    settings: &Settings,
    work: Work,
    count: u32,
    found: Option<u64>,
) -> Result<u64, Refusal> {
    let least = settings.bs[usize::from(settings.rw.kinds[1])];
    match (settings.size, settings.filesize) {
        (Some(Amount::Bytes(bytes)), _) => Ok(bytes / u64::from(count.max(1))),
        (None, Some(bytes)) => Ok(bytes),
        (Some(_), _) => Err(unsupported(
            &format!("size in percent with ioengine={}", settings.engine.0),
            "say filesize, the bytes of each file",
        )),
        (None, None) if work.of_directories || work.makes() => Ok(least),
        (None, None) => found.filter(|bytes| *bytes > 0).ok_or_else(|| {
            let advice = "Say how much each file holds, as in --filesize=4k.";
            Refusal::new(STATUS, "fio: you need to specify size=", advice)
        }),
    }
}

/// Steps that make the names which a job only looks at or removes.
pub fn lay_out(jobs: &[Whole<'_>]) -> Vec<Step> {
    let of = |whole: &Whole<'_>| {
        let named = whole.place.names.as_ref()?;
        if named.existing || named.work.makes() {
            return None;
        }
        let bytes = if named.work.of_directories { 0 } else { named.bytes };
        let stream = stream_of(whole.settings.numjobs, named, named.work.making())
            .with_names(|names| names.name_bytes = Size(bytes));
        Some(Step {
            name: format!("make the names of {}", whole.job.name),
            role: Role::Prepare,
            until: Until { passes: Some(1), ..Until::default() },
            repeat: 1,
            streams: vec![stream],
            ..Step::default()
        })
    };
    jobs.iter().filter_map(of).collect()
}

/// What fio says of files that it makes beforehand.
pub fn laid_out(whole: &Whole<'_>) -> Option<(u32, u32, u64)> {
    let named = whole.place.names.as_ref()?;
    let is_said = !named.existing && !named.work.makes() && !named.work.of_directories;
    is_said.then_some((whole.settings.numjobs, named.count, whole.place.size))
}

fn stream_of(workers: u32, named: &Named, action: Action) -> Stream {
    Stream {
        engine: Engine::Psync,
        io: IoMode::Buffered,
        workers,
        pattern: Pattern::Names(Names {
            actions: vec![action],
            names: Some(named.count),
            form: Some(named.form.clone()),
            of_directories: named.work.of_directories,
            existing: named.existing,
            ..Names::default()
        }),
        ..Stream::default()
    }
}

/// The stream of a job.
pub fn stream(whole: &Whole<'_>, named: &Named, world: &dyn World) -> Stream {
    let settings = whole.settings;
    let times = world.scale_time();
    let elapsed = (settings.runtime_ns > 0).then(|| Span(times.of(settings.runtime_ns, 1_000_000)));
    let is_by_time = settings.time_based && elapsed.is_some();
    let passes = (!is_by_time).then_some(settings.loops.max(1));
    Stream {
        name: whole.job.name.clone(),
        keep_requests: settings.log_lines.every_ms == 0
            && settings.logs.iter().any(Option::is_some),
        start_after: Span(times.of(settings.turns.start_ns, 1_000_000)),
        until: Some(Until { elapsed, passes, ..Until::default() }),
        ..stream_of(settings.numjobs, named, named.work.action)
    }
}

/// Whether what the line makes is more than can stay.
pub fn are_removed(jobs: &[(String, Settings)], places: &Places) -> bool {
    let made = jobs.iter().zip(&places.jobs).map(|((_, settings), place)| {
        let named = place.names.as_ref().filter(|named| !named.existing);
        named.map_or(0, |named| u64::from(settings.numjobs) * u64::from(named.count))
    });
    made.sum::<u64>() > NAMES_KEPT_MAX
}

/// What a reader must know of a job.
pub fn notes(whole: &Whole<'_>, named: &Named, world: &dyn World, notes: &mut Vec<Note>) {
    let about = format!("ioengine={}", whole.settings.engine.0);
    let requests = match named.requests {
        1 => "one request of bs".to_owned(),
        count => format!("{count} requests of bs"),
    };
    notes.push(Note::new(
        "names_move_no_data",
        about.clone(),
        Treatment::Same,
        format!(
            "as in fio each operation on a name counts as {requests}, of which none moves a byte: \
             clat is of the operations; IOPS and BW follow from their number."
        ),
    ));
    if named.existing && named.work.action == Action::Stat {
        let text = "the names exist: they are looked at as they are, and stay.";
        notes.push(Note::new("names_are_there", about, Treatment::Same, text));
    }
    if world.scale() != Scale::WHOLE {
        let text = "there are fewer names, not smaller files.";
        notes.push(Note::new("scaled", "--scale-size", Treatment::Approximated, text));
    }
}

/// That what the line makes does not stay.
pub fn removed(notes: &mut Vec<Note>) {
    notes.push(Note::new(
        "names_removed",
        "nrfiles",
        Treatment::Approximated,
        format!(
            "more than {NAMES_KEPT_MAX} names are removed at the end, as with unlink=1; fio leaves \
             them."
        ),
    ));
}
