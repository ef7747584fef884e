//! What the kernel counts: block devices, processors, the time since it started.

use std::ops::Sub;

/// One moment's counters.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Counters {
    /// Block devices, in the order of /proc/diskstats.
    pub devices: Vec<Device>,
    /// All processors together.
    pub cpu: Cpu,
    /// Seconds since the kernel started.
    pub uptime_s: f64,
}

/// One line of /proc/diskstats (Documentation/admin-guide/iostats.rst of Linux). Sectors have 512
/// bytes whatever the drive's are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Device {
    /// Kernel name.
    pub name: String,
    /// Reads completed.
    pub reads: u64,
    /// Reads merged into others before they were issued.
    pub reads_merged: u64,
    /// Sectors read.
    pub read_sectors: u64,
    /// Milliseconds of all reads together.
    pub read_ms: u64,
    /// Writes completed.
    pub writes: u64,
    /// Writes merged.
    pub writes_merged: u64,
    /// Sectors written.
    pub written_sectors: u64,
    /// Milliseconds of all writes together.
    pub write_ms: u64,
    /// Milliseconds with at least one request in flight.
    pub busy_ms: u64,
    /// Milliseconds of all requests together, those in flight included.
    pub queue_ms: u64,
    /// Discards completed.
    pub discards: u64,
    /// Discards merged.
    pub discards_merged: u64,
    /// Sectors discarded.
    pub discarded_sectors: u64,
    /// Milliseconds of all discards together.
    pub discard_ms: u64,
    /// Flushes completed.
    pub flushes: u64,
    /// Milliseconds of all flushes together.
    pub flush_ms: u64,
    /// Its name in the device mapper, where it is of that kind and `-N` asks for it.
    pub mapped_name: Option<String>,
}

/// The first line of /proc/stat, in ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cpu {
    /// Programs, those of guests included.
    pub user: u64,
    /// Programs of low priority.
    pub nice: u64,
    /// The kernel, without its interrupts.
    pub system: u64,
    /// Nothing to do.
    pub idle: u64,
    /// Nothing to do while I/O is in flight.
    pub iowait: u64,
    /// Interrupts, soft ones included.
    pub interrupts: u64,
    /// Taken away by the hypervisor.
    pub steal: u64,
}

/// Reads /proc/diskstats; lines that are none are left out. Kernels before 4.18 count no discards,
/// those before 5.5 no flushes.
pub fn parse_diskstats(text: &str) -> Vec<Device> {
    text.lines().filter_map(parse_device).collect()
}

fn parse_device(line: &str) -> Option<Device> {
    let mut words = line.split_ascii_whitespace();
    let _major: u32 = words.next()?.parse().ok()?;
    let _minor: u32 = words.next()?.parse().ok()?;
    let name = words.next()?.to_owned();
    let numbers: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
    let at = |index: usize| numbers.get(index).copied().unwrap_or(0);
    match numbers.len() {
        // Partitions before Linux 2.6.25: reads, sectors, writes, sectors.
        4 => Some(Device {
            name,
            reads: at(0),
            read_sectors: at(1),
            writes: at(2),
            written_sectors: at(3),
            ..Device::default()
        }),
        0..=10 => None,
        _ => Some(Device {
            name,
            reads: at(0),
            reads_merged: at(1),
            read_sectors: at(2),
            read_ms: at(3),
            writes: at(4),
            writes_merged: at(5),
            written_sectors: at(6),
            write_ms: at(7),
            // at(8) is what is in flight now.
            busy_ms: at(9),
            queue_ms: at(10),
            discards: at(11),
            discards_merged: at(12),
            discarded_sectors: at(13),
            discard_ms: at(14),
            flushes: at(15),
            flush_ms: at(16),
            mapped_name: None,
        }),
    }
}

/// Reads the line of all processors of /proc/stat; zeros where there is none.
pub fn parse_cpu(text: &str) -> Cpu {
    let line = text.lines().find(|line| line.starts_with("cpu "));
    let numbers: Vec<u64> = line
        .into_iter()
        .flat_map(|line| line.split_ascii_whitespace().skip(1))
        .map_while(|word| word.parse().ok())
        .collect();
    let at = |index: usize| numbers.get(index).copied().unwrap_or(0);
    Cpu {
        user: at(0),
        nice: at(1),
        system: at(2),
        idle: at(3),
        iowait: at(4),
        interrupts: at(5).saturating_add(at(6)),
        steal: at(7),
    }
}

/// Reads /proc/uptime; 0 where it is no such text.
pub fn parse_uptime(text: &str) -> f64 {
    let seconds = text.split_ascii_whitespace().next().and_then(|word| word.parse().ok());
    seconds.filter(|seconds: &f64| seconds.is_finite() && *seconds >= 0.0).unwrap_or(0.0)
}

impl Device {
    /// Reads, writes and discards completed; flushes are the block layer's own.
    pub fn requests(&self) -> u64 {
        self.reads.saturating_add(self.writes).saturating_add(self.discards)
    }

