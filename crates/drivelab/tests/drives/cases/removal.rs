//! Drives that go away while they are used.

use crate::guest::{PATIENCE, found, node, pull_out, wait_until};
use crate::support::binary::Laboratory;

/// D3: it is the drive that went, not its end that came or a file system that filled.
pub fn pulled() {
    let (first, second, coarse) = (node("first"), node("second"), node("coarse"));
    let (reader, writer, commander) = (Laboratory::new(), Laboratory::new(), Laboratory::new());
    let token = writer.token(&second);
    let load = |rw: &'static str| ["--rw", rw, "--bs", "4k", "--runtime", "60"];
    let mut reads = reader.start([&["run", &first][..], &load("randread")].concat());
    let line = [&["run", &second][..], &load("randwrite"), &["--erase", &token]].concat();
    let mut writes = writer.start(line);
    let line = [&["run", &coarse, "--engine", "io_uring_cmd"][..], &load("randread")].concat();
    let mut commands = commander.start([&line[..], &["--depth", "4"]].concat());
    wait_until("all have begun", || {
        let begun = |laboratory: &Laboratory| {
            let files = laboratory.run_files();
            files.first().is_some_and(|file| {
                std::fs::read_to_string(file).is_ok_and(|text| text.contains("\"tally\""))
            })
        };
        let is_over = reads.has_ended() || writes.has_ended() || commands.has_ended();
        begun(&reader) && begun(&writer) && begun(&commander) || is_over
    });
    assert!(!reads.has_ended(), "{:?}", reads.finish());
    assert!(!writes.has_ended(), "{:?}", writes.finish());
    assert!(!commands.has_ended(), "{:?}", commands.finish());
    pull_out("nvme");
    wait_until("the drive is gone", || found("first").is_none());
    for mut running in [reads, writes, commands] {
        assert!(running.wait(PATIENCE), "no end: {}", running.so_far());
        let outcome = running.finish();
        assert_eq!(outcome.status, Some(4), "{outcome:?}");
        assert!(outcome.stderr.contains("went away while it was used"), "{outcome:?}");
        assert!(!outcome.stderr.contains("file system is full"), "{outcome:?}");
    }
}
