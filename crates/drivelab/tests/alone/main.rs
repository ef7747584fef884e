//! What is measured in real time. A program of its own, which `cargo test` runs when the other is
//! done: what other tests of one process compute would pass for a measured program's own work.
#![allow(clippy::unwrap_used, reason = "what cannot be done fails the test")]

mod accept;
#[path = "../cli_user/mod.rs"]
mod cli_user;
mod cli_watch;
mod devices;
mod front_fio_beside;
mod lies;
mod lies_unseen;
#[path = "../support/planted/mod.rs"]
mod planted;
mod stalls;
mod study_anatomy;
#[path = "../support/mod.rs"]
mod support;
mod throttle;
