//! Flash drives in virtual time, seen from outside.

mod calibration;
mod closed;
mod features;
mod pauses;
mod rest;
mod timing;
