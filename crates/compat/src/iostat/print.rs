//! Reports as text and as JSON.

use super::columns::{Column, columns, text};
use super::figures::Figures;
use super::options::{Dates, Era, Options};
use super::rows::rows;
use crate::calendar::now;
use crate::counters::{Counters, Cpu};
use crate::front::Host;
use std::fmt::Write;

/// Columns of a name.
const NAME: usize = 13;
const CPU_HEAD: &str = "avg-cpu:  %user   %nice %system %iowait  %steal   %idle";
const CPU_INDENT: &str = "       ";
const CPU_WORDS: [&str; 6] = ["user", "nice", "system", "iowait", "steal", "idle"];
/// Decimals of JSON, whatever --dec says.
const JSON_DECIMALS: usize = 2;
/// The order of extended figures in JSON; `U` stands for the unit.
const JSON_ORDER: [&str; 22] = [
    "r/s", "w/s", "d/s", "f/s", "rU/s", "wU/s", "dU/s", "rrqm/s", "wrqm/s", "drqm/s", "%rrqm",
    "%wrqm", "%drqm", "r_await", "w_await", "d_await", "f_await", "rareq-sz", "wareq-sz",
    "dareq-sz", "aqu-sz", "%util",
];

/// What comes before the first report: the machine, and with `-y` the place of the report that is
/// left out.
pub fn opening(options: &Options, host: &Host) -> String {
    let date = date(options, host);
    let skipped = if options.skips_first() { "\n" } else { "" };
    if options.json {
        return format!(
            "{{\"sysstat\": {{\n\t\"hosts\": [\n\t\t{{\n\t\t\t\"nodename\": \"{}\",\n\t\t\t\
             \"sysname\": \"Linux\",\n\t\t\t\"release\": \"{}\",\n\t\t\t\"machine\": \"{}\",\n\
             \t\t\t\"number-of-cpus\": {},\n\t\t\t\"date\": \"{date}\",\n\t\t\t\"statistics\": [\n\
             {skipped}",
            host.name, host.kernel, host.machine, host.cpus
        );
    }
    format!(
        "Linux {} ({}) \t{date} \t_{}_\t({} CPU)\n\n{skipped}",
        host.kernel, host.name, host.machine, host.cpus
    )
}

/// What stands between two reports.
pub fn between(options: &Options) -> &'static str {
    if options.json { ",\n" } else { "" }
}

/// What comes after the last report.
pub fn closing(options: &Options) -> &'static str {
    if options.json { "\n\t\t\t]\n\t\t}\n\t]\n}}\n" } else { "" }
}

/// One report: of what was counted from `before` to `after`, which is `elapsed_s` seconds, or of
/// everything since the kernel started where there is nothing before.
pub fn report(
    options: &Options,
    host: &Host,
    before: Option<&Counters>,
    after: &Counters,
    elapsed_s: f64,
) -> String {
    let cpu = after.cpu - before.map_or_else(Cpu::default, |before| before.cpu);
    let rows = match options.devices {
        true => rows(options, before, after, elapsed_s),
        false => Vec::new(),
    };
    if options.json {
        return json(options, host, cpu, &rows);
    }
    let mut report = String::new();
    if options.time {
        let _ = writeln!(report, "{}", stamp(options, host));
    }
    if options.cpu {
        report.push_str(&cpu_block(options, cpu));
    }
    if options.devices {
        report.push_str(&device_blocks(options, &rows));
    }
    match (options.era, options.devices) {
        (Era::Twelve, _) => report.push_str("\n\n"),
        (_, true) => report.push('\n'),
        (_, false) => {}
    }
    report
}

fn cpu_block(options: &Options, cpu: Cpu) -> String {
    let percent = super::columns::Value::Percent;
    let values: String = cpu
        .percentages()
        .into_iter()
        .map(|part| format!(" {:>7}", text(options, percent(part))))
        .collect();
    format!("{CPU_HEAD}\n{CPU_INDENT}{values}\n\n")
}

