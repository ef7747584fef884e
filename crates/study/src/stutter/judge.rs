//! What a person would feel, and what the writes did.

use super::cells::{self, ALONE, BESIDE, LISTED_NS, RANDOM};
use super::freezes::Waits;
use super::grade::{FREEZE_NS, Grade, LONG_NS, Open, graded};
use super::published::{self, Measure};
use super::{curves, ratios};
use crate::compare::{Side, compare};
use crate::experiment::order::{since_break, unbroken};
use crate::experiment::{Setting, control};
use crate::experiment::{used, waited};
use drivelab_core::comparison::{Metric, Sample};
use drivelab_core::findings::{Entry, Figure, Findings, Head, Remark, Table, Unit};
use drivelab_core::op::Action;
use drivelab_core::quantity::{digits, operations, percent, time};
use drivelab_core::run::Run;
use drivelab_core::sound::Sound;
use drivelab_core::study::Scale;
use drivelab_core::summary::{CellKind, Summary};
use drivelab_stats::Estimate;

pub fn judge(setting: &Setting<'_>, run: &Sound<'_>) -> Findings {
    let run = &run.part(unbroken);
    let summary = run.summary();
    let all = cells::cells(setting);
    let order = all.iter().map(|cell| cell.name.clone()).collect();
    let mut findings = Findings { order, ..Findings::default() };
    let seen = Seen::of(run, summary);
    let is_graded = seen.reader(setting, &mut findings);
    seen.writes(setting, &mut findings);
    findings.pictures = curves::pictures(&seen, setting.options.scale);
    findings.tables.extend(published::table(
        &run.begin.target,
        run.begin.state.as_deref().unwrap_or("unknown"),
        &seen,
    ));
    findings.comparison = seen.comparison(setting);
    used::say(setting, run, &mut findings);
    rests(run, &mut findings);
    findings.no_answer = !is_graded;
    findings
}

/// What a run of `stutter` shows.
pub struct Seen<'a> {
    run: &'a Run,
    summary: &'a Summary,
    beside: Waits,
    alone: Waits,
}

/// How often, without more digits than can be felt.
fn freezes(a_minute: f64) -> String {
    match a_minute {
        rate if rate >= 10.0 => format!("{rate:.0} times a minute"),
        rate if rate >= 1.0 => format!("{rate:.1} times a minute"),
        rate => format!("once in {}", time(60e9 / rate)),
    }
}

impl<'a> Seen<'a> {
    fn of(run: &'a Run, summary: &'a Summary) -> Self {
        let waits = |name: &str| Waits::of(run, summary, name);
        Seen { run, summary, beside: waits(BESIDE), alone: waits(ALONE) }
    }

    /// The first stream of a sound cell.
    fn cell(&self, name: &str) -> Option<&CellKind> {
        let cell = self.summary.cells.iter().find(|cell| cell.name == name)?;
        let stream = cell.streams.first().filter(|_| cell.valid != Some(false))?;
        stream.kinds.get(&Action::Write).or(stream.kinds.get(&Action::Read))
    }

    /// One number of a cell.
    pub fn number(&self, name: &str, measure: Measure) -> Option<f64> {
        let cell = self.cell(name)?;
        let latency = cell.merged.service_ns;
        match measure {
            Measure::Iops => cell.rates.iops.map(|rate| rate.value),
            Measure::BytesPerS => cell.rates.bandwidth_bytes_per_s.map(|rate| rate.value),
            Measure::MeanNs => latency.map(|latency| latency.mean),
            Measure::LongestNs if name == BESIDE => self.beside.longest_ns().map(|ns| ns as f64),
            Measure::LongestNs => latency.map(|latency| latency.max as f64),
        }
    }

    /// The headline; whether there is one.
    fn reader(&self, setting: &Setting<'_>, findings: &mut Findings) -> bool {
        let (Some(longest_ns), Some(a_minute), Some(share)) =
            (self.beside.longest_ns(), self.beside.a_minute(), self.beside.share())
        else {
            findings.want_more(
                "Whether a machine with this drive would freeze: no valid measurement of a reader \
                 with a writer was made. Give a larger --time or --budget."
                    .into(),
            );
            return false;
        };
        let grade = match (graded(&self.beside), self.busy()) {
            (Ok(grade), None) => {
                self.answer(grade, longest_ns, &a_minute, share.value, findings);
                Some(grade)
            }
            (Ok(_), Some(share)) => {
                findings.unknown.insert(0, self.not_the_drive(share, longest_ns));
                None
            }
            (Err(open), _) => {
                let text = self.no_grade(setting, open, longest_ns, findings);
                findings.unknown.insert(0, text);
                None
            }
        };
        self.reader_alone(findings);
        self.figures(longest_ns, a_minute, share, findings);
        let letter = grade.map_or("–", Grade::letter);
        findings.timelines.push(self.beside.timeline(letter));
        findings.tables.push(Grade::table(grade));
        findings.tables.push(self.waits());
        grade.is_some()
    }

