//! Runs of one study on several targets, side by side.

use crate::findings::Findings;
use crate::run::Run;
use schemars::JsonSchema;
use serde::Serialize;

/// One target of several.
#[derive(Debug, Clone, Copy)]
pub struct Member<'a> {
    /// The target as typed; no two are alike.
    pub target: &'a str,
    /// Its run, with its findings.
    pub run: &'a Run,
}

/// A parameter of one drive that is given a value after the other: each member is the drive with
/// one of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Sweep {
    /// The parameter.
    pub key: String,
    /// Its values as typed or as chosen between two ends, in the order of the members.
    pub values: Vec<String>,
    /// How they were chosen, in a few words.
    pub steps: String,
    /// The drive without the parameter.
    pub drive: String,
}

/// What several runs of one study say together. Each run is a file of its own; this is made of
/// them and stored nowhere else.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Gathering {
    /// Version of the JSON.
    pub schema: u32,
    /// The study.
    pub study: String,
    /// What it asks.
    pub question: String,
    /// What the targets differ in, where they are one drive with one parameter varied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sweep: Option<Sweep>,
    /// The runs, in the order of the targets.
    pub runs: Vec<Gathered>,
    /// What follows from all of them.
    pub findings: Findings,
}

/// One run of several.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Gathered {
    /// The target as typed.
    pub target: String,
    /// ID of its run.
    pub run: String,
    /// Whether the run came to its end.
    pub complete: bool,
    /// Whether no headline number of it can be believed.
    pub no_answer: bool,
    /// What it found.
    pub verdict: Vec<String>,
}

impl Gathered {
    /// The short form of a member.
    pub fn of(member: &Member<'_>) -> Self {
        let findings = member.run.findings.as_ref();
        Gathered {
            target: member.target.into(),
            run: member.run.begin.run.clone(),
            complete: member.run.complete(),
            no_answer: findings.is_none_or(|findings| findings.no_answer),
            verdict: findings.map_or_else(Vec::new, |findings| findings.verdict.clone()),
        }
    }
}
