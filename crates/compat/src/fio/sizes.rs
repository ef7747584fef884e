//! Sizes of requests: one, a range or a list, each with its share.

use super::settings::Settings;
use drivelab_core::op::Action;
use drivelab_core::plan::{Stream, WeightedSize};
use drivelab_core::units::Size;

/// Sizes that a range is divided into at most.
pub const SIZES_MAX: u64 = 64;

/// Sizes of reads, writes and trims with their shares.
fn size_lists(settings: &Settings) -> [Vec<(u64, u32)>; 3] {
    let lists = match (&settings.bssplit, settings.bsrange) {
        (Some(split), _) => split.each_ref().map(|list| in_multiples(list)),
        (None, Some(range)) => range.map(ranged),
        (None, None) => settings.bs.map(|bs| vec![(bs, 1)]),
    };
    // What is trimmed first is written in the same blocks.
    match settings.rw.is_trimmed_first() {
        true => [lists[0].clone(), lists[2].clone(), lists[2].clone()],
        false => lists,
    }
}

/// Sizes of requests; one alone where that is so.
pub fn apply(settings: &Settings, stream: &mut Stream) {
    let kinds = [Action::Read, Action::Write, Action::Trim];
    let weights = [stream.mix.read, stream.mix.write, stream.mix.trim];
    let issued: Vec<usize> = (0..3).filter(|place| weights[*place] > 0).collect();
    let lists = size_lists(settings);
    if let (None, Some(range)) = (&settings.bssplit, settings.bsrange) {
        // Where several sizes are taken for one, places are still those of the smallest.
        let low = issued.iter().map(|place| range[*place].0).min();
        let is_thinned = issued.iter().any(|place| lists[*place][0].0 != range[*place].0);
        stream.align = stream.align.or(low.filter(|_| is_thinned).map(Size));
    }
    let first = &lists[issued.first().copied().unwrap_or(0)];
    let alike = issued.iter().all(|place| lists[*place] == *first);
    match (alike, first.as_slice()) {
        (true, [(bytes, _)]) => stream.size = Size(*bytes),
        (true, several) => {
            let entry = |(bytes, weight): &(u64, u32)| WeightedSize {
                size: Size(*bytes),
                weight: *weight,
                kind: None,
            };
            stream.sizes = several.iter().map(entry).collect();
        }
        (false, _) => {
            for place in issued {
                let entry = |(bytes, weight): &(u64, u32)| WeightedSize {
                    size: Size(*bytes),
                    weight: *weight,
                    kind: Some(kinds[place]),
                };
                stream.sizes.extend(lists[place].iter().map(entry));
            }
        }
    }
}

/// Sizes of a list with their shares. fio rounds each down to a multiple of the smallest one.
fn in_multiples(list: &[(u64, u32)]) -> Vec<(u64, u32)> {
    let least = list.iter().map(|(bytes, _)| *bytes).min().unwrap_or(1).max(1);
    let mut all: Vec<(u64, u32)> = Vec::with_capacity(list.len());
    for (bytes, weight) in list {
        let bytes = bytes / least * least;
        match all.iter_mut().find(|(other, _)| *other == bytes) {
            Some((_, sum)) => *sum = sum.saturating_add(*weight),
            None => all.push((bytes, *weight)),
        }
    }
    all
}

/// Sizes of a range with their shares. fio draws a number up to the largest size and rounds it up
/// to a multiple of the smallest one; what is above the largest is that.
fn ranged((low, high): (u64, u64)) -> Vec<(u64, u32)> {
    let (count, rest) = (high / low.max(1), high % low.max(1));
    let unit = greatest_divisor(low, rest).max(1);
    let weight = |bytes: u64| u32::try_from(bytes / unit).unwrap_or(u32::MAX);
    let step = count.div_ceil(SIZES_MAX).max(1);
    let group = |first: u64| {
        let last = (first + step - 1).min(count);
        (low * (first + last).div_ceil(2), weight(low * (last + 1 - first)))
    };
    let whole = (1..=count).step_by(step as usize).map(group);
    whole.chain((rest > 0).then(|| (high, weight(rest)))).collect()
}

fn greatest_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { greatest_divisor(other, one % other) }
}

/// Whether the order is that of a map whose blocks have the smallest size, the same of all kinds.
/// A rate in bytes is kept by the mean size, which a map does not have.
pub fn have_map(settings: &Settings) -> bool {
    let lists = size_lists(settings);
    let mut issued = lists.iter().zip(settings.rw.kinds).filter(|(_, is_issued)| *is_issued);
    let first = issued.next().map(|(list, _)| list);
    let is_one_list = issued.all(|(list, _)| Some(list) == first);
    let least = first.into_iter().flatten().map(|(bytes, _)| *bytes).min();
    let is_aligned = settings.ba.is_none_or(|align| least.is_some_and(|least| align <= least));
    let has_rate = settings.has_rate(&settings.rate);
    !settings.norandommap && is_one_list && is_aligned && !has_rate
}
