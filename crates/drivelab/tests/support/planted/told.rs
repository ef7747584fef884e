//! Whether what a study said is so, by the counts of the device.

use super::case::{Case, Kind};
use super::judged::{Judged, Level, short};
use super::plant::Counted;
use super::said::{Said, number_after};
use drivelab_core::run::StepRun;

/// What a number may be off by what the device counted.
const BAND: f64 = 0.05;
/// Of a deep load so much may find the device idle.
const IDLE_SHARE: f64 = 0.2;
/// A stall this near to the edge of a window may have nobody waiting for it.
const EDGE_NS: u64 = 100_000_000;
/// Seconds in which the program looks at the machine, starts and ends; no step is among them.
const START_S: f64 = 8.0;
/// Part of the time that a real machine may take more.
const GRACE: f64 = 0.02;
const GRADES: [&str; 6] = ["A", "B", "C", "D", "E", "F"];
/// This many stalls tell a grade, if their times were watched.
const ENOUGH_STALLS: usize = 6;

pub fn judge(case: &Case, said: &Said, counted: &Counted) -> Vec<Judged> {
    let mut all = told(case, said, counted);
    all.extend(time(case, said, counted));
    all
}

/// What was allowed is for all steps; what is in flight at their end, or in a cache, is waited for.
fn time(case: &Case, said: &Said, counted: &Counted) -> Option<Judged> {
    let at = case.line.iter().position(|word| word == "--time")?;
    let allowed: u64 = case.line[at + 1].strip_suffix('s')?.parse().ok()?;
    let kinds = said.file.last_step().tallies.iter().flat_map(|tally| &tally.kinds);
    let in_flight_s = kinds.map(|kind| kind.service.max()).max().unwrap_or(0) as f64 / 1e9;
    let flush_s = counted.flushing as f64 / 1e9;
    let most = allowed as f64 * (1.0 + GRACE) + START_S + in_flight_s + flush_s;
    let took = said.took.as_secs_f64();
    let truth = format!(
        "{allowed} s were allowed, and at the end came {in_flight_s:.1} s of operations in flight \
         and {flush_s:.1} s of a flush"
    );
    Some(Judged::held("time", Level::Promise, took <= most, format!("{took:.1} s"), truth))
}

fn told(case: &Case, said: &Said, counted: &Counted) -> Vec<Judged> {
    match case.kind {
        Kind::Stalls | Kind::NoStalls => {
            let mut judged = vec![grade(case, said, counted)];
            judged.extend(gaps(said, counted, "reader"));
            judged
        }
        Kind::StallsOfRun => gaps(said, counted, "").into_iter().collect(),
        Kind::Cache | Kind::Constant | Kind::CapOfWsat => {
            let mut judged = vec![settled(case, said, counted), status(said)];
            if !is_held_back(said, counted) && !is_starved(case, said, counted) {
                judged.extend(falls(case, said, counted));
                judged.extend(cause(case, said));
            }
            judged
        }
        Kind::TrimHonoured | Kind::TrimIgnored => vec![trim(case, said, counted), status(said)],
        Kind::CapOfRun => vec![step(case, said, counted)],
        Kind::CapOfSteady => vec![steady(case, said, counted), status(said)],
        Kind::FartherOfRun => vec![no_single_rate(said)],
        Kind::FartherOfPatterns => vec![in_order(said)],
        Kind::Stripe => stripe(said, counted),
    }
}

/// The grade that the plant deserves by the rules that are printed.
fn true_grade(case: &Case) -> usize {
    let Some(stalls) = case.plant.stalls else { return 0 };
    let share = stalls.length.as_secs_f64() / stalls.every.as_secs_f64();
    let a_minute = 60.0 / stalls.every.as_secs_f64();
    match () {
        () if share >= 0.1 => 5,
        () if share >= 0.03 => 4,
        () if share >= 0.01 || a_minute >= 10.0 => 3,
        () if a_minute >= 1.0 => 2,
        () => 1,
    }
}

