//! One run from the look at the target to the removal of its scratch.

mod going_on;
mod idle_rank;
pub mod intent;
mod open_target;
mod rounds;
mod suspicion;

use crate::asked_drives::AskedDrives;
use crate::execute::limits::Limits;
use crate::execute::{Execution, Stop};
use crate::job::{Inquiry, Job};
use crate::outcome::{Failure, Status};
use crate::progress::Progress;
use crate::store;
use crate::store::writer::{Recorder, RunDirectory};
use crate::target::{Kind, ResolvedTarget};
use crate::target_actions::TargetActions;
use crate::waiting::Waiting;
use crate::wall_clock::WallTime;
use drivelab_core::findings::Answer;
use drivelab_core::ledger::Ledger;
use drivelab_core::plan::{Plan, Stream};
use drivelab_core::queue::{Testbed, TroubleKind};
use drivelab_core::record::{Begin, ClockFacts, End, FORMAT, Record, Warning};
use drivelab_core::run::Run;
use drivelab_core::verified::Verified;
use drivelab_io::clock::Clock;
use drivelab_io::facts;
use drivelab_io::guard::{self, Refusal};
use drivelab_io::ranks::Ranks;
use drivelab_io::scratch;
use drivelab_io::testbed::RealTestbed;
use drivelab_study::experiment::Setting;
use drivelab_study::experiment::budget::between_ns;
use idle_rank::IdleRank;
use open_target::OpenTarget;
use std::path::{Path, PathBuf};

pub use open_target::or_gone;

/// A run that has ended, one way or another.
#[derive(Debug)]
pub struct Ended {
    /// Everything recorded.
    pub run: Run,
    /// Its file, if it could be written.
    pub path: Option<PathBuf>,
    /// The exit status so far.
    pub status: Status,
    /// Why it did not reach its end.
    pub failure: Option<Failure>,
    /// An operation did not come back.
    pub stuck: bool,
    /// Those that shared the work.
    pub ranks: Ranks,
    /// What is still open; closed when the results are out.
    pub open_target: OpenTarget,
}

/// Executes `first` and whatever `inquiry` adds to it, on the target that `resolved` describes.
pub fn run(
    job: &Job<'_>,
    mut resolved: ResolvedTarget,
    first: Plan,
    inquiry: &mut dyn Inquiry,
) -> Result<Ended, Failure> {
    let before = job.kept.iter().flat_map(|kept| &kept.run.plans);
    give_names(&mut resolved, before.chain([&first]));
    let (system, ranks) = (&job.system, job.ranks);
    let scratch_list = store::scratch_list(Some(&job.runs))?;
    let open_target = OpenTarget::open(job, &resolved, &first, scratch_list.clone())
        .map_err(|failure| or_gone(failure, job, &resolved))?;
    let (mut bed, clock_facts) = testbed_of(job, &resolved, &open_target)?;
    let mut begin = begin_of(job, &resolved, first.seed, clock_facts);
    begin.processes = crate::ranks::processes(ranks, &resolved)?;
    let directory = run_directory_of(job, &resolved, &first);
    let shares_drive = directory.shares_drive;
    let mut recorder = match &job.kept {
        None if !ranks.is_rank_0() => Recorder::silent(begin),
        None => Recorder::begin_before(&directory, begin, job.live.witness()),
        Some(kept) => Recorder::go_on(&directory, kept),
    };
    if job.kept.is_none() {
        let store = shares_drive.then(|| store_shares_drive(&job.runs));
        store.into_iter().for_each(|warning| recorder.warn(warning));
        let known = known_before(job, &resolved, &open_target, &first);
        known.into_iter().for_each(|warning| recorder.warn(warning));
    } else if resolved.simulated.is_none() {
        let resumed = going_on::resumed(&resolved, recorder.run());
        recorder.warn(going_on::broken_off(&resumed));
        recorder.record(Record::Resumed(resumed));
    }
    let mut target_actions = actions_on(job, &resolved, &open_target, scratch_list);
    let mut progress = Progress::new(job.command);
    let stop = {
        let mut execution = Execution::new(
            ranks,
            bed.as_mut(),
            &mut recorder,
            &mut progress,
            &mut target_actions,
            open_target.file_bytes(&resolved),
        );
        if let Some(simulated) = &resolved.simulated {
            execution.ledger = Ledger::of(simulated.state.word());
        }
        execution.limits = limits_of(job, &resolved);
        execution.ask_drives(AskedDrives::below(system, &resolved.facts));
        let stop = match &job.kept {
            Some(kept) if resolved.simulated.is_some() => {
                going_on::simulate_again(&mut execution, kept, inquiry)
            }
            Some(kept) => {
                execution.take_up(&kept.run);
                inquiry
                    .next(execution.recorder.run())
                    .map_or(Ok(()), |next| run_plans(&mut execution, next, inquiry))
            }
            None => run_plans(&mut execution, first, inquiry),
        };
        execution.ask_drives_last(stop)
    };
    drop((bed, target_actions));
    Ok(end(ranks, recorder, stop, inquiry, open_target))
}

