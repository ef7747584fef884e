//! Which address comes next: each pattern as a small generator, the same for ever per seed.

mod address;
mod draw;
mod free;
mod lanes;
mod layout;
mod mapped;
mod names;
mod pairs;
mod region;
mod runs;
mod skewed;
mod traced;
mod turns;
mod windowed;
mod written;
mod zoned;
mod zones;

use crate::op::{Action, DataOp, Op};
use crate::plan::{Files, Jump, Mix, Pattern, Sequence, Sharing, Stream};
use crate::quantity::counted;
use crate::queue::Trouble;
use crate::units::Size;
use address::Address;
use draw::Draw;
use drivelab_stats::{Domain, Permutation, Random, Zipf};
use lanes::Lanes;
use layout::Layout;
use mapped::Mapped;
use names::Names;
use pairs::Pairs;
pub use region::Region;
use region::worker_region;
use runs::Runs;
use skewed::Skewed;
use traced::Traced;
use turns::Turns;
use windowed::Windowed;
use written::Written;
use zoned::Zoned;
use zones::Zones;

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

/// How a worker comes to its next operation.
#[derive(Debug, Clone)]
enum Walk {
    /// Kind and size are drawn, and this is where.
    Address(Address),
    Trace(Traced),
    Lanes(Lanes),
    Mapped(Mapped),
    InTurn(Turns),
    Pairs(Pairs),
    Written(Written),
    Zoned(Zoned),
    Windowed(Windowed),
    Names(Names),
}

