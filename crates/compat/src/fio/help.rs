//! What fio tells of itself when it is asked: options, engines, the line that a job file is.

use super::known::{self, Known};
use super::words::{Job, Word};
use crate::option::{help, spelt};
use drivelab_core::plan_text::nearest;

/// The whole of it in few lines.
pub const GENERAL: &str = "\
drivelab runs fio's command lines and job files on its own engine, and prints what fio prints.

  drivelab fio --name=test --rw=randread --bs=4k --size=1G --iodepth=32 --ioengine=libaio --direct=1
  drivelab fio JOBFILE …    (- is the standard input)

  --cmdhelp, --cmdhelp=OPTION   every option, or one: same, approximated, ignored or refused
  --enghelp, --enghelp=ENGINE   the engines, or the options of one
  --showcmd                     the line that a job file is
  --parse-only                  reads the line, and runs nothing
  --output=FILE --output-format=normal|terse|json|json+ --minimal --append-terse --section=NAME

Options of drivelab's own, anywhere: --scale-size F and --scale-time F (a share such as 1/1024 of
all sizes or times), --erase TOKEN, --runs DIR, --dry-run (prints the plan),
--notes stderr|none|only.
";

/// Engines, with what each is.
const ENGINES: [(&str, &str, &[&str]); 16] = [
    ("psync", "pread(2) and pwrite(2), one request at a time", &[]),
    ("sync", "as psync", &[]),
    ("vsync", "as psync", &[]),
    ("pvsync", "as psync", &[]),
    ("pvsync2", "as psync", &["hipri", "uncached", "nowait"]),
    (
        "libaio",
        "Linux AIO, iodepth requests in flight with direct=1",
        &["userspace_reap", "nowait"],
    ),
    ("io_uring", "io_uring, iodepth requests in flight", &RING),
    ("posixaio", "as psync: glibc too does the requests of one file one by one", &[]),
    ("mmap", "a mapped file, through the page cache", &[]),
    ("null", "moves no data: the cost of the program itself", &[]),
    ("filecreate", "makes a file, empty, for each of nrfiles", &[]),
    ("filestat", "stat(2) of each of nrfiles", &["stat_type"]),
    ("filedelete", "removes each of nrfiles", &[]),
    ("dircreate", "makes a directory for each of nrfiles", &[]),
    ("dirstat", "stat(2) of a directory for each of nrfiles", &["stat_type"]),
    ("dirdelete", "removes a directory for each of nrfiles", &[]),
];

const RING: [&str; 7] = [
    "hipri",
    "fixedbufs",
    "registerfiles",
    "sqthread_poll",
    "nonvectored",
    "force_async",
    "nowait",
];

/// One line for each option, or what is known of one.
pub fn of_options(name: &str) -> String {
    let row = |known: &Known| {
        let (word, said) = known.care.told();
        let said = if said.is_empty() { word.to_owned() } else { format!("{word}: {said}") };
        (known.names().collect::<Vec<_>>().join(", "), said)
    };
    if matches!(name, "" | "all") {
        return help(26, known::all().map(row));
    }
    if let Some(known) = known::find(name) {
        let (_, said) = row(known);
        return format!("{}: {said}\n", spelt(known).replace('`', ""));
    }
    let names: Vec<&str> = known::all().flat_map(Known::names).collect();
    let meant = nearest(name, &names).map(|name| format!("; did you mean {name}?"));
    format!("fio has no option {name}{}\n", meant.unwrap_or_default())
}

/// The engines that are here, or the options of one.
pub fn of_engines(name: &str) -> String {
    if name.is_empty() {
        let rows = ENGINES.iter().map(|(name, what, _)| ((*name).to_owned(), (*what).to_owned()));
        return format!("Available IO engines:\n{}", help(12, rows));
    }
    let Some((_, what, options)) = ENGINES.iter().find(|(known, ..)| *known == name) else {
        let names: Vec<&str> = ENGINES.iter().map(|(name, ..)| *name).collect();
        return format!("IO engine {name} is not here; there are {}\n", names.join(", "));
    };
    if options.is_empty() {
        return format!("{name}: {what}. It has no options of its own.\n");
    }
    let rows = options.iter().filter_map(|name| known::find(name)).map(|known| {
        let (word, said) = known.care.told();
        (
            known.name().to_owned(),
            if said.is_empty() { word.into() } else { format!("{word}: {said}") },
        )
    });
    format!("{name}: {what}. Its own options:\n{}", help(16, rows))
}

/// The command line that jobs come to.
pub fn as_line(jobs: &[Job]) -> String {
    let mut words = vec!["fio".to_owned()];
    let shared = jobs.first().map_or(&[][..], |job| &job.global);
    words.extend(shared.iter().map(typed));
    for job in jobs {
        words.push(quoted(format!("--name={}", job.name)));
        // What came to [global] later holds for the jobs behind it only.
        let later = job.global.get(shared.len()..).unwrap_or_default();
        let own = job.own.iter().filter(|word| word.name != "name");
        words.extend(later.iter().chain(own).map(typed));
    }
    words.join(" ") + "\n"
}

fn typed(word: &Word) -> String {
    quoted(match &word.value {
        Some(value) => format!("--{}={value}", word.typed),
        None => format!("--{}", word.typed),
    })
}

fn quoted(word: String) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=/.,:%+".contains(c);
    if word.chars().all(is_plain) { word } else { format!("'{}'", word.replace('\'', "'\\''")) }
}
