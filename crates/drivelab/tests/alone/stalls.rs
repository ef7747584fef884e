//! A drive with planted stalls: what drivelab reports of them, compared with the server's own log.

use crate::support::binary::{Laboratory, RunFile, kind_of, read_responses};
use crate::support::machine::{alone, is_unavailable, require_root};
use crate::support::neighbours::{Account, judge, not_judged};
use crate::support::queue_model::{percentile, responses};
use crate::support::stalling_file::{Schedule, Stall, StallingFile, monotonic_ns};
use drivelab_core::arrival::Arrivals;
use drivelab_stats::derive;
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// A schedule of stalls, and how many of them come before a run ends between two.
struct Stalls {
    every: Duration,
    length: Duration,
    count: u64,
}

impl Stalls {
    fn runtime_seconds(&self) -> u64 {
        self.every.as_secs() * self.count
    }
}

/// Four to be found one by one.
const FOUND: Stalls =
    Stalls { every: Duration::from_secs(3), length: Duration::from_millis(750), count: 4 };
/// So rare that the backlog of one is over before the next; two periods of 7,000 requests.
const WAITED_FOR: Stalls =
    Stalls { every: Duration::from_secs(7), length: Duration::from_millis(750), count: 2 };
const SERVICE: Duration = Duration::from_micros(200);
const RATE: f64 = 1000.0;
const ARRIVAL_SEED: u64 = 0x61_7272_6976;
const TOLERANCE_NS: u64 = 5_000_000;
/// The server may be this far from the closed form by its own log: half of what is allowed in all,
/// so that the other half is left to drivelab.
const SERVER_OFF_MAX: f64 = 0.005;
/// Tries that the server may spoil by straying further.
const TRIES_MAX: usize = 5;

/// A drive that answers in 200 µs and stalls. The first stall comes late enough for drivelab to
/// have started, and a run of whole periods ends between two stalls.
fn stalling_drive(stalls: &Stalls) -> StallingFile {
    StallingFile::mount(Schedule {
        service: SERVICE,
        first_stall: Some(stalls.every * 2 / 3),
        stall_every: stalls.every,
        stall_length: stalls.length,
        ..Schedule::default()
    })
}

fn run_on(
    drive: &StallingFile,
    runtime_seconds: u64,
    options: &[&str],
) -> (RunFile, serde_json::Value) {
    let mut laboratory = Laboratory::new();
    laboratory.go_first();
    let path = drive.path();
    let runtime = runtime_seconds.to_string();
    let mut arguments = vec!["run", path.to_str().expect("UTF-8"), "--rw", "randread"];
    arguments.extend(["--bs", "4k", "--depth", "1", "--runtime", &runtime, "--json"]);
    arguments.extend(options);
    let outcome = laboratory.run(arguments, Duration::from_secs(runtime_seconds + 30));
    let json = outcome.expect_status(0).json();
    (laboratory.only_run(), json)
}

/// The gaps drivelab listed, on the clock of the server, as stalls.
fn reported_gaps(file: &RunFile) -> Vec<Stall> {
    let zero = file.monotonic_zero_ns();
    let step = file.last_step();
    let mut gaps: Vec<_> = step.tallies.iter().flat_map(|tally| &tally.gaps).collect();
    gaps.sort_by_key(|gap| gap.from);
    gaps.iter().map(|gap| Stall { from: zero + gap.from, to: zero + gap.to }).collect()
}

fn assert_stalls_found(engine: &str) {
    let drive = stalling_drive(&FOUND);
    let options = ["--engine", engine, "--gap-over", "50ms"];
    let (file, _) = run_on(&drive, FOUND.runtime_seconds(), &options);
    let planted = drive.stalls();
    let reported = reported_gaps(&file);
    assert_eq!(planted.len() as u64, FOUND.count, "stalls in the server's log: {planted:?}");
    assert_eq!(reported.len(), planted.len(), "{engine}: {reported:?} against {planted:?}");
    for (reported, planted) in reported.iter().zip(&planted) {
        let length = reported.to - reported.from;
        let true_length = planted.to - planted.from;
        let late = reported.from.abs_diff(planted.from);
        assert!(late <= TOLERANCE_NS, "{engine}: start off by {late} ns: {reported:?} {planted:?}");
        let off = length.abs_diff(true_length);
        assert!(off <= TOLERANCE_NS, "{engine}: length off by {off} ns: {reported:?} {planted:?}");
    }
}

#[test]
fn psync_finds_count_start_and_length_of_every_stall() {
    if is_unavailable("psync_finds_count_start_and_length_of_every_stall") {
        return;
    }
    require_root("psync_finds_count_start_and_length_of_every_stall");
    let _alone = alone();
    judge("psync_finds_count_start_and_length_of_every_stall", || assert_stalls_found("psync"));
}

