//! Each suspicion on evidence that was made up for it, and none on honest evidence.

use super::*;
use crate::facts::{DeviceFacts, FilesystemFacts};
use crate::observed::{
    BlockSample, CpuThrottle, Extents, IoLimit, LimitedRate, LinkChange, PressureSpan,
    ProcessBytes, Temperature,
};
use crate::plan::{Data, Flow, Mix, Names, Pattern, Plan, Sharing, Sync, SyncTiming, Until};
use crate::record::{ProcessFacts, Record, StepBegin};
use crate::summary::summarise;
use crate::tally::{Keep, Phase, Tally};
use crate::units::{Size, Span};

mod below;
mod commands;
mod health;
mod link;
mod unwritten;

const OPERATIONS: u64 = 10_000;
const BYTES: u64 = OPERATIONS * 4096;
const SPAN_NS: u64 = 2_000_000_000;
const DEPTH: u32 = 4;

/// Two seconds of 4 KiB operations at depth 4 on a loop device.
struct Evidence {
    facts: Facts,
    stream: Stream,
    end: StepEnd,
    service_ns: u64,
    flush_ns: u64,
    /// Units that were checked, and those of them that were wrong.
    verified: u64,
    mismatched: u64,
}

impl Evidence {
    fn reads() -> Evidence {
        Evidence::of(Mix::READ)
    }

    fn writes() -> Evidence {
        Evidence::of(Mix::WRITE)
    }

    fn of(mix: Mix) -> Evidence {
        let reads = mix == Mix::READ;
        let device = DeviceFacts {
            name: "loop0".into(),
            number: "7:0".into(),
            layer: "loop".into(),
            ..DeviceFacts::default()
        };
        let mut facts = Facts::default();
        facts.target.kind = TargetKind::BlockDevice;
        facts.target.devices = vec![device];
        let counters = DeviceCounters {
            name: "loop0".into(),
            number: "7:0".into(),
            reads: if reads { OPERATIONS } else { 0 },
            read_bytes: if reads { BYTES } else { 0 },
            writes: if reads { 0 } else { OPERATIONS },
            written_bytes: if reads { 0 } else { BYTES },
            queue_ms: u64::from(DEPTH) * SPAN_NS / 1_000_000,
            ..DeviceCounters::default()
        };
        let observed = Observed {
            span_ns: SPAN_NS,
            blocks: reads.then_some(BlockSample { seen: 64, ..BlockSample::default() }),
            process: Some(ProcessBytes {
                read_bytes: counters.read_bytes,
                written_bytes: counters.written_bytes,
            }),
            cpu_throttled: Some(CpuThrottle::default()),
            clock_strayed_ns: Some(0),
            ..Observed::default()
        };
        let phase = Phase {
            closed: SPAN_NS,
            last: SPAN_NS,
            cpu_ns: Some(SPAN_NS / 10),
            ..Phase::default()
        };
        let end = StepEnd {
            phases: vec![phase],
            devices: vec![counters],
            observed: Some(observed),
            ..StepEnd::default()
        };
        let stream = Stream { mix, depth: DEPTH, size: Size(4096), ..Stream::default() };
        let service_ns = u64::from(DEPTH) * SPAN_NS / OPERATIONS;
        Evidence { facts, stream, end, service_ns, flush_ns: 0, verified: 0, mismatched: 0 }
    }

    fn observed(&mut self) -> &mut Observed {
        self.end.observed.as_mut().unwrap()
    }

    fn device(&mut self) -> &mut DeviceCounters {
        &mut self.end.devices[0]
    }

