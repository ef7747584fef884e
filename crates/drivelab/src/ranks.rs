//! Several processes as one: what they must agree on, who opens what, and how what they measured
//! comes together.

use crate::outcome::{Failure, Status};
use crate::target::ResolvedTarget;
use drivelab_core::plan::{PatternName, Plan, Stream};
use drivelab_core::queue::Trouble;
use drivelab_core::record::{ProcessFacts, StepEnd, Warning};
use drivelab_core::tally::{Phase, Slow, Tally};
use drivelab_io::opening::Part;
use drivelab_io::ranks::{Ranks, ranks};
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hasher};
use std::io::Read;
use std::path::Path;

/// What one process says of something that all must be able to do.
#[derive(Debug, Serialize, Deserialize)]
struct Said {
    status: u8,
    text: String,
    advice: Option<String>,
}

/// All can, or nobody does: the first that cannot is what everyone gets.
pub fn agree<T>(mine: Result<T, Failure>) -> Result<T, Failure> {
    let ranks = ranks();
    if ranks.is_alone() {
        return mine;
    }
    let said = mine.as_ref().err().map(|failure| Said {
        status: failure.status as u8,
        text: failure.text.clone(),
        advice: failure.advice.clone(),
    });
    let all: Vec<Option<Said>> = gather(&ranks, &said)?;
    let first = all.into_iter().enumerate().find_map(|(rank, said)| Some((rank, said?)));
    let first = first.map(|(rank, said)| {
        let text = if rank == 0 { said.text } else { format!("process {rank}: {}", said.text) };
        Said { text, ..said }
    });
    let heard: Option<Said> = broadcast(&ranks, &first)?;
    match (heard, mine) {
        (None, Ok(mine)) => Ok(mine),
        (Some(said), _) => {
            Err(Failure { status: status_of(said.status), text: said.text, advice: said.advice })
        }
        (None, Err(failure)) => Err(failure),
    }
}

/// How a run ended, as the first process has it.
pub fn ended(status: Status, failure: Option<Failure>) -> (Status, Option<Failure>) {
    let ranks = ranks();
    if ranks.is_alone() {
        return (status, failure);
    }
    match broadcast(&ranks, &(status as u8)) {
        Ok(number) => (status_of(number), failure.filter(|_| ranks.is_rank_0())),
        Err(failure) => (failure.status, Some(failure)),
    }
}

fn status_of(number: u8) -> Status {
    Status::ALL.into_iter().find(|status| *status as u8 == number).unwrap_or(Status::Invalid)
}

/// The same value from every process, at the first; nothing at the others.
pub fn gather<T: Serialize + for<'de> Deserialize<'de>>(
    ranks: &Ranks,
    mine: &T,
) -> Result<Vec<T>, Failure> {
    let bytes = serde_json::to_vec(mine).map_err(|error| strange(&error))?;
    let all = ranks.gather(&bytes)?;
    all.iter().map(|one| serde_json::from_slice(one).map_err(|error| strange(&error))).collect()
}

/// What the first process says, at all of them.
pub fn broadcast<T: Serialize + for<'de> Deserialize<'de>>(
    ranks: &Ranks,
    of_rank_0: &T,
) -> Result<T, Failure> {
    let bytes = serde_json::to_vec(of_rank_0).map_err(|error| strange(&error))?;
    serde_json::from_slice(&ranks.broadcast(&bytes)?).map_err(|error| strange(&error))
}

fn strange(error: &serde_json::Error) -> Failure {
    Failure::invalid(format!("what the processes say to each other cannot be read: {error}"))
}

/// Refuses processes that were not started alike, before any of them does anything.
pub fn same_words(words: &[String]) -> Result<(), Failure> {
    let ranks = ranks();
    if ranks.is_alone() {
        return Ok(());
    }
    let mut words = words.to_vec();
    if let Some(program) = words.first_mut() {
        *program = apart(Path::new(program)).1;
    }
    let version = env!("CARGO_PKG_VERSION").to_string();
    all_as_the_first(&(version, words, build()), |other, first| {
        let ((version, words, _), (version_of_first, words_of_first, _)) = (other, first);
        if version != version_of_first {
            return format!("is drivelab {version}, and the first one is {version_of_first}");
        }
        if words == words_of_first {
            return format!("is another build of drivelab {version} than the first one");
        }
        format!("was started with other words than the first one: {}", words.join(" "))
    })
}

