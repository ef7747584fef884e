//! Processes that share the work of one run: those that mpirun started, or one alone.
//!
//! Everything is said between the first process (rank 0) and each of the others; nobody waits for
//! anybody but it. Only the thread that joined speaks.

#[cfg(feature = "mpi")]
mod mpi;

use crate::clock::monotonic_ns;
use drivelab_core::queue::Trouble;
use std::sync::OnceLock;

/// What the launchers of Open MPI, MPICH, PMIx and Slurm put into the environment.
const LAUNCHED: [&str; 4] =
    ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "SLURM_STEP_NUM_TASKS"];
/// Tries at the offset of two clocks; the quickest counts.
#[cfg(feature = "mpi")]
const PINGS: usize = 20;
#[cfg(feature = "mpi")]
const DATA: std::ffi::c_int = 1;
#[cfg(feature = "mpi")]
const STOP: std::ffi::c_int = 2;
#[cfg(feature = "mpi")]
const WORD: std::ffi::c_int = 4;

/// Of each of its texts, the last word of a process has so much.
#[cfg(feature = "mpi")]
const FAREWELL_TEXT_BYTES_MAX: usize = 1000;
/// The exit status of a request that makes no sense.
#[cfg(feature = "mpi")]
const USAGE: u8 = 2;

/// Time in which the word to begin gets around.
const HEAD_START_NS: u64 = 5_000_000;

static TEAM: OnceLock<Team> = OnceLock::new();

/// This process among the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Team {
    rank: u32,
    size: u32,
    /// Its CLOCK_MONOTONIC less that of rank 0.
    offset_ns: i64,
    /// Half of the quickest way there and back: what the offset may be wrong by.
    skew_ns: u64,
}

/// The team of this process; of one, unless [`join`] found others.
pub fn team() -> Team {
    TEAM.get().copied().unwrap_or(Team::ALONE)
}

/// Joins the other processes, where a launcher has started several.
///
/// # Errors
/// There are others, and this program was built without MPI; or MPI does not begin.
pub fn join() -> Result<Team, Trouble> {
    let launched = LAUNCHED.into_iter().find_map(|name| Some((name, std::env::var(name).ok()?)));
    let Some((name, text)) = launched else { return Ok(Team::ALONE) };
    let joined = begin(name, &text)?;
    Ok(*TEAM.get_or_init(|| joined))
}

#[cfg(not(feature = "mpi"))]
fn begin(name: &str, text: &str) -> Result<Team, Trouble> {
    let several = name != "PMIX_RANK" && text.trim().parse().is_ok_and(|size: u32| size > 1);
    match several {
        false => Ok(Team::ALONE),
        true => Err(Trouble::usage(format!(
            "a launcher has started {text} processes ({name}), and this drivelab was built without \
             MPI: each would run alone; build it with  cargo build --release --features mpi"
        ))),
    }
}

#[cfg(feature = "mpi")]
fn begin(name: &str, text: &str) -> Result<Team, Trouble> {
    // The number of a process tells nothing of how many there are.
    let launched = if name == "PMIX_RANK" { None } else { text.trim().parse::<u32>().ok() };
    if launched == Some(1) {
        return Ok(Team::ALONE);
    }
    let (rank, size) = mpi::join()?;
    if let Some(launched) = launched.filter(|_| size <= 1) {
        mpi::leave();
        return Err(Trouble::usage(format!(
            "a launcher has started {launched} processes ({name}), and the MPI that this drivelab \
             was built with knows nothing of it: each would run alone; start it with the mpirun of \
             that MPI"
        )));
    }
    let mut team = Team { rank, size: size.max(1), ..Team::ALONE };
    if team.size > 1 {
        (team.offset_ns, team.skew_ns) = team.align()?;
    }
    Ok(team)
}

/// Says the last word: whoever still waits for this process does so no longer. The first process
/// gets the last words of the others, by rank.
pub fn part(farewell: &Farewell) -> Vec<(u32, Farewell)> {
    #[cfg(feature = "mpi")]
    match team() {
        team if team.is_alone() => {}
        team if team.leads() => return mpi::part(&(1..team.size).collect::<Vec<u32>>(), farewell),
        _ => drop(mpi::part(&[0], farewell)),
    }
    let _ = farewell;
    Vec::new()
}

/// Leaves, after the last word. A launcher may end whoever is still there when the first one is
/// gone, so that nothing may be left to do.
pub fn leave(status: u8) {
    #[cfg(feature = "mpi")]
    match TEAM.get() {
        None => {}
        Some(_) if mpi::can_leave() => mpi::leave(),
        Some(_) => mpi::abort(status),
    }
    let _ = status;
}

/// The last word of a process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Farewell {
    /// Its exit status.
    pub status: u8,
    /// Why it could not do what it was asked; empty where it could.
    pub reason: String,
    /// All that it had to say.
    pub said: String,
}

#[cfg(feature = "mpi")]
impl Farewell {
    /// Both texts so short that nobody has to wait until they are taken.
    fn to_bytes(&self) -> Vec<u8> {
        let parts = [begin_of(&self.reason), "\0", begin_of(&self.said)];
        [&[self.status], parts.concat().as_bytes()].concat()
    }

