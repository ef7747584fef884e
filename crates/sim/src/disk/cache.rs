//! The memory of a disk: segments of what was read (and read ahead), and data not yet on the disk.

use super::geometry::Place;
use drivelab_core::op::Time;

/// Sectors that were read, one run a segment; the one used longest ago makes place.
#[derive(Debug, Clone)]
pub struct ReadCache {
    segments: Vec<Segment>,
    uses: u64,
    /// Sectors that a segment can hold.
    pub segment_sectors: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Segment {
    start: u64,
    end: u64,
    used: u64,
}

impl ReadCache {
    /// An empty cache of `segments` segments.
    pub fn new(segments: usize, segment_sectors: u64) -> Self {
        Self { segments: vec![Segment::default(); segments], uses: 0, segment_sectors }
    }

    /// The segment that holds `sector`, or ends just before it.
    pub fn find(&self, sector: u64) -> Option<usize> {
        self.segments
            .iter()
            .position(|segment| segment.start <= sector && sector <= segment.end && segment.end > 0)
    }

    /// The end of a segment.
    pub fn end(&self, segment: usize) -> u64 {
        self.segments[segment].end
    }

    /// Whether all of `first..end` is held.
    pub fn holds(&self, first: u64, end: u64) -> bool {
        self.segments.iter().any(|segment| segment.start <= first && end <= segment.end)
    }

    /// The first sector of `first..end` that must come from the disk.
    pub fn missing_from(&self, first: u64, end: u64) -> u64 {
        match self.find(first) {
            Some(segment) if self.segments[segment].end < end => self.segments[segment].end,
            _ => first,
        }
    }

    /// A segment for what is read from `first` on: the one that ends there, else the one used
    /// longest ago. `None` without a cache.
    pub fn take(&mut self, first: u64) -> Option<usize> {
        let found = self
            .find(first)
            .or_else(|| (0..self.segments.len()).min_by_key(|&index| self.segments[index].used))?;
        let segment = &mut self.segments[found];
        if !(segment.start <= first && first <= segment.end && segment.end > 0) {
            *segment = Segment { start: first, end: first, used: 0 };
        }
        self.touch(found);
        Some(found)
    }

    /// Marks a segment as used.
    pub fn touch(&mut self, segment: usize) {
        self.uses += 1;
        self.segments[segment].used = self.uses;
    }

    /// Moves the end of a segment forwards; what is too much drops out at its beginning.
    pub fn extend(&mut self, segment: usize, end: u64) {
        let segment = &mut self.segments[segment];
        segment.end = segment.end.max(end);
        segment.start = segment.start.max(segment.end.saturating_sub(self.segment_sectors));
    }

    /// Forgets every segment that holds some of `first..end`.
    pub fn forget(&mut self, first: u64, end: u64) {
        for segment in &mut self.segments {
            if segment.start < end && first < segment.end {
                *segment = Segment::default();
            }
        }
    }

    /// Whether a segment holds some of `first..end`.
    pub fn overlaps(&self, segment: usize, first: u64, end: u64) -> bool {
        self.segments[segment].start < end && first < self.segments[segment].end
    }
}

/// Data that the host was told are written.
#[derive(Debug, Clone)]
pub struct WriteCache {
    capacity_bytes: u64,
    runs_max: usize,
    /// Runs that wait.
    pub runs: Vec<Run>,
    writing: Option<Run>,
    bytes: u64,
    made: u64,
}

/// Neighbouring sectors to be written together.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// Order in which runs were begun, from 1.
    pub number: u64,
    /// First sector.
    pub first: u64,
    /// Sector after the last.
    pub end: u64,
    /// When its first data are here.
    pub ready_at: Time,
    /// Where it begins.
    pub place: Place,
}

impl Run {
    /// Bytes of the run.
    pub fn bytes(&self) -> u64 {
        (self.end - self.first) * super::SECTOR_BYTES
    }
}

impl WriteCache {
    /// An empty cache.
    pub fn new(capacity_bytes: u64, runs_max: usize) -> Self {
        Self {
            capacity_bytes,
            runs_max,
            runs: Vec::with_capacity(runs_max.min(4_096)),
            writing: None,
            bytes: 0,
            made: 0,
        }
    }

