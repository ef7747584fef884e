//! What is planted in a device, and the clockwork that says when each request is answered.
//!
//! The clockwork is pure: it is told the time, and counts what it did. What a study says is held
//! against these counts, never against what the study measured.

use std::time::Duration;

/// Blocks in which the clockwork remembers what holds data.
pub const BLOCK: u64 = 4096;

/// What a device does. Everything that is not planted is even and constant.
#[derive(Debug, Clone, PartialEq)]
pub struct Plant {
    /// Bytes of the device.
    pub bytes: u64,
    /// Requests served at a time.
    pub servers: usize,
    /// Of a read, besides its bytes.
    pub read: Duration,
    /// Of a write, besides its bytes.
    pub write: Duration,
    /// Bytes a second of one server.
    pub bytes_per_s: f64,
    /// Every so often, the device does nothing for so long.
    pub stalls: Option<Stalls>,
    /// Writes are as fast as above until this is full.
    pub cache: Option<Cache>,
    /// Flash that is used up by writes.
    pub flash: Option<Flash>,
    /// Discarded blocks are free and read as zeros; else a discard is accepted and changes nothing.
    pub honours_trim: bool,
    /// Requests a second.
    pub cap: Option<Cap>,
    /// The last byte of the device takes this many times as long as the first one.
    pub farther: f64,
    /// A request is served once for each stripe of this many bytes that it touches.
    pub stripe: Option<u64>,
}

/// A schedule of stalls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stalls {
    /// From one beginning to the next; the first comes after half of it.
    pub every: Duration,
    /// How long each lasts.
    pub length: Duration,
}

/// A volatile write cache.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cache {
    /// So much is taken at the speed of the plant …
    pub bytes: u64,
    /// … and a write takes so long while it is full.
    pub full: Duration,
    /// It empties itself when nothing was asked for so long …
    pub rest: Duration,
    /// … or when a flush asks, at this many bytes a second.
    pub drain_bytes_per_s: f64,
}

/// Flash: as it left its factory all of it is free. Each write takes of what is free, and where
/// nothing is, it waits for the collector. A discard that is honoured gives back what it frees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flash {
    /// Bytes beyond those of the device.
    pub spare: u64,
    /// With the collector a write takes this many times as long.
    pub collecting: f64,
}

/// A limit of requests a second that changes once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cap {
    /// Up to the change.
    pub first: f64,
    /// From the first request that is counted to the change.
    pub at: Duration,
    /// From then on.
    pub then: f64,
}

impl Default for Plant {
    fn default() -> Self {
        Plant {
            bytes: 64 << 20,
            servers: 4,
            read: Duration::from_micros(800),
            write: Duration::from_micros(800),
            bytes_per_s: 400e6,
            stalls: None,
            cache: None,
            flash: None,
            honours_trim: true,
            cap: None,
            farther: 1.0,
            stripe: None,
        }
    }
}

/// What a request asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    Read,
    Write,
    Trim,
    Flush,
}

/// What the device did, by its own count. Times are nanoseconds of CLOCK_MONOTONIC.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Counted {
    pub reads: u64,
    pub writes: u64,
    pub flushes: u64,
    /// Nanoseconds that the cache took to empty itself when it was asked to.
    pub flushing: u64,
    pub trims: u64,
    pub trimmed_bytes: u64,
    /// Beginning and end of each stall in which a request waited.
    pub stalls: Vec<(u64, u64)>,
    /// Writes that found the cache full.
    pub full_writes: u64,
    /// Bytes written in all each time that the cache came to be full.
    pub full_at: Vec<u64>,
    /// Bytes written in all when the cap changed.
    pub changed_at: Option<u64>,
    /// Writes that the collector had to serve.
    pub collected: u64,
    /// Bytes written before the first of them.
    pub free_bytes: Option<u64>,
    /// Bytes written in all.
    pub written_bytes: u64,
    /// Requests that touched more than one stripe.
    pub crossings: u64,
    /// When the counting began.
    pub origin: u64,
    /// When each read and write since then was answered, by the plan of the clockwork.
    pub answered: Vec<u64>,
    /// When a read or write came that had not to wait for others: of a load that is deep enough to
    /// keep the device busy, the machine was late with it.
    pub idle: Vec<u64>,
    /// How much later than planned the answers went out: the sum, and the largest.
    pub late: (u64, u64),
}

