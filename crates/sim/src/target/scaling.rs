//! A page-mapped drive of another capacity than its profile's: what is scaled with it, and what a
//! run must say of that.
//!
//! Blocks are erased over all dies at once. Where so few of them make the capacity that none would
//! be spare, they are made smaller, in this order: the pages of a block, down to
//! `PROGRAMS_MIN` programs of a die; the dies of a channel; the channels; the planes. The times
//! of a die and the share of spare stay; the fixed part of an SLC cache and the memory of the map
//! shrink as the capacity does.

use super::SimTarget;
use crate::flash;
use crate::profile::{GIVEN, Model, Status};
use drivelab_core::units::Size;
use toml::Value;

/// Blocks of the user below which a drive is no likeness of a larger one.
const BLOCKS_MIN: u64 = 16;
/// Blocks of the user that scaling aims at: amplification is then within 1.5 % of that of any
/// number of blocks.
const BLOCKS_AIM: u64 = 64;
/// Of the spare of the full drive, the part that must be left after reserve and open blocks.
const SPARE_PART_MIN: f64 = 1.0 / 3.0;
/// Programs of a die in a block, below which erasing it would outweigh filling it.
const PROGRAMS_MIN: u32 = 8;
/// Difference of the spare that is not mentioned, of what was asked for.
const SPARE_UNMENTIONED: f64 = 0.01;

/// What the source of a parameter says that is not the profile's.
const SCALED: &str = "scaled with the capacity";

/// Bytes of the user and of flash as the profile has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Full {
    user_bytes: i64,
    raw_bytes: Option<i64>,
}

/// In what a drive is not what was typed, or not the drive of its profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// A word for machines: `scaled_drive`, `spare_differs`.
    pub code: &'static str,
    /// What is so, in whole sentences.
    pub text: String,
    /// What to do about it.
    pub advice: String,
}

impl SimTarget {
    /// ρ takes the place of the bytes of flash.
    pub(crate) fn set_spare(&mut self, text: &str) -> Result<(), String> {
        if self.profile.model != Model::Flash {
            return Err(format!("spare: `{}` has no page mapping", self.profile.name));
        }
        let spare: f64 = text.parse().map_err(|_| {
            format!(
                "spare={text} is not a number; use e.g. \
                                                           spare=0.28"
            )
        })?;
        self.profile.remove("raw_bytes");
        self.profile.add("spare", Value::Float(spare));
        Ok(())
    }

    /// The bytes of flash grow and shrink with the bytes of the user.
    pub(crate) fn set_capacity(&mut self, text: &str) -> Result<(), String> {
        let size: Size = text.parse().map_err(|error| format!("capacity={text}: {error}"))?;
        let integer = |bytes: u64| {
            i64::try_from(bytes)
                .map(Value::Integer)
                .map_err(|_| format!("capacity={text} is more than any drive has"))
        };
        let before = self.profile.get("user_bytes").and_then(Value::as_integer);
        let raw = self.profile.get("raw_bytes").and_then(Value::as_integer);
        if let (Some(before), Some(raw)) = (before, raw) {
            let scaled = i128::from(raw) * i128::from(size.0) / i128::from(before.max(1));
            let scaled = u64::try_from(scaled).unwrap_or(u64::MAX);
            self.profile.set("raw_bytes", integer(scaled)?)?;
        }
        if self.profile.model == Model::Array {
            return Err(format!(
                "capacity: `{}` is an array; give member.user_bytes= for the size of a member",
                self.profile.name
            ));
        }
        if let (Some(user_bytes), None) = (before, self.full) {
            self.full = Some(Full { user_bytes, raw_bytes: raw });
        }
        self.profile.set("user_bytes", integer(size.0)?)
    }

    /// Scales the geometry where the capacity asks for it, and notes what differs from what was
    /// asked. What cannot be understood is left for [`SimTarget::check`].
    pub(crate) fn settle_geometry(&mut self) {
        if self.profile.model != Model::Flash {
            return;
        }
        let Ok(asked) = self.flash() else { return };
        let full = self.full.map(|full| flash::Parameters {
            user_bytes: full.user_bytes.unsigned_abs(),
            raw_bytes: asked.raw_bytes.and(full.raw_bytes).map(i64::unsigned_abs),
            ..asked.clone()
        });
        let spare_of = |full: &flash::Parameters| match (full.spare, full.layout(0)) {
            (Some(spare), _) => Some(spare),
            (None, Ok(layout)) => Some(layout.spare()),
            (None, Err(_)) => None,
        };
        let spare = full.as_ref().map_or(asked.spare, spare_of);
        let Some(spare) = spare.filter(|spare| *spare > 0.0) else { return };
        if let Some(full) = &full
            && asked.user_bytes < full.user_bytes
            && !is_workable(&asked, spare)
        {
            self.scale(&asked, full, spare);
        }
        let Ok(scaled) = self.flash() else { return };
        self.note_spare(&scaled, spare);
    }

    pub(super) fn is_given(&self, key: &str) -> bool {
        let parameter = self.profile.sections.get("parameters").and_then(|all| all.get(key));
        parameter.is_some_and(|parameter| parameter.source == GIVEN)
    }

