//! `drivelab accept` on targets whose truth is planted: met, not met, cannot tell.

use crate::cli_user::User;
use crate::support::machine::{alone, is_unavailable, require_root};
use crate::support::neighbours::judge;
use crate::support::stalling_file::{Schedule, StallingFile};
use serde_json::Value;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// The load of every claim on the planted drive: one read of 4 KiB at a time. It answers in
/// 200 µs, so that no more than 5,000 a second can come, whatever this machine does.
const LOAD: &str = "rw = \"randread\"\nbs = \"4k\"\ndepth = 1\nseconds = 1\n";

fn claim(name: &str, limit: &str) -> String {
    format!("[[claim]]\nname = \"{name}\"\n{limit}\n{LOAD}\n")
}

fn accept(user: &User, claims: &[String], target: &Path, status: i32) -> Value {
    user.write("spec.toml", claims.concat());
    let line = ["accept", "spec.toml", target.to_str().unwrap(), "--seed", "3", "--json"];
    user.types(&line).status(status).json()
}

/// Name, answer and reason of each claim.
fn answers(json: &Value) -> Vec<(&str, &str, &str)> {
    let claims = json["claims"].as_array().unwrap();
    claims
        .iter()
        .map(|claim| {
            let word = |key: &str| claim[key].as_str().unwrap();
            (word("name"), word("answer"), word("why"))
        })
        .collect()
}

#[test]
fn a_drive_of_200_microseconds_gets_the_three_answers() {
    let name = "a_drive_of_200_microseconds_gets_the_three_answers";
    if is_unavailable(name) {
        return;
    }
    require_root(name);
    let _alone = alone();
    judge(name, assert_three_answers);
}

fn assert_three_answers() {
    let drive = StallingFile::mount(Schedule::default());
    let user = User::new();
    let met = [
        claim("rate", "metric = \"iops\"\nat_least = 400"),
        claim("bandwidth", "metric = \"bandwidth_bytes_per_s\"\nat_least = 1638400"),
        claim("mean at least", "metric = \"mean_ns\"\nat_least = 100000"),
        claim("median", "metric = \"p50_ns\"\nat_most = 20000000"),
    ];
    let json = accept(&user, &met, &drive.path(), 0);
    assert!(answers(&json).iter().all(|(_, answer, _)| *answer == "met"), "{:?}", answers(&json));
    assert_eq!(json["cells"].as_array().unwrap().len(), 1, "claims of one load share it");
    let first = &json["claims"][0];
    assert_eq!((&first["metric"], &first["at_least"]), (&"iops".into(), &400.0.into()));
    assert_eq!((&first["at_most"], &first["estimate"]["n"]), (&Value::Null, &5.into()));
    let rate = first["estimate"]["value"].as_f64().unwrap();
    assert!((400.0..=5000.0).contains(&rate), "{rate} a second at 200 µs each");
    assert_eq!(first["estimate"], json["cells"][0]["streams"][0]["read"]["iops"]);

    let open = [
        claim("rare", "metric = \"p99_99_ns\"\nat_most = 1000000000"),
        claim("filled", "metric = \"iops\"\nat_least = 400\nstate = \"filled\""),
    ];
    let json = accept(&user, &[&met[..1], &open[..]].concat(), &drive.path(), 4);
    let said = answers(&json);
    assert_eq!(said[0].1, "met");
    assert_eq!(said[1].1, "cannot tell");
    assert!(said[1].2.contains("too few I/Os for the p99.99"), "{}", said[1].2);
    assert_eq!(json["claims"][1]["estimate"], Value::Null);
    assert_eq!(said[2].1, "cannot tell");
    assert!(said[2].2.contains("the state found was unknown"), "{}", said[2].2);

    let broken = [
        claim("too fast", "metric = \"iops\"\nat_least = 50000"),
        claim("too quick", "metric = \"p50_ns\"\nat_most = 100000"),
        claim("longest", "metric = \"max_ns\"\nat_most = 150000"),
    ];
    let json = accept(&user, &[&open[..1], &broken[..]].concat(), &drive.path(), 1);
    let said = answers(&json);
    assert_eq!(said[0].1, "cannot tell");
    assert!(said[1..].iter().all(|(_, answer, _)| *answer == "not met"), "{said:?}");
    assert!(said[3].2.starts_with("one took "), "{}", said[3].2);
    let report = user.types(&["report", "last", "--out", "r.html"]).fine();
    assert!(report.out.contains("0 of 4 claims met, 3 not met"), "{}", report.out);
    assert!(report.out.contains("≥ 50.0k IOPS"), "{}", report.out);
}

#[test]
fn holes_are_suspect_and_no_answer() {
    let _alone = alone();
    let user = User::new();
    let path = user.work().join("sparse");
    let mut file = File::create(&path).unwrap();
    file.write_all(b"x").unwrap();
    file.set_len(64 << 20).unwrap();
    drop(file);
    let claims = [claim("holes", "metric = \"iops\"\nat_least = 1")];
    let json = accept(&user, &claims, &path, 4);
    let said = answers(&json);
    assert_eq!(said[0].1, "cannot tell", "{said:?}");
    let why = ["suspect: ", "is in memory", "memory may have answered"];
    assert!(why.iter().any(|why| said[0].2.contains(why)), "{said:?}");
    user.write("spec.toml", claims.concat());
    let text = user.types(&["accept", "spec.toml", "sparse"]).status(4).out;
    assert!(text.contains("Cannot tell  holes: "), "{text}");
    assert!(text.contains("Verdict  0 of 1 claims met, 0 not met, 1 inconclusive."), "{text}");
}

