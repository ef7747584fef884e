//! fio's lines and job files, and what is made of each: plan, notes or refusal.
//!
//! The snapshot is next to the lines; `UPDATE_EXPECT=1 cargo test` writes it again. Each entry is
//! to be what fio really does.

use drivelab_compat::fio;
use drivelab_compat::front::{Asked, Found, Host, Job, Scale, World};
use drivelab_core::facts::TargetKind;
use drivelab_core::plan::Plan;
use drivelab_core::plan_text;
use drivelab_core::validate::{Geometry, validate};
use expect_test::expect_file;
use std::path::{Path, PathBuf};

/// A drive that is sold as 3.2 TB.
const DRIVE_BYTES: u64 = 3_200_631_791_616;

struct Laboratory {
    size: Scale,
    time: Scale,
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

impl World for Laboratory {
    fn drawn(&self) -> Option<u64> {
        Some(4711)
    }

    fn found(&self, path: &str) -> Found {
        match path {
            "/dev/sdb" | "/dev/sda" | "/dev/ng0n1" => Found::Device { bytes: DRIVE_BYTES },
            "sim:x25-e" => Found::Simulated { bytes: 32 << 30 },
            "sim:pblaze5-c916" | "sim:pblaze5-c916,state=filled" => {
                Found::Simulated { bytes: DRIVE_BYTES }
            }
            "/mnt/x" | "/nvme0n1" | "/data" | "/var/lib/docker" | "/home/admin" | "n" => {
                Found::Directory
            }
            "/mnt/x/there" => Found::File { bytes: 1 << 30 },
            "/proc/kcore" => Found::Unusable("it is not ours to measure".into()),
            _ => Found::Absent,
        }
    }

    fn is_written(&self, drive: &str) -> bool {
        drive.ends_with("state=filled")
    }

    fn text(&self, path: &str) -> Result<String, String> {
        let path = corpus().join("fio").join(if path == "-" { "comments.fio" } else { path });
        std::fs::read_to_string(path).map_err(|_| "No such file or directory".to_owned())
    }

    fn bytes(&self, path: &str) -> Result<Vec<u8>, String> {
        let path = corpus().join("fio").join(path);
        std::fs::read(path).map_err(|_| "No such file or directory".to_owned())
    }

    fn variable(&self, name: &str) -> Option<String> {
        match name {
            "SIZE" => Some("128m".into()),
            "DIR" => Some("/mnt".into()),
            _ => None,
        }
    }

    fn host(&self) -> Host {
        Host { name: "lab".into(), cpus: 4, memory_bytes: 16 << 30, ..Host::default() }
    }

    fn ranks(&self) -> u32 {
        1
    }

    fn scale(&self) -> Scale {
        self.size
    }

