//! What a torture changed: which differences are real, which cells are the same, of which nothing
//! can be told.

use super::phases::{after, after_leg, before, idle};
use super::{Program, article, cause, figures, program, target_bytes};
use crate::battery::{self, Outcome, outcome};
use crate::compare::{Side, compare};
use crate::experiment::Setting;
use crate::experiment::order::is_broken;
use drivelab_core::comparison::{self, Comparison, Sample};
use drivelab_core::findings::{Figure, Findings, Remark, Unit};
use drivelab_core::quantity::{counted, percent, size};
use drivelab_core::run::Run;
use drivelab_core::sound::Sound;
use drivelab_core::study::{Leg, Scale};
use drivelab_core::summary::Summary;
use drivelab_stats::Estimate;

pub fn judge(setting: &Setting<'_>, run: &Sound<'_>) -> Findings {
    let summary = run.summary();
    let program = program(setting, None);
    let cells = battery::cells(&program.groups);
    let mut findings = Findings::default();
    not_applicable(setting, &mut findings);
    deviations(setting, &program, run, &mut findings);
    let [was, is] = sides(setting, summary, &program);
    let comparison = match compare(&was, &is, Some(setting.options.delta)) {
        Ok(comparison) => comparison,
        Err(_) => {
            findings.no_answer = true;
            findings.want_more(
                "What the torture changed: too little was measured before and after it. Give more \
                 --time."
                    .into(),
            );
            return findings;
        }
    };
    conclude(setting, &comparison, &mut findings);
    why(setting, run, &mut findings);
    legs(setting, summary, &program, &comparison, &mut findings);
    findings.tables.push(figures::table(setting, summary, &cells));
    findings.bars = figures::bars(setting, summary, &cells);
    if article::is_meant(setting.facts) {
        let unlike = article::unlike(setting.facts);
        let (table, hits, judged) = article::table(&cells, &comparison, unlike.as_deref());
        findings.tables.push(table);
        findings.verdict.extend((judged > 0).then(|| {
            format!(
                "Of {judged} figures that were published of this drive, {hits} came out here as \
                 well; the table has each."
            )
        }));
    }
    findings.comparison = Some(comparison);
    findings
}

/// Before and after; of several cycles each is one value.
fn sides(setting: &Setting<'_>, summary: &Summary, program: &Program) -> [Side; 2] {
    let cycles = setting.options.torture.cycles.max(1);
    let labels: [fn(u64, u64) -> String; 2] = [before, after];
    let mut sides = labels.map(|label| {
        let of = |cycle| battery::side(summary, &program.groups, &label(cycles, cycle), "");
        let each: Vec<Side> = (0..cycles).map(of).collect();
        by_cycle(each)
    });
    for (side, name) in sides.iter_mut().zip(["before the torture", "after it"]) {
        side.name = name.into();
    }
    sides
}

/// One value for each cycle: the geometric mean of its repetitions.
fn by_cycle(each: Vec<Side>) -> Side {
    let is_by_run = each.len() > 1;
    let mut samples: Vec<Sample> = Vec::new();
    for sample in each.into_iter().flat_map(|side| side.samples) {
        let values = match is_by_run {
            true if sample.values.is_empty() => Vec::new(),
            true => {
                let logs: f64 = sample.values.iter().map(|value| value.ln()).sum();
                vec![(logs / sample.values.len() as f64).exp()]
            }
            false => sample.values.clone(),
        };
        match samples.iter_mut().find(|known| known.name == sample.name) {
            Some(known) => {
                known.values.extend(values);
                known.suspect = known.suspect.take().or(sample.suspect);
            }
            None => samples.push(Sample { values, ..sample }),
        }
    }
    Side { name: String::new(), samples, facts: Vec::new(), is_by_run }
}

fn gained(best: &comparison::Cell, faster: usize, when: &str) -> String {
    let most = if faster > 1 { ", most of all" } else { ":" };
    format!("Faster {when}{most} {} ({}).", best.name, battery::change(best))
}

