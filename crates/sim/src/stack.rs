//! What stands between the host and a simulated drive, as its name asks for it.

use crate::drive::Drive;
use crate::file_system::FileSystem;
use crate::fragmentation::Fragmented;
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
    /// The drive behind everything that was asked for. Alone it is built into its testbed; behind
    /// anything else it is called through a table, or each combination would be a program of its
    /// own.
    pub(crate) fn behind_all<D: Drive + 'static>(
        &self,
        drive: D,
        facts: Facts,
    ) -> Box<dyn Testbed> {
        let is_alone = self.fragmentation.is_none()
            && self.noise.is_empty()
            && self.thermal.is_none()
            && self.stalls.is_none()
            && self.queue_delays.is_empty()
            && self.page_cache_bytes.is_none()
            && self.file_system.is_none()
            && !self.has_names;
        match is_alone {
            true => Box::new(SimTestbed::new(drive, facts)),
            false => Box::new(SimTestbed::new(self.layered(Box::new(drive)), facts)),
        }
    }

    /// What wanders inside the drive comes first, what the host has last.
    fn layered(&self, mut drive: Box<dyn Drive>) -> Box<dyn Drive> {
        if let Some(how) = self.fragmentation {
            drive = Box::new(Fragmented::new(drive, how, self.honours_trim()));
        }
        if !self.noise.is_empty() {
            drive = Box::new(Noisy::new(drive, &self.noise, self.seed));
        }
        if let Some(how) = self.thermal {
            drive = Box::new(Warming::new(drive, how));
        }
        if let Some(stalls) = self.stalls {
            drive = Box::new(Stalling::new(drive, stalls, self.seed));
        }
        if !self.queue_delays.is_empty() {
            drive = Box::new(Delayed::new(drive, self.queue_delays.clone()));
        }
        if let Some(bytes) = self.page_cache_bytes {
            drive = Box::new(PageCache::new(drive, bytes));
        }
        if let Some(how) = self.file_system {
            drive = Box::new(FileSystem::new(how, drive));
        }
        if !self.has_names {
            return drive;
        }
        match Named::new(self.names, drive) {
            Ok(named) => Box::new(named),
            Err(_) => defect("a drive without room for names was not refused"),
        }
    }
}
