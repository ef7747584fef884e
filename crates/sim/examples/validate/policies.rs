//! Policies over pages a block, spare, span and pace, next to a counter that shares nothing.

#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../../tests/all/policies/beside.rs"]
mod beside;
#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../../tests/all/policies/counter.rs"]
mod counter;
#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../../tests/all/policies/layout.rs"]
mod layout;

use crate::page::{Table, signed_percent};
use beside::{POLICIES, counted_by, simulated, simulated_by};
use counter::Choice;
use drivelab_sim::flash::{Layout, Policy};
use drivelab_sim::theory;
use std::fmt::Write;

const PAGES: [u32; 4] = [16, 64, 128, 512];
const SPARES: [f64; 3] = [0.05, 0.20, 0.45];
const SPANS: [f64; 4] = [0.1, 0.3, 0.6, 1.0];
const BLOCKS: u32 = 512;
/// Half a block more or less must not count next to the spare of a formula.
const BLOCKS_BY_FORMULA: u32 = 4096;
const TOLERANCE: f64 = 0.01;
/// Passes of the drive, of which the second half counts.
const PASSES: u64 = 16;
const WRITES_MIN: u64 = 3_000_000;
/// Victims that are drawn have luck: the mean of this many runs on each side stands for them.
const DRAWN_RUNS: u64 = 6;

fn layout(policy: Policy, choices: u32, block_units: u32, blocks: u32, spare: f64) -> Layout {
    layout::with_spare(layout::bare(policy, choices, block_units, blocks), spare)
}

fn writes(layout: &Layout) -> u64 {
    (PASSES * u64::from(layout.logical_units)).max(WRITES_MIN)
}

/// Cells that were looked at, the largest difference among them, and those beyond 1 %.
#[derive(Default)]
struct Score {
    cells: u32,
    worst: f64,
    beyond: Vec<String>,
}

impl Score {
    fn add(&mut self, found: f64, expected: f64, what: impl FnOnce() -> String) {
        let error = found / expected - 1.0;
        self.cells += 1;
        if error.abs() > self.worst.abs() {
            self.worst = error;
        }
        if error.abs() > TOLERANCE {
            let words = signed_percent(error);
            self.beyond.push(format!("{}: {found:.3} against {expected:.3}, {words}", what()));
        }
    }

    fn words(&self) -> String {
        format!("{} of {}, worst {}", self.beyond.len(), self.cells, signed_percent(self.worst))
    }
}

fn by_formula(policy: Policy, pages: u32, choices: u32) -> Result<Option<Score>, String> {
    let mut score = Score::default();
    for spare in SPARES {
        let expected = match policy {
            Policy::Fifo => theory::fifo(spare),
            Policy::Greedy => theory::greedy(spare, pages),
            Policy::DChoices => theory::d_choices(spare, pages, choices),
            _ => return Ok(None),
        };
        let layout = layout(policy, choices, pages, BLOCKS_BY_FORMULA, spare);
        let what = || format!("{policy:?}, {pages} units a block, spare {spare}, formula");
        score.add(simulated(&layout, 1.0, writes(&layout))?, expected, what);
    }
    Ok(Some(score))
}

/// What the simulator and the counter find.
fn both(layout: &Layout, choice: Choice, span: f64) -> Result<(f64, f64), String> {
    let runs = if layout.policy == Policy::DChoices { DRAWN_RUNS } else { 1 };
    let writes = writes(layout);
    let (mut found, mut expected) = (0.0, 0.0);
    for seed in 0..runs {
        found += simulated_by(layout, span, writes, seed)?;
        expected += counted_by(layout, choice, span, writes, seed);
    }
    Ok((found / runs as f64, expected / runs as f64))
}

/// The grid of policies.
pub fn section() -> Result<String, String> {
    let mut table =
        Table::new(&["victims", "units a block", "formula", "counter, paced", "counter, at once"]);
    let mut beyond = Vec::new();
    let mut cells = 0;
    for (words, policy, choices, choice) in POLICIES {
        for pages in PAGES {
            let formula = by_formula(policy, pages, choices)?;
            let beside = |paces: bool| -> Result<Score, String> {
                let mut score = Score::default();
                for (spare, span) in SPARES.iter().flat_map(|one| SPANS.map(|span| (*one, span))) {
                    let paced = layout(policy, choices, pages, BLOCKS, spare);
                    let layout = Layout { paces, ..paced };
                    let (found, expected) = both(&layout, choice, span)?;
                    let what = || {
                        let pace = if paces { "paced" } else { "at once" };
                        format!("{words}, {pages} units, spare {spare}, span {span}, {pace}")
                    };
                    score.add(found, expected, what);
                }
                Ok(score)
            };
            let scores = [beside(true)?, beside(false)?];
            table.row(&[
                words.to_owned(),
                pages.to_string(),
                formula.as_ref().map_or("none is known".to_owned(), Score::words),
                scores[0].words(),
                scores[1].words(),
            ]);
            for score in formula.into_iter().chain(scores) {
                cells += score.cells;
                beyond.extend(score.beyond);
            }
        }
    }
    let mut misses = String::new();
    for miss in &beyond {
        let _ = writeln!(misses, "- {miss}");
    }
    Ok(format!(
        "### Policies over block size, spare and span\n\nWrite amplification of uniform random \
         writes to a part of the addresses (10, 30, 60 and 100 %), spare 5, 20 and 45 %, against a \
         counter that shares no code with the simulator \
         (`crates/sim/tests/all/policies/counter.rs`), \
         {BLOCKS} blocks each (of victims that are drawn the mean of {DRAWN_RUNS} runs on each \
         side); victims emptied little by little between the host's writes, and at \
         once. Of writes to all addresses also against the formulas, {BLOCKS_BY_FORMULA} blocks. \
         Beyond 1 %: {} of {cells}.\n\n{}\n{misses}",
        beyond.len(),
        table.text()
    ))
}
