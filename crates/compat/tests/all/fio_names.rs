//! fio's engines of names as plans: what is made beforehand, how it is spelt, what is refused.

use crate::pretended::{Pretended, words};
use drivelab_compat::fio;
use drivelab_compat::front::{Asked, Found, Job, Refusal, Scale};
use drivelab_core::op::Action;
use drivelab_core::plan::{Act, Names, Role};
use drivelab_core::units::{Size, Span};

fn asked(line: &str, world: &Pretended) -> Result<Job, Refusal> {
    match fio::parse(&words(&format!("fio --name=j {line}")), world)? {
        Asked::Run { job, .. } => Ok(*job),
        Asked::Text(text) => panic!("{text}"),
    }
}

fn job(line: &str) -> Job {
    asked(line, &Pretended::default()).unwrap()
}

/// Role, what is done, how many names of each worker, bytes of each, workers, for each step.
fn steps(job: &Job) -> Vec<(Role, Vec<Action>, u32, u64, u32)> {
    let streams = job.plan.steps.iter().flat_map(|step| {
        assert!(step.act.is_none() || step.act == Some(Act::DropCaches), "{:?}", step.act);
        step.streams.iter().map(|stream| (step.role, stream))
    });
    let of = |(role, stream): (Role, &drivelab_core::plan::Stream)| {
        let names = stream.names().unwrap();
        (role, names.actions.clone(), names.count(), names.name_bytes.0, stream.workers)
    };
    streams.map(of).collect()
}

fn names(job: &Job) -> &Names {
    job.plan.steps.last().unwrap().streams[0].names().unwrap()
}

#[test]
fn each_engine_is_a_step_and_what_it_needs_is_made_before() {
    use Action::{Create, Mkdir, Stat, Unlink};
    let line = "--directory=/mnt/a --nrfiles=7 --numjobs=3 --filesize=8k";
    for (engine, made, action) in [
        ("filecreate", None, Create),
        ("filestat", Some((Create, 8192)), Stat),
        ("filedelete", Some((Create, 8192)), Unlink),
        ("dircreate", None, Mkdir),
        ("dirstat", Some((Mkdir, 0)), Stat),
        ("dirdelete", Some((Mkdir, 0)), Unlink),
    ] {
        let job = job(&format!("{line} --ioengine={engine}"));
        let before = made.map(|(action, bytes)| (Role::Prepare, vec![action], 7, bytes, 3));
        let wanted = before.into_iter().chain([(Role::Measure, vec![action], 7, 0, 3)]);
        assert_eq!(steps(&job), wanted.collect::<Vec<_>>(), "{engine}");
        let names = names(&job);
        assert_eq!(names.form.as_deref(), Some("j.{worker}.{name}"), "{engine}");
        assert_eq!(names.of_directories, engine.starts_with("dir"), "{engine}");
        assert!(!names.existing && job.keeps && job.target == "/mnt/a", "{engine}");
        assert!(job.plan.files.is_empty(), "{engine}");
        let note = job.notes.iter().find(|note| note.code == "names_move_no_data").unwrap();
        assert!(note.text.contains("counts as 2 requests of bs"), "{}", note.text);
        assert!(!job.notes.iter().any(|note| note.code == "order_repeats"), "{engine}");
        assert!(!job.notes.iter().any(|note| note.code == "in_page_cache"), "{engine}");
    }
}

#[test]
fn names_are_spelt_as_fio_does() {
    let form = |line: &str| {
        let line = format!("--ioengine=filecreate --directory=/mnt/a --size=64k {line}");
        names(&job(&line)).form.clone().unwrap()
    };
    assert_eq!(form("--filename=one"), "one");
    assert_eq!(form("--filename_format=$filenum-$jobnum.$jobname"), "{name}-{worker}.j");
    assert_eq!(form("--filename_format=x.$filenum --nrfiles=4"), "x.{name}");
    let deep =
        asked("--ioengine=filecreate --filename=/mnt/a/one --size=4k", &Pretended::default());
    let deep = deep.unwrap();
    assert_eq!((deep.target.as_str(), names(&deep).form.as_deref()), ("/mnt/a", Some("one")));
}

#[test]
fn what_is_there_is_looked_at_as_it_is() {
    let mut world = Pretended::default();
    for name in ["j.0.0", "j.0.1"] {
        world.found.insert(format!("/mnt/a/{name}"), Found::File { bytes: 12_288 });
    }
    let line = |engine: &str| format!("--ioengine={engine} --directory=/mnt/a --nrfiles=2");
    let job = asked(&line("filestat"), &world).unwrap();
    assert_eq!(steps(&job), [(Role::Measure, vec![Action::Stat], 2, 0, 1)]);
    assert!(names(&job).existing);
    let told = |code: &str| job.notes.iter().find(|note| note.code == code).unwrap().text.clone();
    assert!(
        told("names_move_no_data").contains("counts as 3 requests"),
        "of the size that is there"
    );
    assert!(told("names_are_there").contains("are looked at as they are, and stay"));
    let job = asked(&line("filedelete"), &world).unwrap();
    assert!(names(&job).existing && steps(&job).len() == 1);
    // Those that are there are not made again: the guard refuses them.
    assert!(!names(&asked(&line("filecreate"), &world).unwrap()).existing);
    let refused = |line: &str| asked(line, &world).unwrap_err();
    let refusal = refused(&line("dirstat"));
    assert!(refusal.text.contains("j.0.0 is not a directory"), "{}", refusal.text);
    let more = "--ioengine=filestat --directory=/mnt/a --nrfiles=3 --filesize=4k";
    let refusal = refused(more);
    assert!(refusal.text.contains("j.0.2 does not exist, and other names of the job do"));
    assert!(refusal.advice.contains("Remove those that are there"), "{}", refusal.advice);
}

