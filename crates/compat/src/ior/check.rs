//! From what was asked for to what can be done: contradictions, numbers of tasks, scaled sizes.

use super::settings::{Era, FAILED, Packet, Settings};
use crate::front::{Note, Refusal, Scale, Treatment, World};

/// Steps that one line may come to.
const STEPS_MAX: u64 = 90_000;
/// What IOR moves in one access is a multiple of this.
const ACCESS_BYTES: u64 = 8;
/// Most bytes that one call moves here.
const TRANSFER_MAX: u64 = 1 << 30;
/// A stamp needs transfers of a multiple of this.
const STAMPED_BYTES: u64 = 64;
/// What data counts from where no -G says it; IOR takes the time.
const SIGNATURE: i32 = 0x494F_5200;
/// Transfers that can be drawn one by one for a task.
const DRAWN_MAX: u64 = 1 << 16;
/// Longest -d and -D in seconds: a day, and a year.
const DELAY_MAX: u64 = 86_400;
const DEADLINE_MAX: u64 = 365 * 86_400;

/// One test, as it will be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test {
    /// As it was asked for; sizes and counts below hold.
    pub settings: Settings,
    /// Tasks that take part.
    pub tasks: u32,
    /// Tasks on this machine, as this era counts them.
    pub tasks_per_node: u32,
    /// Repetitions, at least 1.
    pub repetitions: u32,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Blocks of each task.
    pub segments: u64,
    /// It writes.
    pub writes: bool,
    /// It reads.
    pub reads: bool,
    /// What is written carries stamps.
    pub stamps: bool,
    /// The first number of what is written, where it is IOR's own data.
    pub counts_from: Option<i32>,
    /// What the status file says each task has written.
    pub reach: Option<Reach>,
}

/// As far as a status file says that a task has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reach {
    /// Transfers of each task.
    pub transfers: u64,
    /// Bytes of a block, and segments, that hold as many.
    pub block_bytes: u64,
    /// Segments.
    pub segments: u64,
}

impl Test {
    /// Bytes that one task writes or reads in one repetition.
    pub fn task_bytes(&self) -> u64 {
        self.block_bytes.saturating_mul(self.segments)
    }

    /// The same, of the part that is there to be read.
    pub fn reached_task_bytes(&self) -> u64 {
        let reached = self.reach.map(|reach| reach.block_bytes.saturating_mul(reach.segments));
        reached.unwrap_or(self.task_bytes())
    }

    /// Bytes of all tasks in the part that is there to be read.
    pub fn reached_bytes(&self) -> u64 {
        self.reached_task_bytes().saturating_mul(u64::from(self.tasks))
    }

    /// Bytes of one file that are used.
    pub fn used_bytes(&self) -> u64 {
        match self.settings.file_per_process {
            true => self.reached_task_bytes(),
            false => self.reached_bytes(),
        }
    }

    /// Bytes of all tasks.
    pub fn bytes(&self) -> u64 {
        self.task_bytes().saturating_mul(u64::from(self.tasks))
    }

    /// Bytes of one file.
    pub fn file_bytes(&self) -> u64 {
        if self.settings.file_per_process { self.task_bytes() } else { self.bytes() }
    }

    /// What is read is checked while it is read, as 4.x does it.
    pub fn verifies_reads(&self, era: Era) -> bool {
        era == Era::New && self.settings.check_read
    }

    /// What was read is read once more and checked, as 2.10.3 does it.
    pub fn rereads(&self, era: Era) -> bool {
        era == Era::Old && self.settings.check_read
    }
}

