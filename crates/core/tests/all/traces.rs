//! Traces in plans: as text, what is refused of them, and when their requests are due.

use drivelab_core::arrival::Arrivals;
use drivelab_core::facts::TargetKind;
use drivelab_core::op::Action;
use drivelab_core::plan::{Arrival, Plan};
use drivelab_core::plan_text::{parse, render};
use drivelab_core::validate::{Geometry, validate};

fn text_of(keys: &str) -> String {
    format!("[[steps]]\nuntil = {{ passes = 1 }}\n[[steps.streams]]\npattern = \"trace\"\n{keys}")
}

fn plan(keys: &str) -> Plan {
    parse(&text_of(keys), "plan.toml").unwrap()
}

const SOUND: &str = "mix = { read = 1, write = 1 }\nsize = \"4k\"\npace = 2.0\n\
    requests = [\"0 read 8192 4096\", \"1000 write 0 4096\", \"3000 flush 0 0\"]\n";

fn problems(keys: &str) -> String {
    let geometry = Geometry {
        kind: TargetKind::BlockDevice,
        file_bytes: Some(1 << 20),
        logical_block_bytes: 4096,
        lacks_page_cache: false,
        memory_bytes: None,
    };
    let found = validate(&plan(keys), &geometry).err().unwrap_or_default();
    found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_trace_is_read_and_written_as_text() {
    let read = plan(SOUND);
    let stream = &read.steps[0].streams[0];
    assert_eq!(stream.requests().len(), 3);
    assert_eq!(stream.arrival, Arrival::Trace { pace: 2.0 });
    assert_eq!(stream.kinds(), [Action::Read, Action::Write, Action::Flush]);
    assert!(stream.is_open());
    assert_eq!(parse(&render(&read), "again.toml").unwrap(), read);
    assert_eq!(problems(SOUND), "");
}

#[test]
fn requests_are_due_once_at_their_pace_and_shared_by_workers() {
    let mut stream = plan(SOUND).steps[0].streams[0].clone();
    let due = |arrivals: &mut Arrivals| [arrivals.next(), arrivals.next(), arrivals.next()];
    let mut alone = Arrivals::of(&stream, 0, 7).unwrap();
    assert_eq!(due(&mut alone), [0, 500, 1500]);
    assert!(alone.next() > 1 << 62, "behind a trace comes nothing");
    stream.workers = 2;
    assert_eq!(due(&mut Arrivals::of(&stream, 0, 7).unwrap())[..2], [0, 1500]);
    assert_eq!(Arrivals::of(&stream, 1, 7).unwrap().next(), 500);
    stream.arrival = Arrival::AT_ONCE;
    assert!(Arrivals::of(&stream, 0, 7).is_none(), "a closed loop has no due times");
}

#[test]
fn what_contradicts_its_requests_is_refused() {
    for (from, to, says) in [
        ("write = 1", "write = 0", "the requests hold a write and the mix does not"),
        ("write = 1", "write = 1, trim = 1", "the mix has trims and the requests do not"),
        ("size = \"4k\"", "size = \"8k\"", "a request has 4096 bytes"),
        ("8192", "512", "does not begin at a 4096-byte block"),
        ("8192", "1048576", "beyond the region of 1048576 bytes"),
        ("1000 write", "9000 write", "in the order of their times"),
        ("pace = 2.0", "pace = -1.0", "how many times as fast"),
        ("pace = 2.0", "sync = \"fsync:1\"", "has its own flushes"),
    ] {
        let found = problems(&SOUND.replace(from, to));
        assert!(found.contains(says), "{from} to {to}: {found}");
    }
    assert!(problems("pace = 1.0\n").contains("needs `requests`"));
    let both = text_of(&SOUND.replace("pace = 2.0", "pace = 2.0\nrate = 5.0"));
    let error = parse(&both, "plan.toml").unwrap_err().to_string();
    assert!(error.contains("leave no room for rate"), "{error}");
    let text = "[[steps]]\n[[steps.streams]]\nrequests = [\"0 leap 0 1\"]\n";
    let error = parse(text, "plan.toml").unwrap_err().to_string();
    assert!(error.contains("line 3") && error.contains("is not a traced request"), "{error}");
}
