//! Figures of a device over an interval, from what was counted in it.

use crate::counters::Device;

/// Bytes of a sector in the kernel's counters are 512, so that two are a kB.
const SECTORS_A_KB: f64 = 2.0;

/// One kind of request in an interval.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Kind {
    /// Requests completed.
    pub(super) requests: u64,
    /// Requests merged.
    pub(super) merged: u64,
    /// Sectors moved.
    pub(super) sectors: u64,
    /// Milliseconds of all requests together.
    pub(super) ms: u64,
}

impl Kind {
    pub(super) fn reads(device: &Device) -> Kind {
        let (requests, merged) = (device.reads, device.reads_merged);
        Kind { requests, merged, sectors: device.read_sectors, ms: device.read_ms }
    }

    pub(super) fn writes(device: &Device) -> Kind {
        let (requests, merged) = (device.writes, device.writes_merged);
        Kind { requests, merged, sectors: device.written_sectors, ms: device.write_ms }
    }

    pub(super) fn discards(device: &Device) -> Kind {
        let (requests, merged) = (device.discards, device.discards_merged);
        Kind { requests, merged, sectors: device.discarded_sectors, ms: device.discard_ms }
    }

    pub(super) fn flushes(device: &Device) -> Kind {
        Kind { requests: device.flushes, ms: device.flush_ms, ..Kind::default() }
    }

    /// Two kinds together.
    pub(super) fn and(self, other: Kind) -> Kind {
        Kind {
            requests: self.requests.saturating_add(other.requests),
            merged: self.merged.saturating_add(other.merged),
            sectors: self.sectors.saturating_add(other.sectors),
            ms: self.ms.saturating_add(other.ms),
        }
    }

    /// Mean milliseconds of a request, its wait in the queue included; 0 where there was none.
    pub(super) fn wait_ms(&self) -> f64 {
        ratio(self.ms as f64, self.requests as f64)
    }

    /// Mean kB of a request.
    pub(super) fn size_kb(&self) -> f64 {
        ratio(self.sectors as f64 / SECTORS_A_KB, self.requests as f64)
    }

    /// Mean sectors of a request.
    pub(super) fn size_sectors(&self) -> f64 {
        ratio(self.sectors as f64, self.requests as f64)
    }

    /// Percent of what was asked for that was merged into other requests.
    pub(super) fn merged_percent(&self) -> f64 {
        ratio(self.merged as f64 * 100.0, self.merged.saturating_add(self.requests) as f64)
    }
}

/// What was counted of one device, or of several together, in an interval.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Figures {
    /// What was counted.
    pub(super) counted: Device,
    /// The name in its column; that of a group begins with a space.
    pub(super) name: String,
    /// How many devices it is.
    pub(super) devices: u64,
    /// Length of the interval in seconds.
    pub(super) elapsed_s: f64,
}

impl Figures {
    /// This many a second.
    pub(super) fn rate(&self, count: u64) -> f64 {
        ratio(count as f64, self.elapsed_s)
    }

    /// Mean requests in the queue and in the drive together, by Little's law.
    pub(super) fn queue(&self) -> f64 {
        ratio(self.counted.queue_ms as f64 / 1e3, self.elapsed_s)
    }

    /// Percent of the time with at least one request in flight; of a group the mean.
    pub(super) fn busy_percent(&self) -> f64 {
        let percent = ratio(self.counted.busy_ms as f64 / 10.0, self.elapsed_s);
        ratio(percent, self.devices as f64)
    }

    /// Busy milliseconds by request: what old versions call the service time.
    pub(super) fn service_ms(&self) -> f64 {
        let requests = self.counted.reads.saturating_add(self.counted.writes);
        ratio(self.counted.busy_ms as f64, requests as f64)
    }

    /// Whether anything was completed.
    pub(super) fn is_active(&self) -> bool {
        self.counted.requests() > 0 || self.counted.flushes > 0
    }
}

/// 0 instead of a division by nothing.
fn ratio(total: f64, count: f64) -> f64 {
    if count > 0.0 { total / count } else { 0.0 }
}
