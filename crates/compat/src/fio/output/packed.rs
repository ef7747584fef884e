//! Logs as fio stores them with `log_store_compressed`: records of 32 bytes, or 40 with offsets, in
//! streams of zlib, one after the other. Found out from files of fio 3.33 on x86-64.

use flate2::Compression;
use flate2::bufread::ZlibDecoder;
use flate2::write::ZlibEncoder;
use std::fmt::Write as _;
use std::io::{self, Read, Write};

/// Added to the name of a log.
pub const SUFFIX: &str = ".fz";
/// What a log may hold, in bytes of records: eight million lines.
const RECORDS_BYTES_MAX: u64 = 256 << 20;
/// Bytes of a record without an offset.
const RECORD_BYTES: usize = 32;
/// The direction's number has a mark for an offset behind the record.
const HAS_OFFSET: u32 = 1 << 31;
/// It has one where the priority is printed as the kernel's number.
const SHOWS_PRIORITY: u32 = 1 << 30;

/// A line of a log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Record {
    /// Milliseconds since the beginning.
    pub at_ms: u64,
    /// What is logged.
    pub value: u64,
    /// 0 of reads, 1 of writes, 2 of trims.
    pub direction: u32,
    /// Bytes of the request.
    pub bytes: u64,
    /// The kernel's number of its priority, and whether it is printed as that.
    pub priority: (u16, bool),
    /// First byte, where lines have it.
    pub offset: Option<u64>,
}

impl Record {
    fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let (priority, is_shown) = self.priority;
        let mark = |is_set: bool, mark: u32| if is_set { mark } else { 0 };
        let direction = self.direction
            | mark(self.offset.is_some(), HAS_OFFSET)
            | mark(is_shown, SHOWS_PRIORITY);
        to.write_all(&self.at_ms.to_le_bytes())?;
        to.write_all(&self.value.to_le_bytes())?;
        to.write_all(&direction.to_le_bytes())?;
        to.write_all(&u32::from(priority).to_le_bytes())?;
        to.write_all(&self.bytes.to_le_bytes())?;
        self.offset.iter().try_for_each(|offset| to.write_all(&offset.to_le_bytes()))
    }

    /// The first of these bytes, and how long it is.
    fn read(bytes: &[u8]) -> Option<(Record, usize)> {
        let long = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let short = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let marked = short(16)?;
        let has_offset = marked & HAS_OFFSET != 0;
        let record = Record {
            at_ms: long(0)?,
            value: long(8)?,
            direction: marked & !(HAS_OFFSET | SHOWS_PRIORITY),
            priority: (short(20)? as u16, marked & SHOWS_PRIORITY != 0),
            bytes: long(24)?,
            offset: if has_offset { Some(long(RECORD_BYTES)?) } else { None },
        };
        Some((record, RECORD_BYTES + if has_offset { 8 } else { 0 }))
    }

    /// As a line of a log that is text; with the largest value behind its mean, and with the time
    /// of issue.
    pub fn line(&self, largest: Option<u64>, issued: Option<u64>, to: &mut String) {
        let Record { at_ms, value, direction, bytes, priority: (priority, is_shown), offset } =
            self;
        let also = |number: Option<u64>| number.map_or(String::new(), |it| format!(", {it}"));
        let (largest, offset, issued) = (also(largest), also(*offset), also(issued));
        let priority = match is_shown {
            true => format!("0x{priority:04x}"),
            false => u8::from(priority >> 13 == 1).to_string(),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            to,
            "{at_ms}, {value}{largest}, {direction}, {bytes}{offset}, {priority}{issued}"
        );
    }
}

/// A stream of these records.
pub fn pack(records: &[Record]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let written = records.iter().try_for_each(|record| record.write(&mut encoder));
    // Memory takes all there is.
    written.and_then(|()| encoder.finish()).unwrap_or_default()
}

