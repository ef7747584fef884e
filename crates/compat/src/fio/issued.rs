//! How far a job is read back whose end does not tell how much it wrote.

use super::settings::{Distribution, Settings};
use super::stream;
use super::translate::Whole;
use super::value::Amount;
use super::zones::ZoneMode;
use drivelab_core::plan::Until;
use drivelab_core::units::Size;

/// The end of what reads back a job whose own end, `until`, does not tell how much it wrote: as far
/// as it came. Where it goes round without a bound and each pass writes every block, one pass is
/// enough; where passes leave blocks out, it is read back no longer than it ran.
pub fn as_issued(whole: &Whole<'_>, number: u32, until: &Until) -> Until {
    let settings = whole.settings;
    let one_pass = one_pass(whole);
    let takes_all = covers(settings);
    Until {
        issued_by: Some(number),
        bytes: until.bytes.or(takes_all.then_some(one_pass)),
        operations: until.operations,
        elapsed: until.elapsed.filter(|_| !takes_all),
        ..Until::default()
    }
}

/// The end of what reads back a job with this end. Where `io_size` takes it round more than once,
/// each block is read once, as the tests of fio 3.42 ask: it holds what was written last.
pub fn once(whole: &Whole<'_>, until: &Until) -> Until {
    let mut until = until.clone();
    if goes_round(whole) {
        until.bytes = until.bytes.map(|bytes| bytes.min(one_pass(whole)));
    }
    until
}

/// Whether `io_size` takes a job over blocks that it wrote before.
pub fn goes_round(whole: &Whole<'_>) -> bool {
    let (settings, size) = (whole.settings, whole.place.size);
    let is_more = matches!(settings.io_size, Some(Amount::Bytes(bytes)) if bytes > size);
    is_more && settings.loops <= 1 && covers(settings)
}

/// Bytes of one pass of all clones.
fn one_pass(whole: &Whole<'_>) -> Size {
    let (settings, place) = (whole.settings, whole.place);
    let clones = u64::from(settings.numjobs.max(1));
    Size(stream::in_requests(settings, place, place.size).saturating_mul(clones))
}

/// Whether one pass of a job writes each block of its region.
fn covers(settings: &Settings) -> bool {
    let is_of_one_size = settings.bsrange.is_none() && settings.bssplit.is_none();
    let is_drawn_alike = settings.distribution[1] == Distribution::Random;
    let is_mapped = !settings.norandommap && is_drawn_alike && settings.percentage_random[1] == 100;
    let goes_on = settings.rw.run <= 1 && settings.turns.zones.mode == ZoneMode::None;
    let is_in_order = !settings.rw.random && settings.rw.hole == 0;
    let is_ordered = is_in_order || (settings.rw.random && is_mapped);
    is_of_one_size && !settings.rw.is_mixed() && goes_on && is_ordered
}