fn conclude(setting: &Setting<'_>, comparison: &Comparison, findings: &mut Findings) {
    let delta = setting.options.delta;
    let band = percent(delta);
    let of = |wanted: Outcome| {
        comparison.cells.iter().filter(move |cell| outcome(cell, delta) == Some(wanted))
    };
    let all = [Outcome::Slower, Outcome::Faster, Outcome::Same, Outcome::Open];
    let [slower, faster, same, open] = all.map(|wanted| of(wanted).count());
    let judged = slower + faster + same + open;
    let cycles = setting.options.torture.cycles.max(1);
    let when = match cycles {
        1 => "on this cycle".to_string(),
        cycles => format!("over {cycles} cycles"),
    };
    if judged == 0 {
        findings.no_answer = true;
        findings.unknown.push("What the torture changed: every cell was suspect.".into());
        return;
    }
    let figure = |(name, value): (&str, usize)| Figure {
        name: format!("cells {name}"),
        estimate: Estimate::point(value as f64, judged as u64),
        unit: Unit::Count,
        note: format!("of {judged}, {when}, band {band}"),
    };
    let counts = [("slower", slower), ("faster", faster), ("same", same), ("open", open)];
    findings.figures.extend(counts.map(figure));
    let worst = of(Outcome::Slower).min_by(|a, b| a.gain().total_cmp(&b.gain()));
    let best = of(Outcome::Faster).max_by(|a, b| a.gain().total_cmp(&b.gain()));
    match worst {
        Some(worst) => findings.beware.push(format!(
            "The torture slowed the drive {when}: {slower} of {judged} cells are slower by more \
             than {band}, most of all {} ({}).",
            worst.name,
            battery::change(worst)
        )),
        None if same == judged => findings.verdict.push(format!(
            "The torture changed nothing {when}: all {judged} cells are the same within {band}."
        )),
        None if open == judged => findings.no_answer = true,
        None => findings.verdict.push(format!(
            "Of {judged} cells {same} are the same within {band} {when} and {faster} faster; \
             {open} inconclusive, and those may have become slower."
        )),
    }
    if worst.is_some() {
        findings.verdict.push(format!(
            "Of {judged} cells {slower} are slower, {faster} faster and {same} the same within \
             {band} {when}; {open} inconclusive."
        ));
    }
    findings.verdict.extend(best.map(|best| gained(best, faster, &when)));
    let needs = of(Outcome::Open).filter_map(|cell| cell.needs_n).max();
    if open > 0 {
        let more = needs.map_or(String::new(), |n| format!(", up to {n} repetitions a side"));
        findings.unknown.push(format!(
            "In {open} cells the noise is too large to tell whether they changed; more repetitions \
             would{more}."
        ));
    }
    if cycles == 1 {
        findings.unknown.push(
            "Whether another torture would do the same: this was one. `--cycles 5` makes each \
             cycle one value."
                .into(),
        );
    }
}

fn why(setting: &Setting<'_>, run: &Run, findings: &mut Findings) {
    let is_side = |word: &'static str| {
        move |name: &str| {
            let label = name.rsplit_once(", ").map_or("", |(_, label)| label);
            label == word || label.strip_prefix(word).is_some_and(is_cycle)
        }
    };
    let told =
        setting.is_simulated().then(|| cause::sentences(run, is_side("before"), is_side("after")));
    match told.flatten() {
        Some(sentences) => findings.verdict.extend(sentences),
        None => findings.unknown.push(
            "Why: a real drive does not report what goes on inside. Its bytes written to flash by \
             bytes written by the host, from its SMART log before and after, would show whether it \
             copies more."
                .into(),
        ),
    }
}

/// ` 2` of `before 2`, and no ` idle` of `after idle`.
fn is_cycle(rest: &str) -> bool {
    rest.trim_start().parse::<u64>().is_ok()
}

