//! What 4.x prints.

use super::timing::{self, MEBIBYTE, Result, number};
use super::{Access, Options, Test};
use crate::calendar::{after, as_ctime, began as beginning, now};
use crate::front::Host;
use crate::parallel::volume;
use drivelab_core::run::Run;
use jiff::Timestamp;

const EACH: &str = "\n\
access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   \
close(s)   total(s)   iter\n\
------    ---------  ----       ----------  ---------- ---------  --------   --------   \
--------   --------   ----\n";
const OVERALL: &str = "\nSummary of all tests:\n\
Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)   Min(OPs)  Mean(OPs)     \
StdDev    Mean(s) Stonewall(s) Stonewall(MiB) Test# #Tasks tPN reps fPP reord reordoff \
reordrand seed segcnt   blksiz    xsize aggs(MiB)   API RefNum\n";
const MEGABYTE: f64 = 1e6;
const GIBIBYTE: f64 = (1u64 << 30) as f64;

/// A name and its value, as the blocks of 4.x have them.
pub type Pair = (&'static str, String);

/// The whole output.
pub fn text(options: &Options, run: &Run, host: &Host, results: &[Result]) -> String {
    let began = beginning(&run.begin, host);
    let mut out = String::from("IOR-4.0.0: MPI Coordinated Test of Parallel I/O\n");
    let verbose = options.tests.iter().map(|test| test.settings.verbose).max().unwrap_or(0);
    let machine = machine(host, verbose);
    for (name, value) in
        [("Began", &as_ctime(began)), ("Command line", &options.line), ("Machine", &machine)]
    {
        out.push_str(&pair(name, value));
    }
    for (index, test) in options.tests.iter().enumerate() {
        let page = Page { options, run, results, test, index, began };
        out.push_str(&page.head());
        out.push_str(&page.repetitions());
    }
    out.push_str(OVERALL);
    for (index, test) in options.tests.iter().enumerate() {
        for (name, access) in [("write", Access::Write), ("read", Access::Read)] {
            out.push_str(&line(options, results, index, test, name, access).unwrap_or_default());
        }
    }
    out.push_str(&pair("Finished", &as_ctime(now(host))));
    out
}

/// What is warned of results that go to a file, which 4.x prints all the same.
pub fn warnings(options: &Options, results: &[Result]) -> String {
    let is_timed = |result: &&Result| matches!(result.access, Access::Write | Access::Read);
    results.iter().filter(is_timed).map(|result| shortfall(options, result)).collect()
}

/// The machine, with its kernel where more is to be said.
pub fn machine(host: &Host, verbose: u8) -> String {
    match verbose {
        0 | 1 => format!("Linux {}", host.name),
        _ => format!("Linux {} {} {}", host.name, host.kernel, host.machine),
    }
}

fn pair(name: &str, value: &str) -> String {
    format!("{name:<20}: {value}\n")
}

/// The path of the first file.
pub fn first_path(options: &Options, test: &Test) -> String {
    super::place::path(&test.settings, options.era, 0, 0)
}

/// What the block `Options:` says of a test.
pub fn options_of(test: &Test) -> Vec<Pair> {
    let settings = &test.settings;
    let each = settings.file_per_process;
    let mut pairs: Vec<Pair> = vec![
        ("api", settings.interface_name.clone()),
        ("apiVersion", String::new()),
        ("test filename", settings.test_file.clone()),
        ("access", if each { "file-per-process" } else { "single-shared-file" }.to_owned()),
        ("type", "independent".to_owned()),
        ("segments", test.segments.to_string()),
        ("ordering in a file", if settings.random { "random" } else { "sequential" }.to_owned()),
    ];
    let offset = settings.task_offset.to_string();
    match (settings.reorder_constant, settings.reorder_random) {
        (true, _) => {
            pairs.push(("ordering inter file", "constant task offset".to_owned()));
            pairs.push(("task offset", offset));
        }
        (_, true) => {
            pairs.push(("ordering inter file", "random task offset".to_owned()));
            pairs.push(("task offset", offset));
            pairs.push(("reorder random seed", settings.reorder_seed.to_string()));
        }
        _ => pairs.push(("ordering inter file", "no tasks offsets".to_owned())),
    }
    pairs.extend([
        ("nodes", "1".to_owned()),
        ("tasks", test.tasks.to_string()),
        ("clients per node", test.tasks_per_node.to_string()),
        ("repetitions", test.repetitions.to_string()),
        ("xfersize", timing::in_words(settings.transfer_bytes)),
        ("blocksize", timing::in_words(test.block_bytes)),
        ("aggregate filesize", timing::in_words(test.bytes())),
    ]);
    if settings.verbose > 0 {
        pairs.push(("verbose", settings.verbose.to_string()));
    }
    if settings.deadline_s > 0 {
        pairs.push(("stonewallingTime", settings.deadline_s.to_string()));
        pairs.push(("stoneWallingWearOut", i32::from(settings.wear_out).to_string()));
    }
    pairs
}

struct Page<'a> {
    options: &'a Options,
    run: &'a Run,
    results: &'a [Result],
    test: &'a Test,
    index: usize,
    began: Timestamp,
}

