//! Scripted drives, and all that is read of each, as JSON: a line a drive in `golden.jsonl`.

use super::ata::{IDENTIFY, STATUS, directory, identity, with_farm};
use super::error_log::tests as errors;
use super::events::tests as events;
use super::farm::{PLANTED, planted_log, planted_page};
use super::log_pages::tests as scsi;
use super::sct::tests as sct;
use super::self_test::tests as self_tests;
use super::smart::tests::{Planted, data, sealed, thresholds};
use super::statistics::tests as statistics;
use super::{Speaks, ocp, of_nvme, of_scsi_layer};
use crate::passthrough::fake::{Answer, Fake};
use crate::passthrough::nvme::Controller;
use drivelab_core::facts::WearFacts;
use expect_test::expect_file;

type Named = (&'static str, WearFacts);

/// Bytes at places of a page.
type Bytes<'a> = &'a [(usize, &'a [u8])];

fn page(bytes: usize, told: Bytes<'_>) -> Vec<u8> {
    let mut page = vec![0; bytes];
    told.iter().for_each(|(at, told)| page[*at..at + told.len()].copy_from_slice(told));
    page
}

/// An NVMe drive: its SMART log next to what a healthy one has, and its other logs.
fn nvme(smart: Bytes<'_>, controller: Bytes<'_>, logs: &[(u8, Vec<u8>)]) -> WearFacts {
    let healthy: Bytes<'_> = &[
        (1, &[0x38, 0x01]),
        (3, &[100, 10, 3]),
        (32, &[0x40, 0x42, 0x0f]),
        (48, &[0x80, 0x84, 0x1e]),
        (112, &[9]),
        (128, &[0xe1, 0x10]),
        (144, &[2]),
    ];
    let mut fake = Fake::nvme(1);
    for (at, told) in controller {
        fake.controller[*at..at + told.len()].copy_from_slice(told);
    }
    fake.log_pages.insert(2, page(512, &[healthy, smart].concat()));
    fake.log_pages.extend(logs.iter().cloned());
    let controller = Controller::read(&mut fake).unwrap();
    of_nvme(&mut fake, Some(&controller)).unwrap()
}

fn nvme_drives() -> Vec<Named> {
    let plain = |smart: Bytes<'_>| nvme(smart, &[], &[]);
    let tests: Bytes<'_> = &[(256, &[0x12])];
    let tested = |running, percent, newest| {
        nvme(&[], tests, &[(6, self_tests::nvme(running, percent, newest, 4000))])
    };
    let lists: Bytes<'_> = &[(80, &[0, 0, 2, 0])];
    let keeps_events: Bytes<'_> = &[(80, &[0, 4, 1, 0]), (261, &[0x10])];
    let listed = || page(1024, &[(4 * 0xc0, &[1])]);
    vec![
        ("nvme healthy", plain(&[])),
        ("nvme used beyond its rating", plain(&[(5, &[130])])),
        ("nvme spare below its threshold", plain(&[(0, &[1]), (3, &[4])])),
        ("nvme too hot", plain(&[(0, &[2]), (1, &[0x6b, 0x01]), (192, &[7]), (196, &[3])])),
        ("nvme unreliable, with media errors", plain(&[(0, &[4]), (160, &[12])])),
        ("nvme read-only", plain(&[(0, &[8])])),
        ("nvme counts beyond eight bytes", plain(&[(48, &[0xff; 16])])),
        ("nvme without a temperature", plain(&[(1, &[0, 0])])),
        ("nvme throttled", plain(&[(216, &[3]), (220, &[1]), (224, &[200]), (228, &[9])])),
        ("nvme with errors in its log", plain(&[(96, &[0x10, 0x27]), (176, &[55])])),
        ("nvme with errors that it keeps", {
            let entries = [errors::entry(3, 0, 0x002, 0, 0), errors::entry(4, 2, 0x281, 77, 1)];
            nvme(&[(176, &[4])], &[(262, &[3])], &[(1, entries.concat())])
        }),
        ("nvme with more errors than are told", {
            let entries = (1..=20).flat_map(|number| errors::entry(number, 1, 0x006, 0, 1));
            nvme(&[(176, &[20])], &[(262, &[63])], &[(1, entries.collect())])
        }),
        ("nvme testing itself", tested(2, 37, 0xf)),
        ("nvme tested, nothing wrong", tested(0, 0, 0x10)),
        ("nvme tested, something wrong", tested(0, 0, 0x27)),
        ("nvme test stopped", tested(0, 0, 0x22)),
        ("nvme 2.0 of the OCP specification", {
            nvme(&[], lists, &[(0, listed()), (0xc0, ocp::tests::page(5 << 40, 3))])
        }),
        ("nvme 1.4 of the OCP specification", {
            nvme(&[], keeps_events, &[(0xc0, ocp::tests::page(5 << 40, 0))])
        }),
        ("nvme with another maker's page", {
            nvme(&[], keeps_events, &[(0xc0, page(512, &[(0, &[9; 32])]))])
        }),
    ]
}

const DISK: [Planted; 6] = [
    (5, 0x33, 100, 2),
    (9, 0x32, 99, 4321),
    (12, 0x32, 99, 17),
    (194, 0x22, 60, 41),
    (197, 0x12, 100, 0),
    (199, 0x3e, 200, 5),
];

/// An ATA drive of this model with these attributes, and what is changed in it.
fn ata(model: &str, attributes: &[Planted], change: impl FnOnce(&mut Fake)) -> WearFacts {
    let mut fake = Fake::default();
    let smart = |feature, address: u64| (0xb0, feature, 0xc2_4f00 | address);
    fake.answers.insert(IDENTIFY, Answer::Data(identity(model, true)));
    fake.answers.insert(smart(0xd0, 0), Answer::Data(data(attributes)));
    fake.answers.insert(smart(0xd1, 0), Answer::Data(thresholds(&[(5, 36)])));
    fake.answers.insert(STATUS, Answer::Lba(0xc24f));
    change(&mut fake);
    of_scsi_layer(&mut fake, Speaks::Ata).unwrap()
}

fn with_statistics(fake: &mut Fake, pages: &[(u8, &[(usize, u64)])]) {
    let numbers: Vec<u8> = std::iter::once(0).chain(pages.iter().map(|(it, _)| *it)).collect();
    fake.answers.insert((0x2f, 0, 0), Answer::Data(directory(4, 8)));
    fake.answers.insert((0x2f, 0, 4), Answer::Data(statistics::list(&numbers)));
    for (number, told) in pages {
        let address = u64::from(*number) << 8 | 4;
        fake.answers.insert((0x2f, 0, address), Answer::Data(statistics::page(*number, told)));
    }
}

fn with_self_test(fake: &mut Fake, status: u8, log: Vec<u8>) {
    let mut smart = data(&DISK);
    (smart[363], smart[367]) = (status, 0x10);
    fake.answers.insert((0xb0, 0xd0, 0xc2_4f00), Answer::Data(sealed(smart)));
    fake.answers.insert((0xb0, 0xd5, 0xc2_4f06), Answer::Data(log));
}

fn with_sct(fake: &mut Fake, status: Vec<u8>) {
    let mut identity = identity("ST4000", false);
    identity[2 * 206] |= 1;
    fake.answers.insert(IDENTIFY, Answer::Data(identity));
    fake.answers.insert((0xb0, 0xd5, 0xc2_4fe0), Answer::Data(status));
}

fn ata_drives() -> Vec<Named> {
    let plain = |model, attributes: &[Planted]| ata(model, attributes, |_| ());
    let changed = |change: fn(&mut Fake)| ata("ST4000", &DISK, change);
    vec![
        ("ata disk", plain("ST4000", &DISK)),
        (
            "ata disk with sectors that wait",
            plain("ST4000", &[(197, 0x12, 100, 8), (198, 0, 1, 3)]),
        ),
        ("ata hours with minutes above them", plain("ST4000", &[(9, 0x32, 99, 0x1122_3300_1234)])),
        ("ata temperature of attribute 190", plain("ST4000", &[(190, 0x22, 60, 0x1e1e_001f)])),
        ("ata model whose attributes are known: Samsung", {
            plain("Samsung SSD 870 EVO 1TB", &[(177, 0x13, 97, 40), (241, 0x32, 99, 1000)])
        }),
        ("ata model whose attributes are known: Crucial", {
            plain("CT500MX500SSD1", &[(202, 0x30, 88, 12), (246, 0x32, 100, 7000)])
        }),
        ("ata model that counts its flash: Intel", {
            let told = [(233, 0x32, 99, 0), (241, 0x32, 100, 44_554), (243, 0x32, 100, 90_287)];
            plain("INTEL SSDSC2BB480G6", &told)
        }),
        ("ata model that nothing is known of", plain("NONAME", &[(177, 0x13, 97, 40)])),
        ("ata says that it fails", {
            changed(|fake| drop(fake.answers.insert(STATUS, Answer::Lba(0x2cf4))))
        }),
        ("ata status is not handed on", {
            changed(|fake| drop(fake.answers.insert(STATUS, Answer::Done)))
        }),
        ("ata at its threshold, status not handed on", {
            ata("ST4000", &[(5, 0x33, 30, 900)], |fake| {
                fake.answers.insert(STATUS, Answer::Done);
            })
        }),
        ("ata with device statistics", {
            changed(|fake| {
                let general: &[(usize, u64)] = &[(16, 77), (24, 1 << 31), (40, 1 << 30)];
                let heat: &[(usize, u64)] = &[(8, 33), (80, 6)];
                let [moved, errors] = [&[(32, 4u64)][..], &[(8, 5)]];
                let [link, life] = [&[(24, 8u64)][..], &[(8, 9)]];
                let pages =
                    [(1, general), (3, moved), (4, errors), (5, heat), (6, link), (7, life)];
                with_statistics(fake, &pages);
            })
        }),
        ("ata colder than ice", changed(|fake| with_statistics(fake, &[(5, &[(8, 0xf6)])]))),
        ("ata with temperatures of its life", {
            changed(|fake| with_sct(fake, sct::page([41, 20, 44, 0xfb, 61], 7, 0)))
        }),
        ("ata with a temperature of its SCT status only", {
            ata("ST4000", &DISK[..3], |fake| with_sct(fake, sct::page([38; 5], 0, 0)))
        }),
        ("ata that tells no temperature of its life", {
            changed(|fake| with_sct(fake, sct::page([0x80; 5], 0, 0)))
        }),
        ("ata testing itself", changed(|fake| with_self_test(fake, 0xf7, Vec::new()))),
        ("ata tested, nothing wrong", {
            changed(|fake| with_self_test(fake, 0, self_tests::ata(&[(1, 0, 4000)], 1)))
        }),
        ("ata tested, could not read", {
            changed(|fake| with_self_test(fake, 0x70, self_tests::ata(&[(2, 0x70, 4000)], 1)))
        }),
    ]
}

fn seagate_drives() -> Vec<Named> {
    let of = |model, told: &[(usize, usize, u64)]| {
        ata(model, &DISK, |fake| with_farm(fake, model, &planted_log(told)))
    };
    let same = [&PLANTED[..], &[(1, 152, 4321)]].concat();
    vec![
        ("ata with FARM that counts the same hours", of("ST4000", &same)),
        ("ata whose hours were set back, but not those of FARM", {
            of("OOS14000G", &[(1, 152, 40_000)])
        }),
        ("ata that lost its helium", of("ST4000", &[(5, 5576, 1)])),
        ("scsi with FARM", {
            let list = vec![0x40, 0xff, 0, 2, 0x3d, 0x03];
            let told = planted_page(&[(1, 152, 40_000), (4, 16, 384)]);
            sas(vec![scsi::page(0x15, &[(0, &[0, 3, 0xf4, 0x80])]), list, told])
        }),
    ]
}

fn sas(pages: Vec<Vec<u8>>) -> WearFacts {
    let mut fake = Fake::default();
    let numbers: Vec<u8> = pages.iter().map(|page| page[0]).collect();
    fake.pages = [vec![scsi::list(&numbers)], pages].concat();
    of_scsi_layer(&mut fake, Speaks::Scsi).unwrap()
}

fn scsi_drives() -> Vec<Named> {
    use scsi::page;
    vec![
        ("scsi with all pages", {
            sas(vec![
                page(0x02, &[(5, &[1, 0, 0, 0, 0, 0]), (6, &[2])]),
                page(0x03, &[(5, &[4, 0]), (6, &[3])]),
                page(0x0d, &[(0, &[0, 38]), (1, &[0, 65])]),
                page(0x10, &[(1, &[0x20, 1, 0x10, 0xe1])]),
                page(0x11, &[(1, &[0, 0, 0, 7])]),
                page(0x15, &[(0, &[0, 3, 0xf4, 0x80])]),
                page(0x2f, &[(0, &[0, 0, 38])]),
            ])
        }),
        ("scsi predicts its failure", sas(vec![page(0x2f, &[(0, &[0x5d, 0x10, 40])])])),
        ("scsi predicts it as a test", sas(vec![page(0x2f, &[(0, &[0x5d, 0xff, 40])])])),
        ("scsi reports a warning", sas(vec![page(0x2f, &[(0, &[0x0b, 0x01, 70])])])),
        ("scsi used beyond its rating", sas(vec![page(0x11, &[(1, &[0, 0, 0, 104])])])),
        ("scsi cannot tell its temperature", {
            sas(vec![page(0x0d, &[(0, &[0, 0xff])]), page(0x11, &[(1, &[0, 0, 0, 1])])])
        }),
        ("scsi testing itself", sas(vec![page(0x10, &[(1, &[0x4f, 1, 0, 9])])])),
        ("scsi tested, something wrong", sas(vec![page(0x10, &[(1, &[0x47, 1, 0, 9])])])),
    ]
}

/// A drive that keeps events, and what it tells of them, or why it does not.
fn events_of(log: Vec<u8>, is_read_by_others: bool) -> serde_json::Value {
    let mut fake = Fake::nvme(1);
    fake.controller[261] = 0x10;
    fake.has_context = is_read_by_others;
    fake.log_pages.insert(0x0d, log);
    match super::events_of(&mut fake) {
        Ok(told) => serde_json::json!({ "events": told }),
        Err(trouble) => serde_json::json!({ "trouble": trouble.text }),
    }
}

fn events() -> String {
    use events::{event_of, log_of, several};
    let with = |events: &[Vec<u8>]| events_of(log_of(events), false);
    let cut = [&log_of(&several())[..600], &[0; 600]].concat();
    let drives = [
        ("nvme with events of most kinds", with(&several())),
        ("nvme with events of all hardware errors", {
            let all: Vec<Vec<u8>> = (0..13).map(|code| event_of(5, None, &[code, 0])).collect();
            with(&all)
        }),
        ("nvme whose firmware was not taken", {
            with(&[event_of(2, None, b"1.0     1.1     \x01\x02\x01\x06\0\0")])
        }),
        ("nvme with events of its maker only", with(&[event_of(0xde, None, &[7; 40])])),
        ("nvme whose events end too early", events_of(cut, false)),
        ("nvme whose events another program reads", events_of(log_of(&several()), true)),
    ];
    let line = |(name, told)| format!("{}\n", serde_json::json!({ "drive": name, "told": told }));
    drives.into_iter().map(line).collect()
}

#[test]
fn each_scripted_drive_is_read_as_it_was() {
    let all = [nvme_drives(), ata_drives(), scsi_drives(), seagate_drives()].concat();
    assert!(all.len() >= 40, "{}", all.len());
    let line = |(name, wear): Named| {
        let warnings = [wear.warnings(), wear.cautions()].concat();
        let told = serde_json::json!({ "drive": name, "warnings": warnings, "wear": wear });
        format!("{told}\n")
    };
    let lines: String = all.into_iter().map(line).collect();
    expect_file!["golden.jsonl"].assert_eq(&(lines + &events()));
}
