//! What a study might have found: one with everything in it, and one with nothing in order.

use drivelab_core::comparison::{Cell, Comparison, Metric};
use drivelab_core::findings::{
    Axis, BarGroup, Bars, Entry, Figure, Findings, Head, Line, LineKind, Mark, Picture, Remark,
    Table, Unit,
};
use drivelab_core::run::Run;
use drivelab_core::study::{Emptying, Scale, StudyOptions};
use drivelab_core::units::{Size, Span};
use drivelab_stats::{Estimate, Random, Ratio, Verdict};

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn figure(name: &str, value: f64, half: f64, unit: Unit, note: &str) -> Figure {
    let ends = (half > 0.0).then_some((value - half, value + half)).unzip();
    let estimate = Estimate { value, low: ends.0, high: ends.1, n: 5 };
    Figure { name: name.to_owned(), estimate, unit, note: note.to_owned() }
}

fn axis(quantity: &str, unit: Unit) -> Axis {
    Axis { quantity: quantity.to_owned(), unit }
}

fn line(label: &str, kind: LineKind, points: Vec<(f64, f64)>) -> Line {
    Line { label: label.to_owned(), kind, points }
}

fn mark(x: f64, label: &str) -> Mark {
    Mark { x, label: label.to_owned() }
}

/// A run of a study with these findings.
pub fn run(findings: Findings) -> Run {
    let mut run = super::run_of(&super::check_loads()[2..4], 3, 20);
    run.begin.command = "study".to_owned();
    run.begin.arguments = texts(&["drivelab", "study", "wsat", "my data"]);
    run.plans[0].title = "Write saturation".to_owned();
    run.begin.study = Some(StudyOptions {
        name: "wsat".to_owned(),
        scale: Scale::Default,
        seed: 7391,
        budget: Size(600_000_000_000),
        time: Span(3_600_000_000_000),
        delta: 0.05,
        emptying: Emptying::Discard,
        bytes: 1 << 40,
        ..StudyOptions::default()
    });
    run.findings = Some(findings);
    run
}

/// Everything that findings can hold.
pub fn findings() -> Findings {
    Findings {
        verdict: texts(&[
            "After 98 GB of random writes the drive falls from 912k IOPS to 61.3k IOPS, and stays \
             there: that is what it sustains.",
        ]),
        suspect: texts(&["random write: the drive was at its own warning temperature."]),
        beware: texts(&["A write takes up to 41 ms once the cache is full."]),
        unknown: texts(&["How it recovers. `drivelab study trim` would tell."]),
        figures: vec![
            figure("sustained random writes", 61_300.0, 900.0, Unit::Iops, "rounds 21 to 25"),
            figure("cache", 98.4e9, 0.0, Unit::Bytes, ""),
            figure(
                "fresh by sustained",
                14.9,
                0.3,
                Unit::Factor,
                "the fall when the cache is full",
            ),
            figure("share of slow writes", 0.013, 0.001, Unit::Share, "slower than 10 ms"),
            figure("p99 while sustained", 38.2e6, 2.1e6, Unit::Ns, ""),
            figure("sustained bandwidth", 251e6, 4e6, Unit::BytesPerS, ""),
            figure(
                "rounds until steady",
                21.0,
                0.0,
                Unit::Count,
                "of 25; the method asks for 5 alike",
            ),
        ],
        pictures: vec![over_time(), rounds(), depths(), tails()],
        tables: vec![matrix(), phases()],
        comparison: Some(comparison()),
        deviations: texts(&[
            "The method writes twice the capacity; this run wrote 600 GB, which is 30 % of it.",
            "The drive was emptied with a discard, not with a purge.",
        ]),
        not_applicable: vec![Remark {
            cell: "trim".to_owned(),
            text: "the target takes no discards".to_owned(),
        }],
        remarks: vec![Remark { cell: "random write".to_owned(), text: "sustained".to_owned() }],
        ..Findings::default()
    }
}

/// The key picture: a long curve with its fit, a limit and places worth a word.
fn over_time() -> Picture {
    let mut random = Random::new(1);
    let mut rate = |at: f64| {
        let level = if at < 108.0 { 912e3 } else { 61.3e3 + 200e3 * (-(at - 108.0) / 60.0).exp() };
        level * (0.97 + 0.06 * random.unit_f64())
    };
    let measured = (0..1800).map(|at| (f64::from(at) * 1e9, rate(f64::from(at)))).collect();
    Picture {
        title: "Random writes over time".to_owned(),
        note: "The cache holds 98 GB; behind it the drive writes at the pace of its cells."
            .to_owned(),
        x: axis("time since the drive was empty", Unit::Ns),
        y: axis("operations per second", Unit::Iops),
        lines: vec![
            line("random write", LineKind::Measured, measured),
            line(
                "mean of the last 5 rounds",
                LineKind::Fit,
                vec![(1.2e12, 61.3e3), (1.8e12, 61.3e3)],
            ),
            line("rated by the maker", LineKind::Limit, vec![(0.0, 1.0e6), (1.8e12, 1.0e6)]),
        ],
        marks: vec![
            mark(108e9, "cache full"),
            mark(1.2e12, "steady from here on"),
            mark(1.75e12, "end of the budget"),
        ],
    }
}

