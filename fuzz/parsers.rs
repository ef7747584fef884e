//! What must hold for any bytes: each function reads them with one parser, and fails loudly where
//! the parser panics, or reads back something else than it wrote. The fuzzers run these for as
//! long as asked; a test runs them on the seeds and on some thousand mutations of each.
#![allow(dead_code, reason = "each fuzzer uses one of them")]

use drivelab_compat::fio::output::packed;
use drivelab_compat::{fio_json, trace};
use drivelab_core::anatomy::{Piece, Stamped, dissect};
use drivelab_core::comparison::Metric;
use drivelab_core::facts::{Facts, TargetKind};
use drivelab_core::plan::{Content, Engine, Plan, Request, Sync};
use drivelab_core::record::Record;
use drivelab_core::run::Run;
use drivelab_core::study::StudyOptions;
use drivelab_core::trace::block::{BlockEvent, Decoder, Point, Trace};
use drivelab_core::trace::format::{Format, PageLayout};
use drivelab_core::units::{Size, Span};
use drivelab_core::validate::{Geometry, cpu_list, validate};
use drivelab_core::{plan_text, summary};
use drivelab_io::signature::{Media, signatures as recognise};
use drivelab_sim::target::SimTarget;
use drivelab_stats::{Extremes, Histogram};
use drivelab_study::{accept, compare};
use std::fmt::{Debug, Display};
use std::str::FromStr;

/// Parses, and what was parsed reads back equal.
fn round_trip<T: FromStr<Err = String> + Display + PartialEq + Debug>(text: &str) {
    match text.parse::<T>() {
        Ok(value) => assert_eq!(value.to_string().parse::<T>().as_ref(), Ok(&value), "{text}"),
        Err(error) => assert!(!error.is_empty(), "an error without a word: {text}"),
    }
}

/// Sizes, spans and the small words of the command line.
pub fn quantities(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    round_trip::<Size>(text);
    round_trip::<Span>(text);
    round_trip::<Sync>(text);
    round_trip::<Content>(text);
    if let Ok(engine) = text.parse::<Engine>() {
        assert_eq!(engine.word(), text);
    }
    // Ranges may be wide: only the time it takes is bounded.
    cpu_list(text).ok();
}

/// Whether every number in the plan equals itself: TOML has NaN.
fn equals_itself(plan: &Plan) -> bool {
    let same = plan.clone();
    *plan == same
}

/// Plans in TOML.
pub fn plan(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match plan_text::parse(text, "plan.toml") {
        Ok(plan) => {
            let rendered = plan_text::render(&plan);
            let again = plan_text::parse(&rendered, "rendered.toml");
            let again = again.unwrap_or_else(|error| panic!("{error}\nfrom\n{rendered}"));
            assert!(again == plan || !equals_itself(&plan), "{text}\nread, rendered\n{rendered}");
            for logical_block_bytes in [512, 4096] {
                let geometry = Geometry {
                    lacks_page_cache: data.len().is_multiple_of(2),
                    kind: TargetKind::File,
                    file_bytes: Some(1 << 30),
                    logical_block_bytes,
                    memory_bytes: Some(1 << 34),
                };
                for problem in validate(&plan, &geometry).err().into_iter().flatten() {
                    assert!(!problem.to_string().is_empty());
                }
            }
        }
        Err(error) => {
            assert!(error.line >= 1 && error.column >= 1, "{error:?}");
            assert!(!error.to_string().is_empty());
        }
    }
}

/// Claims in TOML, and the plan that they need.
pub fn claims(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match accept::parse(text, "spec.toml") {
        Ok(spec) => {
            assert!(!spec.claims.is_empty());
            for claim in &spec.claims {
                let limits = [claim.at_least, claim.at_most];
                let given: Vec<f64> = limits.into_iter().flatten().collect();
                assert!(matches!(given[..], [limit] if limit.is_finite() && limit > 0.0));
            }
            let budget = Size(1 << 30);
            let options = StudyOptions { seed: 1, budget, ..StudyOptions::default() };
            let facts = Facts::default();
            let plan = accept::plan(&options, &spec, &facts, Some(1 << 20)).expect("a plan");
            let of = |name: &str| plan.steps.iter().filter(|step| step.name == name).count();
            for claim in &spec.claims {
                assert_eq!(of(&claim.cell()), accept::REPETITIONS as usize, "{text}");
            }
            let summary = summary::summarise(&Run::default());
            let judged = accept::judged(&spec.claims, &facts, &summary);
            assert_eq!(judged.len(), spec.claims.len());
        }
        Err(error) => {
            assert!(error.line >= 1 && error.column >= 1, "{error:?}");
            assert!(!error.to_string().is_empty());
        }
    }
}

