//! Each part of a drive, with it and without it.

use super::closed::{Closed, Seen, assert_within, op, profile};
use drivelab_core::op::{Action, SECOND};
use drivelab_sim::drive::{Drive, Ends};
use drivelab_stats::Random;

/// 256 MiB on eight dies; blocks of 128 units.
const BASE: &str = "
user_bytes = 268_435_456
channels = 4
dies_per_channel = 2
pages_per_block = 16
erase_ns = 1_000_000
buffer_bytes = 1_048_576
";

pub fn drive(changes: &str) -> Closed {
    let mut all: toml::Table = toml::from_str(BASE).unwrap();
    all.extend(toml::from_str::<toml::Table>(changes).unwrap());
    Closed::new(profile("textbook", &all.to_string()))
}

fn flush(closed: &mut Closed) {
    closed.run(1, 1, |_| op(Action::Flush, 0, 0));
}

#[test]
fn writes_of_one_place_fall_together_where_the_buffer_combines() {
    let again_and_again = |changes: &str| -> (Closed, Seen) {
        let mut closed = drive(changes);
        let mut random = Random::new(1);
        let seen = closed.run(4, 10_000, |_| op(Action::Write, random.below(16) * 4096, 4096));
        (closed, seen)
    };
    let (_, without) = again_and_again("");
    assert_eq!(without.inside.programmed_host_units, 10_000);
    let (mut closed, with) = again_and_again("combining_bytes = 131_072\npages_per_program = 4");
    println!("{} of 10000 units reached the flash", with.inside.programmed_host_units);
    // Sixteen neighbours fill four programs: a group goes as soon as all its units are held.
    assert!(with.inside.programmed_host_units < 6000);
    // Two places that are no neighbours stay in the buffer for good.
    let before = closed.drive.inside(closed.now);
    let mut place = 0;
    closed.run(1, 1000, |_| {
        place = 1 - place;
        op(Action::Write, (1000 + place * 100) * 4096, 4096)
    });
    let change = closed.drive.inside(closed.now).since(&before);
    assert_eq!((change.host_units, change.programmed_host_units), (1000, 0));
    let reads = closed.run(1, 10, |_| op(Action::Read, 1000 * 4096, 4096));
    assert_eq!((reads.inside.cached_read_units, reads.inside.flash_read_units), (10, 0));
    flush(&mut closed);
    let change = closed.drive.inside(closed.now).since(&before);
    assert!((2..=16).contains(&change.programmed_host_units), "a flush brings them to the flash");
    let reads = closed.run(1, 10, |_| op(Action::Read, 1000 * 4096, 4096));
    assert_eq!(reads.inside.flash_read_units, 10);
}

const SLC: &str = "
planes = 2
pages_per_program = 3
pages_per_block = 48
program_ns = 1_200_000
slc_program_ns = 100_000
slc_idle_ns = 100_000_000
bits_per_cell = 3
";

#[test]
fn the_slc_cache_is_fast_until_it_is_full_and_shrinks_as_the_drive_fills() {
    let fixed = format!("{SLC}slc_static_bytes = 33_554_432");
    let mut closed = drive(&fixed);
    let fast = closed.sequential(Action::Write, 65_536, 8, 400);
    assert!(fast.inside.slc_fill > 0.7 && fast.inside.slc_fill < 0.9);
    closed.sequential(Action::Write, 65_536, 8, 200);
    let slow = closed.sequential(Action::Write, 65_536, 8, 600);
    assert!(slow.inside.slc_fill > 0.99 && slow.inside.fold_units == 0);
    // 1200 us of a dense program, or three of 100 us in the cache.
    assert_within("cache, times faster", fast.iops() / slow.iops(), 4.0, 0.15);
    let mut folding = drive(&format!("{fixed}\nslc_when_full = \"fold\""));
    folding.sequential(Action::Write, 65_536, 8, 1000);
    let seen = folding.sequential(Action::Write, 65_536, 8, 800);
    let folded = seen.inside.fold_units as f64 / seen.inside.host_units as f64;
    assert_within("units folded by unit written", folded, 1.0, 0.05);
    // 300 us in the cache, six page reads of 50 us, 1200 us in the dense cells.
    assert_within("direct, times faster", slow.iops() / seen.iops(), 1.5, 0.10);

    let dynamic = format!("{SLC}slc_dynamic_share = 0.3");
    let room = |filled: u64| {
        let mut closed = drive(&dynamic);
        closed.sequential(Action::Write, 65_536, 8, filled.max(8));
        // A long rest empties it.
        closed.now += 100 * SECOND;
        let begin = closed.drive.inside(closed.now);
        assert!(begin.slc_fill < 0.01, "{}", begin.slc_fill);
        (1..).find(|_| {
            closed.run(1, 16, |_| op(Action::Write, filled * 65_536, 65_536)).inside.slc_fill > 0.97
        })
    };
    let (empty, full) = (room(0).unwrap(), room(3500).unwrap());
    println!("room in the cache: {empty} MiB of the empty drive, {full} of the full one");
    assert!(f64::from(full) < 0.6 * f64::from(empty));
}