impl Offsets {
    /// The generator of `worker` for `stream` on files of `file_bytes`.
    ///
    /// # Errors
    /// A region that cannot hold one request for each worker.
    ///
    /// ```
    /// use drivelab_core::offsets::Offsets;
    /// use drivelab_core::plan::{Pattern, Stream};
    /// use drivelab_core::op::DataOp;
    /// use drivelab_core::units::Size;
    ///
    /// let pattern = Pattern::Permutation;
    /// let stream = Stream { pattern, size: Size(4096), workers: 1, ..Stream::default() };
    /// let mut offsets = Offsets::new(&stream, 0, 16 * 4096, 42)?;
    /// let ops: Result<Vec<DataOp>, _> = (0..16).map(|_| offsets.next().0.try_into()).collect();
    /// let mut blocks: Vec<u64> = ops?.into_iter().map(|op| op.offset / 4096).collect();
    /// blocks.sort_unstable();
    /// assert!(blocks.into_iter().eq(0..16), "every block once a pass");
    /// # Ok::<(), drivelab_core::queue::Trouble>(())
    /// ```
    pub fn new(stream: &Stream, worker: u32, file_bytes: u64, seed: u64) -> Result<Self, Trouble> {
        if let Some(zoned) = stream.zoned {
            let zones = Zoned::new(stream, zoned, worker, file_bytes, seed)?;
            return Ok(Offsets { walk: Walk::Zoned(zones.clone()), ..zones.inner().clone() });
        }
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
                    let seed = Domain::File.seed(seed, u64::from(file));
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
        if let Some(window) = stream.window {
            let (parts, region) = Windowed::new(stream, window, worker, file_bytes, seed)?;
            return Ok(Offsets { region, walk: Walk::Windowed(parts.clone()), ..parts.inner() });
        }
        let worker = stream.part_of(worker);
        let mut seeds = Domain::Addresses.seed(seed, u64::from(worker));
        let mut next = || Random::new(drivelab_stats::splitmix64(&mut seeds));
        let (address_random, kind_random, size_random) = (next(), next(), next());
        let region = worker_region(stream, worker, file_bytes)?;
        let walk = Walk::new(stream, worker, region, seed)?;
        Ok(Offsets {
            region,
            walk,
            sizes: Draw::of_sizes(&stream.weighted_sizes()),
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

    /// How often the pattern has begun again; counts passes for patterns that have them.
    pub fn pass(&self) -> u64 {
        self.pass
    }

    /// Operations of one pass of this worker, for patterns that visit every slot once.
    pub fn pass_operations(&self) -> Option<u64> {
        match &self.walk {
            Walk::Address(Address::Stride { stride, first: Some(first), .. }) => {
                let step = stride.unsigned_abs().max(1);
                Some(self.region.slots.saturating_sub(*first).div_ceil(step))
            }
            Walk::Address(Address::Stride { .. }) => Some(self.region.slots),
            Walk::Address(Address::Permutation { first, step, .. }) => {
                Some((self.region.slots.saturating_sub(*first)).div_ceil(*step))
            }
            Walk::Address(Address::Segments { layout, .. }) => Some(layout.transfers),
            Walk::Address(Address::Replay { offsets, first, step, .. }) => {
                Some((offsets.len().saturating_sub(*first)).div_ceil(*step) as u64)
            }
            Walk::Trace(traced) => Some(traced.operations()),
            Walk::InTurn(turns) => turns.pass_operations(),
            Walk::Pairs(pairs) => pairs.pass_operations(),
            Walk::Written(written) => written.pass_operations(),
            Walk::Zoned(zoned) => zoned.pass_operations(),
            Walk::Windowed(parts) => parts.pass_operations(),
            Walk::Names(names) => Some(names.pass_operations()),
            _ => None,
        }
    }

    /// What it issues of a stream that ends by these bounds, if it leaves something out of it.
    pub fn left_within(&self, operations: u64, bytes: u64) -> Option<u64> {
        match &self.walk {
            // Without a bound it draws for ever, and leaves nothing out of it.
            Walk::Written(written) if (operations, bytes) != (u64::MAX, u64::MAX) => {
                Some(written.within(operations, bytes))
            }
            _ => None,
        }
    }

    /// The next operation and the pass it belongs to.
    #[expect(clippy::should_implement_trait, reason = "it never ends")]
    #[inline(always)]
    pub fn next(&mut self) -> (Op, u64) {
        let pass = self.pass;
        let address = match &mut self.walk {
            Walk::Address(address) => address,
            Walk::Names(names) => return names.next(&mut self.pass),
            Walk::Trace(traced) => return traced.next(&self.region, self.file, &mut self.pass),
            Walk::InTurn(turns) => return turns.next(),
            Walk::Pairs(pairs) => return pairs.next(),
            Walk::Written(written) => return written.next(),
            Walk::Zoned(zoned) => return zoned.next(),
            Walk::Windowed(parts) => return parts.next(&mut self.pass),
            Walk::Lanes(lanes) => {
                let action = self.kinds.next(&mut self.kind_random);
                let randoms = (&mut self.address_random, &mut self.size_random);
                let (offset, len) = lanes.next(action, randoms, &mut self.pass);
                return (
                    Op::Data(DataOp { action, file: self.file, offset, len, priority: 0 }),
                    pass,
                );
            }
            Walk::Mapped(mapped) => {
                let action = self.kinds.next(&mut self.kind_random);
                let randoms = (&mut self.address_random, &mut self.size_random);
                let (offset, len) = mapped.next(randoms, &mut self.pass);
                return (
                    Op::Data(DataOp { action, file: self.file, offset, len, priority: 0 }),
                    pass,
                );
            }
        };
        let action = self.kinds.next(&mut self.kind_random);
        let len = match address {
            Address::Onward { position, .. } => {
                self.sizes.within(self.region.bytes - *position, &mut self.size_random)
            }
            _ => self.sizes.next(&mut self.size_random),
        };
        let offset = match (&mut self.write_slot, action) {
            (Some(slot), Action::Write) => {
                let offset = self.region.base + *slot * self.region.slot_bytes;
                *slot = (*slot + 1) % self.region.slots;
                offset
            }
            _ => address.next(self.region, len, &mut self.address_random, &mut self.pass),
        };
        (Op::Data(DataOp { action, file: self.file, offset, len, priority: 0 }), pass)
    }

    /// The next operations, as many as there is room for, as [`Offsets::next`] would draw them one
    /// by one.
    pub fn fill(&mut self, ops: &mut [Op], passes: &mut [u64]) {
        let alike = self.kinds.only().zip(self.sizes.only());
        if let (Walk::Address(Address::Uniform), Some((action, len))) = (&self.walk, alike) {
            let (region, file) = (self.region, self.file);
            for op in ops.iter_mut() {
                let slot = self.address_random.below(region.slots);
                let offset = region.base + slot * region.slot_bytes;
                *op = Op::Data(DataOp { action, file, offset, len, priority: 0 });
            }
            return passes.fill(self.pass);
        }
        for (op, pass) in ops.iter_mut().zip(passes) {
            (*op, *pass) = self.next();
        }
    }
}

impl Walk {
    fn new(stream: &Stream, worker: u32, region: Region, seed: u64) -> Result<Walk, Trouble> {
        // The order of blocks is one for all workers of a stream: they split it, not repeat it.
        let shared = stream.sharing() == Sharing::Shared && stream.files == Files::One;
        let key = Domain::Places.seed(seed, if shared { 0 } else { u64::from(worker) + 1 });
        let (first, step) =
            if shared { (u64::from(worker), u64::from(stream.workers.max(1))) } else { (0, 1) };
        if let Some(lanes) = Lanes::of(stream, region)? {
            return Ok(Walk::Lanes(lanes));
        }
        let address = match &stream.pattern {
            Pattern::Sequential(sequence) => sequential(stream, sequence, region)?,
            Pattern::Uniform => Address::Uniform,
            Pattern::Permutation => {
                if first >= region.slots {
                    return Err(Trouble::usage(format!(
                        "{step} workers share {} blocks; use fewer workers or a larger region",
                        region.slots
                    )));
                }
                Address::Permutation {
                    order: Permutation::new(region.slots, key),
                    next: first,
                    first,
                    step,
                }
            }
            Pattern::SemiRandom(Jump::Run(length)) => Address::Runs(Runs::new(*length)),
            // Kinds with shares of their own have lanes.
            Pattern::SemiRandom(Jump::Shares(_)) => Address::Uniform,
            Pattern::SemiRandom(Jump::Share(share)) => {
                Address::SemiRandom { share: share.unwrap_or(0.5), position: 0 }
            }
            Pattern::Zipf { theta } => Address::Zipf {
                popularity: Zipf::new(region.slots, theta.unwrap_or(1.1))
                    .ok_or_else(|| Trouble::usage("theta must lie between 0 and 5"))?,
                scatter: Permutation::new(region.slots, key),
            },
            Pattern::SelfSimilar { skew } => {
                let scatter = Permutation::new(region.slots, key);
                Address::Skewed(Skewed::self_similar(skew.unwrap_or(0.2), region.slots, scatter)?)
            }
            Pattern::Bell { plateau } => {
                let scatter = Permutation::new(region.slots, key);
                Address::Skewed(Skewed::bell(plateau.unwrap_or(0.0), region.slots, scatter)?)
            }
            Pattern::HotZones(zones) => Address::Zones(Zones::new(zones, region.slots)?),
            Pattern::Segments { block, segments } => {
                segmented(stream, block.0, segments.unwrap_or(1), worker, region)?
            }
            Pattern::Replay(offsets) => {
                replay(stream, offsets, region, first as usize, step as usize)?
            }
            Pattern::Trace(requests) => {
                let traced = Traced::new(requests, region.bytes, first as usize, step as usize)?;
                return Ok(Walk::Trace(traced));
            }
            Pattern::RandomMap => return Ok(Walk::Mapped(Mapped::new(stream, region)?)),
            Pattern::Names(names) => return Ok(Walk::Names(Names::new(names))),
        };
        Ok(Walk::Address(address))
    }
}

fn sequential(stream: &Stream, sequence: &Sequence, region: Region) -> Result<Address, Trouble> {
    let slot = sequence.begin.map_or(0, |begin| begin.0) / region.slot_bytes;
    if slot >= region.slots {
        return Err(Trouble::usage(format!(
            "`begin` lies beyond the region of {} bytes that a worker has; use less",
            region.bytes
        )));
    }
    Ok(match stream.sizes.is_empty() {
        true => Address::Stride {
            stride: sequence.stride(),
            first: sequence.restart.then_some(slot),
            start: 0,
            position: slot,
        },
        false => Address::Onward { position: slot * region.slot_bytes, least: stream.size_min() },
    })
}

fn segmented(
    stream: &Stream,
    block: u64,
    count: u64,
    worker: u32,
    region: Region,
) -> Result<Address, Trouble> {
    let transfer = stream.request_max().max(1);
    let workers = if stream.files == Files::One { u64::from(stream.workers.max(1)) } else { 1 };
    let segment_bytes = block * workers;
    if !block.is_multiple_of(transfer) || segment_bytes * count > region.bytes || count == 0 {
        return Err(Trouble::usage(format!(
            "{} of {} of {block} bytes: a block must be a multiple of the request size, {transfer} \
             bytes, and all of them take {} bytes of the region, which has {}; use smaller blocks, \
             fewer segments or a larger region",
            counted(count, "segment"),
            counted(workers, "block"),
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
    Ok(Address::Segments { layout, next: 0 })
}

fn replay(
    stream: &Stream,
    offsets: &[Size],
    region: Region,
    first: usize,
    step: usize,
) -> Result<Address, Trouble> {
    let ends_outside = |at: u64| at.saturating_add(stream.size_max()) > region.bytes;
    if let Some(at) = offsets.iter().find(|at| ends_outside(at.0)) {
        return Err(Trouble::usage(format!(
            "a replayed request at byte {} ends beyond the region of {} bytes; use a larger region",
            at.0, region.bytes
        )));
    }
    if offsets.len() <= first {
        return Err(Trouble::usage(format!(
            "a replay for {} needs at least one offset each; the list has {}",
            counted(step as u64, "worker"),
            offsets.len()
        )));
    }
    let offsets = offsets.iter().map(|offset| offset.0).collect();
    Ok(Address::Replay { offsets, next: first, first, step })
}
