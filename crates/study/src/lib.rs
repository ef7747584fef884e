//! One file per experiment: the question, the plan, the judgement. No I/O and no printing.
#![forbid(unsafe_code)]

pub mod accept;
pub mod check;
pub mod compare;
pub mod doctor;
