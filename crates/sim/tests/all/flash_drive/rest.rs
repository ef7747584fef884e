//! What age, rest and memory change.

use super::closed::{Closed, assert_within, op};
use super::features::drive;
use drivelab_core::op::{Action, SECOND, Time};
use drivelab_sim::drive::Drive;

const DAY_NS: Time = 86_400 * SECOND;

#[test]
fn what_was_read_is_kept_until_it_is_written() {
    let mut closed = drive("read_cache_bytes = 1_048_576");
    closed.drive.ftl_mut().fill();
    let read = |closed: &mut Closed, units: u64| {
        let mut at = 0;
        let seen = closed.run(1, units, |_| {
            at += 1;
            op(Action::Read, at % units * 4096, 4096)
        });
        (seen.inside.cached_read_units, seen.inside.flash_read_units)
    };
    assert_eq!(read(&mut closed, 64), (0, 64));
    assert_eq!(read(&mut closed, 64), (64, 0));
    closed.run(1, 32, |_| op(Action::Write, 4096, 4096));
    closed.now += SECOND;
    assert_eq!(read(&mut closed, 64), (63, 1));
    // Of four times what it holds nothing is left when it comes round again.
    read(&mut closed, 1024);
    let (cached, _) = read(&mut closed, 1024);
    assert!(cached < 10, "{cached}");
}

#[test]
fn reads_of_data_that_has_lain_are_tried_again() {
    let aged = "endurance_cycles = 1000\nworn_cycles = 1000\nread_retries = 1\n\
                retention_retries = 4\nretention_days = 100\n";
    let added = |closed: &mut Closed| {
        let seen = closed.run(1, 10, |_| op(Action::Read, 0, 4096));
        assert_eq!(seen.latency_min_ns, seen.latency_max_ns);
        seen.latency_max_ns
    };
    let mut fresh = drive("");
    fresh.drive.ftl_mut().fill();
    let once_ns = added(&mut fresh);
    for (lain, tries) in [("", 1), ("lain_days = 50", 3), ("lain_days = 100", 5)] {
        let mut closed = drive(&format!("{aged}{lain}"));
        closed.drive.ftl_mut().fill();
        assert_eq!(added(&mut closed), once_ns + tries * 50_000);
    }
    // What is written onto a drive that was never used is new, however long the others have lain.
    let mut closed = drive(&format!("{aged}lain_days = 100"));
    closed.run(1, 1, |_| op(Action::Write, 0, 4096));
    closed.now += SECOND;
    assert_eq!(added(&mut closed), once_ns + 50_000);
    // Time that passes counts as well, for what was written in it less.
    let mut closed = drive(aged);
    closed.drive.ftl_mut().fill();
    closed.now += 25 * DAY_NS;
    assert_eq!(added(&mut closed), once_ns + 2 * 50_000);
    closed.random(Action::Write, 4096, 8, 300_000, 1);
    closed.now += 30 * SECOND;
    closed.run(1, 1, |_| op(Action::Write, 0, 4096));
    closed.run(1, 1, |_| op(Action::Flush, 0, 0));
    closed.now += SECOND;
    let anew_ns = added(&mut closed);
    assert_eq!(anew_ns, once_ns + 50_000, "its block was erased a moment ago");
}

#[test]
fn collection_in_rest_makes_the_next_burst_cheap() {
    let burst = |changes: &str| {
        let mut closed = drive(changes);
        closed.drive.ftl_mut().fill();
        closed.random(Action::Write, 4096, 8, 200_000, 1);
        let before = closed.drive.inside(closed.now);
        closed.now += 20 * SECOND;
        let after = closed.drive.inside(closed.now);
        let seen = closed.random(Action::Write, 4096, 8, 5_000, 2);
        closed.drive.ftl().assert_consistent();
        (after.erases - before.erases, seen.inside.collection_units, seen.iops())
    };
    let (erases, copies, iops) = burst("");
    let (erases_in_rest, copies_after, iops_after) = burst("idle_collection_blocks = 60");
    println!(
        "{erases}/{erases_in_rest} erases, {copies}/{copies_after} copies, {iops}/{iops_after}"
    );
    assert_eq!(erases, 0);
    assert!(erases_in_rest > 50 && copies_after < copies / 4 && iops_after > 1.5 * iops);
    // A rest that is too short for one block gives one block at most.
    let (few, ..) = burst("idle_collection_blocks = 60\nidle_collection_ns = 19_999_000_000");
    assert!(few <= 1, "{few}");
}

#[test]
fn copies_change_a_map_that_does_not_fit() {
    let programs = |changes: &str| {
        let mut closed = drive(&format!("map_cache_bytes = 32_768\n{changes}"));
        closed.drive.ftl_mut().steady(1);
        let inside = closed.random(Action::Write, 4096, 8, 40_000, 1).inside;
        let by_host = |units: u64| units as f64 / inside.host_units as f64;
        (by_host(inside.map_units), by_host(inside.collection_units))
    };
    let (map, copies) = programs("");
    // Seven of eight entries miss, of what the host writes and of what is copied for it.
    assert_within("map units by unit written", map, 0.875 * (1.0 + copies), 0.04);
    assert!(copies > 1.0);
}

/// Eight dies, a program of one unit each: a group is one program of every die.
#[test]
fn a_read_closes_the_group_that_is_open_and_its_rest_stays_empty() {
    let spent = |reads_behind_each: bool, group_bytes: u64| {
        let mut closed = drive(&format!("write_group_bytes = {group_bytes}"));
        closed.drive.ftl_mut().fill();
        let mut is_write = false;
        let count = if reads_behind_each { 20 } else { 10 };
        let mut place = 0;
        let seen = closed.run(1, count, |_| {
            is_write = !(is_write && reads_behind_each);
            place += 1;
            op(if is_write { Action::Write } else { Action::Read }, place * 4096, 4096)
        });
        let read = closed.run(1, 2, |_| op(Action::Read, 400 * 4096, 4096));
        let padding = seen.inside.padding_units + read.inside.padding_units;
        (seen.inside.programmed_host_units, padding)
    };
    assert_eq!(spent(true, 32_768), (10, 10 * 7));
    assert_eq!(spent(false, 32_768), (10, 6));
    assert_eq!(spent(true, 0), (10, 0));
}

#[test]
fn a_controller_that_saves_its_tables_takes_nothing_meanwhile() {
    let mut closed = drive("map_save_units = 100\nmap_save_bytes = 65_536");
    let write = |closed: &mut Closed, count| closed.sequential(Action::Write, 4096, 1, count);
    let before = write(&mut closed, 100);
    assert_eq!(before.latency_min_ns, before.latency_max_ns);
    assert_eq!(before.inside.map_units, 0);
    // 16 programs go round eight dies twice.
    let parameters = closed.drive.parameters();
    let transfer_ns = 4096 * SECOND / parameters.channel_bytes_per_s;
    let save_ns = 2 * (parameters.program_ns + transfer_ns);
    // The write that waits for it comes over the link meanwhile.
    let on_the_way_ns = parameters.command_ns + 4096 * SECOND / parameters.link_bytes_per_s;
    let saved = write(&mut closed, 1);
    assert_eq!(saved.latency_max_ns, before.latency_max_ns + save_ns - on_the_way_ns);
    assert_eq!(saved.inside.map_units, 16);
    let after = write(&mut closed, 99);
    assert_eq!((after.latency_max_ns, after.inside.map_units), (before.latency_max_ns, 0));
    assert_eq!(write(&mut closed, 1).inside.map_units, 16);
}
