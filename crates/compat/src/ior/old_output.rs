//! What 2.10.3 prints.

use super::timing::{self, MEBIBYTE, Overall, Result, number};
use super::{Access, Options, Test};
use crate::calendar::{after, as_ctime, began as beginning, now};
use crate::front::Host;
use crate::parallel::spread::Spread;
use crate::parallel::volume;
use drivelab_core::run::Run;
use jiff::Timestamp;

const RULE: &str = "---------  ---------  ---------  ----------   -------  ---------  ---------  \
                    ----------   -------  --------\n";
const HEADING: &str = "Operation  Max (MiB)  Min (MiB)  Mean (MiB)   Std Dev  Max (OPs)  Min \
                       (OPs)  Mean (OPs)   Std Dev  Mean (s)  ";
const FURTHER: &str = "Op grep #Tasks tPN reps  fPP reord reordoff reordrand seed segcnt blksiz \
                       xsize aggsize\n\n";
const EACH: &str = "\
access    bw(MiB/s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s) total(s)  iter
------    ---------  ---------- ---------  --------   --------   --------  --------   ----
";
const MEGABYTE: f64 = 1e6;

/// The whole output.
pub fn text(options: &Options, run: &Run, host: &Host, results: &[Result]) -> String {
    let began = beginning(&run.begin, host);
    let mut out = String::new();
    for (index, test) in options.tests.iter().enumerate() {
        let page = Page { options, run, host, results, test, index, began };
        out.push_str(&page.banner());
        out.push_str(&page.summary());
        out.push_str(&page.repetitions());
        out.push_str(&page.overall());
    }
    out.push_str(&format!("Run finished: {}\n", as_ctime(now(host))));
    out
}

struct Page<'a> {
    options: &'a Options,
    run: &'a Run,
    host: &'a Host,
    results: &'a [Result],
    test: &'a Test,
    index: usize,
    began: Timestamp,
}

