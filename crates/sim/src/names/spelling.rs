//! Names as a plan spells them, or as drivelab does.

use drivelab_core::driver::Setup;
use drivelab_core::op::{Action, NameOp};
use drivelab_core::plan::{Files, Sync, numbered};
use std::io::Write;

/// Whose names they are, and how they are worked on.
#[derive(Debug, Clone)]
pub(super) struct Owner {
    step: u32,
    /// Stream and worker in one number.
    worker: u32,
    /// A name that the plan spells: what stands before its number, that of the first one, and what
    /// stands behind it.
    form: Option<(String, Option<(u64, String)>)>,
    /// The directory of drivelab's own names.
    scratch: u32,
    /// Names are there beforehand, and stay over all passes.
    pub is_standing: bool,
    /// Names that must be there beforehand.
    pub beforehand: u32,
    /// They are of directories.
    pub of_directories: bool,
    /// Create is followed by an fsync.
    pub syncs: bool,
    /// What create writes.
    pub bytes: u64,
}

impl Owner {
    /// Of a worker; absent: it works on data.
    pub fn new(setup: &Setup) -> Option<Owner> {
        let of = setup.stream.names()?;
        let part = setup.stream.part_of(setup.worker).to_string();
        let form = of.form.as_ref().map(|form| {
            let own = form.replace("{worker}", &part);
            match numbered(&own) {
                Some((before, first, behind)) => {
                    (before.to_owned(), Some((first, behind.to_owned())))
                }
                None => (own, None),
            }
        });
        let creates = of.actions.contains(&Action::Create);
        let is_standing = !creates && form.is_none();
        let needs = |action: &Action| !matches!(action, Action::Create | Action::Mkdir);
        let needed = is_standing && of.actions.iter().any(needs);
        let scratch = match of.directories {
            Files::One => 0,
            Files::Each => setup.worker,
        };
        Some(Owner {
            step: setup.step,
            worker: (setup.stream_index << 16) + setup.worker,
            form,
            scratch,
            is_standing,
            beforehand: if needed { of.count() } else { 0 },
            of_directories: of.of_directories,
            syncs: setup.stream.sync == Sync::Fsync(1),
            bytes: of.name_bytes.0,
        })
    }

    /// The directory of its own names; absent: the plan spells where they are.
    pub fn scratch(&self) -> Option<u32> {
        self.form.is_none().then_some(self.scratch)
    }

    /// The path of a name, or of what it was called before.
    pub fn path(&self, op: &NameOp, is_old: bool, into: &mut Vec<u8>) {
        into.clear();
        let name = op.name();
        let written = match &self.form {
            Some((before, None)) => write!(into, "{before}"),
            Some((before, Some((first, behind)))) => {
                write!(into, "{before}{}{behind}", first + u64::from(name))
            }
            None => {
                let (step, worker, scratch) = (self.step, self.worker, self.scratch);
                let is_made = op.action == Action::Mkdir;
                let pass = if self.is_standing && !is_made { 0 } else { op.pass };
                let is_second = op.is_second_form() != is_old && !is_made;
                let (kind, form) = match (is_made, is_second) {
                    (true, _) => ('d', 'a'),
                    (false, true) => ('f', 'b'),
                    (false, false) => ('f', 'a'),
                };
                write!(into, "{}/{kind}{step}-{worker}-{pass}-{name}{form}", scratch_name(scratch))
            }
        };
        debug_assert!(written.is_ok(), "memory takes what is written");
    }
}

/// The name of a directory for drivelab's own names.
pub(super) fn scratch_name(number: u32) -> String {
    format!(".drivelab-{number}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::plan::{Names, Pattern, Stream, Until};
    use drivelab_core::units::Span;

    fn owner(names: Names, worker: u32) -> Owner {
        let stream = Stream { workers: 4, pattern: Pattern::Names(names), ..Stream::default() };
        Owner::new(&Setup {
            step: 3,
            stream_index: 0,
            worker,
            stream,
            until: Until::default(),
            ramp: Span(0),
            interval: Span(1),
            cpus: String::new(),
            seed: 1,
            file_bytes: 0,
        })
        .unwrap()
    }

    fn path(owner: &Owner, op: NameOp, is_old: bool) -> String {
        let mut into = Vec::new();
        owner.path(&op, is_old, &mut into);
        String::from_utf8(into).unwrap()
    }

    #[test]
    fn names_are_those_of_a_real_directory() {
        let actions = vec![Action::Create, Action::Rename];
        let own = owner(Names { actions, directories: Files::Each, ..Names::default() }, 2);
        let op = NameOp::new(Action::Rename, 7).at(1, true);
        assert_eq!(path(&own, op, false), ".drivelab-2/f3-2-1-7b");
        assert_eq!(path(&own, op, true), ".drivelab-2/f3-2-1-7a");
        let made = NameOp::new(Action::Mkdir, 7).at(1, false);
        assert_eq!(path(&own, made, false), ".drivelab-2/d3-2-1-7a");
        let standing = owner(Names { actions: vec![Action::Stat], ..Names::default() }, 2);
        assert_eq!(standing.beforehand, 1000);
        let op = NameOp::new(Action::Stat, 7).at(5, false);
        assert_eq!(path(&standing, op, false), ".drivelab-0/f3-2-0-7a", "they stay over passes");
    }

    #[test]
    fn names_of_a_plan_are_as_it_spells_them() {
        let form = |form: &str| {
            let names = Names { form: Some(form.into()), ..Names::default() };
            path(&owner(names, 2), NameOp::new(Action::Create, 7), false)
        };
        assert_eq!(form("{worker}/n{worker}f{name}.x"), "2/n2f7.x");
        assert_eq!(form("f{name+20}"), "f27");
        assert_eq!(form("top"), "top");
    }
}
