//! A run as an Excel workbook: cells, steps, facts, and the cells as bars with error bars.

use drivelab_core::run::Run;
use drivelab_core::summary::Summary;
use drivelab_stats::Estimate;
use rust_xlsxwriter::{
    Chart, ChartErrorBars, ChartErrorBarsType, ChartRange, ChartSolidFill, ChartType, Color,
    DocProperties, ExcelDateTime, Format, Workbook, Worksheet, XlsxError,
};

use crate::view::drives;
use crate::view::facts::groups;
use crate::view::finding_sheets;
use crate::view::headline::{self, Row};
use crate::view::sheet::{self, Sheet, Value};

/// Who made a workbook, as it says itself in its properties.
pub const XLSX_CREATOR: &str = "drivelab";

/// Excel takes no longer text in a cell.
const TEXT_MAX: usize = 32_000;
/// Where the figures of the charts stand.
const CHART_SHEET: &str = "chart data";
/// Height of a bar with its gap, and of the rest of a chart, in pixels.
const BAR_PIXELS: u32 = 26;
const FRAME_PIXELS: u32 = 130;

/// The workbook as the bytes of a file. Equal runs give equal bytes. What goes wrong is said in a
/// sentence.
pub fn xlsx(run: &Run, summary: &Summary) -> Result<Vec<u8>, String> {
    written(run, summary).map_err(|error| format!("the workbook cannot be made: {error}"))
}

fn written(run: &Run, summary: &Summary) -> Result<Vec<u8>, XlsxError> {
    let mut workbook = Workbook::new();
    // The time of the run, not of the writing; one that cannot be read is the first that Excel has.
    let made = ExcelDateTime::parse_from_str(&run.begin.started_at)
        .or_else(|_| ExcelDateTime::parse_from_str("1900-01-01"))?;
    let properties = DocProperties::new()
        .set_author(XLSX_CREATOR)
        .set_title(format!("run {} of {}", summary.run, summary.target))
        .set_creation_datetime(&made);
    workbook.set_properties(&properties);
    let cells = sheet::cells(summary);
    let worksheet = workbook.add_worksheet().set_name("cells")?;
    fill(worksheet, &cells)?;
    let rows: Vec<Row<'_>> = summary.cells.iter().flat_map(headline::rows).collect();
    let mut below = cells.rows.len() as u32 + 3;
    for (column, title, axis) in
        [(1, "IOPS, 95 % intervals", "IOPS"), (5, "Bandwidth, 95 % intervals", "bytes per second")]
    {
        if let Some(chart) = bars(rows.len(), column, title, axis) {
            worksheet.insert_chart(below, 0, &chart)?;
            below += (FRAME_PIXELS + BAR_PIXELS * rows.len() as u32) / 20 + 2;
        }
    }
    fill(workbook.add_worksheet().set_name("steps")?, &sheet::steps(summary))?;
    if let Some(findings) = &run.findings {
        let figures = ("figures", finding_sheets::figures(findings));
        let tables = ("tables", finding_sheets::tables(findings));
        for (name, sheet) in [figures, tables] {
            if sheet.rows.is_empty() {
                continue;
            }
            fill(workbook.add_worksheet().set_name(name)?, &sheet)?;
        }
    }
    fill(workbook.add_worksheet().set_name("facts")?, &facts(run, summary))?;
    fill(workbook.add_worksheet().set_name(CHART_SHEET)?, &chart_data(&rows))?;
    workbook.save_to_buffer()
}

fn fill(worksheet: &mut Worksheet, sheet: &Sheet) -> Result<(), XlsxError> {
    let bold = Format::new().set_bold();
    for (column, head) in (0..).zip(&sheet.heads) {
        worksheet.write_string_with_format(0, column, head, &bold)?;
    }
    for (row, values) in (1..).zip(&sheet.rows) {
        for (column, value) in (0..).zip(values) {
            match value {
                Value::Text(text) if text.is_empty() => {}
                Value::Text(text) => {
                    let text: String = text.chars().take(TEXT_MAX).collect();
                    worksheet.write_string(row, column, text)?;
                }
                Value::Number(number) => {
                    worksheet.write_number(row, column, *number)?;
                }
                Value::Whole(number) => {
                    worksheet.write_number(row, column, *number as f64)?;
                }
                Value::Empty => {}
            }
        }
    }
    if !sheet.rows.is_empty() {
        let last = (sheet.rows.len() as u32, sheet.heads.len().saturating_sub(1) as u16);
        worksheet.autofilter(0, 0, last.0, last.1)?;
    }
    worksheet.set_freeze_panes(1, 0)?;
    worksheet.autofit();
    Ok(())
}

fn facts(run: &Run, summary: &Summary) -> Sheet {
    let mut rows = finding_sheets::origin(run);
    let counted = summary.health.iter().map(drives::counted);
    for (title, group) in groups(&run.begin.facts).into_iter().chain(counted) {
        for (name, value) in group {
            let texts = [title.clone(), name.to_owned(), value];
            rows.push(texts.map(Value::Text).to_vec());
        }
    }
    Sheet { heads: ["of", "fact", "value"].map(str::to_owned).to_vec(), rows }
}

/// What the charts show: for each bar its label, its value, and how far the interval reaches.
fn chart_data(rows: &[Row<'_>]) -> Sheet {
    let heads = [
        "cell",
        "iops_per_s",
        "iops_interval_above_per_s",
        "iops_interval_below_per_s",
        "iops_n",
        "bandwidth_bytes_per_s",
        "bandwidth_interval_above_bytes_per_s",
        "bandwidth_interval_below_bytes_per_s",
        "bandwidth_n",
    ];
    let values = |row: &Row<'_>| {
        let mut values = vec![Value::Text(row.full_label())];
        values.extend(reach(row.rates.iops));
        values.extend(reach(row.rates.bandwidth_bytes_per_s));
        values
    };
    Sheet { heads: heads.map(str::to_owned).to_vec(), rows: rows.iter().map(values).collect() }
}

fn reach(estimate: Option<Estimate>) -> [Value; 4] {
    let number = |value: Option<f64>| {
        value.filter(|value| value.is_finite()).map_or(Value::Empty, Value::Number)
    };
    let above = estimate.and_then(|one| Some(one.high? - one.value));
    let below = estimate.and_then(|one| Some(one.value - one.low?));
    let n = estimate.map_or(Value::Empty, |one| Value::Whole(one.n));
    [number(estimate.map(|one| one.value)), number(above), number(below), n]
}

fn bars(count: usize, column: u16, title: &str, axis: &str) -> Option<Chart> {
    let last = count as u32;
    if count == 0 {
        return None;
    }
    let range = |column: u16| ChartRange::new_from_range(CHART_SHEET, 1, column, last, column);
    let error = ChartErrorBarsType::Custom(range(column + 1), range(column + 2));
    let mut chart = Chart::new(ChartType::Bar);
    chart
        .add_series()
        .set_categories(&range(0))
        .set_values(&range(column))
        .set_format(ChartSolidFill::new().set_color(Color::RGB(0x0969b0)))
        .set_x_error_bars(ChartErrorBars::new().set_type(error));
    chart.title().set_name(title);
    // Lying bars: values along x, names along y, the first one lowest unless told otherwise.
    chart.y_axis().set_reverse();
    chart.x_axis().set_min(0).set_name(axis);
    chart.legend().set_hidden();
    chart.set_width(760).set_height(FRAME_PIXELS + BAR_PIXELS * count as u32);
    Some(chart)
}
