//! Lines of fio, run by drivelab and by fio itself.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

pub const OURS: [&str; 3] = [env!("CARGO_BIN_EXE_drivelab"), "fio", "--notes=none"];
pub const THEIRS: [&str; 1] = ["fio"];
/// `EILSEQ`, fio's error of blocks that hold something else.
pub const WRONG: u64 = 84;

pub fn place() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn command(program: &[&str], line: &str, place: &Path) -> Command {
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).args(line.split_whitespace()).current_dir(place);
    command
}

/// What a program printed of a good line in a directory.
pub fn printed(program: &[&str], line: &str, place: &Path) -> String {
    let home = tempfile::tempdir().unwrap();
    let output = command(program, line, place).env("XDG_DATA_HOME", home.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program:?} {line}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// The jobs of a line, however it ends; what drivelab makes stays drivelab's for later lines there.
pub fn jobs(program: &[&str], line: &str, place: &Path) -> Vec<Value> {
    let mut command = command(program, line, place);
    command.arg("--output-format=json").env("XDG_DATA_HOME", place.join("home"));
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let json: Value = text.find('{').map(|at| serde_json::from_str(&text[at..]).unwrap()).unwrap();
    json["jobs"].as_array().unwrap().clone()
}
