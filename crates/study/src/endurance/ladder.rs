//! Several drives of flash together: what one more bit a cell costs.

use super::{ORDER, RANDOM};
use crate::across::short;
use drivelab_core::facts::{CellFacts, FlashFacts};
use drivelab_core::findings::{Axis, Entry, Findings, Head, Line, LineKind, Picture, Table, Unit};
use drivelab_core::gathering::Member;
use drivelab_core::quantity::digits;

/// One drive of the ladder.
struct Rung {
    target: String,
    cells: CellFacts,
    /// Days of life under writes in order and at random.
    days: [Option<f64>; 2],
    amplification: Option<f64>,
}

/// What several runs say together: a ladder where their cells are known and differ, else what each
/// of them says.
pub fn across(members: &[Member<'_>]) -> Findings {
    let mut findings = Findings::default();
    let names = short(&members.iter().map(|member| member.target).collect::<Vec<_>>());
    let rungs = members.iter().zip(names).filter_map(|(member, name)| rung(member, name));
    let mut rungs: Vec<Rung> = rungs.collect();
    rungs.sort_by_key(|rung| rung.cells.bits);
    let said = |member: &Member<'_>| {
        let found = member.run.findings.iter().flat_map(|found| &found.verdict);
        found.map(|text| format!("{}: {text}", member.target)).collect::<Vec<String>>()
    };
    let [first, .., last] = rungs.as_slice() else {
        findings.verdict = members.iter().flat_map(said).collect();
        return findings;
    };
    if first.cells.bits == last.cells.bits {
        findings.verdict = members.iter().flat_map(said).collect();
    } else {
        findings.verdict.extend(RESULTS.iter().zip(0..).filter_map(|((load, _), at)| {
            let (most, least) = (first.days[at]?, last.days[at]?);
            Some(format!(
                "From {} to {} bits a cell, {load} leave {} days instead of {}: {} of the life.",
                first.cells.bits,
                last.cells.bits,
                digits(least),
                digits(most),
                drivelab_core::quantity::percent(least / most)
            ))
        }));
    }
    findings.pictures.extend(picture(&rungs));
    findings.tables.push(table(&rungs));
    findings
}

/// The loads as they are called in a sentence, and the names of their steps.
const RESULTS: [(&str, &str); 2] = [("sequential writes", ORDER), ("random writes", RANDOM)];

fn rung(member: &Member<'_>, target: String) -> Option<Rung> {
    let known = member.run.begin.facts.target.simulated?;
    let FlashFacts { cells: Some(cells), .. } = known.flash? else { return None };
    let figure = |name: String| {
        let figures = &member.run.findings.as_ref()?.figures;
        figures.iter().find(|figure| figure.name == name).map(|figure| figure.estimate.value)
    };
    Some(Rung {
        target,
        cells,
        days: RESULTS.map(|(_, load)| figure(format!("days of life, {load}"))),
        amplification: figure(format!("write amplification, {RANDOM}")),
    })
}

fn table(rungs: &[Rung]) -> Table {
    let head = |name: &str, unit| Head { name: name.into(), unit };
    let number = |value: Option<f64>| value.map_or(Entry::Nothing, Entry::Number);
    let cycles = |cells: &CellFacts| (cells.cycles > 0).then_some(f64::from(cells.cycles));
    let row = |rung: &Rung| {
        let cells = &rung.cells;
        vec![
            Entry::Text(rung.target.clone()),
            Entry::Text(match cells.bits {
                1 => format!("{}, 1 bit", cells.word()),
                bits => format!("{}, {bits} bits", cells.word()),
            }),
            Entry::Number(cells.levels() as f64),
            Entry::Number(cells.read_ns as f64),
            Entry::Number(cells.program_ns as f64),
            Entry::Number(1.0 / f64::from(cells.bits)),
            number(cycles(cells)),
            number(rung.amplification),
            number(rung.days[0]),
            number(rung.days[1]),
        ]
    };
    Table {
        title: "Kinds of cells".into(),
        note: "A cell of n bits tells 2^n voltages apart. Cells a bit stand for the price: what a \
               drive is sold for is not known here. Where the times and the cycles come from, \
               `drivelab sim show NAME` says."
            .into(),
        heads: vec![
            head("drive", None),
            head("cells", None),
            head("voltages", Some(Unit::Count)),
            head("read", Some(Unit::Ns)),
            head("program", Some(Unit::Ns)),
            head("cells a bit", Some(Unit::Factor)),
            head("cycles", Some(Unit::Count)),
            head("amplified", Some(Unit::Factor)),
            head("days, sequential", Some(Unit::Count)),
            head("days, random", Some(Unit::Count)),
        ],
        rows: rungs.iter().map(row).collect(),
    }
}

/// Life by bits a cell, where no two drives have the same.
fn picture(rungs: &[Rung]) -> Option<Picture> {
    if rungs.windows(2).any(|pair| pair[0].cells.bits == pair[1].cells.bits) {
        return None;
    }
    let points = |at: usize| {
        let point = |rung: &Rung| Some((f64::from(rung.cells.bits), rung.days[at]?));
        rungs.iter().filter_map(point).collect::<Vec<(f64, f64)>>()
    };
    let line = |(at, (label, _)): (usize, &(&str, &str))| Line {
        label: (*label).into(),
        kind: LineKind::Measured,
        points: points(at),
    };
    let lines: Vec<Line> = RESULTS.iter().enumerate().map(line).collect();
    lines.iter().any(|line| line.points.len() > 1).then(|| Picture {
        title: "Life by bits a cell".into(),
        note: "Until the cells are used up, wear taken as even.".into(),
        x: Axis { quantity: "bits a cell".into(), unit: Unit::Count },
        y: Axis { quantity: "days of life".into(), unit: Unit::Count },
        lines,
        marks: Vec::new(),
    })
}
