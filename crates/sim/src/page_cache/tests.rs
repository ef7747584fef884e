#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use crate::drive::Route;
use std::collections::BTreeSet;

const MIB: u64 = 1 << 20;

/// A drive that serves one operation after the other, and remembers them.
#[derive(Debug, Default)]
struct Notebook {
    free_at: Time,
    operation_ns: u64,
    seen: Vec<(Action, u64, u64)>,
}

impl Drive for Notebook {
    fn bytes(&self) -> u64 {
        1 << 30
    }

    fn submit_by(&mut self, now: Time, ticket: Ticket, op: &DataOp, _way: Way, ends: &mut Ends) {
        self.seen.push((op.action, op.offset / PAGE_BYTES, u64::from(op.len) / PAGE_BYTES));
        self.free_at = self.free_at.max(now) + self.operation_ns;
        ends.push(self.free_at, ticket, Cause::Flash);
    }

    fn inside(&mut self, _now: Time) -> Inside {
        Inside::default()
    }
}

struct Bench {
    cache: PageCache<Notebook>,
    now: Time,
    ends: Ends,
}

impl Bench {
    fn new(bytes: u64) -> Self {
        let drive = Notebook { operation_ns: 100_000, ..Notebook::default() };
        Bench { cache: PageCache::new(drive, bytes), now: 0, ends: Ends::default() }
    }

    fn submit(&mut self, ticket: Ticket, action: Action, page: u64, bytes: u64, way: Way) {
        let offset = page * PAGE_BYTES;
        let op = DataOp { action, offset, len: bytes as u32, ..DataOp::default() };
        self.cache.submit_by(self.now, ticket, &op, way, &mut self.ends);
    }

    /// The next end.
    fn end(&mut self) -> End {
        loop {
            let at = self.ends.next_at().min(self.cache.next_event());
            assert!(at < Time::MAX, "nothing will ever end");
            self.now = self.now.max(at);
            self.cache.advance(self.now, &mut self.ends);
            if let Some(end) = self.ends.pop(self.now) {
                return end;
            }
        }
    }

    /// Serves one operation alone; returns how long it took.
    fn serve(&mut self, action: Action, page: u64, bytes: u64, route: Route) -> u64 {
        let begin = self.now;
        self.submit(0, action, page, bytes, Way { route, ..Way::default() });
        self.end().at - begin
    }

    fn seen(&mut self) -> Vec<(Action, u64, u64)> {
        std::mem::take(&mut self.cache.drive.seen)
    }
}

const HIT_NS: u64 = 1_000 + 512;

#[test]
fn a_reader_in_order_finds_its_pages_read_ahead() {
    let mut bench = Bench::new(16 * MIB);
    let times: Vec<u64> =
        (0..256).map(|page| bench.serve(Action::Read, page, PAGE_BYTES, Route::Buffered)).collect();
    let seen = bench.seen();
    let first: Vec<u64> = seen.iter().map(|(_, _, pages)| *pages).take(6).collect();
    assert_eq!(first, [4, 8, 16, 32, 32, 32]);
    assert!(seen.iter().zip(&seen[1..]).all(|(one, next)| one.1 + one.2 == next.1));
    assert_eq!(times[0], 100_000 + HIT_NS);
    assert!(times.iter().filter(|ns| **ns == HIT_NS).count() > 240);
    // Backwards over the same pages, everything is there.
    let again =
        (0..256).rev().map(|page| bench.serve(Action::Read, page, PAGE_BYTES, Route::Buffered));
    assert!(again.collect::<BTreeSet<_>>() == BTreeSet::from([HIT_NS]));
}

#[test]
fn elsewhere_a_read_costs_one_request_and_a_large_one_is_split() {
    let mut bench = Bench::new(16 * MIB);
    for page in [5_000, 900, 70_000] {
        assert_eq!(bench.serve(Action::Read, page, PAGE_BYTES, Route::Buffered), 100_000 + HIT_NS);
    }
    assert_eq!(bench.seen().len(), 3);
    bench.serve(Action::Read, 10_000, 2 * MIB, Route::Buffered);
    let seen = bench.seen();
    assert!(seen.iter().all(|(_, _, pages)| *pages <= REQUEST_PAGES_MAX), "{seen:?}");
    assert_eq!(seen[0], (Action::Read, 10_000, REQUEST_PAGES_MAX));
    // A mapping is read around.
    bench.serve(Action::Read, 50_000, PAGE_BYTES, Route::Mapped);
    assert_eq!(bench.seen()[0], (Action::Read, 49_984, 32));
}

