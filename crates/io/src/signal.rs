//! Ctrl-C and SIGTERM: the first asks, the second ends the process.

use std::sync::atomic::{AtomicI32, Ordering::SeqCst};

static RECEIVED: AtomicI32 = AtomicI32::new(0);

extern "C" fn on_signal(signal: libc::c_int) {
    if RECEIVED.swap(signal, SeqCst) != 0 {
        // SAFETY: both are async-signal-safe; the default action ends the process.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    }
}

/// From now on SIGINT, SIGTERM and SIGHUP are remembered instead of killing at once.
pub fn install() {
    // SAFETY: an all-zero sigaction is a valid one to fill in; the handler only uses an atomic
    // and async-signal-safe calls.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        let handler: extern "C" fn(libc::c_int) = on_signal;
        action.sa_sigaction = handler as usize;
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
        // A reader that goes away (`| head`) is no reason to die without tidying up.
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
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
