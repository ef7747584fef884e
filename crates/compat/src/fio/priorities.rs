//! Requests that have a priority of their own: `cmdprio_percentage` and what belongs to it.

use super::reading::Given;
use super::settings::{Settings, Wrong};
use super::value::{BadValue, by_direction, number};
use super::words::STATUS;
use crate::front::{Note, Refusal, Treatment};
use drivelab_core::op::Action;
use drivelab_core::plan::{IoClass, IoPriority, RequestPriority, Stream};
use drivelab_core::units::Size;

/// Engines whose requests carry a priority.
const CARRIERS: [&str; 2] = ["libaio", "io_uring"];

const PERCENT: BadValue = BadValue::wants("a share from 0 to 100, or two: of reads,of writes");
const CLASS: BadValue = BadValue::wants("1 (realtime), 2 (best effort) or 3 (idle)");
const LEVEL: BadValue = BadValue::wants("0, the highest, to 7");
const HINT: BadValue = BadValue::wants("0, none, to 1023");
const SPLIT: BadValue = BadValue::wants(
    "SIZE/PERCENT, SIZE/PERCENT/CLASS/LEVEL or SIZE/PERCENT/CLASS/LEVEL/HINT, with : between them",
);

/// What a job says of the priorities of its requests; of reads, of writes, and, without a meaning,
/// of trims.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Priorities {
    /// `cmdprio_percentage`.
    percent: [u32; 3],
    /// `cmdprio_class`; absent: realtime.
    class: [Option<IoClass>; 3],
    /// `cmdprio`.
    level: [u8; 3],
    /// `cmdprio_hint`.
    hint: [u16; 3],
    /// `cmdprio_bssplit`: size, share, and a priority where it names one.
    splits: [Vec<(u64, u32, Option<IoPriority>)>; 3],
}

/// `cmdprio_percentage`.
pub fn percentage(to: &mut Settings, it: &Given<'_>) -> Result<(), Wrong> {
    let share = |text: &str| within(text, 0, 100, PERCENT).map(|share| share as u32);
    let own = &mut to.turns.priorities;
    own.percent = by_direction(it.text(), own.percent, share)?;
    Ok(())
}

/// `cmdprio_class`.
pub fn class(to: &mut Settings, it: &Given<'_>) -> Result<(), Wrong> {
    let class = |text: &str| within(text, 1, 3, CLASS).map(|number| Some(class_of(number)));
    let own = &mut to.turns.priorities;
    own.class = by_direction(it.text(), own.class, class)?;
    Ok(())
}

/// `cmdprio`.
pub fn level(to: &mut Settings, it: &Given<'_>) -> Result<(), Wrong> {
    let level = |text: &str| within(text, 0, 7, LEVEL).map(|level| level as u8);
    let own = &mut to.turns.priorities;
    own.level = by_direction(it.text(), own.level, level)?;
    Ok(())
}

/// `cmdprio_hint`.
pub fn hint(to: &mut Settings, it: &Given<'_>) -> Result<(), Wrong> {
    let own = &mut to.turns.priorities;
    own.hint = by_direction(it.text(), own.hint, hint_of)?;
    Ok(())
}

/// `priohint`, of all requests of a job.
pub fn hint_of_all(to: &mut Settings, it: &Given<'_>) -> Result<(), Wrong> {
    to.kernel.io_priority.get_or_insert_default().hint = hint_of(it.text())?;
    Ok(())
}

/// `cmdprio_bssplit`.
pub fn splits(to: &mut Settings, it: &Given<'_>) -> Result<(), Wrong> {
    let parts: Vec<&str> = it.text().split(',').collect();
    if parts.len() > 3 {
        return Err(SPLIT.into());
    }
    let lists = &mut to.turns.priorities.splits;
    for (place, part) in parts.iter().enumerate().filter(|(_, part)| !part.is_empty()) {
        let end = if place + 1 == parts.len() { 3 } else { place + 1 };
        let entries = part.split(':').filter(|entry| !entry.is_empty());
        let list: Vec<_> = entries.map(|entry| split(it, entry)).collect::<Result<_, _>>()?;
        if list.iter().any(|(bytes, ..)| share_of(&list, *bytes) > 100) {
            return Err(BadValue::wants("at most 100 percent of each size").into());
        }
        lists[place..end].fill(list);
    }
    Ok(())
}

