//! drivelab against IOR and mdtest under mpirun, alternately, on tmpfs: the generators' own speed.
//!
//! `make bench-peers` builds hpc/ior of a pinned commit where there is a network, runs this with
//! the directory of its programs, and writes what is printed into docs/BENCHMARKS.md.
#![forbid(unsafe_code)]

mod figures;

use figures::{Figure, median};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Pairs of runs of each line.
const PAIRS: usize = 9;
const PROCESSES: &str = "2";

/// A line that both understand, and what is read from what it prints.
struct Cell {
    name: &'static str,
    tool: &'static str,
    words: &'static str,
    figures: &'static [Figure],
}

const CELLS: [Cell; 4] = [
    Cell {
        name: "mdtest, files",
        tool: "mdtest",
        words: "-F -n 50000 -i 1",
        figures: &[
            Figure::rate("creates", "File creation"),
            Figure::rate("stats", "File stat"),
            Figure::rate("reads", "File read"),
            Figure::rate("removals", "File removal"),
        ],
    },
    Cell {
        name: "mdtest, directories",
        tool: "mdtest",
        words: "-D -n 50000 -i 1",
        figures: &[
            Figure::rate("creates", "Directory creation"),
            Figure::rate("stats", "Directory stat"),
            Figure::rate("removals", "Directory removal"),
        ],
    },
    Cell {
        name: "IOR, 1 MiB, a file each",
        tool: "ior",
        words: "-a POSIX -F -t 1m -b 512m -i 1",
        figures: &[Figure::bandwidth("write", "write "), Figure::bandwidth("read", "read ")],
    },
    Cell {
        name: "IOR, 4 KiB, a file each",
        tool: "ior",
        words: "-a POSIX -F -t 4k -b 256m -i 1",
        figures: &[Figure::bandwidth("write", "write "), Figure::bandwidth("read", "read ")],
    },
];

/// Whose program it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    Theirs,
    Ours,
}

struct Setting {
    theirs: PathBuf,
    scratch: tempfile::TempDir,
}

impl Setting {
    /// Runs one line in a directory of its own and gives the text it printed.
    fn run(&self, cell: &Cell, whose: Whose) -> String {
        let place = tempfile::tempdir_in(self.scratch.path()).expect("a directory on tmpfs");
        let mut command = Command::new("mpirun");
        command.args(["-np", PROCESSES]);
        match whose {
            Whose::Theirs => command.arg(self.theirs.join(cell.tool)),
            Whose::Ours => {
                let runs = place.path().join("runs");
                let program = env!("CARGO_BIN_EXE_drivelab");
                command.args([program, cell.tool, "--notes", "none", "--runs"]).arg(runs)
            }
        };
        command.args(cell.words.split(' '));
        let target = place.path().join("target");
        let option = if cell.tool == "mdtest" { "-d" } else { "-o" };
        let output = command.arg(option).arg(target).current_dir(place.path());
        output.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        let output = output.output().expect("mpirun");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {text}{errors}", cell.name);
        text
    }

    /// Each figure's pairs: theirs and ours.
    fn measure(&self, cell: &Cell) -> Vec<Vec<(f64, f64)>> {
        let mut pairs = vec![Vec::new(); cell.figures.len()];
        for pair in 0..PAIRS {
            let first = if pair % 2 == 0 { Whose::Theirs } else { Whose::Ours };
            let second = if first == Whose::Theirs { Whose::Ours } else { Whose::Theirs };
            let (one, other) = (self.run(cell, first), self.run(cell, second));
            let (theirs, ours) = if first == Whose::Theirs { (one, other) } else { (other, one) };
            for (figure, pairs) in cell.figures.iter().zip(&mut pairs) {
                pairs.push((figure.read(&theirs), figure.read(&ours)));
            }
        }
        pairs
    }
}

fn print_row(cell: &Cell, figure: &Figure, pairs: &[(f64, f64)]) {
    let theirs = median(pairs.iter().map(|pair| pair.0));
    let ours = median(pairs.iter().map(|pair| pair.1));
    let mut ratios: Vec<f64> = pairs.iter().map(|(theirs, ours)| ours / theirs).collect();
    ratios.sort_by(f64::total_cmp);
    let ratio = median(ratios.iter().copied());
    let met = if ratio >= 1.0 { "met" } else { "**MISSED**" };
    println!(
        "| {}: {} | {} | {} | {ratio:.2} [{:.2}–{:.2}] | {met} |",
        cell.name,
        figure.name,
        figure.shown(theirs),
        figure.shown(ours),
        ratios[0],
        ratios[ratios.len() - 1],
    );
}

fn main() {
    let theirs = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let theirs = PathBuf::from(theirs.expect("the directory of ior and mdtest"));
    assert!(theirs.join("mdtest").exists(), "no mdtest in {}", theirs.display());
    let scratch = tempfile::tempdir_in(Path::new("/dev/shm")).expect("a directory on tmpfs");
    let setting = Setting { theirs, scratch };
    println!(
        "IOR and mdtest 4.0.0 (hpc/ior, commit 967a9f65) against drivelab's front ends, which \
         record every latency;\n{PROCESSES} processes on tmpfs, {PAIRS} alternating pairs of runs \
         of each line, the order turned round from pair to pair.\nRates are medians of what each \
         program prints itself; the ratio is the median of the pairs [least–greatest]; goal \
         ≥ 1.00.\n"
    );
    println!("| line | theirs | drivelab | drivelab / theirs | |\n|---|---|---|---|---|");
    for cell in &CELLS {
        eprintln!("{}: {} {}", cell.name, cell.tool, cell.words);
        for (figure, pairs) in cell.figures.iter().zip(setting.measure(cell)) {
            print_row(cell, figure, &pairs);
        }
    }
    println!();
    for cell in &CELLS {
        println!("- {}: `mpirun -np {PROCESSES} {} {}`", cell.name, cell.tool, cell.words);
    }
}
