//! What the drive and the machine tell while a step runs: temperature, links, stolen time, and
//! kernel threads that work for us.

use crate::facts;
use crate::system::{DeviceNumber, System, names_in, read_number, read_text};
use drivelab_core::facts::DeviceFacts;
use drivelab_core::observed::{LinkChange, Temperature};
use std::path::{Path, PathBuf};

/// Temperatures of these devices that sysfs shows (kernel document
/// `Documentation/hwmon/sysfs-interface.rst`); `at` is left 0.
pub fn temperatures(system: &System, devices: &[DeviceNumber]) -> Vec<Temperature> {
    let mut found = Vec::new();
    for number in devices {
        let directory = system.sysfs.join("dev/block").join(number.to_string());
        let Ok(directory) = std::fs::canonicalize(directory) else { continue };
        let Some(sensor) = sensor_of(&directory.join("device")) else { continue };
        let celsius = |file: &str| {
            let thousandths: Option<i64> = read_number(&sensor.join(file));
            thousandths.map(|value| value as f64 / 1000.0)
        };
        let Some(now) = celsius("temp1_input") else { continue };
        let device = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let celsius_max = celsius("temp1_max").filter(|most| *most > 0.0);
        found.push(Temperature { device, at: 0, celsius: now, celsius_max });
    }
    found
}

