//! The plans that come with drivelab run as they are.

use crate::cli_user::User;
use std::path::Path;
use std::process::Command;

#[test]
fn each_plan_runs_on_a_small_simulated_drive() {
    let plans = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans");
    let mut seen = 0;
    for entry in std::fs::read_dir(plans).unwrap() {
        let plan = entry.unwrap().path();
        let home = tempfile::tempdir().unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_drivelab"))
            .arg("run")
            .arg(&plan)
            .args(["sim:textbook,capacity=64MiB", "--seed", "5", "--json"])
            .current_dir(home.path())
            .env("XDG_DATA_HOME", home.path().join("data"))
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{}: {errors}", plan.display());
        seen += 1;
    }
    assert!(seen >= 2, "{seen} plans");
}

#[test]
fn a_plan_of_drivelab_is_run_by_its_name() {
    let user = User::new();
    let said = user.types(&["run", "write-cliff", "sim:textbook,capacity=64MiB", "--seed", "5"]);
    assert!(said.fine().out.contains("random writes"));
    let printed = user.types(&["run", "nvme-protocol", "sim:textbook,capacity=64MiB", "--dry-run"]);
    assert!(printed.fine().out.contains("precondition in order"));
    user.types(&["run", "nvme-protocol"]).refused(2, "name a target after it");
    let refused = user.types(&["run", "nosuch", "sim:textbook,capacity=64MiB"]);
    assert!(refused.refused(2, "nosuch").err.contains("nvme-protocol, write-cliff"));
    // A file of that name is what was meant.
    user.write("write-cliff", "title = \"mine\"\n");
    user.types(&["run", "write-cliff", "sim:textbook,capacity=64MiB"]).refused(2, "no steps");
    let help = user.types(&["run", "--help"]).fine().out;
    assert!(help.contains("Built-in plans: nvme-protocol, write-cliff"), "{help}");
}

#[test]
fn files_are_looked_for_below_a_link_and_behind_none_further_down() {
    let user = User::new();
    std::fs::create_dir_all(user.work().join("real/sub")).unwrap();
    for name in ["real/a01", "real/sub/b01", "real/c", "foreign01"] {
        user.write(name, "");
    }
    let link = |to: &str, name: &str| {
        std::os::unix::fs::symlink(user.work().join(to), user.work().join(name)).unwrap();
    };
    link("real", "link");
    link("", "real/up");
    user.write("p.toml", "[[steps]]\nname = \"find\"\nact = { find = { name = \"01\" } }\n");
    let said = user.types(&["run", "p.toml", "link"]).fine().out;
    // The link further down is an entry, and nothing behind it is one.
    assert!(said.contains("2 of 4 files match"), "{said}");
}
