//! `study anatomy` where no kernel can be asked: simulated drives, and what has no device below.

use crate::cli_user::User;
use std::path::Path;

#[test]
fn a_simulated_drive_has_only_a_device() {
    let user = User::new();
    let target = "sim:textbook,capacity=1GiB";
    let line = ["study", "anatomy", target, "--quick", "--seed", "7", "--json"];
    let json = user.types(&line).fine().json();
    let findings = &json["findings"];
    let parts: Vec<&str> = findings["not_applicable"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|remark| remark["cell"].as_str().expect("a part"))
        .collect();
    assert_eq!(parts, ["submit", "kernel queue", "wake-up"]);
    let said = findings["verdict"][0].as_str().expect("a verdict");
    assert!(
        said.contains("random read of 4 KiB at depth 1 takes") && said.contains("in the device"),
        "{said}"
    );
    // What it says of the stages adds up to the whole, and is what the profile has.
    let stack = &findings["stacks"][0];
    assert_eq!(stack["parts"][0], "host command");
    let bar = &stack["bars"][0];
    assert_eq!(bar["label"], "random read qd1");
    let values = bar["values"].as_array().expect("values").iter();
    let sum: f64 = values.map(|value| value.as_f64().expect("a number")).sum();
    // What it says of the device is what the run measured there.
    let figure = &findings["figures"][0]["estimate"]["value"];
    let cells = json["steps"].as_array().expect("steps").iter();
    let means: Vec<f64> = cells
        .filter(|step| step["name"] == "random read qd1")
        .map(|step| step["streams"][0]["read"]["service_ns"]["mean"].as_f64().expect("a mean"))
        .collect();
    let mean = means.iter().sum::<f64>() / means.len() as f64;
    assert!((figure.as_f64().expect("a figure") / mean - 1.0).abs() < 1e-9, "{figure} {mean}");
    // All I/Os against the mean of the repetitions, which have not all as many.
    assert!((sum / mean - 1.0).abs() < 1e-3, "{sum} {mean}");
    assert!(said.contains("host command 5.00 µs"), "{said}");
}

#[test]
fn shares_of_several_targets_stand_in_one_stack() {
    let user = User::new();
    let drives = ["sim:momentus-7200", "sim:sata-mlc,capacity=2GiB", "sim:nvme-tlc,capacity=2GiB"];
    let line = [&["study", "anatomy"][..], &drives, &["--quick", "--seed", "7", "--json"]].concat();
    let json = user.types(&line).fine().json();
    let stacks = json["findings"]["stacks"].as_array().expect("stacks");
    let [stack] = stacks.as_slice() else { panic!("{stacks:?}") };
    assert_eq!(stack["unit"], "share");
    let parts: Vec<&str> =
        stack["parts"].as_array().expect("parts").iter().filter_map(|it| it.as_str()).collect();
    for part in ["host command", "link", "queue", "flash", "seek", "rotation"] {
        assert!(parts.contains(&part), "{parts:?}");
    }
    let bars = stack["bars"].as_array().expect("bars");
    assert_eq!(bars.len(), 12, "two kinds at two depths, each of three drives");
    for bar in bars {
        let values = bar["values"].as_array().expect("values").iter();
        let sum: f64 = values.filter_map(serde_json::Value::as_f64).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{bar}");
    }
    let share = |label: &str, part: &str| {
        let bar = bars.iter().find(|bar| bar["label"] == label).expect("a bar");
        let place = parts.iter().position(|known| *known == part).expect("a part");
        bar["values"][place].as_f64().expect("a share")
    };
    assert!(share("random read qd1, momentus-7200", "seek") > 0.3);
    let of_flash = |drive: &str| share(&format!("random read qd1, {drive}"), "flash");
    assert_eq!(of_flash("momentus-7200"), 0.0);
    assert!(of_flash("sata-mlc") > 0.3 && of_flash("nvme-tlc") > 0.5);
}

#[test]
fn a_target_without_a_device_is_refused_with_the_way_out() {
    let user = User::new();
    let tmpfs = Path::new("/dev/shm");
    let target = tempfile::tempdir_in(tmpfs).expect("a directory in memory");
    let path = target.path().to_str().expect("UTF-8");
    let line = ["study", "anatomy", path, "--quick", "--size", "64MiB"];
    user.types(&line).refused(2, "there is none below");
}

#[test]
fn of_a_drive_too_large_for_the_budget_the_first_bytes_are_used() {
    let user = User::new();
    let line = ["study", "anatomy", "sim:nvme-tlc", "--quick", "--seed", "7", "--json"];
    let json = user.types(&line).fine().json();
    let fill = json["steps"].as_array().expect("steps").iter().find(|step| step["name"] == "fill");
    let written = &fill.expect("a fill")["streams"][0]["write"]["bytes"];
    assert_eq!(written.as_u64(), Some(2560 << 20), "a quarter of the budget");
    let unknown = json["findings"]["unknown"][0].as_str().expect("what is not known");
    assert!(unknown.contains("only the first 2560MiB of"), "{unknown}");
}