/// Tells builds of one version apart: the bytes of the program's file, and a digest of its head,
/// where the linker keeps the build ID (elf(5), `.note.gnu.build-id`). None where it cannot be
/// read, which is no reason to refuse.
fn build() -> Option<(u64, u64)> {
    let mut program = std::fs::File::open("/proc/self/exe").ok()?;
    let mut head = [0; 4096];
    program.read_exact(&mut head).ok()?;
    let mut digest = DefaultHasher::new();
    digest.write(&head);
    Some((program.metadata().ok()?.len(), digest.finish()))
}

/// Refuses processes that would not do the same: other plans, other targets. The seed is the
/// first one's.
pub fn same_plan(plan: &mut Plan, target: &str) -> Result<(), Failure> {
    let ranks = ranks();
    if ranks.is_alone() {
        return Ok(());
    }
    plan.seed = broadcast(&ranks, &plan.seed)?;
    all_as_the_first(&(plan.clone(), target.to_string()), |(_, target), (_, target_of_first)| {
        if target != target_of_first {
            return format!("has the target {target}, and the first one has {target_of_first}");
        }
        "comes to another plan than the first one".to_string()
    })
}

/// Refuses processes that do not find the same at the target. Sizes that follow from free space
/// are the first one's.
pub fn same_target(resolved: &mut ResolvedTarget) -> Result<(), Failure> {
    let ranks = ranks();
    if ranks.is_alone() {
        return Ok(());
    }
    let place = resolved.path.display().to_string();
    all_as_the_first(&resolved.kind, |kind, kind_of_first| {
        let (found, known) = (kind.in_words(), kind_of_first.in_words());
        format!("finds {found} at {place}, and the first one finds {known}")
    })?;
    resolved.file_bytes = broadcast(&ranks, &resolved.file_bytes)?;
    Ok(())
}

/// Refuses where one process has something else than the first one; `difference` says what.
fn all_as_the_first<T>(mine: &T, difference: impl Fn(&T, &T) -> String) -> Result<(), Failure>
where
    T: PartialEq + Serialize + for<'de> Deserialize<'de>,
{
    let all = gather(&ranks(), mine)?;
    let other = all.iter().enumerate().find(|(_, one)| *one != mine);
    agree(other.map_or(Ok(()), |(rank, other)| {
        let advice = "Start the same program with the same words everywhere, on a target that is \
                      the same for all.";
        Err(Failure::usage(format!("process {rank} {}", difference(other, mine))).advise(advice))
    }))
}

/// What a process has to do with each of the plan's files.
pub fn parts(plan: &Plan, ranks: Ranks) -> Vec<Part> {
    let count = plan.files.len();
    let mut writers: Vec<Option<u32>> = vec![None; count];
    let mut users: Vec<Option<u32>> = vec![None; count];
    let mut mine = vec![false; count];
    let data = |stream: &&Stream| stream.pattern != PatternName::Names;
    for stream in plan.steps.iter().flat_map(|step| &step.streams).filter(data) {
        for worker in 0..stream.workers.max(1) {
            let rank = ranks.rank_of(worker, stream.workers);
            let first = stream.first_file_of(worker) as usize;
            for file in (first..first + stream.files_of_worker() as usize).take(count) {
                let least = |known: Option<u32>| Some(known.map_or(rank, |known| known.min(rank)));
                users[file] = least(users[file]);
                if stream.changes_data() {
                    writers[file] = least(writers[file]);
                }
                mine[file] |= rank == ranks.rank();
            }
        }
    }
    (0..count)
        .map(|file| {
            let opens = writers[file].or(users[file]).unwrap_or(0);
            match (opens == ranks.rank(), mine[file]) {
                (true, _) => Part::Opens,
                (false, true) => Part::Joins,
                (false, false) => Part::None,
            }
        })
        .collect()
}

