//! A comparison as one HTML page: counts, all cells in one picture, the table behind it.

use super::{SCRIPT, figures, head, table};
use crate::svg::forest;
use crate::text::escape;
use crate::view::chart::Chart;
use crate::view::comparison as words;
use drivelab_core::comparison::{Cell, Comparison};
use drivelab_core::findings::Findings;
use drivelab_stats::ratio_band;
use std::fmt::Write;

/// What the forest plot needs beyond the page of a run.
pub(super) const CSS: &str = "\
.forest text{paint-order:stroke;stroke:var(--paper);stroke-width:3px}\
.unchanged{fill:var(--grid);opacity:.4}svg text.warning{fill:var(--warn)}\
svg text.read{fill:var(--read)}\
svg text.write{fill:var(--write)}";

/// The page. `curves`: the latencies of both sides over each other, where runs are known.
pub fn comparison(comparison: &Comparison, curves: &[Chart]) -> String {
    let mut out = String::with_capacity(32 << 10);
    let title = format!("drivelab: {} → {}", comparison.before, comparison.after);
    head(&mut out, &title, true);
    let (unit, counts) = (words::circumstances(comparison), words::counts(&comparison.cells));
    let _ = writeln!(
        out,
        "<header><p class=\"badges\"><b class=\"badge\">compared</b></p><h1>{} → {}</h1>\
         <p class=\"lead\">{}</p><p class=\"faint\">{}</p></header>",
        escape(&comparison.before),
        escape(&comparison.after),
        escape(&counts),
        escape(&unit),
    );
    out.push_str("<section><h2>All cells, from the largest loss to the largest gain</h2>");
    picture(&mut out, comparison);
    out.push_str("</section>\n");
    if !curves.is_empty() {
        out.push_str("<section><h2>Latency before and after</h2><div class=\"pair\">");
        for (index, chart) in curves.iter().enumerate() {
            let mut chart = chart.clone();
            // Said once it helps; said twice it is noise.
            if index > 0 {
                chart.note.clear();
            }
            figures::figure(&mut out, &chart, false, 3);
        }
        out.push_str("</div></section>\n");
    }
    out.push_str("<section><h2>All numbers</h2>");
    table::numbers(&mut out, &words::numbers(comparison));
    out.push_str("</section>\n");
    let remarks = remarks(comparison, &Findings::default());
    if !remarks.is_empty() {
        let _ = writeln!(out, "<section><h2>Notes</h2>{remarks}</section>");
    }
    let _ = writeln!(out, "</main><script>{SCRIPT}</script></body></html>");
    out
}

/// A comparison within the page of a run.
pub(super) fn section(out: &mut String, comparison: &Comparison, findings: &Findings) {
    let (unit, counts) = (words::circumstances(comparison), words::counts(&comparison.cells));
    let _ = write!(
        out,
        "<section><h2>{} → {}</h2><p>{}</p><p class=\"faint\">{}</p>",
        escape(&comparison.before),
        escape(&comparison.after),
        escape(&counts),
        escape(&unit),
    );
    picture(out, comparison);
    out.push_str("<details><summary>the numbers</summary>");
    table::numbers(out, &words::numbers(comparison));
    let _ = writeln!(out, "</details>{}</section>", remarks(comparison, findings));
}

fn picture(out: &mut String, comparison: &Comparison) {
    let judged: Vec<&Cell> = comparison.cells.iter().filter(|cell| cell.ratio.is_some()).collect();
    if judged.is_empty() {
        out.push_str("<p>No cell could be judged.</p>");
        return;
    }
    let names: Vec<String> = judged.iter().map(|cell| words::name(cell, comparison)).collect();
    let first = comparison.delta.unwrap_or_else(|| judged[0].metric.delta());
    let is_one = comparison.delta.is_some()
        || judged.iter().all(|cell| cell.metric.delta() == judged[0].metric.delta());
    let band = is_one.then(|| ratio_band(first).1);
    let [wide, narrow] =
        [figures::WIDE, figures::NARROW].map(|width| forest(&judged, &names, band, width));
    let shade = if is_one { "; the shaded band counts as unchanged" } else { "" };
    let _ = writeln!(
        out,
        "<figure><div class=\"wide\">{wide}</div><div class=\"narrow\">{narrow}</div>\
         <figcaption>How \
         many times as fast after as before, on a logarithmic axis, with its 95 % interval{shade}. \
         Faster is always to the right, of a latency too. A hollow mark: cannot tell. An arrow: it \
         goes on beyond the picture.</figcaption></figure>"
    );
}

/// What must be known besides, as a list; empty where nothing must.
fn remarks(comparison: &Comparison, findings: &Findings) -> String {
    let lines = words::remarks(comparison, findings);
    if lines.is_empty() {
        return String::new();
    }
    let items: String = lines.iter().map(|line| format!("<li>{}", escape(line))).collect();
    format!("<ul>{items}</ul>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::comparison::Metric;
    use drivelab_stats::{Open, Ratio, Verdict};

    #[test]
    fn a_page_shows_every_cell_and_holds_no_foreign_markup() {
        let cell = |name: &str, verdict, value: f64, suspect: Option<&str>| Cell {
            name: name.into(),
            metric: Metric::Iops,
            verdict: suspect.is_none().then_some(verdict),
            ratio: suspect.is_none().then_some(Ratio {
                value,
                low: Some(value * 0.98),
                high: Some(value * 1.02),
            }),
            p_adjusted: Some(1e-9),
            needs_n: None,
            open: (name == "same").then_some(Open::Depends),
            values: None,
            n: (6, 6),
            suspect: suspect.map(str::to_owned),
        };
        let compared = Comparison {
            before: "a<b".into(),
            after: "c".into(),
            cells: vec![
                cell("read & write", Verdict::Changed, 0.7, None),
                cell("same", Verdict::Equivalent, 1.0, None),
                cell("cached", Verdict::Changed, 1.0, Some("the page cache <answered>")),
            ],
            only_before: vec!["trim".into()],
            only_after: Vec::new(),
            differences: Vec::new(),
            is_by_run: false,
            delta: None,
        };
        let page = comparison(&compared, &[]);
        for expected in [
            "<h1>a&lt;b → c</h1>",
            "1 slower · 1 equivalent · 1 suspect (kept out)",
            "read &amp; write: slower -30.0 %",
            "cached is suspect and kept out: the page cache &lt;answered&gt;",
            "Only in a&lt;b: trim",
            "<li>same: each value of a side depends on those before it",
            "class=\"unchanged\"",
        ] {
            assert!(page.contains(expected), "{expected}\n{page}");
        }
        assert_eq!(page.matches("<circle").count(), 4, "two marks, for a page and for a phone");
    }
}
