//! Files as rows of blocks, and one block in its transfers below.

use drivelab_core::quantity::count;
use std::fmt::Write;

use crate::svg::{SERIES, open, place, text};
use crate::view::chart::FileLayout;

/// Room for the names of files.
const NAMES: f64 = 58.0;
/// Between segments, and the share of a block that what is left out takes.
const GAP: f64 = 8.0;
const LEFT_OUT: f64 = 0.6;
const HEAD: f64 = 18.0;
const ROW: f64 = 26.0;
const BLOCK: f64 = 20.0;
/// Between the files and the transfers of a block.
const ZOOM: f64 = 34.0;

pub(super) fn draw(alt: &str, layout: &FileLayout, width: f64) -> String {
    let files = layout.files.len() as f64;
    let height = HEAD + files * ROW + ZOOM + BLOCK + 4.0;
    let mut out = open(alt, width, height, "");
    text(&mut out, 0.0, 12.0, "on", "segment");
    let widest = layout.files.iter().map(|file| file.workers.len()).max().unwrap_or(1).max(1);
    let blocks_wide = |workers: &[Option<u64>]| -> f64 { workers.iter().map(share).sum() };
    let of_segment = layout
        .files
        .iter()
        .map(|file| blocks_wide(&file.workers))
        .fold(0.0, f64::max)
        .max(LEFT_OUT * widest as f64);
    let segments: f64 = layout.segments.iter().map(|it| it.map_or(LEFT_OUT, |_| of_segment)).sum();
    let gaps = (layout.segments.len() as f64 - 1.0) * GAP;
    let unit = (width - NAMES - gaps) / segments;
    let mut x = NAMES;
    for segment in &layout.segments {
        let wide = segment.map_or(LEFT_OUT, |_| of_segment) * unit;
        let label = segment.map_or("…".to_owned(), count);
        text(&mut out, x + wide / 2.0, 12.0, "mid", &label);
        let drawn = segment.is_some();
        layout.files.iter().enumerate().for_each(|(index, file)| {
            let top = HEAD + index as f64 * ROW;
            if drawn {
                row(&mut out, &file.workers, (x, top), unit, of_segment);
            } else if !file.workers.is_empty() {
                text(&mut out, x + wide / 2.0, top + 14.0, "mid", "…");
            }
        });
        x += wide + GAP;
    }
    for (index, file) in layout.files.iter().enumerate() {
        text(&mut out, 0.0, HEAD + index as f64 * ROW + 14.0, "on", &file.name);
    }
    let last = HEAD + (files - 1.0) * ROW + BLOCK;
    // The first block of the last file: no other lies between it and its transfers.
    let blocks = layout.files.last().map_or(&[][..], |file| &file.workers);
    let wide = of_segment * unit * blocks.first().map_or(1.0, share) / blocks_wide(blocks);
    transfers(&mut out, layout, width, (last, HEAD + files * ROW + ZOOM), wide);
    out.push_str("</svg>");
    out
}

fn share(place: &Option<u64>) -> f64 {
    place.map_or(LEFT_OUT, |_| 1.0)
}

/// The blocks of one file in one segment; a file with one block has all of it.
fn row(out: &mut String, workers: &[Option<u64>], at: (f64, f64), unit: f64, segment: f64) {
    let own: f64 = workers.iter().map(share).sum();
    let scale = if own > 0.0 { segment / own } else { 1.0 };
    let mut x = at.0;
    for worker in workers {
        let wide = share(worker) * unit * scale;
        let class = worker.map_or("other", |worker| SERIES[worker as usize % SERIES.len()]);
        block(out, (x, at.1), wide, class, *worker);
        x += wide;
    }
}

fn block(out: &mut String, at: (f64, f64), wide: f64, class: &str, number: Option<u64>) {
    if number.is_some() {
        let (x, y, wide) = (place(at.0), place(at.1), place(wide - 1.0));
        let _ = write!(
            out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{BLOCK}\" class=\"{class} part\"/>"
        );
    }
    let label = number.map_or("…".to_owned(), count);
    text(out, at.0 + wide / 2.0, at.1 + 14.0, "on mid", &label);
}

/// A block in its transfers; lines lead from one to the other.
fn transfers(out: &mut String, layout: &FileLayout, width: f64, y: (f64, f64), wide: f64) {
    let (from, to) = y;
    let _ = write!(
        out,
        "<path d=\"M{} {}L0 {}M{} {}L{} {}\" class=\"seam\"/>",
        place(NAMES),
        place(from),
        place(to),
        place(NAMES + wide),
        place(from),
        place(width),
        place(to)
    );
    text(out, width / 2.0, to - 6.0, "on mid", &layout.block);
    let all: f64 = layout.transfers.iter().map(share).sum();
    let unit = width / all;
    let mut x = 0.0;
    for transfer in &layout.transfers {
        let wide = share(transfer) * unit;
        block(out, (x, to), wide, "other", *transfer);
        x += wide;
    }
}
