//! Bytes that are repeated in what is written, and looked for in what is read.

use crate::plan::Data;

/// Fills `buffer`, which is written at byte `address`.
pub fn fill(data: &Data, buffer: &mut [u8], address: u64) {
    let every = data.every.map_or(buffer.len(), |every| every.0 as usize).max(1);
    for (number, part) in (0_u64..).zip(buffer.chunks_mut(every)) {
        let address = address + number * every as u64;
        for bytes in part.chunks_mut(data.hex.len().max(1)) {
            bytes.copy_from_slice(&data.hex[..bytes.len()]);
            for at in &data.offset_at {
                let at = *at as usize;
                let end = (at + Data::OFFSET_BYTES).min(bytes.len());
                if at < end {
                    bytes[at..end].copy_from_slice(&address.to_le_bytes()[..end - at]);
                }
            }
        }
    }
}

/// Compares `found`, which was read at byte `address`, with what it should hold. Gives the address
/// of each part (`every` bytes, or all) that is wrong and that of its first wrong byte to `wrong`,
/// and returns how many it looked at.
pub fn check_all(data: &Data, found: &[u8], address: u64, mut wrong: impl FnMut(u64, u64)) -> u64 {
    let every = data.every.map_or(found.len(), |every| every.0 as usize).max(1);
    let mut count = 0;
    for part in found.chunks(every) {
        let begin = address + count * every as u64;
        let offset = begin.to_le_bytes();
        let place = |at: &u32, inside: usize| {
            inside.checked_sub(*at as usize).filter(|byte| *byte < Data::OFFSET_BYTES)
        };
        let expected = |inside: usize| {
            let held = data.offset_at.iter().rev().find_map(|at| place(at, inside));
            held.map_or(data.hex[inside], |byte| offset[byte])
        };
        let is_wrong = |(at, byte): &(usize, &u8)| expected(at % data.hex.len()) != **byte;
        if let Some((at, _)) = part.iter().enumerate().find(is_wrong) {
            wrong(begin, begin + at as u64);
        }
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Size;
    use drivelab_stats::Random;

    #[test]
    fn bytes_begin_again_with_each_request_and_each_part() {
        let plain = Data { hex: b"abc".to_vec(), ..Data::default() };
        let mut buffer = [0; 8];
        fill(&plain, &mut buffer, 4096);
        assert_eq!(&buffer, b"abcabcab");
        fill(&Data { every: Some(Size(4)), ..plain }, &mut buffer, 4096);
        assert_eq!(&buffer, b"abcaabca");
        let hex = b"xx\0\0\0\0\0\0\0\0".to_vec();
        let placed = Data { hex, offset_at: vec![2], every: Some(Size(12)) };
        let mut buffer = [0; 24];
        fill(&placed, &mut buffer, 0x1234);
        assert_eq!(&buffer[..12], b"xx\x34\x12\0\0\0\0\0\0xx");
        assert_eq!(&buffer[12..], b"xx\x40\x12\0\0\0\0\0\0xx");
    }

    #[test]
    fn each_changed_byte_is_found_where_it_is() {
        let mut random = Random::new(3);
        for _ in 0..300 {
            let bytes = 1 + random.below(40) as usize;
            let hex: Vec<u8> = (0..bytes).map(|_| random.next_u64() as u8).collect();
            let room = bytes.checked_sub(Data::OFFSET_BYTES);
            let offset_at = room.map(|room| random.below(room as u64 + 1) as u32);
            let offset_at = offset_at.filter(|_| random.below(2) == 0).into_iter().collect();
            let every = (random.below(2) == 0).then(|| Size(1 + random.below(100)));
            let data = Data { hex, offset_at, every };
            assert_eq!(data.check(), Ok(()));
            let address = random.next_u64() >> 20;
            let mut buffer = vec![0; 1 + random.below(300) as usize];
            fill(&data, &mut buffer, address);
            let parts = buffer.len().div_ceil(every.map_or(usize::MAX, |every| every.0 as usize));
            let none = |at, byte| panic!("{data:?}: nothing is wrong at {at}, {byte}");
            assert_eq!(check_all(&data, &buffer, address, none), parts as u64);
            let changed = random.below(buffer.len() as u64);
            buffer[changed as usize] ^= 1 << random.below(8);
            let mut wrong = Vec::new();
            check_all(&data, &buffer, address, |at, byte| wrong.push((at, byte)));
            let size = every.map_or(u64::MAX, |every| every.0);
            assert_eq!(wrong, [(address + changed / size * size, address + changed)], "{data:?}");
        }
    }
}
