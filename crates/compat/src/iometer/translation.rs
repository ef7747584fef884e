//! From a line and its file to a plan, with what it really measures.

use super::cycling::{self, Point};
use super::drive::{self, Drive, DriveKind, FILE, Part};
use super::icf::{DataPattern, Icf, Recorded, SECTOR_BYTES, Specification, Worker};
use super::line::Line;
use super::notes::Notes;
use super::workers::{self, Workers, refused};
use super::{Era, Options, Place, Test, USAGE, access};
use crate::front::{Job, Refusal, Scale, World};
use drivelab_core::plan::{
    Act, Content, Engine, Mix, Plan, PlanFile, Role, Sharing, Step, Stream, Until,
};
use drivelab_core::units::{Size, Span};

const NS_PER_S: u64 = 1_000_000_000;
const NS_PER_MS: u64 = 1_000_000;
/// Requests that prepare a file: as large as fits, up to this.
const PREPARED_BYTES_MAX: u64 = 1 << 20;
const PREPARED_DEPTH: u32 = 16;
/// Workers of all tests together: more are a typing error.
const TASKS_MAX: usize = 100_000;

/// Everything that is known before the first step.
struct Setting<'a> {
    file: &'a str,
    icf: &'a Icf,
    workers: Workers,
    drive: Drive,
    /// Bytes of the drive, or of its file.
    bytes: u64,
    /// Those that are used where a worker names no size.
    whole: u64,
    world: &'a dyn World,
}

/// What a worker does in one test.
struct Task<'a> {
    worker: &'a Worker,
    specification: Specification,
    stream: Stream,
}

pub fn translate(line: &Line, icf: &Icf, world: &dyn World) -> Result<(Job, Options), Refusal> {
    let file = line.configuration.0.as_str();
    let mut notes = Notes::default();
    notes.line(line, icf);
    let run_time = run_time(line, icf, world.scale_time())?;
    if let Some(line) = icf.update_results_line {
        let text = "Record Last Update Results: results of each update are not written";
        return Err(refused(file, line, text, "write DISABLED; a run keeps each second anyway"));
    }
    let setting = setting(line, icf, world)?;
    notes.workers(icf, &setting.workers);
    notes.drive(&setting.drive, setting.bytes);
    for worker in setting.workers.all.iter().filter(|worker| !worker.targets.is_empty()) {
        notes.cut(worker, setting.bytes, world.scale());
    }
    let mut plan = Plan { title: title(icf, file), ..Plan::default() };
    prepare(&setting, &mut plan);
    plan.seed = seed(&setting.workers);
    let ramp = span(icf.setup.ramp_up_s, world.scale_time());
    let mut tests = Vec::new();
    for (round, point) in series(&setting)? {
        let tasks = tasks(&setting, round, point)?;
        for task in &tasks {
            notes.task(task.worker, &task.specification, &task.stream);
        }
        notes.together(&tasks.iter().map(|task| &task.stream).collect::<Vec<_>>());
        let (step, places) = step(&tasks, point, ramp, run_time);
        let step = named(step, &plan, tests.len() + 1);
        let plan_step = u32::try_from(plan.steps.len()).unwrap_or(u32::MAX);
        let specifications = distinct(&tasks);
        plan.steps.push(step);
        tests.push(Test { plan_step, specifications, workers: places });
    }
    let job = Job {
        plan,
        target: setting.drive.path.clone(),
        keeps: true,
        notes: notes.finished(Era::of(icf)),
        results: vec![super::place(&line.results)],
    };
    let recorded = match icf.setup.record {
        Recorded::Nothing => Recorded::All,
        rows => rows,
    };
    let options = Options {
        results: line.results.clone(),
        era: Era::of(icf),
        version: icf.version.clone(),
        description: icf.setup.description.clone(),
        test_type: icf.setup.test.number(),
        recorded,
        tests,
    };
    Ok((job, options))
}

/// Seconds of each test: the file's, or where it has none what the line gives instead.
fn run_time(line: &Line, icf: &Icf, scale: Scale) -> Result<Span, Refusal> {
    let seconds = match (icf.setup.run_time_s, &line.timeout) {
        (0, Some((seconds, _))) => *seconds,
        (seconds, _) => seconds,
    };
    if seconds == 0 {
        let file = &line.configuration.0;
        return Err(Refusal::new(
            USAGE,
            format!("{file}: Run Time is 0 0 0, and each test would run until someone stops it"),
            "write a run time into the file, or give its seconds with /t",
        ));
    }
    Ok(span(seconds, scale))
}

fn span(seconds: u64, scale: Scale) -> Span {
    Span(scale.of(seconds.saturating_mul(NS_PER_S), NS_PER_MS))
}

