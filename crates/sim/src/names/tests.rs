//! What the file system reads and writes, against sums made by hand.

use super::*;
use drivelab_core::plan::{Names, Pattern, Stream, Sync, Until};
use drivelab_core::units::Span;
use std::cell::RefCell;
use std::rc::Rc;

const SECOND_NS: Time = 1_000_000_000;
/// What each operation takes on the drive of these tests.
const DRIVE_NS: Time = 100_000;
const BYTES: u64 = 1 << 30;

type Log = Rc<RefCell<Vec<(Time, DataOp, Way)>>>;

/// Takes the same time for everything, and keeps what it was asked for.
struct Plain(Log);

impl Drive for Plain {
    fn bytes(&self) -> u64 {
        BYTES
    }
    fn submit_by(&mut self, now: Time, ticket: Ticket, op: &DataOp, way: Way, ends: &mut Ends) {
        self.0.borrow_mut().push((now, *op, way));
        ends.push(now + DRIVE_NS, ticket, Cause::Flash);
    }
    fn inside(&mut self, _now: Time) -> Inside {
        Inside::default()
    }
}

/// A drive with names, and what reached it.
struct Bench {
    named: Named,
    log: Log,
    now: Time,
    ends: Ends,
}

impl Bench {
    fn new(keys: &str) -> Bench {
        let mut parameters = NamesParameters::default();
        for part in keys.split(',').filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').unwrap();
            parameters.set(key, value).unwrap();
        }
        let log = Log::default();
        let named = Named::new(parameters, Box::new(Plain(log.clone()))).unwrap();
        Bench { named, log, now: 0, ends: Ends::default() }
    }

    /// Worker `reader` works on these names.
    fn open(&mut self, reader: u32, actions: &[Action], change: impl FnOnce(&mut Stream)) {
        let names = Names { actions: actions.to_vec(), names: Some(100_000), ..Names::default() };
        let mut stream = Stream { workers: 4, pattern: Pattern::Names(names), ..Stream::default() };
        change(&mut stream);
        let setup = Setup {
            step: 0,
            stream_index: 0,
            worker: reader,
            stream,
            until: Until::default(),
            ramp: Span(0),
            interval: Span(1),
            cpus: String::new(),
            seed: 1,
            file_bytes: 0,
        };
        assert!(self.named.open_names(reader, &setup));
    }

    fn submit(&mut self, reader: u32, action: Action, name: u32) {
        let way = Way { reader, ..Way::default() };
        let op = NameOp::new(action, name);
        self.named.submit_name(self.now, reader, &op, way, &mut self.ends);
    }

    /// The next end; its worker, time and error.
    fn next(&mut self) -> (u32, Time, Option<Errno>) {
        loop {
            if let Some(end) = self.ends.pop(self.now) {
                return (end.ticket, end.at, self.named.failure_of(end.ticket));
            }
            self.now = self.now.max(self.ends.next_at().min(self.named.next_event()));
            self.named.advance(self.now, &mut self.ends);
        }
    }

    /// One call of worker 0 from beginning to end, and what it took.
    fn call(&mut self, action: Action, name: u32) -> Result<Time, Errno> {
        let began = self.now;
        self.submit(0, action, name);
        let (_, at, errno) = self.next();
        errno.map_or(Ok(at - began), Err)
    }

    /// Nothing is asked until then; what the drive was asked for since the last look.
    fn rest(&mut self, until: Time) -> Vec<(Time, DataOp, Way)> {
        while self.named.next_event() <= until {
            self.now = self.now.max(self.named.next_event());
            self.named.advance(self.now, &mut self.ends);
        }
        self.now = until;
        self.log.borrow_mut().drain(..).collect()
    }
}

fn blocks(ops: &[(Time, DataOp, Way)], action: Action) -> u64 {
    let mine = ops.iter().filter(|(_, op, _)| op.action == action);
    mine.map(|(_, op, _)| u64::from(op.len) / BLOCK_BYTES).sum()
}

