//! Operations a second of every cell, as Da Zhou's slides have them: a table for each slide, and
//! bars for each of its columns.

use super::cell::{Base, Cell, Pattern, pause};
use super::judge::{Measured, Repetition};
use super::{possible, unit};
use crate::experiment::Setting;
use drivelab_core::findings::{BarGroup, Bars, Entry, Findings, Head, Table, Unit};
use drivelab_core::quantity::size;
use drivelab_core::run::Run;
use drivelab_stats::{Description, Estimate};

/// Which operations of a cell are counted, and by which time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taken {
    /// All, by all time, pauses included, as Iometer counts.
    All,
    /// All, by the time that they took themselves.
    WithoutPauses,
    /// Reads alone, by the time that they took themselves.
    Reads,
    /// Writes alone, by the time that they took themselves.
    Writes,
}

type Field = Option<(Cell, Taken)>;

/// A table: its name, its columns, and its rows with what stands in each.
pub(super) struct Sheet {
    title: String,
    columns: Vec<&'static str>,
    rows: Vec<(String, Vec<Field>)>,
}

impl Sheet {
    /// Patterns by what they are a variant of.
    fn of(title: &str, bases: &[Base], rows: Vec<(String, Pattern, Taken)>) -> Sheet {
        let row = |(name, pattern, taken): (String, Pattern, Taken)| {
            let is_sensible = |base: &&Base| pattern.bases().contains(base);
            let field = |base: &Base| {
                Some(base).filter(is_sensible).map(|base| (Cell::of(pattern, *base), taken))
            };
            (name, bases.iter().map(field).collect())
        };
        Sheet {
            title: title.into(),
            columns: bases.iter().map(|base| base.words()).collect(),
            rows: rows.into_iter().map(row).collect(),
        }
    }

    /// The cells that it shows.
    #[cfg(test)]
    pub(super) fn cells(&self) -> impl Iterator<Item = Cell> {
        self.rows.iter().flat_map(|(_, fields)| fields).flatten().map(|(cell, _)| *cell)
    }
}

/// All tables, each with the cells that this target can serve.
pub(super) fn sheets(setting: &Setting<'_>) -> Vec<Sheet> {
    let all = possible(setting);
    let mut patterns: Vec<Pattern> = Vec::new();
    for cell in &all {
        if !patterns.contains(&cell.pattern) {
            patterns.push(cell.pattern);
        }
    }
    let mut sheets = families(&patterns, unit(setting));
    for field in sheets.iter_mut().flat_map(|sheet| &mut sheet.rows).flat_map(|row| &mut row.1) {
        *field = field.filter(|(cell, _)| all.contains(cell));
    }
    // A table of one row would repeat what another has.
    sheets.retain(|sheet| sheet.rows.len() > 1);
    sheets
}

fn families(patterns: &[Pattern], unit: u64) -> Vec<Sheet> {
    let named = |is_it: fn(&Pattern) -> bool| -> Vec<(String, Pattern, Taken)> {
        let own = patterns.iter().filter(|pattern| is_it(pattern));
        own.map(|pattern| (short(*pattern), *pattern, Taken::All)).collect()
    };
    let plain = |name: &str| vec![(name.to_owned(), Pattern::Plain, Taken::All)];
    let random = [Base::RandomRead, Base::RandomWrite];
    let large = if patterns.contains(&Pattern::Large) { Pattern::Large } else { Pattern::Plain };
    let on_grid = vec![("on their grid".to_owned(), large, Taken::All)];
    let replays =
        |it: &Pattern| matches!(it, Pattern::Replay(_) | Pattern::First(_) | Pattern::Second(_));
    let bursts = named(|it| matches!(it, Pattern::Burst(_)));
    let of_delay = patterns.iter().filter_map(|pattern| match pattern {
        Pattern::BurstDelay(count, _) => Some(Pattern::Burst(*count)),
        _ => None,
    });
    let undelayed: Vec<_> = of_delay.take(1).map(|it| (short(it), it, Taken::All)).collect();
    let apart = |it: &Pattern| matches!(it, Pattern::Apart(_) | Pattern::Across(..));
    vec![
        Sheet::of("Requests by size (slides 4 to 7)", &Base::ALL, sizes(patterns, unit)),
        Sheet::of(
            "Aligned addresses (slides 8, 9, 15 to 18)",
            &Base::ALL,
            [plain("not aligned"), named(|it| matches!(it, Pattern::Grid(_)))].concat(),
        ),
        Sheet::of(
            "4 KiB requests off their grid (slides 15 to 18)",
            &Base::ALL,
            [on_grid, named(|it| matches!(it, Pattern::Shifted(_)))].concat(),
        ),
        Sheet::of("Delay (slide 10)", &Base::ALL, [plain("no pause"), delays(patterns)].concat()),
        Sheet::of("Replay (slide 11)", &random, [plain("new addresses"), named(replays)].concat()),
        Sheet::of(
            "Reply (slide 2)",
            &random,
            [plain("no reply"), named(|it| *it == Pattern::Reply)].concat(),
        ),
        write_read(patterns),
        Sheet::of("Burst (slide 13)", &Base::ALL, [plain("one at a time"), bursts].concat()),
        Sheet::of(
            "Burst and delay (slide 14)",
            &Base::ALL,
            [undelayed, named(|it| matches!(it, Pattern::BurstDelay(..)))].concat(),
        ),
        semi_random(patterns),
        Sheet::of(
            "Reads and writes (slides 21, 22)",
            &[Base::RandomRead],
            [plain("reads alone"), named(|it| matches!(it, Pattern::Mixed(..)))].concat(),
        ),
        Sheet::of("Reads across boundaries (on no slide)", &[Base::RandomRead], named(apart)),
    ]
}

