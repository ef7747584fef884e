mod priorities;

use super::*;
use crate::op::{Action, NameOp, SECOND};
use crate::plan::*;

const MIB: u64 = 1 << 20;

fn geometry() -> Geometry {
    Geometry {
        kind: TargetKind::Directory,
        file_bytes: Some(64 * MIB),
        logical_block_bytes: 512,
        lacks_page_cache: false,
        memory_bytes: Some(1 << 32),
    }
}

fn plan() -> Plan {
    let until = Until { elapsed: Some(Span(10_000_000_000)), ..Until::default() };
    let step = Step { until, streams: vec![Stream::default()], ..Step::default() };
    Plan { steps: vec![step], ..Plan::default() }
}

fn with(change: impl FnOnce(&mut Stream)) -> Plan {
    let mut plan = plan();
    change(&mut plan.steps[0].streams[0]);
    plan
}

fn refused(plan: &Plan, key: &str, says: &str) {
    let problems = validate(plan, &geometry()).expect_err(&format!("{key}: {says}"));
    let hit = problems.iter().any(|p| p.key == key && p.to_string().contains(says));
    assert!(hit, "wanted `{key}` … {says}, got {problems:#?}");
    for problem in problems {
        let text = problem.text;
        assert!(!text.contains("  ") && text.len() < 240, "{text}");
    }
}

fn accepted(plan: &Plan) {
    assert_eq!(validate(plan, &geometry()), Ok(()));
}

#[test]
fn sensible_plans_pass() {
    accepted(&plan());
    accepted(&with(|s| (s.workers, s.depth, s.pattern) = (4, 32, Pattern::Permutation)));
    accepted(&with(|s| (s.pattern, s.size) = (Pattern::strided(-3), Size(6 * 512))));
    accepted(&with(|s| s.arrival = Arrival::Open { rate: 1000.0, poisson: true }));
    accepted(&with(|s| (s.arrival, s.depth) = (Arrival::thinking(Some(4), Span(1_000_000)), 8)));
    accepted(&with(|s| (s.mix, s.sync) = (Mix::WRITE, Sync::Fsync(4))));
    accepted(&with(|s| s.pattern = Pattern::HotZones(vec![zone(0.1, 0.9)])));
    accepted(&with(|s| (s.verify, s.pass) = (true, Some(1))));
    accepted(&with(|s| (s.engine, s.io) = (Engine::Mmap, IoMode::Buffered)));
    accepted(&with(|s| s.pattern = names_of(Action::Create)));
    accepted(&with(|s| {
        s.pattern = Pattern::Segments { block: Size(MIB), segments: Some(16) };
        s.workers = 4;
    }));
}

fn names_of(action: Action) -> Pattern {
    Pattern::Names(Names { actions: vec![action], ..Names::default() })
}

fn zone(addresses: f64, accesses: f64) -> Zone {
    Zone { addresses, accesses }
}

#[test]
fn the_plan_itself() {
    refused(&Plan::default(), "steps", "no steps");
    for interval in [Span(9_999_999), Span(60_000_000_001)] {
        let wrong = Plan { interval: Interval(interval), ..plan() };
        refused(&wrong, "interval", "use 10ms to 1m");
    }
    let mut many = plan();
    many.steps[0].repeat = 1_000_000;
    refused(&many, "repeat", "too many");
}

#[test]
fn steps() {
    let step = |change: &dyn Fn(&mut Step)| {
        let mut plan = plan();
        change(&mut plan.steps[0]);
        plan
    };
    refused(&step(&|s| s.streams.clear()), "streams", "nothing to do");
    refused(&step(&|s| s.act = Some(Act::DropCaches)), "act", "either an act or streams");
    refused(&step(&|s| s.until = Until::default()), "until", "nothing says when");
    refused(&step(&|s| s.until.elapsed = Some(Span(0))), "until", "a time (`elapsed`) of 0");
    refused(&step(&|s| s.until.passes = Some(0)), "until", "`passes` of 0");
    refused(&step(&|s| s.until.elapsed = Some(Span(u64::MAX))), "until", "more than a year");
    refused(&step(&|s| s.ramp = Span(u64::MAX)), "ramp", "more than a year");
    refused(&step(&|s| s.cpus = "3-1".into()), "cpus", "write it like 0-3,8");
    refused(&step(&|s| s.streams[0].background = true), "background", "leave one in front");
    let act = |act: Act| step(&|s| *s = Step { act: Some(act.clone()), ..Step::default() });
    refused(&act(Act::Idle(Span(0))), "act", "idle for 0s");
    let beyond = Act::Trim { offset: Size(u64::MAX), length: Some(Size(2)) };
    refused(&act(beyond), "act", "reaches beyond the target's 64MiB");
    accepted(&act(Act::Trim { offset: Size(0), length: None }));
}

