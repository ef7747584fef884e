//! What lies below the target: uncounted, shared, repeated, in memory.

use super::*;
use crate::facts::Backing;

#[test]
fn a_device_that_counts_nothing_is_no_evidence() {
    let uncounted = |change: fn(&mut Evidence)| {
        let mut evidence = Evidence::reads();
        let found = &mut evidence.end.devices[0];
        let (name, number) = (found.name.clone(), found.number.clone());
        *found = DeviceCounters { name, number, uncounted: true, ..DeviceCounters::default() };
        change(&mut evidence);
        let step = summarise(&evidence.run()).steps.remove(0);
        let codes = |list: Vec<Reason>| list.into_iter().map(|one| one.code).collect::<Vec<_>>();
        (step.valid, codes(step.reasons), codes(step.unchecked))
    };
    let temperature = "temperature".to_string();
    let of = |codes: &[&str]| codes.iter().map(ToString::to_string).collect::<Vec<_>>();
    let unseen = of(&["temperature", "device_bytes"]);
    assert_eq!(uncounted(|_| {}), (None, vec![], unseen.clone()));
    // What else is seen still counts.
    let lost = uncounted(|e| e.mismatched = 3);
    assert_eq!(lost, (Some(false), of(&["mismatches"]), unseen.clone()));
    let limited = uncounted(|e| {
        let device = "7:0".into();
        let limit = IoLimit { device, per_second: 1, ..IoLimit::default() };
        e.observed().io_limits.push(limit);
    });
    assert_eq!(limited, (None, vec![], [of(&["io_quota"]), unseen.clone()].concat()));
    // A disk below it that is counted can speak for it, or against.
    fn disk(e: &mut Evidence, read_bytes: u64, uncounted: bool) {
        let name = "sda".to_string();
        let facts = DeviceFacts { name: name.clone(), layer: "disk".into(), ..Default::default() };
        e.facts.target.devices.push(facts);
        e.end.devices.push(DeviceCounters { name, read_bytes, uncounted, ..Default::default() });
    }
    assert_eq!(uncounted(|e| disk(e, BYTES, false)), (Some(true), vec![], unseen.clone()));
    let cached = uncounted(|e| disk(e, BYTES / 2, false));
    assert_eq!(cached, (Some(false), of(&["not_on_disk"]), unseen.clone()));
    assert_eq!(uncounted(|e| disk(e, 0, true)), (None, vec![], unseen));
    let mut below = Evidence::reads();
    disk(&mut below, 0, true);
    let step = summarise(&below.run()).steps.remove(0);
    assert_eq!((step.valid, step.reasons), (Some(true), vec![]));
    let unchecked: Vec<String> = step.unchecked.into_iter().map(|one| one.code).collect();
    assert_eq!(unchecked, [temperature, "disk_bytes".into()]);
}

#[test]
fn blocks_that_are_shared_or_there_several_times_are_noticed() {
    let extents = |shared_bytes, repeated_bytes| {
        move |e: &mut Evidence| {
            let written_bytes = 1000;
            let extents =
                Extents { written_bytes, shared_bytes, repeated_bytes, ..Extents::default() };
            e.observed().extents = Some(extents);
        }
    };
    assert_eq!(reasons(Evidence::writes(), extents(20, 0)), [""; 0]);
    assert_eq!(reasons(Evidence::writes(), extents(21, 0)), ["shared_extents"]);
    assert_eq!(reasons(Evidence::reads(), extents(1000, 20)), [""; 0], "shared blocks are read");
    assert_eq!(reasons(Evidence::reads(), extents(1000, 21)), ["repeated_extents"]);
}

#[test]
fn memory_behind_read_ahead_is_noticed() {
    fn buffered(pattern: Pattern) -> Evidence {
        let mut evidence = Evidence::reads();
        evidence.stream.io = IoMode::Buffered;
        evidence.stream.pattern = pattern;
        evidence.observed().region_bytes = Some(100 << 20);
        evidence.observed().cached_bytes = Some(0);
        evidence
    }
    let ahead = |requests: u64| {
        move |e: &mut Evidence| {
            e.device().reads = requests;
            e.device().read_bytes = 2 * BYTES;
            let written_bytes = 0;
            e.observed().process = Some(ProcessBytes { read_bytes: 2 * BYTES, written_bytes });
        }
    };
    let (few, enough) = (OPERATIONS * 97 / 100, OPERATIONS * 98 / 100);
    assert_eq!(reasons(buffered(Pattern::Uniform), ahead(few)), ["not_from_device"]);
    assert_eq!(reasons(buffered(Pattern::Uniform), ahead(enough)), [""; 0]);
    let merged = |e: &mut Evidence| {
        ahead(1)(e);
        e.device().merges = OPERATIONS;
    };
    assert_eq!(reasons(buffered(Pattern::Uniform), merged), [""; 0], "merged are counted too");
    assert_eq!(reasons(buffered(Pattern::SEQUENTIAL), ahead(few)), [""; 0], "read ahead is fine");
    let held = |bytes: u64| move |e: &mut Evidence| e.observed().cached_bytes = Some(bytes);
    assert_eq!(reasons(buffered(Pattern::SEQUENTIAL), held(2 << 20)), [""; 0]);
    assert_eq!(reasons(buffered(Pattern::SEQUENTIAL), held(3 << 20)), ["cached_before"]);
    // Of direct reads, none of this is asked.
    let mut direct = buffered(Pattern::Uniform);
    direct.stream.io = IoMode::Direct;
    assert_eq!(reasons(direct, |e| e.device().reads = OPERATIONS / 2), [""; 0]);
}

