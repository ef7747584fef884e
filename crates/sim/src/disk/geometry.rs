//! Where a sector lies on a disk, and how the medium passes under the head.

/// Bytes of a sector.
pub const SECTOR_BYTES: u64 = 512;

/// Tracks in zones, from the outer edge inwards, with the skew that hides a switch of track.
#[derive(Debug, Clone)]
pub struct Geometry {
    heads: u64,
    cylinders: u64,
    rotation_ns: u64,
    head_skew_ns: u64,
    cylinder_skew_ns: u64,
    zones: Vec<Zone>,
}

#[derive(Debug, Clone, Copy)]
struct Zone {
    first_sector: u64,
    first_cylinder: u64,
    track_sectors: u64,
}

/// What a geometry is made from.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Bytes a host can address.
    pub user_bytes: u64,
    /// Surfaces that are used.
    pub heads: u64,
    /// Zones of equally many cylinders.
    pub zones: u64,
    /// Time of one turn.
    pub rotation_ns: u64,
    /// Bytes that pass under a head in a second, outermost zone.
    pub outer_bytes_per_s: u64,
    /// Bytes that pass under a head in a second, innermost zone.
    pub inner_bytes_per_s: u64,
    /// Time that a switch of head takes, with settling for a write.
    pub head_skew_ns: u64,
    /// Time that a step to the next cylinder takes, with settling for a write.
    pub cylinder_skew_ns: u64,
}

/// The place of a sector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Cylinder, 0 outermost.
    pub cylinder: u64,
    /// Surface.
    pub head: u64,
    /// Sector on its track.
    pub sector: u64,
    /// Sectors of that track.
    pub track_sectors: u64,
}

impl Geometry {
    /// The geometry of a shape. The number of cylinders follows from the bytes and the rates.
    ///
    /// # Errors
    /// When a rate leaves a track without a sector, or zones without a cylinder.
    pub fn new(shape: &Shape) -> Result<Self, String> {
        let track_sectors: Vec<u64> = (0..shape.zones)
            .map(|zone| {
                let steps = (shape.zones - 1).max(1);
                let lost = (shape.outer_bytes_per_s - shape.inner_bytes_per_s) * zone / steps;
                let turn_bytes = u128::from(shape.outer_bytes_per_s - lost)
                    * u128::from(shape.rotation_ns)
                    / 1_000_000_000;
                (turn_bytes / u128::from(SECTOR_BYTES)) as u64
            })
            .collect();
        if track_sectors.contains(&0) {
            return Err("inner_bytes_per_s must be at least one sector of 512 bytes a turn".into());
        }
        let sectors = shape.user_bytes.div_ceil(SECTOR_BYTES);
        let of_one_cylinder_each: u64 = track_sectors.iter().sum::<u64>() * shape.heads;
        let cylinders_by_zone = sectors.div_ceil(of_one_cylinder_each);
        let cylinders = cylinders_by_zone * shape.zones;
        if cylinders < 8 {
            return Err(format!(
                "user_bytes must fill at least 8 cylinders; {} bytes fill {cylinders}",
                shape.user_bytes
            ));
        }
        let mut first_sector = 0;
        let mut zones = Vec::with_capacity(track_sectors.len());
        for (index, &track_sectors) in track_sectors.iter().enumerate() {
            let first_cylinder = index as u64 * cylinders_by_zone;
            zones.push(Zone { first_sector, first_cylinder, track_sectors });
            first_sector += cylinders_by_zone * shape.heads * track_sectors;
        }
        Ok(Self {
            heads: shape.heads,
            cylinders,
            rotation_ns: shape.rotation_ns,
            head_skew_ns: shape.head_skew_ns,
            cylinder_skew_ns: shape.cylinder_skew_ns,
            zones,
        })
    }

    /// Cylinders.
    pub fn cylinders(&self) -> u64 {
        self.cylinders
    }

    /// Time of one turn.
    pub fn rotation_ns(&self) -> u64 {
        self.rotation_ns
    }

    /// Where a sector lies.
    #[inline]
    pub fn place(&self, sector: u64) -> Place {
        let index = self.zones.partition_point(|zone| zone.first_sector <= sector);
        let zone = &self.zones[index.saturating_sub(1)];
        let inside = sector - zone.first_sector;
        let track = inside / zone.track_sectors;
        Place {
            cylinder: zone.first_cylinder + track / self.heads,
            head: track % self.heads,
            sector: inside % zone.track_sectors,
            track_sectors: zone.track_sectors,
        }
    }

    /// The turn, in nanoseconds after the mark, at which a sector begins to pass its head.
    #[inline]
    pub fn turn_ns(&self, place: &Place) -> u64 {
        let head_switches = place.cylinder * (self.heads - 1) + place.head;
        let skew_ns = head_switches * self.head_skew_ns + place.cylinder * self.cylinder_skew_ns;
        (skew_ns + self.along_ns(place.sector, place.track_sectors)) % self.rotation_ns
    }

    /// Time from the beginning of a track to that of a sector.
    #[inline]
    fn along_ns(&self, sector: u64, track_sectors: u64) -> u64 {
        sector * self.rotation_ns / track_sectors
    }