#[test]
fn load_and_arrival() {
    refused(&with(|s| s.depth = 0), "depth", "step 1, stream 1: depth 0 issues nothing");
    refused(&with(|s| s.depth = 70_000), "depth", "too large");
    refused(&with(|s| s.workers = 0), "workers", "0 workers");
    refused(&with(|s| (s.depth, s.size) = (65_536, Size(MIB))), "depth", "buffers");
    refused(&with(|s| s.batch_submit = Some(2)), "batch_submit", "does not fit depth 1");
    refused(&with(|s| s.batch_complete = Some(0)), "batch_complete", "does not fit");
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e10] {
        refused(&with(|s| s.arrival = Arrival::paced(rate)), "rate", "cannot be kept");
    }
    refused(&with(|s| s.arrival = Arrival::paced(1e-6)), "rate", "an hour");
    let none = Arrival::Closed { burst: Some(0), think: None };
    refused(&with(|s| s.arrival = none.clone()), "burst", "submits nothing");
    let long = || Arrival::thinking(None, Span(HOUR.0 + 1));
    refused(&with(|s| s.arrival = long()), "think", "more than an hour");
    refused(&with(|s| s.arrival = Arrival::Trace { pace: 1.0 }), "pace", "need its requests");
    refused(&with(|s| s.gap_over = Span(0)), "gap_over", "list every");
}

#[test]
fn what_an_order_is_made_from() {
    let begin = |at| Pattern::Sequential(Sequence { begin: Some(Size(at)), ..Sequence::default() });
    accepted(&with(|s| s.pattern = begin(4096)));
    refused(&with(|s| s.pattern = begin(100)), "begin", "not a multiple of the 512-byte block");
    let marked = with(|s| (s.pattern, s.stamp, s.mix) = (begin(4096), true, Mix::WRITE));
    refused(&marked, "begin", "no marks");
    let of = |pattern| with(|s| s.pattern = pattern);
    refused(&of(Pattern::Replay(vec![])), "offsets", "needs `offsets`");
    refused(&of(Pattern::Trace(vec![])), "requests", "needs `requests`");
    refused(&of(Pattern::Names(Names::default())), "actions", "needs `actions`");
    refused(&of(Pattern::HotZones(vec![])), "zones", "needs `zones`");
    refused(&of(Pattern::SemiRandom(Jump::Share(Some(1.5)))), "share", "use 0 to 1");
    refused(&of(Pattern::SemiRandom(Jump::Run(0))), "run", "use 1 or more");
    refused(&of(Pattern::Zipf { theta: Some(5.0) }), "theta", "below 5");
    refused(&of(Pattern::SelfSimilar { skew: Some(1.0) }), "skew", "less than 1");
    refused(&of(Pattern::Bell { plateau: Some(0.6) }), "plateau", "use 0 to 0.5");
    let zones = |zones: Vec<Zone>| of(Pattern::HotZones(zones));
    refused(&zones(vec![zone(0.6, 0.5), zone(0.6, 0.5)]), "zones", "of the addresses");
    refused(&zones(vec![zone(0.1, 0.8), zone(0.1, 0.8)]), "zones", "of the accesses");
    refused(&zones(vec![zone(1.0, 0.5)]), "zones", "must then sum to 1");
    refused(&zones(vec![zone(0.0, 0.5)]), "zones", "without addresses");
    refused(&zones(vec![zone(f64::NAN, 0.5)]), "zones", "from 0 to 1");
}

