use super::*;
use drivelab_core::plan::{Engine, Mix};

fn namespace() -> Namespace {
    Namespace {
        name: "nvme0n1".into(),
        block_bytes: 512,
        request_bytes_max: 508 << 10,
        trim_bytes_max: 1 << 20,
        ..Namespace::default()
    }
}

fn refused(size: u64, mix: Mix) -> Option<String> {
    let engine = Engine::IoUringCmd;
    let stream = Stream { engine, mix, size: Size(size), ..Stream::default() };
    refuse_sizes(&stream, &namespace()).err().map(|failure| failure.parts().0.to_string())
}

#[test]
fn a_request_is_one_command() {
    assert_eq!(refused(508 << 10, Mix::READ), None);
    for mix in [Mix::READ, Mix::WRITE] {
        let said = refused(512 << 10, mix).expect("too much for one command");
        assert!(said.contains("a request of 512KiB is more than one NVMe command"), "{said}");
        assert!(said.contains("508KiB at most"), "{said}");
        assert!(said.contains("use --bs 256KiB or less, or --engine io_uring"), "{said}");
    }
}

#[test]
fn a_trim_has_a_limit_of_its_own() {
    let trim = Mix { read: 0, write: 0, trim: 100 };
    assert_eq!(refused(1 << 20, trim), None, "a trim moves no data");
    let said = refused(2 << 20, trim).expect("too much for one command");
    assert!(said.contains("a trim of 2MiB") && said.contains("1MiB at most"), "{said}");
    let stream = Stream { mix: trim, ..Stream::default() };
    let unable = Namespace { trim_bytes_max: 0, ..namespace() };
    let failure = refuse_sizes(&stream, &unable).expect_err("no trims");
    assert!(failure.parts().0.contains("does not trim"), "{failure:?}");
}
