//! The tables and texts below the pictures.

use drivelab_core::findings::Findings;
use drivelab_core::record::Begin;
use drivelab_core::run::Run;
use drivelab_core::summary::{StepSummary, Summary};
use std::fmt::Write;

use crate::text::escape;
use crate::view::facts;
use crate::view::headline::{self, Row};
use crate::{errno, units};

/// The table of all cells.
pub(super) fn cells(out: &mut String, summary: &Summary, findings: &Findings) {
    if summary.cells.is_empty() {
        out.push_str("<section><p>No cell was measured.</p></section>\n");
        return;
    }
    out.push_str(
        "<section><h2>All numbers</h2><div class=\"scroll\" tabindex=\"0\">\
         <table class=\"cells\"><tr><th scope=\"col\">cell",
    );
    for head in ["size", "load", "rate", "95 % interval", "n", "mean", "p50", "p99", "p99.9", "max"]
    {
        let class = if head == "load" { "" } else { " class=\"r\"" };
        let _ = write!(out, "<th scope=\"col\"{class}>{head}");
    }
    out.push_str("<th scope=\"col\">truth<th scope=\"col\">remarks");
    for row in summary.cells.iter().flat_map(headline::rows) {
        cell_row(out, &row, findings);
    }
    out.push_str(
        "</table></div><p class=\"faint\">Latencies are those of all repetitions together, \
         from the due time in an open loop. – stands where the sample is too small for the \
         percentile. Intervals are at 95 %, n is the number of independent \
         repeats.</p></section>\n",
    );
}

fn cell_row(out: &mut String, row: &Row<'_>, findings: &Findings) {
    let rate = match row.in_bytes() {
        true => {
            row.rates.bandwidth_bytes_per_s.map(|rate| (rate, units::bandwidth_scale(rate.value)))
        }
        false => row.rates.iops.map(|rate| (rate, units::operations_scale(rate.value))),
    };
    let interval = rate.and_then(|(rate, scale)| units::interval(&rate, scale));
    let whole = |value: Option<u64>| value.map_or("–".to_owned(), |ns| units::time(ns as f64));
    let figures = match &row.latency {
        Some(latency) => [
            units::time(latency.mean),
            whole(latency.p50),
            whole(latency.p99),
            whole(latency.p99_9),
            units::time(latency.max as f64),
        ],
        None => Default::default(),
    };
    let mut remarks = Vec::new();
    if row.is_first {
        let of_cell = findings.remarks.iter().filter(|remark| remark.cell == row.cell.name);
        remarks.extend(of_cell.map(|remark| remark.text.clone()));
        remarks.extend(row.remarks());
    }
    let _ = write!(out, "<tr><td>{}", escape(row.label.trim()));
    let _ = write!(out, "<td class=\"r\">{}", escape(&headline::sizes(row.load)));
    let _ = write!(out, "<td class=\"n\">{}", escape(&headline::depth(row.load)));
    let _ = write!(out, "<td class=\"r\"><b>{}</b>", escape(&row.rate()));
    let _ = write!(out, "<td class=\"r\">{}", escape(interval.as_deref().unwrap_or("none")));
    let _ = write!(out, "<td class=\"r\">{}", rate.map_or(0, |(rate, _)| rate.n));
    for figure in figures {
        let _ = write!(out, "<td class=\"r\">{}", escape(&figure));
    }
    let word = match (row.is_first, row.cell.valid) {
        (false, _) => String::new(),
        (true, Some(false)) => "<b class=\"warn\">SUSPECT</b>".to_owned(),
        (true, valid) => headline::truth_word(valid).to_owned(),
    };
    let _ = write!(out, "<td class=\"n\">{word}<td>{}", escape(&remarks.join("; ")));
}

/// Every repetition with what belongs to it alone.
pub(super) fn steps(out: &mut String, summary: &Summary) {
    if summary.steps.is_empty() {
        return;
    }
    let title = match summary.steps.len() {
        1 => "The executed step".to_owned(),
        many => format!("All {many} executed steps, each repetition alone"),
    };
    let _ = write!(
        out,
        "<section><details><summary>{title}</summary><div class=\"scroll\" tabindex=\"0\"><table>\
         <tr><th>step\
         <th>role<th class=\"r\">repetition\
         <th>kind<th>truth<th class=\"r\">I/Os<th class=\"r\">rate<th class=\"r\">bandwidth\
         <th class=\"r\">depth reached<th class=\"r\">CPU per I/O<th>remarks"
    );
    for step in &summary.steps {
        step_rows(out, step);
    }
    out.push_str("</table></div></details></section>\n");
}

fn step_rows(out: &mut String, step: &StepSummary) {
    for stream in &step.streams {
        for (action, kind) in &stream.kinds {
            let number = |value: Option<String>| value.unwrap_or_else(|| "unknown".to_owned());
            let bandwidth = kind.rates.bandwidth_bytes_per_s;
            let iops = kind.rates.iops.map(|rate| units::operations(rate.value));
            let none = || headline::without_rate(Some(*action), &kind.rates).to_owned();
            let mut remarks: Vec<String> =
                step.incomplete.iter().map(|reason| format!("incomplete: {reason}")).collect();
            let told = step.reasons.iter().filter(|reason| reason.code != "incomplete");
            remarks.extend(told.map(|reason| reason.text.clone()));
            remarks.extend(kind.errors_by_errno.iter().map(|entry| {
                format!("{} × {}", units::count(entry.count), errno::name(entry.errno.0))
            }));
            let _ = write!(
                out,
                "<tr><td>{}<td>{}<td class=\"r\">{}<td>{}<td class=\"n\">{}<td class=\"r\">{}\
                 <td class=\"r\">{}\
                 <td class=\"r\">{}<td class=\"r\">{}<td class=\"r\">{}<td>{}",
                escape(&step.name),
                headline::role_word(step.role),
                step.repetition,
                action.word(),
                headline::truth_word(step.valid),
                units::count(kind.rates.ops),
                iops.unwrap_or_else(none),
                bandwidth.map_or(String::new(), |rate| units::bandwidth(rate.value)),
                number(stream.depth_reached.map(units::digits)),
                number(stream.engine_cpu_ns_per_op.map(units::time)),
                escape(&remarks.join("; ")),
            );
        }
    }
}