    fn run(self) -> Run {
        let mut run = Run::default();
        run.begin.facts = self.facts;
        let until = Until { elapsed: Some(Span(SPAN_NS)), ..Until::default() };
        let step =
            Step { name: "cell".into(), streams: vec![self.stream], until, ..Step::default() };
        let kinds = step.streams[0].kinds();
        let mut tally = Tally::new(0, 0, 0, &kinds, Keep::default());
        tally.to = SPAN_NS;
        tally.verified = self.verified.max(self.mismatched);
        tally.mismatched = self.mismatched;
        tally.kinds[0].ops = OPERATIONS;
        tally.kinds[0].bytes = BYTES;
        tally.kinds[0].service.record_n(self.service_ns, OPERATIONS);
        let flush = tally.kinds.iter_mut().find(|kind| kind.kind == Action::Flush);
        if let Some(flush) = flush.filter(|_| self.flush_ns > 0) {
            flush.ops = 1;
            flush.service.record(self.flush_ns);
        }
        let begin = StepBegin {
            step: 0,
            plan_step: 0,
            plan: 0,
            repetition: 1,
            name: "cell".into(),
            role: step.role,
            state: "unknown".into(),
            opened: vec![],
        };
        run.push(Record::Plan { plan: Plan { steps: vec![step], ..Plan::default() } }).unwrap();
        run.push(Record::StepBegin(begin)).unwrap();
        run.push(Record::Tally(Box::new(tally))).unwrap();
        run.push(Record::StepEnd(Box::new(self.end))).unwrap();
        run
    }

    fn judged(self) -> (Option<bool>, Vec<String>, Vec<String>) {
        let step = summarise(&self.run()).steps.remove(0);
        let codes = |reasons: Vec<Reason>| reasons.into_iter().map(|reason| reason.code).collect();
        (step.valid, codes(step.reasons), codes(step.notes))
    }
}

/// The codes of the reasons that a change of honest evidence brings about.
fn reasons(mut evidence: Evidence, change: impl FnOnce(&mut Evidence)) -> Vec<String> {
    change(&mut evidence);
    let (valid, reasons, _) = evidence.judged();
    assert_eq!(valid == Some(false), !reasons.is_empty());
    reasons
}

fn notes(mut evidence: Evidence, change: impl FnOnce(&mut Evidence)) -> Vec<String> {
    change(&mut evidence);
    let (valid, reasons, notes) = evidence.judged();
    assert_eq!((valid, reasons), (Some(true), vec![]));
    notes
}

#[test]
fn honest_evidence_is_valid() {
    for evidence in [Evidence::reads(), Evidence::writes()] {
        assert_eq!(evidence.judged(), (Some(true), vec![], vec![]));
    }
}

#[test]
fn without_evidence_nothing_is_claimed() {
    let mut evidence = Evidence::reads();
    evidence.end.observed = None;
    assert_eq!(evidence.judged(), (None, vec![], vec![]));
    let mut evidence = Evidence::reads();
    evidence.facts.target.devices.clear();
    assert_eq!(evidence.judged(), (None, vec![], vec![]));
    let mut evidence = Evidence::reads();
    evidence.facts.target.kind = TargetKind::Nothing;
    assert_eq!(evidence.judged(), (None, vec![], vec![]));
}

#[test]
fn bytes_that_did_not_come_from_the_device_are_missed() {
    let less = |share: u64| move |e: &mut Evidence| e.device().read_bytes = BYTES * share / 1000;
    assert_eq!(reasons(Evidence::reads(), less(981)), [""; 0]);
    assert_eq!(reasons(Evidence::reads(), less(979)), ["not_from_device"]);
    assert_eq!(reasons(Evidence::reads(), less(0)), ["not_from_device"]);
    let less = |e: &mut Evidence| e.device().written_bytes = BYTES / 2;
    assert_eq!(reasons(Evidence::writes(), less), ["not_on_device"]);
}

