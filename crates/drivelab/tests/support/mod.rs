//! What the tests of the real binary stand on: devices to measure, the binary itself, the machine.
#![allow(dead_code, reason = "each test program uses its own part")]

pub mod binary;
pub mod launched;
pub mod loop_device;
pub mod machine;
pub mod neighbours;
pub mod one_file;
pub mod queue_model;
pub mod shared_plan;
pub mod stalling_file;
pub mod zram;