fn grade(case: &Case, said: &Said, counted: &Counted) -> Judged {
    let about = "grade";
    let truth = true_grade(case);
    let sentence = said.sentence(&["verdict"], "Grade ");
    let letter = sentence.as_ref().and_then(|text| text.split("Grade ").nth(1)?.get(..1));
    let found = letter.and_then(|letter| GRADES.iter().position(|it| *it == letter));
    let planted = format!("{} by what was planted", GRADES[truth]);
    match found {
        // An idle machine's own waits may make a B of an A.
        Some(found) => {
            let is_right = found.abs_diff(truth) <= 1;
            Judged::held(about, Level::Certain, is_right, sentence.unwrap_or_default(), planted)
        }
        None => {
            let seen: usize = windows(said, "reader with")
                .map(|(from, to)| within(counted, from, to).count())
                .sum();
            let text = said.sentence(&["unknown"], "No grade").unwrap_or_default();
            let truth = format!("{planted}, {seen} stalls while it watched");
            // Of a machine that was busy the freezes may be its own.
            let is_tellable = seen >= ENOUGH_STALLS && !text.contains("waited for a CPU");
            Judged::open(about, is_tellable, text, truth)
        }
    }
}

/// When measured steps of such names began and ended, on the clock of the device.
fn windows<'a>(said: &'a Said, name: &'a str) -> impl Iterator<Item = (u64, u64)> + 'a {
    let measured = move |step: &&StepRun| {
        step.begin.name.contains(name)
            && step.begin.role == drivelab_core::plan::Role::Measure
            && step.end.is_some()
    };
    said.file.run.steps.iter().filter(measured).map(|step| window(said, step))
}

fn window(said: &Said, step: &StepRun) -> (u64, u64) {
    let zero = said.file.monotonic_zero_ns();
    let counts = || step.tallies.iter().filter(|tally| !tally.ramp && tally.stream == 0);
    let from = counts().map(|tally| tally.from).min().unwrap_or(0);
    let to = counts().map(|tally| tally.to).max().unwrap_or(0);
    (zero + from, zero + to)
}

/// Whether the machine was late with so much of a deep load that what was measured is its own
/// speed, not the device's.
fn is_held_back(said: &Said, counted: &Counted) -> bool {
    let steps = said.file.run.steps.iter().filter(|step| step.begin.name.contains("random write"));
    steps.map(|step| window(said, step)).any(|(from, to)| counted.idle_share(from, to) > IDLE_SHARE)
}

/// Whether the device answered less than its first cap for a half second of a load that would have
/// kept it busy: then the rate fell before the cap did.
fn is_starved(case: &Case, said: &Said, counted: &Counted) -> bool {
    const SLOT_NS: u64 = 500_000_000;
    let Some(cap) = case.plant.cap else { return false };
    let change = counted.origin + cap.at.as_nanos() as u64;
    let loads = said.file.run.steps.iter().filter(|step| step.begin.name.contains("rand"));
    let windows: Vec<(u64, u64)> = loads.map(|step| window(said, step)).collect();
    windows.into_iter().any(|(from, to)| {
        let slots = (from..to.min(change).saturating_sub(SLOT_NS)).step_by(SLOT_NS as usize);
        slots.into_iter().any(|at| counted.rate(at, at + SLOT_NS) < 0.7 * cap.first)
    })
}

/// Stalls that lie wholly in a window, with time for what they held back to come to its end in it.
fn within(counted: &Counted, from: u64, to: u64) -> impl Iterator<Item = &(u64, u64)> {
    let is_in = move |stall: &&(u64, u64)| stall.0 >= from + EDGE_NS && stall.1 + EDGE_NS <= to;
    counted.stalls.iter().filter(is_in)
}

