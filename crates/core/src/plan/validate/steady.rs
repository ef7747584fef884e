//! What a step must fulfil that ends when its rate is steady.

use crate::plan::{PatternName, Role, Step};

/// Why a step cannot be done in rounds, if it cannot.
pub(super) fn objection(step: &Step) -> Option<&'static str> {
    let [stream] = step.streams.as_slice() else {
        return Some("`steady` needs a step of one stream; give the others steps of their own");
    };
    let in_any_order = matches!(
        stream.pattern.name(),
        PatternName::Sequential
            | PatternName::Uniform
            | PatternName::SemiRandom
            | PatternName::Zipf
            | PatternName::HotZones
    );
    let problems = [
        (
            step.role == Role::Measure,
            "what comes before the steady state is not a result: give the step role = \
             \"precondition\" and measure in the next one",
        ),
        (
            !in_any_order || stream.stride().is_some_and(|stride| stride != 1),
            "`steady` goes with sequential, uniform, semi-random, zipf or hot-zones order, in \
             which an eighth of a pass is like another",
        ),
        (
            stream.engine.traits().changes_files,
            "a drive settles by what is written to it, and this engine moves no data; use another",
        ),
        (
            stream.arrival.rate().is_some(),
            "a load of fixed rate is always steady; remove `rate` or `steady`",
        ),
        (
            stream.stamp || stream.verify || stream.pass.is_some(),
            "stamps count passes, and `steady` does eighths of them; leave out one of the two",
        ),
        (step.ramp.0 > 0, "`steady` takes the beginning into account; remove the ramp"),
        (step.repeat > 1, "a steady state is reached once; remove `repeat`"),
    ];
    problems.into_iter().find(|(is_so, _)| *is_so).map(|(_, text)| text)
}
