//! The emulated machine, from outside: its drives, its start, and what came of it.

use crate::cases::soak::TIMES;
use crate::qmp::Qmp;
use crate::support::neighbours::not_judged;
use libtest_mimic::Failed;
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The status of `scripts/make-machine` where the machine cannot be had.
const UNAVAILABLE: i32 = 69;
/// Names of cases, with `;` between them: only these are run, by hand.
const CASES: &str = "DRIVES_CASES";
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// A boot takes 10 to 20 seconds without hardware virtualization, the cases the rest.
const PATIENCE: Duration = Duration::from_secs(900);
/// What is added for each drive that is to go away.
const EACH_TIME: Duration = Duration::from_secs(90);

/// Boots the machine for a set of cases and fails with what did not hold in it.
pub fn judge(set: &str) -> Result<(), Failed> {
    let files = match made() {
        Ok(files) => files,
        Err(why) => {
            not_judged(&format!("drives {set}"), &why);
            return Ok(());
        }
    };
    let guest = Guest::start(&files, set);
    let told = guest.tend();
    let failed = told.lines().filter(|line| line.starts_with("FAILED")).count();
    let ended = told.lines().rfind(|line| line.starts_with("ended: "));
    if ended == Some("ended: 0 failed") && failed == 0 {
        writeln!(std::io::stderr(), "{told}").expect("stderr");
        return Ok(());
    }
    Err(told.into())
}

/// The directory of the kernel and the initial RAM disk, or why there is none.
fn made() -> Result<PathBuf, String> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/make-machine");
    let output = Command::new("bash").arg(script).output().expect("bash");
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    match output.status.code() {
        Some(0) => Ok(String::from_utf8_lossy(&output.stdout).trim().into()),
        Some(UNAVAILABLE) => Err(said),
        _ => panic!("make-machine: {}: {said}", output.status),
    }
}

struct Guest {
    directory: tempfile::TempDir,
    qemu: Child,
}

