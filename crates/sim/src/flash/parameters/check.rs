//! What parameters must have in common to be a drive.

use super::Parameters;

impl Parameters {
    /// The first constraint that is not met, in a sentence.
    pub(super) fn check(&self) -> Result<(), String> {
        for (name, value) in [
            ("user_bytes", self.user_bytes),
            ("map_unit_bytes", self.map_unit_bytes),
            ("channels", u64::from(self.channels)),
            ("dies_per_channel", u64::from(self.dies_per_channel)),
            ("planes", u64::from(self.planes)),
            ("page_bytes", self.page_bytes),
            ("pages_per_program", u64::from(self.pages_per_program)),
            ("pages_per_block", u64::from(self.pages_per_block)),
            ("channel_bytes_per_s", self.channel_bytes_per_s),
            ("link_bytes_per_s", self.link_bytes_per_s),
            ("bits_per_cell", u64::from(self.bits_per_cell)),
        ] {
            if value == 0 {
                return Err(format!("{name} is 0 and must be at least 1"));
            }
        }
        if self.dies() > u32::from(u16::MAX) {
            return Err(format!(
                "channels times dies_per_channel is {} and must be at most {}",
                self.dies(),
                u16::MAX
            ));
        }
        let unit = self.map_unit_bytes;
        if !(512..=65_536).contains(&unit) || !unit.is_power_of_two() {
            return Err(format!(
                "map_unit_bytes is {unit} and must be a power of two from 512 to 65536"
            ));
        }
        if !self.program_bytes().is_multiple_of(unit) {
            return Err(format!(
                "map_unit_bytes is {unit} and must divide one program of a die, {} bytes",
                self.program_bytes()
            ));
        }
        if !self.pages_per_block.is_multiple_of(self.pages_per_program) {
            return Err(format!(
                "pages_per_block is {} and must be a multiple of pages_per_program, {}",
                self.pages_per_block, self.pages_per_program
            ));
        }
        self.check_stripe()?;
        self.check_buffers()?;
        self.check_relocations()?;
        self.check_spare()
    }

    fn check_stripe(&self) -> Result<(), String> {
        let programs = u64::from(self.pages_per_block / self.pages_per_program);
        let stripe = self.stripe_bytes;
        let is_whole = stripe.is_multiple_of(self.program_bytes())
            && (stripe == 0 || programs.is_multiple_of(stripe / self.program_bytes()));
        if !is_whole {
            return Err(format!(
                "stripe_bytes is {stripe} and must be whole programs of {} bytes that divide the \
                 {programs} of a block on one die",
                self.program_bytes()
            ));
        }
        let has_slc = self.slc_static_bytes > 0 || self.slc_dynamic_share > 0.0;
        if self.allocates_by_die && (has_slc || self.retention_retries > 0) {
            return Err("allocates_by_die goes with neither an SLC cache nor retention_retries; \
                        leave one of them out"
                .into());
        }
        Ok(())
    }

    fn check_buffers(&self) -> Result<(), String> {
        let least = 2 * self.program_bytes();
        if self.buffer_bytes < least {
            return Err(format!(
                "buffer_bytes is {} and must hold two programs of a die at least, {least} bytes",
                self.buffer_bytes
            ));
        }
        if self.combining_bytes > self.buffer_bytes - least {
            return Err(format!(
                "combining_bytes is {} and must leave room for two programs in the buffer of {} \
                 bytes",
                self.combining_bytes, self.buffer_bytes
            ));
        }
        let group = self.write_group_bytes;
        if !group.is_multiple_of(self.program_bytes()) || group > self.block_bytes() {
            return Err(format!(
                "write_group_bytes is {group} and must be whole programs of a die, {} bytes each, \
                 within a block of {} bytes",
                self.program_bytes(),
                self.block_bytes()
            ));
        }
        if (self.map_save_units == 0) != (self.map_save_bytes == 0) {
            return Err("map_save_units and map_save_bytes must both be given, or neither".into());
        }
        if (self.prefetch_bytes == 0) != (self.prefetch_streams == 0) {
            return Err("prefetch_bytes and prefetch_streams must both be given, or neither".into());
        }
        if !(0.0..=1.0).contains(&self.slc_dynamic_share) {
            return Err(format!(
                "slc_dynamic_share is {} and must lie between 0 and 1",
                self.slc_dynamic_share
            ));
        }
        if self.slow_program_ns > 0 && self.slow_program_ns < self.program_ns {
            return Err(format!(
                "slow_program_ns is {} and must be at least program_ns, {}",
                self.slow_program_ns, self.program_ns
            ));
        }
        let has_slc = self.slc_static_bytes > 0 || self.slc_dynamic_share > 0.0;
        if has_slc && self.slc_program_ns == 0 {
            return Err("slc_program_ns is 0 and must be given where there is an SLC cache".into());
        }
        if has_slc && self.collection_frontiers == 0 {
            return Err("collection_frontiers is 0 and must be at least 1 where there is an SLC \
                        cache"
                .into());
        }
        self.check_wear()
    }

    fn check_relocations(&self) -> Result<(), String> {
        let (own_ns, clock_ns) = (self.relocation_ns, self.relocation_interval_ns);
        if (own_ns > 0) != (clock_ns > 0 || self.relocation_interval_units > 0) {
            return Err("relocation_ns must be given with relocation_interval_ns or \
                        relocation_interval_units, or none of them"
                .into());
        }
        if clock_ns > 0 && own_ns >= clock_ns.saturating_mul(u64::from(self.dies())) {
            return Err(format!(
                "relocation_ns is {own_ns} and must be less than relocation_interval_ns times the \
                 {} dies, or a die would never be free",
                self.dies()
            ));
        }
        Ok(())
    }

    fn check_wear(&self) -> Result<(), String> {
        if self.read_retries + self.retention_retries > 0 && self.endurance_cycles == 0 {
            return Err(
                "endurance_cycles must be given where read_retries or retention_retries is".into(),
            );
        }
        if (self.retention_retries == 0) != (self.retention_days == 0) {
            return Err(
                "retention_retries and retention_days must both be given, or neither".into()
            );
        }
        if self.endurance_cycles > 0 && self.worn_cycles > self.endurance_cycles {
            return Err(format!(
                "worn_cycles is {} and must be at most endurance_cycles, {}",
                self.worn_cycles, self.endurance_cycles
            ));
        }
        let idle = self.idle_collection_blocks;
        if idle > 0 && idle <= self.collection_high_blocks {
            return Err(format!(
                "idle_collection_blocks is {idle} and must be above collection_high_blocks, {}",
                self.collection_high_blocks
            ));
        }
        Ok(())
    }

    fn check_spare(&self) -> Result<(), String> {
        if !(0.0..1.0).contains(&self.bad_block_share) {
            return Err(format!(
                "bad_block_share is {} and must lie between 0 and 1",
                self.bad_block_share
            ));
        }
        match (self.raw_bytes, self.spare) {
            (Some(_), Some(_)) => {
                Err("raw_bytes and spare both say how much flash there is; give one".into())
            }
            (None, None) => Err("raw_bytes or spare must say how much flash there is".into()),
            (None, Some(spare)) if !(0.01..=4.0).contains(&spare) => {
                Err(format!("spare is {spare} and must lie between 0.01 and 4"))
            }
            (Some(raw), None) if raw <= self.user_bytes => Err(format!(
                "raw_bytes is {raw} and must be more than user_bytes, {}",
                self.user_bytes
            )),
            _ => Ok(()),
        }
    }
}
