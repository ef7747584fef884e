//! What may never end because a file system does not answer: it is said, and Ctrl-C ends it.

use drivelab_io::signal;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// After so long it is said that it takes long.
const SAID_AFTER: Duration = Duration::from_secs(5);
/// Ctrl-C is seen within this time.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Watches something until this is dropped.
#[derive(Debug)]
pub struct Patience {
    _done: Sender<()>,
}

impl Patience {
    /// Begins to watch; `what` is a sentence without its full stop. `leaves` is there still if it
    /// is not waited for, and is named then.
    pub fn begin(what: &'static str, leaves: Vec<PathBuf>) -> Self {
        let (done, is_done) = channel::<()>();
        let watch = move || {
            let begin = Instant::now();
            let (mut is_said, mut was_asked) = (false, false);
            while is_done.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                if begin.elapsed() > SAID_AFTER && !is_said {
                    (is_said, was_asked) = (true, signal::interrupted());
                    crate::print::error(&format!(
                        "drivelab: {what}, and the file system does not answer; Ctrl-C stops \
                         waiting, and leaves what is there"
                    ));
                }
                // Who asked before that meant the run; now it is this.
                if is_said && (signal::impatient() || signal::interrupted() && !was_asked) {
                    for path in &leaves {
                        crate::print::error(&format!(
                            "drivelab: {} was not waited for; if it still exists, the next command \
                             removes it",
                            path.display()
                        ));
                    }
                    signal::end_now(signal::exit_status());
                }
            }
        };
        // Without a thread it is waited for in silence.
        let _ = std::thread::Builder::new().name("patience".into()).spawn(watch);
        Patience { _done: done }
    }
}