    /// The share of the time in which some task waited for a CPU, where there were freezes and it
    /// was so much that they may be this machine's.
    fn busy(&self) -> Option<f64> {
        let beside = since_break(self.run).iter().filter(|step| step.begin.name == BESIDE);
        waited::busy(beside).filter(|_| self.beside.count(FREEZE_NS) > 0)
    }

    fn not_the_drive(&self, share: f64, longest_ns: u64) -> String {
        format!(
            "No grade: the reader froze {} in {}, longest {}, but some task waited for a CPU {} of \
             that time: it may have been this machine. Measure again while nothing else runs; \
             `drivelab doctor` says what does.",
            times(self.beside.count(FREEZE_NS)),
            time(self.beside.seconds() * 1e9),
            time(longest_ns as f64),
            percent(share)
        )
    }

    fn answer(
        &self,
        grade: Grade,
        longest_ns: u64,
        a_minute: &Estimate,
        share: f64,
        findings: &mut Findings,
    ) {
        let longest = time(longest_ns as f64);
        let watched = time(self.beside.seconds() * 1e9);
        let [low, high] = [a_minute.low, a_minute.high].map(|end| end.unwrap_or(f64::NAN));
        findings.verdict.push(match self.beside.count(FREEZE_NS) {
            0 => format!(
                "Grade {}: no freeze was seen. With random writes one reader never waited 100 ms \
                 in {watched}, at worst {longest}; {} a minute or more are ruled out \
                 (95 %).",
                grade.letter(),
                digits(high)
            ),
            count => format!(
                "Grade {}: your machine would freeze {}, longest {longest}. With random writes one \
                 reader waited 100 ms or longer {} in {watched} ({} to {} a minute), which is {} \
                 of the time.",
                grade.letter(),
                freezes(a_minute.value),
                times(count),
                digits(low),
                digits(high),
                percent(share)
            ),
        });
        if grade >= Grade::C {
            findings.beware.push(format!(
                "A desktop writes all the time, and whatever it reads meanwhile waits up to \
                 {longest} on this drive: windows freeze, key presses are delayed. Do not put the \
                 system or what programs write on it."
            ));
        }
        let [best, worst] = Grade::between(&self.beside);
        if self.beside.count(FREEZE_NS) > 0 && (best != grade || worst != grade) {
            findings.unknown.push(format!(
                "Whether the grade would stay: by the intervals it could be {} to {}. --full \
                 watches longer.",
                best.letter(),
                worst.letter()
            ));
        }
    }

    /// Why there is no grade, and what would give one.
    fn no_grade(
        &self,
        setting: &Setting<'_>,
        open: Open,
        longest_ns: u64,
        findings: &mut Findings,
    ) -> String {
        let longest = time(longest_ns as f64);
        let seen = match self.beside.count(FREEZE_NS) {
            0 => format!("No freeze was seen, and the longest wait was {longest}"),
            count => format!("The reader froze {}, longest {longest}", times(count)),
        };
        let watched = time(open.watched * 1e9);
        let Some(needed) = open.needed else {
            return format!(
                "No grade: watched {watched}, and no sufficient time can be named. {seen}."
            );
        };
        let scale = enough(setting, needed);
        findings.wants_more |= scale.is_none();
        let longer = scale.map_or_else(|| beyond_scales(setting, open.watched, needed), Into::into);
        format!(
            "No grade: watched {watched} of the {:.0} s it takes. {seen}. This would settle it:  \
             drivelab study stutter {} {longer}",
            needed.ceil(),
            self.run.begin.target
        )
        .trim_end()
        .to_string()
    }

    fn reader_alone(&self, findings: &mut Findings) {
        let Some(alone) = self.alone.longest_ns() else { return };
        let (count, watched) = (self.alone.count(FREEZE_NS), self.alone.seconds());
        findings.verdict.push(match count {
            0 => format!(
                "With the drive to itself the same reader never waited longer than {} in {}.",
                time(alone as f64),
                time(watched * 1e9)
            ),
            _ => format!(
                "With the drive to itself the same reader froze, too: {} in {}, longest {}.",
                times(count),
                time(watched * 1e9),
                time(alone as f64)
            ),
        });
    }

