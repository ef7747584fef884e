//! Which values differ from what is set now, and what to do about them.

use super::{Load, Variant, device, loads, name_of, present, variants, why_not};
use crate::battery::{Outcome, change, outcome};
use crate::compare::{Side, compare};
use crate::experiment::{Setting, control, region, repetitions};
use drivelab_core::comparison::{Cell, Comparison, Sample};
use drivelab_core::findings::{Figure, Findings, Remark, Unit};
use drivelab_core::plan::{QueueSetting, SettingChange};
use drivelab_core::quantity::percent;
use drivelab_core::run::Run;
use drivelab_core::sound::Sound;
use drivelab_core::study::Scale;
use drivelab_core::summary::Summary;
use drivelab_stats::Estimate;

pub fn judge(setting: &Setting<'_>, run: &Sound<'_>) -> Findings {
    let summary = run.summary();
    let all = variants(setting);
    let mut findings = Findings { order: order(setting, &all), ..Findings::default() };
    not_applicable(setting, &mut findings);
    let drifting: Vec<(String, Vec<f64>)> = loads(setting)
        .into_iter()
        .map(|load| (load.word().to_string(), control::values(summary, load.word())))
        .collect();
    control::drift(&drifting, control::DRIFT, &mut findings);
    match compare(
        &side(setting, summary, &all, false),
        &side(setting, summary, &all, true),
        Some(setting.options.delta),
    ) {
        Ok(comparison) => {
            conclude(setting, &all, &comparison, &mut findings);
            findings.comparison = Some(comparison);
        }
        Err(why) => {
            findings.no_answer = true;
            findings.want_more(format!(
                "Whether a setting matters: {why}. Give a larger --time or --budget."
            ));
        }
    }
    put_back(run, &mut findings);
    told(setting, &mut findings);
    region::told(setting, run, &mut findings);
    findings
}

fn order(setting: &Setting<'_>, all: &[Variant]) -> Vec<String> {
    let sides = |load: Load| {
        let touched = all.iter().filter(move |it| load.is_touched_by(it.setting)).map(Some);
        std::iter::once(None).chain(touched).map(move |it| name_of(it, load))
    };
    loads(setting).into_iter().flat_map(sides).collect()
}

fn not_applicable(setting: &Setting<'_>, findings: &mut Findings) {
    for what in QueueSetting::ALL {
        let cell = what.word().to_string();
        findings.not_applicable.extend(why_not(setting, what).map(|text| Remark { cell, text }));
    }
    if !loads(setting).contains(&Load::Buffered) {
        findings.not_applicable.push(Remark {
            cell: Load::Buffered.word().into(),
            text: "this simulated host has no page cache; add page_cache=1GiB to the target".into(),
        });
    }
}

/// What is set now, or each value: under the names of the values on both sides.
fn side(setting: &Setting<'_>, summary: &Summary, all: &[Variant], is_set: bool) -> Side {
    let loads = loads(setting);
    let sample = |load: Load, variant: &Variant| -> Option<Sample> {
        let cell = name_of(Some(variant).filter(|_| is_set), load);
        control::sample(summary, &cell, &variant.cell(load))
    };
    let samples = loads.iter().flat_map(|load| {
        let touched = all.iter().filter(|it| load.is_touched_by(it.setting));
        touched.filter_map(|variant| sample(*load, variant))
    });
    let name = if is_set { "the other value" } else { "as it is set now" };
    let samples = samples.filter(|sample| !sample.values.is_empty() || sample.suspect.is_some());
    Side { name: name.into(), samples: samples.collect(), facts: Vec::new(), is_by_run: false }
}

fn conclude(
    setting: &Setting<'_>,
    all: &[Variant],
    comparison: &Comparison,
    findings: &mut Findings,
) {
    let delta = setting.options.delta;
    let band = percent(delta);
    let of = |wanted: Outcome| {
        comparison.cells.iter().filter(move |cell| outcome(cell, delta) == Some(wanted))
    };
    let [slower, faster, same, open] =
        [Outcome::Slower, Outcome::Faster, Outcome::Same, Outcome::Open]
            .map(|wanted| of(wanted).count());
    let judged = slower + faster + same + open;
    if judged == 0 {
        findings.no_answer = true;
        findings.unknown.push("Whether a setting matters: every cell was suspect.".into());
        return;
    }
    let counts = [("slower", slower), ("faster", faster), ("the same", same), ("open", open)];
    findings.figures.extend(counts.map(|(name, value)| Figure {
        name: format!("values {name}"),
        estimate: Estimate::point(value as f64, judged as u64),
        unit: Unit::Count,
        note: format!("of {judged} comparisons with what is set now, band {band}"),
    }));
    if open < judged {
        findings.verdict.push(headline(setting, [slower + faster, same, open], &band));
    }
    findings.verdict.extend(of(Outcome::Slower).map(|cell| sentence(cell, "slower")));
    for cell in of(Outcome::Faster) {
        let variant = all.iter().find(|it| cell.name.ends_with(&it.words()));
        let Some(variant) = variant else { continue };
        findings.beware.push(format!("{} {}", sentence(cell, "faster"), advice(setting, variant)));
    }
    if slower > 0 && faster > 0 {
        findings.verdict.push(
            "What one load gains another may lose: look at all loads of a value before it is kept."
                .into(),
        );
    }
    if open > 0 {
        let needs = of(Outcome::Open).filter_map(|cell| cell.needs_n).max();
        let more = match needs {
            Some(n) if n <= repetitions(Scale::Full) as u64 => format!("--full, with {n} or more"),
            Some(n) => format!("a quieter machine: as it is, {n} a side would be needed"),
            None => "more repetitions".into(),
        };
        findings.unknown.push(format!(
            "In {open} of {judged} comparisons the noise is too large to tell whether they differ \
             by more than {band}; what would settle it: {more}."
        ));
    }
    findings.no_answer |= open == judged;
}