    /// What was counted since `before`; all of it where the counters began again meanwhile, as they
    /// do for a drive that was removed and comes back under its name.
    pub fn since(&self, before: &Device) -> Device {
        let restarted = self.reads < before.reads
            || self.writes < before.writes
            || self.discards < before.discards;
        if restarted {
            return self.clone();
        }
        self.by_each(before, u64::saturating_sub)
    }

    /// Both together, as a group of devices.
    pub fn and(&self, other: &Device) -> Device {
        self.by_each(other, u64::saturating_add)
    }

    fn by_each(&self, other: &Device, both: impl Fn(u64, u64) -> u64) -> Device {
        Device {
            name: self.name.clone(),
            reads: both(self.reads, other.reads),
            reads_merged: both(self.reads_merged, other.reads_merged),
            read_sectors: both(self.read_sectors, other.read_sectors),
            read_ms: both(self.read_ms, other.read_ms),
            writes: both(self.writes, other.writes),
            writes_merged: both(self.writes_merged, other.writes_merged),
            written_sectors: both(self.written_sectors, other.written_sectors),
            write_ms: both(self.write_ms, other.write_ms),
            busy_ms: both(self.busy_ms, other.busy_ms),
            queue_ms: both(self.queue_ms, other.queue_ms),
            discards: both(self.discards, other.discards),
            discards_merged: both(self.discards_merged, other.discards_merged),
            discarded_sectors: both(self.discarded_sectors, other.discarded_sectors),
            discard_ms: both(self.discard_ms, other.discard_ms),
            flushes: both(self.flushes, other.flushes),
            flush_ms: both(self.flush_ms, other.flush_ms),
            mapped_name: self.mapped_name.clone(),
        }
    }
}

impl Sub for Cpu {
    type Output = Cpu;

    /// Ticks since then; a counter that went back, as iowait may, counts nothing.
    fn sub(self, before: Cpu) -> Cpu {
        Cpu {
            user: self.user.saturating_sub(before.user),
            nice: self.nice.saturating_sub(before.nice),
            system: self.system.saturating_sub(before.system),
            idle: self.idle.saturating_sub(before.idle),
            iowait: self.iowait.saturating_sub(before.iowait),
            interrupts: self.interrupts.saturating_sub(before.interrupts),
            steal: self.steal.saturating_sub(before.steal),
        }
    }
}

impl Cpu {
    /// Percent of the time: user, nice, system with interrupts, iowait, steal, idle.
    pub fn percentages(&self) -> [f64; 6] {
        let system = self.system.saturating_add(self.interrupts);
        let parts = [self.user, self.nice, system, self.iowait, self.steal, self.idle];
        let total: f64 = parts.iter().map(|part| *part as f64).sum();
        parts.map(|part| if total > 0.0 { part as f64 * 100.0 / total } else { 0.0 })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn lines_of_all_kernels_are_read() {
        let text = "   8  0 sda 10 1 80 4 3 2 24 15 7 9 19\n\
                    259  1 nvme1n1 10 1 80 4 3 2 24 15 0 9 19 5 1 4096 12\n\
                    259  2 nvme2n1 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18\n\
                    8  1 sda1 4 32 2 16\n\
                    nonsense\n8 2 sda2 1 2 3\n";
        let devices = parse_diskstats(text);
        let names: Vec<&str> = devices.iter().map(|device| device.name.as_str()).collect();
        assert_eq!(names, ["sda", "nvme1n1", "nvme2n1", "sda1"]);
        assert_eq!((devices[0].busy_ms, devices[0].queue_ms, devices[0].discards), (9, 19, 0));
        assert_eq!((devices[1].discarded_sectors, devices[1].discard_ms), (4096, 12));
        assert_eq!((devices[2].flushes, devices[2].flush_ms), (16, 17));
        assert_eq!((devices[3].reads, devices[3].written_sectors), (4, 16));
    }

    #[test]
    fn processors_and_time_are_read() {
        let cpu = parse_cpu("cpu  100 20 30 400 50 6 7 8 9 10\ncpu0 1 1 1 1\n");
        assert_eq!((cpu.user, cpu.interrupts, cpu.steal), (100, 13, 8));
        let parts = cpu.percentages();
        assert!((parts.iter().sum::<f64>() - 100.0).abs() < 1e-9);
        assert_eq!(parse_cpu(""), Cpu::default());
        assert_eq!(Cpu::default().percentages(), [0.0; 6]);
        assert!((parse_uptime("2838.25 1646.34\n") - 2838.25).abs() < 1e-9);
        assert_eq!((parse_uptime(""), parse_uptime("NaN x")), (0.0, 0.0));
    }

    #[test]
    fn counters_that_began_anew_are_taken_whole() {
        let device = |reads| Device { name: "sda".into(), reads, busy_ms: 5, ..Device::default() };
        assert_eq!(device(10).since(&device(4)).reads, 6);
        assert_eq!(device(3).since(&device(4)).reads, 3);
        assert_eq!(device(3).since(&device(4)).busy_ms, 5);
        assert_eq!(device(3).and(&device(4)).reads, 7);
    }
}