/// Blocks that change where n files are created in one directory that stays one block: the bitmap
/// of inodes, the descriptor, a block of inodes for each 16, the block of the directory, and the
/// inode of the directory, which stands in the first block of the same table.
fn changed_by_creates(files: u64) -> u64 {
    1 + 1 + (files + 1).div_ceil(16) + 1
}

#[test]
fn creating_n_files_writes_the_blocks_of_the_sum() {
    for files in [1, 15, 16, 100] {
        let mut bench = Bench::new("");
        bench.open(0, &[Action::Create], |_| ());
        for name in 0..files {
            assert_eq!(bench.call(Action::Create, name as u32), Ok(17_000), "only the CPU");
        }
        assert!(bench.log.borrow().is_empty(), "nothing reaches the drive before a commit");
        let ops = bench.rest(20 * SECOND_NS);
        let changed = changed_by_creates(files);
        // Descriptor and blocks, a flush, the last block.
        assert_eq!(blocks(&ops, Action::Write), 1 + changed + 1, "{files} files");
        let [first, .., (_, flush, _), (_, last, way)] = ops.as_slice() else { panic!("{ops:?}") };
        assert_eq!(first.0, 17_000 + 5 * SECOND_NS, "5 s after the first change");
        assert_eq!(
            (flush.action, last.action, way.is_durable),
            (Action::Flush, Action::Write, true)
        );
        // Half a minute later each goes to its place, once.
        let ops = bench.rest(60 * SECOND_NS);
        assert_eq!(blocks(&ops, Action::Write), changed);
        assert_eq!(
            ops[0].0,
            40 * SECOND_NS,
            "the first look of every 5 s that finds them 30 s old"
        );
        assert!(bench.rest(600 * SECOND_NS).is_empty(), "then it rests");
    }
}

#[test]
fn without_a_journal_or_barriers_there_are_none() {
    let mut bench = Bench::new("names_journal=off");
    bench.open(0, &[Action::Create], |_| ());
    (0..100).for_each(|name| assert!(bench.call(Action::Create, name).is_ok()));
    let ops = bench.rest(600 * SECOND_NS);
    assert_eq!(blocks(&ops, Action::Write), changed_by_creates(100), "each to its place, once");
    assert!(ops.iter().all(|(_, op, _)| op.action == Action::Write));

    let mut bench = Bench::new("names_barrier=off");
    bench.open(0, &[Action::Create], |_| ());
    assert!(bench.call(Action::Create, 0).is_ok());
    let ops = bench.rest(20 * SECOND_NS);
    assert!(ops.iter().all(|(_, op, way)| op.action == Action::Write && !way.is_durable));
    assert_eq!(ops.len(), 2, "descriptor with blocks, and the last block");
}

#[test]
fn a_split_changes_root_two_leaves_and_a_bitmap() {
    let form = |stream: &mut Stream| {
        *stream = stream.clone().with_names(|names| names.form = Some("d/{name}".into()));
    };
    for (keys, more) in [("", 4), ("names_hash=off", 2)] {
        let mut bench = Bench::new(keys);
        bench.named.there(b"d", true);
        bench.open(0, &[Action::Create], form);
        // Five digits are entries of 16 bytes: 253 in the only block.
        for name in 10_000..10_253 {
            assert!(bench.call(Action::Create, name).is_ok());
        }
        bench.rest(600 * SECOND_NS);
        assert!(bench.call(Action::Create, 10_253).is_ok());
        let ops = bench.rest(620 * SECOND_NS);
        // Inode bitmap, descriptor, the file's inode, the directory's inode; then a bitmap of
        // blocks, and of a hashed directory root and two leaves, of a list the new block.
        let changed = 1 + 1 + 1 + 1 + more;
        assert_eq!(blocks(&ops, Action::Write), 1 + changed + 1, "{keys}");
    }
}

