//! Invented runs of a drive that behaves like one; every figure derives from a seed.

pub mod page;
pub mod study;

use drivelab_core::facts::{DeviceFacts, FilesystemFacts, TargetKind};
use drivelab_core::findings::{Findings, Remark};
use drivelab_core::op::{Action, Errno, Place};
use drivelab_core::plan::{Arrival, Engine, Mix, Pattern, Plan, Role, Step, Stream, Sync, Until};
use drivelab_core::record::{Begin, DeviceCounters, End, Record, StepBegin, StepEnd, Warning};
use drivelab_core::run::Run;
use drivelab_core::tally::{Gap, Keep, KindTally, Phase, Slow, Tally};
use drivelab_core::units::{Size, Span};
use drivelab_stats::Random;

/// One kind of load of the sample: what is planned, and how the drive answers.
#[derive(Clone)]
pub struct Load {
    pub name: &'static str,
    pub stream: Stream,
    /// Latency of the fast way in nanoseconds.
    pub typical_ns: f64,
    /// Share of I/Os that take the slow way, ten times as long.
    pub slow_share: f64,
    /// Rate of the first half by the rate of the second.
    pub fall: f64,
}

pub fn load(
    name: &'static str,
    mix: Mix,
    pattern: Pattern,
    size: u64,
    depth: u32,
    typical_ns: f64,
) -> Load {
    let stream = Stream {
        engine: if depth == 1 { Engine::Psync } else { Engine::IoUring },
        pattern,
        mix,
        size: Size(size),
        depth,
        ..Stream::default()
    };
    Load { name, stream, typical_ns, slow_share: 0.02, fall: 1.0 }
}

/// The cells of a check.
pub fn check_loads() -> Vec<Load> {
    let (along, anywhere) = (|| Pattern::SEQUENTIAL, || Pattern::Uniform);
    let mut loads = vec![
        load("sequential read", Mix::READ, along(), 128 << 10, 32, 620_000.0),
        load("sequential write", Mix::WRITE, along(), 128 << 10, 32, 700_000.0),
        load("random read", Mix::READ, anywhere(), 4096, 32, 33_000.0),
        load("random write", Mix::WRITE, anywhere(), 4096, 32, 42_000.0),
        load("read latency", Mix::READ, anywhere(), 4096, 1, 58_000.0),
        load("write latency", Mix::WRITE, anywhere(), 4096, 1, 15_000.0),
        load("durable write", Mix::WRITE, along(), 4096, 1, 380_000.0),
        load("mix 70/30", Mix { read: 70, write: 30, trim: 0 }, anywhere(), 4096, 32, 47_000.0),
        load("stutter", Mix::WRITE, anywhere(), 4096, 16, 24_000.0),
    ];
    loads[1].fall = 2.6;
    loads[6].stream.sync = Sync::Fsync(1);
    loads[8].fall = 1.4;
    loads
}

/// A run of `loads`, each repeated, in intervals of 100 ms.
pub fn run_of(loads: &[Load], repetitions: u32, intervals: u64) -> Run {
    let mut random = Random::new(7391);
    let mut run = Run::default();
    run.push(Record::Begin(Box::new(begin()))).unwrap();
    run.push(Record::Plan { plan: plan(loads, repetitions) }).unwrap();
    let mut step = 0;
    let mut now = 1_000_000_000;
    for repetition in 1..=repetitions {
        for (index, load) in loads.iter().enumerate() {
            let begin = StepBegin {
                step,
                plan_step: index as u32,
                plan: 0,
                repetition,
                name: load.name.to_owned(),
                role: Role::Measure,
                state: "unknown".to_owned(),
                opened: vec!["O_RDWR|O_DIRECT|O_EXCL".to_owned()],
            };
            run.push(Record::StepBegin(begin)).unwrap();
            let end = execute(&mut run, load, step, &mut now, intervals, &mut random);
            run.push(Record::StepEnd(Box::new(end))).unwrap();
            step += 1;
            now += 300_000_000;
        }
    }
    run.push(Record::End(End { complete: true, status: 0, reason: None })).unwrap();
    run
}

