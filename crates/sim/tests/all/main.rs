//! Simulated drives against what is known of them.
#![allow(clippy::unwrap_used, reason = "what cannot be done fails the test")]

mod amplification;
mod defects;
mod flash_drive;
mod not_flash;
mod policies;
mod reader;
mod stages;
mod swarm;