/// Many measured curves over rounds, with the corridor of a criterion.
fn rounds() -> Picture {
    let sizes = ["512 B", "4 KiB", "8 KiB", "16 KiB", "64 KiB", "128 KiB", "1 MiB"];
    let curve = |(index, size): (usize, &&str)| {
        let level = 9e5 / (index + 1) as f64;
        let point = |round: i32| {
            let wobble = 1.0 + 0.02 * f64::from((round * 7 + index as i32 * 3) % 5 - 2);
            (f64::from(round), level * wobble * (1.0 + 2.0 / f64::from(round)))
        };
        line(size, LineKind::Measured, (1..=12).map(point).collect())
    };
    let mut lines: Vec<Line> = sizes.iter().enumerate().map(curve).collect();
    for limit in [0.9, 1.1] {
        let level = 4.5e5 * limit;
        lines.push(line("± 10 %", LineKind::Limit, vec![(8.0, level), (12.0, level)]));
    }
    Picture {
        title: "IOPS of each size, round by round".to_owned(),
        note: "Steady where five rounds stay within the corridor.".to_owned(),
        x: axis("round", Unit::Count),
        y: axis("operations per second", Unit::Iops),
        lines,
        marks: vec![mark(8.0, "window of the criterion")],
    }
}

/// Few points at powers of two.
fn depths() -> Picture {
    let depths = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
    let rates = |one: f64| depths.map(|depth| (depth, one * depth / (1.0 + depth / 40.0))).to_vec();
    Picture {
        title: "Rate by depth".to_owned(),
        note: "More than 32 in flight buys little.".to_owned(),
        x: axis("I/Os in flight", Unit::Count),
        y: axis("operations per second", Unit::Iops),
        lines: vec![
            line("random reads", LineKind::Measured, rates(15e3)),
            line("random writes", LineKind::Measured, rates(6e3)),
        ],
        marks: Vec::new(),
    }
}

/// Times over decades and sizes that double.
fn tails() -> Picture {
    let sizes = (9..=20).map(|power| 2f64.powi(power));
    Picture {
        title: "Latency by size".to_owned(),
        note: String::new(),
        x: axis("size of a request", Unit::Bytes),
        y: axis("service time", Unit::Ns),
        lines: vec![
            line("p50", LineKind::Measured, sizes.clone().map(|at| (at, 5e4 + at)).collect()),
            line("p99.9", LineKind::Measured, sizes.map(|at| (at, 4e6 + 9.0 * at)).collect()),
        ],
        marks: vec![mark(4096.0, "mapping unit")],
    }
}

fn matrix() -> Table {
    let head = |name: &str, unit| Head { name: name.to_owned(), unit };
    let rate = Some(Unit::Iops);
    let row = |size: f64, rates: [f64; 3]| {
        let rates = rates.map(|rate| if rate > 0.0 { Entry::Number(rate) } else { Entry::Nothing });
        [Entry::Number(size)].into_iter().chain(rates).collect()
    };
    Table {
        title: "IOPS by size and share of reads".to_owned(),
        note: "Means of the steady rounds.".to_owned(),
        heads: vec![
            head("size", Some(Unit::Bytes)),
            head("100 % reads", rate),
            head("65 % reads", rate),
            head("0 % reads", rate),
        ],
        rows: vec![
            row(512.0, [0.0, 0.0, 0.0]),
            row(4096.0, [912e3, 240e3, 61.3e3]),
            row(131_072.0, [48e3, 9.1e3, 1.9e3]),
        ],
    }
}

fn phases() -> Table {
    let head = |name: &str, unit| Head { name: name.to_owned(), unit };
    let row = |name: &str, numbers: [f64; 3], word: &str| {
        let mut row = vec![Entry::Text(name.to_owned())];
        row.extend(numbers.map(Entry::Number));
        row.push(Entry::Text(word.to_owned()));
        row
    };
    Table {
        title: "Phases".to_owned(),
        note: String::new(),
        heads: vec![
            head("phase", None),
            head("written", Some(Unit::Bytes)),
            head("bandwidth", Some(Unit::BytesPerS)),
            head("of capacity", Some(Unit::Share)),
            head("what ended it", None),
        ],
        rows: vec![
            row("fresh", [98.4e9, 3.74e9, 0.049], "the rate fell by half within a minute"),
            row("sustained", [501.6e9, 251e6, 0.251], "the budget"),
        ],
    }
}

