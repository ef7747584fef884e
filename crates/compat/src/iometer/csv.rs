//! The file of results: for each test what was asked, and rows of what was measured.

use super::figures::{BIN_ENDS_NS, Figures};
use super::icf::{Recorded, Specification};
use super::{Era, Options, Place, Test};
use crate::calendar;
use crate::front::Host;
use drivelab_core::op::Time;
use drivelab_core::run::{Run, StepRun};
use jiff::Timestamp;

/// What each file of results begins with.
pub const FIRST_BYTES: &[u8] = b"'Test Type,Test Description";

const BINARY_MEGABYTE: f64 = 1_048_576.0;
const DECIMAL_MEGABYTE: f64 = 1e6;
const NS_PER_MS: f64 = 1e6;
/// % CPU Utilization to Segments Retransmitted/Second.
const COLUMNS_OF_PROCESSORS: usize = 11;

const FIRST_COLUMNS: &str = "\
    'Target Type,Target Name,Access Specification Name,# Managers,# Workers,# Disks,\
    IOps,Read IOps,Write IOps,";
const DATED_MEGABYTES: &str = "MBps,Read MBps,Write MBps,";
const BINNED_MEGABYTES: &str = "\
    MiBps (Binary),Read MiBps (Binary),Write MiBps (Binary),\
    MBps (Decimal),Read MBps (Decimal),Write MBps (Decimal),";
const COLUMNS: &str = "\
    Transactions per Second,Connections per Second,Average Response Time,\
    Average Read Response Time,Average Write Response Time,Average Transaction Time,\
    Average Connection Time,Maximum Response Time,Maximum Read Response Time,\
    Maximum Write Response Time,Maximum Transaction Time,Maximum Connection Time,\
    Errors,Read Errors,Write Errors,Bytes Read,Bytes Written,Read I/Os,Write I/Os,\
    Connections,Transactions per Connection,Total Raw Read Response Time,\
    Total Raw Write Response Time,Total Raw Transaction Time,Total Raw Connection Time,\
    Maximum Raw Read Response Time,Maximum Raw Write Response Time,\
    Maximum Raw Transaction Time,Maximum Raw Connection Time,Total Raw Run Time,\
    Starting Sector,Maximum Size,Queue Depth,% CPU Utilization,% User Time,\
    % Privileged Time,% DPC Time,% Interrupt Time,Processor Speed,\
    Interrupts per Second,CPU Effectiveness,Packets/Second,Packet Errors,\
    Segments Retransmitted/Second";
const BINS: &str = "\
    ,0 to 50 uS,50 to 100 uS,100 to 200 uS,200 to 500 uS,0.5 to 1 mS,1 to 2 mS,\
    2 to 5 mS,5 to 10 mS,10 to 15 mS,15 to 20 mS,20 to 30 mS,30 to 50 mS,\
    50 to 100 mS,100 to 200 mS,200 to 500 mS,0.5 to 1 S,1 to 2 s,2 to 4.7 s,\
    4.7 to 5 s,5 to 10 s, >= 10 s";

/// The names of all columns.
pub fn header(era: Era) -> String {
    match era {
        Era::Dated => [FIRST_COLUMNS, DATED_MEGABYTES, COLUMNS].concat(),
        Era::Binned => [FIRST_COLUMNS, BINNED_MEGABYTES, COLUMNS, BINS].concat(),
    }
}

/// The text of a whole series, and how many tests are in it.
pub fn render(options: &Options, run: &Run, host: &Host) -> (String, usize) {
    let begun = calendar::began(&run.begin, host);
    let mut text = format!(
        "'Test Type,Test Description\n{},{}\n'Version\n{} \n'Time Stamp\n{}\n",
        options.test_type,
        plain(&options.description),
        options.version,
        stamp(begun)
    );
    let mut count = 0;
    for test in &options.tests {
        let steps = run.steps.iter().filter(|step| step.begin.plan_step == test.plan_step);
        for step in steps.filter(|step| step.end.is_some()) {
            count += 1;
            text.push_str(&asked(&test.specifications));
            text.push_str(&format!("'Results\n{}\n", header(options.era)));
            text.push_str(&rows(options, test, step, host));
            let ended = calendar::after(begun, ended_at(step));
            text.push_str(&format!("'Time Stamp\n{}\n", stamp(ended)));
        }
    }
    (text, count)
}

/// `YYYY-MM-DD HH:MM:SS:mmm`, in UTC.
fn stamp(moment: Timestamp) -> String {
    moment.strftime("%Y-%m-%d %H:%M:%S:%3f").to_string()
}

/// When the last worker of a step ended.
fn ended_at(step: &StepRun) -> Time {
    let phases = step.end.iter().flat_map(|end| &end.phases);
    let tallies = step.tallies.iter().map(|tally| tally.to);
    phases.map(|phase| phase.closed).chain(tallies).max().unwrap_or(0)
}

/// A name without what would end its column or its line.
fn plain(text: &str) -> String {
    text.replace([',', '\n', '\r'], " ")
}

