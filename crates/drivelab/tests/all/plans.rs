//! The plans that come with drivelab run as they are.

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
