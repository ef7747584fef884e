//! Why an empty drive fell early: a cause is named only if what tells it from the others was
//! measured.
//!
//! A cache takes as much again after a rest, and cares for bytes; what the drive writes again for
//! each small write shows as the size up to which a larger one costs no more; credits and heat hold
//! reads to the same rate as writes. Where two of these are seen, or none, the candidates are told.

use super::shown::Shown;
use crate::experiment::Setting;
use drivelab_core::findings::{Entry, Head, Table, Unit};
use drivelab_core::quantity::{capacity, digits, operations, size, time};

/// What was full, or how large the writes ought to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cause {
    /// A cache of this many bytes of these writes.
    Cache(f64),
    /// This many bytes are mapped, or programmed, at once.
    Unit(u64),
    /// This many bytes, a block, are written again.
    Block(u64),
    /// A quota that was higher while it had credits, or heat: both hold everything back.
    Credits,
}

/// A level came back if the rate reached this share of it …
const BACK: f64 = 0.9;
/// … and a cache if it held as much as before, within these factors.
const SAME_BYTES: (f64, f64) = (0.75, 1.33);
/// What returned is another thing than what had been full if it held less than this share: a cache
/// of the cells that are still empty comes back smaller.
const LESS: f64 = 0.1;
/// Nothing returned. A cache that shrinks as units are mapped may be gone when they are.
const NOTHING: f64 = 0.01;
/// Operations cost the same up to a size if none is slower than this share …
const FLAT: f64 = 0.85;
/// … and beyond it bytes are what costs, within this factor.
const BY_BYTES: f64 = 1.25;
/// Operations count still if twice the size moves this many times the bytes …
const DOUBLED: f64 = 1.7;
/// … or this many times, if the next sizes move hardly more: fixed costs and costs by the byte
/// together would go on to gain 29 %, and 51 % over two.
const STEEP: f64 = 1.45;
const FLAT_BEHIND: f64 = 1.15;
/// … and a write of a whole block costs so little more than a small one: it runs at least at this
/// share of its rate.
const HARDLY: f64 = 0.4;
/// Flash is mapped in units of at most this; what is larger is a block.
const UNIT_MAX: u64 = 64 << 10;
/// Where operations count up to this size nothing but a block explains it, seen to its end or not:
/// what is programmed at once is less.
const BLOCK_MIN: u64 = 256 << 10;
/// An empty drive of spare flash ρ falls after 1 + ρ capacities of whole units.
const PLACE: (f64, f64) = (1.0, 1.7);
/// What falls before this share of a capacity has spare flash left.
const BEFORE: f64 = 0.7;
/// Heat or a quota was behind it if reads, too, became this many times as fast by the rest: a full
/// cache of writes does not hold reads back.
const HELD_BACK: f64 = 1.25;
/// A quota holds everything to the same rate, within this.
const HELD: f64 = 0.015;

/// The size of a write up to which it costs no more than a small one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Knee {
    /// Bytes count from the smallest write on.
    None,
    /// Operations count up to this size, bytes from there on.
    At(u64),
    /// Neither.
    Unclear,
}

/// Where the rates by size turn from operations to bytes.
pub fn knee(sizes: &[(u64, f64)]) -> Knee {
    let Some((_, first)) = sizes.first().copied() else { return Knee::Unclear };
    let last_flat = sizes.iter().take_while(|(_, rate)| *rate >= FLAT * first).count() - 1;
    let bandwidth = |at: usize| sizes.get(at).map(|(bytes, rate)| *bytes as f64 * rate);
    if sizes[last_flat].0 >= BLOCK_MIN && last_flat + 2 >= sizes.len() {
        return Knee::At(sizes[last_flat].0);
    }
    let Some(here) = bandwidth(last_flat) else { return Knee::Unclear };
    let is_level = |at| {
        let factor = bandwidth(at).map(|other| other / here);
        factor.is_some_and(|factor| (1.0 / BY_BYTES..=BY_BYTES).contains(&factor))
    };
    match is_level(last_flat + 1) && is_level(last_flat + 2) {
        false => block(sizes).map_or(Knee::Unclear, Knee::At),
        true if last_flat == 0 => block(sizes).map_or(Knee::None, Knee::At),
        true => Knee::At(sizes[last_flat].0),
    }
}