/// What can be done to the target, and the devices below it that are counted and watched.
fn actions_on(
    job: &Job<'_>,
    resolved: &ResolvedTarget,
    open_target: &OpenTarget,
    scratch_list: PathBuf,
) -> TargetActions {
    let watched = match resolved.kind {
        Kind::Nothing | Kind::Simulated => Vec::new(),
        _ => facts::devices_below(&job.system, &resolved.path),
    };
    let descriptors = open_target.descriptors.clone();
    let mut actions = TargetActions::new(job.system.clone(), watched, descriptors, scratch_list);
    if let (Kind::Device, Some(seen)) = (resolved.kind, resolved.facts.target.devices.first()) {
        actions.watch(seen);
    }
    actions
}

/// What is to be said of a run before it begins.
fn known_before(
    job: &Job<'_>,
    resolved: &ResolvedTarget,
    open_target: &OpenTarget,
    first: &Plan,
) -> Vec<Warning> {
    let known = job.warnings.iter().chain(&open_target.warnings).cloned();
    known
        .chain(differences(resolved))
        .chain(modelled_names(resolved))
        .chain(crate::ranks::on_rank_0_alone(job.ranks, resolved, first))
        .collect()
}

/// What a line may take in all.
fn limits_of(job: &Job<'_>, resolved: &ResolvedTarget) -> Option<Limits> {
    if let Some(options) = job.study.as_ref().filter(|options| options.time.0 > 0) {
        let between_ns = between_ns(&Setting { options, facts: &resolved.facts });
        return Some(Limits::of(options.time, options.budget, between_ns));
    }
    None
}

/// Where the drivers meet the drive, and how time is read there.
fn testbed_of(
    job: &Job<'_>,
    resolved: &ResolvedTarget,
    open_target: &OpenTarget,
) -> Result<(Box<dyn Testbed>, ClockFacts), Failure> {
    if let Some(simulated) = &resolved.simulated {
        let clock = ClockFacts {
            source: "virtual".into(),
            reason: "the drive is simulated".into(),
            ..ClockFacts::default()
        };
        // One memory holds it, so that one rank has all of its workers.
        let bed: Box<dyn Testbed> = match job.ranks.is_rank_0() {
            true => {
                let mut waiting = Waiting::new(job.target, simulated.state.word());
                simulated.build_for(&mut waiting).map_err(Failure::usage)?
            }
            false => Box::new(IdleRank::new(resolved.facts.clone())),
        };
        return Ok((bed, clock));
    }
    let (clock, clock_facts) = Clock::calibrate();
    let mut testbed =
        RealTestbed::new(resolved.facts.clone(), clock, open_target.descriptors.clone().opener());
    testbed.stuck_after = job.stuck_after;
    testbed.ranks = job.ranks;
    Ok((Box::new(testbed), clock_facts))
}

fn begin_of(job: &Job<'_>, resolved: &ResolvedTarget, seed: u64, clock: ClockFacts) -> Begin {
    Begin {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION").into(),
        run: store::new_id(),
        started_at: WallTime::now().rfc3339(),
        command: job.command.into(),
        arguments: std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect(),
        target: job.target.into(),
        seed,
        clock,
        facts: resolved.facts.clone(),
        directory: std::env::current_dir().ok().map(|path| path.display().to_string()),
        state: resolved.simulated.as_ref().map(|simulated| simulated.state.word().into()),
        tag: job.tag.clone(),
        processes: Vec::new(),
        study: job.study.clone(),
    }
}

