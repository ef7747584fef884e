//! Messages between the processes of mpirun (MPI: A Message-Passing Interface Standard, 3.1).
//!
//! Waiting is asking again after a short sleep: a process that spins would take the processor from
//! the workers of the others.

use drivelab_core::queue::Trouble;
use std::ffi::{c_int, c_void};
use std::time::Duration;

/// Longest message in one piece.
const PIECE_BYTES: usize = 1 << 28;
const PAUSE: Duration = Duration::from_micros(100);

// SAFETY: the signatures are those of team_mpi.c, which is built with this crate.
unsafe extern "C" {
    fn drivelab_team_join(rank: *mut c_int, size: *mut c_int) -> c_int;
    fn drivelab_team_leave() -> c_int;
    fn drivelab_team_send(bytes: *const c_void, count: c_int, to: c_int, tag: c_int) -> c_int;
    fn drivelab_team_sent(is_done: *mut c_int) -> c_int;
    fn drivelab_team_probe(
        from: c_int,
        tag: c_int,
        is_there: *mut c_int,
        source: *mut c_int,
        count: *mut c_int,
    ) -> c_int;
    fn drivelab_team_receive(bytes: *mut c_void, count: c_int, from: c_int, tag: c_int) -> c_int;
    fn drivelab_team_abort(status: c_int) -> c_int;
}

fn checked(status: c_int, what: &str) -> Result<(), Trouble> {
    match status {
        0 => Ok(()),
        _ => Err(Trouble::failed(format!("MPI: {what} failed"))),
    }
}

/// Becomes one of the processes; gives its number and how many there are.
pub fn join() -> Result<(u32, u32), Trouble> {
    let (mut rank, mut size) = (0, 0);
    // SAFETY: called once, on the thread that makes all later calls; both pointers are valid.
    checked(unsafe { drivelab_team_join(&mut rank, &mut size) }, "the beginning")?;
    Ok((rank.unsigned_abs(), size.unsigned_abs()))
}

/// Ends what [`join`] began.
pub fn leave() {
    // SAFETY: the one call behind all others, on the same thread.
    let _ = unsafe { drivelab_team_leave() };
}

/// Sends bytes to another process.
pub fn send(bytes: &[u8], to: u32, tag: c_int) -> Result<(), Trouble> {
    for piece in bytes.chunks(PIECE_BYTES).chain(bytes.is_empty().then_some(&[][..])) {
        let count = piece.len() as c_int;
        // SAFETY: `piece` stays as it is until the loop below has seen that it was sent.
        let status = unsafe { drivelab_team_send(piece.as_ptr().cast(), count, to as c_int, tag) };
        checked(status, "sending")?;
        loop {
            let mut is_done = 0;
            // SAFETY: the pointer is valid; one send is pending at a time.
            checked(unsafe { drivelab_team_sent(&mut is_done) }, "sending")?;
            if is_done != 0 {
                break;
            }
            std::thread::sleep(PAUSE);
        }
    }
    Ok(())
}

/// The sender and the length of the next message, if one is there.
pub fn probe(from: Option<u32>, tag: c_int) -> Result<Option<(u32, usize)>, Trouble> {
    let (mut is_there, mut source, mut count) = (0, 0, 0);
    let asked = from.map_or(-1, |rank| rank as c_int);
    // SAFETY: all three pointers are valid.
    let status = unsafe { drivelab_team_probe(asked, tag, &mut is_there, &mut source, &mut count) };
    checked(status, "looking for a message")?;
    Ok((is_there != 0).then_some((source.unsigned_abs(), count.unsigned_abs() as usize)))
}

/// Waits for a message of `length` bytes; `patiently` sleeps between the looks.
pub fn receive(from: u32, tag: c_int, length: usize, patiently: bool) -> Result<Vec<u8>, Trouble> {
    let mut bytes = Vec::with_capacity(length);
    loop {
        let Some((_, count)) = probe(Some(from), tag)? else {
            if patiently {
                std::thread::sleep(PAUSE);
            }
            continue;
        };
        let begin = bytes.len();
        bytes.resize(begin + count, 0);
        let into = bytes[begin..].as_mut_ptr().cast();
        // SAFETY: `into` has room for the `count` bytes that the message was found to have.
        let status = unsafe { drivelab_team_receive(into, count as c_int, from as c_int, tag) };
        checked(status, "receiving")?;
        if bytes.len() >= length {
            return Ok(bytes);
        }
    }
}

/// Ends all processes at once.
pub fn abort(status: u8) {
    // SAFETY: may be called at any time after `join`.
    let _ = unsafe { drivelab_team_abort(c_int::from(status)) };
}
