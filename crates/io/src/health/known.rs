//! What SMART attributes mean whose meaning is the maker's: life left and bytes written.
//!
//! No standard names them, and one number means different things on different drives (202 is life
//! left on Crucial's drives and bad address marks on disks). So a drive is read this way only where
//! its model is one whose attributes are known: from its maker's data sheet, or from the database
//! of smartmontools (drivedb.h).

use super::smart::Smart;

/// Bytes that one of a raw value stands for.
const SECTOR: u64 = 512;
const MIB_32: u64 = 32 << 20;
const GIB: u64 = 1 << 30;

/// A family of models, by how their model strings begin.
struct Family {
    model: &'static str,
    /// Attribute whose normalised value sinks from 100 to 0 as the rated endurance is used.
    left: Option<u8>,
    /// Attribute whose raw value counts what hosts wrote, and its unit in bytes.
    written: Option<(u8, u64)>,
    /// Attribute whose raw value counts what it wrote to its flash, and its unit in bytes.
    flash: Option<(u8, u64)>,
}

const FAMILIES: [Family; 8] = [
    Family { model: "Samsung SSD 8", left: Some(177), written: Some((241, SECTOR)), flash: None },
    Family { model: "Crucial_CT", left: Some(202), written: Some((246, SECTOR)), flash: None },
    Family { model: "CT", left: Some(202), written: Some((246, SECTOR)), flash: None },
    Family { model: "Micron_1100", left: Some(202), written: Some((246, SECTOR)), flash: None },
    Family {
        model: "INTEL SSDSC2B",
        left: Some(233),
        written: Some((241, MIB_32)),
        flash: Some((243, MIB_32)),
    },
    Family {
        model: "INTEL SSDSC2K",
        left: Some(233),
        written: Some((241, MIB_32)),
        flash: Some((243, MIB_32)),
    },
    Family { model: "KINGSTON SA400", left: Some(231), written: Some((241, GIB)), flash: None },
    Family { model: "WDC WDS", left: None, written: Some((241, GIB)), flash: None },
];

/// A figure, and the attribute that it comes from in words.
pub type Sourced<T> = (T, String);

fn family(model: &str) -> Option<&'static Family> {
    // Makers put in spaces as they like.
    let model = model.split_whitespace().collect::<Vec<_>>().join(" ");
    // `CT500MX500SSD1`: the two letters alone are too few.
    let is_of = |family: &&Family| {
        model.starts_with(family.model) && (family.model != "CT" || model.contains("SSD"))
    };
    FAMILIES.iter().find(is_of)
}

/// Percent of the rated endurance that is used.
pub fn used_percent(model: &str, smart: &Smart) -> Option<Sourced<u32>> {
    let number = family(model)?.left?;
    let value = smart.attribute(number)?.value;
    (value <= 100).then(|| (100 - u32::from(value), format!("SMART attribute {number}")))
}

/// Bytes that hosts have written, and the unit in which they are counted.
pub fn written_bytes(model: &str, smart: &Smart) -> Option<Sourced<(u64, u64)>> {
    counted(smart, family(model)?.written?)
}

/// Bytes that the drive has written to its flash, and the unit in which they are counted.
pub fn flash_written_bytes(model: &str, smart: &Smart) -> Option<Sourced<(u64, u64)>> {
    counted(smart, family(model)?.flash?)
}

fn counted(smart: &Smart, (number, unit): (u8, u64)) -> Option<Sourced<(u64, u64)>> {
    let bytes = smart.attribute(number)?.raw.checked_mul(unit)?;
    Some(((bytes, unit), format!("SMART attribute {number}")))
}

#[cfg(test)]
mod tests {
    use super::super::smart::tests::data;
    use super::*;

    fn smart() -> Smart {
        let attributes = [(177, 0x13, 97, 40), (241, 0x32, 99, 1000), (202, 0x30, 88, 12)];
        Smart::read(&data(&attributes), &[]).unwrap()
    }

    #[test]
    fn an_attribute_means_what_its_maker_says() {
        let of = |model| (used_percent(model, &smart()), written_bytes(model, &smart()));
        let (used, written) = of("Samsung SSD 870 EVO 1TB");
        assert_eq!(used, Some((3, "SMART attribute 177".into())));
        assert_eq!(written, Some(((512_000, 512), "SMART attribute 241".into())));
        assert_eq!(of("CT500MX500SSD1"), (Some((12, "SMART attribute 202".into())), None));
        assert_eq!(of("WDC  WDS100T2B0A-00SM50").1.unwrap().0, (1000 << 30, 1 << 30));
        let attributes = [(241, 0x32, 100, 44_554), (243, 0x32, 100, 90_287)];
        let smart = Smart::read(&data(&attributes), &[]).unwrap();
        let flash = flash_written_bytes("INTEL SSDSC2BB480G6", &smart);
        assert_eq!(flash, Some(((90_287 << 25, 1 << 25), "SMART attribute 243".into())));
        assert_eq!(flash_written_bytes("Samsung SSD 870 EVO 1TB", &smart), None);
    }

    #[test]
    fn of_other_drives_nothing_is_concluded() {
        for model in ["WDC WD40EFRX-68N32N0", "QEMU HARDDISK", "CT", "", "SAMSUNG HD103SJ"] {
            assert_eq!(used_percent(model, &smart()), None, "{model}");
            assert_eq!(written_bytes(model, &smart()), None, "{model}");
        }
    }
}