fn comparison() -> Comparison {
    let cell = |name: &str, verdict, value: f64| Cell {
        name: name.to_owned(),
        metric: Metric::Iops,
        verdict: Some(verdict),
        ratio: Some(Ratio { value, low: Some(value * 0.97), high: Some(value * 1.03) }),
        p_adjusted: Some(0.0003),
        needs_n: None,
        open: None,
        values: None,
        n: (5, 5),
        suspect: None,
    };
    Comparison {
        before: "before TRIM".to_owned(),
        after: "after TRIM".to_owned(),
        cells: vec![
            cell("random write", Verdict::Changed, 1.42),
            cell("random read", Verdict::Equivalent, 1.003),
        ],
        only_before: Vec::new(),
        only_after: Vec::new(),
        differences: Vec::new(),
        is_by_run: false,
        delta: Some(0.05),
    }
}

/// What no study should say, and a page must bear.
pub fn odd_findings() -> Findings {
    let long = "very long words without an end ".repeat(12);
    let evil = "</svg><script>alert(1)</script>\"'\u{1b}[2J\u{7}&<b>";
    let numbers =
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, 0.0, -0.0, -1e-300];
    let units = [
        Unit::Iops,
        Unit::BytesPerS,
        Unit::Bytes,
        Unit::Ns,
        Unit::Share,
        Unit::Factor,
        Unit::Count,
    ];
    let mut findings = Findings::default();
    findings.figures.push(figure(&long, 5.0, 1.0, Unit::Count, &long));
    for unit in units {
        for number in numbers {
            let mut odd = figure(evil, number, f64::NAN, unit, &long);
            (odd.estimate.low, odd.estimate.high) = (Some(number), Some(f64::INFINITY));
            findings.figures.push(odd);
        }
        findings.pictures.extend(odd_pictures(unit, &long, evil, &numbers));
        findings.bars.push(bars(evil, unit, &numbers.map(|mean| Some((mean, f64::NAN)))));
        findings.bars.push(bars(&long, unit, &numbers.map(|deviation| Some((3.0, deviation)))));
        let heads = vec![Head { name: long.clone(), unit: Some(unit) }];
        let row: Vec<Entry> = numbers.into_iter().map(Entry::Number).collect();
        let rows = vec![Vec::new(), row, vec![Entry::Text(evil.to_owned()), Entry::Nothing]];
        findings.tables.push(Table { title: evil.to_owned(), note: long.clone(), heads, rows });
    }
    findings.tables.push(Table {
        title: String::new(),
        note: String::new(),
        heads: Vec::new(),
        rows: Vec::new(),
    });
    let mut comparison = comparison();
    for (index, value) in numbers.into_iter().enumerate() {
        let mut cell = comparison.cells[0].clone();
        (cell.name, cell.p_adjusted) = (evil.to_owned(), Some(value));
        let low = if index % 2 == 0 { Some(value) } else { None };
        cell.ratio = Some(Ratio { value, low, high: low.map(|low| low / 2.0) });
        comparison.cells.push(cell);
    }
    (comparison.before, comparison.delta) = (evil.to_owned(), None);
    findings.comparison = Some(comparison);
    findings.not_applicable = vec![Remark { cell: evil.to_owned(), text: long.clone() }];
    findings.deviations = vec![evil.to_owned(), long, String::new()];
    findings
}

/// A side fewer, one as many, and one more than the sides that are named.
pub fn bars(title: &str, unit: Unit, values: &[Option<(f64, f64)>]) -> Bars {
    let group = |count: usize| BarGroup {
        label: format!("{count} {title}"),
        values: values.iter().copied().cycle().take(count).collect(),
    };
    Bars {
        title: title.to_owned(),
        benchmark: String::new(),
        table: String::new(),
        note: title.to_owned(),
        quantity: title.to_owned(),
        unit,
        sides: vec!["before".to_owned(), title.to_owned()],
        groups: [1, 2, 9].map(group).to_vec(),
    }
}

fn odd_pictures(unit: Unit, long: &str, evil: &str, numbers: &[f64]) -> Vec<Picture> {
    let kind = LineKind::Measured;
    let odd: Vec<(f64, f64)> =
        numbers.iter().flat_map(|x| numbers.iter().map(|y| (*x, *y))).collect();
    [
        Vec::new(),
        vec![line(long, kind, Vec::new())],
        vec![line(long, kind, vec![(5.0, 5.0)]), line(long, LineKind::Limit, Vec::new())],
        vec![line(evil, kind, vec![(0.0, 0.0)])],
        vec![line(evil, kind, vec![(3.0, 1.0), (3.0, 9.0), (3.0, -9.0)])],
        vec![line(evil, LineKind::Fit, vec![(9.0, 1e20), (-4.0, 1e-20), (2.0, -7.0)])],
        vec![line(long, kind, vec![(1.0, 1.0), (f64::NAN, 2.0), (3.0, 3.0)])],
        vec![line(evil, kind, odd)],
    ]
    .into_iter()
    .map(|lines| Picture {
        title: long.to_owned(),
        note: evil.to_owned(),
        x: axis(long, unit),
        y: axis(evil, unit),
        lines,
        marks: numbers.iter().chain(&[4.0, 5.0]).map(|x| mark(*x, long)).collect(),
    })
    .collect()
}
