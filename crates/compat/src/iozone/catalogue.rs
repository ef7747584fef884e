//! Every option that IOzone documents, and how it is understood here.

use crate::option::{self, Opt, ignored, near, refused, same};

/// Where meanings begin in the help.
const HELP_COLUMN: usize = 14;
const LATENCIES: &str =
    "leave it out: the run file holds a histogram of the latencies of every interval";
const CLUSTER: &str = "start drivelab by mpirun, with the front end of IOR or Metarates";
const CONTENT: &str = "use `drivelab run --content` for data of a chosen compressibility";
const RECORD_LOCKS: &str = "drivelab takes no locks on ranges of files";
const NOT_TWO: &str = "the load is one option of `drivelab run`: see --think and --rate there";

/// Options of one letter.
pub(super) const LETTERS: &[Opt] = &[
    same("-a", "all file sizes from 64 kB to 512 MB with all record sizes from 4 kB to 16 MB"),
    same("-A", "as -az -i 0 -i 1"),
    same("-b FILE", "write the worksheet FILE, and the report as with -R"),
    same("-B", "map the files; tests 6 and 7 are left out"),
    near("-c", "close() in the time", "the time ends with the last operation, or with fsync"),
    same("-C", "print what each process moved, with -t"),
    refused("-d N", "µs between the starts of the processes", "workers start together", NOT_TWO),
    near("-D", "as -B, and msync(MS_ASYNC) each record", "without that call: Linux ignores it"),
    near("-e", "fsync in the time", "reads have nothing to sync: their fsync is left out"),
    same("-E", "tests 9 and 10 in the table"),
    same("-f FILE", "the file under test"),
    same("-F FILE ...", "the files of the processes, with -t before it"),
    same("-g N[kmg]", "largest file of -a"),
    near("-G", "with -B: msync(MS_SYNC) each record", "of the whole mapping each time"),
    same("-h", "help"),
    refused(
        "-H N",
        "N POSIX asynchronous operations with copies",
        "glibc runs them in threads that read and write one after the other",
        "use `drivelab run --engine io_uring --depth N`",
    ),
    same("-i N", "a test to run; again for more"),
    same("-I", "O_DIRECT; not for stdio and mappings"),
    near("-j N", "stride of test 5 in records", "each record once; see the note on the stride"),
    near("-J N", "N ms of computing before each operation", "the worker sleeps instead"),
    refused(
        "-k N",
        "N POSIX asynchronous operations without copies",
        "glibc runs them in threads that read and write one after the other",
        "use `drivelab run --engine io_uring --depth N`",
    ),
    refused(
        "-K",
        "disturb the reads by a few random ones",
        "how many and where is not documented",
        "use `drivelab run --pattern semi-random --share 0.01`",
    ),
    same("-l N", "throughput mode from N processes on"),
    ignored("-L N", "bytes of a cache line", "buffers of drivelab are aligned to whole pages"),
    refused(
        "-m",
        "use several buffers in turn",
        "a worker of depth 1 has one buffer",
        "leave it out: with -I or files larger than memory it changes nothing",
    ),
    near("-M", "print the machine", "without the version of the kernel's build"),
    same("-n N[kmg]", "smallest file of -a"),
    same("-N", "values are microseconds an operation"),
    near("-o", "O_SYNC", "O_DSYNC: the data and what is needed to read it, without time stamps"),
    same("-O", "values are operations a second"),
    ignored("-p", "purge the processor's cache before each test", "each step has new buffers"),
    near("-P N", "bind processes to CPUs from N on", "workers share CPUs N to N + processes - 1"),
    same("-q N[kmg]", "largest record of -a"),
    refused("-Q", "write files of offsets and latencies", "there are none per offset", LATENCIES),
    same("-r N[kmg]", "size of a record; kB without a letter; again for several"),
    same("-R", "print the report for Excel"),
    same("-s N[kmg]", "size of the file; kB without a letter; again for several"),
    ignored("-S N", "kB of the processor's cache", "IOzone aligns and purges by it, no more"),
    near("-t N", "throughput mode with N processes", "they are threads of one process"),
    same("-T", "threads instead of processes"),
    same("-u N", "throughput mode up to N processes"),
    near("-U DIR", "unmount and mount before each test", "the file's pages are dropped instead"),
    same("-v", "version"),
    near("-V N", "write a pattern and check it in reads", "stamps of 40 bytes in each 4 KiB"),
    same("-w", "keep the file"),
    ignored(
        "-W",
        "lock the file during a test",
        "there is no competition, and locking is not \
                                                  timed",
    ),
    same("-x", "no stonewall: every process does all its work"),
    refused("-X FILE", "write what a file of offsets says", "its text is not read", TRACE),
    same("-y N[kmg]", "smallest record of -a"),
    refused("-Y FILE", "read what a file of offsets says", "its text is not read", TRACE),
    same("-z", "small records for large files too, with -a"),
    refused(
        "-Z",
        "mix a mapping and file I/O",
        "a stream has one engine",
        "use `drivelab run` with two streams, one of them of engine mmap",
    ),
];