impl Page<'_> {
    fn verbose(&self) -> u8 {
        self.test.settings.verbose
    }

    fn banner(&self) -> String {
        let host = self.host;
        let mut out = format!(
            "IOR-2.10.3: MPI Coordinated Test of Parallel I/O\n\nRun began: {}\n\
             Command line used: {}\n",
            as_ctime(self.began),
            self.options.line
        );
        match self.verbose() {
            0 | 1 => out.push_str(&format!("Machine: Linux {}\n", host.name)),
            _ => out.push_str(&format!(
                "Machine: Linux {} {} {}\nUsing synchronized MPI timer\n",
                host.name, host.kernel, host.machine
            )),
        }
        if self.verbose() > 0 {
            out.push_str(&self.circumstances());
        }
        out.push('\n');
        out
    }

    fn circumstances(&self) -> String {
        let mut out = format!(
            "Start time skew across all tasks: 0.00 sec\nPath: {}\nFS: {}\n\
             Participating tasks: {}\n",
            self.run.begin.target,
            volume::in_words(&self.run.begin.facts.target),
            self.test.tasks
        );
        if self.test.settings.reorder_constant {
            out.push_str(
                "Using reorderTasks '-C' (expecting block, not cyclic, task assignment)\n",
            );
        }
        if self.verbose() > 1 {
            for task in 0..self.test.tasks {
                out.push_str(&format!("task {task} on {}\n", self.host.name));
            }
        }
        out
    }

    fn summary(&self) -> String {
        let (test, settings) = (self.test, &self.test.settings);
        let access =
            if settings.file_per_process { "file-per-process" } else { "single-shared-file" };
        let mut out = format!(
            "Summary:\n\tapi                = POSIX\n\ttest filename      = {}\n\
             \taccess             = {access}\n",
            settings.test_file
        );
        if self.verbose() > 0 {
            let pattern = match test.segments {
                1 => "segmented (1 segment)".to_owned(),
                segments => format!("strided ({segments} segments)"),
            };
            out.push_str(&format!("\tpattern            = {pattern}\n"));
        }
        let order = if settings.random { "random" } else { "sequential" };
        let between = match (settings.reorder_constant, settings.reorder_random) {
            (true, _) => format!("constant task offsets = {}", settings.task_offset),
            (_, true) => format!(
                "random task offsets >= {}, seed={}",
                settings.task_offset, settings.reorder_seed
            ),
            _ => " no tasks offsets".to_owned(),
        };
        out.push_str(&format!(
            "\tordering in a file = {order} offsets\n\tordering inter file={between}\n\
             \tclients            = {tasks} ({} per node)\n\
             \trepetitions        = {}\n\txfersize           = {}\n\
             \tblocksize          = {}\n\taggregate filesize = {}\n",
            test.tasks_per_node,
            test.repetitions,
            timing::in_words(settings.transfer_bytes),
            timing::in_words(test.block_bytes),
            timing::in_words(test.bytes()),
            tasks = test.tasks,
        ));
        if settings.deadline_s > 0 {
            out.push_str(&format!("\tUsing stonewalling = {} second(s)\n", settings.deadline_s));
        }
        out.push('\n');
        out
    }

    /// What is said while it runs.
    fn repetitions(&self) -> String {
        let zero = self.run_zero();
        let own = self.results.iter().filter(|result| result.test == self.index);
        let mut out = String::new();
        let mut is_first = true;
        for result in own {
            let when = after(self.began, result.began.saturating_sub(zero));
            out.push_str(&self.commencing(result, when));
            let name = match result.access {
                Access::Write => "write",
                Access::Read => "read",
                _ => continue,
            };
            out.push_str(&self.shortfall(result));
            if self.verbose() > 1 {
                if is_first {
                    out.push_str(EACH);
                }
                is_first = false;
                out.push_str(&self.row(name, result));
            }
        }
        out
    }

    fn run_zero(&self) -> u64 {
        self.results.first().map_or(0, |result| result.began)
    }

    fn commencing(&self, result: &Result, when: Timestamp) -> String {
        let test = self.test;
        if self.verbose() == 0 {
            return String::new();
        }
        let mut out = String::new();
        if self.verbose() > 1 && result.access == Access::Write {
            out.push_str(&format!(
                "Using Time Stamp {} (0x{:x}) for Data Signature\n",
                when.as_second(),
                when.as_second()
            ));
        }
        if self.verbose() > 1 && result.access == Access::Read {
            let file = super::place::path(&test.settings, self.options.era, 0, result.repetition);
            out.push_str(&format!("[RANK 000] open for reading file {file} XXCEL\n"));
        }
        let what = match result.access {
            Access::Write => "Commencing write performance test.",
            Access::CheckWrite => "Verifying contents of the file(s) just written.",
            Access::Read => "Commencing read performance test.",
            _ => "Re-reading the file(s) twice to verify that reads are consistent.",
        };
        out.push_str(&format!("{what}\n{}\n\n", as_ctime(when)));
        out
    }

    /// What is said where less was moved than the test is of.
    fn shortfall(&self, result: &Result) -> String {
        let expected = self.test.bytes();
        if result.bytes == expected {
            return String::new();
        }
        format!(
            "WARNING: Expected aggregate file size       = {expected}.\n\
             WARNING: Stat() of aggregate file size      = {expected}.\n\
             WARNING: Using actual aggregate bytes moved = {bytes}.\n",
            bytes = result.bytes
        )
    }

    fn row(&self, name: &str, result: &Result) -> String {
        let test = self.test;
        let cells = [
            number(result.bandwidth()),
            number(test.block_bytes as f64 / 1024.0),
            number(test.settings.transfer_bytes as f64 / 1024.0),
            number(result.open_s),
            number(result.transfer_s),
            number(result.close_s),
            number(result.total_s),
        ];
        let cells: String = cells.iter().map(|cell| format!("{cell:<11}")).collect();
        format!("{name:<10}{cells}{:<4} XXCEL\n", result.repetition)
    }

    fn overall(&self) -> String {
        let mut out = HEADING.to_owned();
        out.push_str(if self.verbose() > 0 { FURTHER } else { "\n" });
        out.push_str(RULE);
        let of = |access| timing::overall(self.results, self.options, self.index, access);
        let kinds = [("write", "Write", of(Access::Write)), ("read", "Read", of(Access::Read))];
        for (name, _, overall) in &kinds {
            if let Some(overall) = overall {
                out.push_str(&self.line(name, overall));
            }
        }
        out.push('\n');
        for (_, name, overall) in &kinds {
            if let Some(overall) = overall {
                let best = overall.bandwidth.max;
                let decimal = best * MEBIBYTE / MEGABYTE;
                let name = format!("Max {name}:");
                out.push_str(&format!("{name:<10} {best:.2} MiB/sec ({decimal:.2} MB/sec)\n"));
            }
        }
        out.push('\n');
        out
    }

    fn line(&self, name: &str, overall: &Overall) -> String {
        let of = |spread: &Spread| {
            let deviation = spread.population_deviation();
            let (max, min, mean) = (spread.max, spread.min, spread.mean);
            format!("{max:10.2} {min:10.2}  {mean:10.2}{deviation:10.2}")
        };
        let (bandwidth, operations) = (of(&overall.bandwidth), of(&overall.operations));
        let mut out = format!("{name:<10}{bandwidth} {operations}");
        out.push_str(&format!("{:10.5}   ", overall.mean_s));
        if self.verbose() > 0 {
            out.push_str(&self.numbers(overall));
        }
        out.push_str("EXCEL\n");
        out
    }

    fn numbers(&self, overall: &Overall) -> String {
        let (test, settings) = (self.test, &self.test.settings);
        let numbers: [i128; 13] = [
            test.tasks.into(),
            test.tasks_per_node.into(),
            test.repetitions.into(),
            settings.file_per_process.into(),
            settings.reorder_constant.into(),
            settings.task_offset.into(),
            settings.reorder_random.into(),
            settings.reorder_seed.into(),
            test.segments.into(),
            test.block_bytes.into(),
            settings.transfer_bytes.into(),
            overall.bytes.into(),
            settings.reference.into(),
        ];
        let numbers: String = numbers.iter().map(|number| format!("{number} ")).collect();
        format!("{numbers}POSIX ")
    }
}