impl Page<'_> {
    fn verbose(&self) -> u8 {
        self.test.settings.verbose
    }

    /// When a step began.
    fn when(&self, result: &Result) -> Timestamp {
        let zero = self.results.first().map_or(0, |first| first.began);
        after(self.began, result.began.saturating_sub(zero))
    }

    fn head(&self) -> String {
        let settings = &self.test.settings;
        let first = self.results.iter().find(|result| result.test == self.index);
        let start = first.map_or(self.began, |first| self.when(first));
        let mut out = pair("TestID", &self.index.to_string());
        out.push_str(&pair("StartTime", &as_ctime(start)));
        out.push_str(&pair("Path", &first_path(self.options, self.test)));
        let system = match settings.is_dummy() {
            true => volume::NOTHING.to_owned(),
            false => volume::in_words(&self.run.begin.facts.target),
        };
        out.push_str(&pair("FS", &system));
        if self.verbose() > 0 {
            out.push_str(&pair("Participating tasks", &self.test.tasks.to_string()));
            if settings.reorder_constant {
                let why = "(useful to avoid read cache in client)";
                out.push_str(&format!("Using reorderTasks '-C' {why}\n"));
            }
        }
        out.push_str("\nOptions: \n");
        for (name, value) in options_of(self.test) {
            out.push_str(&pair(name, &value));
        }
        out.push_str("\nResults: \n");
        for path in self.options.overwritten.get(self.index).into_iter().flatten() {
            out.push_str(&format!(
                "WARNING: The file \"{path}\" exists already and will be overwritten\n"
            ));
        }
        out.push_str(EACH);
        out
    }

    fn repetitions(&self) -> String {
        let mut out = String::new();
        for result in self.results.iter().filter(|result| result.test == self.index) {
            out.push_str(&self.commencing(result));
            let name = match result.access {
                Access::Write => "write",
                Access::Read => "read",
                _ => continue,
            };
            out.push_str(&self.wall(result));
            out.push_str(&shortfall(self.options, result));
            out.push_str(&self.row(name, result));
        }
        if self.verbose() > 0 {
            for (name, access) in [("Write", Access::Write), ("Read", Access::Read)] {
                let of = timing::overall(self.results, self.options, self.index, access);
                if let Some(overall) = of {
                    let best = overall.bandwidth.max;
                    let decimal = best * MEBIBYTE / MEGABYTE;
                    let name = format!("Max {name}:");
                    out.push_str(&format!("{name:<10} {best:.2} MiB/sec ({decimal:.2} MB/sec)\n"));
                }
            }
        }
        out
    }

    fn commencing(&self, result: &Result) -> String {
        if self.verbose() == 0 {
            return String::new();
        }
        let when = as_ctime(self.when(result));
        let mut out = String::new();
        if self.verbose() > 1 && result.access == Access::Write {
            let seconds = self.when(result).as_second();
            out.push_str(&format!(
                "Using Time Stamp {seconds} (0x{seconds:x}) for Data Signature\n"
            ));
        }
        out.push_str(&match result.access {
            Access::Write => format!("Commencing write performance test: {when}\n"),
            Access::CheckWrite => {
                format!("Verifying contents of the file(s) just written.\n{when}\n\n")
            }
            _ => format!("Commencing read performance test: {when}\n\n"),
        });
        out
    }

    /// What the tasks had come to before they went on to what the farthest had done.
    fn wall(&self, result: &Result) -> String {
        let Some(wall) = result.wall(self.test) else { return String::new() };
        let least = wall.min as f64 * self.test.settings.transfer_bytes as f64;
        format!(
            "stonewalling pairs accessed min: {} max: {} -- min data: {:.1} GiB mean data: {:.1} \
             GiB time: {:.1}s\n",
            wall.min,
            wall.max,
            least / GIBIBYTE,
            wall.mean_bytes / GIBIBYTE,
            wall.seconds
        )
    }

    fn row(&self, name: &str, result: &Result) -> String {
        let test = self.test;
        let cells = [
            (number(result.bandwidth()), 11),
            (number(result.iops(test)), 11),
            (number(result.latency_s(test)), 12),
            (number(test.block_bytes as f64 / 1024.0), 11),
            (number(test.settings.transfer_bytes as f64 / 1024.0), 11),
            (number(result.open_s), 11),
            (number(result.transfer_s), 11),
            (number(result.close_s), 11),
            (number(result.total_s), 11),
        ];
        // What is too long for its column is set apart by one blank.
        let cell = |(cell, width): &(String, usize)| format!("{cell:<0$} ", width - 1);
        let cells: String = cells.iter().map(cell).collect();
        format!("{name:<10}{cells}{:<4}\n", result.repetition)
    }
}

