//! `drivelab study` and `drivelab resume`: one experiment on one target, to its answer.

mod file_system;
mod quick;
mod several;

use super::page;
use super::report::{Page, may_write, results};
use crate::aim::{Aim, Kind, Missing};
use crate::cli::study::{ResumeOptions, ShownOptions, StudyCommandOptions};
use crate::outcome::{Failure, Status};
use crate::session::{self, Ended, Inquiry, Request};
use crate::store::reader::{self, Kept};
use crate::{chance, print, store};
use drivelab_core::facts::Facts;
use drivelab_core::findings::Findings;
use drivelab_core::plan::{FileSystem, Plan, Purge, Switch};
use drivelab_core::quantity::size;
use drivelab_core::record::Begin;
use drivelab_core::run::Run;
use drivelab_core::study::{
    Emptying, Established, FileSystemOptions, Scale, StudyOptions, TortureOptions,
};
use drivelab_core::units::Size;
use drivelab_io::facts::System;
use drivelab_sim::target::PREFIX;
use drivelab_study::experiment::{self, Setting, Study, wear};
use drivelab_study::{battery, registry};
use std::path::Path;

/// A simulated drive may be written so often where nobody says how much.
const SIMULATED_PASSES: u64 = 400;
/// Files that workers have for themselves are multiples of this.
const SHARED_GRAIN: u64 = 1 << 20;

/// Does one study, on one target or on several.
pub fn study(options: &StudyCommandOptions) -> Result<Status, Failure> {
    let study = registry::named(&options.name).map_err(|text| {
        Failure::usage(text).advise("`drivelab study --help` says what they ask.")
    })?;
    let system = System::live();
    if let [target] = options.targets.as_slice() {
        if study.needs.targets > 1 {
            return Err(Failure::usage(format!(
                "`{0}` puts targets in order, and one alone has no place",
                study.name
            ))
            .advise(format!("Name at least two:  drivelab study {} {target} OTHER", study.name)));
        }
        let prepared = prepare(options, study, &system, target, options.seed)?;
        if options.dry_run {
            return dry_run(options, &prepared.first, &prepared.aim, &prepared.inquiry);
        }
        may_write(options.shown.out.as_deref())?;
        page::can_be_made(options.shown.out.as_deref(), options.shown.json)?;
        return finish(prepared, &system, &options.shown);
    }
    several::study(options, study, &system)
}

/// A study that can begin: everything was looked at, and the guard has said yes.
struct Prepared<'a> {
    request: Request<'a>,
    aim: Aim,
    first: Plan,
    inquiry: Studied,
}

fn prepare<'a>(
    options: &StudyCommandOptions,
    study: Study,
    system: &System,
    target: &'a str,
    seed: Option<u64>,
) -> Result<Prepared<'a>, Failure> {
    let runs = store::directory(options.store.runs.as_deref())?;
    if !options.dry_run {
        session::tidy_up(&runs, system)?;
    }
    let line = format!("study {}", study.name);
    let mut aim = Aim::look(system, target, Missing::unless_sized(options.size, &line))?;
    let mut asked = asked(options, &study, &mut aim)?;
    asked.seed = seed.unwrap_or(asked.seed);
    let inquiry = Studied { study, options: asked, facts: aim.facts.clone() };
    let first =
        inquiry.first(&aim).map_err(|failure| match quick::smaller(&inquiry, system, target) {
            Some(line) => failure.advise(line),
            None => failure,
        })?;
    let mut request = Request {
        command: "study",
        target,
        erase: options.safety.erase.clone(),
        keep: options.safety.keep,
        size: options.size,
        runs,
        stuck_after: options.shown.stuck_after,
        reserve_bytes: aim.reserve_bytes(),
        warnings: Vec::new(),
        allowance: None,
        study: Some(inquiry.options.clone()),
        kept: None,
    };
    if !options.dry_run {
        session::ask_guard(&request, system, &aim, &first)?;
        spare(options, &inquiry)?;
    }
    session::check_plan(&first, &aim)?;
    if !options.dry_run && aim.kind != Kind::Simulated {
        request.warnings = super::doctor::concerns(system, target)?;
    }
    Ok(Prepared { request, aim, first, inquiry })
}

/// What a study may take, in words; it holds (`execute::limits`).
fn at_most(inquiry: &Studied) -> String {
    let (setting, options) = (inquiry.setting(), &inquiry.options);
    let planned = (inquiry.study.written_bytes)(&setting).unwrap_or(u64::MAX);
    let bytes = options.budget.0.min(planned);
    let of_target = bytes as f64 / options.bytes.max(1) as f64;
    let clock = if setting.is_simulated() { "virtual time" } else { "measuring" };
    format!(
        "at most {} of {clock} and {} written, {of_target:.1} times the target",
        options.time,
        size(bytes)
    )
}

