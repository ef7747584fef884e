//! An answer that does not arrive is no answer.

use crate::cli_user::User;
use std::fs::File;
use std::process::{Command, Stdio};

/// Runs a line with its stdout somewhere; gives the exit status and stderr.
fn into(user: &User, line: &[&str], stdout: Stdio) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_drivelab"));
    command.args(line).current_dir(user.work());
    command.env("XDG_DATA_HOME", user.runs().parent().unwrap().parent().unwrap());
    let output = command.stdout(stdout).stderr(Stdio::piped()).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_full_stdout_is_an_error_and_the_run_is_kept() {
    let user = User::new();
    let full = || Stdio::from(File::options().write(true).open("/dev/full").unwrap());
    let run = ["run", "sim:textbook,capacity=256MiB", "--rw", "randread", "--operations", "500"];
    let fio = ["fio", "--name=a", "--size=64k", "--rw=write"];
    for (line, expected) in [
        (&[&run[..], &["--json"]].concat()[..], 4),
        (&run, 4),
        (&["--help"], 4),
        (&["sim", "list"], 4),
        (&["list", "--json"], 4),
        (&fio, 1),
    ] {
        let (status, said) = into(&user, line, full());
        assert_eq!(status, Some(expected), "{line:?}: {said}");
        let lost = "the results cannot be written to stdout: No space left on device";
        assert!(said.contains(lost), "{line:?}: {said}");
    }
    // What was measured is there.
    user.types(&["report", "last", "--json"]).fine().json();
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let user = User::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let (status, said) = into(&user, &["sim", "list"], Stdio::from(writer));
    assert_eq!((status, &*said), (Some(0), ""));
}
