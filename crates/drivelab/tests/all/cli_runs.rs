//! Loads as an ordinary user runs them, on scratch files, and what they print.

use crate::cli_user::User;
use serde_json::Value;

const QUICK: [&str; 6] = ["--size", "8MiB", "--runtime", "200ms", "--io", "buffered"];

fn run_json(user: &User, target: &str, options: &[&str]) -> Value {
    let mut line = vec!["run", target, "--json"];
    line.extend_from_slice(options);
    user.types(&line).fine().json()
}

fn measured(json: &Value) -> Vec<&Value> {
    let steps = json["steps"].as_array().unwrap();
    steps.iter().filter(|step| step["role"] == "measure").collect()
}

#[test]
fn the_json_has_the_shape_that_scripts_rely_on() {
    let user = User::new();
    let options = ["--rw", "randrw", "--mix", "70:30", "--seed", "5", "--repeat", "2"];
    let json = run_json(&user, ".", &[&options[..], &QUICK[..]].concat());
    assert_eq!((&json["schema"], &json["seed"]), (&1.into(), &5.into()));
    assert_eq!(json["complete"], true);
    assert!(json["warnings"].is_array() && json["cells"].is_array());
    let steps = measured(&json);
    assert_eq!(steps.len(), 2);
    for (index, step) in steps.iter().enumerate() {
        assert_eq!(step["repetition"], index as u64 + 1);
        assert_eq!(step["valid"], Value::Null, "no block device: nothing to check by");
        assert_eq!(step["drive"], Value::Null);
        let stream = &step["streams"][0];
        for kind in ["read", "write"] {
            assert!(stream[kind]["ops"].as_u64().unwrap() > 0, "{stream}");
            assert_eq!(stream[kind]["errors"], 0);
            assert!(stream[kind]["iops"]["value"].as_f64().unwrap() > 0.0);
            assert!(stream[kind]["service_ns"]["p50"].as_u64().unwrap() > 0);
            assert_eq!(stream[kind]["response_ns"], Value::Null, "a closed loop has none");
        }
        assert!(stream.get("trim").is_none(), "what is not issued is absent");
    }
    let runs = user.types(&["runs", "--json"]).fine().json();
    assert_eq!(runs["runs"][0]["run"], json["run"]);
    assert_eq!(runs["runs"][0]["complete"], true);
    assert_eq!(user.listing(), [""; 0], "scratch was left behind");
}

#[test]
fn every_engine_runs_and_says_so() {
    let user = User::new();
    for engine in ["io_uring", "libaio", "psync", "mmap", "stdio", "null"] {
        let io = if engine == "libaio" { "direct" } else { "buffered" };
        let options = ["--engine", engine, "--io", io, "--size", "8MiB", "--operations", "500"];
        for kind in ["read", "randwrite"] {
            let json = run_json(&user, ".", &[&options[..], &["--rw", kind]].concat());
            let stream = &measured(&json)[0]["streams"][0];
            assert_eq!(stream["engine"], engine);
            assert_eq!(stream["total"]["ops"], 500, "{engine} {kind}");
        }
    }
}

#[test]
fn a_dry_run_says_what_the_guard_would_say() {
    let user = User::new();
    user.write("letters.db", "what somebody wrote\n".repeat(4096));
    let line = ["run", "letters.db", "--rw", "randwrite", "--runtime", "1s", "--dry-run"];
    let said = user.types(&line).fine();
    assert!(said.err.contains("this line would be refused: letters.db"), "{}", said.err);
    assert!(said.err.contains("never overwrites such a file"), "{}", said.err);
    let line = ["run", "letters.db", "--rw", "randread", "--runtime", "1s", "--dry-run"];
    assert_eq!(user.types(&line).fine().err, "");
    let line = ["run", "sim:x25-e", "--rw", "randread", "--cpus", "1023"];
    user.types(&line).refused(2, "CPUs 1023 cannot be used here; allowed are [0");
}

#[test]
fn a_dry_run_prints_a_plan_and_touches_nothing() {
    let user = User::new();
    let options = ["--rw", "randwrite", "--size", "8MiB", "--operations", "64", "--seed", "9"];
    let said = user.types(&[&["run", ".", "--dry-run"], &options[..]].concat()).fine();
    assert!(said.out.starts_with("# takes as long as its operations need, writes at most "));
    assert!(said.out.contains("# creates 1 file of 8 MiB\n"), "{}", said.out);
    assert!(said.out.contains("name = \"lay out\""), "{}", said.out);
    assert_eq!(user.listing(), [""; 0]);
    assert!(!user.runs().exists());
    assert!(said.out.contains("# as a plan it takes --size 8MiB\n"), "{}", said.out);
    user.write("again.toml", &said.out);
    let again = user.types(&["run", "again.toml", ".", "--size", "8MiB", "--json"]).fine().json();
    assert_eq!(again["seed"], 9);
    let steps = again["steps"].as_array().unwrap();
    let layouts = steps.iter().filter(|step| step["name"] == "lay out").count();
    assert_eq!(layouts, 1, "the plan has its layout: {steps:?}");
    assert_eq!(measured(&again)[0]["streams"][0]["write"]["ops"], 64);
}

