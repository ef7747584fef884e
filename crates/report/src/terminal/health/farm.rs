//! What drives of Seagate's count besides, in few rows: what is told elsewhere and is the same is
//! left out.

use crate::units;
use drivelab_core::facts::{FarmFacts, WearFacts};
use drivelab_core::health::differ;
use drivelab_core::quantity::counted;

/// The rows, each with its name.
pub(super) fn rows(wear: &WearFacts) -> Vec<(&'static str, String)> {
    let Some(farm) = &wear.farm else { return Vec::new() };
    let rows = [
        ("FARM: its use", its_use(farm, wear)),
        ("FARM: commands", commands(farm, wear)),
        ("FARM: errors", errors(farm, wear)),
    ];
    rows.into_iter().filter(|(_, words)| !words.is_empty()).collect()
}

/// A count where nothing else tells it, or where that tells another one.
fn unless_told(own: Option<u64>, elsewhere: Option<u64>) -> Option<u64> {
    own.filter(|own| elsewhere.is_none_or(|elsewhere| differ(*own, elsewhere)))
}

fn its_use(farm: &FarmFacts, wear: &WearFacts) -> String {
    let hours = |words: &str, hours: Option<u64>| {
        hours.map(|hours| format!("{words} {} h", units::count(hours)))
    };
    // Where both tell hours and these differ, the state names both.
    let under_power = farm.power_on_hours.filter(|_| wear.power_on_hours.is_none());
    let date = farm.assembled_week.zip(farm.assembled_year);
    let loads = farm.head_loads.map(|loads| format!("loaded {}", super::times(loads)));
    let flight = [hours("in flight for", farm.head_flight_hours), loads];
    let flight: Vec<String> = flight.into_iter().flatten().collect();
    let parts = [
        date.map(|(week, year)| format!("assembled in week {week} of {year}")),
        hours("under power for", under_power),
        hours("spindle on for", farm.spindle_hours),
        (!flight.is_empty()).then(|| format!("heads {}", flight.join(" and "))),
        unless_told(farm.power_cycles, wear.power_cycles).map(|it| counted(it, "power cycle")),
        farm.emergency_unloads.map(|it| counted(it, "emergency unload")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn commands(farm: &FarmFacts, wear: &WearFacts) -> String {
    let written = unless_told(farm.written_bytes, wear.written_bytes);
    let read = unless_told(farm.read_bytes, wear.read_bytes);
    let parts = [
        farm.read_commands.map(|it| counted(it, "read")),
        farm.write_commands.map(|it| counted(it, "write")),
        written.map(|bytes| format!("{} written", units::capacity(bytes))),
        read.map(|bytes| format!("{} read", units::capacity(bytes))),
        farm.rated_workload_percent
            .map(|it| format!("{} % of the workload it is rated for", units::count(it))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn errors(farm: &FarmFacts, wear: &WearFacts) -> String {
    let hot = wear.hot_minutes.map(u64::from);
    let parts = [
        farm.unrecoverable_reads.map(|it| counted(it, "unrecoverable read")),
        farm.unrecoverable_writes.map(|it| counted(it, "unrecoverable write")),
        unless_told(farm.reallocated_sectors, wear.reallocated_sectors)
            .map(|it| format!("{} reallocated", counted(it, "sector"))),
        unless_told(farm.candidate_sectors, wear.pending_sectors)
            .map(|it| format!("{} that may be reallocated", counted(it, "sector"))),
        unless_told(farm.link_errors, wear.link_errors).map(|it| counted(it, "damaged transfer")),
        farm.command_timeouts.map(|it| counted(it, "command timeout")),
        unless_told(farm.hot_minutes, hot)
            .filter(|it| *it > 0)
            .map(|it| format!("{} too hot", counted(it, "minute"))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn farm() -> FarmFacts {
        FarmFacts {
            power_on_hours: Some(15_442),
            spindle_hours: Some(15_441),
            head_flight_hours: Some(15_392),
            head_loads: Some(229),
            emergency_unloads: Some(1),
            power_cycles: Some(29),
            assembled_year: Some(2019),
            assembled_week: Some(31),
            read_commands: Some(1_234_567),
            write_commands: Some(1),
            read_bytes: Some(30_000_000_000_000),
            written_bytes: Some(120_000_000_000_000),
            rated_workload_percent: Some(12),
            unrecoverable_reads: Some(0),
            unrecoverable_writes: Some(1),
            reallocated_sectors: Some(13),
            candidate_sectors: Some(4),
            link_errors: Some(5),
            command_timeouts: Some(6),
            hot_minutes: Some(7),
            ..FarmFacts::default()
        }
    }

    fn told(wear: WearFacts) -> Vec<String> {
        let rows = rows(&WearFacts { farm: Some(farm()), ..wear });
        rows.into_iter().map(|(name, words)| format!("{name}: {words}")).collect()
    }

    #[test]
    fn all_is_told_where_nothing_else_tells_it() {
        let expected = [
            "FARM: its use: assembled in week 31 of 2019, under power for 15,442 h, spindle on \
             for 15,441 h, heads in flight for 15,392 h and loaded 229 times, 29 power cycles, 1 \
             emergency unload",
            "FARM: commands: 1,234,567 reads, 1 write, 120 TB written, 30.0 TB read, 12 % of the \
             workload it is rated for",
            "FARM: errors: 0 unrecoverable reads, 1 unrecoverable write, 13 sectors reallocated, \
             4 sectors that may be reallocated, 5 damaged transfers, 6 command timeouts, 7 minutes \
             too hot",
        ];
        assert_eq!(told(WearFacts::default()), expected);
        assert_eq!(rows(&WearFacts::default()), []);
        let silent = WearFacts { farm: Some(FarmFacts::default()), ..WearFacts::default() };
        assert_eq!(rows(&silent), []);
    }

    #[test]
    fn no_number_is_told_twice() {
        let same = WearFacts {
            power_on_hours: Some(15_442),
            power_cycles: Some(29),
            read_bytes: Some(30_000_100_000_000),
            written_bytes: Some(119_900_000_000_000),
            reallocated_sectors: Some(13),
            pending_sectors: Some(4),
            link_errors: Some(5),
            hot_minutes: Some(7),
            ..WearFacts::default()
        };
        let words = told(same.clone()).join("; ");
        for gone in ["under power", "cycle", " read,", "TB", "reallocated", "may be", "too hot"] {
            assert!(!words.contains(gone), "{gone}: {words}");
        }
        let other = WearFacts {
            power_cycles: Some(2),
            written_bytes: Some(1_000_000_000_000),
            reallocated_sectors: Some(0),
            ..same
        };
        let words = told(other).join("; ");
        for there in ["29 power cycles", "120 TB written", "13 sectors reallocated"] {
            assert!(words.contains(there), "{there}: {words}");
        }
        assert!(!words.contains("TB read") && !words.contains("under power"), "{words}");
    }
}
