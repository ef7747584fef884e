//! Claims against what was measured: each bar is a share of its own limit, because claims are of
//! quantities that have no axis in common.

use drivelab_core::claims::{Answer, JudgedClaim, Metric};

use crate::view::amounts::is_number;
use crate::view::chart::{Body, Chart, Table, Unit};

/// One claim.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimBar {
    /// Its name.
    pub label: String,
    /// What was claimed and measured, in words.
    pub text: String,
    /// What was measured by what was claimed; `None` where nothing was.
    pub share: Option<f64>,
    /// The ends of its 95 % interval, likewise.
    pub interval: Option<(f64, f64)>,
    /// More than the limit is better.
    pub is_least: bool,
    /// Whether it holds.
    pub answer: Answer,
}

/// The chart of all claims; `None` where there is none with a limit.
pub fn claims(claims: &[JudgedClaim]) -> Option<Chart> {
    let bars: Vec<ClaimBar> = claims.iter().filter_map(bar).collect();
    if bars.is_empty() {
        return None;
    }
    let said: Vec<String> = bars.iter().map(|bar| format!("{}: {}", bar.label, bar.text)).collect();
    let row = |claim: &JudgedClaim| {
        let unit = unit(claim.metric);
        let ends = claim.estimate.and_then(|it| it.low.zip(it.high));
        vec![
            claim.name.clone(),
            claim.metric.words().to_owned(),
            limit(claim)
                .map_or(String::new(), |(word, limit)| format!("{word} {}", unit.show(limit))),
            claim.estimate.map_or("no figure".to_owned(), |it| unit.show(it.value)),
            ends.map_or("none".to_owned(), |(low, high)| {
                format!("{} to {}", unit.show(low), unit.show(high))
            }),
            claim.answer.words().to_owned(),
            claim.why.clone(),
        ]
    };
    let heads = ["claim", "of", "limit", "measured", "95 % interval", "answer", "why"];
    Some(Chart {
        title: "Claims against what was measured".to_owned(),
        note: "Each bar is what was measured as a share of its own claim, from zero. The line is \
               the limit, the shaded side is the one that meets the claim, the thin line is the \
               95 % interval: a claim is met where it lies wholly on the shaded side. An arrow: \
               the bar goes on beyond the picture. A hollow bar: cannot tell."
            .to_owned(),
        alt: format!("Claims as bars against their limits. {}.", said.join("; ")),
        body: Body::Claims(bars),
        table: Table {
            heads: heads.map(str::to_owned).to_vec(),
            rows: claims.iter().map(row).collect(),
        },
    })
}

fn limit(claim: &JudgedClaim) -> Option<(&'static str, f64)> {
    let least = claim.at_least.map(|limit| ("at least", limit));
    least.or(claim.at_most.map(|limit| ("at most", limit)))
}

fn unit(metric: Metric) -> Unit {
    match metric {
        Metric::Iops => Unit::Operations,
        Metric::BandwidthBytesPerS => Unit::Bandwidth,
        _ => Unit::Nanoseconds,
    }
}

fn bar(claim: &JudgedClaim) -> Option<ClaimBar> {
    let (word, limit) = limit(claim).filter(|(_, limit)| is_number(*limit) && *limit > 0.0)?;
    let unit = unit(claim.metric);
    let estimate = claim.estimate.filter(|it| is_number(it.value));
    let measured = estimate.map_or("no figure".to_owned(), |it| unit.show(it.value));
    let (metric, answer) = (claim.metric.words(), claim.answer.words());
    Some(ClaimBar {
        label: claim.name.clone(),
        text: format!("{metric} {measured}, {word} {}: {answer}", unit.show(limit)),
        share: estimate.map(|it| it.value / limit),
        interval: estimate
            .and_then(|it| it.low.zip(it.high))
            .map(|(low, high)| (low / limit, high / limit)),
        is_least: claim.at_least.is_some(),
        answer: claim.answer,
    })
}
