use super::*;

#[test]
fn an_instance_is_left_over_when_its_very_process_is_gone() {
    let place = tempfile::tempdir().expect("a directory");
    let make = |name: &str| {
        let path = place.path().join(name);
        std::fs::create_dir(&path).expect("an instance");
        path
    };
    make(&own_name());
    make("somebody-1-1");
    make("drivelab-x-y");
    make("drivelab-1");
    // The same number, another process: ours started later than the machine.
    let gone = make(&format!("{PREFIX}{}-0", std::process::id()));
    assert_eq!(leftovers(place.path()), [gone]);
}

#[test]
fn the_kernel_counts_what_it_lost() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let text = "entries: 7\noverrun: 3\ncommit overrun: 0\nbytes: 9\ndropped events: 2\n";
    std::fs::write(file.path(), text).expect("text");
    assert_eq!(lost(file.path()), 5);
    assert_eq!(lost(Path::new("/nowhere")), 0);
}
