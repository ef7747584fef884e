//! `drivelab study` and `drivelab resume`: one experiment on one target, to its answer.

mod division;
mod file_system;
mod prices;
mod quick;
mod several;
mod studied;

pub use studied::Studied;

use crate::cli::Terms;
use crate::cli::study::{ResumeOptions, StudyCommandOptions};
use crate::job::Job;
use crate::outcome::{Failure, Status};
use crate::ready::Ready;
use crate::shown::Shown;
use crate::store::reader::{self, Kept};
use crate::target::{Kind, Missing, ResolvedTarget, checked};
use crate::{entropy, print, store};
use drivelab_core::gathering::Sweep;
use drivelab_core::plan::{Purge, Switch};
use drivelab_core::quantity::size;
use drivelab_core::record::Begin;
use drivelab_core::study::{Emptying, Profile, Protocol, Scale, StudyOptions, TortureOptions};
use drivelab_core::units::Size;
use drivelab_sim::target::PREFIX;
use drivelab_study::experiment::{self, Allowance, Study, wear};
use drivelab_study::{battery, registry};
use std::path::Path;

/// A simulated drive may be written so often where nobody says how much.
const SIMULATED_PASSES: u64 = 400;
/// Files that workers have for themselves are multiples of this.
const SHARED_GRAIN: u64 = 1 << 20;

/// The help of one study, where that is what the words ask for: `drivelab study NAME --help`.
pub fn help(words: &[String]) -> Option<String> {
    let [_, command, name, rest @ ..] = words else { return None };
    let asks = rest.iter().any(|word| word == "--help" || word == "-h");
    let study = registry::named(name).ok().filter(|_| asks && command == "study")?;
    Some(registry::help_of(&study))
}

/// The study that was named.
pub fn named(name: &str) -> Result<Study, Failure> {
    registry::named(name)
        .map_err(|text| Failure::usage(text).advise("`drivelab study --help` says what they ask."))
}

/// Does one study on simulated drives that differ in one parameter.
pub fn swept(options: &StudyCommandOptions, sweep: Sweep) -> Result<Status, Failure> {
    several::study(options, named(&options.name)?, Some(sweep))
}

/// Does one study, on one target or on several.
pub fn study(options: &StudyCommandOptions) -> Result<Status, Failure> {
    let study = named(&options.name)?;
    if let Some((text, advice)) = options.own().find_map(|it| registry::refusal(&study, it)) {
        return Err(Failure::usage(text).advise(advice));
    }
    let with_reference = several::with_reference(options);
    let options = with_reference.as_ref().unwrap_or(options);
    if let Some(answer) = division::attempt(options, study) {
        return answer;
    }
    if let [target] = options.targets.as_slice() {
        if study.needs.targets > 1 {
            return Err(Failure::usage(format!(
                "`{0}` ranks several targets, and only one was named",
                study.name
            ))
            .advise(format!("Name at least two:  drivelab study {} {target} OTHER", study.name)));
        }
        let ready = prepare(options, study, target, options.shown.shown(), options.seed)?;
        if options.dry_run {
            return dry_run(&ready);
        }
        announce(&ready);
        return ready.finish();
    }
    several::study(options, study, None)
}

/// A study of one target that can begin.
type Prepared<'a> = Ready<'a, Studied>;

fn prepare<'a>(
    options: &StudyCommandOptions,
    study: Study,
    target: &'a str,
    shown: Shown<'a>,
    seed: Option<u64>,
) -> Result<Prepared<'a>, Failure> {
    let tag = options.called.tag.as_deref();
    let terms = options.shown.terms(&options.safety, &options.store, options.dry_run);
    let terms = Terms { tag, live: Some(&options.live), ..terms };
    let mut job = Job::new("study", target, &terms, shown)?;
    let line = format!("study {}", study.name);
    let missing = match study.needs.files {
        // Names are made in a directory; a file has none.
        0 => Missing::Refused { line: &line, takes_size: false },
        _ => Missing::unless_sized(options.size, &line),
    };
    let mut resolved = job.look(missing)?;
    let mut asked = asked(options, &study, target, &mut resolved)?;
    asked.seed = seed.unwrap_or(asked.seed);
    let inquiry = Studied { study, options: asked, facts: resolved.facts.clone() };
    let first = inquiry.first(&resolved).map_err(|failure| {
        match quick::smaller(&inquiry, &job.system, target) {
            Some(line) => failure.advise(line),
            None => failure,
        }
    })?;
    job.size = options.size;
    job.reserve_bytes = resolved.reserve_bytes();
    job.study = Some(inquiry.options.clone());
    let mut ready = job.ready(resolved, first, inquiry)?;
    if !options.dry_run {
        spare(options, ready.inquiry())?;
        super::doctor::note_concerns(&mut ready)?;
    }
    Ok(ready)
}

