//! Days of life, from what the flash did or from what the drive tells.

use super::{COUNTED, ORDER, RANDOM, counted, is_counted, nonsense};
use crate::experiment::Setting;
use crate::experiment::capital;
use crate::experiment::order::unbroken;
use crate::experiment::wear::rated;
use drivelab_core::facts::{DeviceFacts, FlashFacts, WearFacts};
use drivelab_core::findings::{Entry, Figure, Findings, Head, Remark, Table, Unit};
use drivelab_core::inside::Inside;
use drivelab_core::lifetime::{days_of_cells, days_of_promise};
use drivelab_core::quantity::{capacity, digits};
use drivelab_core::run::{Run, StepRun};
use drivelab_core::sound::Sound;
use drivelab_stats::Estimate;

/// Erases and programs tell the same story within this share, or something is not counted.
const AGREEMENT: f64 = 0.10;
/// A block that wears so much faster than the mean ends the drive before its mean does.
const UNEVEN: f64 = 1.5;
/// Days beyond this are years to people.
const YEAR_DAYS: f64 = 365.25;
const RETENTION: &str = "How long data stays without power once the rated cycles are used up: \
                         nothing here can measure it, it takes months in a drawer. The rating \
                         itself is defined by it (JESD218: a year at 30 °C for clients, three \
                         months at 40 °C for servers); before that it is longer.";

pub fn judge(setting: &Setting<'_>, run: &Sound<'_>) -> Findings {
    let run = &run.part(unbroken);
    let mut findings = Findings { order: vec![ORDER.into(), RANDOM.into()], ..Findings::default() };
    let per_day = setting.options.per_day.map_or(setting.bytes(), |bytes| bytes.0);
    match is_counted(setting) {
        true => of_flash(setting, run, per_day as f64, &mut findings),
        false => of_real(setting, per_day as f64, &mut findings),
    }
    promise(setting, per_day as f64, &mut findings);
    if !findings.verdict.is_empty() {
        findings.unknown.push(RETENTION.into());
    }
    findings.no_answer |= findings.verdict.is_empty();
    findings
}

/// The maker's promise divided by what a day writes: of all of this study what needs no drive.
/// What is known of the drives below the target is used; there may be none.
///
/// # Errors
/// One of the two was not said, or makes no sense.
pub fn by_promise(setting: &Setting<'_>) -> Result<Findings, String> {
    if let Some(nonsense) = nonsense(setting) {
        return Err(nonsense);
    }
    let (Some(_), Some(per_day)) = (setting.options.rated, setting.options.per_day) else {
        return Err("without a drive to ask, give both: --rated 600TB --per-day 40GB".into());
    };
    let mut findings = Findings::default();
    promise(setting, per_day.0 as f64, &mut findings);
    findings.unknown.push(
        "How fast the flash itself wears: that needs the drive. `drivelab study endurance DEVICE` \
         asks it."
            .into(),
    );
    findings.unknown.push(RETENTION.into());
    Ok(findings)
}

/// What one load does to the flash.
struct Wear {
    name: &'static str,
    /// Bytes programmed by byte of the host.
    amplification: Estimate,
    /// The same by erases, without an interval: blocks are erased in whole.
    by_erases: Option<f64>,
    state: String,
}

impl Wear {
    fn of(steps: &[StepRun], name: &'static str, flash: &FlashFacts) -> Option<Wear> {
        let rounds = counted(steps, name);
        let insides = || rounds.iter().filter_map(|step| step.end.as_ref()?.inside);
        let each: Vec<f64> = insides().filter_map(|inside| inside.write_amplification()).collect();
        let amplification = Estimate::positive_mean_of(&each)?;
        Some(Wear {
            name,
            amplification,
            by_erases: by_erases(steps, &rounds, flash),
            state: rounds.first()?.begin.state.clone(),
        })
    }

    /// Least, mean and most days, if wear is even.
    fn days(&self, flash: &FlashFacts, per_day: f64) -> Option<Estimate> {
        let days = |amplification: f64| {
            let cycles = f64::from(flash.cycles_left);
            days_of_cells(flash.bytes as f64, cycles, amplification, per_day)
        };
        let estimate = self.amplification;
        Some(Estimate {
            value: days(estimate.value)?,
            low: estimate.high.and_then(days),
            high: estimate.low.and_then(days),
            n: estimate.n,
        })
    }
}

