//! The program as its users meet it, and the rules of its code.
#![allow(clippy::unwrap_used, reason = "what cannot be done fails the test")]

mod broken_drive;
mod cli_compare;
mod cli_hung;
mod cli_json_refusals;
mod cli_missing;
mod cli_ordinary;
mod cli_refusals;
mod cli_report;
mod cli_resume;
mod cli_runs;
mod cli_signals;
mod cli_stdout;
mod cli_store;
mod cli_study;
#[path = "../cli_user/mod.rs"]
mod cli_user;
mod doctor;
mod foreign_files;
mod front_fio;
mod front_fio_ends;
mod front_fio_plot;
mod front_fio_said;
mod front_fio_table;
mod front_issued;
mod front_results;
mod injections;
mod issued;
mod kept_before;
mod kept_files;
mod kept_snapshot;
mod names_simulated;
mod parsers;
mod printed;
mod rendered;
mod simulated;
mod study_anatomy_simulated;
mod study_apps;
mod study_endurance;
mod study_files;
mod study_fs;
mod study_fs_device;
mod study_mix;
mod study_modes;
mod study_patterns;
mod study_quick;
mod study_rank;
mod study_steady;
mod study_stutter;
mod study_torture;
mod study_tune;
mod study_wsat_cause;
#[path = "../support/mod.rs"]
mod support;
mod swarm;
#[path = "../support/swarm/mod.rs"]
mod swarm_support;
mod team;
mod team_device;
mod team_ends;
mod team_hosts;
mod team_plans;
mod tidy;
mod trace_replay;
