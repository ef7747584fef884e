use super::*;
use crate::op::SECOND;
use crate::plan::{Arrival, Mix, Plan, Step, Stream};
use crate::record::{End, Record, StepBegin, StepEnd};
use crate::tally::{Keep, KindTally, Phase, Tally};
use crate::units::Span;
use drivelab_stats::{Random, over_time};

const KEEP: Keep =
    Keep { submit: false, completion: false, response: false, held: false, commit: false };

/// A run of steps of one name, one stream each.
struct Bench {
    run: Run,
}

impl Bench {
    fn new(stream: Stream) -> Self {
        let step = Step { name: "cell".to_owned(), streams: vec![stream], ..Step::default() };
        let mut run = Run::default();
        let plan = Plan { seed: 7, steps: vec![step], ..Plan::default() };
        run.push(Record::Plan { plan }).unwrap();
        Bench { run }
    }

    /// Begins the next repetition.
    fn begin(&mut self) -> &mut Self {
        let step = self.run.steps.len() as u32;
        let begin = StepBegin {
            step,
            plan_step: 0,
            plan: 0,
            repetition: step + 1,
            name: "cell".to_owned(),
            role: Role::Measure,
            state: "unknown".to_owned(),
            opened: Vec::new(),
        };
        self.run.push(Record::StepBegin(begin)).unwrap();
        self
    }

    fn tally(&mut self, tally: Tally) -> &mut Self {
        let step = self.run.steps.len() as u32 - 1;
        self.run.push(Record::Tally(Box::new(Tally { step, ..tally }))).unwrap();
        self
    }

    fn end(&mut self, phases: Vec<Phase>) -> &mut Self {
        let step = self.run.steps.len() as u32 - 1;
        let end = StepEnd { step, phases, ..StepEnd::default() };
        self.run.push(Record::StepEnd(Box::new(end))).unwrap();
        self
    }

    fn summary(&self) -> Summary {
        summarise(&self.run)
    }
}

fn reads() -> Stream {
    Stream { mix: Mix::READ, ..Stream::default() }
}

/// `ops` reads of 4 KiB and 1 µs by one worker.
fn tally(worker: u32, from: Time, to: Time, ops: u64) -> Tally {
    let mut tally = Tally::new(0, 0, worker, &[Action::Read], KEEP);
    (tally.from, tally.to) = (from, to);
    tally.kinds[0].ops = ops;
    tally.kinds[0].bytes = ops * 4096;
    tally.kinds[0].service.record_n(1_000, ops);
    tally
}

fn phase(worker: u32, measured_from: Time, closed: Time) -> Phase {
    let (first, last) = (measured_from, closed);
    Phase { worker, measured_from, first, last, closed, issued: 1, ..Phase::default() }
}

fn gap(from: Time, to: Time) -> Gap {
    Gap { from, to }
}

fn near(left: f64, right: f64) {
    assert!((left - right).abs() <= 1e-9 * right.abs().max(1.0), "{left} is not {right}");
}

#[test]
fn a_rate_counts_what_came_after_the_ramp_in_the_measured_window() {
    let mut bench = Bench::new(reads());
    let ramp = Tally { ramp: true, ..tally(0, 0, SECOND, 999_999) };
    bench.begin().tally(ramp).tally(tally(0, SECOND, 2 * SECOND, 1_000));
    bench.tally(tally(0, 2 * SECOND, 3 * SECOND, 3_000)).end(vec![phase(0, SECOND, 3 * SECOND)]);
    let summary = bench.summary();
    let stream = &summary.steps[0].streams[0];
    let read = &stream.kinds[&Action::Read];
    assert_eq!((read.rates.ops, read.rates.bytes, read.rates.errors), (4_000, 4_000 * 4096, 0));
    assert_eq!(stream.seconds, Some(2.0));
    assert_eq!(read.rates.iops, Some(Estimate::point(2_000.0, 1)));
    assert_eq!(read.rates.bandwidth_bytes_per_s, Some(Estimate::point(2_000.0 * 4096.0, 1)));
    assert_eq!(stream.total, read.rates);
    assert_eq!(read.service_ns.unwrap().count, 4_000);
}