/// Erases of a whole drive's worth of blocks while the rounds ran, by drives' worth written.
fn by_erases(steps: &[StepRun], rounds: &[&StepRun], flash: &FlashFacts) -> Option<f64> {
    let total = |step: &StepRun| step.end.as_ref()?.inside_total;
    let first = rounds.first()?.begin.step as usize;
    let before = first.checked_sub(1).and_then(|at| steps.get(at)).and_then(total)?;
    let after = total(rounds.last()?)?;
    let cycles = after.erases_mean - before.erases_mean;
    let host_bytes = (after.host_units - before.host_units) as f64 * flash.unit_bytes as f64;
    (cycles > 0.0 && host_bytes > 0.0).then(|| cycles * flash.bytes as f64 / host_bytes)
}

fn of_flash(setting: &Setting<'_>, run: &Run, per_day: f64, findings: &mut Findings) {
    let Some(flash) = setting.facts.target.simulated.and_then(|known| known.flash) else { return };
    let loads: Vec<Wear> =
        [ORDER, RANDOM].iter().filter_map(|name| Wear::of(&run.steps, name, &flash)).collect();
    if loads.is_empty() {
        findings.want_more(
            "How fast the drive wears: no load overwrote the whole drive once within the time and \
             bytes allowed. Give a larger --time or --budget."
                .into(),
        );
    }
    missing(&loads, findings);
    for wear in &loads {
        if let Some(doubt) = out_of_balance(wear) {
            findings.suspect.push(doubt);
            findings.want_more(format!(
                "What a byte of {} costs: programs and erases give different counts, so one \
                 figure cannot stand for both. A larger --time or --budget counts for longer.",
                wear.name
            ));
            continue;
        }
        findings.figures.push(Figure {
            name: format!("write amplification, {}", wear.name),
            estimate: wear.amplification,
            unit: Unit::Factor,
            note: String::new(),
        });
        let days = wear.days(&flash, per_day).filter(|_| flash.cycles_left > 0);
        findings.figures.extend(days.map(|estimate| Figure {
            name: format!("days of life, {}", wear.name),
            estimate,
            unit: Unit::Count,
            note: format!("at {} a day", capacity(per_day as u64)),
        }));
        match days {
            Some(days) => findings.verdict.push(format!(
                "{}: each byte of the host costs {} bytes of flash, so {} a day leave it {}.",
                capital(wear.name),
                digits(wear.amplification.value),
                capacity(per_day as u64),
                in_days(&days)
            )),
            None => findings.verdict.push(format!(
                "{}: each byte of the host costs {} bytes of flash.",
                capital(wear.name),
                digits(wear.amplification.value)
            )),
        }
        doubts(wear, findings);
    }
    findings.no_answer |= !loads.is_empty() && findings.verdict.is_empty();
    if flash.cycles_left == 0 {
        findings.not_applicable.push(Remark {
            cell: "days of life".into(),
            text: "the profile does not say how many cycles its cells bear; \
                   endurance_cycles=3000 does"
                .into(),
        });
    }
    evenness(run, &flash, findings);
    findings.tables.extend(table(&loads, &flash, per_day));
}

/// The load that was not measured, where the other one was.
fn missing(loads: &[Wear], findings: &mut Findings) {
    let is_found = |name: &str| loads.iter().any(|wear| wear.name == name);
    match (is_found(ORDER), is_found(RANDOM)) {
        (true, false) => findings.want_more(format!(
            "What random writes leave: {COUNTED} rounds of them did not fit. Give a larger \
             --budget."
        )),
        (false, true) => findings.want_more(
            "What sequential writes leave: the time was over before the whole drive had been \
             rewritten sequentially. Give a larger --time."
                .into(),
        ),
        _ => {}
    }
}

/// What speaks against the figures of a load.
fn doubts(wear: &Wear, findings: &mut Findings) {
    if wear.name == RANDOM && wear.state != "random-steady" {
        findings.no_answer = true;
        findings.verdict.push(
            "It was not shown that random writes had settled: they may wear the drive more.".into(),
        );
        findings.want_more(
            "Whether random writes had settled: within the bytes allowed that was not proved, and \
             a drive that has not may still wear more slowly than it will. Give a larger --budget."
                .into(),
        );
    }
}

