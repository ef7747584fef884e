//! Studies killed at random moments, and resumed.

use crate::Bench;
use drivelab_stats::Random;
use std::fmt::Write;
use std::time::{Duration, Instant};

const STUDIES: [(&str, &str, u32); 6] = [
    ("aa", "sim:textbook,capacity=256MiB", 9),
    ("wsat", "sim:textbook,capacity=1GiB", 9),
    ("trim", "sim:textbook,capacity=512MiB", 8),
    ("pts-iops", "sim:textbook,capacity=256MiB", 8),
    ("pts-tp", "sim:textbook,capacity=256MiB", 8),
    ("pts-lat", "sim:textbook,capacity=512MiB", 8),
];

/// Everything behind the first line, which names the run and the day.
fn body(bench: &Bench) -> Vec<u8> {
    let text = std::fs::read(bench.last_run().unwrap()).unwrap();
    let first = text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len());
    text[first..].to_vec()
}

/// Kills the study after `moment`; whether there is something to resume.
fn killed(bench: &Bench, line: &[&str], moment: Duration) -> bool {
    let mut child = bench.starts(line);
    std::thread::sleep(moment);
    child.kill().unwrap();
    child.wait().unwrap();
    bench.last_run().is_some_and(|path| std::fs::metadata(path).unwrap().len() > 0)
}

pub fn resumed() -> (String, u32) {
    let mut text = "### Killed and resumed\n\nEach study was killed (SIGKILL) at random moments \
                    and resumed; its run file was compared with that of a study that was left \
                    alone, byte by byte behind the first line.\n\n| study | drive | kills | \
                    resumed | alike |\n|:--|:--|--:|--:|--:|\n"
        .to_string();
    let mut random = Random::new(0x0072_6573_756d_6564);
    let mut misses = 0;
    for (name, target, kills) in STUDIES {
        let line = ["study", name, target, "--quick", "--seed", "7", "--json"];
        let whole = Bench::new();
        let begin = Instant::now();
        let (status, _) = whole.types(&line);
        let took = begin.elapsed();
        let expected = body(&whole);
        let (mut resumed, mut alike) = (0, 0);
        for _ in 0..kills {
            let bench = Bench::new();
            let moment = took.mul_f64(random.below(1000) as f64 / 1000.0);
            if !killed(&bench, &line, moment) {
                bench.types(&line);
                alike += u32::from(body(&bench) == expected);
                continue;
            }
            resumed += 1;
            let path = bench.last_run().unwrap();
            let is_over = std::fs::read_to_string(&path).unwrap().contains("\"record\":\"end\"");
            let is_same_status = is_over || bench.types(&["resume", "last", "--json"]).0 == status;
            alike += u32::from(is_same_status && body(&bench) == expected);
        }
        misses += kills - alike;
        let _ = writeln!(text, "| {name} | {target} | {kills} | {resumed} | {alike} |");
    }
    let _ = writeln!(text, "\n{misses} of 50 came out otherwise.");
    (text, misses)
}
