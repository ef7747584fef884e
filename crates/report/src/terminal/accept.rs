//! The table of `drivelab accept`: one line a claim.

use drivelab_core::claims::{Answer, JudgedClaim, Metric};
use drivelab_core::facts::Facts;
use drivelab_core::summary::Summary;
use drivelab_stats::Estimate;

use crate::text::{Flush, columns, hanging, printable};
use crate::units::{self, Scale};

/// Target, claims with their answers, what is unknown, warnings.
pub fn claims_table(summary: &Summary, claims: &[JudgedClaim], facts: &Facts) -> String {
    let mut text = super::check::heading(summary, facts);
    text.push('\n');
    let heads = ["claim", "asked", "measured", "answer", "95 % interval"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    rows.extend(claims.iter().map(row));
    let (left, right) = (Flush::Left, Flush::Right);
    text.push_str(&columns(&rows, &[left, right, right, left, left], 2));
    let reasons = claims.iter().filter(|claim| !claim.why.is_empty());
    let reasons: Vec<&JudgedClaim> = reasons.collect();
    if !reasons.is_empty() {
        text.push('\n');
    }
    for claim in reasons {
        let words = format!("{}: {}.", claim.name, claim.why.trim_end_matches('.'));
        let label = match claim.answer {
            Answer::Met => "Met",
            Answer::NotMet => "Not met",
            Answer::CannotTell => "Cannot tell",
        };
        text.push_str(&hanging(label, &printable(&words), 13));
    }
    let count = |answer| claims.iter().filter(|claim| claim.answer == answer).count();
    let verdict = format!(
        "{} of {} claims met, {} not met, {} inconclusive.",
        count(Answer::Met),
        claims.len(),
        count(Answer::NotMet),
        count(Answer::CannotTell)
    );
    text.push('\n');
    text.push_str(&hanging("Verdict", &verdict, 9));
    let closing = super::closing(summary);
    if !closing.is_empty() {
        text.push('\n');
        text.push_str(&closing);
    }
    text
}

fn row(claim: &JudgedClaim) -> Vec<String> {
    let sign = if claim.at_least.is_some() { "≥" } else { "≤" };
    let limit = claim.at_least.or(claim.at_most).unwrap_or(f64::NAN);
    let figure = claim.estimate.as_ref();
    vec![
        printable(&claim.name),
        asked(claim.metric, sign, limit),
        figure.map_or(units::UNKNOWN.to_owned(), |figure| in_unit(claim.metric, figure.value)),
        claim.answer.words().to_owned(),
        figure.map_or(String::new(), |figure| interval(claim.metric, figure)),
    ]
}

/// What a claim asks for: `p99 latency ≤ 500 µs`; IOPS name themselves, `≥ 20.0k IOPS`.
fn asked(metric: Metric, sign: &str, limit: f64) -> String {
    let limit = in_unit(metric, limit);
    match metric {
        Metric::Iops => format!("{sign} {limit}"),
        _ => format!("{} {sign} {limit}", metric.words()),
    }
}

fn in_unit(metric: Metric, value: f64) -> String {
    match metric {
        Metric::Iops => units::operations(value),
        Metric::BandwidthBytesPerS => units::bandwidth(value),
        _ => units::time(value),
    }
}

fn interval(metric: Metric, figure: &Estimate) -> String {
    let scale: Scale = match metric {
        Metric::Iops => units::operations_scale(figure.value),
        Metric::BandwidthBytesPerS => units::bandwidth_scale(figure.value),
        _ => units::time_scale(figure.value),
    };
    let words = units::interval(figure, scale).unwrap_or_else(|| "no interval".to_owned());
    format!("{words}, n {}", figure.n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::run::Run;
    use drivelab_core::summary::summarise;

    #[test]
    fn claims_stand_in_lines_with_their_reasons_below() {
        let claim = |name: &str, metric, limits: (Option<f64>, Option<f64>), answer, why: &str| {
            let figure = Estimate { value: 4.2e3, low: Some(4.1e3), high: Some(4.3e3), n: 5 };
            JudgedClaim {
                name: name.into(),
                metric,
                at_least: limits.0,
                at_most: limits.1,
                estimate: (answer != Answer::CannotTell).then_some(figure),
                answer,
                why: why.into(),
            }
        };
        let claims = [
            claim("reads", Metric::Iops, (Some(500.0), None), Answer::Met, ""),
            claim("quick", Metric::MaxNs, (None, Some(1e3)), Answer::NotMet, "one took 4.90 µs"),
            claim("rare", Metric::P9999Ns, (None, Some(1e6)), Answer::CannotTell, "too few I/Os"),
            claim("flat", Metric::P99Ns, (None, Some(5e3)), Answer::Met, "all 5 are equal"),
        ];
        crate::Screen::of(Some(100), false).set();
        let text = claims_table(&summarise(&Run::default()), &claims, &Facts::default());
        let lines: Vec<&str> = text.lines().skip_while(|line| !line.contains("claim ")).collect();
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words(lines[0]), "claim asked measured answer 95 % interval");
        assert_eq!(words(lines[1]), "reads ≥ 500 IOPS 4.20k IOPS met 4.10k to 4.30k IOPS, n 5");
        assert_eq!(
            words(lines[2]),
            "quick max latency ≤ 1.00 µs 4.20 µs not met 4.10 to 4.30 µs, n 5"
        );
        assert_eq!(words(lines[3]), "rare p99.99 latency ≤ 1.00 ms unknown cannot tell");
        assert_eq!(lines[6], "Not met      quick: one took 4.90 µs.");
        assert_eq!(lines[7], "Cannot tell  rare: too few I/Os.");
        assert_eq!(lines[8], "Met          flat: all 5 are equal.");
        assert_eq!(lines[10], "Verdict  2 of 4 claims met, 1 not met, 1 inconclusive.");
    }
}
