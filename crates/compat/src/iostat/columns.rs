//! The columns of each layout: their heads, widths and values.

use super::figures::{Figures, Kind};
use super::options::{Era, Options, Unit};

const SECTORS_A_KB: f64 = 2.0;
const SECTORS_A_MB: f64 = 2048.0;
/// kB of the next letter.
const STEP: f64 = 1024.0;
const LETTERS: [char; 5] = ['k', 'M', 'G', 'T', 'P'];

/// What a column holds, before it is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value {
    /// A number.
    Plain(f64),
    /// Percent.
    Percent(f64),
    /// Sectors a second, to be told in the unit of the line.
    Flow(f64),
    /// Sectors, in whole units.
    Amount(u64),
    /// kB of a request, whatever the unit of the line.
    Size(f64),
}

/// A column of one row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Column {
    /// Its head.
    pub(super) head: String,
    /// How wide it is, without the space before it.
    pub(super) width: usize,
    /// What it holds.
    pub(super) value: Value,
}

fn column(head: impl Into<String>, width: usize, value: Value) -> Column {
    Column { head: head.into(), width, value }
}

/// The columns of a row, in the blocks that --pretty tells apart.
pub(super) fn columns(options: &Options, figures: &Figures) -> Vec<Vec<Column>> {
    match (options.extended, options.era) {
        (false, Era::Twelve) => vec![basic(options, figures)],
        (false, _) => vec![old_basic(options, figures)],
        (true, Era::Twelve) if options.short => vec![short(options, figures)],
        (true, Era::Twelve) => extended(options, figures),
        (true, _) => vec![old_extended(options, figures)],
    }
}

fn basic(options: &Options, figures: &Figures) -> Vec<Column> {
    let counted = &figures.counted;
    let unit = unit(options.unit, ("Blk", "kB", "MB"));
    let flow = |word: &str, sectors| {
        column(format!("{unit}_{word}/s"), 12, Value::Flow(figures.rate(sectors)))
    };
    let amount = |word: &str, sectors| column(format!("{unit}_{word}"), 10, Value::Amount(sectors));
    let tps = column("tps", 8, Value::Plain(figures.rate(counted.requests())));
    let (read, written) = (counted.read_sectors, counted.written_sectors);
    let discarded = counted.discarded_sectors;
    // JSON has no short form.
    if options.short && !options.json {
        let changed = written.saturating_add(discarded);
        return vec![
            tps,
            flow("read", read),
            flow("w+d", changed),
            amount("read", read),
            amount("w+d", changed),
        ];
    }
    vec![
        tps,
        flow("read", read),
        flow("wrtn", written),
        flow("dscd", discarded),
        amount("read", read),
        amount("wrtn", written),
        amount("dscd", discarded),
    ]
}

fn old_basic(options: &Options, figures: &Figures) -> Vec<Column> {
    let counted = &figures.counted;
    let unit = unit(options.unit, ("Blk", "kB", "MB"));
    let flow = |word: &str, sectors| {
        column(format!("{unit}_{word}/s"), 12, Value::Flow(figures.rate(sectors)))
    };
    let requests = counted.reads.saturating_add(counted.writes);
    vec![
        column("tps", 8, Value::Plain(figures.rate(requests))),
        flow("read", counted.read_sectors),
        flow("wrtn", counted.written_sectors),
        column(format!("{unit}_read"), 10, Value::Amount(counted.read_sectors)),
        column(format!("{unit}_wrtn"), 10, Value::Amount(counted.written_sectors)),
    ]
}

fn extended(options: &Options, figures: &Figures) -> Vec<Vec<Column>> {
    let counted = &figures.counted;
    let unit = unit(options.unit, ("sec", "kB", "MB"));
    let block = |letter: char, kind: Kind| {
        vec![
            column(format!("{letter}/s"), 7, Value::Plain(figures.rate(kind.requests))),
            column(format!("{letter}{unit}/s"), 9, Value::Flow(figures.rate(kind.sectors))),
            column(format!("{letter}rqm/s"), 8, Value::Plain(figures.rate(kind.merged))),
            column(format!("%{letter}rqm"), 6, Value::Percent(kind.merged_percent())),
            column(format!("{letter}_await"), 7, Value::Plain(kind.wait_ms())),
            column(format!("{letter}areq-sz"), 8, Value::Size(kind.size_kb())),
        ]
    };
    let flushes = Kind::flushes(counted);
    vec![
        block('r', Kind::reads(counted)),
        block('w', Kind::writes(counted)),
        block('d', Kind::discards(counted)),
        vec![
            column("f/s", 7, Value::Plain(figures.rate(flushes.requests))),
            column("f_await", 7, Value::Plain(flushes.wait_ms())),
            column("aqu-sz", 7, Value::Plain(figures.queue())),
            column("%util", 6, Value::Percent(figures.busy_percent())),
        ],
    ]
}

