//! One picture of a check to show, and results without names that lead to their owner.

use crate::cli_user::User;

const CHECK: [&str; 4] = ["check", "sim:textbook,capacity=256MiB", "--seed", "7"];

/// What is written in a picture: its lines, and where they end at most.
fn reach(svg: &str) -> Vec<(f64, String)> {
    let texts = svg.split("<text ").skip(1);
    let of = |text: &str| {
        let x: f64 = text.split("x=\"").nth(1)?.split('"').next()?.parse().ok()?;
        let words = text.split('>').nth(1)?.split('<').next()?.to_owned();
        let class = text.split("class=\"").nth(1).unwrap_or("\"").split('"').next()?;
        let [size, wide] = match class {
            "t" => [21.0, 0.66],
            "f" | "f w" => [13.0, 0.58],
            _ => [15.0, 0.58],
        };
        let is_right = class.split(' ').any(|one| one == "r" || one == "n");
        let width = words.chars().count() as f64 * size * wide;
        Some((if is_right { x } else { x + width }, words))
    };
    texts.filter_map(of).collect()
}

#[test]
fn a_card_is_the_picture_that_its_name_says() {
    let user = User::new();
    for name in ["card.svg", "card.png"] {
        user.types(&[&CHECK[..], &["--card", name]].concat()).fine();
    }
    let svg = std::fs::read_to_string(user.work().join("card.svg")).unwrap();
    let lines = reach(&svg);
    assert!(lines.len() > 20, "{svg}");
    for (end, words) in lines {
        assert!(end <= 800.0, "{words} ends at {end} of 800 in a wide font");
    }
    let png = std::fs::read(user.work().join("card.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && png.len() > 20_000, "{}", png.len());
    let refused = user.types(&[&CHECK[..], &["--card", "card.gif"]].concat());
    assert_eq!(refused.status, Some(2));
    assert!(refused.err.contains("--card card.png"), "{}", refused.err);
    user.types(&["report", "last", "--card", "card.png"]).fine();
    user.write("mine.png", "holidays");
    let refused = user.types(&["report", "last", "--card", "mine.png"]);
    assert_eq!(refused.status, Some(3), "{}", refused.err);
}

#[test]
fn a_redacted_check_names_no_host() {
    let user = User::new();
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let tag = format!("bought for {host}");
    // A simulated drive has no host.
    let quick = ["check", ".", "--time", "4s", "--budget", "256MiB", "--out", "page.html"];
    let mine = [&quick[..], &["--tag", &tag, "--redact"]].concat();
    let said = user.types(&mine);
    assert!(matches!(said.status, Some(0 | 4)), "{}", said.err);
    let clean = said.out + &std::fs::read_to_string(user.work().join("page.html")).unwrap();
    assert!(!clean.contains(&tag) && clean.contains("bought for [host]"), "{clean}");
    let kept = std::fs::read_to_string(user.last_run()).unwrap();
    assert!(kept.contains(&tag), "the run file keeps it");
}
