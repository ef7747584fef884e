//! `stutter`, from the typed line to the grade, on simulated drives that freeze and that do not.

use crate::cli_user::{User, estimate, said};
use serde_json::Value;

const FREEZE_NS: u64 = 100_000_000;

fn quick(user: &User, target: &str, status: i32) -> Value {
    let line = ["study", "stutter", target, "--quick", "--seed", "7", "--json"];
    user.types(&line).status(status).json()
}

fn table<'a>(json: &'a Value, title: &str) -> Option<&'a Value> {
    let tables = json["findings"]["tables"].as_array().unwrap();
    tables.iter().find(|table| table["title"].as_str().unwrap().starts_with(title))
}

fn named<'a>(json: &'a Value, name: &str) -> Vec<&'a Value> {
    json["steps"].as_array().unwrap().iter().filter(|step| step["name"] == name).collect()
}

/// Freezes of the reader next to the writer and the time they were seen in, counted from the steps.
fn freezes_and_seconds(json: &Value) -> (f64, f64) {
    let steps = named(json, "reader with a writer");
    let readers = steps.iter().map(|step| &step["streams"][0]);
    let length = |gap: &Value| gap["to"].as_u64().unwrap() - gap["from"].as_u64().unwrap();
    let (mut freezes, mut seconds) = (0, 0.0);
    for reader in readers {
        assert_eq!(reader["name"], "reader");
        let gaps = reader["gaps"]["list"].as_array().unwrap();
        freezes += gaps.iter().filter(|gap| length(gap) >= FREEZE_NS).count();
        seconds += reader["seconds"].as_f64().unwrap();
    }
    (freezes as f64, seconds)
}

#[test]
fn a_drive_that_freezes_is_found_out() {
    let user = User::new();
    let json = quick(&user, "sim:ocz-core,state=filled", 1);
    let verdict = said(&json, "verdict");
    assert!(verdict.contains("Grade F: your machine would freeze"), "{verdict}");
    assert!(verdict.contains("the same reader never waited"), "{verdict}");
    assert!(said(&json, "beware").contains("A desktop writes all the time"));
    // Four merges of a quarter of a second each: the model's own worst case.
    let longest = estimate(&json, "longest wait of a reader")["value"].as_f64().unwrap();
    assert!((240e6..1010e6).contains(&longest), "{longest}");
    let (freezes, seconds) = freezes_and_seconds(&json);
    let a_minute = estimate(&json, "freezes a minute");
    // Watched is a little less than the reader ran: the writer next to it ended first.
    let off = a_minute["value"].as_f64().unwrap() / (60.0 * freezes / seconds) - 1.0;
    assert!((-1e-9..0.02).contains(&off), "{off}");
    assert!(seconds > 179.8, "{seconds}");
    assert!(a_minute["low"].as_f64().unwrap() > 20.0, "{a_minute}");
    assert!(estimate(&json, "time in freezes")["low"].as_f64().unwrap() > 0.9);
    let alone = estimate(&json, "longest wait of a reader alone")["value"].as_f64().unwrap();
    assert!(alone < 0.1 * longest, "{alone}");
    let mean = estimate(&json, "random write 4 KiB, mean")["value"].as_f64().unwrap();
    assert!((mean / 244e6 - 1.0).abs() < 0.15, "published: 244 ms, here {mean}");
    let comparison = &json["findings"]["comparison"]["cells"][0];
    assert_eq!(comparison["verdict"], "changed", "{comparison}");
}

#[test]
fn a_drive_that_does_not_freeze_is_not_accused() {
    for target in ["sim:x25-e,capacity=1GiB", "sim:nvme-tlc,capacity=64GiB,state=filled"] {
        let user = User::new();
        let json = quick(&user, target, 0);
        let verdict = said(&json, "verdict");
        assert!(verdict.contains("Grade A: no freeze was seen"), "{target}: {verdict}");
        assert_eq!(said(&json, "beware"), "", "{target}");
        let (freezes, seconds) = freezes_and_seconds(&json);
        assert_eq!(freezes, 0.0);
        let a_minute = estimate(&json, "freezes a minute");
        assert_eq!(a_minute["value"], 0.0);
        // What was not seen in so long may still come: 3.69 of it, at most.
        let high = a_minute["high"].as_f64().unwrap();
        assert!((high - 3.6889 * 60.0 / seconds).abs() < 1e-2 * high, "{high} in {seconds}");
        assert!(seconds > 179.8, "one-sided 95 %: 3.0 in {seconds} s");
        // The bound is the end of the interval in the table.
        let bound = format!("{high:.2} a minute or more are ruled out (95 %)");
        assert!(verdict.contains(&bound), "{verdict}");
        assert!(table(&json, "Compared with published figures").is_none(), "{target}");
    }
}