/// Each stall is among the gaps. A gap of the machine's own may come in between: those that lie
/// in no stall are counted, not judged.
fn gaps(said: &Said, counted: &Counted, name: &str) -> Option<Judged> {
    let (mut planted, mut found, mut others) = (0, 0, 0);
    let measured = |step: &&StepRun| step.begin.name.contains(name) && step.end.is_some();
    for step in said.file.run.steps.iter().filter(measured) {
        let (from, to) = window(said, step);
        let zero = said.file.monotonic_zero_ns();
        let first = step.tallies.iter().filter(|tally| tally.stream == 0);
        let gaps: Vec<(u64, u64)> = first
            .flat_map(|tally| &tally.gaps)
            .map(|gap| (zero + gap.from, zero + gap.to))
            .filter(|gap| gap.1 - gap.0 >= 100_000_000)
            .collect();
        let is_in = |gap: &(u64, u64), stall: &(u64, u64)| {
            // A busy machine hears of what came before the stall when it has begun.
            gap.0 < stall.1 && gap.1 + 1_000_000 >= stall.1 && gap.0 < gap.1
        };
        for stall in within(counted, from, to) {
            planted += 1;
            found += usize::from(gaps.iter().any(|gap| is_in(gap, stall)));
        }
        let is_other = |gap: &&(u64, u64)| {
            !counted.stalls.iter().any(|stall| gap.0 < stall.1 && stall.0 < gap.1)
        };
        others += gaps.iter().filter(is_other).count();
    }
    let said = format!("{found} of the stalls, and {others} further gaps of 100 ms or longer");
    let truth = format!("{planted} stalls while it measured");
    (planted > 0).then(|| Judged::held("stalls", Level::Certain, found == planted, said, truth))
}

/// The exit status: an answer is not 4, none is, unless something bad was found all the same.
fn status(said: &Said) -> Judged {
    let is_open = said.json["findings"]["no_answer"] == true;
    let slower = said.json["findings"]["comparison"]["cells"].to_string().contains("\"changed\"");
    let is_bad = slower || !said.sentences(&["beware"]).is_empty();
    let held = match said.status {
        Some(4) => is_open,
        Some(1) => is_bad,
        status => !is_open && status == Some(0),
    };
    let truth = format!("no answer: {is_open}");
    Judged::held("status", Level::Promise, held, format!("{:?}", said.status), truth)
}

/// The level at which a device that changes stays, by its own count over the last seconds.
fn last_level(counted: &Counted) -> f64 {
    let end = counted.answered.iter().copied().max().unwrap_or(1);
    counted.rate(end.saturating_sub(5_000_000_000), end)
}

fn settled(case: &Case, said: &Said, counted: &Counted) -> Judged {
    let about = "settled";
    let Some(sentence) = said.sentence(&["verdict"], "Settled, it writes") else {
        let why = said.sentence(&["unknown"], "steady state").unwrap_or_default();
        return Judged::open(about, false, why, "not proved");
    };
    let value = said.figure("steady state").unwrap_or(f64::NAN);
    let truth = case.plant.cap.map_or_else(|| last_level(counted), |cap| cap.then);
    let is_right = (value / truth - 1.0).abs() <= BAND;
    Judged::held(about, Level::Certain, is_right, sentence, format!("{truth:.0} IOPS from then on"))
}

/// Where the rate fell: in the interval behind the one that is named, or the next.
fn falls(case: &Case, said: &Said, counted: &Counted) -> Option<Judged> {
    let about = "falls after";
    let figure = said.figure("falls after").or_else(|| said.figure("cliff after"));
    let truth = match case.kind {
        Kind::Cache => counted.full_at.first().copied(),
        _ => counted.changed_at,
    };
    let sentence = said.sentence(&["verdict"], " fall").unwrap_or_default();
    match (figure, truth) {
        (Some(_), None) => {
            Some(Judged::held(about, Level::Certain, false, sentence, "it never falls"))
        }
        (Some(bytes), Some(truth)) => {
            let before = ["before the fall", "before the cliff"];
            let before = before.iter().find_map(|name| said.figure(name)).unwrap_or(0.0);
            let step = said.file.run.steps.iter().find(|step| step.begin.name.contains("write"))?;
            let length = step.tallies.iter().map(|it| it.to - it.from).max().unwrap_or(0);
            let interval = before * 4096.0 * length as f64 / 1e9;
            let apart = truth as f64 - bytes;
            let is_right = apart >= -0.5 * interval && apart <= 2.0 * interval;
            let truth = format!("after {truth} B, at intervals of {interval:.0} B");
            Some(Judged::held(about, Level::Certain, is_right, sentence, truth))
        }
        (None, Some(truth)) => {
            Some(Judged::open(about, true, "nothing", format!("after {truth} B")))
        }
        (None, None) => None,
    }
}

