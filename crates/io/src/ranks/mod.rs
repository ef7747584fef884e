//! Processes that share the work of one run: those that mpirun started, or one alone.
//!
//! All messages go between rank 0 and each of the others; nobody waits for anybody but it. Only the
//! thread that joined sends and receives.

mod library;
mod mpi;

use crate::clock::monotonic_ns;
use drivelab_core::queue::Trouble;

/// What the launchers of Open MPI, MPICH, Slurm and PMIx put into the environment; the last is no
/// size, and tells least.
const LAUNCHED: [&str; 4] =
    ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS", "PMIX_RANK"];
/// Tries at the offset of two clocks; the quickest counts.
const PINGS: usize = 20;
const DATA: std::ffi::c_int = 1;
const STOP: std::ffi::c_int = 2;
const ENDING: std::ffi::c_int = 4;

/// Of each of its texts, the final message of a rank has so much.
const FINAL_TEXT_BYTES_MAX: usize = 1000;
/// The exit status of a request that makes no sense.
const USAGE: u8 = 2;

/// Time in which the broadcast of the start gets around.
const HEAD_START_NS: u64 = 5_000_000;

/// This process among the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ranks {
    rank: u32,
    size: u32,
    /// Its CLOCK_MONOTONIC less that of rank 0.
    offset_ns: i64,
    /// Half of the quickest way there and back: what the offset may be wrong by.
    skew_ns: u64,
}

fn begin(name: &str, text: &str) -> Result<Ranks, Trouble> {
    // The number of a process tells nothing of how many there are.
    let launched = if name == "PMIX_RANK" { None } else { text.trim().parse::<u32>().ok() };
    if launched == Some(1) {
        return Ok(Ranks::ALONE);
    }
    let (rank, size) = mpi::init(name)?;
    if let Some(launched) = launched.filter(|_| size <= 1) {
        mpi::finalize();
        return Err(Trouble::usage(format!(
            "a launcher has started {launched} processes ({name}), and the MPI library that was \
             found is not part of it: each would run alone; name the library of the launcher with \
             DRIVELAB_MPI=/path/libmpi.so"
        )));
    }
    let mut ranks = Ranks { rank, size: size.max(1), ..Ranks::ALONE };
    if ranks.size > 1 {
        (ranks.offset_ns, ranks.skew_ns) = ranks.align_clocks()?;
    }
    Ok(ranks)
}

/// The last message of a rank.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FinalMessage {
    /// Its exit status.
    pub status: u8,
    /// Why it could not do what it was asked; empty where it could.
    pub reason: String,
    /// All that it had to say on stderr.
    pub stderr: String,
}

impl FinalMessage {
    /// Both texts so short that nobody has to wait until they are taken.
    fn to_bytes(&self) -> Vec<u8> {
        let parts = [begin_of(&self.reason), "\0", begin_of(&self.stderr)];
        [&[self.status], parts.concat().as_bytes()].concat()
    }

    fn of_bytes(bytes: &[u8]) -> Self {
        let (status, texts) = bytes.split_first().unwrap_or((&0, &[]));
        let texts = String::from_utf8_lossy(texts);
        let (reason, stderr) = texts.split_once('\0').unwrap_or_default();
        FinalMessage { status: *status, reason: reason.into(), stderr: stderr.into() }
    }

    /// What it means for those who waited for process `rank`.
    fn trouble(&self, rank: u32) -> Trouble {
        let text = match (self.reason.as_str(), rank) {
            ("", rank) => format!("process {rank} has ended already"),
            (reason, 0) => reason.to_owned(),
            (reason, rank) => format!("process {rank}: {reason}"),
        };
        if self.status == USAGE { Trouble::usage(text) } else { Trouble::failed(text) }
    }
}