/// That programs and erases tell two stories: each block that was programmed must be erased before
/// long, or more is copied now than will be later.
fn out_of_balance(wear: &Wear) -> Option<String> {
    let by_erases = wear.by_erases?;
    let apart = by_erases / wear.amplification.value - 1.0;
    (apart.abs() > AGREEMENT).then(|| {
        format!(
            "{}: programs say {} bytes of flash a byte, erases say {}: one of them misses \
             something, or the drive was not in a balance.",
            wear.name,
            digits(wear.amplification.value),
            digits(by_erases)
        )
    })
}

/// How much faster than the mean the most worn block wears.
fn evenness(run: &Run, flash: &FlashFacts, findings: &mut Findings) {
    let last = run.steps.iter().rev().find_map(|step| step.end.as_ref()?.inside_total);
    let Some(Inside { erases_mean, erases_max, .. }) = last else { return };
    if erases_mean < 1.0 {
        return;
    }
    let share = erases_max as f64 / erases_mean;
    findings.figures.push(Figure {
        name: "most worn block by the mean".into(),
        estimate: Estimate::point(share, 1),
        unit: Unit::Factor,
        note: format!("{erases_max} erases against {erases_mean:.1}"),
    });
    if share > UNEVEN && flash.cycles_left > 0 {
        findings.beware.push(format!(
            "Wear is uneven: the most worn block was erased {} times as often as the mean, and the \
             days above hold for the mean. It is used up after {} of them.",
            digits(share),
            drivelab_core::quantity::percent(1.0 / share)
        ));
    }
}

fn table(loads: &[Wear], flash: &FlashFacts, per_day: f64) -> Option<Table> {
    let head = |name: &str, unit| Head { name: name.into(), unit };
    let number = |value: Option<f64>| value.map_or(Entry::Nothing, Entry::Number);
    let row = |wear: &Wear| {
        let days = wear.days(flash, per_day).filter(|_| flash.cycles_left > 0);
        vec![
            Entry::Text(wear.name.into()),
            Entry::Number(wear.amplification.value),
            number(wear.by_erases),
            number(days.map(|days| days.value)),
            number(days.and_then(|days| days.low)),
            number(days.and_then(|days| days.high)),
        ]
    };
    (!loads.is_empty()).then(|| Table {
        title: "Wear by load".into(),
        note: format!(
            "{} of flash, {} cycles left, {} written a day, wear taken as even.",
            capacity(flash.bytes),
            flash.cycles_left,
            capacity(per_day as u64)
        ),
        heads: vec![
            head("load", None),
            head("programmed by written", Some(Unit::Factor)),
            head("erased by written", Some(Unit::Factor)),
            head("days", Some(Unit::Count)),
            head("at least", Some(Unit::Count)),
            head("at most", Some(Unit::Count)),
        ],
        rows: loads.iter().map(row).collect(),
    })
}

/// What a real drive tells, or a simulated one without flash.
fn of_real(setting: &Setting<'_>, per_day: f64, findings: &mut Findings) {
    findings.not_applicable.push(Remark {
        cell: "write amplification".into(),
        text: match setting.is_simulated() {
            true => "it has no flash whose programs and erases could be counted".into(),
            false => "what the flash itself wrote is not in the logs that every drive has; a \
                      maker's log (OCP C0h) or attribute, read before and after a load, shows it"
                .into(),
        },
    });
    if setting.is_simulated() {
        findings.unknown.push(
            "How fast it wears: nothing in this drive wears out by being written. Use a flash \
             drive, such as sim:nvme-tlc."
                .into(),
        );
        return;
    }
    let disks = setting.facts.target.devices.iter().filter(|device| device.layer == "disk");
    let disks: Vec<&DeviceFacts> = disks.collect();
    let disk = match disks.as_slice() {
        [disk] => disk,
        [] => return not_told("no drive is known below it", setting, findings),
        _ => return not_told("it is several drives", setting, findings),
    };
    let Some(wear) = &disk.wear else {
        let reason = disk.wear_unknown.as_deref().unwrap_or("it was not asked");
        return not_told(reason, setting, findings);
    };
    let warnings = wear.warnings();
    if !warnings.is_empty() {
        findings.beware.push(format!("The drive itself warns: {}.", warnings.join("; ")));
    }
    if let Some(errors) = wear.media_errors.filter(|errors| *errors > 0) {
        findings.beware.push(format!(
            "The drive counts {errors} times that it could not return or write data."
        ));
    }
    let Some(used) = wear.used_percent else {
        return not_told("it counts no part of its life as used", setting, findings);
    };
    used_up(used, wear, findings);
    if used == 0 && setting.options.rated.is_none() {
        let after = wear.written_bytes.map(|bytes| format!(" after {}", capacity(bytes)));
        findings.unknown.push(format!(
            "How many days {} a day leave it: the drive counts less than 1 % as used{}, from which \
             nothing can be concluded yet. --rated 600TB gives its maker's promise.",
            capacity(per_day as u64),
            after.unwrap_or_default()
        ));
    }
}