/// Run files: each line a record, all of them a run, and the run a summary.
pub fn run_file(data: &[u8]) {
    let mut run = Run::default();
    for line in data.split(|byte| *byte == b'\n') {
        let Ok(record) = serde_json::from_slice::<Record>(line) else { continue };
        let written = serde_json::to_string(&record).expect("a record that was read");
        let again: Record =
            serde_json::from_str(&written).unwrap_or_else(|error| panic!("{error}: {written}"));
        assert_eq!(again, record, "{written}");
        if run.push(record).is_err() {
            return;
        }
    }
    let _ = summary::summarise(&run);
}

/// Histograms, as run files hold them and as bare V2 text.
pub fn histogram(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for (count, value) in [(0, 0), (1, 7), (2, 1000)] {
        let exact = Extremes {
            count,
            min: value,
            max: value,
            sum: u128::from(count * value),
            sum_squares: u128::from(count * value * value),
        };
        if let Ok(histogram) = Histogram::from_v2_base64(text, exact) {
            assert_eq!(histogram.extremes(), exact);
            query(&histogram);
        }
    }
    if let Ok(histogram) = serde_json::from_str::<Histogram>(text) {
        let written = serde_json::to_string(&histogram).expect("a histogram that was read");
        let again: Histogram = serde_json::from_str(&written).expect("what was just written");
        assert_eq!(again, histogram);
        query(&histogram);
    }
}

/// A simulated target on the first line, and the profile that it may name behind it.
pub fn simulated(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (name, profile) = text.split_once('\n').unwrap_or((text, ""));
    let read = |_: &str| Ok(profile.to_owned());
    for name in [name, "sim:./profile.toml"] {
        match SimTarget::parse(name, read) {
            Ok(target) => {
                let checked = target.check();
                let memory = target.memory_bytes();
                for error in [checked.err(), memory.err()].into_iter().flatten() {
                    assert!(!error.is_empty(), "an error without a word: {text}");
                }
            }
            Err(error) => assert!(!error.is_empty(), "an error without a word: {text}"),
        }
    }
}

fn query(histogram: &Histogram) {
    let mut previous = 0;
    for quantile in [0.0, 0.5, 0.9, 0.999, 1.0] {
        let value = histogram.value_at_quantile(quantile);
        assert!(value >= previous && value <= histogram.max(), "{quantile}: {value}");
        previous = value;
    }
    assert!(histogram.standard_deviation().is_none_or(|deviation| deviation >= 0.0));
    let counted: u128 = histogram.iter_nonzero().map(|bucket| u128::from(bucket.2)).sum();
    assert_eq!(counted, u128::from(histogram.count()));
    let mut twice = histogram.clone();
    twice.merge(histogram);
    assert_eq!(twice.max(), histogram.max());
}

/// Columns of numbers: finite, none empty after the longest, and written out they read back equal.
pub fn columns(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let found = match compare::columns(text, "file") {
        Ok(found) => found,
        Err(error) => return assert!(error.starts_with("file "), "{error}"),
    };
    assert!(found.iter().any(|sample| !sample.values.is_empty()));
    for sample in &found {
        assert!(sample.values.iter().all(|value| value.is_finite()));
        let lines: Vec<String> = sample.values.iter().map(f64::to_string).collect();
        if !lines.is_empty() {
            let again = compare::columns(&lines.join("\n"), "file").expect("numbers");
            assert_eq!(again[0].values, sample.values);
        }
    }
}

/// What fio wrote: every value is finite and there is one a cell.
pub fn fio(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match fio_json::samples(text, "file", &[Metric::Iops, Metric::MeanNs, Metric::P99Ns]) {
        Ok(found) => {
            let is_sound = |value: &f64| value.is_finite();
            assert!(found.iter().all(|it| it.values.len() == 1 && it.values.iter().all(is_sound)));
        }
        Err(error) => assert!(error.starts_with("file "), "{error}"),
    }
}

/// Traces of either format: in the order of time, and each request reads back as it is written.
fn traced(data: &[u8]) {
    match trace::parse(data) {
        Ok(found) => {
            assert!(!found.requests.is_empty() && found.requests[0].at_ns == 0);
            assert!(found.requests.is_sorted_by_key(|request| request.at_ns));
            for request in &found.requests {
                round_trip::<Request>(&request.to_string());
                assert!(request.end() <= found.end());
            }
        }
        Err(error) => assert!(!error.text.is_empty() && error.to_string().contains(": ")),
    }
}

/// What fio wrote of its own requests: any text behind the head of either version.
pub fn iolog(data: &[u8]) {
    traced(data);
    for version in ["2", "3"] {
        let head = format!("fio version {version} iolog\n");
        traced(&[head.as_bytes(), data].concat());
    }
}

