//! What each kind of merge costs, to the nanosecond.

use super::*;

#[test]
fn a_full_merge_copies_every_page_and_erases_twice() {
    let mut drive = filled(small());
    let mut now = 0;
    // Four log blocks are opened, out of order; the fifth needs one of them.
    let took = in_turn(&mut drive, &mut now, &[1, 2, 3, 4, 5].map(|block| page(block, 7)));
    assert_eq!(took[..4], [WRITE_NS; 4]);
    assert_eq!(took[4], WRITE_NS + PAGES * COPY_NS + 2 * ERASE_NS);
    let inside = drive.inside(now);
    assert_eq!((inside.host_units, inside.programmed_host_units), (5, 5));
    assert_eq!((inside.merge_units, inside.erases), (PAGES, 2));
    assert_eq!(inside.write_amplification(), Some(21.0 / 5.0));
    let merge_ns = PAGES * COPY_NS + 2 * ERASE_NS;
    assert_eq!(inside.background_busy_ns, merge_ns);
    assert_eq!(inside.host_busy_ns, 5 * (CHANNEL_NS + PROGRAM_NS));
}

#[test]
fn a_partial_merge_copies_the_rest_and_erases_once() {
    let mut drive = filled(small());
    let mut now = 0;
    in_turn(&mut drive, &mut now, &[0, 1, 2, 3, 4].map(|slot| page(1, slot)));
    in_turn(&mut drive, &mut now, &[2, 3, 4].map(|block| page(block, 7)));
    let (end, cause) = one(&mut drive, now, page(5, 7));
    assert_eq!(end - now, WRITE_NS + (PAGES - 5) * COPY_NS + ERASE_NS);
    assert_eq!(cause, Cause::Merge);
    let inside = drive.inside(end);
    assert_eq!((inside.merge_units, inside.erases), (PAGES - 5, 1));
}

#[test]
fn a_switch_merge_erases_once_and_copies_nothing() {
    let mut drive = filled(small());
    let mut now = 0;
    let whole: Vec<DataOp> = (0..PAGES).map(|slot| page(1, slot)).collect();
    assert_eq!(in_turn(&mut drive, &mut now, &whole), vec![WRITE_NS; PAGES as usize]);
    in_turn(&mut drive, &mut now, &[2, 3, 4].map(|block| page(block, 7)));
    let took = in_turn(&mut drive, &mut now, &[page(5, 7)]);
    assert_eq!(took, [WRITE_NS + ERASE_NS]);
    let inside = drive.inside(now);
    assert_eq!((inside.merge_units, inside.erases), (0, 1));
}

#[test]
fn sequential_writes_only_switch() {
    for parameters in several() {
        let mut drive = filled(parameters.clone());
        let pages = parameters.user_bytes / PAGE;
        let mut next = 0;
        let passes = 3;
        let result = run(&mut drive, 1, (passes * pages) as usize, || {
            next += 1;
            write((next - 1) % pages * PAGE, PAGE as u32)
        });
        let (end, _) = one(&mut drive, result.end, flush());
        let inside = drive.inside(end);
        assert_eq!(inside.write_amplification(), Some(1.0), "{parameters:?}");
        let blocks = pages / PAGES / u64::from(parameters.block_dies);
        let open = u64::from(parameters.log_blocks);
        assert!(inside.erases <= passes * blocks, "{parameters:?}");
        assert!(inside.erases >= passes * blocks - open, "{parameters:?}");
    }
}

#[test]
fn trim_makes_merges_cheaper_page_by_page() {
    for trimmed in [0, 1, 9, 15] {
        let mut drive = filled(small());
        let mut now = 0;
        let range = trim(PAGES * PAGE, (trimmed * PAGE) as u32);
        assert_eq!(in_turn(&mut drive, &mut now, &[range]), [COMMAND_NS]);
        in_turn(&mut drive, &mut now, &[1, 2, 3, 4].map(|block| page(block, 15)));
        let took = in_turn(&mut drive, &mut now, &[page(5, 15)]);
        let copies = (PAGES - trimmed) * COPY_NS;
        assert_eq!(took, [WRITE_NS + copies + 2 * ERASE_NS], "{trimmed} trimmed");
    }
}

#[test]
fn a_block_that_was_trimmed_as_a_whole_is_only_erased() {
    let mut drive = filled(small());
    let mut now = 0;
    in_turn(&mut drive, &mut now, &[1, 2, 3, 4].map(|block| page(block, 7)));
    in_turn(&mut drive, &mut now, &[trim(PAGES * PAGE, (PAGES * PAGE) as u32)]);
    let took = in_turn(&mut drive, &mut now, &[page(5, 7)]);
    assert_eq!(took, [WRITE_NS + 2 * ERASE_NS]);
    let (_, cause) = one(&mut drive, now, read(PAGES * PAGE, PAGE as u32));
    assert_eq!((cause, drive.inside(now).unmapped_read_units), (Cause::Link, 1));
}

