//! Whether time and wear are kept on a loop device of this machine's disk.

use crate::Bench;
use crate::loop_device::LoopDevice;
use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

const BYTES: u64 = 512 << 20;

pub fn kept() -> (String, u32) {
    let mut text = "### Time and wear on a loop device\n\nA file of 512 MiB on a disk of this \
                    machine, with direct I/O below. Bytes are what the kernel counted on the \
                    device; \
                    time \
                    is the whole command.\n\n| study | allowed | written | allowed | took | \
                    status |\n|:--|--:|--:|--:|--:|--:|\n"
        .to_string();
    let bench = Bench::at(Path::new(env!("CARGO_TARGET_TMPDIR")));
    let file = bench.path().join("disk.img");
    let mut misses = 0;
    for (name, budget, seconds) in [
        ("aa --quick", "10GiB", 240.0),
        ("wsat --quick", "10GiB", 300.0),
        ("trim --quick", "10GiB", 300.0),
        ("wsat --quick --time 30s", "1GiB", 30.0),
    ] {
        std::fs::write(&file, vec![0x5a; BYTES as usize]).unwrap();
        let device = LoopDevice::attach_with(&file, &["--direct-io=on"]);
        let path = device.path().to_str().unwrap().to_string();
        let mut words: Vec<&str> = vec!["study"];
        words.extend(name.split(' '));
        words.insert(2, &path);
        words.extend(["--budget", budget, "--seed", "3", "--json"]);
        let token = bench.token(&words);
        words.extend(["--erase", &token]);
        let before = device.counters();
        let begin = Instant::now();
        let (status, _) = bench.types(&words);
        let took = begin.elapsed().as_secs_f64();
        let written = device.counters().since(before).written_bytes;
        let allowed = if budget == "1GiB" { 1u64 << 30 } else { 10 << 30 };
        // What lies between steps is counted as 150 ms each; a tenth is left for its straying.
        let is_done = written >= BYTES && [0, 1, 4].contains(&status);
        let is_kept = is_done && written <= allowed && took <= 1.1 * seconds + 10.0;
        misses += u32::from(!is_kept);
        let _ = writeln!(
            text,
            "| {name} | {budget} | {:.2} GiB | {seconds:.0} s | {took:.1} s | {status} |",
            written as f64 / f64::from(1 << 30)
        );
    }
    let _ = writeln!(text, "\n{misses} of 4 exceeded what was allowed, or did not run.");
    (text, misses)
}
