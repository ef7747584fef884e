//! fio-plot, which draws what fio has written: its bench-fio runs drivelab in fio's place, and its
//! charts are drawn from what that wrote. `scripts/install-test-needs` installs it.

use crate::support::neighbours::not_judged;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Where the script installs it: next to the directory that cargo gives to tests.
const PROGRAMS: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/../fio-plot/bin");
const TEST: &str = "fio_plot_draws_what_drivelab_has_written";
/// A chart without data is smaller.
const PNG_BYTES_MIN: usize = 40 * 1024;
const SECONDS: u64 = 2;

/// A directory with a `fio` that is drivelab; bench-fio takes whatever is on stderr for an error.
fn directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let root = directory.path();
    for name in ["bin", "data", "home"] {
        std::fs::create_dir(root.join(name)).unwrap();
    }
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_drivelab"), root.join("bin/fio")).unwrap();
    directory
}

fn run(root: &Path, program: &str, line: &str) -> Output {
    let path = std::env::var("PATH").unwrap();
    Command::new(Path::new(PROGRAMS).join(program))
        .args(line.split_whitespace())
        .current_dir(root)
        .env("PATH", format!("{}:{path}", root.join("bin").display()))
        .env("XDG_DATA_HOME", root.join("home"))
        .env("MPLCONFIGDIR", root.join("home"))
        .env("MPLBACKEND", "Agg")
        .env("PYTHONUTF8", "1")
        .output()
        .unwrap()
}

fn told(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}", text(&output.stdout), text(&output.stderr))
}

/// Width and height of a PNG (its first chunk, IHDR).
fn pixels(png: &[u8]) -> (u32, u32) {
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"), "no PNG");
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

/// Times and values of a log, whose times only go on.
fn logged(path: &Path) -> Vec<(u64, u64)> {
    let text = std::fs::read_to_string(path).unwrap();
    let lines: Vec<(u64, u64)> = text
        .lines()
        .map(|line| {
            let numbers: Vec<u64> = line.split(", ").map(|word| word.parse().unwrap()).collect();
            (numbers[0], numbers[1])
        })
        .collect();
    assert!(!lines.is_empty(), "{}", path.display());
    assert!(lines.windows(2).all(|pair| pair[0].0 < pair[1].0), "{}: {text}", path.display());
    lines
}

#[test]
fn fio_plot_draws_what_drivelab_has_written() {
    if !Path::new(PROGRAMS).join("fio-plot").exists() {
        return not_judged(TEST, "fio-plot is not installed: scripts/install-test-needs");
    }
    let directory = directory();
    let root = directory.path();
    let bench = format!(
        "--target data --type directory --size 16m --output out --mode randread randwrite \
         --iodepth 1 4 --numjobs 1 2 --runtime {SECONDS} --time-based --destructive --quiet"
    );
    let output = run(root, "bench-fio", &bench);
    assert!(output.status.success(), "{}", told(&output));
    let written = root.join("out/data/4k");
    let of = |name: String| -> PathBuf {
        let path = written.join(name);
        assert!(path.exists(), "{}\n{}", path.display(), told(&output));
        path
    };
    for mode in ["randread", "randwrite"] {
        for (depth, jobs) in [(1, 1), (1, 2), (4, 1), (4, 2)] {
            of(format!("{mode}-{depth}-{jobs}.json"));
            for (kind, job) in ["bw", "iops", "lat", "clat", "slat"]
                .iter()
                .flat_map(|kind| (1..=jobs).map(move |job| (kind, job)))
            {
                let log = of(format!("{mode}-iodepth-{depth}-numjobs-{jobs}_{kind}.{job}.log"));
                let last = logged(&log).last().unwrap().0;
                assert!(last <= SECONDS * 1000 + 500, "{}: {last}", log.display());
            }
        }
    }
    for (index, chart) in [
        "-L -t iops -r randread",
        "-L -t lat -r randwrite",
        "-l -r randread",
        "-l -r randwrite -n 2",
        "-N -r randread",
        "-H -r randread -d 1 -n 1",
        "-g -t iops -r randread",
        "-g -t iops lat -r randwrite -d 1 4 -n 1",
    ]
    .into_iter()
    .enumerate()
    {
        let png = root.join(format!("{index}.png"));
        let line = format!("-i out/data/4k -T drivelab {chart} -o {}", png.display());
        let output = run(root, "fio-plot", &line);
        let bytes = std::fs::read(&png).unwrap_or_default();
        assert!(output.status.success() && !bytes.is_empty(), "{chart}: {}", told(&output));
        let (width, height) = pixels(&bytes);
        println!("{chart}: {width} x {height}, {} bytes", bytes.len());
        assert!(width >= 800 && height >= 500, "{chart}: {width} x {height}");
        assert!(bytes.len() >= PNG_BYTES_MIN, "{chart}: {} bytes", bytes.len());
    }
}