fn begin() -> Begin {
    let mut begin = Begin {
        format: 1,
        version: "0.1.0".to_owned(),
        run: "20261120-150312-7f3a".to_owned(),
        started_at: "2026-11-20T15:03:12Z".to_owned(),
        command: "check".to_owned(),
        arguments: ["drivelab", "check", "my data"].map(str::to_owned).to_vec(),
        target: "/home/ann/data".to_owned(),
        seed: 7391,
        ..Begin::default()
    };
    begin.clock.source = "tsc".to_owned();
    begin.clock.disagreement_ppm = Some(0.31);
    begin.clock.read_ns = Some(7.4);
    let target = &mut begin.facts.target;
    target.path = "/home/ann/data".to_owned();
    target.kind = TargetKind::Directory;
    target.bytes = Some(812_345_678_901);
    target.filesystem = Some(FilesystemFacts {
        kind: "ext4".to_owned(),
        source: "/dev/nvme0n1p2".to_owned(),
        mount_point: "/home".to_owned(),
        options: "rw,relatime".to_owned(),
        total_bytes: Some(1_900_000_000_000),
        free_bytes: Some(812_345_678_901),
        direct_io_align: Some((4, 512)),
        ..FilesystemFacts::default()
    });
    target.devices = devices();
    begin.facts.host.kernel = Some("6.12.9-amd64".to_owned());
    begin.facts.host.cpu_model = Some("AMD Ryzen 7 7840U".to_owned());
    begin.facts.host.cpus_allowed = Some(16);
    begin.facts.host.cpus_online = Some(16);
    begin.facts.host.memory_bytes = Some(32 << 30);
    begin
}

pub fn devices() -> Vec<DeviceFacts> {
    let disk = DeviceFacts {
        name: "nvme0n1".to_owned(),
        layer: "disk".to_owned(),
        bytes: Some(2_000_398_934_016),
        model: Some("Samsung SSD 990 PRO 2TB".to_owned()),
        serial: Some("S7KHNJ0W123456".to_owned()),
        firmware: Some("4B2QJXD7".to_owned()),
        transport: Some("nvme".to_owned()),
        link: Some("16.0 GT/s PCIe x4".to_owned()),
        link_max: Some("16.0 GT/s PCIe x4".to_owned()),
        rotational: Some(false),
        scheduler: Some("none".to_owned()),
        signatures: vec!["gpt".to_owned()],
        ..DeviceFacts::default()
    };
    let partition = DeviceFacts {
        name: "nvme0n1p2".to_owned(),
        layer: "partition".to_owned(),
        bytes: Some(1_900_000_000_000),
        signatures: vec!["ext4".to_owned()],
        mounted_at: vec!["/home".to_owned()],
        ..DeviceFacts::default()
    };
    vec![partition, disk]
}

fn plan(loads: &[Load], repetitions: u32) -> Plan {
    let step = |load: &Load| Step {
        name: load.name.to_owned(),
        until: Until { elapsed: Some(Span(2_000_000_000)), ..Until::default() },
        repeat: repetitions,
        streams: vec![load.stream.clone()],
        ..Step::default()
    };
    Plan {
        title: "What this drive does".to_owned(),
        seed: 7391,
        steps: loads.iter().map(step).collect(),
        ..Plan::default()
    }
}

fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| random.unit_f64()).sum::<f64>() - 6.0
}

/// The latencies of an interval: most take the fast way, some the slow one.
fn draw(kind: &mut KindTally, load: &Load, pace: f64, random: &mut Random) {
    let draws = kind.ops.clamp(1, 300);
    for index in 0..draws {
        let n = kind.ops / draws + u64::from(index < kind.ops % draws);
        let slow = if random.unit_f64() < load.slow_share { 10.0 } else { 1.0 };
        let spread = (0.18 * normal(random)).exp();
        kind.service.record_n((load.typical_ns * pace * slow * spread) as u64, n);
        if let Some(submit) = &mut kind.submit {
            submit.record_n(600 + random.below(900), n);
        }
    }
}

/// An I/O that took no time.
fn no_time(kind: Action) -> Slow {
    let cause = drivelab_core::inside::Cause::Unknown;
    Slow {
        latency_ns: 0,
        issued: 0,
        kind,
        place: Place::Data { offset: 123 << 12 },
        stream: 0,
        worker: 0,
        cause,
    }
}

