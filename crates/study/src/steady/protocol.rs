//! The loads of the review of the PBlaze5 C916 behind XFS, and what it published.

use super::{Cell, Load, SETTLED_LOAD, cell};
use crate::experiment::Setting;
use crate::experiment::published::{self, Held};
use drivelab_core::findings::Table;
use drivelab_core::plan::Files;
use drivelab_core::quantity::operations;
use drivelab_core::run::Run;
use drivelab_core::study::Protocol;
use drivelab_core::summary::Summary;

/// Figures further above than this share of the published bound are missed.
const NEAR: f64 = 0.1;
/// Where they stand.
const SOURCE: &str = "the review's last chart";

/// 128 KiB in order, 256 at once.
pub const IN_ORDER: [Cell; 2] = [
    cell("sequential read", 100, Load::InOrder(256)),
    cell("sequential write", 0, Load::InOrder(256)),
];

/// 4 KiB at random by eight jobs of 64, and the load by which the drive settled.
pub const AT_RANDOM: [Cell; 3] = [
    cell("random read 8×64", 100, Load::Jobs { workers: 8, depth: 64, files: Files::One }),
    cell("random write 8×64", 0, Load::Jobs { workers: 8, depth: 64, files: Files::One }),
    cell(SETTLED_LOAD, 0, Load::Deep(32)),
];

/// As many requests, by as many jobs as there are files.
pub const FILES: [Cell; 2] = [
    cell(
        "random read 4×128, one file",
        100,
        Load::Jobs { workers: 4, depth: 128, files: Files::One },
    ),
    cell(
        "random read 4×128, a file each",
        100,
        Load::Jobs { workers: 4, depth: 128, files: Files::Each },
    ),
];

/// What is published of each drive under this protocol: load, operations a second at least.
const PUBLISHED: [(&str, &str, f64); 2] = [
    ("pblaze5-c916", AT_RANDOM[0].name, 850_000.0),
    ("pblaze5-c916", AT_RANDOM[1].name, 200_000.0),
];

/// Whether its loads are asked for.
pub fn is_asked(setting: &Setting<'_>) -> bool {
    setting.options.protocol == Some(Protocol::Pblaze5)
}

/// What is done otherwise than in the review.
pub const DEVIATION: &str = "The review first wrote for three hours sequentially and for three \
                             hours at random. Here the target is written sequentially, twice if \
                             the budget allows it, and at random until the steady state is proved.";

/// What was published of a simulated drive, with what it does here. The figures are of the steady
/// state: where that `is_unproved`, and why, they are not compared.
pub fn beside(run: &Run, summary: &Summary, is_unproved: Option<String>) -> Option<Table> {
    let target = run.begin.target.as_str();
    let drive = target.strip_prefix("sim:")?.split(',').next()?;
    let held = |&(of, load, bound): &(&str, &str, f64)| {
        let cell = summary.cells.iter().find(|cell| cell.name == load && of == drive)?;
        let sound = cell.valid != Some(false);
        let here = cell.streams.first()?.total.iops.filter(|_| sound)?.value;
        let ratio = here / bound;
        Some(Held {
            figure: load.into(),
            here: operations(here),
            published: format!("over {}", operations(bound)),
            ratio,
            is_hit: (1.0..=1.0 + NEAR).contains(&ratio),
            is_fitted: true,
            source: SOURCE,
        })
    };
    let held = PUBLISHED.iter().filter_map(held).collect();
    let state = run.begin.state.as_deref().unwrap_or("unknown");
    let why = published::unlike(target, state, None).or(is_unproved);
    published::table(
        held,
        why.as_deref(),
        "\"over\" is taken for up to 10 % more; what is further above is a miss.",
        "The review measured through XFS, and no file system is simulated.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::sample::play;
    use crate::experiment::tests::{options, simulated};
    use crate::steady::STUDY;
    use drivelab_core::findings::{Entry, Findings};
    use drivelab_core::units::{Size, Span};

    fn told(target: &str, rate: f64) -> Findings {
        told_of(target, rate, 210_000.0, 64 << 30)
    }

    /// `settled`: the rate at which the load that had settled runs as a cell.
    fn told_of(target: &str, rate: f64, settled: f64, budget: u64) -> Findings {
        let mut options = options("steady");
        options.protocol = Some(Protocol::Pblaze5);
        options.bytes = 256 << 20;
        options.budget = Size(budget);
        options.time = Span(3_600_000_000_000);
        let facts = simulated();
        let setting = Setting { options: &options, facts: &facts };
        let mut run = play(&STUDY, &setting, "fresh", &|name: &str, _| match name {
            "random read 8×64" => rate,
            SETTLED_LOAD => settled,
            _ => 210_000.0,
        });
        run.begin.target = target.into();
        STUDY.judged(&setting, &run)
    }

    fn judged(findings: &Findings) -> Vec<String> {
        let table = findings.tables.iter().find(|table| table.title == published::TITLE);
        let word = |row: &Vec<Entry>| match &row[4] {
            Entry::Text(text) => text.clone(),
            _ => String::new(),
        };
        table.map_or_else(Vec::new, |table| table.rows.iter().map(word).collect())
    }

    #[test]
    fn what_is_far_above_an_over_is_a_miss_and_a_scaled_drive_is_not_judged() {
        assert_eq!(judged(&told("sim:pblaze5-c916", 900_000.0)), ["hit, fitted", "hit, fitted"]);
        assert_eq!(judged(&told("sim:pblaze5-c916", 1_710_000.0)), ["miss, fitted", "hit, fitted"]);
        assert_eq!(judged(&told("sim:pblaze5-c916", 840_000.0)), ["miss, fitted", "hit, fitted"]);
        let scaled = judged(&told("sim:pblaze5-c916,capacity=4GiB", 900_000.0));
        assert_eq!(scaled, ["not comparable"; 2]);
        assert_eq!(judged(&told("sim:textbook", 900_000.0)), [] as [&str; 0]);
    }

    #[test]
    fn where_the_steady_state_is_not_proved_nothing_is_compared_with_its_figures() {
        let strays = told_of("sim:pblaze5-c916", 900_000.0, 100_000.0, 64 << 30);
        let is_short = told_of("sim:pblaze5-c916", 900_000.0, 210_000.0, 1 << 30);
        let is_part = told_of("sim:pblaze5-c916", 900_000.0, 210_000.0, 256 << 20);
        for findings in [strays, is_short, is_part] {
            assert_eq!(judged(&findings), ["not comparable"; 2], "{findings:?}");
            let table = findings.tables.iter().find(|it| it.title == published::TITLE).unwrap();
            assert!(table.note.starts_with("Not compared, because"), "{table:?}");
            assert!(!table.note.contains(" hit"), "{}", table.note);
        }
    }

    #[test]
    fn its_loads_take_the_place_of_the_others_and_it_says_what_is_otherwise() {
        let findings = told("sim:pblaze5-c916", 900_000.0);
        let names: Vec<&str> = findings.figures.iter().map(|it| it.name.as_str()).collect();
        let expected = ["sequential read", "sequential write", "random read 8×64"];
        assert_eq!(names[..3], expected);
        assert!(findings.deviations.iter().any(|text| text == DEVIATION), "{findings:?}");
        let said = "At random it reads 900k IOPS and writes 210k IOPS.";
        assert!(findings.verdict.iter().any(|text| text == said), "{:?}", findings.verdict);
    }
}