/// How much of its life is used, as the drive counts it.
fn used_up(used: u32, wear: &WearFacts, findings: &mut Findings) {
    let notes = [
        wear.written_bytes.map(|bytes| format!("after {} written", capacity(bytes))),
        wear.spare_percent.map(|spare| format!("spare blocks {spare} %")),
        wear.used_from.as_ref().map(|source| format!("by {source}")),
    ];
    findings.figures.push(Figure {
        name: "used of its rated endurance".into(),
        estimate: Estimate::point(f64::from(used) / 100.0, 1),
        unit: Unit::Share,
        note: notes.into_iter().flatten().collect::<Vec<_>>().join("; "),
    });
    if used >= 100 {
        findings.beware.push(format!(
            "The drive counts {used} % of its rated endurance as used: its maker promises nothing \
             more."
        ));
    }
}

/// Its maker's promise can stand in for what the drive does not tell.
fn not_told(reason: &str, setting: &Setting<'_>, findings: &mut Findings) {
    if setting.options.rated.is_none() {
        findings.unknown.push(format!(
            "How much of its life is used: the drive does not report it ({reason}). --rated 600TB \
             gives its maker's promise."
        ));
    }
}

/// What its maker promises, said or told by the drive, less what was written already.
fn promise(setting: &Setting<'_>, per_day: f64, findings: &mut Findings) {
    let Some(rated) =
        rated(setting).filter(|_| !setting.is_simulated() || setting.options.rated.is_some())
    else {
        return;
    };
    let flash = setting.facts.target.simulated.and_then(|simulated| simulated.flash);
    let cells = flash.map(|flash| flash.bytes as f64 * f64::from(flash.cycles_left));
    if let Some(most) = cells.filter(|most| *most > 0.0 && rated.bytes > *most) {
        findings.beware.push(format!(
            "A rating of {} ({}) is more than the flash of this drive bears, {} over all its \
             cycles: it is the rating of a larger drive. Give that of this one, or leave out \
             capacity=.",
            capacity(rated.bytes as u64),
            rated.because,
            capacity(most as u64)
        ));
        return;
    }
    let disks = setting.facts.target.devices.iter().filter(|device| device.layer == "disk");
    let told: Vec<u64> = disks.filter_map(|disk| disk.wear.as_ref()?.written_bytes).collect();
    let written = if let [written] = told.as_slice() { Some(*written as f64) } else { None };
    let rest = rated.bytes - written.unwrap_or(0.0);
    let Some(days) = days_of_promise(rest, per_day) else { return };
    if days <= 0.0 {
        findings.beware.push(format!(
            "The drive counts {} written: its rating of {} ({}) is used up.",
            capacity(written.unwrap_or(0.0) as u64),
            capacity(rated.bytes as u64),
            rated.because
        ));
        return;
    }
    let from = match written {
        Some(written) => format!("of which {} are written", capacity(written as u64)),
        None => "if nothing of it is written yet".into(),
    };
    findings.figures.push(Figure {
        name: "days of the promise".into(),
        estimate: Estimate::point(days, 1),
        unit: Unit::Count,
        note: rated.because.clone(),
    });
    findings.verdict.push(format!(
        "By its rating of {} ({}), {from}, {} a day leave it {}.",
        capacity(rated.bytes as u64),
        rated.because,
        capacity(per_day as u64),
        in_days(&Estimate::point(days, 1))
    ));
}

/// `2000 days (5.5 years; 1990 to 2010 days)`.
fn in_days(days: &Estimate) -> String {
    let years = format!("{} years", digits(days.value / YEAR_DAYS));
    match (days.low, days.high) {
        (Some(low), Some(high)) => {
            format!(
                "{} days ({years}; {} to {} days)",
                digits(days.value),
                digits(low),
                digits(high)
            )
        }
        _ => format!("{} days ({years})", digits(days.value)),
    }
}

#[cfg(test)]
mod tests;