#[test]
fn a_file_that_is_not_ours_is_not_written() {
    let user = User::new();
    let precious = user.write("precious", "x".repeat(1 << 20));
    let spec = claim("w", "metric = \"iops\"\nat_least = 1").replace("randread", "randwrite");
    user.write("spec.toml", spec);
    user.types(&["accept", "spec.toml", "precious"]).refused(3, "precious");
    assert_eq!(std::fs::read_to_string(precious).unwrap(), "x".repeat(1 << 20));
}

#[test]
fn a_spec_that_makes_no_sense_is_refused_with_its_line() {
    let user = User::new();
    user.write("spec.toml", claim("a", "metric = \"iops\"\nat_least = 1\nqdepth = 3"));
    let said = user.types(&["accept", "spec.toml", "."]).refused(2, "did you mean `depth`?");
    assert!(said.err.contains("spec.toml line 5, column 1: unknown key `qdepth` in [[claim]]"));
    assert!(said.err.contains("\n    5 | qdepth = 3\n      | ^^^^^^"), "{}", said.err);
    user.write("spec.toml", claim("a", "metric = \"iops\"\nat_least = 1\nat_most = 2"));
    user.types(&["accept", "spec.toml", "."]).refused(2, "either at_least or at_most");
    user.write("spec.toml", [0xff, 0x0a]);
    user.types(&["accept", "spec.toml", "."]).refused(2, "spec.toml line 1: not UTF-8");
    user.types(&["accept", "absent.toml", "."]).refused(2, "absent.toml");
    user.write("spec.toml", claim("a", "metric = \"iops\"\nat_least = 1"));
    user.types(&["accept", "spec.toml", "absent/x"]).status(2);
    let small = ["accept", "spec.toml", ".", "--budget", "1MiB", "--size", "8MiB"];
    user.types(&small).refused(2, "more than the budget of 1MiB");
}

#[test]
fn a_dry_run_prints_the_plan_with_its_cost_and_touches_nothing() {
    let user = User::new();
    let reads = claim("r", "metric = \"iops\"\nat_least = 1");
    let writes = claim("w", "metric = \"iops\"\nat_least = 1").replace("randread", "write");
    user.write("spec.toml", reads + &writes);
    let line = ["accept", "spec.toml", ".", "--dry-run", "--size", "8MiB", "--budget", "32MiB"];
    let said = user.types(&line).fine();
    assert_eq!(said.out.matches("name = \"randread 4k qd1\"").count(), 5, "{}", said.out);
    assert_eq!(said.out.matches("name = \"write 4k qd1\"").count(), 5, "{}", said.out);
    assert_eq!(said.out.matches("name = \"lay out\"").count(), 1, "{}", said.out);
    assert_eq!(user.listing(), ["spec.toml"]);
    let json = user.types(&[&line[..], &["--json"]].concat()).fine().json();
    let written = json["cost"]["written_bytes"].as_u64().unwrap();
    assert!((8 << 20..=32 << 20).contains(&written), "{written} bytes");
    user.write("plan.toml", said.out);
    user.types(&["run", "plan.toml", ".", "--dry-run", "--size", "8MiB"]).fine();
}

#[test]
fn a_scratch_file_is_laid_out_measured_and_removed() {
    let _alone = alone();
    let user = User::on_disk();
    let reads = claim("r", "metric = \"iops\"\nat_least = 1\nstate = \"filled\"");
    let writes = claim("w", "metric = \"iops\"\nat_least = 1").replace("randread", "randwrite");
    user.write("spec.toml", reads + &writes);
    let line = [
        "accept",
        "spec.toml",
        ".",
        "--size",
        "8MiB",
        "--budget",
        "16MiB",
        "--seed",
        "1",
        "--json",
    ];
    let said = user.types(&line);
    assert!(matches!(said.status, Some(0 | 4)), "{}\n{}", said.out, said.err);
    let json = said.json();
    let steps = json["steps"].as_array().unwrap();
    let states = |name: &str| -> Vec<&str> {
        let of = steps.iter().filter(|step| step["name"] == name);
        of.map(|step| step["state"].as_str().unwrap()).collect()
    };
    assert_eq!(states("randread 4k qd1"), ["filled"; 5], "reads come before the writes");
    assert_eq!(states("randwrite 4k qd1").len(), 5);
    // 8 MiB in five parts are gone long before five seconds are over.
    let said = answers(&json);
    assert_eq!(said[1].1, "cannot tell", "{said:?}");
    assert!(said[1].2.contains("raise --budget") || said[1].2.contains("suspect"), "{said:?}");
    let asked_for_state = said[0].2.contains("state found");
    assert!(!asked_for_state, "the state was the one claimed: {said:?}");
    assert_eq!(user.listing(), ["spec.toml"]);
    assert_eq!(user.types(&["runs", "--json"]).fine().json()["runs"][0]["command"], "accept");
}