    /// Names that stay, so that several drives can stand side by side.
    fn figures(
        &self,
        longest_ns: u64,
        a_minute: Estimate,
        share: Estimate,
        findings: &mut Findings,
    ) {
        let ends = [a_minute.low, a_minute.high].map(|end| digits(end.unwrap_or(f64::NAN)));
        let mut add = |name: &str, estimate, unit, note: String| {
            findings.figures.push(Figure { name: name.into(), estimate, unit, note });
        };
        let point = |value: f64, n: usize| Estimate::point(value, n as u64);
        let watched = format!("the longest in {}", time(self.beside.seconds() * 1e9));
        add("longest wait of a reader", point(longest_ns as f64, 1), Unit::Ns, watched);
        let note = format!("waits of 100 ms or longer; 95 %: {} to {}", ends[0], ends[1]);
        add("freezes a minute", a_minute, Unit::Count, note);
        add("time in freezes", share, Unit::Share, String::new());
        if let Some(alone) = self.alone.longest_ns() {
            let name = "longest wait of a reader alone";
            add(name, point(alone as f64, 1), Unit::Ns, String::new());
        }
        let Some(random) = self.cell(RANDOM) else { return };
        if let Some(iops) = random.rates.iops {
            add(RANDOM, iops, Unit::Iops, "one at a time".into());
        }
        if let Some(mean) = random.service_ns.as_ref().and_then(|latency| latency.mean) {
            add(ratios::MEAN, mean, Unit::Ns, String::new());
        }
        if let Some(longest) = self.number(RANDOM, Measure::LongestNs) {
            add(ratios::LONGEST, point(longest, 1), Unit::Ns, String::new());
        }
    }

    /// Waits of the reader by length.
    fn waits(&self) -> Table {
        let head = |name: &str, unit| Head { name: name.into(), unit: Some(unit) };
        let row = |name: &str, waits: &Waits| {
            let mut row = vec![Entry::Text(name.into()), Entry::Number(waits.seconds() * 1e9)];
            let counts = [LISTED_NS, FREEZE_NS, LONG_NS].map(|least| waits.count(least));
            row.extend(counts.map(|count| Entry::Number(count as f64)));
            let longest = waits.longest_ns().map_or(Entry::Nothing, |ns| Entry::Number(ns as f64));
            row.push(longest);
            row.push(waits.share().map_or(Entry::Nothing, |share| Entry::Number(share.value)));
            row
        };
        Table {
            title: "Waits of one reader, a random 4 KiB at a time".into(),
            note: "A wait is a time in which the reader got nothing.".into(),
            heads: vec![
                Head { name: "reader".into(), unit: None },
                head("watched", Unit::Ns),
                head("≥ 10 ms", Unit::Count),
                head("≥ 100 ms", Unit::Count),
                head("≥ 1 s", Unit::Count),
                head("longest", Unit::Ns),
                head("in freezes", Unit::Share),
            ],
            rows: vec![row("with a writer", &self.beside), row("alone", &self.alone)],
        }
    }

    /// The four tables of writes.
    fn writes(&self, setting: &Setting<'_>, findings: &mut Findings) {
        if let (Some(rate), Some(mean), Some(longest)) = (
            self.number(RANDOM, Measure::Iops),
            self.number(RANDOM, Measure::MeanNs),
            self.number(RANDOM, Measure::LongestNs),
        ) {
            findings.verdict.push(format!(
                "Random writes of 4 KiB, one at a time: {}, {} on average, at worst {}.",
                operations(rate),
                time(mean),
                time(longest)
            ));
        }
        let scale = setting.options.scale;
        let random = std::iter::once(RANDOM.to_string());
        let by_size =
            random.clone().chain(cells::sizes(scale).iter().map(|it| cells::of_size(*it)));
        let orders = cells::orders(scale).iter().map(|percent| cells::of_order(*percent));
        let by_order =
            std::iter::once(cells::SEQUENTIAL.to_string()).chain(orders).chain(random.clone());
        let by_depth =
            random.clone().chain(cells::depths(scale).iter().map(|it| cells::of_depth(*it)));
        for (title, names) in [
            ("Random writes by size", by_size.collect::<Vec<_>>()),
            ("Writes of 4 KiB by share of sequence", by_order.collect()),
            ("Random writes of 4 KiB by depth", by_depth.collect()),
        ] {
            let rows: Vec<Vec<Entry>> = names.iter().filter_map(|name| self.write(name)).collect();
            if !rows.is_empty() {
                findings.tables.push(writes_table(title, rows));
            }
        }
        if !cells::is_deep(setting) {
            for depth in cells::depths(scale) {
                findings.not_applicable.push(Remark {
                    cell: cells::of_depth(*depth),
                    text: "this file system has no direct I/O, so one operation at a time".into(),
                });
            }
        }
    }

