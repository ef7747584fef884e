//! The layouts against what fio 3.33 itself printed of one run in all of them: its JSON is read,
//! and must come out again byte for byte, and so must its other layouts.

use super::bins::{Bins, middle_of};
use super::figures::{
    Block, Disk, Failure, OF_OPERATION, OfPriority, Percentiles, Report, Samples, Side, Spread,
    Timed,
};
use super::steady::Steady;
use super::{json, normal, terse};
use crate::fio::Unified;
use crate::fio::steadystate::criterion;
use drivelab_core::level::{Judgement, Second};
use drivelab_core::op::SECOND;
use drivelab_core::plan::Level;
use drivelab_core::units::Span;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::path::Path;

/// JSON with its keys in order.
#[derive(Debug, Clone)]
enum Tree {
    Number(f64),
    Text(String),
    Object(Vec<(String, Tree)>),
    List(Vec<Tree>),
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Tree;
            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("JSON")
            }
            fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
                Ok(Tree::Number(value as f64))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
                Ok(Tree::Number(value))
            }
            fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
                Ok(Tree::Text(value.to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Tree::Object(entries))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Tree, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = list.next_element()? {
                    values.push(value);
                }
                Ok(Tree::List(values))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl Tree {
    fn entries(&self) -> &[(String, Tree)] {
        let Tree::Object(entries) = self else { panic!("{self:?} is not an object") };
        entries
    }

    fn find(&self, key: &str) -> Option<&Tree> {
        self.entries().iter().find(|entry| entry.0 == key).map(|entry| &entry.1)
    }

    fn at(&self, key: &str) -> &Tree {
        self.find(key).unwrap_or_else(|| panic!("no {key}"))
    }

    fn number(&self, key: &str) -> f64 {
        let Tree::Number(value) = self.at(key) else { panic!("{key} is not a number") };
        *value
    }

    fn count(&self, key: &str) -> u64 {
        self.number(key) as u64
    }

    fn text(&self, key: &str) -> String {
        let Tree::Text(value) = self.at(key) else { panic!("{key} is not text") };
        value.clone()
    }

    fn list(&self, key: &str) -> &[Tree] {
        match self.find(key) {
            Some(Tree::List(values)) => values,
            _ => &[],
        }
    }

    fn shares<const N: usize>(&self, key: &str) -> [f64; N] {
        let entries = self.at(key).entries();
        assert_eq!(entries.len(), N, "{key}");
        std::array::from_fn(|at| match entries[at].1 {
            Tree::Number(value) => value,
            _ => panic!("{key} is not of numbers"),
        })
    }

    fn options(&self, key: &str) -> Vec<(String, String)> {
        let entry = |(name, value): &(String, Tree)| match value {
            Tree::Text(value) => (name.clone(), value.clone()),
            _ => panic!("{name} is not text"),
        };
        self.find(key).map_or_else(Vec::new, |it| it.entries().iter().map(entry).collect())
    }
}

fn timed(tree: &Tree) -> Timed {
    let mut bins = Bins::default();
    for (middle, count) in tree.find("bins").map_or(&[][..], Tree::entries) {
        let (middle, Tree::Number(count)) = (middle.parse().unwrap(), count) else { panic!() };
        assert_eq!(middle_of(middle), middle, "a middle is in its own bucket");
        bins.add_middle(middle, *count as u64);
    }
    let percentiles: Vec<(f64, u64)> = tree
        .find("percentile")
        .map_or(&[][..], Tree::entries)
        .iter()
        .map(|(percent, value)| match value {
            Tree::Number(value) => (percent.parse().unwrap(), *value as u64),
            _ => panic!("a percentile is a number"),
        })
        .collect();
    for (percent, value) in &percentiles {
        assert_eq!(bins.percentile(*percent), *value, "{percent} % of {bins:?}");
    }
    Timed {
        count: tree.count("N"),
        min: tree.count("min"),
        max: tree.count("max"),
        mean: tree.number("mean"),
        deviation: tree.number("stddev"),
        percentiles,
        bins,
    }
}

fn samples(tree: &Tree, [min, max, mean, deviation, count]: [&str; 5]) -> Samples {
    Samples {
        count: tree.count(count),
        min: tree.count(min),
        max: tree.count(max),
        mean: tree.number(mean),
        deviation: tree.number(deviation),
    }
}

fn side(tree: &Tree) -> Side {
    let bandwidth = ["bw_min", "bw_max", "bw_mean", "bw_dev", "bw_samples"];
    let iops = ["iops_min", "iops_max", "iops_mean", "iops_stddev", "iops_samples"];
    Side {
        bytes: tree.count("io_bytes"),
        runtime_ms: tree.count("runtime"),
        operations: tree.count("total_ios"),
        submission: timed(tree.at("slat_ns")),
        completion: timed(tree.at("clat_ns")),
        total: timed(tree.at("lat_ns")),
        priorities: tree.list("prios").iter().map(of_priority).collect(),
        bandwidth: samples(tree, bandwidth),
        share_percent: tree.number("bw_agg"),
        iops: samples(tree, iops),
    }
}

fn of_priority(tree: &Tree) -> OfPriority {
    let latencies = tree.find("clat_ns").unwrap_or_else(|| tree.at("lat_ns"));
    let number = |key: &str| tree.count(key) as u16;
    OfPriority {
        class: number("prioclass"),
        level: number("prio"),
        hint: 0,
        timed: timed(latencies),
    }
}

fn steady(tree: &Tree) -> Steady {
    let (of, by, limit, percent) = criterion(&tree.text("ss")).ok().unwrap();
    let data = tree.at("data");
    let seconds = data.list("iops").iter().zip(data.list("bw")).map(|pair| match pair {
        (Tree::Number(operations), Tree::Number(bytes)) => {
            [*operations as u64, *bytes as u64, 0, 0]
        }
        _ => panic!("{pair:?} are not numbers"),
    });
    let seconds: Vec<Second> = seconds.collect();
    let (window, every) = (Span(tree.count("duration") * SECOND), Span(SECOND));
    let level = Level { of, by, limit, percent, window, every, after: Span(0), group: None };
    let criterion = match percent {
        true => tree.text("criterion").trim_end_matches('%').parse().unwrap(),
        // One of them is zero; the text has less of the other.
        false => tree.number("max_deviation") + tree.number("slope"),
    };
    let judgement = Judgement {
        criterion,
        deviation_max: tree.number("max_deviation"),
        slope: tree.number("slope"),
        is_level: tree.count("attained") == 1,
    };
    let found = level.judge(&seconds);
    if seconds.iter().all(|second| second[0] > 0) {
        assert_eq!(found.is_level, judgement.is_level);
        // fio takes a mean without its fraction.
        let off = (found.criterion / judgement.criterion - 1.0).abs();
        assert!(off < 0.001 && (found.slope - judgement.slope).abs() < 0.01, "{found:?}");
    }
    let seconds = seconds.iter().map(|second| [second[0], second[1], 0]).collect();
    Steady { level, attained: judgement.is_level, judgement, seconds }
}

/// The value of an option of a line.
fn typed<'a>(line: &'a str, option: &str) -> Option<&'a str> {
    let mut words = line.split_whitespace().filter_map(|word| word.split_once('='));
    words.find(|(name, _)| name.trim_start_matches('-') == option).map(|(_, value)| value)
}