/// What a study may take, in words; it holds (`execute::limits`).
fn at_most(inquiry: &Studied) -> String {
    let (setting, options) = (inquiry.setting(), &inquiry.options);
    let planned = (inquiry.study.written_bytes)(&setting).unwrap_or(u64::MAX);
    let bytes = options.budget.0.min(planned);
    let of_target = bytes as f64 / options.bytes.max(1) as f64;
    let clock = if setting.is_simulated() { "virtual time" } else { "measuring" };
    let time = match options.time.0 {
        0 => String::new(),
        _ => format!("{} of {clock} and ", options.time),
    };
    format!("at most {time}{} written, {of_target:.1} times the target", size(bytes))
}

/// Goes on with a study that was broken off.
pub fn resume(options: &ResumeOptions) -> Result<Status, Failure> {
    let directory = store::directory(options.store.runs.as_deref())?;
    let path = store::locate(&options.run, &directory)?;
    let begin = reader::read(&path)?.begin;
    let target = meant(&begin);
    let kept = reader::read_to_go_on(&path, target.starts_with(PREFIX))?;
    let asked = kept.run.begin.study.clone().ok_or_else(|| cannot_go_on(&path, &kept.run.begin))?;
    let study = registry::of_run(&asked).map_err(Failure::usage)?;
    let terms = options.shown.terms(&options.safety, &options.store, false);
    let mut job = Job::new("study", &target, &terms, options.shown.shown())?;
    // A file that was made for the study is gone and is made again.
    let mut resolved = job.look(Missing::Made)?;
    equip(&mut resolved, &study, asked.scale);
    same_target(&kept, &resolved)?;
    if resolved.creates() {
        resolved.file_bytes = asked.bytes;
    }
    let inquiry = Studied { study, options: asked, facts: kept.run.begin.facts.clone() };
    let first = kept.run.plans.first().cloned().map_or_else(|| inquiry.first(&resolved), Ok)?;
    job.size = Some(Size(inquiry.options.bytes)).filter(|_| resolved.creates());
    job.reserve_bytes = resolved.reserve_bytes();
    job.study = Some(inquiry.options.clone());
    job.kept = Some(kept);
    let ready = job.ready(resolved, first, inquiry)?;
    announce(&ready);
    ready.finish()
}

/// The refusal to go on with a run that no study was made of.
fn cannot_go_on(path: &Path, begin: &Begin) -> Failure {
    let (path, command) = (path.display(), &begin.command);
    let is_old = matches!(command.as_str(), "check" | "accept");
    Failure::usage(match is_old {
        true => format!(
            "{path} was written by a drivelab whose `{command}` could not be resumed \
                         yet"
        ),
        false => format!(
            "{path} is a run of `drivelab {command}`; only a study, a check or an acceptance can \
             be resumed"
        ),
    })
    .advise("Run the command again; `drivelab report` shows what was measured until then.")
}

