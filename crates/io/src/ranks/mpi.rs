//! Messages between the processes of mpirun (MPI: A Message-Passing Interface Standard, 3.1).
//!
//! Waiting is asking again after a short sleep: a process that spins would take the processor from
//! the workers of the others.

use super::FinalMessage;
use super::library::{Mpi, load};
use crate::signal;
use drivelab_core::queue::Trouble;
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Longest message in one piece.
const PIECE_BYTES: usize = 1 << 28;
const PAUSE: Duration = Duration::from_micros(100);
/// The tag of the final message of a rank.
const FINAL: c_int = 3;
/// The others are waited for as long as this once this process was asked to end: Open MPI kills
/// it a second after it asked, and scratch is to be gone by then.
const PATIENCE: Duration = Duration::from_millis(500);

static LIBRARY: OnceLock<Box<dyn Mpi>> = OnceLock::new();
/// MPI has begun, and has not ended.
static JOINED: AtomicBool = AtomicBool::new(false);
/// The final messages of those who have left.
static FINAL_MESSAGES: Mutex<BTreeMap<u32, FinalMessage>> = Mutex::new(BTreeMap::new());
/// Why nothing can be sent any more: after the first message that does not get through, what the
/// others send next would be taken for something else.
static SEVERED: OnceLock<Severed> = OnceLock::new();

#[derive(Debug, Clone)]
struct Severed {
    trouble: Trouble,
    /// A message is still under way that nobody will take: MPI would wait for it at its end.
    is_pending: bool,
}

/// The library of the launcher, from [`init`] on.
fn mpi() -> Result<&'static dyn Mpi, Trouble> {
    let library = LIBRARY.get().ok_or_else(|| Trouble::defect("MPI is asked before it begins"));
    library.map(Box::as_ref)
}

fn checked(status: c_int, what: &str) -> Result<(), Trouble> {
    match status {
        0 => Ok(()),
        _ => Err(sever(Trouble::failed(format!("MPI: {what} failed")), true)),
    }
}

/// Begins the MPI of the launcher that has set `launcher`; gives the rank of this process and how
/// many there are. Called once, on the thread that makes all later calls.
pub fn init(launcher: &str) -> Result<(u32, u32), Trouble> {
    let library = load(launcher)?;
    let library = LIBRARY.get_or_init(|| library);
    let (rank, size) =
        library.begin().map_err(|why| sever(Trouble::failed(format!("MPI: {why}")), true))?;
    JOINED.store(true, SeqCst);
    Ok((rank.unsigned_abs(), size.unsigned_abs()))
}

/// Ends what [`init`] began, if it has.
pub fn finalize() {
    if JOINED.swap(false, SeqCst) {
        let _ = mpi().map(Mpi::finalize);
    }
}

/// Sends bytes to another rank.
pub fn send(bytes: &[u8], to: u32, tag: c_int) -> Result<(), Trouble> {
    not_severed()?;
    for piece in bytes.chunks(PIECE_BYTES).chain(bytes.is_empty().then_some(&[][..])) {
        send_piece(piece.to_vec(), to, tag)?;
    }
    Ok(())
}

fn send_piece(piece: Vec<u8>, to: u32, tag: c_int) -> Result<(), Trouble> {
    let count = piece.len() as c_int;
    // SAFETY: `piece` stays as it is until it was sent; it is given up for good if it never is.
    let status = unsafe { mpi()?.send(piece.as_ptr().cast(), count, to as c_int, tag) };
    checked(status, "sending")?;
    let (mut wait, begin) = (Wait::default(), Instant::now());
    loop {
        let mut is_done = false;
        checked(mpi()?.sent(&mut is_done), "sending")?;
        if is_done {
            return Ok(());
        }
        // Small messages need nobody to take them, and are under way a moment at most.
        let here = if begin.elapsed() > PATIENCE { still_here(to) } else { Ok(()) };
        if let Err(trouble) = wait.may_go_on(to).and(here) {
            std::mem::forget(piece);
            return Err(sever(trouble, true));
        }
        pause();
    }
}

/// The sender and the length of the next message, if one is there.
pub fn probe(from: Option<u32>, tag: c_int) -> Result<Option<(u32, usize)>, Trouble> {
    match probe_once(from, tag)? {
        // Open MPI takes up what has come after it has answered.
        None => probe_once(from, tag),
        found => Ok(found),
    }
}