fn percentiles(line: &str) -> Percentiles {
    let on = |option: &str, default: bool| typed(line, option).map_or(default, |it| it == "1");
    let list = typed(line, "percentile_list")
        .unwrap_or("1:5:10:20:30:40:50:60:70:80:90:95:99:99.5:99.9:99.95:99.99");
    let no_completion = on("gtod_reduce", false) || on("disable_clat", false);
    Percentiles {
        list: list.split(':').map(|percent| percent.parse().unwrap()).collect(),
        submission: on("slat_percentiles", false),
        completion: on("clat_percentiles", true) && !no_completion,
        total: on("lat_percentiles", false) && !on("disable_lat", false),
    }
}

/// A block, with what only its line says, and what only its normal layout (`head`) does.
fn block(tree: &Tree, line: &str, head: &str) -> Block {
    let number_after = |text: &str| {
        let rest = head.split_once(text).unwrap().1;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u32>().unwrap()
    };
    let unified = match typed(line, "unified_rw_reporting") {
        Some("mixed" | "1") => Unified::Mixed,
        Some("both" | "2") => Unified::Both,
        _ => Unified::None,
    };
    let at = |key: &str| tree.find(key).map(side).unwrap_or_default();
    let sides = [at("read"), at("write"), at("trim")];
    let mixed = at("mixed");
    let error = Some(tree.count("error") as i32).filter(|errno| *errno != 0);
    let sync = tree.find("sync").map(|it| timed(it.at("lat_ns"))).unwrap_or_default();
    let [read, write, trim] = [0, 1, 2].map(|at: usize| sides[at].operations);
    let issued = match unified {
        Unified::Mixed => [mixed.operations, 0, 0, sync.count],
        _ => [read, write, trim, sync.count],
    };
    Block {
        name: tree.text("jobname"),
        description: tree.find("desc").map(|_| tree.text("desc")),
        options: tree.options("job options"),
        group: tree.count("groupid") as u32,
        jobs: number_after(", jobs="),
        error: error.map(|errno| Failure {
            errno,
            function: OF_OPERATION,
            words: "Input/output error".to_owned(),
        }),
        counts_errors: tree.find("total_err").is_some(),
        errors: tree.find("total_err").map_or(0, |_| tree.count("total_err")),
        process: number_after(": pid="),
        elapsed_s: tree.count("elapsed"),
        unified,
        sides,
        mixed,
        sync,
        job_runtime_ms: tree.count("job_runtime"),
        user_percent: tree.number("usr_cpu"),
        system_percent: tree.number("sys_cpu"),
        switches: tree.count("ctx"),
        faults: (tree.count("majf"), tree.count("minf")),
        depths: tree.shares("iodepth_level"),
        submitted: tree.shares("iodepth_submit"),
        completed: tree.shares("iodepth_complete"),
        percentiles: percentiles(line),
        spread: Spread {
            ns: tree.shares("latency_ns"),
            us: tree.shares("latency_us"),
            ms: tree.shares("latency_ms"),
        },
        issued,
        depth: tree.count("latency_depth") as u32,
        is_decimal: typed(line, "kb_base") == Some("1000"),
        is_bits: typed(line, "unit_base") == Some("1"),
        steady: tree.find("steadystate").map(steady),
    }
}

