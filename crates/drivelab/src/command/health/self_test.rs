//! Has a drive test itself, and waits for the end of it.

use crate::cli::health::SelfTestKind;
use crate::outcome::{Failure, Status};
use crate::print;
use drivelab_core::facts::{DeviceFacts, SelfTestFacts};
use drivelab_io::facts::{DeviceNumber, System, device, health_again, start_self_test};
use drivelab_io::health::SelfTest;
use drivelab_io::signal;
use std::time::{Duration, Instant};

/// How often a drive is asked how far it is, at the beginning and later.
const EVERY: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(5)];
/// Until then it is asked often: a short test may take two seconds.
const SOON: Duration = Duration::from_secs(10);
/// A drive that gives no sign of a test that it took has this long to begin.
const BEGIN_WITHIN: Duration = Duration::from_secs(5);

/// How waiting for a test ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Waited {
    /// The test is over, and the drive says how it ended.
    Ended,
    /// Ctrl-C: the test goes on.
    Stopped,
}

/// Starts the test on one drive, and waits for its end. `disk` is the drive before; what it says
/// afterwards is put in its place.
pub fn test_itself(
    system: &System,
    disk: &mut DeviceFacts,
    kind: SelfTestKind,
) -> Result<Waited, Failure> {
    let name = disk.name.clone();
    let before = disk.wear.as_ref().and_then(|wear| wear.self_test.clone());
    if disk.wear.is_none() {
        let reason = disk.wear_unknown.as_deref().unwrap_or("it was not asked");
        return Err(Failure::invalid(format!("{name} cannot be asked how a test ended: {reason}")));
    }
    if before.is_none() {
        return Err(Failure::usage(format!("{name} has no self-test")));
    }
    if before.as_ref().is_some_and(|test| test.is_running) {
        return Err(Failure::invalid(format!("{name} is testing itself already"))
            .advise(format!("`drivelab health /dev/{name}` says how far it is.")));
    }
    let test = match kind {
        SelfTestKind::Short => SelfTest::Short,
        SelfTestKind::Long => SelfTest::Long,
    };
    start_self_test(system, disk, test).map_err(|trouble| {
        let failure = Failure::from(trouble);
        Failure { text: format!("{name}: {}", failure.text), ..failure }
    })?;
    let begin = Instant::now();
    let mut was_running = false;
    loop {
        if signal::interrupted() {
            print::progress("");
            print::error(&format!(
                "drivelab: stopped waiting; {name} goes on with its test. `drivelab health \
                 /dev/{name}` says how far it is."
            ));
            return Ok(Waited::Stopped);
        }
        let Some(wear) = health_again(system, disk) else {
            print::progress("");
            let text = format!("{name} does not answer while it tests itself");
            return Err(Failure::invalid(text));
        };
        let test = wear.self_test.clone().unwrap_or_default();
        was_running |= test.is_running;
        if has_ended(before.as_ref(), &test, was_running) {
            print::progress("");
            let number = DeviceNumber::parse(&disk.number);
            let anew = number.and_then(|number| device(system, number)?.wear);
            disk.wear = anew.filter(|anew| anew.names == wear.names).or(Some(wear));
            return Ok(Waited::Ended);
        }
        if !was_running && begin.elapsed() >= BEGIN_WITHIN {
            let text = format!(
                "{name} took the test, but it is not going on, and the newest result is the same \
                 as before: whether that is this test's cannot be told"
            );
            return Err(Failure::invalid(text)
                .advise(format!("`drivelab health /dev/{name}` shows that result.")));
        }
        if let Some(percent) = test.done_percent {
            print::progress(&format!("{name} tests itself: {percent} % done"));
        }
        std::thread::sleep(EVERY[usize::from(begin.elapsed() > SOON)]);
    }
}

/// It is over once it no longer goes on, or has left a new result; a result that looks like the one
/// before may be that one.
fn has_ended(before: Option<&SelfTestFacts>, now: &SelfTestFacts, was_running: bool) -> bool {
    let is_new = before.and_then(|test| test.last.as_ref()) != now.last.as_ref();
    !now.is_running && (was_running || is_new)
}

/// The status of drives that were tested: what they found wrong is a finding.
pub fn status(disks: &[DeviceFacts]) -> Status {
    let last = |disk: &DeviceFacts| disk.wear.as_ref()?.self_test.as_ref()?.last.clone();
    let failed = disks.iter().map(|disk| last(disk).and_then(|last| last.failed));
    failed.fold(Status::Fine, |worst, failed| match (worst, failed) {
        (_, Some(true)) => Status::Finding,
        (Status::Fine, None) => Status::Invalid,
        (worst, _) => worst,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::facts::{SelfTestEnd, WearFacts};

    fn ended(hours: u64, failed: Option<bool>) -> SelfTestFacts {
        let last = SelfTestEnd { power_on_hours: Some(hours), failed, ..SelfTestEnd::default() };
        SelfTestFacts { last: Some(last), ..SelfTestFacts::default() }
    }

    #[test]
    fn a_test_is_over_when_its_result_is_there() {
        let before = ended(1, Some(false));
        let running = SelfTestFacts { is_running: true, ..before.clone() };
        assert!(!has_ended(Some(&before), &running, true));
        assert!(!has_ended(Some(&before), &before, false), "it may be the result of before");
        assert!(has_ended(Some(&before), &before, true), "the same again");
        assert!(has_ended(Some(&before), &ended(2, Some(false)), false), "done in no time");
        assert!(has_ended(None, &ended(2, Some(false)), false));
    }

    #[test]
    fn what_a_test_found_wrong_is_a_finding_and_one_that_was_stopped_no_answer() {
        let disk = |failed| {
            let wear = WearFacts { self_test: Some(ended(1, failed)), ..WearFacts::default() };
            DeviceFacts { wear: Some(wear), ..DeviceFacts::default() }
        };
        assert_eq!(status(&[disk(Some(false))]), Status::Fine);
        assert_eq!(status(&[disk(Some(true)), disk(None)]), Status::Finding);
        assert_eq!(status(&[disk(None), disk(Some(true))]), Status::Finding);
        assert_eq!(status(&[disk(Some(false)), disk(None)]), Status::Invalid);
        assert_eq!(status(&[DeviceFacts::default()]), Status::Invalid);
    }
}
