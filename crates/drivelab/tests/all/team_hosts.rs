//! One run on two machines: namespaces of this kernel with networks and names of their own.

use crate::support::binary::must;
use crate::support::launched::{Launcher, kill};
use crate::support::machine::{is_unavailable, require_root};
use crate::support::shared_plan::{assert_aligned, gone, says, sums, whole_plan};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Enters a machine by its number, and says its name to what it starts there.
const ENTER: &str = r#"#!/bin/sh
number=$1
shift
export TMPDIR="$XDG_DATA_HOME/tmp$number"
mkdir -p "$TMPDIR"
exec ip netns exec "NETWORK-$number" unshare --uts sh -c \
    'echo "$0" > /proc/sys/kernel/hostname && exec "$@"' "machine-$number" "$@"
"#;
/// What mpirun calls in the place of ssh: the address of a machine, and words for its shell.
const AGENT: &str = r#"#!/bin/sh
number=${1##*.}
shift
[ "$number" -le 2 ] || { echo "no route to machine $number" >&2; exit 255; }
exec "$XDG_DATA_HOME/enter" "$number" sh -c "$*"
"#;
const SOON: Duration = Duration::from_secs(15);
static SERIAL: AtomicU32 = AtomicU32::new(0);

/// Two machines, 10.0.0.1 and 10.0.0.2, with a cable between them. They are gone when this is
/// dropped, or when the next test begins after one that was killed.
struct Machines {
    network: String,
}

impl Machines {
    fn new() -> Machines {
        remove_leftovers();
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let network = format!("drivelab-test-{}-{serial}", std::process::id());
        let machines = Machines { network };
        let [first, second] = machines.names();
        let ip = |line: &str| drop(must("ip", line.split(' ')));
        for name in [&first, &second] {
            ip(&format!("netns add {name}"));
            ip(&format!("-n {name} link set lo up"));
        }
        ip(&format!("-n {first} link add cable type veth peer name cable netns {second}"));
        for (name, address) in [(&first, "10.0.0.1/24"), (&second, "10.0.0.2/24")] {
            ip(&format!("-n {name} addr add {address} dev cable"));
            ip(&format!("-n {name} link set cable up"));
        }
        machines
    }

    fn names(&self) -> [String; 2] {
        [1, 2].map(|number| format!("{}-{number}", self.network))
    }

    /// An mpirun on the first machine, with this many slots on each of these.
    fn launcher(&self, slots: &[(u32, u32)]) -> Launcher {
        let mut launcher = Launcher::new();
        let script = |name: &str, text: &str| {
            let path = launcher.data().join(name);
            std::fs::write(&path, text.replace("NETWORK", &self.network)).expect("a script");
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("a script");
            path.to_str().expect("a path in UTF-8").to_string()
        };
        let list = slots.iter().map(|(number, slots)| format!("10.0.0.{number} slots={slots}\n"));
        let list = script("machines", &list.collect::<String>());
        let (enter, agent) = (script("enter", ENTER), script("agent", AGENT));
        let network = "--mca btl self,tcp --mca btl_tcp_if_include 10.0.0.0/24 \
                       --mca oob_tcp_if_include 10.0.0.0/24 --mca plm_rsh_agent";
        let own = ["--machinefile", &list].into_iter().chain(network.split_whitespace());
        let own: Vec<String> = own.chain([agent.as_str()]).map(String::from).collect();
        // In the place of the list of the slots here.
        launcher.options.splice(0..2, own);
        launcher.before = vec![enter, "1".into()];
        launcher
    }
}

impl Drop for Machines {
    fn drop(&mut self) {
        for name in self.names() {
            Command::new("ip").args(["netns", "delete", &name]).status().ok();
        }
    }
}

/// Machines of tests that were killed.
fn remove_leftovers() {
    let Ok(entries) = std::fs::read_dir("/run/netns") else { return };
    for name in entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()) {
        let owner = name.strip_prefix("drivelab-test-").and_then(|rest| rest.split('-').next());
        if owner.is_some_and(|owner| !Path::new("/proc").join(owner).exists()) {
            Command::new("ip").args(["netns", "delete", &name]).status().ok();
        }
    }
}

fn is_left_out(test: &str) -> bool {
    let is_left_out = is_unavailable(test);
    if !is_left_out {
        require_root(test);
    }
    is_left_out
}

