//! A shared machine whose neighbours take CPU time away: what is measured of time meanwhile says
//! nothing about drivelab.

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Of the CPU time that this machine wanted, so much may have gone to others.
const STOLEN_SHARE_MAX: f64 = 0.01;
/// Attempts before a measurement is given up.
const ATTEMPTS_MAX: u32 = 3;
/// Where what was given up is listed; `make test` prints it at its end.
const NOT_JUDGED: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/not-judged.txt");

/// Ticks that the hypervisor gave to others, and ticks that this machine wanted, from the text of
/// /proc/stat (proc(5): user, nice, system, idle, iowait, irq, softirq, steal).
pub fn stolen_and_wanted(stat: &str) -> (u64, u64) {
    let line = stat.lines().next().unwrap_or_default();
    let ticks: Vec<u64> =
        line.split_whitespace().skip(1).map_while(|word| word.parse().ok()).collect();
    let of = |field: usize| ticks.get(field).copied().unwrap_or(0);
    (of(7), of(0) + of(1) + of(2) + of(5) + of(6) + of(7))
}

fn stolen_share(before: (u64, u64), after: (u64, u64)) -> f64 {
    (after.0 - before.0) as f64 / (after.1 - before.1).max(1) as f64
}

/// Whether others had too much of the CPU between two such counts.
pub fn is_disturbed(before: (u64, u64), after: (u64, u64)) -> bool {
    stolen_share(before, after) > STOLEN_SHARE_MAX
}

fn now() -> (u64, u64) {
    stolen_and_wanted(&std::fs::read_to_string("/proc/stat").expect("/proc/stat"))
}

/// Makes a measurement of time, which panics where it does not hold. Where by the kernel's own
/// account others had a part of the CPU meanwhile, a failure proves nothing and it is made again;
/// when that has happened every time, it is listed as not judged.
pub fn judge(test: &str, measurement: impl Fn()) {
    let mut shares = Vec::new();
    for _ in 0..ATTEMPTS_MAX {
        let before = now();
        let Err(failure) = catch_unwind(AssertUnwindSafe(&measurement)) else { return };
        let after = now();
        if !is_disturbed(before, after) {
            resume_unwind(failure);
        }
        shares.push(format!("{:.0} %", 100.0 * stolen_share(before, after)));
    }
    not_judged(
        test,
        &format!(
            "the hypervisor gave {} of the CPU to others in {ATTEMPTS_MAX} attempts",
            shares.join(", ")
        ),
    );
}

/// Lists a test that this machine could not judge, for the end of `make test`.
pub fn not_judged(test: &str, why: &str) {
    let text = format!("not judged: {test}: {why}");
    writeln!(std::io::stderr(), "{text}").ok();
    let list = std::fs::OpenOptions::new().create(true).append(true).open(NOT_JUDGED);
    writeln!(list.expect("a list of what was not judged"), "{text}").expect("a line in it");
}