fn headline(setting: &Setting<'_>, [changed, same, open]: [usize; 3], band: &str) -> String {
    let judged = changed + same + open;
    let name = device(setting).map_or("this simulated drive".into(), |it| it.name.clone());
    match (changed, open) {
        (0, 0) => format!(
            "No setting of {name} matters here: all {judged} comparisons with what is set now are \
             equivalent ({band})."
        ),
        (0, _) => format!(
            "{same} of {judged} comparisons with what is set now of {name} are equivalent \
             ({band}); {open} inconclusive: there a setting may matter."
        ),
        _ => format!(
            "Of {judged} comparisons with what is set now of {name}, {changed} differ by more than \
             {band}, {same} are equivalent, and {open} inconclusive."
        ),
    }
}

/// `scheduler bfq: random read 4K qd32 is slower by 8.1 % [-9.0 %, -7.2 %].`
fn sentence(cell: &Cell, word: &str) -> String {
    let (load, value) = cell.name.split_once(", ").unwrap_or((&cell.name, "another value"));
    format!("With {value}, {load} is {word} than as it is set now ({}).", change(cell))
}

/// How a value is kept: until the next start, and for good.
fn advice(setting: &Setting<'_>, variant: &Variant) -> String {
    let Some(device) = device(setting) else {
        return "On a real drive the advice would be printed here.".into();
    };
    let (name, value, word) = (&device.name, &variant.value, variant.setting.word());
    let which = match device.serial.as_deref().filter(|it| !it.contains(['"', '\n'])) {
        Some(serial) => format!("ENV{{ID_SERIAL_SHORT}}==\"{}\"", serial.trim()),
        None => format!("KERNEL==\"{name}\""),
    };
    format!(
        "To set it until the next start: echo {value} > /sys/block/{name}/queue/{word}; for good, \
         a udev rule: ACTION==\"add|change\", SUBSYSTEM==\"block\", \
         ENV{{DEVTYPE}}==\"disk\", {which}, ATTR{{queue/{word}}}=\"{value}\""
    )
}

/// Whether everything is as it was: what was read back last against what was read first.
fn put_back(run: &Run, findings: &mut Findings) {
    // Where it was broken off, the next run has put things back before it went on.
    let from = run.resumptions.last().map_or(0, |resumed| resumed.steps as usize);
    let steps = run.steps.get(from..).unwrap_or_default();
    let changes = || steps.iter().filter_map(|step| step.end.as_ref()?.set.as_ref());
    let mut words = Vec::new();
    for what in QueueSetting::ALL {
        let of_this = || changes().filter(|change: &&SettingChange| change.setting == what);
        let (Some(first), Some(last)) = (of_this().next(), of_this().next_back()) else { continue };
        if first.before == last.after {
            words.push(format!("{} {}", what.word(), last.after));
        } else {
            findings.beware.push(format!(
                "{} of {} was {}, and {} when it was read last, before the end of the run put it \
                 back: check it, and set it back by hand if it differs.",
                what.word(),
                last.device,
                first.before,
                last.after
            ));
        }
    }
    if !words.is_empty() {
        findings.verdict.push(format!("Restored and read again: {}.", words.join(", ")));
    }
}

fn told(setting: &Setting<'_>, findings: &mut Findings) {
    if setting.is_simulated() {
        return;
    }
    let Some(device) = device(setting) else { return };
    if setting.facts.target.devices.first().is_some_and(|it| it.name != device.name) {
        findings.deviations.push(format!(
            "Settings belong to the whole of {}: that is what was set.",
            device.name
        ));
    }
    if present(setting, QueueSetting::Scheduler).is_some() {
        findings.deviations.push(
            "With another scheduler the kernel also resets nr_requests; each scheduler was \
             measured with what it comes with, and nr_requests was restored."
                .into(),
        );
    }
}
