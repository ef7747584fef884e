//! The sending end of a queue that must lose nothing and end nothing.

use super::{SyncSender, TrySendError};
use std::time::{Duration, Instant};

/// Passes things to another thread, waits where that one is slow, and says for how long.
#[derive(Debug)]
pub struct Outbox<T> {
    /// Absent once the other thread is gone, or all has been passed.
    sender: Option<SyncSender<T>>,
    /// How often something had to wait, and for how long in all.
    waited: (u64, Duration),
}

impl<T> Default for Outbox<T> {
    fn default() -> Self {
        Outbox { sender: None, waited: (0, Duration::ZERO) }
    }
}

impl<T> Outbox<T> {
    /// To whoever has the other end.
    pub fn new(sender: SyncSender<T>) -> Self {
        Outbox { sender: Some(sender), ..Outbox::default() }
    }

    /// Whether anybody takes what is passed.
    pub fn is_open(&self) -> bool {
        self.sender.is_some()
    }

    /// Passes one on; where nobody takes it any more it is dropped.
    pub fn pass(&mut self, one: T) {
        let Some(sender) = &self.sender else { return };
        let is_passed = match sender.try_send(one) {
            Ok(()) => true,
            Err(TrySendError::Full(one)) => {
                let begin = Instant::now();
                let is_passed = sender.send(one).is_ok();
                self.waited = (self.waited.0 + 1, self.waited.1 + begin.elapsed());
                is_passed
            }
            Err(TrySendError::Disconnected(_)) => false,
        };
        if !is_passed {
            self.sender = None;
        }
    }

    /// All has been passed: the other thread ends when it has taken it.
    pub fn close(&mut self) {
        self.sender = None;
    }

    /// How often something had to wait, and for how long in all.
    pub fn waited(&self) -> (u64, Duration) {
        self.waited
    }
}