/// What was asked, with what nobody said filled in.
fn asked(
    options: &StudyCommandOptions,
    study: &Study,
    target: &str,
    resolved: &mut ResolvedTarget,
) -> Result<StudyOptions, Failure> {
    let scale = match (options.quick, options.full) {
        (true, _) => Scale::Quick,
        (_, true) => Scale::Full,
        _ => Scale::Default,
    };
    equip(resolved, study, scale);
    file_system::look(options, resolved)?;
    size_files(options, scale, resolved)?;
    let emptying = emptying(&options.purge)?;
    if let (Emptying::Purge(purge), Kind::File | Kind::Directory) = (emptying, resolved.kind) {
        return Err(Failure::usage(format!(
            "--purge {} empties a whole drive, and {target} is a file or directory on one",
            purge.word()
        ))
        .advise("Name the drive itself, or leave --purge out."));
    }
    let torture =
        TortureOptions { cycles: options.cycles.unwrap_or(1), legs: options.legs.clone() };
    let allowance = allowance(study, scale, resolved, torture.cycles);
    Ok(StudyOptions {
        name: study.name.into(),
        scale,
        seed: options.seed.unwrap_or_else(entropy::seed),
        budget: options.budget.unwrap_or(allowance.budget),
        time: options.time.unwrap_or(allowance.time),
        delta: options.band,
        emptying,
        cpus: options.cpus.clone(),
        profile: options.pts.profile.map_or_else(Profile::default, Profile::from),
        write_cache: options.pts.write_cache.map(Switch::from),
        rated: options.rated,
        per_day: options.per_day,
        bytes: resolved.file_bytes,
        file_system: file_system::asked(options),
        torture,
        absolute: options.absolute,
        reference: options.reference.clone(),
        price: prices::price_of(options.price.as_deref(), &options.targets, target)?,
        article: options.article,
        under: options.load.unwrap_or_default(),
        protocol: options.protocol.map(Protocol::from),
        ..StudyOptions::default()
    })
}

/// Decides how large the files are that drivelab makes; of what is there all is studied.
fn size_files(
    options: &StudyCommandOptions,
    scale: Scale,
    resolved: &mut ResolvedTarget,
) -> Result<(), Failure> {
    if !resolved.creates() {
        return match options.size {
            None => Ok(()),
            Some(_) => Err(Failure::usage(
                "--size is for a file that drivelab creates, and this target exists",
            )
            .advise("Leave it out: the whole target is studied.")),
        };
    }
    let scratch = || experiment::scratch_bytes(scale, options.budget.unwrap_or(Size(10 << 30)));
    let bytes = match options.size {
        Some(size) => checked(size)?,
        None => resolved.roomy_bytes(scratch())?,
    };
    let files = u64::from(resolved.files);
    if let Some(size) = options.size.filter(|_| files > 1 && bytes / files < experiment::BYTES_MIN)
    {
        let least = Size(files * experiment::BYTES_MIN);
        return Err(Failure::usage(format!(
            "--size {size} is too small: it is shared by {files} files, of which each needs {}",
            Size(experiment::BYTES_MIN)
        ))
        .advise(format!("Give at least --size {least}.")));
    }
    let grain = if files > 1 { SHARED_GRAIN } else { 1 };
    resolved.file_bytes = bytes / files / grain * grain;
    Ok(())
}

/// The time and the bytes that a study may take where nobody says how much.
fn allowance(study: &Study, scale: Scale, resolved: &ResolvedTarget, cycles: u64) -> Allowance {
    let bytes = resolved.file_bytes;
    let mut allowance = (study.allowance)(scale, bytes);
    if scale == Scale::Quick {
        return allowance;
    }
    if resolved.kind == Kind::Simulated {
        // Nothing is worn out there.
        allowance.budget.0 = allowance.budget.0.max(bytes.saturating_mul(SIMULATED_PASSES));
        allowance.time.0 = allowance.time.0.saturating_mul(study.needs.simulated_times);
    }
    allowance.budget.0 = allowance.budget.0.saturating_mul(cycles);
    allowance.time.0 = allowance.time.0.saturating_mul(cycles);
    allowance
}

/// What a battery needs of its target: a file for each worker, a page cache before a simulated
/// drive.
fn equip(resolved: &mut ResolvedTarget, study: &Study, scale: Scale) {
    if resolved.kind == Kind::Directory {
        resolved.files = study.needs.files;
    }
    let Some(simulated) = &mut resolved.simulated else { return };
    if study.needs.begins_as_published {
        simulated.begin_as_published();
        resolved.facts = simulated.facts();
    }
    if let Some(most) = (study.needs.page_cache)(scale) {
        let bytes = battery::page_cache_bytes(most, resolved.file_bytes);
        simulated.page_cache_bytes.get_or_insert(bytes);
        resolved.facts = simulated.facts();
    }
}

fn emptying(word: &str) -> Result<Emptying, Failure> {
    match word {
        "discard" => Ok(Emptying::Discard),
        "none" => Ok(Emptying::None),
        word => Purge::ALL
            .iter()
            .find(|(_, known)| *known == word)
            .map(|(purge, _)| Emptying::Purge(*purge))
            .ok_or_else(|| {
                let known: Vec<&str> = Purge::ALL.iter().map(|(_, word)| *word).collect();
                Failure::usage(format!(
                    "--purge {word} is not known; give discard, none, {}",
                    known.join(", ")
                ))
            }),
    }
}

