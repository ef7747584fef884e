//! Bounded channels between threads: those of std, and in models one whose every order is tried.

#[cfg(all(test, loom))]
mod model;
mod outbox;

#[cfg(all(test, loom))]
pub use model::{Receiver, SyncSender, sync_channel};
pub use outbox::Outbox;
#[cfg(not(all(test, loom)))]
pub use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
pub use std::sync::mpsc::{RecvTimeoutError, SendError, TryRecvError, TrySendError};
