//! `random_distribution=sequence:…`: blocks that come in the order in which the line lists them.

use super::place::Place;
use super::settings::Settings;
use super::value::BadValue;
use super::words::{STATUS, unsupported};
use crate::front::Refusal;
use drivelab_core::plan::{Pattern, Stream};
use drivelab_core::units::Size;

/// Blocks that a line may list, as in fio.
const LISTED_MAX: usize = 1024;
/// Places that a plan is to hold.
const PLACES_MAX: u64 = 1 << 20;

/// The list of blocks.
///
/// # Errors
/// It is none.
pub fn blocks(text: &str) -> Result<Vec<u64>, BadValue> {
    const BLOCKS: BadValue = BadValue::wants("numbers of blocks, 1024 at most: sequence:2,0,1");
    let one = |text: &str| text.trim().parse::<u32>().map(u64::from).map_err(|_| BLOCKS);
    let all = text.split(',').map(one).collect::<Result<Vec<_>, _>>()?;
    if all.len() > LISTED_MAX { Err(BLOCKS) } else { Ok(all) }
}

/// Lays a stream out over these blocks.
///
/// # Errors
/// A block that the file does not have; what does not go with a list.
pub fn apply(
    settings: &Settings,
    place: &Place,
    blocks: &[u64],
    stream: &mut Stream,
) -> Result<(), Refusal> {
    let is_whole = settings.percentage_random == [100; 3];
    let is_plain =
        is_whole && stream.sizes.is_empty() && settings.ba.is_none() && place.per_clone == 1;
    let is_of_one = settings.rw.kinds.iter().filter(|is_issued| **is_issued).count() == 1;
    if !is_plain || !is_of_one || settings.rw.run > 1 || place.is_on_drive {
        return Err(unsupported(
            "random_distribution=sequence with a mix, several block sizes or files, ba, rw=…:N, \
             percentage_random, or a simulated drive as directory",
            "use rw=randread, randwrite or randtrim with one bs and one file",
        ));
    }
    let bytes = stream.size.0.max(1);
    let count = place.length / bytes;
    if let Some(block) = blocks.iter().find(|block| **block >= count) {
        let text =
            format!("fio: block {block} of random_distribution=sequence lies beyond the file");
        let advice = format!("There are {count} blocks of {bytes} bytes: 0 to {}.", count - 1);
        return Err(Refusal::new(STATUS, text, advice));
    }
    let listed = blocks.len() as u64;
    let places: Vec<Size> = match settings.turns.stride {
        false => blocks.iter().map(|block| Size(block * bytes)).collect(),
        true if count > PLACES_MAX || settings.goes_round() => {
            return Err(unsupported(
                "random_sequence_stride over more than 1048576 blocks, or of a job that goes round",
                "use a smaller size, or a larger bs, and no loops or time_based",
            ));
        }
        true => {
            let groups = (0..)
                .step_by(blocks.len())
                .flat_map(|group: u64| blocks.iter().map(move |block| (group + block) * bytes));
            let within = groups.take_while(|at| *at < count * bytes).map(Size);
            within.take((count + listed) as usize).collect()
        }
    };
    if settings.turns.stride
        && let Some(bound) = stream.until.as_mut().and_then(|until| until.bytes.as_mut())
    {
        // Where the next block is not in the file, fio ends.
        let clones = u64::from(settings.numjobs.max(1));
        let most = (places.len() as u64).saturating_mul(bytes).saturating_mul(clones);
        *bound = Size(bound.0.min(most));
    }
    stream.pattern = Pattern::Replay(places);
    Ok(())
}
