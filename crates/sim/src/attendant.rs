//! Who waits while a drive is brought into a state: it hears how far that is, and may keep what was
//! computed for the next time.

/// What can be done meanwhile; `()` does nothing.
pub trait Attendant {
    /// This share of the work is done, up to 1.
    fn progress(&mut self, _share: f64) {}

    /// What was kept under a key, which says all that it depends on.
    fn kept(&mut self, _key: &str) -> Option<Vec<u8>> {
        None
    }

    /// Keeps the bytes for the next time.
    fn keep(&mut self, _key: &str, _bytes: &[u8]) {}
}

impl Attendant for () {}
