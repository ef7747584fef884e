//! Drives of small capacities, and what is said of them.

use super::*;
use crate::profile::EMBEDDED;

fn target(name: &str) -> SimTarget {
    SimTarget::parse(name, |_| Err("no files".into())).unwrap()
}

fn codes(target: &SimTarget) -> Vec<&'static str> {
    target.differences.iter().map(|found| found.code).collect()
}

fn flash_profiles() -> Vec<&'static str> {
    let named = EMBEDDED.iter().map(|(name, _)| *name);
    named.filter(|name| target(name).profile.model == Model::Flash).collect()
}

#[test]
fn every_drive_can_be_built_from_256_mib_on_and_keeps_its_spare_and_its_times() {
    for name in flash_profiles() {
        let full = target(name);
        let (whole, spare) = (full.flash().unwrap(), full.flash().unwrap().layout(0).unwrap());
        let spare = spare.spare();
        assert_eq!(full.differences, [], "{name}");
        for capacity in ["256MiB", "512MiB", "1GiB", "2GiB", "4GiB", "8GiB", "32GiB"] {
            let small = target(&format!("sim:{name},capacity={capacity}"));
            let what = format!("{name} {capacity}: {:?}", small.differences);
            small.build().unwrap_or_else(|error| panic!("{what}: {error}"));
            let drive = small.flash().unwrap();
            let layout = drive.layout(0).unwrap();
            assert_eq!(
                (drive.read_ns, drive.program_ns, drive.erase_ns, drive.buffer_bytes),
                (whole.read_ns, whole.program_ns, whole.erase_ns, whole.buffer_bytes),
            );
            let blocks = f64::from(layout.logical_units) / f64::from(layout.block_units);
            if codes(&small).contains(&"scaled_drive") {
                assert!((BLOCKS_AIM as f64..4.0 * BLOCKS_AIM as f64).contains(&blocks), "{what}");
                // Rounded up to whole blocks.
                let more = layout.spare() - spare;
                assert!((-1e-9..=1.0 / blocks + 1e-9).contains(&more), "{what} {more}");
                assert!(drive.slc_static_bytes <= drive.user_bytes / 50, "{what}");
            } else {
                assert!(blocks >= BLOCKS_MIN as f64, "{what}");
                assert_eq!(drive.pages_per_block, whole.pages_per_block);
            }
            let is_off = (layout.spare() / spare - 1.0).abs() > SPARE_UNMENTIONED;
            assert_eq!(codes(&small).contains(&"spare_differs"), is_off, "{what}");
        }
    }
}

#[test]
fn pages_of_a_block_go_first_then_dies_channels_and_planes() {
    let drive = |name: &str| target(name).flash().unwrap();
    let shape = |name: &str| {
        let drive = drive(name);
        (drive.pages_per_block, drive.dies_per_channel, drive.channels, drive.planes)
    };
    assert_eq!(shape("sim:nvme-tlc"), (768, 2, 8, 2));
    assert_eq!(shape("sim:nvme-tlc,capacity=64GiB"), (768, 2, 8, 2));
    assert_eq!(shape("sim:nvme-tlc,capacity=4GiB"), (96, 2, 8, 2));
    assert_eq!(shape("sim:nvme-tlc,capacity=1GiB"), (24, 2, 8, 2));
    assert_eq!(shape("sim:nvme-tlc,capacity=256MiB"), (24, 1, 4, 2));
    assert_eq!(shape("sim:nvme-tlc,capacity=64MiB"), (24, 1, 1, 2));
    assert_eq!(shape("sim:nvme-tlc,capacity=32MiB"), (24, 1, 1, 1));
    // What was typed is kept.
    assert_eq!(shape("sim:nvme-tlc,capacity=256MiB,channels=8,planes=2"), (24, 1, 8, 2));
    assert_eq!(drive("sim:nvme-tlc,capacity=4GiB").slc_static_bytes, 25_764_524);
    assert_eq!(drive("sim:nvme-tlc,capacity=4GiB,slc_static_bytes=1GiB").slc_static_bytes, 1 << 30);
    // A spare that was typed stands too.
    assert_eq!(drive("sim:nvme-tlc,capacity=4GiB,spare=0.28").spare, Some(0.28));
}

#[test]
fn what_was_scaled_is_said_with_the_least_capacity_that_needs_none() {
    let small = target("sim:nvme-tlc,capacity=4GiB");
    let said = &small.differences[0];
    assert_eq!(said.code, "scaled_drive");
    for part in ["`nvme-tlc` scaled to 4 GiB", "pages_per_block 768 -> 96", "slc_static_bytes"] {
        assert!(said.text.contains(part), "{}", said.text);
    }
    assert!(!said.text.contains("fewer pages at a time"));
    assert_eq!(said.advice, "For the full drive leave out capacity=, or give at least 32 GiB.");
    assert_eq!(codes(&target("sim:nvme-tlc,capacity=32GiB")), ["spare_differs"]);
    assert_eq!(small.facts().target.differences[0], said.text);
    assert!(target("sim:nvme-tlc,capacity=256MiB").differences[0].text.contains("fewer pages"));
}

#[test]
fn a_spare_that_whole_blocks_round_up_is_said() {
    let said = |name: &str| target(name).differences.first().map(|found| found.text.clone());
    assert_eq!(said("sim:textbook,capacity=256MiB"), None);
    assert_eq!(said("sim:textbook,capacity=1GiB,spare=0.145"), None);
    let text = said("sim:textbook,capacity=32MiB,spare=0.145").unwrap();
    assert!(text.contains("the spare is 15.6 % instead of the 14.5 % asked for"), "{text}");
    let text = said("sim:x25-m,capacity=4GiB").unwrap();
    assert!(text.contains("the spare is 2.5 % instead of the 7.1 % of the full drive"), "{text}");
}
