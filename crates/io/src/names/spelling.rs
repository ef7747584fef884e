//! Names as a plan spells them.

use super::{NAME_BYTES, Name, digits};
use drivelab_core::plan::numbered;

/// The names of one worker: what stands before their number, and what stands behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spelling {
    before: Vec<u8>,
    /// The number of the first name.
    first: u64,
    /// Absent: one name without a number.
    behind: Option<Vec<u8>>,
}

impl Spelling {
    /// Of a form such as `n{worker}f{name}`.
    pub(crate) fn new(form: &str, worker: u32) -> Self {
        let own = form.replace("{worker}", &worker.to_string());
        let (before, first, behind) = match numbered(&own) {
            Some((before, first, behind)) => (before, first, Some(behind.as_bytes().to_vec())),
            None => (own.as_str(), 0, None),
        };
        Spelling { before: before.as_bytes().to_vec(), first, behind }
    }

    /// The name of this number.
    pub(super) fn name(&self, number: u32) -> Name {
        let mut text = [0; NAME_BYTES];
        let mut at = 0;
        // The last byte stays the NUL.
        let mut put = |byte: u8| {
            if at + 1 < NAME_BYTES {
                text[at] = byte;
                at += 1;
            }
        };
        self.before.iter().copied().for_each(&mut put);
        if let Some(behind) = &self.behind {
            digits(self.first + u64::from(number), &mut put);
            behind.iter().copied().for_each(&mut put);
        }
        Name { text }
    }

    /// The number of a name that is spelt so.
    pub(crate) fn number(&self, name: &[u8]) -> Option<u32> {
        let rest = name.strip_prefix(self.before.as_slice())?;
        let Some(behind) = &self.behind else { return rest.is_empty().then_some(0) };
        let number = std::str::from_utf8(rest.strip_suffix(behind.as_slice())?).ok()?;
        let is_plain = number == "0" || !number.starts_with(['0', '+']);
        let number: u64 = number.parse().ok().filter(|_| is_plain)?;
        u32::try_from(number.checked_sub(self.first)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_spelt_and_read() {
        let spelling = Spelling::new("{worker}/n{worker}f{name}.x", 12);
        assert_eq!(spelling.name(7).c_str(), c"12/n12f7.x");
        assert_eq!(spelling.number(b"12/n12f7.x"), Some(7));
        for other in ["12/n12f.x", "12/n12f07.x", "12/n12f+7.x", "1/n1f7.x", "12/n12f7", ""] {
            assert_eq!(spelling.number(other.as_bytes()), None, "{other}");
        }
        let later = Spelling::new("f{name+20}", 0);
        assert_eq!(later.name(7).c_str(), c"f27");
        assert_eq!(
            [&b"f27"[..], b"f20", b"f19"].map(|of| later.number(of)),
            [Some(7), Some(0), None]
        );
        let one = Spelling::new("{worker}", 3);
        assert_eq!(one.name(0).c_str(), c"3");
        assert_eq!((one.number(b"3"), one.number(b"33")), (Some(0), None));
    }
}
