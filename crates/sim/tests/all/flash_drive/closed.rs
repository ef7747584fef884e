//! A closed loop on one drive, and profiles as their bare values.

use drivelab_core::inside::Inside;
use drivelab_core::op::{Action, DataOp, Time};
use drivelab_sim::drive::{Drive, Ends, Ticket};
use drivelab_sim::flash::{FlashDrive, Parameters};
use drivelab_stats::Random;
use toml::{Table, Value};

pub const SECOND: f64 = 1e9;

/// The parameters of a profile, with some replaced.
pub fn profile(name: &str, changes: &str) -> Parameters {
    let path = format!("{}/../../profiles/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let profile: Table = toml::from_str(&text).unwrap();
    let mut values = Table::new();
    for (key, parameter) in profile["parameters"].as_table().unwrap() {
        values.insert(key.clone(), parameter["value"].clone());
    }
    values.extend(toml::from_str::<Table>(changes).unwrap());
    Value::Table(values).try_into().unwrap()
}

/// What a loop saw.
#[derive(Debug)]
pub struct Seen {
    pub operations: u64,
    pub elapsed_ns: Time,
    pub latency_sum_ns: u128,
    pub latency_max_ns: Time,
    pub latency_min_ns: Time,
    pub inside: Inside,
}

impl Seen {
    pub fn iops(&self) -> f64 {
        self.operations as f64 * SECOND / self.elapsed_ns as f64
    }

    pub fn latency_mean_ns(&self) -> f64 {
        self.latency_sum_ns as f64 / self.operations as f64
    }
}

/// A drive and its clock.
pub struct Closed {
    pub drive: FlashDrive,
    pub now: Time,
}

impl Closed {
    pub fn new(parameters: Parameters) -> Self {
        Closed { drive: FlashDrive::new(parameters, 1).unwrap(), now: 0 }
    }

    /// Keeps `depth` operations in flight until `count` have ended.
    pub fn run(&mut self, depth: u32, count: u64, mut next: impl FnMut(u32) -> DataOp) -> Seen {
        let mut ends = Ends::default();
        let before = self.drive.inside(self.now);
        let from = self.now;
        let mut issued = vec![self.now; depth as usize];
        for ticket in 0..depth {
            self.drive.submit(self.now, ticket as Ticket, &next(ticket), &mut ends);
        }
        let (mut sum, mut most, mut least) = (0u128, 0, Time::MAX);
        let (mut ended, mut submitted) = (0, u64::from(depth));
        while ended < count {
            let end = ends.pop(Time::MAX).unwrap();
            self.now = self.now.max(end.at);
            ended += 1;
            let latency = end.at - issued[end.ticket as usize];
            sum += u128::from(latency);
            most = most.max(latency);
            least = least.min(latency);
            if submitted < count {
                submitted += 1;
                issued[end.ticket as usize] = self.now;
                self.drive.submit(self.now, end.ticket, &next(end.ticket), &mut ends);
            }
        }
        Seen {
            operations: count,
            elapsed_ns: self.now - from,
            latency_sum_ns: sum,
            latency_max_ns: most,
            latency_min_ns: least,
            inside: self.drive.inside(self.now).since(&before),
        }
    }

    /// Random operations of `len` bytes, aligned to it.
    pub fn random(&mut self, action: Action, len: u32, depth: u32, count: u64, seed: u64) -> Seen {
        let mut random = Random::new(seed);
        let places = self.drive.bytes() / u64::from(len);
        self.run(depth, count, |_| op(action, random.below(places) * u64::from(len), len))
    }

    /// One stream of sequential operations from the beginning.
    pub fn sequential(&mut self, action: Action, len: u32, depth: u32, count: u64) -> Seen {
        let mut offset = 0;
        self.run(depth, count, |_| {
            offset += u64::from(len);
            op(action, offset - u64::from(len), len)
        })
    }
}

pub fn op(action: Action, offset: u64, len: u32) -> DataOp {
    DataOp { action, offset, len, ..DataOp::default() }
}

/// Says what was found, and fails where it is off.
pub fn assert_within(what: &str, found: f64, expected: f64, tolerance: f64) {
    let error = found / expected - 1.0;
    println!("{what}: {found:.2}, expected {expected:.2} ({:+.1} %)", 100.0 * error);
    assert!(error.abs() <= tolerance, "{what}: {found} is not {expected}");
}
