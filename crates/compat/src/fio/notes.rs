//! What a line really measures, where people have been misled by it.

mod layout;
mod verified;

use super::place::{OnDrive, Places};
use super::settings::{Distribution, Settings};
use super::translate::Whole;
use super::{simulated, space, threads};
use crate::front::{Found, Note, Treatment, World};
use drivelab_core::plan::{Plan, Sync};
use drivelab_core::quantity::size;

/// The notes of all jobs.
pub fn of(jobs: &[Whole<'_>], places: &Places, plan: &Plan, world: &dyn World) -> Vec<Note> {
    let mut notes = Vec::new();
    if jobs.iter().any(|whole| whole.settings.turns.create_only) {
        // Files are made, and nothing is measured.
        return notes;
    }
    for whole in jobs {
        let settings = whole.settings;
        if let Some(named) = &whole.place.names {
            super::names::notes(whole, named, world, &mut notes);
            continue;
        }
        direct(whole, &mut notes);
        mixes(whole, &mut notes);
        depth(settings, &mut notes);
        names(whole, &mut notes);
        ends(whole, &mut notes);
        orders(settings, &mut notes);
        cache(whole, places, world, &mut notes);
        read_as_fio_does(whole, &mut notes);
        on_a_simulated_drive(whole, places, &mut notes);
        notes.extend(settings.turns.priorities.note(settings.is_direct()));
        loops(settings, &mut notes);
        verified::of(whole, &mut notes);
        space::notes(whole, &mut notes);
        let moves_data = settings.engine.1.moves_data();
        if moves_data
            && settings.rw.kinds[2]
            && !places.files.is_empty()
            && places.on_drive.is_none()
        {
            notes.push(Note::new(
                "trim_of_a_file",
                format!("rw={}", settings.rw.word),
                Treatment::Same,
                "on a file a trim gives blocks back to the file system (a hole is punched), and \
                 the drive hears of it only where that passes it on; fio trims block devices \
                 alone, and fails here.",
            ));
        }
    }
    sizes(jobs, places, world, &mut notes);
    match &places.on_drive {
        Some(on_drive) => simulated::notes(places, on_drive, &mut notes),
        None => sleeping_files(places, &mut notes),
    }
    layout::of(jobs, places, plan, &mut notes);
    latencies(jobs, &mut notes);
    if plan.seed != 0 && plan.steps.iter().flat_map(|step| &step.streams).any(is_random) {
        notes.push(Note::new(
            "order_repeats",
            "randrepeat",
            Treatment::Same,
            "the random order is the same in every run (fio's default); randrepeat=0 draws \
             another one.",
        ));
    }
    notes
}

/// Each sentence once.
pub fn once(notes: &mut Vec<Note>) {
    let mut seen: Vec<(String, String)> = Vec::new();
    notes.retain(|note| {
        let key = (note.about.clone(), note.text.clone());
        let is_new = !seen.contains(&key);
        seen.push(key);
        is_new
    });
}

fn is_random(stream: &drivelab_core::plan::Stream) -> bool {
    !stream.is_sequential() && stream.requests().is_empty() && !stream.is_metadata()
}

fn given(whole: &Whole<'_>, name: &str) -> Option<String> {
    let word = whole.job.words().filter(|word| word.name == name).last()?;
    Some(match &word.value {
        Some(value) => format!("{}={value}", word.typed),
        None => word.typed.clone(),
    })
}

fn direct(whole: &Whole<'_>, notes: &mut Vec<Note>) {
    let (direct, buffered) = (given(whole, "direct"), given(whole, "buffered"));
    if let (Some(direct), Some(buffered)) = (direct, buffered) {
        let which = match whole.settings.direct {
            true => "direct I/O (O_DIRECT)",
            false => "the page cache",
        };
        notes.push(Note::new(
            "direct_is_buffered",
            format!("{direct} {buffered}"),
            Treatment::Same,
            format!(
                "they are one variable, inverted, and the last one given wins: this job goes \
                 through {which}."
            ),
        ));
    }
}

fn mixes(whole: &Whole<'_>, notes: &mut Vec<Note>) {
    let settings = whole.settings;
    if settings.rwmixread.is_some() && !settings.rw.is_mixed() {
        let about = given(whole, "rwmixread").or_else(|| given(whole, "rwmixwrite"));
        let what = if settings.rw.kinds[0] { "reads" } else { "writes" };
        notes.push(Note::new(
            "mix_without_effect",
            about.unwrap_or_default(),
            Treatment::Ignored,
            format!(
                "it has no effect on rw={}: this job only does {what}. For a mix use rw=randrw or \
                 rw=rw.",
                settings.rw.word
            ),
        ));
    }
}

fn depth(settings: &Settings, notes: &mut Vec<Note>) {
    let engine = settings.engine.1;
    if settings.depth <= 1 {
        return;
    }
    let about = format!("iodepth={}", settings.depth);
    if settings.engine.0 == "posixaio" {
        notes.push(Note::new(
            "one_at_a_time",
            about,
            Treatment::Approximated,
            "glibc does the requests of one file in one thread, one after the other, and so are \
             they issued here: a latency is that of a request alone, without its waiting for the \
             others. For a depth use ioengine=libaio with direct=1, or io_uring.",
        ));
    } else if engine.is_synchronous() {
        notes.push(Note::new(
            "depth_without_effect",
            about,
            Treatment::Ignored,
            format!(
                "{} does one request at a time: each job runs at depth 1. For a depth use \
                 ioengine=libaio with direct=1, or io_uring.",
                settings.engine.0
            ),
        ));
    } else if engine.traits().waits_when_buffered && !settings.is_direct() {
        notes.push(Note::new(
            "depth_not_reached",
            about,
            Treatment::Same,
            "libaio on a buffered file waits inside the submitting call, so requests go one after \
             the other: the depth that was really reached is in the run file, and the time is in \
             slat. For a depth use direct=1, or io_uring.",
        ));
    }
}

fn names(whole: &Whole<'_>, notes: &mut Vec<Note>) {
    let name = whole.job.name.to_lowercase();
    let rw = whole.settings.rw.word.as_str();
    let said: Vec<&str> = ["randwrite", "randread", "randrw"]
        .into_iter()
        .filter(|word| name.contains(word))
        .collect();
    if let [said] = said.as_slice()
        && *said != rw
    {
        notes.push(Note::new(
            "name_misleads",
            format!("name={}", whole.job.name),
            Treatment::Same,
            format!("the name says {said}, and the job does {rw}."),
        ));
    }
}

fn ends(whole: &Whole<'_>, notes: &mut Vec<Note>) {
    let settings = whole.settings;
    if settings.runtime_ns > 0 && !settings.time_based {
        notes.push(Note::new(
            "size_or_runtime",
            given(whole, "runtime").unwrap_or_default(),
            Treatment::Same,
            format!(
                "without time_based the job ends at the earlier of this and its size ({} a job).",
                size(whole.place.size)
            ),
        ));
    }
    let every = match settings.sync {
        Sync::Fsync(every) | Sync::Fdatasync(every) => every,
        _ => 0,
    };
    if every > 0 && settings.rw.kinds[1] {
        notes.push(Note::new(
            "last_writes_synced",
            given(whole, "fsync").or_else(|| given(whole, "fdatasync")).unwrap_or_default(),
            Treatment::Approximated,
            "the last writes are synced too where their number calls for it; fio ends without.",
        ));
    }
    if settings.steadystate.is_given && !settings.ends_when_steady() {
        notes.push(Note::new(
            "steadystate_off",
            given(whole, "steadystate").unwrap_or_default(),
            Treatment::Same,
            "without steadystate_duration of a second or more nothing is judged, and the job ends \
             as if it had not been said.",
        ));
    }
    let asked = &settings.steadystate;
    let needed_ns = asked.window_ns.saturating_add(asked.after_ns);
    if settings.ends_when_steady() && settings.runtime_ns > 0 && settings.runtime_ns < needed_ns {
        notes.push(Note::new(
            "steadystate_too_late",
            given(whole, "steadystate_duration").unwrap_or_default(),
            Treatment::Same,
            "the runtime is over before the first window is: steady state cannot be attained.",
        ));
    }
    if settings.ramp_ns > 0 && !settings.time_based {
        notes.push(Note::new(
            "ramp_consumes_size",
            given(whole, "ramp_time").unwrap_or_default(),
            Treatment::Same,
            "what is done in the ramp is not measured, but counts against the size.",
        ));
    }
}

fn orders(settings: &Settings, notes: &mut Vec<Note>) {
    let several = settings.bssplit.is_some() || settings.bsrange.is_some();
    let distribution = settings.first_distribution();
    let plain = *distribution == Distribution::Random;
    let is_map_kept = settings.norandommap || super::sizes::have_map(settings);
    if settings.rw.random && several && plain && !is_map_kept {
        notes.push(Note::new(
            "map_with_sizes",
            if settings.bssplit.is_some() { "bssplit" } else { "bsrange" },
            Treatment::Approximated,
            "where directions have sizes of their own, ba is larger than the smallest size, or \
             rate counts bytes, blocks are drawn with repetition: fio's map, which visits each \
             block once and cuts the larger ones to what is left of it, is not kept. fio's \
             requests are smaller on average, and there are more of them.",
        ));
    }
    let is_thinned = |range: &[(u64, u64); 3]| {
        range.iter().zip(settings.rw.kinds).any(|((low, high), is_issued)| {
            is_issued && high / low.max(&1) > super::sizes::SIZES_MAX
        })
    };
    if settings.bssplit.is_none() && settings.bsrange.as_ref().is_some_and(is_thinned) {
        notes.push(Note::new(
            "sizes_thinned",
            "bsrange",
            Treatment::Approximated,
            format!(
                "this many sizes are represented by {} of them; their mean is nearly the same.",
                super::sizes::SIZES_MAX
            ),
        ));
    }
    if let (Distribution::Normal(given), true) = (distribution, settings.rw.random) {
        let plateau = (given / 100.0).min(0.5);
        let deviation = ((1.0 + plateau * plateau * 12.0) / 12.0 / 12.0).sqrt();
        notes.push(Note::new(
            "normal_deviation",
            format!("random_distribution=normal:{given}"),
            Treatment::Same,
            format!(
                "as in fio 3.33 the bell has a deviation of {:.1} % of the file: a twelfth of it \
                 always, widened by a draw over {:.0} % (half is the most); then positions are \
                 scattered.",
                deviation * 100.0,
                plateau * 100.0
            ),
        ));
    }
    if settings.rw.random && settings.norandommap && plain {
        notes.push(Note::new(
            "no_map",
            "norandommap",
            Treatment::Same,
            "blocks are drawn with repetition: of as many draws as there are blocks about 37 % of \
             them meet none (1/e).",
        ));
    }
}

/// Values that fio understands otherwise than they look.
fn read_as_fio_does(whole: &Whole<'_>, notes: &mut Vec<Note>) {
    let mut note = |name: &str, is_so: fn(&str) -> bool, text: &str| {
        if let Some(about) = given(whole, name).filter(|given| is_so(given)) {
            notes.push(Note::new("read_as_fio_does", about, Treatment::Same, text));
        }
    };
    note("runtime", |given| given.contains(':'), "fio reads what stands before the colon alone.");
    note("ramp_time", |given| given.contains(':'), "fio reads what stands before the colon alone.");
    note(
        "bs",
        |given| given.contains('-'),
        "fio takes the first size for reads and the second for writes and trims; a range is \
         bsrange=.",
    );
    for name in ["size", "io_size", "filesize", "offset", "bs"] {
        note(
            name,
            |given| given.contains(['*', '/', '+']) && !given.contains('('),
            "fio reads the first number alone: a sum stands in parentheses.",
        );
    }
    note("rwmixread", |given| given.contains(','), "of several shares fio takes the last.");
    note("rwmixwrite", |given| given.contains(','), "of several shares fio takes the last.");
    note("norandommap", |given| given.contains(','), "of several values fio takes the first.");
}

/// What the kernel is told, and what written blocks hold, changes nothing where there are neither.
fn on_a_simulated_drive(whole: &Whole<'_>, places: &Places, notes: &mut Vec<Note>) {
    if !places.target.starts_with("sim:") {
        return;
    }
    for about in threads::TOLD.iter().filter_map(|name| given(whole, name)) {
        let text = "no thread and no scheduler stands before a simulated drive.";
        notes.push(Note::new("no_thread", about, Treatment::Ignored, text));
    }
    if whole.settings.turns.repeats.percent > 0 && whole.settings.rw.kinds[1] {
        let about = given(whole, "dedupe_percentage").unwrap_or_default();
        let text = "a simulated drive keeps no data, and takes no two blocks for equal.";
        notes.push(Note::new("no_data", about, Treatment::Ignored, text));
    }
}

fn cache(whole: &Whole<'_>, places: &Places, world: &dyn World, notes: &mut Vec<Note>) {
    let settings = whole.settings;
    if settings.is_direct() || !settings.engine.1.moves_data() {
        return;
    }
    if places.target.starts_with("sim:") {
        let text = "the job is buffered: what the page cache of the simulated host holds is \
                    answered from there. Add direct=1 to measure the drive.";
        return notes.push(Note::new("in_page_cache", "direct=0", Treatment::Same, text));
    }
    let bytes = whole.place.size;
    let memory = world.host().memory_bytes;
    if memory > 0 && bytes < memory {
        let sync = settings.end_fsync || !matches!(settings.sync, Sync::None);
        let text = match (settings.rw.kinds[1], sync) {
            (true, false) => format!(
                "the job is buffered and its {} fit into the memory of this machine ({}): the \
                 rate is that of the page cache. Add direct=1, or end_fsync=1 to have the drive \
                 in it.",
                size(bytes),
                size(memory)
            ),
            _ => format!(
                "the job is buffered, and its {} fit into the memory of this machine ({}): what \
                 is read twice is read from memory. Add direct=1 to measure the drive.",
                size(bytes),
                size(memory)
            ),
        };
        notes.push(Note::new("in_page_cache", "direct=0", Treatment::Same, text));
    }
}

fn loops(settings: &Settings, notes: &mut Vec<Note>) {
    if settings.has_rate(&settings.rate) || settings.has_rate(&settings.rate_iops) {
        notes.push(Note::new(
            "open_loop",
            "rate",
            Treatment::Approximated,
            "requests are due at equal times whatever became of those before; the run file has \
             their latency from when they were due (response), which fio does not show.",
        ));
        let several = settings.bssplit.is_some() || settings.bsrange.is_some();
        if several && settings.has_rate(&settings.rate) {
            notes.push(Note::new(
                "rates_on_average",
                "rate",
                Treatment::Approximated,
                "sizes are drawn, and what is kept is the rate of requests: that of bytes is right \
                 on average only, some per cent off in a short run.",
            ));
        }
        if settings.rw.is_mixed() {
            notes.push(Note::new(
                "rates_on_average",
                "rate",
                Treatment::Approximated,
                "both directions have one open loop and their direction is drawn: each has its \
                 rate on average only, some per cent off in a short run.",
            ));
        }
    }
    if settings.thinktime_ns > 0 && settings.depth > 1 {
        notes.push(Note::new(
            "think_waits",
            "thinktime",
            Treatment::Same,
            "before each pause the job waits for all that is in flight.",
        ));
    }
}

/// Sizes that no drive of that size has.
fn sizes(jobs: &[Whole<'_>], places: &Places, world: &dyn World, notes: &mut Vec<Note>) {
    for whole in jobs {
        let Some(asked) = given(whole, "size") else { continue };
        let text = asked.to_lowercase();
        let bytes = whole.place.size;
        let (decimal, letter) = match text.trim_end_matches(['b', 'i']) {
            text if text.ends_with('t') => (1e12 * (bytes as f64 / (1u64 << 40) as f64), "TB"),
            text if text.ends_with('g') => (1e9 * (bytes as f64 / (1u64 << 30) as f64), "GB"),
            _ => continue,
        };
        let is_shrunk = places.on_drive.as_ref().is_some_and(OnDrive::is_shrunk);
        if bytes >= 1 << 39 && !is_shrunk {
            notes.push(Note::new(
                "binary_size",
                asked,
                Treatment::Same,
                format!(
                    "this is {bytes} bytes: the units of fio are powers of 1024. A drive sold as \
                     {:.0} {letter} has {decimal:.0} bytes, which is less.",
                    bytes as f64
                        / if letter == "TB" { (1u64 << 40) as f64 } else { (1u64 << 30) as f64 }
                ),
            ));
        }
    }
    if let Found::Device { bytes } | Found::Simulated { bytes } = world.found(&places.target) {
        for whole in jobs.iter().filter(|whole| whole.place.size > bytes) {
            notes.push(Note::new(
                "beyond_the_drive",
                given(whole, "size").unwrap_or_default(),
                Treatment::Same,
                format!("the drive has {} only.", size(bytes)),
            ));
        }
    }
}

/// Files that are there are taken as they are.
fn sleeping_files(places: &Places, notes: &mut Vec<Note>) {
    let trusted =
        places.files.iter().zip(&places.states).find(|(_, state)| state.is_there && state.is_read);
    if let Some((file, _)) = trusted {
        notes.push(Note::new(
            "file_is_trusted",
            file.name.clone(),
            Treatment::Same,
            "the file exists and is large enough, so it is read as it is (fio does not check \
             whether its blocks were ever written; drivelab's truth guard does).",
        ));
    }
}

fn latencies(jobs: &[Whole<'_>], notes: &mut Vec<Note>) {
    let queued = jobs.iter().any(|whole| whole.settings.engine.1.is_asynchronous());
    if queued {
        notes.push(Note::new(
            "slat_is_no_latency",
            "slat",
            Treatment::Same,
            "slat is the time of the submitting call; the drive's answer is in clat, and what an \
             application waits for is lat, their sum.",
        ));
    }
    let reaps = |whole: &Whole<'_>| {
        whole.settings.engine.1.is_asynchronous()
            && whole.settings.depth > 1
            && whole.settings.batch_complete.unwrap_or(1) <= 1
    };
    if jobs.iter().any(reaps) {
        notes.push(Note::new(
            "all_is_reaped",
            "iodepth_batch_complete_max",
            Treatment::Approximated,
            "all that is complete is taken in one call. fio takes one by default, and times the \
             others until their turn: at equal rates its latencies are longer, and its depth is \
             fuller. With this option as large as iodepth both do the same.",
        ));
    }
}
