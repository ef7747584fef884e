//! What a step without streams asks of a simulated drive.

use super::SimTestbed;
use crate::drive::{Drive, Route, Way};
use drivelab_core::op::{Action, DataOp, Time};
use drivelab_core::plan::{QueueSetting, SettingChange};
use drivelab_core::queue::Trouble;

/// Bytes of one discard, as the kernel splits large ones.
const TRIM_BYTES: u64 = 1 << 30;

impl<D: Drive> SimTestbed<D> {
    pub(super) fn purge(&mut self) -> Result<(), Trouble> {
        self.drive.purge(self.now).then_some(()).ok_or_else(|| {
            Trouble::usage(
                "this simulated drive has no command that purges it; empty it by discarding, or \
                 use a flash drive",
            )
        })
    }

    pub(super) fn mount(&mut self, is_mounted: bool) {
        self.is_mounted = is_mounted;
        self.drive.mount(is_mounted);
    }

    pub(super) fn set_queue(
        &mut self,
        setting: QueueSetting,
        value: &str,
    ) -> Result<SettingChange, Trouble> {
        let offered = setting.simulated();
        if !offered.contains(&value) {
            return Err(Trouble::usage(format!(
                "{} of a simulated drive is one of {}, not `{value}`",
                setting.word(),
                offered.join(", ")
            )));
        }
        self.drive.set_queue(setting, value);
        let before = self.queue.insert(setting, value.into());
        Ok(SettingChange {
            device: "sim".into(),
            setting,
            before: before.unwrap_or_else(|| offered[0].into()),
            after: value.into(),
        })
    }

    pub(super) fn trim(&mut self, first: u64, bytes: u64) {
        let mut at = first;
        while at < first + bytes {
            let len = TRIM_BYTES.min(first + bytes - at);
            let op =
                DataOp { action: Action::Trim, offset: at, len: len as u32, ..DataOp::default() };
            self.serve(&op, Way::default());
            at += len;
        }
    }

    /// Serves one operation to its end.
    fn serve(&mut self, op: &DataOp, way: Way) {
        self.drive.submit_by(self.now, 0, op, way, &mut self.ends);
        loop {
            if self.ends.pop(self.now).is_some() {
                return;
            }
            self.now = self.now.max(self.ends.next_at().min(self.drive.next_event()));
            self.drive.advance(self.now, &mut self.ends);
        }
    }

    /// Lets time pass in which the host does nothing.
    pub(super) fn pass(&mut self, until: Time) {
        while self.drive.next_event() <= until {
            self.now = self.now.max(self.drive.next_event());
            self.drive.advance(self.now, &mut self.ends);
        }
        self.now = until;
    }

    /// What is dirty is written, and clean pages are released.
    pub(super) fn drop_caches(&mut self) {
        if self.facts.target.simulated.is_some_and(|known| known.page_cache_bytes.is_some()) {
            let way = Way { route: Route::Buffered, ..Way::default() };
            self.serve(&DataOp { action: Action::Flush, ..DataOp::default() }, way);
        }
        self.drive.forget_pages();
    }
}