impl Counted {
    /// The share of reads and writes between two moments that found the device idle.
    pub fn idle_share(&self, from: u64, to: u64) -> f64 {
        let count = |times: &[u64]| times.iter().filter(|at| (from..to).contains(at)).count();
        count(&self.idle) as f64 / count(&self.answered).max(1) as f64
    }

    /// Reads and writes a second that were answered between two moments.
    pub fn rate(&self, from: u64, to: u64) -> f64 {
        let count = self.answered.iter().filter(|at| (from..to).contains(at)).count();
        count as f64 * 1e9 / (to - from) as f64
    }
}

/// The state of a device.
pub struct Clockwork {
    plant: Plant,
    pub counted: Counted,
    free: Vec<u64>,
    cap_next: u64,
    last_end: u64,
    dirty: u64,
    is_full: bool,
    /// What holds data, by blocks, and bytes of flash that are free.
    holds: Vec<bool>,
    free_flash: u64,
}

fn nanoseconds(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).expect("a span of less than 584 years")
}

impl Clockwork {
    /// A device as it left its factory: no block holds anything.
    pub fn new(plant: Plant, now: u64) -> Clockwork {
        let blocks = plant.bytes.div_ceil(BLOCK) as usize;
        Clockwork {
            counted: Counted { origin: now, ..Counted::default() },
            free: vec![0; plant.servers],
            cap_next: 0,
            last_end: now,
            dirty: 0,
            is_full: false,
            holds: vec![false; blocks],
            free_flash: plant.bytes + plant.flash.map_or(0, |flash| flash.spare),
            plant,
        }
    }

    /// The schedules begin now, and the counts as well.
    pub fn begin(&mut self, now: u64) {
        self.counted = Counted { origin: now, ..Counted::default() };
    }

    /// When a request that comes now is answered.
    pub fn ask(&mut self, now: u64, asked: Asked, offset: u64, bytes: u64) -> u64 {
        self.rest(now);
        match asked {
            Asked::Flush => self.flush(now),
            Asked::Trim => {
                self.trim(offset, bytes);
                now
            }
            Asked::Read | Asked::Write => self.transfer(now, asked == Asked::Write, offset, bytes),
        }
    }

    fn transfer(&mut self, now: u64, is_write: bool, offset: u64, bytes: u64) -> u64 {
        let server = (0..self.free.len()).min_by_key(|it| self.free[*it]).expect("a server");
        let mut start = now.max(self.free[server]);
        if let Some(cap) = self.plant.cap {
            start = start.max(self.cap_next);
            let is_first = start < self.counted.origin + nanoseconds(cap.at);
            if !is_first {
                self.counted.changed_at.get_or_insert(self.counted.written_bytes);
            }
            self.cap_next = start + (1e9 / if is_first { cap.first } else { cap.then }) as u64;
        }
        if start == now {
            self.counted.idle.push(now);
        }
        let service = self.service(is_write, offset, bytes);
        let done = self.stalled(start, start + service);
        self.free[server] = done;
        self.last_end = self.last_end.max(done);
        self.counted.reads += u64::from(!is_write);
        self.counted.writes += u64::from(is_write);
        self.counted.answered.push(done);
        done
    }

