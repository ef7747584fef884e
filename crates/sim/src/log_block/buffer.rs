//! The write buffer of an early drive: what it holds, what leaves it together, and when.

use super::parameters::BufferFlush;
use drivelab_core::inside::Cause;
use drivelab_core::op::Time;
use std::collections::BTreeMap;

/// A page that waits to be written.
#[derive(Debug, Clone, Copy)]
struct Dirty {
    sectors: u64,
    /// Number of the write that brought it.
    age: u64,
}

/// Pages that leave together and are freed together.
#[derive(Debug, Clone, Copy)]
struct Leaving {
    until: Time,
    pages: u32,
    cause: Cause,
}

/// A page and which of its sectors are held.
pub(crate) type Held = (u32, u64);

#[derive(Debug, Clone)]
pub(crate) struct Buffer {
    rule: BufferFlush,
    capacity_pages: u32,
    group_pages: u32,
    /// All sectors of a page.
    all_sectors: u64,
    dirty: BTreeMap<u32, Dirty>,
    leaving: Vec<Leaving>,
    age: u64,
}

impl Buffer {
    pub fn new(rule: BufferFlush, capacity_pages: u32, group_pages: u32, all_sectors: u64) -> Self {
        Buffer {
            rule,
            capacity_pages,
            group_pages,
            all_sectors,
            dirty: BTreeMap::new(),
            leaving: Vec::new(),
            age: 0,
        }
    }

    /// Sectors of `page` that are held.
    pub fn sectors(&self, page: u32) -> u64 {
        self.dirty.get(&page).map_or(0, |dirty| dirty.sectors)
    }

    /// What must leave before `page` can be taken: a write that is no neighbour ends the run.
    pub fn before(&mut self, page: u32) -> Vec<Held> {
        let first = self.dirty.first_key_value().map(|(page, _)| *page);
        let last = self.dirty.last_key_value().map(|(page, _)| *page);
        match (self.rule, first, last) {
            (BufferFlush::Neighbour, Some(first), Some(last))
                if page.saturating_add(1) < first || page > last.saturating_add(1) =>
            {
                self.take_all()
            }
            _ => Vec::new(),
        }
    }

    /// Whether another page has room at `at`.
    pub fn has_room(&mut self, at: Time) -> bool {
        self.leaving.retain(|leaving| leaving.until > at);
        self.dirty.len() as u64 + self.leaving_pages() < u64::from(self.capacity_pages)
    }

    /// When the first pages are freed, and what keeps them.
    pub fn next_room(&self) -> Option<(Time, Cause)> {
        self.leaving
            .iter()
            .min_by_key(|leaving| leaving.until)
            .map(|leaving| (leaving.until, leaving.cause))
    }

    /// What leaves when room is needed and nothing is leaving.
    pub fn for_room(&mut self) -> Vec<Held> {
        if self.rule != BufferFlush::Aligned {
            return self.take_all();
        }
        let oldest = self.dirty.iter().min_by_key(|(_, dirty)| dirty.age).map(|(page, _)| *page);
        oldest.map_or_else(Vec::new, |page| self.take_group(page))
    }

    /// Takes `mask` of `page`; returns what leaves now.
    pub fn take_in(&mut self, page: u32, mask: u64) -> Vec<Held> {
        let age = self.age;
        self.age += 1;
        self.dirty.entry(page).or_insert(Dirty { sectors: 0, age }).sectors |= mask;
        match self.rule {
            BufferFlush::Aligned if self.group_is_complete(page) => self.take_group(page),
            BufferFlush::Full | BufferFlush::Neighbour
                if self.dirty.len() as u64 >= u64::from(self.capacity_pages) =>
            {
                self.take_all()
            }
            _ => Vec::new(),
        }
    }

    /// Notes that `pages` leave until `until`.
    pub fn leave(&mut self, until: Time, pages: u32, cause: Cause) {
        self.leaving.push(Leaving { until, pages, cause });
    }

    /// Everything that waits.
    pub fn take_all(&mut self) -> Vec<Held> {
        std::mem::take(&mut self.dirty)
            .into_iter()
            .map(|(page, dirty)| (page, dirty.sectors))
            .collect()
    }

    /// Takes out `count` pages as soon as this many wait of those that `is_one` tells.
    pub fn take_row(&mut self, count: usize, is_one: impl Fn(u32) -> bool) -> Vec<Held> {
        let row: Vec<Held> = self
            .dirty
            .iter()
            .filter(|(page, _)| is_one(**page))
            .map(|(page, dirty)| (*page, dirty.sectors))
            .collect();
        if row.len() < count {
            return Vec::new();
        }
        for (page, _) in &row {
            self.dirty.remove(page);
        }
        row
    }

    /// Gives up what is held of `page`.
    pub fn discard(&mut self, page: u32) {
        self.dirty.remove(&page);
    }

    /// When all that leaves has left.
    pub fn all_left(&self) -> Option<Time> {
        self.leaving.iter().map(|leaving| leaving.until).max()
    }

    /// Forgets what is leaving: time begins again.
    pub fn restart(&mut self) {
        self.leaving.clear();
    }

    /// Share that is full at `now`.
    pub fn fill(&mut self, now: Time) -> f64 {
        self.leaving.retain(|leaving| leaving.until > now);
        let pages = self.dirty.len() as u64 + self.leaving_pages();
        if self.capacity_pages == 0 { 0.0 } else { pages as f64 / f64::from(self.capacity_pages) }
    }

    fn leaving_pages(&self) -> u64 {
        self.leaving.iter().map(|leaving| u64::from(leaving.pages)).sum()
    }

    fn group(&self, page: u32) -> std::ops::Range<u32> {
        let first = page / self.group_pages * self.group_pages;
        first..first.saturating_add(self.group_pages)
    }

    fn group_is_complete(&self, page: u32) -> bool {
        self.group(page).all(|page| self.sectors(page) == self.all_sectors)
    }

    fn take_group(&mut self, page: u32) -> Vec<Held> {
        let group = self.group(page);
        let held: Vec<Held> =
            self.dirty.range(group).map(|(page, dirty)| (*page, dirty.sectors)).collect();
        for (page, _) in &held {
            self.dirty.remove(page);
        }
        held
    }
}