#[test]
fn the_slc_cache_is_emptied_in_rests_at_the_rate_of_the_dies() {
    let fixed = format!("{SLC}slc_static_bytes = 134_217_728");
    let mut closed = drive(&fixed);
    closed.sequential(Action::Write, 65_536, 8, 1500);
    flush(&mut closed);
    let written = closed.drive.inside(closed.now);
    // No rest is long enough yet.
    let at = closed.now + 90_000_000;
    assert_eq!(closed.drive.inside(at).fold_units, 0);
    // After 100 ms of rest, each of eight dies folds 24 units in 6 x 50 + 1200 us.
    let at = closed.now + 100_000_000 + 150_000_000;
    let folded = closed.drive.inside(at).since(&written).fold_units as f64;
    let channel_free = 0.15 / 1500e-6 * 8.0 * 24.0 / 4.0;
    assert_within("units folded in 150 ms", folded, channel_free, 0.10);
    let all = closed.drive.inside(closed.now + 100 * SECOND);
    assert_eq!((all.slc_fill, all.fold_units), (0.0, 1500 * 16));
    // What is written again before it is folded is not folded.
    let mut closed = drive(&fixed);
    for _ in 0..4 {
        closed.sequential(Action::Write, 65_536, 8, 300);
    }
    flush(&mut closed);
    assert_eq!(closed.drive.inside(closed.now + 100 * SECOND).fold_units, 300 * 16);
}

#[test]
fn streams_of_reads_are_read_ahead_and_writes_take_the_memory() {
    let changes = "prefetch_bytes = 131_072\nprefetch_streams = 2";
    let stream = |changes: &str, step: u64| {
        let mut closed = drive(changes);
        closed.drive.ftl_mut().fill();
        let mut unit = 0;
        closed.run(1, 4000, |_| {
            unit += step;
            op(Action::Read, (unit - step) * 4096, 4096)
        })
    };
    let (without, with) = (stream("", 1), stream(changes, 1));
    let faster = with.iops() / without.iops();
    println!("reading ahead: {faster:.2} times the rate");
    assert!(faster > 4.0);
    assert!(with.inside.cached_read_units > 3900);
    let (without, with) = (stream("", 2), stream(changes, 2));
    assert_eq!(with.elapsed_ns, without.elapsed_ns, "steps are no stream");
    // Writes that fill the buffer leave no room for what was read ahead; a few do.
    let found_after = |writes: u64| {
        let mut closed = drive(&format!("{changes}\nprogram_ns = 2_000_000"));
        closed.drive.ftl_mut().fill();
        closed.sequential(Action::Read, 4096, 1, 20);
        let mut random = Random::new(2);
        closed.run(64, writes, |_| op(Action::Write, (1000 + random.below(60_000)) * 4096, 4096));
        closed.run(1, 1, |_| op(Action::Read, 20 * 4096, 4096)).inside.cached_read_units
    };
    assert_eq!((found_after(100), found_after(400)), (1, 0));
}

/// What was read ahead is counted by what was on the flash, not by the memory that answered.
#[test]
fn nothing_was_written_where_it_is_read_ahead() {
    let mut closed = drive("prefetch_bytes = 131_072\nprefetch_streams = 2");
    closed.sequential(Action::Write, 65_536, 8, 100);
    closed.run(1, 1, |_| op(Action::Flush, 0, 0));
    let inside = closed.sequential(Action::Read, 65_536, 4, 300).inside;
    assert!(inside.cached_read_units > 1000, "{inside:?}");
    assert_eq!(inside.cached_read_units + inside.flash_read_units, 100 * 16);
    assert_eq!(inside.unmapped_read_units, 200 * 16);
}

