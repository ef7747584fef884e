//! What a scripted NVMe drive keeps of what happened to it, and which commands it says it knows;
//! both next to what nvme-cli reads.

use super::facts;
use super::health::health_of;
use super::purges::with_scripted;
use crate::guest::PATIENCE;
use crate::support::binary::Laboratory;
use serde_json::Value;
use std::process::Command;

/// The log as nvme-cli reads it: 1 establishes a context and leaves it, 0 reads in it, 2 releases
/// it.
fn by_nvme(node: &str, action: &str) -> String {
    let action = format!("--action={action}");
    let line = ["persistent-event-log", node, &action, "--output-format=json"];
    let output = Command::new("nvme").args(line).output().expect("nvme starts");
    assert!(output.status.success(), "{output:?}");
    // It prints the bitmap of events as if that were text.
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn number(from: &Value, word: &str) -> u64 {
    let text = from[word].to_string();
    text.trim_matches('"').parse().unwrap_or_else(|_| panic!("no {word} in {from}"))
}

/// The log of events: equal to nvme-cli's, with its newest on the screen; a context that somebody
/// else has is left alone; ours is released.
pub fn told() {
    with_scripted(&["keeps_events=1"], |node| {
        let drive = health_of(node);
        let ours = &drive["events"];
        by_nvme(node, "1");
        // It says in plain words which action it takes before it prints JSON.
        let said = by_nvme(node, "0");
        let json = said.find('{').map_or("", |at| &said[at..]);
        let theirs: Value = serde_json::from_str(json).unwrap_or_else(|_| panic!("{said}"));
        assert_eq!(ours["kept"], number(&theirs, "total_num_of_events"), "{ours} {theirs}");
        assert_eq!(ours["power_cycles"], number(&theirs, "power_cycle_count"), "{ours}");
        assert_eq!(ours["power_on_hours"], number(&theirs, "power_on_hours"), "{ours}");
        assert_eq!((&ours["is_whole"], &ours["kept"]), (&true.into(), &905.into()), "{ours}");
        let entries = theirs["list_of_event_entries"].as_array().expect("events");
        // That of Debian 12 leaves out the event with which the log ends, here a power-on.
        let left_out = 905 - entries.len();
        assert!(left_out <= 1, "{} events", entries.len());
        let counts = ours["counts"].as_array().expect("counts");
        for (kind, code) in [
            ("hardware_error", 5),
            ("thermal_excursion", 13),
            ("firmware_commit", 2),
            ("format_start", 7),
            ("format_end", 8),
            ("power_on_or_reset", 4),
        ] {
            let count = counts.iter().find(|row| row["kind"] == kind).map(|row| &row["count"]);
            let code = format!("({code:#x})");
            let is_it =
                |row: &&Value| row["event_type"].as_str().is_some_and(|it| it.ends_with(&code));
            let mut their = entries.iter().filter(is_it).count();
            if code == "(0x4)" {
                their += left_out;
            }
            assert_eq!(count, Some(&Value::from(their)), "{kind}: {ours}");
        }
        assert_eq!(ours["newest"][0]["what"], "an error of media or data", "{ours}");
        // nvme-cli left its context.
        let drive = health_of(node);
        let why = drive["events_unknown"].as_str().expect("a reason");
        assert!(why.contains("left alone") && drive["events"].is_null(), "{drive}");
        assert_eq!(drive["state"], "well", "its wear is known: {drive}");
        by_nvme(node, "0");
        by_nvme(node, "2");
        let said = Laboratory::new().run(["health", node], PATIENCE).expect_status(0).stdout;
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let newest = "an error of media or data (1.00 hours before); its temperature crossed a \
                      threshold (2.00 hours before)";
        assert!(said.contains("905: 1 hardware error") && said.contains(newest), "{said}");
        // Ours was released: another program can establish one.
        by_nvme(node, "1");
        by_nvme(node, "2");
    });
    with_scripted(&[], |node| {
        let before = health_of(node)["wear"]["error_entries"].clone();
        let drive = health_of(node);
        assert_eq!(drive["events"], Value::Null, "it keeps none: {drive}");
        assert_eq!(drive["wear"]["error_entries"], before, "it was not asked: {drive}");
    });
}

/// A command that is missing from the drive's own list is not offered, and refused at once.
pub fn listed_commands() {
    for (lists, purges) in [(1, vec!["nvme-sanitize"]), (2, vec![])] {
        with_scripted(&[&format!("lists_commands={lists}")], |node| {
            let list = facts::list();
            assert_eq!(facts::hold(&list, node), Vec::<String>::new());
            let ours = facts::of_node(&list, node)["nvme"]["purges"].clone();
            assert_eq!(ours, Value::from(purges.clone()));
            if purges.is_empty() {
                let laboratory = Laboratory::new();
                let token = laboratory.token(node);
                let line = ["study", "pts-iops", node, "--quick", "--purge", "nvme-sanitize"];
                let outcome = laboratory.run([&line[..], &["--erase", &token]].concat(), PATIENCE);
                outcome.expect_plain_words();
                assert!(matches!(outcome.status, Some(2..=4)), "{outcome:?}");
                assert!(outcome.stderr.contains("log 05h"), "{outcome:?}");
                assert_eq!(laboratory.run_files(), Vec::<std::path::PathBuf>::new());
            }
        });
    }
}
