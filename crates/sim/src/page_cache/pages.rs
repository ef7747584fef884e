//! The pages that the host keeps: which are clean, dirty, or under way, and which go first.

use super::table::Table;
use drivelab_core::op::Time;
use std::collections::VecDeque;

/// Bytes of a page.
pub(super) const PAGE_BYTES: u64 = 4096;

/// A request to the drive, by number.
pub(super) type RequestNumber = u32;

/// How a page stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum PageState {
    /// The drive was asked for it.
    Reading(RequestNumber),
    /// As it is on the drive.
    #[default]
    Clean,
    /// Newer than on the drive.
    Dirty,
    /// On its way to the drive; it was dirty from `since` on, and written to again at `again`.
    Writing { request: RequestNumber, since: Time, again: Option<Time> },
}

#[derive(Debug, Clone, Copy, Default)]
struct Page {
    state: PageState,
    /// When it was last used, as a number that grows.
    used: u64,
    /// Using it brings on the next window of read-ahead.
    is_marked: bool,
}

/// This many uses that no longer count are kept for every two clean pages and these.
const STALE_MAX: usize = 4096;

fn is_last_clean_use(pages: &Table<Page>, used: u64, page: u64) -> bool {
    pages.get(page).is_some_and(|page| page.used == used && page.state == PageState::Clean)
}

/// All pages. The least recently used of the clean ones makes room.
#[derive(Debug)]
pub(super) struct Pages {
    room: usize,
    pages: Table<Page>,
    /// Uses of pages that were clean then, with the page: the oldest first. The last use of a page
    /// counts, and only while it is clean; the others are dropped where they turn up.
    clean_uses: VecDeque<(u64, u64)>,
    /// Clean pages.
    clean: usize,
    /// Dirty pages, with the time since when.
    dirty: Table<Time>,
    writing: usize,
    uses: u64,
}

impl Pages {
    /// Room for `bytes`.
    pub fn new(bytes: u64) -> Self {
        Pages {
            room: usize::try_from(bytes / PAGE_BYTES).unwrap_or(usize::MAX).max(1),
            pages: Table::new(),
            clean_uses: VecDeque::new(),
            clean: 0,
            dirty: Table::new(),
            writing: 0,
            uses: 0,
        }
    }

    /// Pages it has room for.
    pub fn room(&self) -> usize {
        self.room
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.pages.len() == 0
    }

    /// Pages that are not on the drive yet.
    pub fn unwritten(&self) -> usize {
        self.dirty.len() + self.writing
    }

    /// Dirty pages that are not under way.
    pub fn dirty(&self) -> usize {
        self.dirty.len()
    }

    /// How a page stands; `None`: it is absent.
    pub fn state(&self, page: u64) -> Option<PageState> {
        self.pages.get(page).map(|page| page.state)
    }

    /// The first absent page from `page` on, looking at `most` of them.
    pub fn absent_from(&self, page: u64, most: u64) -> u64 {
        self.pages.absent_from(page, page + most)
    }

    /// A page is used; whether it was marked.
    pub fn touch(&mut self, page: u64) -> bool {
        let Some(held) = self.pages.get_mut(page) else { return false };
        self.uses += 1;
        held.used = self.uses;
        let is_marked = std::mem::take(&mut held.is_marked);
        if held.state == PageState::Clean {
            self.note_clean_use(page);
        }
        is_marked
    }

    /// The latest use is that of a clean page.
    fn note_clean_use(&mut self, page: u64) {
        self.clean_uses.push_back((self.uses, page));
        if self.clean_uses.len() > 2 * self.clean + STALE_MAX {
            let pages = &self.pages;
            self.clean_uses.retain(|(used, page)| is_last_clean_use(pages, *used, *page));
        }
    }

    /// The clean page that was used longest ago, which is forgotten.
    fn forget_oldest_clean(&mut self) -> bool {
        while let Some((used, page)) = self.clean_uses.pop_front() {
            if is_last_clean_use(&self.pages, used, page) {
                self.pages.remove(page);
                self.clean -= 1;
                return true;
            }
        }
        false
    }

    fn put(&mut self, page: u64, state: PageState) {
        while self.pages.len() >= self.room
            && self.pages.get(page).is_none()
            && self.forget_oldest_clean()
        {}
        self.uses += 1;
        let is_marked = self.leave_state(page);
        self.pages.insert(page, Page { state, used: self.uses, is_marked });
        if state == PageState::Clean {
            self.clean += 1;
            self.note_clean_use(page);
        }
    }

    /// Takes a page out of the lists of its state; whether it is marked.
    fn leave_state(&mut self, page: u64) -> bool {
        let Some(held) = self.pages.get(page) else { return false };
        match held.state {
            PageState::Reading(_) => {}
            PageState::Clean => self.clean -= 1,
            PageState::Dirty => self.dirty.remove(page),
            PageState::Writing { .. } => self.writing -= 1,
        }
        held.is_marked
    }

    /// The drive was asked for an absent page.
    pub fn begin_read(&mut self, page: u64, request: RequestNumber, is_marked: bool) {
        self.put(page, PageState::Reading(request));
        if let Some(held) = self.pages.get_mut(page) {
            held.is_marked = is_marked;
        }
    }

    /// The drive delivered it.
    pub fn end_read(&mut self, page: u64, request: RequestNumber) {
        if self.state(page) == Some(PageState::Reading(request)) {
            self.put(page, PageState::Clean);
        }
    }

