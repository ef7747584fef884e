//! What fio would have printed of a run: its layouts and its logs.
//!
//! One value flows through: the run is gathered into figures ([`gather`]), which each layout
//! prints. The layouts are checked byte for byte against what fio 3.33 printed of its own runs.

mod bins;
mod figures;
mod gather;
mod groups;
mod json;
mod latency;
#[cfg(test)]
mod layout_tests;
mod logs;
mod normal;
mod notes;
pub mod packed;
#[cfg(test)]
mod run_tests;
mod samples;
mod scale;
mod steady;
mod terse;

use super::{Format, Line, least};
use crate::front::{Existing, Host, Output, OutputFile, ResultFile};
use drivelab_core::run::Run;
use std::fmt::{self, Write};

pub use notes::notes;

/// The version whose layouts these are.
const VERSION: &str = "fio-3.33";
/// What stands where fio names a line of its own source.
const PLACE: &str = "file:drivelab:0";

/// Other names of options, with the one that fio lists them under.
const NAMES: [(&str, &str); 23] = [
    ("fileoffset", "offset"),
    ("mem_align", "iomem_align"),
    ("nr_files", "nrfiles"),
    ("ss_interval", "steadystate_check_interval"),
    ("threads", "thread"),
    ("blockalign", "ba"),
    ("blocksize", "bs"),
    ("blocksize_range", "bsrange"),
    ("blocksize_unaligned", "bs_unaligned"),
    ("fileoffset", "offset"),
    ("fill_fs", "fill_device"),
    ("io_limit", "io_size"),
    ("iodepth_batch_submit", "iodepth_batch"),
    ("iomem", "mem"),
    ("nr_files", "nrfiles"),
    ("ratecycle", "rate_cycle"),
    ("ratemin", "rate_min"),
    ("readwrite", "rw"),
    ("ss", "steadystate"),
    ("ss_dur", "steadystate_duration"),
    ("ss_ramp", "steadystate_ramp_time"),
    ("timeout", "runtime"),
    ("wait_for_previous", "stonewall"),
];

/// What fio would have printed, and the files it would have left, with its exit status: as many
/// as jobs failed.
pub fn output(line: &Line, run: &Run, host: &Host) -> Output {
    let clones = gather::clones(line, run);
    let failed = clones.iter().filter(|clone| gather::failure(clone).is_some()).count();
    let mut text = String::new();
    // Writing into a string does not fail.
    let _ = print(line, run, host, &mut text);
    let mut files = logs::files(&clones);
    let text = match &line.output {
        None => text,
        Some(path) => {
            let (place, said) = (printed_to(path), String::new());
            files.push(OutputFile { place, bytes: text.into_bytes(), said });
            String::new()
        }
    };
    let status = u8::try_from(failed).unwrap_or(u8::MAX);
    let errors = errors(line, run, host);
    Output { text, files, status, notes: notes(line, run), errors }
}

/// All layouts that are asked for. Their order is fio's, whatever that of the options was.
fn print(line: &Line, run: &Run, host: &Host, to: &mut String) -> fmt::Result {
    let asked = |format: Format| line.formats.contains(&format);
    let is_normal = asked(Format::Normal) || line.formats.is_empty();
    let report = gather::report(line, run, host);
    if line.shows_orders {
        orders(line, run, host, to)?;
    }
    if is_normal {
        normal::preamble(line, to)?;
    }
    // Where others read the results fio spoils them with this line.
    if let Some(signal) = host.signal.filter(|_| is_normal && !run.complete()) {
        writeln!(to, "\nfio: terminating on signal {signal}")?;
    }
    if is_normal {
        failures(line, run, host).iter().try_for_each(|failed| writeln!(to, "{failed}"))?;
    }
    if asked(Format::Terse) {
        terse::results(&report, line.terse_version, to)?;
    }
    if asked(Format::Json) || asked(Format::JsonPlus) {
        json::results(&report, asked(Format::JsonPlus), to)?;
    }
    if is_normal {
        normal::results(&report, to)?;
    }
    Ok(())
}

/// A line for each job that failed, as fio prints it: where results are for programs, with what it
/// says on stderr.
fn failures(line: &Line, run: &Run, host: &Host) -> Vec<String> {
    let said = |figures::Failure { errno, function, words }| {
        let process = host.process;
        format!("fio: pid={process}, err={errno}/{PLACE}, func={function}, error={words}")
    };
    gather::clones(line, run).iter().filter_map(gather::failure).map(said).collect()
}

/// What fio says on stderr: of rates that were not kept, and of jobs that failed where that has no
/// place in the results.
fn errors(line: &Line, run: &Run, host: &Host) -> Vec<String> {
    let mut said = Vec::new();
    for clone in gather::clones(line, run) {
        for (rate_min, below) in clone.parts.iter().filter_map(gather::Part::below) {
            let [option, unit, got_unit] = least::words(&rate_min);
            let name = &clone.section.name;
            let all = rate_min.least().into_iter().zip(below.rates());
            said.extend(all.filter_map(|(least, got)| {
                Some(format!("{name}: {option}={least}{unit} not met, got {}{got_unit}", got?))
            }));
        }
    }
    let is_normal = line.formats.contains(&Format::Normal) || line.formats.is_empty();
    if !is_normal {
        said.extend(failures(line, run, host));
    }
    said
}

/// What the random order of each job follows from, a line for each clone, as fio prints its own; a
/// job without a number of its own follows the seed of the run.
fn orders(line: &Line, run: &Run, host: &Host, to: &mut String) -> fmt::Result {
    let clones = gather::clones(line, run);
    let parts = clones.iter().filter_map(|clone| clone.parts.first());
    for part in parts.filter(|part| !part.stream.is_sequential()) {
        let number = part.stream.order.unwrap_or(run.begin.seed);
        writeln!(to, "random   {} rand_seeds[0]={number}", host.process)?;
    }
    Ok(())
}

/// Files that the results of a line will go to.
pub fn files(line: &Line) -> Vec<ResultFile> {
    let printed = line.output.as_deref().map(printed_to);
    logs::places(&line.sections).into_iter().chain(printed).collect()
}

/// Where `--output=` leads. fio overwrites whatever is there; here only what drivelab wrote is.
fn printed_to(path: &str) -> ResultFile {
    ResultFile { path: path.to_owned(), existing: Existing::ReplaceOwn }
}

/// The name under which fio lists an option.
fn first_name(name: &str) -> &str {
    NAMES.iter().find(|(other, _)| *other == name).map_or(name, |(_, first)| first)
}

/// Decimals that the percentiles of a list need.
fn precision_of(percents: impl Iterator<Item = f64>) -> usize {
    let needed = |percent: f64| {
        let text = format!("{percent:.6}");
        let fraction = text.split_once('.').map_or("", |(_, fraction)| fraction);
        fraction.trim_end_matches('0').len()
    };
    percents.map(needed).max().unwrap_or(0)
}