    fn scale(&mut self, asked: &flash::Parameters, full: &flash::Parameters, spare: f64) {
        let mut scaled = asked.clone();
        while scaled.user_bytes / scaled.block_bytes().max(1) < BLOCKS_AIM {
            if !self.step_down(&mut scaled) {
                break;
            }
        }
        let part = asked.user_bytes as f64 / full.user_bytes as f64;
        for (key, bytes) in [
            ("slc_static_bytes", &mut scaled.slc_static_bytes),
            ("map_cache_bytes", &mut scaled.map_cache_bytes),
        ] {
            if *bytes > 0 && !self.is_given(key) {
                *bytes = ((*bytes as f64 * part) as u64).max(scaled.page_bytes);
            }
        }
        let changes = changes(asked, &scaled);
        for (key, _, now) in &changes {
            self.profile.replace(key, Value::Integer(*now as i64), SCALED, Status::Guess);
        }
        if asked.spare.is_none() {
            self.profile.remove("raw_bytes");
            self.profile.replace("spare", Value::Float(spare), SCALED, Status::Guess);
        }
        let words: Vec<String> =
            changes.iter().map(|(key, from, to)| format!("{key} {from} -> {to}")).collect();
        let fewer = if scaled.dies() < asked.dies() || scaled.planes < asked.planes {
            "; it works on fewer pages at a time, so its rates are not the full drive's"
        } else {
            ""
        };
        self.differences.push(Difference {
            code: "scaled_drive",
            text: format!(
                "this is `{}` scaled to {}, not the full drive: {}; the times of a die and the \
                 spare of {} are kept{fewer}.",
                self.profile.name,
                size(asked.user_bytes),
                words.join(", "),
                percent(spare),
            ),
            advice: format!(
                "For the full drive leave out capacity=, or give at least {}.",
                size(least_bytes(full, spare))
            ),
        });
    }

    /// Makes blocks smaller by one step; `false`: there is none left.
    fn step_down(&self, scaled: &mut flash::Parameters) -> bool {
        let programs = scaled.pages_per_block / scaled.pages_per_program.max(1);
        if programs / 2 >= PROGRAMS_MIN && !self.is_given("pages_per_block") {
            scaled.pages_per_block = programs / 2 * scaled.pages_per_program;
        } else if scaled.dies_per_channel > 1 && !self.is_given("dies_per_channel") {
            scaled.dies_per_channel /= 2;
        } else if scaled.channels > 1 && !self.is_given("channels") {
            scaled.channels /= 2;
        } else if scaled.planes > 1
            && !self.is_given("planes")
            && (scaled.program_bytes() / 2).is_multiple_of(scaled.map_unit_bytes)
        {
            scaled.planes /= 2;
        } else {
            return false;
        }
        true
    }

    /// Says which spare is left where it is not the one that was asked for.
    fn note_spare(&mut self, drive: &flash::Parameters, asked: f64) {
        let Ok(layout) = drive.layout(0) else { return };
        let spare = layout.spare();
        if spare <= 0.0 || (spare / asked - 1.0).abs() <= SPARE_UNMENTIONED {
            return;
        }
        let block = size(drive.block_bytes());
        let (why, way_out) = match drive.raw_bytes {
            None => ("flash comes in whole blocks", "Give a larger capacity, or another spare"),
            Some(_) => ("some blocks are always free or open", "Give a larger capacity, or spare="),
        };
        let of_whom = if self.is_given("spare") { "asked for" } else { "of the full drive" };
        self.differences.push(Difference {
            code: "spare_differs",
            text: format!(
                "the spare is {} instead of the {} {of_whom}: {why}, {block} each.",
                percent(spare),
                percent(asked)
            ),
            advice: format!("{way_out}."),
        });
    }
}

/// Whether enough blocks and enough of the spare are left.
fn is_workable(drive: &flash::Parameters, spare: f64) -> bool {
    let blocks = drive.user_bytes / drive.block_bytes().max(1);
    let left = drive.layout(0).map_or(0.0, |layout| layout.spare());
    blocks >= BLOCKS_MIN && left >= spare * SPARE_PART_MIN
}

/// The least capacity, in steps of a factor of two, at which `full` need not be scaled.
fn least_bytes(full: &flash::Parameters, spare: f64) -> u64 {
    let part = |bytes: u64| flash::Parameters {
        user_bytes: bytes,
        raw_bytes: full.raw_bytes.map(|raw| {
            (u128::from(raw) * u128::from(bytes) / u128::from(full.user_bytes.max(1))) as u64
        }),
        ..full.clone()
    };
    let mut bytes = (full.block_bytes().max(1) * BLOCKS_MIN).next_power_of_two();
    while bytes < full.user_bytes && !is_workable(&part(bytes), spare) {
        bytes *= 2;
    }
    bytes.min(full.user_bytes)
}

/// Parameters that differ: name, before, after.
fn changes(before: &flash::Parameters, after: &flash::Parameters) -> Vec<(&'static str, u64, u64)> {
    [
        ("pages_per_block", before.pages_per_block.into(), after.pages_per_block.into()),
        ("dies_per_channel", before.dies_per_channel.into(), after.dies_per_channel.into()),
        ("channels", before.channels.into(), after.channels.into()),
        ("planes", before.planes.into(), after.planes.into()),
        ("slc_static_bytes", before.slc_static_bytes, after.slc_static_bytes),
        ("map_cache_bytes", before.map_cache_bytes, after.map_cache_bytes),
    ]
    .into_iter()
    .filter(|(_, before, after)| before != after)
    .collect()
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn size(bytes: u64) -> String {
    drivelab_core::quantity::size(bytes)
}

#[cfg(test)]
mod tests;