#[test]
fn the_window_reaches_from_the_first_worker_to_the_last_without_what_is_excluded() {
    let mut bench = Bench::new(Stream { workers: 2, ..reads() });
    bench.begin().tally(tally(0, SECOND, 3 * SECOND, 600)).tally(tally(1, SECOND, 5 * SECOND, 900));
    let excluded = Phase { excluded_ns: SECOND, ..phase(1, 2 * SECOND, 5 * SECOND) };
    bench.end(vec![phase(0, SECOND, 3 * SECOND), excluded]);
    let stream = &bench.summary().steps[0].streams[0];
    // 1 s to 5 s, and half a second a worker was taken out.
    assert_eq!(stream.seconds, Some(3.5));
    near(stream.total.iops.unwrap().value, 1_500.0 / 3.5);
}

#[test]
fn a_killed_step_is_summed_up_from_its_tallies_and_marked() {
    let mut bench = Bench::new(reads());
    let ramp = Tally { ramp: true, ..tally(0, 0, SECOND, 5) };
    bench.begin().tally(ramp).tally(tally(0, SECOND, 3 * SECOND, 500));
    let summary = bench.summary();
    assert!(!summary.complete && summary.steps[0].incomplete.is_some());
    assert_eq!(summary.steps[0].reasons[0].code, "incomplete");
    assert_eq!(summary.steps[0].streams[0].total.iops.unwrap().value, 250.0);
    assert_eq!(summary.steps[0].streams[0].engine_cpu_ns_per_op, None);
    assert_eq!((summary.cells[0].repetitions, summary.cells[0].incomplete), (1, 1));
}

#[test]
fn a_step_that_measured_nothing_has_no_rate() {
    let mut bench = Bench::new(reads());
    bench.begin();
    let summary = bench.summary();
    let stream = &summary.steps[0].streams[0];
    assert_eq!((stream.seconds, stream.total.iops), (None, None));
    assert!(stream.kinds.is_empty());
    assert_eq!(summary.cells[0].streams[0].total.iops, None);
}

#[test]
fn a_stream_stands_still_only_while_every_worker_does() {
    let stream = Stream { workers: 2, gap_over: Span(10), ..reads() };
    let mut bench = Bench::new(stream);
    let mut first = tally(0, 0, 1_000, 1);
    first.gaps = vec![gap(100, 200), gap(200, 300), gap(500, 600), gap(700, 705)];
    let mut second = tally(1, 0, 1_000, 1);
    second.gaps = vec![gap(150, 250), gap(595, 650), gap(640, 720)];
    second.gap_ns_max = 100;
    bench.begin().tally(first).tally(second).end(vec![phase(0, 0, 800), phase(1, 0, 1_000)]);
    // Worker 0 ended at 800; 595 to 600 and 700 to 705 are shorter than asked for.
    let gaps = &bench.summary().steps[0].streams[0].gaps;
    assert_eq!(gaps.list, [gap(150, 200), gap(200, 250)]);
    assert_eq!((gaps.count, gaps.longest_ns), (Some(2), Some(50)));
}

#[test]
fn a_worker_that_has_ended_or_not_begun_counts_as_still() {
    let mut bench = Bench::new(Stream { workers: 2, gap_over: Span(10), ..reads() });
    let mut late = tally(1, 0, 1_000, 1);
    late.gaps = vec![gap(900, 950)];
    let mut early = tally(0, 0, 1_000, 1);
    early.gaps = vec![gap(20, 60)];
    bench.begin().tally(early).tally(late).end(vec![phase(0, 0, 400), phase(1, 50, 1_000)]);
    assert_eq!(bench.summary().steps[0].streams[0].gaps.list, [gap(20, 50), gap(900, 950)]);
}

