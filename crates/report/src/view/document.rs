//! A run from its title to the line that does it again, as blocks in their order.

use drivelab_core::comparison::Comparison;
use drivelab_core::findings::Findings;
use drivelab_core::run::Run;
use drivelab_core::summary::Summary;

use crate::view::block::{Block, Table};
use crate::view::{cells, comparison, drives, facts, header, headline, method, study, truth};

/// Everything that words and tables can say of a run. `summary` must be the summary of `run`.
pub(crate) fn document(run: &Run, summary: &Summary) -> Vec<Block> {
    let findings = summary.findings.clone().unwrap_or_default();
    let mut blocks = head(run, summary);
    blocks.extend(judgement(summary, &findings));
    blocks.extend(warnings(summary));
    blocks.extend(results(&findings));
    blocks.extend(numbers(summary, &findings));
    blocks.extend(circumstances(run, summary));
    blocks
}

fn titled(level: u8, title: &str, more: impl IntoIterator<Item = Block>) -> Vec<Block> {
    let mut blocks = vec![Block::Heading(level, title.to_owned())];
    blocks.extend(more);
    blocks
}

/// A list under its title; nothing where it is empty.
fn list(level: u8, title: &str, items: Vec<String>) -> Vec<Block> {
    match items.is_empty() {
        true => Vec::new(),
        false => titled(level, title, [Block::List(items)]),
    }
}

/// A table under its own title.
fn table(mut table: Table) -> Vec<Block> {
    let title = std::mem::take(&mut table.title);
    titled(2, &title, [Block::Table(table)])
}

fn head(run: &Run, summary: &Summary) -> Vec<Block> {
    let (word, explanation) = header::origin(run);
    let target = headline::target(&summary.target, &run.begin.facts);
    let mut items = vec![
        format!("{target}, {word}, state: {}", header::state(summary)),
        format!(
            "run {} of {}, drivelab {}, seed {}",
            summary.run, summary.started_at, summary.version, summary.seed
        ),
    ];
    items.extend(summary.tag.as_ref().map(|tag| format!("tag: {tag}")));
    items.extend(headline::processes(&run.begin));
    let mut blocks = titled(1, &header::heading(run, summary), [Block::List(items)]);
    if !explanation.is_empty() {
        blocks.push(Block::Words(explanation.to_owned()));
    }
    if let Some(reason) = header::incomplete(summary) {
        let sentence = format!("this run is incomplete: {}.", reason.trim_end_matches('.'));
        blocks.push(Block::Said("INCOMPLETE", vec![sentence]));
    }
    blocks
}

/// What the drive is good for, and the sentences below it.
pub(crate) fn judgement(summary: &Summary, findings: &Findings) -> Vec<Block> {
    let said = header::judgement(findings).into_iter().filter(|(_, list)| !list.is_empty());
    let uses = header::uses(findings).into_iter();
    let mut blocks: Vec<Block> = uses
        .chain(said.map(|(word, list)| (word, list.to_vec())))
        .map(|(word, list)| Block::Said(word, list))
        .collect();
    if blocks.is_empty() {
        blocks.push(Block::Words(header::unjudged(summary).to_owned()));
    }
    blocks
}

fn warnings(summary: &Summary) -> Vec<Block> {
    let (alarms, notes) = header::alarms_and_notes(&summary.warnings);
    let alarms = alarms.into_iter().map(|warning| {
        let words = [header::step_of(summary, warning), warning.text.clone()].concat();
        format!("{words} {}", warning.advice).trim_end().to_owned()
    });
    let mut blocks = list(2, "Warnings", alarms.collect());
    blocks.extend(list(2, "Notes", notes.into_iter().map(|note| note.text.clone()).collect()));
    blocks
}