#[test]
fn memory_below_a_layer_is_noticed_at_the_disk() {
    let below = |read_bytes| {
        move |e: &mut Evidence| {
            let disk = |name: &str| DeviceFacts {
                name: name.into(),
                layer: "disk".into(),
                ..DeviceFacts::default()
            };
            for name in ["sda", "sdb"] {
                e.facts.target.devices.push(disk(name));
                let name = name.to_string();
                let counters = DeviceCounters { name, read_bytes, ..DeviceCounters::default() };
                e.end.devices.push(counters);
            }
        }
    };
    assert_eq!(reasons(Evidence::reads(), below(BYTES / 2)), [""; 0], "two members");
    assert_eq!(reasons(Evidence::reads(), below(BYTES / 3)), ["not_on_disk"]);
}

/// Reasons against a read after a step that wrote the whole region with `write`, when 60 of 64
/// blocks carry a stamp.
fn reasons_after(write: Stream) -> Vec<String> {
    let mut evidence = Evidence::reads();
    evidence.observed().blocks =
        Some(BlockSample { seen: 64, stamped: 60, ..BlockSample::default() });
    let read = evidence.run();
    let until = Until { passes: Some(1), ..Until::default() };
    let fill = Step { name: "fill".into(), streams: vec![write], until, ..Step::default() };
    let mut run = Run { begin: read.begin.clone(), ..Run::default() };
    let plan = Plan { steps: vec![fill, read.steps[0].plan.clone()], ..Plan::default() };
    run.push(Record::Plan { plan }).unwrap();
    let begin = read.steps[0].begin.clone();
    run.push(Record::StepBegin(StepBegin { name: "fill".into(), ..begin.clone() })).unwrap();
    run.push(Record::StepEnd(Box::default())).unwrap();
    run.push(Record::StepBegin(StepBegin { step: 1, plan_step: 1, ..begin })).unwrap();
    for tally in &read.steps[0].tallies {
        run.push(Record::Tally(Box::new(Tally { step: 1, ..tally.clone() }))).unwrap();
    }
    let end = StepEnd { step: 1, ..read.steps[0].end.clone().unwrap() };
    run.push(Record::StepEnd(Box::new(end))).unwrap();
    let reasons = summarise(&run).steps.remove(1).reasons;
    reasons.into_iter().map(|reason| reason.code).collect()
}

#[test]
fn stamps_that_this_run_wrote_must_still_be_there() {
    let fill = Stream { mix: Mix::WRITE, stamp: true, ..Stream::default() };
    assert_eq!(reasons_after(fill.clone()), ["lost_stamps"]);
    assert_eq!(reasons_after(Stream { stamp: false, ..fill.clone() }), [""; 0]);
    assert_eq!(reasons_after(Stream { pattern: Pattern::Uniform, ..fill.clone() }), [""; 0]);
    assert_eq!(reasons_after(Stream { offset: Size(4096), ..fill }), [""; 0]);
}

#[test]
fn others_on_the_device_are_told_from_us() {
    let foreign_write = |e: &mut Evidence| e.device().written_bytes = 4 << 20;
    assert_eq!(reasons(Evidence::reads(), foreign_write), ["other_io"]);
    let little = |e: &mut Evidence| e.device().written_bytes = 1 << 20;
    assert_eq!(reasons(Evidence::reads(), little), [""; 0]);
    let foreign_read = |e: &mut Evidence| e.device().read_bytes += 4 << 20;
    assert_eq!(reasons(Evidence::reads(), foreign_read), ["other_io"]);
    // The journal of a file system is nobody else, and the kernel books it on nobody.
    let names = |e: &mut Evidence| {
        let actions = vec![Action::Create];
        e.stream.pattern = Pattern::Names(Names { actions, ..Names::default() });
        e.device().written_bytes = 64 << 20;
    };
    assert_eq!(reasons(Evidence::reads(), names), [""; 0]);
    let read_ahead = |e: &mut Evidence| {
        e.device().read_bytes += 4 << 20;
        e.observed().process.as_mut().unwrap().read_bytes += 4 << 20;
    };
    assert_eq!(notes(Evidence::reads(), read_ahead), ["read_more"]);
    let journal = |e: &mut Evidence| {
        e.stream.sync = Sync::Fsync(1);
        e.device().written_bytes = 3 * BYTES;
    };
    assert_eq!(notes(Evidence::writes(), journal), ["wrote_more"]);
    // No journal takes a hundred times what is written.
    let no_journal = |e: &mut Evidence| {
        e.stream.sync = Sync::Fsync(1);
        e.device().written_bytes = 100 * BYTES;
    };
    assert_eq!(reasons(Evidence::writes(), no_journal), ["other_io"]);
    let beside = |e: &mut Evidence| {
        e.facts.target.devices[0].layer = "partition".into();
        let disk =
            DeviceFacts { name: "sda".into(), layer: "disk".into(), ..DeviceFacts::default() };
        e.facts.target.devices.push(disk);
        let read_bytes = BYTES + (8 << 20);
        let disk = DeviceCounters { name: "sda".into(), read_bytes, ..DeviceCounters::default() };
        e.end.devices.push(disk);
    };
    assert_eq!(reasons(Evidence::reads(), beside), ["other_io"]);
}

