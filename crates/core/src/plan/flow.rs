//! Streams that keep their operations in a ratio.

use crate::op::{SPIN_NS, Time};
use crate::units::{Span, is_default};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The share that each worker of a stream has in the operations of its group: its weight among
/// those of all workers of the step's streams with the same `group` that still run. Who has had
/// more than its share waits for the others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Operations of each worker, as a multiple of those of a worker of weight 1.
    pub weight: u32,
    /// Which streams belong together.
    #[serde(default)]
    pub group: u32,
    /// How long it waits before it looks again; as soon as it can if 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub pause: Span,
}

impl Flow {
    /// CPU time that waiting so long takes, in nanoseconds: of each pause the last part is spun.
    pub fn spun_ns(&self, waited_ns: Time) -> Time {
        match self.pause.0 {
            0..=SPIN_NS => waited_ns,
            pause => (u128::from(waited_ns) * u128::from(SPIN_NS) / u128::from(pause)) as Time,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_pause_is_slept() {
        let spun =
            |pause: u64, waited| Flow { pause: Span(pause), ..Flow::default() }.spun_ns(waited);
        assert_eq!(spun(0, 7), 7);
        assert_eq!(spun(60_000, 1 << 40), 1 << 40);
        assert_eq!(spun(6_000_000, 1_000_000_000), 10_000_000);
    }
}
