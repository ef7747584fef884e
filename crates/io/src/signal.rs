//! SIGINT, SIGTERM and SIGHUP: the first asks for an orderly end. What repeats it at once (as
//! `timeout` does, to a process and then to its group) changes nothing; a later Ctrl-C says that
//! nobody waits for I/O any more.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering::SeqCst};

/// A signal within this time of the first one is the same wish once more.
const REPEATED_NS: u64 = 2_000_000_000;

static RECEIVED: AtomicI32 = AtomicI32::new(0);
/// CLOCK_MONOTONIC of the first signal; 0: none came.
static SINCE_NS: AtomicU64 = AtomicU64::new(0);
static IMPATIENT: AtomicBool = AtomicBool::new(false);

extern "C" fn on_signal(signal: libc::c_int) {
    let now = monotonic_ns().max(1);
    match SINCE_NS.compare_exchange(0, now, SeqCst, SeqCst) {
        Ok(_) => RECEIVED.store(signal, SeqCst),
        Err(since) => {
            if signal == libc::SIGINT && now.saturating_sub(since) > REPEATED_NS {
                IMPATIENT.store(true, SeqCst);
            }
        }
    }
}

fn monotonic_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: fills a timespec of our own, and is async-signal-safe (signal-safety(7)).
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// From now on SIGINT, SIGTERM and SIGHUP are remembered instead of killing at once.
pub fn install() {
    // SAFETY: an all-zero sigaction is a valid one to fill in; the handler only uses atomics and
    // async-signal-safe calls.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        let handler: extern "C" fn(libc::c_int) = on_signal;
        action.sa_sigaction = handler as usize;
        // One at a time, so that none that came later is the first to be noticed.
        libc::sigfillset(&mut action.sa_mask);
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
        // A reader that goes away (`| head`) is no reason to die without tidying up.
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
        // A file that may not grow further (`ulimit -f`) is an error of the write, EFBIG.
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// The signal that asked us to stop, if one came.
pub fn received() -> Option<i32> {
    match RECEIVED.load(SeqCst) {
        0 => None,
        signal => Some(signal),
    }
}

/// Whether a signal asked us to stop.
pub fn interrupted() -> bool {
    received().is_some()
}

/// Whether Ctrl-C came again, later: I/O that does not come back is not waited for.
pub fn impatient() -> bool {
    IMPATIENT.load(SeqCst)
}

/// The exit status of a program that was asked to stop: 128 and the number of the signal.
pub fn exit_status() -> u8 {
    let signal = received().unwrap_or(libc::SIGINT);
    u8::try_from(128 + signal).unwrap_or(130)
}

/// Ends the process now, whatever its other threads wait for.
pub fn end_now(status: u8) -> ! {
    // SAFETY: ends the process without running anything of it.
    unsafe { libc::_exit(libc::c_int::from(status)) }
}