/// The size of a block that is written again for each write into it: operations count up to it, but
/// for what the bytes cost next to. A cost for each operation and one for each byte make no such
/// corner.
fn block(sizes: &[(u64, f64)]) -> Option<u64> {
    let moved: Vec<f64> = sizes.iter().map(|(bytes, rate)| *bytes as f64 * rate).collect();
    let corner = |at: &usize| {
        let (into, out) = (moved[*at] / moved[at - 1], moved[at + 1] / moved[*at]);
        let beyond = moved.get(at + 2).map(|later| later / moved[*at]);
        let is_level = |factor: f64, most: f64| (1.0 / BY_BYTES..=most).contains(&factor);
        let is_sharp = into >= DOUBLED && is_level(out, BY_BYTES);
        let is_blunt = into >= STEEP
            && is_level(out, FLAT_BEHIND)
            && beyond.is_some_and(|later| is_level(later, BY_BYTES));
        let is_cheap = sizes[*at].1 >= HARDLY * sizes[0].1;
        (is_sharp || is_blunt) && is_cheap && sizes[*at].0 >= BLOCK_MIN
    };
    (1..moved.len().saturating_sub(1)).find(corner).map(|at| sizes[at].0)
}

impl Shown {
    /// How many times as long as the smallest write one of this many bytes takes.
    fn cost(&self, bytes: u64) -> Option<f64> {
        let (_, rate) = self.sizes.iter().find(|(size, _)| *size == bytes)?;
        Some(self.sizes.first()?.1 / rate)
    }
}

impl Cause {
    /// The cause that was shown, if one was.
    pub fn of(setting: &Setting<'_>, shown: &Shown) -> Option<Cause> {
        let Shown { low, reads: Some(reads), rested: Some(rested), sizes, has_moved, .. } = shown
        else {
            return None;
        };
        // Large writes may let credits grow, so that only those may have moved.
        let knee = if *has_moved { Knee::Unclear } else { knee(sizes) };
        let came_back = rested.rate >= BACK * low.before && rested.is_end_seen;
        let share = rested.bytes / low.bytes;
        if (reads / low.after - 1.0).abs() <= HELD {
            let eight = sizes.get(1).map(|(_, rate)| rate / sizes[0].1);
            let is_held =
                |rate: f64| (rate - 1.0).abs() <= HELD || (2.0 * rate - 1.0).abs() <= HELD;
            let is_credit = came_back && eight.is_some_and(is_held);
            return is_credit.then_some(Cause::Credits);
        }
        let has_returned = came_back && (SAME_BYTES.0..=SAME_BYTES.1).contains(&share);
        let is_other = rested.bytes < LESS * low.bytes;
        let has_held_reads = shown.reads_gained().is_none_or(|gained| gained > HELD_BACK);
        match knee {
            Knee::None if has_returned && !has_held_reads => Some(Cause::Cache(low.bytes)),
            // Units are used up when a capacity of them is: what was full before was not those.
            Knee::At(unit) if unit <= UNIT_MAX => {
                let units = low.bytes / 4096.0 * unit as f64 / setting.bytes() as f64;
                let is_there = (PLACE.0..=PLACE.1).contains(&units) && low.is_sharp;
                match (is_there, has_returned, rested.bytes < NOTHING * low.bytes) {
                    (true, _, true) => Some(Cause::Unit(unit)),
                    (false, true, _) if units < BEFORE && !has_held_reads => {
                        Some(Cause::Cache(low.bytes))
                    }
                    _ => None,
                }
            }
            Knee::At(block) if block >= BLOCK_MIN && is_other => Some(Cause::Block(block)),
            _ => None,
        }
    }