    fn write(&self, name: &str) -> Option<Vec<Entry>> {
        let cell = self.cell(name)?;
        let latency = cell.merged.service_ns?;
        let mean = cell.service_ns.as_ref().and_then(|estimates| estimates.mean);
        let sure = mean.and_then(|mean| mean.relative_half_width());
        let number = |value: Option<f64>| value.map_or(Entry::Nothing, Entry::Number);
        let waits = Waits::of(self.run, self.summary, name);
        Some(vec![
            Entry::Text(name.to_string()),
            number(cell.rates.iops.map(|rate| rate.value)),
            number(cell.rates.bandwidth_bytes_per_s.map(|rate| rate.value)),
            Entry::Number(latency.mean),
            number(sure),
            Entry::Number(latency.max as f64),
            Entry::Number(waits.count(FREEZE_NS) as f64),
        ])
    }

    /// What the writer costs the reader.
    fn comparison(&self, setting: &Setting<'_>) -> Option<drivelab_core::comparison::Comparison> {
        let side = |name: &str, cell: &str| Side {
            name: name.into(),
            samples: vec![Sample {
                name: "random read 4 KiB, depth 1".into(),
                metric: Metric::Iops,
                values: control::centred(self.summary, cell),
                is_ordered: false,
                suspect: None,
            }],
            facts: Vec::new(),
            is_by_run: false,
        };
        let has_values = |side: &Side| side.samples.iter().all(|it| it.values.len() > 1);
        let (alone, beside) = (side("alone", ALONE), side("with a writer", BESIDE));
        let both = has_values(&alone) && has_values(&beside);
        both.then(|| compare(&alone, &beside, Some(setting.options.delta)).ok()).flatten()
    }
}

fn times(count: u64) -> String {
    match count {
        1 => "once".into(),
        2 => "twice".into(),
        count => format!("{count} times"),
    }
}

fn writes_table(title: &str, rows: Vec<Vec<Entry>>) -> Table {
    let head = |name: &str, unit| Head { name: name.into(), unit: Some(unit) };
    Table {
        title: title.into(),
        note: String::new(),
        heads: vec![
            Head { name: "load".into(), unit: None },
            head("rate", Unit::Iops),
            head("bytes", Unit::BytesPerS),
            head("mean", Unit::Ns),
            head("±", Unit::Share),
            head("longest", Unit::Ns),
            head("≥ 100 ms", Unit::Count),
        ],
        rows,
    }
}

/// How the writer was held back, if it was.
fn rests(run: &Run, findings: &mut Findings) {
    let mut writers = run.steps.iter().filter_map(|step| step.plan.streams.get(1));
    if let Some(think) = writers.find_map(|writer| writer.arrival.think()) {
        findings.deviations.push(format!(
            "The writer rested for {} after each write, so that the write budget lasts.",
            time(think.time.0 as f64)
        ));
    }
}

/// The option of the scale with which a reader would be watched long enough, if there is one.
fn enough(setting: &Setting<'_>, needed: f64) -> Option<&'static str> {
    let scales = [("--quick", Scale::Quick), ("", Scale::Default), ("--full", Scale::Full)];
    let is_enough = |scale: Scale| super::reader_seconds(scale) >= 1.02 * needed;
    let said = super::allowance(setting.options.scale, setting.bytes()).time;
    let is_shorter = setting.options.time.0 < said.0;
    let is_longer = |scale: Scale| is_shorter || scale as u8 > setting.options.scale as u8;
    let fits = |(_, scale): &(&str, Scale)| is_enough(*scale) && is_longer(*scale);
    scales.into_iter().find(fits).map(|(option, _)| option)
}

/// The options that watch it longer than any scale does.
fn beyond_scales(setting: &Setting<'_>, watched: f64, needed: f64) -> String {
    let times = (1.2 * needed / watched).min(1000.0);
    let minutes = (times * setting.options.time.seconds() / 60.0).ceil();
    format!("--full --time {minutes:.0}m")
}