#[test]
fn what_was_written_and_kept_is_verified_later() {
    let user = User::new();
    let load = ["--bs", "64k", "--passes", "1", "--seed", "7", "--io", "buffered"];
    let write = [&["run", "kept.dat", "--rw", "write", "--stamp", "--keep"], &load[..]].concat();
    let said = user.types(&[&write[..], &["--size", "4MiB"]].concat()).fine();
    assert!(said.out.contains("Kept     kept.dat"), "{}", said.out);
    assert_eq!(user.listing(), ["kept.dat"]);
    let read = [&["run", "kept.dat", "--rw", "read", "--verify", "--json"], &load[..]].concat();
    let json = user.types(&read).fine().json();
    let stream = &measured(&json)[0]["streams"][0];
    assert_eq!((&stream["verified"], &stream["mismatched"]), (&1024.into(), &0.into()));
    let mut bytes = std::fs::read(user.work().join("kept.dat")).unwrap();
    bytes[1_000_000] ^= 1;
    let file = std::fs::File::options().write(true).open(user.work().join("kept.dat")).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, &bytes, 0).unwrap();
    drop(file);
    let json = user.types(&read).status(4).json();
    let step = &measured(&json)[0];
    assert_eq!(step["streams"][0]["mismatched"], 1);
    assert_eq!(step["mismatches"][0]["offset"], 1_000_000 / 4096 * 4096);
    // What somebody has written to is no longer ours; made again it is.
    let again = [&write[..], &["--size", "4MiB"]].concat();
    user.types(&again).refused(3, "kept.dat was made by drivelab and was changed since");
    std::fs::remove_file(user.work().join("kept.dat")).unwrap();
    user.types(&again).fine();
    user.types(&again).fine();
    assert_eq!(user.listing(), ["kept.dat"]);
}

#[test]
fn metadata_actions_run_in_a_directory_of_their_own() {
    let user = User::new();
    let actions = ["--actions", "create,stat,rename,unlink", "--names", "50", "--workers", "2"];
    for directories in ["one", "each"] {
        let options = [&actions[..], &["--directories", directories, "--engine", "psync"]].concat();
        let json = run_json(&user, ".", &options);
        let stream = &measured(&json)[0]["streams"][0];
        for kind in ["create", "stat", "rename", "unlink"] {
            assert_eq!(stream[kind]["ops"], 100, "{kind} {directories}");
        }
    }
    assert_eq!(user.listing(), [""; 0]);
}

#[test]
fn an_open_loop_reports_response_times_and_what_it_could_not_keep() {
    let user = User::new();
    let paced = ["--rw", "randread", "--rate", "500", "--depth", "4"];
    let json = run_json(&user, ".", &[&paced[..], &QUICK[..]].concat());
    let read = &measured(&json)[0]["streams"][0]["read"];
    assert!(read["response_ns"]["p50"].as_u64().unwrap() > 0);
    let ops = read["ops"].as_u64().unwrap();
    assert!((95..=105).contains(&ops), "{ops} operations at 500 a second in 200 ms");
    let absurd = ["--rw", "randread", "--rate", "500000000"];
    let json = run_json(&user, ".", &[&absurd[..], &QUICK[..]].concat());
    let codes: Vec<&str> =
        json["warnings"].as_array().unwrap().iter().filter_map(|w| w["code"].as_str()).collect();
    assert!(codes.contains(&"rate_not_kept"), "{codes:?}");
}

#[test]
fn a_plan_with_several_steps_runs_in_order() {
    let user = User::new();
    let plan = "seed = 3\n[[steps]]\nname = \"fill\"\nrole = \"precondition\"\n\
                until = { passes = 1 }\n[[steps.streams]]\nmix = { write = 100 }\nsize = \"64k\"\n\
                io = \"buffered\"\n[[steps]]\nact = \"drop-caches\"\nname = \"drop\"\n\
                [[steps]]\nact = { idle = \"50ms\" }\nname = \"idle\"\nrole = \"idle\"\n\
                [[steps]]\nname = \"read\"\nuntil = { operations = 100 }\nrepeat = 2\n\
                [[steps.streams]]\npattern = \"uniform\"\nio = \"buffered\"\n\
                [[steps.streams]]\nname = \"behind\"\nbackground = true\npattern = \"uniform\"\n\
                io = \"buffered\"\n";
    user.write("two.toml", plan);
    let json =
        user.types(&["run", "two.toml", "new.dat", "--size", "4MiB", "--json"]).fine().json();
    let names: Vec<&str> =
        json["steps"].as_array().unwrap().iter().filter_map(|step| step["name"].as_str()).collect();
    let laid_out = ["lay out", "drop the cache after lay out"];
    assert_eq!(names, [&laid_out[..], &["fill", "drop", "idle", "read", "read"]].concat());
    let steps = measured(&json);
    let state = &steps.iter().find(|step| step["name"] == "read").unwrap()["state"];
    assert_eq!(state, "filled");
    assert_eq!(user.listing(), ["two.toml"]);
}

#[test]
fn text_results_say_what_was_measured_and_where_it_is_kept() {
    let user = User::new();
    let said = user.types(&[&["run", ".", "--rw", "randread"], &QUICK[..]].concat()).fine();
    assert_eq!(said.err, "", "nothing on stderr that is no terminal");
    for part in ["randread 4k qd1", "seed", "Run      20"] {
        assert!(said.out.contains(part), "{part}\n{}", said.out);
    }
    let listed = user.types(&["list"]).fine();
    assert!(!listed.out.is_empty());
    let json = user.types(&["list", "--json"]).fine().json();
    assert!(json["devices"].is_array() && json["filesystems"].is_array());
}
