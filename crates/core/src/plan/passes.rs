//! Which pass a verifying step must find, where the plan itself tells.

use crate::plan::{Files, Pattern, Plan, Sharing, Step, Stream, Until};

/// The step as it is executed: streams that verify without saying which pass learn it from the
/// last earlier step of the plan that wrote their region, if that step leaves no doubt (whole
/// passes in sequential or permutation order, and nothing else wrote there since).
pub fn with_expected_passes(plan: &Plan, index: usize) -> Option<Step> {
    let mut step = plan.steps.get(index)?.clone();
    for stream in &mut step.streams {
        if stream.verify && stream.pass.is_none() && !stream.changes_data() {
            stream.pass = expected_pass(&plan.steps[..index], stream);
        }
    }
    Some(step)
}

fn expected_pass(earlier: &[Step], reader: &Stream) -> Option<u64> {
    let writer = earlier.iter().rev().find(|step| step.changes_data())?;
    let [stream] = writer.streams.as_slice() else { return None };
    let whole = writer.until.passes?;
    let only_passes = writer.until == Until { passes: Some(whole), ..Until::default() };
    let ordered = stream.is_sequential() || stream.pattern == Pattern::Permutation;
    let same_region = stream.has_region_of(reader) && stream.until.is_none();
    // Workers that walk the same region write each block at times nobody knows.
    let once = stream.workers <= 1
        || stream.files == Files::Each
        || (stream.pattern == Pattern::Permutation && stream.sharing() != Sharing::Whole)
        || stream.sharing() == Sharing::Disjoint;
    let whole_region = stream.window.is_none()
        && stream.stride().unwrap_or(1) != 0
        && stream.mix.total() == u64::from(stream.mix.write);
    let known = only_passes && ordered && once && same_region && whole_region && stream.stamp;
    known.then(|| stream.pass.unwrap_or(0) + whole.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Mix;
    use crate::units::{Size, Span};

    fn write(passes: u64) -> Step {
        let stream = Stream {
            mix: Mix::WRITE,
            stamp: true,
            length: Some(Size(1 << 20)),
            pass: Some(5),
            ..Stream::default()
        };
        let until = Until { passes: Some(passes), ..Until::default() };
        Step { streams: vec![stream], until, ..Step::default() }
    }

    fn read() -> Step {
        let stream = Stream { verify: true, length: Some(Size(1 << 20)), ..Stream::default() };
        Step { streams: vec![stream], ..Step::default() }
    }

    fn pass_of(steps: Vec<Step>) -> Option<u64> {
        let plan = Plan { steps, ..Plan::default() };
        with_expected_passes(&plan, plan.steps.len() - 1).unwrap().streams[0].pass
    }

    #[test]
    fn the_last_whole_pass_is_expected() {
        assert_eq!(pass_of(vec![write(3), read()]), Some(7));
        assert_eq!(pass_of(vec![write(3), read(), read()]), Some(7));
    }

    #[test]
    fn doubt_means_no_expectation() {
        assert_eq!(pass_of(vec![read()]), None);
        let mut timed = write(3);
        timed.until.elapsed = Some(Span(1));
        assert_eq!(pass_of(vec![timed, read()]), None);
        let mut scattered = write(3);
        scattered.streams[0].pattern = Pattern::Uniform;
        assert_eq!(pass_of(vec![write(2), scattered, read()]), None);
        let mut together = write(1);
        together.streams[0].workers = 4;
        assert_eq!(pass_of(vec![together.clone(), read()]), Some(5));
        together.streams[0].regions = Some(Sharing::Shared);
        assert_eq!(pass_of(vec![together, read()]), None);
        let mut elsewhere = write(1);
        elsewhere.streams[0].offset = Size(4096);
        assert_eq!(pass_of(vec![elsewhere, read()]), None);
    }
}