/// The blocks of devices, a blank line between them.
fn device_blocks(options: &Options, rows: &[Figures]) -> String {
    let nothing = Figures {
        counted: crate::counters::Device::default(),
        name: String::new(),
        devices: 1,
        elapsed_s: 1.0,
    };
    let told: Vec<Vec<Vec<Column>>> = rows.iter().map(|row| blocks(options, row)).collect();
    let name_head = if options.era == Era::Twelve { "Device" } else { "Device:" };
    let mut written = Vec::new();
    for (number, heads) in blocks(options, &nothing).into_iter().enumerate() {
        let line = |name: &str, cells: &str| match options.pretty {
            true => format!("{cells} {name}\n"),
            false => format!("{name:<NAME$}{cells}\n"),
        };
        let cell = |text: &str, width: usize| format!(" {text:>width$}");
        let heads: String = heads.iter().map(|column| cell(&column.head, column.width)).collect();
        let mut block = line(name_head, &heads);
        for (row, columns) in rows.iter().zip(&told) {
            let written = |column: &Column| cell(&text(options, column.value), column.width);
            let cells: String = columns.get(number).into_iter().flatten().map(written).collect();
            block.push_str(&line(&row.name, &cells));
        }
        written.push(block);
    }
    written.join("\n")
}

/// All columns in one block, but for --pretty.
fn blocks(options: &Options, figures: &Figures) -> Vec<Vec<Column>> {
    let blocks = columns(options, figures);
    if options.pretty && !options.compact { blocks } else { vec![blocks.concat()] }
}

fn json(options: &Options, host: &Host, cpu: Cpu, rows: &[Figures]) -> String {
    let plain = Options { human: false, decimals: JSON_DECIMALS, ..options.clone() };
    let mut report = String::from("\t\t\t\t{\n");
    if options.time {
        let _ = writeln!(report, "\t\t\t\t\t\"timestamp\": \"{}\",", stamp(options, host));
    }
    if options.cpu {
        let parts = CPU_WORDS.iter().zip(cpu.percentages());
        let parts: Vec<String> =
            parts.map(|(word, part)| format!("\"{word}\": {part:.JSON_DECIMALS$}")).collect();
        let comma = if options.devices { "," } else { "" };
        let _ = writeln!(report, "\t\t\t\t\t\"avg-cpu\":  {{{}}}{comma}", parts.join(", "));
    }
    if options.devices {
        let rows: Vec<String> = rows.iter().map(|row| json_row(&plain, row)).collect();
        let _ = writeln!(report, "\t\t\t\t\t\"disk\": [\n{}\n\t\t\t\t\t]", rows.join(",\n"));
    }
    report.push_str("\t\t\t\t}");
    report
}

fn json_row(options: &Options, row: &Figures) -> String {
    let mut columns = columns(options, row).concat();
    let place = |head: &str| {
        let head = head.replace("kB/", "U/").replace("MB/", "U/").replace("sec/", "U/");
        JSON_ORDER.iter().position(|known| *known == head)
    };
    if options.extended && !options.short {
        columns.sort_by_key(|column| place(&column.head));
    }
    let mut written = format!("\t\t\t\t\t\t{{\"disk_device\": \"{}\"", row.name);
    for column in columns {
        let head = column.head.trim_start_matches('%');
        let _ = write!(written, ", \"{head}\": {}", text(options, column.value));
    }
    written.push('}');
    written
}

/// The date, in UTC.
fn date(options: &Options, host: &Host) -> String {
    let form = match options.dates {
        Dates::C => "%m/%d/%y",
        Dates::American => "%m/%d/%Y",
        Dates::Iso => "%Y-%m-%d",
    };
    now(host).strftime(form).to_string()
}

/// Date and time, in UTC.
fn stamp(options: &Options, host: &Host) -> String {
    let form = match options.dates {
        Dates::C => "%m/%d/%y %H:%M:%S",
        Dates::American => "%m/%d/%Y %I:%M:%S %p",
        Dates::Iso => "%Y-%m-%dT%H:%M:%S+0000",
    };
    now(host).strftime(form).to_string()
}
