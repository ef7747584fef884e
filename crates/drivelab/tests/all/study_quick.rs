//! `--quick`: every study on every profile, or the line that does it.

use crate::cli_user::User;
use serde_json::Value;

#[test]
fn quick_works_on_every_profile_or_says_what_to_type() {
    let user = User::new();
    let listed = user.types(&["sim", "list", "--json"]).fine().json();
    let known = listed["simulated"].as_array().unwrap();
    let profiles: Vec<&str> = known.iter().map(|it: &Value| it["name"].as_str().unwrap()).collect();
    assert!(profiles.len() >= 20, "{listed}");
    for study in
        ["aa", "wsat", "trim", "pts-iops", "stutter", "mix", "endurance", "files", "stride", "meta"]
    {
        for profile in &profiles {
            let target = format!("sim:{profile}");
            let line = ["study", study, &target, "--quick", "--dry-run", "--seed", "1"];
            let first = user.types(&line);
            if first.status == Some(0) {
                assert!(!first.out.contains("24000h"), "{study} {profile}: {}", first.out);
                continue;
            }
            assert_eq!(first.status, Some(2), "{study} {profile}: {}", first.err);
            if !first.err.contains("too large for --quick") {
                // An array has no capacity to make smaller: the budget is what is named.
                assert!(first.err.contains("give "), "{study} {profile}: {}", first.err);
                continue;
            }
            let typed = first.err.split("drivelab study ").last().unwrap();
            let words: Vec<&str> = typed.split_whitespace().collect();
            let line = [&["study"], &words[..3], &["--dry-run", "--seed", "1"]].concat();
            user.types(&line).fine();
        }
    }
}

#[test]
fn without_an_answer_quick_says_what_may_have_one() {
    let user = User::new();
    let quick = |target: &str| {
        let ended = user.types(&["study", "pts-tp", target, "--quick", "--seed", "1", "--json"]);
        (ended.status, ended.json()["findings"]["unknown"].to_string())
    };
    let (status, unknown) = quick("sim:sata-mlc");
    assert_eq!(status, Some(4), "{unknown}");
    let way = "`drivelab study pts-tp sim:sata-mlc,capacity=1GiB --quick`";
    assert!(unknown.contains(way), "{unknown}");
    assert_eq!(quick("sim:sata-mlc,capacity=1GiB").0, Some(0));
    // A smaller volume has another quota, and is no way to learn about this one.
    let (status, unknown) = quick("sim:gp2");
    assert_eq!(status, Some(4), "{unknown}");
    assert!(unknown.contains("`drivelab study pts-tp sim:gp2`."), "{unknown}");
    assert!(!unknown.contains("capacity="), "{unknown}");
}