    fn of_bytes(bytes: &[u8]) -> Self {
        let (status, texts) = bytes.split_first().unwrap_or((&0, &[]));
        let texts = String::from_utf8_lossy(texts);
        let (reason, said) = texts.split_once('\0').unwrap_or_default();
        Farewell { status: *status, reason: reason.into(), said: said.into() }
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
#[cfg(feature = "mpi")]
fn begin_of(text: &str) -> &str {
    let begin = &text[..text.floor_char_boundary(FAREWELL_TEXT_BYTES_MAX)];
    match begin.rfind('\n') {
        Some(end) if begin.len() < text.len() => &begin[..=end],
        _ => begin,
    }
}

impl Team {
    /// No others.
    pub const ALONE: Team = Team { rank: 0, size: 1, offset_ns: 0, skew_ns: 0 };

    /// Its number, from 0.
    pub fn rank(self) -> u32 {
        self.rank
    }

    /// How many there are.
    pub fn size(self) -> u32 {
        self.size
    }

    /// Whether it is the first: it alone writes the run file and prints.
    pub fn leads(self) -> bool {
        self.rank == 0
    }

    /// Whether there are no others.
    pub fn is_alone(self) -> bool {
        self.size == 1
    }

    /// The process on which a worker of a stream of so many runs.
    pub fn rank_of(self, worker: u32, workers: u32) -> u32 {
        (u64::from(worker) * u64::from(self.size) / u64::from(workers.max(1))) as u32
    }

    /// A reading of this machine's CLOCK_MONOTONIC in that of rank 0, in nanoseconds.
    pub fn to_leader_ns(self, monotonic_ns: u64) -> u64 {
        monotonic_ns.saturating_add_signed(self.offset_ns.saturating_neg())
    }

    /// A reading of rank 0's CLOCK_MONOTONIC in that of this machine, in nanoseconds.
    pub fn from_leader_ns(self, monotonic_ns: u64) -> u64 {
        monotonic_ns.saturating_add_signed(self.offset_ns)
    }

    /// What the clock of this process is ahead of rank 0's, and what that may be wrong by, in
    /// nanoseconds.
    pub fn clock_offset_ns(self) -> (i64, u64) {
        (self.offset_ns, self.skew_ns)
    }

    /// CLOCK_MONOTONIC now, in nanoseconds.
    pub fn now_ns(self) -> u64 {
        monotonic_ns()
    }

    /// Collects what every process says; rank 0 gets all of it, by rank, the others nothing.
    ///
    /// # Errors
    /// A message does not get through.
    pub fn gather(self, mine: &[u8]) -> Result<Vec<Vec<u8>>, Trouble> {
        if self.is_alone() {
            return Ok(vec![mine.to_vec()]);
        }
        self.gather_others(mine)
    }

    /// What rank 0 says, at every process.
    ///
    /// # Errors
    /// A message does not get through.
    pub fn hear(self, leaders: &[u8]) -> Result<Vec<u8>, Trouble> {
        if self.is_alone() {
            return Ok(leaders.to_vec());
        }
        self.hear_leader(leaders)
    }

    /// Whether all processes say yes; it is also where they meet.
    ///
    /// # Errors
    /// A message does not get through.
    pub fn all(self, mine: bool) -> Result<bool, Trouble> {
        let said = self.gather(&[u8::from(mine)])?;
        let all = said.iter().all(|one| one.as_slice() == [1]);
        Ok(self.hear(&[u8::from(all)])?.as_slice() == [1])
    }

    /// The moment at which all begin, in this machine's CLOCK_MONOTONIC; none if not all are ready.
    ///
    /// # Errors
    /// A message does not get through.
    pub fn begin_together(self, is_ready: bool) -> Result<Option<u64>, Trouble> {
        let said = self.gather(&[u8::from(is_ready)])?;
        let all = said.iter().all(|one| one.as_slice() == [1]);
        let start = if all { monotonic_ns() + HEAD_START_NS } else { 0 };
        let heard = self.hear(&start.to_le_bytes())?;
        let start = number_of(&heard)?;
        Ok((start > 0).then(|| self.from_leader_ns(start)))
    }

    /// Asks the others to stop what they measure; the first process passes it on to the rest when
    /// it waits for them.
    pub fn ask_to_stop(self) {
        #[cfg(feature = "mpi")]
        for other in if self.leads() { 1..self.size } else { 0..1 } {
            // Whoever has gone already need not hear it.
            let _ = mpi::send(&[1], other, STOP);
        }
    }

    /// Whether another has asked to stop, or has gone.
    pub fn is_asked_to_stop(self) -> bool {
        #[cfg(feature = "mpi")]
        if !self.is_alone() {
            let is_asked = matches!(mpi::probe(None, STOP), Ok(Some(_)) | Err(_));
            return is_asked || mpi::is_anyone_gone();
        }
        false
    }

    /// Tells all others something short while they work; nobody waits for it.
    pub fn tell(self, word: &[u8]) {
        #[cfg(feature = "mpi")]
        for other in if self.leads() { 1..self.size } else { 0..1 } {
            // Whoever has gone already need not hear it.
            let _ = mpi::send(word, other, WORD);
        }
        let _ = word;
    }

    /// The next that another has told all; the first process passes it on to the rest.
    pub fn told(self) -> Option<Vec<u8>> {
        #[cfg(feature = "mpi")]
        if !self.is_alone() {
            let (from, length) = mpi::probe(None, WORD).ok().flatten()?;
            let word = mpi::receive(from, WORD, length, || {}).ok()?;
            for other in (1..self.size).filter(|other| self.leads() && *other != from) {
                let _ = mpi::send(&word, other, WORD);
            }
            return Some(word);
        }
        None
    }

    /// Takes what was asked, so that it is not heard again.
    pub fn forget_stops(self) {
        #[cfg(feature = "mpi")]
        while !self.is_alone() {
            let Ok(Some((from, length))) = mpi::probe(None, STOP) else { return };
            if mpi::receive(from, STOP, length, || {}).is_err() {
                return;
            }
        }
    }
}

#[cfg(feature = "mpi")]
impl Team {
    /// The offset to rank 0's clock by the quickest of several questions (Cristian 1989).
    fn align(self) -> Result<(i64, u64), Trouble> {
        if self.leads() {
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
            let heard = monotonic_ns();
            let theirs = number_of(&answer)?;
            let way = heard - asked;
            let offset = (asked + way / 2) as i64 - theirs as i64;
            best = best.min((way, offset));
        }
        Ok((best.1, best.0 / 2))
    }

    fn gather_others(self, mine: &[u8]) -> Result<Vec<Vec<u8>>, Trouble> {
        if !self.leads() {
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
                // Those who still work must hear what those have told who are done.
                while self.told().is_some() {}
                mpi::pause();
            });
            all.push(bytes?);
        }
        Ok(all)
    }