#[test]
fn fsync_commits_and_waits() {
    let mut bench = Bench::new("");
    bench.open(0, &[Action::Create], |stream| stream.sync = Sync::Fsync(1));
    // CPU, then blocks, flush and last block, one after the other.
    assert_eq!(bench.call(Action::Create, 0), Ok(17_000 + 3 * DRIVE_NS));
    assert_eq!(bench.log.borrow().len(), 3);
    let mut bench = Bench::new("names_barrier=off,names_cpu=off");
    bench.open(0, &[Action::Create], |stream| stream.sync = Sync::Fsync(1));
    assert_eq!(bench.call(Action::Create, 0), Ok(2 * DRIVE_NS));
    let mut bench = Bench::new("names_journal=off,names_cpu=off");
    bench.open(0, &[Action::Create], |stream| stream.sync = Sync::Fsync(1));
    assert_eq!(bench.call(Action::Create, 0), Ok(2 * DRIVE_NS), "blocks at once, and a flush");
}

#[test]
fn what_is_committed_already_needs_a_flush_alone() {
    let mut bench = Bench::new("names_cpu=off");
    bench.open(0, &[Action::Create, Action::Flush], |_| ());
    assert!(bench.call(Action::Create, 0).is_ok());
    bench.rest(20 * SECOND_NS);
    assert_eq!(bench.call(Action::Flush, 0), Ok(DRIVE_NS));
    let ops = bench.rest(21 * SECOND_NS);
    assert_eq!(ops.iter().map(|(_, op, _)| op.action).collect::<Vec<_>>(), [Action::Flush]);
}

/// Four workers that want an fsync share commits: while the first one's is under way, the others'
/// changes gather in the next.
#[test]
fn commits_are_shared() {
    let mut bench = Bench::new("names_cpu=off");
    for reader in 0..4 {
        bench.open(reader, &[Action::Create], |stream| stream.sync = Sync::Fsync(1));
    }
    (0..4).for_each(|reader| bench.submit(reader, Action::Create, 0));
    let mut ends: Vec<Time> = (0..4).map(|_| bench.next().1).collect();
    ends.sort_unstable();
    assert_eq!(ends, [3, 6, 6, 6].map(|times| times * DRIVE_NS));
    assert_eq!(bench.log.borrow().len(), 6, "two commits for four calls");
}

#[test]
fn one_call_at_a_time_changes_a_directory() {
    let creates = |keys: &str, directories: drivelab_core::plan::Files| {
        let mut bench = Bench::new(keys);
        for reader in 0..4 {
            bench.open(reader, &[Action::Create], |stream| {
                *stream = stream.clone().with_names(|names| names.directories = directories);
            });
        }
        (0..4).for_each(|reader| bench.submit(reader, Action::Create, 0));
        (0..4).map(|_| bench.next().1).max().unwrap()
    };
    use drivelab_core::plan::Files::{Each, One};
    assert_eq!(creates("", One), 4 * 17_000);
    assert_eq!(creates("", Each), 17_000);
    assert_eq!(creates("names_lock=off", One), 17_000);
    // Looking needs no lock.
    let mut bench = Bench::new("");
    for reader in 0..4 {
        bench.open(reader, &[Action::Stat], |stream| {
            *stream = stream.clone().with_names(|names| names.names = Some(10));
        });
    }
    (0..4).for_each(|reader| bench.submit(reader, Action::Stat, 0));
    assert_eq!((0..4).map(|_| bench.next().1).max(), Some(1_800));
}

#[test]
fn what_left_the_cache_is_read_once_and_stays() {
    let mut bench = Bench::new("");
    bench.open(0, &[Action::Stat], |stream| {
        *stream = stream.clone().with_names(|names| names.names = Some(17));
    });
    assert_eq!(bench.call(Action::Stat, 0), Ok(1_800), "what was just made is in memory");
    bench.named.forget_pages();
    // The block of the directory, and that of the inode.
    assert_eq!(bench.call(Action::Stat, 0), Ok(1_800 + 2 * DRIVE_NS));
    assert_eq!(bench.call(Action::Stat, 1), Ok(1_800));
    // The directory's own inode and 15 names are in the first block of inodes.
    assert_eq!(bench.call(Action::Stat, 16), Ok(1_800 + DRIVE_NS));
    let mut bench = Bench::new("names_cache=0");
    bench.open(0, &[Action::Stat], |stream| {
        *stream = stream.clone().with_names(|names| names.names = Some(17));
    });
    bench.named.forget_pages();
    (0..3).for_each(|_| assert_eq!(bench.call(Action::Stat, 0), Ok(1_800 + 2 * DRIVE_NS)));
}

