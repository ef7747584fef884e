//! What drives cost for what they give.

use super::{Setting, Study, wear};
use drivelab_core::facts::{Facts, TargetKind};
use drivelab_core::findings::{Entry, Figure, Head, Table, Unit};
use drivelab_core::price::Price;
use drivelab_core::study::StudyOptions;

/// The title of the table.
pub const TITLE: &str = "What it costs";
/// Bytes of a gigabyte and of a terabyte.
const GIGABYTE: f64 = 1e9;
const TERABYTE: f64 = 1e12;

/// One drive with what was found of it.
#[derive(Clone, Copy)]
pub struct Offer<'a> {
    /// What it is called.
    pub name: &'a str,
    /// What was asked.
    pub options: &'a StudyOptions,
    /// The drive.
    pub facts: &'a Facts,
    /// What was found.
    pub figures: &'a [Figure],
}

impl Offer<'_> {
    /// What was said of it, or else what was published.
    fn price(&self) -> Option<&Price> {
        self.options.price.as_ref().or(self.facts.target.price.as_ref())
    }

    /// Bytes of the whole drive, and of one only.
    fn drive_bytes(&self) -> Option<u64> {
        let target = &self.facts.target;
        if matches!(target.kind, TargetKind::Simulated | TargetKind::BlockDevice) {
            return target.bytes;
        }
        let mut disks = target.devices.iter().filter(|device| device.layer == "disk");
        let only = disks.next().filter(|_| disks.next().is_none())?;
        only.bytes
    }

    fn rate(&self, name: &str) -> Option<f64> {
        let is_it = |figure: &&Figure| figure.name == name && figure.unit == Unit::Iops;
        self.figures.iter().find(is_it).map(|figure| figure.estimate.value)
    }

    fn rated(&self) -> Option<wear::Rated> {
        wear::rated(&Setting { options: self.options, facts: self.facts })
    }
}

/// What each costs for what it gives; `None`: nobody said a price.
pub fn table(study: &Study, offers: &[Offer<'_>]) -> Option<Table> {
    offers.iter().find_map(Offer::price)?;
    let each = |of: &dyn Fn(&Offer<'_>) -> Option<f64>| -> Vec<Entry> {
        let words =
            |offer: &Offer<'_>| Some(offer.price()?.words(offer.price()?.amount * of(offer)?));
        let entry = |offer| words(offer).map_or(Entry::Nothing, Entry::Text);
        offers.iter().map(entry).collect()
    };
    let mut rows = vec![
        ("price".to_string(), each(&|_| Some(1.0))),
        ("per GB".to_string(), each(&|it| Some(GIGABYTE / it.drive_bytes()? as f64))),
    ];
    for name in study.priced {
        let per_thousand = |it: &Offer<'_>| Some(1000.0 / it.rate(name).filter(|it| *it > 0.0)?);
        rows.push((format!("per 1,000 IOPS, {name}"), each(&per_thousand)));
    }
    rows.push(("per TB of writes".to_string(), each(&|it| Some(TERABYTE / it.rated()?.bytes))));
    let is_known = |entries: &[Entry]| entries.iter().any(|entry| *entry != Entry::Nothing);
    let rows = rows.into_iter().filter(|(_, entries)| is_known(entries));
    let heads = std::iter::once("").chain(offers.iter().map(|offer| offer.name));
    Some(Table {
        title: TITLE.into(),
        note: note(offers),
        heads: heads.map(|name| Head { name: name.into(), unit: None }).collect(),
        rows: rows.map(|(name, entries)| [vec![Entry::Text(name)], entries].concat()).collect(),
    })
}

/// Where prices and endurance come from.
fn note(offers: &[Offer<'_>]) -> String {
    let mut said: Vec<String> = Vec::new();
    for offer in offers {
        let Some(price) = offer.price() else { continue };
        if !price.source.is_empty() {
            said.push(format!("Price of {}: {}.", offer.name, price.source));
        }
        if let Some(rated) = offer.rated() {
            said.push(format!("Writes of {}: {}.", offer.name, rated.because));
        }
    }
    let currencies: Vec<&str> =
        offers.iter().filter_map(Offer::price).map(|it| it.currency.as_str()).collect();
    if currencies.windows(2).any(|pair| pair[0] != pair[1]) {
        said.push("The currencies differ: prices are listed as they were given.".into());
    }
    said.join(" ")
}
