//! The write cache of an array's controller: rows with data that are not yet on the members.

use super::layout::Range;
use drivelab_core::op::Time;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Dirty data by row.
#[derive(Debug, Clone)]
pub struct RowCache {
    capacity_bytes: u64,
    row_bytes: u64,
    delay_ns: u64,
    rows: BTreeMap<u64, DirtyRow>,
    whole: BTreeSet<u64>,
    /// Rows in the order in which they became dirty; some have left.
    ages: VecDeque<(Time, u64)>,
    dirty_bytes: u64,
    writing_bytes: u64,
    /// The row at which the next search begins: rows are written in order of their place.
    cursor: u64,
}

#[derive(Debug, Clone)]
struct DirtyRow {
    since: Time,
    ranges: Vec<Range>,
    bytes: u64,
}

impl RowCache {
    /// An empty cache. What is dirty stays for `delay_ns`, so that rows become whole, unless the
    /// cache is more than half full.
    pub fn new(capacity_bytes: u64, row_bytes: u64, delay_ns: u64) -> Self {
        Self {
            capacity_bytes,
            row_bytes,
            delay_ns,
            rows: BTreeMap::new(),
            whole: BTreeSet::new(),
            ages: VecDeque::new(),
            dirty_bytes: 0,
            writing_bytes: 0,
            cursor: 0,
        }
    }

    /// Whether it could ever hold `bytes`.
    pub fn can_hold(&self, bytes: u64) -> bool {
        bytes <= self.capacity_bytes
    }

    /// Whether it has room for `bytes` more.
    pub fn has_room(&self, bytes: u64) -> bool {
        self.bytes() + bytes <= self.capacity_bytes
    }

    /// Bytes held, with those being written to the members.
    pub fn bytes(&self) -> u64 {
        self.dirty_bytes + self.writing_bytes
    }

    /// Whether all of a range is here.
    pub fn holds(&self, row: u64, range: Range) -> bool {
        self.rows.get(&row).is_some_and(|dirty| {
            dirty.ranges.iter().any(|held| held.lo <= range.lo && range.hi <= held.hi)
        })
    }

    /// Takes a range of a row.
    pub fn add(&mut self, now: Time, row: u64, range: Range) {
        let ages = &mut self.ages;
        let dirty = self.rows.entry(row).or_insert_with(|| {
            ages.push_back((now, row));
            DirtyRow { since: now, ranges: Vec::new(), bytes: 0 }
        });
        let mut joined = range;
        dirty.ranges.retain(|held| {
            let touches = held.lo <= joined.hi && joined.lo <= held.hi;
            if touches {
                joined = Range { lo: joined.lo.min(held.lo), hi: joined.hi.max(held.hi) };
            }
            !touches
        });
        let place = dirty.ranges.partition_point(|held| held.lo < joined.lo);
        dirty.ranges.insert(place, joined);
        let bytes: u64 = dirty.ranges.iter().map(|held| held.hi - held.lo).sum();
        self.dirty_bytes += bytes - dirty.bytes;
        dirty.bytes = bytes;
        if bytes == self.row_bytes {
            self.whole.insert(row);
        }
    }

    /// When the oldest dirty row must go; `None` without any.
    pub fn due_at(&mut self) -> Option<Time> {
        while let Some(&(since, row)) = self.ages.front() {
            if self.rows.get(&row).is_some_and(|dirty| dirty.since == since) {
                return Some(since + self.delay_ns);
            }
            self.ages.pop_front();
        }
        None
    }

    /// The next row to write to the members: whole rows first; others when the cache is more than
    /// half full, the oldest is due, or `all` must go.
    pub fn take(&mut self, now: Time, all: bool) -> Option<(u64, Vec<Range>)> {
        let whole = self.whole.range(self.cursor..).next().or_else(|| self.whole.first());
        let row = match whole.copied() {
            Some(row) => row,
            None => {
                let is_pressed = self.bytes() * 2 > self.capacity_bytes;
                if !all && !is_pressed && self.due_at().is_none_or(|due_at| due_at > now) {
                    return None;
                }
                let after = self.rows.range(self.cursor..).next();
                *after.or_else(|| self.rows.iter().next())?.0
            }
        };
        self.whole.remove(&row);
        self.cursor = row + 1;
        let dirty = self.rows.remove(&row)?;
        self.dirty_bytes -= dirty.bytes;
        self.writing_bytes += dirty.bytes;
        Some((row, dirty.ranges))
    }

    /// `bytes` that were taken are on the members.
    pub fn written(&mut self, bytes: u64) {
        self.writing_bytes -= bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(lo: u64, hi: u64) -> Range {
        Range { lo, hi }
    }

    #[test]
    fn ranges_join_and_a_whole_row_goes_at_once() {
        let mut cache = RowCache::new(1_000, 100, 50);
        cache.add(0, 3, range(0, 40));
        cache.add(1, 3, range(60, 100));
        assert!(cache.holds(3, range(10, 40)) && !cache.holds(3, range(30, 70)));
        assert_eq!(cache.take(2, false), None);
        cache.add(2, 3, range(30, 65));
        assert_eq!(cache.bytes(), 100);
        assert_eq!(cache.take(2, false), Some((3, vec![range(0, 100)])));
        assert_eq!(cache.bytes(), 100, "until it is written");
        cache.written(100);
        assert_eq!((cache.bytes(), cache.due_at()), (0, None));
    }

    #[test]
    fn parts_of_rows_go_when_they_are_due_in_order_of_place() {
        let mut cache = RowCache::new(1_000, 100, 50);
        for row in [9, 2, 5] {
            cache.add(10, row, range(0, 10));
        }
        assert_eq!(cache.due_at(), Some(60));
        assert_eq!(cache.take(59, false), None);
        assert_eq!(cache.take(60, false).map(|(row, _)| row), Some(2));
        assert_eq!(cache.take(60, false).map(|(row, _)| row), Some(5));
        cache.add(60, 1, range(0, 10));
        assert_eq!(cache.take(60, false).map(|(row, _)| row), Some(9));
        assert_eq!(cache.take(60, false), None, "row 1 is young");
        assert_eq!(cache.take(60, true).map(|(row, _)| row), Some(1));
    }

    #[test]
    fn more_than_half_full_does_not_wait() {
        let mut cache = RowCache::new(100, 100, 50);
        cache.add(0, 1, range(0, 50));
        assert_eq!(cache.take(0, false), None);
        cache.add(0, 2, range(0, 1));
        assert_eq!(cache.take(0, false).map(|(row, _)| row), Some(1));
        assert!(cache.has_room(49) && !cache.has_room(50));
    }
}