#[test]
fn a_load_that_is_not_what_it_is_called_is_noticed() {
    let shallow = |e: &mut Evidence| e.service_ns = e.service_ns * 88 / 100;
    assert_eq!(reasons(Evidence::reads(), shallow), ["depth_not_reached"]);
    // Who waits for whole batches asks for a depth that swings.
    let batches = |e: &mut Evidence, percent: u64| {
        e.stream.batch_complete = Some(e.stream.depth / 2);
        e.service_ns = e.service_ns * percent / 100;
    };
    assert_eq!(reasons(Evidence::reads(), |e| batches(e, 82)), [""; 0]);
    assert_eq!(reasons(Evidence::reads(), |e| batches(e, 60)), ["depth_not_reached"]);
    let nearly = |e: &mut Evidence| e.service_ns = e.service_ns * 92 / 100;
    assert_eq!(reasons(Evidence::reads(), nearly), [""; 0]);
    let serial = |e: &mut Evidence| e.device().queue_ms = 1900;
    assert_eq!(reasons(Evidence::reads(), serial), ["depth_not_in_device"]);
    let merged = |e: &mut Evidence| {
        e.device().queue_ms = 1900;
        e.device().reads = OPERATIONS / 4;
    };
    assert_eq!(reasons(Evidence::reads(), merged), [""; 0], "requests that carry four");
    let busy = |e: &mut Evidence| e.end.phases[0].cpu_ns = Some(SPAN_NS * 95 / 100);
    assert_eq!(reasons(Evidence::reads(), busy), ["generator_saturated"]);
    let waits = |e: &mut Evidence, pause: Span, waited_percent: u64, cpu_percent: u64| {
        e.stream.flow = Some(Flow { weight: 1, pause, ..Flow::default() });
        e.end.phases[0].cpu_ns = Some(SPAN_NS * cpu_percent / 100);
        e.end.phases[0].waited_ns = SPAN_NS * waited_percent / 100;
    };
    let (at_once, pause) = (Span(0), Span(10_000_000));
    let case = |pause, waited, cpu| reasons(Evidence::reads(), |e| waits(e, pause, waited, cpu));
    assert_eq!(case(at_once, 0, 95), ["generator_saturated"]);
    assert_eq!(case(at_once, 90, 95), [""; 0], "it looked for its share most of the time");
    assert_eq!(case(pause, 60, 39), ["generator_saturated"], "it slept, and was busy otherwise");
    assert_eq!(case(pause, 60, 10), [""; 0]);
    let names = |e: &mut Evidence, system_percent: u64| {
        let actions = vec![Action::Create];
        e.stream.pattern = Pattern::Names(Names { actions, ..Names::default() });
        e.end.phases[0].cpu_ns = Some(SPAN_NS * 95 / 100);
        e.end.phases[0].system_cpu_ns = Some(SPAN_NS * system_percent / 100);
    };
    assert_eq!(reasons(Evidence::reads(), |e| names(e, 2)), ["generator_saturated"]);
    assert_eq!(reasons(Evidence::reads(), |e| names(e, 60)), [""; 0], "the file system's work");
    let in_memory = |e: &mut Evidence| {
        e.end.phases[0].cpu_ns = Some(SPAN_NS);
        e.facts.target.devices[0].layer = "zram".into();
    };
    assert_eq!(reasons(Evidence::reads(), in_memory), [""; 0], "its work is our CPU time");
    let again = |e: &mut Evidence| {
        e.stream.workers = 8;
        e.stream.depth = 1;
        e.stream.pattern = Pattern::SEQUENTIAL;
        e.stream.regions = Some(Sharing::Shared);
    };
    assert_eq!(reasons(Evidence::reads(), again), ["same_blocks"]);
    let clock = |e: &mut Evidence| e.observed().clock_strayed_ns = Some(-300_000);
    assert_eq!(reasons(Evidence::reads(), clock), ["clock"]);
}