#[test]
fn a_map_that_does_not_fit_costs_reads_and_programs() {
    // 65536 units, 1024 in a translation page: 64 pages.
    let of = |changes: &str, action: Action| {
        let mut closed = drive(changes);
        closed.drive.ftl_mut().fill();
        closed.random(action, 4096, 1, 2000, 1);
        closed.random(action, 4096, 1, 8000, 2)
    };
    let small = "map_cache_bytes = 32_768";
    let (all, eighth) = (of("", Action::Read), of(small, Action::Read));
    let added_ns = eighth.latency_mean_ns() - all.latency_mean_ns();
    // Seven of eight miss: a page is sensed and moved.
    assert_within("added to a read, ns", added_ns, 0.875 * (50_000.0 + 2560.0), 0.03);
    let whole = of("map_cache_bytes = 262_144", Action::Read);
    assert_eq!(whole.elapsed_ns, all.elapsed_ns);
    let (all, eighth) = (of("", Action::Write), of(small, Action::Write));
    assert_eq!(all.inside.map_units, 0);
    let programs = eighth.inside.map_units as f64 / eighth.inside.host_units as f64;
    assert_within("map units by unit written", programs, 0.875, 0.03);
}

#[test]
fn reads_of_worn_blocks_are_tried_again() {
    let mut closed = drive("endurance_cycles = 3000\nread_retries = 4");
    closed.drive.ftl_mut().fill();
    let fresh = closed.random(Action::Read, 4096, 1, 500, 1);
    for (age, tries) in [(1500, 2), (1490, 3), (10, 4)] {
        closed.drive.ftl_mut().age(age);
        let worn = closed.random(Action::Read, 4096, 1, 500, 1);
        let added_ns = worn.latency_max_ns - fresh.latency_max_ns;
        assert_eq!((worn.latency_min_ns, added_ns), (worn.latency_max_ns, tries * 50_000));
    }
}

#[test]
fn worn_blocks_are_taken_out_of_use_while_spare_is_left() {
    let mut closed = drive("endurance_cycles = 20\ncollection_low_blocks = 2");
    closed.drive.ftl_mut().fill();
    let amplification = |closed: &mut Closed, seed: u64| {
        let seen = closed.random(Action::Write, 4096, 8, 65_536, seed);
        seen.inside.write_amplification().unwrap()
    };
    let before = (0..3).map(|seed| amplification(&mut closed, seed)).last().unwrap();
    assert_eq!(closed.drive.ftl().retired_blocks(), 0);
    for seed in 3..20 {
        amplification(&mut closed, seed);
    }
    let retired = closed.drive.ftl().retired_blocks();
    let after = amplification(&mut closed, 21);
    println!("{retired} blocks retired: amplification from {before:.2} to {after:.2}");
    assert!(retired > 50 && after > 2.0 * before);
    closed.drive.ftl().assert_consistent();
}

#[test]
fn levelling_wear_moves_cold_data_and_evens_the_erases() {
    let of = |changes: &str| {
        let reserve = "collection_low_blocks = 3\ncollection_high_blocks = 5\n";
        let mut closed = drive(&format!("{reserve}{changes}"));
        closed.drive.ftl_mut().fill();
        // A tenth of the drive takes all writes.
        let mut random = Random::new(3);
        closed.run(8, 1_600_000, |_| op(Action::Write, random.below(6553) * 4096, 4096)).inside
    };
    let (without, with) = (of(""), of("wear_difference_max = 8"));
    let spread = |inside: &drivelab_core::inside::Inside| inside.erases_max - inside.erases_min;
    println!(
        "erases differ by {} without, {} with; amplification {:.3} and {:.3}",
        spread(&without),
        spread(&with),
        without.write_amplification().unwrap(),
        with.write_amplification().unwrap()
    );
    assert_eq!((without.wear_units, without.erases_min), (0, 0));
    assert!(with.wear_units > 0 && spread(&with) <= 24 && spread(&without) > 2 * spread(&with));
    assert!(with.write_amplification() > without.write_amplification());
}

#[test]
fn a_drive_takes_so_many_commands_at_a_time() {
    let mut closed = drive("queue_depth = 1");
    closed.drive.ftl_mut().fill();
    let mut ends = Ends::default();
    for ticket in 0..3 {
        closed.drive.submit(
            0,
            ticket,
            &op(Action::Read, u64::from(ticket) * 4096, 4096),
            &mut ends,
        );
    }
    let at: Vec<u64> = (0..3).map(|_| ends.pop(u64::MAX).unwrap().at).collect();
    assert_eq!((at[1], at[2]), (2 * at[0], 3 * at[0]));
    let deep = |depth: u32, changes: &str| {
        let mut closed = drive(changes);
        closed.drive.ftl_mut().fill();
        closed.random(Action::Read, 4096, depth, 20_000, 1).iops()
    };
    assert_within("128 in flight of 4 taken", deep(128, "queue_depth = 4"), deep(4, ""), 0.01);
}

