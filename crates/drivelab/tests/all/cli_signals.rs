//! The first signal begins an orderly end; the same wish once more changes nothing.

use crate::cli_user::{Said, User};
use rustix::process::{Pid, Signal, kill_process};
use std::process::Child;
use std::time::{Duration, Instant};

const LONG: [&str; 14] = [
    "run",
    ".",
    "--rw",
    "randwrite",
    "--size",
    "64MiB",
    "--depth",
    "4",
    "--io",
    "buffered",
    "--runtime",
    "60",
    "--interval",
    "100ms",
];

/// A run that measures by now.
fn measuring(user: &User) -> Child {
    let child = user.starts(&LONG);
    let begin = Instant::now();
    let begun = || {
        let entries = std::fs::read_dir(user.runs()).into_iter().flatten();
        let mut texts = entries.filter_map(|it| std::fs::read_to_string(it.ok()?.path()).ok());
        texts.any(|text| text.contains("\"record\":\"step_begin\",\"step\":1"))
    };
    while !begun() {
        assert!(begin.elapsed() < Duration::from_secs(60), "it does not begin");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

#[test]
fn signals_in_a_row_end_it_in_order() {
    // Two that wait at once are delivered in the kernel's order: only with a gap is one the first.
    for (first, repeats, status) in [
        (Signal::TERM, Signal::TERM, 143),
        (Signal::INT, Signal::INT, 130),
        (Signal::HUP, Signal::TERM, 129),
        (Signal::TERM, Signal::INT, 143),
    ] {
        for gap in [0, 1, 30, 100] {
            if gap < 30 && first != repeats {
                continue;
            }
            let user = User::new();
            let child = measuring(&user);
            let send = |signal| kill_process(Pid::from_child(&child), signal);
            send(first).unwrap();
            for _ in 0..3 {
                std::thread::sleep(Duration::from_millis(gap));
                // It may have ended by then.
                let _ = send(repeats);
            }
            let said = Said::of(&LONG, child.wait_with_output().unwrap()).status(status);
            assert!(said.err.contains("interrupted"), "{}", said.err);
            assert!(said.out.contains("Run      "), "no results: {}", said.out);
            assert_eq!(user.listing(), [""; 0], "scratch was left behind");
            let run = std::fs::read_to_string(user.last_run()).unwrap();
            let end = run.lines().last().unwrap();
            assert!(end.contains(&format!("\"status\":{status}")), "{end}");
        }
    }
}

#[test]
fn timeout_gets_its_report() {
    let user = User::new();
    let mut line = vec!["-k", "20", "3", env!("CARGO_BIN_EXE_drivelab")];
    line.extend(LONG);
    let mut command = std::process::Command::new("timeout");
    command.args(&line).current_dir(user.work());
    command.env("XDG_DATA_HOME", user.runs().parent().unwrap().parent().unwrap());
    let output = command.output().unwrap();
    // Its own status: the time was over.
    let said = Said::of(&line, output).status(124);
    assert!(said.out.contains("Run      "), "no results: {}", said.out);
    assert_eq!(user.listing(), [""; 0], "scratch was left behind");
}
