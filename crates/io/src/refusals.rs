//! Submissions that the kernel refuses for the moment.

/// More refusals of one submission than that are no moment any more.
const REFUSALS_MAX: u32 = 10_000;
/// Between two tries.
const PAUSE_NS: u64 = 100_000;

/// The refusals of one submission so far.
#[derive(Debug, Default)]
pub(crate) struct Refusals(u32);

impl Refusals {
    /// Whether to try again after this error, and when that is: now. Interrupted by a signal, it
    /// is tried again at once; short of memory (EAGAIN) or room for completions (EBUSY), after a
    /// pause, and not for ever.
    pub(crate) fn try_again(&mut self, error: &std::io::Error) -> bool {
        match error.raw_os_error() {
            Some(libc::EINTR) => true,
            Some(libc::EAGAIN | libc::EBUSY) if self.0 < REFUSALS_MAX => {
                self.0 += 1;
                crate::clock::pause(PAUSE_NS);
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_is_tried_again_and_not_for_ever() {
        let error = std::io::Error::from_raw_os_error;
        let mut refusals = Refusals::default();
        assert!((0..5000).all(|_| refusals.try_again(&error(libc::EINTR))));
        assert!(!refusals.try_again(&error(libc::EINVAL)));
        let tries = [libc::EAGAIN, libc::EBUSY].into_iter().cycle().map(error);
        let passed = tries.take_while(|error| refusals.try_again(error)).take(50_000).count();
        assert_eq!(passed, REFUSALS_MAX as usize);
    }
}