#[test]
fn bad_blocks_take_spare() {
    let changes = "raw_bytes = 400_000_000\nbad_block_share = 0.1\n";
    let of = |share: &str| {
        let mut parameters =
            profile("textbook", &format!("{BASE}{}", changes.replace("0.1", share)));
        parameters.spare = None;
        drivelab_sim::flash::FlashDrive::new(parameters, 1).unwrap().ftl().layout().clone()
    };
    let (none, tenth) = (of("0.0"), of("0.1"));
    assert_eq!((none.blocks, tenth.blocks), (762, 686));
    assert!(tenth.spare() < none.spare());
}

#[test]
fn a_write_of_a_part_reads_the_rest_first() {
    let of = |len: u32, offset: u64| {
        let mut closed = drive("");
        closed.drive.ftl_mut().fill();
        closed.run(1, 1, |_| op(Action::Write, offset, len)).latency_max_ns
    };
    let link = |bytes: u64| bytes * 1_000_000_000 / 16_000_000_000;
    let read_ns = 50_000 + 2560;
    assert_eq!(of(4096, 8192) + read_ns, of(512, 8192) + link(4096) - link(512));
    // Two units, both in part.
    assert_eq!(of(4096, 8192) + 2 * read_ns, of(4096, 8192 + 512));
}

#[test]
fn a_flush_waits_for_the_flash_unless_the_buffer_is_protected() {
    let of = |changes: &str| {
        let mut closed = drive(changes);
        closed.run(1, 3, |_| op(Action::Write, 0, 4096));
        let seen = closed.run(1, 1, |_| op(Action::Flush, 0, 0));
        (seen.latency_max_ns, seen.inside.padding_units)
    };
    let shot = "pages_per_program = 4";
    let (waits_ns, padded) = of(shot);
    assert!(waits_ns > 200_000, "{waits_ns}");
    assert_eq!(padded, 1);
    assert_eq!(of(&format!("{shot}\npower_loss_protection = true")), (5000, 0));
    // Without early completion every write waits, and fills a program of its own.
    let mut closed = drive(&format!("{shot}\nearly_completion = false"));
    let seen = closed.run(1, 8, |_| op(Action::Write, 0, 4096));
    assert!(seen.latency_min_ns > 200_000);
    assert_eq!(seen.inside.padding_units, 8 * 3);
}

#[test]
fn trim_gives_spare_where_the_drive_honours_it() {
    let of = |changes: &str| {
        let mut closed = drive(changes);
        closed.drive.ftl_mut().fill();
        closed.random(Action::Write, 4096, 8, 130_000, 1);
        // The upper half is dropped; the lower half is written.
        let half = 134_217_728;
        closed.run(1, 1, |_| op(Action::Trim, half, half as u32));
        let mut random = Random::new(2);
        let mut write = || op(Action::Write, random.below(32_768) * 4096, 4096);
        closed.run(8, 100_000, |_| write());
        closed.run(8, 100_000, |_| write()).inside.write_amplification().unwrap()
    };
    let (ignored, honoured) = (of("honours_trim = false"), of(""));
    println!("amplification {ignored:.3}, with TRIM {honoured:.3}");
    assert!(honoured < 1.2 && ignored > 1.5);
}

/// Writes in order, each on the flash before the next.
fn in_order(changes: &str, depth: u32, count: u64) -> Seen {
    let mut closed = drive(changes);
    let mut place = 0;
    closed.run(depth, count, |_| {
        place += 1;
        op(Action::Write, (place - 1) * 4096, 4096)
    })
}

#[test]
fn second_pages_take_longer_than_first_ones_and_as_long_together() {
    let through = "early_completion = false\nerase_ns = 0\n";
    let rows = "program_ns = 850_000\nslow_program_ns = 2_300_000\n";
    // Eight dies: eight programs of the first row, eight of the second.
    let first = in_order(&format!("{through}{rows}"), 1, 8);
    let both = in_order(&format!("{through}{rows}"), 1, 16);
    assert_eq!(first.latency_min_ns, first.latency_max_ns, "all of one row");
    assert_eq!(both.latency_max_ns - both.latency_min_ns, 1_450_000);
    assert_eq!(both.latency_sum_ns, 8 * u128::from(both.latency_min_ns + both.latency_max_ns));
    let alike = in_order(&format!("{through}program_ns = 1_575_000\n"), 1, 16);
    assert_eq!(alike.latency_sum_ns, both.latency_sum_ns, "the mean is the same");
    // Copies take the rows' times too, so that full dies do as much.
    let steady = |times: &str| {
        let mut closed = drive(times);
        closed.drive.ftl_mut().steady(3);
        closed.random(Action::Write, 4096, 128, 50_000, 1);
        closed.random(Action::Write, 4096, 128, 100_000, 2).iops()
    };
    assert_within("of the mean, IOPS", steady(rows), steady("program_ns = 1_575_000\n"), 0.01);
}