#[test]
fn gaps_of_a_lone_worker_are_exact_and_lists_that_overflow_are_not_passed_off_as_whole() {
    let with = |workers: u32| {
        let mut bench = Bench::new(Stream { workers, gap_over: Span(100), ..reads() });
        bench.begin();
        for worker in 0..workers {
            let mut tally = tally(worker, 0, 1_000, 1);
            (tally.gaps, tally.gaps_unlisted, tally.gap_ns_max) = (vec![gap(0, 100)], 3, 170);
            bench.tally(tally);
        }
        bench.end((0..workers).map(|worker| phase(worker, 0, 1_000)).collect());
        bench.summary().steps[0].streams[0].gaps.clone()
    };
    let alone = with(1);
    assert_eq!((alone.count, alone.longest_ns, alone.list.len()), (Some(4), Some(170), 1));
    let both = with(2);
    assert_eq!((both.count, both.longest_ns), (None, None));
}

#[test]
fn a_percentile_without_enough_samples_is_null() {
    for (samples, p50, p90, p99) in [
        (5, false, false, false),
        (6, true, false, false),
        (298, true, true, false),
        (299, true, true, true),
    ] {
        let mut histogram = Histogram::new();
        histogram.record_n(1_500, samples);
        let latency = Latency::of(&histogram).unwrap();
        let known = |value: bool| value.then_some(1_500);
        assert_eq!(latency.p50, known(p50), "{samples}");
        assert_eq!(latency.p90, known(p90), "{samples}");
        assert_eq!(latency.p99, known(p99), "{samples}");
        assert_eq!((latency.min, latency.max, latency.p99_9), (1_500, 1_500, None));
    }
    assert_eq!(Latency::of(&Histogram::new()), None);
}

/// Repetitions of one second with these operations.
fn repeated(counts: &[u64]) -> Bench {
    let mut bench = Bench::new(reads());
    for count in counts {
        bench.begin().tally(tally(0, 0, SECOND, *count)).end(vec![phase(0, 0, SECOND)]);
    }
    bench
}

#[test]
fn repetitions_give_the_t_interval() {
    let cell = &repeated(&[100, 110, 120]).summary().cells[0];
    assert_eq!((cell.repetitions, cell.incomplete, cell.valid), (3, 0, None));
    let iops = cell.streams[0].kinds[&Action::Read].rates.iops.unwrap();
    // Mean 110, s = 10, t(2) = 4.30265272974946: 4.3027 · 10/√3 to each side, on the logarithm.
    let share: f64 = 24.841_377_118_395_51 / 110.0;
    near(iops.value, 110.0);
    near(iops.low.unwrap(), 110.0 * (-share).exp());
    near(iops.high.unwrap(), 110.0 * share.exp());
    assert_eq!(iops.n, 3);
    let read = &cell.streams[0].kinds[&Action::Read];
    assert_eq!((read.rates.ops, read.merged.service_ns.unwrap().count), (330, 330));
    // 100 I/Os support no p99 in one repetition; together 330 do.
    assert_eq!(read.service_ns.as_ref().unwrap().p99, Some(Estimate::point(1_000.0, 3)));
    assert_eq!(read.merged.service_ns.unwrap().p99, Some(1_000));
}

#[test]
fn latency_figures_of_a_cell_are_those_of_all_its_latencies() {
    let mut bench = Bench::new(reads());
    for latency_ns in [100, 200, 600] {
        let mut tally = tally(0, 0, SECOND, 0);
        tally.kinds[0].ops = 10;
        tally.kinds[0].service.record_n(latency_ns, 10);
        bench.begin().tally(tally).end(vec![phase(0, 0, SECOND)]);
    }
    let summary = bench.summary();
    let read = &summary.cells[0].streams[0].kinds[&Action::Read];
    let service = read.service_ns.as_ref().unwrap();
    near(service.mean.unwrap().value, 300.0);
    near(service.p50.unwrap().value, 200.0);
    assert_eq!((service.p50.unwrap().n, service.p50.unwrap().low), (3, None), "not repeatable");
    assert_eq!(read.merged.service_ns.unwrap().max, 600);
    assert!(read.response_ns.is_none() && read.submit_ns.is_none());
}

