//! Commands handed to a drive through the kernel, and what came of them.
//!
//! `line` alone talks to the kernel; `nvme`, `effects` and `ata` speak over it.

pub(crate) mod ata;
pub(crate) mod effects;
#[cfg(test)]
pub(crate) mod fake;
pub(crate) mod line;
pub(crate) mod nvme;

use drivelab_core::op::Errno;
use drivelab_core::queue::Trouble;
use std::io;

/// What became of a command that the kernel did not carry to the drive.
pub(crate) fn not_sent(command: &str, error: Errno) -> Trouble {
    let reason = io::Error::from_raw_os_error(error.0);
    match error.0 {
        libc::ENOTTY | libc::EINVAL | libc::EOPNOTSUPP | libc::ENOSYS => {
            Trouble::usage(format!("this device does not take the command {command} ({reason})"))
        }
        libc::EACCES | libc::EPERM => Trouble::failed(format!(
            "the kernel does not let this user send {command} ({reason}); run as root"
        )),
        libc::EINTR | libc::ETIMEDOUT | libc::ETIME => Trouble::stuck(format!(
            "{command} did not end in time and the kernel gave up ({reason}); see the kernel log, \
             and power-cycle the drive before it is used again"
        )),
        _ => Trouble::failed(format!("{command} could not be sent ({reason}); see the kernel log")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::queue::TroubleKind;

    #[test]
    fn the_kernels_refusals_have_kinds() {
        let kinds = [
            (libc::ENOTTY, TroubleKind::Usage),
            (libc::EINVAL, TroubleKind::Usage),
            (libc::EOPNOTSUPP, TroubleKind::Usage),
            (libc::EACCES, TroubleKind::Failed),
            (libc::EINTR, TroubleKind::Stuck),
            (libc::EIO, TroubleKind::Failed),
        ];
        for (number, kind) in kinds {
            let trouble = not_sent("Format NVM", Errno(number));
            assert_eq!(trouble.kind, kind);
            assert!(trouble.text.contains("Format NVM"));
        }
    }
}
