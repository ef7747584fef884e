//! Files that a line leaves behind: the next line uses them again, unless somebody has written to
//! them meanwhile.

use crate::cli_user;
use crate::cli_user::User;
use std::fs::{File, FileTimes};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::time::{Duration, Instant};

const SINCE: &str = "was made by drivelab and was changed since: its content is no longer drivelab";
const RUN: [&str; 9] =
    ["run", "data", "--size", "1m", "--rw", "write", "--operations", "10", "--keep"];

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// Types a line as often as it takes a person to see that it can be typed again.
#[track_caller]
fn again_and_again(user: &User, line: &str) {
    for _ in 0..3 {
        user.types(&words(line)).fine();
    }
}

/// Every file of the directory, and whose inode it is.
fn inodes(user: &User) -> Vec<(String, u64)> {
    let inode = |name: &String| std::fs::metadata(user.work().join(name)).unwrap().ino();
    user.listing().into_iter().map(|name| (name.clone(), inode(&name))).collect()
}

#[test]
fn the_lines_of_all_tools_can_be_typed_again() {
    let lines = [
        "fio --name=a --size=1m --rw=write",
        "fio --name=a --size=1m --rw=randrw --verify=crc32c --direct=1 --ioengine=libaio",
        "fio --name=b --size=512k --rw=randread --numjobs=2 --nrfiles=2",
        "fio --name=c --size=512k --rw=randwrite --ioengine=mmap",
        "fio --name=d --size=512k --rw=write --filename=x:y --end_fsync=1",
        "fio --name=gone --size=512k --rw=write --unlink=1",
        "iozone -w -i 0 -i 1 -s 512 -r 64 -f zone",
        "iozone -w -i 1 -s 512 -r 64 -f zone",
        "iozone -w -B -i 0 -s 512 -r 64 -f zone",
        "iozone -w -t 2 -i 0 -s 512 -r 64",
        "iozone -i 0 -i 1 -s 512 -r 64",
        "ior -w -k -o ior -b 512k -t 64k",
        "ior -w -r -k -i 2 -F -o ior -b 512k -t 64k",
        "mdtest -d . -n 10",
        "metarates -d . -n 10 -C -S -U",
        "run data --size 1m --rw write --operations 10 --keep",
        "run data --rw randrw --operations 10",
        "run set --size 1m --rw write --files each --workers 2 --operations 10 --keep",
        "bare data --rw randwrite --engine mmap --io buffered --runtime 50ms",
    ];
    for user in [User::new(), User::on_disk()] {
        for line in lines {
            for _ in 0..3 {
                let said = user.types(&words(line));
                // What is suspect on a disk that all share is no matter here.
                let is_suspect = said.status == Some(4) && said.err.contains(": suspect: ");
                assert!(said.status == Some(0) || is_suspect, "{line}\n{}", said.err);
            }
        }
        let before = inodes(&user);
        assert_eq!(before.len(), 16, "{before:?}");
        lines.iter().rev().for_each(|line| drop(user.types(&words(line))));
        assert_eq!(inodes(&user), before, "they were used, and not made anew");
    }
}

#[test]
fn iometer_uses_its_file_again() {
    let user = User::new();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../compat/tests/corpus/iometer");
    let text = std::fs::read_to_string(corpus.join("linux-mounted.icf")).unwrap();
    let text = text.replace("4096,100,100,100,", "4096,100,0,100,").replace("2097152,", "2048,");
    user.write("job.icf", text);
    let line = "iometer /c job.icf /r out.csv --target . --scale-time 1/600";
    again_and_again(&user, line);
    let file = user.work().join("iobw.tst");
    overwrite(&file, b"precious");
    let said = user.types(&words(line)).status(3);
    assert!(said.err.contains(SINCE), "{}", said.err);
    assert_eq!(std::fs::read(file).unwrap()[..8], *b"precious");
}

fn overwrite(path: &Path, bytes: &[u8]) {
    File::options().write(true).open(path).unwrap().write_all_at(bytes, 0).unwrap();
}