    /// The host wrote to it.
    pub fn write(&mut self, page: u64, now: Time) {
        match self.state(page) {
            Some(PageState::Dirty) => {
                self.touch(page);
            }
            Some(PageState::Writing { request, since, again }) => {
                let again = again.or(Some(now));
                self.put(page, PageState::Writing { request, since, again });
                self.writing += 1;
            }
            _ => {
                self.put(page, PageState::Dirty);
                self.dirty.insert(page, now);
            }
        }
    }

    /// A dirty page is on its way to the drive.
    pub fn begin_write(&mut self, page: u64, request: RequestNumber) {
        let since = self.dirty.get(page).copied().unwrap_or(0);
        self.put(page, PageState::Writing { request, since, again: None });
        self.writing += 1;
    }

    /// The drive has it.
    pub fn end_write(&mut self, page: u64, request: RequestNumber) {
        let Some(PageState::Writing { request: own, again, .. }) = self.state(page) else { return };
        if own != request {
            return;
        }
        if let Some(since) = again {
            self.put(page, PageState::Dirty);
            self.dirty.insert(page, since);
        } else {
            self.put(page, PageState::Clean);
        }
    }

    /// Forgets pages `first..end`, whatever they hold.
    pub fn forget(&mut self, first: u64, end: u64) {
        let held: Vec<u64> = self.pages.range(first, end).map(|(page, _)| page).collect();
        for page in held {
            self.leave_state(page);
            self.pages.remove(page);
        }
    }

    /// Forgets all clean pages.
    pub fn forget_clean(&mut self) {
        self.clean_uses.clear();
        self.clean = 0;
        self.pages.retain(|page| page.state != PageState::Clean);
    }

    /// The first run of dirty pages at or behind `from` and before `end`, at most `most` pages.
    pub fn dirty_run(&self, from: u64, end: u64, most: u64) -> Option<(u64, u64)> {
        let (first, _) = self.dirty.range(from, end).next()?;
        let behind = self.dirty.absent_from(first, end.min(first.saturating_add(most)));
        Some((first, behind - first))
    }

    /// The requests that pages `first..end` are under way in, to the drive, where what they held at
    /// `time` is not there yet.
    pub fn writes_in(&self, first: u64, end: u64, time: Time) -> Vec<RequestNumber> {
        let is_missing = |since: Time, again: Option<Time>| {
            since <= time || again.is_some_and(|again| again <= time)
        };
        let mut requests: Vec<RequestNumber> = self
            .pages
            .range(first, end)
            .filter_map(|(_, page)| match page.state {
                PageState::Writing { request, since, again } if is_missing(since, again) => {
                    Some(request)
                }
                _ => None,
            })
            .collect();
        requests.dedup();
        requests
    }

    /// Runs of pages in `first..end` that have been dirty since `time` or longer: first page, and
    /// first behind.
    pub fn dirty_since(&self, time: Time, first: u64, end: u64) -> Vec<(u64, u64)> {
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for (page, _) in self.dirty.range(first, end).filter(|(_, since)| **since <= time) {
            match runs.last_mut() {
                Some(run) if run.1 == page => run.1 += 1,
                _ => runs.push((page, page + 1)),
            }
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_clean_page_makes_room() {
        let mut pages = Pages::new(3 * PAGE_BYTES);
        for page in [10, 11, 12] {
            pages.begin_read(page, 1, page == 11);
            pages.end_read(page, 1);
        }
        assert!(!pages.touch(10) && pages.touch(11) && !pages.touch(11));
        pages.write(20, 5);
        assert_eq!(pages.state(12), None);
        assert_eq!(
            (pages.state(10), pages.state(20)),
            (Some(PageState::Clean), Some(PageState::Dirty))
        );
        assert_eq!((pages.absent_from(10, 9), pages.absent_from(12, 9)), (12, 12));
        pages.forget_clean();
        assert_eq!((pages.state(10), pages.unwritten()), (None, 1));
    }

    #[test]
    fn a_page_that_is_written_to_while_it_is_written_stays_dirty() {
        let mut pages = Pages::new(100 * PAGE_BYTES);
        for page in [1, 2, 4, 5, 6] {
            pages.write(page, page);
        }
        assert_eq!(pages.dirty_run(0, 100, 8), Some((1, 2)));
        assert_eq!(pages.dirty_run(2, 100, 8), Some((2, 1)));
        assert_eq!(pages.dirty_run(3, 100, 2), Some((4, 2)));
        assert_eq!(pages.dirty_since(4, 0, 100), [(1, 3), (4, 5)]);
        pages.begin_write(4, 7);
        pages.begin_write(5, 7);
        assert_eq!((pages.writes_in(0, 100, 5), pages.dirty(), pages.unwritten()), (vec![7], 3, 5));
        pages.write(5, 9);
        pages.end_write(4, 7);
        pages.end_write(5, 7);
        assert_eq!(
            (pages.state(4), pages.state(5)),
            (Some(PageState::Clean), Some(PageState::Dirty))
        );
        assert_eq!((pages.dirty(), pages.unwritten()), (4, 4));
        assert_eq!(pages.dirty_since(8, 3, 100), [(6, 7)]);
        pages.forget(0, 6);
        assert_eq!((pages.dirty(), pages.state(6)), (1, Some(PageState::Dirty)));
    }
}