#[test]
fn kinds_engines_and_checks() {
    refused(&with(|s| s.mix = Mix::default()), "mix", "no reads, no writes and no trims");
    let trim = Mix { read: 50, write: 0, trim: 50 };
    refused(&with(|s| (s.reply, s.mix) = (Some(Reply::Same), trim)), "reply", "a trim");
    let replies = |change: fn(&mut Stream)| {
        with(|s| {
            s.reply = Some(Reply::Same);
            change(s);
        })
    };
    accepted(&replies(|s| (s.reply_size, s.reply_after) = (Some(Size(512)), Some(4))));
    refused(&with(|s| s.reply_size = Some(Size(512))), "reply_size", "there are none");
    refused(&with(|s| s.reply_after = Some(2)), "reply_after", "there are none");
    refused(&replies(|s| s.reply_size = Some(Size(0))), "reply_size", "of 0 bytes");
    refused(&replies(|s| s.reply_size = Some(Size(1 << 20))), "reply_size", "beyond its request");
    refused(&replies(|s| s.reply_size = Some(Size(100))), "reply_size", "direct I/O needs");
    refused(&replies(|s| s.reply_after = Some(0)), "reply_after", "counts requests");
    refused(
        &replies(|s| (s.reply_after, s.verify) = (Some(2), true)),
        "reply_after",
        "does not know what it will find",
    );
    refused(&with(|s| s.sync = Sync::Dsync), "sync", "dsync without writes");
    refused(&with(|s| s.sync_timing = SyncTiming::Outside), "sync_timing", "about fsync");
    refused(&with(|s| s.content = Content::Zero), "content", "about writes");
    refused(&with(|s| (s.iopoll, s.io) = (true, IoMode::Buffered)), "iopoll", "direct I/O");
    let flushed = |s: &mut Stream| (s.iopoll, s.mix, s.sync) = (true, Mix::WRITE, Sync::End);
    refused(&with(flushed), "iopoll", "only read and write");
    refused(&with(|s| (s.sqpoll, s.engine) = (true, Engine::Psync)), "sqpoll", "is psync");
    refused(&with(|s| s.engine = Engine::Mmap), "io", "mmap goes through the page cache");
    refused(&with(|s| (s.engine, s.verify) = (Engine::Null, true)), "verify", "null engine");
    let falloc = |s: &mut Stream| (s.engine, s.io) = (Engine::Falloc, IoMode::Buffered);
    accepted(&with(falloc));
    refused(&with(|s| s.engine = Engine::Falloc), "io", "falloc moves no data");
    refused(&with(|s| (falloc(s), s.verify = true).1), "verify", "falloc engine moves no data");
    refused(&with(|s| (falloc(s), s.engine = Engine::Ftruncate).1), "mix", "writes alone");
    let device = Geometry { kind: TargetKind::BlockDevice, ..geometry() };
    let problems = validate(&with(falloc), &device).expect_err("a device is no file");
    assert_eq!((problems.len(), problems[0].key), (1, "engine"));
    refused(&with(|s| (s.verify, s.mix) = (true, Mix::WRITE)), "verify", "add reads");
    refused(&with(|s| s.stamp = true), "stamp", "add writes");
    refused(&with(|s| s.pass = Some(1)), "pass", "add stamp or verify");
    let overwrite = |s: &mut Stream| {
        (s.pattern, s.verify, s.pass) = (Pattern::Uniform, true, Some(2));
        s.mix = Mix { read: 50, write: 50, trim: 0 };
    };
    refused(&with(overwrite), "pass", "a step of its own");
    let tiny = |s: &mut Stream| {
        (s.verify, s.io, s.size) = (true, IoMode::Buffered, Size(4095));
    };
    refused(&with(tiny), "size", "too few for a stamp");
}

#[test]
fn commands_go_to_a_device_past_all_that_is_above_it() {
    let commands = |change: fn(&mut Stream)| {
        with(|s| {
            s.engine = Engine::IoUringCmd;
            change(s);
        })
    };
    refused(&commands(|_| {}), "engine", "this target is a directory");
    refused(&commands(|s| s.io = IoMode::Buffered), "io", "past the page cache");
    refused(&commands(|s| s.pattern = names_of(Action::Create)), "engine", "makes names");
    let mut traced = commands(|_| {});
    traced.steps[0].trace = true;
    refused(&traced, "trace", "sees no addresses of commands");
    let on = |kind| Geometry { kind, ..geometry() };
    let said = |kind| validate(&commands(|_| {}), &on(kind)).unwrap_err()[0].text.clone();
    assert!(said(TargetKind::File).contains("is a file; name a namespace"));
    assert!(said(TargetKind::Simulated).contains("is a simulated drive"));
    for plan in [
        commands(|s| (s.iopoll, s.sqpoll, s.unregistered) = (true, true, true)),
        commands(|s| (s.mix, s.sync) = (Mix::WRITE, Sync::Dsync)),
        commands(|s| s.mix = Mix { read: 0, write: 50, trim: 50 }),
    ] {
        assert_eq!(validate(&plan, &on(TargetKind::BlockDevice)), Ok(()));
    }
}