#[test]
fn what_was_written_into_a_kept_file_stays() {
    let fio = words("fio --name=a --size=1m --rw=write --filename=data --notes=none");
    let lines: [&[&str]; 4] = [
        &fio,
        &words("iozone -w -i 0 -s 1024 -r 64 -f data"),
        &words("ior -w -k -o data -b 1m -t 64k"),
        &RUN,
    ];
    for line in lines {
        let user = User::new();
        let path = user.work().join("data");
        // Shorter, as long as it was, and with its time set back.
        let changes: [(&dyn Fn(), &str); 3] = [
            (&|| std::fs::write(&path, "precious\n").unwrap(), SINCE),
            (&|| overwrite(&path, &[9; 1 << 20]), SINCE),
            (
                &|| {
                    let modified = std::fs::metadata(&path).unwrap().modified().unwrap();
                    let file = File::options().write(true).open(&path).unwrap();
                    file.write_all_at(b"precious", 4096).unwrap();
                    file.set_times(FileTimes::new().set_modified(modified)).unwrap();
                },
                "changed with its time set back since",
            ),
        ];
        for (change, says) in changes {
            let _ = std::fs::remove_file(&path);
            user.types(line).fine();
            change();
            let precious = std::fs::read(&path).unwrap();
            let said = user.types(line).status(3);
            assert!(said.err.contains("drivelab: refused: ") && said.err.contains(says));
            assert!(said.err.contains("Move or remove the file"), "{}", said.err);
            assert!(said.out.is_empty(), "{}", said.out);
            assert_eq!(std::fs::read(&path).unwrap(), precious, "{line:?}");
        }
        std::fs::rename(&path, user.work().join("mine")).unwrap();
        user.types(line).fine();
    }
}

#[test]
fn the_file_of_a_run_that_was_killed_is_ours() {
    let user = User::new();
    user.types(&RUN).fine();
    let path = user.work().join("data");
    let modified = || std::fs::metadata(&path).unwrap().modified().unwrap();
    let before = modified();
    let long = ["run", "data", "--rw", "write", "--runtime", "100s", "--io", "buffered"];
    let mut running = user.starts(&long);
    let begin = Instant::now();
    while modified() == before {
        assert!(begin.elapsed() < Duration::from_secs(30), "it does not write");
        std::thread::sleep(Duration::from_millis(10));
    }
    running.kill().unwrap();
    running.wait().unwrap();
    user.types(&RUN).fine();
    assert_eq!(user.listing(), ["data"]);
    std::fs::write(&path, "precious").unwrap();
    user.types(&RUN).refused(3, SINCE);
    // What only reads may read it.
    user.types(&["run", "data", "--rw", "read", "--bs", "1", "--operations", "1"]);
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
}

#[test]
fn an_interrupted_line_has_said_how_it_left_its_file() {
    let user = User::new();
    let line = words("fio --name=a --size=1m --rw=write --time_based --runtime=100");
    let running = user.starts(&line);
    let path = user.work().join("a.0.0");
    let begin = Instant::now();
    while std::fs::metadata(&path).map_or(0, |found| found.blocks()) == 0 {
        assert!(begin.elapsed() < Duration::from_secs(30), "it does not write");
        std::thread::sleep(Duration::from_millis(10));
    }
    let id = running.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let said = cli_user::Said::of(&line, running.wait_with_output().unwrap());
    said.status(130);
    let short = words("fio --name=a --size=1m --rw=write");
    user.types(&short).fine();
    overwrite(&path, b"precious");
    user.types(&short).status(3);
    assert_eq!(std::fs::read(&path).unwrap()[..8], *b"precious");
}

/// IOR removes what stands before it writes, so that what it leaves is what this line asks for.
#[test]
fn a_line_of_ior_without_k_removes_what_an_earlier_one_kept() {
    let user = User::new();
    let typed = |line: &str| user.types(&words(line)).fine();
    typed("ior -w -k -t 64k -b 128k -o there");
    typed("ior -w -k -t 64k -b 64k -o there");
    assert_eq!(std::fs::metadata(user.work().join("there")).unwrap().len(), 64 << 10);
    for in_place in ["-E", "-a MMAP"] {
        let said = typed(&format!("ior -w {in_place} -t 64k -b 64k -o there"));
        assert!(said.err.contains("written in place and stays; IOR removes it"), "{}", said.err);
        assert!(user.work().join("there").exists(), "{in_place}");
    }
    typed("ior -w -t 64k -b 64k -o there");
    assert_eq!(user.listing(), [""; 0]);
    typed("ior -w -k -t 64k -b 64k -o there");
    std::fs::write(user.work().join("there"), "precious").unwrap();
    user.types(&words("ior -w -t 64k -b 64k -o there")).status(3);
    assert_eq!(std::fs::read(user.work().join("there")).unwrap(), b"precious");
}