/// Goes on with a study that was broken off.
pub fn resume(options: &ResumeOptions) -> Result<Status, Failure> {
    let directory = store::directory(options.store.runs.as_deref())?;
    let path = store::locate(&options.run, &directory)?;
    let begin = reader::read(&path)?.begin;
    let target = meant(&begin);
    let kept = reader::read_to_go_on(&path, target.starts_with(PREFIX))?;
    let asked = kept.run.begin.study.clone().ok_or_else(|| {
        Failure::usage(format!(
            "{} is a run of `drivelab {}`; only a study can go on",
            path.display(),
            kept.run.begin.command
        ))
        .advise("Run the command again; `drivelab report` shows what was measured until then.")
    })?;
    let study = registry::named(&asked.name).map_err(Failure::usage)?;
    let system = System::live();
    session::tidy_up(&directory, &system)?;
    // A file that was made for the study is gone and is made again.
    let mut aim = Aim::look(&system, &target, Missing::Made)?;
    equip(&mut aim, &study, asked.scale);
    same_target(&kept, &aim)?;
    if aim.creates() {
        aim.file_bytes = asked.bytes;
    }
    let inquiry = Studied { study, options: asked, facts: kept.run.begin.facts.clone() };
    let first = kept.run.plans.first().cloned().map_or_else(|| inquiry.first(&aim), Ok)?;
    let request = Request {
        command: "study",
        target: &target,
        erase: options.safety.erase.clone(),
        keep: options.safety.keep,
        size: Some(Size(inquiry.options.bytes)).filter(|_| aim.creates()),
        runs: directory,
        stuck_after: options.shown.stuck_after,
        reserve_bytes: aim.reserve_bytes(),
        warnings: Vec::new(),
        allowance: None,
        study: Some(inquiry.options.clone()),
        kept: Some(kept),
    };
    may_write(options.shown.out.as_deref())?;
    page::can_be_made(options.shown.out.as_deref(), options.shown.json)?;
    session::ask_guard(&request, &system, &aim, &first)?;
    finish(Prepared { request, aim, first, inquiry }, &system, &options.shown)
}

fn finish(
    prepared: Prepared<'_>,
    system: &System,
    shown: &ShownOptions,
) -> Result<Status, Failure> {
    let ended = done(prepared, system)?;
    let page = match &shown.out {
        Some(path) => Page::At(path),
        None if shown.json || ended.run.findings.is_none() => Page::None,
        None => Page::Default,
    };
    results(ended, shown.json, page)
}

fn done(prepared: Prepared<'_>, system: &System) -> Result<Ended, Failure> {
    let Prepared { request, aim, first, mut inquiry } = prepared;
    announce(request.target, &inquiry);
    session::run(&request, system, aim, first, &mut inquiry)
}

/// What was asked, with what nobody said filled in.
fn asked(
    options: &StudyCommandOptions,
    study: &Study,
    aim: &mut Aim,
) -> Result<StudyOptions, Failure> {
    let scale = match (options.quick, options.full) {
        (true, _) => Scale::Quick,
        (_, true) => Scale::Full,
        _ => Scale::Default,
    };
    equip(aim, study, scale);
    file_system::look(options, study, aim)?;
    let makes = aim.creates();
    if !makes && options.size.is_some() {
        return Err(Failure::usage(
            "--size is for a file that drivelab makes; this target is there",
        )
        .advise("Leave it out: the whole target is studied."));
    }
    let by_default = |bytes: u64| (study.allowance)(scale, bytes);
    if makes {
        let wanted = options.size.map_or_else(
            || experiment::scratch_bytes(scale, options.budget.unwrap_or(Size(10 << 30))),
            |size| size.0,
        );
        let files = u64::from(aim.files);
        let grain = if files > 1 { SHARED_GRAIN } else { 1 };
        aim.file_bytes = aim.roomy_bytes(wanted)? / files / grain * grain;
    }
    let bytes = aim.file_bytes;
    let mut allowance = by_default(bytes);
    if aim.kind == Kind::Simulated && scale != Scale::Quick {
        // Nothing is worn out there.
        allowance.budget.0 = allowance.budget.0.max(bytes.saturating_mul(SIMULATED_PASSES));
        allowance.time.0 = allowance.time.0.saturating_mul(study.needs.simulated_times);
    }
    let torture = torture(options, study)?;
    let file_system = FileSystemOptions {
        make: options.file_system.mkfs.map(FileSystem::from),
        // As it is meant here: a study that goes on may be told so from elsewhere.
        directory: options.file_system.mount.as_ref().map(|path| {
            std::fs::canonicalize(path).unwrap_or_else(|_| path.clone()).display().to_string()
        }),
    };
    if scale != Scale::Quick {
        allowance.budget.0 = allowance.budget.0.saturating_mul(torture.cycles);
        allowance.time.0 = allowance.time.0.saturating_mul(torture.cycles);
    }
    Ok(StudyOptions {
        name: study.name.into(),
        scale,
        seed: options.seed.unwrap_or_else(chance::seed),
        budget: options.budget.unwrap_or(allowance.budget),
        time: options.time.unwrap_or(allowance.time),
        delta: options.band,
        emptying: emptying(&options.purge)?,
        cpus: options.cpus.clone(),
        profile: options.pts.profile.into(),
        write_cache: options.pts.write_cache.map(Switch::from),
        rated: options.rated,
        per_day: options.per_day,
        bytes,
        file_system,
        torture,
    })
}

