//! The layouts `json` and `json+`.

use super::figures::{
    BOUNDS, Block, DIRECTIONS, Disk, OfPriority, Report, Said, Samples, Side, Timed, word,
};
use super::scale::date;
use super::steady::Steady;
use crate::fio::Unified;
use drivelab_core::op::SECOND;
use drivelab_core::plan::Rate;
use std::fmt::{self, Write};

/// A value that is printed as fio prints it.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Number(u64),
    Fraction(f64),
    Text(String),
    Object(Vec<(String, Value)>),
    List(Vec<Value>),
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Value::Number(value)
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Self {
        Value::Number(u64::from(value))
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Value::Fraction(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Value::Text(value.to_owned())
    }
}

/// An object that is being filled, in order.
#[derive(Debug, Default)]
struct Object(Vec<(String, Value)>);

impl Object {
    fn with(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.0.push((key.into(), value.into()));
        self
    }

    fn done(self) -> Value {
        Value::Object(self.0)
    }
}

impl Value {
    fn write(&self, indent: usize, to: &mut String) -> fmt::Result {
        match self {
            Value::Number(value) => write!(to, "{value}"),
            Value::Fraction(value) => write!(to, "{value:.6}"),
            Value::Text(text) => {
                let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
                write!(to, "\"{text}\"")
            }
            Value::Object(entries) => {
                let member = |(key, value): &(String, Value), to: &mut String| {
                    write!(to, "\"{key}\" : ")?;
                    value.write(indent + 1, to)
                };
                members(['{', '}'], entries, indent, member, to)
            }
            Value::List(values) => {
                let member = |value: &Value, to: &mut String| value.write(indent + 1, to);
                members(['[', ']'], values, indent, member, to)
            }
        }
    }
}

/// What stands between brackets, a line each; an empty line where there is nothing.
fn members<T>(
    [open, close]: [char; 2],
    all: &[T],
    indent: usize,
    member: impl Fn(&T, &mut String) -> fmt::Result,
    to: &mut String,
) -> fmt::Result {
    writeln!(to, "{open}")?;
    for (at, one) in all.iter().enumerate() {
        write!(to, "{:1$}", "", (indent + 1) * 2)?;
        member(one, to)?;
        to.push_str(if at + 1 < all.len() { ",\n" } else { "" });
    }
    write!(to, "\n{:1$}{close}", "", indent * 2)
}

/// The whole object; with all buckets of the latencies if `plus`.
pub fn results(report: &Report, plus: bool, to: &mut String) -> fmt::Result {
    let now_s = report.now_ms / 1000;
    let mut all = Object::default()
        .with("fio version", super::VERSION)
        .with("timestamp", now_s)
        .with("timestamp_ms", report.now_ms)
        .with("time", date(now_s).as_str());
    if !report.global.is_empty() {
        all = all.with("global options", options(&report.global));
    }
    all = all.with("jobs", Value::List(report.blocks.iter().map(|it| job(it, plus)).collect()));
    if !report.disks.is_empty() {
        all = all.with("disk_util", Value::List(report.disks.iter().map(below).collect()));
    }
    if let Some(said) = &report.said {
        all = all.with("drivelab", said_of(said));
    }
    all.done().write(0, to)?;
    writeln!(to)
}

/// What readers of fio pass over.
fn said_of(said: &Said) -> Value {
    let texts = |all: &[String]| Value::List(all.iter().map(|text| text.as_str().into()).collect());
    Object::default()
        .with("run", said.run.as_str())
        .with("suspect", texts(&said.suspect))
        .with("notes", texts(&said.notes))
        .done()
}

/// Options under fio's first name of each. Those typed without a value are not listed.
fn options(given: &[(String, String)]) -> Value {
    let listed = given.iter().filter(|(_, value)| !value.is_empty());
    let entry = |(name, value): &(String, String)| {
        let value = Value::Text(value.clone());
        (super::first_name(name).to_owned(), value)
    };
    Value::Object(listed.map(entry).collect())
}

