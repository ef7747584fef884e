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

#[test]
fn what_is_read_back_as_far_as_it_was_written_meets_no_hole() {
    let holes = |e: &mut Evidence| {
        let (written_bytes, unwritten_bytes) = (100, 900);
        let extents = Extents { written_bytes, unwritten_bytes, count: 3, ..Extents::default() };
        e.observed().extents = Some(extents);
    };
    assert_eq!(reasons(Evidence::reads(), holes), ["unwritten_extents"]);
    let mut back = Evidence::reads();
    back.stream.until = Some(Until { issued_by: Some(0), ..Until::default() });
    assert_eq!(reasons(back, holes), [""; 0]);
}
