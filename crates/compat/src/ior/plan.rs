//! The tests of a line as steps, one after the other: repetition by repetition, writing before
//! reading.

use super::check::Test;
use super::place::Places;
use super::settings::{Era, FAILED, Interface, Packet};
use crate::front::{Refusal, Scale};
use drivelab_core::plan::{
    Act, Arrival, Content, Engine, Files, IoMode, Mix, Pattern, Plan, Role, Sharing, Step, Stream,
    Sync, Think, Until, Window,
};
use drivelab_core::units::{Size, Span};

/// Steps that one run holds.
const STEPS_MAX: usize = 90_000;
/// The seed where IOR itself has always the same order of addresses and content.
const SEED: u64 = 0x0049_4F52;
/// How much of IOR's usual content is compressible, in percent: gzip -1 made 8.5 % of what 2.10.3
/// wrote, and 18.8 % of what 4.0.0 did.
const COMPRESSIBLE: [u32; 2] = [91, 81];
const SECOND_NS: u64 = 1_000_000_000;
const MICROSECOND_NS: u64 = 1_000;

/// What a step of the plan is to the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Timed writing.
    Write,
    /// What was written is checked, not timed.
    CheckWrite,
    /// Timed reading.
    Read,
    /// What was read is checked, not timed.
    CheckRead,
    /// Anything in between.
    Between,
}

/// Which step is which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// Index of the test.
    pub test: u32,
    /// Repetition, from 0.
    pub repetition: u32,
    /// What it does.
    pub access: Access,
}

/// Makes the plan, and says what each of its steps is.
///
/// # Errors
/// It would be longer than a run can be.
pub fn plan(
    title: &str,
    tests: &[Test],
    places: &Places,
    era: Era,
    scale_time: Scale,
) -> Result<(Plan, Vec<Key>), Refusal> {
    let drawn_anew = era == Era::Old && tests.iter().any(|test| test.settings.random);
    let mut plan = Plan {
        title: title.to_owned(),
        seed: if drawn_anew { 0 } else { SEED },
        files: places.files.clone(),
        ..Plan::default()
    };
    let mut keys = Vec::new();
    for (index, test) in tests.iter().enumerate() {
        let whole = Whole { tests, test, index, places, era, scale_time };
        for repetition in 0..test.repetitions {
            for (access, step) in whole.repetition(repetition) {
                plan.steps.push(step);
                keys.push(Key { test: index as u32, repetition, access });
            }
            if plan.steps.len() > STEPS_MAX {
                let text = format!(
                    "ERROR: more than {STEPS_MAX} steps are more than one run \
                                    supports."
                );
                return Err(Refusal::new(FAILED, text, "Use a smaller -i."));
            }
        }
    }
    Ok((plan, keys))
}

/// Whether the blocks of old files are given back before each writing: where all tests work on the
/// same files, so that nothing that is to stay is lost.
pub fn gives_back(tests: &[Test], places: &Places) -> bool {
    let placed = |index: &usize| !tests[*index].settings.is_dummy();
    let mut own = (0..tests.len()).filter(placed);
    let Some(first) = own.next() else { return false };
    let writes = |index: usize| places.sets[index] == places.sets[first] && tests[index].writes;
    !places.is_drive && tests[first].writes && own.all(writes)
}

struct Whole<'a> {
    tests: &'a [Test],
    test: &'a Test,
    index: usize,
    places: &'a Places,
    era: Era,
    scale_time: Scale,
}