/// What is warned where as much was not moved, or is not there.
fn shortfall(options: &Options, result: &Result) -> String {
    let Some(test) = options.tests.get(result.test) else { return String::new() };
    let expected = test.bytes();
    // What is written begins empty and grows; -E leaves what was there.
    let there = match (options.there.get(result.test), result.access) {
        _ if test.settings.is_dummy() => 0,
        (Some(Some(there)), Access::Read) => *there,
        (_, Access::Write) if test.settings.existing => expected,
        _ => result.bytes,
    };
    if (result.bytes, there) == (expected, expected) {
        return String::new();
    }
    let mut out = format!(
        "WARNING: Expected aggregate file size       = {expected}\n\
         WARNING: Stat() of aggregate file size      = {there}\n\
         WARNING: Using actual aggregate bytes moved = {bytes}\n",
        bytes = result.bytes
    );
    if test.settings.deadline_s > 0 {
        out.push_str("WARNING: Maybe caused by deadlineForStonewalling\n");
    }
    out
}

/// A line of the summary.
fn line(
    options: &Options,
    results: &[Result],
    index: usize,
    test: &Test,
    name: &str,
    access: Access,
) -> Option<String> {
    let overall = timing::overall(results, options, index, access)?;
    let settings = &test.settings;
    let mut out = format!("{name:<9}");
    for spread in [&overall.bandwidth, &overall.operations] {
        let figures = [spread.max, spread.min, spread.mean, spread.population_deviation()];
        for figure in figures {
            out.push_str(&format!(" {figure:10.2}"));
        }
    }
    let walls =
        timing::walls(results, options, index, access).unwrap_or(("NA".into(), "NA".into()));
    out.push_str(&format!(" {:10.5} {:>10} {:>13}", overall.mean_s, walls.0, walls.1));
    out.push_str(&format!(
        " {index:5} {:6} {:3} {:4} {:3} {:5} {:8} {:9} {:4} {:6}",
        test.tasks,
        test.tasks_per_node,
        test.repetitions,
        i32::from(settings.file_per_process),
        i32::from(settings.reorder_constant),
        settings.task_offset,
        i32::from(settings.reorder_random),
        settings.reorder_seed,
        test.segments
    ));
    out.push_str(&format!(
        " {:8} {:8} {:9.1} {} {:6}\n",
        test.block_bytes,
        settings.transfer_bytes,
        overall.bytes as f64 / MEBIBYTE,
        settings.interface_name,
        settings.reference
    ));
    Some(out)
}
