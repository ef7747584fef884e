//! States of simulated drives that are kept for the next time: they change no result.

use serde_json::Value;
use std::fs::File;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, SystemTime};

/// Large enough that its state is kept.
const DRIVE: &str = "sim:pblaze5-c916,capacity=64GiB,state=steady";

struct User {
    home: tempfile::TempDir,
}

impl User {
    fn new() -> User {
        User { home: tempfile::tempdir().unwrap() }
    }

    /// The result of a short run, without what differs from run to run.
    fn measured(&self, cache: &str) -> Value {
        let load = ["--rw", "randwrite", "--bs", "4k", "--depth", "32", "--operations", "50000"];
        let output = Command::new(env!("CARGO_BIN_EXE_drivelab"))
            .args(["run", DRIVE, "--seed", "7", "--json"])
            .args(load)
            .current_dir(self.home.path())
            .env("XDG_DATA_HOME", self.home.path().join("data"))
            .env("XDG_CACHE_HOME", self.home.path().join("cache"))
            .env("DRIVELAB_CACHE", cache)
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let mut value: Value = serde_json::from_slice(&output.stdout).expect(&errors);
        let run = value.as_object_mut().unwrap();
        assert!(run.remove("run").is_some() && run.remove("started_at").is_some());
        value
    }

    fn states(&self) -> Vec<PathBuf> {
        let directory = self.home.path().join("cache/drivelab/states");
        let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    }
}

#[test]
fn a_state_is_kept_and_changes_no_result() {
    let user = User::new();
    let without = user.measured("off");
    assert_eq!(user.states(), [] as [PathBuf; 0], "nothing is kept where that is off");
    let first = user.measured("");
    let [kept] = user.states().try_into().unwrap();
    let bytes = std::fs::read(&kept).unwrap();
    assert!(bytes.len() > 1 << 20 && bytes.len() < 4 << 20, "{}", bytes.len());
    let second = user.measured("");
    assert_eq!((&first, &second), (&without, &without));

    // What was damaged, cut off or is of somebody else is computed again and replaced.
    let mut damaged = bytes.clone();
    damaged[bytes.len() / 2] ^= 4;
    for foreign in [damaged, bytes[..bytes.len() / 2].to_vec(), b"not ours".to_vec(), Vec::new()] {
        std::fs::write(&kept, &foreign).unwrap();
        assert_eq!(user.measured(""), without);
        assert_eq!(std::fs::read(&kept).unwrap(), bytes);
    }
    std::fs::write(&kept, "not ours").unwrap();
    assert_eq!(user.measured("off"), without);
    assert_eq!(std::fs::read(&kept).unwrap(), b"not ours", "nothing is written where that is off");
}

#[test]
fn all_states_together_are_bounded_and_the_least_recently_used_go_first() {
    let user = User::new();
    let directory = user.home.path().join("cache/drivelab/states");
    std::fs::create_dir_all(&directory).unwrap();
    for (age, name) in ["a.state", "b.state", "c.part-1", "d.state", "e.state"].iter().enumerate() {
        let file = File::create(directory.join(name)).unwrap();
        file.set_len(250 << 20).unwrap();
        let used = SystemTime::now() - Duration::from_secs(1000 * (age as u64 + 1));
        file.set_modified(used).unwrap();
    }
    std::fs::write(directory.join("note.txt"), "not a state").unwrap();
    user.measured("");
    let names: Vec<String> = user
        .states()
        .iter()
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names.len(), 6, "{names:?}");
    assert!(!names.contains(&"e.state".to_owned()), "the oldest is gone: {names:?}");
    assert!(names.contains(&"note.txt".to_owned()), "what is no state stays: {names:?}");
}
