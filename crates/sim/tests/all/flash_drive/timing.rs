//! Virtual time is honest: dies are never idle while work waits, and latencies are sums of stages.

use super::closed::{Closed, SECOND, assert_within, profile};
use drivelab_core::op::Action;
use drivelab_sim::flash::Parameters;
use drivelab_stats::Random;

/// `textbook` with a sixty-fourth of its capacity: 1 GiB, 1024 blocks of the user's.
const SMALL: &str = "user_bytes = 1_073_741_824";

fn textbook() -> Parameters {
    profile("textbook", SMALL)
}

#[test]
fn dies_work_whenever_there_is_work() {
    let one_shot = format!(
        "{SMALL}\nplanes = 2\npages_per_program = 3\npages_per_block = 6\nerase_ns = 3_000_000\n\
         program_ns = 900_000\ncollection_high_blocks = 6"
    );
    for (what, parameters) in
        [("one page a program", textbook()), ("one shot", profile("textbook", &one_shot))]
    {
        let mut closed = Closed::new(parameters);
        closed.drive.ftl_mut().steady(3);
        closed.random(Action::Write, 4096, 128, 200_000, 1);
        let seen = closed.random(Action::Write, 4096, 128, 600_000, 2);
        let amplification = seen.inside.write_amplification().unwrap();
        let busy = seen.inside.utilisation(seen.elapsed_ns).unwrap();
        println!(
            "{what}: {:.0} IOPS, amplification {amplification:.3}, dies busy {busy:.4}",
            seen.iops()
        );
        assert!((0.98..=1.005).contains(&busy), "{busy}");
        if what == "one page a program" {
            let die_ns = amplification * 200_000.0 + (amplification - 1.0) * 50_000.0;
            assert_within("of the bound, IOPS", seen.iops(), 64.0 * SECOND / die_ns, 0.02);
        }
    }
}

#[test]
fn what_is_in_flight_is_rate_times_latency() {
    for depth in [1, 8, 64] {
        for action in [Action::Read, Action::Write] {
            let mut closed = Closed::new(textbook());
            closed.drive.ftl_mut().steady(3);
            let seen = closed.random(action, 4096, depth, 200_000, 1);
            let in_flight = seen.latency_mean_ns() * seen.iops() / SECOND;
            assert_within(&format!("{action:?} {depth}"), in_flight, f64::from(depth), 0.005);
        }
    }
}

#[test]
fn a_lone_operation_takes_the_sum_of_its_stages() {
    let names = ["textbook", "x25-e", "x25-m", "zhou-intel", "pblaze5-c916", "sata-mlc"];
    for name in names.into_iter().chain(["nvme-tlc", "nvme-qlc"]) {
        let scaled = "user_bytes = 1_073_741_824\nraw_bytes = 2_147_483_648\npages_per_block = 12";
        let changes = match name {
            "textbook" => SMALL,
            _ => scaled,
        };
        let parameters = profile(name, changes);
        let of = |bytes: u64, rate: u64| bytes * 1_000_000_000 / rate;
        let stages = [
            parameters.command_ns,
            parameters.firmware_unit_ns,
            of(4096, parameters.link_bytes_per_s),
        ];
        let common: u64 = stages.iter().sum();
        let flash = parameters.read_ns + of(4096, parameters.channel_bytes_per_s);
        let read_ns = common + parameters.firmware_read_ns + flash;
        let own_ns = parameters.firmware_write_ns + parameters.firmware_write_unit_ns;
        let write_ns = common + own_ns;
        let mut closed = Closed::new(parameters);
        closed.drive.ftl_mut().fill();
        // The map is read where it is not in memory yet.
        closed.random(Action::Read, 4096, 1, 1000, 7);
        let reads = closed.random(Action::Read, 4096, 1, 1000, 1);
        println!("{name}: read {} ns, write {write_ns} ns", reads.latency_max_ns);
        assert_eq!((reads.latency_min_ns, reads.latency_max_ns), (read_ns, read_ns), "{name}");
        // Into the empty buffer.
        let writes = closed.random(Action::Write, 4096, 1, 20, 2);
        assert_eq!((writes.latency_min_ns, writes.latency_max_ns), (write_ns, write_ns), "{name}");
    }
}

#[test]
fn a_drive_written_at_random_reads_in_order_as_slowly_as_its_dies_are_uneven() {
    let record = 262_144;
    let mut in_order = Closed::new(textbook());
    in_order.drive.ftl_mut().fill();
    let mut at_random = Closed::new(textbook());
    at_random.drive.ftl_mut().fill_at_random(3);
    let even = in_order.sequential(Action::Read, record, 1, 4000);
    let uneven = at_random.sequential(Action::Read, record, 1, 4000);
    // 64 units on 64 dies: one each where they were written in order; where they were not, the die
    // with most of them decides.
    let mut random = Random::new(1);
    let draws = 20_000;
    let most: u32 = (0..draws)
        .map(|_| {
            let mut loads = [0; 64];
            (0..64).for_each(|_| loads[random.below(64) as usize] += 1);
            loads.into_iter().max().unwrap_or(0)
        })
        .sum();
    let most = f64::from(most) / f64::from(draws);
    println!("64 units on 64 dies: {most:.3} on the fullest");
    let added_ns = uneven.latency_mean_ns() - even.latency_mean_ns();
    assert_within("added by imbalance, ns", added_ns, (most - 1.0) * 50_000.0, 0.05);
    // Many at a time hide it: then the sum over all dies decides.
    let even = in_order.sequential(Action::Read, record, 64, 4000);
    let uneven = at_random.sequential(Action::Read, record, 64, 4000);
    let slower = even.iops() / uneven.iops();
    println!("64 in flight: slower by a factor of {slower:.3}");
    assert!((1.0..1.3).contains(&slower));
}
