//! What fio says before its results, what it counts, which files it leaves and what it refuses, of
//! its lines here and in fio itself.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

const OURS: [&str; 3] = [env!("CARGO_BIN_EXE_drivelab"), "fio", "--notes=none"];
const THEIRS: [&str; 1] = ["fio"];

/// What a line came to, as far as it does not depend on the machine.
#[derive(Debug, PartialEq, Eq)]
struct Came {
    status: i32,
    /// Up to the first empty line.
    before: Vec<String>,
    /// How many requests there were.
    issued: Vec<String>,
    files: BTreeMap<String, u64>,
}

/// A directory with a directory and a file of two mebibytes that drivelab may read.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap());
        for directory in ["work/d", "work/e", "home"] {
            std::fs::create_dir_all(place.0.path().join(directory)).unwrap();
        }
        std::fs::write(place.0.path().join("work/two"), vec![7; 2 << 20]).unwrap();
        std::fs::write(place.0.path().join("work/b.fio"), "[b]\nrw=write\nsize=64k\n").unwrap();
        place
    }

    /// Runs a line; what stands behind `<` is its standard input.
    fn ran(&self, program: &[&str], line: &str) -> (Came, String) {
        let (line, input) = line.split_once('<').unwrap_or((line, ""));
        let work = self.0.path().join("work");
        let mut child = Command::new(program[0])
            .args(&program[1..])
            .args(line.split_whitespace())
            .current_dir(&work)
            .env("XDG_DATA_HOME", self.0.path().join("home"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Who does not read it closes it.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        let mut files = BTreeMap::new();
        collect(&work, Path::new(""), &mut files);
        let lines = |lines: &mut dyn Iterator<Item = &str>| lines.map(String::from).collect();
        let came = Came {
            status: output.status.code().unwrap_or(-1),
            before: lines(&mut stdout.lines().take_while(|line| !line.is_empty())),
            issued: lines(&mut stdout.lines().filter(|line| line.contains("issued rwts"))),
            files,
        };
        (came, String::from_utf8(output.stderr).unwrap())
    }
}

fn collect(root: &Path, below: &Path, files: &mut BTreeMap<String, u64>) {
    for entry in std::fs::read_dir(root.join(below)).unwrap() {
        let entry = entry.unwrap();
        let (path, metadata) = (below.join(entry.file_name()), entry.metadata().unwrap());
        match metadata.is_dir() {
            true => collect(root, &path, files),
            false => drop(files.insert(path.display().to_string(), metadata.len())),
        }
    }
}

/// Lines, one behind the other in one place each, separated by `;`.
const LINES: [&str; 29] = [
    "--name=a --size=64k --rw=write; --name=a --size=8k --rw=write; --name=a --size=99k --rw=write",
    "--name=a --size=64k --rw=randwrite --fallocate=none",
    "--name=a --size=64k --rw=write --nrfiles=4 --numjobs=2",
    "--name=a --size=64k --rw=write --filename=f --numjobs=2",
    "--name=a --size=64k --rw=write --filename=f --name=b --size=64k --rw=read --filename=f",
    "--name=a --size=1m --rw=read --name=b --size=1m --rw=write --stonewall",
    "--name=d/a --size=64k --rw=write",
    "--name=d/a --size=64k --rw=read --nrfiles=2",
    "--name=e/a --size=64k --rw=write --directory=.",
    "--name=a --size=64k --rw=write --directory=d:e --numjobs=3",
    "--name=a --size=64k --rw=write --directory=d:e --filename=f --numjobs=2",
    "--name=a --size=100% --filesize=1m --rw=write",
    "--name=a --size=100% --filesize=1m --rw=read --nrfiles=3",
    "--name=a --size=33% --filesize=1m --rw=read",
    "--name=a --size=50% --filesize=1m --rw=write --offset=256k",
    "--name=a --size=100% --filesize=1m --rw=write --offset=256k",
    "--name=a --size=50% --filesize=1m --filename=two --rw=read",
    "--name=a --size=50% --filesize=4m --filename=two --rw=read",
    "--name=a --size=512k --filesize=1m --rw=write",
    "--name=a --size=64k --rw=write --end_fsync=1",
    "--name=a --size=64k --rw=write --fsync_on_close=1 --numjobs=2 --group_reporting",
    "--name=a --size=1m --rw=write --io_size=6k",
    "--name=a --size=1m --rw=write --io_size=6k --loops=3",
    "--name=a --size=16k --rw=write --io_size=18k",
    "--name=a --size=18k --rw=write --loops=2",
    "-<[a]\nrw=write\nsize=64k\n",
    "--bs=8k -<[a]\nrw=write\nsize=64k\n",
    "b.fio -<[a]\nrw=write\nsize=64k\n",
    "--name=a --size=64k b.fio",
];

#[test]
fn lines_say_count_and_leave_the_same() {
    for lines in LINES {
        let (ours, theirs) = (Place::new(), Place::new());
        for line in lines.split("; ") {
            let (our, said) = ours.ran(&OURS, line);
            let (their, _) = theirs.ran(&THEIRS, line);
            assert_eq!(our, their, "{line}\n{said}");
        }
    }
}

#[test]
fn what_has_no_room_or_no_place_is_refused_in_the_same_words() {
    for (line, words) in [
        ("--name=a --size=2k", "size too small, must not be less than minimum block size: 2048"),
        ("--name=a --size=2k --bsrange=3k-4k", "minimum block size: 2048 < 3072"),
        ("--name=a --filesize=2k --rw=write", "fio: blocksize is larger than data set range"),
        ("--name=a --size=1m --directory=none", "fio: none is not a directory"),
        ("--name=a --size=1m --directory=d:none", "fio: failed parsing directory=d:none"),
        ("--name=a --size=1m --directory=two", "fio: two is not a directory"),
        ("--name=a --size=1m --filename=two/f", "Not a directory"),
        ("--name=a --size=50%", "you need to specify size="),
        ("-<", "No job(s) defined"),
    ] {
        let (ours, theirs) = (Place::new(), Place::new());
        let (our, said) = ours.ran(&OURS, line);
        assert!(said.contains(words), "{line}: {said}");
        assert_eq!((our.status, our.before.len()), (1, 0), "{line}: {said}");
        let (their, said) = theirs.ran(&THEIRS, line);
        let said = said + &their.before.join("\n");
        assert!(said.contains(words) && their.status == 1, "fio {line}: {said}");
    }
    // Here a directory is made by who knows where it is to lie.
    let (our, said) = Place::new().ran(&OURS, "--name=x/a --size=64k --rw=write");
    assert!(our.status == 1 && said.contains("mkdir -p x"), "{said}");
}

#[test]
fn a_signal_is_named_where_a_person_reads() {
    for (format, is_named) in [("normal", true), ("json", false)] {
        for program in [&OURS[..], &THEIRS] {
            let place = Place::new();
            let child = Command::new(program[0])
                .args(&program[1..])
                .args(["--name=a", "--size=64m", "--rw=write", "--thinktime=50000"])
                .arg(format!("--output-format={format}"))
                .current_dir(place.0.path().join("work"))
                .env("XDG_DATA_HOME", place.0.path().join("home"))
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(std::time::Duration::from_millis(1500));
            let process = child.id().to_string();
            assert!(Command::new("kill").args(["-INT", &process]).status().unwrap().success());
            let printed = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
            // fio spoils its JSON with it.
            let is_named = is_named || program == THEIRS;
            let says = "\nfio: terminating on signal 2\n";
            assert_eq!(printed.contains(says), is_named, "{program:?} {printed}");
            if format == "normal" {
                let (before, behind) = printed.split_once(says).unwrap();
                assert!(before.ends_with("(1 file / 64MiB)\n"), "{program:?} {printed}");
                assert!(behind.starts_with("\na: (groupid=0, jobs=1)"), "{program:?} {printed}");
            }
        }
    }
}

/// The numbers that `--debug=random` prints are equal where the orders of one job are, and only
/// there.
#[test]
fn orders_follow_from_the_numbers_that_are_printed() {
    let place = Place::new();
    let numbers = |line: &str| {
        let line = format!("--name=a --filename=two --bs=32k --rw=randread {line}");
        let (came, _) = place.ran(&OURS, &format!("{line} --debug=io,random"));
        let numbers = came.before.iter().filter_map(|line| line.split_once(" rand_seeds[0]="));
        numbers.map(|(_, number)| number.parse::<u64>().unwrap()).collect::<Vec<_>>()
    };
    let orders = std::cell::RefCell::new(BTreeMap::new());
    let printed = |line: &str| {
        let found = numbers(&format!("{line} --write_iolog=order"));
        let log = std::fs::read_to_string(place.0.path().join("work/order")).unwrap();
        let places = |line: &str| line.split(" read ").nth(1).map(String::from);
        let order: Vec<String> = log.lines().filter_map(places).collect();
        assert_eq!((found.len(), order.len()), (1, 64), "{line}: {log}");
        let known = orders.borrow_mut().insert(found[0], order.clone());
        assert!(known.is_none_or(|known| known == order), "{line}");
        found[0]
    };
    let repeated = printed("");
    assert_eq!(printed("--allrandrepeat=1"), repeated);
    assert_eq!(numbers("--numjobs=3").len(), 3);
    assert_eq!(numbers("--rw=read").len(), 0, "nothing is drawn");
    let drawn = printed("--randrepeat=0");
    assert_ne!(printed("--randrepeat=0"), drawn);
    let [one, two] = ["--randseed=12345", "--randseed=67890"].map(printed);
    assert_eq!(printed("--randseed=12345 --randrepeat=0"), one);
    assert!(one != two && one != repeated && one != drawn && drawn != repeated);
    let orders: Vec<Vec<String>> = orders.into_inner().into_values().collect();
    assert_eq!(orders.len(), 5);
    assert!((1..5).all(|at| orders[..at].iter().all(|other| *other != orders[at])));
    let (came, _) = place.ran(&OURS, "--name=a --filename=two --rw=randread");
    assert!(came.status == 0 && !came.before.concat().contains("rand_seeds"));
}