fn run_plans(
    execution: &mut Execution<'_>,
    first: Plan,
    inquiry: &mut dyn Inquiry,
) -> Result<(), Stop> {
    let mut plan = Some(first);
    while let Some(current) = plan {
        rounds::run_plan(execution, &current)?;
        plan = follow(execution, inquiry);
    }
    Ok(())
}

/// What follows a plan that was done: first what it proves, then the next plan.
fn follow(execution: &mut Execution<'_>, inquiry: &mut dyn Inquiry) -> Option<Plan> {
    if let Some(found) = inquiry.established(execution.recorder.run()) {
        execution.establish(found);
    }
    inquiry.next(execution.recorder.run())
}

/// How a run ended before it was judged: its status, why it is not complete, and what failed.
fn stopped(
    ranks: Ranks,
    stop: Result<(), Stop>,
    run: &Run,
) -> (Status, Option<String>, Option<Failure>) {
    let interrupted = || (interruption(ranks), Some("interrupted".to_string()), None);
    match stop {
        Ok(()) => match objection(run) {
            None => (Status::Fine, None, None),
            Some(text) => (Status::Invalid, None, Some(Failure::invalid(text))),
        },
        Err(Stop::Spent(_)) => stopped(ranks, Ok(()), run),
        Err(Stop::Interrupted) => interrupted(),
        Err(Stop::Trouble(trouble))
            if trouble.kind == TroubleKind::Stuck && drivelab_io::signal::impatient() =>
        {
            interrupted()
        }
        Err(Stop::Trouble(trouble)) => {
            let failure = Failure::from(trouble.clone());
            (failure.status, Some(trouble.text), Some(failure))
        }
    }
}

/// Of several ranks it is always Ctrl-C: mpirun passes on another signal than it was sent.
fn interruption(ranks: Ranks) -> Status {
    if ranks.is_alone() { Status::interruption() } else { Status::Interrupted }
}

fn end(
    ranks: Ranks,
    mut recorder: Recorder,
    stop: Result<(), Stop>,
    inquiry: &dyn Inquiry,
    mut open_target: OpenTarget,
) -> Ended {
    let stuck = matches!(&stop, Err(Stop::Trouble(it)) if it.kind == TroubleKind::Stuck);
    if let Err(Stop::Spent(text)) = &stop {
        recorder.warn(spent(text, recorder.run()));
    }
    let (mut status, reason, mut failure) = stopped(ranks, stop, recorder.run());
    let findings = reason.is_none().then(|| inquiry.judge(recorder.run())).flatten();
    if let Some(findings) = findings {
        if status == Status::Fine {
            status = match findings.answer() {
                Answer::None => Status::Invalid,
                Answer::Bad => Status::Finding,
                Answer::Given => Status::Fine,
            };
        }
        recorder.record(Record::Judged { findings: Box::new(findings) });
    } else if status == Status::Fine
        && let Some(suspicion) = suspicion::of(recorder.run())
    {
        status = Status::Invalid;
        failure = Some(suspicion);
    }
    if ranks.is_rank_0() {
        let remarks = inquiry.remarks(recorder.run());
        remarks.into_iter().for_each(|remark| recorder.warn(remark));
    }
    if let Some(text) = scratch::life::lost() {
        recorder.warn(Warning {
            code: "ledger_lost".into(),
            text: format!("{text}."),
            advice: "If this run is killed, its scratch is not found again; remove it by hand."
                .into(),
            step: None,
        });
    }
    // Rank 0 has seen everything; the others end as it does.
    (status, failure) = crate::ranks::status_of_rank_0(ranks, status, failure);
    let end = End { complete: reason.is_none(), status: status as u8, reason };
    let (mut run, path, trouble) = recorder.end(end);
    let path = match trouble {
        None => Some(path),
        Some(text) => {
            run.warnings.push(Warning {
                code: "run_file_not_written".into(),
                text: format!("{text}."),
                advice: "Name a directory that can be written, and has room:  --runs DIR".into(),
                step: None,
            });
            None
        }
    };
    open_target.hangs = stuck;
    Ended { run, path, status, failure, stuck, ranks, open_target }
}

