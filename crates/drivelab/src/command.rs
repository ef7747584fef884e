//! The commands.

pub mod accept;
pub mod bare;
pub mod check;
pub mod compare;
pub mod doctor;
pub mod elsewhere;
pub mod generate;
pub mod list;
pub mod own_plans;
pub mod report;
pub mod run;
pub mod runs;
pub mod sim;
pub mod study;
pub mod watch;