/// A cause that is named must be the one; a rest brings a cache back, so that it can be told.
fn cause(case: &Case, said: &Said) -> Option<Judged> {
    let about = "why it falls";
    said.figure("falls after")?;
    let is_cache = case.kind == Kind::Cache;
    let truth = if is_cache { "a cache was full" } else { "a cap set in" };
    let names = |text: &String| text.contains("cache") || text.contains("cliff comes");
    if let Some(sentence) = said.sentences(&["verdict", "beware"]).into_iter().find(names) {
        return Some(Judged::held(about, Level::Certain, is_cache, sentence, truth));
    }
    let open = said.sentences(&["unknown"]);
    let why = open.iter().find(|text| text.starts_with("Why") || text.contains("cliff"));
    Some(Judged::open(about, is_cache, why.cloned().unwrap_or_default(), truth))
}

fn trim(case: &Case, said: &Said, counted: &Counted) -> Judged {
    let about = "TRIM";
    let works = said.sentence(&["verdict"], "TRIM works");
    let ignored = said.sentence(&["beware", "verdict"], "ignored");
    let truth = match case.plant.honours_trim {
        true => format!("honoured, {} B in {}", counted.trimmed_bytes, counted.trims),
        false => format!("ignored, {} B in {}", counted.trimmed_bytes, counted.trims),
    };
    match (works, ignored) {
        (Some(text), None) => {
            Judged::held(about, Level::Certain, case.plant.honours_trim, text, truth)
        }
        (None, Some(text)) => {
            Judged::held(about, Level::Certain, !case.plant.honours_trim, text, truth)
        }
        (Some(text), Some(other)) => {
            Judged::held(about, Level::Certain, false, format!("{text} {other}"), truth)
        }
        (None, None) => {
            let why = said.sentence(&["unknown"], "TRIM").unwrap_or_default();
            let is_tellable = counted.trims > 0 && counted.collected > 1000;
            Judged::open(about, is_tellable && !why.contains("the noise"), why, truth)
        }
    }
}

/// A run that holds a step says where it lies and gives both levels.
fn step(case: &Case, said: &Said, counted: &Counted) -> Judged {
    let about = "a step";
    let Some(cap) = case.plant.cap else { unreachable!("a cap is planted") };
    let step = said.file.last_step();
    let (from, to) = window(said, step);
    let change = counted.origin + cap.at.as_nanos() as u64;
    let at = (change - from) as f64 / 1e9;
    let levels = [counted.rate(from, change), counted.rate(change, to)];
    let truth = format!("at {at:.1} s, {:.0} IOPS before, {:.0} IOPS behind", levels[0], levels[1]);
    let iops = &said.stream()["write"];
    let why = &iops["no_interval"];
    let text = why["text"].as_str().unwrap_or_default().to_string();
    if !iops["iops"]["low"].is_null() {
        return Judged::held(about, Level::Certain, false, short(&iops["iops"]), truth);
    }
    if is_starved(case, said, counted) {
        return Judged::open(about, false, text, format!("{truth}, of a machine too busy for it"));
    }
    if why["code"] != "step" {
        return Judged::open(about, true, text, truth);
    }
    let place = number_after(&text, "a step at ").unwrap_or(f64::NAN);
    let near = |words: &str, level: f64| {
        number_after(&text, words).is_some_and(|found| (found / level - 1.0).abs() <= BAND)
    };
    let is_right = (place - at).abs() <= 1.5 && near(": ", levels[0]) && near("it, ", levels[1]);
    Judged::held(about, Level::Certain, is_right, text, truth)
}