#[test]
fn an_incomplete_repetition_is_left_out_of_its_cell() {
    let mut bench = repeated(&[100, 110, 120]);
    bench.begin().tally(tally(0, 0, SECOND, 5)).end(vec![phase(0, 0, SECOND)]);
    bench.run.steps[3].end.as_mut().unwrap().incomplete = Some("Ctrl-C".to_owned());
    let cell = &bench.summary().cells[0];
    assert_eq!((cell.repetitions, cell.incomplete), (3, 1));
    assert_eq!(cell.streams[0].total.ops, 330);
    let merged = cell_histogram(&bench.run, &cell.steps, 0, Action::Read, LatencyKind::Service);
    assert_eq!(merged.unwrap().count(), 330);
}

#[test]
fn one_repetition_has_the_interval_of_its_seconds_without_the_partial_end() {
    let mut bench = Bench::new(reads());
    bench.begin();
    let mut random = Random::new(1);
    let counts: Vec<u64> = (0..30).map(|_| 1_000 + random.below(100)).collect();
    for (index, count) in counts.iter().enumerate() {
        let from = index as u64 * SECOND;
        bench.tally(tally(0, from, from + SECOND, *count));
    }
    // Half an interval at the end, three times as fast: in the rate, not in its interval.
    bench.tally(tally(0, 30 * SECOND, 30 * SECOND + SECOND / 2, 1_500));
    bench.end(vec![phase(0, 0, 30 * SECOND + SECOND / 2)]);
    let series: Vec<f64> = counts.iter().map(|count| *count as f64).collect();
    let within = over_time(&series).unwrap().estimate;
    let factor = within.high.unwrap() / within.value;
    let summary = bench.summary();
    let iops = summary.cells[0].streams[0].total.iops.unwrap();
    let value = (counts.iter().sum::<u64>() + 1_500) as f64 / 30.5;
    near(iops.value, value);
    near(iops.low.unwrap(), value / factor);
    near(iops.high.unwrap(), value * factor);
    assert_eq!(iops.n, within.n);
}

#[test]
fn series_add_workers_interval_by_interval_and_mark_ramp_and_end() {
    let mut bench = Bench::new(Stream { workers: 2, ..reads() });
    bench.begin();
    for worker in 0..2 {
        let shift = u64::from(worker) * 300;
        bench.tally(Tally { ramp: true, ..tally(worker, shift, SECOND + shift, 7) });
        bench.tally(tally(worker, SECOND + shift, 2 * SECOND + shift, 100));
        bench.tally(tally(worker, 2 * SECOND + shift, 3 * SECOND + shift, 200));
    }
    bench.tally(tally(0, 3 * SECOND, 3 * SECOND + SECOND / 4, 50));
    let points = series(&bench.run.steps[0], 0, None);
    let rates: Vec<f64> = points.iter().map(|point| point.ops_per_s).collect();
    assert_eq!(rates, [14.0, 200.0, 400.0, 200.0]);
    let marks: Vec<_> = points.iter().map(|point| (point.ramp, point.partial)).collect();
    assert_eq!(marks, [(true, false), (false, false), (false, false), (false, true)]);
    assert_eq!(points[1].bytes_per_s, 200.0 * 4096.0);
    assert_eq!((points[1].p50, points[1].p99, points[1].max), (Some(1_000), None, Some(1_000)));
    assert_eq!(series(&bench.run.steps[0], 0, Some(Action::Write))[1].ops_per_s, 0.0);
    assert!(series(&bench.run.steps[0], 1, None).is_empty());
}

#[test]
fn a_tally_handed_over_late_is_spread_over_the_intervals_it_covers() {
    let mut bench = Bench::new(Stream { workers: 2, ..reads() });
    bench.begin().tally(tally(1, 0, 3 * SECOND, 30));
    for index in 0..4 {
        bench.tally(tally(0, index * SECOND, (index + 1) * SECOND, 100));
    }
    let points = series(&bench.run.steps[0], 0, None);
    let rates: Vec<f64> = points.iter().map(|point| point.ops_per_s).collect();
    assert_eq!(rates, [110.0, 110.0, 110.0, 100.0]);
    assert!(!points[3].partial, "whole for the worker that still ran");
}

#[test]
fn workers_that_end_apart_leave_no_rate_where_there_was_none() {
    let mut bench = Bench::new(Stream { workers: 2, ..reads() });
    bench.begin().tally(tally(0, 0, SECOND / 5 * 2, 400));
    bench.tally(tally(1, 0, SECOND / 2, 500));
    let points = series(&bench.run.steps[0], 0, None);
    let rates: Vec<f64> = points.iter().map(|point| point.ops_per_s).collect();
    assert_eq!(rates, [2000.0, 1000.0]);
    assert!(points[1].partial);
}

