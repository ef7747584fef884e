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
    is_second_form: bool,
}

impl Names {
    /// At the first name, for the first action.
    pub(super) fn new(of: &plan::Names) -> Self {
        Names {
            actions: of.actions.clone(),
            names: of.count(),
            action: 0,
            name: 0,
            is_second_form: false,
        }
    }

    /// Operations of one pass.
    pub(super) fn pass_operations(&self) -> u64 {
        self.actions.len() as u64 * u64::from(self.names)
    }

    /// The next operation and the pass it belongs to.
    pub(super) fn next(&mut self, pass: &mut u64) -> (Op, u64) {
        let of_pass = *pass;
        let action = self.actions[self.action];
        let is_second_form = self.is_second_form ^ (action == Action::Rename);
        let op = Op::Name(NameOp::new(action, self.name).at(of_pass, is_second_form));
        debug_assert!(self.name < self.names, "name {} of {}", self.name, self.names);
        self.name += 1;
        if self.name == self.names {
            self.name = 0;
            self.is_second_form = is_second_form;
            self.action += 1;
        }
        if self.action == self.actions.len() {
            self.action = 0;
            self.is_second_form = false;
            *pass += 1;
        }
        (op, of_pass)
    }
}
