//! What several drives cost for what they give.

use super::short;
use crate::experiment::Study;
pub use crate::experiment::prices::TITLE;
use crate::experiment::prices::{Offer, table};
use drivelab_core::findings::{Findings, Table};
use drivelab_core::gathering::Member;
use drivelab_core::study::StudyOptions;

/// The table of several targets, where one of them has a price.
pub fn of_members(study: &Study, members: &[Member<'_>]) -> Option<Table> {
    let names = short(&members.iter().map(|member| member.target).collect::<Vec<_>>());
    let nothing = (StudyOptions::default(), Findings::default());
    let named = members.iter().zip(&names);
    let offers: Vec<Offer<'_>> = named
        .map(|(member, name)| Offer {
            name,
            options: member.run.begin.study.as_ref().unwrap_or(&nothing.0),
            facts: &member.run.begin.facts,
            figures: &member.run.findings.as_ref().unwrap_or(&nothing.1).figures,
        })
        .collect();
    table(study, &offers)
}
