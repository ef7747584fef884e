//! Whether drivelab and fio report the same of one drive at one rate.

use crate::measure::Spread;
use crate::support::binary::{Laboratory, kind_of, must};
use crate::support::stalling_file::{Schedule, StallingFile};
use std::time::Duration;

const RATE: u32 = 1000;
const SECONDS: u32 = 10;
const ROUNDS: usize = 3;

/// One figure by both programs.
pub struct Figure {
    /// What, with its unit.
    pub name: &'static str,
    pub fio: Spread,
    pub drivelab: Spread,
    /// How far they may be apart, as a share; `None`: only published.
    pub within: Option<f64>,
}

impl Figure {
    /// drivelab's median over fio's, less 1.
    pub fn off(&self) -> f64 {
        self.drivelab.median / self.fio.median - 1.0
    }
}

/// fio's buckets are 1/64 of an octave wide at most, ours 1/1024: what both may be off by.
const HISTOGRAMS: f64 = 1.0 / 64.0 + 1.0 / 1024.0;

/// Both at a fixed rate, alternating, on a file that answers in 200 µs.
pub fn measure() -> Vec<Figure> {
    let drive = StallingFile::mount(Schedule::default());
    let path = drive.path();
    let path = path.to_str().expect("UTF-8");
    let (mut fio, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        fio.push(by_fio(path));
        ours.push(by_drivelab(path));
    }
    let limits = [
        ("IOPS", Some(0.02)),
        ("mean, ns", Some(0.02)),
        ("p50, ns", Some(HISTOGRAMS)),
        ("p90, ns", Some(HISTOGRAMS)),
        ("p99, ns", None),
    ];
    let limits = limits.into_iter().enumerate();
    let figure = |(index, (name, within)): (usize, (&'static str, Option<f64>))| Figure {
        name,
        fio: Spread::of(fio.iter().map(|values: &[f64; 5]| values[index])),
        drivelab: Spread::of(ours.iter().map(|values: &[f64; 5]| values[index])),
        within,
    };
    limits.map(figure).collect()
}

fn by_fio(path: &str) -> [f64; 5] {
    let rate = format!("--rate_iops={RATE}");
    let runtime = format!("--runtime={SECONDS}");
    let file = format!("--filename={path}");
    let fixed = ["--name=peer", "--thread", "--norandommap", "--randrepeat=0", "--time_based"];
    let more = ["--bs=4k", "--rw=randread", "--ioengine=psync", "--direct=1", "--size=64m"];
    let form = ["--output-format=json", "--percentile_list=50:90:99", "--lat_percentiles=1"];
    let line = fixed.into_iter().chain(more).chain(form).chain([&*rate, &*runtime, &*file]);
    let text = must("fio", line);
    let json: serde_json::Value =
        serde_json::from_str(&text[text.find('{').expect("JSON")..]).expect("fio's JSON");
    let read = &json["jobs"][0]["read"];
    let latency = &read["lat_ns"];
    let number = |value: &serde_json::Value| value.as_f64().expect("a number of fio");
    let share = |key: &str| number(&latency["percentile"][key]);
    let means = [number(&read["iops"]), number(&latency["mean"])];
    [means[0], means[1], share("50.000000"), share("90.000000"), share("99.000000")]
}

fn by_drivelab(path: &str) -> [f64; 5] {
    let (rate, runtime) = (RATE.to_string(), SECONDS.to_string());
    let line = ["run", path, "--rw", "randread", "--bs", "4k", "--engine", "psync", "--depth", "1"];
    let more = ["--rate", &rate, "--runtime", &runtime, "--json"];
    let limit = Duration::from_secs(60);
    let outcome = Laboratory::new().run(line.into_iter().chain(more), limit).expect_status(0);
    let json = outcome.json();
    let read = kind_of(&json, "read");
    let number = |value: &serde_json::Value| value.as_f64().expect("a number of drivelab");
    let service = |key: &str| number(&read["service_ns"][key]);
    [
        number(&read["iops"]["value"]),
        service("mean"),
        service("p50"),
        service("p90"),
        service("p99"),
    ]
}
