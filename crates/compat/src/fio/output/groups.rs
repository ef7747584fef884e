//! Reporting groups: what all of their jobs moved together.

use super::figures::{Block, Side, per_second};
use crate::fio::Unified;

/// A group.
#[derive(Debug, Clone, PartialEq)]
pub struct Group<'a> {
    /// Its number.
    pub number: u32,
    /// Its directions in which something was moved.
    pub totals: Vec<(&'static str, Total<'a>)>,
}

/// One direction of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Total<'a> {
    /// Bytes a second of all together.
    pub bytes_per_s: u64,
    /// The slowest job's.
    pub bytes_per_s_min: u64,
    /// The fastest job's.
    pub bytes_per_s_max: u64,
    /// Bytes that all moved.
    pub bytes: u64,
    /// Milliseconds that the first to end ran.
    pub runtime_ms_min: u64,
    /// Milliseconds that the last to end ran.
    pub runtime_ms_max: u64,
    /// The job whose units are used.
    pub style: &'a Block,
}

/// The groups of `blocks`, in order.
pub fn of(blocks: &[Block]) -> Vec<Group<'_>> {
    let mut numbers: Vec<u32> = blocks.iter().map(|block| block.group).collect();
    numbers.dedup();
    let group = |number: u32| {
        let members: Vec<&Block> = blocks.iter().filter(|block| block.group == number).collect();
        let each = ["read", "write", "trim"];
        let mut totals: Vec<(&str, Total<'_>)> =
            each.into_iter().filter_map(|word| Some((word, total(&members, word)?))).collect();
        match members.iter().any(|block| block.unified == Unified::Both) {
            true => totals.extend(together(&totals).map(|all| ("mixed", all))),
            false => totals.extend(total(&members, "mixed").map(|all| ("mixed", all))),
        }
        Group { number, totals }
    };
    numbers.into_iter().map(group).collect()
}

/// What all directions come to that are also printed each.
fn together<'a>(totals: &[(&str, Total<'a>)]) -> Option<Total<'a>> {
    let parts = || totals.iter().map(|(_, part)| part);
    Some(Total {
        bytes_per_s: parts().map(|part| part.bytes_per_s).sum(),
        bytes_per_s_min: parts().map(|part| part.bytes_per_s_min).min()?,
        bytes_per_s_max: parts().map(|part| part.bytes_per_s_max).max()?,
        bytes: parts().map(|part| part.bytes).sum(),
        runtime_ms_min: parts().map(|part| part.runtime_ms_min).min()?,
        runtime_ms_max: parts().map(|part| part.runtime_ms_max).max()?,
        style: parts().next()?.style,
    })
}

/// What the members of a group moved in one direction.
fn total<'a>(members: &[&'a Block], word: &str) -> Option<Total<'a>> {
    let shown = |block: &'a Block| block.shown().into_iter().find(|(its, _)| *its == word);
    let moved: Vec<(&'a Block, &'a Side)> = members
        .iter()
        .filter_map(|block| Some((*block, shown(block)?.1)))
        .filter(|(_, side)| side.runtime_ms > 0 && side.bytes > 0)
        .collect();
    let sides = || moved.iter().map(|(_, side)| *side);
    let bytes = sides().map(|side| side.bytes).sum();
    let runtime_ms_max = sides().map(|side| side.runtime_ms).max()?;
    Some(Total {
        bytes_per_s: per_second(bytes, runtime_ms_max),
        bytes_per_s_min: sides().map(Side::bytes_per_s).min()?,
        bytes_per_s_max: sides().map(Side::bytes_per_s).max()?,
        bytes,
        runtime_ms_min: sides().map(|side| side.runtime_ms).min()?,
        runtime_ms_max,
        style: moved.last()?.0,
    })
}

/// Whole KiB a second that the jobs of a group moved in one direction.
pub fn kib_per_s(blocks: &[Block], group: u32, word: &str) -> u64 {
    let members: Vec<&Block> = blocks.iter().filter(|block| block.group == group).collect();
    total(&members, word).map_or(0, |total| total.bytes_per_s >> 10)
}
