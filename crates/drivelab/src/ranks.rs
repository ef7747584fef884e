//! Several ranks of MPI as one run: what they must agree on, who opens what, and what a reader must
//! know of them. Everything here takes the [`Ranks`] that `main` has joined; for one alone it does
//! nothing.

use crate::outcome::{Failure, Status};
use crate::store;
use crate::target::{Kind, ResolvedTarget};
use drivelab_core::plan::{Plan, PlanFile, Stream};
use drivelab_core::record::{ProcessFacts, Warning};
use drivelab_core::units::Size;
use drivelab_io::opening::Part;
use drivelab_io::ranks::Ranks;
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hasher};
use std::io::Read;
use std::path::Path;

/// Why one rank cannot do what all must be able to do.
#[derive(Debug, Serialize, Deserialize)]
struct FailureMessage {
    status: u8,
    text: String,
    advice: Option<String>,
}

/// All can, or nobody does: the failure of the lowest rank that cannot is what everyone gets.
pub fn agree<T>(ranks: Ranks, mine: Result<T, Failure>) -> Result<T, Failure> {
    if ranks.is_alone() {
        return mine;
    }
    let message = mine.as_ref().err().map(|failure| FailureMessage {
        status: failure.status as u8,
        text: failure.text.clone(),
        advice: failure.advice.clone(),
    });
    let all: Vec<Option<FailureMessage>> = gather(ranks, &message)?;
    let first = all.into_iter().enumerate().find_map(|(rank, failed)| Some((rank, failed?)));
    let first = first.map(|(rank, failed)| {
        let text = if rank == 0 { failed.text } else { format!("process {rank}: {}", failed.text) };
        FailureMessage { text, ..failed }
    });
    let first: Option<FailureMessage> = broadcast(ranks, &first)?;
    match (first, mine) {
        (None, Ok(mine)) => Ok(mine),
        (Some(FailureMessage { status, text, advice }), _) => {
            Err(Failure { status: status_of(status), text, advice })
        }
        (None, Err(failure)) => Err(failure),
    }
}

/// Done by rank 0 alone; all learn whether it could.
pub fn on_rank_0<T>(
    ranks: Ranks,
    act: impl FnOnce() -> Result<T, Failure>,
) -> Result<Option<T>, Failure> {
    agree(ranks, if ranks.is_rank_0() { act().map(Some) } else { Ok(None) })
}

/// Made by rank 0, and joined by the others, which know it by its mark.
pub fn made_by_rank_0<T, M: Serialize + for<'de> Deserialize<'de>>(
    ranks: Ranks,
    make: impl FnOnce() -> Result<T, Failure>,
    mark: impl FnOnce(&T) -> Result<M, Failure>,
    join: impl FnOnce(M) -> Result<T, Failure>,
) -> Result<T, Failure> {
    if ranks.is_alone() {
        return make();
    }
    let made = on_rank_0(ranks, || {
        let made = make()?;
        let mark = mark(&made)?;
        Ok((made, mark))
    })?;
    let (made, mark) = made.unzip();
    let mark = broadcast(ranks, &mark)?;
    agree(
        ranks,
        match (made, mark) {
            (Some(made), _) => Ok(made),
            (None, Some(mark)) => join(mark),
            (None, None) => Err(Failure::invalid("rank 0 made no directory (a defect)")),
        },
    )
}

/// How a run ended, as rank 0 has it.
pub fn status_of_rank_0(
    ranks: Ranks,
    status: Status,
    failure: Option<Failure>,
) -> (Status, Option<Failure>) {
    if ranks.is_alone() {
        return (status, failure);
    }
    match broadcast(ranks, &(status as u8)) {
        Ok(number) => (status_of(number), failure.filter(|_| ranks.is_rank_0())),
        Err(failure) => (failure.status, Some(failure)),
    }
}

fn status_of(number: u8) -> Status {
    Status::ALL.into_iter().find(|status| *status as u8 == number).unwrap_or(Status::Invalid)
}

