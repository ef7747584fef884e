//! What iostat's front end prints, compared with transcripts of sysstat 12.6.1.

use crate::pretended::{Pretended, words};
use drivelab_compat::counters::{Counters, Cpu, Device, parse_cpu, parse_diskstats};
use drivelab_compat::front::{Note, Refusal, World};
use drivelab_compat::iostat::{
    Asked, Era, Options, Shown, between, closing, entries, markdown, opening, parse, report,
};
use drivelab_compat::option::Care;
use expect_test::{expect, expect_file};
use proptest::prelude::{Strategy, any, prop_oneof, proptest};
use proptest::sample::select;

const BEFORE: &str = include_str!("../data/iostat/before.diskstats");
const AFTER: &str = include_str!("../data/iostat/after.diskstats");

fn asked_in(line: &str, world: &Pretended) -> (Options, Vec<Note>) {
    match parse(&words(line), world) {
        Ok(Asked::Reports { options, notes }) => (*options, notes),
        other => panic!("{line}: {other:?}"),
    }
}

fn asked(line: &str) -> (Options, Vec<Note>) {
    asked_in(line, &Pretended::default())
}

fn refused(line: &str) -> Refusal {
    match parse(&words(line), &Pretended::default()) {
        Err(refusal) => refusal,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn a_device_without_a_name_is_none() {
    let words = ["-d", "", "1", "1"].map(String::from);
    match parse(&words, &Pretended::default()) {
        Err(refusal) => assert!(refusal.advice.contains("a device has a name"), "{refusal:?}"),
        other => panic!("{other:?}"),
    }
}

fn counters(diskstats: &str) -> Counters {
    Counters { devices: parse_diskstats(diskstats), ..Counters::default() }
}

/// Cases of a file: the lines that begin with `#` and what follows them.
fn cases(text: &str) -> Vec<(f64, &str, &str)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((head, after)) = rest.strip_prefix("# ").and_then(|text| text.split_once('\n')) {
        let seconds = head.split(' ').nth(1).unwrap().parse().unwrap();
        let (line, after) = after.strip_prefix("# ").unwrap().split_once('\n').unwrap();
        let end = after.find("\n# ").map_or(after.len(), |end| end + 1);
        found.push((seconds, line, &after[..end]));
        rest = &after[end..];
    }
    found
}

#[track_caller]
fn assert_printed(line: &str, before: Option<&Counters>, after: &Counters, s: f64, text: &str) {
    let mut world = Pretended::default();
    let line = match line.strip_prefix("POSIXLY_CORRECT ") {
        Some(line) => {
            world.variables.insert("POSIXLY_CORRECT".into(), "1".into());
            line
        }
        None => line,
    };
    let (options, _) = asked_in(line, &world);
    let host = world.host();
    let report = report(&options, &host, before, after, s);
    let ours = format!("{}{report}{}", opening(&options, &host), closing(&options));
    assert_eq!(ours, text, "{line}\nours:\n{ours}\ntheirs:\n{text}");
}

#[test]
fn reports_since_the_start_are_those_of_iostat() {
    let cases = cases(include_str!("../data/iostat/since_boot.txt"));
    assert_eq!(cases.len(), 31);
    for (uptime_s, line, text) in cases {
        assert_printed(line, None, &counters(BEFORE), uptime_s, text);
    }
}

#[test]
fn reports_of_an_interval_are_those_of_iostat() {
    let cases = cases(include_str!("../data/iostat/interval.txt"));
    assert_eq!(cases.len(), 7);
    for (elapsed_s, line, text) in cases {
        // In a second report iostat divides the mean of a group by 2 once more.
        let text = text.replace(" 43.75", " 87.50");
        assert_printed(line, Some(&counters(BEFORE)), &counters(AFTER), elapsed_s, &text);
    }
}

#[test]
fn old_layouts_are_those_of_their_era() {
    let host = Pretended::default().host();
    let print = |line: &str| {
        let (options, _) = asked(line);
        report(&options, &host, Some(&counters(BEFORE)), &counters(AFTER), 2.0)
    };
    // Widths as sysstat 9.0.4 and 10.1.5 have them.
    let lines = [
        "iostat -d nvme1n1 3 -x --era 9",
        "iostat -dx sdb 3 --era=10",
        "iostat -dz 3 --era 10",
        "iostat sdb --era 9",
    ];
    let all: String = lines.iter().map(|line| format!("# {line}\n{}", print(line))).collect();
    expect_file!["../data/iostat/old_eras.txt"].assert_eq(&all);
    assert!(print("iostat -dxm sdb --era 9").contains("    rMB/s    wMB/s "));
    assert!(!print("iostat -c --era 9").contains("Device"));
    for line in lines {
        assert_eq!(print(line), print(&line.replace("--era", "--layout")), "{line}");
    }
}

#[test]
fn processors_are_told_in_percent() {
    let stat = |text: &str| Counters { cpu: parse_cpu(text), ..Counters::default() };
    let (before, after) = (stat("cpu  10 0 10 100 0 0 0 0"), stat("cpu  60 10 20 120 5 3 2 10"));
    let host = Pretended::default().host();
    let print = |line: &str| report(&asked(line).0, &host, Some(&before), &after, 1.0);
    expect![[r#"
        avg-cpu:  %user   %nice %system %iowait  %steal   %idle
                  45.45    9.09   13.64    4.55    9.09   18.18



    "#]]
    .assert_eq(&print("iostat -c 1"));
    assert!(print("iostat -c 1 --human").contains("  45.5%    9.1%   13.6%"));
    assert!(print("iostat -c --dec=0 1").contains("     45       9      14"));
    assert!(
        print("iostat -c -o JSON 1").contains("\"avg-cpu\":  {\"user\": 45.45, \"nice\": 9.09")
    );
    assert_eq!(after.cpu - after.cpu, Cpu::default());
}

#[test]
fn json_of_several_reports_is_json() {
    let (options, _) = asked("iostat -t -x -o JSON 1 2");
    let host = Pretended::default().host();
    let one = report(&options, &host, Some(&counters(BEFORE)), &counters(AFTER), 1.0);
    let text = [opening(&options, &host), one.clone(), between(&options).into(), one].concat();
    let value: serde_json::Value = serde_json::from_str(&(text + closing(&options))).unwrap();
    let reports = value["sysstat"]["hosts"][0]["statistics"].as_array().unwrap();
    assert_eq!(reports.len(), 2);
    assert_eq!(reports[1]["timestamp"], "11/20/26 17:37:17");
    assert_eq!(reports[1]["disk"][1]["disk_device"], "nvme1n1");
}

#[test]
fn dates_follow_the_environment() {
    let host = Pretended::default().host();
    let head = |name: &str, value: &str| {
        let mut world = Pretended::default();
        world.variables.insert(name.into(), value.into());
        let (options, _) = asked_in("iostat -t -d", &world);
        let report = report(&options, &host, None, &Counters::default(), 1.0);
        let date = opening(&options, &host).split('\t').nth(1).unwrap().trim().to_owned();
        (date, report.lines().next().unwrap().to_owned())
    };
    let c = ("11/20/26".to_owned(), "11/20/26 17:37:17".to_owned());
    assert_eq!(head("LANG", "C.UTF-8"), c);
    assert_eq!(head("LANG", "en_US.UTF-8"), ("11/20/2026".into(), "11/20/2026 05:37:17 PM".into()));
    let iso = ("2026-11-20".into(), "2026-11-20T17:37:17+0000".into());
    assert_eq!(head("S_TIME_FORMAT", "ISO"), iso);
}

#[test]
fn options_are_iostat_s() {
    let (options, _) = asked("iostat -d sfdv0n1 3 -x");
    assert!(options.extended && options.devices && !options.cpu);
    assert_eq!((options.interval_s, options.count), (Some(3), None));
    assert_eq!(options.shown, Shown::Named(vec!["sfdv0n1".into()]));
    for (line, cpu, devices) in [
        ("iostat", true, true),
        ("iostat -c", true, false),
        ("iostat -d", false, true),
        ("iostat -c -x", true, true),
        ("iostat -c sda", true, true),
        ("iostat -cd", true, true),
        ("iostat -c -p", true, true),
    ] {
        let (options, _) = asked(line);
        assert_eq!((options.cpu, options.devices), (cpu, devices), "{line}");
    }
    assert_eq!(asked("iostat /dev/sda").0.shown, Shown::Named(vec!["sda".into()]));
    assert_eq!(asked("iostat sda ALL sdb").0.shown, Shown::All);
    assert_eq!(asked("iostat -x 0 5").0.interval_s, None);
    assert!(asked("iostat -y 1").0.skips_first() && !asked("iostat -y").0.skips_first());
    assert_eq!(asked("iostat -").0, asked("iostat").0);
    assert_eq!(asked("iostat --era 10 -x").0.era, Era::Ten);
}

#[test]
fn lines_that_iostat_does_not_take_end_with_its_status() {
    for line in [
        "iostat -k -m",
        "iostat -H",
        "iostat -q",
        "iostat --help",
        "iostat --",
        "iostat -dec=1",
        "iostat --dec=3",
        "iostat --dec",
        "iostat -xo JSON",
        "iostat -o XML",
        "iostat -o",
        "iostat -g",
        "iostat -g -x",
        "iostat 1 0",
        "iostat 1 2 3",
        "iostat -1",
        "iostat -dp1",
    ] {
        let refusal = refused(line);
        assert_eq!(refusal.status, 1, "{line}");
        assert!(refusal.text.starts_with("Usage: iostat ["), "{line}: {}", refusal.text);
    }
    for (line, text) in [
        ("iostat -j UUID", "-j is not supported here"),
        ("iostat -f /tmp", "-f is not supported here"),
        ("iostat +f /tmp", "+f is not supported here"),
        ("iostat --era 11", "--era is 9, 10 or 12"),
        ("iostat --layout", "--layout is 9, 10 or 12"),
        ("iostat --layout 9 -s", "-s came after the sysstat whose layout --layout asks for"),
        ("iostat --era 10 -s", "-s came after"),
        ("iostat -xh --era 9", "-h came after"),
        ("iostat --era 9 --dec=1", "--dec came after"),
    ] {
        assert!(refused(line).text.starts_with(text), "{line}: {}", refused(line).text);
    }
}

#[test]
fn era_is_no_option_of_iostat() {
    // iostat 12.6.1 takes no other long options than these; drivelab's own are not among them.
    let long: Vec<&str> =
        entries().map(|entry| entry.name()).filter(|name| name.starts_with("--")).collect();
    assert_eq!(long, ["--compact", "--dec", "--human", "--pretty"]);
    for ours in ["--scale-size", "--erase", "--runs", "--dry-run", "--notes"] {
        assert_eq!(refused(&format!("iostat {ours}")).status, 1, "{ours}");
    }
    let refusals = entries().filter(|entry| matches!(entry.care, Care::Unsupported { .. }));
    assert_eq!(refusals.count(), 3);
    assert_eq!(markdown().lines().count(), 2 + entries().count());
}

#[test]
fn rows_are_chosen_as_iostat_chooses_them() {
    let host = Pretended::default().host();
    let names = |line: &str| -> Vec<String> {
        let (options, _) = asked(line);
        let text = report(&options, &host, None, &counters(BEFORE), 100.0);
        let rows = text.lines().skip(1).filter(|line| !line.is_empty());
        rows.map(|row| row.split_whitespace().next().unwrap().to_owned()).collect()
    };
    assert_eq!(names("iostat -d"), ["nvme10n1", "nvme1n1", "sdb"]);
    assert_eq!(names("iostat -d --era 10"), ["sdb", "nvme10n1", "nvme1n1"]);
    assert_eq!(names("iostat -d ALL"), ["nvme10n1", "nvme1n1", "sda", "sdb"]);
    assert_eq!(names("iostat -d sdb nvme1n1 sdb none"), ["nvme1n1", "sdb"]);
    assert_eq!(names("iostat -d sda1"), ["sda1"]);
    assert_eq!(names("iostat -d -p nvme1n1"), ["nvme1n1", "nvme1n1p1"]);
    assert_eq!(names("iostat -d -p"), ["sdb", "nvme10n1", "nvme1n1", "nvme1n1p1", "sda1"]);
    assert_eq!(names("iostat -d -p ALL").len(), 6);
    assert_eq!(
        names("iostat -d -g a sdb sdb -g b"),
        ["sdb", "a", "nvme10n1", "nvme1n1", "sdb", "b"]
    );
    assert_eq!(names("iostat -dH -g a sdb nvme1n1"), ["a"]);
    assert_eq!(names("iostat -dz sda sdb"), ["sdb"]);
}

#[test]
fn mapped_names_are_printed_where_they_are_asked_for() {
    let host = Pretended::default().host();
    let mut after = counters("253 0 dm-0 5 0 8 1 0 0 0 0 0 1 1\n");
    after.devices[0].mapped_name = Some("vg-root".into());
    let name = |line: &str| {
        report(&asked(line).0, &host, None, &after, 1.0).lines().nth(1).unwrap()[..8].to_owned()
    };
    assert_eq!((name("iostat -d"), name("iostat -dN")), ("dm-0    ".into(), "vg-root ".into()));
}

#[test]
fn a_drive_that_came_back_and_no_time_at_all_print_no_nonsense() {
    let host = Pretended::default().host();
    let (options, _) = asked("iostat -dx ALL 1");
    let reset = counters(BEFORE);
    let text = report(&options, &host, Some(&counters(AFTER)), &reset, 1.0);
    assert!(text.contains("sdb            100.00"), "{text}");
    for elapsed_s in [0.0, -1.0, f64::NAN] {
        let text = report(&options, &host, None, &reset, elapsed_s);
        assert!(!text.contains("NaN") && !text.contains("inf") && !text.contains(" -"), "{text}");
    }
}

#[test]
fn notes_say_what_figures_are() {
    let codes = |line: &str| -> Vec<&str> {
        let mut world = Pretended::default();
        world.texts.insert("/proc/diskstats".into(), BEFORE.into());
        asked_in(line, &world).1.iter().map(|note| note.code).collect()
    };
    let article = codes("iostat -d sfdv0n1 3 -x");
    assert_eq!(
        article,
        [
            "no_such_device",
            "since_boot",
            "means_over_interval",
            "below_page_cache",
            "util_is_not_saturation",
            "await_includes_queue",
            "binary_units",
        ]
    );
    assert!(codes("iostat -x sdb 3 --layout 10").contains(&"svctm_means_nothing"));
    assert!(!codes("iostat -xy sdb 3").contains(&"since_boot"));
    assert!(codes("iostat -d sdb 0.5").contains(&"no_interval"));
    assert!(codes("iostat -x -g a sdb").contains(&"util_of_group"));
}

fn word() -> impl Strategy<Value = String> {
    let known: Vec<String> = entries().map(|entry| entry.name().to_owned()).collect();
    let values = [
        "0",
        "1",
        "99999999999999999999",
        "JSON",
        "ALL",
        "sdb",
        "/dev/sdb",
        "",
        "-",
        "--",
        "--era",
        "--layout",
        "9",
        "é",
    ];
    prop_oneof![
        select(known),
        select(values.map(str::to_owned).to_vec()),
        any::<String>(),
        "-[a-zA-Z]{1,5}",
    ]
}

proptest! {
    #[test]
    fn any_words_are_answered(line in proptest::collection::vec(word(), 0..10)) {
        let world = Pretended::default();
        if let Ok(Asked::Reports { options, .. }) = parse(&line, &world) {
            let host = world.host();
            let all = report(&options, &host, Some(&counters(BEFORE)), &counters(AFTER), 2.0);
            proptest::prop_assert!(all.ends_with('\n') || options.json);
        }
    }

    #[test]
    fn any_text_of_counters_is_read(text in any::<String>()) {
        let devices: Vec<Device> = parse_diskstats(&text);
        let _ = (devices.len(), parse_cpu(&text));
    }
}
