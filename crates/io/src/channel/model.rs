//! A bounded channel of one sender and one receiver as std's behaves, made of what loom can follow.

use super::{RecvTimeoutError, SendError, TryRecvError, TrySendError};
use loom::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::PoisonError;
use std::sync::mpsc::RecvError;
use std::time::Duration;

#[derive(Debug)]
struct Queue<T> {
    waiting: VecDeque<T>,
    bound: usize,
    senders: usize,
    is_received: bool,
}

#[derive(Debug)]
struct Shared<T> {
    queue: Mutex<Queue<T>>,
    changed: Condvar,
}

impl<T> Shared<T> {
    fn locked(&self) -> MutexGuard<'_, Queue<T>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until it is another one.
    fn changed<'a>(&self, queue: MutexGuard<'a, Queue<T>>) -> MutexGuard<'a, Queue<T>> {
        self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner)
    }
}

/// The sending end.
#[derive(Debug)]
pub struct SyncSender<T>(Arc<Shared<T>>);

/// The receiving end.
#[derive(Debug)]
pub struct Receiver<T>(Arc<Shared<T>>);

/// A channel that holds `bound` at most.
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    let queue = Queue { waiting: VecDeque::new(), bound, senders: 1, is_received: true };
    let shared = Arc::new(Shared { queue: Mutex::new(queue), changed: Condvar::new() });
    (SyncSender(shared.clone()), Receiver(shared))
}

impl<T> SyncSender<T> {
    /// Waits for room.
    pub fn send(&self, one: T) -> Result<(), SendError<T>> {
        let mut queue = self.0.locked();
        while queue.is_received && queue.waiting.len() == queue.bound {
            queue = self.0.changed(queue);
        }
        if !queue.is_received {
            return Err(SendError(one));
        }
        queue.waiting.push_back(one);
        self.0.changed.notify_all();
        Ok(())
    }

    /// Does not wait.
    pub fn try_send(&self, one: T) -> Result<(), TrySendError<T>> {
        let mut queue = self.0.locked();
        if !queue.is_received {
            return Err(TrySendError::Disconnected(one));
        }
        if queue.waiting.len() == queue.bound {
            return Err(TrySendError::Full(one));
        }
        queue.waiting.push_back(one);
        self.0.changed.notify_all();
        Ok(())
    }
}

impl<T> Clone for SyncSender<T> {
    fn clone(&self) -> Self {
        self.0.locked().senders += 1;
        SyncSender(self.0.clone())
    }
}

impl<T> Drop for SyncSender<T> {
    fn drop(&mut self) {
        self.0.locked().senders -= 1;
        self.0.changed.notify_all();
    }
}

impl<T> Receiver<T> {
    /// Waits for one.
    pub fn recv(&self) -> Result<T, RecvError> {
        let mut queue = self.0.locked();
        loop {
            if let Some(one) = queue.waiting.pop_front() {
                self.0.changed.notify_all();
                return Ok(one);
            }
            if queue.senders == 0 {
                return Err(RecvError);
            }
            queue = self.0.changed(queue);
        }
    }

    /// Waits for one: a model has no time, so that it never runs out.
    pub fn recv_timeout(&self, _: Duration) -> Result<T, RecvTimeoutError> {
        self.recv().map_err(|_| RecvTimeoutError::Disconnected)
    }

    /// Does not wait.
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        let mut queue = self.0.locked();
        let one = queue.waiting.pop_front();
        if one.is_some() {
            self.0.changed.notify_all();
        }
        let gone = queue.senders == 0;
        one.ok_or(if gone { TryRecvError::Disconnected } else { TryRecvError::Empty })
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut queue = self.0.locked();
        queue.is_received = false;
        // As in std: what nobody takes any more is dropped.
        queue.waiting.clear();
        self.0.changed.notify_all();
    }
}
