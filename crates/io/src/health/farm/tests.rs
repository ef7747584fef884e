use super::*;

/// Page or parameter, place, and what stands there.
pub type Planted = (usize, usize, u64);

/// A field that the drive has and knows.
pub fn known(value: u64) -> u64 {
    value & VALUE | TOLD
}

/// The log of an ATA drive: header and numbers of its pages, and these values.
pub fn planted_log(told: &[Planted]) -> Vec<u8> {
    let mut log = vec![0; PAGES * PAGE_BYTES];
    let mut put = |page: usize, at: usize, field: u64| {
        let at = page * PAGE_BYTES + at;
        log[at..at + FIELD_BYTES].copy_from_slice(&field.to_le_bytes());
    };
    (1..PAGES).for_each(|page| put(page, 0, known(page as u64)));
    for (at, value) in [(0, SIGNATURE), (8, 4), (16, 21), (24, 6), (32, 98_304), (40, 16_384)] {
        put(0, at, known(value));
    }
    told.iter().for_each(|(page, at, value)| put(*page, *at, known(*value)));
    log
}

/// The page of a SCSI drive: a parameter for each code that is used, and these values.
pub fn planted_page(told: &[Planted]) -> Vec<u8> {
    let header: [Planted; 1] = [(0, 0, SIGNATURE)];
    let mut codes: Vec<usize> = told.iter().map(|(code, ..)| *code).chain([0]).collect();
    codes.sort_unstable();
    codes.dedup();
    let mut body = Vec::new();
    for code in codes {
        let mut data = [0; 248];
        for (_, at, value) in header.iter().chain(told).filter(|(of, ..)| *of == code) {
            data[*at..at + FIELD_BYTES].copy_from_slice(&known(*value).to_be_bytes());
        }
        body.extend((code as u16).to_be_bytes());
        body.extend([3, data.len() as u8]);
        body.extend(data);
    }
    let (number, subpage) = SCSI_PAGE;
    let length = (body.len() as u16).to_be_bytes();
    [&[number | 0x40, subpage], &length[..], &body].concat()
}

/// Two digits of a year and two of a week, in the order of the bytes of a field.
const ASSEMBLED: u64 = u64::from_le_bytes(*b"1931\0\0\0\0");

/// Each field that is read, with a value of its own.
pub const PLANTED: [Planted; 26] = [
    (1, 72, 4096),
    (1, 152, 15_442),
    (1, 160, 15_441),
    (1, 168, 15_392),
    (1, 176, 229),
    (1, 184, 29),
    (1, 360, ASSEMBLED),
    (2, 16, 12),
    (2, 24, 1_000),
    (2, 32, 2_000),
    (2, 64, 3_000),
    (2, 72, 4_000),
    (3, 16, 1),
    (3, 24, 2),
    (3, 32, 3),
    (3, 56, 4),
    (3, 72, 5),
    (3, 112, 6),
    (3, 952, 10),
    (3, 960, 20),
    (4, 16, 38),
    (4, 24, 61),
    (4, 32, (-5i64).cast_unsigned()),
    (4, 88, 7),
    (5, 1520, 8),
    (5, 5576, 0),
];

fn all() -> FarmFacts {
    FarmFacts {
        power_on_hours: Some(15_442),
        spindle_hours: Some(15_441),
        head_flight_hours: Some(15_392),
        head_loads: Some(229),
        emergency_unloads: Some(8),
        power_cycles: Some(29),
        assembled_year: Some(2019),
        assembled_week: Some(31),
        read_commands: Some(1_000),
        write_commands: Some(2_000),
        read_bytes: Some(4_000 * 4096),
        written_bytes: Some(3_000 * 4096),
        rated_workload_percent: Some(12),
        unrecoverable_reads: Some(1),
        unrecoverable_writes: Some(2),
        reallocated_sectors: Some(13),
        candidate_sectors: Some(24),
        link_errors: Some(5),
        command_timeouts: Some(6),
        temperature_c: Some(38),
        lifetime_min_c: Some(-5),
        lifetime_max_c: Some(61),
        hot_minutes: Some(7),
        helium_lost: Some(false),
    }
}

#[test]
fn each_field_has_its_place() {
    assert_eq!(read(&planted_log(&PLANTED)), Some(all()));
    let word = &planted_log(&PLANTED)[..8];
    assert_eq!(word, b"REMRAF\0\xc0", "the letters of a number, and the flags");
}

#[test]
fn a_field_that_is_not_there_or_not_known_is_not_told() {
    for flags in [0x00, 0x80, 0x40, 0x3f] {
        let mut log = planted_log(&PLANTED);
        for (page, at, _) in PLANTED {
            log[page * PAGE_BYTES + at + 7] = flags;
        }
        assert_eq!(read(&log), None, "{flags:02x}");
    }
    // Each one alone, and the others stay.
    for (page, at, _) in PLANTED.into_iter().filter(|(.., value)| *value != 4096) {
        let mut log = planted_log(&PLANTED);
        log[page * PAGE_BYTES + at + 7] = 0x80;
        assert_ne!(read(&log), Some(all()), "{page} {at}");
    }
    let one = read(&planted_log(&[(3, 32, 3)])).unwrap();
    assert_eq!((one.reallocated_sectors, one.candidate_sectors), (Some(3), None));
}

