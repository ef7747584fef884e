//! Block devices whose behaviour is planted, and the studies that should tell it: every sentence
//! that can be decided is compared with what the device counted.
#![allow(dead_code, reason = "a test and a bench use their own parts")]

pub mod case;
pub mod device;
pub mod plant;
pub mod said;
pub mod table;
mod told;

#[path = "../swarm/judged.rs"]
pub mod judged;

use case::Case;
use device::PlantedDevice;
use judged::{Class, Judged};
use plant::Counted;
use said::Said;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A case and what became of it.
pub struct Tried {
    pub case: Case,
    pub said: Said,
    pub counted: Counted,
    pub judged: Vec<Judged>,
    pub took: Duration,
}

impl Tried {
    /// How many sentences are of this class.
    pub fn count(&self, class: Class) -> usize {
        self.judged.iter().filter(|judged| judged.class == class).count()
    }
}

/// Makes the device, runs the command on it, and judges what it said.
pub fn tried(case: &Case) -> Tried {
    let begin = Instant::now();
    let device = PlantedDevice::new(case.plant.clone());
    let said = Said::of(case, &device);
    let counted = device.counted();
    let judged = told::judge(case, &said, &counted);
    Tried { case: case.clone(), said, counted, judged, took: begin.elapsed() }
}

/// Tries these cases, this many at a time; `see` hears of each.
pub fn all_of(cases: &[Case], at_a_time: usize, see: impl Fn(&Tried) + Sync) -> Vec<Tried> {
    let next = AtomicUsize::new(0);
    let all = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..at_a_time {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let tried = tried(case);
                    see(&tried);
                    all.lock().expect("all").push(tried);
                }
            });
        }
    });
    let mut all = all.into_inner().expect("all");
    all.sort_by_key(|tried| (tried.case.kind, tried.case.seed));
    all
}
