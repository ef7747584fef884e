//! What each user would feel.

use super::loads::{App, FILM_BYTES_PER_S};
use super::models::Model;
use super::work;
use crate::experiment::order::unbroken;
use crate::experiment::{Setting, used};
use drivelab_core::findings::{Entry, Figure, Findings, Head, Remark, Table, Unit};
use drivelab_core::op::Action;
use drivelab_core::quantity::{bandwidth, capacity, count, operations, size, time};
use drivelab_core::run::Run;
use drivelab_core::sound::Sound;
use drivelab_core::summary::{CellKind, CellStream, Latency, Summary};
use drivelab_stats::Estimate;

/// A wait that a person notices.
const NOTICED_NS: f64 = 100e6;
/// A wait that interrupts a thought.
const INTERRUPTS_NS: f64 = 1e9;
/// A film is kept up with where this share of its rate is.
const KEPT: f64 = 0.99;

pub fn judge(setting: &Setting<'_>, run: &Sound<'_>) -> Findings {
    let run = &run.part(unbroken);
    let summary = run.summary();
    let order = App::ALL.map(|app| app.name().to_string()).to_vec();
    let mut findings = Findings { order, ..Findings::default() };
    let seen = Seen { summary, run };
    let rows: Vec<Vec<Entry>> =
        App::ALL.iter().flat_map(|app| seen.app(setting, *app, &mut findings)).collect();
    findings.no_answer = rows.is_empty();
    findings.tables.push(work::table(summary, run));
    findings.tables.push(waits(rows));
    findings.tables.push(sources());
    used::say(setting, run, &mut findings);
    findings
}

struct Seen<'a> {
    summary: &'a Summary,
    run: &'a Run,
}

impl Seen<'_> {
    /// The streams of a sound cell.
    fn streams(&self, app: App) -> Option<&[CellStream]> {
        let cell = self.summary.cells.iter().find(|cell| cell.name == app.name())?;
        let is_sound = cell.valid != Some(false) && !cell.streams.is_empty();
        is_sound.then_some(cell.streams.as_slice())
    }

    /// Says what became of one load; its rows of latencies.
    fn app(&self, setting: &Setting<'_>, app: App, findings: &mut Findings) -> Vec<Vec<Entry>> {
        let said = self.streams(app).and_then(|streams| {
            match app {
                App::Desktop => desktop(streams, findings),
                App::Media => media(streams, findings),
                App::Scan => scan(streams, setting.bytes(), findings),
                App::Database => database(streams, findings),
                App::Log => log(streams, findings),
                App::Modelled(model) => self.modelled(app, model, streams, findings),
            }
            .map(|()| streams)
        });
        let Some(streams) = said else {
            findings.want_more(format!(
                "How it serves `{}`: there is no valid measurement of it. Give a larger --time or \
                 --budget.",
                app.name()
            ));
            return Vec::new();
        };
        let kinds = streams.iter().flat_map(|stream| {
            stream.kinds.iter().map(|(action, kind)| {
                let name = match stream.load.name.as_str() {
                    "" => format!("{}, {}", app.name(), action.word()),
                    load => format!("{}, {load}, {}", app.name(), action.word()),
                };
                (name, kind)
            })
        });
        kinds.filter_map(|(name, kind)| row(name, kind)).collect()
    }
}

impl Seen<'_> {
    fn modelled(
        &self,
        app: App,
        model: &Model,
        streams: &[CellStream],
        findings: &mut Findings,
    ) -> Option<()> {
        let taken = work::time_of(self.summary, self.run, app)?;
        let kinds = streams.iter().flat_map(|stream| stream.kinds.values());
        let longest = kinds.filter_map(felt).map(|latency| latency.max).max()?;
        let requests = app.work().iter().map(|(_, count)| count).sum::<u64>();
        findings.verdict.push(format!(
            "{}: {} requests in {}, the longest wait {}.",
            model.title,
            count(requests),
            time(taken.value),
            time(longest as f64)
        ));
        let note = format!("{} requests at the rate that was measured", count(requests));
        add(findings, model.name, taken, Unit::Ns, &note);
        Some(())
    }
}

/// The latency as its user has it: from when it was due, where there is such a time.
fn felt(kind: &CellKind) -> Option<Latency> {
    kind.merged.response_ns.or(kind.merged.service_ns)
}

fn row(name: String, kind: &CellKind) -> Option<Vec<Entry>> {
    let latency = felt(kind)?;
    let number = |value: Option<f64>| value.map_or(Entry::Nothing, Entry::Number);
    Some(vec![
        Entry::Text(name),
        number(kind.rates.iops.map(|rate| rate.value)),
        number(kind.rates.iops.and_then(|rate| rate.relative_half_width())),
        Entry::Number(latency.mean),
        number(latency.p99.map(|ns| ns as f64)),
        Entry::Number(latency.max as f64),
    ])
}

fn waits(rows: Vec<Vec<Entry>>) -> Table {
    let head = |name: &str, unit| Head { name: name.into(), unit: Some(unit) };
    Table {
        title: "How long each of them waits".into(),
        note: "Of films from when the piece was due, of all others from when it was asked for."
            .into(),
        heads: vec![
            Head { name: "load".into(), unit: None },
            head("rate", Unit::Iops),
            head("±", Unit::Share),
            head("mean", Unit::Ns),
            head("p99", Unit::Ns),
            head("longest", Unit::Ns),
        ],
        rows,
    }
}

