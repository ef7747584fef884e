//! Reading ahead of streams of sequential reads, into memory that the write buffer leaves free.

use drivelab_core::op::Time;
use std::collections::VecDeque;

/// Reads that follow each other before a stream is taken for one.
const READS_OF_A_STREAM: u32 = 2;

/// Sequential reads that are being followed.
#[derive(Debug, Clone, Default)]
struct Stream {
    /// The logical unit that comes next.
    next: u32,
    /// Reads in a row.
    reads: u32,
    last_used: u64,
    /// First logical unit that was read ahead, and when it and those behind it are there.
    ahead_from: u32,
    ready: VecDeque<Time>,
}

/// All streams.
#[derive(Debug, Clone)]
pub struct Prefetch {
    streams: Vec<Stream>,
    window_units: u32,
    used: u64,
    held: usize,
}

impl Prefetch {
    /// Follows `streams`, each `window_units` ahead.
    pub fn new(streams: u32, window_units: u32) -> Self {
        Prefetch {
            streams: vec![Stream::default(); streams.max(1) as usize],
            window_units: window_units.max(1),
            used: 0,
            held: 0,
        }
    }

    /// Units held.
    pub fn held(&self) -> usize {
        self.held
    }

    /// When a unit that was read ahead is there.
    pub fn ready_at(&self, logical: u32) -> Option<Time> {
        self.streams.iter().find_map(|stream| {
            let place = logical.checked_sub(stream.ahead_from)?;
            stream.ready.get(place as usize).copied()
        })
    }

    /// A read of `first..end` came: says what to read ahead, if it belongs to a stream.
    pub fn follow(&mut self, first: u32, end: u32) -> Option<(usize, std::ops::Range<u32>)> {
        self.used += 1;
        let found = self.streams.iter().position(|stream| stream.next == first && stream.reads > 0);
        let Some(at) = found else {
            let oldest = (0..self.streams.len()).min_by_key(|at| self.streams[*at].last_used)?;
            self.give_up(oldest);
            let (reads, last_used) = (1, self.used);
            self.streams[oldest] =
                Stream { next: end, reads, last_used, ahead_from: end, ..Stream::default() };
            return None;
        };
        let stream = &mut self.streams[at];
        (stream.next, stream.last_used) = (end, self.used);
        stream.reads = stream.reads.saturating_add(1);
        // What was read is not wanted again.
        while stream.ahead_from < end && stream.ready.pop_front().is_some() {
            stream.ahead_from += 1;
            self.held -= 1;
        }
        if stream.ready.is_empty() {
            stream.ahead_from = end;
        }
        let ahead_to = stream.ahead_from + stream.ready.len() as u32;
        let goal = end.saturating_add(self.window_units);
        let is_low = ahead_to - end <= self.window_units / 2;
        (stream.reads > READS_OF_A_STREAM && is_low).then_some((at, ahead_to..goal))
    }

    /// The next unit of a stream will be there at `ready_at`.
    pub fn add(&mut self, stream: usize, ready_at: Time) {
        self.streams[stream].ready.push_back(ready_at);
        self.held += 1;
    }

    fn give_up(&mut self, stream: usize) {
        self.held -= self.streams[stream].ready.len();
        self.streams[stream].ready.clear();
    }

    /// Writes need the memory: what was read ahead for the stream used longest ago goes.
    pub fn give_room(&mut self) {
        let holding =
            (0..self.streams.len()).filter(|stream| !self.streams[*stream].ready.is_empty());
        if let Some(oldest) = holding.min_by_key(|stream| self.streams[*stream].last_used) {
            self.give_up(oldest);
        }
    }

    /// A unit is written: what was read ahead of it is no longer true.
    pub fn drop(&mut self, logical: u32) {
        for stream in 0..self.streams.len() {
            let ahead = &self.streams[stream];
            let place = logical.checked_sub(ahead.ahead_from).map(|place| place as usize);
            if place.is_some_and(|place| place < ahead.ready.len()) {
                self.give_up(stream);
            }
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.streams.fill(Stream::default());
        self.held = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_read_ahead_and_gives_way_to_writes() {
        let mut prefetch = Prefetch::new(2, 8);
        assert_eq!(prefetch.follow(0, 2), None);
        assert_eq!(prefetch.follow(100, 102), None);
        assert_eq!(prefetch.follow(2, 4), None);
        let (stream, ahead) = prefetch.follow(4, 6).unwrap();
        assert_eq!(ahead, 6..14);
        ahead.for_each(|unit| prefetch.add(stream, u64::from(unit) * 10));
        assert_eq!((prefetch.ready_at(6), prefetch.ready_at(13)), (Some(60), Some(130)));
        assert_eq!((prefetch.ready_at(5), prefetch.ready_at(14), prefetch.held()), (None, None, 8));
        // More than half is still there; then it is filled up.
        assert_eq!(prefetch.follow(6, 8), None);
        assert_eq!(prefetch.follow(8, 10), Some((stream, 14..18)));
        prefetch.drop(12);
        assert_eq!((prefetch.ready_at(11), prefetch.held()), (None, 0));
    }
}
