//! What is known of the target and of the machine before the first I/O.
//!
//! Plain data: `drivelab-io` gathers it, the run file stores it, reports print it. `None` means
//! unknown and is printed as "unknown": nothing here is ever guessed.

pub use crate::health::{
    CRITICAL_WARNINGS, ErrorEntry, FarmFacts, OwnNames, SelfTestEnd, SelfTestFacts,
    TemperatureFacts, WearFacts,
};
pub use crate::nvme::{Apst, AtomicWrites, BlockFormat, NvmeFacts, Performance};
use crate::price::Price;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Everything known of one run's surroundings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Facts {
    /// The target and every layer below it.
    pub target: TargetFacts,
    /// The machine that issues the I/O.
    pub host: HostFacts,
}

/// What kind of thing the target is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A regular file.
    #[default]
    File,
    /// A directory: data goes to scratch files in it, metadata actions to names in it.
    Directory,
    /// A block device.
    BlockDevice,
    /// A simulated drive in virtual time.
    Simulated,
    /// The null engine or a virtual testbed: no drive at all.
    Nothing,
}

impl TargetKind {
    /// Whether it is a whole drive, real or simulated.
    pub fn is_drive(self) -> bool {
        matches!(self, TargetKind::BlockDevice | TargetKind::Simulated)
    }
}

/// The target as the kernel describes it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetFacts {
    /// The path as typed.
    pub path: String,
    /// File, directory, device.
    pub kind: TargetKind,
    /// Size in bytes; for a directory the free space an unprivileged user may use.
    pub bytes: Option<u64>,
    /// What is known of a simulated drive beforehand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated: Option<SimulatedFacts>,
    /// In what a simulated drive is not what was typed, or not the drive of its profile, in whole
    /// sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<String>,
    /// The state in which the published figures of a simulated drive are taken to be measured, in a
    /// word of the contract, as its profile says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_state: Option<String>,
    /// What the drive of an unchanged profile cost, where that was published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// The file system that holds a file or directory target.
    pub filesystem: Option<FilesystemFacts>,
    /// Block devices from the target downwards: partition, then LVM, md or dm, then disks.
    /// Several members of an array follow each other.
    pub devices: Vec<DeviceFacts>,
    /// What could not be found out and why, in whole sentences.
    pub unknown: Vec<String>,
}

/// What is known of a simulated drive beforehand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SimulatedFacts {
    /// Bytes of the page cache of the host in front of it, if there is one.
    pub page_cache_bytes: Option<u64>,
    /// Its flash, where it has some whose cells are known.
    pub flash: Option<FlashFacts>,
    /// Whether a file system between programs and the drive is simulated, too.
    #[serde(default)]
    pub has_file_system: bool,
    /// What bounds its writes in the end.
    #[serde(default, skip_serializing_if = "Bound::is_flash")]
    pub bound: Bound,
    /// What its link carries, where its profile has one and no noise changes its pace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<LinkRate>,
    /// What the memory of an array's controller holds at the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub array_cache: Option<CacheState>,
}

/// What the memory of an array's controller holds at the beginning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CacheState {
    /// Nothing that is read.
    #[default]
    Cold,
    /// The beginning of the volume, as much as it has room for.
    Warm,
}

/// What a link carries in each direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LinkRate {
    /// Bytes a second to the host.
    pub read_bytes_per_s: u64,
    /// Bytes a second to the drive.
    pub write_bytes_per_s: u64,
    /// Data goes one way at a time: both directions share the rate.
    #[serde(default)]
    pub one_way: bool,
}

/// What bounds the writes of a drive in the end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// Its flash, which it may have more of than it says; or nobody knows.
    #[default]
    Flash,
    /// The arm over a disk that turns.
    Disk,
    /// A quota that is always the same.
    Quota,
    /// A quota that is larger while there are credits.
    Credits,
}

impl Bound {
    /// Whether it may be flash.
    pub fn is_flash(&self) -> bool {
        *self == Bound::Flash
    }
}

/// The flash of a simulated drive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FlashFacts {
    /// Bytes of all good blocks.
    pub bytes: u64,
    /// Bytes of one unit of the map: what counts of units mean.
    pub unit_bytes: u64,
    /// Erases that a block still bears; 0: not known.
    pub cycles_left: u32,
    /// Its cells, where it is said what they hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cells: Option<CellFacts>,
}

/// The cells of simulated flash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellFacts {
    /// Bits that one holds.
    pub bits: u32,
    /// Sensing a page.
    pub read_ns: u64,
    /// Programming a page.
    pub program_ns: u64,
    /// Erases that a block bears from new; 0: not known.
    pub cycles: u32,
}

impl CellFacts {
    /// The name of their kind.
    pub fn word(&self) -> &'static str {
        match self.bits {
            1 => "SLC",
            2 => "MLC",
            3 => "TLC",
            4 => "QLC",
            _ => "denser",
        }
    }

    /// Voltages that must be told apart.
    pub fn levels(&self) -> u64 {
        1 << self.bits.min(63)
    }
}

