//! What a stream may tell the kernel of its threads and of single writes.

use super::{Geometry, Problems, cpu_list};
use crate::facts::TargetKind;
use crate::op::Action;
use crate::plan::{
    Engine, IoMode, IoPriority, MemoryMode, RequestPriority, Stream, ThreadSettings,
};

/// Priorities times workers of a stream: each has histograms of its own in all tallies.
const KEPT_MAX: u64 = 512;
/// Entries that a stream's list of priorities has at most.
const PRIORITIES_MAX: usize = 256;

pub(super) fn threads(stream: &Stream, geometry: &Geometry, problems: &mut Problems) {
    let carries = matches!(stream.engine, Engine::IoUring | Engine::Libaio | Engine::Psync);
    let is_whole = carries && stream.io == IoMode::Direct && !stream.is_metadata();
    problems.need(is_whole || !stream.atomic, "atomic", || {
        "writes that are whole or not at all are direct writes of io_uring, libaio or psync; use \
         one of them, or remove `atomic`"
            .to_string()
    });
    let writes = stream.mix.write > 0 || stream.reply.is_some();
    problems.need(writes || !stream.atomic, "atomic", || {
        "`atomic` is about writes, and there are none; remove it or add writes".to_string()
    });
    let keeps = geometry.kind != TargetKind::Simulated;
    problems.need(keeps || !stream.atomic, "atomic", || {
        "a simulated drive keeps no data that could be torn; remove `atomic`".to_string()
    });
    if let Some(thread) = &stream.thread {
        thread_of(thread, problems);
    }
    if !stream.request_priorities.is_empty() {
        request_priorities(stream, geometry, problems);
    }
}

fn request_priorities(stream: &Stream, geometry: &Geometry, problems: &mut Problems) {
    let list = &stream.request_priorities;
    let mut need =
        |holds: bool, text: &str| problems.need(holds, "request_priorities", || text.to_string());
    need(
        matches!(stream.engine, Engine::IoUring | Engine::Libaio) && !stream.is_metadata(),
        "only requests of io_uring and libaio carry a priority of their own; use one of them, or \
         `thread` for a priority of all",
    );
    need(
        geometry.kind != TargetKind::Simulated,
        "no scheduler stands before a simulated drive; remove `request_priorities`",
    );
    need(stream.reply.is_none(), "replies have no priority of their own; remove one of the two");
    need(list.len() <= PRIORITIES_MAX, "more than 256 entries; use fewer");
    let moves = |it: &RequestPriority| matches!(it.action, Action::Read | Action::Write);
    need(list.iter().all(moves), "only reads and writes have priorities; use `read` or `write`");
    let is_mixed = |one: &RequestPriority| {
        list.iter()
            .any(|other| one.action == other.action && one.size.is_some() != other.size.is_some())
    };
    need(
        !list.iter().any(is_mixed),
        "some entries of an action have a `size` and others have none; give it to all or to none",
    );
    let mut numbers: Vec<u16> = list.iter().map(|one| one.priority.number()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let kept = numbers.len() as u64 * u64::from(stream.workers);
    need(
        kept <= KEPT_MAX,
        "priorities times workers come to more than 512, each with its own histograms; use fewer",
    );
    let sum = |one: &RequestPriority| {
        let same = list.iter().filter(|it| (it.action, it.size) == (one.action, one.size));
        same.map(|it| u64::from(it.percent)).sum::<u64>()
    };
    need(
        list.iter().all(|one| sum(one) <= 100),
        "the entries of one action and size come to more than 100 percent; use less",
    );
    for one in list {
        let IoPriority { level, hint, .. } = one.priority;
        problems.need(level <= IoPriority::LEVEL_MAX, "request_priorities", || {
            format!("priority level {level} is out of range; use 0, the highest, to 7")
        });
        problems.need(hint <= IoPriority::HINT_MAX, "request_priorities", || {
            format!("priority hint {hint} is out of range; use 0, none, to 1023")
        });
    }
}

fn thread_of(thread: &ThreadSettings, problems: &mut Problems) {
    let level = thread.io_priority.map_or(0, |priority| priority.level);
    problems.need(level <= IoPriority::LEVEL_MAX, "thread", || {
        format!("priority level {level} is out of range; use 0, the highest, to 7")
    });
    let hint = thread.io_priority.map_or(0, |priority| priority.hint);
    problems.need(hint <= IoPriority::HINT_MAX, "thread", || {
        format!("priority hint {hint} is out of range; use 0, none, to 1023")
    });
    let nice = thread.nice.unwrap_or(0);
    problems.need((-20..=19).contains(&nice), "thread", || {
        format!("nice value {nice} is out of range; use -20 to 19")
    });
    let mut nodes = |list: &str, is_needed: bool| {
        let problem = match (list.is_empty(), is_needed) {
            (true, true) => Some("this policy needs `nodes`, such as 0-1".to_string()),
            (true, false) => None,
            (false, _) => cpu_list(list)
                .err()
                .map(|_| format!("`{list}` is not a list of NUMA nodes; write it like 0-1")),
        };
        problems.need(problem.is_none(), "thread", || problem.unwrap_or_default());
    };
    nodes(&thread.cpu_nodes, false);
    if let Some(memory) = &thread.memory {
        nodes(&memory.nodes, memory.mode != MemoryMode::Local);
    }
}