fn setting<'a>(line: &'a Line, icf: &'a Icf, world: &'a dyn World) -> Result<Setting<'a>, Refusal> {
    let file = line.configuration.0.as_str();
    let mut workers = workers::of(icf, file, world)?;
    let name = workers.target.as_ref().map(|(line, name)| (*line, name.as_str()));
    let drive = drive::find(name, file, line.target.as_deref(), world)?;
    if workers.target.is_none() {
        // Nobody chose a target: what was named by `--target` is everybody's.
        for worker in &mut workers.all {
            worker.targets.push((0, drive.path.clone()));
        }
    }
    let mut busy = workers.all.iter().filter(|worker| !worker.targets.is_empty());
    let first = busy.clone().next();
    let (Some(first), true) = (first, busy.any(|worker| !worker.assigned.is_empty())) else {
        return Err(Refusal::new(
            USAGE,
            format!("{file}: no worker has an access specification"),
            "assign one: 'Assigned access specs of a worker, or ALL or DISK after its name",
        ));
    };
    let (bytes, whole) = match drive.bytes {
        Some(bytes) => (bytes, world.scale().of(bytes, SECTOR_BYTES)),
        None => {
            let bytes = drive::file_bytes(first, file, world.scale())?;
            (bytes, bytes)
        }
    };
    Ok(Setting { file, icf, workers, drive, bytes, whole, world })
}

fn title(icf: &Icf, file: &str) -> String {
    match icf.setup.description.as_str() {
        "" => format!("Iometer {file}"),
        description => description.to_owned(),
    }
}

/// The plan's file, and the step that writes it where Iometer would prepare the drive.
fn prepare(setting: &Setting<'_>, plan: &mut Plan) {
    if setting.drive.kind != DriveKind::Mounted {
        return;
    }
    plan.files = vec![PlanFile { name: FILE.into(), size: Size(setting.bytes), grows: false }];
    if setting.drive.bytes.is_some() {
        return;
    }
    let size = 1_u64 << setting.bytes.trailing_zeros().min(PREPARED_BYTES_MAX.trailing_zeros());
    plan.steps.push(Step {
        name: "prepare".into(),
        role: Role::Prepare,
        until: Until { passes: Some(1), ..Until::default() },
        streams: vec![Stream {
            engine: Engine::Libaio,
            mix: Mix::WRITE,
            size: Size(size),
            depth: PREPARED_DEPTH,
            ..Stream::default()
        }],
        ..Step::default()
    });
}

/// The first fixed seed; 0 leaves it to be chosen.
fn seed(workers: &Workers) -> u64 {
    workers.all.iter().find_map(|worker| worker.seed).map_or(0, |seed| seed.max(1))
}

/// Each access specification with each of its tests.
fn series(setting: &Setting<'_>) -> Result<Vec<(usize, Point)>, Refusal> {
    let Setting { icf, workers, file, .. } = setting;
    let count = |workers: usize| u32::try_from(workers).unwrap_or(u32::MAX);
    let busy: Vec<_> = workers.all.iter().filter(|it| !it.targets.is_empty()).collect();
    let points = cycling::points(&icf.setup, count(workers.all.len()), count(busy.len()));
    let points = points.map_err(|text| {
        let text = format!("Test Type {}: {text}", icf.setup.test.word());
        refused(file, icf.setup.test_line, &text, "correct start, end and step of its cycling")
    })?;
    let rounds = busy.iter().map(|worker| worker.assigned.len()).max().unwrap_or(0);
    if rounds.saturating_mul(points.len()).saturating_mul(busy.len()) > TASKS_MAX {
        let text = format!("{rounds} specifications with {} tests each", points.len());
        let text =
            format!("{file}: {text} and {} workers are taken for a typing error", busy.len());
        return Err(Refusal::new(USAGE, text, "make files of fewer tests"));
    }
    let of_round = |round| points.iter().map(move |point| (round, *point));
    Ok((0..rounds).flat_map(of_round).collect())
}

/// Who does what in one test.
fn tasks<'a>(
    setting: &'a Setting<'a>,
    round: usize,
    point: Point,
) -> Result<Vec<Task<'a>>, Refusal> {
    let mut found = Vec::new();
    let mut targets = 0;
    for (index, worker) in (0..).zip(&setting.workers.all) {
        if worker.targets.is_empty() {
            continue;
        }
        targets += 1;
        let takes_part = point.workers.is_none_or(|count| index < count)
            && point.targets.is_none_or(|count| targets <= count);
        let Some(assigned) = worker.assigned.get(round).filter(|_| takes_part) else { continue };
        let known = workers::specification(setting.icf, setting.file, assigned)?;
        if let Some(specification) = known {
            let stream = stream(setting, worker, &specification, point)?;
            found.push(Task { worker, specification, stream });
        }
    }
    Ok(found)
}

