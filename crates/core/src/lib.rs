//! The experiment as data, the driver that turns it into operations, and the seam to a drive.
//!
//! Nothing here reads a clock, a file or the environment.
//!
//! A plan is text that people write, and it runs the same on whatever stands behind the seam. Here
//! that is four servers in virtual time:
//!
//! ```
//! use drivelab_core::driver::drivers_of;
//! use drivelab_core::facts::TargetKind;
//! use drivelab_core::op::Action;
//! use drivelab_core::plan_text;
//! use drivelab_core::queue::{Sink, Testbed};
//! use drivelab_core::record::{Begin, End, Record, StepBegin, StepEnd};
//! use drivelab_core::run::Run;
//! use drivelab_core::summary::summarise;
//! use drivelab_core::tally::Tally;
//! use drivelab_core::validate::{Geometry, validate};
//! use drivelab_core::virtual_bed::VirtualTestbed;
//!
//! /// Puts the intervals of all workers into the run.
//! struct Kept(Run);
//!
//! impl Sink for Kept {
//!     fn tally(&mut self, tally: &Tally) {
//!         self.0.push(Record::Tally(Box::new(tally.clone()))).expect("its step has begun");
//!     }
//! }
//!
//! let text = r#"
//!     seed = 7
//!     [[steps]]
//!     name = "reads"
//!     until = { operations = 4000 }
//!     [[steps.streams]]
//!     pattern = "uniform"
//!     mix = { read = 100 }
//!     size = "4k"
//!     depth = 8
//! "#;
//! let plan = plan_text::parse(text, "reads.toml")?;
//! let file_bytes = 1 << 30;
//! let geometry = Geometry {
//!     kind: TargetKind::File,
//!     file_bytes: Some(file_bytes),
//!     logical_block_bytes: 512,
//!     lacks_page_cache: false,
//!     memory_bytes: None,
//! };
//! validate(&plan, &geometry).expect("it makes sense on such a file");
//!
//! let step = &plan.steps[0];
//! let drivers = drivers_of(step, 0, plan.seed, plan.interval.0, file_bytes)?;
//! let mut sink = Kept(Run::default());
//! sink.0.push(Record::Begin(Box::new(Begin { seed: plan.seed, ..Begin::default() })))?;
//! sink.0.push(Record::Plan { plan: plan.clone() })?;
//! sink.0.push(Record::StepBegin(StepBegin {
//!     step: 0,
//!     plan_step: 0,
//!     plan: 0,
//!     repetition: 1,
//!     name: step.name.clone(),
//!     role: step.role,
//!     state: "unknown".into(),
//!     opened: Vec::new(),
//! }))?;
//!
//! // Each operation takes 100 µs, and four are served at once.
//! let finished = VirtualTestbed::new(100_000, 4).run(drivers, &mut sink)?;
//! let phases = finished.into_iter().map(|finished| finished.phase).collect();
//! sink.0.push(Record::StepEnd(Box::new(StepEnd { phases, ..StepEnd::default() })))?;
//! sink.0.push(Record::End(End { complete: true, status: 0, reason: None }))?;
//!
//! let summary = summarise(&sink.0);
//! let reads = &summary.steps[0].streams[0].kinds[&Action::Read];
//! assert_eq!(reads.rates.ops, 4000);
//! assert_eq!(reads.rates.iops.expect("a rate").value, 40_000.0);
//! // Eight in flight on four servers: each waits as long as it is served.
//! let service = reads.service_ns.expect("latencies were recorded");
//! assert!((199_000..=201_000).contains(&service.p50.expect("4000 support a median")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod cause;
pub mod defect;
pub mod drive;
pub mod events;
pub mod facts;
pub mod health;
pub mod judge;
pub mod lifetime;
pub mod link;
pub mod nvme;
pub mod op;
pub mod plan;
pub mod price;
pub mod quantity;
pub mod run;
pub mod trace;
pub mod trouble;
pub mod units;
pub mod witness;
pub use drive::{
    arrival, content, driver, endings, flow, inside, level, offsets, queue, repeated, repeats,
    tally, virtual_bed,
};
pub use judge::{fitness, health_change, rounds, sound, summary, truth, well};
pub use plan::{passes, plan_text, study, validate};
pub use run::{
    claims, comparison, findings, gathering, health_log, history, ledger, observed, record, uses,
    verified,
};
pub use trace::{anatomy, stages};