/// Looks for what contradicts itself.
///
/// # Errors
/// In the words of the program, with ours next to them.
pub fn test(
    settings: &Settings,
    era: Era,
    world: &dyn World,
    notes: &mut Vec<Note>,
) -> Result<Test, Refusal> {
    sizes(settings)?;
    contradictions(settings, era)?;
    let tasks = tasks(settings, era, world, notes)?;
    let (block_bytes, segments) = scaled(settings, world.scale());
    let repetitions = repetitions(settings, notes);
    let both = settings.does_both();
    let counts = era == Era::New && settings.packet == Packet::Plain;
    let test = Test {
        tasks,
        tasks_per_node: if era == Era::Old { tasks } else { world.ranks().max(1) },
        repetitions,
        block_bytes,
        segments,
        writes: settings.write || both,
        // In 4.x checking what is read needs reading it.
        reads: settings.read || both || (era == Era::New && settings.check_read),
        stamps: !counts
            && (settings.checks() || (settings.signature != 0 && is_stampable(settings))),
        counts_from: counts.then(|| signature(settings)),
        reach: reach(settings, (block_bytes, segments), world, notes)?,
        settings: settings.clone(),
    };
    let all_segments = u128::from(block_bytes) * u128::from(segments);
    let total = all_segments.saturating_mul(u128::from(tasks));
    if total > u128::from(u64::MAX / 2) {
        let text = format!("ERROR: {total} bytes in all are more than a file can have.");
        return Err(Refusal::new(FAILED, text, "Use a smaller -b or -s."));
    }
    if u64::from(repetitions) * 6 > STEPS_MAX {
        let text = format!("{repetitions} repetitions are more than one run supports.");
        return Err(Refusal::new(FAILED, text, "Use a smaller -i."));
    }
    Ok(test)
}

/// The number from which the data counts: the one of -G, or one of ours, the same in every run. Of
/// numbers that are too large IOR takes the lower half.
fn signature(settings: &Settings) -> i32 {
    if settings.signature == 0 { SIGNATURE } else { settings.signature as i32 }
}

/// How far the status file says that each task has come, where one is to be read.
fn reach(
    settings: &Settings,
    (block_bytes, segments): (u64, u64),
    world: &dyn World,
    notes: &mut Vec<Note>,
) -> Result<Option<Reach>, Refusal> {
    let Some(path) = settings.status_file.as_ref().filter(|_| !settings.writes()) else {
        return Ok(None);
    };
    let read = world.text(path).ok().and_then(|text| text.trim().parse::<u64>().ok());
    let Some(transfers) = read.filter(|transfers| *transfers > 0) else {
        let text = format!(
            "WARNING: Could not read back the stonewalling status from the file! ({path}) All is \
             read."
        );
        notes.push(Note::new("no_status", "stoneWallingStatusFile", Treatment::Same, text));
        return Ok(None);
    };
    let of_block = block_bytes / settings.transfer_bytes;
    if transfers >= of_block.saturating_mul(segments) {
        return Ok(None);
    }
    if settings.random {
        return Err(failed(
            "-z with a status file of less than all is not supported here.",
            "Leave -z out, or the status file and read all.",
        ));
    }
    if settings.file_per_process {
        // The blocks of a task's own file follow each other.
        let block_bytes = transfers * settings.transfer_bytes;
        return Ok(Some(Reach { transfers, block_bytes, segments: 1 }));
    }
    if !transfers.is_multiple_of(of_block) {
        let text = format!(
            "the status file {path} says {transfers} transfers, which end within a block of \
             {of_block}; in a shared file that is not supported here."
        );
        return Err(failed(&text, "Use -F, or blocks of one transfer (-b as large as -t)."));
    }
    Ok(Some(Reach { transfers, block_bytes, segments: transfers / of_block }))
}

fn is_stampable(settings: &Settings) -> bool {
    settings.transfer_bytes.is_multiple_of(STAMPED_BYTES)
}

fn failed(text: &str, advice: &str) -> Refusal {
    Refusal::new(FAILED, format!("ERROR: {text}"), advice)
}

fn sizes(settings: &Settings) -> Result<(), Refusal> {
    let (block, transfer) = (settings.block_bytes, settings.transfer_bytes);
    let wrong = |text: &str, advice: &str| Err(failed(text, advice));
    if settings.segments == 0 {
        return wrong("no segments, so nothing is transferred.", "Use -s 1 or more.");
    }
    if transfer == 0 {
        return wrong("test will not complete with zero transfer size.", "Use -t 4k or the like.");
    }
    if block < transfer && block == 0 {
        let advice = "Use a -b of at least the -t.";
        return wrong("block size must not be smaller than transfer size.", advice);
    }
    for (name, bytes) in [("block", block), ("transfer", transfer)] {
        if !bytes.is_multiple_of(ACCESS_BYTES) {
            let text = format!("{name} size must be a multiple of access size.");
            return wrong(&text, "An access is of 8 bytes.");
        }
    }
    if !block.is_multiple_of(transfer) {
        let advice = "Use a -b of whole transfers (-t).";
        return wrong("block size must be a multiple of transfer size.", advice);
    }
    Ok(())
}

