//! What a drive does of its own accord, each against a sum by hand: blocks that it moves, erases of
//! one die, a buffer that is flushed in a rest, credits of the link.

use super::closed::{Closed, SECOND, assert_within, op};
use super::features::drive;
use drivelab_core::op::{Action, Time};
use drivelab_sim::drive::Drive;

const MS: Time = 1_000_000;
const DIES: u64 = 8;

fn filled(changes: &str) -> Closed {
    let mut closed = drive(changes);
    closed.drive.ftl_mut().fill();
    closed
}

/// How long a read of a unit takes that reaches its die at `at`. Units lie on the dies in turn.
fn read_at(closed: &mut Closed, at: Time, unit: u64) -> Time {
    let parameters = closed.drive.parameters();
    closed.now =
        at - (parameters.command_ns + parameters.firmware_read_ns + parameters.firmware_unit_ns);
    closed.run(1, 1, |_| op(Action::Read, unit * 4096, 4096)).latency_max_ns
}

#[test]
fn a_die_that_moves_a_block_is_taken_until_it_is_done() {
    let moves = "relocation_ns = 4_000_000\nrelocation_interval_ns = 10_000_000\n";
    let mut closed = filled(moves);
    let alone = read_at(&mut closed, MS, 0);
    // The first begins at 10 ms on the first die, the next at 20 ms on the second.
    for (at, unit, waits) in [
        (11 * MS, 0, 3 * MS),
        (15 * MS, 1, 0),
        (21 * MS, 1, 3 * MS),
        (25 * MS, 0, 0),
        // It came to the drive before the ninth began, which waits for it.
        (90 * MS + 1, 8, 0),
        (91 * MS, 16, 3 * MS + 50_001),
        (104 * MS, 9, 0),
    ] {
        assert_eq!(read_at(&mut closed, at, unit), alone + waits, "unit {unit} at {at}");
    }
    // After a long rest the turn is the same as if somebody had looked all the time.
    assert_eq!(read_at(&mut closed, 100_012 * MS, 15), alone);
    assert_eq!(read_at(&mut closed, 100_092 * MS, 1), alone);
    let turn = (100_090 / 10 - 1) % DIES;
    assert_eq!(read_at(&mut closed, 100_093 * MS, turn), alone + MS);
    let mut suspends = filled(&format!("{moves}suspend_ns = 20_000"));
    assert_eq!(read_at(&mut suspends, 11 * MS, 0), alone + 20_000);
}

/// One read after the other, each to a die by chance: in each interval a read meets the die that is
/// taken after X, exponential with a mean of D reads, and waits for the rest of R.
#[test]
fn reads_lose_what_pauses_and_chance_say() {
    let mut closed = filled("relocation_ns = 4_000_000\nrelocation_interval_ns = 10_000_000\n");
    let alone_ns = read_at(&mut closed, MS, 0) as f64;
    let seen = closed.random(Action::Read, 4096, 1, 200_000, 1);
    let (taken_ns, interval_ns) = (4e6, 10e6);
    let mean_ns = DIES as f64 * alone_ns;
    let waited_ns = taken_ns - mean_ns * (1.0 - (-taken_ns / mean_ns).exp());
    let expected = SECOND / alone_ns * (1.0 - waited_ns / interval_ns);
    assert_within("reads a second", seen.iops(), expected, 0.01);
    assert!(seen.latency_max_ns as f64 > alone_ns + 3.9e6);
    assert!(seen.latency_max_ns as f64 <= alone_ns + 4e6);
}

#[test]
fn blocks_are_moved_as_often_as_the_clock_or_the_writes_say() {
    let busy_ns = |changes: &str, writes: u64| {
        let mut closed = drive(changes);
        if writes > 0 {
            closed.sequential(Action::Write, 4096, 1, writes);
        }
        closed.now = 1_000 * MS;
        closed.drive.inside(closed.now).background_busy_ns
    };
    let by_clock = "relocation_ns = 4_000_000\nrelocation_interval_ns = 10_000_000\n";
    // The hundredth begins just then.
    assert_eq!(busy_ns(by_clock, 0), 99 * 4 * MS);
    let by_writes = "relocation_ns = 4_000_000\nrelocation_interval_units = 100\n";
    assert_eq!(busy_ns(by_writes, 250), 2 * 4 * MS);
    assert_eq!(busy_ns("", 250), 0);
}