/// What one process measured in a step.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct RankResult {
    /// Its machine.
    pub host: String,
    /// CLOCK_MONOTONIC at time zero of its stamps, in that of the first process.
    pub zero_ns: u64,
    /// Intervals of its workers.
    pub tallies: Vec<Tally>,
    /// What its drivers left behind.
    pub end: StepEnd,
    /// Why it ended early: a number of the kind of trouble, and the reason.
    pub stop: Option<(u8, String)>,
    /// Operations that were due and not issued.
    pub unissued: u64,
}

impl RankResult {
    /// Takes its times to those of the process whose time zero is at `zero_ns`.
    pub fn shifted(mut self, zero_ns: u64) -> Self {
        let by = self.zero_ns as i64 - zero_ns as i64;
        let shift = |time: &mut u64| *time = time.saturating_add_signed(by);
        for tally in &mut self.tallies {
            shift(&mut tally.from);
            shift(&mut tally.to);
            for gap in &mut tally.gaps {
                shift(&mut gap.from);
                shift(&mut gap.to);
            }
        }
        for Phase { opened, measured_from, first, last, closed, .. } in &mut self.end.phases {
            [opened, measured_from, first, last, closed].into_iter().for_each(shift);
        }
        for Slow { issued, .. } in &mut self.end.slowest {
            shift(issued);
        }
        self
    }
}

/// The processes, as the run file tells them; none where there is one alone.
pub fn processes(resolved: &ResolvedTarget) -> Result<Vec<ProcessFacts>, Failure> {
    let ranks = ranks();
    if ranks.is_alone() {
        return Ok(Vec::new());
    }
    let (clock_ahead_ns, clock_skew_ns) = ranks.clock_offset_ns();
    let host = resolved.facts.host.hostname.clone().unwrap_or_default();
    gather(&ranks, &ProcessFacts { rank: ranks.rank(), host, clock_ahead_ns, clock_skew_ns })
}

/// What the processes found, each its own: what the first of them says.
pub fn first_found(mine: Option<Warning>) -> Result<Option<Warning>, Failure> {
    let ranks = ranks();
    if ranks.is_alone() {
        return Ok(mine);
    }
    Ok(gather(&ranks, &mine)?.into_iter().flatten().next())
}

/// What a reader must know of a run of several processes of which only the first does something.
pub fn in_one_process(resolved: &ResolvedTarget, plan: &Plan) -> Vec<Warning> {
    let size = ranks().size();
    let warning = |code: &str, text: String, advice: &str| Warning {
        code: code.into(),
        text,
        advice: advice.into(),
        step: None,
    };
    let simulated = resolved.simulated.is_some().then(|| {
        let text = format!(
            "the simulated drive is in the memory of one process: the first of the {size} has \
             done all of the work."
        );
        let advice = "The figures are those that one process alone would give.";
        warning("simulated_in_one", text, advice)
    });
    let traced = plan.steps.iter().any(|step| step.trace).then(|| {
        let text = format!(
            "what was taken apart is I/O of the first of the {size} processes alone, on its \
             machine."
        );
        let advice = "Start it without mpirun to have the I/O of all workers taken apart.";
        warning("traced_in_one", text, advice)
    });
    let found = simulated.into_iter().chain(traced);
    if ranks().is_alone() { Vec::new() } else { found.collect() }
}

/// What cannot be shared by several processes.
pub fn refuse_several(what: &str) -> Result<(), Failure> {
    match ranks().is_alone() {
        true => Ok(()),
        false => Err(Failure::usage(format!("{what} runs in one process, and here are several"))
            .advise("Start it without mpirun, or run a plan: mpirun … drivelab run PLAN.toml DIR")),
    }
}

/// The directory of a path, and its last name.
pub fn apart(path: &Path) -> (String, String) {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    (directory.unwrap_or(Path::new(".")).to_string_lossy().into_owned(), name)
}

/// A trouble as it is told to others.
pub fn stop_message(trouble: &Trouble) -> (u8, String) {
    (Failure::from(trouble.clone()).status as u8, trouble.text.clone())
}
