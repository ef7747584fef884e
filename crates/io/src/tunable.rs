//! What can be set: its words, and putting back the one that was there.

use drivelab_core::queue::Trouble;

/// Something that can be read and set, in the words of who takes them.
pub(crate) trait Tunable {
    /// What it is now.
    fn read(&mut self) -> Result<String, Trouble>;
    /// Sets it.
    fn write(&mut self, word: &str) -> Result<(), Trouble>;
}

/// Sets it back to what it was, and reads it again.
pub(crate) fn put_back(tunable: &mut dyn Tunable, before: &str) -> Result<(), Trouble> {
    tunable.write(before)?;
    match tunable.read()? {
        now if now == before => Ok(()),
        now => Err(Trouble::failed(format!("it still says `{now}` where it said `{before}`"))),
    }
}
