//! The latest figures as OpenMetrics text (OpenMetrics 1.0), which Prometheus and the textfile
//! collector of its node exporter read.

use crate::documents::{FeedInterval, FeedKind};
use drivelab_core::op::Action;
use drivelab_core::record::Begin;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What the text says of a run so far.
#[derive(Debug, Default)]
pub struct Metrics {
    labels: String,
    run: String,
    running: bool,
    steps: u32,
    totals: BTreeMap<Action, FeedKind>,
    latest: BTreeMap<(u32, Action), Latest>,
}

#[derive(Debug)]
struct Latest {
    labels: String,
    figures: FeedKind,
}

impl Metrics {
    /// A run begins.
    pub fn begin(&mut self, begin: &Begin) {
        let Begin { target, command, run, .. } = begin;
        self.labels = format!("target=\"{}\",command=\"{}\"", escaped(target), escaped(command));
        self.run = format!("{},run=\"{}\"", self.labels, escaped(run));
        self.running = true;
    }

    /// A step begins: what was last is of another one.
    pub fn step(&mut self) {
        self.steps += 1;
        self.latest.clear();
    }

    /// The run has ended.
    pub fn end(&mut self) {
        self.running = false;
        self.latest.clear();
    }

    /// Takes an interval into account; its rates only where they are of all workers.
    pub fn interval(&mut self, interval: &FeedInterval) {
        for (action, kind) in &interval.kinds {
            let total = self.totals.entry(*action).or_default();
            total.ops += kind.ops;
            total.bytes += kind.bytes;
            total.errors += kind.errors;
            if !interval.partial && !interval.ramp {
                let labels = format!(
                    "{},cell=\"{}\",stream=\"{}\",kind=\"{}\"",
                    self.labels,
                    escaped(&interval.name),
                    interval.stream,
                    action.word()
                );
                let latest = Latest { labels, figures: kind.clone() };
                self.latest.insert((interval.stream, *action), latest);
            }
        }
    }

    /// The text without its end, at this time in seconds since 1970.
    pub fn text(&self, now: f64) -> String {
        let mut text = String::new();
        let one = |value: f64| vec![(self.run.clone(), value)];
        let running = f64::from(u8::from(self.running));
        gauge(
            &mut text,
            "drivelab_running",
            "",
            "1 while the run lasts, 0 afterwards",
            one(running),
        );
        let steps = one(f64::from(self.steps));
        gauge(&mut text, "drivelab_steps_begun", "", "Steps of the run that have begun", steps);
        let name = "drivelab_updated_timestamp_seconds";
        gauge(&mut text, name, "seconds", "When this was written", one(now));
        self.counters(&mut text);
        self.rates(&mut text);
        family(
            &mut text,
            "drivelab_file_mark",
            "gauge",
            "",
            "Always 1; by the hash drivelab knows its own file again",
        );
        text
    }

    fn counters(&self, text: &mut String) {
        type Counter = (&'static str, &'static str, &'static str, fn(&FeedKind) -> u64);
        let counters: [Counter; 3] = [
            ("drivelab_operations", "", "Operations completed, ramps included", |kind| kind.ops),
            ("drivelab_transferred_bytes", "bytes", "Bytes of these", |kind| kind.bytes),
            ("drivelab_errors", "", "Operations that failed", |kind| kind.errors),
        ];
        for (name, unit, help, of) in counters {
            family(text, name, "counter", unit, help);
            for (action, kind) in &self.totals {
                let labels = format!("{},kind=\"{}\"", self.labels, action.word());
                let _ = writeln!(text, "{name}_total{{{labels}}} {}", of(kind));
            }
        }
    }

    fn rates(&self, text: &mut String) {
        let rows = |of: fn(&FeedKind) -> Option<f64>| -> Vec<(String, f64)> {
            let latest = self.latest.values();
            latest.filter_map(|it| Some((it.labels.clone(), of(&it.figures)?))).collect()
        };
        let name = "drivelab_operations_per_second";
        let help = "Rate in the latest whole interval of the step that runs";
        gauge(text, name, "", help, rows(|kind| Some(kind.ops_per_s)));
        let name = "drivelab_bytes_per_second";
        gauge(text, name, "", "Bandwidth in that interval", rows(|kind| Some(kind.bytes_per_s)));
        type Figure = (&'static str, &'static str, fn(&FeedKind) -> Option<f64>);
        let figures: [Figure; 4] = [
            ("mean", "Mean service time in that interval", |kind| {
                kind.service_ns.map(|it| it.mean)
            }),
            ("p99", "99th percentile, where the interval supports it", |kind| {
                kind.service_ns.and_then(|it| it.p99).map(|ns| ns as f64)
            }),
            ("p99_9", "99.9th percentile, where the interval supports it", |kind| {
                kind.service_ns.and_then(|it| it.p99_9).map(|ns| ns as f64)
            }),
            ("max", "Longest service time in that interval", |kind| {
                kind.service_ns.map(|it| it.max as f64)
            }),
        ];
        for (figure, help, of) in figures {
            let name = format!("drivelab_service_{figure}_seconds");
            let seconds = rows(of).into_iter().map(|(labels, ns)| (labels, ns / 1e9)).collect();
            gauge(text, &name, "seconds", help, seconds);
        }
    }
}

/// The head of a family of metrics.
pub fn family(text: &mut String, name: &str, kind: &str, unit: &str, help: &str) {
    let _ = writeln!(text, "# TYPE {name} {kind}");
    if !unit.is_empty() {
        let _ = writeln!(text, "# UNIT {name} {unit}");
    }
    let _ = writeln!(text, "# HELP {name} {help}.");
}

fn gauge(text: &mut String, name: &str, unit: &str, help: &str, rows: Vec<(String, f64)>) {
    family(text, name, "gauge", unit, help);
    for (labels, value) in rows {
        let _ = writeln!(text, "{name}{{{labels}}} {value}");
    }
}

/// A value of a label.
pub fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