#[test]
fn what_is_written_is_written_behind_and_nothing_twice() {
    let mut bench = Bench::new(16 * MIB);
    // Up to a tenth nothing reaches the drive; a page that is written again is still one page.
    for page in (0..400).chain(0..400) {
        assert_eq!(bench.serve(Action::Write, page, PAGE_BYTES, Route::Buffered), HIT_NS);
    }
    assert_eq!((bench.seen(), bench.cache.inside(0).dirty_bytes), (vec![], 400 * PAGE_BYTES));
    // What a file system asks for itself leaves pages of files as they are.
    assert_eq!(bench.serve(Action::Flush, 0, 0, Route::Below), 100_000);
    assert_eq!(bench.serve(Action::Write, 3, PAGE_BYTES, Route::Below), 100_000);
    let own = [(Action::Flush, 0, 0), (Action::Write, 3, 1)];
    assert_eq!((bench.seen(), bench.cache.inside(0).dirty_bytes), (own.to_vec(), 400 * PAGE_BYTES));
    let flushed_ns = bench.serve(Action::Flush, 0, 0, Route::Buffered);
    let expected = [(Action::Write, 0, 320), (Action::Write, 320, 80), (Action::Flush, 0, 0)];
    assert_eq!((bench.seen(), flushed_ns), (expected.to_vec(), 300_000));
    assert_eq!(bench.cache.inside(0).drive_written_bytes, 401 * PAGE_BYTES);
    // Half a page that is not there is read first; on a mapping, a whole one too.
    bench.serve(Action::Write, 90_000, 512, Route::Buffered);
    bench.serve(Action::Write, 91_000, PAGE_BYTES, Route::Buffered);
    bench.serve(Action::Write, 95_000, PAGE_BYTES, Route::Mapped);
    let seen = bench.seen();
    assert_eq!(seen, [(Action::Read, 90_000, 1), (Action::Read, 94_984, 32)]);
    // What is old is written without being asked.
    bench.now += 40_000_000_000;
    bench.cache.advance(bench.now, &mut bench.ends);
    assert_eq!(bench.cache.inside(0).dirty_bytes, 0);
    assert_eq!(bench.seen().len(), 3);
}

#[test]
fn a_writer_that_is_faster_than_the_drive_waits_for_it() {
    let mut bench = Bench::new(16 * MIB);
    let mut slowest = 0;
    for number in 0..8_000 {
        // Every other page: nothing can be joined.
        let ns = bench.serve(Action::Write, 2 * number, PAGE_BYTES, Route::Buffered);
        slowest = slowest.max(ns);
        let dirty = bench.cache.inside(0).dirty_bytes;
        assert!(dirty <= 16 * MIB / 5 + PAGE_BYTES, "{dirty}");
    }
    assert!(slowest >= 90_000, "{slowest}");
    // In the long run at the drive's pace: what is not dirty any more took its time there.
    let written = bench.seen().len() as u64;
    assert!(bench.now > (written - 40) * 100_000 && written > 7_000);
}

#[test]
fn direct_operations_meet_what_was_written_before_them() {
    let mut bench = Bench::new(16 * MIB);
    bench.serve(Action::Write, 7, PAGE_BYTES, Route::Buffered);
    bench.serve(Action::Read, 7, PAGE_BYTES, Route::Direct);
    assert_eq!(bench.seen(), [(Action::Write, 7, 1), (Action::Read, 7, 1)]);
    assert_eq!(bench.serve(Action::Read, 7, PAGE_BYTES, Route::Buffered), HIT_NS);
    bench.serve(Action::Write, 7, PAGE_BYTES, Route::Direct);
    assert!(bench.serve(Action::Read, 7, PAGE_BYTES, Route::Buffered) > HIT_NS);
    bench.serve(Action::Write, 9, PAGE_BYTES, Route::Buffered);
    bench.serve(Action::Trim, 8, 8 * PAGE_BYTES, Route::Direct);
    bench.seen();
    bench.serve(Action::Flush, 0, 0, Route::Direct);
    assert_eq!(bench.seen(), [(Action::Flush, 0, 0)]);
    // A durable write is on the drive when it ends.
    let way = Way { route: Route::Buffered, is_durable: true, reader: 0 };
    bench.submit(0, Action::Write, 3, PAGE_BYTES, way);
    bench.end();
    assert_eq!(bench.seen(), [(Action::Write, 3, 1), (Action::Flush, 0, 0)]);
}

#[test]
fn durable_writes_of_one_page_are_all_on_the_drive_when_they_end() {
    let mut bench = Bench::new(16 * MIB);
    let way = Way { route: Route::Buffered, is_durable: true, reader: 0 };
    for ticket in 0..4 {
        bench.submit(ticket, Action::Write, 7, 512, way);
    }
    let ended: BTreeSet<Ticket> = (0..4).map(|_| bench.end().ticket).collect();
    assert_eq!((ended.len(), bench.cache.inside(0).dirty_bytes), (4, 0));
    let writes = bench.seen().iter().filter(|(action, ..)| *action == Action::Write).count();
    assert!(writes >= 2, "the page was written to again while it was on its way");
}

