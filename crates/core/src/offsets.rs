//! Which address comes next: each pattern as a small generator, the same for ever per seed.

mod draw;
mod lanes;
mod layout;
mod pairs;
mod region;
mod runs;
mod skewed;
mod traced;
mod turns;
mod written;
mod zones;

use crate::op::{Action, Op};
use crate::plan::{Files, Mix, PatternName, Sharing, Stream};
use crate::queue::Trouble;
use draw::Draw;
use drivelab_stats::{Permutation, Random, Zipf, derive};
use lanes::Lanes;
use layout::Layout;
use pairs::Pairs;
pub use region::Region;
use region::worker_region;
use runs::Runs;
use skewed::Skewed;
use std::sync::Arc;
use traced::Traced;
use turns::Turns;
use written::Written;
use zones::{ZoneSlots, zones};

/// Generates the operations of one worker.
#[derive(Debug, Clone)]
pub struct Offsets {
    region: Region,
    walk: Walk,
    sizes: Draw<u32>,
    kinds: Draw<Action>,
    address_random: Random,
    kind_random: Random,
    size_random: Random,
    file: u32,
    pass: u64,
    /// The slot of the next write, where writes have an order of their own.
    write_slot: Option<u64>,
}

#[derive(Debug, Clone)]
enum Walk {
    Stride { stride: i64, start: u64, position: u64 },
    Onward { position: u64 },
    Uniform,
    Permutation { order: Permutation, next: u64, first: u64, step: u64 },
    SemiRandom { share: f64, position: u64 },
    Runs(Runs),
    Zipf { popularity: Zipf, scatter: Permutation },
    Skewed(Skewed),
    Zones(Vec<ZoneSlots>),
    Segments { layout: Layout, next: u64 },
    Replay { offsets: Arc<[u64]>, next: usize, first: usize, step: usize },
    Trace(Traced),
    Lanes(Lanes),
    InTurn(Turns),
    Pairs(Pairs),
    Written(Written),
    Names { actions: Vec<Action>, names: u32, action: usize, name: u32, form: u32 },
}

impl Offsets {
    /// The generator of `worker` for `stream` on files of `file_bytes`.
    ///
    /// # Errors
    /// A region that cannot hold one request for each worker.
    pub fn new(stream: &Stream, worker: u32, file_bytes: u64, seed: u64) -> Result<Self, Trouble> {
        if stream.trim_first {
            let alone = Stream {
                trim_first: false,
                mix: Mix { read: 0, write: 0, trim: 100 },
                ..stream.clone()
            };
            let trims = Offsets::new(&alone, worker, file_bytes, seed)?;
            let mut all = trims.clone();
            all.walk = Walk::Pairs(Pairs::new(trims));
            return Ok(all);
        }
        if let Some(mix) = stream.read_back.filter(|mix| mix.write > 0) {
            let writing = Stream { mix, read_back: None, ..stream.clone() };
            let all = Offsets::new(&writing, worker, file_bytes, seed)?;
            let walk = Walk::Written(Written::new(all.clone()));
            return Ok(Offsets { walk, ..all });
        }
        match stream.files_in_turn {
            None | Some(0 | 1) => Offsets::of_file(stream, worker, file_bytes, seed),
            Some(count) => {
                let of = |file| {
                    let seed = derive(seed, 0x6669_6c65, u64::from(file));
                    Offsets::of_file(stream, worker, file_bytes, seed)
                };
                let each: Vec<Offsets> = (0..count).map(of).collect::<Result<_, _>>()?;
                let mut all = each[0].clone();
                all.region.bytes *= u64::from(count);
                all.walk = Walk::InTurn(Turns::new(each));
                Ok(all)
            }
        }
    }

