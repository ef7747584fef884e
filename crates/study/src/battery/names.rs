//! The loads of Metarates and its kin: names that are made, looked at, changed and removed by one
//! or more workers, in one directory or in one each.

use super::{Cell, Group, Load, Quantity};
use drivelab_core::op::Action;
use drivelab_core::plan::{self, Engine, Files, IoMode, Pattern, Stream, Until};

/// Workers of the rows.
pub const WORKERS: [u32; 3] = [1, 2, 4];

/// The name of an action as the suites have it.
pub fn words(action: Action) -> &'static str {
    match action {
        Action::Create => "create/close",
        Action::Flush => "fsync",
        action => action.word(),
    }
}

/// Names of one load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Names {
    /// All workers together.
    pub count: u32,
    /// Who works.
    pub workers: u32,
    /// One directory for all, or one each.
    pub directories: Files,
}

impl Names {
    fn place(&self) -> &'static str {
        match (self.workers, self.directories) {
            (1, _) => "",
            (_, Files::One) => ", one directory",
            (_, Files::Each) => ", a directory each",
        }
    }

    fn crew(&self) -> String {
        match self.workers {
            1 => "1 worker".into(),
            workers => format!("{workers} workers"),
        }
    }
}

/// Each action on all names before the next; what is not in `counted` is done and not told. `what`
/// names the load.
pub fn group(names: Names, what: &str, actions: &[Action], counted: &[Action]) -> Group {
    let load = format!("{what}, {}{}", names.crew(), names.place());
    let stream = Stream {
        engine: Engine::Psync,
        io: IoMode::Buffered,
        workers: names.workers,
        pattern: Pattern::Names(plan::Names {
            actions: actions.to_vec(),
            names: Some((names.count / names.workers).max(1)),
            directories: names.directories,
            ..plan::Names::default()
        }),
        ..Stream::default()
    };
    let until = Until { passes: Some(1), ..Until::default() };
    let cell = |action: &Action| Cell {
        name: format!("{}, {}{}", words(*action), names.crew(), names.place()),
        load: load.clone(),
        action: *action,
        quantity: Quantity::Operations,
        row: format!("{}{}", words(*action), names.place()),
        column: u64::from(names.workers),
    };
    let cells = counted.iter().map(cell).collect();
    Group { loads: vec![Load { name: load, acts: Vec::new(), stream, until }], cells }
}

/// The same with this many of each worker's names in flight, through io_uring.
pub fn batched(names: Names, what: &str, actions: &[Action], depth: u32) -> Group {
    let mut batched = group(names, what, actions, actions);
    for load in &mut batched.loads {
        load.stream = Stream { engine: Engine::IoUring, depth, ..load.stream.clone() };
    }
    for cell in &mut batched.cells {
        cell.name = format!("{}, {depth} in flight", cell.name);
        cell.row = format!("{}, {depth} in flight", cell.row);
    }
    batched
}
