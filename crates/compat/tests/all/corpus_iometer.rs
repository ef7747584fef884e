//! Iometer's files and command lines, and what is made of each: plan, notes or refusal.
//!
//! The snapshots are next to the files; `UPDATE_EXPECT=1 cargo test` writes them again. Each is to
//! be what Iometer really does.

use drivelab_compat::front::{Asked, Found, Host, Scale, World};
use drivelab_compat::iometer;
use drivelab_core::facts::TargetKind;
use drivelab_core::plan_text;
use drivelab_core::validate::{Geometry, validate};
use expect_test::expect_file;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// An X25-M, and what is mounted next to it.
const DRIVE_BYTES: u64 = 80_026_361_856;
const READY_BYTES: u64 = 1 << 30;

struct Laboratory {
    size: Scale,
    time: Scale,
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

impl World for Laboratory {
    fn found(&self, path: &str) -> Found {
        match path {
            "/dev/sdb" | "/dev/sda" => Found::Device { bytes: DRIVE_BYTES },
            "sim:x25-m" => Found::Simulated { bytes: DRIVE_BYTES },
            "/mnt/x" | "/mnt/ready" | "/mnt/ready/" => Found::Directory,
            "/mnt/ready/iobw.tst" => Found::File { bytes: READY_BYTES },
            "/data/scratch.img" => Found::File { bytes: READY_BYTES },
            "/proc/kcore" => Found::Unusable("it is not ours to measure".into()),
            _ => Found::Absent,
        }
    }

    fn text(&self, path: &str) -> Result<String, String> {
        let path = corpus().join("iometer").join(path);
        std::fs::read_to_string(path).map_err(|_| "no such file".to_owned())
    }

    fn variable(&self, _: &str) -> Option<String> {
        None
    }

    fn host(&self) -> Host {
        Host { name: "lab".into(), cpus: 4, ..Host::default() }
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
    let mut found = Vec::new();
    for (index, part) in line.split('"').enumerate() {
        match index % 2 {
            0 => found.extend(part.split_whitespace().map(String::from)),
            _ => found.push(part.to_owned()),
        }
    }
    found
}

/// A line of the list: the world that it is typed in, and the words behind the tool's name.
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
    assert_eq!(words.remove(0), "iometer");
    (world, words)
}

/// What a plan must fit on the targets of this laboratory.
fn geometry(target: &str) -> Geometry {
    let (kind, file_bytes) = match target {
        "sim:x25-m" => (TargetKind::Simulated, Some(DRIVE_BYTES)),
        "/data/scratch.img" => (TargetKind::File, Some(READY_BYTES)),
        _ if target.starts_with("/mnt") => (TargetKind::Directory, None),
        _ => (TargetKind::BlockDevice, Some(DRIVE_BYTES)),
    };
    Geometry {
        kind,
        file_bytes,
        logical_block_bytes: 512,
        lacks_page_cache: true,
        memory_bytes: Some(1 << 34),
    }
}

/// What is made of one line, in words.
fn made_of(line: &str) -> String {
    let (world, words) = typed(line);
    let mut text = format!("$ {line}\n");
    match iometer::parse(&words, &world) {
        Err(refusal) => {
            assert!(!refusal.text.is_empty() && !refusal.advice.is_empty(), "{line}");
            text += &format!("refused with status {}:\n", refusal.status);
            text += &format!("  {}\n  {}\n", refusal.text, refusal.advice);
        }
        Ok(Asked::Text(help)) => text += &help,
        Ok(Asked::Run { job, options }) => {
            text += &format!("target {}, results {}\n", job.target, options.results);
            for note in &job.notes {
                text += &format!("{} ({:?}) {note}\n", note.code, note.treatment);
            }
            let rendered = plan_text::render(&job.plan);
            text += &format!("\n{rendered}");
            let again = plan_text::parse(&rendered, "plan.toml").unwrap();
            assert_eq!(again, job.plan, "{line}");
            validate(&job.plan, &geometry(&job.target)).unwrap_or_else(|problems| {
                panic!("{line}\n{problems:#?}\n{rendered}");
            });
        }
    }
    text
}

#[test]
fn every_file_is_understood_or_refused_by_name() {
    let list = std::fs::read_to_string(corpus().join("iometer.txt")).unwrap();
    let entries = std::fs::read_dir(corpus().join("iometer")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let files = names.filter_map(|name| name.strip_suffix(".icf").map(String::from));
    let mut made: BTreeMap<String, Vec<String>> =
        files.map(|file| (file, Vec::new())).chain([("lines".into(), Vec::new())]).collect();
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        let is_named = |name: &&String| line.contains(&format!(" {name}.icf"));
        let name = made.keys().find(is_named).cloned().unwrap_or_else(|| "lines".into());
        made.get_mut(&name).unwrap().push(made_of(line));
    }
    for (name, texts) in made {
        assert!(!texts.is_empty(), "no line uses {name}.icf");
        let path = corpus().join("iometer").join(format!("{name}.plan"));
        expect_file![path].assert_eq(&texts.join("\n"));
    }
}