    fn of_file(stream: &Stream, worker: u32, file_bytes: u64, seed: u64) -> Result<Self, Trouble> {
        let worker = stream.part_of(worker);
        let mut seeds = derive(seed, 0x61_6464_7265, u64::from(worker));
        let mut next = || Random::new(drivelab_stats::splitmix64(&mut seeds));
        let (address_random, kind_random, size_random) = (next(), next(), next());
        let region = worker_region(stream, worker, file_bytes)?;
        let walk = Walk::new(stream, worker, region, seed)?;
        Ok(Offsets {
            region,
            walk,
            sizes: Draw::new(
                stream.weighted_sizes().iter().map(|e| (u64::from(e.weight), e.size.0 as u32)),
            ),
            kinds: Draw::new([
                (u64::from(stream.mix.read), Action::Read),
                (u64::from(stream.mix.write), Action::Write),
                (u64::from(stream.mix.trim), Action::Trim),
            ]),
            address_random,
            kind_random,
            size_random,
            file: 0,
            pass: 0,
            write_slot: stream.writes_in_order.then_some(0),
        })
    }

    /// The worker's region.
    pub fn region(&self) -> Region {
        self.region
    }

    /// How often the pattern has begun anew; counts passes for patterns that have them.
    pub fn pass(&self) -> u64 {
        self.pass
    }

    /// Operations of one pass of this worker, for patterns that visit every slot once.
    pub fn pass_operations(&self) -> Option<u64> {
        match &self.walk {
            Walk::Stride { .. } => Some(self.region.slots),
            Walk::Permutation { first, step, .. } => {
                Some((self.region.slots.saturating_sub(*first)).div_ceil(*step))
            }
            Walk::Segments { layout, .. } => Some(layout.transfers),
            Walk::Replay { offsets, first, step, .. } => {
                Some((offsets.len().saturating_sub(*first)).div_ceil(*step) as u64)
            }
            Walk::Trace(traced) => Some(traced.operations()),
            Walk::InTurn(turns) => turns.pass_operations(),
            Walk::Pairs(pairs) => pairs.pass_operations(),
            Walk::Written(written) => written.pass_operations(),
            Walk::Names { actions, names, .. } => Some(actions.len() as u64 * u64::from(*names)),
            _ => None,
        }
    }

    /// What it issues of a stream that ends by these bounds, if it leaves something out of it.
    pub fn left_within(&self, operations: u64, bytes: u64) -> Option<u64> {
        match &self.walk {
            Walk::Written(written) => Some(written.within(operations, bytes)),
            _ => None,
        }
    }

    /// The next operation and the pass it belongs to.
    #[expect(clippy::should_implement_trait, reason = "it never ends")]
    #[inline(always)]
    pub fn next(&mut self) -> (Op, u64) {
        match &mut self.walk {
            Walk::Names { .. } => return self.next_name(),
            Walk::Trace(traced) => return traced.next(&self.region, self.file, &mut self.pass),
            Walk::InTurn(turns) => return turns.next(),
            Walk::Pairs(pairs) => return pairs.next(),
            Walk::Written(written) => return written.next(),
            _ => {}
        }
        let action = self.kinds.next(&mut self.kind_random);
        let pass = self.pass;
        if let Walk::Lanes(lanes) = &mut self.walk {
            let randoms = (&mut self.address_random, &mut self.size_random);
            let (offset, len) = lanes.next(action, randoms, &mut self.pass);
            return (Op { action, file: self.file, to: 0, offset, len }, pass);
        }
        let len = self.sizes.next(&mut self.size_random);
        let offset = match (&mut self.write_slot, action) {
            (Some(slot), Action::Write) => {
                let offset = self.region.base + *slot * self.region.slot_bytes;
                *slot = (*slot + 1) % self.region.slots;
                offset
            }
            _ => self.next_offset(len),
        };
        (Op { action, file: self.file, to: 0, offset, len }, pass)
    }

    /// The next operations, as many as there is room for, as [`Offsets::next`] would draw them one
    /// by one.
    pub fn fill(&mut self, ops: &mut [Op], passes: &mut [u64]) {
        let alike = self.kinds.only().zip(self.sizes.only());
        if let (Walk::Uniform, Some((action, len))) = (&self.walk, alike) {
            let (region, file) = (self.region, self.file);
            for op in ops.iter_mut() {
                let slot = self.address_random.below(region.slots);
                *op =
                    Op { action, file, to: 0, offset: region.base + slot * region.slot_bytes, len };
            }
            return passes.fill(self.pass);
        }
        for (op, pass) in ops.iter_mut().zip(passes) {
            (*op, *pass) = self.next();
        }
    }

