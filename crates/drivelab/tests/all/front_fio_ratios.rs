//! Jobs of fio that keep their requests in a ratio. fio's own jobs neither begin nor end together,
//! so that counts of theirs are none to compare with.

use crate::fio_lines::{OURS, jobs, place};
use serde_json::Value;

fn done(jobs: &[Value]) -> Vec<f64> {
    jobs.iter().map(|job| job["read"]["total_ios"].as_f64().unwrap()).collect()
}

fn assert_ratio(done: &[f64], weights: &[f64]) {
    let all: f64 = done.iter().sum::<f64>() / weights.iter().sum::<f64>();
    for (done, weight) in done.iter().zip(weights) {
        // Who is ahead when the time is over is up to the scheduler of the machine.
        assert!((done / (all * weight) - 1.0).abs() < 0.05, "{done:?} for {weights:?}");
    }
}

#[test]
fn jobs_keep_the_ratio_of_their_flows() {
    let home = place();
    let line = "--ioengine=null --size=100g --bs=4k --runtime=2 --time_based --flow_sleep=100 \
                --name=a --flow=1 --name=b --flow=5 --name=c --flow=10";
    assert_ratio(&done(&jobs(&OURS, line, home.path())), &[1.0, 5.0, 10.0]);
    let files = "--bs=4k --size=4m --runtime=2 --time_based --flow_id=7 --name=w --filename=f \
                 --flow=3 --name=x --filename=g --flow=1 --name=free --filename=h";
    let done = done(&jobs(&OURS, files, home.path()));
    assert_ratio(&done[..2], &[3.0, 1.0]);
    assert!(done[2] > done[1], "whoever is in no group waits for nobody: {done:?}");
}

#[test]
fn a_slow_job_slows_those_of_its_group() {
    let home = place();
    // At its rate alone the second would do twelve times as much.
    let line = "--ioengine=null --size=100g --bs=4k --runtime=2 --time_based --flow_sleep=100 \
                --name=slow --flow=1 --rate_iops=500 --name=fast --flow=8 --rate_iops=6000";
    let done = done(&jobs(&OURS, line, home.path()));
    assert_ratio(&done, &[1.0, 8.0]);
    assert!((900.0..=1010.0).contains(&done[0]), "{done:?}");
}
