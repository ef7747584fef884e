use super::*;
use drivelab_core::facts::{DeviceFacts, Facts};
use drivelab_core::plan::{FileSystem, Mix, Purge, Until};
use drivelab_core::units::Span;
use std::path::PathBuf;

const MIB: u64 = 1 << 20;

fn zones() -> ZoneFacts {
    ZoneFacts {
        model: "host-managed".into(),
        zone_bytes: Some(16 * MIB),
        capacity_bytes: Some(12 * MIB),
        ordered_from_bytes: Some(32 * MIB),
        open_max: Some(4),
        active_max: Some(0),
        ..ZoneFacts::default()
    }
}

fn drive(zones: ZoneFacts) -> ResolvedTarget {
    let mut facts = Facts::default();
    facts.target.devices = vec![DeviceFacts { zones: Some(zones), ..DeviceFacts::default() }];
    ResolvedTarget {
        path: PathBuf::from("/dev/nvme7n1"),
        kind: Kind::Device,
        facts,
        file_bytes: 512 * MIB,
        files: 1,
        simulated: None,
        generic: None,
    }
}

fn plan(stream: Stream) -> Plan {
    let until = Until { passes: Some(1), ..Until::default() };
    Plan {
        steps: vec![Step { until, streams: vec![stream], ..Step::default() }],
        ..Plan::default()
    }
}

fn write(workers: u32) -> Stream {
    Stream { mix: Mix::WRITE, size: Size(64 << 10), workers, ..Stream::default() }
}

fn fitted(mut plan: Plan, resolved: &ResolvedTarget) -> Result<Plan, String> {
    fit(&mut plan, resolved, Ranks::ALONE, false).map_err(|failure| {
        let (what, advice) = failure.parts();
        format!("{what} {}", advice.unwrap_or_default())
    })?;
    Ok(plan)
}

#[test]
fn a_load_is_laid_out_from_the_first_zone_that_is_written_in_order() {
    let zoned = Zoned { size: Size(16 * MIB), capacity: Some(Size(12 * MIB)), finish_after: None };
    for stream in [write(2), Stream { pattern: Pattern::Uniform, ..Stream::default() }] {
        let found = fitted(plan(stream), &drive(zones())).unwrap();
        let stream = &found.steps[0].streams[0];
        assert_eq!((stream.zoned, stream.offset), (Some(zoned), Size(32 * MIB)));
    }
    // What is given stays.
    let given = Stream { offset: Size(64 * MIB), length: Some(Size(32 * MIB)), ..write(1) };
    let found = fitted(plan(given), &drive(zones())).unwrap();
    assert_eq!(found.steps[0].streams[0].offset, Size(64 * MIB));
    let whole = ZoneFacts { capacity_bytes: Some(16 * MIB), ..zones() };
    let found = fitted(plan(write(1)), &drive(whole)).unwrap();
    assert_eq!(found.steps[0].streams[0].zoned.map(|it| it.capacity), Some(None));
}

#[test]
fn reads_that_cannot_be_laid_out_go_anywhere() {
    for stream in [
        Stream { pattern: Pattern::Replay(vec![Size(4096)]), ..Stream::default() },
        Stream { size: Size(5 * MIB), ..Stream::default() },
        Stream { offset: Size(4096), ..Stream::default() },
    ] {
        let found = fitted(plan(stream), &drive(zones())).unwrap();
        assert_eq!(found.steps[0].streams[0].zoned, None);
    }
    let ordinary = ZoneFacts { model: "host-aware".into(), ..zones() };
    let found = fitted(plan(write(9)), &drive(ordinary)).unwrap();
    assert_eq!(found.steps[0].streams[0].zoned, None);
}

#[test]
fn what_does_not_keep_to_zones_is_refused() {
    let said = |plan| fitted(plan, &drive(zones())).unwrap_err();
    assert!(said(plan(write(5))).contains("keeps at most 4 zones open, and 5 workers"));
    for act in [Act::Mkfs(FileSystem::Ext4), Act::Trim { offset: Size(0), length: None }] {
        let step = Step { act: Some(act), ..Step::default() };
        let text = said(Plan { steps: vec![step], ..Plan::default() });
        assert!(text.contains("this line would not keep to that"), "{text}");
        assert!(text.contains("drivelab study zones /dev/nvme7n1"), "{text}");
    }
    for act in [Act::Idle(Span(1_000_000_000)), Act::Purge(Purge::NvmeFormat)] {
        let mut allowed = plan(write(4));
        allowed.steps.insert(0, Step { act: Some(act), ..Step::default() });
        assert!(fitted(allowed, &drive(zones())).is_ok());
    }
    let unknown = ZoneFacts { capacity_bytes: None, ..zones() };
    let text = fitted(plan(write(1)), &drive(unknown)).unwrap_err();
    assert!(text.contains("cannot be read") && text.contains("Run as root"), "{text}");
}

#[test]
fn a_study_that_does_not_know_zones_does_not_write_them() {
    let said = |mut plan: Plan| fit(&mut plan, &drive(zones()), Ranks::ALONE, true).is_err();
    assert!(said(plan(write(1))));
    assert!(!said(plan(Stream::default())), "reads");
    let zoned = Zoned { size: Size(16 * MIB), capacity: None, finish_after: None };
    assert!(!said(plan(Stream { zoned: Some(zoned), ..write(1) })));
}

#[test]
fn an_append_is_as_long_as_the_drive_takes_it() {
    let append = Stream { zone_append: true, depth: 4, ..write(2) };
    let taken = |most| {
        let zones = ZoneFacts { append_bytes_max: most, ..zones() };
        fitted(plan(append.clone()), &drive(zones)).map(|_| ())
    };
    assert_eq!(taken(Some(64 << 10)), Ok(()));
    assert_eq!(taken(None), Ok(()), "nothing is known of it");
    let said = "/dev/nvme7n1 takes appends of at most 4KiB at once, and this line would write \
                64KiB Use at most --bs 4KiB.";
    assert_eq!(taken(Some(4096)), Err(said.to_owned()));
    let said = "the zones of /dev/nvme7n1 take no appends Leave --zone-append out.";
    assert_eq!(taken(Some(0)), Err(said.to_owned()));
}

#[test]
fn zones_are_written_by_one_process() {
    let laid_out = fitted(plan(write(1)), &drive(zones())).unwrap();
    let said = |plan: &Plan| {
        let tried = at_once(plan, &zones(), "/dev/nvme7n1", false);
        tried.map_err(|failure| failure.parts().0.to_owned())
    };
    let refused = said(&laid_out).unwrap_err();
    assert!(refused.starts_with("the zones of /dev/nvme7n1 are written by one process only"));
    let reads = Stream { pattern: Pattern::Uniform, ..Stream::default() };
    assert_eq!(said(&fitted(plan(reads), &drive(zones())).unwrap()), Ok(()));
}
