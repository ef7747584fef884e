//! Blocks that nobody has written, and reads that meet none.

use super::*;

#[test]
fn blocks_never_written_are_noticed_by_content_and_by_map() {
    let zeros = |count| {
        move |e: &mut Evidence| {
            e.observed().blocks =
                Some(BlockSample { seen: 64, zeros: count, ..BlockSample::default() });
        }
    };
    let erased = |e: &mut Evidence| {
        e.observed().blocks =
            Some(BlockSample { seen: 64, zeros: 1, repeated: 1, ..BlockSample::default() });
    };
    assert_eq!(reasons(Evidence::reads(), erased), ["unwritten_blocks"]);
    assert_eq!(reasons(Evidence::reads(), zeros(1)), [""; 0]);
    assert_eq!(reasons(Evidence::reads(), zeros(2)), ["unwritten_blocks"]);
    let mapped = |written, unwritten, hole| {
        move |e: &mut Evidence| {
            let (written_bytes, unwritten_bytes, hole_bytes) = (written, unwritten, hole);
            let extents = Extents {
                written_bytes,
                unwritten_bytes,
                hole_bytes,
                count: 3,
                ..Extents::default()
            };
            e.observed().extents = Some(extents);
        }
    };
    assert_eq!(reasons(Evidence::reads(), mapped(1000, 10, 10)), [""; 0]);
    assert_eq!(reasons(Evidence::reads(), mapped(1000, 100, 0)), ["unwritten_extents"]);
    assert_eq!(reasons(Evidence::reads(), mapped(1000, 0, 100)), ["unwritten_extents"]);
    assert_eq!(reasons(Evidence::writes(), mapped(0, 0, 1000)), [""; 0], "first writes");
}

/// A tenth is written.
fn a_tenth(e: &mut Evidence) {
    let (written_bytes, unwritten_bytes) = (100, 900);
    let extents = Extents { written_bytes, unwritten_bytes, count: 3, ..Extents::default() };
    e.observed().extents = Some(extents);
}

#[test]
fn what_is_read_back_as_far_as_it_was_written_meets_no_hole() {
    assert_eq!(reasons(Evidence::reads(), a_tenth), ["unwritten_extents"]);
    let mut back = Evidence::reads();
    back.stream.until = Some(Until { issued_by: Some(0), ..Until::default() });
    assert_eq!(reasons(back, a_tenth), [""; 0]);
}

#[test]
fn what_was_checked_or_is_in_memory_only_was_written() {
    let checked = |verify: bool, (verified, mismatched): (u64, u64), hex: Option<&[u8]>| {
        let mut evidence = Evidence::reads();
        evidence.stream.verify = verify;
        evidence.stream.data = hex.map(|hex| Data { hex: hex.into(), ..Data::default() });
        (evidence.verified, evidence.mismatched) = (verified, mismatched);
        reasons(evidence, a_tenth)
    };
    assert_eq!(checked(true, (7, 0), None), [""; 0]);
    assert_eq!(checked(true, (7, 0), Some(&[0, 1])), [""; 0]);
    assert_eq!(checked(true, (7, 0), Some(&[0, 0])), ["unwritten_extents"], "so does a hole");
    assert_eq!(checked(true, (0, 0), None), ["unwritten_extents"], "nothing was checked");
    assert_eq!(checked(false, (0, 0), None), ["unwritten_extents"]);
    assert_eq!(checked(true, (7, 1), None), ["unwritten_extents", "mismatches"]);
    let in_memory = |bytes: u64, hole_bytes: u64| {
        move |e: &mut Evidence| {
            a_tenth(e);
            let extents = e.observed().extents.as_mut().unwrap();
            (extents.hole_bytes, extents.unwritten_bytes) = (hole_bytes, 900 - hole_bytes);
            e.observed().cached_bytes = Some(bytes);
        }
    };
    assert_eq!(reasons(Evidence::reads(), in_memory(900, 0)), [""; 0]);
    assert_eq!(reasons(Evidence::reads(), in_memory(500, 0)), ["unwritten_extents"]);
    assert_eq!(reasons(Evidence::reads(), in_memory(900, 900)), ["unwritten_extents"], "no data");
    let zoned = |e: &mut Evidence| {
        in_memory(900, 0)(e);
        e.observed().extents.as_mut().unwrap().zones = 7;
    };
    assert_eq!(reasons(Evidence::reads(), zoned), ["unwritten_extents"], "behind write pointers");
}
