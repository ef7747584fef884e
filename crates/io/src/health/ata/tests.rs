use super::super::farm::planted_log;
use super::super::smart::tests::{data, thresholds};
use super::super::statistics::tests::{list, page};
use super::super::{Speaks, log_pages, of_scsi_layer};
use super::*;
use crate::passthrough::fake::{Answer, Fake};

pub const IDENTIFY: (u8, u8, u64) = (0xec, 0, 0);
const DATA: (u8, u8, u64) = (0xb0, 0xd0, 0xc2_4f00);
const THRESHOLDS: (u8, u8, u64) = (0xb0, 0xd1, 0xc2_4f00);
pub const STATUS: (u8, u8, u64) = (0xb0, 0xda, 0xc2_4f00);

/// What a drive answers to IDENTIFY DEVICE: SMART is there and on.
pub fn identity(model: &str, has_logs: bool) -> Vec<u8> {
    let mut words = [0u16; 256];
    (words[82], words[85]) = (1, 1);
    words[84] = 0x4000 | if has_logs { 1 << 5 } else { 0 };
    for (index, pair) in format!("{model:<40}").as_bytes().chunks(2).enumerate() {
        words[27 + index] = u16::from_be_bytes([pair[0], pair[1]]);
    }
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

pub fn directory(address: u8, pages: u16) -> Vec<u8> {
    let mut log = vec![0; 512];
    log[0] = 1;
    log[2 * usize::from(address)..][..2].copy_from_slice(&pages.to_le_bytes());
    log
}

/// Has a drive list FARM, and answer with this.
pub fn with_farm(fake: &mut Fake, model: &str, log: &[u8]) {
    fake.answers.insert(IDENTIFY, Answer::Data(identity(model, true)));
    fake.answers.insert((0x2f, 0, 0), Answer::Data(directory(0xa6, 192)));
    for (number, page) in log.chunks(16 << 10).enumerate() {
        let address = (number as u64 * 32) << 8 | 0xa6;
        fake.answers.insert((0x2f, 0, address), Answer::Data(page.to_vec()));
    }
}

fn old_drive() -> Fake {
    let attributes = [
        (5, 0x33, 100, 2),
        (9, 0x32, 99, 0x1122_3300_1234),
        (194, 0x22, 60, 0x0032_0014_0028),
        (197, 0x12, 100, 1),
        (199, 0x3e, 200, 5),
        (241, 0x32, 99, 1000),
    ];
    let mut fake = Fake::default();
    fake.answers.insert(IDENTIFY, Answer::Data(identity("QEMU HARDDISK", false)));
    fake.answers.insert(DATA, Answer::Data(data(&attributes)));
    fake.answers.insert(THRESHOLDS, Answer::Data(thresholds(&[(5, 36)])));
    fake.answers.insert(STATUS, Answer::Lba(0xc24f));
    fake
}

#[test]
fn attributes_are_read_as_far_as_they_mean_one_thing() {
    let mut fake = old_drive();
    let wear = of_ata(&mut fake).unwrap();
    let expected = WearFacts {
        failing: Some(false),
        power_on_hours: Some(0x1234),
        temperature_c: Some(40),
        reallocated_sectors: Some(2),
        pending_sectors: Some(1),
        link_errors: Some(5),
        self_test_failed: Some(false),
        names: Some(OwnNames { model: Some("QEMU HARDDISK".into()), ..OwnNames::default() }),
        ..WearFacts::default()
    };
    assert_eq!(wear, expected, "241 has a unit of which nothing is known here");
    let status = fake.sent.iter().find(|(command, ..)| command[4] == 0xda).unwrap();
    assert_eq!(status.0, [0x85, 6, 0x20, 0, 0xda, 0, 0, 0, 0, 0, 0x4f, 0, 0xc2, 0, 0xb0, 0]);
    let read = fake.sent.iter().find(|(command, ..)| command[4] == 0xd0).unwrap();
    assert_eq!(read.0, [0x85, 8, 0x0e, 0, 0xd0, 0, 1, 0, 0, 0, 0x4f, 0, 0xc2, 0, 0xb0, 0]);
}

#[test]
fn a_model_that_is_known_tells_its_life() {
    let mut fake = old_drive();
    let attributes = [(177, 0x13, 97, 40), (241, 0x32, 99, 1000)];
    fake.answers.insert(DATA, Answer::Data(data(&attributes)));
    let name = Answer::Data(identity("Samsung SSD 870 EVO 1TB", false));
    fake.answers.insert(IDENTIFY, name);
    let wear = of_ata(&mut fake).unwrap();
    assert_eq!((wear.used_percent, wear.written_bytes), (Some(3), Some(512_000)));
    assert_eq!(wear.used_from.as_deref(), Some("SMART attribute 177"));
    assert_eq!(wear.written_from.as_deref(), Some("SMART attribute 241"));
}

#[test]
fn a_failing_drive_is_called_that_by_itself_or_by_its_own_rule() {
    let mut fake = old_drive();
    fake.answers.insert(STATUS, Answer::Lba(0x2cf4));
    assert_eq!(of_ata(&mut fake).unwrap().warnings(), ["it says of itself that it fails"]);
    fake.answers.insert(THRESHOLDS, Answer::Data(thresholds(&[(5, 100)])));
    let words = "it says of itself that it fails: SMART attribute 5 is 100, its threshold 100";
    assert_eq!(of_ata(&mut fake).unwrap().warnings(), [words]);
    for silent in [Answer::Done, Answer::Lba(0), Answer::Aborted] {
        fake.answers.insert(STATUS, silent);
        assert_eq!(of_ata(&mut fake).unwrap().warnings(), [words]);
        fake.answers.insert(THRESHOLDS, Answer::Data(thresholds(&[(5, 36)])));
        assert_eq!(of_ata(&mut fake).unwrap().failing, None, "nobody said that it is well");
        fake.answers.insert(THRESHOLDS, Answer::Data(thresholds(&[(5, 100)])));
    }
    fake.answers.insert(STATUS, Answer::Lba(0xc24f));
    let wear = of_ata(&mut fake).unwrap();
    assert_eq!((wear.failing, wear.failing_because.len()), (Some(false), 0), "its word counts");
}

/// Device statistics of page 1, 5 and 7.
fn pages() -> [(u8, Vec<u8>); 4] {
    [
        (0, list(&[0, 1, 5, 7])),
        (1, page(1, &[(16, 77), (24, 2000), (40, 10)])),
        (5, page(5, &[(8, 33)])),
        (7, page(7, &[(8, 9)])),
    ]
}

#[test]
fn device_statistics_come_before_attributes() {
    let mut fake = old_drive();
    fake.answers.insert(IDENTIFY, Answer::Data(identity("Samsung SSD 870 EVO 1TB", true)));
    fake.answers.insert((0x2f, 0, 0), Answer::Data(directory(4, 8)));
    for (number, page) in pages() {
        let lba = u64::from(number) << 8 | 4;
        fake.answers.insert((0x2f, 0, lba), Answer::Data(page));
    }
    let wear = of_ata(&mut fake).unwrap();
    assert_eq!(
        (wear.used_percent, wear.used_from.as_deref()),
        (Some(9), Some("device statistics"))
    );
    assert_eq!((wear.written_bytes, wear.read_bytes), (Some(1_024_000), Some(5120)));
    assert_eq!((wear.power_on_hours, wear.temperature_c), (Some(77), Some(33)));
    assert_eq!(wear.reallocated_sectors, Some(2), "from attribute 5");
    // Sectors of 4 KiB.
    let mut identity = identity("X", true);
    (identity[213], identity[235]) = (0x50, 0x08);
    fake.answers.insert(IDENTIFY, Answer::Data(identity));
    assert_eq!(of_ata(&mut fake).unwrap().written_bytes, Some(2000 * 4096));
}

#[test]
fn without_general_logs_the_statistics_are_read_as_a_smart_log() {
    let mut fake = old_drive();
    fake.answers.insert((0xb0, 0xd5, 0xc2_4f00), Answer::Data(directory(4, 200)));
    let log: Vec<u8> = (0..8u8)
        .flat_map(|number| {
            let found = pages().into_iter().find(|(known, _)| *known == number);
            found.map_or(vec![0; 512], |(_, page)| page)
        })
        .collect();
    fake.answers.insert((0xb0, 0xd5, 0xc2_4f04), Answer::Data(log));
    let wear = of_ata(&mut fake).unwrap();
    assert_eq!((wear.used_percent, wear.power_on_hours), (Some(9), Some(77)));
    let asked = fake.sent.iter().rfind(|(command, ..)| command[4] == 0xd5).unwrap();
    assert_eq!(asked.0[6], 8, "no more blocks than are wanted");
}

#[test]
fn what_tells_nothing_says_why() {
    let mut fake = old_drive();
    let refused = |change: fn(&mut [u8])| {
        let mut fake = old_drive();
        let mut identity = identity("X", false);
        change(&mut identity);
        fake.answers.insert(IDENTIFY, Answer::Data(identity));
        of_ata(&mut fake).unwrap_err().text
    };
    assert_eq!(refused(|identity| identity[164] = 0), "the drive has no SMART");
    assert!(refused(|identity| identity[170] = 0).contains("turned off"));
    fake.answers.insert(DATA, Answer::Aborted);
    assert_eq!(of_ata(&mut fake).unwrap().failing, Some(false), "its status is known");
    fake.answers.insert(STATUS, Answer::Aborted);
    assert!(of_ata(&mut fake).unwrap_err().text.contains("SMART READ DATA"));
    fake.answers.insert(DATA, Answer::Data(vec![0; 512]));
    assert!(of_ata(&mut fake).unwrap_err().text.contains("damaged"));
}

#[test]
fn a_bridge_is_asked_for_ata_first_and_then_for_logs() {
    let mut bridge = old_drive();
    assert_eq!(of_scsi_layer(&mut bridge, Speaks::Bridge).unwrap().temperature_c, Some(40));
    let mut deaf = Fake::default();
    let said = of_scsi_layer(&mut deaf, Speaks::Bridge).unwrap_err().text;
    assert!(said.starts_with("its bridge hands on no question: the drive did not"), "{said}");
    use log_pages::tests::{list, page};
    deaf.pages = vec![list(&[0x0d]), page(0x0d, &[(0, &[0, 38])])];
    assert_eq!(of_scsi_layer(&mut deaf, Speaks::Bridge).unwrap().temperature_c, Some(38));
}

/// What was asked of FARM: pages and their number.
fn asked_of_farm(fake: &Fake) -> Vec<(u8, u8)> {
    let commands = fake.sent.iter().map(|(command, ..)| command);
    let farm = commands.filter(|it| it[14] == 0x2f && it[8] == 0xa6);
    farm.map(|command| (command[10], command[6])).collect()
}

#[test]
fn farm_is_asked_where_the_directory_lists_it_whatever_the_drive_is_called() {
    for model in ["ST16000NM001G-2KK103", "OOS14000G"] {
        let mut fake = old_drive();
        with_farm(&mut fake, model, &planted_log(&[(1, 152, 40_000), (3, 32, 7)]));
        let wear = of_ata(&mut fake).unwrap();
        let farm = wear.farm.clone().unwrap();
        assert_eq!((farm.power_on_hours, farm.reallocated_sectors), (Some(40_000), Some(7)));
        assert_eq!((wear.power_on_hours, wear.reallocated_sectors), (Some(0x1234), Some(2)));
        let told = wear.cautions().join("; ");
        assert!(told.contains("4,660 h under power, but 40,000 h in its FARM log"), "{told}");
        assert_eq!(asked_of_farm(&fake), [0, 32, 64, 96, 128, 160].map(|page| (page, 32)));
        fake.sent.clear();
        let later = again(&mut fake).unwrap();
        assert_eq!(later, WearFacts { farm: None, ..wear });
        assert_eq!(asked_of_farm(&fake), [], "once a run is enough");
    }
}

#[test]
fn what_is_not_farm_is_asked_for_no_more_than_its_header() {
    let asked = |change: &dyn Fn(&mut Fake)| {
        let mut fake = old_drive();
        with_farm(&mut fake, "ST4000", &planted_log(&[(1, 152, 5)]));
        change(&mut fake);
        let farm = of_ata(&mut fake).unwrap().farm;
        (farm.and_then(|farm| farm.power_on_hours), asked_of_farm(&fake).len())
    };
    assert_eq!(asked(&|_| ()), (Some(5), 6));
    let other = Answer::Data(vec![0x5a; 16 << 10]);
    let header = (0x2f, 0, 0xa6);
    assert_eq!(asked(&|fake| drop(fake.answers.insert(header, other.clone()))), (None, 1));
    assert_eq!(asked(&|fake| drop(fake.answers.insert(header, Answer::Aborted))), (None, 1));
    let shorter = Answer::Data(directory(0xa6, 191));
    assert_eq!(asked(&|fake| drop(fake.answers.insert((0x2f, 0, 0), shorter.clone()))), (None, 0));
    let without_logs = Answer::Data(identity("ST4000", false));
    assert_eq!(asked(&|fake| drop(fake.answers.insert(IDENTIFY, without_logs.clone()))), (None, 0));
    let second = (0x2f, 0, 64 << 8 | 0xa6);
    assert_eq!(asked(&|fake| drop(fake.answers.insert(second, Answer::Aborted))), (Some(5), 3));
}
