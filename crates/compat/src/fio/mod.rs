//! fio: its options and job files as a plan, its output from a run.
//!
//! Written from its manual and from what the program prints (3.33); no code of it is used.

pub mod output;
mod shown;

pub use shown::{Direction, Format, Line, Log, Logged, Section, Unified, Without};