fn contradictions(settings: &Settings, era: Era) -> Result<(), Refusal> {
    let shared = !settings.file_per_process;
    let writes = settings.writes();
    let offset = settings.packet == Packet::Offset && era == Era::Old;
    let found: [(bool, &str, &str); 10] = [
        (
            settings.reorder_constant && settings.reorder_random,
            "Both Constant and Random task re-ordering specified. Choose one and resubmit.",
            "Leave -C or -Z out.",
        ),
        (
            settings.random && shared && settings.reorder_constant,
            "random offset and constant reorder tasks specified with single-shared-file. Choose \
             one and resubmit.",
            "Leave -z or -C out, or use -F.",
        ),
        (
            settings.random && shared && settings.reorder_random,
            "random offset and random reorder tasks specified with single-shared-file. Choose one \
             and resubmit.",
            "Leave -z or -Z out, or use -F.",
        ),
        (
            settings.random && settings.check_read && era == Era::Old,
            "random offset not available with read check option (use write check).",
            "Use -W instead of -R.",
        ),
        (
            settings.random && offset,
            "random offset not available with store file offset option).",
            "Leave -z or -l out.",
        ),
        (
            // 4.x checks what it reads until then.
            settings.deadline_s > 0
                && (settings.check_write || (settings.check_read && (writes || era == Era::Old))),
            "can not perform write or read check with stonewalling.",
            "Leave -D out: what was not written cannot be checked.",
        ),
        (
            era == Era::New && settings.check_read && !writes && settings.signature == 0,
            "using readCheck only requires to write a timeStampSignature -- use -G",
            "Give the -G with which the file was written; written without -G, -W and -R it has \
             nothing that could be checked.",
        ),
        (
            era == Era::New && settings.shuffles_single_transfers(),
            "IOR will randomize access within a block and repeats the same pattern for all \
             segments, therefore choose blocksize > transferSize",
            "Use a large -b and -s 1.",
        ),
        (
            settings.status_file.is_some() && writes && !settings.wear_out,
            "the StoneWallingStatusFile is only sensible for a write test when using  \
             stoneWallingWearOut",
            "Add -O stoneWallingWearOut=1.",
        ),
        (
            era == Era::New && settings.tasks == Some(0),
            "too few tasks for testing",
            "Use -N 1 or more, or leave it out.",
        ),
    ];
    if let Some((_, text, advice)) = found.iter().find(|(is_so, _, _)| *is_so) {
        return Err(failed(text, advice));
    }
    unsupported(settings, era)
}

/// What IOR can do and we cannot.
fn unsupported(settings: &Settings, era: Era) -> Result<(), Refusal> {
    let writes = settings.writes();
    let reads = settings.read || settings.does_both();
    if settings.status_file.is_some() && writes && reads {
        return Err(failed(
            "a status file with writing and reading in one line is not supported here.",
            "Write with -w -k, then read with -r.",
        ));
    }
    drawn_or_dummy(settings)?;
    if settings.deadline_s > 0 && writes && reads {
        return Err(failed(
            "-D with writing and reading in one line is not supported here: what is read was \
             written only in part (IOR 2.10.3 ends with `hit EOF prematurely`).",
            "Write with -w -k, then read with -r and a -b that was reached: the files are as large \
             as they were to become, and reading further finds holes.",
        ));
    }
    let counts = era == Era::New && settings.packet == Packet::Plain;
    if settings.checks() && !counts && !is_stampable(settings) {
        return Err(failed(
            "what is checked carries stamps here, which need transfers of whole 64 bytes.",
            "Use a -t that is a multiple of 64.",
        ));
    }
    if settings.transfer_bytes > TRANSFER_MAX {
        let text = "transfers of more than 1 GiB are not supported here.";
        return Err(failed(text, "Use a smaller -t."));
    }
    if settings.delay_s > DELAY_MAX || settings.deadline_s > DEADLINE_MAX {
        let text = "a delay of more than a day, or a deadline after more than a year, is too long.";
        return Err(failed(text, "Use a smaller -d or -D."));
    }
    if settings.test_file.contains('@') && !settings.file_per_process {
        return Err(failed("several names (-o A@B) need a file of each task.", "Add -F."));
    }
    Ok(())
}

