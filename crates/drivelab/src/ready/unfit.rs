//! What the drive cannot do or would not do as asked, found out before it is touched.

use crate::outcome::Failure;
use crate::target::{Kind, ResolvedTarget};
use drivelab_core::plan::{Act, Plan, Purge};
use drivelab_core::record::Warning;
use drivelab_io::cpus;
use drivelab_io::facts::System;
use drivelab_io::purge;
use std::os::fd::AsFd;

/// A measurement is confined to CPUs that are there, also where a simulated drive is measured in
/// virtual time and it makes no difference.
pub fn refuse_cpus(plan: &Plan) -> Result<(), Failure> {
    let allowed = cpus::allowed();
    for step in &plan.steps {
        // What is no list is refused with all else that is wrong with the plan.
        let asked = cpus::parse(&step.cpus).unwrap_or_default();
        if !asked.is_empty() && !asked.iter().any(|cpu| allowed.contains(cpu)) {
            return Err(Failure::usage(format!(
                "CPUs {} cannot be used here; allowed are {allowed:?}",
                step.cpus
            )));
        }
    }
    Ok(())
}

/// Asks the drive whether it can be purged as the plan says.
pub fn refuse_purges(
    system: &System,
    plan: &Plan,
    resolved: &ResolvedTarget,
) -> Result<(), Failure> {
    let asked = plan.steps.iter().find_map(|step| match step.act {
        Some(Act::Purge(purge)) => Some(purge),
        _ => None,
    });
    let (Some(purge), Kind::Device) = (asked, resolved.kind) else { return Ok(()) };
    possible(system, purge, resolved)
}

fn possible(system: &System, purge: Purge, resolved: &ResolvedTarget) -> Result<(), Failure> {
    let path = &resolved.path;
    let node = drivelab_io::facts::node_of(system, path).map_err(|error| {
        let (path, word) = (path.display(), purge.word());
        Failure::invalid(format!("{path} cannot be opened to be asked about {word}: {error}"))
    })?;
    purge::is_possible(node.as_fd(), purge).map_err(Failure::from)
}

/// What is asked to poll, and is not polled: the kernel waits for interrupts instead.
pub fn not_polled(plan: &Plan, resolved: &ResolvedTarget) -> Vec<Warning> {
    let mut streams = plan.steps.iter().flat_map(|step| &step.streams);
    let devices = &resolved.facts.target.devices;
    let deaf =
        devices.iter().filter(|device| device.layer == "disk" && device.polls == Some(false));
    let names: Vec<&str> = deaf.map(|device| device.name.as_str()).collect();
    if names.is_empty() || !streams.any(|stream| stream.iopoll) {
        return Vec::new();
    }
    let verb = if names.len() == 1 { "has" } else { "have" };
    vec![Warning {
        code: "not_polled".into(),
        text: format!(
            "Completions come by interrupt although --iopoll asks for polling: {} {verb} no poll \
             queues (queue/io_poll is 0).",
            names.join(", ")
        ),
        advice: "Give the driver some (nvme.poll_queues=2 on the kernel's command line), or leave \
                 --iopoll out."
            .into(),
        step: None,
    }]
}