    /// The cause, and by what it is known.
    pub fn words(self, shown: &Shown) -> String {
        let rested = shown.rested;
        let rest = rested.map_or_else(String::new, |it| time(it.rest_ns as f64));
        let again = rested.map_or(0, |it| it.bytes as u64);
        match self {
            Cause::Cache(bytes) => format!(
                "It falls so early because a cache of about {} was full: after a rest of {rest} \
                 it took {} at {} before it fell again. {}, and reads were neither held to the \
                 rate of writes nor faster after the rest, so neither a large mapping unit nor a \
                 quota nor heat explains it.",
                capacity(bytes as u64),
                capacity(again),
                operations(rested.map_or(0.0, |it| it.rate)),
                match knee(&shown.sizes) {
                    Knee::At(unit) => format!(
                        "A write of 4 KiB costs as much as one of {}, but it fell before units of \
                         that size could be used up",
                        size(unit)
                    ),
                    _ => "Larger writes moved no more bytes".into(),
                }
            ),
            Cause::Unit(unit) => format!(
                "It falls so early because each write of 4 KiB takes up {} of flash, the unit in \
                 which the drive maps or programs: it costs as much as a write of {0}, and a rest \
                 brought nothing back.",
                size(unit)
            ),
            Cause::Block(block) => format!(
                "It falls so early because a small write makes the drive rewrite a block: one of \
                 {} takes only {} times as long as one of 4 KiB, and a rest did not bring the rate \
                 back for as long.",
                size(block),
                digits(shown.cost(block).unwrap_or(f64::NAN))
            ),
            Cause::Credits => format!(
                "It falls because the credits of a quota were spent, or the drive became \
                 too warm and slowed itself: reads were held to the same {} as writes, larger \
                 operations too, and after a rest of {rest} it was fast again for {}. The drive's \
                 temperature distinguishes the two.",
                operations(shown.low.after),
                capacity(again)
            ),
        }
    }
}

/// What may be behind an early fall of which no cause was shown, and what was seen of it.
pub fn candidates(shown: Option<&Shown>, is_early: bool) -> String {
    let mut text = String::from(match is_early {
        true => "Why it falls so early: an empty flash drive need not collect yet. ",
        false => "Why it falls there. ",
    });
    text.push_str(
        "A cache may have been full (it comes back after a rest), the drive may map more than 4 \
         KiB at once or whole blocks (larger writes then cost no more), the credits of a quota may \
         be spent (reads are then held to the same rate), the drive may have become too warm (see \
         its temperature), or it may have less flash than it says.",
    );
    let Some(Shown { low, reads, rested, sizes, has_moved, .. }) = shown else {
        text.push_str(" Nothing here distinguishes them.");
        return text;
    };
    if let Some(rested) = rested {
        let rest = time(rested.rest_ns as f64);
        let rate = operations(rested.rate);
        text.push_str(&match rested.bytes as u64 {
            0 => format!(" A rest of {rest} brought nothing back: then it ran at {rate}."),
            again => format!(
                " After a rest of {rest} it ran at {rate} for {} (at first for {}).",
                capacity(again),
                capacity(low.bytes as u64)
            ),
        });
    }
    if let Some(reads) = reads {
        let (reads, after) = (operations(*reads), operations(low.after));
        text.push_str(&format!(" Reads then came at {reads}, writes at {after}."));
    }
    let gained = shown.and_then(Shown::reads_gained).filter(|gained| *gained > HELD_BACK);
    if let Some(gained) = gained {
        text.push_str(&format!(
            " After the rest reads, too, were {} times as fast, as where the whole drive was held \
             back: by heat, by a quota, or by work of its own.",
            digits(gained)
        ));
    }
    text.push_str(match knee(sizes) {
        _ if sizes.is_empty() => {
            " How the rate depends on the size of writes was not seen; a larger --time and \
             --budget reach it."
        }
        _ if *has_moved => " While larger writes were tried, small ones came to another rate.",
        Knee::None => " Larger writes moved no more bytes.",
        Knee::At(_) => " Larger writes moved more bytes up to one size.",
        Knee::Unclear => " Larger writes moved more bytes, without one size that stands out.",
    });
    text.push_str(" That does not distinguish them.");
    text
}

