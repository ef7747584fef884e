//! Names on simulated drives: studies, front ends, and what they say of the model.

use crate::cli_user::User;
use serde_json::Value;

const X25_E: &str = "sim:x25-e";

/// Operations a second of the actions of a run with these keys behind the drive.
fn rates(user: &User, keys: &str, load: &[&str]) -> Value {
    let target = format!("{X25_E}{keys}");
    let line = [&["run", target.as_str()], load, &["--seed", "7", "--json"]].concat();
    user.types(&line).fine().json()
}

fn mean_ns(json: &Value, kind: &str) -> f64 {
    json["steps"][0]["streams"][0][kind]["service_ns"]["mean"].as_f64().unwrap()
}

const LOAD: [&str; 6] = ["--actions", "create,stat,unlink", "--names", "1000", "--passes", "1"];

#[test]
fn calls_that_wait_for_nothing_take_the_time_of_the_cpu() {
    let user = User::new();
    let json = rates(&user, "", &LOAD);
    let streams = &json["steps"][0]["streams"][0];
    for kind in ["create", "stat", "unlink"] {
        assert_eq!((&streams[kind]["ops"], &streams[kind]["errors"]), (&1000.into(), &0.into()));
    }
    assert_eq!(mean_ns(&json, "create"), 17_000.0);
    assert_eq!(mean_ns(&json, "stat"), 1_800.0);
    let warnings = json["warnings"].as_array().unwrap();
    let model = warnings.iter().find(|it| it["code"] == "names_are_modelled").unwrap();
    let text = model["text"].as_str().unwrap();
    for key in ["names_journal=on", "names_commit=5s", "names_stat_ns=1800", "names_cache=1GiB"] {
        assert!(text.contains(key), "{text}");
    }
    let fast = rates(&user, ",names_stat_ns=900", &LOAD);
    assert_eq!(mean_ns(&fast, "stat"), 900.0);
    let text = fast["warnings"].to_string();
    assert!(text.contains("names_stat_ns=900"), "{text}");
}

#[test]
fn a_drive_without_names_has_none() {
    let user = User::new();
    let load = ["--rw", "randwrite", "--bs", "4k", "--operations", "100"];
    let json = rates(&user, "", &load);
    assert!(!json["warnings"].to_string().contains("names_are_modelled"), "{}", json["warnings"]);
}

#[test]
fn equal_seeds_give_equal_names() {
    let user = User::new();
    let load =
        ["--actions", "create,unlink", "--names", "2000", "--workers", "4", "--sync", "fsync:1"];
    let (first, second) = (rates(&user, "", &load), rates(&user, "", &load));
    assert_eq!(first["steps"], second["steps"]);
    // Four workers share commits, and one alone waits for each of its own.
    let alone = rates(&user, "", &["--actions", "create", "--names", "500", "--sync", "fsync:1"]);
    let written = |json: &Value| json["steps"][0]["streams"][0]["create"]["iops"]["value"].as_f64();
    assert!(written(&first) > written(&alone), "{first} {alone}");
}

#[test]
fn metarates_and_mdtest_print_their_tables_of_a_simulated_drive() {
    let user = User::new();
    let line = ["metarates", "-d", X25_E, "-n", "1000", "-C", "-U", "-S", "-u"];
    let metarates = user.types(&line).fine();
    assert!(metarates.err.contains("names_journal=on"), "{}", metarates.err);
    for word in ["create", "stat", "utime"] {
        assert!(metarates.out.to_lowercase().contains(word), "{}", metarates.out);
    }
    let line = ["mdtest", "-d", X25_E, "-n", "400", "-z", "1", "-b", "2", "-i", "2"];
    let mdtest = user.types(&line).fine();
    for row in ["Directory creation", "File creation", "File stat", "Tree removal"] {
        assert!(mdtest.out.contains(row), "{}", mdtest.out);
    }
    assert_eq!(user.listing(), [""; 0], "nothing is left in the directory");
}

#[test]
fn iozone_finds_a_page_cache_and_says_so() {
    let user = User::new();
    let target = "sim:x25-e,capacity=1GiB";
    let line = ["iozone", "-i", "0", "-i", "1", "-s", "64m", "-r", "1m", "-f", target];
    let said = user.types(&line).fine();
    assert!(said.err.contains("page cache of 256 MiB"), "{}", said.err);
    let own = "sim:x25-e,capacity=1GiB,page_cache=64MiB";
    let line = ["iozone", "-i", "0", "-s", "64m", "-r", "1m", "-f", own];
    let said = user.types(&line).fine();
    assert!(!said.err.contains("a quarter of the drive"), "{}", said.err);
}

#[test]
fn meta_runs_on_a_simulated_drive() {
    let user = User::new();
    let line = ["study", "meta", X25_E, "--quick", "--seed", "7", "--json"];
    let json = user.types(&line).fine().json();
    let findings = &json["findings"];
    let verdict = findings["verdict"].to_string();
    assert!(verdict.contains("Names at best: made "), "{verdict}");
    assert!(findings["deviations"].to_string().contains("The file system is a model"));
    assert!(json["warnings"].to_string().contains("names_are_modelled"));
    assert!(!findings.to_string().contains("the kernel offers no io_uring"), "{findings}");
    // Directories of their own help where a lock is what workers wait for, and not without it.
    assert!(verdict.contains("A directory for each worker makes"), "{verdict}");
    assert!((gain(&json) - 4.0).abs() < 0.05, "four creates at once instead of one");
    let free = "sim:x25-e,names_lock=off";
    let line = ["study", "meta", free, "--quick", "--seed", "7", "--json"];
    assert!((gain(&user.types(&line).fine().json()) - 1.0).abs() < 0.05);
}

/// What creates of four workers gain by directories of their own.
fn gain(json: &Value) -> f64 {
    let cells = json["findings"]["comparison"]["cells"].as_array().unwrap();
    let creates = cells.iter().find(|cell| cell["name"] == "create/close, 4 workers").unwrap();
    creates["ratio"]["value"].as_f64().unwrap()
}

#[test]
fn what_cannot_be_is_said() {
    let user = User::new();
    let load = ["run", "sim:textbook,capacity=8MiB", "--actions", "create", "--names", "10"];
    user.types(&load).refused(2, "16 MiB or more");
    let load = ["run", "sim:x25-e,names_lok=off", "--actions", "create", "--names", "10"];
    user.types(&load).refused(2, "names_lock");
    let unknown = ["metarates", "-d", "sim:x25e", "-n", "10", "-C"];
    let said = user.types(&unknown);
    assert_eq!(said.status, Some(1), "{}", said.err);
}