/// Whole lines, as far as they go: half a line would pass for something else that was said.
fn begin_of(text: &str) -> &str {
    let begin = &text[..text.floor_char_boundary(FINAL_TEXT_BYTES_MAX)];
    match begin.rfind('\n') {
        Some(end) if begin.len() < text.len() => &begin[..=end],
        _ => begin,
    }
}

impl Ranks {
    /// A run of one process: rank 0 of 1.
    pub const ALONE: Ranks = Ranks { rank: 0, size: 1, offset_ns: 0, skew_ns: 0 };

    /// Joins the other processes, where a launcher has started several. MPI begins once in a
    /// process, so that this is for `main`, which passes on what it gets.
    ///
    /// # Errors
    /// There are others, and the launcher's MPI cannot be loaded or does not begin.
    pub fn join() -> Result<Self, Trouble> {
        let launched =
            LAUNCHED.into_iter().find_map(|name| Some((name, std::env::var(name).ok()?)));
        launched.map_or(Ok(Ranks::ALONE), |(name, text)| begin(name, &text))
    }

    /// Sends the final message: whoever still waits for this rank does so no longer. Rank 0 gets
    /// the final messages of the others, by rank.
    pub fn exchange_final_messages(self, message: &FinalMessage) -> Vec<(u32, FinalMessage)> {
        if self.is_rank_0() {
            return mpi::exchange_final_messages(1..self.size, message);
        } else {
            mpi::exchange_final_messages(0..1, message);
        }
        Vec::new()
    }

    /// Ends MPI, after the final message. A launcher may end whoever is still there when rank 0 is
    /// gone, so that nothing may be left to do.
    pub fn finalize(self, status: u8) {
        match mpi::can_finalize() {
            true => mpi::finalize(),
            false => mpi::abort(status),
        }
    }

    /// Its number, from 0.
    pub fn rank(self) -> u32 {
        self.rank
    }

    /// Number of ranks.
    pub fn size(self) -> u32 {
        self.size
    }

    /// Whether it is rank 0, which alone writes the run file and prints.
    pub fn is_rank_0(self) -> bool {
        self.rank == 0
    }

    /// Whether there are no others.
    pub fn is_alone(self) -> bool {
        self.size == 1
    }

    /// The process on which a worker of a stream of this many runs.
    pub fn rank_of(self, worker: u32, workers: u32) -> u32 {
        (u64::from(worker) * u64::from(self.size) / u64::from(workers.max(1))) as u32
    }

    /// A reading of this machine's CLOCK_MONOTONIC in that of rank 0, in nanoseconds.
    pub fn to_rank_0_ns(self, monotonic_ns: u64) -> u64 {
        monotonic_ns.saturating_add_signed(self.offset_ns.saturating_neg())
    }

    /// A reading of rank 0's CLOCK_MONOTONIC in that of this machine, in nanoseconds.
    pub fn from_rank_0_ns(self, monotonic_ns: u64) -> u64 {
        monotonic_ns.saturating_add_signed(self.offset_ns)
    }

    /// What the clock of this process is ahead of rank 0's, and what that may be wrong by, in
    /// nanoseconds.
    pub fn clock_offset_ns(self) -> (i64, u64) {
        (self.offset_ns, self.skew_ns)
    }

    /// Collects the messages of all; rank 0 gets them, by rank, the others nothing.
    ///
    /// # Errors
    /// A message does not get through.
    pub fn gather(self, mine: &[u8]) -> Result<Vec<Vec<u8>>, Trouble> {
        if self.is_alone() {
            return Ok(vec![mine.to_vec()]);
        }
        self.gather_others(mine)
    }

    /// The message of rank 0, at all of them.
    ///
    /// # Errors
    /// A message does not get through.
    pub fn broadcast(self, of_rank_0: &[u8]) -> Result<Vec<u8>, Trouble> {
        if self.is_alone() {
            return Ok(of_rank_0.to_vec());
        }
        self.broadcast_to_others(of_rank_0)
    }