fn stream(
    setting: &Setting<'_>,
    worker: &Worker,
    specification: &Specification,
    point: Point,
) -> Result<Stream, Refusal> {
    let loaded = access::stream(specification).map_err(|unlike| {
        let access::Unlike { field, lines: (one, two), text } = unlike;
        let other_line = if one == two { String::new() } else { format!(" (next to line {one})") };
        let name = &specification.name;
        let text = format!("access specification `{name}`, {field}{other_line}: {text}");
        let advice = "make a specification of each kind of line, and assign them one by one";
        refused(setting.file, two, &text, advice)
    })?;
    let depth = point.outstanding.unwrap_or(worker.outstanding);
    let grid = access::drawn(specification).next().map_or(SECTOR_BYTES, access::grid);
    let scale = setting.world.scale();
    let Part { offset, length, .. } =
        drive::part(worker, setting.bytes, setting.whole, grid, scale);
    let writes = loaded.mix.write > 0 || loaded.reply.is_some();
    Ok(Stream {
        engine: Engine::Libaio,
        depth,
        offset: Size(offset),
        length: length.map(Size),
        regions: Some(Sharing::Whole),
        order: worker.seed,
        content: match worker.pattern {
            DataPattern::RepeatingBytes if writes => Content::Compressible(100),
            _ => Content::Random,
        },
        ..loaded
    })
}

/// The step of a test, and where the figures of its workers will be.
fn step(tasks: &[Task<'_>], point: Point, ramp: Span, run_time: Span) -> (Step, Vec<Place>) {
    let mut streams: Vec<Stream> = Vec::new();
    let mut places: Vec<Place> = Vec::new();
    for task in tasks {
        // Workers that are alike go their own ways within one stream, unless a seed says how.
        let alike = streams.last().is_some_and(|last| {
            Stream { workers: 1, ..last.clone() } == task.stream && task.stream.order.is_none()
        });
        match streams.last_mut() {
            Some(last) if alike => last.workers += 1,
            _ => streams.push(task.stream.clone()),
        }
        places.push(place(task, streams.len() - 1, streams.last().map_or(1, |it| it.workers) - 1));
    }
    if streams.len() > 1 {
        name_streams(&mut streams, &places);
    }
    let name = step_name(tasks, point);
    let step = match streams.is_empty() {
        true => Step {
            name: "idle".into(),
            role: Role::Idle,
            act: Some(Act::Idle(Span(ramp.0.saturating_add(run_time.0)))),
            ..Step::default()
        },
        false => Step {
            name,
            ramp,
            until: Until { elapsed: Some(run_time), ..Until::default() },
            streams,
            ..Step::default()
        },
    };
    (step, places)
}

fn place(task: &Task<'_>, stream: usize, number: u32) -> Place {
    let target = task.worker.targets.first().map_or("", |(_, name)| name);
    Place {
        stream: u32::try_from(stream).unwrap_or(u32::MAX),
        number,
        name: task.worker.name.clone(),
        specification: task.specification.name.clone(),
        target: target.to_owned(),
        outstanding: task.stream.depth,
        starting_sector: task.worker.starting_sector,
        maximum_sectors: task.worker.maximum_sectors,
        replies: task.stream.reply.is_some(),
    }
}

/// Each stream by its first worker and how many are with it.
fn name_streams(streams: &mut [Stream], places: &[Place]) {
    for (index, stream) in (0..).zip(streams) {
        let first = places.iter().find(|place| place.stream == index);
        let name = first.map_or("", |place| place.name.as_str());
        stream.name = match stream.workers {
            1 => name.to_owned(),
            many => format!("{name} and {} more", many - 1),
        };
    }
}

/// The specifications of a test, each once.
fn distinct(tasks: &[Task<'_>]) -> Vec<Specification> {
    let mut found: Vec<Specification> = Vec::new();
    for task in tasks {
        if !found.iter().any(|known| known.name == task.specification.name) {
            found.push(task.specification.clone());
        }
    }
    found
}

fn step_name(tasks: &[Task<'_>], point: Point) -> String {
    let names: Vec<String> = distinct(tasks).into_iter().map(|it| it.name).collect();
    let mut name = names.join(" + ");
    let grown = [
        (point.workers, "worker"),
        (point.targets, "target"),
        (point.outstanding, "outstanding I/O"),
    ];
    for (count, what) in grown.into_iter().filter_map(|(count, what)| Some((count?, what))) {
        let many = if count == 1 { "" } else { "s" };
        name.push_str(&format!(", {count} {what}{many}"));
    }
    name
}

/// Steps of one name are repetitions; another load gets another name.
fn named(step: Step, plan: &Plan, number: usize) -> Step {
    let mut namesakes = plan.steps.iter().filter(|it| it.name == step.name);
    match namesakes.all(|it| it.streams == step.streams && it.act == step.act) {
        true => step,
        false => Step { name: format!("{}, test {number}", step.name), ..step },
    }
}