#[test]
fn intervals_without_a_completion_are_zero_not_missing() {
    let mut bench = Bench::new(reads());
    bench.begin();
    for index in [0, 1, 4, 5] {
        bench.tally(tally(0, index * SECOND, (index + 1) * SECOND, 100));
    }
    let points = series(&bench.run.steps[0], 0, None);
    let rates: Vec<f64> = points.iter().map(|point| point.ops_per_s).collect();
    assert_eq!(rates, [100.0, 100.0, 0.0, 0.0, 100.0, 100.0]);
    assert_eq!((points[2].from, points[3].to), (2 * SECOND, 4 * SECOND));
    assert!(points.iter().all(|point| !point.partial && !point.ramp));
    assert_eq!((points[2].max, points[2].p50), (None, None));
}

#[test]
fn depth_lateness_errors_and_cpu_are_those_of_the_window() {
    let mut bench = Bench::new(Stream { depth: 8, arrival: Arrival::paced(100.0), ..reads() });
    let mut one = tally(0, 0, SECOND, 90);
    one.kinds[0].errors = vec![(Errno(5), 6), (Errno(28), 4)];
    (one.in_flight_sum, one.late_ns_sum, one.late_ns_max) = (300, 5_000, 900);
    (one.backlog_max, one.submit_calls, one.verified, one.mismatched) = (4, 50, 90, 1);
    let ramp = Tally { ramp: true, late_ns_max: 10_000, backlog_max: 99, ..tally(0, 0, 1, 1) };
    let phase = Phase { cpu_ns: Some(50_000), issued: 200, ..phase(0, 0, SECOND) };
    bench.begin().tally(one).tally(ramp).end(vec![phase]);
    let stream = &bench.summary().steps[0].streams[0];
    assert_eq!(stream.depth_reached, Some(9e-5));
    assert_eq!(stream.lateness, Some(Lateness { mean_ns: 50.0, max_ns: 900 }));
    assert_eq!((stream.backlog, stream.ops_per_submit_call), (Some(4), Some(2.0)));
    assert_eq!(stream.engine_cpu_ns_per_op, Some(250.0));
    assert_eq!((stream.verified, stream.mismatched, stream.total.errors), (90, 1, 10));
    let by_errno = &stream.kinds[&Action::Read].errors_by_errno;
    assert_eq!(by_errno[0], ErrorCount { errno: Errno(5), count: 6 });
}

#[test]
fn only_measuring_steps_give_cells() {
    let mut bench = repeated(&[100, 110]);
    bench.run.steps[0].begin.role = Role::Prepare;
    let summary = bench.summary();
    assert_eq!((summary.steps.len(), summary.cells.len()), (2, 1));
    assert_eq!(summary.cells[0].streams[0].total.ops, 110);
}

#[test]
fn a_mix_has_its_kinds_and_a_total_without_flushes() {
    let stream = Stream { mix: Mix { read: 70, write: 30, trim: 0 }, ..Stream::default() };
    let mut bench = Bench::new(stream);
    let mut mixed = tally(0, 0, SECOND, 70);
    for (kind, ops, bytes) in [(Action::Write, 30, 30 * 4096), (Action::Flush, 5, 0)] {
        let mut entry = KindTally::new(kind, KEEP);
        (entry.ops, entry.bytes) = (ops, bytes);
        mixed.kinds.push(entry);
    }
    bench.begin().tally(mixed).end(vec![phase(0, 0, SECOND)]);
    let stream = &bench.summary().steps[0].streams[0];
    assert_eq!((stream.total.ops, stream.kinds.len()), (100, 3));
    assert_eq!(stream.total.iops.unwrap().value, 100.0);
    let flush = &stream.kinds[&Action::Flush];
    assert_eq!((flush.rates.iops.unwrap().value, flush.rates.bandwidth_bytes_per_s), (5.0, None));
}

