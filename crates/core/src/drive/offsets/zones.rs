//! Hot and cold zones of a region.

use crate::plan::Zone;
use crate::queue::Trouble;
use drivelab_stats::Random;

/// One zone, in slots, and where its share of the accesses ends.
#[derive(Debug, Clone, Copy)]
struct ZoneSlots {
    access_end: f64,
    first: u64,
    slots: u64,
}

/// The zones of a stream in a region of this many slots.
/// Zones in order, and the last one, which takes what rounding leaves.
#[derive(Debug, Clone)]
pub(super) struct Zones {
    all: Vec<ZoneSlots>,
    last: ZoneSlots,
}

impl Zones {
    /// The zones of a stream over this many slots.
    pub(super) fn new(zones: &[Zone], slots: u64) -> Result<Self, Trouble> {
        let all = in_slots(zones, slots)?;
        let last = all.last().copied();
        let last = last.ok_or_else(|| Trouble::usage("no zone of this stream has accesses"))?;
        Ok(Zones { all, last })
    }

    /// A slot: the zone by its accesses, within it uniform.
    pub(super) fn next(&self, random: &mut Random) -> u64 {
        let drawn = random.unit_f64();
        let zone = self.all.iter().find(|zone| drawn < zone.access_end).unwrap_or(&self.last);
        zone.first + random.below(zone.slots)
    }
}

fn in_slots(zones: &[Zone], slots: u64) -> Result<Vec<ZoneSlots>, Trouble> {
    let (mut addresses, mut accesses, mut first) = (0.0, 0.0, 0);
    let mut out = Vec::new();
    let rest = Zone {
        addresses: 1.0 - zones.iter().map(|zone| zone.addresses).sum::<f64>(),
        accesses: 1.0 - zones.iter().map(|zone| zone.accesses).sum::<f64>(),
    };
    for zone in zones.iter().chain([&rest]) {
        addresses += zone.addresses;
        accesses += zone.accesses;
        let end = libm::round(addresses.clamp(0.0, 1.0) * slots as f64) as u64;
        if zone.accesses <= 1e-12 {
            first = end;
            continue;
        }
        if end <= first {
            return Err(Trouble::usage(
                "a hot zone has accesses but not one whole block; enlarge the zone or the region",
            ));
        }
        debug_assert!(end <= slots, "a zone ends beyond the region");
        debug_assert!(accesses <= 1.0 + 1e-9, "zones have more than all accesses");
        out.push(ZoneSlots { access_end: accesses, first, slots: end - first });
        first = end;
    }
    Ok(out)
}
