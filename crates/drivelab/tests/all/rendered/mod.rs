//! Reports as a browser shows them: on a desk and on a phone, light and dark.

mod browser;
#[allow(dead_code, reason = "the tests of reports use the rest")]
#[path = "../../../../report/tests/all/sample/mod.rs"]
mod sample;
mod studies;

use crate::cli_user::User;
use browser::{Case, Scheme, rendered};
use drivelab_core::run::Run;
use drivelab_core::summary::{Reason, summarise};
use drivelab_report::html;
use serde_json::Value;
use std::path::Path;

/// Windows: a desk and a phone.
const WINDOWS: [(u32, u32); 2] = [(1280, 800), (390, 844)];
/// A line of text at the top of a paragraph.
const LINE: f64 = 20.0;

fn page(run: &Run) -> String {
    html::page(run, &summarise(run))
}

/// A check in which every kind of trouble came: suspect cells with long reasons, heat, a cut.
fn troubled_page() -> String {
    let mut run = sample::check_run();
    for step in run.steps.iter_mut().filter(|step| step.begin.name.contains("random")) {
        let origin = step.tallies[0].from;
        let end = step.end.as_mut().unwrap();
        let observed = end.observed.get_or_insert_default();
        observed.temperatures = (0..3)
            .map(|second| drivelab_core::observed::Temperature {
                device: "nvme0n1".to_owned(),
                at: origin + second * 900_000_000,
                celsius: 61.0 + second as f64,
                celsius_max: Some(70.0),
            })
            .collect();
        if step.begin.repetition == 3 {
            end.incomplete = Some("the drive was taken away".to_owned());
        }
    }
    let mut summary = summarise(&run);
    let reasons = [
        ("io_quota", "our control group allows 1,000 reads a second on 259:0, and 998 were done"),
        ("depth_not_reached", "11.2 of 32 operations were in flight on average"),
        ("other_io", "another process wrote 1.2 GiB on nvme0n1 meanwhile, 31 % of all"),
    ];
    let reasons = reasons.map(|(code, text)| Reason { code: code.to_owned(), text: text.into() });
    for (index, step) in summary.steps.iter_mut().enumerate() {
        step.valid = Some(step.repetition != 2);
        step.reasons = if step.repetition == 2 { vec![reasons[index % 3].clone()] } else { vec![] };
    }
    for cell in &mut summary.cells {
        cell.valid = Some(cell.name.contains("sequential"));
        if cell.valid == Some(false) {
            cell.reasons = reasons.to_vec();
        }
        cell.unchecked.push(reasons[0].clone());
    }
    let findings = summary.findings.as_mut().unwrap();
    findings.suspect = reasons
        .iter()
        .map(|reason| format!("Random read, random write: {}.", reason.text))
        .collect();
    findings.beware.extend(findings.suspect.clone());
    html::page(&run, &summary)
}

/// A run of the program itself, on a real file.
fn real_page() -> String {
    let user = User::new();
    let line = ["run", ".", "--rw", "randrw", "--size", "8MiB", "--io", "buffered"];
    let said = user.types(&[&line[..], &["--runtime", "1", "--out", "page.html"]].concat());
    // What the page cache answered is suspect: that is shown, and is no answer.
    assert!(matches!(said.status, Some(0 | 4)), "{}\n{}", said.out, said.err);
    std::fs::read_to_string(user.work().join("page.html")).unwrap()
}

/// What a page must not hold, wherever it is read.
fn addresses(page: &str) -> Vec<String> {
    let banned = ["http:", "https:", "src=", "@import", "url(", "<link", "<iframe", "\"//"];
    let found = banned.iter().filter(|word| page.contains(**word));
    found.map(|word| format!("address: {word}")).collect()
}