/// A log that fio stored compressed: any bytes; and records made of them read back as they are.
pub fn stored_log(data: &[u8]) {
    let _ = packed::unpack(data);
    let number = |bytes: &[u8]| bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    let record = |bytes: &[u8]| packed::Record {
        at_ms: number(&bytes[..8]),
        value: number(&bytes[8..16]),
        direction: u32::from(bytes[16] % 3),
        bytes: number(&bytes[17..21]),
        priority: (number(&bytes[21..23]) as u16, bytes[23] & 1 == 1),
        offset: (bytes[23] & 2 == 2).then(|| number(&bytes[24..])),
    };
    let records: Vec<packed::Record> = data.chunks_exact(32).map(record).collect();
    let mut text = String::new();
    records.iter().for_each(|record| record.line(None, None, &mut text));
    assert_eq!(packed::unpack(&packed::pack(&records)), Ok(text));
}

/// What blktrace wrote: any bytes, and any bytes behind the magic number.
pub fn blktrace(data: &[u8]) {
    traced(data);
    traced(&[&0x6561_7407u32.to_le_bytes()[..], data].concat());
    traced(&[&0x6561_7407u32.to_be_bytes()[..], data].concat());
}

/// A device that claims a size and holds the data at its beginning and again at its end.
struct Claimed<'a> {
    bytes: u64,
    data: &'a [u8],
}

impl Media for Claimed<'_> {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        let there = self.bytes.saturating_sub(offset).min(buffer.len() as u64) as usize;
        let buffer = &mut buffer[..there];
        buffer.fill(0);
        let tail = self.bytes.saturating_sub(self.data.len() as u64);
        for begin in [0, tail] {
            let from = begin.max(offset);
            let to = (begin + self.data.len() as u64).min(offset + there as u64);
            if from < to {
                let source = (from - begin) as usize..(to - begin) as usize;
                let place = (from - offset) as usize..(to - offset) as usize;
                buffer[place].copy_from_slice(&self.data[source]);
            }
        }
        Ok(there)
    }
}

/// What is recognised on a device whose size the first eight bytes claim.
pub fn signatures(data: &[u8]) {
    let Some((size, data)) = data.split_first_chunk::<8>() else { return };
    for bytes in [data.len() as u64, u64::from_le_bytes(*size)] {
        let found = recognise(&Claimed { bytes, data }).expect("readable media");
        let mut sorted = found.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!(found, sorted, "sorted, each once");
        let is_word = |word: &String| !word.is_empty() && !word.contains([' ', '+', ':']);
        assert!(found.iter().all(is_word), "{found:?} must fit into a token");
    }
}

/// The captured layouts of one kernel.
fn decoder() -> Decoder {
    const HEADER_PAGE: &str = include_str!("../crates/core/tests/captured/header_page");
    const FORMATS: [&str; 4] = [
        include_str!("../crates/core/tests/captured/formats/block_bio_queue.format"),
        include_str!("../crates/core/tests/captured/formats/block_rq_issue.format"),
        include_str!("../crates/core/tests/captured/formats/block_rq_complete.format"),
        include_str!("../crates/core/tests/captured/formats/block_rq_requeue.format"),
    ];
    Decoder::new(HEADER_PAGE, &FORMATS.map(String::from)).expect("captured layouts")
}

/// Formats and pages of the kernel's trace, and what is made of their events.
pub fn trace(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        for error in [Format::parse(text).err(), PageLayout::parse(text).err()] {
            assert!(error.is_none_or(|error| !error.is_empty()));
        }
    }
    let mut trace = Trace::default();
    let is_sound = decoder().read(data, 4096, &mut trace).is_ok();
    assert!(!data.is_empty() || (is_sound && trace.events.is_empty()));
    trace.sort();
    let begins = trace.events.iter().filter(|event| event.point == Point::Queue);
    let one = |event: &BlockEvent| Stamped {
        issued: event.at.saturating_sub(1),
        submitted: event.at.saturating_sub(1),
        completed: event.at.saturating_add(1 << 20),
        offset: event.sector.saturating_mul(512),
        bytes: event.sectors.saturating_mul(512),
        action: event.action.unwrap_or_default(),
        priority: 0,
    };
    let ios: Vec<Stamped> = begins.map(one).collect();
    let pieces = [Piece { offset: 0, bytes: u64::MAX >> 1, on_disk: 0 }];
    let device = trace.events.first().map_or(0, |event| event.device);
    let count = ios.len() as u64;
    let anatomy = dissect(&trace, 0, device, ios, &pieces);
    let dropped = anatomy.ambiguous + anatomy.unpaired + anatomy.unmapped;
    assert_eq!(anatomy.dissected() + dropped, count, "every I/O is counted once");
}
