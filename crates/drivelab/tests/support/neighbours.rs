//! A machine whose CPU time others take away: what is measured of time meanwhile says nothing
//! about drivelab.

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Of the CPU time that this machine wanted, so much may have gone to other machines.
const STOLEN_SHARE_MAX: f64 = 0.01;
/// Of all CPU time, so much may have gone to other programs of this machine.
const OTHERS_SHARE_MAX: f64 = 0.05;
/// Attempts before a measurement is given up.
const ATTEMPTS_MAX: u32 = 3;
/// Where what was given up is listed; `make test` prints it at its end.
const NOT_JUDGED: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/not-judged.txt");

/// The kernel's account of CPU time since it started, in ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Account {
    /// What the hypervisor gave to other machines.
    pub stolen: u64,
    /// What this machine wanted, whether it got it or not.
    pub wanted: u64,
    /// What programs computed. The kernel's own work is not told apart by whom it is for.
    pub computed: u64,
    /// What this process and those that it waited for computed.
    pub own: u64,
    /// All that there was, idle time included.
    pub all: u64,
}

impl Account {
    /// From the texts of /proc/stat (proc(5): user, nice, system, idle, iowait, irq, softirq,
    /// steal) and /proc/self/stat (utime is its 14th field, cutime its 16th).
    pub fn of(stat: &str, own: &str) -> Account {
        let line = stat.lines().next().unwrap_or_default();
        let ticks: Vec<u64> =
            line.split_whitespace().skip(1).map_while(|word| word.parse().ok()).collect();
        let of = |field: usize| ticks.get(field).copied().unwrap_or(0);
        // The name of the program, in parentheses, may hold spaces.
        let own: Vec<&str> = own.rsplit(')').next().unwrap_or_default().split(' ').collect();
        let own_of = |field: usize| own.get(field - 2).and_then(|it| it.parse().ok()).unwrap_or(0);
        Account {
            stolen: of(7),
            wanted: of(0) + of(1) + of(2) + of(5) + of(6) + of(7),
            computed: of(0) + of(1),
            own: own_of(14) + own_of(16),
            all: (0..8).map(of).sum(),
        }
    }

    fn now() -> Account {
        let read = |path: &str| std::fs::read_to_string(path).expect("an account of CPU time");
        Account::of(&read("/proc/stat"), &read("/proc/self/stat"))
    }

    /// Who had the CPU meanwhile, if others had too much of it.
    pub fn disturbed_since(self, before: Account) -> Option<String> {
        let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
        let stolen = share(self.stolen - before.stolen, self.wanted - before.wanted);
        let computed = self.computed - before.computed;
        let others = computed.saturating_sub(self.own - before.own);
        let others = share(others, self.all - before.all);
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        if stolen > STOLEN_SHARE_MAX {
            return Some(format!("the hypervisor gave {} of the CPU to others", percent(stolen)));
        }
        (others > OTHERS_SHARE_MAX).then(|| format!("other programs had {}", percent(others)))
    }
}

/// Makes a measurement of time, which panics where it does not hold. Where by the kernel's own
/// account others had a part of the CPU meanwhile, a failure proves nothing and it is made again;
/// when that has happened every time, it is listed as not judged.
pub fn judge(test: &str, measurement: impl Fn()) {
    let mut reasons = Vec::new();
    for _ in 0..ATTEMPTS_MAX {
        let before = Account::now();
        let Err(failure) = catch_unwind(AssertUnwindSafe(&measurement)) else { return };
        match Account::now().disturbed_since(before) {
            Some(reason) => reasons.push(reason),
            None => resume_unwind(failure),
        }
    }
    let reasons = reasons.join("; ");
    not_judged(test, &format!("it failed in {ATTEMPTS_MAX} attempts, in each of which {reasons}"));
}

/// Lists a test that this machine could not judge, for the end of `make test`.
pub fn not_judged(test: &str, why: &str) {
    let text = format!("not judged: {test}: {why}");
    writeln!(std::io::stderr(), "{text}").ok();
    let list = std::fs::OpenOptions::new().create(true).append(true).open(NOT_JUDGED);
    writeln!(list.expect("a list of what was not judged"), "{text}").expect("a line in it");
}