/// Everything wrong with a page in one window.
fn faults(page: &str, result: &Value, (width, height): (u32, u32), scheme: Scheme) -> Vec<String> {
    let mut faults = addresses(page);
    let words = result["faults"].as_array().unwrap();
    faults.extend(words.iter().map(|fault| fault.as_str().unwrap().to_owned()));
    if (result["width"].as_u64(), result["height"].as_u64())
        != (Some(u64::from(width)), Some(u64::from(height)))
    {
        faults.push(format!("window: {} by {}", result["width"], result["height"]));
    }
    let limit = f64::from(height);
    let is_desk = width > 1000;
    // On a desk the whole verdict and the numbers, on a phone where the verdict begins.
    let verdict = match is_desk {
        true => result["verdict_bottom"].as_f64(),
        false => result["verdict_top"].as_f64().map(|top| top + LINE),
    };
    if verdict.is_none_or(|verdict| verdict > limit) {
        faults.push(format!("verdict: it ends at {verdict:?} of {limit}"));
    }
    if let Some(numbers) = result["numbers_bottom"].as_f64().filter(|_| is_desk)
        && numbers > limit
    {
        faults.push(format!("numbers: they end at {numbers} of {limit}"));
    }
    let brightness: u32 = result["background"]
        .as_str()
        .unwrap()
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|number| number.parse::<u32>().ok())
        .take(3)
        .sum();
    if (brightness < 200) != (scheme == Scheme::Dark) {
        faults.push(format!("scheme: the paper is {} in {scheme:?}", result["background"]));
    }
    faults
}

/// Every page in every window.
fn cases<'a>(pages: &'a [(&str, String)]) -> Vec<Case<'a>> {
    let of_page = |(name, page): &'a (&str, String)| {
        WINDOWS.map(|(width, height)| Case { name: format!("{name} {width}"), page, width, height })
    };
    pages.iter().flat_map(of_page).collect()
}

#[test]
fn reports_are_sound_at_both_widths_light_and_dark() {
    let check = page(&sample::check_run());
    let (before, after) = check.split_once("<script>").unwrap();
    let without_script = format!("{before}{}", after.split_once("</script>").unwrap().1);
    let pages = [
        ("check", check),
        ("check without its script", without_script),
        ("troubled check", troubled_page()),
        ("killed check", page(&sample::killed_run())),
        ("open loop with a gap", page(&sample::single_run())),
        ("run of the program", real_page()),
        ("nothing", page(&Run::default())),
    ];
    for (name, page) in &pages {
        // Left in the target directory, to be looked at.
        let file = format!("{}.html", name.replace(' ', "-"));
        std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join(file), page).unwrap();
    }
    let cases = cases(&pages);
    let mut all = Vec::new();
    for scheme in [Scheme::Light, Scheme::Dark] {
        let results = rendered(&cases, scheme);
        for case in &cases {
            let result = &results[&case.name];
            for fault in faults(case.page, result, (case.width, case.height), scheme) {
                all.push(format!("{} {scheme:?}: {fault}", case.name));
            }
            let texts = |key: &str| result[key].as_u64().unwrap();
            assert!(texts("texts") > 15, "{}: nearly nothing was seen: {result}", case.name);
            assert!(texts("texts_open") >= texts("texts"), "{}", case.name);
        }
    }
    assert!(all.is_empty(), "{} faults:\n{}", all.len(), all.join("\n"));
}

#[test]
fn the_script_reads_values_hides_curves_and_widens_time() {
    let pages = [("check", page(&sample::check_run())), ("open", page(&sample::single_run()))];
    let results = rendered(&cases(&pages), Scheme::Light);
    for (name, result) in results {
        let script = &result["script"];
        let said = script["crosshair"].as_str().unwrap();
        assert!(said.contains(" s · reads ") && said.contains("p99 "), "{name}: {said}");
        assert_eq!(script["hidden"], true, "{name}: {script}");
        assert_eq!(script["zoomed"], true, "{name}: {script}");
        assert_eq!(script["restored"], true, "{name}: {script}");
        assert!(script["ticks"].as_u64().unwrap() >= 2, "{name}: {script}");
    }
}