    fn service(&mut self, is_write: bool, offset: u64, bytes: u64) -> u64 {
        let mut base = nanoseconds(if is_write { self.plant.write } else { self.plant.read });
        if is_write {
            base = self.cached(base, bytes);
            base = self.programmed(base, offset, bytes);
        }
        let mut times = 1;
        if let Some(stripe) = self.plant.stripe {
            times = (offset + bytes - 1) / stripe - offset / stripe + 1;
            self.counted.crossings += u64::from(times > 1);
        }
        let far = 1.0 + (self.plant.farther - 1.0) * offset as f64 / self.plant.bytes as f64;
        ((base * times) as f64 * far + bytes as f64 * 1e9 / self.plant.bytes_per_s) as u64
    }

    /// What a write takes, by what the cache holds.
    fn cached(&mut self, base: u64, bytes: u64) -> u64 {
        let Some(cache) = self.plant.cache else { return base };
        if self.dirty + bytes <= cache.bytes {
            self.dirty += bytes;
            return base;
        }
        if !self.is_full {
            self.is_full = true;
            self.counted.full_at.push(self.counted.written_bytes);
        }
        self.counted.full_writes += 1;
        // So long for each 4 KiB, however many come at once.
        nanoseconds(cache.full) * bytes.div_ceil(BLOCK)
    }

    /// What became of the cache while nothing was asked.
    fn rest(&mut self, now: u64) {
        let Some(cache) = self.plant.cache else { return };
        let idle = now.saturating_sub(self.last_end + nanoseconds(cache.rest));
        let drained = idle as f64 / 1e9 * cache.drain_bytes_per_s;
        if drained as u64 > 0 {
            self.dirty -= self.dirty.min(drained as u64);
            self.is_full = false;
            self.last_end = now;
        }
    }

    fn flush(&mut self, now: u64) -> u64 {
        self.counted.flushes += 1;
        let Some(cache) = self.plant.cache else { return now };
        let drain = (self.dirty as f64 / cache.drain_bytes_per_s * 1e9) as u64;
        self.counted.flushing += drain;
        let done = now.max(self.last_end) + drain;
        (self.dirty, self.is_full) = (0, false);
        self.free.fill(done);
        self.last_end = done;
        done
    }

    fn trim(&mut self, offset: u64, bytes: u64) {
        self.counted.trims += 1;
        self.counted.trimmed_bytes += bytes;
        if !self.plant.honours_trim {
            return;
        }
        let blocks = offset.div_ceil(BLOCK)..(offset + bytes) / BLOCK;
        self.holds[blocks.start as usize..blocks.end as usize].fill(false);
        let held = self.holds.iter().filter(|holds| **holds).count() as u64 * BLOCK;
        let spare = self.plant.flash.map_or(0, |flash| flash.spare);
        self.free_flash = self.free_flash.max(self.plant.bytes + spare - held);
    }

    /// What a write takes, by the flash that is free.
    fn programmed(&mut self, base: u64, offset: u64, bytes: u64) -> u64 {
        let blocks = offset / BLOCK..(offset + bytes).div_ceil(BLOCK);
        self.holds[blocks.start as usize..blocks.end as usize].fill(true);
        let before = self.counted.written_bytes;
        self.counted.written_bytes += bytes;
        let Some(flash) = self.plant.flash else { return base };
        if self.free_flash >= bytes {
            self.free_flash -= bytes;
            return base;
        }
        self.counted.collected += 1;
        self.counted.free_bytes.get_or_insert(before);
        (base as f64 * flash.collecting) as u64
    }

    /// When something ends that stalls interrupt.
    fn stalled(&mut self, from: u64, mut to: u64) -> u64 {
        let Some(stalls) = self.plant.stalls else { return to };
        let (every, length) = (nanoseconds(stalls.every), nanoseconds(stalls.length));
        let first = self.counted.origin + every / 2;
        let mut number = from.saturating_sub(first) / every;
        loop {
            let stall = first + number * every;
            if stall >= to {
                return to;
            }
            let end = stall + length;
            if from < end {
                to += end - from.max(stall);
                if self.counted.stalls.last().is_none_or(|last| last.0 < stall) {
                    self.counted.stalls.push((stall, end));
                }
            }
            number += 1;
        }
    }
}
