//! What is compared: one target, one direction, one engine, and the ratios that are asked of it.

use crate::contestants::{Contestant, Job, SECONDS, best_fio};
use crate::measure::{Measured, Sample, Spread};
use crate::setting::Setting;

/// Alternations of all contestants of a cell.
const ROUNDS: usize = 5;

/// Where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A file of 1 GiB on tmpfs, opened O_DIRECT where the engine can.
    Tmpfs,
    /// A zram device of 1 GiB, filled.
    Zram,
    /// Nowhere: the null engine.
    Nothing,
}

/// A wanted ratio between two contestants of a cell.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    pub mine: &'static str,
    pub theirs: &'static str,
    pub at_least: f64,
}

/// One comparison.
#[derive(Clone, Debug)]
pub struct Cell {
    pub place: Place,
    pub rw: &'static str,
    pub engine: &'static str,
    pub depth: u32,
    pub targets: Vec<Target>,
}

/// Short names of the contestants in [`Target`]s and tables.
const FIO: &str = "fio";
const FIO_BATCHED: &str = "fio, equal batch";
const OURS: &str = "drivelab";
const OURS_BATCHED: &str = "drivelab, equal batch";
const BARE: &str = "our bare loop";
const BARE_FIO: &str = "t/io_uring";

/// All comparisons, in the order of the report; reads first, as writes change what is read.
pub fn all() -> Vec<Cell> {
    // Against fio's default batch, and at equal batch.
    let asked = [
        (Place::Tmpfs, [("psync", 1.2, 1.2), ("libaio", 1.5, 1.0), ("io_uring", 2.0, 1.0)]),
        (Place::Zram, [("psync", 1.1, 1.1), ("libaio", 1.3, 1.1), ("io_uring", 1.8, 1.1)]),
    ];
    let (mut cells, mut writes) = (Vec::new(), Vec::new());
    for (place, factors) in asked {
        for (engine, default_batch, equal_batch) in factors {
            let mut cell = Cell::new(place, "randread", engine);
            cell.ask(default_batch, equal_batch);
            let ours = if cell.is_batched() { OURS_BATCHED } else { OURS };
            cell.targets.push(Target { mine: ours, theirs: BARE, at_least: 0.95 });
            cell.targets.push(Target { mine: BARE, theirs: BARE_FIO, at_least: 0.95 });
            cells.push(cell);
            let mut cell = Cell::new(place, "randwrite", engine);
            cell.ask(1.0, 1.0);
            writes.push(cell);
        }
    }
    cells.push(Cell::new(Place::Tmpfs, "randread", "mmap"));
    for depth in [32, 1] {
        let mut cell = Cell::new(Place::Nothing, "randread", "null");
        cell.depth = depth;
        if depth == 32 {
            cell.targets.push(Target { mine: OURS, theirs: FIO, at_least: 10.0 });
        }
        cells.push(cell);
    }
    cells.extend(writes);
    cells
}

impl Cell {
    fn new(place: Place, rw: &'static str, engine: &'static str) -> Cell {
        let depth = if matches!(engine, "psync" | "mmap") { 1 } else { 32 };
        Cell { place, rw, engine, depth, targets: Vec::new() }
    }

    fn is_batched(&self) -> bool {
        matches!(self.engine, "libaio" | "io_uring")
    }

    fn ask(&mut self, default_batch: f64, equal_batch: f64) {
        if self.is_batched() {
            let ours = OURS_BATCHED;
            self.targets.push(Target { mine: ours, theirs: FIO, at_least: default_batch });
            self.targets.push(Target { mine: ours, theirs: FIO_BATCHED, at_least: equal_batch });
        } else {
            self.targets.push(Target { mine: OURS, theirs: FIO, at_least: default_batch });
        }
    }

    /// What a person calls it.
    pub fn name(&self) -> String {
        let place = match self.place {
            Place::Tmpfs => "tmpfs",
            Place::Zram => "zram",
            Place::Nothing => "no target",
        };
        let direction = if self.rw == "randread" { "random read" } else { "random write" };
        format!("{place}, {direction}, {} QD{}", self.engine, self.depth)
    }

    fn job(&self, setting: &Setting) -> Result<Job, String> {
        let (target, consent) = match self.place {
            Place::Zram => setting.zram()?,
            _ if self.rw == "randwrite" => (setting.file("written"), Vec::new()),
            _ => (setting.file("read"), Vec::new()),
        };
        // What others have written to is not drivelab's to write any more.
        let is_shared = !consent.is_empty() || self.rw != "randwrite";
        let target_of_others =
            if is_shared { target.clone() } else { setting.file("written-by-others") };
        let Cell { rw, engine, depth, .. } = *self;
        Ok(Job { target, target_of_others, rw, engine, depth, consent })
    }

    /// Who takes part, under which short name.
    fn contestants(&self, setting: &Setting, job: &Job) -> Vec<(&'static str, Contestant)> {
        let wants = |name: &str| {
            self.targets.iter().any(|target| target.mine == name || target.theirs == name)
        };
        let batched = self.is_batched();
        let mut list = vec![
            (FIO, best_fio(setting, job, false)),
            (OURS, Contestant::Drivelab { is_batched: false }),
        ];
        if batched {
            list.push((FIO_BATCHED, best_fio(setting, job, true)));
            list.push((OURS_BATCHED, Contestant::Drivelab { is_batched: true }));
        }
        if wants(BARE) {
            list.push((BARE, Contestant::Bare { is_batched: batched }));
        }
        if wants(BARE_FIO) && setting.bare_fio.is_ok() {
            list.push((BARE_FIO, Contestant::BareFio { is_batched: batched }));
        }
        list
    }

    /// Lets the contestants run in turn, several times.
    pub fn measure(self, setting: &Setting) -> CellResult {
        let job = match self.job(setting) {
            Ok(job) => job,
            Err(reason) => return CellResult { cell: self, measured: Vec::new(), reason },
        };
        let list = self.contestants(setting, &job);
        let mut samples: Vec<Vec<Sample>> = vec![Vec::new(); list.len()];
        for round in 0..ROUNDS {
            // Every other round backwards: whoever follows whom changes.
            let mut order: Vec<usize> = (0..list.len()).collect();
            if round % 2 == 1 {
                order.reverse();
            }
            for index in order {
                let sample = list[index].1.run(setting, &job, SECONDS);
                eprintln!("  {:<28} {:>10.0}/s", list[index].1.name(), sample.iops);
                samples[index].push(sample);
            }
        }
        let measured = list.into_iter().zip(samples).map(|((short, contestant), samples)| {
            (short, Measured { name: contestant.name(), samples })
        });
        CellResult { cell: self, measured: measured.collect(), reason: String::new() }
    }
}

/// What came out.
pub struct CellResult {
    pub cell: Cell,
    /// By short name; empty where nothing could be measured.
    pub measured: Vec<(&'static str, Measured)>,
    /// Why nothing was measured.
    pub reason: String,
}

impl CellResult {
    fn of(&self, short: &str) -> Option<&Measured> {
        self.measured.iter().find(|(name, _)| *name == short).map(|(_, measured)| measured)
    }

    /// The ratio that a target is about; `None`: not compared.
    pub fn ratio(&self, target: &Target) -> Option<Spread> {
        Some(self.of(target.mine)?.ratio_to(self.of(target.theirs)?))
    }

    /// Whether the median of some ratio is below its target.
    pub fn is_any_missed(&self) -> bool {
        self.cell
            .targets
            .iter()
            .any(|target| self.ratio(target).is_some_and(|ratio| ratio.median < target.at_least))
    }
}
