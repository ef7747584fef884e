//! Lays out a file that drivelab just created, so that no read meets a block never written.

use crate::target::ResolvedTarget;
use drivelab_core::plan::{
    Act, Content, Engine, Files, IoMode, Mix, Plan, Role, Step, Stream, Sync, Until,
};
use drivelab_core::units::Size;

/// Largest request of the layout.
const REQUEST_BYTES_MAX: u64 = 1 << 20;
const DEPTH: u32 = 4;
const LAY_OUT: &str = "lay out";

/// Puts the steps that lay out new files before the plan, where it needs them, and says how many
/// they are. A plan that names its files says itself what is in them.
pub fn prepend(plan: &mut Plan, resolved: &ResolvedTarget) -> usize {
    // The plan of a dry run has its layout in it.
    let is_layout = |step: &Step| step.role == Role::Prepare && step.name == LAY_OUT;
    if plan.steps.first().is_some_and(is_layout) {
        return 0;
    }
    let streams = || plan.steps.iter().flat_map(|step| &step.streams);
    if !resolved.creates() || !plan.files.is_empty() || !streams().any(needs_data) {
        return 0;
    }
    let Some(model) = streams().find(|stream| needs_data(stream)).cloned() else { return 0 };
    let buffered = streams().filter(|s| needs_data(s)).all(|s| s.io == IoMode::Buffered);
    let mut steps = vec![step(&model, resolved, buffered)];
    if buffered {
        let name = "drop the cache after lay out".to_string();
        let act = Some(Act::DropCaches);
        steps.push(Step { name, role: Role::Prepare, act, repeat: 1, ..Step::default() });
    }
    let count = steps.len();
    plan.steps.splice(0..0, steps);
    count
}

/// Anything but writing in order from the beginning needs blocks that are there.
fn needs_data(stream: &Stream) -> bool {
    let appends = stream.is_sequential()
        && stream.stride().unwrap_or(1) == 1
        && stream.mix.read == 0
        && stream.mix.trim == 0
        && stream.reply.is_none();
    stream.moves_data() && !appends
}

fn step(model: &Stream, resolved: &ResolvedTarget, buffered: bool) -> Step {
    let traits = model.engine.traits();
    let is_fit = model.engine.moves_data()
        && !traits.is_through_page_cache
        && !(buffered && traits.waits_when_buffered);
    let engine = if is_fit { model.engine } else { Engine::Psync };
    let size = 1 << resolved.file_bytes.trailing_zeros().min(REQUEST_BYTES_MAX.trailing_zeros());
    let stream = Stream {
        engine,
        io: if buffered { IoMode::Buffered } else { IoMode::Direct },
        sync: Sync::End,
        mix: Mix::WRITE,
        size: Size(size),
        depth: if engine.is_synchronous() { 1 } else { DEPTH },
        workers: resolved.files,
        files: if resolved.files > 1 { Files::Each } else { Files::One },
        content: model.content,
        stamp: model.content != Content::Zero,
        pass: model.pass.filter(|_| model.content != Content::Zero),
        ..Stream::default()
    };
    Step {
        name: LAY_OUT.into(),
        role: Role::Prepare,
        until: Until { passes: Some(1), ..Until::default() },
        repeat: 1,
        streams: vec![stream],
        ..Step::default()
    }
}
