//! A controller that saves its tables to the flash again and again, and takes nothing meanwhile.

use super::drive::FlashDrive;
use super::parameters::Parameters;
use drivelab_core::op::Time;

/// When the tables are saved, and for how long that takes.
#[derive(Debug, Clone)]
pub(super) struct MapSaves {
    every_units: u64,
    next_at: u64,
    units: u64,
    save_ns: u64,
}

impl MapSaves {
    /// `None`: nothing is ever saved. The programs of a save go round all dies.
    pub(super) fn new(parameters: &Parameters) -> Option<Self> {
        let timing = parameters.timing();
        let rounds = parameters
            .map_save_bytes
            .div_ceil(parameters.program_bytes())
            .div_ceil(u64::from(parameters.dies()));
        (parameters.map_save_units > 0).then(|| MapSaves {
            every_units: parameters.map_save_units,
            next_at: parameters.map_save_units,
            units: parameters.map_save_bytes.div_ceil(parameters.map_unit_bytes),
            save_ns: rounds * (timing.program_ns + timing.program_transfer_ns),
        })
    }
}

impl FlashDrive {
    /// A write comes at `now` where `host_units` were written: the controller saves its tables
    /// first where it is time.
    #[inline]
    pub(super) fn save_map(&mut self, now: Time, host_units: u64) {
        let Some(saves) = &mut self.map_saves else { return };
        if host_units < saves.next_at {
            return;
        }
        saves.next_at = host_units + saves.every_units;
        self.firmware_free_at = self.firmware_free_at.max(now) + saves.save_ns;
        self.ftl.counts_mut().map_units += saves.units;
    }
}