#[test]
fn the_tables_of_the_old_review_stand_beside_it() {
    let user = User::new();
    // A disk has few operations to simulate.
    let line = ["study", "stutter", "sim:momentus-7200,state=filled", "--seed", "7", "--json"];
    let json = user.types(&line).fine().json();
    assert!(said(&json, "verdict").contains("Grade B: no freeze was seen"));
    for (title, rows) in [
        ("Random writes by size", 6),
        ("Writes of 4 KiB by share of sequence", 4),
        ("Random writes of 4 KiB by depth", 7),
        ("The grade", 6),
        ("Waits of one reader", 2),
    ] {
        let found = table(&json, title).unwrap_or_else(|| panic!("no {title}"));
        assert_eq!(found["rows"].as_array().unwrap().len(), rows, "{title}");
    }
    let by_depth = &table(&json, "Random writes of 4 KiB by depth").unwrap()["rows"];
    let mean = |row: usize| by_depth[row][3].as_f64().unwrap();
    assert!((mean(6) / (64.0 * mean(0)) - 1.0).abs() < 0.05, "Little's law: {by_depth}");
    let published = table(&json, "Compared with published figures").unwrap();
    let words: Vec<&str> =
        published["rows"].as_array().unwrap().iter().map(|row| row[4].as_str().unwrap()).collect();
    assert_eq!(words, ["hit, fitted", "hit, fitted", "hit, fitted", "miss, fitted"]);
    assert!(published["note"].as_str().unwrap().starts_with("3 of 4 hit"));
}

#[test]
fn every_cell_comes_five_times_in_shuffled_rounds() {
    let user = User::new();
    let json = quick(&user, "sim:x25-e,capacity=1GiB", 0);
    let names: Vec<&str> =
        json["steps"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names[..2], ["fill", "random write, to age"]);
    let (settling, names): (Vec<&str>, Vec<&str>) =
        names.iter().partition(|name| name.ends_with(", settling"));
    assert_eq!(settling.len() + 2, names.len(), "each cell has its load before it");
    let rounds: Vec<Vec<&str>> = names[2..].chunks(6).map(<[&str]>::to_vec).collect();
    assert_eq!(rounds.len(), 5, "{names:?}");
    assert!(rounds.iter().any(|round| *round != rounds[0]), "each round has an order of its own");
    for mut round in rounds {
        round.sort_unstable();
        round.dedup();
        assert_eq!(round.len(), 6, "every cell once a round: {round:?}");
    }
}

#[test]
fn a_file_is_served_and_bounds_are_kept() {
    let user = User::new();
    let bounds = ["--quick", "--budget", "512MiB", "--time", "15s", "--size", "64MiB"];
    let line = [&["study", "stutter", ".", "--seed", "7", "--json"], &bounds[..]].concat();
    let said_it = user.types(&line);
    assert!(matches!(said_it.status, Some(0 | 1 | 4)), "{}", said_it.err);
    let json = said_it.json();
    let (mut written, mut seconds) = (0, 0.0);
    for stream in json["steps"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|step| step["streams"].as_array().unwrap().iter())
    {
        written += stream["write"]["bytes"].as_u64().unwrap_or(0);
        seconds += stream["seconds"].as_f64().unwrap_or(0.0);
    }
    assert!(written <= 512 << 20, "{written}");
    assert!(written > 64 << 20, "it was filled and written: {written}");
    assert!(seconds < 30.0, "two streams at most, of 15 s: {seconds}");
    assert!(said(&json, "deviations").contains("A file, not a drive"));
    assert_eq!(user.listing(), [""; 0], "scratch was left behind");
}

#[test]
fn what_was_left_empty_is_said() {
    let user = User::new();
    let line = ["study", "stutter", "sim:x25-e", "--quick", "--budget", "1GiB"];
    let json = user.types(&[&line[..], &["--seed", "1", "--json"]].concat()).fine().json();
    let unknown = said(&json, "unknown");
    assert!(unknown.contains("How a full drive does: 256 MiB of"), "{unknown}");
    user.types(&[&line[..5], &["100MiB"]].concat()).refused(2, "too small for `stutter`");
}

/// The letters in which a drive may come out, if a run of any length may be one step off.
fn letters(period_s: f64, length_ms: f64) -> &'static [&'static str] {
    // Waits of the reader begin when it is in flight, so that a stall is a freeze of its length.
    let (a_minute, share) = (60.0 / period_s, length_ms / 1000.0 / period_s);
    match () {
        () if length_ms < 100.0 => &["A", "B", "C"],
        () if share >= 0.1 => &["E", "F"],
        () if share >= 0.03 => &["D", "E", "F"],
        () if share >= 0.01 || a_minute >= 10.0 => &["C", "D", "E"],
        () if a_minute >= 1.0 => &["B", "C", "D"],
        () => &["A", "B", "C"],
    }
}

/// The large writes of other cells fill the cache of an array, which takes seconds to be written
/// down: what the reader waits then is not what the writer next to it does (a seed of the swarm).
#[test]
fn what_other_loads_left_in_a_cache_does_not_freeze_the_reader() {
    let target = "sim:sas-raid5,member.user_bytes=268435456,seed=909,page_cache=268435456";
    let bounds = ["--time", "120s", "--budget", "1GiB", "--seed", "559", "--json"];
    let json = User::new().types(&[&["study", "stutter", target][..], &bounds].concat()).json();
    let verdict = said(&json, "verdict");
    assert!(verdict.contains("Grade B") || verdict.contains("Grade A"), "{verdict}");
}

