use super::*;
use drivelab_core::facts::DeviceFacts;
use drivelab_core::summary::summarise;

#[test]
fn a_slowdown_is_told_apart_from_none() {
    let cached = "maybe in the drive's cache: no slowdown seen in 2.00 GB written";
    assert_eq!(write_remark(Some(0.9), 2_000_000_000), cached);
    assert_eq!(write_remark(Some(0.1), 0), "slowed to 10 % while it ran");
    let short = "maybe in the drive's cache: too short to see a slowdown";
    assert_eq!(write_remark(None, 0), short);
}

#[test]
fn the_figures_of_one_cell_are_not_told_of_another() {
    let (summary, facts) = (summarise(&Run::default()), Facts::default());
    let told = |cells: &[(&str, &str)]| {
        let suspicion = Suspicion { cells: cells.to_vec() };
        Judged { summary: &summary, facts: &facts }.told_of(&suspicion)
    };
    let deep = ("random write", "32 were asked for");
    assert_eq!(told(&[deep, ("fsync", deep.1)]), "Random write, fsync: 32 were asked for.");
    assert_eq!(
        told(&[deep, ("stutter", "8 were asked for")]),
        "Random write: 32 were asked for. Likewise, with figures of their own: stutter."
    );
}

#[test]
fn a_drive_that_warns_of_itself_ends_with_status_1() {
    let summary = summarise(&Run::default());
    let said = |critical_warning| {
        let wear = WearFacts { critical_warning, ..WearFacts::default() };
        let mut facts = Facts::default();
        let device = DeviceFacts { wear: Some(wear), ..DeviceFacts::default() };
        facts.target.devices = vec![device.clone(), device];
        let mut findings = Findings { bad: Some(false), ..Findings::default() };
        Judged { summary: &summary, facts: &facts }.warnings(&mut findings);
        (findings.bad, findings.beware)
    };
    assert_eq!(said(0), (Some(false), vec![]));
    let read_only = "The drive itself warns: it has become read-only.".to_string();
    assert_eq!(said(8), (Some(true), vec![read_only]));
}