#[test]
fn a_region_that_any_cache_holds_is_a_note() {
    let region = |bytes: u64| notes(Evidence::reads(), |e| e.observed().region_bytes = Some(bytes));
    assert_eq!(region(8 << 20), ["small_region"], "gone over 4 times");
    assert_eq!(region((8 << 20) + 1), [""; 0]);
    let mut once = Evidence::reads();
    once.device().name = "elsewhere".into();
    once.observed().region_bytes = Some(1 << 20);
    assert_eq!(once.judged().2, [""; 0], "no drive is known");
}

#[test]
fn a_loop_device_over_memory_is_no_drive() {
    let over = |backing: Backing| {
        let mut evidence = Evidence::reads();
        evidence.facts.target.devices[0].backing = Some(backing);
        let step = summarise(&evidence.run()).steps.remove(0);
        let codes = |list: Vec<Reason>| list.into_iter().map(|one| one.code).collect::<Vec<_>>();
        assert_eq!(step.reasons, vec![]);
        (step.valid, codes(step.notes).concat(), codes(step.unchecked).join(" "))
    };
    let said = |valid, note: &str, unchecked: &str| (valid, note.into(), unchecked.into());
    assert_eq!(over(Backing::Devices), said(Some(true), "", "temperature"));
    assert_eq!(over(Backing::Memory), said(None, "in_memory", "temperature device_bytes"));
    assert_eq!(over(Backing::Served), said(Some(true), "", "temperature disk_bytes"));
    assert_eq!(over(Backing::Unknown), said(Some(true), "", "temperature disk_bytes"));
}

#[test]
fn what_others_moved_is_told_without_what_a_journal_may_have_written() {
    let said = |change: fn(&mut Evidence)| {
        let mut evidence = Evidence::writes();
        change(&mut evidence);
        let step = summarise(&evidence.run()).steps.remove(0);
        let reasons = step.reasons.into_iter().filter(|reason| reason.code == "other_io");
        reasons.map(|reason| reason.text).collect::<String>()
    };
    let plain = said(|e| e.device().read_bytes += 64 << 20);
    assert!(plain.starts_with("others moved 64 MiB on "), "{plain}");
    // 64 KiB for each durable write, and 16 MiB.
    let durable = said(|e| {
        e.stream.sync = Sync::Fsync(1);
        e.device().written_bytes = 1 << 40;
    });
    let most = crate::quantity::size(OPERATIONS * (64 << 10) + (16 << 20));
    assert!(durable.starts_with("others moved at least "), "{durable}");
    assert!(durable.contains(&format!("a journal explains at most {most})")), "{durable}");
    // Of buffered writes all may be written back by the kernel; reads are not.
    let buffered = said(|e| {
        e.stream.io = IoMode::Buffered;
        e.device().written_bytes += 8 << 20;
        e.device().read_bytes += 64 << 20;
    });
    assert!(!buffered.contains("EiB") && !buffered.contains("TiB"), "{buffered}");
}

#[test]
fn what_lies_behind_the_pointers_of_zones_was_never_written() {
    let said = |zones, unwritten_bytes| {
        let mut evidence = Evidence::reads();
        let extents = Extents { written_bytes: 900, unwritten_bytes, zones, ..Extents::default() };
        evidence.observed().extents = Some(extents);
        let step = summarise(&evidence.run()).steps.remove(0);
        step.reasons.into_iter().map(|reason| reason.text).collect::<Vec<_>>().join(" ")
    };
    assert!(
        said(3, 100).contains("100 B behind the write pointers of 3 zones"),
        "{}",
        said(3, 100)
    );
    assert!(said(0, 100).contains("100 B allocated only"), "{}", said(0, 100));
    assert_eq!(said(3, 1), "");
}
