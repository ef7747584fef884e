//! What was measured, compared with what the drive's link carries.

use drivelab_core::facts::Facts;
use drivelab_core::link::{self, Link};
use drivelab_core::quantity::{bandwidth, percent};

/// Shares of the link that large reads and writes take, in a sentence; `None`: the link is not
/// known, or nothing was measured.
pub fn said(facts: &Facts, read: Option<f64>, written: Option<f64>) -> Option<String> {
    let link = link::of(facts)?;
    let [read, written] = shares(&link, read, written);
    let part = |word: &str, share: Option<f64>| Some(format!("{word} {}", percent(share?)));
    let parts: Vec<String> =
        [part("reads", read), part("writes", written)].into_iter().flatten().collect();
    let rate = link.rate;
    let carries = match rate.read_bytes_per_s == rate.write_bytes_per_s {
        true => bandwidth(rate.read_bytes_per_s as f64),
        false => format!(
            "{} to the host and {} to the drive",
            bandwidth(rate.read_bytes_per_s as f64),
            bandwidth(rate.write_bytes_per_s as f64)
        ),
    };
    let name = link.name;
    (!parts.is_empty())
        .then(|| format!("Of what {name} carries ({carries}), sequentially: {}.", parts.join(", ")))
}

/// The shares that reads and writes take of a link.
pub fn shares(link: &Link, read: Option<f64>, written: Option<f64>) -> [Option<f64>; 2] {
    let of = |rate: Option<f64>, most: u64| Some(rate? / most.max(1) as f64);
    [of(read, link.rate.read_bytes_per_s), of(written, link.rate.write_bytes_per_s)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::facts::{DeviceFacts, LinkRate, SimulatedFacts, TargetKind};

    #[test]
    fn a_rate_is_a_share_of_a_link_that_is_known_and_of_no_other() {
        let mut facts = Facts::default();
        facts.target.kind = TargetKind::BlockDevice;
        facts.target.devices = vec![DeviceFacts {
            layer: "disk".into(),
            transport: Some("nvme".into()),
            link: Some("8.0 GT/s PCIe x4".into()),
            ..DeviceFacts::default()
        }];
        let text = said(&facts, Some(3.5e9), Some(2e9)).unwrap();
        assert_eq!(
            text,
            "Of what PCIe 3.0 x4 carries (3.94 GB/s), sequentially: reads 89 %, writes 51 %."
        );
        assert_eq!(said(&facts, None, None), None);
        facts.target.devices[0].link = None;
        assert_eq!(said(&facts, Some(3.5e9), Some(2e9)), None);
        facts.target.kind = TargetKind::Simulated;
        let link = LinkRate { read_bytes_per_s: 1_000, write_bytes_per_s: 500, one_way: false };
        facts.target.simulated = Some(SimulatedFacts { link: Some(link), ..Default::default() });
        let text = said(&facts, Some(970.0), None).unwrap();
        assert!(text.contains("to the host and") && text.ends_with("reads 97 %."), "{text}");
    }
}
