//! What the flash and the buffer hold: versions of sectors, so that tests can prove that a read
//! finds what was written last. Kept only where a test asks for it.

use std::collections::BTreeMap;

/// A page of the flash: block and page in it.
pub(crate) type Spot = (u32, u32);

/// Versions by sector of 512 bytes. A page that is not listed holds version 0.
#[derive(Debug, Clone)]
pub(crate) struct Content {
    sectors: usize,
    /// Writes taken: the version of the latest.
    version: u64,
    flash: BTreeMap<Spot, Vec<u64>>,
    staged: BTreeMap<u32, Vec<u64>>,
}

impl Content {
    pub fn new(page_bytes: u32) -> Self {
        Content {
            sectors: page_bytes as usize / 512,
            version: 0,
            flash: BTreeMap::new(),
            staged: BTreeMap::new(),
        }
    }

    /// A write begins.
    pub fn next_version(&mut self) {
        self.version += 1;
    }

    /// The controller holds `mask` of `page` now.
    pub fn stage(&mut self, page: u32, mask: u64) {
        let version = self.version;
        let sectors = self.sectors;
        let held = self.staged.entry(page).or_insert_with(|| vec![0; sectors]);
        overlay(held, mask, |_| version);
    }

    /// What is held of `page` is given up.
    pub fn drop_staged(&mut self, page: u32) {
        self.staged.remove(&page);
    }

    /// Programs `page` at `to`: `mask` of it as held, the rest as at `from`.
    pub fn program(&mut self, page: u32, mask: u64, from: Option<Spot>, to: Spot) {
        let old = from.and_then(|spot| self.flash.get(&spot).cloned());
        let mut all = old.unwrap_or_else(|| vec![0; self.sectors]);
        if let Some(held) = self.staged.remove(&page) {
            overlay(&mut all, mask, |sector| held[sector]);
        }
        let before = self.flash.insert(to, all);
        debug_assert!(before.is_none(), "page {to:?} was programmed twice");
    }

    /// Programs at `to` what is at `from`.
    pub fn copy(&mut self, from: Spot, to: Spot) {
        if let Some(all) = self.flash.get(&from).cloned() {
            self.flash.insert(to, all);
        }
    }

    /// The controller holds all of `page` now: `mask` as it held it, the rest as at `from`.
    pub fn lift(&mut self, page: u32, mask: u64, from: Option<Spot>) {
        let old = from.and_then(|spot| self.flash.get(&spot).cloned());
        let mut all = old.unwrap_or_else(|| vec![0; self.sectors]);
        if let Some(held) = self.staged.get(&page) {
            overlay(&mut all, mask, |sector| held[sector]);
        }
        self.staged.insert(page, all);
    }

    /// Erases a block of `pages`.
    pub fn erase(&mut self, block: u32, pages: u32) {
        let spots: Vec<Spot> =
            self.flash.range((block, 0)..(block, pages)).map(|(spot, _)| *spot).collect();
        for spot in spots {
            self.flash.remove(&spot);
        }
    }

    /// The version of a sector that the controller holds.
    pub fn staged(&self, page: u32, sector: usize) -> u64 {
        self.staged.get(&page).map_or(0, |held| held[sector])
    }

    /// The version of a sector on the flash.
    pub fn flash(&self, spot: Spot, sector: usize) -> u64 {
        self.flash.get(&spot).map_or(0, |all| all[sector])
    }
}

fn overlay(all: &mut [u64], mask: u64, version: impl Fn(usize) -> u64) {
    for (sector, held) in all.iter_mut().enumerate() {
        if mask >> sector & 1 == 1 {
            *held = version(sector);
        }
    }
}
