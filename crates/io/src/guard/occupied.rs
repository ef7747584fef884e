//! Whether anything uses a device or file: by number and inode, never by name.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::backing::{LoopDevice, identity_of};
use super::refusal::{Refusal, failed};
use super::{processes, reopen};
use crate::facts::{self, Mount, Swap, Tree};
use crate::identity::Identity;
use crate::loop_device::Backing;
use crate::system::{DeviceNumber, System, names_in, open_readable, read_text};

/// How deep loop devices on loop devices are followed.
const NESTING_MAX: u32 = 8;

/// Everything on this machine that may use a target, read at one moment.
pub(super) struct MachineUses<'a> {
    system: &'a System,
    tree: Tree,
    mounts: Vec<Mount>,
    swaps: Vec<Swap>,
    loops: Vec<LoopDevice>,
}

/// Why something is occupied: a code, a phrase that follows the name, and the way out.
pub(super) struct Use {
    pub(super) code: &'static str,
    pub(super) phrase: String,
    pub(super) advice: String,
}

impl Use {
    fn refuse(self, label: &str) -> Refusal {
        Refusal::safety(self.code, format!("{label} {}.", self.phrase))
            .advise(format!("Nothing was written. {}", self.advice))
    }
}

impl<'a> MachineUses<'a> {
    /// # Errors
    /// What cannot be read cannot be seen to be free: a refusal.
    pub(super) fn gather(system: &'a System) -> Result<MachineUses<'a>, Refusal> {
        let mounts = facts::mounts(system).map_err(|error| {
            failed("the mounted file systems cannot be read".to_owned(), &error)
        })?;
        let swaps = facts::swaps(system)
            .map_err(|error| failed("what is used as swap cannot be read".to_owned(), &error))?;
        let tree = Tree::new(system);
        let loops = LoopDevice::all(system, &tree, &mounts);
        Ok(MachineUses { system, tree, mounts, swaps, loops })
    }

    /// Refuses a device that is used itself, through its disk or partitions, or below it.
    pub(super) fn check_device(&self, label: &str, number: DeviceNumber) -> Result<(), Refusal> {
        if self.tree.directory(number).is_none() {
            return Err(Refusal::safety(
                "unknown_device",
                format!("{label} is device {number}, which is not in sysfs."),
            )
            .advise("Nothing was written. Whether it is in use cannot be seen: mount /sys."));
        }
        if let Some(unresolved) = self.loops.iter().find(|device| device.backing.is_unknown()) {
            return Err(Refusal::safety(
                "unknown_backing",
                format!(
                    "what {} is built on cannot be seen, and it may be {label}",
                    unresolved.node
                ) + ".",
            )
            .advise(format!(
                "Nothing was written. Run as root, or detach it: losetup -d {}",
                unresolved.node
            )));
        }
        let found = self.used(number, None, 0).or_else(|| self.twin_used(number));
        found.map_or(Ok(()), |found| Err(found.refuse(label)))
    }

    /// Use of the same drive under another name: two paths to one drive without multipath.
    fn twin_used(&self, number: DeviceNumber) -> Option<Use> {
        let disk = self.tree.parent(number).unwrap_or(number);
        let name = self.tree.world_wide_name(disk)?;
        let bytes = self.tree.sectors(disk);
        self.tree.disks().iter().filter_map(|other| self.tree.number_of(other)).find_map(|twin| {
            let same = twin != disk
                && self.tree.world_wide_name(twin).as_ref() == Some(&name)
                && self.tree.sectors(twin) == bytes;
            let found = same.then(|| self.used(twin, None, 0))??;
            let shown = self.tree.name(twin)?;
            Some(Use {
                phrase: format!("is the drive {shown} too, which {}", found.phrase),
                ..found
            })
        })
    }

    /// Refuses a file that the kernel uses as a whole: swap, loop device, file-backed mount.
    pub(super) fn check_file(&self, label: &str, identity: Identity) -> Result<(), Refusal> {
        self.file_used(identity, None).map_or(Ok(()), |found| Err(found.refuse(label)))
    }

    /// How a device is used. `through` is the loop device that was asked about and stands on it.
    fn used(&self, number: DeviceNumber, through: Option<DeviceNumber>, depth: u32) -> Option<Use> {
        for (member, relation) in self.family(number) {
            let name = self.tree.name(member).unwrap_or_else(|| member.to_string());
            let who = relation.map_or_else(String::new, |word| format!("has {word} {name} that "));
            if let Some(mut found) = self.used_alone(member, through) {
                found.phrase = format!("{who}{}", found.phrase);
                return Some(found);
            }
        }
        if depth >= NESTING_MAX {
            return Some(Use {
                code: "backing_in_use",
                phrase: "is built on more loop devices than can be followed".to_owned(),
                advice: "Name the device or file at the bottom instead.".to_owned(),
            });
        }
        self.used_below(number, depth)
    }

    /// What a write to `number` also reaches: its partitions; or its disk, partitions that
    /// overlap it and, for an extended partition, the logical ones in it.
    fn family(&self, number: DeviceNumber) -> Vec<(DeviceNumber, Option<&'static str>)> {
        let tree = &self.tree;
        let mut family = vec![(number, None)];
        let Some(disk) = tree.parent(number) else {
            let partitions = tree.partitions(number).into_iter();
            family.extend(partitions.map(|partition| (partition, Some("a partition"))));
            return family;
        };
        family.push((disk, Some("the disk")));
        let own = tree.extent(number);
        let primary = tree.partition_index(number).is_some_and(|index| index <= 4);
        // The kernel shows an extended partition as two sectors, whatever it contains.
        let extended = primary && own.is_some_and(|(_, bytes)| bytes <= 1024);
        for sibling in tree.partitions(disk).into_iter().filter(|sibling| *sibling != number) {
            let logical = tree.partition_index(sibling).is_some_and(|index| index > 4);
            let overlaps = match (own, tree.extent(sibling)) {
                (Some((start, bytes)), Some((other, length))) => {
                    start < other.saturating_add(length) && other < start.saturating_add(bytes)
                }
                _ => true,
            };
            if overlaps || (extended && logical) {
                family.push((sibling, Some("an overlapping partition")));
            }
        }
        family
    }

    /// Use of one device by itself.
    fn used_alone(&self, number: DeviceNumber, through: Option<DeviceNumber>) -> Option<Use> {
        self.mounted(number)
            .or_else(|| self.swapped(number))
            .or_else(|| self.held(number))
            .or_else(|| self.backs_loop(number, through))
            .or_else(|| {
                exported(self.system, &|path| {
                    facts::block_number_of(self.system, path) == Some(number)
                })
            })
    }

    fn mounted(&self, number: DeviceNumber) -> Option<Use> {
        let by_source = |mount: &Mount| {
            // btrfs and others show a number that is no device's: ask what the source is.
            self.tree.directory(mount.number).is_none()
                && mount.source.starts_with('/')
                && facts::block_number_of(self.system, Path::new(&mount.source)) == Some(number)
        };
        let found = self.mounts.iter().find(|mount| mount.number == number || by_source(mount));
        if let Some(mount) = found {
            let point = mount.mount_point.display();
            return Some(Use {
                code: "mounted",
                phrase: format!("is mounted at {point} ({})", mount.kind),
                advice: format!(
                    "Unmount it first (umount {point}), or measure through the file system: give \
                     a directory in it."
                ),
            });
        }
        // Every device of a mounted btrfs stands here, also those that mountinfo does not name.
        let name = self.tree.name(number)?;
        let root = self.system.sysfs.join("fs/btrfs");
        let pools = names_in(&root);
        let pool =
            pools.iter().find(|pool| root.join(pool).join("devices").join(&name).exists())?;
        Some(Use {
            code: "mounted",
            phrase: format!("is part of the mounted btrfs {pool}"),
            advice: "Unmount it first, or give a directory in it.".to_owned(),
        })
    }

    fn swapped(&self, number: DeviceNumber) -> Option<Use> {
        let is_it = |swap: &&Swap| facts::block_number_of(self.system, &swap.path) == Some(number);
        let swap = self.swaps.iter().filter(|swap| !swap.is_file).find(is_it)?;
        let path = swap.path.display();
        Some(Use {
            code: "swap",
            phrase: "is used as swap".to_owned(),
            advice: format!("To stop that: swapoff {path}"),
        })
    }

    fn held(&self, number: DeviceNumber) -> Option<Use> {
        let holders = self.tree.holders(number);
        let first = holders.first()?;
        let named = |name: &String| {
            let mapped = self
                .tree
                .number_of(name)
                .and_then(|number| facts::device_of_sysfs(self.system, number)?.layer_name);
            mapped.map_or_else(|| name.clone(), |mapped| format!("{name} ({mapped})"))
        };
        let list: Vec<String> = holders.iter().map(named).collect();
        let way = match first {
            dm if dm.starts_with("dm-") => {
                "Deactivate it (vgchange -an, cryptsetup close, dmsetup remove)"
            }
            md if md.starts_with("md") => "Stop the array (mdadm --stop)",
            _ => "Dismantle it first",
        };
        Some(Use {
            code: "holder",
            phrase: format!("is part of {}", list.join(", ")),
            advice: format!("{way}, or name /dev/{first} itself."),
        })
    }

    fn backs_loop(&self, number: DeviceNumber, through: Option<DeviceNumber>) -> Option<Use> {
        let stands = |device: &&LoopDevice| {
            Some(device.number) != through && device.backing == Backing::Device(number)
        };
        self.loops.iter().find(stands).map(LoopDevice::as_use)
    }

    /// Use of what lies below a device: the backing of a loop device, the members of a stack.
    fn used_below(&self, number: DeviceNumber, depth: u32) -> Option<Use> {
        let own = self.tree.parent(number).unwrap_or(number);
        if let Some(device) = self.loops.iter().find(|device| device.number == own) {
            let path = device.path.display();
            let found = match device.backing {
                Backing::Device(below) => self
                    .used(below, Some(own), depth + 1)
                    .or_else(|| self.backing_held(device, below)),
                Backing::File(identity) => self.file_used(identity, Some(own)),
                Backing::Elsewhere | Backing::Unknown => None,
            };
            return found.map(|found| Use {
                code: "backing_in_use",
                phrase: format!("is built on {path}, which {}", found.phrase),
                advice: found.advice,
            });
        }
        // Members are held by the stack itself; a mount or loop device on one still goes round it.
        for name in self.tree.members(own) {
            let Some(member) = self.tree.number_of(&name) else { continue };
            let relatives = [Some(member), self.tree.parent(member)];
            let found = relatives.into_iter().flatten().find_map(|relative| {
                let round = self.mounted(relative).or_else(|| self.swapped(relative));
                round.or_else(|| self.backs_loop(relative, None))
            });
            let deeper = || match depth < NESTING_MAX {
                true => self.used_below(member, depth + 1),
                false => None,
            };
            if let Some(found) = found.or_else(deeper) {
                return Some(Use {
                    phrase: format!("is built on {name}, which {}", found.phrase),
                    ..found
                });
            }
        }
        None
    }

    /// Whether a process or the kernel holds the device below a loop device.
    fn backing_held(&self, device: &LoopDevice, below: DeviceNumber) -> Option<Use> {
        let open = open_readable(&device.path).ok()?;
        let stat = rustix::fs::fstat(&open).ok()?;
        if DeviceNumber::from_raw(stat.st_rdev) != below {
            return None;
        }
        exclusively(&open).err().filter(|error| *error == Errno::BUSY)?;
        Some(held_by(&processes::with_device_open(self.system, &[below]), self.system, below))
    }

    fn file_used(&self, identity: Identity, through: Option<DeviceNumber>) -> Option<Use> {
        let same = |path: &Path| {
            identity_of(path).is_some_and(|other| {
                (other.device, other.inode) == (identity.device, identity.inode)
            })
        };
        let on_it = |device: &&LoopDevice| match device.backing {
            Backing::File(other) => {
                Some(device.number) != through
                    && (other.device, other.inode) == (identity.device, identity.inode)
            }
            _ => false,
        };
        if let Some(device) = self.loops.iter().find(on_it) {
            return Some(device.as_use());
        }
        // A file on a served file system may be asked for only if the target lies there itself.
        let number = DeviceNumber::from_raw(identity.device);
        if let Some(device) = self.loops.iter().find(|device| {
            Some(device.number) != through
                && device.backing == Backing::Elsewhere
                && facts::mount_by_text(&self.mounts, &device.path)
                    .is_some_and(|mount| mount.number == number)
                && same(&device.path)
        }) {
            return Some(device.as_use());
        }
        let swap = self.swaps.iter().filter(|swap| swap.is_file).find(|swap| same(&swap.path));
        if let Some(swap) = swap {
            return Some(Use {
                code: "swap",
                phrase: "is a swap file in use".to_owned(),
                advice: format!("To stop that: swapoff {}", swap.path.display()),
            });
        }
        if let Some(found) = exported(self.system, &same) {
            return Some(found);
        }
        // erofs, for one, mounts a regular file without a loop device.
        let mount = self.mounts.iter().find(|mount| {
            self.tree.directory(mount.number).is_none()
                && mount.source.starts_with('/')
                && !facts::is_served(&mount.kind)
                && mount.kind != "overlay"
                && same(Path::new(&mount.source))
        })?;
        Some(Use {
            code: "mounted",
            phrase: format!("is mounted at {}", mount.mount_point.display()),
            advice: format!("Unmount it first: umount {}", mount.mount_point.display()),
        })
    }

    /// Refuses a device that someone holds exclusively: another process, or the kernel for a
    /// mount in another namespace, a pool or an array.
    pub(super) fn check_exclusive(
        &self,
        label: &str,
        number: DeviceNumber,
        open: &OwnedFd,
    ) -> Result<(), Refusal> {
        match exclusively(open) {
            Ok(()) => Ok(()),
            Err(Errno::BUSY) => Err(self.busy(number).refuse(label)),
            Err(error) => {
                Err(failed(format!("{label} cannot be opened exclusively"), &error.into()))
            }
        }
    }

    fn busy(&self, number: DeviceNumber) -> Use {
        let family: Vec<DeviceNumber> = self.family(number).iter().map(|(n, _)| *n).collect();
        held_by(&processes::with_device_open(self.system, &family), self.system, number)
    }

    /// Refuses a device that another process may write to at this moment.
    pub(super) fn check_writers(&self, label: &str, number: DeviceNumber) -> Result<(), Refusal> {
        let mut family: Vec<DeviceNumber> = self.family(number).iter().map(|(n, _)| *n).collect();
        let own = self.tree.parent(number).unwrap_or(number);
        for device in self.loops.iter().filter(|device| device.number == own) {
            if let Backing::Device(below) = device.backing {
                family.extend(self.family(below).iter().map(|(member, _)| *member));
            }
        }
        let open = processes::with_device_open(self.system, &family);
        let Some(writer) = open.iter().find(|process| process.writes) else { return Ok(()) };
        Err(Use {
            code: "written_elsewhere",
            phrase: format!("is open for writing in {writer}"),
            advice: "End that process first, or take another device.".to_owned(),
        }
        .refuse(label))
    }
}

/// Use by a target that exports a device or file to other machines (configfs of `nvmet` and LIO),
/// which need not hold it exclusively.
fn exported(system: &System, is_it: &dyn Fn(&Path) -> bool) -> Option<Use> {
    let config = system.sysfs.join("kernel/config");
    let below = |root: &Path| -> Vec<PathBuf> {
        names_in(root).into_iter().map(|name| root.join(name)).collect()
    };
    let subsystems = below(&config.join("nvmet/subsystems"));
    let spaces = subsystems.iter().flat_map(|path| below(&path.join("namespaces")));
    let nvme = spaces.map(|path| (path.join("device_path"), path.join("enable")));
    let cores = below(&config.join("target/core"));
    let scsi = cores.iter().flat_map(|path| below(path));
    let scsi = scsi.map(|path| (path.join("udev_path"), path.join("enable")));
    let found = nvme.chain(scsi).find(|(path, enabled)| {
        read_text(enabled).as_deref() == Some("1")
            && read_text(path).is_some_and(|path| is_it(Path::new(&path)))
    })?;
    Some(Use {
        code: "exported",
        phrase: "is exported to other machines".to_owned(),
        advice: format!("See {}: remove it from that target first.", found.0.display()),
    })
}

/// Opens the same device exclusively for a moment.
fn exclusively(open: &OwnedFd) -> Result<(), Errno> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::EXCL;
    match reopen(open, flags) {
        Ok(_) => Ok(()),
        Err(error) => Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
    }
}

/// The refusal for a device whose exclusive opening said that it is busy.
pub(crate) fn busy_refusal(system: &System, label: &str, number: DeviceNumber) -> Refusal {
    held_by(&processes::with_device_open(system, &[number]), system, number).refuse(label)
}

fn held_by(open: &[processes::Process], system: &System, number: DeviceNumber) -> Use {
    let elsewhere = processes::mounted_elsewhere(system, number);
    let who = match (open, &elsewhere) {
        (_, Some((process, point))) => {
            format!("is mounted at {point} in the mount namespace of {process}")
        }
        ([], None) => "is held exclusively, by the kernel or a process that cannot be seen \
                       (a mount in another container, a storage pool, an array)"
            .to_owned(),
        (some, None) => {
            let names: Vec<String> = some.iter().map(ToString::to_string).collect();
            format!("is held exclusively; open in {}", names.join(", "))
        }
    };
    Use {
        code: "held",
        phrase: who,
        advice: "Release it first, or take another device.".to_owned(),
    }
}