fn job(block: &Block, plus: bool) -> Value {
    let errno = block.error.as_ref().map_or(0, |failure| failure.errno.unsigned_abs());
    let mut job = Object::default()
        .with("jobname", block.name.as_str())
        .with("groupid", block.group)
        .with("error", errno)
        .with("eta", 0_u64)
        .with("elapsed", block.elapsed_s);
    // Where a section says nothing of its own, fio leaves this out.
    if !block.options.is_empty() {
        job = job.with("job options", options(&block.options));
    }
    if block.unified != Unified::Mixed {
        for (way, side) in DIRECTIONS.iter().zip(&block.sides) {
            job = job.with(word(*way), direction(block, side, plus));
        }
        job = job.with("sync", syncs(block, plus));
    }
    if block.unified != Unified::None {
        job = job.with("mixed", direction(block, &block.mixed, plus));
    }
    job = job
        .with("job_runtime", block.job_runtime_ms)
        .with("usr_cpu", block.user_percent)
        .with("sys_cpu", block.system_percent)
        .with("ctx", block.switches)
        .with("majf", block.faults.0)
        .with("minf", block.faults.1);
    job = distributions(job, block);
    if block.counts_errors {
        job = job
            .with("total_err", block.errors)
            .with("first_error", block.first_error().0.unsigned_abs());
    }
    job = job
        .with("latency_depth", block.depth)
        .with("latency_target", 0_u64)
        .with("latency_percentile", 100.0)
        .with("latency_window", 0_u64);
    if let Some(description) = &block.description {
        job = job.with("desc", description.as_str());
    }
    if let Some(steady) = &block.steady {
        job = job.with("steadystate", steadiness(steady));
    }
    job.done()
}

/// fsync and its like; their percentiles are here only where others are.
fn syncs(block: &Block, plus: bool) -> Value {
    let mut timed = block.sync.clone();
    if !block.percentiles.completion && !block.percentiles.total {
        timed.percentiles.clear();
    }
    let count = timed.count;
    Object::default().with("total_ios", count).with("lat_ns", latency(&timed, plus)).done()
}

fn distributions(job: Object, block: &Block) -> Object {
    let words = |last: &str| BOUNDS.iter().map(u64::to_string).chain([last.to_owned()]);
    let levels = ["1", "2", "4", "8", "16", "32", ">=64"];
    let calls = ["0", "4", "8", "16", "32", "64", ">=64"];
    let (bounds, long) = (words(""), words("2000").chain([">=2000".to_owned()]));
    let bounds: Vec<String> = bounds.take(BOUNDS.len()).collect();
    let long: Vec<String> = long.collect();
    job.with("iodepth_level", shares(&levels, &block.depths, 0.1))
        .with("iodepth_submit", shares(&calls, &block.submitted, 0.1))
        .with("iodepth_complete", shares(&calls, &block.completed, 0.1))
        .with("latency_ns", shares(&bounds, &block.spread.ns, 0.01))
        .with("latency_us", shares(&bounds, &block.spread.us, 0.01))
        .with("latency_ms", shares(&long, &block.spread.ms, 0.01))
}

/// Shares in percent; one that is too small to be seen is printed as `least`.
fn shares<T: AsRef<str>>(bounds: &[T], shares: &[f64], least: f64) -> Value {
    let seen = |share: f64| if share > 0.0 { share.max(least) } else { 0.0 };
    let entry = |(bound, share): (&T, &f64)| (bound.as_ref().to_owned(), seen(*share).into());
    Value::Object(bounds.iter().zip(shares).map(entry).collect())
}

