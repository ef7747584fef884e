//! What a drive has been through before its rounds, as far as a proof of its steady state needs it.
//!
//! Only what is known on a real drive too: what was written, what the kernel says of the drive.

use crate::facts::{Bound, DeviceFacts, Facts};
use crate::run::Run;
use drivelab_stats::steady::{Holder, Past, TURNS_FILLED};

/// Capacities that fill a drive and use up the most spare flash that drives have: so much must be
/// written also where rounds keep to a small part of it.
const WHOLE_TURNS: f64 = 1.5;
/// States in which every block was written.
const FILLED: [&str; 5] = ["filled", "random-filled", "random-steady", "fragmented", "aged"];
/// Transports behind which the kernel's word that a disk turns can be believed: virtual machines
/// say so of everything, bridges of some flash.
const TOLD_BY_DISKS: [&str; 2] = ["sata", "sas"];

/// Whether every block of a target in this state was written.
pub fn is_filled(state: &str) -> bool {
    FILLED.contains(&state)
}

/// What a run tells of its target before step `first`, for rounds in a region of its `bytes`, of
/// which eight write `turn_bytes`.
pub fn past(run: &Run, first: usize, bytes: u64, region_bytes: u64, turn_bytes: u64) -> Past {
    let began = run.begin.state.as_deref().unwrap_or("unknown");
    let ends = run.steps[..first.min(run.steps.len())].iter();
    let ledgers: Vec<_> = ends.filter_map(|step| step.end.as_ref()?.ledger.as_ref()).collect();
    let erases = ledgers.last().map_or(0, |ledger| ledger.erases);
    // What came before the last time that all of it was emptied counts no more.
    let since: Vec<_> = ledgers.iter().filter(|ledger| ledger.erases == erases).collect();
    let was_filled = erases == 0 && is_filled(began);
    let written = since.last().map_or(0, |ledger| ledger.written_since_erase_bytes) as f64;
    let known = written + if was_filled { bytes as f64 } else { 0.0 };
    let unit = (region_bytes.max(1) as f64).max(bytes as f64 * WHOLE_TURNS / TURNS_FILLED);
    Past {
        turns: known / unit,
        turn: turn_bytes as f64 / unit,
        is_filled: was_filled || since.iter().any(|ledger| is_filled(&ledger.state)),
        holder: holder(&run.begin.facts),
    }
}

/// What may hold the rate of a target.
pub fn holder(facts: &Facts) -> Holder {
    if let Some(known) = facts.target.simulated {
        return match known.bound {
            // Whatever stands in front of them, they are used up one day.
            Bound::Credits => Holder::Credits,
            // A page cache in front takes what it is given for as long as it has room.
            _ if known.page_cache_bytes.is_some() => Holder::Spare,
            Bound::Flash => Holder::Spare,
            Bound::Disk | Bound::Quota => Holder::Nothing,
        };
    }
    let devices = &facts.target.devices;
    let is_cloud = |device: &DeviceFacts| {
        device.model.as_deref().is_some_and(|model| model.contains("Elastic Block Store"))
    };
    let turns = |device: &DeviceFacts| {
        let transport = device.transport.as_deref().unwrap_or_default();
        device.rotational == Some(true) && TOLD_BY_DISKS.contains(&transport)
    };
    match devices.as_slice() {
        [] => Holder::Spare,
        devices if devices.iter().any(is_cloud) => Holder::Credits,
        [one] if turns(one) => Holder::Nothing,
        // Partitions and volumes have no transport; what lies at the bottom must turn.
        [.., disk] if turns(disk) && devices.iter().all(|it| it.rotational == Some(true)) => {
            Holder::Nothing
        }
        _ => Holder::Spare,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::SimulatedFacts;

    fn disk(rotational: bool, transport: &str) -> DeviceFacts {
        DeviceFacts {
            rotational: Some(rotational),
            transport: Some(transport.into()),
            ..DeviceFacts::default()
        }
    }

    fn of(devices: Vec<DeviceFacts>) -> Holder {
        let mut facts = Facts::default();
        facts.target.devices = devices;
        holder(&facts)
    }

    #[test]
    fn only_what_surely_turns_has_no_spare_flash() {
        assert_eq!(of(vec![]), Holder::Spare);
        assert_eq!(of(vec![disk(true, "sata")]), Holder::Nothing);
        assert_eq!(of(vec![disk(false, "sata")]), Holder::Spare);
        assert_eq!(of(vec![disk(true, "virtio")]), Holder::Spare, "they say so of everything");
        assert_eq!(of(vec![disk(true, "usb")]), Holder::Spare, "a bridge may not know");
        assert_eq!(of(vec![disk(true, ""), disk(true, "sas")]), Holder::Nothing);
        assert_eq!(of(vec![disk(true, ""), disk(false, "nvme"), disk(true, "sas")]), Holder::Spare);
        let model = Some("Amazon Elastic Block Store".into());
        assert_eq!(of(vec![DeviceFacts { model, ..disk(false, "nvme") }]), Holder::Credits);
        let simulated = |bound| {
            let mut facts = Facts::default();
            facts.target.simulated = Some(SimulatedFacts { bound, ..SimulatedFacts::default() });
            holder(&facts)
        };
        assert_eq!(simulated(Bound::Flash), Holder::Spare);
        assert_eq!(simulated(Bound::Quota), Holder::Nothing);
        assert_eq!(simulated(Bound::Credits), Holder::Credits);
        let mut cached = Facts::default();
        let page_cache_bytes = Some(1 << 26);
        let known =
            SimulatedFacts { bound: Bound::Credits, page_cache_bytes, ..Default::default() };
        cached.target.simulated = Some(known);
        assert_eq!(holder(&cached), Holder::Credits, "whatever stands in front of them");
    }
}
