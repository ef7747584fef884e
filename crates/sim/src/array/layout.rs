//! Where a byte of an array lies on its members, and what a write to it takes.

use serde::{Deserialize, Serialize};

/// How an array spreads data over its members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Strips over all members (RAID 0).
    Stripe,
    /// Strips over pairs of members that hold the same (RAID 10).
    Mirror,
    /// Strips over all members but one, whose strip is parity and which changes from row to row
    /// (RAID 5, left-symmetric).
    Parity,
}

/// Bytes of one row: `lo..hi`, counted from the beginning of the row's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// First byte.
    pub lo: u64,
    /// Byte after the last.
    pub hi: u64,
}

/// An operation on one member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberOp {
    /// Which member.
    pub member: usize,
    /// First byte on it.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
}

/// What a write takes: reads first, then writes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WritePlan {
    /// What parity needs.
    pub reads: Vec<MemberOp>,
    /// Data, copies and parity.
    pub writes: Vec<MemberOp>,
}

/// The layout of an array: rows of one strip on every member.
#[derive(Debug, Clone)]
pub struct Layout {
    level: Level,
    members: u64,
    strip_bytes: u64,
    rows: u64,
}

/// Bytes of one strip that are touched, counted from its beginning.
struct Piece {
    column: u64,
    lo: u64,
    hi: u64,
}

impl Layout {
    /// A layout over `members` members of at least `member_bytes` each.
    pub fn new(level: Level, members: u64, strip_bytes: u64, member_bytes: u64) -> Self {
        Self { level, members, strip_bytes, rows: member_bytes / strip_bytes }
    }

    /// Strips of data in a row.
    pub fn columns(&self) -> u64 {
        match self.level {
            Level::Stripe => self.members,
            Level::Mirror => self.members / 2,
            Level::Parity => self.members - 1,
        }
    }

    /// Bytes of data in a row.
    pub fn row_bytes(&self) -> u64 {
        self.columns() * self.strip_bytes
    }

    /// Bytes of data in all rows.
    pub fn bytes(&self) -> u64 {
        self.rows * self.row_bytes()
    }

    /// The rows that `len` bytes at `offset` touch, each with what is touched.
    pub fn rows(&self, offset: u64, len: u64) -> impl Iterator<Item = (u64, Range)> + use<> {
        let row_bytes = self.row_bytes();
        let end = offset + len;
        (offset / row_bytes..end.div_ceil(row_bytes)).map(move |row| {
            let begin = row * row_bytes;
            let lo = offset.max(begin) - begin;
            (row, Range { lo, hi: end.min(begin + row_bytes) - begin })
        })
    }

    fn parity_member(&self, row: u64) -> u64 {
        self.members - 1 - row % self.members
    }

    /// The member that holds a strip of data; of a pair, the first.
    fn member(&self, row: u64, column: u64) -> u64 {
        match self.level {
            Level::Stripe => column,
            Level::Mirror => 2 * column,
            Level::Parity => (self.parity_member(row) + 1 + column) % self.members,
        }
    }

    fn on_member(&self, row: u64, member: u64, lo: u64, hi: u64) -> MemberOp {
        let offset = row * self.strip_bytes + lo;
        MemberOp { member: member as usize, offset, len: hi - lo }
    }

    fn pieces(&self, range: Range) -> impl Iterator<Item = Piece> + use<> {
        let strip_bytes = self.strip_bytes;
        (range.lo / strip_bytes..range.hi.div_ceil(strip_bytes)).map(move |column| {
            let begin = column * strip_bytes;
            let lo = range.lo.max(begin) - begin;
            Piece { column, lo, hi: range.hi.min(begin + strip_bytes) - begin }
        })
    }

    /// The reads that fetch a range; `choose` is given two members that hold the same.
    pub fn reads(
        &self,
        row: u64,
        range: Range,
        mut choose: impl FnMut(MemberOp, MemberOp) -> MemberOp,
    ) -> Vec<MemberOp> {
        self.pieces(range)
            .map(|piece| {
                let member = self.member(row, piece.column);
                let op = self.on_member(row, member, piece.lo, piece.hi);
                match self.level {
                    Level::Mirror => choose(op, MemberOp { member: op.member + 1, ..op }),
                    Level::Stripe | Level::Parity => op,
                }
            })
            .collect()
    }

    /// What it takes to write the ranges, which do not overlap, of a row.
    pub fn write_plan(&self, row: u64, ranges: &[Range]) -> WritePlan {
        let pieces: Vec<Piece> = ranges.iter().flat_map(|range| self.pieces(*range)).collect();
        let mut plan = WritePlan::default();
        for piece in &pieces {
            let op = self.on_member(row, self.member(row, piece.column), piece.lo, piece.hi);
            plan.writes.push(op);
            if self.level == Level::Mirror {
                plan.writes.push(MemberOp { member: op.member + 1, ..op });
            }
        }
        if self.level == Level::Parity {
            self.add_parity(row, &pieces, &mut plan);
        }
        plan
    }