    /// Waits for all; the time at which they begin, in this machine's CLOCK_MONOTONIC, or none if
    /// not all are ready.
    ///
    /// # Errors
    /// A message does not get through.
    pub fn start_barrier(self, is_ready: bool) -> Result<Option<u64>, Trouble> {
        let gathered = self.gather(&[u8::from(is_ready)])?;
        let all = gathered.iter().all(|one| one.as_slice() == [1]);
        let start = if all { monotonic_ns() + HEAD_START_NS } else { 0 };
        let start = self.broadcast(&start.to_le_bytes())?;
        let start = number_of(&start)?;
        Ok((start > 0).then(|| self.from_rank_0_ns(start)))
    }

    /// Asks the others to stop what they measure; rank 0 passes it on to the rest when it waits for
    /// them.
    pub fn ask_to_stop(self) {
        for other in if self.is_rank_0() { 1..self.size } else { 0..1 } {
            // Whoever has gone already needs none.
            let _ = mpi::send(&[1], other, STOP);
        }
    }

    /// Whether another has asked to stop, or has gone.
    pub fn is_asked_to_stop(self) -> bool {
        if !self.is_alone() {
            let is_asked = matches!(mpi::probe(None, STOP), Ok(Some(_)) | Err(_));
            return is_asked || mpi::is_anyone_gone();
        }
        false
    }

    /// Sends all others something short while they work; nobody waits for it.
    pub fn send(self, message: &[u8]) {
        for other in if self.is_rank_0() { 1..self.size } else { 0..1 } {
            // Whoever has gone already needs none.
            let _ = mpi::send(message, other, ENDING);
        }
    }

    /// The next that another has sent to all; rank 0 passes it on to the rest.
    pub fn receive(self) -> Option<Vec<u8>> {
        if !self.is_alone() {
            let (from, length) = mpi::probe(None, ENDING).ok().flatten()?;
            let message = mpi::receive(from, ENDING, length, || {}).ok()?;
            for other in (1..self.size).filter(|other| self.is_rank_0() && *other != from) {
                let _ = mpi::send(&message, other, ENDING);
            }
            return Some(message);
        }
        None
    }

    /// Takes what was asked, so that it is not met again.
    pub fn forget_stops(self) {
        while !self.is_alone() {
            let Ok(Some((from, length))) = mpi::probe(None, STOP) else { return };
            if mpi::receive(from, STOP, length, || {}).is_err() {
                return;
            }
        }
    }
}

impl Ranks {
    /// The offset to rank 0's clock by the quickest of several questions (Cristian 1989).
    fn align_clocks(self) -> Result<(i64, u64), Trouble> {
        if self.is_rank_0() {
            for other in 1..self.size {
                mpi::send(&[0], other, DATA)?;
                for _ in 0..PINGS {
                    mpi::receive(other, DATA, 1, || {})?;
                    mpi::send(&monotonic_ns().to_le_bytes(), other, DATA)?;
                }
            }
            return Ok((0, 0));
        }
        // Whoever spins before it is asked takes the processor from those who are.
        mpi::receive(0, DATA, 1, mpi::pause)?;
        let mut best = (u64::MAX, 0);
        for _ in 0..PINGS {
            let asked = monotonic_ns();
            mpi::send(&[0], 0, DATA)?;
            let answer = mpi::receive(0, DATA, 8, || {})?;
            let answered = monotonic_ns();
            let theirs = number_of(&answer)?;
            let way = answered - asked;
            let offset = (asked + way / 2) as i64 - theirs as i64;
            best = best.min((way, offset));
        }
        Ok((best.1, best.0 / 2))
    }