fn disk(tree: &Tree) -> Disk {
    let pair = |what: &str| ["read", "write"].map(|way| tree.count(&format!("{way}_{what}")));
    Disk {
        name: tree.text("name"),
        operations: pair("ios"),
        merges: pair("merges"),
        ticks: pair("ticks"),
        in_queue: tree.count("in_queue"),
        used_percent: tree.number("util"),
    }
}

/// What fio printed: terse lines, JSON, and the rest.
struct Printed<'a> {
    terse: String,
    json: &'a str,
    normal: &'a str,
}

fn printed(text: &str) -> Printed<'_> {
    let begin = text.find("\n{\n").unwrap() + 1;
    let end = begin + text[begin..].find("\n}\n").unwrap() + 3;
    let is_terse = |line: &&str| {
        let first = line.split(';').next().unwrap_or_default();
        line.contains(';') && (first.is_empty() || ["2", "3", "4", "5"].contains(&first))
    };
    let terse = text[..begin].lines().filter(is_terse).map(|line| format!("{line}\n"));
    Printed { terse: terse.collect(), json: &text[begin..end], normal: &text[end..] }
}

fn report(printed: &Printed<'_>, line: &str) -> Report {
    let tree: Tree = serde_json::from_str(printed.json).unwrap();
    let heads: Vec<&str> =
        printed.normal.lines().filter(|line| line.contains(": (groupid=")).collect();
    let jobs = tree.list("jobs");
    assert_eq!(heads.len(), jobs.len());
    let blocks = jobs.iter().zip(heads).map(|(job, head)| block(job, line, head));
    Report {
        now_ms: tree.count("timestamp_ms"),
        global: tree.options("global options"),
        blocks: blocks.collect(),
        disks: tree.list("disk_util").iter().map(disk).collect(),
        said: None,
    }
}

/// Differences that are meant: fio 3.33 prints nothing of both directions together, though its
/// JSON has it, and what it does not know when it prints.
fn comparable(text: &str) -> String {
    let line = |line: &str| match line {
        _ if line.starts_with("  mixed: ") => "  mixed:\n".to_owned(),
        _ => format!("{}\n", line.replace(super::PLACE, "file:io_u.c:1876")),
    };
    text.lines().map(line).collect::<String>().replace("\"eta\" : 2147483647", "\"eta\" : 0")
}

