//! Run files that an earlier drivelab wrote (November 2026) are read as they were then.

use crate::cli_user::User;
use std::path::{Path, PathBuf};

fn before(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/before").join(format!("{name}.jsonl"))
}

#[test]
fn figures_are_those_of_then() {
    let user = User::new();
    let path = before("run-one");
    let json = user.types(&["report", path.to_str().unwrap(), "--json"]).json();
    let write = &json["steps"][0]["streams"][0]["write"];
    assert_eq!(write["ops"], 80_118);
    assert_eq!(write["service_ns"]["p99"], 5259);
    for name in ["check-broken-off", "accept-broken-off", "wsat-broken-off"] {
        let said = user.types(&["report", before(name).to_str().unwrap(), "--json"]).fine();
        let json = said.json();
        assert_eq!(json["complete"], false, "{name}");
        assert!(!json["steps"].as_array().unwrap().is_empty(), "{name}");
    }
}

#[test]
fn runs_of_then_are_compared() {
    let user = User::new();
    let [one, two] = ["run-one", "run-two"].map(before);
    let line = ["compare", one.to_str().unwrap(), two.to_str().unwrap(), "--json"];
    let json = user.types(&line).json();
    let cells = json["cells"].as_array().unwrap();
    assert!(cells.iter().all(|cell| cell["name"].as_str().unwrap().contains("write")));
    assert!(!cells.is_empty());
}

#[test]
fn a_study_of_then_goes_on_and_a_check_of_then_says_why_not() {
    let user = User::new();
    let copy = |name: &str| {
        let content = std::fs::read_to_string(before(name)).unwrap();
        user.write(&format!("{name}.jsonl"), content)
    };
    let wsat = copy("wsat-broken-off");
    let json = user.types(&["resume", wsat.to_str().unwrap(), "--json"]).json();
    assert_eq!(json["complete"], true);
    let check = copy("check-broken-off");
    user.types(&["resume", check.to_str().unwrap()]).refused(2, "`check` could not be resumed yet");
}