#[test]
fn calls_that_cannot_be_fail_as_they_do_in_a_kernel() {
    let form = |form: &str, of_directories: bool| {
        let form = form.to_owned();
        move |stream: &mut Stream| {
            *stream = stream.clone().with_names(|names| {
                names.form = Some(form);
                names.of_directories = of_directories;
            });
        }
    };
    let mut bench = Bench::new("");
    bench.open(0, &[Action::Create], form("f{name}", false));
    assert!(bench.call(Action::Create, 0).is_ok());
    assert_eq!(bench.call(Action::Create, 0), Err(Errno(17)));
    assert_eq!(bench.call(Action::Stat, 1), Err(Errno(2)));
    assert_eq!(bench.call(Action::Unlink, 1), Err(Errno(2)));
    assert!(bench.call(Action::Unlink, 0).is_ok());
    assert_eq!(bench.call(Action::Unlink, 0), Err(Errno(2)));
    bench.open(0, &[Action::Mkdir], form("d{name}", true));
    assert!(bench.call(Action::Mkdir, 0).is_ok());
    bench.open(0, &[Action::Create], form("d0/f{name}", false));
    assert!(bench.call(Action::Create, 0).is_ok());
    bench.open(0, &[Action::Unlink], form("d{name}", true));
    assert_eq!(bench.call(Action::Unlink, 0), Err(Errno(39)), "it is not empty");
    bench.open(0, &[Action::Create], form("d1/f{name}", false));
    assert_eq!(bench.call(Action::Create, 0), Err(Errno(2)), "there is no such directory");
}

/// Nothing of what was made is left: every number and block is free for the next.
#[test]
fn what_is_removed_leaves_room() {
    let mut bench = Bench::new("");
    bench.open(0, &[Action::Create, Action::Unlink], |_| ());
    let mut changed = Vec::new();
    for _ in 0..3 {
        (0..1000).for_each(|name| assert!(bench.call(Action::Create, name).is_ok()));
        (0..1000).for_each(|name| assert!(bench.call(Action::Unlink, name).is_ok()));
        let until = bench.now + 600 * SECOND_NS;
        changed.push(blocks(&bench.rest(until), Action::Write));
    }
    // Only the blocks of the directory are new in the first round.
    assert!(changed[1] <= changed[0], "{changed:?}");
    assert_eq!(changed[1], changed[2], "the same numbers and blocks are used");
}

/// A journal that is too short for what changes makes calls wait, and none is lost.
#[test]
fn a_full_journal_makes_calls_wait() {
    let mut bench = Bench::new("names_commit=1h,names_writeback=1h,names_cpu=off");
    bench.open(0, &[Action::Mkdir], |_| ());
    // A directory changes its block and tables of a group; 8192 blocks are the journal of 1 GiB.
    let mut waited = 0;
    for name in 0..6000 {
        waited += u32::from(bench.call(Action::Mkdir, name).unwrap() > 0);
    }
    assert!(waited > 0 && waited < 100, "{waited} of 6000 waited");
    let ops = bench.rest(bench.now);
    assert!(blocks(&ops, Action::Write) > 2048, "commits, though the hour is not over");
}

#[test]
fn equal_calls_give_equal_times() {
    let run = || {
        let mut bench = Bench::new("names_cache=64KiB");
        for reader in 0..4 {
            bench.open(reader, &[Action::Create], |stream| stream.sync = Sync::Fsync(1));
        }
        (0..4).for_each(|reader| bench.submit(reader, Action::Create, 0));
        let mut ends = Vec::new();
        for name in 1..500 {
            let (reader, at, errno) = bench.next();
            ends.push((reader, at, errno));
            bench.submit(reader, Action::Create, name);
        }
        let log = bench.log.borrow().clone();
        (ends, log)
    };
    let (first, second) = (run(), run());
    assert!(first == second);
    assert!(first.0.iter().all(|(_, _, errno)| errno.is_none()));
}
