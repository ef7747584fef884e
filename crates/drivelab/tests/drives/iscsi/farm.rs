//! What a drive of Seagate's counts besides (FARM): a log of an ATA drive, a page of a SCSI drive.

/// Bytes of a page of the log.
pub const PAGE_BYTES: usize = 16 << 10;
/// In blocks of 512 bytes, the whole log.
pub const BLOCKS: u16 = 192;

/// Page, place in it, and value.
type Field = (usize, usize, u64);

/// Hours under power, as they are scripted, and all else that is read.
fn fields(hours: u64) -> Vec<Field> {
    vec![
        (1, 72, 512),
        (1, 152, hours),
        (1, 160, 4300),
        (1, 168, 4200),
        (1, 176, 229),
        (1, 184, 17),
        (1, 360, u64::from_le_bytes(*b"1931\0\0\0\0")),
        (2, 16, 12),
        (2, 24, 1_000_000),
        (2, 32, 2_000_000),
        // What the device statistics count, too.
        (2, 64, 1 << 31),
        (2, 72, 1 << 30),
        (3, 16, 1),
        (3, 24, 2),
        (3, 32, 2),
        (3, 56, 40),
        (3, 72, 5),
        (3, 112, 6),
        (4, 16, 41),
        (4, 24, 58),
        (4, 32, 17),
        (4, 88, 0),
        (5, 1520, 3),
        (5, 5576, 0),
    ]
}

/// The first field of the header: six letters as a number.
const SIGNATURE: u64 = u64::from_be_bytes(*b"\0\0FARMER");
/// The drive has the field and knows it.
const KNOWN: u64 = 0xc0 << 56;

/// The log of an ATA drive.
pub fn log(hours: u64) -> Vec<u8> {
    let mut log = vec![0; 6 * PAGE_BYTES];
    let mut put = |(page, at, value): Field| {
        let at = page * PAGE_BYTES + at;
        log[at..at + 8].copy_from_slice(&(value | KNOWN).to_le_bytes());
    };
    for (at, value) in [(0, SIGNATURE), (8, 4), (16, 21), (24, 6), (32, 98_304), (40, 16_384)] {
        put((0, at, value));
    }
    (1..6).for_each(|page| put((page, 0, page as u64)));
    fields(hours).into_iter().for_each(put);
    log
}

/// Parameters of the page of a SCSI drive: code and data of each.
pub fn parameters(hours: u64) -> Vec<(u16, Vec<u8>)> {
    let of = |fields: &[(usize, u64)]| {
        let mut data = vec![0; 248];
        for (at, value) in fields {
            data[*at..at + 8].copy_from_slice(&(value | KNOWN).to_be_bytes());
        }
        data
    };
    vec![
        (0, of(&[(0, SIGNATURE)])),
        (1, of(&[(0, 1), (152, hours), (184, 17)])),
        (4, of(&[(0, 4), (16, 371), (24, 580), (32, 170)])),
        (0x52, of(&[(0, 0x52), (24, 9)])),
    ]
}
