//! What happened when, over the time that was watched.

use drivelab_core::findings::Timeline;

use crate::units;
use crate::view::chart::{Axis, Body, Chart, Table, Unit};

/// Times that the table lists, the longest first.
const LISTED_MAX: usize = 24;

/// One stretch that was watched.
#[derive(Debug, Clone, PartialEq)]
pub struct TimelineRow {
    /// Its name.
    pub label: String,
    /// What is said of it, in a few words.
    pub text: String,
    /// How long it was, in seconds.
    pub length: f64,
    /// Begin, end, whether it is a bad one, and what is said of it.
    pub times: Vec<(f64, f64, bool, String)>,
}

/// The chart of a timeline; `None` where nothing was watched.
pub fn timeline(timeline: &Timeline) -> Option<Chart> {
    let longest = timeline.rows.iter().map(|row| row.length_ns).max().filter(|ns| *ns > 0)?;
    let rows: Vec<TimelineRow> = timeline.rows.iter().map(|row| drawn(timeline, row)).collect();
    let said: Vec<String> = rows.iter().map(|row| format!("{}: {}", row.label, row.text)).collect();
    let mut listed: Vec<(u64, Vec<String>)> = Vec::new();
    for row in &timeline.rows {
        let times = row.times.iter().map(|(from, to)| {
            let length = to.saturating_sub(*from);
            let at = units::time(*from as f64);
            (length, vec![row.label.clone(), at, units::time(length as f64)])
        });
        listed.extend(times);
    }
    listed.sort_by_key(|(length, _)| std::cmp::Reverse(*length));
    let heads = ["", "began at", "length"].map(str::to_owned).to_vec();
    Some(Chart {
        title: timeline.title.clone(),
        note: timeline.note.clone(),
        alt: format!("{}. {}.", timeline.title, said.join("; ")),
        body: Body::Timeline {
            axis: Axis {
                quantity: "seconds".to_owned(),
                unit: Unit::Seconds,
                is_log: false,
                from: 0.0,
                to: longest as f64 / 1e9,
            },
            grade: timeline.grade.clone(),
            rows,
        },
        table: Table {
            heads,
            rows: listed.into_iter().take(LISTED_MAX).map(|(_, row)| row).collect(),
        },
    })
}

fn drawn(timeline: &Timeline, row: &drivelab_core::findings::TimelineRow) -> TimelineRow {
    let bad = |(from, to): &(u64, u64)| to.saturating_sub(*from) >= timeline.bad_from_ns;
    let count = row.times.iter().filter(|time| bad(time)).count();
    let longest = row.times.iter().map(|(from, to)| to.saturating_sub(*from)).max();
    let least = units::time(timeline.bad_from_ns as f64);
    let mut text = match (count, longest) {
        (0, _) => format!("none of {least}"),
        (1, Some(longest)) => format!("1, {}", units::time(longest as f64)),
        (count, longest) => {
            format!("{count}, longest {}", units::time(longest.unwrap_or(0) as f64))
        }
    };
    if row.unlisted > 0 {
        text.push_str(&format!(", and {} of any length not listed", units::count(row.unlisted)));
    }
    let time = |time: &(u64, u64)| {
        let length = units::time(time.1.saturating_sub(time.0) as f64);
        let tip = format!("{length} at {}", units::time(time.0 as f64));
        (time.0 as f64 / 1e9, time.1 as f64 / 1e9, bad(time), tip)
    };
    TimelineRow {
        label: row.label.clone(),
        text,
        length: row.length_ns as f64 / 1e9,
        times: row.times.iter().map(time).collect(),
    }
}