/// What -z -z and -a DUMMY cannot be combined with.
fn drawn_or_dummy(settings: &Settings) -> Result<(), Refusal> {
    let (draws, is_dummy) = (settings.draws_blocks, settings.is_dummy());
    let transfers = (settings.block_bytes / settings.transfer_bytes)
        .saturating_mul(settings.segments)
        .saturating_mul(settings.tasks.unwrap_or(1).max(1));
    let delay = settings.create_delay_us.max(settings.transfer_delay_us);
    let found = [
        (
            draws && settings.writes(),
            "-z -z with writing is not supported here: blocks are drawn from a file that is there \
             (ior 4 divides by its size, which is 0 then, and crashes).",
            "Write with -w -k first, then read with -r -z -z.",
        ),
        (
            draws && (is_dummy || settings.checks()),
            "-z -z with -a DUMMY, -W or -R is not supported here.",
            "Leave one -z out.",
        ),
        (
            draws && settings.block_bytes > settings.transfer_bytes && transfers > DRAWN_MAX,
            "-z -z of more than 65536 transfers in blocks of several is not supported here.",
            "Use a smaller -s, or a -b as large as -t.",
        ),
        (
            is_dummy && settings.checks(),
            "-W and -R with -a DUMMY check what was never written, and find errors in ior itself.",
            "Leave -W and -R out, or use -a POSIX.",
        ),
        (
            is_dummy && delay > DELAY_MAX * 1_000_000,
            "a delay of more than a day is too long.",
            "Use a smaller --dummy.delay-create and --dummy.delay-xfer.",
        ),
    ];
    match found.iter().find(|(is_so, _, _)| *is_so) {
        Some((_, text, advice)) => Err(failed(text, advice)),
        None => Ok(()),
    }
}

fn tasks(
    settings: &Settings,
    era: Era,
    world: &dyn World,
    notes: &mut Vec<Note>,
) -> Result<u32, Refusal> {
    let ranks = world.ranks().max(1);
    let asked = settings.tasks.filter(|tasks| *tasks > 0 || era == Era::New);
    let asked = asked.unwrap_or(u64::from(ranks));
    if asked > u64::from(ranks) {
        let text = format!(
            "WARNING: More tasks requested ({asked}) than available ({ranks}), running on {ranks} \
             tasks."
        );
        notes.push(Note::new("fewer_tasks", "-N", Treatment::Same, text));
    }
    u32::try_from(asked.min(u64::from(ranks))).map_err(|_| failed("too many tasks.", "Use fewer."))
}

fn repetitions(settings: &Settings, notes: &mut Vec<Note>) -> u32 {
    if settings.repetitions == 0 {
        let text = "WARNING: too few test repetitions.  Using value of 1.";
        notes.push(Note::new("one_repetition", "-i", Treatment::Same, text));
    }
    settings.repetitions.max(1)
}

/// Bytes of a block and number of segments: segments are scaled as long as one is left, then the
/// block, in whole transfers.
fn scaled(settings: &Settings, scale: Scale) -> (u64, u64) {
    if scale == Scale::WHOLE {
        return (settings.block_bytes, settings.segments);
    }
    let whole_segments = u128::from(settings.segments) * u128::from(scale.numerator)
        / u128::from(scale.denominator.max(1));
    if settings.segments > 1 && whole_segments >= 1 {
        return (settings.block_bytes, scale.of(settings.segments, 1));
    }
    let all = settings.block_bytes.saturating_mul(settings.segments);
    (scale.of(all, settings.transfer_bytes), 1)
}