/// Target and machine.
pub(super) fn facts(out: &mut String, run: &Run) {
    out.push_str(
        "<section><h2>Facts</h2><div class=\"scroll\" tabindex=\"0\"><table class=\"facts\">",
    );
    for (title, rows) in facts::groups(&run.begin.facts) {
        let _ = write!(out, "<tr class=\"group\"><th colspan=\"2\">{}", escape(&title));
        for (name, value) in rows {
            let _ = write!(out, "<tr><td>{}<td>{}", escape(name), escape(&value));
        }
    }
    let clock = &run.begin.clock;
    let mut how = vec![clock.source.clone()];
    how.extend(
        clock
            .disagreement_ppm
            .filter(|ppm| ppm.is_finite())
            .map(|ppm| format!("{ppm:.2} ppm from CLOCK_MONOTONIC")),
    );
    how.extend(clock.read_ns.map(|cost| format!("{} a reading", units::time(cost))));
    if !clock.reason.is_empty() {
        how.push(clock.reason.clone());
    }
    how.retain(|part| !part.is_empty());
    let how = if how.is_empty() { units::UNKNOWN.to_owned() } else { how.join("; ") };
    out.push_str("<tr class=\"group\"><th colspan=\"2\">measurement");
    let _ = write!(out, "<tr><td>clock<td>{}", escape(&how));
    let opened: std::collections::BTreeSet<&String> =
        run.steps.iter().flat_map(|step| &step.begin.opened).collect();
    for flags in opened.into_iter().filter(|flags| !flags.trim().is_empty()) {
        let _ = write!(out, "<tr><td>opened<td>{}", escape(flags));
    }
    out.push_str("</table></div>");
    processes(out, &run.begin);
    out.push_str("</section>\n");
}

/// Who shared the work, where there were several.
fn processes(out: &mut String, begin: &Begin) {
    let Some(line) = headline::processes(begin) else { return };
    let _ = write!(
        out,
        "<h3>Processes</h3><p>{}. What each clock was ahead is taken out of all times.</p>\
         <div class=\"scroll\" tabindex=\"0\"><table><tr><th scope=\"col\" class=\"r\">process\
         <th scope=\"col\">machine<th scope=\"col\" class=\"r\">clock ahead by\
         <th scope=\"col\" class=\"r\">may be wrong by",
        escape(&line)
    );
    for process in &begin.processes {
        let (ahead, wrong) = match process.rank {
            0 => ("the clock of all times".to_owned(), String::new()),
            _ => (
                units::time(process.clock_ahead_ns as f64),
                units::time(process.clock_skew_ns as f64),
            ),
        };
        let _ = write!(
            out,
            "<tr><td class=\"r\">{}<td>{}<td class=\"r\">{ahead}<td class=\"r\">{wrong}",
            process.rank,
            escape(&process.host)
        );
    }
    out.push_str("</table></div>");
}

/// The plan as the TOML that can be run again.
pub(super) fn plan(out: &mut String, run: &Run) {
    if run.plans.is_empty() {
        return;
    }
    out.push_str("<section><h2>Plan</h2><p>What decided every I/O; save it and run it again.</p>");
    for (index, plan) in run.plans.iter().enumerate() {
        let text = match toml::to_string(plan) {
            Ok(text) => text,
            Err(error) => format!("# this plan cannot be written as TOML: {error}"),
        };
        let steps = plan.steps.len();
        let noun = if steps == 1 { "step" } else { "steps" };
        let _ = write!(
            out,
            "<details{}><summary>plan {} of {}, {steps} {noun}</summary>\
             <pre>{}</pre></details>",
            if text.len() < 1500 { " open" } else { "" },
            index + 1,
            run.plans.len(),
            escape(&text)
        );
    }
    out.push_str("</section>\n");
}

/// What the words on this page mean.
pub(super) fn words(out: &mut String, run: &Run, summary: &Summary) {
    out.push_str(
        "<section><h2>What the words mean</h2><ul>\
         <li>Service time runs from just before the system call that carried the I/O to just \
         after the call that returned it. Response time runs from when the I/O was due, and \
         exists only in an open loop.</li>\
         <li>A rate counts completions in the measured window, ramp left out. Its interval comes \
         from the repetitions, or from batch means within a single one, or there is none.</li>\
         <li>Percentiles are at most 0.1 % above the exact ones; minimum, mean and maximum are \
         exact.</li>",
    );
    let has_gaps = summary.steps.iter().flat_map(|step| &step.streams);
    let over: std::collections::BTreeSet<u64> =
        has_gaps.map(|stream| stream.gaps.over_ns).collect();
    for over in over {
        let over = units::time(over as f64);
        let _ = write!(
            out,
            "<li>A gap is a time of {over} or more in which no worker of a stream had a \
             completion.</li>"
        );
    }
    if run.end.is_none() {
        out.push_str("<li>The run file has no end: all figures come from what reached it.</li>");
    }
    out.push_str("</ul></section>\n");
}
