//! A block device that several processes use at once: one holds it by the guard's leave, the
//! others join it.

use crate::support::launched::{Group, Launcher};
use crate::support::loop_device::LoopDevice;
use crate::support::machine::{Mount, require_root};
use crate::support::shared_plan::{PASS, STAMP, VERIFY, assert_aligned, gone, says, step, sums};
use std::path::PathBuf;

const BYTES: usize = 4 << 20;
const SHARED: &str = "pattern = \"segments\"\nblock = \"256k\"\nsegments = 4\nlength = \"4MiB\"";

/// A device over a file full of sevens, and the word that gives leave to destroy them.
fn device(launcher: &Launcher) -> (LoopDevice, PathBuf, String) {
    let file = launcher.write("disk", vec![7; BYTES]);
    let device = LoopDevice::attach(&file);
    // What is attached has no serial number: the token ends with the number of the medium.
    let sequence = format!("/sys/block/{}/diskseq", device.name());
    let sequence = std::fs::read_to_string(sequence).expect("the number of the medium");
    let token = format!("{}:{BYTES}:seq-{}", device.name(), sequence.trim());
    (device, file, token)
}

#[test]
fn all_write_and_read_one_device() {
    require_root("all_write_and_read_one_device");
    for ranks in [2, 4] {
        let launcher = Launcher::new();
        let (device, file, token) = device(&launcher);
        let steps = [("write", STAMP), ("read", VERIFY)];
        let steps = steps.map(|(name, how)| step(name, PASS, &format!("{SHARED}\n{how}")));
        launcher.write("plan.toml", format!("seed = 3\n{}", steps.concat()));
        let path = device.path().to_str().expect("UTF-8");
        let line = ["run", "plan.toml", path, "--erase", &token, "--json"];
        // The page cache answers what was just written, which the truth guard does not pass over.
        let outcome = launcher.run(ranks, &line);
        assert!(matches!(outcome.status, Some(0 | 4)), "{outcome:?}");
        let run = launcher.only_run().run;
        for (index, step) in run.steps.iter().enumerate() {
            let verified = if index == 0 { 0 } else { BYTES as u64 / 4096 };
            assert_eq!(sums(step), [64, BYTES as u64, 64, verified, 0], "{ranks}: {step:?}");
            assert_aligned(step, 4);
        }
        assert_eq!(run.begin.processes.len(), ranks as usize);
        drop(device);
        let content = std::fs::read(&file).expect("the file below");
        let block_left = content.chunks(4096).position(|block| block == [7; 4096]);
        assert_eq!(block_left, None, "every block was written by one of them");
        gone(&launcher, &["disk", "plan.toml"]);
    }
}

#[test]
fn of_a_traced_step_the_first_process_takes_apart_what_it_does_itself() {
    require_root("of_a_traced_step_the_first_process_takes_apart_what_it_does_itself");
    let _tracer = Mount::new(&["-t", "tracefs", "nodev"]);
    let launcher = Launcher::new();
    let (device, ..) = device(&launcher);
    let read = step("read", PASS, SHARED).replace("[[steps]]", "[[steps]]\ntrace = true");
    launcher.write("traced.toml", format!("seed = 3\n{read}"));
    let path = device.path().to_str().expect("UTF-8");
    let outcome = launcher.run(2, &["run", "traced.toml", path, "--json"]);
    assert!(matches!(outcome.status, Some(0 | 4)), "{outcome:?}");
    let run = launcher.only_run().run;
    assert_eq!(sums(&run.steps[0])[0], 64, "all four workers read");
    let anatomy = run.steps[0].anatomy.as_ref().expect("what was traced");
    assert_eq!((anatomy.refused.as_deref(), anatomy.stamped), (None, 32), "{anatomy:?}");
    assert!(run.warnings.iter().any(|warning| warning.code == "traced_in_one"));
    drop(device);
    gone(&launcher, &["disk", "traced.toml"]);
}

#[test]
fn without_its_word_a_device_stays_as_it_is() {
    require_root("without_its_word_a_device_stays_as_it_is");
    let launcher = Launcher::new();
    let (device, file, token) = device(&launcher);
    let path = device.path().to_str().expect("UTF-8").to_string();
    let write = ["run", &path, "--rw", "write", "--workers", "2", "--passes", "1"];
    let outcome = launcher.run(2, &write).expect_status(3);
    says(&outcome, &["refused", &path]);
    assert!(outcome.stderr.contains(&format!("--erase {token}")), "{}", outcome.stderr);
    let wrong = [&write[..], &["--erase", "loop99:1"]].concat();
    launcher.run(2, &wrong).expect_status(3);
    // One of them alone has the word: they were not started alike.
    let right = [&write[..], &["--erase", &token]].concat();
    let directory = launcher.work();
    for lines in [[&write[..], &right], [&right, &write]] {
        let groups = lines.map(|line| Group { ranks: 1, directory, line });
        launcher.run_groups(&groups).expect_status(2);
    }
    // Reading needs no word.
    let read = ["run", &path, "--rw", "read", "--workers", "2", "--passes", "1", "--json"];
    let read = launcher.run(2, &read);
    assert!(matches!(read.status, Some(0 | 4)), "{read:?}");
    assert_eq!(std::fs::read(&file).expect("the file below"), vec![7; BYTES]);
    gone(&launcher, &["disk"]);
}

#[test]
fn a_device_that_one_of_them_finds_to_be_another_is_refused() {
    require_root("a_device_that_one_of_them_finds_to_be_another_is_refused");
    let launcher = Launcher::new();
    let (first, second) = (launcher.work().join("first"), launcher.work().join("second"));
    let devices = [&first, &second].map(|directory| {
        std::fs::create_dir(directory).expect("a directory");
        let file = directory.join("file");
        std::fs::write(&file, vec![7; BYTES]).expect("a file");
        let device = LoopDevice::attach(&file);
        // The same word leads each of them to a device of its own.
        std::os::unix::fs::symlink(device.path(), directory.join("disk")).expect("a link");
        (device, file)
    });
    let token = format!("{}:{BYTES}", devices[0].0.name());
    let line = ["run", "disk", "--rw", "write", "--workers", "2", "--erase", &token];
    let groups = [&first, &second].map(|directory| Group { ranks: 1, directory, line: &line });
    let outcome = launcher.run_groups(&groups);
    assert!(matches!(outcome.status, Some(2 | 3)), "{outcome:?}");
    for (_, file) in &devices {
        assert_eq!(std::fs::read(file).expect("the file below"), vec![7; BYTES]);
    }
}