    fn gather_others(self, mine: &[u8]) -> Result<Vec<Vec<u8>>, Trouble> {
        if !self.is_rank_0() {
            mpi::send(&(mine.len() as u64).to_le_bytes(), 0, DATA)?;
            mpi::send(mine, 0, DATA)?;
            return Ok(Vec::new());
        }
        let mut all = vec![mine.to_vec()];
        let mut is_passed_on = false;
        for other in 1..self.size {
            let bytes = receive_long(other, || {
                if !is_passed_on && matches!(mpi::probe(None, STOP), Ok(Some(_))) {
                    is_passed_on = true;
                    self.ask_to_stop();
                }
                // Those who still work must get what those have sent who are done.
                while self.receive().is_some() {}
                mpi::pause();
            });
            all.push(bytes?);
        }
        Ok(all)
    }

    fn broadcast_to_others(self, of_rank_0: &[u8]) -> Result<Vec<u8>, Trouble> {
        if !self.is_rank_0() {
            return receive_long(0, mpi::pause);
        }
        for other in 1..self.size {
            mpi::send(&(of_rank_0.len() as u64).to_le_bytes(), other, DATA)?;
            mpi::send(of_rank_0, other, DATA)?;
        }
        Ok(of_rank_0.to_vec())
    }
}

/// The number that another process sent.
fn number_of(bytes: &[u8]) -> Result<u64, Trouble> {
    let bytes = <[u8; 8]>::try_from(bytes);
    bytes.map(u64::from_le_bytes).map_err(|_| Trouble::defect("another process sent no number"))
}

fn receive_long(from: u32, mut meanwhile: impl FnMut()) -> Result<Vec<u8>, Trouble> {
    let length = mpi::receive(from, DATA, 8, &mut meanwhile)?;
    let length = usize::try_from(number_of(&length)?)
        .map_err(|_| Trouble::defect("another process sends more than memory can hold"))?;
    mpi::receive(from, DATA, length, meanwhile)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_shared_out_in_order() {
        let of = |size, workers| {
            let ranks = Ranks { size, ..Ranks::ALONE };
            (0..workers).map(|worker| ranks.rank_of(worker, workers)).collect::<Vec<u32>>()
        };
        assert_eq!(of(4, 4), [0, 1, 2, 3]);
        assert_eq!(of(2, 4), [0, 0, 1, 1]);
        assert_eq!(of(4, 1), [0]);
        assert_eq!(of(4, 2), [0, 2]);
        assert_eq!(of(3, 4), [0, 0, 1, 2]);
        assert_eq!(of(1, 3), [0, 0, 0]);
    }

    #[test]
    fn times_are_turned_over_and_back() {
        for offset_ns in [-5_000, 0, 7_000_000_000] {
            let ranks = Ranks { size: 2, rank: 1, offset_ns, skew_ns: 1 };
            let at_rank_0 = ranks.to_rank_0_ns(10_000_000_000);
            assert_eq!(at_rank_0 as i64, 10_000_000_000 - offset_ns);
            assert_eq!(ranks.from_rank_0_ns(at_rank_0), 10_000_000_000);
        }
    }

    #[test]
    fn a_final_message_ends_with_a_whole_line() {
        let stderr = format!("{}\n{}", "a".repeat(600), "b".repeat(600));
        let message = FinalMessage { status: 3, reason: "no".into(), stderr };
        let received = FinalMessage::of_bytes(&message.to_bytes());
        assert_eq!((received.status, received.reason.as_str()), (3, "no"));
        assert_eq!(received.stderr, format!("{}\n", "a".repeat(600)));
        let long = FinalMessage { stderr: "ü".repeat(600), ..message };
        assert_eq!(FinalMessage::of_bytes(&long.to_bytes()).stderr, "ü".repeat(500));
    }

    #[test]
    fn one_alone_gets_its_own_messages() -> Result<(), Trouble> {
        let ranks = Ranks::ALONE;
        assert_eq!(ranks.gather(b"x")?, [b"x".to_vec()]);
        assert_eq!(ranks.broadcast(b"y")?, b"y");
        assert!(ranks.start_barrier(true)?.is_some() && ranks.start_barrier(false)?.is_none());
        assert!(!ranks.is_asked_to_stop());
        Ok(())
    }
}
