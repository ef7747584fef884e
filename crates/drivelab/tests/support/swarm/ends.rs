//! The status, the budget, the time; refusals.

use super::case::{Case, LIMIT_S, Said};
use super::judged::{Judged, Level};
use drivelab_core::op::Action;
use drivelab_core::run::Run;

fn promise(about: &'static str, is_right: bool, said: String, truth: String) -> Judged {
    Judged::held(about, Level::Promise, is_right, said, truth)
}

/// Whether the case was refused, or did not begin for another reason.
pub fn is_refused(said: &Said) -> bool {
    matches!(said.status, Some(2 | 3))
}

/// What was promised beforehand, and how it ended.
pub fn judge(case: &Case, said: &Said, all: &mut Vec<Judged>) {
    let json = said.json.as_ref();
    let error = json.map(|json| json["error"]["text"].to_string()).unwrap_or_default();
    let last = said.stderr.lines().last().unwrap_or_default().to_string();
    let words = format!("status {:?}: {last}", said.status);
    if said.status.is_none() {
        let truth = format!("it took longer than {LIMIT_S} s here");
        return all.push(Judged::open("ends", false, words, truth));
    }
    all.push(promise("ends", matches!(said.status, Some(0..=4)), words, "0 to 4".into()));
    if is_refused(said) {
        let is_said = error.len() > 4 || last.contains("drivelab") || said.stderr.len() > 20;
        let words = format!("{error}{}", said.stderr.trim());
        return all.push(promise("refusal", is_said, words, "a refusal says why".into()));
    }
    let Some(json) = json else {
        return all.push(promise("ends", false, last, "one JSON object".into()));
    };
    let no_answer = json["findings"]["no_answer"] == true;
    let incomplete = json["complete"] == false;
    let has_findings = json["findings"].is_object();
    let no_verdict =
        has_findings && said.sentences("verdict").is_empty() && said.sentences("beware").is_empty();
    let wants_4 = no_answer || incomplete || no_verdict;
    // A bad finding that is valid comes before an answer that is missing.
    let is_bad = !incomplete && !said.sentences("beware").is_empty();
    let is_right = !wants_4 || matches!(said.status, Some(4)) || is_bad && said.status == Some(1);
    let words = format!("status {:?}", said.status);
    let truth = format!("no answer {no_answer}, incomplete {incomplete}, no verdict {no_verdict}");
    all.push(promise("status", is_right, words, truth));
    if let Some(run) = &said.run {
        allowances(case, run, all);
    }
}

fn allowances(case: &Case, run: &Run, all: &mut Vec<Judged>) {
    let kinds = run.steps.iter().flat_map(|it| &it.tallies).flat_map(|it| &it.kinds);
    let written: u64 = kinds.filter(|kind| kind.kind == Action::Write).map(|kind| kind.bytes).sum();
    if let Some(budget) = case.budget {
        let words = format!("--budget {budget}");
        all.push(promise("budget", written <= budget, words, format!("{written} written")));
    }
    // What is in flight when the time is over cannot be called back.
    let last = run.steps.iter().rfind(|step| !step.tallies.is_empty());
    let last = last.into_iter().flat_map(|step| &step.tallies).flat_map(|it| &it.kinds);
    let in_flight = last.map(|kind| kind.service.max()).max().unwrap_or(0) as f64 / 1e9;
    let took = run.steps.iter().map(|step| step.duration_ns()).sum::<u64>() as f64 / 1e9;
    if let Some(seconds) = case.seconds {
        let words = format!("--time {seconds}s");
        let is_right = took <= 1.02 * seconds as f64 + 0.5 + in_flight;
        all.push(promise("time", is_right, words, format!("{took:.1} s of virtual time")));
    }
}