    #[inline(always)]
    fn next_offset(&mut self, len: u32) -> u64 {
        let region = self.region;
        let random = &mut self.address_random;
        let slot = match &mut self.walk {
            Walk::Stride { stride, start, position } => {
                let slot = if *stride < 0 { region.slots - 1 - *position } else { *position };
                if advance_stride(*stride, region.slots, start, position) {
                    self.pass += 1;
                }
                slot
            }
            Walk::Onward { position } => {
                return onward(position, region, len, &mut self.pass);
            }
            Walk::Uniform => random.below(region.slots),
            Walk::Permutation { order, next, first, step } => {
                let slot = order.at(*next);
                *next += *step;
                if *next >= region.slots {
                    *next = *first;
                    self.pass += 1;
                }
                slot
            }
            Walk::SemiRandom { share, position } => {
                if random.unit_f64() < *share {
                    *position = random.below(region.slots) * region.slot_bytes;
                }
                return onward(position, region, len, &mut self.pass);
            }
            Walk::Zipf { popularity, scatter } => scatter.at(popularity.sample(random)),
            Walk::Runs(runs) => return runs.next(region, len, random),
            Walk::Skewed(skewed) => skewed.next(random),
            Walk::Zones(zones) => {
                let drawn = random.unit_f64();
                let zone = zones.iter().find(|zone| drawn < zone.access_end);
                let zone = zone.or(zones.last()).copied();
                zone.map_or(0, |zone| zone.first + random.below(zone.slots))
            }
            Walk::Segments { layout, next } => {
                let (segment, transfer) = (*next / layout.per_block, *next % layout.per_block);
                *next += 1;
                if *next == layout.transfers {
                    *next = 0;
                    self.pass += 1;
                }
                let within = layout.start + transfer * layout.transfer_bytes;
                return region.base + segment * layout.segment_bytes + within;
            }
            Walk::Replay { offsets, next, first, step } => {
                let offset = offsets[*next];
                *next += *step;
                if *next >= offsets.len() {
                    *next = *first;
                    self.pass += 1;
                }
                return region.base + offset;
            }
            Walk::Trace(_)
            | Walk::Lanes(_)
            | Walk::InTurn(_)
            | Walk::Pairs(_)
            | Walk::Written(_)
            | Walk::Names { .. } => 0,
        };
        region.base + slot * region.slot_bytes
    }

    /// Every name for one action, then the next action; a rename toggles the form of all names.
    fn next_name(&mut self) -> (Op, u64) {
        let pass = self.pass;
        let Walk::Names { actions, names, action, name, form } = &mut self.walk else {
            return (Op::default(), pass);
        };
        let current = actions[*action];
        let to = if current == Action::Rename { 1 - *form } else { *form };
        let op = Op { action: current, file: *name, to, offset: pass, len: 0 };
        *name += 1;
        if *name == *names {
            *name = 0;
            *form = to;
            *action += 1;
        }
        if *action == actions.len() {
            *action = 0;
            *form = 0;
            self.pass += 1;
        }
        (op, pass)
    }
}

/// Continues at the end of the previous request, rounded up to the grid; wraps where it must.
fn onward(position: &mut u64, region: Region, len: u32, pass: &mut u64) -> u64 {
    if *position + u64::from(len) > region.bytes {
        *position = 0;
        *pass += 1;
    }
    let offset = region.base + *position;
    *position = (*position + u64::from(len)).next_multiple_of(region.slot_bytes);
    offset
}

/// Steps to the next slot; at the end restarts one slot further on, until all were visited (the
/// order of IOzone's strided read). True when a pass is over.
fn advance_stride(stride: i64, slots: u64, start: &mut u64, position: &mut u64) -> bool {
    let step = stride.unsigned_abs();
    if step == 0 {
        *start += 1;
        let over = *start >= slots;
        if over {
            *start = 0;
        }
        return over;
    }
    *position += step;
    if *position < slots {
        return false;
    }
    *start += 1;
    let over = *start >= step.min(slots);
    if over {
        *start = 0;
    }
    *position = *start;
    over
}