const TRACE: &str = "replay a trace of fio or blktrace with `drivelab run --trace`";

/// Options of `-+`.
const PLUS: &[Opt] = &[
    ignored("-+a N", "percent of zeros", "without -+w IOzone 3.489 writes the same data anyway"),
    refused("-+A N", "madvise the mapping", "mappings get no advice here", "leave it out"),
    refused(
        "-+b N,N",
        "bursts with sleeps",
        "how their time is counted is not documented",
        NOT_TWO,
    ),
    same("-+B", "test 8 in sequential order"),
    refused("-+c HOST", "name of the controlling host", "drivelab runs no clients", CLUSTER),
    refused("-+C N", "percent of duplicates within a file", "nothing is deduplicated", CONTENT),
    near("-+d", "check every byte", "stamps of 40 bytes in each 4 KiB, as with -V"),
    same("-+D", "O_DSYNC"),
    same("-+E", "only read an existing file"),
    refused("-+F", "truncate before test 8", "its readers would find nothing", "leave it out"),
    refused("-+h NAME", "name of this host", "drivelab runs no clients", CLUSTER),
    refused("-+H NAME", "a server of the time", "time is read on this machine", "leave it out"),
    refused("-+i N", "port of the clients", "drivelab runs no clients", CLUSTER),
    refused("-+J", "think time in the throughput", "it is taken out, as without -+J", NOT_TWO),
    same("-+k", "-s is the size of all files together, with -t"),
    refused("-+K N", "a mix by hand in test 8", "what N means is not documented", "use -+p"),
    refused("-+l", "lock each record", RECORD_LOCKS, "leave it out"),
    refused("-+L", "lock each record of one shared file", RECORD_LOCKS, "use -+V for one file"),
    refused("-+m FILE", "clients of a cluster", "drivelab runs no clients", CLUSTER),
    refused("-+M", "duplicates that compress", "nothing is deduplicated", CONTENT),
    same("-+n", "no retests"),
    same("-+N", "overwrite the blocks of an existing file"),
    refused("-+O N", "at most N operations a second", "of which tests is not documented", NOT_TWO),
    same("-+p N", "percent of the processes that read in test 8"),
    refused("-+P PORT", "a server of the time", "time is read on this machine", "leave it out"),
    same("-+q N", "N seconds of rest between tests"),
    refused("-+Q N", "size of duplicates", "nothing is deduplicated", CONTENT),
    near("-+r", "O_RSYNC | O_SYNC", "O_DSYNC; Linux has no O_RSYNC of its own"),
    refused("-+R FILE", "names of files from a file", "its text is not read", "use -F"),
    refused("-+s N", "undocumented", "what it does is not documented", "leave it out"),
    refused("-+S N", "sets of duplicates", "nothing is deduplicated", CONTENT),
    refused("-+t", "test the network of a cluster", "drivelab runs no clients", CLUSTER),
    refused("-+T", "time stamps in the log", "there is no such log", LATENCIES),
    refused("-+u", "use of the CPU", "it is in the run file", "leave it out: `drivelab report`"),
    same("-+V", "one file for all processes, with -t"),
    refused("-+w N", "percent of duplicates between files", "nothing is deduplicated", CONTENT),
    refused("-+W N", "shift of the sets of duplicates", "nothing is deduplicated", CONTENT),
    same("-+x N", "factor between the sizes of -a"),
    refused("-+X", "skip the I/O", "its figures are not valid", "use --dry-run"),
    refused("-+y N", "percent of duplicates within a record", "nothing is deduplicated", CONTENT),
    refused("-+z", "histograms of latencies", "in a form of its own", LATENCIES),
    ignored("-+Z", "data as older versions wrote it", "eight other bytes, and zeros as well"),
];

/// All options.
pub fn entries() -> impl Iterator<Item = &'static Opt> {
    LETTERS.iter().chain(PLUS)
}

/// The option that is typed as `name` (`-s`, `-+n`).
pub(super) fn find(name: &str) -> Option<&'static Opt> {
    option::find(entries(), name)
}

/// What `-h` prints.
pub(super) fn help() -> String {
    let head = "iozone: help mode\n\nOptions of IOzone as drivelab understands them (this is not \
                IOzone itself):\n\n";
    let row = |option: &Opt| {
        (option.typed.to_owned(), format!("{}{}", option.meaning, option.care.in_full()))
    };
    head.to_owned() + &option::help(HELP_COLUMN, entries().map(row))
}

/// The table of the reference page, in Markdown.
pub fn markdown() -> String {
    option::markdown(entries())
}