#[test]
fn what_two_machines_do_comes_together() {
    if is_left_out("what_two_machines_do_comes_together") {
        return;
    }
    let machines = Machines::new();
    let launcher = machines.launcher(&[(1, 2), (2, 2)]);
    launcher.write("whole.toml", whole_plan());
    let outcome = launcher.run(4, &["run", "whole.toml", "."]).expect_status(0);
    let run = launcher.only_run().run;
    let hosts = run.begin.processes.iter().map(|process| process.host.as_str());
    let hosts: Vec<&str> = hosts.collect();
    assert_eq!(hosts, ["machine-1", "machine-1", "machine-2", "machine-2"]);
    for (index, step) in run.steps.iter().enumerate() {
        let verified = if index < 2 { 0 } else { 1024 };
        assert_eq!(sums(step), [64, 4 << 20, 64, verified, 0], "{step:?}");
        assert_aligned(step, 4);
    }
    let [warning] = run.warnings.as_slice() else { panic!("{:?}", run.warnings) };
    assert_eq!(warning.code, "several_machines");
    assert!(warning.text.contains("4 processes on machine-1, machine-2"), "{}", warning.text);
    let told = "Warning  the work was done by 4 processes on machine-1, machine-2: ";
    assert!(outcome.stdout.contains(told), "{}", outcome.stdout);
    gone(&launcher, &["whole.toml"]);
}

#[test]
fn a_machine_that_is_not_there_is_the_end() {
    if is_left_out("a_machine_that_is_not_there_is_the_end") {
        return;
    }
    let machines = Machines::new();
    let launcher = machines.launcher(&[(1, 2), (2, 1), (9, 1)]);
    launcher.write("whole.toml", whole_plan());
    let outcome = launcher.run(4, &["run", "whole.toml", "."]);
    assert!(!matches!(outcome.status, None | Some(0)), "{outcome:?}");
    assert!(outcome.stderr.contains("no route to machine 9"), "{outcome:?}");
    // Open MPI itself says what it has to say on stdout too.
    assert!(!outcome.stdout.contains("drivelab 0"), "{outcome:?}");
    assert_eq!(launcher.run_files().len(), 0);
    gone(&launcher, &["whole.toml"]);
}

#[test]
fn a_machine_that_goes_away_ends_all() {
    if is_left_out("a_machine_that_goes_away_ends_all") {
        return;
    }
    let machines = Machines::new();
    let mut launcher = machines.launcher(&[(1, 2), (2, 2)]);
    launcher.be_patient();
    let line = "run . --workers 4 --rw write --runtime 100s --size 4MiB --io buffered";
    let running = launcher.start(4, &line.split(' ').collect::<Vec<_>>());
    for rank in 0..4 {
        launcher.measuring(rank);
    }
    let daemon = launcher.processes_of("orted").into_iter();
    let there = daemon.chain(launcher.processes().split_off(2));
    there.for_each(|(_, id)| kill("KILL", id));
    let outcome = launcher.end_of(running);
    assert!(outcome.status != Some(0) && outcome.took < SOON, "{outcome:?}");
    // Open MPI may end whoever sends something there, before it could say or remove anything.
    assert!(!launcher.only_run().run.complete());
    let line = "run . --rw write --runtime 100ms --size 1MiB --io buffered";
    launcher.run_alone(&line.split(' ').collect::<Vec<_>>(), &[]).expect_status(0);
    gone(&launcher, &[]);
}

#[test]
fn an_interrupt_reaches_both_machines() {
    if is_left_out("an_interrupt_reaches_both_machines") {
        return;
    }
    let machines = Machines::new();
    let mut launcher = machines.launcher(&[(1, 1), (2, 1)]);
    launcher.be_patient();
    let line = "run . --workers 2 --rw write --runtime 100s --size 4MiB --io buffered";
    let running = launcher.start(2, &line.split(' ').collect::<Vec<_>>());
    launcher.measuring(1);
    std::thread::sleep(Duration::from_millis(300));
    let [(_, mpirun)] = launcher.processes_of("mpirun")[..] else { panic!("one mpirun") };
    kill("INT", mpirun);
    let outcome = launcher.end_of(running);
    assert!(outcome.status != Some(0) && outcome.took < SOON, "{outcome:?}");
    says(&outcome, &["interrupted; what was measured until then is kept"]);
    let run = launcher.only_run().run;
    assert_eq!(run.end.expect("an end").status, 130);
    assert_eq!(run.steps[0].end.as_ref().expect("an end").phases.len(), 2);
    gone(&launcher, &[]);
}
