//! What `fio --output-format=json` wrote (version 3).
//!
//! Jobs of one name in one file are clones that ran side by side: their rates add up, their mean
//! latency is weighted by their I/Os, and their percentiles cannot be put together, so there are
//! none.

use drivelab_core::comparison::{Metric, Sample};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A percentile that fio prints differs from the one asked for by less than this.
const PERCENT_OFF_MAX: f64 = 1e-6;

#[derive(Deserialize)]
struct Output {
    #[serde(rename = "fio version")]
    version: String,
    #[serde(default)]
    jobs: Vec<Job>,
}

#[derive(Deserialize)]
struct Job {
    jobname: String,
    #[serde(default)]
    error: i64,
    #[serde(default)]
    read: Direction,
    #[serde(default)]
    write: Direction,
    #[serde(default)]
    trim: Direction,
}

impl Job {
    fn direction(&self, kind: &str) -> &Direction {
        match kind {
            "read" => &self.read,
            "write" => &self.write,
            _ => &self.trim,
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Direction {
    total_ios: u64,
    iops: f64,
    lat_ns: Latency,
    clat_ns: Latency,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Latency {
    mean: f64,
    percentile: BTreeMap<String, f64>,
}

impl Latency {
    fn at(&self, percent: f64) -> Option<f64> {
        let is_it = |text: &str| {
            text.parse::<f64>().is_ok_and(|value| (value - percent).abs() < PERCENT_OFF_MAX)
        };
        self.percentile.iter().find(|(text, _)| is_it(text)).map(|(_, value)| *value)
    }
}

/// Whether `text` looks like what fio wrote.
pub fn is_fio(text: &str) -> bool {
    text.contains("\"fio version\"")
}

/// The cells in `text`, one value each: a file is one run. `name` is for errors.
///
/// # Errors
/// What is wrong with the text.
pub fn samples(text: &str, name: &str, metrics: &[Metric]) -> Result<Vec<Sample>, String> {
    // fio prints notes before the object.
    let begin = text.find('{').unwrap_or(0);
    // With --status-interval it prints an object each time, of which the last holds everything.
    let mut last = None;
    for output in serde_json::Deserializer::from_str(&text[begin..]).into_iter::<Output>() {
        match (output, &last) {
            (Ok(output), _) => last = Some(output),
            // Notes may follow.
            (Err(_), Some(_)) => break,
            (Err(error), None) => return Err(format!("{name} is not what fio writes: {error}")),
        }
    }
    let output = last.ok_or_else(|| format!("{name} is not what fio writes: it is empty"))?;
    let major = output.version.trim_start_matches("fio-").split('.').next().unwrap_or_default();
    if !major.parse::<u32>().is_ok_and(|major| major >= 3) {
        return Err(format!("{name} is of {}; only fio 3 and later are read", output.version));
    }
    let mut found = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    for job in &output.jobs {
        if !names.contains(&job.jobname.as_str()) {
            names.push(&job.jobname);
        }
    }
    for job_name in names {
        let clones: Vec<&Job> = output.jobs.iter().filter(|job| job.jobname == job_name).collect();
        found.extend(of_clones(job_name, &clones, metrics));
    }
    match found.is_empty() {
        true => Err(format!("{name} holds no job that did any I/O")),
        false => Ok(found),
    }
}

fn of_clones(name: &str, clones: &[&Job], metrics: &[Metric]) -> Vec<Sample> {
    let failed = clones.iter().find(|job| job.error != 0);
    let suspect = failed.map(|job| format!("fio ended it with error {}", job.error));
    let mut found = Vec::new();
    for kind in ["read", "write", "trim"] {
        let of_kind = clones.iter().map(|job| job.direction(kind));
        let sides: Vec<&Direction> = of_kind.filter(|side| side.total_ios > 0).collect();
        for metric in metrics {
            let Some(value) = figure(*metric, &sides) else { continue };
            let name = format!("{name}, {kind}");
            let sample = Sample {
                name,
                metric: *metric,
                values: vec![value],
                is_ordered: false,
                suspect: suspect.clone(),
            };
            found.push(sample);
        }
    }
    found
}

fn figure(metric: Metric, sides: &[&Direction]) -> Option<f64> {
    let all: u64 = sides.iter().fold(0, |all, side| all.saturating_add(side.total_ios));
    let percentile = |percent: f64| match sides {
        // Completion latency, where fio keeps the total one without percentiles.
        [only] => only.lat_ns.at(percent).or_else(|| only.clat_ns.at(percent)),
        _ => None,
    };
    let value = match metric {
        _ if all == 0 => None,
        Metric::Iops => Some(sides.iter().map(|side| side.iops).sum()),
        Metric::MeanNs => {
            // fio can be told to leave out the one or both.
            let mean = |side: &Direction| {
                let means = [side.lat_ns.mean, side.clat_ns.mean];
                means.into_iter().find(|mean| *mean > 0.0)
            };
            let weighted = |side: &&Direction| Some(mean(side)? * side.total_ios as f64);
            let sum: Option<f64> = sides.iter().map(weighted).sum();
            sum.map(|sum| sum / all as f64)
        }
        Metric::P50Ns => percentile(50.0),
        Metric::P99Ns => percentile(99.0),
        Metric::P999Ns => percentile(99.9),
        Metric::Numbers => None,
    };
    value.filter(|value| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    const METRICS: [Metric; 3] = [Metric::Iops, Metric::MeanNs, Metric::P99Ns];

    fn job(name: &str, iops: f64, ios: u64, error: i64) -> String {
        format!(
            "{{\"jobname\": \"{name}\", \"error\": {error}, \"read\": {{\"total_ios\": {ios}, \
             \"iops\": {iops}, \"lat_ns\": {{\"mean\": 1000.0}}, \"clat_ns\": {{\"mean\": 900.0, \
             \"percentile\": {{\"50.000000\": 800, \"99.000000\": 2000}}}}}}, \
             \"write\": {{\"total_ios\": 0, \"iops\": 0.0}}}}"
        )
    }

    fn output(jobs: &[String]) -> String {
        format!(
            "fio: a note\n{{\"fio version\": \"fio-3.33\", \"jobs\": [{}]}}\nafterwards",
            jobs.join(", ")
        )
    }

    #[test]
    fn a_job_is_a_cell_of_each_kind_it_issued() {
        let found = samples(&output(&[job("a", 5e4, 100, 0)]), "x", &METRICS).unwrap();
        let shape: Vec<(&str, Metric, &[f64])> =
            found.iter().map(|it| (it.name.as_str(), it.metric, &it.values[..])).collect();
        assert_eq!(
            shape,
            [
                ("a, read", Metric::Iops, &[5e4][..]),
                ("a, read", Metric::MeanNs, &[1000.0]),
                ("a, read", Metric::P99Ns, &[2000.0]),
            ]
        );
    }

    #[test]
    fn clones_add_up_and_have_no_percentiles() {
        let text = output(&[job("a", 5e4, 100, 0), job("a", 3e4, 300, 0)]);
        let found = samples(&text, "x", &METRICS).unwrap();
        let shape: Vec<(Metric, &[f64])> =
            found.iter().map(|it| (it.metric, &it.values[..])).collect();
        assert_eq!(shape, [(Metric::Iops, &[8e4][..]), (Metric::MeanNs, &[1000.0])]);
    }

    #[test]
    fn a_failed_job_is_suspect_and_nonsense_is_refused() {
        let found = samples(&output(&[job("a", 5e4, 100, 5)]), "x", &METRICS).unwrap();
        assert_eq!(found[0].suspect.as_deref(), Some("fio ended it with error 5"));
        let old = output(&[job("a", 5e4, 100, 0)]).replace("fio-3.33", "fio-2.21");
        for (text, words) in [
            (old.as_str(), "x is of fio-2.21; only fio 3 and later are read"),
            ("{\"fio version\": \"fio-3.1\", \"jobs\": []}", "x holds no job that did any I/O"),
            ("{\"fio version\": 3}", "x is not what fio writes"),
            ("{\"fio version\": \"fio-3.1\", \"jobs\": [", "x is not what fio writes"),
            ("", "x is not what fio writes: it is empty"),
            ("fio: it is gone", "x is not what fio writes"),
        ] {
            let error = samples(text, "x", &METRICS).unwrap_err();
            assert!(error.starts_with(words), "{error}");
        }
        let first = output(&[job("a", 1.0, 1, 0)]).replace("afterwards", "");
        let both = first + output(&[job("a", 5e4, 100, 0)]).trim_start_matches("fio: a note");
        assert_eq!(samples(&both, "x", &METRICS).unwrap()[0].values, [5e4]);
        assert!(is_fio(&old) && !is_fio("{\"Begin\": {}}"));
    }
}