impl Guest {
    fn start(files: &Path, set: &str) -> Guest {
        let directory = tempfile::Builder::new().prefix("drivelab-guest-").tempdir();
        let directory = directory.expect("a directory");
        let program = std::env::current_exe().expect("this program");
        let program = program.display();
        let chosen = std::env::var(CASES).unwrap_or_default();
        let chosen: Vec<String> =
            chosen.split_terminator(';').map(|it| format!("{it:?}")).collect();
        let times = times().map(|times| format!("{TIMES}={times} ")).unwrap_or_default();
        let script = format!("{times}exec {program} guest {set} {}\n", chosen.join(" "));
        fs::write(directory.path().join("script"), script).expect("a script");
        let errors = fs::File::create(directory.path().join("qemu")).expect("a file");
        let qemu = Command::new("qemu-system-x86_64")
            .args(machine(files, directory.path()))
            .args(drives(directory.path()))
            .args(slot(directory.path()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(errors)
            .spawn()
            .expect("QEMU starts");
        Guest { directory, qemu }
    }

    /// Does what the guest asks for until it ends; gives what it said.
    fn tend(mut self) -> String {
        let begin = Instant::now();
        let mut asked = 0;
        while self.qemu.try_wait().expect("wait").is_none() {
            if begin.elapsed() > PATIENCE + EACH_TIME * times().unwrap_or(0) {
                self.qemu.kill().ok();
                break;
            }
            if let Ok(text) = fs::read(self.file(&format!("ask-{asked}"))) {
                self.answer(asked, &text);
                asked += 1;
            }
            std::thread::sleep(LOOK_EVERY);
        }
        self.qemu.wait().ok();
        let text = |name: &str| {
            let bytes = fs::read(self.file(name)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let output = text("output");
        if text("status").trim() == "0" {
            return output;
        }
        let console = text("console");
        let last: Vec<&str> = console.lines().rev().take(30).collect();
        let last: Vec<&str> = last.into_iter().rev().collect();
        format!("{output}\nthe console's last lines:\n{}\n{}", last.join("\n"), text("qemu"))
    }

    fn answer(&self, number: usize, text: &[u8]) {
        let commands: Value = serde_json::from_slice(text).expect("commands");
        let mut qmp = Qmp::connect(&self.file("qmp"));
        let answers: Vec<Value> =
            commands.as_array().expect("a list").iter().map(|one| qmp.ask(one)).collect();
        let made = self.file(&format!("answer-{number}.new"));
        fs::write(&made, Value::from(answers).to_string()).expect("an answer");
        fs::rename(made, self.file(&format!("answer-{number}"))).expect("an answer");
    }

    fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.qemu.kill().ok();
        self.qemu.wait().ok();
    }
}

/// How often drives are to go away, where that is asked for by hand.
fn times() -> Option<u32> {
    std::env::var(TIMES).ok().map(|text| text.parse().expect("a number"))
}

/// A free slot, and what a drive that is plugged into it holds; where drives are to go away.
fn slot(directory: &Path) -> Vec<OsString> {
    if times().is_none() {
        return Vec::new();
    }
    let file = directory.join("soak.img");
    fs::File::create(&file).and_then(|made| made.set_len(256 << 20)).expect("an image");
    let image =
        format!("driver=raw,node-name=soak,file.driver=file,file.filename={}", file.display());
    let words = ["-device", "pcie-root-port,id=spare,chassis=2,slot=2", "-blockdev", &image];
    words.map(OsString::from).to_vec()
}

/// The machine without its drives. Always emulated: /dev/kvm may be there and never come to life.
fn machine(files: &Path, out: &Path) -> Vec<OsString> {
    let (files, out) = (files.display(), out.display());
    let text = format!(
        "-M q35 -cpu max -accel tcg,thread=multi -smp 2 -m 640 -nodefaults -no-user-config \
         -display none -no-reboot -kernel {files}/kernel -initrd {files}/initrd \
         -serial file:{out}/console -qmp unix:{out}/qmp,server,nowait \
         -virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap \
         -virtfs local,path={files}/layer,mount_tag=layer,security_model=none,readonly=on \
         -virtfs local,path={out},mount_tag=out,security_model=none"
    );
    let mut words: Vec<OsString> = text.split_whitespace().map(OsString::from).collect();
    words.push("-append".into());
    words.push("console=ttyS0 quiet loglevel=5 panic=-1 mitigations=off tsc=reliable".into());
    words
}

/// One drive of each kind, each on a sparse file: name, size, and what QEMU makes of it.
const DRIVES: [(&str, u64, &str); 11] = [
    (
        "first",
        512 << 20,
        "-device pcie-root-port,id=plug,chassis=1,slot=1 \
         -device nvme,id=nvme,serial=DLNVME01,bus=plug \
         -device nvme-ns,drive=first,bus=nvme,nsid=1,eui64=1153,discard_granularity=4096",
    ),
    ("second", 512 << 20, "-device nvme-ns,drive=second,bus=nvme,nsid=2,eui64=1154"),
    (
        "coarse",
        256 << 20,
        "-device nvme-ns,drive=coarse,bus=nvme,nsid=3,logical_block_size=4096,\
         physical_block_size=4096",
    ),
    (
        "zones",
        256 << 20,
        "-device nvme-ns,drive=zones,bus=nvme,nsid=4,zoned=true,zoned.zone_size=16M,\
         zoned.zone_capacity=12M,zoned.max_open=8,zoned.max_active=12",
    ),
    ("protected", 64 << 20, "-device nvme-ns,drive=protected,bus=nvme,nsid=5,ms=8,pi=1"),
    (
        "paths",
        256 << 20,
        "-device nvme-subsys,id=pair,nqn=pair -device nvme,serial=DLPATHS1,subsys=pair,id=left \
         -device nvme,serial=DLPATHS1,subsys=pair,id=right \
         -device nvme-ns,drive=paths,bus=left,nsid=1,shared=on",
    ),
    (
        "sata",
        256 << 20,
        "-device ahci,id=ahci -device ide-hd,drive=sata,bus=ahci.0,serial=DLSATA01,model=DL_SSD,\
         rotation_rate=1,wwn=0x5000c50012345678",
    ),
    (
        "scsi",
        256 << 20,
        "-device virtio-scsi-pci,id=scsi -device scsi-hd,drive=scsi,bus=scsi.0,serial=DLSCSI01,\
         vendor=DLVENDOR,product=DLSCSIDISK,wwn=0x5000c50087654321",
    ),
    ("virtio", 256 << 20, "-device virtio-blk-pci,drive=virtio,serial=DLVIRT01"),
    (
        "stick",
        128 << 20,
        "-device qemu-xhci,id=usb -device usb-storage,bus=usb.0,drive=stick,serial=DLSTICK1",
    ),
    ("card", 128 << 20, "-device sdhci-pci -device sd-card,drive=card"),
];

fn drives(directory: &Path) -> Vec<OsString> {
    let mut words = Vec::new();
    for (name, bytes, devices) in DRIVES {
        let file = directory.join(format!("{name}.img"));
        fs::File::create(&file).and_then(|made| made.set_len(bytes)).expect("an image");
        words.push("-drive".into());
        let file = file.display();
        words.push(format!("id={name},if=none,format=raw,discard=unmap,file={file}").into());
        words.extend(devices.split_whitespace().map(OsString::from));
    }
    words
}
