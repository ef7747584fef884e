//! What io_uring_cmd needs of a target: an NVMe namespace, and requests that one command carries.

use crate::outcome::Failure;
use crate::target::{Kind, ResolvedTarget};
use drivelab_core::plan::{Act, Plan, Stream};
use drivelab_core::record::Warning;
use drivelab_core::units::Size;
use drivelab_io::facts::System;
use drivelab_io::namespace::{self, Namespace};

/// Refuses commands to what takes none, requests that no command carries, and other I/O to what
/// takes nothing but commands.
///
/// # Errors
/// One of these, with the way out.
pub fn refuse_unfit(
    system: &System,
    plan: &Plan,
    resolved: &ResolvedTarget,
) -> Result<(), Failure> {
    let streams = || plan.steps.iter().flat_map(|step| &step.streams);
    let sends = |stream: &&Stream| stream.engine.traits().is_passthrough;
    if let Some(generic) = &resolved.generic {
        let other = streams().find(|stream| stream.reaches_target() && !sends(stream));
        if let Some(stream) = other {
            return Err(other_engine(&generic.display().to_string(), stream, resolved));
        }
    }
    let Some(first) = streams().find(sends) else { return Ok(()) };
    let word = first.engine.word();
    // What is no device at all is refused with all else that is wrong with the plan.
    if resolved.kind != Kind::Device {
        return Ok(());
    }
    if plan.steps.iter().any(|step| matches!(step.act, Some(Act::Mount(_)))) {
        return Err(Failure::usage(format!(
            "{word} sends NVMe commands past the file system that this plan mounts; use another \
             engine in it, such as io_uring"
        )));
    }
    let namespace = namespace::of_path(system, &resolved.path).map_err(Failure::from)?;
    streams().filter(sends).try_for_each(|stream| refuse_sizes(stream, &namespace))
}

fn other_engine(generic: &str, stream: &Stream, resolved: &ResolvedTarget) -> Failure {
    let (word, path) = (stream.engine.word(), resolved.path.display());
    Failure::usage(format!(
        "{generic} takes NVMe commands alone, and {word} sends none; add --engine io_uring_cmd, or \
         name {path}, the block device of the same namespace"
    ))
}

/// Nobody splits what is sent to the drive itself.
fn refuse_sizes(stream: &Stream, namespace: &Namespace) -> Result<(), Failure> {
    let (word, name) = (stream.engine.word(), &namespace.name);
    let longest = stream.size_max().max(stream.reply_size.map_or(0, |size| size.0));
    let most = namespace.request_bytes_max;
    let moves = stream.mix.read + stream.mix.write > 0 || stream.reply.is_some();
    if moves && longest > most {
        return Err(Failure::usage(format!(
            "a request of {} is more than one NVMe command carries to {name}, {} at most here, and \
             {word} splits none; use --bs {} or less, or --engine io_uring, whose requests the \
             kernel splits",
            Size(longest),
            Size(most),
            rounded(most)
        )));
    }
    let trims = stream.mix.trim > 0 || stream.trim_first;
    if trims && namespace.trim_bytes_max == 0 {
        return Err(Failure::usage(format!(
            "{name} does not trim (it knows no Dataset Management); leave the trims out"
        )));
    }
    if trims && longest > namespace.trim_bytes_max {
        return Err(Failure::usage(format!(
            "a trim of {} is more than one NVMe command does on {name}, {} at most, and {word} \
             splits none; use a smaller --bs, or --engine io_uring",
            Size(longest),
            Size(namespace.trim_bytes_max)
        )));
    }
    Ok(())
}

/// The largest power of two that is not above it.
fn rounded(bytes: u64) -> Size {
    Size(1 << bytes.max(1).ilog2())
}

/// Whose facts these are, where the character device was named.
pub fn told(resolved: &ResolvedTarget) -> Option<Warning> {
    let generic = resolved.generic.as_ref()?.display();
    let path = resolved.path.display();
    Some(Warning {
        code: "character_device".into(),
        text: format!(
            "{generic} is the character device of the namespace {path}: facts, health and --erase \
             token are those of {path}."
        ),
        advice: String::new(),
        step: None,
    })
}

#[cfg(test)]
mod tests;