#[test]
fn sizes_and_regions() {
    refused(&with(|s| s.size = Size(0)), "size", "moves nothing");
    refused(&with(|s| s.size = Size(1 << 31)), "size", "more than 1GiB");
    refused(&with(|s| s.size = Size(1000)), "size", "512-byte block");
    refused(&with(|s| s.align = Some(Size(100))), "align", "512-byte block");
    refused(&with(|s| s.align = Some(Size(0))), "align", "align 0");
    refused(&with(|s| s.shift = Size(1)), "shift", "512-byte block");
    refused(&with(|s| s.offset = Size(1)), "offset", "512-byte block");
    refused(&with(|s| s.length = Some(Size(4097))), "length", "512-byte block");
    accepted(&with(|s| (s.size, s.io) = (Size(1000), IoMode::Buffered)));
    refused(&with(|s| s.length = Some(Size(2048))), "length", "too small for 1 worker");
    refused(&with(|s| s.length = Some(Size(0))), "length", "too small");
    refused(&with(|s| (s.length, s.workers) = (Some(Size(8192)), 3)), "length", "3 workers");
    refused(&with(|s| s.length = Some(Size(65 * MIB))), "length", "beyond the end");
    refused(&with(|s| s.offset = Size(64 * MIB)), "length", "beyond the end");
    let overflow = |s: &mut Stream| (s.offset, s.length) = (Size(512), Some(Size(u64::MAX - 511)));
    refused(&with(overflow), "length", "beyond the end");
    let sizes = vec![
        WeightedSize { size: Size(4096), weight: 1, kind: None },
        WeightedSize { size: Size(8192), weight: 1, kind: None },
    ];
    let mixed = |pattern| with(|s| (s.sizes, s.pattern) = (sizes.clone(), pattern));
    refused(&mixed(Pattern::strided(2)), "stride", "one size");
    refused(&mixed(Pattern::Permutation), "sizes", "requests of one size");
    accepted(&mixed(Pattern::SEQUENTIAL));
    let mapped = |change: fn(&mut Stream)| {
        with(|s| {
            (s.sizes, s.pattern) = (sizes.clone(), Pattern::RandomMap);
            change(s);
        })
    };
    accepted(&mapped(|s| s.align = Some(Size(512))));
    refused(&mapped(|s| s.align = Some(Size(1 << 20))), "align", "at most the smallest size");
    let split = |s: &mut Stream| (s.workers, s.regions) = (2, Some(Sharing::Shared));
    refused(&mapped(split), "regions", "do not share a random map");
    refused(&mapped(|s| s.sizes[0].kind = Some(Action::Read)), "sizes", "leave `kind` out");
    let weightless = vec![WeightedSize { size: Size(4096), weight: 0, kind: None }];
    refused(&with(|s| s.sizes = weightless), "sizes", "sum to 0");
    let overlap = |s: &mut Stream| (s.pattern, s.align) = (Pattern::Permutation, Some(Size(512)));
    refused(&with(overlap), "align", "must not overlap");
    let replay = |at| with(|s| s.pattern = Pattern::Replay(vec![Size(at)]));
    refused(&replay(64 * MIB - 512), "offsets", "ends beyond the region");
    let segments = |block, segments| {
        with(|s| {
            s.pattern = Pattern::Segments { block: Size(block), segments: Some(segments) };
        })
    };
    refused(&segments(5000, 1), "block", "not a multiple of the size");
    refused(&segments(MIB, 65), "segments", "use less");
    refused(&segments(MIB, 0), "segments", "0 segments");
}

#[test]
fn names_are_counted() {
    let of = |count| {
        Pattern::Names(Names {
            actions: vec![Action::Create],
            names: Some(count),
            ..Names::default()
        })
    };
    accepted(&with(|s| s.pattern = of(NameOp::NAMES_MAX)));
    refused(&with(|s| s.pattern = of(NameOp::NAMES_MAX + 1)), "names", "2147483647 names at most");
    refused(&with(|s| s.pattern = of(0)), "names", "0 names");
}

