//! `drivelab doctor`: is this machine fit to measure? And the removal of what killed runs left.

use crate::cli::doctor::DoctorOptions;
use crate::documents::{Cleaned, DoctorAnswer, Left, Restored};
use crate::outcome::{Failure, Status};
use crate::ready::Ready;
use crate::target::{Kind, Missing, ResolvedTarget};
use crate::target_actions::SETTINGS;
use crate::{print, store};
use drivelab_core::driver::drivers_of;
use drivelab_core::facts::{Facts, TargetFacts, TargetKind};
use drivelab_core::fitness::{Check, Observations, Severity};
use drivelab_core::plan::{Engine, Interval, Pattern, Plan, Role, Step, Stream, Until};
use drivelab_core::queue::{Finished, Sink, Testbed, Trouble};
use drivelab_core::record::{Record, StepBegin, StepEnd, Warning};
use drivelab_core::run::Run;
use drivelab_core::summary::summarise;
use drivelab_core::tally::Tally;
use drivelab_core::units::Span;
use drivelab_io::clock::Clock;
use drivelab_io::doctor as looks;
use drivelab_io::facts::{self, System};
use drivelab_io::scratch::{ScratchList, remove_leftovers};
use drivelab_io::settings;
use drivelab_io::testbed::{Handle, RealTestbed};
use drivelab_report::terminal::{doctor_table, leftovers_list, set_up_table};
use drivelab_stats::Estimate;
use drivelab_study::{doctor, set_up};
use std::path::PathBuf;
use std::time::Duration;

/// How long others are watched while nothing is done.
const IDLE: Duration = Duration::from_secs(1);
/// The null engine's load.
const CEILING_SPAN: Span = Span(2_000_000_000);
const CEILING_DEPTH: u32 = 32;
const CEILING_BYTES: u64 = 1 << 30;
const CEILING_INTERVAL: Span = Span(100_000_000);

/// Asks the machine, or cleans up.
pub fn doctor(options: &DoctorOptions) -> Result<Status, Failure> {
    let list = ScratchList::at(store::scratch_list(options.store.runs.as_deref())?);
    let system = System::live();
    if options.clean {
        return clean(&system, &list, options.json);
    }
    let missing = Missing::Refused { line: "doctor", takes_size: false };
    let resolved = ResolvedTarget::look(&system, &options.target, missing)?;
    let seen = look(&system, resolved, Some(&list))?;
    let checks = doctor::judge(&seen);
    let (verdict, is_bad) = doctor::verdict(&checks);
    let set_up = set_up::advise(&seen.facts.target);
    if options.json {
        print::document(DoctorAnswer {
            target: options.target.clone(),
            checks,
            set_up,
            ceiling_iops: seen.ceiling,
            noise: seen.noise,
            verdict,
        })?;
    } else {
        let version = env!("CARGO_PKG_VERSION");
        print::text(&doctor_table(version, &options.target, &seen.facts, &checks, &verdict));
        print::text(&set_up_table(&set_up));
    }
    Ok(if is_bad { Status::Finding } else { Status::Fine })
}

/// Notes what speaks against measuring on this machine now. A simulated drive does not mind it.
///
/// # Errors
/// Ctrl-C.
pub fn note_concerns<I>(ready: &mut Ready<'_, I>) -> Result<(), Failure> {
    let job = ready.job();
    if ready.resolved().kind != Kind::Simulated && !job.is_dry {
        let found = concerns(&job.system, job.target)?;
        ready.warn(found);
    }
    Ok(())
}

/// What a measurement on `target` must be warned of: each bad finding, and the rest by name.
///
/// # Errors
/// Ctrl-C.
fn concerns(system: &System, target: &str) -> Result<Vec<Warning>, Failure> {
    let resolved = ResolvedTarget::look(system, target, Missing::Made)?;
    if resolved.kind == Kind::Absent {
        return Ok(Vec::new());
    }
    // Leftovers of killed runs are removed by the run itself.
    let seen = look(system, resolved, None)?;
    let (bad, rest): (Vec<Check>, Vec<Check>) = doctor::judge(&seen)
        .into_iter()
        .filter(|check| matches!(check.severity, Severity::Bad | Severity::Warning))
        .partition(|check| check.severity == Severity::Bad);
    let warning =
        |text: String, advice: String| Warning { code: "doctor".into(), text, advice, step: None };
    let mut warnings: Vec<Warning> = bad
        .into_iter()
        .map(|check| {
            let found = check.found.trim_end_matches('.');
            let text = format!("Not fit to measure, {}: {found}.", check.name);
            warning(text, check.advice.unwrap_or_default())
        })
        .collect();
    if !rest.is_empty() {
        // One device of several layers has the same concern once a layer.
        let mut names: Vec<String> = rest.into_iter().map(|check| check.name).collect();
        names.dedup();
        warnings.push(warning(
            format!("This machine is not at its best to measure: {}.", names.join(", ")),
            "`drivelab doctor` says what was found and what to do.".into(),
        ));
    }
    Ok(warnings)
}

