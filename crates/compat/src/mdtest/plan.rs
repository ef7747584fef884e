//! Phases as steps, one after the other: the tree, directories, files, and the tree again.

use super::check::Work;
use super::settings::{Settings, USAGE};
use crate::front::{Refusal, Scale};
use drivelab_core::op::Action;
use drivelab_core::plan::{
    Act, Content, Engine, IoMode, Names, Pattern, Plan, Role, Step, Stream, Sync, Until,
};
use drivelab_core::quantity::counted;
use drivelab_core::units::{Size, Span};

/// Steps that one run holds.
const STEPS_MAX: usize = 90_000;
/// Longest form of a name in bytes.
const FORM_MAX: usize = 200;
const SECOND_NS: u64 = 1_000_000_000;
const SEED: u64 = 0x6D64_7465_7374;

/// What is measured, in the order of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Directories are made.
    DirectoryCreation,
    /// stat(2) of the directories.
    DirectoryStat,
    /// Removal of the directories.
    DirectoryRemoval,
    /// Files are made.
    FileCreation,
    /// stat(2) of the files.
    FileStat,
    /// They are opened, read and closed.
    FileRead,
    /// Removal of the files.
    FileRemoval,
    /// The directories in which items are.
    TreeCreation,
    /// Removal of the tree.
    TreeRemoval,
}

impl Phase {
    /// The name of its steps.
    fn words(self) -> &'static str {
        match self {
            Phase::DirectoryCreation => "directory creation",
            Phase::DirectoryStat => "directory stat",
            Phase::DirectoryRemoval => "directory removal",
            Phase::FileCreation => "file creation",
            Phase::FileStat => "file stat",
            Phase::FileRead => "file read",
            Phase::FileRemoval => "file removal",
            Phase::TreeCreation => "tree creation",
            Phase::TreeRemoval => "tree removal",
        }
    }
}

/// Which step is which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// Index among the numbers of tasks.
    pub sweep: u32,
    /// Iteration, from 0.
    pub iteration: u32,
    /// What it measures; absent: what comes in between.
    pub phase: Option<Phase>,
    /// Its operations count, and not its time alone.
    pub counts: bool,
}

/// Makes the plan, and says what each of its steps is.
///
/// # Errors
/// It would be longer than a run can be, or its names too long.
pub fn plan(
    title: &str,
    settings: &Settings,
    work: &Work,
    scale_time: Scale,
) -> Result<(Plan, Vec<Key>), Refusal> {
    let wall = Span(scale_time.of(settings.wall_s.saturating_mul(SECOND_NS), 1));
    let (steps, keys) = (Vec::new(), Vec::new());
    let mut maker = Maker { settings, work, steps, keys, at: (0, 0), wall };
    let own = work.prefix.trim_end_matches('/').to_owned();
    if !own.is_empty() && work.creates {
        maker.between("make the directory", Action::Mkdir, own.clone(), 1);
    }
    let delay = Span(scale_time.of(settings.delay_s.saturating_mul(SECOND_NS), 1));
    for (sweep, tasks) in (0..).zip(&work.sweeps) {
        for iteration in 0..work.iterations {
            maker.at = (sweep, iteration);
            maker.iteration(*tasks, delay);
            if maker.steps.len() > STEPS_MAX {
                let text = format!("more than {STEPS_MAX} steps are more than one run supports.");
                return Err(Refusal::new(USAGE, text, "Use a smaller -i, or a smaller tree."));
            }
        }
    }
    if !own.is_empty() && work.removes {
        maker.between("remove the directory", Action::Unlink, own, 1);
    }
    let form = |step: &Step| {
        step.streams.iter().any(|stream| long(stream.names().and_then(|of| of.form.as_deref())))
    };
    if maker.steps.iter().any(form) {
        let text = format!("names of more than {FORM_MAX} bytes are not supported here.");
        return Err(Refusal::new(USAGE, text, "Use a shorter -d, or a smaller -z."));
    }
    let plan = Plan { title: title.to_owned(), seed: SEED, steps: maker.steps, ..Plan::default() };
    Ok((plan, maker.keys))
}

fn long(form: Option<&str>) -> bool {
    form.is_some_and(|form| form.len() > FORM_MAX)
}

impl Work {
    /// Whether the time of -W bounds this phase: of both kinds it is the creation of files.
    pub fn has_wall(&self, phase: Phase) -> bool {
        match phase {
            Phase::FileCreation => true,
            Phase::DirectoryCreation => !self.files,
            _ => false,
        }
    }
}

struct Maker<'a> {
    settings: &'a Settings,
    work: &'a Work,
    steps: Vec<Step>,
    keys: Vec<Key>,
    /// Index of the number of tasks, and iteration.
    at: (u32, u32),
    /// After this time creating stops.
    wall: Span,
}