/// What a reader must know of a run that used up what it was allowed.
fn spent(text: &str, run: &Run) -> Warning {
    let followed = "what would have followed";
    let (last, missing) = run.steps.last().map_or((String::new(), followed), |step| {
        let name = &step.begin.name;
        match step.end.as_ref().is_some_and(|end| end.incomplete.is_some()) {
            true => (format!(" in `{name}`"), "the rest of it"),
            false => (format!(" after `{name}`"), followed),
        }
    });
    Warning {
        code: "allowance_spent".into(),
        text: format!("{text}{last}; {missing} was not measured."),
        advice: "A larger --time or --budget measures all of it.".into(),
        step: None,
    }
}

/// What checking the data of all steps objects to: blocks that are wrong before blocks of which
/// nothing can be told.
fn objection(run: &Run) -> Option<String> {
    let all = || run.steps.iter().map(|step| Verified::of(run, step));
    let wrong = all().find(|verified| verified.wrong() > 0);
    wrong.or_else(|| all().find(|verified| verified.foreign() > 0))?.objection()
}

fn run_directory_of(job: &Job<'_>, resolved: &ResolvedTarget, plan: &Plan) -> RunDirectory {
    let system = &job.system;
    let existing = job.runs.ancestors().find(|path| path.exists()).unwrap_or(&job.runs);
    let below = facts::devices_below(system, existing);
    let theirs = facts::devices_below(system, &resolved.path);
    let is_real = !matches!(resolved.kind, Kind::Nothing | Kind::Simulated);
    let shares = is_real && below.iter().any(|one| theirs.contains(one));
    let lists = plan.steps.iter().filter_map(|step| drivelab_io::cpus::parse(&step.cpus).ok());
    let mut measuring_cpus: Vec<usize> = lists.flatten().collect();
    measuring_cpus.sort_unstable();
    measuring_cpus.dedup();
    RunDirectory { path: job.runs.clone(), shares_drive: shares, measuring_cpus }
}

/// In what a simulated drive is not what was typed.
fn differences(resolved: &ResolvedTarget) -> impl Iterator<Item = Warning> {
    let of = resolved.simulated.iter().flat_map(|simulated| &simulated.differences);
    of.map(|found| Warning {
        code: found.code.into(),
        text: found.text.clone(),
        advice: found.advice.clone(),
        step: None,
    })
}

/// A simulated drive gets a file system where the first plan, or one of a run that goes on, has
/// names.
fn give_names<'a>(resolved: &mut ResolvedTarget, plans: impl Iterator<Item = &'a Plan>) {
    let Some(simulated) = &mut resolved.simulated else { return };
    let mut streams = plans.flat_map(|plan| &plan.steps).flat_map(|step| &step.streams);
    simulated.has_names |= streams.any(Stream::is_metadata);
}

/// The file system of names on a simulated drive is a model, and with which parameters.
fn modelled_names(resolved: &ResolvedTarget) -> Option<Warning> {
    let simulated = resolved.simulated.as_ref().filter(|simulated| simulated.has_names)?;
    Some(Warning {
        code: "names_are_modelled".into(),
        text: simulated.names_note(),
        advice: String::new(),
        step: None,
    })
}

fn store_shares_drive(runs: &Path) -> Warning {
    Warning {
        code: "store_on_target".into(),
        text: format!(
            "run files in {} lie on a drive of the target: intervals were kept in memory until \
             each step ended.",
            runs.display()
        ),
        advice: "Name a directory on another drive with --runs DIR.".into(),
        step: None,
    }
}

/// A refusal of the guard with its exit status.
pub fn refused(refusal: Refusal) -> Failure {
    let text = refusal.to_string();
    match refusal.kind {
        guard::Kind::Safety => Failure::refused(text),
        guard::Kind::Usage => Failure::usage(text),
        guard::Kind::Failed => Failure::invalid(text),
    }
}
