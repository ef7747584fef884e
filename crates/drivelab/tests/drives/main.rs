//! drivelab on drives: an emulated machine boots a Debian kernel with a drive of each kind, runs
//! this program in it as root, and the cases there use the real binary on the kernel's drivers.
#![allow(clippy::unwrap_used, reason = "what cannot be done fails the test")]

mod boot;
mod cases;
mod guest;
mod iscsi;
mod nbd;
mod nvme_tcp;
mod qmp;
#[path = "../support/mod.rs"]
mod support;

use libtest_mimic::{Arguments, Trial};

fn main() {
    let words: Vec<String> = std::env::args().collect();
    cases::expect_each_once();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [_, "guest", set, rest @ ..] => guest::run(set, rest),
        [_, "serve-nvme", port, rest @ ..] => nvme_tcp::serve(port, rest),
        [_, "serve-nbd", socket, file, mode, rest @ ..] => nbd::serve(socket, file, mode, rest),
        [_, "serve-scsi", kind, port, rest @ ..] => iscsi::serve(kind, port, rest),
        _ => {
            let trial = |set: &'static str| Trial::test(set, move || boot::judge(set));
            let is_soak = std::env::var_os(cases::soak::TIMES).is_some();
            let sets = if is_soak { &[cases::SOAK][..] } else { &cases::SETS[..] };
            let without_a_guest: &[(&'static str, fn())] =
                if is_soak { &[] } else { &nbd::promises::TRIALS };
            let without_a_guest = without_a_guest.iter().map(|(name, judge)| {
                Trial::test(*name, move || {
                    judge();
                    Ok(())
                })
            });
            let trials = sets.iter().map(|(set, _)| trial(set)).chain(without_a_guest).collect();
            libtest_mimic::run(&Arguments::from_args(), trials).exit();
        }
    }
}
