//! Which sizes of files and records a line goes through.

use super::USAGE;
use super::line::{FILE_KB, Line, RECORD_KB};
use super::options::Cell;
use crate::front::{Refusal, Scale};

/// The largest buffer of IOzone, in kB.
const RECORD_KB_MAX: u64 = 16_384;
/// Files of `-a`, in kB.
const FILE_KB_MIN: u64 = 64;
const FILE_KB_MAX: u64 = 512 * 1024;
/// From this size of file on `-a` leaves records below the other size out.
const CROSS_OVER_FILE_KB: u64 = 32 * 1024;
const CROSS_OVER_RECORD_KB: u64 = 64;
/// What IOzone ends with at a bad size of record.
const BAD_RECORD: u8 = 23;
/// What IOzone ends with when a read finds no data.
const NO_DATA: u8 = 60;

/// The sizes of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Grid {
    /// The rows, in their order.
    pub(super) cells: Vec<Cell>,
    /// The records that the report heads its columns with.
    pub(super) records_kb: Vec<u64>,
}

/// Whether more than one size is gone through.
pub(super) fn is_auto(line: &Line) -> bool {
    line.auto || line.sizes_kb.len() > 1 || line.records_kb.len() > 1
}

/// The sizes of a line, scaled.
///
/// # Errors
/// Sizes that IOzone refuses, or that leave nothing to do.
pub(super) fn grid(line: &Line, scale: Scale) -> Result<Grid, Refusal> {
    let records = records(line)?;
    let auto = is_auto(line);
    let of_row = match (line.records_kb.is_empty(), auto) {
        (true, false) => vec![RECORD_KB],
        _ => records.clone(),
    };
    let grain_kb = line.records_kb.last().copied().unwrap_or(RECORD_KB);
    let scaled = |file_kb: u64| scale.of(file_kb.saturating_mul(1024), grain_kb * 1024) / 1024;
    let crosses_over = line.auto
        && !line.all_records
        && !line.auto_dense
        && line.records_kb.is_empty()
        && line.sizes_kb.is_empty()
        && line.smallest_record_kb.is_none()
        && line.largest_record_kb.is_none();
    let mut cells = Vec::new();
    for file_kb in files(line, auto)?.into_iter().map(scaled) {
        let least =
            if crosses_over && file_kb >= CROSS_OVER_FILE_KB { CROSS_OVER_RECORD_KB } else { 0 };
        let fitting = of_row.iter().filter(|record| (least..=file_kb).contains(*record));
        cells.extend(fitting.map(|record| Cell { file_kb, record_kb: *record }));
    }
    if cells.is_empty() {
        return Err(nothing_fits(line, &of_row));
    }
    Ok(Grid { cells, records_kb: records })
}

/// The records over the columns: those of `-r`, or each power of the factor.
fn records(line: &Line) -> Result<Vec<u64>, Refusal> {
    let bad = |text: String, advice: &str| Err(Refusal::new(BAD_RECORD, text, advice));
    let (least, most) = match (line.records_kb.first(), line.records_kb.last()) {
        (Some(first), Some(last)) => (*first, *last),
        _ => (
            line.smallest_record_kb.unwrap_or(RECORD_KB),
            line.largest_record_kb.unwrap_or(RECORD_KB_MAX),
        ),
    };
    let largest = line.records_kb.iter().copied().max().unwrap_or(most);
    if largest > RECORD_KB_MAX {
        let text = format!(
            "Error: maximum record size {largest} kB is greater than maximum buffer size \
             {RECORD_KB_MAX} kB"
        );
        return bad(text, "use at most 16m; drivelab run --bs takes up to 1GiB");
    }
    if least > most {
        let text = format!(
            "Error: minimum record size {least} kB is greater than maximum record size {most} kB"
        );
        return bad(text, "give sizes of records from the smallest to the largest");
    }
    if line.records_kb.is_empty() {
        let next = |kb: &u64| kb.checked_mul(line.factor);
        let all = std::iter::successors(Some(least), next);
        return Ok(all.take_while(|kb| *kb <= most).collect());
    }
    let mut records = line.records_kb.clone();
    records.dedup();
    match records.is_sorted() {
        true => Ok(records),
        false => bad(
            "the sizes of -r do not ascend".to_owned(),
            "give them from the smallest to the largest",
        ),
    }
}

/// The sizes of files, in kB.
fn files(line: &Line, auto: bool) -> Result<Vec<u64>, Refusal> {
    if line.sizes_kb.len() > 1 {
        let mut sizes = line.sizes_kb.clone();
        sizes.dedup();
        return match sizes.is_sorted() {
            true => Ok(sizes),
            false => Err(Refusal::new(
                USAGE,
                "the sizes of -s do not ascend, and IOzone leaves out what is below the first",
                "give them from the smallest to the largest",
            )),
        };
    }
    let typed = line.sizes_kb.first().copied();
    if !auto {
        return Ok(vec![typed.unwrap_or(FILE_KB)]);
    }
    let least = line.smallest_file_kb.or(typed).unwrap_or(FILE_KB_MIN).max(RECORD_KB);
    let most = line.largest_file_kb.or(typed).unwrap_or(FILE_KB_MAX);
    let all = std::iter::successors(Some(least), |kb| kb.checked_mul(line.factor));
    Ok(all.take_while(|kb| *kb <= most).collect())
}

fn nothing_fits(line: &Line, records: &[u64]) -> Refusal {
    let sizes = files(line, is_auto(line)).unwrap_or_default();
    match (sizes.last(), records.first()) {
        (Some(file), Some(record)) => Refusal::new(
            NO_DATA,
            format!(
                "Error reading block 0: a record of {record} kB is larger than the file of {file} \
                 kB, of which IOzone writes nothing"
            ),
            misread(line),
        ),
        _ => Refusal::new(
            USAGE,
            "no size of file lies between the smallest (-n, or -s) and the largest (-g)",
            "IOzone prints an empty table; give -g at least as much as -n",
        ),
    }
}

/// What to do about sizes that do not fit, with those that were read otherwise than they look.
fn misread(line: &Line) -> String {
    let misread = line.notes.iter().filter(|note| note.code == "number_read_as");
    let words: Vec<String> = misread.map(|note| format!(" {note}")).collect();
    format!("use a larger -s or a smaller -r.{}", words.concat())
}
