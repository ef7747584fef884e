//! The largest effects in words, each with what it means.

use super::cell::{Base, Cell, LARGE_BYTES, Pattern, pause};
use super::judge::{IN_ORDER, WRITES};
use super::unit;
use crate::experiment::Setting;
use drivelab_core::comparison::Cell as Heat;
use drivelab_core::findings::Findings;
use drivelab_core::quantity::{digits, percent, size};
use drivelab_stats::Verdict;
use std::collections::BTreeSet;

/// This many effects are told, the largest first, one of each pattern and direction.
const TOLD: usize = 5;
/// Writes off the grid that cost this much more are a reason to look at partitions.
const SHIFTED_COST: f64 = 1.3;
/// Two loads that reach less than this together hurt each other.
const TOGETHER: f64 = 0.8;

pub(super) fn conclude(
    setting: &Setting<'_>,
    judged: &[(Cell, Base, Heat)],
    findings: &mut Findings,
) {
    if judged.is_empty() {
        findings.no_answer = true;
        findings.want_more(
            "What any pattern does: no measurement is valid. Give a larger --time or --budget."
                .into(),
        );
        return;
    }
    let mut sound: Vec<(&Cell, &Heat, f64)> = judged
        .iter()
        .filter(|(_, _, heat)| heat.verdict == Some(Verdict::Changed))
        .filter_map(|(cell, _, heat)| Some((cell, heat, heat.ratio?.value)))
        .collect();
    sound.sort_by(|a, b| b.2.ln().abs().total_cmp(&a.2.ln().abs()));
    let unit = unit(setting);
    let (mut told, mut warned) = (BTreeSet::new(), BTreeSet::new());
    let is_of_pattern = |heat: &Heat| heat.name != IN_ORDER && heat.name != WRITES;
    findings.verdict.extend(pieces(judged));
    for (cell, heat, ratio) in &sound {
        if matches!(cell.pattern, Pattern::Across(..)) {
            continue;
        }
        let key = (cell.pattern.family(), cell.base.is_write(), heat.name == WRITES);
        match is_bad(**cell, *ratio) {
            true if warned.insert(key) => {
                findings.beware.push(sentence(**cell, heat, *ratio, unit));
            }
            false if told.len() < TOLD && told.insert(key) => {
                findings.verdict.push(sentence(**cell, heat, *ratio, unit));
            }
            _ => {}
        }
    }
    let count =
        |words: &[&str]| judged.iter().filter(|(_, _, heat)| words.contains(&heat.word())).count();
    let effects = sound.iter().filter(|(_, heat, _)| is_of_pattern(heat)).count();
    let mut summary = format!(
        "Of {} ratios {} lie outside {}, {} within it; {} inconclusive.",
        judged.len(),
        sound.len(),
        percent(setting.options.delta),
        count(&["identical", "negligible", "equivalent"]),
        count(&["cannot tell", "size unsettled"])
    );
    let without_noise = count(&["no noise"]);
    if without_noise > 0 {
        summary.push_str(&format!(
            " {without_noise} more differ between values that are all the same, as only a \
             simulated drive's are: chance had no part in them, and they are not judged."
        ));
    }
    findings.verdict.push(summary);
    if count(&["cannot tell", "size unsettled"]) * 2 > judged.len() {
        findings.no_answer = effects == 0;
        findings.unknown.push(
            "What most of the patterns do: the noise is too large to tell. `drivelab doctor` shows \
             what disturbs; a larger scale repeats more often."
                .into(),
        );
    }
}

/// The boundaries at which the drive splits requests: reads across every multiple of theirs and of
/// what is longer take longer, and those across what is shorter cost less than half of that, all
/// of them beyond doubt.
fn pieces(judged: &[(Cell, Base, Heat)]) -> Option<String> {
    let across = |(cell, _, heat): &(Cell, Base, Heat)| match cell.pattern {
        Pattern::Across(bytes, _) => Some((bytes, heat.clone())),
        _ => None,
    };
    let mut all: Vec<(u64, Heat)> = judged.iter().filter_map(across).collect();
    all.sort_by_key(|(bytes, _)| *bytes);
    let is_slower = |heat: &Heat| {
        heat.verdict == Some(Verdict::Changed) && heat.ratio.is_some_and(|it| it.value < 1.0)
    };
    let first = all.iter().position(|(_, heat)| is_slower(heat))?;
    let (shorter, longer) = all.split_at(first);
    let (bytes, heat) = longer.first().filter(|_| longer.iter().all(|it| is_slower(&it.1)))?;
    let ratio = heat.ratio?;
    let lows: Vec<Option<f64>> =
        shorter.iter().map(|(_, heat)| heat.ratio.map(|it| it.low.unwrap_or(it.value))).collect();
    let is_cheap = |low: &Option<f64>| low.is_some_and(|low| low > ratio.value.sqrt());
    if !lows.iter().all(is_cheap) {
        return None;
    }
    let interval = ratio.low.zip(ratio.high).map_or(String::new(), |(low, high)| {
        format!(" [{}, {}]", digits(1.0 / high), digits(1.0 / low))
    });
    let least = lows.into_iter().flatten().fold(f64::INFINITY, f64::min);
    let others = shorter.last().map_or(String::new(), |(shorter, _)| {
        let most = digits((1.0 / least).max(1.0));
        format!(", across odd multiples of {} or less at most {most} times", size(*shorter))
    });
    // Where the next shorter one was not measured soundly, it may be that one already.
    let is_next = shorter.last().is_some_and(|(shorter, _)| 2 * shorter == *bytes);
    let or_less = if is_next { "" } else { " or of less" };
    Some(format!(
        "Random reads of 8 KiB across odd multiples of {0} take {1} times{interval} as \
         long{others}: the drive splits requests at multiples of {0}{or_less}, as an array does at \
         its stripes and flash at its pages.",
        size(*bytes),
        digits(1.0 / ratio.value)
    ))
}

