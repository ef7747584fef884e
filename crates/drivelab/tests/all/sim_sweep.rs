//! `sim sweep`: one study of one simulated drive with a parameter varied.

use crate::cli_user::User;

#[test]
fn more_spare_flash_writes_less_and_faster() {
    let user = User::new();
    let line = ["sim", "sweep", "textbook,capacity=128MiB", "spare=0.07,0.15,0.4", "--seed", "7"];
    let json = user.types(&[&line[..], &["--json"]].concat()).fine().json();
    let sweep = &json["sweep"];
    assert_eq!(sweep["key"], "spare");
    assert_eq!(sweep["values"], serde_json::json!(["0.07", "0.15", "0.4"]));
    let table = &json["findings"]["tables"][0];
    let column = |name: &str| -> Vec<f64> {
        let heads = table["heads"].as_array().unwrap();
        let place = heads.iter().position(|head| head["name"] == name).unwrap();
        let rows = table["rows"].as_array().unwrap().iter();
        rows.map(|row| row[place].as_f64().unwrap()).collect()
    };
    let (rate, amplification) = (column("steady state"), column("write amplification"));
    assert!(rate.is_sorted_by(|one, other| one < other), "{rate:?}");
    assert!(amplification.is_sorted_by(|one, other| one > other), "{amplification:?}");
    // What is not collected is written: the product of both is what the flash takes.
    let product: Vec<f64> = rate.iter().zip(&amplification).map(|(a, b)| a * b).collect();
    let (first, last) = (product[0], product[2]);
    assert!((first / last - 1.0).abs() < 0.1, "{product:?}");
    let pictures = json["findings"]["pictures"].as_array().unwrap();
    assert_eq!(pictures.len(), 2);
    assert_eq!(pictures[0]["lines"][0]["points"][1][0], 0.15);
    assert_eq!(json["runs"].as_array().unwrap().len(), 3);
    let text = user.types(&line).fine().out;
    assert!(text.contains("Write amplification: "), "{text}");
    assert!(text.contains("it falls from"), "{text}");
    assert!(text.contains("steady state by spare") && text.contains('▇'), "{text}");
    let mut bars = text.lines().filter(|line| line.contains('▇'));
    assert!(bars.all(|line| line.chars().count() <= 80), "{text}");
    let pages = user.listing();
    let page = pages.iter().find(|name| name.starts_with("drivelab-wsat-")).unwrap();
    let page = std::fs::read_to_string(user.work().join(page)).unwrap();
    assert!(page.contains("Write amplification by spare") && page.contains("<svg"));
}

#[test]
fn a_large_drive_is_made_small_and_the_line_says_so() {
    let user = User::new();
    let line = ["sim", "sweep", "textbook", "spare=0.1..0.3/2", "--seed", "7", "--dry-run"];
    let text = user.types(&line).fine().out;
    assert!(text.contains("# sim:textbook,capacity=512MiB,spare=0.1\n"), "{text}");
    assert!(text.contains("# sim:textbook,capacity=512MiB,spare=0.3\n"), "{text}");
    let line = ["sim", "sweep", "textbook", "capacity=256MiB,512MiB", "--dry-run"];
    let text = user.types(&line).fine().out;
    assert!(text.contains("# sim:textbook,capacity=256MiB\n"), "{text}");
}

#[test]
fn what_cannot_be_swept_is_refused_before_anything_runs() {
    let user = User::new();
    let refused = |profile: &str, range: &str, study: &str, says: &str| {
        user.types(&["sim", "sweep", profile, range, "--study", study]).refused(2, says);
    };
    refused("textbok", "spare=0.1..0.3", "wsat", "textbook");
    refused("textbook", "spar=0.1..0.3", "wsat", "spar");
    refused("textbook", "spare=0.3..0.1", "wsat", "does not rise");
    refused("textbook,spare=0.1", "spare=0.1..0.3", "wsat", "gives it a value too");
    refused("textbook", "spare=0.1..0.3", "rank", "several drives at once");
    refused("textbook", "spare=0.1..0.3", "nonesuch", "there is no study");
    assert!(!user.runs().exists());
}
