//! What a step is, from what it holds.

use super::{Act, Step, Stream, Until};
use crate::units::Span;

impl Step {
    /// Whether it can change what the target stores.
    pub fn changes_data(&self) -> bool {
        matches!(self.act, Some(Act::Trim { .. } | Act::Purge(_) | Act::Mkfs(_)))
            || self.streams.iter().any(Stream::changes_data)
    }

    /// The bounds of one of its streams: its own, or the step's.
    pub fn until_of<'a>(&'a self, stream: &'a Stream) -> &'a Until {
        stream.until.as_ref().unwrap_or(&self.until)
    }

    /// How long it takes after its ramp, where each of its streams says so.
    pub fn elapsed(&self) -> Option<Span> {
        if self.streams.is_empty() {
            return self.until.elapsed;
        }
        let each = self.streams.iter().map(|stream| {
            let elapsed = self.until_of(stream).elapsed;
            elapsed.map(|span| Span(span.0.saturating_add(stream.start_after.0)))
        });
        each.max_by_key(|elapsed| elapsed.map_or(u64::MAX, |span| span.0)).flatten()
    }

    /// How often it is done; an absent or zero `repeat` means once.
    pub fn repetitions(&self) -> u32 {
        self.repeat.max(1)
    }
}
