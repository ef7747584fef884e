//! What one direction of a clone came to.

use super::Clone;
use crate::fio::Section;
use crate::fio::output::figures::{OfPriority, Percentiles, Samples, Side, Timed};
use crate::fio::output::latency::Latencies;
use crate::fio::output::samples;
use drivelab_core::op::Action;
use drivelab_core::tally::{KindTally, PriorityTally};
use drivelab_stats::Histogram;

/// What one direction came to, before it is put into fio's figures.
#[derive(Debug, Default)]
pub(super) struct Moved {
    bytes: u64,
    pub(super) operations: u64,
    runtime_ms: u64,
    pub(super) latencies: Latencies,
    /// By the kernel's numbers of their priorities.
    priorities: Vec<(u16, Latencies)>,
    bandwidth: Samples,
    iops: Samples,
}

impl Moved {
    pub(super) fn of(clone: &Clone<'_>, kind: Action) -> Self {
        let mut moved = Moved::default();
        let (mut bytes, mut operations) = (Vec::new(), Vec::new());
        for part in &clone.parts {
            let entries = || {
                let kinds = part.tallies.iter().flat_map(|tally| &tally.kinds);
                kinds.filter(|entry| clone.section.counts(entry.kind, kind))
            };
            let counted = |entry: &KindTally| clone.section.counted(entry);
            let issued: u64 = entries().map(|entry| counted(entry).1 + entry.error_count()).sum();
            if issued == 0 {
                continue;
            }
            moved.operations += issued;
            moved.bytes += entries().map(|entry| counted(entry).0).sum::<u64>();
            moved.runtime_ms += part.runtime_ms();
            let (mut total, mut submission, mut rest) = (Histogram::new(), None, None);
            let mut by_priority = Vec::new();
            for entry in entries() {
                PriorityTally::add_all(&mut by_priority, &entry.priorities);
                total.merge(&entry.service);
                if let Some(part) = &entry.submit {
                    submission.get_or_insert_with(Histogram::new).merge(part);
                }
                if let Some(part) = &entry.completion {
                    rest.get_or_insert_with(Histogram::new).merge(part);
                }
            }
            let latencies = Latencies::of(&total, submission.as_ref(), rest.as_ref());
            // Where none has its own, all have that of their thread.
            if by_priority.is_empty() {
                moved.add_priority(part.stream.thread_priority(), &latencies);
            }
            for one in &by_priority {
                let own = Latencies::of_priority(&one.service, one.completion.as_ref());
                moved.add_priority(one.number, &own);
            }
            moved.latencies.merge(&latencies);
            let course = part.course(clone.section, kind);
            bytes.extend(course.bytes);
            operations.extend(course.operations);
        }
        moved.bandwidth = samples::summary(bytes.iter().map(|bytes| bytes >> 10));
        moved.iops = samples::summary(operations.iter().copied());
        moved
    }

    /// Adds what another clone moved at the same time, or the same one in another direction.
    pub(super) fn merge(&mut self, other: &Moved) {
        self.bytes += other.bytes;
        self.operations += other.operations;
        self.runtime_ms = self.runtime_ms.max(other.runtime_ms);
        self.latencies.merge(&other.latencies);
        for (number, latencies) in &other.priorities {
            self.add_priority(*number, latencies);
        }
        self.bandwidth = samples::together(self.bandwidth, other.bandwidth);
        self.iops = samples::together(self.iops, other.iops);
    }

    fn add_priority(&mut self, number: u16, latencies: &Latencies) {
        match self.priorities.iter_mut().find(|(of, _)| *of == number) {
            Some((_, sum)) => sum.merge(latencies),
            None => self.priorities.push((number, latencies.clone())),
        }
    }

    /// The latencies of each priority that requests had, where they had several.
    fn by_priority(&self, section: &Section, percentiles: &Percentiles) -> Vec<OfPriority> {
        let is_left_out = match section.lat_percentiles {
            true => section.without.total,
            false => section.without.completion,
        };
        if is_left_out {
            return Vec::new();
        }
        let timed = if percentiles.total { Latencies::total } else { Latencies::completion };
        let each = self.priorities.iter();
        let each = each.map(|(number, its)| OfPriority::of(*number, timed(its, percentiles)));
        let all: Vec<OfPriority> = each.filter(|one| one.timed.count > 0).collect();
        if all.len() > 1 { all } else { Vec::new() }
    }

    pub(super) fn side(&self, section: &Section, percentiles: &Percentiles) -> Side {
        let unless = |left_out: bool, timed: Timed| if left_out { Timed::default() } else { timed };
        let without = section.without;
        let latencies = &self.latencies;
        Side {
            bytes: self.bytes,
            runtime_ms: self.runtime_ms,
            operations: self.operations,
            submission: unless(without.submission, latencies.submission(percentiles)),
            completion: unless(without.completion, latencies.completion(percentiles)),
            total: unless(without.total, latencies.total(percentiles)),
            priorities: self.by_priority(section, percentiles),
            bandwidth: self.bandwidth,
            share_percent: 0.0,
            iops: self.iops,
        }
    }
}
