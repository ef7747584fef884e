//! Purges: by format on QEMU's drive, by sanitize on a scripted one, and where there is none.

use crate::guest::{PATIENCE, node, wait_until};
use crate::support::binary::{Laboratory, Outcome, Running, must};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::process::{Child, Command, Stdio};

/// D11: what the drive has not is said before anything is measured or kept.
pub fn impossible() {
    let lines = [("first", "nvme-sanitize"), ("virtio", "nvme-format"), ("sata", "nvme-format")];
    for (name, purge) in lines {
        let node = node(name);
        let laboratory = Laboratory::new();
        let token = laboratory.token(&node);
        let line =
            ["study", "pts-iops", &node, "--quick", "--purge", purge, "--erase", token.as_str()];
        let outcome = laboratory.run(line, PATIENCE);
        assert!(matches!(outcome.status, Some(2..=4)), "{name} {purge}: {outcome:?}");
        outcome.expect_plain_words();
        assert_eq!(laboratory.run_files(), Vec::<std::path::PathBuf>::new(), "{name} {purge}");
    }
}

pub fn put(node: &str, bytes: &[u8]) {
    let mut file = fs::OpenOptions::new().write(true).open(node).expect("the drive");
    file.write_all(bytes).and_then(|()| file.sync_all()).expect("written");
}

pub fn first_bytes(node: &str, count: usize) -> Vec<u8> {
    must("blockdev", ["--flushbufs", node]);
    let mut file = fs::File::open(node).expect("the drive");
    file.seek(SeekFrom::Start(0)).expect("seek");
    let mut bytes = vec![0; count];
    file.read_exact(&mut bytes).expect("read");
    bytes
}

/// Ctrl-C for a command that goes on: it ends as interrupted ones do.
pub fn ended_by_ctrl_c(mut running: Running) -> Outcome {
    assert!(!running.has_ended(), "{:?}", running.finish());
    let pid = Pid::from_raw(i32::try_from(running.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    assert!(running.wait(PATIENCE), "no end after Ctrl-C: {}", running.so_far());
    let outcome = running.finish();
    assert_eq!(outcome.status, Some(130), "{outcome:?}");
    outcome
}

/// The namespace is empty, its neighbour is not.
pub fn format() {
    formatted(|laboratory, node| planned(laboratory, node, "nvme-format"));
}

/// The same by a study, which looks at the machine first.
pub fn format_by_study() {
    formatted(|laboratory, node| {
        let token = laboratory.token(node);
        let line = ["study", "pts-iops", node, "--quick", "--purge", "nvme-format"];
        laboratory.start([&line[..], &["--erase", &token]].concat())
    });
}

fn formatted(start: impl FnOnce(&Laboratory, &str) -> Running) {
    let (mine, neighbour) = (node("second"), node("first"));
    let pattern = [0xa5; 1 << 20];
    put(&mine, &pattern);
    put(&neighbour, &pattern);
    let laboratory = Laboratory::new();
    let mut running = start(&laboratory, &mine);
    wait_until("the namespace is empty", || {
        running.has_ended() || first_bytes(&mine, 1 << 20).iter().all(|byte| *byte == 0)
    });
    ended_by_ctrl_c(running);
    assert_eq!(first_bytes(&neighbour, 1 << 20), pattern, "the neighbour's data");
}

/// A run that has a drive purge itself and then waits.
pub fn planned(laboratory: &Laboratory, node: &str, purge: &str) -> Running {
    planned_act(laboratory, node, &format!("purge = \"{purge}\""))
}

/// A run that acts on a drive and then waits: a study looks at the machine for seconds before it
/// does.
pub fn planned_act(laboratory: &Laboratory, node: &str, act: &str) -> Running {
    let plan = format!(
        "[[steps]]\nname = \"act\"\nact = {{ {act} }}\n\n\
         [[steps]]\nname = \"wait\"\nact = {{ idle = \"60s\" }}\n"
    );
    let file = laboratory.data().join("plan.toml");
    fs::write(&file, plan).expect("a plan");
    let token = laboratory.token(node);
    laboratory.start(["run", file.to_str().expect("UTF-8"), node, "--erase", &token])
}

/// A process that ends with the case.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        must("nvme", ["disconnect", "-n", "scripted"]);
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Serves a scripted drive and connects the kernel to it.
pub fn with_scripted(script: &[&str], judge: impl FnOnce(&str)) {
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new(program);
    command.args(["serve-nvme", "4420"]).args(script).stdin(Stdio::null());
    let served = Served(command.spawn().expect("it starts"));
    wait_until("the scripted drive listens", || {
        std::net::TcpStream::connect("127.0.0.1:4420").is_ok()
    });
    let connect = ["connect", "-t", "tcp", "-a", "127.0.0.1", "-s", "4420", "-n", "scripted"];
    must("nvme", [&connect[..], &["-i", "1"]].concat());
    let mut found = None;
    wait_until("the kernel knows the scripted drive", || {
        found = scripted();
        found.is_some()
    });
    judge(&found.expect("it is there"));
    drop(served);
}

fn scripted() -> Option<String> {
    let blocks = fs::read_dir("/sys/block").ok()?.flatten();
    let mut names = blocks.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_it = |name: &String| {
        let of = |file: &str| fs::read_to_string(format!("/sys/block/{name}/{file}"));
        of("hidden").is_ok_and(|text| text.trim() == "0")
            && of("device/serial").or_else(|_| of("wwid")).is_ok_and(|text| {
                text.contains("DLSCRIPT01") || text.contains("eui.dead000000000001")
            })
    };
    let name = names.find(is_it)?;
    let node = format!("/dev/{name}");
    fs::metadata(&node).is_ok().then_some(node)
}

/// D9: a sanitize is waited for and told; Ctrl-C ends the wait with 130.
pub fn sanitize() {
    with_scripted(&["sanitize_s=6"], |node| {
        put(node, &[0xa5; 1 << 20]);
        let laboratory = Laboratory::new();
        let mut running = planned(&laboratory, node, "nvme-sanitize");
        let log = || must("nvme", ["sanitize-log", node, "--output-format=json"]);
        wait_until("the drive sanitizes", || running.has_ended() || log().contains("in Progress"));
        let outcome = ended_by_ctrl_c(running);
        assert!(outcome.stderr.contains("the sanitize goes on"), "{outcome:?}");
    });
}

/// One that failed ends with 4.
pub fn sanitize_fails() {
    with_scripted(&["sanitize_s=1", "sanitize_fails=1"], |node| {
        let laboratory = Laboratory::new();
        let token = laboratory.token(node);
        let line = ["study", "pts-iops", node, "--quick", "--purge", "nvme-sanitize"];
        let outcome = laboratory.run([&line[..], &["--erase", &token]].concat(), PATIENCE);
        assert_eq!(outcome.status, Some(4), "{outcome:?}");
        assert!(outcome.stderr.contains("sanitize"), "{outcome:?}");
    });
}
