//! What a study takes of a drive's life: its budget next to what the drive is rated to bear.

use super::Setting;
use drivelab_core::facts::DeviceFacts;
use drivelab_core::lifetime::rated_from_wear;
use drivelab_core::quantity::{capacity, count, percent};

/// A study may take this share of a drive's life without being told to.
const SHARE_MAX: f64 = 0.01;

/// How much a drive is rated to bear.
#[derive(Debug, Clone, PartialEq)]
pub struct Rated {
    /// Bytes of the host.
    pub bytes: f64,
    /// Where the figure comes from.
    pub because: String,
}

/// From what was said, what the drive tells, or what the cells of a simulated one bear.
pub fn rated(setting: &Setting<'_>) -> Option<Rated> {
    let target = &setting.facts.target;
    if let Some(said) = setting.options.rated {
        return Some(Rated { bytes: said.0 as f64, because: "as --rated says".into() });
    }
    let disks = || target.devices.iter().filter(|device| is_drive(device));
    let told = disks().next().and_then(used_and_written).filter(|_| disks().count() == 1);
    let flash = target.simulated.and_then(|known| known.flash).filter(|it| it.cycles_left > 0);
    match (told, flash) {
        (Some((used, written)), _) => Some(Rated {
            bytes: rated_from_wear(written as f64, used)?,
            because: format!(
                "estimated: the drive counts {used} % as used after {}",
                capacity(written)
            ),
        }),
        (None, Some(flash)) => Some(Rated {
            bytes: flash.bytes as f64 * f64::from(flash.cycles_left),
            because: format!(
                "{} cycles, if nothing is written twice",
                count(flash.cycles_left.into())
            ),
        }),
        (None, None) => None,
    }
}

/// Percent used and bytes written, where a drive tells both.
fn used_and_written(disk: &DeviceFacts) -> Option<(u32, u64)> {
    let wear = disk.wear.as_ref()?;
    wear.used_percent.zip(wear.written_bytes)
}

/// A drive, and no layer above or part of one.
fn is_drive(device: &DeviceFacts) -> bool {
    device.layer == "disk" && device.rotational != Some(true)
}

/// What the budget takes of it at most, in words; `None` where nothing wears.
pub fn forecast(setting: &Setting<'_>) -> Option<String> {
    match rated(setting) {
        Some(rated) => Some(format!(
            "at most {} of its rated endurance of {} ({})",
            percent(setting.options.budget.0 as f64 / rated.bytes),
            capacity(rated.bytes as u64),
            rated.because
        )),
        None if setting.facts.target.devices.iter().any(is_drive) => {
            Some("its rated endurance is not known; --rated SIZE, such as 600TB, tells".into())
        }
        None => None,
    }
}

/// Why the budget that nobody named is too much for this drive, if it is.
pub fn too_much(setting: &Setting<'_>) -> Option<String> {
    let rated = rated(setting).filter(|_| !setting.is_simulated())?;
    let budget = setting.options.budget;
    let share = budget.0 as f64 / rated.bytes;
    (share > SHARE_MAX).then(|| {
        format!(
            "`{}` may write {} here, {} of the drive's rated endurance of {} ({}); more than {} is \
             written only on request",
            setting.options.name,
            capacity(budget.0),
            percent(share),
            capacity(rated.bytes as u64),
            rated.because,
            percent(SHARE_MAX)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::facts::{Facts, FlashFacts, SimulatedFacts, TargetKind, WearFacts};
    use drivelab_core::study::StudyOptions;
    use drivelab_core::units::Size;

    const TB: u64 = 1_000_000_000_000;

    fn worn(used_percent: u32, written_bytes: u64) -> Facts {
        let wear = Some(WearFacts {
            used_percent: Some(used_percent),
            written_bytes: Some(written_bytes),
            ..WearFacts::default()
        });
        let disk = DeviceFacts { layer: "disk".into(), wear, ..DeviceFacts::default() };
        let mut facts = Facts::default();
        facts.target.kind = TargetKind::BlockDevice;
        facts.target.devices = vec![disk];
        facts
    }

    fn said(facts: &Facts, budget: u64, rated: Option<u64>) -> (String, String) {
        let (budget, rated) = (Size(budget), rated.map(Size));
        let options =
            StudyOptions { name: "wsat".into(), budget, rated, ..StudyOptions::default() };
        let setting = Setting { options: &options, facts };
        (forecast(&setting).unwrap_or_default(), too_much(&setting).unwrap_or_default())
    }

    #[test]
    fn a_budget_beyond_a_hundredth_is_named() {
        let unworn = worn(0, TB);
        let (forecast, refusal) = said(&unworn, 6 * TB, Some(600 * TB));
        assert!(forecast.contains("1.0 % of its rated endurance of 600 TB"), "{forecast}");
        assert_eq!(refusal, "", "exactly a hundredth");
        let (_, refusal) = said(&unworn, 7 * TB, Some(600 * TB));
        assert!(refusal.contains("may write 7.00 TB here, 1.2 % of"), "{refusal}");
    }

    #[test]
    fn a_drive_tells_by_its_wear_once_there_is_some() {
        let (forecast, refusal) = said(&worn(5, 30 * TB), 7 * TB, None);
        assert!(forecast.contains("600 TB (estimated: the drive counts 5 % as used"), "{forecast}");
        assert!(refusal.contains("1.2 %"), "{refusal}");
        let (forecast, refusal) = said(&worn(0, TB), 700 * TB, None);
        assert!(forecast.contains("not known; --rated"), "{forecast}");
        assert_eq!(refusal, "", "what is not known refuses nothing");
        let mut silent = worn(5, 30 * TB);
        silent.target.devices[0].wear.as_mut().expect("wear").written_bytes = None;
        assert!(said(&silent, 700 * TB, None).0.contains("not known"));
        let mut array = worn(5, 30 * TB);
        array.target.devices.push(array.target.devices[0].clone());
        assert!(said(&array, 700 * TB, None).0.contains("not known"));
    }

    #[test]
    fn a_simulated_drive_has_its_cycles_and_is_never_worn_out() {
        let mut facts = Facts::default();
        facts.target.kind = TargetKind::Simulated;
        assert_eq!(said(&facts, TB, None).0, "", "a disk wears not");
        let flash = FlashFacts { bytes: TB, unit_bytes: 4096, cycles_left: 3000, cells: None };
        facts.target.simulated =
            Some(SimulatedFacts { flash: Some(flash), ..SimulatedFacts::default() });
        let (forecast, refusal) = said(&facts, 400 * TB, None);
        assert!(forecast.contains("13 % of its rated endurance of 3.00 PB"), "{forecast}");
        assert_eq!(refusal, "");
    }
}