fn probe_once(from: Option<u32>, tag: c_int) -> Result<Option<(u32, usize)>, Trouble> {
    let found = mpi()?.probe(from.map(|rank| rank as c_int), tag);
    let found = found.or_else(|status| checked(status, "looking for a message").map(|()| None))?;
    Ok(found.map(|(source, count)| (source.unsigned_abs(), count.unsigned_abs() as usize)))
}

/// Waits for a message of `length` bytes; `meanwhile` is done between the looks.
pub fn receive(
    from: u32,
    tag: c_int,
    length: usize,
    mut meanwhile: impl FnMut(),
) -> Result<Vec<u8>, Trouble> {
    not_severed()?;
    let mut bytes = Vec::with_capacity(length);
    let (mut wait, mut gone) = (Wait::default(), None);
    loop {
        let Some((_, count)) = probe(Some(from), tag)? else {
            // Whoever has left may have sent this before.
            if let Some(trouble) = gone {
                return Err(sever(trouble, false));
            }
            gone = still_here(from).err();
            wait.may_go_on(from).map_err(|trouble| sever(trouble, false))?;
            meanwhile();
            continue;
        };
        take(&mut bytes, count, from, tag)?;
        if bytes.len() >= length {
            return Ok(bytes);
        }
    }
}

/// Takes a message that a probe has found.
fn take(bytes: &mut Vec<u8>, count: usize, from: u32, tag: c_int) -> Result<(), Trouble> {
    let begin = bytes.len();
    bytes.resize(begin + count, 0);
    checked(mpi()?.receive(&mut bytes[begin..], from as c_int, tag), "receiving")
}

/// Lets the processor go for a moment.
pub fn pause() {
    std::thread::sleep(PAUSE);
}

fn final_messages() -> MutexGuard<'static, BTreeMap<u32, FinalMessage>> {
    FINAL_MESSAGES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn not_severed() -> Result<(), Trouble> {
    SEVERED.get().map_or(Ok(()), |severed| Err(severed.trouble.clone()))
}

fn sever(trouble: Trouble, is_pending: bool) -> Trouble {
    SEVERED.get_or_init(|| Severed { trouble, is_pending }).trouble.clone()
}

/// An error with its final message where another has left before its time.
fn still_here(other: u32) -> Result<(), Trouble> {
    if !final_messages().contains_key(&other) && !take_final_message(other)? {
        return Ok(());
    }
    let message = final_messages().get(&other).cloned().unwrap_or_default();
    Err(message.trouble(other))
}

/// Takes the final message of another, if it is there.
fn take_final_message(other: u32) -> Result<bool, Trouble> {
    let Some((_, count)) = probe(Some(other), FINAL)? else { return Ok(false) };
    let mut bytes = Vec::new();
    take(&mut bytes, count, other, FINAL)?;
    final_messages().insert(other, FinalMessage::of_bytes(&bytes));
    Ok(true)
}

/// Whether any of the others has left, or nothing comes from them any more.
pub fn is_anyone_gone() -> bool {
    SEVERED.get().is_some()
        || !final_messages().is_empty()
        || matches!(probe(None, FINAL), Ok(Some(_)))
}

/// Sends the final message to `others`, and waits for theirs.
pub fn exchange_final_messages(
    others: Range<u32>,
    message: &FinalMessage,
) -> Vec<(u32, FinalMessage)> {
    let bytes = message.to_bytes();
    for other in others.clone() {
        // Whoever has gone needs none.
        let _ = send_piece(bytes.clone(), other, FINAL);
    }
    for other in others.filter(|other| !final_messages().contains_key(other)) {
        while matches!(take_final_message(other), Ok(false)) {
            pause();
        }
    }
    std::mem::take(&mut *final_messages()).into_iter().collect()
}

/// Whether MPI may be ended: it would wait for ever for a message that nobody takes.
pub fn can_finalize() -> bool {
    SEVERED.get().is_none_or(|severed| !severed.is_pending)
}

/// How long something was waited for since this process was asked to end.
#[derive(Default)]
struct Wait {
    since: Option<Instant>,
}

impl Wait {
    fn may_go_on(&mut self, other: u32) -> Result<(), Trouble> {
        if !signal::interrupted() {
            return Ok(());
        }
        match self.since.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
            false => Ok(()),
            true => {
                Err(Trouble::failed(format!("interrupted, and process {other} no longer answers")))
            }
        }
    }
}

/// Ends all processes at once.
pub fn abort(status: u8) {
    let _ = mpi().map(|mpi| mpi.abort(c_int::from(status)));
}