#[test]
fn targets() {
    let device = Geometry { kind: TargetKind::BlockDevice, ..geometry() };
    let each = with(|s| s.files = Files::Each);
    let problems = validate(&each, &device).expect_err("a device is one file");
    assert_eq!(problems[0].key, "files");
    let names = |s: &mut Stream| s.pattern = names_of(Action::Stat);
    let problems = validate(&with(names), &device).expect_err("no names on a device");
    assert_eq!(
        problems[0].text,
        "metadata actions need a directory or a simulated drive as target; give one"
    );
    let none = Names { actions: vec![Action::Stat], names: Some(0), ..Names::default() };
    refused(&with(|s| s.pattern = Pattern::Names(none)), "names", "0 names");
    refused(&with(|s| s.pattern = names_of(Action::Read)), "actions", "`read`");
    refused(&with(|s| (names(s), s.verify = true).1), "verify", "hold no data");
    let mut bytes_only = with(names);
    bytes_only.steps[0].until = Until { bytes: Some(Size(1)), ..Until::default() };
    refused(&bytes_only, "until", "move no bytes");
}

#[test]
fn cpu_lists() {
    assert_eq!(cpu_list(""), Ok(vec![]));
    assert_eq!(cpu_list("0-2,8,1"), Ok(vec![0, 1, 2, 8]));
    for wrong in ["a", "1-", "-1", "2-1", ",", "1,,2", "0-99999999"] {
        assert!(cpu_list(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn steady_needs_a_load_that_can_settle() {
    let steady = |change: fn(&mut Step)| {
        let mut plan = with(|s| (s.pattern, s.mix) = (Pattern::Uniform, Mix::WRITE));
        plan.steps[0].role = Role::Precondition;
        plan.steps[0].until.steady = true;
        change(&mut plan.steps[0]);
        plan
    };
    accepted(&steady(|_| ()));
    refused(&steady(|step| step.role = Role::Measure), "until", "is not a result");
    refused(&steady(|step| step.until.elapsed = None), "until", "may never be steady");
    refused(&steady(|step| step.streams.push(Stream::default())), "until", "one stream");
    refused(&steady(|step| step.streams[0].arrival = Arrival::paced(10.0)), "until", "fixed rate");
    refused(&steady(|step| step.streams[0].stamp = true), "until", "stamps count passes");
    refused(&steady(|step| step.streams[0].pattern = Pattern::Permutation), "until", "order");
    refused(&steady(|step| step.ramp = Span(1)), "until", "ramp");
    refused(&steady(|step| step.repeat = 2), "until", "once");
}

#[test]
fn what_is_read_back_must_be_known() {
    let back = |change: fn(&mut Plan, &mut Stream)| {
        let mut plan = with(|_| ());
        plan.steps[0].until = Until { passes: Some(1), ..Until::default() };
        let mut stream = Stream {
            read_back: Some(Mix { read: 50, write: 50, trim: 0 }),
            order: Some(1),
            verify: true,
            ..Stream::default()
        };
        change(&mut plan, &mut stream);
        plan.steps[0].streams = vec![stream];
        plan
    };
    accepted(&back(|_, _| ()));
    refused(&back(|_, stream| stream.read_back = Some(Mix::READ)), "read_back", "with writes");
    refused(&back(|_, stream| stream.mix.write = 1), "read_back", "only reads");
    refused(&back(|_, stream| stream.order = None), "read_back", "same `order`");
    refused(&back(|_, stream| stream.reply = Some(Reply::Same)), "read_back", "replies");
    let timed = back(|plan, _| plan.steps[0].until.elapsed = Some(Span(SECOND)));
    refused(&timed, "read_back", "tell what was written");
}

#[test]
fn what_is_read_back_as_far_as_it_came_was_written_by_the_step_before() {
    let plan = |change: fn(&mut Plan)| {
        let mut plan = with(|_| ());
        plan.steps.push(plan.steps[0].clone());
        plan.steps[0].streams[0].mix = Mix::WRITE;
        plan.steps[1].streams[0].mix = Mix::READ;
        plan.steps[1].until = Until { issued_by: Some(0), ..Until::default() };
        change(&mut plan);
        plan
    };
    accepted(&plan(|_| ()));
    accepted(&plan(|plan| plan.steps[1].until.elapsed = Some(Span(SECOND))));
    let wrong: [fn(&mut Plan); 10] = [
        |plan| drop(plan.steps.remove(0)),
        |plan| plan.steps[1].until.issued_by = Some(1),
        |plan| plan.steps[0].streams[0].workers = 3,
        |plan| plan.steps[0].streams[0].mix = Mix::READ,
        |plan| plan.steps[1].streams[0].mix = Mix::WRITE,
        |plan| plan.steps[1].streams[0].offset = Size(4096),
        |plan| plan.steps[1].streams[0].order = Some(5),
        |plan| plan.steps[1].streams[0].size = Size(8192),
        |plan| plan.steps[0].repeat = 2,
        |plan| plan.steps[1].repeat = 2,
    ];
    for change in wrong {
        refused(&plan(change), "issued_by", "must write what this one reads");
    }
}

#[test]
fn a_level_needs_whole_seconds_and_another_bound() {
    let level = |change: fn(&mut Plan, &mut Level)| {
        let mut plan = with(|_| ());
        let mut level = Level {
            of: Rate::Bytes,
            by: Unevenness::Slope,
            limit: 0.1,
            percent: true,
            window: Span(SECOND),
            every: Span(SECOND),
            after: Span(0),
            group: Some(1),
        };
        change(&mut plan, &mut level);
        plan.steps[0].until.level = Some(level);
        plan
    };
    accepted(&level(|_, _| ()));
    refused(&level(|plan, _| plan.steps[0].until = Until::default()), "until", "may never become");
    refused(&level(|_, level| level.window = Span(SECOND - 1)), "until", "is out of range");
    refused(&level(|_, level| level.limit = f64::NAN), "until", "a limit of NaN");
    refused(&level(|_, level| level.limit = -1.0), "until", "a limit of -1");
    refused(&level(|_, level| level.after = Span(u64::MAX)), "until", "`after` of");
    refused(&level(|plan, _| plan.interval = Interval(Span(SECOND / 3))), "interval", "divide");
    let names = |plan: &mut Plan| plan.steps[0].streams[0].pattern = names_of(Action::Stat);
    let mut plan = level(|_, _| ());
    names(&mut plan);
    refused(&plan, "until", "move no bytes");
    let mut two = level(|_, _| ());
    let own = two.steps[0].until.clone();
    let stream = two.steps[0].streams[0].clone();
    let other = own.level.map(|level| Level { limit: 7.0, ..level });
    let until = Some(Until { level: other, ..own });
    two.steps[0].streams.push(Stream { until, ..stream });
    refused(&two, "until", "judged by one level");
}

#[test]
fn least_rates_are_of_data_and_of_windows() {
    let least = |change: fn(&mut Until, &mut RateMin)| {
        let mut plan = with(|_| ());
        let (until, second) = (&mut plan.steps[0].until, Span(SECOND));
        let of = Rate::Bytes;
        let mut least = RateMin { of, read: 1, write: 0, trim: 0, every: second, after: Span(0) };
        change(until, &mut least);
        until.rate_min = Some(least);
        plan
    };
    accepted(&least(|_, _| ()));
    refused(&least(|_, least| least.of = Rate::Latency), "until", "a latency is neither");
    refused(&least(|_, least| least.read = 0), "until", "asks for no rate");
    refused(&least(|_, least| least.every = Span(0)), "until", "`every` of 0s");
    refused(&least(|_, least| least.after = Span(u64::MAX)), "until", "`after` of");
    refused(&least(|until, _| until.wear_out = true), "until", "leave out one of them");
    let mut names = least(|_, _| ());
    names.steps[0].streams[0].pattern = names_of(Action::Stat);
    refused(&names, "until", "reads, writes and trims");
}

#[test]
fn data_and_names_are_kept_one_by_one() {
    accepted(&with(|s| s.keep_requests = true));
    let names = |s: &mut Stream| {
        let actions = vec![Action::Create];
        s.pattern = Pattern::Names(Names { actions, names: Some(4), ..Names::default() });
        s.keep_requests = true;
    };
    accepted(&with(names));
}

#[test]
fn writes_in_order_are_for_random_reads_beside_them() {
    let mixed = |s: &mut Stream| {
        s.mix = Mix { read: 99, write: 1, trim: 0 };
        (s.pattern, s.writes_in_order) = (Pattern::Uniform, true);
    };
    accepted(&with(mixed));
    let but = |change: fn(&mut Stream)| {
        with(|s| {
            mixed(s);
            change(s);
        })
    };
    refused(&but(|s| s.mix = Mix::READ), "writes_in_order", "drop it");
    refused(&but(|s| s.pattern = Pattern::SEQUENTIAL), "writes_in_order", "at random");
    refused(&but(|s| s.workers = 2), "writes_in_order", "one worker");
}
