//! Text of others (files, names, the command line) never steers the terminal that reads it.

use crate::cli_user::{Said, User};

/// Sets a title, clears the screen, is an introducer of one byte, rings, deletes, goes back to the
/// begin of the line and turns the direction of writing.
const EVIL: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{7f}\u{8}\rx\u{202e}y";

#[track_caller]
fn harmless(said: &Said) {
    for (where_to, text) in [("stdout", &said.out), ("stderr", &said.err)] {
        let steers = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}';
        let line = text.lines().find(|line| line.contains(steers));
        assert!(line.is_none(), "{}: {where_to} holds {:?}", said.line, line.unwrap());
    }
    assert!(!said.out.is_empty() || !said.err.is_empty(), "{}: nothing was said", said.line);
}

/// A plan, a run, a claim and a profile in which every free text is `EVIL`.
fn plan(name: &str) -> String {
    let name = name.replace('\u{1b}', "\\u001b").replace('\u{7}', "\\u0007");
    let name = name.replace('\u{8}', "\\b").replace('\u{7f}', "\\u007f").replace('\r', "\\r");
    format!(
        "seed = 1\n[[steps]]\nname = \"{name}\"\nuntil = {{ operations = 64 }}\n\
         [[steps.streams]]\nname = \"{name}\"\npattern = \"uniform\"\n"
    )
}

#[test]
fn what_a_plan_and_its_run_are_called() {
    let user = User::new();
    user.write("evil.toml", plan(EVIL));
    let line = ["run", "evil.toml", "sim:x25-e,state=filled"];
    harmless(&user.types(&line).fine());
    let path = user.last_run();
    let run = path.to_str().unwrap();
    for line in [&["report", run][..], &["report", run, "--json"], &["runs"], &["runs", "--json"]] {
        harmless(&user.types(line).fine());
    }
    harmless(&user.types(&["compare", run, run]));
    harmless(&user.types(&["report", run, "--redact"]).fine());
    harmless(&user.types(&["run", "evil.toml", "sim:x25-e", "--dry-run"]).fine());
    // What JSON holds is the same text, only written otherwise.
    let json = user.types(&["report", run, "--json"]).fine().json();
    assert_eq!(json["steps"][0]["name"].as_str(), Some(EVIL));
}

#[test]
fn files_that_cannot_be_read() {
    let user = User::new();
    let key = format!("seed = 1\n{EVIL} = 3\n");
    for (name, text, line) in [
        ("a.toml", key.as_str(), &["run", "a.toml", "sim:x25-e"][..]),
        ("b.toml", &key, &["accept", "b.toml", "sim:x25-e"]),
        ("c.toml", &key, &["run", "sim:./c.toml"]),
        (
            "d.log",
            &format!("fio version 3 iolog\n0 {EVIL} add\n"),
            &["run", "sim:x25-e", "--trace", "d.log"],
        ),
        (
            "e.icf",
            &format!("Version {EVIL}\n"),
            &["iometer", "/c", "e.icf", "/r", "r.csv", "--target", "sim:x25-m"],
        ),
        ("f.fio", &format!("[a]\n{EVIL}=1\n"), &["fio", "f.fio"]),
        ("g.jsonl", &format!("{{\"begin\": \"{EVIL}\"\n"), &["report", "g.jsonl"]),
    ] {
        user.write(name, text);
        let said = user.types(line);
        assert_ne!(said.status, Some(0), "{}\n{}", said.line, said.out);
        harmless(&said);
    }
}

#[test]
fn names_of_files_jobs_and_options() {
    let user = User::new();
    let name = format!("kept{EVIL}");
    user.write(&name, vec![0u8; 1 << 20]);
    harmless(&user.types(&["run", &name, "--rw", "randread", "--operations", "64"]));
    harmless(&user.types(&["run", &name, "--rw", "randwrite", "--operations", "64"]).status(3));
    harmless(&user.types(&["doctor", &name]));
    harmless(&user.types(&["run", "sim:x25-e", "--rw", &name]).status(2));
    harmless(&user.types(&["run", &format!("sim:{EVIL}")]).status(2));
    harmless(&user.types(&["report", EVIL]));
    let job = format!("[{EVIL}]\nrw=randread\nsize=64k\nfilename={name}\n");
    user.write("a.fio", job);
    for format in ["normal", "terse", "json"] {
        let output = format!("--output-format={format}");
        harmless(&user.types(&["fio", &output, "a.fio"]).fine());
    }
}
