//! The tests as steps: create, stat and utime, each with what it needs before and leaves behind.

use super::Options;
use crate::front::{Found, World};
use drivelab_core::op::Action;
use drivelab_core::plan::{Engine, IoMode, Names, Pattern, Plan, Role, Step, Stream, Sync, Until};

const SEED: u64 = 0x6D65_7461_7261_7465;

/// A test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// creat, fsync with `-s`, close.
    Create,
    /// stat.
    Stat,
    /// utime.
    Utime,
}

/// What a step measures; absent: what comes in between.
pub type Key = Option<Phase>;

/// Makes the plan, and says in the options what each of its steps is.
pub fn plan(options: &mut Options, world: &dyn World) -> Plan {
    let mut maker = Maker { options, steps: Vec::new(), keys: Vec::new(), are_there: false };
    maker.directories(world);
    maker.all();
    let (steps, keys) = (maker.steps, maker.keys);
    options.keys = keys;
    let title = format!("metarates -d {} -n {}", options.directory, options.files);
    Plan { title, seed: SEED, steps, ..Plan::default() }
}

struct Maker<'a> {
    options: &'a Options,
    steps: Vec<Step>,
    keys: Vec<Key>,
    /// The files of all tasks are there.
    are_there: bool,
}

impl Maker<'_> {
    /// Directories of a task's own that are there already stay as they are.
    fn directories(&mut self, world: &dyn World) {
        let tasks = self.options.tasks;
        if !self.options.unique {
            return;
        }
        let path = |task: u32| match self.options.directory.as_str() {
            "/" => format!("/{task}"),
            directory => format!("{directory}/{task}"),
        };
        let is_new = self.options.is_simulated;
        let missing: Vec<u32> = (0..tasks)
            .filter(|task| is_new || world.found(&path(*task)) == Found::Absent)
            .collect();
        if missing.len() == tasks as usize {
            return self.make("make directories", "{name}".to_owned(), tasks);
        }
        for task in missing {
            self.make("make directories", task.to_string(), 1);
        }
    }

    fn make(&mut self, name: &str, form: String, names: u32) {
        let stream = Stream {
            pattern: Pattern::Names(Names {
                actions: vec![Action::Mkdir],
                of_directories: true,
                names: Some(names),
                form: Some(form),
                ..Names::default()
            }),
            ..base()
        };
        self.push(name, None, stream);
    }

    fn all(&mut self) {
        let options = self.options;
        if options.creates {
            let sync = if options.sync { Sync::Fsync(1) } else { Sync::None };
            let stream = Stream { sync, ..self.of_all(Action::Create) };
            self.push("create", Some(Phase::Create), stream);
            self.are_there = true;
            self.clear();
        }
        for (asked, name, phase, action) in [
            (options.stats, "stat", Phase::Stat, Action::Stat),
            (options.utimes, "utime", Phase::Utime, Action::Utime),
        ] {
            if !asked {
                continue;
            }
            if !self.are_there {
                self.task_0_creates_all();
            }
            self.push(name, Some(phase), self.of_all(action));
            self.clear();
        }
    }

    /// Task 0 makes the files of all tasks, one task after the other.
    fn task_0_creates_all(&mut self) {
        for task in 0..self.options.tasks {
            let form = self.form(&task.to_string());
            let own = Stream { workers: 1, ..self.of_all(Action::Create) };
            self.push("create for all", None, own.with_names(|names| names.form = Some(form)));
        }
        self.are_there = true;
    }

    /// Every task removes its own files, unless they are to be kept.
    fn clear(&mut self) {
        if !self.options.keep {
            self.push("unlink", None, self.of_all(Action::Unlink));
            self.are_there = false;
        }
    }

    fn of_all(&self, action: Action) -> Stream {
        Stream {
            workers: self.options.tasks,
            pattern: Pattern::Names(Names {
                actions: vec![action],
                names: Some(u32::try_from(self.options.of_task()).unwrap_or(u32::MAX)),
                form: Some(self.form("{worker}")),
                ..Names::default()
            }),
            ..base()
        }
    }

    fn form(&self, task: &str) -> String {
        match self.options.unique {
            true => format!("{task}/n{task}f{{name}}"),
            false => format!("n{task}f{{name}}"),
        }
    }

    fn push(&mut self, name: &str, phase: Key, stream: Stream) {
        self.keys.push(phase);
        self.steps.push(Step {
            name: name.to_owned(),
            role: if phase.is_some() { Role::Measure } else { Role::Prepare },
            until: Until { passes: Some(1), ..Until::default() },
            repeat: 1,
            streams: vec![stream],
            ..Step::default()
        });
    }
}

fn base() -> Stream {
    Stream { engine: Engine::Psync, io: IoMode::Buffered, ..Stream::default() }
}