fn asked(specifications: &[Specification]) -> String {
    let mut text = String::from("'Access specifications\n");
    for specification in specifications {
        let Specification { name, assignment, lines } = specification;
        text.push_str(&format!(
            "'Access specification name,default assignment\n{},{}\n\
             'size,% of size,% reads,% random,delay,burst,align,reply\n",
            plain(name),
            assignment.number()
        ));
        for it in lines {
            text.push_str(&format!(
                "{},{},{},{},{},{},{},{}\n",
                it.size, it.share, it.reads, it.random, it.delay_ms, it.burst, it.align, it.reply
            ));
        }
    }
    text.push_str("'End access specifications\n");
    text
}

fn rows(options: &Options, test: &Test, step: &StepRun, host: &Host) -> String {
    let figures: Vec<Figures> = test.workers.iter().map(|place| Figures::of(step, place)).collect();
    let all = Figures::sum(&figures);
    let era = options.era;
    let workers = test.workers.len().to_string();
    let names: Vec<String> = test.specifications.iter().map(|it| plain(&it.name)).collect();
    let told = agreed(&test.workers);
    let mut text = String::new();
    let first = ["ALL", "All", &names.join(" + "), "1", &workers, &workers];
    text.push_str(&row(era, first, &all, told));
    if options.recorded < Recorded::NoWorkers {
        return text;
    }
    let first = ["MANAGER", &plain(&host.name), "", "", &workers, &workers];
    text.push_str(&row(era, first, &all, told));
    let columns = header(era).matches(',').count() + 1;
    for cpu in 0..host.cpus {
        text.push_str(&format!("PROCESSOR,CPU {cpu}{}\n", ",".repeat(columns - 2)));
    }
    if options.recorded < Recorded::NoTargets {
        return text;
    }
    for (place, figures) in test.workers.iter().zip(&figures) {
        let (name, specification) = (plain(&place.name), plain(&place.specification));
        let told = agreed(std::slice::from_ref(place));
        text.push_str(&row(era, ["WORKER", &name, &specification, "", "", "1"], figures, told));
        if options.recorded == Recorded::All {
            text.push_str(&row(
                era,
                ["DISK", &plain(&place.target), "", "", "", ""],
                figures,
                told,
            ));
        }
    }
    text
}

/// Starting sector, maximum size and queue depth, where all workers have the same.
fn agreed(workers: &[Place]) -> [Option<u64>; 3] {
    let told = |place: &Place| {
        [place.starting_sector, place.maximum_sectors, u64::from(place.outstanding)]
    };
    let first = workers.first().map_or([0; 3], told);
    let mut found = first.map(Some);
    for place in workers {
        for (found, own) in found.iter_mut().zip(told(place)) {
            *found = found.filter(|first| *first == own);
        }
    }
    found
}

fn row(era: Era, first: [&str; 6], figures: &Figures, told: [Option<u64>; 3]) -> String {
    let mut cells: Vec<String> = first.map(String::from).to_vec();
    let real = |value: f64| format!("{value:.6}");
    let ms = |ns: f64| real(ns / NS_PER_MS);
    let [reads, read_bytes, writes, written_bytes, transactions] = figures.rates;
    cells.extend([reads + writes, reads, writes].map(real));
    let units: &[f64] = match era {
        Era::Dated => &[BINARY_MEGABYTE],
        Era::Binned => &[BINARY_MEGABYTE, DECIMAL_MEGABYTE],
    };
    for unit in units {
        let bytes = [read_bytes + written_bytes, read_bytes, written_bytes];
        cells.extend(bytes.map(|rate| real(rate / unit)));
    }
    // Targets stay open: of connections there are none.
    cells.extend([real(transactions), real(0.0)]);
    let (both, read, write) = (figures.both(), figures.read, figures.write);
    cells.extend([both, read, write].map(|it| ms(it.mean_ns())));
    cells.extend([ms(figures.transaction_mean_ns()), real(0.0)]);
    cells.extend([both, read, write].map(|it| ms(it.longest_ns as f64)));
    cells.extend([ms(figures.longest_transaction_ns as f64), real(0.0)]);
    let counts = [
        both.errors,
        read.errors,
        write.errors,
        read.bytes,
        write.bytes,
        read.ios,
        write.ios,
        0,
        0,
    ];
    cells.extend(counts.map(|count| count.to_string()));
    cells.extend([read.total_ns, write.total_ns, both.total_ns, 0].map(|ns| ns.to_string()));
    let longest = [read.longest_ns, write.longest_ns, figures.longest_transaction_ns, 0];
    cells.extend(longest.map(|ns| ns.to_string()));
    cells.push(figures.run_ns.to_string());
    cells.extend(told.map(|value| value.map_or_else(String::new, |value| value.to_string())));
    cells.extend(std::iter::repeat_n(String::new(), COLUMNS_OF_PROCESSORS));
    if era == Era::Binned {
        debug_assert_eq!(figures.bins.len(), BIN_ENDS_NS.len() + 1);
        cells.extend(figures.bins.map(|count| count.to_string()));
    }
    cells.join(",") + "\n"
}
