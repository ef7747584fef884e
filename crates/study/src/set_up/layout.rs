//! Where partitions begin, and the lines that make file systems.

use super::{check, node};
use drivelab_core::facts::DeviceFacts;
use drivelab_core::fitness::{Check, Severity};
use drivelab_core::quantity::size;

const KIBIBYTE: u64 = 1024;
const MEBIBYTE: u64 = 1024 * KIBIBYTE;
/// Flash is addressed in units of at least this, whatever sector it claims.
const UNIT_BYTES: u64 = 4096;
/// Of `fdisk -H 224 -S 56`: a track, and a cylinder.
const TRACK_BYTES: u64 = 56 * 512;
const CYLINDER_BYTES: u64 = 224 * TRACK_BYTES;
/// Blocks of the file systems below.
const BLOCK_BYTES: u64 = 4096;
/// A stripe beyond this is a number that a bridge made up.
const STRIPE_BYTES_MAX: u64 = 64 * MEBIBYTE;

/// Whether a partition begins where its drive likes it; `top` tells what that is.
pub fn partition(device: &DeviceFacts, top: &DeviceFacts) -> Option<Check> {
    let start = device.start_bytes.filter(|_| device.layer == "partition")?;
    let name = "partition start";
    let sector = u64::from(device.physical_block_bytes.or(top.physical_block_bytes).unwrap_or(512));
    // A disk writes its sectors as they are; flash claims smaller ones than it has.
    let is_disk = device.rotational.or(top.rotational) == Some(true);
    let unit = if is_disk { sector } else { sector.max(UNIT_BYTES) };
    let shift = device.alignment_offset.unwrap_or(0);
    let best = optimal(device);
    let found = format!("{} begins at byte {start}", device.name);
    Some(if !start.is_multiple_of(unit) || shift != 0 {
        let by = if shift == 0 { start % unit } else { shift.unsigned_abs() };
        check(
            name,
            Severity::Warning,
            format!("{found}, {by} bytes off a multiple of {}", size(unit)),
            "Small writes touch two units of the drive, and it reads before it writes: create the \
             partition again from 1 MiB on, which destroys what is in it.",
        )
    } else if best.is_some_and(|best| !start.is_multiple_of(best)) {
        check(
            name,
            Severity::Note,
            format!("{found}, not a multiple of its stripe of {}", size(best.unwrap_or(0))),
            "Requests that fit a stripe touch two of them; begin at a multiple of it.",
        )
    } else if start.is_multiple_of(MEBIBYTE) {
        check(name, Severity::Fine, format!("{found}, a multiple of 1 MiB"), "")
    } else {
        check(
            name,
            Severity::Fine,
            format!("{found}, a multiple of {} and not of 1 MiB", size(unit)),
            "",
        )
    })
}

/// What the geometry of old would have made of this partition.
pub fn geometry(device: &DeviceFacts) -> Option<Check> {
    let start = device.start_bytes.filter(|_| device.layer == "partition")?;
    let of = |what: &str, bytes: u64| match start.is_multiple_of(bytes) {
        true => format!("on a {what}"),
        false => format!("on no {what}"),
    };
    Some(check(
        "fdisk -H 224 -S 56",
        Severity::Note,
        format!(
            "tracks of 56 x 512 B = {} and cylinders of 224 tracks = {} x 128 KiB: a partition \
             that begins on a cylinder begins on 128 KiB, one that begins on a track on 4 KiB \
             only; {} begins {}, {}, {}",
            size(TRACK_BYTES),
            CYLINDER_BYTES / (128 * KIBIBYTE),
            device.name,
            of("cylinder of it", CYLINDER_BYTES),
            of("track of it", TRACK_BYTES),
            of("multiple of 128 KiB", 128 * KIBIBYTE),
        ),
        "Not needed: partitioning tools begin at 1 MiB today, which is a multiple of all that \
         flash uses.",
    ))
}

/// The stripe that a device tells, if that makes sense.
fn optimal(device: &DeviceFacts) -> Option<u64> {
    let makes_sense = |bytes: &u64| {
        *bytes > BLOCK_BYTES && *bytes <= STRIPE_BYTES_MAX && bytes.is_multiple_of(BLOCK_BYTES)
    };
    device.optimal_io_bytes.filter(makes_sense)
}

/// The lines that make a file system on this very device.
pub fn lines(device: &DeviceFacts) -> Check {
    let node = node(device);
    let name = "mkfs for this device";
    let Some(stripe) = optimal(device) else {
        let told = match device.optimal_io_bytes {
            Some(0) | None => "it reports no optimal request, so no stripe is given".to_owned(),
            Some(bytes) => format!("its optimal request of {bytes} B is not a stripe"),
        };
        let found = format!("mkfs.ext4 {node}  or  mkfs.xfs {node}: {told}");
        return check(name, Severity::Note, found, "");
    };
    let is_chunk = |bytes: &u64| {
        *bytes >= BLOCK_BYTES && bytes.is_multiple_of(BLOCK_BYTES) && stripe.is_multiple_of(*bytes)
    };
    let chunk = device.minimum_io_bytes.filter(is_chunk).unwrap_or(stripe);
    let found = format!(
        "mkfs.ext4 -E stride={},stripe-width={} {node}  or  mkfs.xfs -d su={},sw={} {node}: it \
         reports chunks of {} and stripes of {}",
        chunk / BLOCK_BYTES,
        stripe / BLOCK_BYTES,
        chunk,
        stripe / chunk,
        size(chunk),
        size(stripe),
    );
    check(
        name,
        Severity::Note,
        found,
        "Both tools read the same numbers if the line leaves them out.",
    )
}