/// A die writes 16 pages of a block and erases it: 16 × 200 µs and 3 ms.
#[test]
fn dies_that_erase_for_themselves_do_as_much_and_keep_reads_for_longer() {
    let of = |changes: &str| {
        let mut closed = filled(&format!("erase_ns = 3_000_000\n{changes}"));
        let units = closed.drive.bytes() / 4096;
        closed.sequential(Action::Write, 4096, 64, units);
        let seen = closed.sequential(Action::Write, 4096, 64, units);
        assert_eq!(seen.inside.collection_units, 0, "in order nothing is copied");
        // A write of every two goes into the buffer, which never fills: the longest is a read.
        closed.now += SECOND as Time;
        let mut place = 0;
        let beside = closed.run(1, 8_000, |_| {
            place += 1;
            let action = if place % 2 == 0 { Action::Read } else { Action::Write };
            op(action, place * 17 % units * 4096, 4096)
        });
        (seen.iops(), beside.latency_max_ns)
    };
    let (together, short_ns) = of("");
    let (by_die, long_ns) = of("erases_by_die = true\n");
    let expected = 8.0 * 16.0 / (16.0 * 200e-6 + 3e-3);
    assert_within("erased together, writes a second", together, expected, 0.02);
    assert_within("erased by die, writes a second", by_die, expected, 0.02);
    println!("longest: {short_ns} and {long_ns} ns");
    // Background work gives way after a program; an erase of its own does not.
    assert!(short_ns < 600_000 && long_ns > 2_500_000);
    let (_, suspended_ns) = of("erases_by_die = true\nsuspend_ns = 20_000\n");
    assert!(suspended_ns < long_ns, "{suspended_ns}");
}

const FLUSHES: &str = "pages_per_program = 4\nidle_flush_ns = 1_000_000\n";

#[test]
fn what_waits_in_the_buffer_is_programmed_in_a_rest() {
    // A write ends, its program ends so much later.
    let read_after = |rest_ns: Time| {
        let mut closed = drive(FLUSHES);
        closed.run(1, 1, |_| op(Action::Write, 0, 4096));
        let ended = closed.now;
        read_at(&mut closed, ended + rest_ns, 0);
        let inside = closed.drive.inside(closed.now);
        (inside.padding_units, inside.cached_read_units, inside.flash_read_units)
    };
    let parameters = drive(FLUSHES).drive.parameters().clone();
    let moved_ns = 4 * 4096 * 1_000_000_000 / parameters.channel_bytes_per_s;
    let on_flash_ns = MS + moved_ns + parameters.program_ns;
    assert_eq!(read_after(MS), (0, 1, 0), "it had not rested for long enough");
    assert_eq!(read_after(on_flash_ns - 1), (3, 1, 0));
    assert_eq!(read_after(on_flash_ns), (3, 0, 1));
}

#[test]
fn a_flush_in_a_rest_costs_room_and_saves_what_a_power_cut_would_take() {
    let padding = |rest_ns: Time| {
        let mut closed = drive(FLUSHES);
        for _ in 0..100 {
            closed.run(1, 1, |_| op(Action::Write, 0, 4096));
            closed.now += rest_ns;
            // However often somebody looks.
            closed.drive.inside(closed.now);
        }
        closed.drive.inside(closed.now).padding_units
    };
    assert_eq!((padding(MS), padding(2 * MS)), (0, 100 * 3));
    let lost = |changes: &str| {
        let mut closed = drive(changes);
        closed.run(1, 1, |_| op(Action::Write, 0, 4096));
        closed.now += 2 * MS;
        closed.drive.power_cut(closed.now);
        let seen = closed.run(1, 1, |_| op(Action::Read, 0, 4096));
        closed.drive.ftl().assert_consistent();
        seen.inside.unmapped_read_units
    };
    assert_eq!((lost(FLUSHES), lost("pages_per_program = 4\n")), (0, 1));
    // What was flushed in a rest need not be flushed again.
    let mut closed = drive(FLUSHES);
    closed.run(1, 1, |_| op(Action::Write, 0, 4096));
    closed.now += 2 * MS;
    let flush = closed.run(1, 1, |_| op(Action::Flush, 0, 0));
    assert_eq!(flush.latency_max_ns, closed.drive.parameters().command_ns);
}

#[test]
fn credits_for_two_commands_are_a_depth_of_two() {
    let read = |changes: &str, len: u32, depth: u32| {
        filled(changes).random(Action::Read, len, depth, 2_000, 1).elapsed_ns
    };
    let credits = "link_credit_bytes = 32_768\n";
    assert_eq!(read(credits, 16_384, 32), read("", 16_384, 2));
    assert_ne!(read(credits, 16_384, 32), read("", 16_384, 32));
    // More than all credits goes alone; what is small does not notice.
    assert_eq!(read(credits, 65_536, 32), read("", 65_536, 1));
    assert_eq!(read(credits, 4096, 8), read("", 4096, 8));
}

#[test]
fn pauses_that_contradict_themselves_are_refused() {
    let refused = |changes: &str| {
        let all = format!("user_bytes = 268_435_456\n{changes}");
        super::closed::profile("textbook", &all).layout(1).unwrap_err()
    };
    assert!(refused("relocation_ns = 5").contains("or none of them"));
    assert!(refused("relocation_interval_ns = 5").contains("or none of them"));
    let never = refused("relocation_ns = 6400\nrelocation_interval_ns = 100");
    assert!(never.contains("64 dies, or a die would never be free"), "{never}");
}