fn steady(case: &Case, said: &Said, _: &Counted) -> Judged {
    let about = "steady";
    let Some(cap) = case.plant.cap else { unreachable!("a cap is planted") };
    let truth = format!("{:.0} IOPS, then {:.0} IOPS", cap.first, cap.then);
    if let Some(text) = said.sentence(&["verdict"], "not shown") {
        return Judged::open(about, false, text, truth);
    }
    let value = said.figure("random write qd32").unwrap_or(f64::NAN);
    let is_right = (value / cap.then - 1.0).abs() <= BAND;
    Judged::held(about, Level::Certain, is_right, format!("{value:.0} IOPS, steady"), truth)
}

/// A pass over a device that gets slower has no single rate.
fn no_single_rate(said: &Said) -> Judged {
    let about = "no single rate";
    let write = &said.stream()["write"];
    let truth = "the rate falls from the first byte to the last";
    let code = write["no_interval"]["code"].as_str().unwrap_or_default();
    match code {
        // On a busy machine the trend may drown; its intervals are worth one all the same.
        "trend" | "changes" | "step" | "depends" => {
            Judged::held(about, Level::Certain, true, short(&write["no_interval"]), truth)
        }
        "" => Judged::held(about, Level::Certain, false, short(&write["iops"]), truth),
        _ => Judged::open(about, true, short(&write["no_interval"]), truth),
    }
}

/// The order of requests costs nothing where only the address does.
fn in_order(said: &Said) -> Judged {
    let about = "order";
    let rows = said.json["findings"]["heat_maps"][0]["rows"].as_array().cloned();
    let rows = rows.unwrap_or_default();
    let row = rows.iter().find(|row| row["name"] == "in order");
    let cells = row.and_then(|row| row["cells"].as_array()).cloned().unwrap_or_default();
    let words: Vec<String> = cells.iter().filter(|it| !it.is_null()).map(short).collect();
    let changed = words.iter().any(|word| word.contains("\"changed\""));
    let is_told =
        words.iter().any(|word| word.contains("equivalent") || word.contains("negligible"));
    let truth = "the order costs nothing, only the address does";
    match (changed, is_told) {
        (false, false) => Judged::open(about, false, words.join(" "), truth),
        (is_wrong, _) => Judged::held(about, Level::Alpha, !is_wrong, words.join(" "), truth),
    }
}

/// What is said of requests off their grid, and the length of the stripe.
fn stripe(said: &Said, counted: &Counted) -> Vec<Judged> {
    let truth = format!("{} requests touched two stripes of 64 KiB", counted.crossings);
    let all = said.sentences(&["verdict", "beware"]);
    let shifted = all.iter().find(|text| text.contains("not aligned"));
    let about = "requests off their grid";
    let first = match shifted {
        Some(text) => {
            let is_right = !text.contains("each spans two areas");
            Judged::held(about, Level::Certain, is_right, text.clone(), truth.clone())
        }
        None => Judged::open(about, false, "nothing", truth.clone()),
    };
    let about = "length of the stripe";
    let second = match all.iter().find(|text| text.contains("splits requests at")) {
        Some(text) => {
            let is_right = text.contains("splits requests at multiples of 64 KiB,");
            Judged::held(about, Level::Certain, is_right, text.clone(), truth)
        }
        None => {
            let rows = said.json["findings"]["heat_maps"][0]["rows"].as_array().cloned();
            let is_across = |row: &&serde_json::Value| row["name"].to_string().contains("across");
            let rows = rows.unwrap_or_default();
            let seen = rows.iter().filter(is_across).map(|row| short(&row["cells"][0]));
            Judged::open(about, true, seen.collect::<Vec<_>>().join(" "), truth)
        }
    };
    vec![first, second]
}