#[test]
fn quotas_are_told_from_drives() {
    let stopped = |us| {
        move |e: &mut Evidence| {
            e.observed().cpu_throttled = Some(CpuThrottle { periods: 9, stopped_us: us });
        }
    };
    assert_eq!(reasons(Evidence::reads(), stopped(1_000)), [""; 0]);
    assert_eq!(reasons(Evidence::reads(), stopped(3_000)), ["cpu_quota"]);
    let limit = |what, per_second| {
        move |e: &mut Evidence| {
            let (device, group) = ("7:0".to_string(), "/box".to_string());
            e.observed().io_limits = vec![IoLimit { device, what, per_second, group }];
        }
    };
    let rate = OPERATIONS / 2;
    assert_eq!(reasons(Evidence::reads(), limit(LimitedRate::Reads, rate)), ["io_quota"]);
    assert_eq!(reasons(Evidence::reads(), limit(LimitedRate::Reads, 2 * rate)), [""; 0]);
    assert_eq!(reasons(Evidence::reads(), limit(LimitedRate::Writes, rate)), [""; 0]);
    assert_eq!(
        reasons(Evidence::reads(), limit(LimitedRate::ReadBytes, 4096 * rate)),
        ["io_quota"]
    );
}

#[test]
fn what_fsync_brings_to_the_drive_after_the_measured_time_is_memorys_speed() {
    let flushed = |timing, io, percent| {
        move |e: &mut Evidence| {
            (e.stream.sync, e.stream.sync_timing, e.stream.io) = (Sync::End, timing, io);
            e.flush_ns = SPAN_NS / 100 * percent;
        }
    };
    let (outside, inside) = (SyncTiming::Outside, SyncTiming::Inside);
    let writes = Evidence::writes;
    assert_eq!(reasons(writes(), flushed(outside, IoMode::Buffered, 11)), ["flushed_outside"]);
    assert_eq!(reasons(writes(), flushed(outside, IoMode::Buffered, 9)), [""; 0]);
    assert_eq!(reasons(writes(), flushed(inside, IoMode::Buffered, 50)), [""; 0]);
    assert_eq!(reasons(writes(), flushed(outside, IoMode::Direct, 50)), [""; 0]);
}

#[test]
fn compressible_content_counts_where_something_compresses() {
    let zeros = |e: &mut Evidence| e.stream.content = Content::Zero;
    assert_eq!(reasons(Evidence::writes(), zeros), [""; 0]);
    let on_zram = |content| {
        move |e: &mut Evidence| {
            e.stream.content = content;
            e.facts.target.devices[0].layer = "zram".into();
        }
    };
    assert_eq!(reasons(Evidence::writes(), on_zram(Content::Zero)), ["compressible"]);
    assert_eq!(reasons(Evidence::writes(), on_zram(Content::Compressible(50))), ["compressible"]);
    assert_eq!(reasons(Evidence::writes(), on_zram(Content::Random)), [""; 0]);
    let by_filesystem = |e: &mut Evidence| {
        e.stream.content = Content::Compressible(30);
        let compressing = FilesystemFacts { compressing: true, ..FilesystemFacts::default() };
        e.facts.target.filesystem = Some(compressing);
    };
    assert_eq!(reasons(Evidence::writes(), by_filesystem), ["compressible"]);
}

