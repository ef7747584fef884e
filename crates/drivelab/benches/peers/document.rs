//! The tables, and the page they go into.

use crate::agreement::Figure;
use crate::cells::{CellResult, Target};
use crate::contestants::{BATCH, SECONDS};
use crate::measure::Spread;
use crate::setting::Setting;
use std::fmt::Write;
use std::path::Path;

const BEGIN: &str = "<!-- measured by `make bench`: begin -->";
const END: &str = "<!-- measured by `make bench`: end -->";

/// Thousands, with the spread.
fn thousands(spread: Spread) -> String {
    let digits = |value: f64| match value / 1000.0 {
        value if value < 100.0 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    };
    format!("{} [{}–{}]", digits(spread.median), digits(spread.low), digits(spread.high))
}

fn ratio(spread: Spread) -> String {
    format!("{:.2} [{:.2}–{:.2}]", spread.median, spread.low, spread.high)
}

fn line_of(path: &str, key: &str) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    line.map_or("unknown".into(), |value| value.trim_matches([' ', '\t', ':']).to_string())
}

fn machine(setting: &Setting) -> String {
    let processors = std::thread::available_parallelism().map_or(0, usize::from);
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!(
        "{}, {processors} CPUs, {}, Linux {}; {}, drivelab {}. Everything on CPU {} alone.",
        line_of("/proc/cpuinfo", "model name"),
        line_of("/proc/meminfo", "MemTotal"),
        kernel.trim(),
        setting.fio,
        env!("CARGO_PKG_VERSION"),
        setting.cpu,
    )
}

fn verdict(result: &CellResult, target: &Target) -> [String; 2] {
    match result.ratio(target) {
        Some(spread) if spread.median >= target.at_least => [ratio(spread), "met".into()],
        Some(spread) => [ratio(spread), "**MISSED**".into()],
        None => ["not compared".into(), "not compared".into()],
    }
}

/// All tables.
pub fn text(setting: &Setting, results: &[CellResult], agreement: Option<&Vec<Figure>>) -> String {
    let mut text = format!(
        "{}\n\n4 KiB, runs of {SECONDS} s, all programs of a row in turn; median \
         [smallest–largest] of the rounds. Equal batch: {BATCH} operations a submitting \
         and a reaping call.\n\n",
        machine(setting)
    );
    // Writing to a string cannot fail.
    let mut row = |cells: &[String]| writeln!(text, "| {} |", cells.join(" | ")).ok();
    let words = |list: &[&str]| list.iter().map(|word| word.to_string()).collect::<Vec<_>>();
    row(&words(&["case", "program", "thousand IOPS", "CPU ns per I/O"]));
    row(&words(&["---"; 4]));
    for result in results {
        let mut case = result.cell.name();
        if result.measured.is_empty() {
            row(&[case.clone(), "not compared".into(), result.reason.clone(), String::new()]);
        }
        for (_, measured) in &result.measured {
            let cpu = measured.cpu_ns().map_or("unknown".to_string(), |cpu| {
                format!("{:.0} [{:.0}–{:.0}]", cpu.median, cpu.low, cpu.high)
            });
            row(&[case, measured.name.clone(), thousands(measured.iops()), cpu]);
            case = String::new();
        }
    }
    text.push('\n');
    ratios(&mut text, results);
    if let Err(reason) = &setting.bare_fio {
        writeln!(text, "\nt/io_uring: not compared, it could not be built ({reason}).").ok();
    }
    if let Some(figures) = agreement {
        agree(&mut text, figures);
    }
    text
}

fn ratios(text: &mut String, results: &[CellResult]) {
    text.push_str("| case | ratio | asked | measured | |\n|---|---|---|---|---|\n");
    for result in results {
        for target in &result.cell.targets {
            let [measured, said] = verdict(result, target);
            let what = format!("{} / {}", target.mine, target.theirs);
            let name = result.cell.name();
            let asked = target.at_least;
            writeln!(text, "| {name} | {what} | ≥ {asked:.2} | {measured} | {said} |").ok();
        }
    }
}

fn agree(text: &mut String, figures: &[Figure]) {
    text.push_str(
        "\nAgreement: both at 1,000 random reads a second on a FUSE file that answers in 200 µs \
         (service times of drivelab, `lat` of fio).\n\n\
         | figure | fio | drivelab | apart | allowed | |\n|---|---|---|---|---|---|\n",
    );
    for figure in figures {
        let off = figure.off();
        let (allowed, said) = match figure.within {
            Some(within) if off.abs() <= within => (format!("{:.1} %", within * 100.0), "met"),
            Some(within) => (format!("{:.1} %", within * 100.0), "**MISSED**"),
            None => ("-".to_string(), ""),
        };
        let (fio, ours) = (figure.fio.median, figure.drivelab.median);
        let apart = off * 100.0;
        let name = figure.name;
        writeln!(text, "| {name} | {fio:.0} | {ours:.0} | {apart:+.2} % | {allowed} | {said} |")
            .ok();
    }
}

/// Puts the tables between the marks of docs/BENCHMARKS.md.
pub fn write(text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/BENCHMARKS.md");
    let page = std::fs::read_to_string(&path).expect("docs/BENCHMARKS.md");
    let (before, rest) = page.split_once(BEGIN).expect("the mark of the beginning");
    let (_, after) = rest.split_once(END).expect("the mark of the end");
    let page = format!("{before}{BEGIN}\n\n{text}\n{END}{after}");
    std::fs::write(&path, page).expect("docs/BENCHMARKS.md");
}