/// What was planted is graded as it is, whatever the drive and the seed, or not at all.
#[test]
fn planted_stalls_get_their_grade() {
    let drives = ["textbook,capacity=512MiB", "x25-e,capacity=512MiB", "essd"];
    let planted = [(1.0, 300), (5.0, 300), (5.0, 50), (20.0, 1500), (30.0, 120), (90.0, 400)];
    let (mut open, mut all) = (Vec::new(), 0);
    for (number, (period, length)) in planted.into_iter().enumerate() {
        for (place, drive) in drives.iter().enumerate() {
            let user = User::new();
            let seed = (1 + number * drives.len() + place).to_string();
            let target = format!("sim:{drive},stall={period}s:{length}ms,seed={seed}");
            let line = ["study", "stutter", &target, "--quick", "--seed", &seed, "--json"];
            let json = user.types(&line).json();
            let (verdict, unknown) = (said(&json, "verdict"), said(&json, "unknown"));
            all += 1;
            match verdict.split_once("Grade ") {
                Some((_, grade)) => {
                    let expected = letters(period, f64::from(length));
                    assert!(expected.contains(&&grade[..1]), "{target}: {verdict}");
                }
                None => {
                    assert!(unknown.contains("No grade: watched"), "{target}: {unknown}");
                    // Two or three freezes in three minutes tell no rate; others do.
                    if period < 40.0 {
                        open.push(format!("{target}: {unknown}"));
                    }
                }
            }
        }
    }
    assert!(open.len() * 10 <= all, "without a grade, of {all}: {open:#?}");
}

/// 0.9 s, or what fits into 45 s, are no three minutes: no letter, and what would give one.
#[test]
fn a_short_look_gives_no_grade() {
    for (target, time, takes) in [
        ("sim:textbook,capacity=4GiB", "45s", "s of the 180 s it takes"),
        // One freeze was seen; as many as that in so long would tell the grade.
        ("sim:textbook,capacity=4GiB,stall=5s:300ms,seed=4", "12s", "s of the 26 s it takes"),
    ] {
        let user = User::new();
        let line = ["study", "stutter", target, "--time", time, "--seed", "1", "--json"];
        let json = user.types(&line).status(4).json();
        assert!(!said(&json, "verdict").contains("Grade"), "{}", said(&json, "verdict"));
        let unknown = said(&json, "unknown");
        assert!(unknown.contains("No grade: watched") && unknown.contains(takes), "{unknown}");
        let settles = format!("drivelab study stutter {target} --quick");
        assert!(unknown.contains(&settles), "{unknown}");
        // The line that would settle it does.
        let line = ["study", "stutter", target, "--quick", "--seed", "1", "--json"];
        let settled = user.types(&line).json();
        assert!(said(&settled, "verdict").contains("Grade "), "{}", said(&settled, "unknown"));
    }
}

#[test]
fn several_drives_are_curves_of_one_chart_and_multiples_of_the_best() {
    let user = User::new();
    let (fast, slow) = (
        "sim:textbook,capacity=256MiB",
        // Its pages take a hundred times as long to program.
        "sim:textbook,capacity=256MiB,program_ns=20000000",
    );
    let line = ["study", "stutter", slow, fast, "--quick", "--seed", "7", "--json"];
    let json = user.types(&[&line[..], &["--out", "page.html"]].concat()).status(0).json();
    let findings = &json["findings"];
    let pictures = findings["pictures"].as_array().unwrap();
    assert_eq!(pictures.len(), 6, "mean and maximum, by depth, by size, by order");
    for picture in pictures {
        let labels: Vec<&str> = picture["lines"]
            .as_array()
            .unwrap()
            .iter()
            .map(|line| line["label"].as_str().unwrap())
            .collect();
        // What both have in common is left out of their names.
        let short = ["textbook,program_ns=20000000", "textbook"];
        assert_eq!(labels, short, "{}", picture["title"]);
    }
    // The sentence says the ratio of what the curves show at depth 1.
    let depth_1 = |line: usize| pictures[0]["lines"][line]["points"][0][1].as_f64().unwrap();
    let ratio = depth_1(0) / depth_1(1);
    let said = findings["verdict"][0].as_str().unwrap();
    assert!(said.contains("mean latency was lowest on textbook, "), "{said}");
    let times = said.split("takes about ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
    let times: f64 = times.replace(',', "").parse().unwrap();
    assert!((times / ratio - 1.0).abs() < 0.06 && ratio > 10.0, "{ratio}: {said}");
    let page = std::fs::read_to_string(user.work().join("page.html")).unwrap();
    assert!(page.matches("<svg").count() >= 6, "the page draws them");
}
