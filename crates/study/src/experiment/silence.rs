//! Tests: of what was not soundly measured no study says anything.

use super::sample::play;
use super::tests::options;
use super::{Setting, Study};
use crate::STUDIES;
use drivelab_core::comparison::Comparison;
use drivelab_core::facts::{Facts, FilesystemFacts, SimulatedFacts, TargetKind};
use drivelab_core::findings::{Answer, Findings};
use drivelab_core::inside::Inside;
use drivelab_core::plan::Role;
use drivelab_core::run::Run;
use drivelab_core::study::StudyOptions;

/// Words that claim something.
const CLAIMS: [&str; 14] = [
    "works:",
    "ignored",
    "settled",
    "equivalent",
    "faster",
    "slower",
    "grade",
    "would not freeze",
    "the same within",
    "helps",
    "no cell",
    "takes nothing",
    " > ",
    "matters",
];

/// Studies of drives, of files and of directories each get what they need.
fn facts(study: &Study) -> Facts {
    let mut facts = match study.name {
        "zones" => crate::zones::tests::zoned(256 << 20, 8),
        _ => Facts::default(),
    };
    facts.target.kind = match study.name {
        "meta" => TargetKind::Directory,
        _ => TargetKind::Simulated,
    };
    facts.target.simulated = (study.name != "meta").then(|| SimulatedFacts {
        page_cache_bytes: Some(64 << 20),
        has_file_system: true,
        ..SimulatedFacts::default()
    });
    facts.target.filesystem = (study.name == "meta")
        .then(|| FilesystemFacts { kind: "ext4".into(), ..Default::default() });
    facts
}

/// What a rate comes to with so much noise.
fn noisy(share: f64) -> impl Fn(&str, u32) -> f64 {
    move |name: &str, repetition: u32| {
        let seed =
            name.bytes().fold(repetition, |sum, byte| sum.wrapping_mul(31) ^ u32::from(byte));
        let drawn = f64::from(seed.wrapping_mul(2_654_435_761) >> 16) / 65_536.0;
        10_000.0 * (1.0 + share * (2.0 * drawn - 1.0))
    }
}

fn each(judge: impl Fn(&Study, &Setting<'_>)) {
    for study in STUDIES.iter().copied() {
        let (options, facts) = (options(study.name), facts(&study));
        let setting = Setting { options: &options, facts: &facts };
        let objection = (study.objection)(&setting);
        assert_eq!(objection, None, "{}", study.name);
        judge(&study, &setting);
    }
}

/// Every measured step read what was never written.
fn doubted(mut run: Run) -> Run {
    for step in run.steps.iter_mut().filter(|step| step.begin.role == Role::Measure) {
        let inside = Inside { unmapped_read_units: 1000, host_units: 1, ..Inside::default() };
        step.end.iter_mut().for_each(|end| end.inside = Some(inside));
    }
    run
}

fn is_silent(name: &str, what: &str, findings: &Findings) {
    assert_eq!(findings.answer(), Answer::None, "{name}, {what}: {findings:?}");
    assert!(findings.no_answer, "{name}, {what}: the file says so too");
    assert!(findings.beware.is_empty(), "{name}, {what}: {:?}", findings.beware);
    let said = findings.verdict.join(" ").to_lowercase();
    let claimed: Vec<&&str> = CLAIMS.iter().filter(|word| said.contains(**word)).collect();
    assert!(claimed.is_empty(), "{name}, {what}: {claimed:?} in {said}");
    let is_judged = |it: &Comparison| {
        it.cells.iter().any(|cell| cell.verdict.is_some() || cell.ratio.is_some())
    };
    assert!(!findings.comparison.as_ref().is_some_and(is_judged), "{name}, {what}");
    let fields = findings.heat_maps.iter().flat_map(|map| &map.rows).flat_map(|row| &row.cells);
    assert!(fields.flatten().all(|cell| cell.verdict.is_none()), "{name}, {what}");
    let told = findings.unknown.len() + findings.suspect.len() + findings.not_applicable.len();
    assert!(told > 0, "{name}, {what}: not even why");
    let asks = |text: &String| text.contains("--time") || text.contains("--budget");
    assert_eq!(findings.wants_more, findings.unknown.iter().any(asks), "{name}, {what}");
}

#[test]
fn of_suspect_cells_no_study_says_anything() {
    each(|study, setting| {
        let run = play(study, setting, "fresh", &noisy(0.002));
        let findings = study.judged(setting, &doubted(run));
        is_silent(study.name, "suspect", &findings);
        let figures: Vec<&str> = findings.figures.iter().map(|it| it.name.as_str()).collect();
        assert!(findings.verdict.is_empty(), "{}: {:?}", study.name, findings.verdict);
        // How fast a file was laid out is part of no result, and was not measured.
        assert!(figures.iter().all(|it| *it == "layout"), "{}: {figures:?}", study.name);
    });
}

#[test]
fn of_what_was_never_measured_no_study_says_anything() {
    each(|study, setting| {
        let mut run = Run::default();
        run.begin.state = Some("unknown".into());
        is_silent(study.name, "absent", &study.judged(setting, &run));
    });
}

/// Ten runs of noise that hides everything: whoever calls them the same has shown nothing.
#[test]
fn noise_is_no_sign_of_being_the_same() {
    const SAME: [&str; 7] = [
        "no cell",
        "nothing was found",
        "takes nothing",
        "not found slower",
        "no way",
        "no setting",
        "helps nothing",
    ];
    each(|study, setting| {
        let options = StudyOptions { seed: 11, ..setting.options.clone() };
        let setting = Setting { options: &options, facts: setting.facts };
        let findings = study.judged(&setting, &play(study, &setting, "fresh", &noisy(0.9)));
        let said = findings.verdict.join(" ").to_lowercase();
        let claimed: Vec<&&str> = SAME.iter().filter(|word| said.contains(**word)).collect();
        assert!(claimed.is_empty(), "{}: {claimed:?} in {said}", study.name);
        assert!(!said.is_empty() || findings.answer() != Answer::Given, "{}", study.name);
    });
}