fn short(options: &Options, figures: &Figures) -> Vec<Column> {
    let counted = &figures.counted;
    let unit = unit(options.unit, ("sec", "kB", "MB"));
    let kinds = [Kind::writes(counted), Kind::discards(counted)];
    let all = kinds.into_iter().fold(Kind::reads(counted), Kind::and);
    vec![
        column("tps", 8, Value::Plain(figures.rate(all.requests))),
        column(format!("{unit}/s"), 9, Value::Flow(figures.rate(all.sectors))),
        column("rqm/s", 8, Value::Plain(figures.rate(all.merged))),
        column("await", 7, Value::Plain(all.wait_ms())),
        column("areq-sz", 8, Value::Size(all.size_kb())),
        column("aqu-sz", 7, Value::Plain(figures.queue())),
        column("%util", 6, Value::Percent(figures.busy_percent())),
    ]
}

fn old_extended(options: &Options, figures: &Figures) -> Vec<Column> {
    let counted = &figures.counted;
    let unit = unit(options.unit, ("sec", "kB", "MB"));
    let (reads, writes) = (Kind::reads(counted), Kind::writes(counted));
    let both = reads.and(writes);
    let mut columns = vec![
        column("rrqm/s", 8, Value::Plain(figures.rate(reads.merged))),
        column("wrqm/s", 8, Value::Plain(figures.rate(writes.merged))),
        column("r/s", 7, Value::Plain(figures.rate(reads.requests))),
        column("w/s", 7, Value::Plain(figures.rate(writes.requests))),
        column(format!("r{unit}/s"), 8, Value::Flow(figures.rate(reads.sectors))),
        column(format!("w{unit}/s"), 8, Value::Flow(figures.rate(writes.sectors))),
        column("avgrq-sz", 8, Value::Plain(both.size_sectors())),
        column("avgqu-sz", 8, Value::Plain(figures.queue())),
        column("await", 7, Value::Plain(both.wait_ms())),
    ];
    if options.era == Era::Ten {
        columns.push(column("r_await", 7, Value::Plain(reads.wait_ms())));
        columns.push(column("w_await", 7, Value::Plain(writes.wait_ms())));
    }
    columns.push(column("svctm", 6, Value::Plain(figures.service_ms())));
    columns.push(column("%util", 6, Value::Percent(figures.busy_percent())));
    columns
}

fn unit(unit: Unit, words: (&'static str, &'static str, &'static str)) -> &'static str {
    match unit {
        Unit::Blocks => words.0,
        Unit::Kilobytes => words.1,
        Unit::Megabytes => words.2,
    }
}

/// A value as text.
pub(super) fn text(options: &Options, value: Value) -> String {
    let decimals = options.decimals;
    let short = decimals.min(1);
    match value {
        Value::Percent(percent) if options.human => format!("{percent:.short$}%"),
        Value::Plain(number) | Value::Percent(number) => format!("{number:.decimals$}"),
        Value::Flow(sectors) if options.human => human(sectors / SECTORS_A_KB, short),
        Value::Flow(sectors) => {
            let scale = match options.unit {
                Unit::Blocks => 1.0,
                Unit::Kilobytes => SECTORS_A_KB,
                Unit::Megabytes => SECTORS_A_MB,
            };
            format!("{:.decimals$}", sectors / scale)
        }
        Value::Amount(sectors) if options.human => human(sectors as f64 / SECTORS_A_KB, short),
        Value::Amount(sectors) => match options.unit {
            Unit::Blocks => sectors.to_string(),
            Unit::Kilobytes => (sectors / SECTORS_A_KB as u64).to_string(),
            Unit::Megabytes => (sectors / SECTORS_A_MB as u64).to_string(),
        },
        Value::Size(kb) if options.human => human(kb, short),
        Value::Size(kb) => format!("{kb:.decimals$}"),
    }
}

/// `16.0k`, `10.6M`.
fn human(kb: f64, decimals: usize) -> String {
    let (mut value, mut letter) = (kb, 0);
    while value >= STEP && letter + 1 < LETTERS.len() {
        value /= STEP;
        letter += 1;
    }
    format!("{value:.decimals$}{}", LETTERS[letter])
}