/// The target as it was meant where the run began: a path without a root begins there.
fn meant(begin: &Begin) -> String {
    let Some(directory) = &begin.directory else { return begin.target.clone() };
    let rooted = |path: &str| Path::new(directory).join(path).display().to_string();
    let Some(simulated) = begin.target.strip_prefix(PREFIX) else { return rooted(&begin.target) };
    let (profile, rest) = simulated.split_at(simulated.find(',').unwrap_or(simulated.len()));
    match profile.contains('/') || profile.ends_with(".toml") {
        true => format!("{PREFIX}{}{rest}", rooted(profile)),
        false => begin.target.clone(),
    }
}

/// A resumed run goes on with the drive it began with.
fn same_target(kept: &Kept, resolved: &ResolvedTarget) -> Result<(), Failure> {
    let before = &kept.run.begin.facts.target;
    let now = &resolved.facts.target;
    let serial = |facts: &drivelab_core::facts::TargetFacts| {
        facts.devices.last().map(|device| (device.model.clone(), device.serial.clone()))
    };
    // A name may be another drive's after a restart; where no serial number tells, it must do.
    let unnamed = |facts: &drivelab_core::facts::TargetFacts| {
        let known = facts.devices.last().is_some_and(|device| device.serial.is_some());
        let devices = facts.devices.iter().map(|it| (it.name.clone(), it.bytes)).collect();
        if known { Vec::new() } else { devices }
    };
    let kind = |facts: &drivelab_core::facts::TargetFacts| {
        facts.filesystem.as_ref().map(|found| found.kind.clone())
    };
    let is_same = before.kind == now.kind
        && serial(before) == serial(now)
        && unnamed(before) == unnamed(now)
        && kind(before) == kind(now)
        && (resolved.creates() || before.bytes == now.bytes);
    if is_same {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{} is not what this run began with: another drive, or another size",
        kept.run.begin.target
    ))
    .advise("Connect the drive under that name again, or begin a new study."))
}

fn dry_run(ready: &Prepared<'_>) -> Result<Status, Failure> {
    let inquiry = ready.inquiry();
    if !ready.job().shown.as_json {
        print::text(&format!("# in all {}; the first of its plans:\n", at_most(inquiry)));
    }
    let status = ready.print()?;
    if !ready.job().shown.as_json {
        if let Some(forecast) = (inquiry.study.forecast)(&inquiry.setting()) {
            print::text(&format!("\n# {forecast}\n"));
        }
        print::text(&format!(
            "\n# each of the other plans depends on what was found until then\n\
             # {}\n{}",
            inquiry.study.question,
            wears(inquiry).map_or(String::new(), |text| format!("# {text}\n"))
        ));
    }
    Ok(status)
}

/// What it takes of the drive's life, where its budget is what it may write.
fn wears(inquiry: &Studied) -> Option<String> {
    let setting = inquiry.setting();
    let is_planned = (inquiry.study.written_bytes)(&setting).is_some() && setting.is_simulated();
    wear::forecast(&setting).filter(|_| !is_planned)
}

/// Refuses to take more of a drive's life than a little, unless the bytes were named.
fn spare(options: &StudyCommandOptions, inquiry: &Studied) -> Result<(), Failure> {
    let too_much = wear::too_much(&inquiry.setting()).filter(|_| options.budget.is_none());
    too_much.map_or(Ok(()), |text| {
        Err(Failure::refused(format!("refused: {text}")).advise(format!(
            "Nothing was written. Give --quick, a smaller --budget SIZE, or --budget {} to allow \
             all of it.",
            inquiry.options.budget
        )))
    })
}

/// What will be written, before it is: for a person who watches.
fn announce(ready: &Prepared<'_>) {
    if print::stderr_is_terminal() {
        let (target, inquiry) = (ready.job().target, ready.inquiry());
        print::error(&format!(
            "{} on {target}: {} In all {}{}, seed {}",
            inquiry.study.name,
            inquiry.study.question,
            at_most(inquiry),
            wears(inquiry).map_or(String::new(), |text| format!("; {text}")),
            inquiry.options.seed
        ));
    }
}
