//! How parallel workers lay out their data: files of segments, segments of blocks, blocks that are
//! moved in transfers, as the figure in IOR's documents has it.

use drivelab_core::plan::{Files, Pattern, Sharing, Stream};
use drivelab_core::quantity::count;
use drivelab_core::run::Run;

use crate::view::chart::{Body, Chart, Table};
use crate::view::unit::bytes;

/// This many of a kind are drawn; of more the first and the last.
const DRAWN: u64 = 4;
/// This many transfers of a block.
const TRANSFERS_DRAWN: u64 = 8;
/// More layouts than these are of a plan that is about something else.
const LAYOUTS_MAX: usize = 8;

/// A row of places: numbers from 1, `None` for those that are left out.
pub(crate) type Places = Vec<Option<u64>>;

/// One file as it is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct FileRow {
    /// Its name.
    pub name: String,
    /// Whose blocks are in each segment; empty where the file is left out.
    pub workers: Vec<Option<u64>>,
}

/// What is drawn of a layout.
#[derive(Debug, Clone, PartialEq)]
pub struct FileLayout {
    /// Numbers of the segments.
    pub segments: Vec<Option<u64>>,
    /// Files, from the top.
    pub files: Vec<FileRow>,
    /// Numbers of the transfers of a block.
    pub transfers: Vec<Option<u64>>,
    /// What stands above the transfers.
    pub block: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Laid {
    workers: u64,
    segments: u64,
    block: u64,
    transfer: u64,
    is_each: bool,
}

/// The layouts of a run, each once; nothing where no worker has blocks.
pub fn parallel(run: &Run) -> Vec<Chart> {
    let steps = || run.plans.iter().flat_map(|plan| &plan.steps);
    let streams: Vec<&Stream> =
        steps().flat_map(|step| &step.streams).filter(|stream| stream.workers > 1).collect();
    let mut all: Vec<Laid> = Vec::new();
    for stream in &streams {
        let found = laid(stream, &streams).filter(|found| !all.contains(found));
        all.extend(found);
    }
    all.sort_by_key(|it| (it.block, it.transfer, !it.is_each));
    if all.len() > LAYOUTS_MAX {
        return Vec::new();
    }
    all.iter().map(chart).collect()
}

/// What a stream lays out. Of a file each only the transfers may be known: its blocks are then
/// those of another stream of the run with the same transfers.
fn laid(stream: &Stream, all: &[&Stream]) -> Option<Laid> {
    let transfer = stream.size.0;
    let workers = u64::from(stream.workers);
    let is_region = stream.regions == Some(Sharing::Disjoint);
    let is_each = stream.files == Files::Each || is_region;
    let block_of = |stream: &Stream| match stream.pattern {
        Pattern::Segments { block, .. } => Some(block.0),
        _ => None,
    };
    let borrowed = || {
        let same = |other: &&&Stream| other.size.0 == transfer;
        all.iter().filter(same).find_map(|other| block_of(other))
    };
    let in_order = matches!(stream.pattern, Pattern::Sequential(_));
    let block = block_of(stream).or_else(|| (is_each && in_order).then(borrowed).flatten())?;
    let said = match stream.pattern {
        Pattern::Segments { segments, .. } => segments,
        _ => None,
    };
    // Of one file, or of a drive, all workers have their parts.
    let sharers = if stream.files == Files::Each { 1 } else { workers };
    let segments = said.or_else(|| Some(stream.length?.0 / sharers / block.max(1)))?;
    let is_whole = segments > 0 && transfer > 0 && block >= transfer;
    is_whole.then_some(Laid { workers, segments, block, transfer, is_each })
}

/// The numbers from 1 to `all`, and of too many the first ones and the last.
fn places(all: u64, most: u64) -> Places {
    match all <= most {
        true => (1..=all).map(Some).collect(),
        false => (1..most - 1).map(Some).chain([None, Some(all)]).collect(),
    }
}

fn chart(laid: &Laid) -> Chart {
    let Laid { workers, segments, block, transfer, is_each } = *laid;
    let transfers = block / transfer;
    let (block_text, transfer_text) = (bytes(block as f64), bytes(transfer as f64));
    let shown = places(workers, DRAWN);
    let files = match is_each {
        true => shown
            .iter()
            .map(|worker| match worker {
                Some(worker) => {
                    FileRow { name: format!("file {worker}"), workers: vec![Some(*worker)] }
                }
                None => FileRow { name: "…".into(), workers: Vec::new() },
            })
            .collect(),
        false => vec![FileRow { name: "file".into(), workers: shown }],
    };
    let kind = if is_each { "A file for each worker (N-N)" } else { "One file for all (N-1)" };
    let title = format!("{kind}: blocks of {block_text} in transfers of {transfer_text}");
    let all_bytes = u128::from(block) * u128::from(segments) * u128::from(workers);
    let number = |value: u64| count(value);
    let plural = |many: u64, word: &str| match many {
        1 => format!("1 {word}"),
        _ => format!("{} {word}s", number(many)),
    };
    let of_file = plural(segments, "segment");
    let note = match is_each {
        true => format!("Each file has {of_file}, each of a block of its worker."),
        false => format!("The file has {of_file}, each of a block of each worker in turn."),
    };
    let note = format!("{note} Numbers in a file are workers.");
    let block_line =
        format!("a block of {block_text}: {} of {transfer_text}", plural(transfers, "transfer"));
    let alt = format!("{title}. {note} {block_line}.");
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let table = Table {
        heads: vec!["".into(), "value".into()],
        rows: vec![
            row("workers", number(workers)),
            row("files", number(if is_each { workers } else { 1 })),
            row("segments of a file", number(segments)),
            row("block", block_text),
            row("transfer", transfer_text),
            row("bytes of all files", bytes(all_bytes as f64)),
        ],
    };
    let body = Body::Layout(FileLayout {
        segments: places(segments, DRAWN),
        files,
        transfers: places(transfers, TRANSFERS_DRAWN),
        block: block_line,
    });
    Chart { title, note, alt, body, table }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::plan::{Plan, Step};
    use drivelab_core::record::Record;
    use drivelab_core::units::Size;

    const KIBIBYTE: u64 = 1 << 10;

    fn stream(pattern: Pattern, files: Files, length: u64) -> Stream {
        let (size, length) = (Size(4 * KIBIBYTE), Some(Size(length * KIBIBYTE)));
        Stream { pattern, files, workers: 6, size, length, ..Stream::default() }
    }

    fn drawn(streams: Vec<Stream>) -> Vec<(String, FileLayout)> {
        let mut run = Run::default();
        let step = Step { streams, ..Step::default() };
        let plan = Plan { steps: vec![step.clone(), step], ..Plan::default() };
        run.push(Record::Plan { plan }).expect("a plan");
        let body = |chart: Chart| match chart.body {
            Body::Layout(layout) => (format!("{}. {}", chart.title, chart.note), layout),
            _ => panic!("{}", chart.title),
        };
        parallel(&run).into_iter().map(body).collect()
    }

    #[test]
    fn files_segments_blocks_and_transfers_are_those_of_the_plan() {
        let segments = Pattern::Segments { block: Size(64 * KIBIBYTE), segments: Some(200_000) };
        let all = stream(segments, Files::One, 1);
        // Of these the plan knows no blocks: they are those of the other stream.
        let each = stream(Pattern::SEQUENTIAL, Files::Each, 128);
        let found = drawn(vec![all.clone(), each.clone()]);
        let [(each_said, in_each), (all_said, in_all)] = &found[..] else { panic!("{found:?}") };
        assert!(
            each_said.starts_with("A file for each worker (N-N): blocks of 64 KiB in transfers")
        );
        assert!(each_said.contains("Each file has 2 segments"), "{each_said}");
        assert_eq!(in_each.segments, [Some(1), Some(2)]);
        let names: Vec<&str> = in_each.files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["file 1", "file 2", "…", "file 6"]);
        assert_eq!(in_each.files[3].workers, [Some(6)]);
        assert!(all_said.contains("The file has 200,000 segments, each of a block of each worker"));
        assert_eq!(in_all.segments, [Some(1), Some(2), None, Some(200_000)]);
        assert_eq!(in_all.files[0].workers, [Some(1), Some(2), None, Some(6)]);
        assert_eq!(in_all.transfers.last(), Some(&Some(16)));
        // Where nobody has blocks, nothing is drawn.
        assert_eq!(drawn(vec![each]), []);
        assert_eq!(drawn(vec![Stream { workers: 1, ..all }]), []);
    }
}