/// A value of each rank, at rank 0; nothing at the others.
pub fn gather<T: Serialize + for<'de> Deserialize<'de>>(
    ranks: Ranks,
    mine: &T,
) -> Result<Vec<T>, Failure> {
    let bytes = serde_json::to_vec(mine).map_err(|error| unreadable(&error))?;
    let all = ranks.gather(&bytes)?;
    all.iter().map(|one| serde_json::from_slice(one).map_err(|error| unreadable(&error))).collect()
}

/// A value of each rank, at all of them, where each has one.
pub fn all_gather<T: Serialize + for<'de> Deserialize<'de>>(
    ranks: Ranks,
    mine: Result<T, Failure>,
) -> Result<Vec<T>, Failure> {
    let all = gather(ranks, &agree(ranks, mine)?)?;
    broadcast(ranks, &all)
}

/// The value of rank 0, at all of them.
pub fn broadcast<T: Serialize + for<'de> Deserialize<'de>>(
    ranks: Ranks,
    of_rank_0: &T,
) -> Result<T, Failure> {
    let bytes = serde_json::to_vec(of_rank_0).map_err(|error| unreadable(&error))?;
    serde_json::from_slice(&ranks.broadcast(&bytes)?).map_err(|error| unreadable(&error))
}

fn unreadable(error: &serde_json::Error) -> Failure {
    Failure::invalid(format!("a message between the processes cannot be read: {error}"))
}