/// The lines of a stored log.
///
/// # Errors
/// It is no such log, it is cut off, or it is larger than any.
pub fn unpack(data: &[u8]) -> Result<String, String> {
    let mut text = String::new();
    let mut rest = data;
    let mut left = RECORDS_BYTES_MAX;
    while !rest.is_empty() {
        let mut decoder = ZlibDecoder::new(rest).take(left + 1);
        let mut records = Vec::new();
        decoder
            .read_to_end(&mut records)
            .map_err(|_| "it is not a stored log, or it is cut off")?;
        left = left.checked_sub(records.len() as u64).ok_or("it holds more than 256 MiB")?;
        let mut at = 0;
        while at < records.len() {
            let (record, bytes) =
                Record::read(&records[at..]).ok_or("its last line is not whole")?;
            record.line(None, None, &mut text);
            at += bytes;
        }
        rest = decoder.into_inner().into_inner();
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What fio 3.33 stored of eight writes with `log_offset`.
    const OF_FIO: &[u8] = &[
        0x78, 0x9c, 0x63, 0x60, 0x80, 0x00, 0x87, 0xb3, 0xaa, 0xcc, 0x20, 0x9a, 0x91, 0x81, 0xa1,
        0x01, 0x22, 0xc2, 0xc4, 0x80, 0x0d, 0xac, 0x5a, 0x95, 0xc5, 0xc2, 0x88, 0x55, 0x1d, 0xba,
        0x7a, 0x95, 0x2f, 0xd8, 0xcd, 0x63, 0x41, 0x51, 0x95, 0xd9, 0x92, 0xca, 0x8b, 0xdd, 0x3c,
        0x36, 0x14, 0x75, 0xcd, 0xfc, 0xfb, 0xde, 0x60, 0x37, 0x8f, 0x03, 0x45, 0xdd, 0xf1, 0xc2,
        0x39, 0x6b, 0xb1, 0xab, 0xe3, 0x42, 0x51, 0x77, 0xc2, 0xe9, 0xda, 0x4a, 0xec, 0xea, 0x78,
        0x88, 0x74, 0x1f, 0x1f, 0x98, 0x04, 0x00, 0x3e, 0xe9, 0x12, 0x67,
    ];

    #[test]
    fn a_log_that_fio_stored_is_read_as_fio_reads_it() {
        let text = unpack(OF_FIO).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 8);
        assert_eq!(lines[0], "0, 52809024, 1, 131072, 0, 0");
        assert_eq!(lines[7], "0, 4519724137, 1, 131072, 917504, 0");
    }

    #[test]
    fn what_is_packed_is_unpacked_stream_after_stream() {
        let record = |number: u64| Record {
            at_ms: number,
            value: number << 40,
            direction: (number % 3) as u32,
            bytes: 4096 * number,
            priority: (0x2002, number.is_multiple_of(2)),
            offset: (!number.is_multiple_of(5)).then_some(number << 33),
        };
        let records: Vec<Record> = (0..1000).map(record).collect();
        let mut text = String::new();
        records.iter().for_each(|record| record.line(None, None, &mut text));
        let mut data = pack(&records[..300]);
        data.extend(pack(&records[300..]));
        assert_eq!(unpack(&data), Ok(text));
        assert!(data.len() < 1000 * RECORD_BYTES / 3, "{}", data.len());
    }

    #[test]
    fn what_is_no_stored_log_is_refused() {
        assert_eq!(unpack(&[]), Ok(String::new()));
        for (data, says) in [
            (b"0, 1, 0, 4096, 0\n".to_vec(), "not a stored log"),
            (OF_FIO[..40].to_vec(), "cut off"),
            ([OF_FIO, b"x"].concat(), "not a stored log"),
            (packed_bytes(&[0; 31]), "not whole"),
            (packed_bytes(&vec![0; (256 << 20) + 1]), "256 MiB"),
        ] {
            let refused = unpack(&data).unwrap_err();
            assert!(refused.contains(says), "{refused}");
        }
    }

    fn packed_bytes(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }
}