/// Everything that can be seen, then what must be measured, one after the other.
fn look(
    system: &System,
    resolved: ResolvedTarget,
    list: Option<&ScratchList>,
) -> Result<Observations, Failure> {
    let interrupted = || match drivelab_io::signal::interrupted() {
        true => Err(Failure { status: Status::interruption(), ..Failure::usage("interrupted") }),
        false => Ok(()),
    };
    let devices = facts::devices_below(system, &resolved.path);
    let mut seen = looks::look(system, &resolved.path, resolved.facts);
    seen.leftovers = list.map(looks::leftovers).unwrap_or_default();
    let settings = list.map(|list| settings::unrestored(system, &settings_beside(list)));
    seen.settings_left = settings.unwrap_or_default();
    seen.idle = Some(looks::idle(system, &devices, IDLE));
    interrupted()?;
    let (clock, clock_facts) = Clock::calibrate();
    seen.clock = clock_facts;
    seen.clock_step_ns = looks::clock_step_ns(&clock);
    seen.ceiling = ceiling(clock)?;
    interrupted()?;
    seen.noise = Some(looks::noise(&clock)?);
    interrupted()?;
    Ok(seen)
}

/// What one worker can issue without a drive; `None` where that gives no rate.
fn ceiling(clock: Clock) -> Result<Option<Estimate>, Trouble> {
    let stream = Stream {
        engine: Engine::Null,
        pattern: Pattern::Uniform,
        depth: CEILING_DEPTH,
        ..Stream::default()
    };
    let step = Step {
        name: "generator ceiling".into(),
        until: Until { elapsed: Some(CEILING_SPAN), ..Until::default() },
        repeat: 1,
        streams: vec![stream],
        ..Step::default()
    };
    let target = TargetFacts { kind: TargetKind::Nothing, ..TargetFacts::default() };
    let nothing = Facts { target, ..Facts::default() };
    let mut testbed = RealTestbed::new(nothing, clock, Box::new(|_| Ok(Handle::Nothing)));
    let drivers = drivers_of(&step, 0, 1, CEILING_INTERVAL, CEILING_BYTES)?;
    let mut kept = Kept::default();
    let finished = testbed.run(drivers, &mut kept)?;
    Ok(rate(step, kept, finished))
}

/// The rate of a step as every run computes it.
fn rate(step: Step, kept: Kept, finished: Vec<Finished>) -> Option<Estimate> {
    let begin = StepBegin {
        step: 0,
        plan_step: 0,
        plan: 0,
        repetition: 1,
        name: step.name.clone(),
        role: Role::Measure,
        state: "unknown".into(),
        opened: Vec::new(),
    };
    let plan = Plan { interval: Interval(CEILING_INTERVAL), steps: vec![step], ..Plan::default() };
    let phases = finished.into_iter().map(|finished| finished.phase).collect();
    let mut run = Run::default();
    let mut records = vec![Record::Plan { plan }, Record::StepBegin(begin)];
    records.extend(kept.tallies.into_iter().map(|tally| Record::Tally(Box::new(tally))));
    records.push(Record::StepEnd(Box::new(StepEnd { phases, ..StepEnd::default() })));
    for record in records {
        run.push(record).ok()?;
    }
    summarise(&run).cells.first()?.streams.first()?.total.iops
}

/// Keeps every tally.
#[derive(Debug, Default)]
struct Kept {
    tallies: Vec<Tally>,
}

impl Sink for Kept {
    fn tally(&mut self, tally: &Tally) {
        self.tallies.push(tally.clone());
    }

    fn go_on(&mut self) -> bool {
        !drivelab_io::signal::interrupted()
    }
}

/// Where the settings that runs have changed are noted.
fn settings_beside(list: &ScratchList) -> PathBuf {
    list.path().with_file_name(SETTINGS)
}

/// Puts back settings that killed runs have left changed, and removes their scratch: only what
/// stands in the list of what is ours, with the same inode and time of birth, and is locked by no
/// run.
fn clean(system: &System, list: &ScratchList, json: bool) -> Result<Status, Failure> {
    let settings = settings::leftovers(system, &settings_beside(list));
    let mut found = remove_leftovers(list).map_err(|error| {
        let path = list.path().display();
        Failure::usage(format!("the list of scratch files {path} cannot be used: {error}"))
    })?;
    found.left.append(&mut found.away);
    let is_clean = found.left.is_empty() && settings.iter().all(|left| left.is_restored);
    if json {
        let left = found.left.iter().cloned().map(|(path, reason)| Left { path, reason });
        let (removed, in_use) = (found.removed.clone(), found.in_use.clone());
        let settings = settings
            .iter()
            .map(|left| Restored { text: left.text.clone(), restored: left.is_restored });
        let (settings, left) = (settings.collect(), left.collect());
        print::document(Cleaned { settings, removed, in_use, left })?;
    } else {
        let settings: Vec<String> = settings.into_iter().map(|left| left.text).collect();
        print::text(&leftovers_list(&settings, &found.removed, &found.in_use, &found.left));
    }
    Ok(if is_clean { Status::Fine } else { Status::Finding })
}
