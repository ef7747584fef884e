//! Simulated drives in virtual time: targets like any other, whose insides are known.
//!
//! Pure: no clock, no I/O, no threads. A drive takes operations at virtual times and says when they
//! end; [`testbed`] advances the virtual clock for the same drivers that measure real drives.
//!
//! A drive is built from what is typed behind `sim:`, and a plan runs against it as against any
//! other; only it says what it programmed:
//!
//! ```
//! use drivelab_core::driver::drivers_of;
//! use drivelab_core::plan_text;
//! use drivelab_core::queue::Sink;
//! use drivelab_core::tally::Tally;
//! use drivelab_sim::target::SimTarget;
//! use drivelab_sim::theory;
//!
//! struct Nobody;
//! impl Sink for Nobody {
//!     fn tally(&mut self, _: &Tally) {}
//! }
//!
//! let no_files = |_: &str| Err("only embedded profiles here".to_string());
//! let name = "sim:textbook,capacity=64MiB,spare=0.28,state=steady";
//! let target = SimTarget::parse(name, no_files)?;
//! let bytes = target.bytes().expect("a flash drive knows its size");
//! let mut bed = target.build()?;
//!
//! let text = r#"
//!     seed = 1
//!     [[steps]]
//!     name = "random writes"
//!     until = { passes = 1 }
//!     [[steps.streams]]
//!     pattern = "uniform"
//!     mix = { write = 100 }
//!     size = "4k"
//!     depth = 32
//! "#;
//! let plan = plan_text::parse(text, "writes.toml")?;
//! let drivers = drivers_of(&plan.steps[0], 0, plan.seed, plan.interval.0, bytes)?;
//! let before = bed.inside().expect("a simulated drive");
//! let finished = bed.run(drivers, &mut Nobody)?;
//! let inside = bed.inside().expect("a simulated drive").since(&before);
//!
//! let amplification = inside.write_amplification().expect("the host wrote");
//! let known = theory::greedy(0.28, 128);
//! assert!((0.8..1.2).contains(&(amplification / known)), "{amplification}, not {known}");
//! // Virtual: the pass took this long for the drive, and nobody waited for it.
//! assert!(finished[0].phase.closed > finished[0].phase.opened);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(unsafe_code)]

pub mod array;
pub mod attendant;
pub mod block_map;
pub mod disk;
pub mod drive;
pub mod ends;
pub mod figures;
pub mod file_system;
pub mod flash;
pub mod fragmentation;
mod kept_back;
mod keys;
pub mod lane;
pub mod log_block;
pub mod memory;
pub mod names;
pub mod network;
pub mod noise;
pub mod page_cache;
pub mod profile;
pub mod queue_delay;
mod stack;
pub mod stalls;
pub mod state;
pub mod target;
pub mod testbed;
pub mod theory;
pub mod thermal;
pub mod volume;