    /// Time from the end of a track to the beginning of the next: its skew.
    #[inline]
    fn switch_ns(&self, place: &Place) -> u64 {
        if place.head + 1 < self.heads { self.head_skew_ns } else { self.cylinder_skew_ns }
    }

    /// How long `count` sectors from `first` on take to pass, from the moment when the first
    /// begins to pass: every track's share of a turn, and the switches between them.
    #[inline]
    pub fn pass_ns(&self, first: u64, count: u64) -> u64 {
        let mut place = self.place(first);
        let mut left = count;
        let mut at = first;
        let mut passed_ns = 0;
        while left > 0 {
            let here = left.min(place.track_sectors - place.sector);
            passed_ns += self.along_ns(place.sector + here, place.track_sectors)
                - self.along_ns(place.sector, place.track_sectors);
            left -= here;
            at += here;
            if left > 0 {
                passed_ns += self.switch_ns(&place);
                place = self.place(at);
            }
        }
        passed_ns
    }

    /// Time between the end of the sector before and the beginning of `sector`: the switch, where
    /// a track begins.
    #[inline]
    pub fn gap_ns(&self, sector: u64) -> u64 {
        match self.place(sector).sector {
            0 if sector > 0 => self.switch_ns(&self.place(sector - 1)),
            _ => 0,
        }
    }

    /// How many sectors from `first` on, at most `limit`, have passed wholly in `spent_ns`.
    pub fn passed_in(&self, first: u64, limit: u64, spent_ns: u64) -> u64 {
        let mut place = self.place(first);
        let mut passed = 0;
        let mut left_ns = spent_ns;
        while passed < limit {
            let here = place.track_sectors - place.sector;
            let begin_ns = self.along_ns(place.sector, place.track_sectors);
            let here_ns = self.rotation_ns - begin_ns;
            if left_ns < here_ns {
                let reached = (begin_ns + left_ns) * place.track_sectors / self.rotation_ns;
                return (passed + reached.saturating_sub(place.sector)).min(limit);
            }
            passed += here;
            left_ns = left_ns.saturating_sub(here_ns + self.switch_ns(&place));
            if left_ns == 0 {
                break;
            }
            place = self.place(first + passed);
        }
        passed.min(limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn geometry() -> Geometry {
        Geometry::new(&Shape {
            user_bytes: 1_000_000_000,
            heads: 2,
            zones: 4,
            rotation_ns: 8_000_000,
            outer_bytes_per_s: 64_000_000,
            inner_bytes_per_s: 32_000_000,
            head_skew_ns: 1_000_000,
            cylinder_skew_ns: 1_500_000,
        })
        .unwrap()
    }

    #[test]
    fn every_sector_has_a_place_of_its_own_and_they_follow_each_other() {
        let geometry = geometry();
        let mut last = geometry.place(0);
        assert_eq!((last.cylinder, last.head, last.sector, last.track_sectors), (0, 0, 0, 1_000));
        let mut track_changes = 0_u64;
        for sector in 1..1_953_125 {
            let place = geometry.place(sector);
            if place.sector > 0 {
                assert_eq!(place, Place { sector: last.sector + 1, ..last });
            } else {
                track_changes += 1;
                assert_eq!(last.sector + 1, last.track_sectors);
                let (head, cylinder) = match last.head {
                    0 => (1, last.cylinder),
                    _ => (0, last.cylinder + 1),
                };
                assert_eq!((place.head, place.cylinder), (head, cylinder));
            }
            last = place;
        }
        assert!(last.cylinder < geometry.cylinders());
        assert_eq!(last.track_sectors, 500);
        assert!(track_changes > 2_000);
    }

    #[test]
    fn what_follows_on_the_next_track_arrives_after_the_skew() {
        let geometry = geometry();
        for boundary in [1_000, 2_000, 3_000] {
            let before = geometry.place(boundary - 1);
            let after = geometry.place(boundary);
            let turned_ns = geometry.pass_ns(boundary - 1, 2) - geometry.pass_ns(boundary, 1);
            let expected_ns = geometry.turn_ns(&after) + 8_000_000 - geometry.turn_ns(&before);
            assert_eq!(turned_ns % 8_000_000, expected_ns % 8_000_000);
        }
        assert_eq!(geometry.pass_ns(0, 1_000), 8_000_000);
        assert_eq!(geometry.gap_ns(1_000), 1_000_000);
        assert_eq!(geometry.gap_ns(2_000), 1_500_000);
        assert_eq!((geometry.gap_ns(0), geometry.gap_ns(1_001)), (0, 0));
        assert_eq!(geometry.pass_ns(0, 2_001), 16_000_000 + 2_500_000 + 8_000);
    }

    #[test]
    fn what_passed_in_a_time_is_the_inverse_of_the_time_it_takes() {
        let geometry = geometry();
        for first in [0, 7, 999, 1_000, 1_500, 1_900_000] {
            for count in [1, 2, 63, 1_000, 2_345] {
                let spent_ns = geometry.pass_ns(first, count);
                assert_eq!(geometry.passed_in(first, u64::MAX, spent_ns), count, "{first} {count}");
                assert_eq!(geometry.passed_in(first, u64::MAX, spent_ns - 1), count - 1);
                assert_eq!(geometry.passed_in(first, 1, spent_ns), 1);
            }
        }
    }
}
