//! Estimates, verdicts and random numbers against vectors and frequencies.
#![allow(clippy::unwrap_used, reason = "what cannot be done fails the test")]

mod bank;
mod counting;
mod estimates;
mod frequencies;
mod histogram;
mod permutation;
mod random;
mod seeds;
mod settled;
mod vectors;
mod verdicts;
