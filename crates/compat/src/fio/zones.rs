//! `zonemode`: the zones of a drive, and parts of it with gaps between them.

use super::place::Place;
use super::settings::Settings;
use super::words::unsupported;
use crate::front::{Found, Refusal, World};
use drivelab_core::plan::{Stream, Zoned};
use drivelab_core::units::Size;

/// `zonemode` and what belongs to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Zones {
    /// `zonemode`.
    pub mode: ZoneMode,
    /// `zonesize`.
    pub bytes: u64,
    /// `zonerange`; as large as `zonesize` if 0.
    pub range: u64,
    /// `zoneskip`.
    pub skip: u64,
    /// `write_mode=zone_append`.
    pub appends: bool,
}

/// `zonemode`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ZoneMode {
    /// No zones.
    #[default]
    None,
    /// Those of the drive, where it has such.
    Drive,
    /// Parts of one size with gaps of another between them.
    Strided,
}

/// Lays a stream out over the zones that a job asks for.
///
/// # Errors
/// What zones are not used for here.
pub fn apply(
    settings: &Settings,
    place: &Place,
    world: &dyn World,
    stream: &mut Stream,
) -> Result<(), Refusal> {
    let zones = settings.turns.zones;
    match zones.mode {
        ZoneMode::None if zones.appends => {
            Err(unsupported("write_mode=zone_append without zonemode", "add zonemode=zbd"))
        }
        ZoneMode::None => Ok(()),
        ZoneMode::Drive => of_drive(settings, stream),
        ZoneMode::Strided => {
            let is_device = |name: &String| matches!(world.found(name), Found::Device { .. });
            match settings.filenames.first().is_some_and(is_device) {
                true => strided(settings, place, stream),
                false => Err(unsupported(
                    "zonemode=strided of files and simulated drives",
                    "name a block device, or use offset and size",
                )),
            }
        }
    }
}

/// When the drive is known, the stream is laid out over what its zones hold.
fn of_drive(settings: &Settings, stream: &mut Stream) -> Result<(), Refusal> {
    let [reads, writes, trims] = settings.rw.kinds;
    if trims || (writes && (reads || settings.rw.random)) {
        return Err(unsupported(
            "zonemode=zbd with random writes, trims or a mix",
            "write in order (rw=write), and read in a job of its own",
        ));
    }
    // The size is one of places on the drive, of which zones may hold less.
    let is_once = settings.io_size.is_none() && !settings.rw.random;
    if let Some(until) = stream.until.as_mut().filter(|until| is_once && until.bytes.is_some()) {
        (until.bytes, until.passes) = (None, Some(settings.loops.max(1)));
    }
    if !writes {
        return Ok(());
    }
    if settings.numjobs > 1 {
        return Err(unsupported(
            "zonemode=zbd with several jobs that write the same zones",
            "use `drivelab run DEVICE --rw write --workers N`: each worker has zones of its own",
        ));
    }
    if stream.depth > 1 && !settings.turns.zones.appends {
        return Err(unsupported(
            "zonemode=zbd with several writes at once",
            "say iodepth=1, or ioengine=io_uring_cmd with write_mode=zone_append",
        ));
    }
    (stream.regions, stream.zone_append) = (None, settings.turns.zones.appends);
    Ok(())
}

fn strided(settings: &Settings, place: &Place, stream: &mut Stream) -> Result<(), Refusal> {
    let zones = settings.turns.zones;
    let range = if zones.range == 0 { zones.bytes } else { zones.range };
    if zones.bytes == 0 || range < zones.bytes {
        return Err(unsupported(
            "zonemode=strided without a zonesize, or with one above zonerange",
            "say zonesize, and a zonerange that holds it",
        ));
    }
    if settings.rw.kinds != [true, false, false] || settings.rw.random {
        return Err(unsupported(
            "zonemode=strided that writes, or reads at random",
            "say rw=read, or use offset and size",
        ));
    }
    let size = range.saturating_add(zones.skip);
    if size == zones.bytes {
        // Nothing lies between them.
        return Ok(());
    }
    let length = place.length / size * size;
    if length == 0 {
        return Err(unsupported(
            "zonemode=strided over less than one zone and its gap",
            "use a larger size, or smaller zones",
        ));
    }
    let capacity = Some(Size(zones.bytes));
    stream.zoned = Some(Zoned { size: Size(size), capacity, finish_after: None });
    stream.length = Some(Size(length));
    Ok(())
}
