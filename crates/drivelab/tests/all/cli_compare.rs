//! `drivelab compare` as its user types it.

use crate::cli_user::User;

const LINE: [&str; 11] = [
    "run",
    "sim:x25-e,state=filled",
    "--rw",
    "randread",
    "--bs",
    "4k",
    "--depth",
    "8",
    "--operations",
    "2000",
    "--seed",
];

fn columns(user: &User) {
    user.write("slow.csv", "before,after\n100,90\n101,91\n99,90.5\n100.5,89\n99.7,90\n");
    user.write("same.csv", "before,after\n100,101\n101,100\n99,99.4\n100.5,100\n99.7,100.2\n");
}

#[test]
fn two_columns_are_two_sides() {
    let user = User::new();
    columns(&user);
    let said = user.types(&["compare", "slow.csv"]);
    assert_eq!(said.status, Some(1), "{}", said.err);
    assert_eq!(
        said.out,
        "before → after\n\
         1 cell, 5 against 5 repetitions, band -5 to +5.3 %, Holm-adjusted\n\n\
         \x20                 before → after  change  95 % interval  ← worse    ┊   better →\n  \
         slower  values  100 → 90.1      -9.9 %  [-11.0, -8.9]  ├●┤        ┊\n\n\
         1 slower\n"
    );
    let said = user.types(&["compare", "same.csv", "--json"]).fine();
    let json: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(json["cells"][0]["verdict"], "equivalent");
    assert!(json["cells"][0]["p_adjusted"].as_f64().unwrap() > 0.05);
    assert!(json["cells"][0]["needs_n"].is_null());
}

#[test]
fn a_gate_ends_with_the_status_that_scripts_expect() {
    let user = User::new();
    user.write("main.txt", "100\n101\n99\n100.5\n99.7\n");
    user.write("slow.txt", "90\n91\n90.5\n89\n90\n");
    user.write("noisy.txt", "60\n140\n100\n75\n125\n");
    for (file, status, words) in [
        ("main.txt", 0, "Gate     passed: every cell is within 5 %"),
        ("slow.txt", 1, "Gate     not passed: slower by more than 5 %: column 1"),
        ("noisy.txt", 4, "Gate     cannot tell whether these are within 5 %: column 1"),
    ] {
        let line = ["compare", "--baseline", "main.txt", "--max-slowdown", "5%", file];
        let said = user.types(&line);
        assert_eq!(said.status, Some(status), "{file}: {}{}", said.out, said.err);
        assert!(said.out.contains(words), "{}", said.out);
    }
}

#[test]
fn runs_of_two_drives_are_compared_and_what_differs_is_said() {
    let user = User::new();
    user.types(&[&LINE[..], &["1", "--repeat", "6"]].concat());
    let slow = ["sim:x25-e,state=filled,read_ns=90000"];
    let line = [&LINE[..1], &slow[..], &LINE[2..], &["2", "--repeat", "6"]].concat();
    user.types(&line);
    let runs = user.types(&["runs", "--json"]).fine();
    let runs: serde_json::Value = serde_json::from_str(&runs.out).unwrap();
    let of = |target: &str| {
        let all = runs["runs"].as_array().unwrap().iter();
        let one = all.into_iter().find(|run| run["target"] == target).unwrap();
        one["run"].as_str().unwrap().to_owned()
    };
    let ids = [of(LINE[1]), of(slow[0])];
    let said = user.types(&["compare", &ids[0], &ids[1], "--metric", "iops,mean"]);
    assert_eq!(said.status, Some(1), "{}{}", said.out, said.err);
    assert!(said.out.contains("2 cells, 6 against 6 repetitions"), "{}", said.out);
    assert!(said.out.contains("2 slower"), "{}", said.out);
    let said = user.types(&["compare", &ids[0], &ids[0]]).fine();
    assert!(said.out.contains("1 equivalent") || said.out.contains("1 identical"), "{}", said.out);
    assert!(said.err.contains("both sides are one run"), "{}", said.err);
}

/// Numbers of one column in several files belong together; a cell that is gone fails no gate and
/// passes none.
#[test]
fn several_files_are_one_side_and_what_is_missing_is_no_pass() {
    let user = User::new();
    columns(&user);
    user.write("a1", "100\n101\n99\n");
    user.write("a2", "100.5\n99.7\n");
    user.write("b1", "90\n91\n90.5\n");
    user.write("b2", "89\n90\n");
    let said = user.types(&["compare", "a1,a2", "b1,b2"]);
    assert_eq!(said.status, Some(1), "{}", said.err);
    assert!(said.out.contains("1 cell, 5 against 5 repetitions"), "{}", said.out);
    assert!(said.out.contains("slower  column 1  100 → 90.1      -9.9 %"), "{}", said.out);
    user.write("both", "x y\n100 100\n101 101\n99 99\n100.5 100.5\n99.7 99.7\n");
    user.write("less", "x\n100\n101\n99\n100.5\n99.7\n");
    let said = user.types(&["compare", "--baseline", "both", "--max-slowdown", "5%", "less"]);
    assert_eq!(said.status, Some(4), "{}", said.out);
    assert!(said.out.contains("cannot tell whether these are within 5 %: y"), "{}", said.out);
}

