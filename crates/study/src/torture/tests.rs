use super::*;
use crate::battery::{Outcome, outcome};
use drivelab_core::comparison::{Cell, Comparison, Metric};
use drivelab_core::facts::{Facts, SimulatedFacts, TargetKind};
use drivelab_core::study::{StudyOptions, TortureOptions};
use drivelab_stats::{Ratio, Verdict};

const X25_E_BYTES: u64 = 64_023_257_088;

fn options(scale: Scale, bytes: u64) -> StudyOptions {
    let allowance = allowance(scale, bytes);
    StudyOptions {
        name: "torture".into(),
        scale,
        seed: 3,
        budget: allowance.budget,
        time: allowance.time,
        delta: 0.05,
        emptying: Emptying::Discard,
        cpus: String::new(),
        bytes,
        torture: TortureOptions::default(),
        ..StudyOptions::default()
    }
}

fn simulated() -> Facts {
    let mut facts = Facts::default();
    facts.target.kind = TargetKind::Simulated;
    facts.target.simulated =
        Some(SimulatedFacts { page_cache_bytes: Some(8 << 30), ..Default::default() });
    facts
}

#[test]
fn the_whole_of_the_article_writes_11275_gibibytes() {
    let (options, facts) = (options(Scale::Full, X25_E_BYTES), simulated());
    let setting = Setting { options: &options, facts: &facts };
    let program = program(&setting, None);
    assert_eq!(program.file_bytes, 16 << 30);
    assert_eq!(program.torture_bytes, [52_428_800_000, 58_720_256_000], "as IOR printed them");
    assert_eq!(battery::cells(&program.groups).len(), 77);
    let text = forecast(&setting);
    assert!(text.starts_with("11,275 GiB of data writes: 10,240 GiB in 2 batteries"), "{text}");
    assert_eq!(objection(&setting), None);
}

#[test]
fn what_does_not_fit_is_83_and_93_percent() {
    let (mut options, facts) = (options(Scale::Full, 10 << 30), simulated());
    options.budget = Size(1 << 50);
    let setting = Setting { options: &options, facts: &facts };
    let [small, large] = program(&setting, None).torture_bytes;
    let share = |bytes: u64| bytes as f64 / f64::from(10 << 20) / 1024.0;
    assert!((share(small) - 0.83).abs() < 0.001 && (share(large) - 0.93).abs() < 0.001);
}

#[test]
fn a_quick_one_keeps_its_budget() {
    let mut facts = Facts::default();
    facts.target.kind = TargetKind::Directory;
    let options = options(Scale::Quick, 256 << 20);
    let setting = Setting { options: &options, facts: &facts };
    let program = program(&setting, None);
    assert_eq!(battery::cells(&program.groups).len(), 8);
    assert_eq!(program.rounds, 5);
    let torture = program.tortured_bytes();
    assert!((900 << 20..=1 << 30).contains(&torture), "one of about 1 GiB: {torture}");
    let all = program.battery_bytes(2) + torture + program.file_bytes;
    assert!(all <= options.budget.0, "{all}");
}

#[test]
fn phases_come_in_order_and_know_their_cycle() {
    let (mut options, facts) = (options(Scale::Quick, 4 << 30), simulated());
    options.torture = TortureOptions { cycles: 2, legs: vec![Leg::Idle, Leg::Trim] };
    let setting = Setting { options: &options, facts: &facts };
    let program = program(&setting, None);
    let phases = phases::all(&setting, &program, &Run::default());
    let last: Vec<&str> =
        phases.iter().map(|phase| phase.last().map_or("", |step| step.name.as_str())).collect();
    assert_eq!(last.len(), 12);
    assert_eq!((last[0], last[4]), ("fill", "fill 2"));
    assert!(last[1].ends_with(", before 1") && last[3].ends_with(", after 1"), "{last:?}");
    assert_eq!(last[6], "torture, read in 256 KiB 2");
    assert_eq!((last[8], last[10]), ("leg idle", "fill after trim"));
    assert!(last[9].ends_with(", after idle") && last[11].ends_with(", after trim"), "{last:?}");
    let of = |role| phases[1].iter().filter(|step| step.role == role).count();
    assert_eq!((of(Role::Measure), of(Role::Idle)), (5 * 8, 5 * 2), "a rest before each group");
}