#[test]
fn a_new_drive_writes_without_merges_going_forward() {
    let mut drive = LogBlockDrive::new(small(), 1).unwrap();
    let mut now = 0;
    let ops: Vec<DataOp> = (0..64).flat_map(|block| [page(block, 3), page(block, 9)]).collect();
    assert_eq!(in_turn(&mut drive, &mut now, &ops), vec![WRITE_NS; 128]);
    assert_eq!((drive.inside(now).erases, drive.inside(now).merge_units), (0, 0));
}

#[test]
fn a_block_over_four_channels_merges_as_fast_as_one_die() {
    let four = Parameters { channels: 4, dies: 4, block_dies: 4, ..small() };
    let merge_ns = |parameters: Parameters| {
        let mut drive = filled(parameters);
        let mut now = 0;
        // Page 4 is the first page of its log block and stays on its die.
        let ops = [1, 2, 3, 4, 5].map(|block| write((block * 4 * PAGES + 4) * PAGE, 4_096));
        in_turn(&mut drive, &mut now, &ops)[4] - WRITE_NS
    };
    assert_eq!(merge_ns(four.clone()), PAGES * COPY_NS + 2 * ERASE_NS);
    // Two dies on each channel, one page in copy on it: twice as long, less a wait for no erase.
    let two_channels = Parameters { channels: 2, ..four.clone() };
    assert_eq!(merge_ns(two_channels.clone()), 2 * PAGES * COPY_NS + 2 * ERASE_NS);
    // With room for a copy of each die the programs overlap.
    let overlapped = merge_ns(Parameters { copies_per_channel: 2, ..two_channels });
    assert!((PAGES * COPY_NS..2 * PAGES * COPY_NS).contains(&overlapped), "{overlapped}");
}

#[test]
fn a_part_of_a_page_reads_the_rest_first() {
    let mut drive = filled(small());
    let mut now = 0;
    let took = in_turn(&mut drive, &mut now, &[write(PAGE * 7 + 512, 512)]);
    let link_ns = LINK_NS / 8;
    let program_ns = CHANNEL_NS + PROGRAM_NS;
    assert_eq!(took, [COMMAND_NS + link_ns + READ_NS + CHANNEL_NS + program_ns]);
}

#[test]
fn a_read_moves_what_was_asked_for_and_waits_behind_a_merge() {
    let parameters = Parameters { queue_depth: 2, ..small() };
    let mut drive = filled(parameters);
    let mut now = 0;
    assert_eq!(
        in_turn(&mut drive, &mut now, &[read(0, 512)]),
        [COMMAND_NS + READ_NS + CHANNEL_NS / 8 + LINK_NS / 8]
    );
    in_turn(&mut drive, &mut now, &[1, 2, 3, 4].map(|block| page(block, 7)));
    let (merged, _) = one(&mut drive, now, page(5, 7));
    let (end, cause) = one(&mut drive, now, read(0, PAGE as u32));
    assert_eq!(end, merged + READ_NS + CHANNEL_NS + LINK_NS);
    assert_eq!(cause, Cause::Merge);
}

#[test]
fn a_paced_log_never_merges_many_blocks_in_one_write() {
    let whole = Parameters { associativity: Associativity::Full, ..small() };
    let paced = Parameters { is_merge_paced: true, ..whole.clone() };
    let longest = |parameters: Parameters| {
        let mut drive = filled(parameters);
        drive.fragment(1);
        let mut random = Random::new(2);
        let result = run(&mut drive, 1, 4_000, || {
            // Never the first page of a block: the sequential log block has its own test.
            let (block, slot) = (random.below(64), 1 + random.below(PAGES - 1));
            page(block, slot)
        });
        (*result.latencies_ns.iter().max().unwrap(), result.mean_ms())
    };
    let merge_ns = PAGES * COPY_NS + ERASE_NS;
    let (paced_max, paced_mean) = longest(paced);
    let (whole_max, whole_mean) = longest(whole);
    // A log block and, once, a sequential one are erased besides.
    assert!(paced_max <= WRITE_NS + merge_ns + 2 * ERASE_NS, "{paced_max}");
    assert!(whole_max > 5 * merge_ns, "{whole_max}");
    assert!((paced_mean / whole_mean - 1.0).abs() < 0.25, "{paced_mean} and {whole_mean}");
}

#[test]
fn a_sequential_stream_in_a_shared_log_keeps_its_own_log_block() {
    let parameters = Parameters { associativity: Associativity::Full, ..small() };
    let mut drive = filled(parameters);
    let mut now = 0;
    for slot in 0..PAGES {
        in_turn(&mut drive, &mut now, &[page(1, slot), page(40 + slot, 5)]);
    }
    assert_eq!(drive.inside(now).erases, 0);
    // The next stream takes the place of the first, which is switched.
    assert_eq!(in_turn(&mut drive, &mut now, &[page(2, 0)]), [WRITE_NS + ERASE_NS]);
    // And this one of a stream that ended early: a partial merge.
    let partial_ns = (PAGES - 1) * COPY_NS + ERASE_NS;
    assert_eq!(in_turn(&mut drive, &mut now, &[page(3, 0)]), [WRITE_NS + partial_ns]);
}