fn execute(
    run: &mut Run,
    load: &Load,
    step: u32,
    now: &mut u64,
    intervals: u64,
    random: &mut Random,
) -> StepEnd {
    const LENGTH_NS: u64 = 100_000_000;
    let kinds = load.stream.kinds();
    let from = *now;
    let mood = 1.0 + 0.006 * normal(random);
    let mut slowest = no_time(kinds[0]);
    let mut issued = 0;
    for interval in 0..intervals {
        let keep = Keep { submit: load.stream.depth > 1, ..Keep::default() };
        let mut tally = Tally::new(step, 0, 0, &kinds, keep);
        (tally.from, tally.to) = (*now, *now + LENGTH_NS);
        tally.ramp = interval < intervals / 10;
        let is_late = interval > intervals * 6 / 10;
        let pace = if is_late { load.fall } else { 1.0 } * mood;
        let stalls = load.name == "stutter" && interval == intervals / 2;
        let busy = if stalls { 0.3 } else { 1.0 };
        let rate = f64::from(load.stream.depth) * 1e9
            / (load.typical_ns * (1.0 + 9.0 * load.slow_share) * pace);
        let ops = (rate * busy * LENGTH_NS as f64 / 1e9 * (1.0 + 0.02 * normal(random))) as u64;
        let weights = [load.stream.mix.read, load.stream.mix.write];
        for kind in &mut tally.kinds {
            let share = match kind.kind {
                Action::Read => f64::from(weights[0]) / 100.0,
                Action::Write => f64::from(weights[1]) / 100.0,
                _ => 1.0,
            };
            kind.ops = (ops as f64 * share) as u64;
            draw(kind, load, pace, random);
            if kind.kind != Action::Flush {
                kind.bytes = kind.ops * load.stream.size.0;
            }
            tally.in_flight_sum += kind.ops * u64::from(load.stream.depth);
            tally.submit_calls += kind.ops.div_ceil(4);
            issued += kind.ops;
        }
        if stalls {
            let gap = Gap { from: *now + 10_000_000, to: *now + 152_000_000 };
            tally.gap_ns_max = gap.to - gap.from;
            tally.gaps.push(gap);
            slowest.latency_ns = 142_100_000;
            slowest.issued = gap.from;
        }
        *now = tally.to;
        run.push(Record::Tally(Box::new(tally))).unwrap();
    }
    let phase = Phase {
        opened: from,
        measured_from: from + intervals / 10 * LENGTH_NS,
        first: from,
        last: *now,
        closed: *now,
        cpu_ns: Some(issued * 1_130),
        issued,
        ..Phase::default()
    };
    let device = DeviceCounters {
        name: "nvme0n1".to_owned(),
        reads: issued,
        read_bytes: issued * 4096,
        busy_ms: 1_990,
        ..DeviceCounters::default()
    };
    let slowest = if slowest.latency_ns > 0 { vec![slowest] } else { Vec::new() };
    StepEnd { step, phases: vec![phase], slowest, devices: vec![device], ..StepEnd::default() }
}

/// What a study might conclude of [`check_loads`].
pub fn findings() -> Findings {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    Findings {
        verdict: texts(&[
            "Fast and even: 912,000 random reads a second, 99 % of them within 0.4 ms. Good for \
             a desktop and for databases that group their commits.",
        ]),
        beware: texts(&[
            "Each durable commit costs 0.8 ms: about 1,300 a second, whatever the IOPS say.",
        ]),
        unknown: texts(&[
            "Sustained writes: the cache never filled. `drivelab study wsat` would write 600 GB \
             to find out.",
        ]),
        remarks: vec![Remark {
            cell: "sequential write".to_owned(),
            text: "in the SLC cache: no knee seen".to_owned(),
        }],
        ..Findings::default()
    }
}

pub fn warning() -> Warning {
    Warning {
        code: "short_cell".to_owned(),
        text: "The cell ended after 1.2 s, too soon for an interval.".to_owned(),
        advice: "Give it more bytes with --budget.".to_owned(),
        step: Some(1),
    }
}

/// A whole check with findings and a warning.
pub fn check_run() -> Run {
    let mut run = run_of(&check_loads(), 5, 20);
    run.findings = Some(findings());
    run.warnings.push(warning());
    run
}

/// A check that was killed in its last step, with errors before.
pub fn killed_run() -> Run {
    let mut run = run_of(&check_loads()[..4], 1, 30);
    run.end = None;
    let last = run.steps.last_mut().unwrap();
    last.end = None;
    last.tallies[20].kinds[0].errors = vec![(Errno(5), 3), (Errno(28), 1)];
    run
}

/// `drivelab run` of one load in an open loop.
pub fn single_run() -> Run {
    let mut loads = vec![check_loads()[7].clone()];
    loads[0].name = "mix";
    loads[0].stream.arrival = Arrival::paced(600_000.0);
    let mut run = run_of(&loads, 1, 300);
    run.begin.command = "run".to_owned();
    run.plans[0].title = String::new();
    for tally in &mut run.steps[0].tallies {
        tally.late_ns_sum = tally.ops() * 240;
        tally.late_ns_max = 91_000;
        tally.backlog_max = 3;
        for kind in &mut tally.kinds {
            let mut response = kind.service.clone();
            response.record_n(2_300_000, kind.ops / 900);
            kind.response = Some(response);
        }
    }
    let middle = 150;
    let tally = &mut run.steps[0].tallies[middle];
    tally.gaps = vec![Gap { from: tally.from, to: tally.from + 752_000_000 }];
    tally.gap_ns_max = 752_000_000;
    run
}
