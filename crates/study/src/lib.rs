//! One file per experiment: the question, the plan, the judgement. No I/O and no printing.
#![forbid(unsafe_code)]

pub mod aa;
pub mod accept;
pub mod across;
pub mod anatomy;
pub mod apps;
pub mod battery;
pub mod check;
pub mod compare;
pub mod doctor;
pub mod endurance;
pub mod experiment;
pub mod file_system;
pub mod files;
pub mod history;
pub mod ior;
pub mod meta;
pub mod methods;
pub mod mix;
pub mod modes;
pub mod patterns;
pub mod pts;
pub mod rank;
pub mod registry;
pub mod set_up;
pub mod steady;
pub mod stride;
pub mod stutter;
pub mod torture;
pub mod trim;
pub mod tune;
pub mod under;
pub mod wsat;
pub mod zones;

use experiment::Study;

/// All studies, in the order of the help.
pub const STUDIES: &[Study] = &[
    aa::STUDY,
    wsat::STUDY,
    trim::STUDY,
    pts::IOPS,
    pts::THROUGHPUT,
    pts::LATENCY,
    rank::STUDY,
    patterns::STUDY,
    mix::STUDY,
    under::STUDY,
    steady::STUDY,
    file_system::STUDY,
    stride::STUDY,
    stutter::STUDY,
    apps::STUDY,
    modes::STUDY,
    endurance::STUDY,
    files::STUDY,
    ior::STUDY,
    meta::STUDY,
    torture::STUDY,
    anatomy::STUDY,
    tune::STUDY,
    zones::STUDY,
];
