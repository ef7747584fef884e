//! `study rank` and several targets in one line, on simulated drives of known kinds.

use crate::cli_user::User;
use serde_json::Value;

fn rank(user: &User, targets: &[&str]) -> Value {
    let line = [&["study", "rank"], targets, &["--quick", "--seed", "7", "--json"]].concat();
    user.types(&line).fine().json()
}

fn said(json: &Value) -> Vec<String> {
    let list = json["findings"]["verdict"].as_array().unwrap();
    list.iter().map(|text| text.as_str().unwrap().to_string()).collect()
}

#[test]
fn kinds_of_storage_stand_in_their_order() {
    let user = User::new();
    let targets = [
        "sim:zhou-hdd,capacity=64GiB",
        "sim:nvme-tlc,capacity=64GiB",
        "sim:essd,capacity=64GiB",
        "sim:sata-mlc,capacity=64GiB",
    ];
    let json = rank(&user, &targets);
    let verdict = said(&json);
    let [hdd, nvme, essd, sata] = targets;
    let expected = format!("From the fastest to the slowest: {nvme} > {sata} > {essd} > {hdd}.");
    assert_eq!(verdict[0], expected);
    assert_eq!(json["runs"].as_array().unwrap().len(), 4);
    let cells = json["findings"]["comparison"]["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 3 * 7, "every load of each of the others against the first");
}

#[test]
fn two_drives_of_one_kind_share_a_place() {
    let user = User::new();
    let json = rank(&user, &["sim:x25-e,capacity=512MiB", "sim:x25-e,capacity=512MiB,seed=2"]);
    let verdict = said(&json);
    assert!(verdict[0].contains('≈'), "{verdict:?}");
    let text = verdict.join(" ");
    assert!(text.contains("over all loads cannot be determined"), "{text}");
    let changed = json["findings"]["comparison"]["cells"].as_array().unwrap().iter();
    let changed: Vec<&Value> = changed.filter(|cell| cell["verdict"] == "changed").collect();
    assert!(changed.is_empty(), "{changed:?}");
}

/// What a rested buffer takes is not what the drive keeps up: two drives that differ in nothing but
/// their buffer write alike.
#[test]
fn a_large_buffer_makes_no_drive_faster_in_the_long_run() {
    let user = User::new();
    let drive = |buffer: &str| format!("sim:textbook,capacity=512MiB,buffer_bytes={buffer}");
    let json = rank(&user, &[&drive("1MiB"), &drive("64MiB")]);
    let cells = json["findings"]["comparison"]["cells"].as_array().unwrap();
    for name in ["random write qd1", "random write qd32"] {
        let cell = cells.iter().find(|cell| cell["name"].as_str().unwrap().ends_with(name));
        assert_eq!(cell.unwrap()["verdict"], "equivalent", "{name}: {cell:?}");
    }
}

/// What an array's cache still has to write back slows the reads that follow on writes. The reads
/// that are ranked are those of an array at rest: as fast as the same reads alone.
#[test]
fn reads_are_not_slowed_by_what_was_written_before_them() {
    let user = User::new();
    let target = "sim:sas-raid5,member.user_bytes=512MiB";
    let json = rank(&user, &[target, "sim:zhou-hdd,capacity=4GiB"]);
    let run = json["runs"].as_array().unwrap().iter().find(|run| run["target"] == target).unwrap();
    let ranked = user.types(&["report", run["run"].as_str().unwrap(), "--json"]).fine().json();
    let cells = ranked["cells"].as_array().unwrap();
    let cell = cells.iter().find(|cell| cell["name"] == "random read qd1").unwrap();
    let ranked = cell["streams"][0]["total"]["iops"]["value"].as_f64().unwrap();
    let filled = format!("{target},state=filled");
    let line = ["run", &filled, "--rw", "randread", "--engine", "psync", "--runtime", "10s"];
    let alone = user.types(&[&line[..], &["--seed", "3", "--json"]].concat()).fine().json();
    let alone = alone["cells"][0]["streams"][0]["total"]["iops"]["value"].as_f64().unwrap();
    assert!((ranked / alone - 1.0).abs() < 0.1, "{ranked} in the study, {alone} alone");
}

#[test]
fn any_study_goes_side_by_side() {
    let user = User::new();
    let targets = ["sim:textbook,capacity=512MiB", "sim:textbook,capacity=512MiB,spare=0.12"];
    let line = [&["study", "wsat"], &targets[..], &["--seed", "7"]].concat();
    let text = user.types(&line).fine().out;
    assert!(text.contains("Side by side"), "{text}");
    assert_eq!(text.matches("The write cliff comes after").count(), 2, "{text}");
    let page = user.listing().into_iter().find(|name| name.starts_with("drivelab-wsat")).unwrap();
    let page = std::fs::read_to_string(user.work().join(page)).unwrap();
    assert!(page.contains("side by side") && page.contains("<svg"));
    assert!(page.contains("simulated</b>") && page.contains("no drive was touched"), "{page}");
    assert_eq!(std::fs::read_dir(user.runs()).unwrap().count(), 2, "one run file a target");
}

#[test]
fn what_cannot_be_compared_is_refused_before_anything_is_done() {
    let user = User::new();
    user.types(&["study", "rank", "sim:x25-e"]).refused(2, "only one was named");
    user.types(&["study", "rank", "sim:x25-e", "sim:x25-e"]).refused(2, "is named twice");
    let line = ["study", "rank", "sim:x25-e,capacity=512MiB", "sim:nonsense"];
    user.types(&line).refused(2, "nonsense");
    let line = ["study", "rank", "sim:x25-e", "sim:essd", "--dry-run", "--json"];
    user.types(&line).refused(2, "of one target");
    assert!(!user.runs().exists(), "the first target was not touched either");
}

/// A slow drive is not filled within its part of the time: the loads stay on what was.
#[test]
fn nothing_is_read_that_was_not_written() {
    let user = User::new();
    let json = rank(&user, &["sim:ocz-core", "sim:zhou-ocz"]);
    assert!(said(&json)[0].starts_with("From the fastest to the slowest"), "{:?}", said(&json));
    let mut filled = 0;
    for run in json["runs"].as_array().unwrap() {
        let line = ["report", run["run"].as_str().unwrap(), "--json"];
        let report = user.types(&line).json();
        for step in report["steps"].as_array().unwrap() {
            let reasons = step["reasons"].as_array().unwrap();
            assert!(reasons.iter().all(|it| it["code"] != "unwritten_blocks"), "{step}");
            filled += 1;
        }
    }
    assert!(filled > 30, "{filled}");
}

#[test]
fn the_time_is_for_the_whole_line() {
    let user = User::new();
    let line = ["study", "stutter", "sim:x25-e", "sim:essd", "--time", "40s", "--dry-run"];
    let text = user.types(&line).fine().out;
    assert_eq!(text.matches("at most 20s of virtual time").count(), 2, "{text}");
    let line = ["study", "stutter", "sim:x25-e", "sim:essd", "--time", "15s", "--dry-run"];
    user.types(&line).refused(2, "--time is for the whole line");
}

/// Over all loads the cloud volume is last; reads one at a time say another order, and the mixture
/// by which an article ordered these kinds has a line of its own.
#[test]
fn the_order_of_one_load_is_told_from_that_of_all() {
    let user = User::new();
    let flash = ["sim:nvme-tlc,capacity=64GiB", "sim:sata-mlc,capacity=64GiB"];
    let line = [flash[0], flash[1], "sim:san", "sim:essd", "sim:sas-raid10,members=8"];
    let json = rank(&user, &line);
    let verdict = said(&json);
    let alone = verdict.iter().find(|text| text.starts_with("By random 70/30 qd64 alone"));
    let alone = alone.unwrap_or_else(|| panic!("{verdict:#?}"));
    let place = |name: &str| alone.find(name).unwrap();
    let order = [flash[0], flash[1], "sim:san", "sim:essd"].map(place);
    assert!(order.is_sorted(), "{alone}");
    assert!(verdict.iter().any(|text| text.contains("orders, in Places by load")), "{verdict:#?}");
    let tables = json["findings"]["tables"].as_array().unwrap();
    let rows = |title: &str| {
        let found = tables.iter().find(|table| table["title"] == title).unwrap();
        found["rows"].as_array().unwrap().clone()
    };
    let places = rows("Places by load");
    assert_eq!(places.len(), 7 + 1, "each load, and all of them");
    let heads = tables.iter().find(|table| table["title"] == "Places by load").unwrap();
    let heads = heads["heads"].as_array().unwrap();
    let essd = heads.iter().position(|head| head["name"] == "essd").unwrap();
    let of = |load: &str| places.iter().find(|row| row[0] == load).unwrap()[essd].clone();
    assert_eq!((of("all of them"), of("random read qd1")), ("5".into(), "3".into()), "{places:?}");
    let links = rows("Links");
    assert_eq!(links.len(), 4, "a quota has no link: {links:?}");
    assert!(links.iter().all(|row| row[0] != "sim:essd"), "{links:?}");
    assert!(links.iter().all(|row| row[3].as_f64().unwrap() <= 1.001), "{links:?}");
    let deviations = json["findings"]["deviations"].to_string();
    assert_eq!(deviations.matches("the array's memory was cold").count(), 2, "{deviations}");
}

/// What begins full is used whole, and nothing is filled.
#[test]
fn a_drive_that_begins_full_is_not_filled() {
    let user = User::new();
    let drive = |seed: u32| format!("sim:x25-e,capacity=512MiB,state=filled,seed={seed}");
    let json = rank(&user, &[&drive(1), &drive(2)]);
    let run = json["runs"][0]["run"].as_str().unwrap();
    let report = user.types(&["report", run, "--json"]).json();
    let steps = report["steps"].as_array().unwrap();
    assert!(steps.iter().all(|step| step["name"] != "fill"), "{}", steps[0]);
    assert!(!json["findings"]["deviations"].to_string().contains("Only the first"));
}

/// Where all loads say the same there is nothing to tell apart.
#[test]
fn one_order_is_not_called_two() {
    let user = User::new();
    let json = rank(&user, &["sim:nvme-tlc,capacity=64GiB", "sim:essd,capacity=64GiB"]);
    let verdict = said(&json).join(" ");
    assert!(verdict.contains("alone the order is the same."), "{verdict}");
    assert!(!verdict.contains("the order is another"), "{verdict}");
}

/// A warm cache answers the reads of what it holds; a cold one none.
#[test]
fn an_array_may_begin_warm() {
    let user = User::new();
    let mean = |state: &str| {
        let target = format!("sim:san,state=filled{state}");
        let line = ["run", &target, "--rw", "randread", "--bs", "4k", "--length", "1GiB"];
        let line =
            [&line[..], &["--depth", "1", "--runtime", "5", "--seed", "7", "--json"]].concat();
        let json = user.types(&line).fine().json();
        json["steps"][0]["streams"][0]["read"]["service_ns"]["mean"].as_f64().unwrap()
    };
    let (cold, warm) = (mean(""), mean(",cache_state=warm"));
    assert_eq!(cold, mean(",cache_state=cold"));
    assert!(cold > 1.5e6 && warm < 400e3, "{cold} ns cold, {warm} ns warm");
    user.types(&["run", "sim:san,cache_state=hot"]).refused(2, "`cold` or `warm`");
    user.types(&["run", "sim:x25-e,cache_state=warm"]).refused(2, "cache_state");
}
