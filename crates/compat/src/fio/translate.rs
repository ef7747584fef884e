//! Jobs as a plan: what is laid out, what runs together, what is read back.

use super::issued;
use super::marks;
use super::place::{Place, Places};
use super::settings::Settings;
use super::shown::{Log, Logged, Section, Without};
use super::waves::{end_together, waves};
use super::words::{Job, unsupported};
use super::{names, repeats, simulated, steadystate, stream};
use crate::front::{Refusal, World};
use drivelab_core::plan::{
    Act, Content, Engine, Interval, IoMode, Mix, Plan, Role, Step, Stream, Sync, Until,
};
use drivelab_core::units::{Size, Span};

/// The seed of every line that does not say otherwise: fio's own random numbers repeat too.
const SEED: u64 = 0x89;

/// A plan, and which parts of it are which job.
pub struct Translated {
    /// What will be done.
    pub plan: Plan,
    /// The jobs for the output.
    pub sections: Vec<Section>,
}

/// One job with everything that is known of it.
pub struct Whole<'a> {
    /// As it was given.
    pub job: &'a Job,
    /// As values.
    pub settings: &'a Settings,
    /// Where its I/O goes.
    pub place: &'a Place,
}

/// The plan of all jobs.
///
/// # Errors
/// What fits no plan, by name.
pub fn plan(jobs: &[Whole<'_>], places: &Places, world: &dyn World) -> Result<Translated, Refusal> {
    let mut plan = Plan { title: title(jobs), seed: seed(jobs, world)?, ..Plan::default() };
    plan.interval = interval(jobs)?;
    for whole in jobs {
        steadystate::check_interval(whole.settings, plan.interval.0.0)?;
    }
    match &places.on_drive {
        Some(on_drive) => plan.steps.extend(simulated::lay_out(places, on_drive)),
        None => {
            plan.files.clone_from(&places.files);
            plan.steps.extend(names::lay_out(jobs));
            lay_out(jobs, places, &mut plan);
        }
    }
    let mut missing = places.states.iter().map(|state| !state.is_there).collect::<Vec<_>>();
    if jobs.iter().any(|whole| whole.settings.turns.create_only) {
        let sections = made_only(jobs, places, (&mut plan, &mut missing))?;
        return Ok(Translated { plan, sections });
    }
    let mut sections: Vec<Section> = Vec::new();
    let mut group = 0;
    let waves = waves(jobs)?;
    let last = waves.len().saturating_sub(1);
    for (number, wave) in waves.into_iter().enumerate() {
        let mut step = wave_step(&wave, number, world)?;
        end_together(&wave, &mut step, number == last)?;
        before(&wave, &mut plan, number);
        let at = plan.steps.len();
        let first = sections.len();
        for (stream, (index, whole)) in (0..).zip(&wave) {
            let is_new = whole.settings.turns.new_group || whole.settings.stonewall;
            if is_new && *index > 0 {
                group += 1;
            }
            if whole.settings.group_reporting {
                judge_together(&mut step, stream as usize, group);
            }
            repeats::apply(jobs, *index, &mut step.streams[stream as usize])?;
            let given = step.streams[stream as usize].clone();
            let laid_out = laid_out(whole, places, &mut missing);
            let section = section(whole, (at, stream), group, &given);
            sections.push(Section { laid_out, iolog: iolog(whole, places), ..section });
        }
        let groups = sections[first..].iter().map(|section| section.group);
        steadystate::check_group(groups.zip(wave.iter().map(|(_, whole)| whole.settings)))?;
        let read_back = verifying(&wave, &mut step, first)?;
        plan.steps.push(step);
        if let Some((verify, which)) = read_back {
            let at = plan.steps.len();
            for (stream, section) in (0..).zip(which) {
                sections[section].verify = Some((at, stream));
            }
            plan.steps.push(verify);
        }
    }
    drawn_orders(&mut plan, world);
    if places.target.starts_with("sim:") {
        let streams = plan.steps.iter_mut().flat_map(|step| &mut step.streams);
        streams.for_each(|stream| stream.request_priorities.clear());
    }
    Ok(Translated { plan, sections })
}

/// `create_only`: files are laid out, and no job begins.
fn made_only(
    jobs: &[Whole<'_>],
    places: &Places,
    (plan, missing): (&mut Plan, &mut [bool]),
) -> Result<Vec<Section>, Refusal> {
    if jobs.iter().any(|whole| !whole.settings.turns.create_only) {
        return Err(unsupported(
            "create_only of some jobs alone",
            "say it in [global], and run a second line without it",
        ));
    }
    if plan.steps.is_empty() {
        plan.steps.push(act("all files are there", Act::Idle(Span(1_000_000))));
    }
    let of = |whole: &Whole<'_>| {
        let given = Stream { workers: whole.settings.numjobs, ..Stream::default() };
        let laid_out = laid_out(whole, places, missing);
        Section { laid_out, ..section(whole, (usize::MAX, 0), 0, &given) }
    };
    Ok(jobs.iter().map(of).collect())
}

/// Whose rates are reported as one are judged as one.
fn judge_together(step: &mut Step, stream: usize, group: u32) {
    let until = step.streams[stream].until.as_mut().unwrap_or(&mut step.until);
    if let Some(level) = &mut until.level {
        level.group = Some(group);
    }
}

fn title(jobs: &[Whole<'_>]) -> String {
    let names: Vec<&str> = jobs.iter().map(|whole| whole.job.name.as_str()).collect();
    format!("fio {}", names.join(" "))
}

/// The seed of the plan. Stamps carry it: where blocks are checked it is always the same, so that
/// every line can check what another one wrote.
fn seed(jobs: &[Whole<'_>], world: &dyn World) -> Result<u64, Refusal> {
    let of = |settings: &Settings| match (settings.randseed, settings.randrepeat) {
        (Some(seed), _) => seed & (u64::MAX >> 1),
        (None, true) => SEED,
        // The run chooses one.
        (None, false) => 0,
    };
    let first = jobs.first().map_or(SEED, |whole| of(whole.settings));
    let is_checked = jobs.iter().any(|whole| whole.settings.marks.verify.is_some());
    let has_one = jobs.iter().all(|whole| of(whole.settings) == first);
    let are_drawn = jobs.iter().any(|whole| of(whole.settings) == 0);
    match has_one && !is_checked {
        true => Ok(first),
        false if are_drawn && world.drawn().is_none() => Err(unsupported(
            "jobs with different seeds, or randrepeat=0 with verify, of several processes",
            "say randseed, in [global]",
        )),
        false => Ok(SEED),
    }
}

/// In a plan whose seed repeats, the orders that do not go by numbers of their own.
fn drawn_orders(plan: &mut Plan, world: &dyn World) {
    let streams = plan.steps.iter_mut().flat_map(|step| &mut step.streams);
    for stream in streams.filter(|_| plan.seed != 0) {
        let is_open = stream.order.is_none() && !stream.is_sequential() && !stream.is_metadata();
        stream.order = stream.order.or_else(|| world.drawn().filter(|_| is_open));
    }
}

fn interval(jobs: &[Whole<'_>]) -> Result<Interval, Refusal> {
    let logging = |whole: &&Whole<'_>| whole.settings.logs.iter().any(Option::is_some);
    let mut all: Vec<u64> = jobs
        .iter()
        .filter(logging)
        .map(|whole| whole.settings.log_lines.every_ms)
        .filter(|every_ms| *every_ms > 0)
        .collect();
    all.sort_unstable();
    // Without one, each request has a line of its own.
    let Some(every_ms) = all.first().copied() else { return Ok(Interval(Span(500_000_000))) };
    if all.iter().any(|other| !other.is_multiple_of(every_ms)) {
        return Err(unsupported(
            "log_avg_msec that differs between jobs",
            "let the longer ones be multiples of the shortest",
        ));
    }
    if !(10..=60_000).contains(&every_ms) {
        return Err(unsupported(
            &format!("log_avg_msec={every_ms}"),
            "use 10 to 60000, or leave it out: then each request has a line",
        ));
    }
    Ok(Interval(Span(every_ms * 1_000_000)))
}

/// Writes the files that are read and are not there, as fio does, and has the blocks of those set
/// aside that are only written.
fn lay_out(jobs: &[Whole<'_>], places: &Places, plan: &mut Plan) {
    let is_absent = |file: usize| places.states.get(file).is_some_and(|state| !state.is_there);
    let fallocates = jobs.iter().any(|whole| {
        let place = whole.place;
        let count = place.per_clone * if place.each { whole.settings.numjobs } else { 1 };
        let files = place.first as usize..(place.first + count) as usize;
        whole.settings.fallocates && files.clone().any(is_absent)
    });
    if fallocates && !places.files.is_empty() {
        plan.steps.push(act("set aside", Act::Allocate));
    }
    for (index, (file, state)) in places.files.iter().zip(&places.states).enumerate() {
        if state.is_there || !state.is_read {
            continue;
        }
        let user = jobs.iter().find(|whole| {
            let count = whole.place.per_clone * whole.settings.numjobs.max(1);
            (whole.place.first..whole.place.first + count).contains(&(index as u32))
        });
        let size = user.map_or(4096, |whole| largest_write(whole.settings)).min(file.size.0);
        // Of a mix only what it wrote is looked at: a lost write must not find a stamp below it.
        let stamped = user.is_some_and(|whole| {
            whole.settings.marks.are_stamps() && !whole.settings.rw.is_mixed()
        });
        let data = user.and_then(|whole| whole.settings.marks.data());
        let stamped = stamped && data.is_none();
        let stream = Stream {
            engine: Engine::Psync,
            io: IoMode::Buffered,
            sync: Sync::End,
            mix: Mix::WRITE,
            size: Size(size),
            length: Some(file.size),
            content: user.map_or(Content::Random, |whole| whole.settings.content),
            data,
            stamp: stamped,
            first_file: index as u32,
            ..Stream::default()
        };
        let content = stream.content;
        let stream = Stream { stamp: stream.stamp && content != Content::Zero, ..stream };
        plan.steps.push(Step {
            name: format!("lay out {}", file.name),
            role: Role::Prepare,
            until: Until { passes: Some(1), ..Until::default() },
            repeat: 1,
            streams: vec![stream],
            ..Step::default()
        });
    }
}

/// The largest block that a job writes: files are laid out in such.
fn largest_write(settings: &Settings) -> u64 {
    if let Some(split) = &settings.bssplit {
        return split[1].iter().map(|(bytes, _)| *bytes).max().unwrap_or(settings.bs[1]);
    }
    settings.bsrange.map_or(settings.bs[1], |range| range[1].1)
}

fn act(name: &str, act: Act) -> Step {
    let act = Some(act);
    Step { name: name.into(), role: Role::Prepare, act, repeat: 1, ..Step::default() }
}

/// What happens just before jobs begin: cached pages of their files go, or are read in.
fn before(wave: &[(usize, &Whole<'_>)], plan: &mut Plan, number: usize) {
    let suffix = if number > 0 { format!(" {}", number + 1) } else { String::new() };
    let goes_cached = |settings: &Settings| {
        !settings.is_direct() && settings.engine.1.moves_data() && settings.turns.names.is_none()
    };
    let settings = || wave.iter().map(|(_, whole)| whole.settings);
    if settings().any(|settings| settings.invalidate && goes_cached(settings)) {
        plan.steps.push(act(&format!("drop the cache{suffix}"), Act::DropCaches));
    }
    for (_, whole) in wave.iter().filter(|(_, whole)| whole.settings.pre_read) {
        let stream = Stream {
            engine: Engine::Psync,
            io: IoMode::Buffered,
            size: Size(if whole.place.length.is_multiple_of(1 << 16) { 1 << 16 } else { 4096 }),
            offset: Size(whole.place.offset),
            length: Some(Size(whole.place.length)),
            offset_each: Size(whole.place.offset_each),
            first_file: whole.place.first_file(),
            workers: if whole.place.each { whole.settings.numjobs } else { 1 },
            files: whole.place.shared(),
            ..Stream::default()
        };
        plan.steps.push(Step {
            name: format!("read in {}{suffix}", whole.job.name),
            role: Role::Prepare,
            until: Until { passes: Some(1), ..Until::default() },
            repeat: 1,
            streams: vec![stream],
            ..Step::default()
        });
    }
}

fn wave_step(
    wave: &[(usize, &Whole<'_>)],
    number: usize,
    world: &dyn World,
) -> Result<Step, Refusal> {
    let first = wave[0].1;
    let ramp = first.settings.ramp_ns;
    let cpus = first.settings.cpus.clone();
    for (_, whole) in wave {
        if whole.settings.ramp_ns != ramp {
            return Err(unsupported("ramp_time that differs between jobs", "say it once"));
        }
        if whole.settings.cpus != cpus {
            return Err(unsupported("cpus_allowed that differs between jobs", "say it once"));
        }
    }
    let times = world.scale_time();
    let mut streams = Vec::new();
    for (index, whole) in wave {
        let stream = stream::of(whole, *index, world)?;
        let until = stream.until.clone().unwrap_or_default();
        // What would be written is looked for.
        streams.push(match whole.settings.marks.only && whole.settings.rw.kinds[1] {
            true => marks::read_back(whole.settings, &stream, issued::once(whole, &until))?,
            false => stream,
        });
    }
    let mut names: Vec<&str> = wave.iter().map(|(_, whole)| whole.job.name.as_str()).collect();
    names.dedup();
    let name = names.join(" + ");
    let name = if number == 0 { name } else { format!("{} {name}", number + 1) };
    let mut step = Step {
        name,
        ramp: Span(times.of(ramp, 1_000_000)),
        cpus,
        repeat: 1,
        streams,
        ..Step::default()
    };
    if let [only] = step.streams.as_mut_slice() {
        // One job: its bounds are those of the step.
        step.until = only.until.take().unwrap_or_default();
    }
    Ok(step)
}

/// The step that reads back what a wave has written, and which sections it is of.
fn verifying(
    wave: &[(usize, &Whole<'_>)],
    step: &mut Step,
    first_section: usize,
) -> Result<Option<(Step, Vec<usize>)>, Refusal> {
    let mut streams = Vec::new();
    let mut which = Vec::new();
    let is_cut_short = wave.iter().any(|(_, whole)| whole.settings.turns.exitall);
    for (place, (_, whole)) in wave.iter().enumerate() {
        let settings = whole.settings;
        let marks = &settings.marks;
        if marks.verify.is_none() || !marks.reads_back || marks.only || !settings.rw.kinds[1] {
            continue;
        }
        let written = &step.streams[place];
        if written.mix.write == 0 {
            continue;
        }
        let mut until = written.until.clone().unwrap_or_else(|| step.until.clone());
        if until.elapsed.is_some() || until.level.is_some() || is_cut_short {
            until = issued::as_issued(whole, place as u32, &until);
        }
        until = issued::once(whole, &until);
        streams.push(marks::read_back(settings, written, until)?);
        which.push(first_section + place);
    }
    if streams.is_empty() {
        return Ok(None);
    }
    let verify = Step {
        name: format!("verify {}", step.name),
        role: Role::Measure,
        repeat: 1,
        streams,
        ..Step::default()
    };
    Ok(Some((verify, which)))
}

fn section(
    whole: &Whole<'_>,
    (step, stream): (usize, u32),
    group: u32,
    planned: &Stream,
) -> Section {
    let settings = whole.settings;
    let range = |place: usize| match (&settings.bssplit, settings.bsrange) {
        (Some(split), _) => {
            let sizes = || split[place].iter().map(|(bytes, _)| *bytes);
            (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0))
        }
        (None, Some(range)) => range[place],
        (None, None) => (settings.bs[place], settings.bs[place]),
    };
    let shown =
        |word: &super::words::Word| word.value.clone().map(|value| (word.name.to_string(), value));
    Section {
        name: whole.job.name.clone(),
        description: settings.description.clone(),
        given: whole.job.own.iter().filter_map(shown).collect(),
        group,
        group_reporting: settings.group_reporting,
        step,
        stream,
        clones: planned.workers,
        verify: None,
        rw: settings.rw.word.clone(),
        sizes: [range(0), range(1), range(2)],
        ioengine: settings.engine.0.clone(),
        iodepth: settings.depth,
        thread: settings.thread,
        ramp_s: settings.ramp_ns as f64 / 1e9,
        laid_out: None,
        percentiles: settings.percentiles.clone(),
        clat_percentiles: settings.with_percentiles[0],
        lat_percentiles: settings.with_percentiles[1],
        slat_percentiles: settings.with_percentiles[2],
        unified: settings.unified,
        logs: logs(settings, &whole.job.name),
        iolog: None,
        unit_base: settings.unit_base,
        kb_base: settings.kb_base,
        without: match whole.place.names {
            // There is no request behind the operation to time.
            Some(_) => Without { submission: true, total: true, ..settings.without },
            None => settings.without,
        },
        names: whole.place.names.as_ref().map(|named| named.requests),
        counts_errors: false,
    }
}

/// What fio says of files that are not there, whatever is done with them: of each clone that has
/// files of its own, and of no file twice.
fn laid_out(whole: &Whole<'_>, places: &Places, missing: &mut [bool]) -> Option<(u32, u32, u64)> {
    let place = whole.place;
    if place.names.is_some() {
        return names::laid_out(whole);
    }
    let files = place.per_clone * if place.each { whole.settings.numjobs } else { 1 };
    let own = place.first as usize..(place.first + files) as usize;
    let laid: Vec<u64> = places
        .files
        .iter()
        .zip(missing)
        .skip(own.start)
        .take(own.len())
        .filter_map(|(file, missing)| std::mem::take(missing).then_some(file.size.0))
        .collect();
    let times = (laid.len() as u32).div_ceil(place.per_clone.max(1));
    let files = (laid.len() as u32).min(place.per_clone);
    let bytes = laid.iter().take(files as usize).fold(0u64, |all, one| all.saturating_add(*one));
    (times > 0).then_some((times, files, bytes))
}

/// Where the requests of a job are listed, and what its file is called there.
fn iolog(whole: &Whole<'_>, places: &Places) -> Option<(String, String)> {
    let path = whole.settings.logs[3].clone()?;
    let file = places.files.get(whole.place.first as usize).map(|file| file.name.as_str());
    let name = match (places.target.as_str(), file) {
        (".", Some(file)) => file.to_owned(),
        (target, Some(file)) => format!("{}/{file}", target.trim_end_matches('/')),
        // A device, or nothing at all.
        (_, None) => match whole.settings.filenames.first() {
            Some(name) => name.clone(),
            None => format!("{}.0.0", whole.job.name),
        },
    };
    Some((path, name))
}

fn logs(settings: &Settings, name: &str) -> Vec<Log> {
    let kinds: [&[Logged]; 3] = [
        &[Logged::Bandwidth],
        &[Logged::Iops],
        &[Logged::Latency, Logged::CompletionLatency, Logged::SubmissionLatency],
    ];
    let log = |(prefix, kinds): (&Option<String>, &[Logged])| -> Vec<Log> {
        let Some(prefix) = prefix else { return Vec::new() };
        let prefix = if prefix.is_empty() { name.to_string() } else { prefix.clone() };
        let one = |logged: &Logged| Log {
            logged: *logged,
            prefix: prefix.clone(),
            lines: settings.log_lines,
            per_job: settings.per_job_logs,
        };
        kinds.iter().map(one).collect()
    };
    settings.logs.iter().zip(kinds).flat_map(log).collect()
}