/// How much of what was lost came back.
fn legs(
    setting: &Setting<'_>,
    summary: &Summary,
    program: &Program,
    tortured: &Comparison,
    findings: &mut Findings,
) {
    let options = &setting.options.torture;
    let cycles = options.cycles.max(1);
    let delta = setting.options.delta;
    for leg in &options.legs {
        let was = battery::side(summary, &program.groups, &before(cycles, cycles - 1), "before");
        let is = battery::side(summary, &program.groups, &after_leg(*leg), leg.word());
        let what = match leg {
            Leg::Idle => format!("Leaving the drive alone for {}", idle(setting.options.scale)),
            Leg::Trim => "Trimming all of it".into(),
            Leg::Purge => "Purging it".into(),
        };
        let Ok(found) = compare(&was, &is, Some(delta)) else {
            findings.unknown.push(format!("{what}: nothing was measured after it."));
            continue;
        };
        let lost: Vec<&str> = tortured
            .cells
            .iter()
            .filter(|cell| outcome(cell, delta) == Some(Outcome::Slower))
            .map(|cell| cell.name.as_str())
            .collect();
        let of = |wanted: Outcome| {
            let is_so = |cell: &&comparison::Cell| {
                lost.contains(&cell.name.as_str()) && outcome(cell, delta) == Some(wanted)
            };
            found.cells.iter().filter(is_so).count()
        };
        let back = of(Outcome::Same) + of(Outcome::Faster);
        findings.verdict.push(format!(
            "{what} brought {back} of {} slower cells back to within {} of what they were; {} are \
             still slower.",
            lost.len(),
            percent(delta),
            of(Outcome::Slower)
        ));
        findings.figures.push(Figure {
            name: format!("cells brought back by {}", leg.word()),
            estimate: Estimate::point(back as f64, lost.len() as u64),
            unit: Unit::Count,
            note: format!("of {} that were slower", lost.len()),
        });
    }
}

fn not_applicable(setting: &Setting<'_>, findings: &mut Findings) {
    let is_quick = setting.options.scale == Scale::Quick;
    if is_quick {
        return;
    }
    let mut add = |cell: &str, text: &str| {
        findings.not_applicable.push(Remark { cell: cell.into(), text: text.into() });
    };
    if !battery::has_names(setting) {
        let text = "names are the file system's, and there is none here";
        for test in ["create/close", "stat", "utime"] {
            add(&format!("{test}, 1, 2 and 4 workers"), text);
        }
    }
    if !battery::Shape::of(setting, 0).has_cache {
        let text = "this simulated drive has no page cache; add page_cache=128MiB to the target";
        for test in ["fwrite", "frewrite", "fread", "freread"] {
            add(test, text);
        }
    }
}

fn deviations(setting: &Setting<'_>, program: &Program, run: &Run, findings: &mut Findings) {
    let mut add = |text: String| findings.deviations.push(text);
    let all = target_bytes(setting);
    let share = |bytes: u64| percent(bytes as f64 / all.max(1) as f64);
    let [small, large] = program.torture_bytes;
    add(format!(
        "The torture wrote and read {} in 4 KiB ({} of the target) and {} in 256 KiB ({}), {} \
         each; published were 83 % and 93 %, ten times.",
        size(small),
        share(small),
        size(large),
        share(large),
        counted(program.passes, "time")
    ));
    add(format!(
        "The file of the battery has {}; published was twice the memory of the host.{}",
        size(program.file_bytes),
        match program.shape.is_cached {
            true => " The cache is dropped before reads, and writes count their fsync.",
            false => " What does not need the page cache bypasses it.",
        }
    ));
    if let Some(text) = loads_not_purged(setting, run) {
        add(text);
    }
    if setting.options.torture.cycles > 1 && !setting.is_drive() {
        add("Nothing resets a file to its initial state: each cycle begins where the last ended."
            .into());
    }
    if is_broken(run) {
        add("The run was interrupted and resumed: the drive was closed in between.".into());
    }
}

fn loads_not_purged(setting: &Setting<'_>, run: &Run) -> Option<String> {
    crate::experiment::loads::not_purged(setting, run)
}
