use super::cell::{Base, patterns, pause};
use super::words::conclude;
use super::*;
use crate::experiment::tests::{options, simulated};
use drivelab_core::comparison::{Cell as Heat, Metric};
use drivelab_core::facts::DeviceFacts;
use drivelab_core::findings::Findings;
use drivelab_core::plan::{self, Arrival};
use drivelab_core::study::StudyOptions;
use drivelab_stats::{Ratio, Verdict};
use std::collections::BTreeSet;

const SCALES: [Scale; 3] = [Scale::Quick, Scale::Default, Scale::Full];

#[test]
fn all_patterns_are_there_and_every_cell_has_a_name_of_its_own() {
    for scale in SCALES {
        for unit in [512, 4096] {
            let families: BTreeSet<u8> =
                patterns(scale, unit).iter().map(|pattern| pattern.family()).collect();
            let expected = (1..=11).filter(|family| unit == 512 || *family != 8);
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
    assert_eq!(
        (grid.size.0, grid.alignment(), grid.pattern),
        (512, 4096, plan::Pattern::SEQUENTIAL)
    );
    let shifted = of(Pattern::Shifted(512), Base::RandomWrite);
    assert_eq!((shifted.size.0, shifted.alignment(), shifted.shift.0), (4096, 4096, 512));
    let burst = of(Pattern::BurstDelay(5, 1_000_000), Base::RandomRead);
    assert_eq!(burst.depth, 5);
    assert_eq!(burst.arrival, Arrival::thinking(Some(5), Span(1_000_000)));
    let replay = of(Pattern::Replay(64), Base::RandomRead);
    let plan::Pattern::Replay(offsets) = replay.pattern else { panic!("no replay") };
    assert_eq!(offsets.len(), 64);
    assert!(offsets.iter().all(|at| at.0.is_multiple_of(512) && at.0 < 1 << 26));
    let writes = of(Pattern::Replay(64), Base::RandomWrite);
    assert_eq!(writes.pattern, plan::Pattern::Replay(offsets), "the same addresses");
    let mixed = of(Pattern::Mixed(1, true), Base::RandomRead);
    assert_eq!((mixed.mix.read, mixed.mix.write, mixed.writes_in_order), (999, 1, true));
    assert_eq!(pause(100_000), "100 µs");
    assert_eq!(pause(50_000_000), "50 ms");
}

#[test]
fn the_tables_of_the_slides_hold_every_cell() {
    let facts = simulated();
    for scale in SCALES {
        let options = StudyOptions { scale, absolute: true, ..options("patterns") };
        let setting = Setting { options: &options, facts: &facts };
        let shown: BTreeSet<String> =
            slides::sheets(&setting).iter().flat_map(|it| it.cells()).map(Cell::name).collect();
        let all: BTreeSet<String> = possible(&setting).into_iter().map(Cell::name).collect();
        assert_eq!(shown, all, "{scale:?}");
        assert!(all.contains("random write, 64 KiB requests"));
    }
}

#[test]
fn the_second_time_comes_right_behind_the_first_with_its_addresses() {
    let (options, facts) = (options("patterns"), simulated());
    let setting = Setting { options: &options, facts: &facts };
    let run = Run::default();
    let left = Left { time_ns: 600 * SECOND_NS, bytes: 8 << 30 };
    let steps = schedule(&setting, &run, &left, 1 << 28);
    let mut orders = BTreeSet::new();
    for (at, second) in steps.iter().enumerate() {
        if second.name.ends_with("second time") {
            let first = &steps[at - 1];
            assert!(first.name.ends_with("new addresses"), "{}", first.name);
            assert_eq!(first.streams, second.streams);
            assert_eq!(second.until.operations, first.until.operations);
            assert_eq!(before(&steps, second).as_ref(), Some(first));
            orders.insert(second.streams[0].order.unwrap());
        } else if !second.name.ends_with("new addresses") {
            assert_eq!(before(&steps, second), None, "{}", second.name);
        }
    }
    assert_eq!(orders.len() as u64, repetitions(options.scale), "others in each round");
}

/// On a disk the beginning is faster than the end: what goes in order must not always begin there,
/// or the place is taken for the pattern.
#[test]
fn what_goes_in_order_begins_all_over_the_region() {
    let (options, facts) = (options("patterns"), simulated());
    let setting = Setting { options: &options, facts: &facts };
    let region = 64 << 20;
    let place = |first| Place { first, region_bytes: region, round: 0 };
    for pattern in [Pattern::Plain, Pattern::Large, Pattern::Grid(65_536), Pattern::Burst(5)] {
        let firsts: Vec<u64> = (0..5).map(|round| first_byte(7, round, 5, region)).collect();
        let of = |first: &u64| {
            let cell = Cell::of(pattern, Base::SequentialRead);
            let step = step(&setting, cell, 1_000_000, 1 << 20, place(*first));
            let stream = &step.streams[0];
            assert_eq!((stream.offset.0, stream.length.unwrap().0), (0, region), "all of it");
            let begin = stream.pattern.sequence().unwrap().begin.unwrap().0;
            assert!(begin.is_multiple_of(65_536));
            begin
        };
        let mut begins: Vec<u64> = firsts.iter().map(of).collect();
        begins.sort_unstable();
        let fifths: Vec<u64> = begins.iter().map(|at| at * 5 / region).collect();
        assert_eq!(fifths, [0, 1, 2, 3, 4], "{begins:?}");
        let mean = begins.iter().sum::<u64>() / 5;
        assert!(mean.abs_diff(region / 2) < region / 100, "{mean}");
        let at_random = Cell::of(pattern, Base::RandomRead);
        let step = step(&setting, at_random, 1_000_000, 1 << 20, place(firsts[4]));
        assert_eq!(step.streams[0].pattern.sequence(), None, "at random there is no beginning");
    }
    let orders: BTreeSet<Vec<u64>> = (0..8)
        .map(|seed| (0..5).map(|round| first_byte(seed, round, 5, region)).collect())
        .collect();
    assert!(orders.len() > 4, "the order is drawn: {orders:?}");
    let replay = stream(&setting, Cell::of(Pattern::Replay(64), Base::RandomRead), 512, region);
    let plan::Pattern::Replay(offsets) = replay.pattern else { panic!("no replay") };
    let mut parts: Vec<u64> = offsets.iter().map(|at| at.0 / (region / 64)).collect();
    assert!(!parts.is_sorted());
    parts.sort_unstable();
    assert!(parts.into_iter().eq(0..64), "one in each part");
}

#[test]
fn a_cause_is_told_only_where_nothing_else_would_do_the_same() {
    use Verdict::Changed;
    // The kernel joins what lies side by side in a burst, so the drive need not do several at once.
    let findings = concluded(&[heat(Pattern::Burst(5), Base::SequentialRead, 4.0, Changed)]);
    assert!(findings.verdict[0].contains("merged on the way to it, or it works on several"));
    let findings = concluded(&[heat(Pattern::Burst(5), Base::RandomRead, 4.0, Changed)]);
    assert!(findings.verdict[0].contains("it works on several at once"));
    let findings =
        concluded(&[heat(Pattern::Delay(1_000_000), Base::SequentialWrite, 0.3, Changed)]);
    assert!(!findings.verdict[0].contains("read ahead"), "of writes: {findings:?}");
    // A stripe of 64 KiB: one in sixteen touches two.
    let findings = concluded(&[heat(Pattern::Shifted(512), Base::RandomRead, 0.94, Changed)]);
    assert!(findings.verdict[0].contains("some of them span two areas"), "{findings:?}");
    let findings = concluded(&[heat(Pattern::Shifted(512), Base::RandomRead, 0.5, Changed)]);
    assert!(findings.verdict[0].contains("each spans two areas"), "{findings:?}");
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

fn heat(pattern: Pattern, base: Base, value: f64, verdict: Verdict) -> (Cell, Base, Heat) {
    let heat = Heat {
        name: pattern.words(),
        metric: Metric::Iops,
        verdict: Some(verdict),
        ratio: Some(Ratio { value, low: Some(0.9 * value), high: Some(1.1 * value) }),
        p_adjusted: Some(0.01),
        needs_n: None,
        open: None,
        values: None,
        n: (5, 5),
        suspect: None,
    };
    (Cell::of(pattern, base), base, heat)
}

fn concluded(judged: &[(Cell, Base, Heat)]) -> Findings {
    let (options, facts) = (options("patterns"), simulated());
    let mut findings = Findings::default();
    conclude(&Setting { options: &options, facts: &facts }, judged, &mut findings);
    findings
}

#[test]
fn the_largest_sound_effect_of_each_pattern_is_told() {
    use Verdict::{Changed, Equivalent, Inconclusive};
    let findings = concluded(&[
        heat(Pattern::Delay(1_000_000), Base::RandomWrite, 2.0, Changed),
        heat(Pattern::Delay(5_000_000), Base::RandomWrite, 4.0, Changed),
        heat(Pattern::Burst(5), Base::RandomRead, 8.0, Inconclusive),
        heat(Pattern::Grid(4096), Base::RandomWrite, 1.0, Equivalent),
        heat(Pattern::SemiRandom(50), Base::SequentialRead, 0.5, Changed),
        heat(Pattern::Shifted(512), Base::RandomWrite, 0.4, Changed),
        heat(Pattern::Mixed(10, false), Base::RandomRead, 0.9, Changed),
    ]);
    let all = findings.verdict.join("\n");
    assert!(findings.verdict[0].starts_with("Random writes after a pause of 5 ms are 4.00 times"));
    assert!(findings.verdict[1].contains("50 % jumps run at 0.50 times [0.45, 0.55] the rate"));
    assert!(!all.contains("pause of 1 ms") && !all.contains("bursts"), "{all}");
    assert!(all.contains("Of 7 ratios 5 lie outside 5.0 %, 1 within it; 1 inconclusive."), "{all}");
    assert_eq!(findings.beware.len(), 1, "a mix at 0.9 is told, and does not hurt");
    assert!(findings.beware[0].contains("take 2.50 times [2.27, 2.78] as long"), "{all}");
    assert!(!findings.no_answer && findings.unknown.is_empty());
}

#[test]
fn pieces_are_told_where_every_longer_one_is_felt_and_no_shorter_one() {
    use Verdict::{Changed, Equivalent, Inconclusive};
    let told = |all: &[(u64, f64, Verdict)]| {
        let of = |(kibibytes, value, verdict): &(u64, f64, Verdict)| {
            heat(Pattern::Across(kibibytes << 10, 1 << 20), Base::RandomRead, *value, *verdict)
        };
        let findings = concluded(&all.iter().map(of).collect::<Vec<_>>());
        findings.verdict.into_iter().find(|text| text.contains("across odd"))
    };
    let (slow, same) = ((0.5, Changed), (1.0, Equivalent));
    let (noisy, doubtful) = ((0.95, Inconclusive), (0.7, Inconclusive));
    let at = |kibibytes, (value, verdict)| (kibibytes, value, verdict);
    let found = told(&[at(128, slow), at(32, same), at(64, slow)]).unwrap();
    assert_eq!(
        found,
        "Random reads of 8 KiB across odd multiples of 64 KiB take 2.00 times [1.82, 2.22] as \
         long, across odd multiples of 32 KiB or less at most 1.11 times: the drive splits \
         requests at multiples of 64 KiB, as an array does at its stripes and flash at its pages."
    );
    let unmeasured = told(&[at(16, same), at(64, slow)]).unwrap();
    assert!(unmeasured.contains("at multiples of 64 KiB or of less"), "{unmeasured}");
    assert!(
        told(&[at(32, slow), at(64, slow)]).unwrap().contains("at multiples of 32 KiB or of less")
    );
    assert_eq!(told(&[at(32, slow), at(64, same)]), None, "longer ones end there, too");
    assert!(told(&[at(32, noisy), at(64, slow)]).unwrap().contains("at multiples of 64 KiB, as"));
    assert_eq!(told(&[at(32, doubtful), at(64, slow)]), None, "it may cost as much");
    assert_eq!(told(&[at(32, same), at(64, (1.5, Changed))]), None, "faster is no end of a piece");
    let (options, facts) = (options("patterns"), simulated());
    let setting = Setting { options: &options, facts: &facts };
    let cell = Cell::of(Pattern::Across(65_536, 1 << 20), Base::RandomRead);
    let issued = stream(&setting, cell, 512, 1 << 26);
    assert_eq!((issued.size.0, issued.alignment(), issued.shift.0), (8192, 1 << 20, 61_440));
    let mut file = simulated();
    file.target.kind = TargetKind::File;
    let on_file = possible(&Setting { options: &options, facts: &file });
    assert!(!on_file.iter().any(|cell| cell.pattern.family() == 11));
}

#[test]
fn noise_is_no_answer() {
    let burst = heat(Pattern::Burst(5), Base::RandomRead, 8.0, Verdict::Inconclusive);
    let findings = concluded(&[burst]);
    assert!(findings.no_answer && findings.unknown[0].contains("the noise is too large"));
    assert!(concluded(&[]).no_answer);
    let same = heat(Pattern::Burst(5), Base::RandomRead, 1.0, Verdict::Equivalent);
    assert!(!concluded(&[same]).no_answer, "that nothing matters is an answer");
}