#[test]
fn the_json_has_the_keys_that_scripts_rely_on() {
    let mut bench = repeated(&[400]);
    bench.run.begin.run = "20261120-150312-7f3a".to_owned();
    bench.run.push(Record::End(End { complete: true, status: 0, reason: None })).unwrap();
    let json = serde_json::to_value(bench.summary()).unwrap();
    for key in ["schema", "run", "target", "seed", "complete", "steps", "cells", "warnings"] {
        assert!(json.get(key).is_some(), "{key}");
    }
    assert_eq!((json["schema"].as_u64(), json["complete"].as_bool()), (Some(1), Some(true)));
    let step = &json["steps"][0];
    assert_eq!(step["name"], "cell");
    assert_eq!(step["role"], "measure");
    assert_eq!(step["repetition"], 1);
    assert_eq!(step["state"], "unknown");
    assert!(step["valid"].is_null() && step["drive"].is_null() && step["reasons"].is_array());
    let stream = &step["streams"][0];
    assert!(stream.get("engine_cpu_ns_per_op").unwrap().is_null());
    assert!(stream.get("write").is_none(), "absent if not issued");
    let read = &stream["read"];
    assert_eq!((read["ops"].as_u64(), read["errors"].as_u64()), (Some(400), Some(0)));
    assert_eq!(read["bytes"], 400 * 4096);
    assert_eq!(
        read["iops"],
        serde_json::json!({"value": 400.0, "low": null, "high": null, "n": 1})
    );
    assert_eq!(read["bandwidth_bytes_per_s"]["value"], 400.0 * 4096.0);
    assert!(read["submit_ns"].is_null() && read["response_ns"].is_null());
    let service = read["service_ns"].as_object().unwrap();
    for key in ["min", "mean", "max", "p50", "p90", "p99"] {
        assert_eq!(service[key].as_f64(), Some(1_000.0), "{key}");
    }
    assert!(service["p99_9"].is_null() && service["p99_99"].is_null());
    assert_eq!(json["cells"][0]["streams"][0]["read"]["iops"]["value"], 400.0);
}

/// Random I/Os, dealt to workers and intervals; the summary must not see how.
#[test]
fn the_summary_of_merged_tallies_is_that_of_the_union() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let workers = 1 + random.below(3) as u32;
        let (mut dealt, mut union) = (Bench::new(reads()), Bench::new(reads()));
        dealt.begin();
        let mut all: Option<Tally> = None;
        for worker in 0..workers {
            for interval in 0..1 + random.below(4) {
                let (from, to) = (interval * SECOND, (interval + 1) * SECOND);
                let mut part = tally(worker, from, to, 0);
                for _ in 0..random.below(400) {
                    part.kinds[0].ops += 1;
                    part.kinds[0].bytes += 512 * random.below(64);
                    let magnitude = random.below(40);
                    part.kinds[0].service.record(random.below(1 << magnitude));
                    part.in_flight_sum += random.below(8);
                }
                part.kinds[0].errors = match random.below(3) {
                    0 => Vec::new(),
                    n => vec![(Errno(n as i32), 1 + random.below(5))],
                };
                match &mut all {
                    Some(all) => all.merge(&part),
                    None => all = Some(part.clone()),
                }
                dealt.tally(part);
            }
        }
        let phases: Vec<Phase> = (0..workers).map(|w| phase(w, 0, 4 * SECOND)).collect();
        dealt.end(phases.clone());
        union.begin().tally(all.unwrap()).end(phases);
        let (dealt, union) = (dealt.summary(), union.summary());
        let (left, right) = (&dealt.steps[0].streams[0], &union.steps[0].streams[0]);
        assert_eq!(left.kinds, right.kinds, "seed {seed}");
        assert_eq!(left.total, right.total, "seed {seed}");
        assert_eq!(left.depth_reached, right.depth_reached, "seed {seed}");
        let merged = |summary: &Summary| {
            let kinds = &summary.cells[0].streams[0].kinds;
            kinds.get(&Action::Read).map(|read| read.merged.clone())
        };
        assert_eq!(merged(&dealt), merged(&union), "seed {seed}");
    }
}

mod interval;
mod kinds;
mod suspect;