/// Each fault, planted at the end of the verdict or before it, with the word that must find it.
const PLANTED: [(&str, &str, &str); 15] = [
    ("overflow: the page is", "</main>", "<div style=\"width:2000px;height:9px\"></div></main>"),
    ("overflow: \"far\"", "</main>", "<p style=\"position:fixed;left:-3em\">far</p></main>"),
    ("overlap: \"below\"", "</main>", "<p>below</p><p style=\"margin-top:-1.6em\">x</p></main>"),
    (
        "overlap: \"one\"",
        "</main>",
        "<svg aria-label=\"x\" viewBox=\"0 0 90 30\"><text x=\"9\" y=\"20\">one</text>\
         <text x=\"12\" y=\"24\">two</text></svg></main>",
    ),
    (
        "overlap: \"hidden once\"",
        "</main>",
        "<details><summary>more</summary><p>hidden once</p>\
         <p style=\"margin-top:-1.6em\">x</p></details></main>",
    ),
    ("contrast: \"pale\"", "</main>", "<p style=\"color:#777\">pale</p></main>"),
    (
        "contrast: \"shaded\"",
        "</main>",
        "<svg aria-label=\"x\" viewBox=\"0 0 90 30\"><rect width=\"90\" height=\"30\" \
         fill=\"#777\"/><text x=\"9\" y=\"20\" style=\"fill:#666\">shaded</text></svg></main>",
    ),
    ("verdict: it ends", "<section", "<div style=\"height:900px\"></div><section"),
    ("address: https:", "</main>", "<img alt=\"\" src=\"https://127.0.0.1:9/x.png\"></main>"),
    ("heading: h5", "</main>", "<h5>deep</h5></main>"),
    (
        "cut: \"a long label\"",
        "</main>",
        "<figure><svg aria-label=\"x\" viewBox=\"0 0 90 30\"><rect width=\"9\" height=\"9\"/>\
         <text x=\"60\" y=\"20\">a long label</text></svg></figure></main>",
    ),
    (
        "cut: \"shorten…\"",
        "</main>",
        "<figure><svg aria-label=\"x\" viewBox=\"0 0 90 30\"><rect width=\"9\" height=\"9\"/>\
         <text x=\"2\" y=\"20\">shorten…</text></svg></figure></main>",
    ),
    (
        "clipped: planted",
        "</main>",
        "<figure><svg aria-label=\"planted\" viewBox=\"0 0 90 30\"><svg class=\"plot\" \
         width=\"90\" height=\"30\" viewBox=\"0 0 90 30\"><path class=\"line\" \
         d=\"M0 9L90 60\"/></svg></svg></figure></main>",
    ),
    (
        "clipped: beyond",
        "</main>",
        "<figure><svg aria-label=\"beyond\" viewBox=\"0 0 90 30\"><circle class=\"dot\" cx=\"99\" \
         cy=\"9\" r=\"3\"/></svg></figure></main>",
    ),
    (
        "empty: hollow",
        "</main>",
        "<figure><svg aria-label=\"hollow\" viewBox=\"0 0 90 30\"><path class=\"axis\" \
         d=\"M0 9H90\"/><svg class=\"plot\" width=\"90\" height=\"30\"></svg></svg></figure>\
         </main>",
    ),
];

#[test]
fn a_planted_fault_is_found() {
    let good = page(&sample::killed_run());
    let mut pages = vec![("good", good.clone())];
    for (word, place, with) in PLANTED {
        pages.push((word, good.replacen(place, with, 1)));
    }
    pages.push(("script: ", good.replacen("<script>", "<script>absent();", 1)));
    let cases = cases(&pages);
    for scheme in [Scheme::Light, Scheme::Dark] {
        let results = rendered(&cases, scheme);
        for (word, page) in &pages {
            for window in WINDOWS {
                let result = &results[&format!("{word} {}", window.0)];
                let faults = faults(page, result, window, scheme);
                match *word {
                    "good" => assert!(faults.is_empty(), "{faults:#?}"),
                    word => {
                        let is_found = faults.iter().any(|fault| fault.contains(word));
                        assert!(is_found, "{word} in {window:?} {scheme:?}: {faults:#?}");
                    }
                }
            }
        }
        let wrong = if scheme == Scheme::Light { Scheme::Dark } else { Scheme::Light };
        let swapped = faults(&good, &results["good 1280"], WINDOWS[0], wrong);
        assert!(swapped.iter().any(|fault| fault.starts_with("scheme: ")), "{swapped:?}");
        let narrow = faults(&good, &results["good 1280"], WINDOWS[1], scheme);
        assert!(narrow.iter().any(|fault| fault.starts_with("window: ")), "{narrow:?}");
    }
}
