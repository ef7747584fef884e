//! `zonemode`: the zones of a drive, and parts of it with gaps between them.

use super::place::Place;
use super::settings::Settings;
use super::value::Amount;
use super::words::{STATUS, unsupported};
use crate::front::Refusal;
use drivelab_core::plan::{Pattern, Sequence, Stream, Window};
use drivelab_core::units::Size;

/// `zonemode` and what belongs to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Zones {
    /// `zonemode`.
    pub mode: ZoneMode,
    /// `zonemode` was said.
    pub is_said: bool,
    /// `zonesize`.
    pub bytes: u64,
    /// `zonerange`; as large as `zonesize` if 0.
    pub range: u64,
    /// `zoneskip`.
    pub skip: u64,
    /// `write_mode=zone_append`.
    pub appends: bool,
    /// `zone_reset_threshold` or `zone_reset_frequency`.
    pub resets: bool,
}

impl Zones {
    /// Bytes of a zone of the drive, where the line says it.
    pub fn zone_bytes(&self) -> Option<u64> {
        (self.mode == ZoneMode::Drive && self.bytes > 0).then_some(self.bytes)
    }

    /// Where no mode is said a size of zones asks for strided ones, as in fio of today and in that
    /// from before there were modes; 3.33 does not take it.
    pub fn with_usual_mode(self) -> Self {
        let is_strided = !self.is_said && self.bytes > 0;
        if is_strided { Zones { mode: ZoneMode::Strided, ..self } } else { self }
    }
}

/// Refuses numbers of zones where it is not known how large those are.
///
/// # Errors
/// `size=1z` and the like.
pub fn are_known(settings: &Settings) -> Result<(), Refusal> {
    let fixed = [settings.offset, settings.offset_increment];
    let amounts = fixed.into_iter().chain(settings.size).chain(settings.io_size);
    let mut zones = amounts.filter(|amount| matches!(amount, Amount::Zones(1..)));
    match (zones.next(), settings.turns.zones.mode) {
        (None, _) => Ok(()),
        (Some(_), ZoneMode::Drive) => Err(unsupported(
            "sizes in zones without zonesize",
            "say zonesize too: how large its zones are is known when the drive is opened",
        )),
        (Some(_), _) => Err(Refusal::new(
            STATUS,
            "fio: sizes in zones (such as 1z) need zonemode=zbd",
            "Add it, or say a size in bytes.",
        )),
    }
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
pub fn apply(settings: &Settings, place: &Place, stream: &mut Stream) -> Result<(), Refusal> {
    let zones = settings.turns.zones;
    match zones.mode {
        ZoneMode::None if zones.appends => {
            Err(unsupported("write_mode=zone_append without zonemode", "add zonemode=zbd"))
        }
        ZoneMode::None if zones.bytes > 0 => Err(Refusal::new(
            STATUS,
            "fio: zonemode=none has no zones, and zonesize gives them a size",
            "Leave one of them out, or say zonemode=strided.",
        )),
        ZoneMode::None => Ok(()),
        ZoneMode::Drive => of_drive(settings, stream),
        ZoneMode::Strided => strided(settings, place, stream),
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
    if writes && settings.turns.zones.resets {
        return Err(unsupported(
            "zone_reset_threshold and zone_reset_frequency",
            "leave them out: each zone is reset just before it is written",
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

/// Parts of the file or drive, one after the other up to its end, and from the first one again.
fn strided(settings: &Settings, place: &Place, stream: &mut Stream) -> Result<(), Refusal> {
    let zones = settings.turns.zones;
    let range = if zones.range == 0 { zones.bytes } else { zones.range };
    if zones.bytes == 0 {
        return Err(unsupported("zonemode=strided without a zonesize", "say zonesize too"));
    }
    let is_plain = match &stream.pattern {
        Pattern::Sequential(sequence) => *sequence == Sequence::default() && zones.bytes <= range,
        Pattern::Uniform | Pattern::Permutation => true,
        _ => false,
    };
    if !is_plain || place.is_on_drive {
        return Err(unsupported(
            "zonemode=strided of a mix in order, of parts of random requests, in order beyond \
             zonerange, or of a simulated drive",
            "use rw=read, write, randread or randwrite with one bs, and a zonesize up to zonerange",
        ));
    }
    let step = range.saturating_add(zones.skip);
    let whole = place.file_bytes.saturating_sub(place.offset);
    let window =
        Window { size: Size(range), bytes: Some(Size(zones.bytes)), step: Some(Size(step)) };
    if window.count(whole) == 0 {
        return Err(unsupported(
            "zonemode=strided over less than one zonerange",
            "use a larger file, or smaller zones",
        ));
    }
    if (step, zones.bytes) == (range, range) && !settings.rw.random {
        // Nothing lies between them.
        return Ok(());
    }
    stream.window = Some(window);
    stream.length = Some(Size(whole));
    Ok(())
}
