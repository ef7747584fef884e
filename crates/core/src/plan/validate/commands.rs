//! What a stream must fulfil that sends commands to a drive itself.

use super::{Geometry, Problems};
use crate::facts::TargetKind;
use crate::plan::{IoMode, Stream};

/// NVMe commands go to a namespace as a whole, and past everything that the kernel has above it.
pub(super) fn validate_commands(stream: &Stream, geometry: &Geometry, problems: &mut Problems) {
    if !stream.engine.traits().is_passthrough {
        return;
    }
    let word = stream.engine.word();
    problems.need(!stream.is_metadata(), "engine", || {
        format!("{word} sends NVMe commands, and none of them makes names; use io_uring")
    });
    let is_device = matches!(geometry.kind, TargetKind::BlockDevice | TargetKind::Nothing);
    problems.need(is_device || stream.is_metadata(), "engine", || {
        let found = match geometry.kind {
            TargetKind::Simulated => "a simulated drive",
            TargetKind::Directory => "a directory",
            _ => "a file",
        };
        format!(
            "{word} sends NVMe commands to a namespace, and this target is {found}; name a \
             namespace such as /dev/nvme0n1, or use --engine io_uring"
        )
    });
    problems.need(stream.io == IoMode::Direct, "io", || {
        format!("{word} goes past the page cache; say io = direct")
    });
}
