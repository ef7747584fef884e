//! Parameters that cannot be are named, with their constraint.

use super::*;

fn refusal(change: impl Fn(&mut Parameters)) -> String {
    let mut parameters = small();
    change(&mut parameters);
    LogBlockDrive::new(parameters, 1).unwrap_err()
}

#[test]
fn each_refusal_names_the_parameter_and_the_constraint() {
    type Change = fn(&mut Parameters);
    let changes: [(&str, &str, Change); 14] = [
        ("page_bytes", "power of two", |p| p.page_bytes = 3_000),
        ("page_bytes", "32768", |p| p.page_bytes = 65_536),
        ("user_bytes", "multiple of page_bytes = 4096", |p| p.user_bytes = 5_000),
        ("user_bytes", "2^31 pages", |p| p.user_bytes = 1 << 60),
        ("pages_per_block", "1 to 4096", |p| p.pages_per_block = 0),
        ("block_dies", "divisor of dies = 1", |p| p.block_dies = 2),
        ("channels", "at least 1", |p| p.channels = 0),
        ("link_bytes_per_s", "at least 1", |p| p.link_bytes_per_s = 0),
        ("erase_ns", "one second", |p| p.erase_ns = u64::MAX),
        ("log_blocks", "multiple of dies / block_dies = 1", |p| p.log_blocks = 0),
        ("log_blocks", "2^28", |p| p.log_blocks = u32::MAX),
        ("is_merge_paced", "\"full\"", |p| p.is_merge_paced = true),
        ("buffer_bytes", "0 where", |p| p.buffer_bytes = 4_096),
        ("buffer_bytes", "multiple of page_bytes", |p| p.buffer_flush = BufferFlush::Full),
    ];
    for (name, constraint, change) in changes {
        let refusal = refusal(change);
        assert!(refusal.starts_with(name), "{refusal}");
        assert!(refusal.contains(constraint), "{refusal}");
        assert_eq!(refusal.matches(". ").count(), 0, "one sentence: {refusal}");
    }
}

#[test]
fn a_shared_log_needs_its_blocks() {
    let shared = |log_blocks, is_merge_paced| {
        let associativity = Associativity::Full;
        LogBlockDrive::new(Parameters { associativity, log_blocks, is_merge_paced, ..small() }, 1)
    };
    assert!(shared(1, false).is_err());
    assert!(shared(2, false).is_ok());
    assert!(shared(2, true).is_err());
    assert!(shared(3, true).is_ok());
}

#[test]
fn groups_of_a_buffer_are_whole_pages() {
    let groups = |buffer_group_bytes| {
        refusal(|p| {
            p.buffer_flush = BufferFlush::Aligned;
            p.buffer_bytes = 8_192;
            p.buffer_group_bytes = buffer_group_bytes;
        })
    };
    for refusal in [groups(0), groups(512), groups(16_384)] {
        assert!(refusal.starts_with("buffer_group_bytes"), "{refusal}");
    }
}

#[test]
fn rows_need_a_shared_log_whose_blocks_they_divide() {
    let rows = |associativity, pages: u32| {
        refusal(|p| {
            p.associativity = associativity;
            p.buffer_flush = BufferFlush::Row;
            p.buffer_bytes = 16 * PAGE;
            p.buffer_group_bytes = pages * PAGE as u32;
        })
    };
    let refused = rows(Associativity::Block, 2);
    assert!(refused.contains("\"row\" needs associativity \"full\""), "{refused}");
    let refused = rows(Associativity::Full, 3);
    assert!(refused.contains("divide a logical block of 16 pages"), "{refused}");
}