#[test]
fn nonsense_is_refused_in_a_sentence() {
    let user = User::new();
    columns(&user);
    user.write("bad.txt", "1 2\nx 3\n");
    user.write("three.txt", "1 2 3\n4 5 6\n");
    user.write("twice.csv", "a,a\n1,2\n");
    user.write("zero.csv", "a,b\n0,1\n1,2\n2,3\n");
    for (line, words) in [
        (&["compare", "nope"][..], "is not a run"),
        (&["compare", "three.txt"], "three.txt alone is one side"),
        (&["compare", "bad.txt"], "bad.txt line 2: \"x\" is not a finite number"),
        (&["compare", "twice.csv"], "twice.csv has two columns called \"a\""),
        (&["compare", "zero.csv"], "values cannot be compared: a value is not above zero"),
        (&["compare", "slow.csv", "three.txt"], "have no cell in common"),
        (&["compare", "same.csv", "--band", "150%"], "a share above 0 and below 100%"),
        (&["compare", "--baseline", "same.csv", "slow.csv"], "--max-slowdown"),
    ] {
        user.types(line).refused(2, words);
    }
}

fn fio(user: &User, name: &str, iops: f64) -> String {
    let text = format!(
        "{{\"fio version\": \"fio-3.33\", \"jobs\": [{{\"jobname\": \"rr\", \"error\": 0, \
         \"read\": {{\"total_ios\": 1000, \"iops\": {iops}, \"lat_ns\": {{\"mean\": 5e4}}}}}}]}}"
    );
    user.write(name, text);
    name.to_owned()
}

#[test]
fn files_of_fio_are_runs_and_a_page_shows_them() {
    let user = User::new();
    let side = |name: &str, level: f64| -> String {
        let noise = [1.0, 1.01, 0.99, 1.005, 0.995];
        let files = noise.iter().zip('a'..);
        let names = files.map(|(noise, mark)| fio(&user, &format!("{name}{mark}"), level * noise));
        names.collect::<Vec<_>>().join(",")
    };
    let (before, after) = (side("x", 1e5), side("y", 2e5));
    let line = ["compare", &before, &after, "--out", "page.html"];
    let said = user.types(&line).fine();
    assert!(said.out.contains("1 cell, 5 against 5 runs"), "{}", said.out);
    assert!(said.out.contains("faster  rr, read  100k → 200k IOPS  +100.0 %"), "{}", said.out);
    let page = std::fs::read_to_string(user.work().join("page.html")).unwrap();
    assert!(page.contains("class=\"forest\"") && page.contains("rr, read: faster +100.0 %"));
    user.types(&line).fine();
    user.write("mine.html", "<!doctype html> mine");
    let line = ["compare", &before, &after, "--out", "mine.html"];
    user.types(&line).refused(3, "mine.html exists and is not an unchanged report of drivelab");
    user.write("numbers", "1 2\n");
    let mixed = format!("{before},numbers");
    user.types(&["compare", &mixed, &after]).refused(2, "use one kind per side");
    user.write("old", "{\"fio version\": \"fio-2.1\", \"jobs\": []}");
    user.types(&["compare", "old", &after]).refused(2, "old is of fio-2.1");
}

/// Commits that take longer are seen by their flushes, whatever the writes before them take: no
/// gate on a latency passes them.
#[test]
fn slower_commits_pass_no_gate() {
    let user = User::new();
    let run = |target: &str| {
        let line = ["run", target, "--rw", "write", "--bs", "8k", "--sync", "fdatasync:1"];
        let more = ["--runtime", "2s", "--repeat", "5", "--seed", "1", "--json"];
        let json = user.types(&[&line[..], &more].concat()).fine().json();
        json["run"].as_str().unwrap().to_owned()
    };
    let quick = run("sim:sata-mlc,state=filled");
    let slow = run("sim:sata-mlc,state=filled,program_ns=2000000");
    for metric in ["p99", "mean"] {
        let gate = ["compare", "--baseline", &quick, "--max-slowdown", "5%", &slow];
        let said = user.types(&[&gate[..], &["--metric", metric]].concat());
        assert_eq!(said.status, Some(1), "{metric}: {}", said.out);
        assert!(said.out.contains("slower by more than 5 %: write 8k qd1, "), "{}", said.out);
        for slower in ["write 8k qd1, flush", "write 8k qd1, write + flush"] {
            assert!(said.out.contains(slower), "{}", said.out);
        }
        let plain = user.types(&["compare", &quick, &slow, "--metric", metric]);
        assert_eq!(plain.status, Some(1), "{metric}: {}", plain.out);
    }
    let said = user.types(&["compare", &quick, &slow, "--metric", "iops"]);
    assert!(
        !said.out.contains("flush"),
        "how many there are follows from the writes: {}",
        said.out
    );
}
