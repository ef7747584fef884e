//! Which pages are read before they are asked for: windows that grow while a reader goes on in
//! order, begun when it misses and continued when it meets the mark in the last one.
//!
//! After Wu Fengguang et al., "On the design of a new Linux readahead framework", SIGOPS Operating
//! Systems Review 42(5), 2008.

/// Pages of the largest window: 128 KiB, what Linux has for every drive until somebody changes it.
pub(super) const WINDOW_PAGES_MAX: u64 = 32;
/// Pages of the largest request: 1280 KiB, the kernel's usual `max_sectors_kb`.
pub(super) const REQUEST_PAGES_MAX: u64 = 320;
/// Mapped: misses beyond the hits after which nothing is read around any more.
const MAPPED_MISSES_MAX: u32 = 100;

/// Pages to be read, of which those that are present are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub first: u64,
    pub pages: u64,
    /// The page that brings on the next window when it is used; none where there is none.
    pub mark: Option<u64>,
}

/// How one reader goes through a file.
#[derive(Debug, Clone, Default)]
pub(super) struct ReadAhead {
    /// The last window.
    start: u64,
    size: u64,
    /// Of it, pages behind the mark.
    ahead: u64,
    /// The page behind the last one that was read.
    next: u64,
    mapped_misses: u32,
}

impl ReadAhead {
    /// `page` is absent, and `wanted` pages from it on are asked for.
    pub fn miss(&mut self, page: u64, wanted: u64) -> Window {
        let max = match wanted > WINDOW_PAGES_MAX {
            true => wanted.min(REQUEST_PAGES_MAX),
            false => WINDOW_PAGES_MAX,
        };
        let is_expected =
            self.size > 0 && (page == self.start + self.size - self.ahead || page == self.end());
        if is_expected {
            return self.onward(max);
        }
        let goes_on = page == 0 || page == self.next || page + 1 == self.next;
        if goes_on || wanted > WINDOW_PAGES_MAX {
            self.start = page;
            self.size = first_window(wanted, max);
            self.ahead = if self.size > wanted { self.size - wanted } else { self.size };
            return self.window();
        }
        // Somewhere else: what is asked for, and nothing is learnt from it.
        Window { first: page, pages: wanted.min(max), mark: None }
    }

    /// A marked page is used, and `wanted` pages from it on are asked for; `absent_from`: the first
    /// page behind it that is not present.
    pub fn marked(&mut self, page: u64, wanted: u64, absent_from: u64) -> Window {
        let max = WINDOW_PAGES_MAX;
        if self.size > 0 && page == self.start + self.size - self.ahead {
            return self.onward(max);
        }
        // Another reader's mark, or an old one: go on behind what is there.
        self.start = absent_from;
        self.size = next_window(absent_from - page + wanted, max);
        self.ahead = self.size;
        self.window()
    }

    /// A page of a mapping is absent: a window around it, while that helps.
    pub fn miss_mapped(&mut self, page: u64) -> Window {
        self.mapped_misses = (self.mapped_misses + 1).min(10 * MAPPED_MISSES_MAX);
        if self.mapped_misses > MAPPED_MISSES_MAX {
            return Window { first: page, pages: 1, mark: None };
        }
        self.start = page.saturating_sub(WINDOW_PAGES_MAX / 2);
        (self.size, self.ahead) = (WINDOW_PAGES_MAX, WINDOW_PAGES_MAX / 4);
        self.window()
    }

    /// A page of a mapping was present.
    pub fn hit_mapped(&mut self) {
        self.mapped_misses = self.mapped_misses.saturating_sub(1);
    }

    /// Pages up to `next` were read.
    pub fn has_read(&mut self, next: u64) {
        self.next = next;
    }

    fn end(&self) -> u64 {
        self.start + self.size
    }

    fn onward(&mut self, max: u64) -> Window {
        self.start += self.size;
        self.size = next_window(self.size, max);
        self.ahead = self.size;
        self.window()
    }

    fn window(&self) -> Window {
        Window {
            first: self.start,
            pages: self.size,
            mark: Some(self.start + self.size - self.ahead),
        }
    }
}

fn first_window(wanted: u64, max: u64) -> u64 {
    let wanted = wanted.next_power_of_two();
    match () {
        () if wanted <= max / 32 => wanted * 4,
        () if wanted <= max / 4 => wanted * 2,
        () => max,
    }
}

fn next_window(size: u64, max: u64) -> u64 {
    match () {
        () if size < max / 16 => size * 4,
        () if size <= max / 2 => size * 2,
        () => max,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_grow_while_a_reader_goes_on() {
        let mut ahead = ReadAhead::default();
        let first = ahead.miss(0, 1);
        assert_eq!(first, Window { first: 0, pages: 4, mark: Some(1) });
        let second = ahead.marked(1, 1, 4);
        assert_eq!(second, Window { first: 4, pages: 8, mark: Some(4) });
        let third = ahead.marked(4, 1, 12);
        assert_eq!(third, Window { first: 12, pages: 16, mark: Some(12) });
        assert_eq!(ahead.marked(12, 1, 28).pages, 32);
        assert_eq!(ahead.marked(28, 1, 60), Window { first: 60, pages: 32, mark: Some(60) });
    }

    #[test]
    fn elsewhere_only_what_is_asked_for_is_read() {
        let mut ahead = ReadAhead::default();
        assert_eq!(ahead.miss(1000, 2), Window { first: 1000, pages: 2, mark: None });
        ahead.has_read(1002);
        assert_eq!(ahead.miss(1002, 2).pages, 4);
        assert_eq!(ahead.miss(5000, 256).pages, 256);
        assert_eq!(ahead.miss(9000, 10_000).pages, REQUEST_PAGES_MAX);
    }

    #[test]
    fn mappings_are_read_around_until_it_does_not_help() {
        let mut ahead = ReadAhead::default();
        assert_eq!(ahead.miss_mapped(100).first, 84);
        for _ in 0..99 {
            ahead.miss_mapped(100);
        }
        assert_eq!(ahead.miss_mapped(100), Window { first: 100, pages: 1, mark: None });
        ahead.hit_mapped();
        ahead.hit_mapped();
        assert_eq!(ahead.miss_mapped(100).pages, 32);
    }
}
