//! A rate is compared with what the link carries.

use super::*;

/// What is said of direct reads at 20.48 MB/s times `factor`, by a disk on this link.
fn reasons_of(
    factor: u64,
    transport: &str,
    link: &str,
    change: impl FnOnce(&mut Run),
) -> Vec<String> {
    let mut evidence = Evidence::reads();
    evidence.facts.target.devices[0].layer = "disk".into();
    evidence.facts.target.devices[0].transport = Some(transport.into());
    evidence.facts.target.devices[0].link = Some(link.into());
    evidence.device().read_bytes *= factor;
    evidence.observed().process.as_mut().unwrap().read_bytes *= factor;
    evidence.stream.size = Size(4096 * factor);
    let mut run = evidence.run();
    run.steps[0].tallies[0].kinds[0].bytes *= factor;
    change(&mut run);
    let step = summarise(&run).steps.remove(0);
    step.reasons.into_iter().map(|reason| reason.code).collect()
}

#[test]
fn nothing_is_faster_than_its_link() {
    let same = |_: &mut Run| {};
    // 614 MB/s where 600 can come through, and 573 MB/s.
    assert_eq!(reasons_of(30, "sata", "6.0 Gbps", same), ["faster_than_link"]);
    assert_eq!(reasons_of(28, "sata", "6.0 Gbps", same), [""; 0]);
    assert_eq!(reasons_of(28, "sata", "3.0 Gbps", same), ["faster_than_link"]);
    // 4.1 and 3.7 GB/s of 3.94.
    assert_eq!(reasons_of(200, "nvme", "8.0 GT/s PCIe x4", same), ["faster_than_link"]);
    assert_eq!(reasons_of(180, "nvme", "8.0 GT/s PCIe x4", same), [""; 0]);
}

#[test]
fn a_link_that_is_not_known_bounds_nothing() {
    assert_eq!(reasons_of(200, "virtio", "6.0 Gbps", |_| ()), [""; 0]);
    assert_eq!(reasons_of(200, "nvme", "64.0 GT/s PCIe x4", |_| ()), [""; 0]);
    let guest = |run: &mut Run| run.begin.facts.host.virtualisation = Some("KVM".into());
    assert_eq!(reasons_of(30, "sata", "6.0 Gbps", guest), [""; 0]);
    // What the page cache answers needs no link.
    let cached = |run: &mut Run| run.steps[0].plan.streams[0].io = IoMode::Buffered;
    let found = reasons_of(30, "sata", "6.0 Gbps", cached);
    assert!(!found.contains(&"faster_than_link".to_string()), "{found:?}");
}