    /// Whether `first..end` could ever have a place.
    pub fn can_hold(&self, first: u64, end: u64) -> bool {
        self.runs_max > 0 && (end - first) * super::SECTOR_BYTES <= self.capacity_bytes
    }

    /// Bytes held, with those being written.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Number of the run begun last.
    pub fn newest(&self) -> u64 {
        self.made
    }

    /// Whether a run holds all of `first..end`.
    pub fn holds(&self, first: u64, end: u64) -> bool {
        self.runs.iter().any(|run| run.first <= first && end <= run.end)
    }

    fn neighbour(&self, first: u64) -> Option<usize> {
        self.runs.iter().position(|run| run.first <= first && first <= run.end)
    }

    /// Whether `first..end` has a place now.
    pub fn has_room(&self, first: u64, end: u64) -> bool {
        let neighbour = self.neighbour(first);
        let added = end.saturating_sub(neighbour.map_or(first, |index| self.runs[index].end));
        let runs = self.runs.len() + usize::from(self.writing.is_some());
        (neighbour.is_some() || runs < self.runs_max)
            && self.bytes + added * super::SECTOR_BYTES <= self.capacity_bytes
    }

    /// Takes `first..end`, whose data are here at `ready_at`; a run that it overlaps or continues
    /// grows, and can be written at once: the link is faster than the head.
    pub fn add(&mut self, first: u64, end: u64, ready_at: Time, place: Place) {
        if let Some(index) = self.neighbour(first) {
            let run = &mut self.runs[index];
            self.bytes += end.saturating_sub(run.end) * super::SECTOR_BYTES;
            run.end = run.end.max(end);
            return;
        }
        self.made += 1;
        self.bytes += (end - first) * super::SECTOR_BYTES;
        self.runs.push(Run { number: self.made, first, end, ready_at, place });
    }

    /// Begins to write a run.
    pub fn begin(&mut self, index: usize) -> Run {
        let run = self.runs.remove(index);
        self.writing = Some(run);
        run
    }

    /// The run that was being written is on the disk.
    pub fn written(&mut self) {
        self.bytes -= self.writing.take().map_or(0, |run| run.bytes());
    }

    /// Whether every run up to `number` is on the disk.
    pub fn is_written(&self, number: u64) -> bool {
        self.runs.iter().chain(&self.writing).all(|run| run.number > number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place = Place { cylinder: 0, head: 0, sector: 0, track_sectors: 100 };

    #[test]
    fn a_segment_is_a_window_that_moves_and_the_oldest_makes_place() {
        let mut cache = ReadCache::new(2, 100);
        let first = cache.take(1_000).unwrap();
        cache.extend(first, 1_150);
        assert!(!cache.holds(1_000, 1_010) && cache.holds(1_050, 1_150));
        assert_eq!(cache.missing_from(1_100, 1_200), 1_150);
        let second = cache.take(5_000).unwrap();
        cache.extend(second, 5_010);
        assert_eq!(cache.take(1_150), Some(first));
        assert_eq!(cache.take(9_000), Some(second));
        assert!(!cache.holds(5_000, 5_010));
        cache.forget(1_100, 1_101);
        assert!(!cache.holds(1_050, 1_060));
        assert_eq!(ReadCache::new(0, 100).take(3), None);
    }

    #[test]
    fn neighbouring_and_repeated_writes_become_one_run() {
        let mut cache = WriteCache::new(64 * 512, 2);
        cache.add(0, 8, 1, PLACE);
        cache.add(8, 16, 2, PLACE);
        cache.add(4, 12, 3, PLACE);
        assert_eq!((cache.runs.len(), cache.bytes()), (1, 16 * 512));
        cache.add(100, 108, 4, PLACE);
        assert!(!cache.has_room(200, 208), "no third run");
        assert!(cache.has_room(16, 56) && !cache.has_room(16, 57), "bytes are bounded");
        let run = cache.begin(0);
        assert_eq!((run.first, run.end, run.ready_at), (0, 16, 1));
        assert!(!cache.has_room(200, 208), "the run being written keeps its place");
        cache.written();
        assert!(cache.has_room(200, 208));
        assert_eq!(cache.bytes(), 8 * 512);
    }
}