/// The name of a row: what its table says already is left out.
fn short(pattern: Pattern) -> String {
    match pattern {
        Pattern::Shifted(by) => format!("shifted by {}", size(by)),
        Pattern::Replay(count) => format!("{count} addresses, repeated"),
        Pattern::First(count) => format!("list of {count}, 1st time"),
        Pattern::Second(count) => format!("list of {count}, 2nd time"),
        Pattern::Reply => "with a reply".into(),
        Pattern::BurstDelay(_, ns) => format!("pause of {}", pause(ns)),
        pattern => pattern.words(),
    }
}

fn sizes(patterns: &[Pattern], unit: u64) -> Vec<(String, Pattern, Taken)> {
    let bytes = |pattern: &Pattern| match pattern {
        Pattern::Plain => Some(unit),
        Pattern::Large => Some(super::LARGE_BYTES),
        Pattern::Sized(bytes) => Some(*bytes),
        _ => None,
    };
    let mut sized: Vec<(u64, Pattern)> =
        patterns.iter().filter_map(|it| Some((bytes(it)?, *it))).collect();
    sized.sort_by_key(|(bytes, _)| *bytes);
    sized.into_iter().map(|(bytes, it)| (size(bytes), it, Taken::All)).collect()
}

fn delays(patterns: &[Pattern]) -> Vec<(String, Pattern, Taken)> {
    let both = |pattern: &Pattern| match *pattern {
        Pattern::Delay(ns) => vec![
            (pattern.words(), *pattern, Taken::All),
            (format!("{}, not counted", pause(ns)), *pattern, Taken::WithoutPauses),
        ],
        _ => Vec::new(),
    };
    patterns.iter().flat_map(both).collect()
}

fn write_read(patterns: &[Pattern]) -> Sheet {
    let (write, read) = (Base::RandomWrite, Base::RandomRead);
    let alone = |base| Some((Cell::of(Pattern::Plain, base), Taken::All));
    let row = |pattern: &Pattern| {
        let cell = Cell::of(*pattern, write);
        let fields = [Taken::All, Taken::Writes, Taken::Reads].map(|taken| Some((cell, taken)));
        (pattern.words(), fields.to_vec())
    };
    let own = patterns.iter().filter(|it| matches!(it, Pattern::WriteRead(_)));
    let first = ("each alone".to_owned(), vec![None, alone(write), alone(read)]);
    Sheet {
        title: "Write, then read (slide 12)".into(),
        columns: vec!["all", "random write", "random read"],
        rows: std::iter::once(first).chain(own.map(row)).collect(),
    }
}

fn semi_random(patterns: &[Pattern]) -> Sheet {
    let columns = [Base::SequentialRead, Base::SequentialWrite];
    let row = |name: &str, field: &dyn Fn(Base) -> Cell| {
        (name.to_owned(), columns.map(|base| Some((field(base), Taken::All))).to_vec())
    };
    let mut rows = vec![row("sequential", &|base| Cell::of(Pattern::Plain, base))];
    for pattern in patterns.iter().filter(|it| matches!(it, Pattern::SemiRandom(_))) {
        rows.push(row(&pattern.words(), &|base| Cell::of(*pattern, base)));
    }
    rows.push(row("random", &|base| Cell::of(Pattern::Plain, base.random())));
    Sheet {
        title: "Random, sequential, semi-random (slides 19, 20)".into(),
        columns: vec!["read", "write"],
        rows,
    }
}

/// Operations and seconds of each repetition.
fn counted(repetitions: &[Repetition], taken: Taken) -> Vec<(f64, f64)> {
    let of = |one: &Repetition| match taken {
        Taken::All => (one.done, one.seconds),
        Taken::WithoutPauses => (one.done, one.done * one.latency / 1e9),
        Taken::Reads => (one.reads.0, one.reads.1 / 1e9),
        Taken::Writes => (one.done - one.reads.0, (one.done * one.latency - one.reads.1) / 1e9),
    };
    repetitions.iter().map(of).filter(|(done, seconds)| *done > 0.0 && *seconds > 0.0).collect()
}