impl Walk {
    fn new(stream: &Stream, worker: u32, region: Region, seed: u64) -> Result<Walk, Trouble> {
        // The order of blocks is one for all workers of a stream: they split it, not repeat it.
        let shared = stream.sharing() == Sharing::Shared && stream.files == Files::One;
        let key = derive(seed, 0x0072_6465_7221, if shared { 0 } else { u64::from(worker) + 1 });
        let (first, step) =
            if shared { (u64::from(worker), u64::from(stream.workers.max(1))) } else { (0, 1) };
        if let Some(lanes) = Lanes::of(stream, region)? {
            return Ok(Walk::Lanes(lanes));
        }
        Ok(match stream.pattern {
            PatternName::Sequential if !stream.sizes.is_empty() => Walk::Onward { position: 0 },
            PatternName::Sequential => {
                Walk::Stride { stride: stream.stride.unwrap_or(1), start: 0, position: 0 }
            }
            PatternName::Uniform => Walk::Uniform,
            PatternName::Permutation => {
                if first >= region.slots {
                    return Err(Trouble::usage(format!(
                        "{step} workers share {} blocks; use fewer workers or a larger region",
                        region.slots
                    )));
                }
                Walk::Permutation {
                    order: Permutation::new(region.slots, key),
                    next: first,
                    first,
                    step,
                }
            }
            PatternName::SemiRandom => match stream.run {
                Some(length) => Walk::Runs(Runs::new(length)),
                None => Walk::SemiRandom { share: stream.share.unwrap_or(0.5), position: 0 },
            },
            PatternName::Zipf => Walk::Zipf {
                popularity: Zipf::new(region.slots, stream.theta.unwrap_or(1.1))
                    .ok_or_else(|| Trouble::usage("theta must lie between 0 and 5"))?,
                scatter: Permutation::new(region.slots, key),
            },
            PatternName::SelfSimilar | PatternName::Bell => {
                let scatter = Permutation::new(region.slots, key);
                Walk::Skewed(Skewed::new(stream, region.slots, scatter)?)
            }
            PatternName::HotZones => Walk::Zones(zones(stream, region.slots)?),
            PatternName::Segments => segments(stream, worker, region)?,
            PatternName::Replay => replay(stream, region, first as usize, step as usize)?,
            PatternName::Trace => {
                Walk::Trace(Traced::new(stream, region.bytes, first as usize, step as usize)?)
            }
            PatternName::Names => Walk::Names {
                actions: stream.actions.clone(),
                names: stream.names.unwrap_or(1000),
                action: 0,
                name: 0,
                form: 0,
            },
        })
    }
}

fn segments(stream: &Stream, worker: u32, region: Region) -> Result<Walk, Trouble> {
    let transfer = stream.size_max().max(1);
    let block = stream.block.map_or(transfer, |block| block.0);
    let workers = if stream.files == Files::One { u64::from(stream.workers.max(1)) } else { 1 };
    let segment_bytes = block * workers;
    let count = stream.segments.unwrap_or(1);
    if !block.is_multiple_of(transfer) || segment_bytes * count > region.bytes || count == 0 {
        return Err(Trouble::usage(format!(
            "{count} segment(s) of {workers} block(s) of {block} bytes need a block that is a \
             multiple of the request size {transfer} and {} bytes of region; it has {}",
            segment_bytes * count,
            region.bytes
        )));
    }
    let per_block = block / transfer;
    let layout = Layout {
        transfers: per_block * count,
        per_block,
        transfer_bytes: transfer,
        segment_bytes,
        start: if workers == 1 { 0 } else { u64::from(worker) * block },
    };
    Ok(Walk::Segments { layout, next: 0 })
}

fn replay(stream: &Stream, region: Region, first: usize, step: usize) -> Result<Walk, Trouble> {
    let ends_outside = |at: u64| at.saturating_add(stream.size_max()) > region.bytes;
    if let Some(at) = stream.offsets.iter().find(|at| ends_outside(at.0)) {
        return Err(Trouble::usage(format!(
            "a replayed request at byte {} ends beyond the region of {} bytes; use a larger region",
            at.0, region.bytes
        )));
    }
    if stream.offsets.len() <= first {
        return Err(Trouble::usage(format!(
            "a replay over {step} worker(s) needs at least that many offsets; the list has {}",
            stream.offsets.len()
        )));
    }
    let offsets = stream.offsets.iter().map(|offset| offset.0).collect();
    Ok(Walk::Replay { offsets, next: first, first, step })
}
