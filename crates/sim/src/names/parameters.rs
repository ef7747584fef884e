//! What the file system of names costs, and which of its mechanisms are on.

use drivelab_core::op::Action;
use drivelab_core::units::{Size, Span};
use std::fmt;

/// What begins the keys of a target's name that are about names.
pub const PREFIX: &str = "names_";

/// The file system of names: its mechanisms, and what a call costs the CPU.
///
/// ```
/// use drivelab_sim::names::NamesParameters;
///
/// let mut names = NamesParameters::default();
/// names.set("names_journal", "off")?;
/// names.set("names_create_ns", "20000")?;
/// assert!(names.to_string().starts_with("names_journal=off,names_barrier=on"));
/// assert!(names.set("names_jornal", "off").unwrap_err().contains("names_journal"));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamesParameters {
    /// Changes go to a journal first.
    pub has_journal: bool,
    /// A commit flushes the drive's cache before its last block, and makes that durable.
    pub has_barrier: bool,
    /// One call at a time changes a directory.
    pub has_locks: bool,
    /// Directories are hashed trees; else names stand in the order in which they came.
    pub is_hashed: bool,
    /// A transaction is committed after this time at the latest.
    pub commit_ns: u64,
    /// Changed blocks go to their places after this time.
    pub writeback_ns: u64,
    /// Blocks of names that the host keeps.
    pub cache_bytes: u64,
    /// What a call costs a CPU, by [`NamesParameters::COSTS`].
    pub costs_ns: [u64; 8],
}

/// Half a minute, as `dirty_expire_centisecs` has it.
const WRITEBACK_NS: u64 = 30_000_000_000;
/// As `commit=` of ext4 has it.
const COMMIT_NS: u64 = 5_000_000_000;
const CACHE_BYTES: u64 = 1 << 30;
/// Most time that a call may cost.
const COST_NS_MAX: u64 = 1_000_000_000;

impl Default for NamesParameters {
    fn default() -> Self {
        NamesParameters {
            has_journal: true,
            has_barrier: true,
            has_locks: true,
            is_hashed: true,
            commit_ns: COMMIT_NS,
            writeback_ns: WRITEBACK_NS,
            cache_bytes: CACHE_BYTES,
            costs_ns: NamesParameters::COSTS.map(|(_, _, cost_ns)| cost_ns),
        }
    }
}

impl NamesParameters {
    /// What a call costs, in ns. All but fsync are medians of calls on ext4 in memory.
    pub const COSTS: [(Action, &'static str, u64); 8] = [
        (Action::Create, "names_create_ns", 17_000),
        (Action::Open, "names_open_ns", 3_200),
        (Action::Stat, "names_stat_ns", 1_800),
        (Action::Utime, "names_utime_ns", 3_300),
        (Action::Rename, "names_rename_ns", 17_000),
        (Action::Unlink, "names_unlink_ns", 11_000),
        (Action::Mkdir, "names_mkdir_ns", 38_000),
        (Action::Flush, "names_fsync_ns", 5_000),
    ];

    /// What a call costs a CPU; an action on data costs nothing here.
    pub fn cost_ns(&self, action: Action) -> u64 {
        let known = NamesParameters::COSTS.iter().position(|(of, _, _)| *of == action);
        known.map_or(0, |index| self.costs_ns[index])
    }

    /// Understands a key of a target's name that begins with [`PREFIX`].
    ///
    /// # Errors
    /// What is wrong and what would be right.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), String> {
        let span = || {
            let span: Span = text.parse().map_err(|error| format!("{key}={text}: {error}"))?;
            if span.0 == 0 { Err(format!("{key}={text}: give a time above 0")) } else { Ok(span.0) }
        };
        match key {
            "names_journal" => self.has_journal = switch(key, text)?,
            "names_barrier" => self.has_barrier = switch(key, text)?,
            "names_lock" => self.has_locks = switch(key, text)?,
            "names_hash" => self.is_hashed = switch(key, text)?,
            "names_commit" => self.commit_ns = span()?,
            "names_writeback" => self.writeback_ns = span()?,
            "names_cache" => {
                let size: Size = text.parse().map_err(|error| format!("{key}={text}: {error}"))?;
                self.cache_bytes = size.0;
            }
            "names_cpu" if !switch(key, text)? => self.costs_ns = [0; 8],
            "names_cpu" => self.costs_ns = NamesParameters::default().costs_ns,
            key => {
                let known = NamesParameters::COSTS.iter().position(|(_, word, _)| *word == key);
                let index = known.ok_or_else(|| unknown(key))?;
                let cost = text.parse().ok().filter(|cost| *cost <= COST_NS_MAX);
                self.costs_ns[index] = cost.ok_or_else(|| {
                    format!("{key}={text} is not a time in ns; give 0 to {COST_NS_MAX}")
                })?;
            }
        }
        Ok(())
    }
}

fn switch(key: &str, text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" | "none" => Ok(false),
        _ => Err(format!("{key}={text}: give on or off")),
    }
}

fn unknown(key: &str) -> String {
    let costs = NamesParameters::COSTS.map(|(_, word, _)| word).join(", ");
    format!(
        "`{key}` is not known; of names there are names_journal, names_barrier, names_lock, \
         names_hash, names_commit, names_writeback, names_cache, names_cpu, {costs}"
    )
}

/// As it could be typed behind the name of a target.
impl fmt::Display for NamesParameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |is_on: bool| if is_on { "on" } else { "off" };
        write!(
            f,
            "names_journal={},names_barrier={},names_lock={},names_hash={},names_commit={},\
             names_writeback={},names_cache={}",
            word(self.has_journal),
            word(self.has_barrier),
            word(self.has_locks),
            word(self.is_hashed),
            Span(self.commit_ns),
            Span(self.writeback_ns),
            Size(self.cache_bytes)
        )?;
        let costs = NamesParameters::COSTS.iter().zip(self.costs_ns);
        costs.into_iter().try_for_each(|((_, key, _), cost_ns)| write!(f, ",{key}={cost_ns}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_can_be_typed() {
        let mut planted = NamesParameters { has_locks: false, ..NamesParameters::default() };
        planted.set("names_commit", "250ms").unwrap();
        planted.set("names_cache", "16MiB").unwrap();
        planted.set("names_mkdir_ns", "1").unwrap();
        let mut typed = NamesParameters::default();
        for part in planted.to_string().split(',') {
            let (key, value) = part.split_once('=').unwrap();
            typed.set(key, value).unwrap();
        }
        assert_eq!(typed, planted);
    }

    #[test]
    fn what_is_wrong_is_said_with_what_would_be_right() {
        for (key, text, says) in [
            ("names_journal", "maybe", "give on or off"),
            ("names_commit", "0s", "above 0"),
            ("names_commit", "soon", "names_commit=soon"),
            ("names_cache", "much", "names_cache=much"),
            ("names_stat_ns", "-1", "0 to 1000000000"),
            ("names_stats_ns", "1", "names_stat_ns"),
        ] {
            let error = NamesParameters::default().set(key, text).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn without_a_cpu_calls_cost_nothing() {
        let mut names = NamesParameters::default();
        names.set("names_cpu", "off").unwrap();
        assert!(Action::ALL.iter().all(|action| names.cost_ns(*action) == 0));
        names.set("names_cpu", "on").unwrap();
        assert_eq!(names, NamesParameters::default());
        assert_eq!(names.cost_ns(Action::Read), 0);
    }
}
