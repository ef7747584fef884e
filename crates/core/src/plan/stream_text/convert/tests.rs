use super::*;
use crate::op::Action;
use crate::plan::{Mix, Zone};
use crate::units::Span;

fn refused(change: impl FnOnce(&mut StreamText), key: &str, says: &str) {
    let mut text = StreamText { mix: Mix::READ, ..StreamText::absent() };
    change(&mut text);
    let wrong = Stream::try_from(text).expect_err(says);
    assert_eq!(wrong.key, key, "{wrong}");
    assert!(wrong.text.contains(says), "{wrong}");
}

#[test]
fn a_key_that_its_order_does_not_read_is_refused() {
    fn uniform(change: impl FnOnce(&mut StreamText)) -> impl FnOnce(&mut StreamText) {
        |text| {
            text.pattern = PatternName::Uniform;
            change(text);
        }
    }
    let zone = Zone { addresses: 0.5, accesses: 0.5 };
    refused(uniform(|s| s.stride = Some(2)), "stride", "belongs to pattern sequential");
    refused(uniform(|s| s.begin = Some(Size(4096))), "begin", "belongs to pattern sequential");
    refused(uniform(|s| s.each_kind_in_order = true), "each_kind_in_order", "sequential");
    refused(uniform(|s| s.share = Some(0.5)), "share", "belongs to pattern semi-random");
    refused(uniform(|s| s.run = Some(5)), "run", "belongs to pattern semi-random");
    refused(uniform(|s| s.theta = Some(0.5)), "theta", "belongs to pattern zipf");
    refused(uniform(|s| s.skew = Some(0.5)), "skew", "belongs to pattern self-similar");
    refused(uniform(|s| s.plateau = Some(0.5)), "plateau", "belongs to pattern bell");
    refused(uniform(|s| s.zones = vec![zone]), "zones", "belongs to pattern hot-zones");
    refused(uniform(|s| s.block = Some(Size(1))), "block", "belongs to pattern segments");
    refused(uniform(|s| s.segments = Some(1)), "segments", "belongs to pattern segments");
    refused(uniform(|s| s.offsets = vec![Size(0)]), "offsets", "belongs to pattern replay");
    refused(uniform(|s| s.pace = Some(1.0)), "pace", "belongs to pattern trace");
    refused(uniform(|s| s.actions = vec![Action::Stat]), "actions", "pattern names");
    refused(uniform(|s| s.names = Some(3)), "names", "belongs to pattern names");
    refused(uniform(|s| s.directories = Files::Each), "directories", "pattern names");
    refused(uniform(|s| s.form = Some("n".into())), "form", "pattern names");
    refused(uniform(|s| s.of_directories = true), "of_directories", "pattern names");
    refused(uniform(|s| s.name_bytes = Size(1)), "name_bytes", "pattern names");
    refused(uniform(|s| s.existing = true), "existing", "pattern names");
}

#[test]
fn an_order_needs_its_keys() {
    let of = |pattern| move |s: &mut StreamText| s.pattern = pattern;
    refused(of(PatternName::Segments), "block", "needs `block`");
    let both = |s: &mut StreamText| {
        (s.pattern, s.run, s.share) = (PatternName::SemiRandom, Some(4), Some(0.5));
    };
    refused(both, "run", "stands instead of `share`");
    let none = |s: &mut StreamText| (s.pattern, s.run) = (PatternName::SemiRandom, Some(0));
    refused(none, "run", "use 1 or more");
}

#[test]
fn one_way_of_arriving_is_taken() {
    refused(|s| (s.rate, s.think) = (Some(9.0), Span(1)), "rate", "open loop");
    refused(|s| (s.rate, s.burst) = (Some(9.0), Some(1)), "rate", "open loop");
    refused(|s| (s.rate, s.think_first) = (Some(9.0), true), "rate", "open loop");
    refused(|s| s.poisson = true, "poisson", "need a rate");
    refused(|s| s.think_first = true, "think_first", "needs a think time");
    let paced = |s: &mut StreamText| {
        (s.pattern, s.pace, s.rate) = (PatternName::Trace, Some(1.0), Some(9.0));
    };
    refused(paced, "pace", "leave no room for rate");
}