fn steadiness(steady: &Steady) -> Value {
    let list = |place: usize| {
        let one = |second: &[u64; 3]| Value::Number(second[place]);
        Value::List(steady.seconds.iter().map(one).collect())
    };
    let data = Object::default()
        .with("bw_mean", steady.mean(Rate::Bytes))
        .with("iops_mean", steady.mean(Rate::Operations));
    let data = match steady.level.of {
        Rate::Latency => data.with("lat_mean", steady.mean(Rate::Latency)).with("lat_ns", list(2)),
        _ => data,
    };
    let data = data.with("iops", list(0)).with("bw", list(1));
    Object::default()
        .with("ss", steady.asked().as_str())
        .with("duration", steady.level.window.0 / SECOND)
        .with("attained", u64::from(steady.attained))
        .with("criterion", steady.criterion().as_str())
        .with("max_deviation", steady.judgement.deviation_max)
        .with("slope", steady.judgement.slope)
        .with("data", data.done())
        .done()
}

fn direction(block: &Block, side: &Side, plus: bool) -> Value {
    let Samples { count, min, max, mean, deviation } = side.bandwidth;
    let iops = side.iops;
    let object = Object::default()
        .with("io_bytes", side.bytes)
        .with("io_kbytes", side.bytes >> 10)
        .with("bw_bytes", side.bytes_per_s())
        .with("bw", side.bytes_per_s() >> 10)
        .with("iops", side.operations_per_s())
        .with("runtime", side.runtime_ms)
        .with("total_ios", side.operations)
        .with("short_ios", 0_u64)
        .with("drop_ios", 0_u64)
        .with("slat_ns", latency(&side.submission, plus))
        .with("clat_ns", latency(&side.completion, plus))
        .with("lat_ns", latency(&side.total, plus));
    let object = match side.priorities.as_slice() {
        [] => object,
        several => {
            let is_total = block.percentiles.total;
            let each = several.iter().map(|one| of_priority(one, is_total, plus)).collect();
            object.with("prios", Value::List(each))
        }
    };
    object
        .with("bw_min", min)
        .with("bw_max", max)
        .with("bw_agg", side.share_percent)
        .with("bw_mean", mean)
        .with("bw_dev", deviation)
        .with("bw_samples", count)
        .with("iops_min", iops.min)
        .with("iops_max", iops.max)
        .with("iops_mean", iops.mean)
        .with("iops_stddev", iops.deviation)
        .with("iops_samples", iops.count)
        .done()
}

fn of_priority(one: &OfPriority, is_total: bool, plus: bool) -> Value {
    let object = Object::default()
        .with("prioclass", u32::from(one.class))
        .with("prio", u32::from(one.level));
    let object = match one.hint {
        0 => object,
        hint => object.with("priohint", u32::from(hint)),
    };
    object.with(if is_total { "lat_ns" } else { "clat_ns" }, latency(&one.timed, plus)).done()
}

fn latency(timed: &Timed, plus: bool) -> Value {
    let mut object = Object::default()
        .with("min", timed.min)
        .with("max", timed.max)
        .with("mean", timed.mean)
        .with("stddev", timed.deviation)
        .with("N", timed.count);
    if !timed.percentiles.is_empty() {
        let entry = |(percent, value): &(f64, u64)| (format!("{percent:.6}"), (*value).into());
        let entries = timed.percentiles.iter().map(entry).collect();
        object = object.with("percentile", Value::Object(entries));
        if plus {
            let entry = |(middle, count): (u64, u64)| (middle.to_string(), count.into());
            object = object.with("bins", Value::Object(timed.bins.iter().map(entry).collect()));
        }
    }
    object.done()
}

fn below(disk: &Disk) -> Value {
    let [reads, writes] = disk.operations;
    let [read_merges, write_merges] = disk.merges;
    let [read_ticks, write_ticks] = disk.ticks;
    Object::default()
        .with("name", disk.name.as_str())
        .with("read_ios", reads)
        .with("write_ios", writes)
        .with("read_merges", read_merges)
        .with("write_merges", write_merges)
        .with("read_ticks", read_ticks)
        .with("write_ticks", write_ticks)
        .with("in_queue", disk.in_queue)
        .with("util", disk.used_percent)
        .done()
}
