use super::cell::{Base, patterns, pause};
use super::*;
use crate::experiment::tests::{options, simulated};
use drivelab_core::facts::DeviceFacts;
use drivelab_core::plan::PatternName;
use std::collections::BTreeSet;

const SCALES: [Scale; 3] = [Scale::Quick, Scale::Default, Scale::Full];

#[test]
fn all_ten_patterns_are_there_and_every_cell_has_a_name_of_its_own() {
    for scale in SCALES {
        for unit in [512, 4096] {
            let families: BTreeSet<u8> =
                patterns(scale, unit).iter().map(|pattern| pattern.family()).collect();
            let expected = (1..=10).filter(|family| unit == 512 || *family != 8);
            assert_eq!(families, expected.collect(), "{scale:?} of {unit}");
            let all = cells(scale, unit);
            let names: BTreeSet<String> = all.iter().map(|cell| cell.name()).collect();
            assert_eq!(names.len(), all.len());
            let grids = all.iter().filter(|cell| matches!(cell.pattern, Pattern::Grid(_)));
            assert!(grids.clone().count() > 0);
            assert!(grids.clone().all(|cell| cell.pattern != Pattern::Grid(unit)));
        }
    }
}

#[test]
fn a_cell_issues_what_its_name_says() {
    let (options, facts) = (options("patterns"), simulated());
    let setting = Setting { options: &options, facts: &facts };
    let of = |pattern, base| stream(&setting, Cell::of(pattern, base), 512, 1 << 26);
    let grid = of(Pattern::Grid(4096), Base::SequentialWrite);
    assert_eq!((grid.size.0, grid.alignment(), grid.pattern), (512, 4096, PatternName::Sequential));
    let shifted = of(Pattern::Shifted(512), Base::RandomWrite);
    assert_eq!((shifted.size.0, shifted.alignment(), shifted.shift.0), (4096, 4096, 512));
    let burst = of(Pattern::BurstDelay(5, 1_000_000), Base::RandomRead);
    assert_eq!((burst.burst, burst.depth, burst.think.0), (Some(5), 5, 1_000_000));
    let replay = of(Pattern::Replay(64), Base::RandomRead);
    assert_eq!(replay.offsets.len(), 64);
    assert!(replay.offsets.iter().all(|at| at.0.is_multiple_of(512) && at.0 < 1 << 26));
    assert_eq!(replay.offsets, of(Pattern::Replay(64), Base::RandomWrite).offsets);
    let mixed = of(Pattern::Mixed(1, true), Base::RandomRead);
    assert_eq!((mixed.mix.read, mixed.mix.write, mixed.writes_in_order), (999, 1, true));
    assert_eq!(pause(100_000), "100 µs");
    assert_eq!(pause(50_000_000), "50 ms");
}

#[test]
fn the_unit_is_what_the_target_takes() {
    let options = options("patterns");
    let mut facts = simulated();
    assert_eq!(unit(&Setting { options: &options, facts: &facts }), 512);
    facts.target.kind = TargetKind::BlockDevice;
    let device = |bytes| DeviceFacts { logical_block_bytes: Some(bytes), ..DeviceFacts::default() };
    for (bytes, expected) in [(512, 512), (4096, 4096)] {
        facts.target.devices = vec![device(bytes)];
        assert_eq!(unit(&Setting { options: &options, facts: &facts }), expected);
    }
}