/// A mounted file system.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FilesystemFacts {
    /// `ext4`, `xfs`, `tmpfs`, `overlay`, `nfs4`, `btrfs`, `fuse.x` …, as mountinfo names it.
    pub kind: String,
    /// The mount source as mountinfo names it (`/dev/nvme0n1p2`, `server:/export`).
    pub source: String,
    /// The mount point.
    pub mount_point: String,
    /// Mount options (per-mount and per-superblock, joined by commas).
    pub options: String,
    /// Size in bytes.
    pub total_bytes: Option<u64>,
    /// Bytes an unprivileged user may still write.
    pub free_bytes: Option<u64>,
    /// Bytes that hold nothing, with those that are kept for root (`f_bfree` of statvfs(3)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unused_bytes: Option<u64>,
    /// Inodes in all and free, of a file system that has a fixed number of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inodes: Option<(u64, u64)>,
    /// Preferred I/O block in bytes.
    pub block_bytes: Option<u64>,
    /// Lives in memory (tmpfs, ramfs): no drive is measured.
    pub memory_backed: bool,
    /// Lives on another machine (NFS, SMB, Ceph, Lustre …): the network is measured with it.
    pub network: bool,
    /// Data is compressed before it is written (btrfs `compress`, zfs …), as far as known.
    pub compressing: bool,
    /// O_DIRECT memory and offset alignment from `statx(STATX_DIOALIGN)`; (0, 0): not supported.
    pub direct_io_align: Option<(u32, u32)>,
    /// What a measurement here really measures, if it is not a drive; a whole sentence.
    pub hazard: Option<String>,
}

/// One block device or layer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceFacts {
    /// Kernel name (`nvme0n1p2`).
    pub name: String,
    /// `major:minor`.
    pub number: String,
    /// `disk`, `partition`, `lvm`, `crypt`, `dm`, `md`, `loop`, `zram`, `bcache`, `optical`.
    pub layer: String,
    /// Size in bytes.
    pub bytes: Option<u64>,
    /// Model string.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// Firmware revision.
    pub firmware: Option<String>,
    /// `nvme`, `sata`, `sas`, `usb`, `virtio`, `mmc`, `iscsi`, `fc`, `loop` …
    pub transport: Option<String>,
    /// Negotiated link (`8.0 GT/s PCIe x4`, `6.0 Gbps`).
    pub link: Option<String>,
    /// The fastest link both sides could use.
    pub link_max: Option<String>,
    /// What it is built like (`2.5 inch`, `M.2`), where it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form_factor: Option<String>,
    /// Logical sector in bytes.
    pub logical_block_bytes: Option<u32>,
    /// Physical sector in bytes.
    pub physical_block_bytes: Option<u32>,
    /// The smallest request that it likes, such as the chunk of an array.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum_io_bytes: Option<u64>,
    /// The request that it likes best, such as the stripe of an array; 0: it does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optimal_io_bytes: Option<u64>,
    /// Bytes by which the start misses physical alignment.
    pub alignment_offset: Option<i64>,
    /// First byte on the parent disk, for a partition.
    pub start_bytes: Option<u64>,
    /// Spins, says the kernel (unreliable on virtual machines).
    pub rotational: Option<bool>,
    /// Active I/O scheduler.
    pub scheduler: Option<String>,
    /// Schedulers that the kernel offers, the active one among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schedulers: Vec<String>,
    /// Whether who looked may change the settings of its queue; absent in captured facts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_settable: Option<bool>,
    /// Queue slots of the scheduler (`nr_requests`).
    pub queue_requests: Option<u32>,
    /// Largest request in KiB; larger ones are split.
    pub max_sectors_kib: Option<u32>,
    /// Read-ahead in KiB.
    pub read_ahead_kib: Option<u32>,
    /// `write back` or `write through`: only the kernel's view, which does not follow the drive.
    pub write_cache: Option<String>,
    /// What the drive itself says of its volatile write cache, where it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drive_write_cache: Option<WriteCache>,
    /// What the drive says of its own wear and health.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wear: Option<WearFacts>,
    /// Why that is not known, where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wear_unknown: Option<String>,
    /// How long an NVMe drive may take to fall asleep and wake up again, in microseconds, for each
    /// state in which it serves nothing; empty: it does not sleep by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sleeps_us: Option<Vec<u32>>,
    /// World-wide name of the disk or namespace, as the kernel shows it (`eui.…`, `nvme.…`,
    /// `naa.…`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world_wide_name: Option<String>,
    /// Identifier of an NVMe namespace on its drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<u32>,
    /// What an NVMe drive says of the namespace, and of itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nvme: Option<NvmeFacts>,
    /// Its zones, where it has some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zones: Option<ZoneFacts>,
    /// Whether its queue has poll queues (`queue/io_poll`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub polls: Option<bool>,
    /// Paths to it under the kernel's own NVMe multipath.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<PathFacts>,
    /// How the kernel chooses among these paths (`iopolicy`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_policy: Option<String>,
    /// Forced unit access is supported.
    pub fua: Option<bool>,
    /// Discard granularity in bytes; 0: no discard.
    pub discard_granularity_bytes: Option<u64>,
    /// Largest discard in bytes; 0: no discard.
    pub discard_max_bytes: Option<u64>,
    /// 0, 1 (same group) or 2 (the very CPU that issued).
    pub rq_affinity: Option<u32>,
    /// 0 merges, 1 simple merges only, 2 none.
    pub nomerges: Option<u32>,
    /// Writeback throttling target in microseconds; 0: off.
    pub writeback_throttle_us: Option<i64>,
    /// NUMA node; -1: none.
    pub numa_node: Option<i32>,
    /// Read-only by the kernel.
    pub read_only: Option<bool>,
    /// Names of devices built on this one.
    pub holders: Vec<String>,
    /// Names of devices this one is built on.
    pub members: Vec<String>,
    /// The backing file of a loop device.
    pub backing_file: Option<String>,
    /// What that file lies on in the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backing: Option<Backing>,
    /// Device-mapper name or md level.
    pub layer_name: Option<String>,
    /// Signatures found on the device (`ext4`, `gpt` …), sorted.
    pub signatures: Vec<String>,
    /// Where it is mounted.
    pub mounted_at: Vec<String>,
}

