//! What work of collection and pieces of a map cost the controller.

use super::drive::FlashDrive;
use crate::memory::NONE;
use drivelab_core::op::Time;

impl FlashDrive {
    /// Controller time of the pieces of a read.
    #[inline]
    pub(super) fn pieces_ns(&mut self, at: Time, first: u32, end: u32) -> u64 {
        match self.parameters.firmware_piece_ns {
            0 => 0,
            piece_ns => piece_ns * u64::from(self.pieces(at, first, end)),
        }
    }

    /// Pieces of a read beyond the first: units that do not lie behind the one before them, without
    /// those that are in memory or nowhere.
    #[cold]
    fn pieces(&mut self, at: Time, first: u32, end: u32) -> u32 {
        let (mut pieces, mut before) = (0, NONE);
        for logical in first..end {
            let unit = self.ftl.locate(logical);
            if unit == NONE || self.buffer.holds(logical, at) || self.is_in_memory(at, logical) {
                before = NONE;
                continue;
            }
            pieces += u32::from(before != NONE && !self.flash.lies_behind(unit, before));
            before = unit;
        }
        pieces
    }

    fn is_in_memory(&mut self, at: Time, logical: u32) -> bool {
        !self.is_plain && self.find_in_memory(at, logical).is_some()
    }

    /// The controller has brought about the copies that a write made room with, where `copied`
    /// units had been copied before it.
    #[inline]
    pub(super) fn pay_for_copies(&mut self, copied: u64) {
        let unit_ns = self.parameters.firmware_copy_unit_ns;
        if unit_ns > 0 {
            let copies = self.ftl.counts.collection_units - copied;
            self.firmware_free_at += copies * unit_ns;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::drive::{Drive, Ends, Way};
    use crate::flash::{FlashDrive, Parameters};
    use drivelab_core::op::{Action, DataOp, Time};

    const UNIT: u64 = 4096;

    /// Two dies on two channels, programs of one unit, flash that is quick but for reads of 100 us.
    fn drive(more: &str) -> FlashDrive {
        let text = format!(
            "user_bytes = {}\nspare = 0.5\nmap_unit_bytes = 4096\nchannels = 2\n\
             dies_per_channel = 1\nplanes = 1\npage_bytes = 4096\npages_per_block = 8\n\
             read_ns = 100000\nprogram_ns = 1\nerase_ns = 1\nchannel_bytes_per_s = 4096000000000\n\
             link_bytes_per_s = 4096000000000\ncommand_ns = 0\nfirmware_read_ns = 0\n\
             firmware_write_ns = 10\nbuffer_bytes = 8192\nearly_completion = true\n{more}",
            128 * UNIT
        );
        let parameters: Parameters = toml::from_str(&text).unwrap();
        FlashDrive::new(parameters, 1).unwrap()
    }

    fn serve(drive: &mut FlashDrive, at: Time, action: Action, unit: u64, units: u64) -> Time {
        let mut ends = Ends::default();
        let (offset, len) = (unit * UNIT, (units * UNIT) as u32);
        let op = DataOp { action, offset, len, ..DataOp::default() };
        drive.submit_by(at, 0, &op, Way::default(), &mut ends);
        ends.next_at()
    }

    /// How long a read of the first eight units takes, in whole microseconds, after they were
    /// written in order and these again.
    fn read_us(more: &str, again: &[u64]) -> u64 {
        let mut drive = drive(more);
        let order: Vec<u64> = (0..16).chain(again.iter().copied()).collect();
        for (place, unit) in order.iter().enumerate() {
            serve(&mut drive, place as u64 * 10_000, Action::Write, *unit, 1);
        }
        (serve(&mut drive, 1_000_000, Action::Read, 0, 8) - 1_000_000) / 1000
    }

    #[test]
    fn a_stripe_is_sensed_page_by_page_on_its_die() {
        assert_eq!(read_us("", &[]), 400, "four pages on each of two dies");
        assert_eq!(read_us("stripe_bytes = 16384", &[]), 400, "two stripes of four pages");
        assert_eq!(read_us("stripe_bytes = 32768", &[]), 800, "one of eight");
        // Behind eight others the last four go to the other die.
        let again = [20, 21, 22, 23, 24, 25, 26, 27, 4, 5, 6, 7];
        assert_eq!(read_us("stripe_bytes = 32768", &again), 400);
    }

    fn assert_pieces(more: &str, again: &[u64], pieces: u64) {
        let costs = format!("{more}firmware_piece_ns = 7000\n");
        let extra_us = read_us(&costs, again) - read_us(more, again);
        assert_eq!(extra_us, 7 * pieces, "{more}: {again:?}");
    }

    #[test]
    fn each_piece_beyond_the_first_costs_its_time() {
        for more in ["", "stripe_bytes = 8192\n"] {
            assert_pieces(more, &[], 0);
            assert_pieces(more, &[0], 1);
            assert_pieces(more, &[3], 2);
            assert_pieces(more, &[2, 3], 2);
            assert_pieces(more, &[2, 5], 4);
        }
        // With blocks of its own a die has its turn wherever it puts a stripe.
        for (again, pieces) in [(&[][..], 0), (&[0], 0), (&[3], 2), (&[2, 3], 0)] {
            assert_pieces("allocates_by_die = true\n", again, pieces);
        }
    }

    #[test]
    fn copies_take_the_controller_where_a_profile_says_so() {
        let all_at_once = |more: &str| {
            let mut drive = drive(more);
            let mut random = drivelab_stats::Random::new(3);
            for _ in 0..4_000 {
                serve(&mut drive, 0, Action::Write, random.below(128), 1);
            }
            (drive.firmware_free_at, drive.ftl.inside().collection_units)
        };
        let (free_at, copied) = all_at_once("");
        let (paid_at, copied_too) = all_at_once("firmware_copy_unit_ns = 500\n");
        assert!(copied > 500 && copied == copied_too, "{copied} and {copied_too}");
        // The first comes over the link for 1 ns; from then on the controller never rests.
        assert_eq!((free_at, paid_at), (1 + 4_000 * 10, 1 + 4_000 * 10 + 500 * copied));
    }
}