#[test]
fn what_the_drive_tells_is_heard() {
    let reading = |celsius| {
        move |e: &mut Evidence| {
            let (device, celsius_max) = ("loop0".to_string(), Some(80.0));
            e.observed().temperatures = vec![Temperature { device, at: 0, celsius, celsius_max }];
        }
    };
    assert_eq!(reasons(Evidence::reads(), reading(79.0)), [""; 0]);
    assert_eq!(reasons(Evidence::reads(), reading(80.0)), ["hot"]);
    let link = |e: &mut Evidence| {
        let word = |text: &str| text.to_string();
        let (device, before, after) = (word("nvme0n1"), word("x4"), word("x2"));
        e.observed().link_changes = vec![LinkChange { device, before, after }];
    };
    assert_eq!(reasons(Evidence::reads(), link), ["link_changed"]);
}

#[test]
fn what_takes_nothing_from_the_number_is_a_note() {
    let punted = |e: &mut Evidence| e.observed().io_workers = Some(3);
    assert_eq!(notes(Evidence::reads(), punted), ["punted"]);
    let stolen = |e: &mut Evidence| e.observed().steal_share = Some(0.06);
    assert_eq!(notes(Evidence::reads(), stolen), ["steal"]);
    let pressure = |e: &mut Evidence| {
        let span = |resource: &str| PressureSpan {
            resource: resource.into(),
            some_us: 400_000,
            full_us: 0,
        };
        e.observed().pressure = vec![span("io"), span("cpu")];
    };
    assert_eq!(notes(Evidence::reads(), pressure), ["pressure"]);
    let split = |e: &mut Evidence| e.device().reads = 2 * OPERATIONS;
    assert_eq!(notes(Evidence::reads(), split), ["split"]);
    // Requests of somebody else say nothing of ours.
    let shared = |e: &mut Evidence| {
        e.device().reads = 2 * OPERATIONS;
        e.device().read_bytes *= 2;
    };
    let mut evidence = Evidence::reads();
    shared(&mut evidence);
    let (valid, why, beside) = evidence.judged();
    assert_eq!((valid, why), (Some(false), vec!["other_io".to_owned()]));
    assert!(!beside.contains(&"split".to_owned()), "{beside:?}");
    let merged = |e: &mut Evidence| {
        e.device().reads = OPERATIONS / 2;
        e.device().merges = OPERATIONS / 2;
    };
    assert_eq!(notes(Evidence::reads(), merged), ["merged"]);
}

#[test]
fn what_other_machines_moved_was_not_counted_here() {
    let judged = |hosts: [&str; 2]| {
        let mut evidence = Evidence::writes();
        evidence.device().written_bytes /= 2;
        let mut run = evidence.run();
        let process = |host: &str| ProcessFacts { host: host.into(), ..ProcessFacts::default() };
        run.begin.processes = hosts.map(process).into();
        let step = summarise(&run).steps.remove(0);
        (step.valid, step.reasons.len())
    };
    assert_eq!(judged(["a", "a"]), (Some(false), 1));
    assert_eq!(judged(["a", "b"]), (None, 0));
}

#[test]
fn a_step_with_wrong_data_or_without_an_end_is_suspect() {
    assert_eq!(reasons(Evidence::reads(), |e| e.mismatched = 1), ["mismatches"]);
    let early = |e: &mut Evidence| e.end.incomplete = Some("interrupted".into());
    assert_eq!(reasons(Evidence::reads(), early), ["incomplete"]);
}