fn split(it: &Given<'_>, entry: &str) -> Result<(u64, u32, Option<IoPriority>), BadValue> {
    let parts: Vec<&str> = entry.split('/').collect();
    let [bytes, share, own @ ..] = parts.as_slice() else { return Err(SPLIT) };
    let priority = match own {
        [] => None,
        [class, level, rest @ ..] if rest.len() <= 1 => Some(IoPriority {
            // fio takes no class for best effort, and a level beyond the lowest for the lowest.
            class: class_of(within(class, 0, 3, SPLIT)?),
            level: within(level, 0, u64::MAX, SPLIT)?.min(u64::from(IoPriority::LEVEL_MAX)) as u8,
            hint: rest.first().map_or(Ok(0), |hint| hint_of(hint))?,
        }),
        _ => return Err(SPLIT),
    };
    Ok((it.block(bytes)?, within(share, 0, 100, SPLIT)? as u32, priority))
}

fn share_of(list: &[(u64, u32, Option<IoPriority>)], bytes: u64) -> u32 {
    list.iter().filter(|entry| entry.0 == bytes).map(|entry| entry.1).sum()
}

fn within(text: &str, least: u64, most: u64, form: BadValue) -> Result<u64, BadValue> {
    number(text.trim()).ok().filter(|number| (least..=most).contains(number)).ok_or(form)
}

fn class_of(number: u64) -> IoClass {
    match number {
        1 => IoClass::Realtime,
        3 => IoClass::Idle,
        _ => IoClass::BestEffort,
    }
}

fn hint_of(text: &str) -> Result<u16, BadValue> {
    within(text, 0, u64::from(IoPriority::HINT_MAX), HINT).map(|hint| hint as u16)
}

impl Priorities {
    /// Whether some requests have a priority of their own.
    pub fn are_given(&self) -> bool {
        self.percent[..2].iter().any(|share| *share > 0)
            || self.splits[..2].iter().flatten().any(|(_, share, _)| *share > 0)
    }

    /// What a reader should know of them.
    pub fn note(&self, is_direct: bool) -> Option<Note> {
        let about =
            if self.percent[..2] == [0, 0] { "cmdprio_bssplit" } else { "cmdprio_percentage" };
        (self.are_given() && !is_direct).then(|| {
            Note::new(
                "priority_of_buffered",
                about,
                Treatment::Same,
                "of buffered requests the kernel heeds the priority of the thread alone; add \
                 direct=1 for their own.",
            )
        })
    }

    /// Gives them to a stream.
    pub fn apply(
        &self,
        engine: &str,
        kinds: [bool; 3],
        stream: &mut Stream,
    ) -> Result<(), Refusal> {
        let has_splits = self.splits.iter().any(|list| !list.is_empty());
        if has_splits && self.percent.iter().any(|share| *share > 0) {
            return Err(Refusal::new(
                STATUS,
                "cmdprio_percentage and cmdprio_bssplit options are mutually exclusive".to_owned(),
                "Remove one of the two.",
            ));
        }
        if self.are_given() && !CARRIERS.contains(&engine) {
            return Err(Refusal::new(
                STATUS,
                format!("fio: requests of ioengine={engine} carry no priority of their own"),
                "Use ioengine=libaio or io_uring, or prio and prioclass for the whole job.",
            ));
        }
        for (place, action) in [Action::Read, Action::Write].into_iter().enumerate() {
            let usual = IoPriority {
                class: self.class[place].unwrap_or(IoClass::Realtime),
                level: self.level[place],
                hint: self.hint[place],
            };
            let percent = self.percent[place];
            let all = RequestPriority { action, size: None, percent, priority: usual };
            let of_sizes = self.splits[place].iter().map(|(bytes, percent, own)| RequestPriority {
                size: Some(Size(*bytes)),
                percent: *percent,
                priority: own.unwrap_or(usual),
                ..all.clone()
            });
            let is_issued = kinds[place];
            let each = of_sizes.chain([all.clone()]).filter(|one| is_issued && one.percent > 0);
            stream.request_priorities.extend(each);
        }
        Ok(())
    }
}