#[test]
fn loops_and_time_are_for_what_can_be_looked_at_again() {
    let line = "--directory=/mnt/a --filesize=4k --nrfiles=2";
    let until = |more: &str| {
        let job = job(&format!("--ioengine=filestat {line} {more}"));
        let until = job.plan.steps.last().unwrap().until.clone();
        (until.passes, until.elapsed, until.bytes)
    };
    assert_eq!(until(""), (Some(1), None, None));
    assert_eq!(until("--loops=5"), (Some(5), None, None));
    let second = Some(Span(1_000_000_000));
    assert_eq!(until("--runtime=1"), (Some(1), second, None));
    assert_eq!(until("--runtime=1 --time_based"), (None, second, None));
    for (engine, way) in
        [("filecreate", "make nothing"), ("dirdelete", "nothing is left to remove")]
    {
        for more in ["--loops=2", "--time_based --runtime=1"] {
            let line = format!("--ioengine={engine} {line} {more}");
            let refusal = asked(&line, &Pretended::default()).unwrap_err();
            assert!(refusal.text.contains("loops and time_based with ioengine="), "{line}");
            assert!(refusal.advice.contains(way), "{}", refusal.advice);
        }
    }
}

#[test]
fn what_does_not_go_with_names_is_refused() {
    for (more, text) in [
        ("--filesize=4k --rw=randrw", "rw=randrw with ioengine=filestat"),
        ("--filesize=4k --rw=trim", "rw=trim with ioengine=filestat"),
        ("--filesize=4k --rw=write --verify=md5", "verify with ioengine=filestat"),
        ("--filesize=4k --rate_iops=5", "rate with ioengine=filestat"),
        ("--filesize=4k --thinktime=5", "thinktime with"),
        ("--filesize=4k --create_only=1", "create_only with"),
        ("--filesize=4k --write_iolog=log", "write_iolog with"),
        ("--filesize=4k --number_ios=5", "number_ios with"),
        ("--filesize=4k --io_size=5m", "io_size with"),
        ("--filesize=4k --bssplit=4k/50:8k/50", "bsrange and bssplit with"),
        ("--filesize=16k --offset=4k", "offset with"),
        ("--filesize=4k --pre_read=1", "pre_read with"),
        ("--filename=a:b --size=8k", "several names in filename="),
        ("--filename=a --size=8k --numjobs=2", "one name for all clones"),
        ("--filename_format=a.$jobnum --nrfiles=2 --size=8k", "one name for all of nrfiles"),
        ("--filename_format=a.{$filenum} --size=8k", "the name a.{$filenum}"),
        ("--filename=b/c --size=8k", "there is no directory /mnt/a/b"),
        ("--filesize=4k --directory=/mnt/a:/mnt/b", "names in several directories"),
        ("--filesize=100m", "files of more than 67108864 bytes"),
        ("--size=10%", "size in percent"),
        ("", "you need to specify size="),
        ("--size=4k --nrfiles=2", "blocksize is larger than data set range"),
        ("--filesize=4k --nrfiles=1000000 --numjobs=2", "2000000 names are more than one run"),
        ("--filesize=4k --stat_type=statx", "--stat_type=statx"),
        ("--filesize=4k --name=k --ioengine=psync", "jobs on names next to jobs on data"),
        ("--filesize=4k --filename=a --name=k SAME --filename=a", "/mnt/a/a is of several jobs"),
        ("--filesize=4k --name=k SAME --directory=/mnt/b", "names in several directories"),
    ] {
        let same = "--ioengine=filestat --directory=/mnt/a";
        let line = format!("{same} {}", more.replace("SAME", &format!("{same} --filesize=4k")));
        let refusal = asked(&line, &Pretended::default()).unwrap_err();
        assert!(refusal.text.contains(text), "{more}: {}", refusal.text);
        assert!(!refusal.advice.is_empty(), "{more}");
    }
    job("--ioengine=filestat --directory=/mnt/a --filesize=4k --stat_type=stat");
}

#[test]
fn very_many_names_do_not_stay_and_a_scaled_line_has_fewer() {
    let line = "--ioengine=filecreate --directory=/mnt/a --filesize=4k --numjobs=2";
    let removed = |job: &Job| job.notes.iter().any(|note| note.code == "names_removed");
    let few = job(&format!("{line} --nrfiles=32768"));
    assert!(few.keeps && !removed(&few));
    let many = job(&format!("{line} --nrfiles=32769"));
    assert!(!many.keeps && removed(&many));
    assert!(!job(&format!("{line} --unlink=1")).keeps);
    let scale = Scale { numerator: 1, denominator: 100 };
    let world = Pretended { scale, ..Pretended::default() };
    let scaled = asked(&format!("{line} --nrfiles=32769"), &world).unwrap();
    assert_eq!((names(&scaled).count(), scaled.keeps), (327, true));
    assert_eq!(names(&scaled).name_bytes, Size(0));
    assert!(scaled.notes.iter().any(|note| note.text.contains("fewer names, not smaller files")));
}