/// Refuses ranks that were not started alike, before any of them does anything.
pub fn same_command_line(ranks: Ranks, words: &[String]) -> Result<(), Failure> {
    if ranks.is_alone() {
        return Ok(());
    }
    let mut words = words.to_vec();
    if let Some(program) = words.first_mut() {
        *program = apart(Path::new(program)).1;
    }
    let version = env!("CARGO_PKG_VERSION").to_string();
    same_as_rank_0(ranks, &(version, words, build()), |other, of_rank_0| {
        let ((version, words, _), (version_of_rank_0, words_of_rank_0, _)) = (other, of_rank_0);
        if version != version_of_rank_0 {
            return format!("is drivelab {version}, and rank 0 is {version_of_rank_0}");
        }
        if words == words_of_rank_0 {
            return format!("is another build of drivelab {version} than rank 0");
        }
        format!("was started with other arguments than rank 0: {}", words.join(" "))
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

/// Refuses ranks that would not do the same: other plans, other targets. The seed is rank 0's.
pub fn same_plan(ranks: Ranks, plan: &mut Plan, target: &str) -> Result<(), Failure> {
    if ranks.is_alone() {
        return Ok(());
    }
    plan.seed = broadcast(ranks, &plan.seed)?;
    same_as_rank_0(
        ranks,
        &(plan.clone(), target.to_string()),
        |(_, target), (_, target_of_rank_0)| {
            if target != target_of_rank_0 {
                return format!("has the target {target}, and rank 0 has {target_of_rank_0}");
            }
            "arrives at another plan than rank 0".to_string()
        },
    )
}

/// Refuses ranks that do not find the same at the target. Sizes that follow from free space are
/// rank 0's.
pub fn same_target(ranks: Ranks, resolved: &mut ResolvedTarget) -> Result<(), Failure> {
    if ranks.is_alone() {
        return Ok(());
    }
    let place = resolved.path.display().to_string();
    same_as_rank_0(ranks, &resolved.kind, |kind, kind_of_rank_0| {
        let (found, known) = (kind.in_words(), kind_of_rank_0.in_words());
        format!("finds {found} at {place}, and rank 0 finds {known}")
    })?;
    resolved.file_bytes = broadcast(ranks, &resolved.file_bytes)?;
    Ok(())
}

/// Refuses where a rank has something else than rank 0; `difference` says what.
fn same_as_rank_0<T>(
    ranks: Ranks,
    mine: &T,
    difference: impl Fn(&T, &T) -> String,
) -> Result<(), Failure>
where
    T: PartialEq + Serialize + for<'de> Deserialize<'de>,
{
    let all = gather(ranks, mine)?;
    let other = all.iter().enumerate().find(|(_, one)| *one != mine);
    agree(ranks, other.map_or(Ok(()), |(rank, other)| {
        let advice = "Start the same program with the same arguments everywhere, on a target that \
                      is the same for all.";
        Err(Failure::usage(format!("process {rank} {}", difference(other, mine))).advise(advice))
    }))
}

/// Files that several ranks share have names that all of them know.
pub fn name_files(
    ranks: Ranks,
    plan: &mut Plan,
    resolved: &mut ResolvedTarget,
) -> Result<(), Failure> {
    if ranks.is_alone() || resolved.files == 0 || !plan.files.is_empty() {
        return Ok(());
    }
    let stem = broadcast(ranks, &format!("drivelab-scratch-{}", store::new_id()))?;
    let named: Vec<String> = match resolved.kind {
        Kind::Directory => (0..resolved.files).map(|index| format!("{stem}-{index}.dat")).collect(),
        Kind::Absent | Kind::File => {
            let (directory, first) = apart(&resolved.path);
            resolved.path = directory.into();
            resolved.kind = Kind::Directory;
            let further = (1..resolved.files).map(|index| format!("{first}.{index}"));
            [first.clone()].into_iter().chain(further).collect()
        }
        Kind::Device | Kind::Simulated | Kind::Nothing => return Ok(()),
    };
    let size = Size(resolved.file_bytes);
    plan.files = named.into_iter().map(|name| PlanFile { name, size, grows: false }).collect();
    Ok(())
}

/// What a rank has to do with each of the plan's files.
pub fn parts(ranks: Ranks, plan: &Plan) -> Vec<Part> {
    let count = plan.files.len();
    let mut writers: Vec<Option<u32>> = vec![None; count];
    let mut users: Vec<Option<u32>> = vec![None; count];
    let mut mine = vec![false; count];
    let data = |stream: &&Stream| !stream.is_metadata();
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

/// The ranks, as the run file tells them; none where there is one alone.
pub fn processes(ranks: Ranks, resolved: &ResolvedTarget) -> Result<Vec<ProcessFacts>, Failure> {
    if ranks.is_alone() {
        return Ok(Vec::new());
    }
    let (clock_ahead_ns, clock_skew_ns) = ranks.clock_offset_ns();
    let host = resolved.facts.host.hostname.clone().unwrap_or_default();
    gather(ranks, &ProcessFacts { rank: ranks.rank(), host, clock_ahead_ns, clock_skew_ns })
}

/// What the ranks found, each its own: what the lowest of them says.
pub fn first_found(ranks: Ranks, mine: Option<Warning>) -> Result<Option<Warning>, Failure> {
    if ranks.is_alone() {
        return Ok(mine);
    }
    Ok(gather(ranks, &mine)?.into_iter().flatten().next())
}

/// What a reader must know of a run of several ranks of which only rank 0 does something.
pub fn on_rank_0_alone(ranks: Ranks, resolved: &ResolvedTarget, plan: &Plan) -> Vec<Warning> {
    let size = ranks.size();
    let warning = |code: &str, text: String, advice: &str| Warning {
        code: code.into(),
        text,
        advice: advice.into(),
        step: None,
    };
    let simulated = resolved.simulated.is_some().then(|| {
        let text = format!(
            "the simulated drive is in the memory of one process: rank 0 of the {size} processes \
             has done all of the work."
        );
        let advice = "The figures are those that one process alone would give.";
        warning("simulated_in_one", text, advice)
    });
    let traced = plan.steps.iter().any(|step| step.trace).then(|| {
        let text =
            format!("only the I/O of rank 0 of the {size} processes was traced, on its machine.");
        let advice = "Run without mpirun to trace the I/O of all workers.";
        warning("traced_in_one", text, advice)
    });
    let found = simulated.into_iter().chain(traced);
    if ranks.is_alone() { Vec::new() } else { found.collect() }
}

/// What cannot be shared by several ranks.
pub fn refuse_several(ranks: Ranks, what: &str) -> Result<(), Failure> {
    match ranks.is_alone() {
        true => Ok(()),
        false => {
            Err(Failure::usage(format!("{what} runs in one process, and several were started"))
                .advise("Run without mpirun, or run a plan: mpirun … drivelab run PLAN.toml DIR"))
        }
    }
}

/// The directory of a path, and its last name.
pub fn apart(path: &Path) -> (String, String) {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    (directory.unwrap_or(Path::new(".")).to_string_lossy().into_owned(), name)
}