/// Operations a second of a cell.
pub(super) fn rate(measured: &Measured, cell: Cell) -> Option<Estimate> {
    known(measured, Some((cell, Taken::All))).map(|known| known.rate)
}

/// A field as it was measured.
struct Known {
    rate: Estimate,
    deviation: f64,
}

fn known(measured: &Measured, field: Field) -> Option<Known> {
    let (cell, taken) = field?;
    let counted = counted(measured.get(&cell)?, taken);
    let rate = Estimate::rate_of(&counted)?;
    let rates: Vec<f64> = counted.iter().map(|(done, seconds)| done / seconds).collect();
    let deviation = Description::of(&rates).ok()?.deviation.unwrap_or(0.0);
    Some(Known { rate, deviation })
}

/// Tables and bars of all that was measured.
pub(super) fn tell(setting: &Setting<'_>, run: &Run, measured: &Measured, findings: &mut Findings) {
    let state = run.begin.state.as_deref().unwrap_or("unknown");
    let text = |text: &str| Entry::Text(text.to_owned());
    let mut widths = vec![vec![text("state at the beginning"), text(state)]];
    for sheet in sheets(setting) {
        let rows: Vec<(&String, Vec<Option<Known>>)> = sheet
            .rows
            .iter()
            .map(|(name, fields)| (name, fields.iter().map(|it| known(measured, *it)).collect()))
            .collect();
        let fields = || rows.iter().flat_map(|(_, fields)| fields).flatten();
        if fields().next().is_none() {
            continue;
        }
        let is_first = findings.tables.is_empty();
        findings.tables.push(table(&sheet, &rows, is_first.then(|| note(setting))));
        findings.bars.extend((0..sheet.columns.len()).filter_map(|it| bars(&sheet, &rows, it)));
        widths.push(vec![text(&sheet.title), widest(fields())]);
    }
    let head = |name: &str, unit| Head { name: name.into(), unit };
    findings.tables.push(Table {
        title: "State, and the widest 95 % interval of each table, to each side".into(),
        note:
            "A cell whose repetitions are all the same has none. The interval of each cell is in \
               --json and in the report of the run."
                .into(),
        heads: vec![head("", None), head("here", Some(Unit::Share))],
        rows: widths,
    });
}

fn note(setting: &Setting<'_>) -> String {
    format!(
        "IOPS as Iometer counts them: all operations over the whole time, pauses included unless \
         a row says otherwise. Requests are of {} and issued one at a time unless a row says \
         otherwise.",
        size(unit(setting))
    )
}

fn table(sheet: &Sheet, rows: &[(&String, Vec<Option<Known>>)], note: Option<String>) -> Table {
    let head = |name: &str, unit| Head { name: name.into(), unit };
    let entry = |known: &Option<Known>| {
        known.as_ref().map_or(Entry::Nothing, |known| Entry::Number(known.rate.value))
    };
    let row = |(name, fields): &(&String, Vec<Option<Known>>)| {
        let entries = fields.iter().map(entry);
        std::iter::once(Entry::Text((*name).clone())).chain(entries).collect()
    };
    let columns = sheet.columns.iter().map(|name| head(name, Some(Unit::Iops)));
    Table {
        title: sheet.title.clone(),
        note: note.unwrap_or_default(),
        heads: std::iter::once(head("", None)).chain(columns).collect(),
        rows: rows.iter().map(row).collect(),
    }
}

/// One column as bars, one a row.
fn bars(sheet: &Sheet, rows: &[(&String, Vec<Option<Known>>)], column: usize) -> Option<Bars> {
    let value = |fields: &[Option<Known>]| {
        fields[column].as_ref().map(|known| (known.rate.value, known.deviation))
    };
    let groups: Vec<BarGroup> = rows
        .iter()
        .filter(|(_, fields)| fields[column].is_some())
        .map(|(name, fields)| BarGroup { label: (*name).clone(), values: vec![value(fields)] })
        .collect();
    (!groups.is_empty()).then(|| Bars {
        title: format!("{}: {}", sheet.title, sheet.columns[column]),
        benchmark: String::new(),
        table: sheet.title.clone(),
        note: String::new(),
        quantity: "IOPS".into(),
        unit: Unit::Iops,
        sides: vec!["IOPS".into()],
        groups,
    })
}

/// The widest of the intervals, to each side.
fn widest<'a>(fields: impl Iterator<Item = &'a Known>) -> Entry {
    let mut most: Option<f64> = None;
    for known in fields {
        match known.rate.relative_half_width() {
            Some(width) => most = Some(most.map_or(width, |most| most.max(width))),
            // Without chance there is none, and nothing is missing.
            None if known.deviation <= 1e-9 * known.rate.value => {}
            None => return Entry::Text("none".into()),
        }
    }
    most.map_or(Entry::Nothing, Entry::Number)
}