/// What `torture` alone takes.
fn torture(options: &StudyCommandOptions, study: &Study) -> Result<TortureOptions, Failure> {
    let given = [("--cycles", options.cycles.is_some()), ("--legs", !options.legs.is_empty())];
    if let Some((option, _)) = given.iter().find(|(_, is_given)| *is_given)
        && study.name != "torture"
    {
        return Err(Failure::usage(format!("{option} is for the study `torture`"))
            .advise(format!("`{}` does without; leave it out.", study.name)));
    }
    Ok(TortureOptions { cycles: options.cycles.unwrap_or(1), legs: options.legs.clone() })
}

/// What a battery needs of its target: a file for each worker, a page cache before a simulated
/// drive.
fn equip(aim: &mut Aim, study: &Study, scale: Scale) {
    if aim.kind == Kind::Directory {
        aim.files = study.needs.files;
    }
    let Some(simulated) = &mut aim.simulated else { return };
    if let Some(most) = (study.needs.page_cache)(scale) {
        let bytes = battery::page_cache_bytes(most, aim.file_bytes);
        simulated.page_cache_bytes.get_or_insert(bytes);
        aim.facts = simulated.facts();
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
fn same_target(kept: &Kept, aim: &Aim) -> Result<(), Failure> {
    let before = &kept.run.begin.facts.target;
    let now = &aim.facts.target;
    let serial = |facts: &drivelab_core::facts::TargetFacts| {
        facts.devices.last().map(|device| (device.model.clone(), device.serial.clone()))
    };
    let is_same = before.kind == now.kind
        && serial(before) == serial(now)
        && (aim.creates() || before.bytes == now.bytes);
    if is_same {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{} is not what this run began with: another drive, or another size",
        kept.run.begin.target
    ))
    .advise("Put the drive back under that name, or begin a new study."))
}

fn dry_run(
    options: &StudyCommandOptions,
    first: &Plan,
    aim: &Aim,
    inquiry: &Studied,
) -> Result<Status, Failure> {
    let status = super::run::dry_run(options.shown.json, first, aim)?;
    if !options.shown.json {
        if let Some(forecast) = (inquiry.study.forecast)(&inquiry.setting()) {
            print::text(&format!("\n# {forecast}\n"));
        }
        print::text(&format!(
            "\n# this is the first plan; each of the others depends on what was found until then\n\
             # {}\n# in all {}\n{}",
            inquiry.study.question,
            at_most(inquiry),
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
fn announce(target: &str, inquiry: &Studied) {
    if print::stderr_is_terminal() {
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

/// A study as a run asks it.
struct Studied {
    study: Study,
    options: StudyOptions,
    facts: Facts,
}

impl Studied {
    fn setting(&self) -> Setting<'_> {
        Setting { options: &self.options, facts: &self.facts }
    }

    /// The first plan, or why there is none.
    fn first(&self, aim: &Aim) -> Result<Plan, Failure> {
        if let Some(text) = (self.study.objection)(&self.setting()) {
            return Err(Failure::usage(text));
        }
        let mut begin = Begin { facts: self.facts.clone(), ..Begin::default() };
        begin.state = aim.simulated.as_ref().map(|simulated| simulated.state.word().into());
        let run = Run { begin, ..Run::default() };
        (self.study.next)(&self.setting(), &run).ok_or_else(|| {
            Failure::usage(format!(
                "`{}` can do nothing here within {} and {}",
                self.study.name,
                self.options.time,
                size(self.options.budget.0)
            ))
            .advise("Give a larger --time or --budget.")
        })
    }
}

impl Inquiry for Studied {
    fn next(&mut self, so_far: &Run) -> Option<Plan> {
        (self.study.next)(&self.setting(), so_far)
    }

    fn established(&self, so_far: &Run) -> Option<Established> {
        (self.study.established)(&self.setting(), so_far)
    }

    fn judge(&self, run: &Run) -> Option<Findings> {
        let mut findings = self.study.judged(&self.setting(), run);
        let asks = |text: &String| text.contains("--time") || text.contains("--budget");
        if findings.no_answer && findings.unknown.iter().any(asks) {
            findings.unknown.extend(quick::way_out(self));
        }
        Some(findings)
    }
}
