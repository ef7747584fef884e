//! Sanitize against a scripted drive.

use super::*;
use crate::passthrough::fake::Fake;
use drivelab_core::op::Errno;
use drivelab_core::queue::TroubleKind;

/// Log pages with these SPROG and SSTAT.
fn logs(entries: &[(u16, u16)]) -> Vec<Vec<u8>> {
    let page = |(progress, status): &(u16, u16)| {
        let mut log = vec![0; 512];
        log[..2].copy_from_slice(&progress.to_le_bytes());
        log[2..4].copy_from_slice(&status.to_le_bytes());
        log
    };
    entries.iter().map(page).collect()
}

fn run(fake: &mut Fake) -> (Result<(), Trouble>, Vec<String>) {
    let mut told = Vec::new();
    let result = sanitize(fake, &mut |sentence| told.push(sentence.to_owned()));
    (result, told)
}

fn sent(fake: &Fake, opcode: u8) -> Vec<AdminCommand> {
    fake.admin.iter().copied().filter(|command| command.opcode == opcode).collect()
}

#[test]
fn the_commands_are_those_of_the_specification() {
    let mut fake = Fake::nvme(1);
    fake.logs = logs(&[(0, 2), (0x4000, 2), (0x4000, 0x102), (0xffff, 2), (0xffff, 0x101)]);
    let (result, told) = run(&mut fake);
    result.unwrap();
    assert_eq!(told, ["25 % sanitized", "99 % sanitized"]);
    let start = AdminCommand { opcode: 0x84, namespace: 0, dword_10: 2, timeout_ms: 600_000 };
    assert_eq!(sent(&fake, 0x84), [start]);
    let ask = AdminCommand {
        opcode: 0x02,
        namespace: 0xffff_ffff,
        dword_10: 0x007f_0081,
        timeout_ms: 60_000,
    };
    assert_eq!(sent(&fake, 0x02), [ask; 5]);
    assert_eq!(fake.pauses, 5);
}

#[test]
fn a_drive_without_block_erase_is_refused() {
    let mut fake = Fake::nvme(1);
    fake.controller[328] = 0b101;
    let trouble = run(&mut fake).0.unwrap_err();
    assert_eq!(trouble.kind, TroubleKind::Usage);
    assert!(trouble.text.contains("block erase"), "{trouble}");
    assert_eq!(sent(&fake, 0x84), []);
}

#[test]
fn a_drive_whose_list_of_commands_has_no_sanitize_is_refused() {
    let mut fake = Fake::nvme(1);
    fake.controller[261] = 0b10;
    fake.log_pages.insert(5, crate::passthrough::effects::tests::list(&[0x80]));
    let trouble = run(&mut fake).0.unwrap_err();
    assert_eq!(trouble.kind, TroubleKind::Usage);
    assert!(trouble.text.contains("log 05h"), "{trouble}");
    assert_eq!(sent(&fake, 0x84), []);
}

#[test]
fn several_namespaces_are_refused_whatever_the_attributes_of_formats() {
    let mut fake = Fake::nvme(4);
    fake.list = vec![1, 3];
    let trouble = run(&mut fake).0.unwrap_err();
    assert_eq!(trouble.kind, TroubleKind::Usage);
    assert!(trouble.text.contains("Sanitize empties all namespaces"), "{trouble}");
    assert_eq!(sent(&fake, 0x84), []);
}

#[test]
fn a_device_without_nvme_is_refused() {
    let mut fake = Fake::nvme(1);
    fake.error = Some(Errno(libc::EINVAL));
    let trouble = run(&mut fake).0.unwrap_err();
    assert_eq!(trouble.kind, TroubleKind::Usage);
    assert!(trouble.text.contains("does not take the command"), "{trouble}");
}

#[test]
fn a_start_that_is_refused_is_a_failure() {
    let mut fake = Fake::nvme(1);
    fake.statuses.insert(0x84, 0x401d);
    let trouble = run(&mut fake).0.unwrap_err();
    assert_eq!(trouble.kind, TroubleKind::Failed);
    assert!(trouble.text.contains("still going on"), "{trouble}");
    assert_eq!(fake.pauses, 0);
}

#[test]
fn a_sanitize_that_fails_is_a_failure() {
    let mut fake = Fake::nvme(1);
    fake.logs = logs(&[(0x1000, 2), (0xffff, 3)]);
    let trouble = run(&mut fake).0.unwrap_err();
    assert_eq!(trouble.kind, TroubleKind::Failed);
    assert!(trouble.text.contains("failed"), "{trouble}");
}

#[test]
fn a_drive_that_never_began_is_a_failure() {
    for code in [0, 5, 7] {
        let mut fake = Fake::nvme(1);
        fake.logs = logs(&[(0xffff, code)]);
        let trouble = run(&mut fake).0.unwrap_err();
        assert_eq!(trouble.kind, TroubleKind::Failed);
        assert!(trouble.text.contains(&format!("status {code}")), "{trouble}");
    }
}

#[test]
fn whoever_stops_waiting_is_told_that_it_goes_on() {
    let mut fake = Fake::nvme(1);
    fake.logs = logs(&[(0x8000, 2)]);
    fake.stopped_at_pause = Some(3);
    let trouble = run(&mut fake).0.unwrap_err();
    assert_eq!(fake.pauses, 3);
    assert!(trouble.text.contains("50 %") && trouble.text.contains(GOES_ON), "{trouble}");
}

#[test]
fn a_log_that_cannot_be_read_says_that_it_goes_on() {
    let mut fake = Fake::nvme(1);
    fake.statuses.insert(0x02, 0x4001);
    let trouble = run(&mut fake).0.unwrap_err();
    assert_eq!(trouble.kind, TroubleKind::Failed);
    assert!(trouble.text.contains(GOES_ON), "{trouble}");
}

#[test]
fn a_drive_that_never_ends_is_stuck() {
    let mut fake = Fake::nvme(1);
    fake.logs = logs(&[(0x0100, 2)]);
    let trouble = run(&mut fake).0.unwrap_err();
    assert_eq!(trouble.kind, TroubleKind::Stuck);
    assert!(trouble.text.contains("48 h"), "{trouble}");
}

#[test]
fn success_with_or_without_deallocation_asked_is_success() {
    for code in [1, 4, 0x101, 0x104] {
        let mut fake = Fake::nvme(1);
        fake.logs = logs(&[(0xffff, code)]);
        run(&mut fake).0.unwrap();
    }
}
