//! `files`, `ior` and `meta`: batteries on simulated drives and on file systems that are there.

use crate::cli_user::{User, said};
use serde_json::Value;

fn study(user: &User, name: &str, target: &str, more: &[&str]) -> Value {
    let line = [&["study", name, target, "--seed", "7", "--json"], more].concat();
    let found = user.types(&line);
    assert!(matches!(found.status, Some(0 | 4)), "{} {}", found.out, found.err);
    found.json()
}

fn cell(json: &Value, name: &str) -> Value {
    let cells = json["findings"]["comparison"]["cells"].as_array().unwrap();
    let found = cells.iter().find(|cell| cell["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {cells:?}")).clone()
}

fn ratio(json: &Value, name: &str) -> f64 {
    cell(json, name)["ratio"]["value"].as_f64().unwrap()
}

#[test]
fn files_tells_ways_that_matter_from_ways_that_do_not() {
    let user = User::new();
    // A budget for files of 32 MiB.
    let few = ["--quick", "--budget", "3GiB"];
    let json = study(&user, "files", "sim:textbook,capacity=256MiB", &few);
    assert!(said(&json, "verdict").contains("The way matters"), "{}", json["findings"]);
    // Small reads in order are read ahead, 128 KiB at a time; at random each waits for the flash.
    assert!(ratio(&json, "random read IOPS 4 KiB") < 0.1);
    assert_eq!(cell(&json, "random read IOPS 4 KiB")["verdict"], "changed");
    // Large records are many requests each, wherever they lie.
    for way in ["random read", "backward read", "strided read", "reread", "random write"] {
        let name = format!("{way} 16 MiB");
        let found = cell(&json, &name);
        assert!((ratio(&json, &name) - 1.0).abs() < 0.02, "{found}");
        assert_ne!(found["verdict"], "changed", "{found}");
    }
    assert_eq!(json["findings"]["tables"][0]["rows"].as_array().unwrap().len(), 13);
    assert_eq!(json["findings"]["tables"][1]["rows"].as_array().unwrap().len(), 4);
}

#[test]
fn files_holds_each_way_against_its_order_on_a_file_system() {
    let user = User::new();
    let json = study(&user, "files", ".", &["--quick", "--size", "64MiB", "--time", "40s"]);
    let rows = json["findings"]["tables"][0]["rows"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row[0].as_str().unwrap()).collect();
    assert_eq!((names[0], names[7], names[12]), ("write", "record rewrite", "freread"));
    assert_eq!(user.listing(), [""; 0], "scratch was left behind");
    let written: u64 = json["steps"].as_array().unwrap().iter().map(written_bytes).sum();
    assert!(written <= 10 << 30, "{written}");
}

fn written_bytes(step: &Value) -> u64 {
    step["streams"][0]["write"]["bytes"].as_u64().unwrap_or(0)
}

#[test]
fn ior_finds_what_one_file_for_all_changes_and_finds_nothing_where_nothing_is() {
    let user = User::new();
    // Regions far apart cost the arm of a disk its way; blocks that take turns do not.
    let disk = study(&user, "ior", "sim:momentus-7200,capacity=1GiB", &["--quick"]);
    let name = "read 64 KiB in 4 KiB";
    assert!(ratio(&disk, name) > 1.2, "{}", cell(&disk, name));
    assert!(said(&disk, "verdict").contains("one file for all is faster"), "{}", disk["findings"]);
    let flash = study(&user, "ior", "sim:textbook,capacity=512MiB", &["--quick"]);
    let verdict = said(&flash, "verdict");
    assert!(!verdict.is_empty() && !verdict.contains("than a file each ("), "{verdict}");
    for name in ["read 64 KiB in 4 KiB", "read 1 MiB in 256 KiB"] {
        assert_eq!(cell(&flash, name)["verdict"], "equivalent", "{}", cell(&flash, name));
    }
    let table = &flash["findings"]["tables"][0];
    assert_eq!(table["rows"].as_array().unwrap().len(), 8);
}

#[test]
fn ior_gives_each_worker_its_file_in_a_directory() {
    let user = User::new();
    let json = study(&user, "ior", ".", &["--quick", "--size", "256MiB", "--time", "30s"]);
    let cells = json["findings"]["comparison"]["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 4, "{cells:?}");
    assert_eq!(user.listing(), [""; 0], "scratch was left behind");
}

#[test]
fn meta_knows_what_durable_names_cost() {
    let rate = |user: &User| {
        let json = study(user, "meta", ".", &["--quick", "--time", "12s"]);
        let steps = json["steps"].as_array().unwrap();
        // Of the quickest step: others use this machine too.
        let of = |step: &str, word: &str| {
            let mine = steps.iter().filter(|it| it["name"] == step);
            let means = mine.filter_map(|it| it["streams"][0][word]["service_ns"]["mean"].as_f64());
            means.fold(f64::INFINITY, f64::min)
        };
        assert_eq!(user.listing(), [""; 0], "scratch was left behind");
        of("durable names, 1 worker", "flush") / of("names, 1 worker", "stat")
    };
    // In memory an fsync has nothing to do but open the name; on a disk it waits for the journal.
    let (in_memory, on_disk) = (rate(&User::new()), rate(&User::on_disk()));
    assert!(in_memory > 0.1 && in_memory < 30.0, "{in_memory}");
    assert!(on_disk.is_finite() && on_disk > 3.0 * in_memory, "{on_disk} against {in_memory}");
}

#[test]
fn meta_holds_batches_against_calls() {
    let user = User::new();
    let json = study(&user, "meta", ".", &["--quick", "--time", "20s"]);
    let steps = json["steps"].as_array().unwrap();
    let batches = steps.iter().filter(|step| step["name"] == "names in batches, 1 worker");
    let batches: Vec<&Value> = batches.collect();
    if json["findings"]["not_applicable"].is_array() {
        assert!(batches.is_empty());
        return;
    }
    assert_eq!(batches.len(), 5);
    let names = &batches[0]["streams"][0]["create"]["ops"];
    for kind in ["create", "stat", "unlink"] {
        assert_eq!(&batches[0]["streams"][0][kind]["ops"], names, "all made, found, removed");
        assert_eq!(batches[0]["streams"][0][kind]["errors"], 0);
    }
    let verdict = said(&json, "verdict");
    // On a machine that drifts the comparison is left out, and both say why.
    let drifted = said(&json, "suspect");
    let is_left_out = drifted.contains("names, 1 worker:") || drifted.contains("names in batches");
    let is_compared = verdict.contains("Batches of 32 by io_uring against one call");
    // On one that is noisy no cell tells anything, which is said as such.
    let unknown = said(&json, "unknown");
    let is_open = unknown.contains("What batches of 32 by io_uring against one call");
    assert!(is_compared || is_open || is_left_out, "{verdict} {drifted} {unknown}");
    assert_eq!(user.listing(), [""; 0], "scratch was left behind");
}

#[test]
fn what_has_no_names_is_refused() {
    let user = User::new();
    for (line, says) in [
        (&["study", "meta", "sim:textbook,names_lock=perhaps"][..], "give on or off"),
        (&["study", "files", ".", "--size", "64MiB", "--budget", "64MiB"], "too small for `files`"),
        (&["study", "ior", ".", "--size", "256MiB", "--budget", "64MiB"], "too small for `ior`"),
    ] {
        user.types(line).refused(2, says);
    }
}