fn sources() -> Table {
    let heads = ["load", "what it does", "by"];
    let row = |app: &App| {
        let [what, by] = app.sources();
        [app.name(), what, by].map(|text| Entry::Text(text.into())).to_vec()
    };
    Table {
        title: "What the loads are".into(),
        note: String::new(),
        heads: heads.map(|name| Head { name: name.into(), unit: None }).to_vec(),
        rows: App::ALL.iter().map(row).collect(),
    }
}

fn add(findings: &mut Findings, name: &str, estimate: Estimate, unit: Unit, note: &str) {
    let (name, note) = (name.to_string(), note.to_string());
    findings.figures.push(Figure { name, estimate, unit, note });
}

fn desktop(streams: &[CellStream], findings: &mut Findings) -> Option<()> {
    let [work, _] = streams else { return None };
    let read = felt(work.kinds.get(&Action::Read)?)?;
    let longest = read.max as f64;
    let often = read.p99.map(|ns| format!("99 of 100 reads within {}, ", time(ns as f64)));
    findings.verdict.push(format!(
        "Desktop: {}the longest took {}{}.",
        often.unwrap_or_default(),
        time(longest),
        if longest < NOTICED_NS { ": nobody notices" } else { "" }
    ));
    if longest >= INTERRUPTS_NS {
        findings.beware.push(format!(
            "On a desktop a single read took {}: long enough to interrupt a thought. `drivelab \
             study stutter` says how often.",
            time(longest)
        ));
    }
    if let Some(ns) = read.p99 {
        add(findings, "desktop, p99", Estimate::point(ns as f64, read.count), Unit::Ns, "reads");
    }
    add(findings, "desktop, longest", Estimate::point(longest, 1), Unit::Ns, "reads");
    Some(())
}

fn media(streams: &[CellStream], findings: &mut Findings) -> Option<()> {
    let [play, record] = streams else { return None };
    let films = [play.kinds.get(&Action::Read)?, record.kinds.get(&Action::Write)?];
    let [play, record] = films.map(|film| film.rates.bandwidth_bytes_per_s);
    let (play, record) = (play?, record?);
    let slower = if play.value < record.value { play } else { record };
    let slowest = slower.value;
    let longest = films.iter().filter_map(|film| felt(film)).map(|it| it.max).max()? as f64;
    add(findings, "media, longest", Estimate::point(longest, 1), Unit::Ns, "late");
    add(
        findings,
        "media, bytes a second",
        slower,
        Unit::BytesPerS,
        "the slower of two films of 16 MB/s",
    );
    if slowest < KEPT * FILM_BYTES_PER_S {
        findings.beware.push(format!(
            "It cannot record one film while another plays: of {} each needs, one got {}.",
            bandwidth(FILM_BYTES_PER_S),
            bandwidth(slowest)
        ));
        return Some(());
    }
    let buffer = longest / 1e9 * FILM_BYTES_PER_S;
    findings.verdict.push(format!(
        "Media: one film is recorded while another plays, {} each. No piece came later than {}, \
         which a buffer of {} hides.",
        bandwidth(FILM_BYTES_PER_S),
        time(longest),
        capacity(buffer.ceil() as u64)
    ));
    Some(())
}

fn scan(streams: &[CellStream], bytes: u64, findings: &mut Findings) -> Option<()> {
    let rate = streams[0].total.bandwidth_bytes_per_s?;
    findings.verdict.push(format!(
        "Scan: {}, so all {} are read in {}.",
        bandwidth(rate.value),
        size(bytes),
        time(bytes as f64 / rate.value * 1e9)
    ));
    add(findings, "scan", rate, Unit::BytesPerS, "sequential 128 KiB, one at a time");
    Some(())
}

fn database(streams: &[CellStream], findings: &mut Findings) -> Option<()> {
    let rate = streams[0].total.iops?;
    let read = felt(streams[0].kinds.get(&Action::Read)?)?;
    let often = read.p99.map(|ns| format!("; 99 of 100 reads within {}", time(ns as f64)));
    findings.verdict.push(format!(
        "Database: {} of 8 KiB, two thirds of them reads{}.",
        operations(rate.value),
        often.unwrap_or_default()
    ));
    add(findings, "database", rate, Unit::Iops, "8 KiB, 67 % reads, 16 at a time");
    if let Some(ns) = read.p99 {
        add(findings, "database, p99", Estimate::point(ns as f64, read.count), Unit::Ns, "reads");
    }
    Some(())
}

fn log(streams: &[CellStream], findings: &mut Findings) -> Option<()> {
    let write = streams[0].kinds.get(&Action::Write)?;
    let flush = streams[0].kinds.get(&Action::Flush)?;
    let rate = write.rates.iops?;
    let commit = flush.merged.commit_ns;
    let (longest, what) = match commit {
        Some(commit) => (commit.max as f64, "commit"),
        None => (felt(write)?.max.max(felt(flush)?.max) as f64, "write or flush"),
    };
    findings.verdict.push(format!(
        "Log: durable commits one after the other at {}, the longest {what} took {}.",
        operations(rate.value),
        time(longest)
    ));
    add(findings, "log", rate, Unit::Iops, "commits of 8 KiB, each with fdatasync");
    let text = "p99 of write and flush together".into();
    findings.remarks.push(Remark { cell: App::Log.name().into(), text });
    add(findings, "log, longest", Estimate::point(longest, 1), Unit::Ns, &format!("one {what}"));
    Some(())
}