    fn scale_time(&self) -> Scale {
        self.time
    }
}

/// The words of a line; quotes hold words with spaces together.
fn words(line: &str) -> Vec<String> {
    let (mut found, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for letter in line.chars().chain([' ']) {
        match letter {
            '"' => quoted = !quoted,
            ' ' if !quoted => {
                if !word.is_empty() {
                    found.push(std::mem::take(&mut word));
                }
            }
            other => word.push(other),
        }
    }
    found
}

fn typed(line: &str) -> (Laboratory, Vec<String>) {
    let mut world = Laboratory { size: Scale::WHOLE, time: Scale::WHOLE };
    let mut words = words(line);
    while let Some((name, share)) = words[0].split_once('=') {
        let (numerator, denominator) = share.split_once('/').unwrap();
        let parsed = |text: &str| text.parse().unwrap();
        let share = Scale { numerator: parsed(numerator), denominator: parsed(denominator) };
        *(if name == "size" { &mut world.size } else { &mut world.time }) = share;
        words.remove(0);
    }
    assert_eq!(words.remove(0), "fio");
    (world, words)
}

fn assert_valid(line: &str, job: &Job) {
    let nothing = job.plan.steps.iter().flat_map(|step| &step.streams);
    let is_null = nothing.clone().all(|it| !it.engine.reaches_target());
    let (kind, file_bytes) = match job.target.as_str() {
        _ if is_null && nothing.count() > 0 => (TargetKind::Nothing, None),
        "sim:x25-e" => (TargetKind::Simulated, Some(32 << 30)),
        target if target.starts_with("sim:") => (TargetKind::Simulated, Some(DRIVE_BYTES)),
        target if target.starts_with("/dev/") => (TargetKind::BlockDevice, Some(DRIVE_BYTES)),
        _ => (TargetKind::Directory, None),
    };
    let geometry = Geometry {
        kind,
        file_bytes,
        logical_block_bytes: 512,
        lacks_page_cache: true,
        memory_bytes: Some(1 << 34),
    };
    if let Err(problems) = validate(&job.plan, &geometry) {
        panic!("{line}: {problems:?}");
    }
    let text = plan_text::render(&job.plan);
    assert_eq!(plan_text::parse(&text, "plan").unwrap(), job.plan, "{line}");
}

/// A plan in few lines: each step and each stream is one.
fn told(plan: &Plan) -> String {
    const DEFAULTS: [&str; 2] = ["gap_over = \"100ms\"", "until = {}"];
    let mut text = String::new();
    for block in plan_text::render(plan).trim().split("\n\n") {
        let indent = if block.starts_with("[[steps.streams]]") { "    " } else { "  " };
        let says = |line: &&str| !line.starts_with("[[") && !DEFAULTS.contains(line);
        let lines: Vec<&str> = block.lines().filter(says).collect();
        text += &format!("{indent}{}\n", lines.join("; "));
    }
    text
}

fn made_of(line: &str) -> String {
    let (world, words) = typed(line);
    let mut text = format!("$ {line}\n");
    match fio::parse(&words, &world) {
        Err(refusal) => {
            assert!(!refusal.text.is_empty(), "{line}");
            text += &format!("refused with status {}: {}\n", refusal.status, refusal.text);
            text += &format!("  {}\n", refusal.advice);
        }
        Ok(Asked::Text(said)) => {
            text += &format!("says {:?}\n", said.lines().next().unwrap_or_default());
        }
        Ok(Asked::Run { job, options }) => {
            assert_valid(line, &job);
            let stays = if job.keeps { "files stay" } else { "files are removed" };
            text += &format!("target {}, {stays}\n", job.target);
            for note in &job.notes {
                text += &format!("note {} ({:?}) {note}\n", note.code, note.treatment);
            }
            text += &told(&job.plan);
            for section in &options.sections {
                let place = (section.step, section.stream, section.clones, section.verify);
                text += &format!("  shown: {} group {} {place:?}\n", section.name, section.group);
            }
        }
    }
    text + "\n"
}

#[test]
fn every_line_is_what_it_was() {
    let text = std::fs::read_to_string(corpus().join("fio.txt")).unwrap();
    let lines: Vec<&str> =
        text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    assert!(lines.len() >= 100, "{} lines", lines.len());
    let made: String = lines.into_iter().map(made_of).collect();
    expect_file![corpus().join("fio.plans")].assert_eq(&made);
}

#[test]
fn no_words_make_it_panic() {
    let text = std::fs::read_to_string(corpus().join("fio.txt")).unwrap();
    let pieces: Vec<&str> =
        text.split([' ', '\n', '=', ':', ',', '/']).filter(|piece| !piece.is_empty()).collect();
    let mut state = 42u64;
    let mut next = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for _ in 0..20_000 {
        let count = 1 + next(8);
        let word = |next: &mut dyn FnMut(usize) -> usize| {
            let piece = pieces[next(pieces.len())];
            match next(4) {
                0 => format!("--{piece}={}", pieces[next(pieces.len())]),
                1 => format!("-{piece}"),
                2 => format!("--{piece}={}:{}", pieces[next(pieces.len())], next(1000)),
                _ => piece.to_string(),
            }
        };
        let words: Vec<String> = (0..count).map(|_| word(&mut next)).collect();
        let world = Laboratory { size: Scale::WHOLE, time: Scale::WHOLE };
        let _ = fio::parse(&words, &world);
    }
}
