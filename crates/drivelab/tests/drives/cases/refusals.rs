//! What is refused, and that nothing was written.

use crate::guest::{PATIENCE, node, sysfs};
use crate::support::binary::{Laboratory, must};
use std::fs;

/// The whole of a drive: what it held must be there afterwards.
fn digest(node: &str) -> String {
    must("sha256sum", [node])
}

/// No write without the token, and none with that of another drive.
pub fn tokens() {
    let names = ["first", "second", "coarse", "paths", "sata", "scsi", "virtio", "stick", "card"];
    let laboratory = Laboratory::new();
    let tokens: Vec<String> = names.iter().map(|name| laboratory.token(&node(name))).collect();
    for (at, name) in names.iter().enumerate() {
        let node = node(name);
        let before = sysfs(name, "stat");
        let others = tokens.iter().enumerate().filter(|(other, _)| *other != at);
        for (_, token) in others {
            assert_ne!(*token, tokens[at], "{name}: two drives have one token");
            let line = ["run", &node, "--rw", "randwrite", "--bs", "4k", "--operations", "1"];
            let line = [&line[..], &["--erase", token]].concat();
            laboratory.run(line, PATIENCE).expect_status(3);
        }
        assert_eq!(written(&before), written(&sysfs(name, "stat")), "{name}");
        let line = ["run", &node, "--rw", "randwrite", "--bs", "4k", "--operations", "10"];
        let outcome = laboratory.run([&line[..], &["--erase", &tokens[at]]].concat(), PATIENCE);
        assert!(matches!(outcome.status, Some(0 | 4)), "{name}: {outcome:?}");
    }
}

/// Writes completed, by the kernel's own account.
fn written(stat: &str) -> Option<&str> {
    stat.split_whitespace().nth(4)
}

/// D5: a host-managed drive takes no load that writes out of order; reads go on.
pub fn zones() {
    let node = node("zones");
    let laboratory = Laboratory::new();
    let before = digest(&node);
    let line = ["study", "trim", &node, "--quick"];
    let outcome = laboratory.run(line, PATIENCE).expect_status(2);
    assert!(outcome.stderr.contains("host-managed zoned drive"), "{outcome:?}");
    assert!(!outcome.stderr.contains("--erase"), "no token for it: {outcome:?}");
    let line = ["run", &node, "--rw", "write", "--bs", "4k", "--operations", "10"];
    laboratory.run(line, PATIENCE).expect_status(3);
    assert_eq!(digest(&node), before);
    let line = ["run", &node, "--rw", "randread", "--bs", "4k", "--operations", "100"];
    let outcome = laboratory.run(line, PATIENCE);
    assert!(matches!(outcome.status, Some(0 | 4)), "{outcome:?}");
}

/// D6: the driver was given no poll queues.
pub fn not_polled() {
    let node = node("first");
    assert_eq!(sysfs("first", "queue/io_poll"), "0");
    let laboratory = Laboratory::new();
    let line = ["run", &node, "--rw", "randread", "--bs", "4k", "--operations", "500"];
    let outcome = laboratory.run([&line[..], &["--iopoll", "--json"]].concat(), PATIENCE);
    let json = outcome.json();
    let is_told = |code: &str| {
        let all = json["warnings"].as_array().expect("warnings");
        all.iter().any(|warning| warning["code"] == code)
    };
    assert!(is_told("not_polled"), "{json}");
    let plain = laboratory.run([&line[..], &["--json"]].concat(), PATIENCE);
    assert!(!plain.stdout.contains("not_polled"), "{plain:?}");
    assert!(fs::metadata(laboratory.data()).is_ok());
}
