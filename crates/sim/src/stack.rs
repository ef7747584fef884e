//! What stands between the host and a simulated drive, as its name asks for it.

use crate::drive::Drive;
use crate::file_system::FileSystem;
use crate::names::Named;
use crate::noise::Noisy;
use crate::page_cache::PageCache;
use crate::queue_delay::Delayed;
use crate::stalls::Stalling;
use crate::target::SimTarget;
use crate::testbed::SimTestbed;
use crate::thermal::Warming;
use drivelab_core::defect::defect;
use drivelab_core::facts::Facts;
use drivelab_core::queue::Testbed;

impl SimTarget {
    /// The drive behind everything that was asked for: what wanders inside it first.
    pub(crate) fn wandering<D: Drive + 'static>(&self, drive: D, facts: Facts) -> Box<dyn Testbed> {
        match self.noise.as_slice() {
            [] => self.warming(drive, facts),
            noise => self.warming(Noisy::new(Box::new(drive), noise, self.seed), facts),
        }
    }

    fn warming<D: Drive + 'static>(&self, drive: D, facts: Facts) -> Box<dyn Testbed> {
        match self.thermal {
            None => self.stalling(drive, facts),
            Some(how) => self.stalling(Warming::new(Box::new(drive), how), facts),
        }
    }

    fn stalling<D: Drive + 'static>(&self, drive: D, facts: Facts) -> Box<dyn Testbed> {
        match self.stalls {
            None => self.behind_queue(drive, facts),
            Some(stalls) => {
                self.behind_queue(Stalling::new(Box::new(drive), stalls, self.seed), facts)
            }
        }
    }

    fn behind_queue<D: Drive + 'static>(&self, drive: D, facts: Facts) -> Box<dyn Testbed> {
        match self.queue_delays.as_slice() {
            [] => self.behind_cache(drive, facts),
            planted => self.behind_cache(Delayed::new(Box::new(drive), planted.to_vec()), facts),
        }
    }

    fn behind_cache<D: Drive + 'static>(&self, drive: D, facts: Facts) -> Box<dyn Testbed> {
        match self.page_cache_bytes {
            None => self.behind_file_system(drive, facts),
            Some(bytes) => self.behind_file_system(PageCache::new(drive, bytes), facts),
        }
    }

    fn behind_file_system<D: Drive + 'static>(&self, drive: D, facts: Facts) -> Box<dyn Testbed> {
        match self.file_system {
            None => self.with_names(drive, facts),
            Some(how) => self.with_names(FileSystem::new(how, drive), facts),
        }
    }

    fn with_names<D: Drive + 'static>(&self, drive: D, facts: Facts) -> Box<dyn Testbed> {
        match self.has_names {
            true => self.named(Box::new(drive), facts),
            false => Box::new(SimTestbed::new(drive, facts)),
        }
    }

    fn named(&self, drive: Box<dyn Drive>, facts: Facts) -> Box<dyn Testbed> {
        match Named::new(self.names, drive) {
            Ok(named) => Box::new(SimTestbed::new(named, facts)),
            Err(_) => defect("a drive without room for names was not refused"),
        }
    }
}
