//! The fuzzers' properties on their seeds and on some thousand mutations of each, so that every
//! test run feeds every parser with nonsense.

#[path = "../../../fuzz/parsers.rs"]
mod parsers;

use drivelab_stats::Random;
use std::path::{Path, PathBuf};

const MUTATIONS_OF_EACH_SEED: u64 = 500;

fn seeds_of(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let entries = std::fs::read_dir(&directory).expect("seeds");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    assert!(!files.is_empty(), "no seeds in {}", directory.display());
    files.into_iter().map(|file| (file.clone(), std::fs::read(file).expect("a seed"))).collect()
}

/// Changes, removes, repeats or inserts a few bytes.
fn mutate(seed: &[u8], random: &mut Random) -> Vec<u8> {
    const TELLING: &[u8] = b"0123456789-+.eE{}[]\"',:\n\0\xff\x80 kMGinf";
    let mut data = seed.to_vec();
    for _ in 0..1 + random.below(4) {
        let at = random.below(data.len() as u64 + 1) as usize;
        let end = (at + 1 + random.below(16) as usize).min(data.len());
        match random.below(5) {
            0 if at < data.len() => data[at] = random.next_u64() as u8,
            1 if at < data.len() => data[at] = TELLING[random.below(TELLING.len() as u64) as usize],
            2 => data.insert(at, TELLING[random.below(TELLING.len() as u64) as usize]),
            3 => drop(data.drain(at.min(end)..end)),
            _ => {
                let piece = data[at.min(end)..end].to_vec();
                data.splice(at..at, piece);
            }
        }
    }
    data
}

fn feed(target: &str, parser: fn(&[u8])) {
    let mut random = Random::new(0x7061_7273);
    for (path, seed) in seeds_of(target) {
        eprintln!("{}", path.display());
        parser(&seed);
        for _ in 0..MUTATIONS_OF_EACH_SEED {
            let data = mutate(&seed, &mut random);
            // Captured, and shown only if the parser fails.
            eprintln!("{}", String::from_utf8_lossy(&data));
            parser(&data);
        }
    }
}

#[test]
fn quantities() {
    feed("quantities", parsers::quantities);
}

#[test]
fn plans() {
    feed("plan", parsers::plan);
}

#[test]
fn claims() {
    feed("claims", parsers::claims);
}

#[test]
fn simulated() {
    feed("simulated", parsers::simulated);
}

#[test]
fn run_files() {
    feed("run_file", parsers::run_file);
}

#[test]
fn histograms() {
    feed("histogram", parsers::histogram);
}

#[test]
fn signatures() {
    feed("signatures", parsers::signatures);
}

#[test]
fn columns() {
    feed("columns", parsers::columns);
}

#[test]
fn fio_json() {
    feed("fio", parsers::fio);
}

#[test]
fn iologs() {
    feed("iolog", parsers::iolog);
}

#[test]
fn blktraces() {
    feed("blktrace", parsers::blktrace);
}

#[test]
fn fio_lines() {
    feed("fio_lines", parsers::fio_lines);
}

#[test]
fn icf_files() {
    feed("icf", parsers::icf);
}

#[test]
fn traces() {
    feed("trace", parsers::trace);
}
