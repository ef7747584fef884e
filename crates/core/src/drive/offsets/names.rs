//! Every name for one action, then the next action; a rename toggles the form of all names.

use crate::op::{Action, NameOp, Op};
use crate::plan;

/// Where a worker is among its names.
#[derive(Debug, Clone)]
pub(super) struct Names {
    actions: Vec<Action>,
    names: u32,
    action: usize,
    name: u32,
    form: u8,
}

impl Names {
    /// At the first name, for the first action.
    pub(super) fn new(of: &plan::Names) -> Self {
        Names { actions: of.actions.clone(), names: of.count(), action: 0, name: 0, form: 0 }
    }

    /// Operations of one pass.
    pub(super) fn pass_operations(&self) -> u64 {
        self.actions.len() as u64 * u64::from(self.names)
    }

    /// The next operation and the pass it belongs to.
    pub(super) fn next(&mut self, pass: &mut u64) -> (Op, u64) {
        let of_pass = *pass;
        let action = self.actions[self.action];
        let form = if action == Action::Rename { 1 - self.form } else { self.form };
        let op = Op::Name(NameOp { action, name: self.name, form, pass: of_pass });
        debug_assert!(self.name < self.names, "name {} of {}", self.name, self.names);
        debug_assert!(form <= 1, "a name has two forms");
        self.name += 1;
        if self.name == self.names {
            self.name = 0;
            self.form = form;
            self.action += 1;
        }
        if self.action == self.actions.len() {
            self.action = 0;
            self.form = 0;
            *pass += 1;
        }
        (op, of_pass)
    }
}
