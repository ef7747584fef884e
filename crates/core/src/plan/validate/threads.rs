//! What a stream may tell the kernel of its threads and of single writes.

use super::{Geometry, Problems, cpu_list};
use crate::facts::TargetKind;
use crate::plan::{Engine, IoMode, IoPriority, MemoryMode, Stream, ThreadSettings};

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
}

fn thread_of(thread: &ThreadSettings, problems: &mut Problems) {
    let level = thread.io_priority.map_or(0, |priority| priority.level);
    problems.need(level <= IoPriority::LEVEL_MAX, "thread", || {
        format!("priority level {level} is out of range; use 0, the highest, to 7")
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
