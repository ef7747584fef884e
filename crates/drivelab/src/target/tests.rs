use super::*;
use crate::outcome::Status;
use drivelab_core::facts::Facts;

fn device(bytes: Option<u64>) -> ResolvedTarget {
    let mut facts = Facts::default();
    facts.target.bytes = bytes;
    ResolvedTarget {
        path: PathBuf::from("/dev/sr0"),
        kind: Kind::Device,
        facts,
        file_bytes: bytes.unwrap_or(0),
        files: 1,
        simulated: None,
        generic: None,
    }
}

#[test]
fn a_device_that_holds_nothing_has_no_medium() {
    let said = |bytes| device(bytes).must_be_there("/dev/sr0", Missing::Made);
    let failure = said(Some(0)).unwrap_err();
    assert_eq!(failure.status, Status::Usage);
    let words = "there is no medium in /dev/sr0, or it has gone: it holds 0 bytes";
    assert_eq!(failure.text, words);
    assert!(said(Some(512)).is_ok() && said(None).is_ok(), "of which the size is not known");
}
