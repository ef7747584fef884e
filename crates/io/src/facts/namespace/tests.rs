use super::*;
use crate::passthrough::fake::Fake;

fn put(page: &mut [u8], at: usize, bytes: &[u8]) {
    page[at..at + bytes.len()].copy_from_slice(bytes);
}

/// Two formats, the second in use, with metadata and protection of type 1.
fn namespace() -> Vec<u8> {
    let mut page = vec![0; 4096];
    (page[25], page[26], page[29]) = (2, 0x11, 0b1001);
    put(&mut page, 128, &[0, 0, 9, 2, 8, 0, 12, 0, 0, 0, 0, 0]);
    put(&mut page, 120, &[0xde, 0xad, 0, 0, 0, 0, 0, 1]);
    page
}

#[test]
fn formats_have_their_numbers_and_one_is_in_use() {
    let told = of_identify(&namespace(), &[]);
    let small = BlockFormat {
        number: 0,
        data_bytes: 512,
        metadata_bytes: 0,
        performance: Performance::Good,
        is_in_use: false,
    };
    let large = BlockFormat {
        number: 1,
        data_bytes: 4096,
        metadata_bytes: 8,
        performance: Performance::Best,
        is_in_use: true,
    };
    assert_eq!(told.block_formats, [small, large], "the third one cannot be had");
    assert_eq!(told.format_in_use(), Some(&large));
    assert_eq!(told.protection_type, Some(1), "bit 3 says where it lies");
    assert_eq!((told.eui64.as_deref(), told.nguid), (Some("dead000000000001"), None));
}

#[test]
fn an_index_of_six_bits_is_one_only_where_there_are_more_formats_than_sixteen() {
    let in_use = |formats: u8, unique: u8, flags: u8| {
        let mut page = namespace();
        (page[25], page[82], page[26]) = (formats, unique, flags);
        (0..64).for_each(|index| page[130 + 4 * index] = 9);
        of_identify(&page, &[]).format_in_use().map(|format| format.number)
    };
    assert_eq!(in_use(15, 0, 0b0110_0011), Some(3), "16 formats");
    assert_eq!(in_use(15, 1, 0b0010_0000), Some(16));
    assert_eq!(in_use(63, 0, 0b0111_1111), Some(63));
    assert_eq!(in_use(1, 0, 0b0000_0010), None, "a format that it does not have");
    let mut page = namespace();
    page[130] = 64;
    assert_eq!(of_identify(&page, &[]).block_formats.len(), 1, "no block is that large");
    (page[25], page[82]) = (255, 255);
    assert!(of_identify(&page, &[]).block_formats.len() <= FORMATS_MAX);
}

#[test]
fn what_is_atomic_is_that_of_the_namespace_where_it_says_so() {
    let mut controller = vec![0; 4096];
    put(&mut controller, 526, &[0xff, 0xff, 3, 0]);
    let mut page = namespace();
    put(&mut page, 34, &[7, 0, 1, 0, 0, 0, 15, 0, 0, 0, 31, 0]);
    let of_all = AtomicWrites {
        write_bytes: 65_536 * 4096,
        power_fail_write_bytes: 4 * 4096,
        ..AtomicWrites::default()
    };
    assert_eq!(of_identify(&page, &controller).atomic_writes, Some(of_all));
    page[24] = 0b10;
    let own = AtomicWrites {
        write_bytes: 8 * 4096,
        power_fail_write_bytes: 2 * 4096,
        boundary_bytes: Some(16 * 4096),
        power_fail_boundary_bytes: Some(32 * 4096),
        is_of_namespace: true,
    };
    assert_eq!(of_identify(&page, &controller).atomic_writes, Some(own));
    put(&mut page, 34, &[0; 12]);
    let same = AtomicWrites { is_of_namespace: true, ..of_all };
    assert_eq!(of_identify(&page, &controller).atomic_writes, Some(same), "0: as the drive");
    page[26] = 9;
    assert_eq!(of_identify(&page, &controller).atomic_writes, None, "no format is in use");
}

#[test]
fn a_drive_is_asked_for_its_sleep_only_where_it_has_that() {
    let asked = |knows: u8, is_on: bool, status: Option<u16>| {
        let mut fake = Fake::nvme(1);
        fake.controller[265] = knows;
        put(&mut fake.controller, 96, &(1u32 << 19).to_le_bytes());
        fake.described = namespace();
        fake.sleeps_by_itself = is_on;
        fake.statuses.extend(status.map(|status| (GET_FEATURES, status)));
        let controller = Controller::read(&mut fake).unwrap();
        let eui64 = Some("ffff".to_owned());
        let mut known = NvmeFacts { eui64, uuid: Some("u".into()), ..NvmeFacts::default() };
        ask(&mut fake, &controller, &mut known).unwrap();
        assert_eq!(known.eui64.as_deref(), Some("dead000000000001"), "as the drive says");
        assert_eq!((known.uuid.as_deref(), known.places_data), (Some("u"), Some(true)));
        (known.apst, fake.features.len())
    };
    assert_eq!(asked(0, true, None), (Some(Apst::Absent), 0));
    assert_eq!(asked(1, true, None), (Some(Apst::On), 1));
    assert_eq!(asked(1, false, None), (Some(Apst::Off), 1));
    assert_eq!(asked(1, true, Some(0x4002)), (None, 1), "it does not say");
}

#[test]
fn what_does_not_answer_keeps_what_the_kernel_shows() {
    let mut fake = Fake::nvme(1);
    let controller = Controller::read(&mut fake).unwrap();
    fake.statuses.insert(0x06, 0x4002);
    let before = NvmeFacts { eui64: Some("ffff".into()), ..NvmeFacts::default() };
    let mut known = before.clone();
    ask(&mut fake, &controller, &mut known).unwrap_err();
    assert_eq!(known, before);
    assert_eq!(of_identify(&[], &[]).block_formats, []);
}

#[test]
fn the_kernel_shows_identifiers_in_groups() {
    let disk = tempfile::tempdir().unwrap();
    assert_eq!(of_sysfs(disk.path(), Some("nvme.1b36-…")), None);
    let write = |name: &str, text: &str| std::fs::write(disk.path().join(name), text).unwrap();
    write("eui", "de ad 00 00 00 00 00 01\n");
    write("nguid", "01234567-89AB-cdef-0123-456789abcdef\n");
    let found = of_sysfs(disk.path(), Some("uuid.5c1f0ee4-0000-4000-8000-000000000001")).unwrap();
    assert_eq!(found.eui64.as_deref(), Some("dead000000000001"));
    assert_eq!(found.nguid.as_deref(), Some("0123456789abcdef0123456789abcdef"));
    assert_eq!(found.uuid.as_deref(), Some("5c1f0ee4-0000-4000-8000-000000000001"));
    write("eui", "00 00 00 00 00 00 00 00\n");
    assert_eq!(of_sysfs(disk.path(), Some("eui.1")).unwrap().eui64, None);
}
