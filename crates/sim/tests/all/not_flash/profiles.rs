//! The profiles that are not flash: their files, and the figures they were calibrated on.

use super::closed::*;
use drivelab_core::inside::Cause;
use drivelab_core::op::{Action, DataOp};
use drivelab_sim::array::Array;
use drivelab_sim::disk::{Disk, DiskParameters};
use drivelab_sim::network::Network;
use drivelab_sim::volume::Volume;
use drivelab_stats::Random;
use serde::de::DeserializeOwned;

const PROFILES: [&str; 8] =
    ["momentus-7200", "zhou-hdd", "sas-raid10", "sas-raid5", "san", "gp2", "gp3", "essd"];

fn profile(name: &str) -> toml::Table {
    let path = format!("{}/../../profiles/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap().parse().unwrap()
}

/// The values of a table of parameters.
fn values<T: DeserializeOwned>(profile: &toml::Table, table: &str) -> T {
    let table = profile[table].as_table().unwrap();
    let values: toml::Table =
        table.iter().map(|(name, entry)| (name.clone(), entry["value"].clone())).collect();
    values.try_into().unwrap()
}

/// Runs `count` operations on a drive of the profile.
fn run(name: &str, depth: usize, count: usize, draw: impl FnMut(usize) -> DataOp) -> Vec<Done> {
    let profile = profile(name);
    match profile["kind"].as_str().unwrap() {
        "disk" => {
            let mut drive = Disk::new(values(&profile, "parameters"), 1).unwrap();
            closed_loop(&mut drive, depth, count, draw)
        }
        "volume" => {
            let mut drive = Volume::new(values(&profile, "parameters"), 1).unwrap();
            closed_loop(&mut drive, depth, count, draw)
        }
        "array" => {
            let member: DiskParameters = values(&profile, "member");
            let mut drive = Array::of_disks(values(&profile, "parameters"), &member, 1).unwrap();
            if profile.contains_key("network") {
                let mut drive = Network::new(values(&profile, "network"), drive, 1).unwrap();
                return closed_loop(&mut drive, depth, count, draw);
            }
            closed_loop(&mut drive, depth, count, draw)
        }
        kind => panic!("{kind}"),
    }
}

#[test]
fn every_value_has_a_source_and_at_most_three_are_fitted() {
    for name in PROFILES {
        let profile = profile(name);
        assert_eq!(profile["name"].as_str(), Some(name));
        let mut fitted = 0;
        for (_, table) in profile.iter().filter(|(_, table)| table.is_table()) {
            for (parameter, entry) in table.as_table().unwrap() {
                assert!(!entry["source"].as_str().unwrap().is_empty(), "{name} {parameter}");
                let status = entry["status"].as_str().unwrap();
                assert!(["spec", "measured", "fitted", "guess"].contains(&status), "{status}");
                fitted += usize::from(status == "fitted");
            }
        }
        assert!(fitted <= 3, "{name}: {fitted}");
    }
}

#[test]
fn every_profile_obeys_littles_law() {
    for name in PROFILES {
        for depth in [1, 48] {
            let mut kind = Random::new(17);
            let mut place = random(Action::Read, 40 * GIB, 18);
            let done = run(name, depth, 48_000, |index| {
                let action = if kind.below(5) == 0 { Action::Write } else { Action::Read };
                DataOp { action, ..place(index) }
            });
            let law_ns = depth as f64 / iops(&done) * 1e9;
            let off = (mean_ns(&done) / law_ns - 1.0).abs();
            assert!(off < 0.01, "{name} {depth}: {off}");
            assert!(done.iter().all(|done| done.cause != Cause::Unknown));
        }
    }
}

#[test]
fn the_momentus_meets_the_figures_it_was_calibrated_on() {
    let bytes = 160_000_000_000;
    let done = run("momentus-7200", 1, 20_000, random(Action::Write, bytes, 19));
    // The first writes find an empty write cache.
    let steady = &done[2_000..];
    let span_ns = span_ns(steady) - steady[0].begin;
    let iops = steady.len() as f64 * 1e9 / span_ns as f64;
    assert!((iops / 106.9 - 1.0).abs() < 0.1, "{iops}");
    let mean_ms = mean_ns(steady) / 1e6;
    assert!((mean_ms / 9.4 - 1.0).abs() < 0.1, "{mean_ms}");
    // 76.5 ms were measured; nothing in the model waits for so long at depth 1.
    let max_ms = max_ns(steady) as f64 / 1e6;
    assert!((15.0..76.5).contains(&max_ms), "{max_ms}");
}

#[test]
fn the_essd_meets_the_figure_it_was_calibrated_on() {
    let mut kind = Random::new(20);
    let mut place = random(Action::Read, 4 * GIB, 21);
    let done = run("essd", 64, 300_000, |index| {
        let action = if kind.below(2) == 0 { Action::Write } else { Action::Read };
        DataOp { action, ..place(index) }
    });
    assert!((iops(&done) / 4_930.0 - 1.0).abs() < 0.05, "{}", iops(&done));
}
