//! How a drive was, and should be, set up for a file system: partitions, the line that makes one,
//! discard and mount options, each with what it does to a measurement.
//!
//! Everything here is text. Nothing of it is ever run.

mod layout;
mod mounted;
#[cfg(test)]
mod tests;

use drivelab_core::facts::{DeviceFacts, TargetFacts};
use drivelab_core::fitness::{Check, Severity};

/// What can be said of this target; empty where there is no block device.
pub fn advise(target: &TargetFacts) -> Vec<Check> {
    let Some(device) = target.devices.first() else { return Vec::new() };
    let mut advice = Vec::new();
    advice.extend(target.devices.iter().filter_map(|it| layout::partition(it, device)));
    advice.extend(target.devices.iter().filter_map(layout::geometry));
    advice.push(layout::lines(device));
    advice.push(mounted::discard(device, target.filesystem.as_ref()));
    advice.extend(target.filesystem.as_ref().map(mounted::options));
    advice
}

fn check(name: &str, severity: Severity, found: String, advice: &str) -> Check {
    let advice = (!advice.is_empty()).then(|| advice.to_owned());
    Check { name: name.into(), severity, found, advice }
}

/// The node of a device.
fn node(device: &DeviceFacts) -> String {
    format!("/dev/{}", device.name.replace('!', "/"))
}
