//! A simulated drive as the ranks see it that do not have it.

use drivelab_core::driver::Driver;
use drivelab_core::facts::Facts;
use drivelab_core::inside::Inside;
use drivelab_core::plan::{Act, SettingChange};
use drivelab_core::queue::{Finished, Sink, Testbed, Trouble};

/// Does nothing, in no time: rank 0 has the drive and all workers.
#[derive(Debug)]
pub struct IdleRank {
    facts: Facts,
}

impl IdleRank {
    pub fn new(facts: Facts) -> Self {
        IdleRank { facts }
    }
}

impl Testbed for IdleRank {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn run(&mut self, drivers: Vec<Driver>, _: &mut dyn Sink) -> Result<Vec<Finished>, Trouble> {
        match drivers.is_empty() {
            true => Ok(Vec::new()),
            false => Err(Trouble::defect("a worker has no simulated drive here")),
        }
    }

    fn act(&mut self, _: &Act) -> Option<Result<Option<SettingChange>, Trouble>> {
        Some(Ok(None))
    }

    fn inside(&mut self) -> Option<Inside> {
        Some(Inside::default())
    }
}
