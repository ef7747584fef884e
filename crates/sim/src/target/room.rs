//! The least capacity of a drive: asked for where `capacity=` is too small.

use super::SimTarget;
use crate::profile::Model;
use crate::state::State;
use drivelab_core::units::Size;

const MIB: u64 = 1 << 20;
/// No drive is looked for beyond this.
const BYTES_MAX: u64 = 1 << 50;

impl SimTarget {
    /// Refuses a `capacity=` that no drive of this kind can have, and names the least that works.
    pub(super) fn refuse_small(
        &self,
        read: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<(), String> {
        let Some((text, asked)) = capacity_in(&self.name) else { return Ok(()) };
        if self.can_be_made() {
            return Ok(());
        }
        let works = |bytes: u64| {
            let name = with_capacity(&self.name, bytes);
            SimTarget::understood(&name, read).is_ok_and(|target| target.can_be_made())
        };
        let mut least = asked.next_power_of_two().max(MIB);
        while !works(least) {
            least *= 2;
            if least > BYTES_MAX {
                // Something else is wrong, and whoever builds the drive says what.
                return Ok(());
            }
        }
        let mut small = asked;
        loop {
            let middle = (small + (least - small) / 2) / MIB * MIB;
            if middle <= small {
                break;
            }
            if works(middle) {
                least = middle;
            } else {
                small = middle;
            }
        }
        Err(format!(
            "capacity={text} is too small for `{}`: give at least capacity={}",
            self.profile.name,
            Size(least)
        ))
    }

    fn can_be_made(&self) -> bool {
        match self.profile.model {
            Model::Flash => {
                let layout = self.flash().and_then(|flash| flash.layout(0));
                layout.is_ok_and(|layout| layout.has_room().is_ok())
            }
            // Every other model is small.
            _ => SimTarget { state: State::Fresh, ..self.clone() }.build().is_ok(),
        }
    }
}

/// What was typed for it, and how many bytes that is.
fn capacity_in(name: &str) -> Option<(&str, u64)> {
    let value = name.split(',').find_map(|part| part.trim().strip_prefix("capacity="))?.trim();
    let size: Size = value.parse().ok()?;
    Some((value, size.0))
}

fn with_capacity(name: &str, bytes: u64) -> String {
    let parts = name.split(',').map(|part| match part.trim().starts_with("capacity=") {
        true => format!("capacity={}", Size(bytes)),
        false => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::EMBEDDED;

    fn parse(name: &str) -> Result<SimTarget, String> {
        SimTarget::parse(name, |_| Err("no files".into()))
    }

    #[test]
    fn the_least_capacity_that_is_named_works_and_a_mebibyte_less_does_not() {
        let mut refused = 0;
        for (profile, _) in EMBEDDED {
            for more in ["", ",state=steady", ",collection_high_blocks=40"] {
                let name = |capacity: &str| format!("sim:{profile},capacity={capacity}{more}");
                let Err(text) = parse(&name("1MiB")) else { continue };
                let Some((_, least)) = text.split_once("give at least capacity=") else { continue };
                refused += 1;
                assert!(text.starts_with("capacity=1MiB is too small for `"), "{text}");
                let target = parse(&name(least)).unwrap_or_else(|error| panic!("{text}: {error}"));
                let fresh = SimTarget { state: State::Fresh, ..target };
                fresh.build().unwrap_or_else(|error| panic!("{text}: {error}"));
                let bytes = least.parse::<Size>().unwrap().0;
                let less = parse(&name(&Size(bytes - MIB).to_string())).unwrap_err();
                assert!(less.ends_with(&format!("give at least capacity={least}")), "{less}");
            }
        }
        assert!(refused >= 3, "{refused} were refused");
    }
}
