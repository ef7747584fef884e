//! fio's engines of names: what they count, here and in fio; and whose names they leave alone.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const OURS: [&str; 3] = [env!("CARGO_BIN_EXE_drivelab"), "fio", "--notes=none"];
const THEIRS: [&str; 1] = ["fio"];

/// A home, and a directory `d` in it for names.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    std::fs::create_dir(home.path().join("d")).unwrap();
    home
}

fn command(program: &[&str], line: &str, home: &Path) -> Command {
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).args(["--output-format=json", "--directory=d", "--name=j"]);
    command.args(line.split(' ')).current_dir(home);
    command.env("XDG_DATA_HOME", home.join("home")).env_remove("DRIVELAB_NOTES");
    command
}

fn ran(program: &[&str], line: &str, home: &Path) -> Output {
    command(program, line, home).output().unwrap()
}

fn done(program: &[&str], line: &str, home: &Path) -> Value {
    let output = ran(program, line, home);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Runs a line that is refused for safety, and gives the reason.
fn refused(line: &str, home: &Path) -> String {
    let before = names(home);
    let output = ran(&OURS, line, home);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{line}: {said}");
    assert_eq!(names(home), before, "{line}");
    said
}

fn names(home: &Path) -> Vec<String> {
    let listed = std::fs::read_dir(home.join("d")).unwrap();
    let mut names: Vec<String> =
        listed.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// What is counted of each direction, which figures are filled, and whether drives are shown.
fn counts(json: &Value) -> Vec<String> {
    let side = |job: &Value, word: &str| {
        let side = &job[word];
        let samples = |of: &str| side[of]["N"].as_u64().unwrap();
        let samples = ["slat_ns", "clat_ns", "lat_ns"].map(samples);
        let is_listed = side["clat_ns"].get("percentile").is_some();
        format!("{word} {} {} {samples:?} {is_listed}", side["total_ios"], side["io_bytes"])
    };
    let spread = |job: &Value| {
        let of = |unit: &str| job[unit].as_object().unwrap().clone();
        let all = ["latency_ns", "latency_us", "latency_ms"].map(of);
        all.iter().flatten().filter(|(_, share)| share.as_f64() != Some(0.0)).count()
    };
    let of = |job: &Value| {
        let sides = ["read", "write", "trim"].map(|word| side(job, word)).join(", ");
        format!("{sides}, {} shares, depth {}", spread(job), job["iodepth_level"])
    };
    let mut counts: Vec<String> = json["jobs"].as_array().unwrap().iter().map(of).collect();
    counts.push(format!("drives {}", json.get("disk_util").is_some_and(|it| !it.is_null())));
    counts
}

#[test]
fn fio_counts_the_same() {
    for line in [
        "--nrfiles=3 --filesize=4k",
        "--nrfiles=3 --filesize=16k --numjobs=2",
        "--nrfiles=4 --size=64k --bs=8k --rw=write",
        "--nrfiles=2 --filesize=4k --rw=randread --numjobs=2 --group_reporting",
        "--filename=one --size=4k --openfiles=1 --unlink=1",
        "--filesize=4k --nrfiles=2 --filename_format=x$jobnum-$filenum.$jobname",
    ] {
        for engine in ["filecreate", "filestat", "filedelete"] {
            let line = format!("--ioengine={engine} {line}");
            let (own, theirs) = (home(), home());
            let (one, other) =
                (done(&OURS, &line, own.path()), done(&THEIRS, &line, theirs.path()));
            assert_eq!(counts(&one)[..], counts(&other)[..], "{line}");
            assert_eq!(names(own.path()), names(theirs.path()), "{line}");
        }
    }
    let line = "--ioengine=filestat --nrfiles=3 --filesize=4k --loops=3";
    let (own, theirs) = (home(), home());
    let (one, other) = (done(&OURS, line, own.path()), done(&THEIRS, line, theirs.path()));
    assert_eq!(counts(&one), counts(&other));
}

#[test]
fn directories_count_as_files_do() {
    // Debian's fio is older than these engines.
    for (engine, left) in [("dircreate", 6), ("dirstat", 6), ("dirdelete", 0)] {
        let home = home();
        let line = format!("--ioengine={engine} --nrfiles=3 --numjobs=2 --filesize=8k");
        let counts = counts(&done(&OURS, &line, home.path()));
        assert!(counts[0].starts_with("read 6 24576 [0, 3, 0] true, write 0 0 "), "{counts:?}");
        assert_eq!((counts[0] == counts[1], counts[2].as_str()), (true, "drives false"));
        let found = names(home.path());
        assert_eq!(found.len(), left, "{engine}: {found:?}");
        assert!(found.iter().all(|name| home.path().join("d").join(name).is_dir()));
    }
}

#[test]
fn each_operation_has_a_line_in_the_log_of_completions() {
    let home = home();
    let line = "--ioengine=filestat --nrfiles=3 --filesize=8k --rw=write --write_lat_log=log";
    done(&OURS, line, home.path());
    let read = |name: &str| std::fs::read_to_string(home.path().join(name)).unwrap();
    let lines = read("log_clat.1.log");
    let ends = lines.lines().map(|line| line.splitn(3, ", ").nth(2).unwrap());
    assert_eq!(ends.collect::<Vec<_>>(), ["1, 0, 0"; 3], "as fio's: no bytes, no offset");
    assert_eq!((read("log_lat.1.log").as_str(), read("log_slat.1.log").as_str()), ("", ""));
}

#[test]
fn only_what_an_earlier_line_left_is_removed() {
    let home = home();
    let path = |name: &str| home.path().join("d").join(name);
    let of = |engine: &str| format!("--ioengine={engine} --nrfiles=3 --filesize=4k");
    std::fs::write(path("other"), b"somebody's").unwrap();
    done(&OURS, &of("filecreate"), home.path());
    assert!(refused(&of("filecreate"), home.path()).contains("j.0.0 exists already"));
    done(&OURS, &of("filestat"), home.path());
    done(&OURS, &of("filedelete"), home.path());
    assert_eq!(names(home.path()), ["other"]);
    // Written since, another's, a link, a directory.
    done(&OURS, &of("filecreate"), home.path());
    std::fs::write(path("j.0.1"), b"mine now").unwrap();
    assert!(refused(&of("filedelete"), home.path()).contains("was changed since"));
    std::fs::remove_file(path("j.0.1")).unwrap();
    std::fs::write(path("j.0.1"), b"mine").unwrap();
    let said = refused(&of("filedelete"), home.path());
    assert!(said.contains("j.0.1 exists and was not made by drivelab"), "{said}");
    assert!(said.contains("Remove it yourself, or use other names"), "{said}");
    std::fs::remove_file(path("j.0.1")).unwrap();
    std::os::unix::fs::symlink("j.0.0", path("j.0.1")).unwrap();
    let said = refused(&of("filedelete"), home.path());
    assert!(said.contains("j.0.1 exists and was not made by drivelab"), "{said}");
    std::fs::remove_file(path("j.0.1")).unwrap();
    std::fs::create_dir(path("j.0.1")).unwrap();
    let output = ran(&OURS, &of("filedelete"), home.path());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("j.0.1 is not a regular file"), "{said}");
    assert_eq!(names(home.path()), ["j.0.0", "j.0.1", "j.0.2", "other"]);
    // A link to nothing takes a name, too.
    let other = "--ioengine=filecreate --size=4k --filename=link";
    std::os::unix::fs::symlink("nothing", path("link")).unwrap();
    assert!(refused(other, home.path()).contains("link exists already"));
    assert!(!path("nothing").exists());
}

#[test]
fn directories_of_others_and_full_ones_stay() {
    let home = home();
    let path = |name: &str| home.path().join("d").join(name);
    let of = |engine: &str| format!("--ioengine={engine} --nrfiles=2");
    std::fs::create_dir(path("j.0.0")).unwrap();
    std::fs::create_dir(path("j.0.1")).unwrap();
    done(&OURS, &of("dirstat"), home.path());
    assert!(refused(&of("dirdelete"), home.path()).contains("was not made by drivelab"));
    assert!(refused(&of("dircreate"), home.path()).contains("exists already"));
    std::fs::remove_dir(path("j.0.0")).unwrap();
    std::fs::remove_dir(path("j.0.1")).unwrap();
    done(&OURS, &of("dircreate"), home.path());
    std::fs::write(path("j.0.1").join("mine"), b"").unwrap();
    assert!(refused(&of("dirdelete"), home.path()).contains("was changed since"));
    std::fs::remove_dir_all(path("j.0.1")).unwrap();
    std::fs::remove_dir_all(path("j.0.0")).unwrap();
    done(&OURS, &of("dircreate"), home.path());
    done(&OURS, &of("dirdelete"), home.path());
    assert_eq!(names(home.path()), [""; 0]);
}

/// Starts a line of very many names, and waits until some are there.
fn begun(line: &str, home: &Path) -> std::process::Child {
    let mut command = command(&OURS, line, home);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begin = Instant::now();
    while names(home).len() < 20 {
        assert!(begin.elapsed() < Duration::from_secs(60), "no name was made");
        std::thread::sleep(Duration::from_millis(2));
    }
    child
}

const MANY: &str = "--nrfiles=65000 --filesize=4k";

#[test]
fn an_interrupted_line_has_its_own_names_and_no_other() {
    let home = home();
    // It makes them with their content beforehand, which takes a while.
    let mut child = begun(&format!("--ioengine=filestat {MANY}"), home.path());
    let other = home.path().join("d/j.0.64999");
    std::fs::write(&other, b"somebody's").unwrap();
    send(child.id(), "INT");
    assert!(child.wait().unwrap().code().is_some(), "it ends by itself");
    assert_eq!(std::fs::read(&other).unwrap(), b"somebody's");
    let list = std::fs::read_to_string(home.path().join("home/drivelab/scratch.jsonl")).unwrap();
    assert!(list.contains("j.0.7\"") && !list.contains("j.0.64999"), "only its own are listed");
}

#[test]
fn what_a_killed_line_left_is_nobodys() {
    let home = home();
    let line = format!("--ioengine=filecreate {MANY}");
    let mut child = begun(&line, home.path());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(refused(&line, home.path()).contains("exists already"));
    let few = "--ioengine=filedelete --nrfiles=3 --filesize=4k";
    let said = refused(few, home.path());
    assert!(said.contains("j.0.0 exists and was not made by drivelab"), "{said}");
}

fn send(process: u32, signal: &str) {
    let sent = Command::new("kill").args([&format!("-{signal}"), &process.to_string()]).status();
    assert!(sent.unwrap().success());
}