/// What hurts whoever does not know it.
fn is_bad(cell: Cell, ratio: f64) -> bool {
    match cell.pattern {
        Pattern::Shifted(_) => cell.base.is_write() && ratio < 1.0 / SHIFTED_COST,
        Pattern::Mixed(..) => ratio < TOGETHER,
        _ => false,
    }
}

fn sentence(cell: Cell, heat: &Heat, ratio: f64, unit: u64) -> String {
    let interval = heat.ratio.and_then(|it| Some((it.low?, it.high?)));
    let ends = |turn: bool| match interval {
        Some((low, high)) if turn => format!(" [{}, {}]", digits(1.0 / high), digits(1.0 / low)),
        Some((low, high)) => format!(" [{}, {}]", digits(low), digits(high)),
        None => String::new(),
    };
    let subject = subject(cell, heat, unit);
    let slower = ratio < 1.0;
    let cost = || format!("{} times{}", digits(1.0 / ratio), ends(true));
    let gain = || format!("{} times{}", digits(ratio), ends(false));
    let effect = match (cell.pattern, slower) {
        (Pattern::Plain, true) => format!("take {} as long", cost()),
        (Pattern::Plain, false) => format!("are {} as fast", gain()),
        (Pattern::Large, true) => format!("take {} as long as those of {}", cost(), size(unit)),
        (Pattern::Large, false) => format!("are {} as fast as those of {}", gain(), size(unit)),
        (pattern, _) if is_composite(pattern) => format!(
            "run at {} times{} the rate that the parts alone predict",
            digits(ratio),
            ends(false)
        ),
        (_, true) => format!("take {} as long", cost()),
        (_, false) => format!("are {} as fast", gain()),
    };
    let meaning = meaning(cell, ratio);
    match meaning.is_empty() {
        true => format!("{subject} {effect}."),
        false => format!("{subject} {effect}: {meaning}."),
    }
}

fn is_composite(pattern: Pattern) -> bool {
    matches!(
        pattern,
        Pattern::Reply | Pattern::WriteRead(_) | Pattern::SemiRandom(_) | Pattern::Mixed(..)
    )
}

fn subject(cell: Cell, heat: &Heat, unit: u64) -> String {
    let plural = |base: Base| {
        let words = base.words();
        format!("{}{}s", words[..1].to_uppercase(), &words[1..])
    };
    let base = plural(cell.base);
    match cell.pattern {
        Pattern::Plain if heat.name == WRITES => {
            let reads = if cell.base.is_random() { "random" } else { "sequential" };
            format!("{base} of {}, compared with {reads} reads,", size(unit))
        }
        Pattern::Plain => {
            format!("{base} of {}, compared with the same at random,", size(unit))
        }
        Pattern::Large => format!("{base} of 4 KiB"),
        Pattern::Sized(bytes) => format!("{base} of {}", size(bytes)),
        Pattern::First(count) => format!("{base} of {count} new addresses"),
        Pattern::Second(count) => {
            format!("{base} of {count} addresses that were all accessed just before")
        }
        Pattern::Grid(grid) if cell.base.is_random() => {
            format!("{base} of {} that keep to a grid of {}", size(unit), size(grid))
        }
        Pattern::Grid(grid) => {
            format!("{base} of {} with holes, one every {},", size(unit), size(grid))
        }
        Pattern::Shifted(by) => format!(
            "{base} of 4 KiB that are not aligned to {} (shifted by {})",
            size(LARGE_BYTES),
            size(by)
        ),
        Pattern::Delay(ns) => format!("{base} after a pause of {}", pause(ns)),
        Pattern::Reply if cell.base.is_write() => "Random writes, each followed by a read,".into(),
        Pattern::Reply => "Random reads, each followed by a write,".into(),
        Pattern::Replay(count) => format!("{base} of the same {count} addresses again and again"),
        Pattern::WriteRead(1) => "Random writes, each read back at once,".into(),
        Pattern::WriteRead(count) => {
            format!("Random writes, of which each {count} are read back at once,")
        }
        Pattern::Burst(count) => format!("{base} in bursts of {count}"),
        Pattern::BurstDelay(count, ns) => {
            format!("Bursts of {count} {}s after a pause of {}", cell.base.words(), pause(ns))
        }
        Pattern::SemiRandom(share) => format!("{base} with {share} % jumps"),
        Pattern::Mixed(..) => format!("Random reads with {}", cell.pattern.words()),
        Pattern::Apart(grid) => format!("{base} of 8 KiB, one in {}", size(grid)),
        Pattern::Across(bytes, _) => {
            format!("{base} of 8 KiB that lie across a multiple of {}", size(bytes))
        }
    }
}

