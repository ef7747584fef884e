//! What each target's link carries, and what of that was used.

use crate::experiment::link::shares;
use drivelab_core::findings::{Entry, Head, Table, Unit};
use drivelab_core::gathering::Member;
use drivelab_core::link;
use drivelab_core::summary::Summary;

/// The targets whose link is known; `None`: of no target.
pub(super) fn table(members: &[Member<'_>], places: &[(&str, &Summary)]) -> Option<Table> {
    let rows: Vec<Vec<Entry>> =
        places.iter().filter_map(|(target, summary)| row(members, target, summary)).collect();
    let head = |name: &str, unit| Head { name: name.into(), unit };
    (!rows.is_empty()).then(|| Table {
        title: "Links".into(),
        note:
            "The bandwidth of the link after its encoding, and how much of it sequential 128 KiB \
               used. A target whose link is not known is left out."
                .into(),
        heads: vec![
            head("target", None),
            head("link", None),
            head("carries", Some(Unit::BytesPerS)),
            head("reads", Some(Unit::Share)),
            head("writes", Some(Unit::Share)),
        ],
        rows,
    })
}

fn row(members: &[Member<'_>], target: &str, summary: &Summary) -> Option<Vec<Entry>> {
    let member = members.iter().find(|member| member.target == target)?;
    let link = link::of(&member.run.begin.facts)?;
    let rate = |name: &str| {
        let cell = summary.cells.iter().find(|cell| cell.name == name)?;
        Some(cell.streams.first()?.total.bandwidth_bytes_per_s?.value)
    };
    let [read, written] = shares(&link, rate("sequential read"), rate("sequential write"));
    let share = |share: Option<f64>| share.map_or(Entry::Nothing, Entry::Number);
    Some(vec![
        Entry::Text(target.into()),
        Entry::Text(link.name),
        Entry::Number(link.rate.read_bytes_per_s as f64),
        share(read),
        share(written),
    ])
}
