//! What did the drive itself count meanwhile?

use super::Case;
use crate::health_change::{disagreement, events};
use crate::health_log::around;

impl Case<'_> {
    /// Everything about what the drives below the target said of themselves before and after.
    pub(super) fn health(&mut self) {
        for span in around(&self.run.health, self.step.begin.step) {
            let meanwhile = match span.steps {
                (from, to) if to - from > 1 => format!(" in steps {} to {to}", from + 1),
                _ => String::new(),
            };
            for event in events(&span) {
                let text = format!("{} {}{meanwhile}, by its own count", span.device, event.text);
                match event.is_suspicious {
                    true => self.suspect(&event.code, text),
                    false => self.note(&event.code, text),
                }
            }
            if let Some(event) = disagreement(&span, &meanwhile) {
                self.note(&event.code, format!("{} {}", span.device, event.text));
            }
            if span.before.tests_itself() || span.after.tests_itself() {
                self.suspect("self_test", format!("{} tested itself{meanwhile}", span.device));
            }
            let warnings = span.before.warnings();
            if !warnings.is_empty() {
                let text = format!(
                    "{} warned of itself already before this was measured: {}",
                    span.device,
                    warnings.join("; ")
                );
                self.note("drive_warns", text);
            }
        }
    }
}