/// Rates by size.
pub fn table(shown: &Shown) -> Option<Table> {
    let head = |name: &str, unit| Head { name: name.into(), unit };
    let row = |(bytes, rate): &(u64, f64)| {
        let moved = Entry::Number(*bytes as f64 * rate);
        vec![Entry::Text(size(*bytes)), Entry::Number(*rate), moved]
    };
    (!shown.sizes.is_empty()).then(|| Table {
        title: "Random writes by size, when the history had ended".into(),
        note: "Up to the size that the drive rewrites as a whole, a larger write takes no longer."
            .into(),
        heads: vec![
            head("size", None),
            head("rate", Some(Unit::Iops)),
            head("moved", Some(Unit::BytesPerS)),
        ],
        rows: shown.sizes.iter().map(row).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    use super::super::falling::Low;
    use super::super::shown::Rested;
    use crate::experiment::tests::{options, simulated};

    const CAPACITY: u64 = 256 << 20;

    /// A drive of 256 MiB that falls after `bytes` from 100,000 to 10,000 a second.
    fn shown(bytes: f64, again: f64, reads: f64, sizes: Vec<(u64, f64)>) -> Shown {
        let low = Low { bytes, before: 1e5, after: 1e4, is_sharp: true };
        let rested = Rested { rest_ns: 1, rate: 1e5, bytes: again, is_end_seen: true };
        let (reads_rested, has_moved) = (Some(reads), false);
        Shown { low, reads: Some(reads), reads_rested, rested: Some(rested), sizes, has_moved }
    }

    fn named(shown: &Shown) -> Option<Cause> {
        let (options, facts) = (options("wsat"), simulated());
        Cause::of(&Setting { options: &options, facts: &facts }, shown)
    }

    #[test]
    fn a_cause_takes_all_that_tells_it_from_the_others() {
        let capacity = CAPACITY as f64;
        let flat = || by_cost(|size| size);
        let cache = shown(2e7, 1.9e7, 5e4, flat());
        assert_eq!(named(&cache), Some(Cause::Cache(2e7)));
        assert_eq!(named(&shown(2e7, 0.9e7, 5e4, flat())), None, "less came back");
        assert_eq!(named(&shown(2e7, 1.9e7, 5e4, Vec::new())), None, "sizes were not tried");
        assert_eq!(named(&Shown { rested: None, ..cache.clone() }), None);
        assert_eq!(named(&Shown { reads: None, ..cache.clone() }), None);
        assert_eq!(named(&Shown { reads_rested: None, ..cache.clone() }), None);
        let heat = Shown { reads_rested: Some(7e4), ..cache.clone() };
        assert_eq!(named(&heat), None, "a rest made reads faster, too");
        assert!(candidates(Some(&heat), true).contains("reads, too, were 1.40 times as fast"));
        assert_eq!(named(&Shown { has_moved: true, ..cache.clone() }), None);
        let unit = || by_cost(|size| size.max(16384.0));
        let at_end = 1.1 * capacity / 4.0;
        assert_eq!(named(&shown(at_end, 1e5, 5e4, unit())), Some(Cause::Unit(16384)));
        let words = Cause::Unit(16384).words(&shown(at_end, 1e5, 5e4, unit()));
        assert!(words.contains("takes up 16 KiB of flash"), "{words}");
        assert_eq!(named(&shown(at_end, at_end, 5e4, unit())), None, "it came back as well");
        assert_eq!(named(&shown(at_end, 0.2 * at_end, 5e4, unit())), None, "a part came back");
        assert_eq!(named(&shown(1e7, 1e6, 5e4, unit())), None, "units were left");
        let before_units = shown(1e7, 1e7, 5e4, unit());
        assert_eq!(named(&before_units), Some(Cause::Cache(1e7)));
        let words = Cause::Cache(1e7).words(&before_units);
        assert!(words.contains("costs as much as one of 16 KiB, but it fell before"), "{words}");
        let words = Cause::Cache(2e7).words(&cache);
        assert!(words.contains("Larger writes moved no more bytes, and"), "{words}");
        let block = || by_cost(|size| size.max(524_288.0));
        assert_eq!(named(&shown(1e7, 5e5, 5e4, block())), Some(Cause::Block(512 << 10)));
        let words = Cause::Block(512 << 10).words(&shown(1e7, 5e5, 5e4, block()));
        assert!(words.contains("one of 512 KiB takes only 1.00 times as long as one of 4"));
        assert_eq!(named(&shown(1e7, 1e7, 5e4, block())), None, "a log that a rest empties");
        assert_eq!(named(&shown(1e7, 1e7, 1e4, unit())), Some(Cause::Credits));
        assert_eq!(named(&shown(1e7, 1e7, 1.1e4, block())), None, "reads are faster");
    }

    fn by_cost(cost: impl Fn(f64) -> f64) -> Vec<(u64, f64)> {
        (0..11).map(|power| 4096 << power).map(|size| (size, 1.0 / cost(size as f64))).collect()
    }

    #[test]
    fn a_corner_between_operations_and_bytes_is_found_and_nothing_else() {
        assert_eq!(knee(&by_cost(|size| size)), Knee::None);
        assert_eq!(knee(&by_cost(|size| size.max(16384.0))), Knee::At(16 << 10));
        // Part of a unit is read before it is written.
        let unit = |size: f64| if size < 32768.0 { 40_000.0 } else { size };
        assert_eq!(knee(&by_cost(unit)), Knee::At(32 << 10));
        // A cost for each operation next to the one for bytes.
        for fixed in [4e3, 16e3, 64e3, 256e3, 1e6] {
            let found = knee(&by_cost(|size| fixed + size));
            assert!(matches!(found, Knee::None | Knee::Unclear), "{fixed}: {found:?}");
        }
        assert_eq!(knee(&by_cost(|_| 1.0)), Knee::At(4 << 20));
        assert_eq!(knee(&by_cost(|_| 1.0)[..6]), Knee::Unclear);
        assert_eq!(knee(&[]), Knee::Unclear);
        // What a drive with a fully associative log did, blocks of 512 KiB.
        let log = [598.0, 388.0, 168.4, 104.2, 56.3, 40.9, 37.4, 39.0, 22.0];
        let log: Vec<(u64, f64)> = (0..).map(|power| 4096 << power).zip(log).collect();
        assert_eq!(knee(&log), Knee::Unclear, "one of 512 KiB takes 15 times as long");
        // Pages of six planes that are programmed together: nothing of it is a block.
        let pages = [1210.0, 1220.0, 1420.0, 792.0, 246.0, 186.0, 88.0, 47.5, 15.7];
        let pages: Vec<(u64, f64)> = (0..).map(|power| 4096 << power).zip(pages).collect();
        assert_eq!(knee(&pages), Knee::Unclear);
        // A map by block of 512 KiB.
        let by_block = [27.1, 26.8, 26.6, 25.0, 23.6, 20.4, 16.6, 12.6, 6.69, 3.59, 1.60];
        let by_block: Vec<(u64, f64)> = (0..).map(|power| 4096 << power).zip(by_block).collect();
        assert_eq!(knee(&by_block), Knee::At(512 << 10));
    }
}
