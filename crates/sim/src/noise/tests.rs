use super::*;
use drivelab_core::inside::Cause;

/// Takes 100 µs for everything.
struct Even;

impl Drive for Even {
    fn bytes(&self) -> u64 {
        1 << 20
    }

    fn submit_by(&mut self, now: Time, ticket: Ticket, _: &DataOp, _: Way, ends: &mut Ends) {
        ends.push(now + 100_000, ticket, Cause::Flash);
    }

    fn inside(&mut self, _now: Time) -> Inside {
        Inside::default()
    }
}

/// How long operations take, one after the other, from the beginning to `until`.
fn times(text: &str, seed: u64, until: Time) -> Vec<(Time, u64)> {
    let mut drive = Noisy::new(Box::new(Even), &Noise::parse(text).unwrap(), seed);
    let (mut ends, mut now, mut times) = (Ends::default(), 0, Vec::new());
    while now < until {
        drive.submit_by(now, 0, &DataOp::default(), Way::default(), &mut ends);
        let end = ends.pop(Time::MAX).unwrap().at;
        times.push((now, end - now));
        now = end + 10_000_000;
    }
    times
}

fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0)).sqrt())
}

#[test]
fn no_share_is_no_noise() {
    assert!(times("0%+scan:0%+host:0", 7, 10 * SECOND_NS).iter().all(|(_, ns)| *ns == 100_000));
}

#[test]
fn the_host_varies_by_its_share_and_forgets_at_once() {
    let times = times("host:4%", 7, 400 * SECOND_NS);
    let logs: Vec<f64> = times.iter().map(|(_, ns)| (*ns as f64 / 1e5).ln()).collect();
    let (mean, deviation) = mean_and_deviation(&logs);
    assert!(mean.abs() < 0.004, "{mean}: it is as often faster as slower");
    assert!((deviation - 0.04).abs() < 0.003, "{deviation}");
    // 11 or 12 operations fall into each tenth of a second.
    let tenths: Vec<f64> = logs.chunks(12).map(|tenth| tenth[0]).collect();
    let follows: f64 = tenths.windows(2).map(|two| two[0] * two[1]).sum::<f64>()
        / tenths.iter().map(|one| one * one).sum::<f64>();
    assert!(follows.abs() < 0.1, "{follows}");
}

#[test]
fn temperature_remembers_a_minute() {
    let each: Vec<Vec<f64>> = (0..200)
        .map(|seed| {
            let times = times("3%", seed, 61 * SECOND_NS);
            let log = |at: u64| {
                let (_, ns) = times.iter().find(|(now, _)| *now >= at).unwrap();
                (*ns as f64 / 1e5).ln()
            };
            vec![log(0), log(SECOND_NS), log(60 * SECOND_NS)]
        })
        .collect();
    let of = |index: usize| each.iter().map(|run| run[index]).collect::<Vec<f64>>();
    let (_, deviation) = mean_and_deviation(&of(0));
    assert!((deviation - 0.03).abs() < 0.006, "{deviation} from run to run");
    let with_first = |index: usize| {
        each.iter().map(|run| run[0] * run[index]).sum::<f64>() / 200.0 / deviation.powi(2)
    };
    assert!(with_first(1) > 0.9, "{}", with_first(1));
    assert!((with_first(2) - (-1.0_f64).exp()).abs() < 0.25, "{}", with_first(2));
}

#[test]
fn a_scan_takes_its_share_now_and_then() {
    let times = times("scan:20%", 3, 3_000 * SECOND_NS);
    let slowed = times.iter().filter(|(_, ns)| *ns > 100_000).count() as f64;
    let share = slowed / times.len() as f64;
    assert!((share - 3.0 / 33.0).abs() < 0.03, "{share}");
    let slow = times.iter().filter(|(_, ns)| (124_999..=125_001).contains(ns)).count() as f64;
    assert!(slow > 0.99 * slowed, "1 / 0.8 as long");
}

#[test]
fn the_clocks_agree_in_both_directions() {
    let mut clock = Clock::new(&Noise::parse("host:30%").unwrap(), 5);
    let mut last = 0;
    for step in 0..20_000_u64 {
        let host = step * 1_234_567;
        let drive = clock.drive_at(host);
        assert!(drive >= last, "{drive} after {last}");
        last = drive;
        let back = clock.host_at(drive + 777_777_777);
        assert!(back >= host);
        let mut later = Clock { sources: Vec::new(), stretches: clock.stretches.clone() };
        assert!(later.drive_at(back) >= drive + 777_777_777);
    }
    assert_eq!(clock.host_at(Time::MAX), Time::MAX);
    assert!(clock.stretches.len() < 40, "{}: what has passed is let go of", clock.stretches.len());
}

#[test]
fn equal_seeds_wander_alike_and_others_do_not() {
    let run = |seed| times("temperature:2%+host:1%", seed, SECOND_NS);
    assert_eq!(run(4), run(4));
    assert_ne!(run(4), run(5));
}

#[test]
fn what_is_no_noise_is_refused_with_a_line_that_works() {
    for text in ["", "2", "60%", "-1%", "wind:2%", "host", "host:", "2%+", "nan"] {
        let error = Noise::parse(text).unwrap_err();
        assert!(error.contains("noise=2%"), "{error}");
    }
    let both = Noise::parse("temperature:2%+scan:0.2").unwrap();
    assert_eq!(both[1], Noise { source: Source::Scan, share: 0.2 });
}