    fn hear_leader(self, leaders: &[u8]) -> Result<Vec<u8>, Trouble> {
        if !self.leads() {
            return receive_long(0, mpi::pause);
        }
        for other in 1..self.size {
            mpi::send(&(leaders.len() as u64).to_le_bytes(), other, DATA)?;
            mpi::send(leaders, other, DATA)?;
        }
        Ok(leaders.to_vec())
    }
}

/// The number that another process sent.
#[cfg(any(feature = "mpi", test))]
fn number_of(bytes: &[u8]) -> Result<u64, Trouble> {
    let bytes = <[u8; 8]>::try_from(bytes);
    bytes.map(u64::from_le_bytes).map_err(|_| Trouble::defect("another process sent no number"))
}

#[cfg(feature = "mpi")]
fn receive_long(from: u32, mut meanwhile: impl FnMut()) -> Result<Vec<u8>, Trouble> {
    let length = mpi::receive(from, DATA, 8, &mut meanwhile)?;
    let length = usize::try_from(number_of(&length)?)
        .map_err(|_| Trouble::defect("another process sends more than memory can hold"))?;
    mpi::receive(from, DATA, length, meanwhile)
}

#[cfg(not(feature = "mpi"))]
impl Team {
    fn gather_others(self, mine: &[u8]) -> Result<Vec<Vec<u8>>, Trouble> {
        Ok(vec![mine.to_vec()])
    }

    fn hear_leader(self, leaders: &[u8]) -> Result<Vec<u8>, Trouble> {
        Ok(leaders.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_shared_out_in_order() {
        let of = |size, workers| {
            let team = Team { size, ..Team::ALONE };
            (0..workers).map(|worker| team.rank_of(worker, workers)).collect::<Vec<u32>>()
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
            let team = Team { size: 2, rank: 1, offset_ns, skew_ns: 1 };
            let leaders = team.to_leader_ns(10_000_000_000);
            assert_eq!(leaders as i64, 10_000_000_000 - offset_ns);
            assert_eq!(team.from_leader_ns(leaders), 10_000_000_000);
        }
    }

    #[test]
    #[cfg(feature = "mpi")]
    fn a_last_word_ends_with_a_whole_line() {
        let said = format!("{}\n{}", "a".repeat(600), "b".repeat(600));
        let word = Farewell { status: 3, reason: "no".into(), said };
        let heard = Farewell::of_bytes(&word.to_bytes());
        assert_eq!((heard.status, heard.reason.as_str()), (3, "no"));
        assert_eq!(heard.said, format!("{}\n", "a".repeat(600)));
        let long = Farewell { said: "ü".repeat(600), ..word };
        assert_eq!(Farewell::of_bytes(&long.to_bytes()).said, "ü".repeat(500));
    }

    #[test]
    fn one_alone_hears_itself() -> Result<(), Trouble> {
        let team = Team::ALONE;
        assert_eq!(team.gather(b"x")?, [b"x".to_vec()]);
        assert_eq!(team.hear(b"y")?, b"y");
        assert!(team.all(true)? && !team.all(false)?);
        assert!(!team.is_asked_to_stop());
        Ok(())
    }
}