/// Two areas cost more than one by a good part; less is the mean over a few that do.
fn off_the_grid(ratio: f64, is_write: bool) -> &'static str {
    match (ratio, is_write) {
        (1.0.., _) => "its own grid begins elsewhere",
        (_, _) if ratio > 1.0 / SHIFTED_COST => {
            "some of them span two areas, such as stripes; align partitions and records"
        }
        (_, true) => {
            "each spans two areas, and what is not overwritten of them must be read and written \
             again; align partitions and records to 4 KiB"
        }
        (_, false) => "each spans two areas; align partitions and records",
    }
}

/// What the slides and later drives read from such an effect.
fn meaning(cell: Cell, ratio: f64) -> &'static str {
    let (is_write, is_random) = (cell.base.is_write(), cell.base.is_random());
    match (cell.pattern, ratio < 1.0) {
        (Pattern::Plain | Pattern::Sized(_) | Pattern::First(_), _) => "",
        (Pattern::Apart(_) | Pattern::Across(..), _) => "",
        (Pattern::Large, true) => "small requests are worth it here",
        (Pattern::Large, false) => {
            "smaller requests make it read and write back what they only \
                                    touch in part"
        }
        (Pattern::Grid(_), true) if is_write && is_random => {
            "adjacent small writes are grouped in its memory, and the grid keeps them apart"
        }
        (Pattern::Grid(_), true) if is_write => {
            "what it joined while the order had no holes it now writes one by one"
        }
        (Pattern::Grid(_), true) if is_random => "the grid falls on fewer of its parts",
        (Pattern::Grid(_), true) => "what it reads ahead is wasted",
        (Pattern::Grid(_), false) => "a place at the beginning of an area is cheaper than others",
        (Pattern::Shifted(_), _) => off_the_grid(ratio, is_write),
        (Pattern::Delay(_), true) if is_write => {
            "it does not wake up at once, or no longer joins one write with the next"
        }
        (Pattern::Delay(_), true) => "it does not wake up at once, or loses what it had read ahead",
        (Pattern::Delay(_), false) if is_write => {
            "it uses the pause to clear its buffer or to collect"
        }
        (Pattern::Delay(_), false) => "it uses the pause to read ahead, or to end other work",
        (Pattern::Reply, true) => "the change of direction costs it time of its own",
        (Pattern::Reply, false) => "what is next to the last request comes cheaper",
        (Pattern::Replay(_) | Pattern::Second(_), false) if is_write => {
            "it merges overwrites in its memory, or finds whole blocks to erase"
        }
        (Pattern::Replay(_) | Pattern::Second(_), true) => {
            "accessing the same places again costs it more"
        }
        (Pattern::Replay(_) | Pattern::Second(_), false) => {
            "it keeps what it saw lately in its memory"
        }
        (Pattern::WriteRead(_), true) => "the read waits until the write has reached the medium",
        (Pattern::WriteRead(_), false) => "what was just written is read from its memory",
        (Pattern::Burst(_), true) => "concurrent requests obstruct each other",
        (Pattern::Burst(_), false) if !is_random => {
            "adjacent requests are merged on the way to it, or it works on several at once"
        }
        (Pattern::Burst(_), false) => "it works on several at once",
        (Pattern::BurstDelay(..), true) => "it does not wake up at once",
        (Pattern::BurstDelay(..), false) => {
            "a burst fits its memory if it may clear it between \
                                             two"
        }
        (Pattern::SemiRandom(_), true) => "the two orders drive each other out of its memory",
        (Pattern::SemiRandom(_), false) => {
            "a jump costs less than at random, or the order is \
                                            found again sooner than expected"
        }
        (Pattern::Mixed(..), true) => {
            "each write keeps the readers waiting beyond its own time; \
                                       `drivelab study mix` measures how long"
        }
        (Pattern::Mixed(..), false) => {
            "writes among reads are cheaper than alone, as where a \
                                        buffer takes them"
        }
    }
}
