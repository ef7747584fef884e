//! The ATA erase against a scripted drive, which keeps its security state as the specification
//! says.

use super::*;
use crate::passthrough::fake::Fake;
use drivelab_core::op::Errno;
use drivelab_core::queue::TroubleKind;

fn run(fake: &mut Fake) -> (Result<(), Trouble>, Vec<String>) {
    let mut told = Vec::new();
    let result = secure_erase(fake, &mut |sentence| told.push(sentence.to_owned()));
    (result, told)
}

fn failed(fake: &mut Fake) -> Trouble {
    run(fake).0.unwrap_err()
}

#[test]
fn the_commands_are_those_of_the_specification() {
    let mut fake = Fake::ata();
    let (result, told) = run(&mut fake);
    result.unwrap();
    assert!(told[0].contains("\"drivelab\"") && told[0].contains("takes about 2 min"), "{told:?}");
    let ask = [0x85, 0x08, 0x0e, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xec, 0];
    let with_block = |code| [0x85, 0x0a, 0x06, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, code, 0];
    let prepare = [0x85, 0x06, 0x00, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf3, 0];
    let block = password_block().to_vec();
    let expected = [
        (ask, vec![], 60_000),
        (with_block(0xf1), block.clone(), 60_000),
        (prepare, vec![], 60_000),
        (with_block(0xf4), block, 66 * 60_000),
        (ask, vec![], 60_000),
    ];
    assert_eq!(fake.sent, expected);
    assert!(fake.is_erased);
}

#[test]
fn unsuitable_states_are_refused_before_a_password_is_set() {
    for status in [0x0000, 0x0009, 0x0007, 0x0017, 0x0003] {
        let mut fake = Fake::ata();
        fake.security = status;
        assert_eq!(failed(&mut fake).kind, TroubleKind::Usage);
        assert_eq!(fake.codes(), [0xec]);
    }
}

#[test]
fn a_device_without_ata_is_refused() {
    for number in [libc::ENOTTY, libc::EINVAL, libc::EOPNOTSUPP] {
        let mut fake = Fake::ata();
        fake.error = Some(Errno(number));
        let trouble = failed(&mut fake);
        assert_eq!(trouble.kind, TroubleKind::Usage);
        assert!(trouble.text.contains("IDENTIFY DEVICE"), "{trouble}");
    }
}

#[test]
fn a_password_that_was_not_set_is_not_disabled() {
    let mut fake = Fake::ata();
    fake.failing = vec![0xf1];
    let trouble = failed(&mut fake);
    assert_eq!(trouble.kind, TroubleKind::Failed);
    assert!(trouble.text.contains("no password is set on it"), "{trouble}");
    assert_eq!(fake.codes(), [0xec, 0xf1, 0xec]);
}

#[test]
fn the_password_is_disabled_where_the_erase_fails() {
    for (code, codes) in [
        (0xf3, vec![0xec, 0xf1, 0xf3, 0xec, 0xf6]),
        (0xf4, vec![0xec, 0xf1, 0xf3, 0xf4, 0xec, 0xf6]),
    ] {
        let mut fake = Fake::ata();
        fake.failing = vec![code];
        let trouble = failed(&mut fake);
        assert_eq!(trouble.kind, TroubleKind::Failed);
        assert!(trouble.text.contains("the password is taken off again"), "{trouble}");
        assert_eq!(fake.codes(), codes);
        assert_eq!(fake.security & 0b10, 0);
        let (_, block, _) = fake.sent.last().unwrap();
        assert_eq!(block, &password_block());
    }
}

#[test]
fn the_password_is_said_where_it_cannot_be_disabled() {
    let mut fake = Fake::ata();
    fake.failing = vec![0xf4, 0xf6];
    let trouble = failed(&mut fake);
    assert_eq!(trouble.kind, TroubleKind::Failed);
    assert!(trouble.text.contains("--security-disable drivelab"), "{trouble}");
    assert!(trouble.text.contains("SECURITY ERASE UNIT"), "{trouble}");
    assert!(trouble.text.contains("SECURITY DISABLE PASSWORD"), "{trouble}");
}

#[test]
fn a_drive_that_no_longer_answers_is_still_told_to_disable_the_password() {
    let mut fake = Fake::ata();
    fake.failing = vec![0xf4];
    fake.identifies = Some(1);
    let trouble = failed(&mut fake);
    assert_eq!(fake.codes(), [0xec, 0xf1, 0xf3, 0xf4, 0xec, 0xf6]);
    assert!(trouble.text.contains("the password is taken off again"), "{trouble}");
}

#[test]
fn a_drive_that_keeps_its_password_after_the_erase_has_it_disabled() {
    let mut fake = Fake::ata();
    fake.keeps_password = true;
    run(&mut fake).0.unwrap();
    assert_eq!(fake.codes(), [0xec, 0xf1, 0xf3, 0xf4, 0xec, 0xf6]);
    assert_eq!(fake.security & 0b10, 0);
    let mut fake = Fake::ata();
    fake.keeps_password = true;
    fake.failing = vec![0xf6];
    let trouble = failed(&mut fake);
    assert!(trouble.text.starts_with("the drive is erased, but"), "{trouble}");
    assert!(trouble.text.contains("\"drivelab\""), "{trouble}");
}

#[test]
fn an_erase_that_does_not_end_is_stuck() {
    let mut fake = Fake::ata();
    fake.timing_out = Some(0xf4);
    let trouble = failed(&mut fake);
    assert_eq!(trouble.kind, TroubleKind::Stuck);
    assert!(trouble.text.contains("did not end in time"), "{trouble}");
}