/// What a study found besides its verdict.
fn results(findings: &Findings) -> Vec<Block> {
    let mut blocks = Vec::new();
    if !findings.figures.is_empty() {
        let figures = study::figures(&findings.figures);
        blocks.extend(titled(2, "All figures", [Block::Table(figures)]));
    }
    blocks.extend(findings.heat_maps.iter().map(study::heat_map).flat_map(table));
    blocks.extend(findings.tables.iter().map(study::table).flat_map(table));
    if let Some(of) = &findings.comparison {
        blocks.extend(compared(of, findings));
    }
    blocks.extend(list(2, "Not applicable", study::not_applicable(&findings.not_applicable)));
    blocks.extend(list(2, "Deviations from the method", findings.deviations.clone()));
    blocks
}

/// A comparison by itself, and what a gate says of it.
pub(crate) fn comparison_document(of: &Comparison, gate: Option<&str>) -> Vec<Block> {
    let said = gate.map(|gate| Block::Said("Gate", vec![gate.to_owned()]));
    said.into_iter().chain(compared(of, &Findings::default())).collect()
}

fn compared(of: &Comparison, findings: &Findings) -> Vec<Block> {
    let mut blocks = titled(
        2,
        &format!("{} → {}", of.before, of.after),
        [
            Block::Words(comparison::counts(&of.cells)),
            Block::Table(Table { note: comparison::circumstances(of), ..comparison::numbers(of) }),
        ],
    );
    let remarks = comparison::remarks(of, findings);
    if !remarks.is_empty() {
        blocks.push(Block::List(remarks));
    }
    blocks
}

/// All cells, and whether they may be believed.
fn numbers(summary: &Summary, findings: &Findings) -> Vec<Block> {
    let Some(truth) = truth::truth(summary, findings) else {
        return vec![Block::Words("No cell was measured.".to_owned())];
    };
    let mut blocks = titled(2, "All numbers", [Block::Table(cells::cells(summary, findings))]);
    let judged = Block::Words(truth.judged.clone());
    blocks.extend(titled(2, "Can these numbers be trusted?", [judged]));
    for (is_so, sentence) in
        [(truth.is_said_above, truth::SAID_ABOVE), (truth.is_silent, truth::SILENT)]
    {
        blocks.extend(is_so.then(|| Block::Words(sentence.to_owned())));
    }
    blocks
        .extend(truth.lists().into_iter().flat_map(|(title, said)| list(3, title, said.to_vec())));
    blocks
}

/// What the numbers rest on.
fn circumstances(run: &Run, summary: &Summary) -> Vec<Block> {
    let mut blocks = Vec::new();
    blocks.extend(cells::steps(summary).map(|mut table| {
        let title = std::mem::take(&mut table.title);
        Block::Folded(title, vec![Block::Table(table)])
    }));
    let mut known = Table::headed(["of", "fact", "value"]);
    let mut groups = facts::groups(&run.begin.facts);
    groups.push(facts::measurement(run));
    groups.extend(summary.health.iter().map(drives::counted));
    for (title, rows) in groups {
        let row = |(name, value): (&str, String)| vec![title.clone(), name.to_owned(), value];
        known.rows.extend(rows.into_iter().map(row));
    }
    let mut facts = vec![Block::Table(known)];
    if let Some(mut processes) = facts::processes(&run.begin) {
        facts.push(Block::Words(std::mem::take(&mut processes.title)));
        facts.push(Block::Table(processes));
    }
    blocks.push(Block::Folded("Facts".to_owned(), facts));
    let plans = method::plans(run).into_iter();
    blocks.extend(plans.map(|(title, text)| Block::Folded(title, vec![Block::Code("toml", text)])));
    let meanings = Block::List(method::meanings(run, summary));
    blocks.push(Block::Folded("What the words mean".to_owned(), vec![meanings]));
    let again = method::again(run);
    let mut same = again.same.to_owned();
    if let Some(directory) = &again.typed_in {
        same.push_str(&format!(" The line was typed in {directory}."));
    }
    blocks.extend(titled(2, "Again", [Block::Code("sh", again.line), Block::Words(same)]));
    blocks
}