    /// New parity from the old data and the old parity, or from the data not written: whichever
    /// takes fewer reads.
    fn add_parity(&self, row: u64, pieces: &[Piece], plan: &mut WritePlan) {
        let lo = pieces.iter().map(|piece| piece.lo).min().unwrap_or(0);
        let hi = pieces.iter().map(|piece| piece.hi).max().unwrap_or(0);
        let parity = self.on_member(row, self.parity_member(row), lo, hi);
        let rest = self.not_written(row, pieces, lo, hi);
        if rest.len() <= pieces.len() {
            plan.reads = rest;
        } else {
            plan.reads.clone_from(&plan.writes);
            plan.reads.push(parity);
        }
        plan.writes.push(parity);
    }

    /// What the strips of a row hold between `lo` and `hi` besides the pieces.
    fn not_written(&self, row: u64, pieces: &[Piece], lo: u64, hi: u64) -> Vec<MemberOp> {
        let mut rest = Vec::new();
        for column in 0..self.columns() {
            let member = self.member(row, column);
            let mut own: Vec<&Piece> =
                pieces.iter().filter(|piece| piece.column == column).collect();
            own.sort_by_key(|piece| piece.lo);
            let mut at = lo;
            for piece in own {
                if piece.lo > at {
                    rest.push(self.on_member(row, member, at, piece.lo));
                }
                at = piece.hi;
            }
            if at < hi {
                rest.push(self.on_member(row, member, at, hi));
            }
        }
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    const STRIP: u64 = 65_536;

    fn parity(members: u64) -> Layout {
        Layout::new(Level::Parity, members, STRIP, 100 * STRIP)
    }

    #[test]
    fn every_strip_has_a_place_of_its_own_and_parity_visits_every_member() {
        for (level, columns) in [(Level::Stripe, 4), (Level::Mirror, 2), (Level::Parity, 3)] {
            let layout = Layout::new(level, 4, STRIP, 100 * STRIP);
            assert_eq!(layout.bytes(), columns * 100 * STRIP);
            let mut used = HashSet::new();
            for strip in 0..columns * 100 {
                for (row, range) in layout.rows(strip * STRIP, STRIP) {
                    for op in layout.write_plan(row, &[range]).writes {
                        used.insert((op.member, op.offset));
                        assert_eq!(op.len, STRIP);
                    }
                }
            }
            let copies = if level == Level::Stripe { 400 } else { 2 * columns * 100 };
            assert_eq!(used.len() as u64, copies.min(400), "{level:?}");
        }
        let members: HashSet<u64> = (0..4).map(|row| parity(4).parity_member(row)).collect();
        assert_eq!(members.len(), 4);
    }

    #[test]
    fn a_small_write_reads_old_data_and_old_parity() {
        let plan = parity(5).write_plan(7, &[Range { lo: 4_096, hi: 8_192 }]);
        assert_eq!((plan.reads.len(), plan.writes.len()), (2, 2));
        assert_eq!(plan.reads, plan.writes);
        assert_ne!(plan.reads[0].member, plan.reads[1].member);
        assert!(plan.reads.iter().all(|op| op.offset == 7 * STRIP + 4_096 && op.len == 4_096));
    }

    #[test]
    fn most_of_a_row_reads_the_rest_and_a_whole_row_reads_nothing() {
        let layout = parity(5);
        let most = layout.write_plan(0, &[Range { lo: 0, hi: 3 * STRIP }]);
        assert_eq!((most.reads.len(), most.writes.len()), (1, 4));
        assert_eq!(most.reads[0].member as u64, layout.member(0, 3));
        let whole = layout.write_plan(0, &[Range { lo: 0, hi: 4 * STRIP }]);
        assert_eq!((whole.reads.len(), whole.writes.len()), (0, 5));
        // The same part of every strip: its parity needs nothing else either.
        let slices: Vec<Range> = (0..4)
            .map(|column| Range { lo: column * STRIP + 512, hi: column * STRIP + 1_024 })
            .collect();
        assert_eq!(layout.write_plan(0, &slices).reads.len(), 0);
    }

    #[test]
    fn a_write_over_two_rows_touches_both() {
        let layout = parity(5);
        let rows: Vec<(u64, Range)> = layout.rows(4 * STRIP - 4_096, 8_192).collect();
        assert_eq!(
            rows,
            [(0, Range { lo: 4 * STRIP - 4_096, hi: 4 * STRIP }), (1, Range { lo: 0, hi: 4_096 })]
        );
    }
}
