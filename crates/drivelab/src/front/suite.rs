//! A suite of lines: each phase a run of its own, its results and what is left of it.

use super::drivelab_options::Notes;
use super::{Line, place};
use crate::outcome::{Failure, Status};
use crate::print;
use crate::ranks::{agree, broadcast, on_rank_0};
use crate::session::Ended;
use drivelab_compat::front::{Host, Output, OutputFile, Refusal};
use drivelab_compat::suite::{Begun, Done, Outcome, Phase, Suite, Word};
use drivelab_core::run::Run;
use drivelab_core::verified::Verified;
use drivelab_io::find;
use place::Place;
use std::path::Path;

/// Runs it, and gives the exit status.
pub fn run(line: &Line<'_>, mut suite: Box<dyn Suite>) -> Result<u8, Failure> {
    let ranks = line.ranks;
    suite.begin_at(broadcast(ranks, &line.world.host_now().now_ms)?);
    line.tell(suite.notes());
    if line.options.notes == Notes::Only {
        return Ok(0);
    }
    if line.options.dry_run {
        shown(&*suite);
        return Ok(0);
    }
    let place = on_rank_0(ranks, || Place::prepare(line, &*suite))?;
    print::verbatim(&suite.heading());
    let mut going = Going { line, suite: &*suite, place: &place, outcomes: Vec::new(), from_ns: 0 };
    let ended = going.phases();
    let outcomes = going.outcomes;
    let is_whole = matches!(ended, Ok(0)) && outcomes.len() == suite.phases().len();
    if is_whole {
        print::verbatim(&suite.score(&outcomes));
        say_what_is_doubtful(line, &*suite, &outcomes);
    }
    if let Some(place) = place {
        place.clear(&*suite);
    }
    ended
}

/// What each phase would be, and touches nothing.
fn shown(suite: &dyn Suite) {
    let lines: String = (0..)
        .zip(suite.phases())
        .map(|(index, name)| match suite.shown(index) {
            Some(line) => format!("[{name}]\n{line}\n"),
            None => format!("[{name}]\n"),
        })
        .collect();
    print::verbatim(&lines);
}

/// Why the result is not valid, and what speaks against its parts.
fn say_what_is_doubtful(line: &Line<'_>, suite: &dyn Suite, outcomes: &[Outcome]) {
    if line.options.notes == Notes::None || !line.ranks.is_rank_0() {
        return;
    }
    for reason in suite.invalid(outcomes) {
        print::error(&format!("note: [INVALID] {reason}."));
    }
    for (name, outcome) in suite.phases().iter().zip(outcomes) {
        if let Some(word) = outcome.word().filter(|word| matches!(word, Word::Suspect(_))) {
            print::error(&format!("note: {name} is {}.", word.in_full()));
        }
    }
}

/// A suite that is under way.
struct Going<'a> {
    line: &'a Line<'a>,
    suite: &'a dyn Suite,
    /// Rank 0 has it.
    place: &'a Option<Place>,
    outcomes: Vec<Outcome>,
    /// Files that changed from this time on count as later.
    from_ns: u64,
}

impl Going<'_> {
    /// Phase by phase; ends with the status of the first that did not end well.
    fn phases(&mut self) -> Result<u8, Failure> {
        for (index, name) in self.suite.phases().into_iter().enumerate() {
            let began_ms = self.line.world.host_now().now_ms;
            let phase = self.suite.begin(index, self.line.world, self.from_ns);
            let (phase, status) = match agree(self.line.ranks, phase.map_err(refused))? {
                Phase::Skipped => (Done::default(), 0),
                Phase::Stamp(place) => {
                    let stamp = OutputFile { place, bytes: Vec::new(), said: String::new() };
                    self.from_ns = self.stamped(&stamp)?;
                    (Done::default(), 0)
                }
                Phase::Run(begun) => self.measured(name, *begun)?,
            };
            if status != 0 {
                return Ok(status);
            }
            let between_ms = (began_ms, self.line.world.host_now().now_ms);
            let outcome = self.suite.outcome(Done { phase: index, between_ms, ..phase });
            print::verbatim(&self.suite.row(&outcome));
            self.outcomes.push(outcome);
            on_rank_0(self.line.ranks, || {
                let told = self.suite.told_files(&self.outcomes);
                self.place.iter().try_for_each(|place| place.write(&told))
            })?;
        }
        Ok(0)
    }

    fn stamped(&self, stamp: &OutputFile) -> Result<u64, Failure> {
        let made = on_rank_0(self.line.ranks, || {
            self.place.iter().try_for_each(|place| place.write(std::slice::from_ref(stamp)))?;
            let path = Path::new(&stamp.place.path);
            find::changed_ns(path).map_err(|error| {
                Failure::invalid(format!("{} cannot be looked at: {error}", path.display()))
            })
        })?;
        broadcast(self.line.ranks, &made.unwrap_or(0))
    }

    /// A run of a phase, and its status, which is the same for all ranks.
    fn measured(&self, name: &str, begun: Begun) -> Result<(Done, u8), Failure> {
        let Begun { job, layout, measure, line } = begun;
        let layout = layout.unwrap_or_else(|| Box::new(|_: &Run, _: &Host| Output::default()));
        let ended = self.line.measure(job, &*layout)?;
        if !self.line.ranks.is_rank_0() {
            ended.open_target.close();
            let status = broadcast(self.line.ranks, &0)?;
            return Ok((Done::default(), status));
        }
        let output = layout(&ended.run, &self.line.world.host_now());
        let mut written = output.files;
        if !output.text.is_empty() {
            let place = self.suite.file(&format!("{name}.txt"));
            written.push(OutputFile { place, bytes: output.text.into(), said: String::new() });
        }
        let written = self.place.iter().try_for_each(|place| place.write(&written));
        let status = self.status(name, &ended, output.status);
        let measured =
            measure(&ended.run).map(|(figure, steps)| (figure, Word::of(&ended.run, &steps)));
        let run = ended.path.as_ref().map(|_| ended.run.begin.run.clone());
        ended.open_target.close();
        let status =
            broadcast(self.line.ranks, &written.as_ref().map_or(self.failed(), |()| status))?;
        written?;
        Ok((Done { line, measured, run, ..Done::default() }, status))
    }

    fn failed(&self) -> u8 {
        self.line.tool.failed
    }

    /// How the suite goes on: 0, or the status that it ends with, which is said.
    fn status(&self, name: &str, ended: &Ended, status: u8) -> u8 {
        let all = ended.run.steps.iter().map(|step| Verified::of(&ended.run, step));
        let is_wrong = all.into_iter().any(|verified| verified.objection().is_some());
        let is_mere_suspicion =
            ended.status == Status::Invalid && ended.run.complete() && !is_wrong;
        if ended.status == Status::Fine || is_mere_suspicion {
            return status;
        }
        if ended.status.is_interruption() {
            print::error(&format!(
                "drivelab: interrupted in {name}; what was measured until then is kept"
            ));
            return ended.status as u8;
        }
        if let Some(failure) = &ended.failure {
            let text = format!("{name}: {}", failure.text);
            let advice = failure.advice.clone();
            print::failure(&Failure { status: failure.status, text, advice });
        }
        if ended.status == Status::Refused { ended.status as u8 } else { self.failed() }
    }
}

fn refused(refusal: Refusal) -> Failure {
    let advice = Some(refusal.advice).filter(|advice| !advice.is_empty());
    Failure { status: Status::Usage, text: refusal.text, advice }
}
