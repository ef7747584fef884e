//! What is refused, and that nothing was written.

use super::zones::told;
use crate::guest::{PATIENCE, by_two, node, sysfs};
use crate::support::binary::Laboratory;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Mutex;

const NAMES: [&str; 9] =
    ["first", "second", "coarse", "paths", "sata", "scsi", "virtio", "stick", "card"];
/// Two namespaces of one serial number and size, a drive with a serial number, one without.
const FEW: [&str; 4] = ["first", "second", "sata", "stick"];

/// No write without the token, none with that of the next drive; one with its own.
pub fn tokens() {
    let tokens = tokens_of(&FEW);
    by_two(&numbers(&FEW), |at| {
        let next = &tokens[(at + 1) % tokens.len()];
        expect_refused(&Laboratory::new(), FEW[*at], &[next]);
        expect_written(FEW[*at], &tokens[*at]);
    });
}

/// None with that of any other drive; one with its own.
pub fn tokens_of_others() {
    let tokens = tokens_of(&NAMES);
    by_two(&numbers(&NAMES), |at| {
        let others = tokens.iter().enumerate().filter(|(other, _)| other != at);
        let others: Vec<&String> = others.map(|(_, token)| token).collect();
        assert_eq!(others.len(), NAMES.len() - 1);
        expect_refused(&Laboratory::new(), NAMES[*at], &others);
        expect_written(NAMES[*at], &tokens[*at]);
    });
}

fn numbers(names: &[&str]) -> Vec<usize> {
    (0..names.len()).collect()
}

fn tokens_of(names: &[&str]) -> Vec<String> {
    let tokens = Mutex::new(BTreeMap::new());
    by_two(&numbers(names), |at| {
        let token = Laboratory::new().token(&node(names[*at]));
        tokens.lock().unwrap().insert(*at, token);
    });
    let tokens: Vec<String> = tokens.into_inner().unwrap().into_values().collect();
    assert_eq!(tokens.iter().collect::<BTreeSet<_>>().len(), names.len(), "{tokens:?}");
    tokens
}

fn expect_written(name: &str, token: &str) {
    let node = node(name);
    let line = ["run", &node, "--rw", "randwrite", "--bs", "4k", "--operations", "10"];
    let outcome = Laboratory::new().run([&line[..], &["--erase", token]].concat(), PATIENCE);
    assert!(matches!(outcome.status, Some(0 | 4)), "{node}: {outcome:?}");
}

fn expect_refused(laboratory: &Laboratory, name: &str, tokens: &[&String]) {
    let (node, before) = (node(name), sysfs(name, "stat"));
    for token in tokens {
        let line = ["run", &node, "--rw", "randwrite", "--bs", "4k", "--operations", "1"];
        let line = [&line[..], &["--erase", token]].concat();
        laboratory.run(line, PATIENCE).expect_status(3);
    }
    assert_eq!(written(&before), written(&sysfs(name, "stat")), "{name}");
}

/// Writes completed, by the kernel's own account.
fn written(stat: &str) -> Option<&str> {
    stat.split_whitespace().nth(4)
}

/// D5: a host-managed drive takes no load that writes out of order; reads go on.
pub fn zones() {
    let node = node("zones");
    let laboratory = Laboratory::new();
    // Write pointers and conditions, which a write or a reset would have moved.
    let state = || (told(&node), written(&sysfs("zones", "stat")).map(str::to_owned));
    let before = state();
    let line = ["study", "trim", &node, "--quick"];
    let outcome = laboratory.run(line, PATIENCE).expect_status(2);
    assert!(outcome.stderr.contains("host-managed zoned drive"), "{outcome:?}");
    assert!(!outcome.stderr.contains("--erase"), "no token for it: {outcome:?}");
    let line = ["run", &node, "--rw", "write", "--bs", "4k", "--operations", "10"];
    laboratory.run(line, PATIENCE).expect_status(3);
    assert_eq!(state(), before);
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
