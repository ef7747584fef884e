//! The fuzzers' properties on their seeds and on some thousand mutations of each, so that every
//! test run feeds every parser with nonsense.

#[path = "../../../../fuzz/parsers.rs"]
mod fuzzed;
#[path = "../../../../fuzz/health.rs"]
mod health;
#[path = "../../../../fuzz/lines.rs"]
mod lines;

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

/// Numbers that nobody means: at the ends of what a type holds, and far too many of anything.
const ABSURD: [&str; 12] = [
    "0",
    "-1",
    "1000000",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "18014398509481984k",
    "1e308",
];

/// Puts an absurd number in the place of one of those in `data`.
fn exaggerate(data: &mut Vec<u8>, random: &mut Random) {
    let starts =
        |at: &usize| data[*at].is_ascii_digit() && !(*at > 0 && data[*at - 1].is_ascii_digit());
    let starts: Vec<usize> = (0..data.len()).filter(starts).collect();
    if !starts.is_empty() {
        let begin = starts[random.below(starts.len() as u64) as usize];
        let digits = data[begin..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let absurd = ABSURD[random.below(ABSURD.len() as u64) as usize];
        data.splice(begin..begin + digits, absurd.bytes());
    }
}

/// Changes, removes, repeats or inserts a few bytes, or exaggerates a number.
fn mutate(seed: &[u8], random: &mut Random, kinds: u64) -> Vec<u8> {
    const TELLING: &[u8] = b"0123456789-+.eE{}[]\"',:\n\0\xff\x80 kMGinf";
    let mut data = seed.to_vec();
    for _ in 0..1 + random.below(4) {
        let at = random.below(data.len() as u64 + 1) as usize;
        let end = (at + 1 + random.below(16) as usize).min(data.len());
        match random.below(kinds) {
            0 if at < data.len() => data[at] = random.next_u64() as u8,
            1 if at < data.len() => data[at] = TELLING[random.below(TELLING.len() as u64) as usize],
            2 => data.insert(at, TELLING[random.below(TELLING.len() as u64) as usize]),
            3 => drop(data.drain(at.min(end)..end)),
            5.. => exaggerate(&mut data, random),
            _ => {
                let piece = data[at.min(end)..end].to_vec();
                data.splice(at..at, piece);
            }
        }
    }
    data
}

fn feed(target: &str, parser: fn(&[u8])) {
    feed_kinds(target, parser, 5);
}

/// Command lines, whose numbers are the first thing to be mistyped.
fn feed_line(target: &str, parser: fn(&[u8])) {
    feed_kinds(target, parser, 7);
}

fn feed_kinds(target: &str, parser: fn(&[u8]), kinds: u64) {
    let mut random = Random::new(0x7061_7273);
    for (path, seed) in seeds_of(target) {
        eprintln!("{}", path.display());
        parser(&seed);
        for _ in 0..MUTATIONS_OF_EACH_SEED {
            let data = mutate(&seed, &mut random, kinds);
            // Captured, and shown only if the parser fails.
            eprintln!("{}", String::from_utf8_lossy(&data));
            parser(&data);
        }
    }
}

#[test]
fn quantities() {
    feed("quantities", fuzzed::quantities);
}

#[test]
fn io500() {
    feed_line("io500", lines::io500);
}

#[test]
fn plans() {
    feed("plan", fuzzed::plan);
}

#[test]
fn claims() {
    feed("claims", fuzzed::claims);
}

#[test]
fn simulated() {
    feed("simulated", fuzzed::simulated);
}

#[test]
fn run_files() {
    feed("run_file", fuzzed::run_file);
}

#[test]
fn histograms() {
    feed("histogram", fuzzed::histogram);
}

#[test]
fn signatures() {
    feed("signatures", fuzzed::signatures);
}

#[test]
fn smart_data() {
    feed("smart", health::smart);
}

#[test]
fn device_statistics() {
    feed("statistics", health::statistics);
}

#[test]
fn counts_of_seagate() {
    feed("farm", health::farm);
}

#[test]
fn nvme_logs() {
    feed("nvme_logs", health::nvme_logs);
}

#[test]
fn smartctl() {
    feed("smartctl", health::smartctl);
}

#[test]
fn log_pages() {
    feed("log_pages", health::log_pages);
}

#[test]
fn columns() {
    feed("columns", fuzzed::columns);
}

#[test]
fn fio_json() {
    feed("fio", fuzzed::fio);
}

#[test]
fn stored_logs() {
    feed("stored_log", fuzzed::stored_log);
}

#[test]
fn iologs() {
    feed("iolog", fuzzed::iolog);
}

#[test]
fn blktraces() {
    feed("blktrace", fuzzed::blktrace);
}

#[test]
fn fio_lines() {
    feed_line("fio_lines", lines::fio_lines);
}

#[test]
fn icf_files() {
    feed_line("icf", lines::icf);
}

#[test]
fn traces() {
    feed("trace", fuzzed::trace);
}

#[test]
fn iostat_lines() {
    feed_line("iostat", lines::iostat);
}

#[test]
fn lines_of_all_front_ends() {
    feed_line("front_ends", lines::front_ends);
}

/// Each fuzzer is among these tests, and each test has its fuzzer.
#[test]
fn every_fuzzer_is_fed_here() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let names = |below: &str| -> Vec<String> {
        let entries = std::fs::read_dir(fuzz.join(below)).expect("a directory");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        let stem = |path: PathBuf| path.file_stem().expect("a name").to_string_lossy().into_owned();
        let mut names: Vec<String> = paths.map(stem).collect();
        names.sort();
        names
    };
    let fuzzers = names("fuzz_targets");
    assert_eq!(names("seeds"), fuzzers);
    let cargo = std::fs::read_to_string(fuzz.join("Cargo.toml")).expect("Cargo.toml");
    for name in fuzzers {
        let is_fed = include_str!("parsers.rs").contains(&format!("(\"{name}\", "));
        assert!(is_fed, "{name}");
        assert!(cargo.contains(&format!("name = \"{name}\"\n")), "{name}");
    }
}