#[test]
fn another_log_or_one_that_was_cut_off_is_not_read() {
    let whole = planted_log(&PLANTED);
    for length in [0, 8, PAGE_BYTES - 1, PAGE_BYTES, 2 * PAGE_BYTES - 1] {
        assert_eq!(read(&whole[..length]), None, "{length}");
    }
    let two = read(&whole[..2 * PAGE_BYTES]).unwrap();
    assert_eq!((two.power_on_hours, two.read_commands), (Some(15_442), None));
    for (at, byte) in [(0, b'F'), (5, 0), (7, 0x40), (7, 0x80), (41, 0x20)] {
        let mut other = whole.clone();
        other[at] = byte;
        assert!(!is_header(&other[..PAGE_BYTES]), "{at}");
        assert_eq!(read(&other), None, "{at}");
    }
    assert!(is_header(&whole[..PAGE_BYTES]) && !is_header(&whole));
    let mut silent = whole.clone();
    silent[47] = 0;
    assert!(is_header(&silent[..PAGE_BYTES]), "the size of its pages is not told");
    // A page in the place of another one.
    let mut moved = whole.clone();
    moved[PAGE_BYTES] = 2;
    let found = read(&moved).unwrap();
    assert_eq!((found.power_on_hours, found.read_commands), (None, Some(1_000)));
    assert_eq!(found.read_bytes, None, "nobody says how long a sector is");
}

#[test]
fn what_no_drive_has_seen_is_not_told() {
    let of = |planted: Planted| read(&planted_log(&[(1, 184, 29), planted])).unwrap();
    let only_cycles = FarmFacts { power_cycles: Some(29), ..FarmFacts::default() };
    for planted in [
        (1, 152, HOURS_MAX + 1),
        (1, 160, VALUE),
        (4, 16, 151),
        (4, 24, (-61i64).cast_unsigned()),
        (1, 360, u64::from_le_bytes(*b"1954\0\0\0\0")),
        (1, 360, u64::from_le_bytes(*b"0931\0\0\0\0")),
        (1, 360, u64::from_le_bytes(*b"19 1\0\0\0\0")),
        (1, 360, u64::from_le_bytes(*b"+9+1\0\0\0\0")),
        (1, 360, 0),
    ] {
        assert_eq!(of(planted), only_cycles, "{planted:?}");
    }
    assert_eq!(of((1, 152, HOURS_MAX)).power_on_hours, Some(HOURS_MAX));
    let many = read(&planted_log(&[(1, 72, 4096), (2, 64, VALUE)])).unwrap();
    assert_eq!(many.written_bytes, Some(u64::MAX), "no overflow");
    let tripped = read(&planted_log(&[(5, 5576, 1)])).unwrap();
    assert_eq!(tripped.helium_lost, Some(true));
}

/// The same values as far as SCSI drives have them; temperatures in tenths of a degree.
fn of_scsi() -> (Vec<Planted>, FarmFacts) {
    let told = vec![
        (1, 72, 4096),
        (1, 152, 15_442),
        (1, 184, 29),
        (1, 240, u64::from_be_bytes(*b"\0\0\0\x001931")),
        (2, 16, 12),
        (2, 24, 1_000),
        (2, 32, 2_000),
        (2, 64, 3_000),
        (2, 72, 4_000),
        (3, 16, 1),
        (3, 24, 2),
        (4, 16, 384),
        (4, 24, 610),
        (4, 32, (-54i64).cast_unsigned()),
        (5, 176, 8),
        (5, 200, 0),
        (0x50, 24, 229),
        (0x52, 24, 3),
        (0x52, 32, 4),
        (0x62, 24, 10),
        (0x62, 32, 20),
    ];
    let facts = FarmFacts {
        spindle_hours: None,
        head_flight_hours: None,
        link_errors: None,
        command_timeouts: None,
        hot_minutes: None,
        ..all()
    };
    (told, facts)
}

#[test]
fn each_parameter_of_a_scsi_drive_has_its_place() {
    let (told, facts) = of_scsi();
    assert_eq!(read_scsi(&planted_page(&told)), Some(facts));
}

#[test]
fn another_page_or_one_that_was_cut_off_is_not_read() {
    let (told, facts) = of_scsi();
    let whole = planted_page(&told);
    for (at, byte) in [(0, 0x3d), (0, 0x7e), (1, 0x04), (8, 0x80), (13, b'f')] {
        let mut other = whole.clone();
        other[at] = byte;
        assert_eq!(read_scsi(&other), None, "{at}");
    }
    for length in 0..whole.len() {
        assert_ne!(read_scsi(&whole[..length]).as_ref(), Some(&facts), "{length}");
    }
    let without_header = [&whole[..2], &[0; 2], &whole[4 + 252..]].concat();
    assert_eq!(read_scsi(&without_header), None);
}