impl Whole<'_> {
    fn repetition(&self, repetition: u32) -> Vec<(Access, Step)> {
        let test = self.test;
        let settings = &test.settings;
        let mut steps = Vec::new();
        if test.writes {
            if self.removes_before(repetition) {
                steps.push((Access::Between, self.remove()));
            }
            steps.extend(self.delay());
            steps.push((Access::Write, self.timed("write", self.write(repetition))));
        }
        if settings.check_write {
            let stream = self.check(repetition, self.shift_of_check());
            steps.push((Access::CheckWrite, self.untimed("check write", stream)));
        }
        if test.reads {
            steps.extend(self.delay());
            let stream = self.read(repetition);
            steps.push((Access::Read, self.timed("read", stream)));
        }
        if test.rereads(self.era) {
            let stream = self.check(repetition, 0);
            steps.push((Access::CheckRead, self.untimed("check read", stream)));
        }
        steps
    }

    /// Files that each repetition leaves are not removed later on.
    fn removes_before(&self, repetition: u32) -> bool {
        let settings = &self.test.settings;
        let leaves = settings.multi_file && settings.keep;
        (repetition == 0 || !leaves)
            && !settings.existing
            && !settings.is_dummy()
            && gives_back(self.tests, self.places)
    }

    fn remove(&self) -> Step {
        Step {
            name: self.name("remove"),
            role: Role::Prepare,
            act: Some(Act::Trim { offset: Size(0), length: None }),
            repeat: 1,
            ..Step::default()
        }
    }

    fn delay(&self) -> Option<(Access, Step)> {
        let span = self.nanoseconds(self.test.settings.delay_s);
        (span.0 > 0).then(|| {
            let step = Step {
                name: self.name("delay"),
                role: Role::Idle,
                act: Some(Act::Idle(span)),
                repeat: 1,
                ..Step::default()
            };
            (Access::Between, step)
        })
    }

    fn nanoseconds(&self, seconds: u64) -> Span {
        Span(self.scale_time.of(seconds.saturating_mul(SECOND_NS), 1))
    }

    /// Steps of one name are repetitions of one another.
    fn name(&self, what: &str) -> String {
        match self.tests.len() {
            1 => what.to_owned(),
            _ => format!("{what}, test {}", self.index),
        }
    }

    fn timed(&self, what: &str, stream: Stream) -> Step {
        let deadline = self.nanoseconds(self.test.settings.deadline_s);
        let elapsed = (deadline.0 > 0).then_some(deadline);
        let wear_out = elapsed.is_some() && self.test.settings.wear_out;
        // What is drawn for ever has no passes.
        let all = self.test.segments.saturating_mul(u64::from(self.test.tasks));
        let end = match stream.pattern {
            Pattern::Uniform => Until { operations: Some(all), ..Until::default() },
            _ => one_pass(),
        };
        self.step(what, Role::Measure, Until { elapsed, wear_out, ..end }, stream)
    }

    fn untimed(&self, what: &str, stream: Stream) -> Step {
        self.step(what, Role::Prepare, one_pass(), stream)
    }

    fn step(&self, what: &str, role: Role, until: Until, stream: Stream) -> Step {
        let streams = vec![stream];
        Step { name: self.name(what), role, until, repeat: 1, streams, ..Step::default() }
    }

    fn write(&self, repetition: u32) -> Stream {
        let settings = &self.test.settings;
        let sync = match (settings.fsync_per_write, settings.fsync) {
            (true, _) => Sync::Fsync(1),
            (false, true) => Sync::End,
            (false, false) => Sync::None,
        };
        let content = match (settings.packet, self.counts_from(repetition)) {
            (Packet::Random, _) => Content::Random,
            (_, Some(first)) => Content::Counting(first),
            _ => Content::Compressible(COMPRESSIBLE[usize::from(self.era == Era::New)]),
        };
        let stamp = self.test.stamps;
        let pass = stamp.then_some(u64::from(repetition));
        let start_after = microseconds(settings.create_delay_us, settings.is_dummy());
        Stream {
            mix: Mix::WRITE,
            sync,
            content,
            stamp,
            pass,
            start_after,
            ..self.stream(repetition)
        }
    }

    fn read(&self, repetition: u32) -> Stream {
        let verify = self.test.verifies_reads(self.era);
        let pass = self.pass(repetition).filter(|_| verify);
        let (neighbour, content) =
            (self.shift_of_read(repetition), self.content_checked(verify, repetition));
        Stream { mix: Mix::READ, verify, pass, neighbour, content, ..self.stream(repetition) }
    }

    fn check(&self, repetition: u32, neighbour: u32) -> Stream {
        let (pass, content) = (self.pass(repetition), self.content_checked(true, repetition));
        Stream { mix: Mix::READ, verify: true, pass, neighbour, content, ..self.stream(repetition) }
    }

    /// What is to be found where it is IOR's own data; stamps need no word of it.
    fn content_checked(&self, verify: bool, repetition: u32) -> Content {
        let counts_from = self.counts_from(repetition).filter(|_| verify);
        counts_from.map_or(Content::default(), Content::Counting)
    }

    /// The first number of the data: that of -G, or another one in each repetition.
    fn counts_from(&self, repetition: u32) -> Option<i32> {
        let is_given = self.test.settings.signature != 0;
        let further = if is_given { 0 } else { repetition as i32 };
        self.test.counts_from.map(|first| first.wrapping_add(further))
    }

    /// What the stamps must say; nobody knows of what was written before.
    fn pass(&self, repetition: u32) -> Option<u64> {
        let has_stamps = self.test.writes && self.test.counts_from.is_none();
        has_stamps.then_some(u64::from(repetition))
    }

    fn stream(&self, repetition: u32) -> Stream {
        let (test, settings) = (self.test, &self.test.settings);
        let sets = &self.places.sets[self.index];
        let set = if settings.multi_file { repetition as usize } else { 0 };
        let is_dummy = settings.is_dummy();
        // What goes nowhere has no file to share.
        let each = is_dummy || (settings.file_per_process && !self.places.is_drive);
        let drawn = self.places.drawn.get(self.index).copied().flatten();
        let transfer_delay = microseconds(settings.transfer_delay_us, is_dummy);
        let base = Stream {
            engine: match settings.interface {
                Interface::Posix => Engine::Psync,
                Interface::Mmap => Engine::Mmap,
                Interface::Dummy => Engine::Null,
            },
            arrival: Arrival::Closed {
                burst: None,
                think: (transfer_delay.0 > 0)
                    .then_some(Think { time: transfer_delay, first: true }),
            },
            io: if settings.direct { IoMode::Direct } else { IoMode::Buffered },
            size: Size(test.settings.transfer_bytes),
            length: Some(Size(drawn.unwrap_or(match each {
                true => test.reached_task_bytes(),
                false => test.reached_bytes(),
            }))),
            files: if each { Files::Each } else { Files::One },
            first_file: sets.get(set).copied().unwrap_or(0),
            workers: test.tasks,
            ..Stream::default()
        };
        if drawn.is_some() && test.block_bytes == settings.transfer_bytes {
            return Stream { pattern: Pattern::Uniform, ..base };
        }
        if let Some(bytes) = drawn {
            return Stream { pattern: Pattern::Replay(self.drawn_blocks(bytes, each)), ..base };
        }
        let on_regions = settings.file_per_process && self.places.is_drive && !is_dummy;
        match (settings.random, on_regions) {
            (true, on_regions) => Stream {
                pattern: Pattern::Permutation,
                regions: on_regions.then_some(Sharing::Disjoint),
                window: self.segment(each),
                // 4.x draws the same order each time, for reading as for writing.
                order: (self.era == Era::New).then_some(1),
                ..base
            },
            // A file of a task's own is a region of the drive.
            (false, true) => {
                Stream { pattern: Pattern::SEQUENTIAL, regions: Some(Sharing::Disjoint), ..base }
            }
            (false, false) => Stream {
                pattern: Pattern::Segments {
                    block: Size(test.reach.map_or(test.block_bytes, |reach| reach.block_bytes)),
                    segments: Some(test.reach.map_or(test.segments, |reach| reach.segments)),
                },
                ..base
            },
        }
    }

    /// A segment is gone through before the next one, by all tasks or by each in its own file.
    fn segment(&self, each: bool) -> Option<Window> {
        let test = self.test;
        let block = test.block_bytes;
        let tasks = if each { 1 } else { u64::from(test.tasks) };
        (self.era == Era::New && test.segments > 1).then_some(Window {
            size: Size(block.saturating_mul(tasks)),
            bytes: (tasks > 1).then_some(Size(block)),
            step: None,
        })
    }

    /// The transfers of all tasks where each draws a block of the file for each of its segments. Of
    /// a shared file they stand in turns: one of each task.
    fn drawn_blocks(&self, bytes: u64, each: bool) -> Vec<Size> {
        let (test, transfer) = (self.test, self.test.settings.transfer_bytes);
        let blocks = (bytes / test.block_bytes).max(1);
        let tasks = if each { 1 } else { u64::from(test.tasks) };
        let of_segment = |segment: u64| {
            let of_task = move |task: u64| mixed(segment * tasks + task) % blocks;
            (0..test.block_bytes / transfer).flat_map(move |at| {
                (0..tasks).map(move |task| Size(of_task(task) * test.block_bytes + at * transfer))
            })
        };
        (0..test.segments).flat_map(of_segment).collect()
    }

    /// How many tasks further on those are whose data is read. IOR counts in nodes: on a single one
    /// it comes back to the task itself.
    fn shift_of_read(&self, repetition: u32) -> u32 {
        let (test, settings) = (self.test, &self.test.settings);
        if settings.reorder_random {
            return drawn(settings.reorder_seed, repetition, test.tasks);
        }
        if !settings.reorder_constant {
            return 0;
        }
        remainder(u128::from(settings.task_offset) * u128::from(test.tasks_per_node), test.tasks)
    }

    /// What was written is checked two nodes further on.
    fn shift_of_check(&self) -> u32 {
        let test = self.test;
        let shifts = test.settings.reorder_constant || test.settings.reorder_random;
        if shifts { remainder(2 * u128::from(test.tasks_per_node), test.tasks) } else { 0 }
    }
}

fn remainder(shift: u128, tasks: u32) -> u32 {
    (shift % u128::from(tasks.max(1))) as u32
}

/// A shift for `-Z` that is never to oneself: always the same of a seed, or another one each time
/// if it is negative.
fn drawn(seed: i64, repetition: u32, tasks: u32) -> u32 {
    if tasks < 2 {
        return 0;
    }
    let turn = if seed < 0 { u64::from(repetition) } else { 0 };
    1 + (mixed(seed.unsigned_abs().wrapping_add(turn)) % u64::from(tasks - 1)) as u32
}

/// The output function of SplitMix64 (Steele, Lea and Flood 2014, figure 17).
fn mixed(seed: u64) -> u64 {
    let mut mixed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// A wait that only an interface of waits has.
fn microseconds(asked: u64, is_dummy: bool) -> Span {
    Span(if is_dummy { asked.saturating_mul(MICROSECOND_NS) } else { 0 })
}

fn one_pass() -> Until {
    Until { passes: Some(1), ..Until::default() }
}
