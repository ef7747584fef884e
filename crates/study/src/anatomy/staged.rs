//! Where a simulated drive says that the time of its I/Os goes, stage by stage.

use super::Cell;
use super::parts::{kind_of, sound};
use drivelab_core::findings::{Entry, Head, Stack, StackBar, Table, Unit};
use drivelab_core::quantity::{percent, time};
use drivelab_core::run::Run;
use drivelab_core::stages::{KindStages, Stage};
use drivelab_core::summary::{KindSummary, Summary};
use drivelab_stats::Estimate;

/// All I/Os of a cell, of the repetitions that count.
pub struct Staged {
    pub cell: Cell,
    /// The mean of all I/Os, over the repetitions.
    pub whole: Estimate,
    /// Of the I/Os whose stamps were kept.
    pub all: KindStages,
}

/// The stages of one cell; `None` where nothing of it can be believed.
pub fn of(run: &Run, summary: &Summary, cell: Cell) -> Option<Staged> {
    let kinds: Vec<&KindSummary> =
        sound(summary, cell).filter_map(|step| kind_of(step, cell)).collect();
    let means: Vec<f64> =
        kinds.iter().filter_map(|kind| Some(kind.service_ns.as_ref()?.mean)).collect();
    let mut all = KindStages::new(cell.kind);
    for step in sound(summary, cell) {
        let recorded = run.steps.iter().find(|it| it.begin.step == step.step);
        let stages = recorded.and_then(|it| it.anatomy.as_ref()).map_or(&[][..], |it| &it.stages);
        stages.iter().filter(|it| it.kind == cell.kind).for_each(|it| all.merge(it));
    }
    Some(Staged { cell, whole: Estimate::positive_mean_of(&means)?, all })
}

impl Staged {
    /// The stages that took any of the time, in the order of the path.
    fn parts(&self) -> impl Iterator<Item = (Stage, f64)> {
        let parts = Stage::ALL.into_iter().map(|stage| (stage, self.all.mean_ns(stage)));
        parts.filter(|(_, ns)| *ns > 0.0)
    }

    fn mean_ns(&self) -> f64 {
        self.all.total_ns as f64 / self.all.operations.max(1) as f64
    }

    /// The mean and its parts, in a sentence.
    pub fn words(&self) -> String {
        let whole = self.mean_ns();
        let part = |(stage, ns): (Stage, f64)| {
            format!("{} {} ({})", stage.word(), time(ns), percent(ns / whole))
        };
        let parts: Vec<String> = self.parts().map(part).collect();
        match self.all.operations {
            0 => format!(
                "A {} takes {} on average, all of it in the device.",
                self.cell.words(),
                time(self.whole.value)
            ),
            _ => format!(
                "A {} takes {} on average, all of it in the device: {}.",
                self.cell.words(),
                time(whole),
                parts.join(", ")
            ),
        }
    }
}

/// The stages that any of the cells spent time in.
fn used(found: &[Staged]) -> Vec<Stage> {
    let is_used = |stage: &Stage| found.iter().any(|it| it.all.mean_ns(*stage) > 0.0);
    Stage::ALL.into_iter().filter(is_used).collect()
}

/// The means of the stages, a bar a cell.
pub fn stack(found: &[Staged]) -> Option<Stack> {
    let stages = used(found);
    (!stages.is_empty()).then(|| Stack {
        title: "Where the time goes".into(),
        note: "Means of all I/Os whose stages were noted, from the command to its end.".into(),
        quantity: "time of an I/O".into(),
        unit: Unit::Ns,
        parts: stages.iter().map(|stage| stage.word().into()).collect(),
        bars: found
            .iter()
            .map(|it| StackBar {
                label: it.cell.name(),
                values: stages.iter().map(|stage| it.all.mean_ns(*stage)).collect(),
            })
            .collect(),
    })
}

/// The same as shares, a column a cell, whether it is known or not: tables of several targets are
/// alike.
pub fn table(cells: &[Cell], found: &[Staged]) -> Option<Table> {
    let stages = used(found);
    let head = |name: String, unit| Head { name, unit };
    let row = |stage: &Stage| {
        let share = |cell: &Cell| {
            let staged = found.iter().find(|it| it.cell == *cell);
            match staged.map_or(0.0, |it| it.all.mean_ns(*stage) / it.mean_ns()) {
                share if share > 0.0 => Entry::Number(share),
                _ => Entry::Nothing,
            }
        };
        [Entry::Text(stage.word().into())].into_iter().chain(cells.iter().map(share)).collect()
    };
    (!stages.is_empty()).then(|| Table {
        title: "Shares of the time by stage".into(),
        note: "The stages of an I/O add up to its time exactly. Queue: all waiting for others."
            .into(),
        heads: [head("stage".into(), None)]
            .into_iter()
            .chain(cells.iter().map(|cell| head(cell.name(), Some(Unit::Share))))
            .collect(),
        rows: stages.iter().map(row).collect(),
    })
}