#[test]
fn the_cache_is_no_larger_than_it_is() {
    let mut bench = Bench::new(16 * MIB);
    let way = Way { route: Route::Buffered, ..Way::default() };
    for ticket in 0..64 {
        bench.submit(ticket, Action::Read, 1_000 * u64::from(ticket), MIB, way);
    }
    for _ in 0..64 {
        bench.end();
    }
    bench.serve(Action::Read, 200_000, PAGE_BYTES, Route::Buffered);
    bench.seen();
    // Of 16,384 pages that were read, 4,096 have room.
    for ticket in 0..64_u64 {
        bench.serve(Action::Read, 1_000 * ticket + 3, PAGE_BYTES, Route::Buffered);
    }
    assert!(bench.seen().len() >= 48);
}

#[test]
fn what_is_old_goes_in_large_requests_and_no_tick_is_missed() {
    let mut bench = Bench::new(256 * MIB);
    for page in 0..5_000 {
        bench.serve(Action::Write, page, PAGE_BYTES, Route::Buffered);
    }
    bench.cache.advance(28_000_000_000, &mut bench.ends);
    assert_eq!(bench.seen(), []);
    bench.now = 40_000_000_000;
    bench.cache.advance(bench.now, &mut bench.ends);
    assert_eq!((bench.seen().len(), bench.cache.inside(0).dirty_bytes), (16, 0));
    // Half a page becomes dirty when the rest of it has come, with nobody there to see it.
    bench.submit(0, Action::Write, 9_000, 512, Way { route: Route::Buffered, ..Way::default() });
    bench.now += 60_000_000_000;
    bench.cache.advance(bench.now, &mut bench.ends);
    assert_eq!(bench.seen(), [(Action::Read, 9_000, 1), (Action::Write, 9_000, 1)]);
}

#[test]
fn a_page_that_brings_on_the_next_window_is_read_itself() {
    let mut bench = Bench::new(16 * MIB);
    bench.serve(Action::Read, 0, PAGE_BYTES, Route::Buffered);
    bench.cache.forget_pages();
    bench.seen();
    assert!(bench.serve(Action::Read, 1, PAGE_BYTES, Route::Buffered) > 100_000);
    assert!(bench.seen().iter().any(|(_, first, pages)| (*first..first + pages).contains(&1)));
}

#[test]
fn a_trim_waits_for_what_is_on_its_way_and_takes_whole_pages_alone() {
    let mut bench = Bench::new(16 * MIB);
    for page in 0..500 {
        bench.serve(Action::Write, page, PAGE_BYTES, Route::Buffered);
    }
    let way = Way { route: Route::Buffered, ..Way::default() };
    bench.submit(1, Action::Flush, 0, 0, way);
    bench.submit(2, Action::Trim, 0, 2 * MIB, Way::default());
    bench.end();
    bench.end();
    let seen = bench.seen();
    let trim = seen.iter().position(|(action, ..)| *action == Action::Trim).unwrap();
    let last = seen.iter().rposition(|(action, ..)| *action == Action::Write).unwrap();
    assert!(trim > last, "{seen:?}");
    bench.serve(Action::Write, 600, PAGE_BYTES, Route::Buffered);
    bench.serve(Action::Trim, 600, 512, Route::Direct);
    assert_eq!(bench.cache.inside(0).dirty_bytes, PAGE_BYTES);
}

/// Many operations at once, drawn from a printed seed: each ends once, and what was written reaches
/// the drive.
#[test]
fn whatever_is_asked_for_ends_once_and_nothing_written_is_lost() {
    for seed in 1..=40 {
        println!("seed {seed}");
        let mut random = drivelab_stats::Random::new(seed);
        let mut bench = Bench::new(16 * MIB);
        let mut in_flight = BTreeSet::new();
        let mut written = BTreeSet::new();
        for _ in 0..3_000 {
            let ticket = (0..64).find(|ticket| !in_flight.contains(ticket));
            let Some(ticket) = ticket.filter(|_| random.below(3) > 0) else {
                if !in_flight.is_empty() {
                    assert!(in_flight.remove(&bench.end().ticket));
                }
                continue;
            };
            let action = match random.below(20) {
                0 => Action::Flush,
                n if n < 11 => Action::Read,
                _ => Action::Write,
            };
            let route = [Route::Direct, Route::Buffered, Route::Mapped][random.below(3) as usize];
            let way = Way { route, is_durable: random.below(8) == 0, reader: ticket % 4 };
            let page = random.below(8_000);
            let bytes = [512, 4096, 12_288, 1 << 20][random.below(4) as usize];
            if action == Action::Write {
                written.extend(page..page + u64::div_ceil(bytes, PAGE_BYTES));
            }
            bench.submit(ticket, action, page, bytes, way);
            in_flight.insert(ticket);
        }
        while !in_flight.is_empty() {
            assert!(in_flight.remove(&bench.end().ticket));
        }
        bench.serve(Action::Flush, 0, 0, Route::Buffered);
        assert_eq!(bench.cache.inside(0).dirty_bytes, 0);
        for (action, first, pages) in bench.seen() {
            if action == Action::Write {
                written.retain(|page| !(first..first + pages.max(1)).contains(page));
            }
        }
        assert_eq!(written, BTreeSet::new());
    }
}
