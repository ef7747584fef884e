//! Facts of target and machine as text.

use drivelab_core::facts::Facts;

use crate::text::{hanging, printable};
use crate::view::facts::groups;

/// Everything known, in groups: target, file system, devices downwards, machine.
pub fn facts(facts: &Facts) -> String {
    let mut text = String::new();
    for (title, rows) in groups(facts) {
        text.push_str(&printable(&title));
        text.push('\n');
        for (name, value) in rows {
            text.push_str(&hanging(&format!("  {name}"), &printable(&value), 20));
        }
    }
    text
}
