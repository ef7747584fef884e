//! Flash drives in virtual time, seen from outside.
#![allow(clippy::unwrap_used, reason = "what cannot be done fails the test")]

mod calibration;
mod closed;
mod features;
mod rest;
mod timing;
