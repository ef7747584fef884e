//! The token by which a person says which device may be erased, and what is on it.

use std::os::fd::OwnedFd;
use std::path::Path;

use drivelab_core::facts::DeviceFacts;

use super::medium::Medium;
use super::refusal::{Refusal, capacity, failed};
use super::sampled::Sampled;
use crate::facts::Tree;
use crate::signature;
use crate::system::{DeviceNumber, System, read_number};

/// The token of a device as it is now.
pub(super) struct Token {
    pub(super) text: String,
    pub(super) signatures: Vec<String>,
    bytes: u64,
    /// The device alone, whatever is on it.
    name: String,
    /// What is in it, where it has no serial number.
    medium: Option<Medium>,
}

impl Token {
    /// Whether it names the device that an earlier token named, whatever is on it now.
    pub(super) fn is_of(&self, earlier: &str) -> bool {
        let rest = earlier.strip_prefix(&self.name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    }
}

/// Reads size and signatures from an open device and makes its token:
/// `SERIAL`, or `NAME:BYTES` and what tells the medium, then `:TYPES`.
///
/// A partition has its disk's serial followed by `-partN`, and a second namespace of an NVMe
/// controller `-nN` (as udev names both), so that one token never names two devices.
pub(super) fn of_open_device(
    system: &System,
    label: &str,
    number: DeviceNumber,
    open: &OwnedFd,
) -> Result<Token, Refusal> {
    let bytes = rustix::fs::seek(open, rustix::fs::SeekFrom::End(0))
        .map_err(|error| failed(format!("the size of {label} cannot be read"), &error.into()))?;
    if bytes == 0 {
        return Err(Refusal::usage("no_size", format!("{label} has no size."))
            .advise("There is no medium, or nothing is attached: for a loop device, losetup."));
    }
    let mut signatures = signature::on_descriptor(open, bytes)
        .map_err(|error| failed(format!("what {label} holds cannot be read"), &error))?;
    if signatures.is_empty() {
        // What we do not know by sight, udev may.
        signatures.extend(crate::facts::content_type(system, number));
    }
    let (name, has_serial) = name(system, number, bytes);
    let tree = Tree::new(system);
    let disk = tree.parent(number).unwrap_or(number);
    let medium = if has_serial { None } else { Medium::of(&tree, disk, open) };
    let types: Vec<String> = signatures.iter().map(|name| clean(name)).collect();
    let types = Some(types.join("+")).filter(|types| !types.is_empty());
    let parts = [Some(name.clone()), medium.as_ref().map(|it| clean(&it.word())), types];
    let text = parts.into_iter().flatten().collect::<Vec<_>>().join(":");
    Ok(Token { text, signatures, bytes, name, medium })
}

/// The part that names the device, and whether that is a serial number.
fn name(system: &System, number: DeviceNumber, bytes: u64) -> (String, bool) {
    let tree = Tree::new(system);
    let disk = tree.parent(number).unwrap_or(number);
    let facts = facts(system, disk);
    if let Some(serial) = facts.as_ref().and_then(|facts| facts.serial.as_deref()) {
        let mut name = clean(serial);
        if let Some(namespace) = namespace(&tree, disk) {
            name.push_str(&format!("-n{namespace}"));
        }
        if let Some(index) = tree.partition_index(number) {
            name.push_str(&format!("-part{index}"));
        }
        return (name, true);
    }
    // A device-mapper device is known by its own name: `dm-3` may be another after a reboot.
    let mapped = facts.filter(|facts| disk == number && facts.layer != "md");
    let mapped = mapped.and_then(|facts| facts.layer_name);
    let own = mapped.or_else(|| tree.name(number)).unwrap_or_else(|| number.to_string());
    (format!("{}:{bytes}", clean(&own)), false)
}

/// The facts of a device without its signatures, which are read from the open descriptor.
fn facts(system: &System, number: DeviceNumber) -> Option<DeviceFacts> {
    crate::facts::device_of_sysfs(system, number)
}

/// The NVMe namespace of a disk, if it is not the first: controllers share one serial.
fn namespace(tree: &Tree, disk: DeviceNumber) -> Option<u32> {
    let identifier: u32 = read_number(&tree.directory(disk)?.join("nsid"))?;
    (identifier != 1).then_some(identifier)
}

/// Bytes other than `A-Za-z0-9._-` become `_`.
pub(super) fn clean(text: &str) -> String {
    let plain = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-' => char::from(byte),
        _ => '_',
    };
    text.bytes().map(plain).collect()
}

/// The device in a few words: `/dev/sdb (WDC WD40EFRX, 4.0 TB)`.
pub(super) fn label(system: &System, path: &Path, number: DeviceNumber) -> String {
    let shown = path.display();
    let tree = Tree::new(system);
    let disk = tree.parent(number).unwrap_or(number);
    let (Some(own), Some(facts)) = (facts(system, number), facts(system, disk)) else {
        return shown.to_string();
    };
    let what = facts.model.or(facts.backing_file.map(|file| format!("loop on {file}")));
    let what = what.unwrap_or_else(|| {
        match own.name == path.file_name().unwrap_or_default().to_string_lossy() {
            true => own.layer.clone(),
            false => format!("{}, {}", own.name, own.layer),
        }
    });
    match own.bytes {
        Some(bytes) => format!("{shown} ({what}, {})", capacity(bytes)),
        None => format!("{shown} ({what})"),
    }
}

/// The one comparison: the whole token, as one string.
pub(super) fn compare(
    label: &str,
    token: &Token,
    consent: Option<&str>,
    open: &OwnedFd,
) -> Result<(), Refusal> {
    if consent == Some(token.text.as_str()) {
        return Ok(());
    }
    let holds = format!("{}; {}", holds(&token.signatures), Sampled::of(open, token.bytes));
    let (code, message) = match consent {
        None => ("token_missing", format!("{label} {holds}.")),
        Some(given) => {
            ("token_wrong", format!("--erase {given} does not name {label}, which {holds}."))
        }
    };
    let mut refusal = Refusal::safety(code, message);
    if let Some(medium) = &token.medium {
        refusal = refusal.advise(medium.holds());
    }
    let mut refusal =
        refusal.advise(format!("Nothing was written. {}  --erase {}", advice(token), token.text));
    refusal.token = Some(token.text.clone());
    Err(refusal)
}

fn advice(token: &Token) -> &'static str {
    match token.signatures.is_empty() {
        true => "To destroy what may be on it, add:",
        false => "To destroy what is on it, add:",
    }
}

fn holds(signatures: &[String]) -> String {
    match signatures {
        [] => "may hold data, though no signature is recognised on it".to_owned(),
        some => {
            let words: Vec<String> = some.iter().map(|name| signature::in_words(name)).collect();
            format!("holds {}", words.join(" and "))
        }
    }
}