#[test]
fn io_uring_finds_count_start_and_length_of_every_stall() {
    if is_unavailable("io_uring_finds_count_start_and_length_of_every_stall") {
        return;
    }
    require_root("io_uring_finds_count_start_and_length_of_every_stall");
    let _alone = alone();
    judge("io_uring_finds_count_start_and_length_of_every_stall", || {
        assert_stalls_found("io_uring");
    });
}

/// When the requests of the only worker were due, on the clock of the server.
fn arrivals_of(file: &RunFile, poisson: bool) -> Vec<u64> {
    let step = file.last_step();
    let phase = &step.end.as_ref().expect("the end of the step").phases[0];
    let zero = file.monotonic_zero_ns() + phase.opened;
    // The seed of the arrivals of stream 0, worker 0, as the driver derives it.
    let seed = derive(derive(file.run.begin.seed, u64::from(step.begin.step), 0), ARRIVAL_SEED, 0);
    let mut arrivals = Arrivals::new(RATE, poisson, 0, 1, seed);
    let end = WAITED_FOR.runtime_seconds() * 1_000_000_000;
    std::iter::from_fn(|| Some(arrivals.next()))
        .take_while(|due| *due < end)
        .map(|due| zero + due)
        .collect()
}

/// From when each request was due to when the server answered it, by the server's own log. Reads
/// before the step (stamps, signatures) are not among them.
fn logged_responses(drive: &StallingFile, arrivals: &[u64]) -> Vec<u64> {
    let served = drive.served();
    let of_step = served.iter().filter(|request| request.read_at >= arrivals[0]);
    let pairs = of_step.zip(arrivals);
    pairs.map(|(request, due)| request.answered.saturating_sub(*due)).collect()
}

/// The median time from answer to answer while requests were waiting, by the server's own log:
/// what the declared service time really was on this machine, the turn-around included. A median,
/// because other work of the machine may hold a processor for milliseconds in a system call that
/// nothing preempts.
fn logged_service_ns(drive: &StallingFile, arrivals: &[u64]) -> Option<u64> {
    let served = drive.served();
    let of_step: Vec<_> =
        served.iter().filter(|request| request.read_at >= arrivals[0]).zip(arrivals).collect();
    let waited = of_step.windows(2).filter(|pair| *pair[1].1 < pair[0].0.answered);
    let spans: Vec<u64> = waited.map(|pair| pair[1].0.answered - pair[0].0.answered).collect();
    let typical = percentile(&spans, 0.5);
    let declared = SERVICE.as_nanos() as f64;
    let off = (typical as f64 / declared - 1.0).abs();
    if off >= 0.03 {
        eprintln!("the server took {typical} ns a request instead of {declared} ns");
    }
    (off < 0.03).then_some(typical)
}

/// Holds the measured response percentiles from p90 up against those of the queue model with the
/// logged stalls.
fn responses_hold(poisson: bool) -> bool {
    let drive = stalling_drive(&WAITED_FOR);
    let rate = RATE.to_string();
    let mut options = vec!["--engine", "psync", "--rate", &rate];
    options.extend(poisson.then_some("--poisson"));
    let (file, json) = run_on(&drive, WAITED_FOR.runtime_seconds(), &options);
    let stalls = drive.stalls();
    assert_eq!(stalls.len() as u64, WAITED_FOR.count, "stalls in the server's log");
    let measured = read_responses(file.last_step());
    let arrivals = arrivals_of(&file, poisson);
    let missing = (arrivals.len() as u64).abs_diff(measured.count());
    // Other work of the machine may hold the last few back beyond the end of the step.
    assert!(missing <= 10, "{} of {} requests", measured.count(), arrivals.len());
    if missing > 1 {
        eprintln!("the last {missing} requests came too late for the step");
        return false;
    }
    let logged = logged_responses(&drive, &arrivals);
    let Some(service_ns) = logged_service_ns(&drive, &arrivals) else { return false };
    let expected = responses(&arrivals, service_ns, &stalls);
    let shown = &kind_of(&json, "read")["response_ns"];
    let percentiles = [(0.9, "p90"), (0.99, "p99"), (0.999, "p99_9")];
    let mut strayed = false;
    for (share, key) in percentiles {
        let truth = percentile(&expected, share) as f64;
        assert!(truth > 50e6, "{key} of {truth} ns is not made by the stalls");
        let by_log = percentile(&logged, share) as f64;
        let is_off = (by_log / truth - 1.0).abs() > SERVER_OFF_MAX;
        strayed |= is_off;
        if is_off {
            eprintln!("the server itself strayed: {key} {by_log} ns, {truth} ns");
        }
        for (what, value) in [
            ("run file", measured.value_at_quantile(share) as f64),
            ("--json", shown[key].as_f64().expect("a percentile")),
        ] {
            let off = (value / by_log - 1.0).abs();
            assert!(off <= 0.01, "{key} in {what}: {value} ns, by the log {by_log} ns ({off:.4})");
            let off = (value / truth - 1.0).abs();
            assert!(
                is_off || off <= 0.01,
                "{key} in {what}: {value} ns, closed form {truth} ns ({off:.4})"
            );
        }
    }
    !strayed
}