/// Whether two lines are equal but for a last digit: what JSON has was cut off at six decimals.
fn alike(mine: &str, real: &str) -> bool {
    let is_number = |byte: &char| byte.is_ascii_digit() || *byte == '.';
    let (mut mine, mut real) = (mine, real);
    loop {
        let words = |text: &str| text.find(|byte| is_number(&byte)).unwrap_or(text.len());
        let (my_words, real_words) = (words(mine), words(real));
        if mine[..my_words].trim_end() != real[..real_words].trim_end() {
            return false;
        }
        (mine, real) = (&mine[my_words..], &real[real_words..]);
        if mine.is_empty() || real.is_empty() {
            return mine == real;
        }
        let length = |text: &str| text.find(|byte| !is_number(&byte)).unwrap_or(text.len());
        let (my_number, real_number) = (&mine[..length(mine)], &real[..length(real)]);
        let decimals = |text: &str| text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        if my_number != real_number {
            let value = |text: &str| text.parse::<f64>().unwrap_or(f64::NAN);
            let last = 0.1_f64.powi(decimals(my_number) as i32);
            let close = (value(my_number) - value(real_number)).abs() < 1.01 * last;
            if decimals(my_number) < 2 || decimals(my_number) != decimals(real_number) || !close {
                return false;
            }
        }
        (mine, real) = (&mine[my_number.len()..], &real[real_number.len()..]);
    }
}

fn first_difference(name: &str, mine: &str, real: &str) -> Option<String> {
    let (mine, real) = (comparable(mine), comparable(real));
    let lines = mine.lines().zip(real.lines()).enumerate();
    let found = lines.filter(|(_, (mine, real))| !alike(mine, real)).map(|(at, (mine, real))| {
        let fields = mine.split(';').zip(real.split(';')).enumerate();
        let unlike = fields.filter(|(_, (mine, real))| mine != real);
        let unlike: Vec<String> =
            unlike.map(|(at, (mine, real))| format!("field {at}: {mine} / {real}")).collect();
        format!("{name}:{at}\n {}", unlike.join("\n "))
    });
    let length = (mine.lines().count() != real.lines().count())
        .then(|| format!("{name}: lines {} {}", mine.lines().count(), real.lines().count()));
    found.chain(length).next()
}

fn differences(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let line = std::fs::read_to_string(path.with_extension("cmd")).unwrap();
    let printed = printed(&text);
    let report = report(&printed, &line);
    let version = printed.terse.bytes().next().map_or(3, |byte| byte - b'0');
    let mut mine = [String::new(), String::new(), String::new()];
    terse::results(&report, version, &mut mine[0]).unwrap();
    json::results(&report, true, &mut mine[1]).unwrap();
    normal::results(&report, &mut mine[2]).unwrap();
    let name = path.file_stem().unwrap().to_string_lossy();
    let all = [
        first_difference(&format!("{name} terse"), &mine[0], &printed.terse),
        first_difference(&format!("{name} json"), &mine[1], printed.json),
        first_difference(&format!("{name} normal"), &mine[2], printed.normal),
    ];
    all.into_iter().flatten().collect()
}

#[test]
fn each_layout_is_what_fio_printed() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fio");
    let mut all = Vec::new();
    let mut seen = 0;
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "out") {
            seen += 1;
            all.extend(differences(&path));
        }
    }
    assert!(seen >= 34, "{seen}");
    assert!(all.is_empty(), "{} of {seen}:\n{}", all.len(), all.join("\n"));
}

#[test]
fn json_plus_is_json_with_buckets() {
    let mut plain = String::new();
    let mut plus = String::new();
    let mut report = Report::default();
    let mut bins = Bins::default();
    bins.add(1031, 3);
    let completion = Timed { count: 3, percentiles: vec![(50.0, 1032)], bins, ..Timed::default() };
    let side = Side { completion, ..Side::default() };
    report
        .blocks
        .push(Block { sides: [side, Side::default(), Side::default()], ..Block::default() });
    json::results(&report, false, &mut plain).unwrap();
    json::results(&report, true, &mut plus).unwrap();
    assert!(plus.contains("          \"bins\" : {\n            \"1032\" : 3\n          }\n"));
    let at = plus.find(",\n          \"bins\"").unwrap();
    assert_eq!(plain[..at], plus[..at]);
    assert!(!plain.contains("bins"));
}