#[test]
fn legs_that_cannot_be_are_refused() {
    let mut facts = Facts::default();
    facts.target.kind = TargetKind::Directory;
    let mut options = options(Scale::Quick, 256 << 20);
    options.torture.legs = vec![Leg::Trim];
    let says = |options: &StudyOptions, facts: &Facts| {
        objection(&Setting { options, facts }).unwrap_or_default()
    };
    assert!(says(&options, &facts).contains("needs a whole drive"));
    options.torture.legs = vec![Leg::Purge];
    options.bytes = 4 << 30;
    assert!(says(&options, &simulated()).contains("--purge nvme-format"));
    options.torture.legs = vec![Leg::Idle];
    assert_eq!(says(&options, &facts), "");
}

fn judged(verdict: Verdict, value: f64) -> Cell {
    Cell {
        name: "cell".into(),
        metric: Metric::Iops,
        verdict: Some(verdict),
        ratio: Some(Ratio { value, low: None, high: None }),
        p_adjusted: None,
        needs_n: None,
        open: None,
        values: None,
        n: (5, 5),
        suspect: None,
    }
}

#[test]
fn without_noise_the_size_decides() {
    let of = |verdict, value| outcome(&judged(verdict, value), 0.05);
    assert_eq!(of(Verdict::Degenerate, 0.9), Some(Outcome::Slower));
    assert_eq!(of(Verdict::Degenerate, 0.96), Some(Outcome::Same));
    assert_eq!(of(Verdict::Degenerate, 1.2), Some(Outcome::Faster));
    assert_eq!(of(Verdict::Changed, 0.8), Some(Outcome::Slower));
    assert_eq!(of(Verdict::Identical, 1.0), Some(Outcome::Same));
    assert_eq!(of(Verdict::Inconclusive, 0.5), Some(Outcome::Open));
    let suspect = Cell { verdict: None, ..judged(Verdict::Changed, 0.5) };
    assert_eq!(outcome(&suspect, 0.05), None);
}

#[test]
fn published_changes_are_ratios_of_after_to_before() {
    let close = |found: Option<(f64, f64)>, least: f64, most: f64| {
        let (low, high) = found.unwrap();
        (low - least).abs() < 1e-9 && (high - most).abs() < 1e-9
    };
    assert!(close(article::ratios("random read", 4 << 20), 0.85, 1.0 / 1.13));
    assert!(close(article::ratios("random read IOPS", 32 << 10), 1.1426, 1.1426));
    assert_eq!(article::ratios("random read", 1 << 20), None, "within its deviation");
    let stated = |row: &str| (0..40).filter(|bit| article::ratios(row, 1 << bit).is_some()).count();
    assert_eq!((stated("strided read"), stated("freread"), stated("fread")), (3, 3, 0));
}

/// One cell of the article with this verdict and interval: figures hit, and figures judged.
fn held(verdict: Verdict, low: f64, high: f64) -> (usize, usize) {
    let name = "create/close, 4 workers, one directory";
    let cell = battery::Cell {
        name: name.into(),
        load: String::new(),
        action: Action::Create,
        quantity: battery::Quantity::Operations,
        row: "create/close, one directory".into(),
        column: 4,
    };
    let ratio = Some(Ratio { value: (low * high).sqrt(), low: Some(low), high: Some(high) });
    let found = Cell { name: name.into(), ratio, ..judged(verdict, 1.0) };
    let comparison = Comparison {
        before: "before".into(),
        after: "after".into(),
        cells: vec![found],
        only_before: Vec::new(),
        only_after: Vec::new(),
        differences: Vec::new(),
        is_by_run: false,
        delta: None,
    };
    let (_, hits, judged) = article::table(&[&cell], &comparison, None);
    (hits, judged)
}

#[test]
fn what_cannot_be_told_is_neither_hit_nor_miss() {
    assert_eq!(held(Verdict::Changed, 0.90, 0.93), (1, 1));
    assert_eq!(held(Verdict::Changed, 0.50, 0.60), (0, 1));
    assert_eq!(held(Verdict::Inconclusive, 0.79, 1.10), (0, 0), "it reaches everything");
}

#[test]
fn a_drive_that_was_changed_is_not_held_against_the_article() {
    let of = |path: &str| {
        let mut facts = Facts::default();
        facts.target.path = path.into();
        article::unlike(&facts)
    };
    assert_eq!((of("sim:x25-e"), of("sim:x25-e,seed=3")), (None, None));
    let changed = "it was changed by capacity=256MiB, state=aged";
    assert_eq!(of("sim:x25-e,capacity=256MiB,seed=3,state=aged").as_deref(), Some(changed));
}