/// Another try only where the planted drive, by its own log, did not keep to its plan. Where it
/// never did, nothing can be said of who measures it.
fn assert_responses(test: &str, poisson: bool) {
    if !(0..TRIES_MAX).any(|_| responses_hold(poisson)) {
        not_judged(test, &format!("the planted drive strayed from its plan {TRIES_MAX} times"));
    }
}

#[test]
fn fixed_rate_responses_match_the_closed_form() {
    let test = "fixed_rate_responses_match_the_closed_form";
    if is_unavailable(test) {
        return;
    }
    require_root(test);
    let _alone = alone();
    judge(test, || assert_responses(test, false));
}

#[test]
fn poisson_responses_match_the_closed_form() {
    let test = "poisson_responses_match_the_closed_form";
    if is_unavailable(test) {
        return;
    }
    require_root(test);
    let _alone = alone();
    judge(test, || assert_responses(test, true));
}

#[test]
fn the_queue_model_agrees_with_the_formula_for_one_stall() {
    // Arrivals each 1 ms, 200 µs of service, a stall of 750 ms from 1 s on.
    let arrivals: Vec<u64> = (0..4000).map(|number| number * 1_000_000).collect();
    let stall = Stall { from: 1_000_000_000, to: 1_750_000_000 };
    let computed = responses(&arrivals, 200_000, &[stall]);
    for (number, response) in computed.iter().enumerate() {
        let into = number as i64 * 1_000_000 - 1_000_000_000;
        let backlog = 750_000_000 - into * 4 / 5 + 200_000;
        let expected = if into >= 0 { backlog.max(200_000) } else { 200_000 };
        assert!((*response as i64 - expected).abs() <= 200_000, "{number}: {response} {expected}");
    }
    assert_eq!(percentile(&[5, 1, 4, 2, 3], 0.9), 5);
    assert_eq!(percentile(&[5, 1, 4, 2, 3], 0.4), 2);
}

/// The oracle is compared with the clock of its only client, too.
#[test]
fn the_server_keeps_its_schedule() {
    if is_unavailable("the_server_keeps_its_schedule") {
        return;
    }
    require_root("the_server_keeps_its_schedule");
    let _alone = alone();
    judge("the_server_keeps_its_schedule", assert_schedule_kept);
}

fn assert_schedule_kept() {
    let drive = StallingFile::mount(Schedule {
        first_stall: Some(Duration::from_millis(300)),
        stall_every: Duration::from_millis(500),
        stall_length: Duration::from_millis(100),
        ..Schedule::default()
    });
    let file = std::fs::File::open(drive.path()).expect("open");
    let mut block = [0; 4096];
    let mut seen = Vec::new();
    for number in 0..4000_u64 {
        let begin = monotonic_ns();
        file.read_exact_at(&mut block, number * 4096).expect("read");
        seen.push(monotonic_ns() - begin);
    }
    let served = drive.served();
    assert_eq!(served.len(), seen.len());
    assert!(served.iter().zip(0..).all(|(request, number)| request.offset == number * 4096));
    let stalls = drive.stalls();
    assert!((1..=4).contains(&stalls.len()), "{stalls:?}");
    for stall in &stalls {
        assert!((stall.to - stall.from).abs_diff(100_000_000) < 2_000_000, "{stall:?}");
    }
    let long = seen.iter().filter(|span| **span > 50_000_000).count();
    assert_eq!(long, stalls.len(), "a client sees what the log says");
    let typical = percentile(&seen, 0.5);
    assert!((150_000..350_000).contains(&typical), "typical service {typical} ns");
}

#[test]
fn who_had_the_cpu_is_what_the_kernel_says() {
    let stat = "cpu  100 5 50 1000 7 3 2 40 0 0\ncpu0 50 0 25 500 0 0 0 20 0 0\n";
    let own = "77 (a name) S 1 2 3 4 5 6 7 8 9 10 60 11 20 12 13 14 15";
    let account = Account::of(stat, own);
    let expected = Account { stolen: 40, wanted: 200, computed: 105, own: 80, all: 1207 };
    assert_eq!(account, expected);
    assert_eq!(
        Account::of("cpu  1 2\n", ""),
        Account { wanted: 3, computed: 3, all: 3, ..Account::default() }
    );
    let later = |stolen: u64, computed: u64, own: u64| {
        let of = |it: Account| Account {
            stolen: it.stolen + stolen,
            wanted: it.wanted + 200,
            computed: it.computed + computed,
            own: it.own + own,
            all: it.all + 1000,
        };
        of(account).disturbed_since(account)
    };
    assert_eq!(later(3, 0, 0).as_deref(), Some("the hypervisor gave 2 % of the CPU to others"));
    assert_eq!(later(2, 40, 0), None);
    assert_eq!(later(0, 160, 100).as_deref(), Some("other programs had 6 %"));
    assert_eq!(later(0, 1000, 960), None, "its own work disturbs nobody");
    assert_eq!(account.disturbed_since(account), None);
}