/// The hwmon directory of a disk: NVMe has it below the controller, which with native multipath is
/// below the subsystem; SATA (drivetemp) in `hwmon`.
fn sensor_of(device: &Path) -> Option<PathBuf> {
    let device = std::fs::canonicalize(device).ok()?;
    let is_controller = |name: &String| {
        let digits = name.strip_prefix("nvme").unwrap_or_default();
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let controllers = names_in(&device).into_iter().filter(is_controller);
    let mut places = vec![device.clone(), device.join("hwmon"), device.join("device/hwmon")];
    places.extend(controllers.map(|name| device.join(name)));
    places
        .iter()
        .flat_map(|place| names_in(place).into_iter().map(move |name| place.join(name)))
        .find(|path| path.join("temp1_input").exists())
}

/// The negotiated links of these devices by kernel name, and of one with several paths the state of
/// each.
pub fn links(system: &System, devices: &[DeviceNumber]) -> Vec<(String, String)> {
    let described = devices.iter().filter_map(|number| facts::device_of_sysfs(system, *number));
    described.flat_map(links_of).collect()
}

fn links_of(device: DeviceFacts) -> Vec<(String, String)> {
    let name = &device.name;
    let mut found: Vec<_> = device.link.map(|link| (name.clone(), link)).into_iter().collect();
    found.extend(device.paths.into_iter().map(|path| {
        let words: Vec<_> = [path.state, path.access, path.link].into_iter().flatten().collect();
        (format!("{name} by {}", path.controller), words.join(", "))
    }));
    found
}

/// What differs between two looks at the links.
pub fn changed(before: &[(String, String)], after: &[(String, String)]) -> Vec<LinkChange> {
    let differs = |(name, link): &(String, String)| {
        let now = after.iter().find(|(other, _)| other == name).map(|(_, link)| link.as_str());
        let now = now.unwrap_or("gone");
        (now != link).then(|| LinkChange {
            device: name.clone(),
            before: link.clone(),
            after: now.to_owned(),
        })
    };
    before.iter().filter_map(differs).collect()
}

/// CPU time since boot, in ticks: stolen by the hypervisor, and all (`proc(5)`, /proc/stat).
pub fn stolen_and_all(system: &System) -> Option<(u64, u64)> {
    let text = read_text(&system.procfs.join("stat"))?;
    let line = text.lines().find(|line| line.starts_with("cpu "))?;
    let ticks: Vec<u64> = line.split_whitespace().skip(1).map_while(|w| w.parse().ok()).collect();
    // user nice system idle iowait irq softirq steal; guest time is part of user time.
    (ticks.len() >= 8).then(|| (ticks[7], ticks[..8].iter().sum()))
}

/// Kernel threads of io_uring that serve requests of this process out of line.
pub fn io_workers(system: &System) -> u32 {
    let tasks = system.procfs.join("self/task");
    let is_worker = |name: &String| {
        let comm = read_text(&tasks.join(name).join("comm"));
        comm.is_some_and(|comm| comm.starts_with("iou-wrk"))
    };
    names_in(&tasks).iter().filter(|name| is_worker(name)).count() as u32
}

/// Threads of this process that the kernel does not let go (state D of `proc(5)`).
pub fn held_threads(system: &System) -> usize {
    let tasks = system.procfs.join("self/task");
    let is_held = |name: &String| {
        let stat = read_text(&tasks.join(name).join("stat"));
        let state = stat.and_then(|text| text.rsplit_once(") ").map(|(_, rest)| rest.to_owned()));
        state.is_some_and(|state| state.starts_with('D'))
    };
    names_in(&tasks).iter().filter(|name| is_held(name)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A captured tree with one NVMe disk that has a sensor.
    fn tree() -> (tempfile::TempDir, System) {
        let root = tempfile::tempdir().expect("a directory");
        let controller = root.path().join("sys/devices/pci0/nvme/nvme0");
        let disk = controller.join("nvme0n1");
        fs::create_dir_all(controller.join("hwmon3")).expect("a sensor");
        fs::create_dir_all(&disk).expect("a disk");
        fs::create_dir_all(root.path().join("sys/dev/block")).expect("numbers");
        std::os::unix::fs::symlink(&controller, disk.join("device")).expect("its controller");
        std::os::unix::fs::symlink(&disk, root.path().join("sys/dev/block/259:0")).expect("259:0");
        let system = System::captured(root.path());
        (root, system)
    }

    #[test]
    fn the_temperature_of_a_drive_of_two_paths_stands_below_either() {
        let root = tempfile::tempdir().expect("a directory");
        let subsystem = root.path().join("nvme-subsys0");
        fs::create_dir_all(subsystem.join("nvme1/hwmon2")).expect("a sensor");
        assert_eq!(sensor_of(&subsystem), None);
        fs::write(subsystem.join("nvme1/hwmon2/temp1_input"), "49850\n").expect("written");
        assert!(sensor_of(&subsystem).is_some_and(|found| found.ends_with("nvme1/hwmon2")));
    }

    #[test]
    fn a_drive_that_tells_its_temperature_is_heard() {
        let (root, system) = tree();
        let disk = [DeviceNumber { major: 259, minor: 0 }];
        assert_eq!(temperatures(&system, &disk), []);
        let sensor = root.path().join("sys/devices/pci0/nvme/nvme0/hwmon3");
        fs::write(sensor.join("temp1_input"), "71850\n").expect("written");
        fs::write(sensor.join("temp1_max"), "81850\n").expect("written");
        let expected = Temperature {
            device: "nvme0n1".into(),
            at: 0,
            celsius: 71.85,
            celsius_max: Some(81.85),
        };
        assert_eq!(temperatures(&system, &disk), [expected]);
    }

    #[test]
    fn a_link_that_changed_is_named() {
        let link = |name: &str, speed: &str| (name.to_owned(), speed.to_owned());
        let before = [link("nvme0n1", "8.0 GT/s PCIe x4"), link("sda", "6.0 Gbps")];
        let after = [link("nvme0n1", "2.5 GT/s PCIe x4"), link("sda", "6.0 Gbps")];
        let expected = LinkChange {
            device: "nvme0n1".into(),
            before: "8.0 GT/s PCIe x4".into(),
            after: "2.5 GT/s PCIe x4".into(),
        };
        assert_eq!(changed(&before, &after), [expected]);
        assert_eq!(changed(&before, &before), []);
        assert_eq!(changed(&before, &[])[0].after, "gone");
    }

    #[test]
    fn stolen_time_is_the_eighth_figure() {
        let root = tempfile::tempdir().expect("a directory");
        fs::create_dir(root.path().join("proc")).expect("proc");
        let line = "cpu  10 20 30 40 50 60 70 80 90 100\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
        fs::write(root.path().join("proc/stat"), line).expect("written");
        assert_eq!(stolen_and_all(&System::captured(root.path())), Some((80, 360)));
    }
}
