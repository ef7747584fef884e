//! `drivelab accept`: claims of a data sheet against the drive.

use super::run::read_toml;
use super::study::Studied;
use crate::cli::accept::AcceptOptions;
use crate::job::Job;
use crate::outcome::{Failure, Status};
use crate::ready::Ready;
use crate::shown::Shown;
use crate::target::Missing;
use crate::{entropy, print};
use drivelab_core::run::Run;
use drivelab_core::study::{AcceptOptions as Claimed, StudyOptions};
use drivelab_study::accept;
use drivelab_study::experiment::Setting;

/// Puts every claim to the target.
pub fn accept(options: &AcceptOptions) -> Result<Status, Failure> {
    let text = read_toml(&options.spec, "specification")?;
    let spec = accept::parse(&text, &options.spec);
    let claims = spec.map_err(|error| Failure::usage(error.to_string()))?.claims.len();
    let terms = options.study.terms();
    let shown = Shown::plainly(options.study.json, options.out.as_deref());
    let job = Job::new("accept", &options.target, &terms, shown)?;
    let job = Job { size: options.size, ..job };
    let asked = StudyOptions {
        name: accept::STUDY.name.into(),
        seed: options.study.seed.unwrap_or_else(entropy::seed),
        budget: options.study.budget,
        cpus: options.study.cpus.clone(),
        accept: Claimed { spec: text, lays_out: false },
        ..StudyOptions::default()
    };
    let line = format!("accept {}", options.spec);
    let missing = Missing::unless_sized(options.size, &line);
    let facts = job.look(missing)?.facts;
    let setting = Setting { options: &asked, facts: &facts };
    let fitting = (accept::STUDY.next)(&setting, &Run::default()).unwrap_or_default();
    let resolved = job.take(&fitting, missing)?;
    let laid = Claimed { lays_out: resolved.creates(), ..asked.accept };
    let asked = StudyOptions { bytes: resolved.file_bytes, accept: laid, ..asked };
    let inquiry = Studied { study: accept::STUDY, options: asked, facts: resolved.facts.clone() };
    let first = inquiry.first(&resolved)?;
    let job = Job { study: Some(inquiry.options.clone()), ..job };
    let ready = job.ready(resolved, first, inquiry)?;
    if options.study.dry_run {
        return ready.print();
    }
    announce(&ready, claims);
    ready.finish()
}

/// What will be written, before it is: for a person who watches.
fn announce(ready: &Ready<'_, Studied>, claims: usize) {
    if print::stderr_is_terminal() {
        let (target, cost, seed) = (ready.job().target, ready.cost(), ready.first().seed);
        print::error(&format!("{claims} claims on {target}: {}, seed {seed}", cost.in_words()));
    }
}