/// Zones of a block device (kernel document `Documentation/ABI/stable/sysfs-block`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ZoneFacts {
    /// `host-managed` or `host-aware`.
    pub model: String,
    /// Bytes from the start of one zone to that of the next.
    pub zone_bytes: Option<u64>,
    /// How many there are.
    pub zones: Option<u32>,
    /// Zones that can be open at once; 0: no limit.
    pub open_max: Option<u32>,
    /// Zones that can be partly written at once; 0: no limit.
    pub active_max: Option<u32>,
    /// Most bytes of one append to a zone; 0: it takes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub append_bytes_max: Option<u64>,
    /// Bytes that a zone holds, where writes must be in order; the smallest if they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_bytes: Option<u64>,
    /// First byte of the first zone whose writes must be in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordered_from_bytes: Option<u64>,
    /// Zones that take writes anywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conventional: Option<u64>,
    /// Zones in which nothing is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empty: Option<u64>,
    /// Zones that are open or closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partly_written: Option<u64>,
    /// Zones that are full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full: Option<u64>,
    /// Zones that are read-only or offline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unusable: Option<u64>,
}

impl ZoneFacts {
    /// Whether writes must be in order in each zone.
    pub fn needs_order(&self) -> bool {
        self.model == "host-managed"
    }

    /// Zones that can be written at once; `None`: no limit that is known.
    pub fn open_at_once(&self) -> Option<u32> {
        [self.open_max, self.active_max].into_iter().flatten().filter(|most| *most > 0).min()
    }
}

/// One path to an NVMe namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathFacts {
    /// The controller.
    pub controller: String,
    /// `pcie`, `tcp`, `rdma`, `fc`, `loop`.
    pub transport: Option<String>,
    /// Where it is: a PCI function, or the address of a target.
    pub address: Option<String>,
    /// State of the controller (`live`, `connecting`, `dead`).
    pub state: Option<String>,
    /// Asymmetric access to the namespace (`optimized`, `non-optimized`, `inaccessible`).
    pub access: Option<String>,
    /// Negotiated PCIe link.
    pub link: Option<String>,
}

/// What lies below a loop device's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Backing {
    /// Block devices, which are listed behind the loop device.
    Devices,
    /// Memory: no drive at all.
    Memory,
    /// A process or another machine, which is not looked into.
    Served,
    /// It cannot be found out.
    Unknown,
}

/// A drive's volatile write cache, as the drive tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WriteCache {
    /// Data may be lost with the power until it is flushed.
    On,
    /// There is one, and it is turned off.
    Off,
    /// There is none.
    Absent,
}

impl WriteCache {
    /// The name of the kind in one word.
    pub fn word(self) -> &'static str {
        match self {
            WriteCache::On => "on",
            WriteCache::Off => "off",
            WriteCache::Absent => "none",
        }
    }
}

/// The machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostFacts {
    /// Host name.
    pub hostname: Option<String>,
    /// Kernel release and version.
    pub kernel: Option<String>,
    /// CPU model name.
    pub cpu_model: Option<String>,
    /// CPUs this process may run on.
    pub cpus_allowed: Option<u32>,
    /// CPUs online.
    pub cpus_online: Option<u32>,
    /// Physical memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Kernel clock source (`tsc`, `kvm-clock` …).
    pub clocksource: Option<String>,
    /// CPU frequency governor of CPU 0.
    pub governor: Option<String>,
    /// Hypervisor or container, if one is recognised.
    pub virtualisation: Option<String>,
    /// Whether io_uring is offered here with all that names need; absent in captured facts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names_by_ring: Option<bool>,
    /// Limits of our own control groups that bound I/O, CPU or memory (`cpu.max 50000 100000`).
    pub cgroup_limits: Vec<String>,
}