fn buffered(rule: BufferFlush) -> LogBlockDrive {
    filled(Parameters {
        buffer_flush: rule,
        buffer_bytes: 4 * PAGE,
        buffer_group_bytes: if rule == BufferFlush::Aligned { PAGE as u32 } else { 0 },
        ..small()
    })
}

const ACCEPT_NS: u64 = COMMAND_NS + LINK_NS;

#[test]
fn a_full_buffer_is_written_and_freed_as_a_whole() {
    let mut drive = buffered(BufferFlush::Full);
    let mut now = 0;
    let ops = [1, 2, 3, 4].map(|block| page(block, 7));
    assert_eq!(in_turn(&mut drive, &mut now, &ops), [ACCEPT_NS; 4]);
    assert!((drive.inside(now).buffer_fill - 1.0).abs() < 1e-9);
    // The fifth waits for four programs on one die, but for its own command.
    let took = in_turn(&mut drive, &mut now, &[page(5, 7)]);
    assert_eq!(took, [4 * (CHANNEL_NS + PROGRAM_NS) + LINK_NS]);
    assert_eq!(drive.inside(now).programmed_host_units, 4);
}

#[test]
fn repeated_sectors_are_combined_and_read_from_the_buffer() {
    let mut drive = buffered(BufferFlush::Full);
    let mut now = 0;
    for _ in 0..100 {
        in_turn(&mut drive, &mut now, &[write(512, 512), write(1_024, 512), write(PAGE, 512)]);
    }
    let (_, cause) = one(&mut drive, now, read(512, 1_024));
    assert_eq!(cause, Cause::Link);
    let inside = drive.inside(now);
    assert_eq!((inside.host_units, inside.programmed_units()), (300, 0));
    assert_eq!((inside.cached_read_units, inside.flash_read_units), (1, 0));
    let (end, _) = one(&mut drive, now, flush());
    let inside = drive.inside(end);
    assert_eq!((inside.programmed_host_units, inside.buffer_fill), (2, 0.0));
}

#[test]
fn a_write_that_is_no_neighbour_ends_the_run() {
    let mut drive = buffered(BufferFlush::Neighbour);
    let mut now = 0;
    in_turn(&mut drive, &mut now, &[page(1, 3), page(1, 4), page(1, 2)]);
    assert_eq!(drive.inside(now).programmed_host_units, 0);
    in_turn(&mut drive, &mut now, &[page(1, 9)]);
    assert_eq!(drive.inside(now).programmed_host_units, 3);
}

#[test]
fn a_complete_group_leaves_at_once_and_a_part_waits_to_be_combined() {
    let mut drive = buffered(BufferFlush::Aligned);
    let mut now = 0;
    in_turn(&mut drive, &mut now, &[page(1, 3)]);
    assert_eq!(drive.inside(now).programmed_host_units, 1);
    // Half of a page waits; its other half completes it.
    in_turn(&mut drive, &mut now, &[write(0, 2_048)]);
    assert_eq!(drive.inside(now).programmed_host_units, 1);
    in_turn(&mut drive, &mut now, &[write(2_048, 2_048)]);
    assert_eq!(drive.inside(now).programmed_host_units, 2);
    // The same bytes across two pages are two parts.
    in_turn(&mut drive, &mut now, &[write(9 * PAGE + 2_048, 4_096)]);
    assert_eq!(drive.inside(now).programmed_host_units, 2);
    let (end, _) = one(&mut drive, now, flush());
    assert_eq!(drive.inside(end).programmed_host_units, 4);
}

#[test]
fn a_flush_ends_when_the_flash_holds_everything() {
    let mut drive = buffered(BufferFlush::Full);
    let mut now = 0;
    in_turn(&mut drive, &mut now, &[page(1, 7)]);
    let took = in_turn(&mut drive, &mut now, &[flush(), flush()]);
    assert_eq!(took, [COMMAND_NS + CHANNEL_NS + PROGRAM_NS, COMMAND_NS]);
}

#[test]
fn a_durable_write_takes_as_long_as_a_write_and_a_flush() {
    let mut drive = buffered(BufferFlush::Full);
    let mut ends = Ends::default();
    let durable = Way { is_durable: true, ..Way::default() };
    drive.submit_by(0, 0, &page(1, 7), durable, &mut ends);
    let end = ends.pop(Time::MAX).map(|end| end.at);
    let (mut other, mut now) = (buffered(BufferFlush::Full), 0);
    let took = in_turn(&mut other, &mut now, &[page(1, 7), flush()]);
    // One command instead of two.
    assert_eq!(end, Some(took[0] + took[1] - COMMAND_NS));
    assert!(took[1] > COMMAND_NS, "the flash had work to do");
}