/// Items of one kind.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    of_directories: bool,
    creation: Phase,
    stat: Phase,
    removal: Phase,
}

/// The items of one directory.
struct ItemsOf {
    place: String,
    /// The number of its first item.
    first: u64,
}

impl ItemsOf {
    /// How items of a task are spelt.
    fn form(&self, kind: Kind, task: &str) -> String {
        let ItemsOf { place, first } = self;
        match first {
            0 => format!("{place}/{}.mdtest.{task}.{{name}}", kind.name),
            _ => format!("{place}/{}.mdtest.{task}.{{name+{first}}}", kind.name),
        }
    }
}

const DIRECTORIES: Kind = Kind {
    name: "dir",
    of_directories: true,
    creation: Phase::DirectoryCreation,
    stat: Phase::DirectoryStat,
    removal: Phase::DirectoryRemoval,
};
const FILES: Kind = Kind {
    name: "file",
    of_directories: false,
    creation: Phase::FileCreation,
    stat: Phase::FileStat,
    removal: Phase::FileRemoval,
};

impl Maker<'_> {
    fn iteration(&mut self, tasks: u32, delay: Span) {
        if delay.0 > 0 {
            let act = Some(Act::Idle(delay));
            let (name, role) = ("delay".to_owned(), Role::Idle);
            let step = Step { name, role, act, repeat: 1, ..Step::default() };
            self.push(step, None, false);
        }
        let form = format!("{}test-dir.{}-{{name}}", self.work.prefix, self.at.1);
        if self.work.creates {
            self.between("make the test directory", Action::Mkdir, form.clone(), self.work.trees);
            self.tree(Phase::TreeCreation, Action::Mkdir, tasks);
        }
        if self.work.names == 0 {
            // Nothing but the tree.
        } else if self.work.directories {
            self.items(DIRECTORIES, tasks);
        }
        if self.work.files && self.work.names > 0 {
            self.items(FILES, tasks);
        }
        if self.work.removes {
            self.tree(Phase::TreeRemoval, Action::Unlink, tasks);
            self.between("remove the test directory", Action::Unlink, form, self.work.trees);
        }
    }

    /// All directories of all trees, each in a step of its own; a tree of each task's own is made
    /// by that task.
    fn tree(&mut self, phase: Phase, action: Action, tasks: u32) {
        let settings = self.settings;
        let unique = settings.unique;
        let order = match action {
            Action::Mkdir => self.work.tree.from_the_root(),
            _ => self.work.tree.to_the_root(),
        };
        for place in self.places(&order) {
            let stream = Stream {
                workers: if unique { tasks } else { 1 },
                pattern: Pattern::Names(Names {
                    actions: vec![action],
                    of_directories: true,
                    names: Some(1),
                    form: Some(place),
                    existing: !self.work.creates,
                    ..Names::default()
                }),
                ..base(settings.dummy)
            };
            self.measured(phase, true, stream);
        }
    }

    fn items(&mut self, kind: Kind, tasks: u32) {
        let (work, settings) = (self.work, self.settings);
        let down = self.items_of(&work.tree.items_from_the_root());
        let level = self.items_of(&work.tree.items_by_level());
        // The tasks whose names they are: in each phase as many further on.
        let shift = |phases: u64| {
            let tasks = u64::from(tasks);
            (settings.stride % tasks * phases % tasks) as u32
        };
        let of = |action, phases| Stream {
            workers: tasks,
            neighbour: shift(phases),
            pattern: Pattern::Names(Names {
                actions: vec![action],
                names: Some(work.names),
                of_directories: kind.of_directories,
                existing: !work.creates,
                ..Names::default()
            }),
            ..base(settings.dummy)
        };
        if work.creates {
            let stream = match kind.of_directories {
                true => of(Action::Mkdir, 0),
                false => Stream {
                    sync: if settings.sync { Sync::Fsync(1) } else { Sync::None },
                    content: self.content(settings.write_bytes),
                    ..of(Action::Create, 0)
                        .with_names(|names| names.name_bytes = Size(settings.write_bytes))
                },
            };
            self.by_all_or_one(kind, kind.creation, &down, &stream);
            if settings.collective && !kind.of_directories {
                // Every task opens what task 0 made for it, in the time of creating.
                self.by_all(kind, (kind.creation, false), &down, &of(Action::Open, 0));
            }
        }
        if work.stats {
            self.by_all(kind, (kind.stat, true), &level, &of(Action::Stat, 1));
        }
        if work.reads && !kind.of_directories {
            let stream = of(Action::Open, 2)
                .with_names(|names| names.name_bytes = Size(settings.read_bytes));
            let content = if settings.verifies { self.content(1) } else { Content::default() };
            let stream = Stream { verify: settings.verifies, content, ..stream };
            self.by_all(kind, (Phase::FileRead, true), &level, &stream);
        }
        if work.removes {
            self.by_all_or_one(kind, kind.removal, &down, &of(Action::Unlink, 3));
        }
    }

    /// What files of that many bytes hold: the numbers of mdtest, of which the time is none.
    fn content(&self, bytes: u64) -> Content {
        match bytes {
            0 => Content::default(),
            // Of numbers that are too large mdtest takes the lower half.
            _ => Content::Counting(self.settings.signature as i32),
        }
    }

    /// The file system makes durable what a phase did, in its time.
    fn sync(&mut self, phase: Phase) {
        if !self.settings.syncs_phases {
            return;
        }
        let settings = self.settings;
        let form = format!("{}test-dir.{}-{{name}}", self.work.prefix, self.at.1);
        let stream = Stream {
            pattern: Pattern::Names(Names {
                actions: vec![Action::Flush],
                of_directories: true,
                names: Some(1),
                form: Some(form),
                existing: !self.work.creates,
                ..Names::default()
            }),
            ..base(settings.dummy)
        };
        self.measured(phase, false, stream);
    }

    /// Every task on its own names, or with `-c` task 0 on those of one after the other.
    fn by_all_or_one(&mut self, kind: Kind, phase: Phase, places: &[ItemsOf], stream: &Stream) {
        if !self.settings.collective {
            return self.by_all(kind, (phase, true), places, stream);
        }
        for place in places {
            for task in 0..stream.workers {
                let form = Some(place.form(kind, &task.to_string()));
                let own = Stream { workers: 1, neighbour: 0, ..stream.clone() };
                let own = own.with_names(|names| names.form = form);
                self.measured(phase, true, own);
            }
        }
        self.sync(phase);
    }

    fn by_all(
        &mut self,
        kind: Kind,
        (phase, counts): (Phase, bool),
        places: &[ItemsOf],
        stream: &Stream,
    ) {
        for place in places {
            let form = Some(place.form(kind, "{worker}"));
            self.measured(phase, counts, stream.clone().with_names(|names| names.form = form));
        }
        if counts {
            self.sync(phase);
        }
    }

    /// The items of these directories in all trees: their numbers go on from directory to
    /// directory of a tree.
    fn items_of(&self, numbers: &[u64]) -> Vec<ItemsOf> {
        let each = u64::from(self.work.names);
        let first = numbers.iter().map(|number| number.saturating_mul(each)).cycle();
        let places = self.places(numbers).into_iter().zip(first);
        places.map(|(place, first)| ItemsOf { place, first }).collect()
    }

    /// The paths of these directories in all trees.
    fn places(&self, numbers: &[u64]) -> Vec<String> {
        let (work, unique) = (self.work, self.settings.unique);
        let of = |tree: u32, number: &u64| {
            let below = work.tree.path(*number, unique);
            format!("{}test-dir.{}-{tree}/{below}", work.prefix, self.at.1)
        };
        (0..work.trees)
            .flat_map(|tree| numbers.iter().map(move |number| of(tree, number)))
            .collect()
    }

    fn between(&mut self, name: &str, action: Action, form: String, names: u32) {
        let settings = self.settings;
        let stream = Stream {
            pattern: Pattern::Names(Names {
                actions: vec![action],
                of_directories: true,
                names: Some(names),
                form: Some(form),
                existing: !self.work.creates,
                ..Names::default()
            }),
            ..base(settings.dummy)
        };
        let step = step(name, Role::Prepare, stream);
        self.push(step, None, false);
    }

    fn measured(&mut self, phase: Phase, counts: bool, stream: Stream) {
        let name = match self.work.sweeps.get(self.at.0 as usize) {
            Some(tasks) if self.work.sweeps.len() > 1 => {
                format!("{}, {}", phase.words(), counted(u64::from(*tasks), "task"))
            }
            _ => phase.words().to_owned(),
        };
        let mut step = step(&name, Role::Measure, stream);
        if counts && self.work.has_wall(phase) && self.wall.0 > 0 {
            (step.until.elapsed, step.until.wear_out) = (Some(self.wall), true);
        }
        self.push(step, Some(phase), counts);
    }

    fn push(&mut self, step: Step, phase: Option<Phase>, counts: bool) {
        let (sweep, iteration) = self.at;
        self.steps.push(step);
        self.keys.push(Key { sweep, iteration, phase, counts });
    }
}

fn base(is_dummy: bool) -> Stream {
    let engine = if is_dummy { Engine::Null } else { Engine::Psync };
    Stream { engine, io: IoMode::Buffered, ..Stream::default() }
}

fn step(name: &str, role: Role, stream: Stream) -> Step {
    Step {
        name: name.to_owned(),
        role,
        until: Until { passes: Some(1), ..Until::default() },
        repeat: 1,
        streams: vec![stream],
        ..Step::default()
    }
}
