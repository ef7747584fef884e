//! What a line of IOzone really measures, in whole sentences with figures.

use super::number::bytes_in_words;
use super::words::Word;
use crate::front::{Note, Treatment};

/// A dash that was none.
pub(super) fn dashed(typed: &str) -> Note {
    let text = "Typographic dash treated as `-`. IOzone itself does not recognise such a word as \
                an option.";
    Note::new("typographic_dash", typed, Treatment::Approximated, text)
}

/// A word that belongs to no option.
pub(super) fn extra(word: &str) -> Note {
    let text = "IOzone ignores such a word; the file under test is that of -f, or iozone.tmp in \
                the working directory.";
    Note::new("extra_word", word, Treatment::Ignored, text)
}

/// A size of which IOzone reads only a part.
pub(super) fn size_read_as(word: &Word, kb: i64) -> Note {
    let text = format!(
        "IOzone reads the digits at the beginning and a k, m or g at the very end, which gives \
         {kb} kB (or the default, where that is not above 0)."
    );
    Note::new("number_read_as", word.typed(), Treatment::Same, text)
}

/// A number of which IOzone reads only a part.
pub(super) fn number_read_as(word: &Word, number: i64) -> Note {
    let text = format!("IOzone reads the digits at the beginning, which gives {number}.");
    Note::new("number_read_as", word.typed(), Treatment::Same, text)
}

/// A test that IOzone has no code for on Linux.
pub(super) fn no_such_test(number: i64) -> Note {
    let text = "Builds of IOzone for Linux have no such test (11 and 12 are pwritev and preadv); \
                they report that and continue.";
    Note::new("no_such_test", format!("-i {number}"), Treatment::Ignored, text)
}

/// A test that this mode does not have.
pub(super) fn not_in_this_mode(number: u32) -> Note {
    let text = match number {
        8 => "The mix of reads and writes runs only in the throughput mode (-t N).",
        4 => "The throughput mode has no test that rewrites a record.",
        6 | 7 => "Mapped files (-B, -D) leave the tests of stdio out.",
        _ => "pwrite and pread have columns only with -E, or run with -t N.",
    };
    Note::new("not_in_this_mode", format!("-i {number}"), Treatment::Ignored, text)
}

/// Options that only mean something next to others.
pub(super) fn without_effect(option: &str, text: &str) -> Note {
    Note::new("no_effect", option, Treatment::Ignored, text)
}

/// Whether the page cache holds the data, with figures.
pub(super) fn memory(all_bytes: u64, files: u64, memory_bytes: u64, reads: Reads) -> Note {
    let words = bytes_in_words;
    let size = match files {
        1 => format!("The file has {}", words(all_bytes)),
        _ => format!("The {files} files have {} together", words(all_bytes)),
    };
    let both = format!("{size} and the machine {} of memory", words(memory_bytes));
    let text = match (memory_bytes, reads) {
        (0, _) => format!("{size}; how much memory there is to hold it is not known."),
        (memory, Reads::None) if all_bytes >= memory => format!(
            "{both}: what is written goes to the page cache first, and from there to the drive \
             while the test runs."
        ),
        (_, Reads::None) => format!(
            "{both}: what is written goes to the page cache, which takes it at the speed of \
             memory until too much of it is dirty."
        ),
        (memory, _) if all_bytes >= memory.saturating_mul(2) => format!(
            "{both}: most of what is read comes from the drive, the part written last from memory."
        ),
        (memory, _) if all_bytes >= memory => format!(
            "{both}: a good part of what is read comes from memory. IOzone asks for files of at \
             least twice the memory."
        ),
        (_, Reads::Dropped) => format!(
            "{both}: writes go to the page cache, and reads come from the drive because the pages \
             are dropped before each test."
        ),
        (_, Reads::Cached) => format!(
            "{both}: all of it stays in the page cache, so that reads measure memory and not the \
             drive. Use -s of more than twice the memory, -I or -U."
        ),
    };
    Note::new("page_cache", "", Treatment::Same, text)
}

/// What a line reads through the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reads {
    /// The line reads nothing through the page cache.
    None,
    /// What a test before left there.
    Cached,
    /// What was dropped from there.
    Dropped,
}

/// Notes about the whole line: code and text.
pub(super) const READ_FOLLOWS_WRITE: (&str, &str) = (
    "read_follows_write",
    "Each read test follows one that wrote or read the same file, and nothing drops its pages in \
     between.",
);
pub(super) const FSYNC_OUTSIDE: (&str, &str) = (
    "fsync_outside",
    "fsync runs after the time of a write test has ended (-e takes it in): the figure is that of \
     handing the data to the kernel.",
);
pub(super) const FSYNC_INSIDE: (&str, &str) = (
    "fsync_inside",
    "The time of a write test includes fsync. That of a read test does so in IOzone too, where \
     fsync finds nothing to do; here it is left out.",
);
pub(super) const CLOSE: (&str, &str) = (
    "close_not_timed",
    "close() is not in the time here. On a local file system it only gives the descriptor back; \
     on NFS it writes back, and IOzone's figure would be lower.",
);
pub(super) const NEW_BLOCKS: (&str, &str) = (
    "new_blocks",
    "The first write goes to a file without blocks, which are set aside while it runs; the \
     rewrite finds them. IOzone's file grows meanwhile, this one has its size from the start.",
);
pub(super) const SAME_DATA: (&str, &str) = (
    "compressible_data",
    "IOzone writes eight bytes and then zeros in each 4 KiB, everywhere the same; here 99 % of \
     each are zeros, and no two are alike. A drive that compresses stores next to nothing of it.",
);
pub(super) const FIXED_ORDER: (&str, &str) = (
    "fixed_order",
    "The random tests visit each record once, in an order that is the same for reads and writes \
     and in every run. It is not IOzone's own order, and is just as fixed.",
);
pub(super) const ONE_RECORD: (&str, &str) = (
    "one_record",
    "Record rewrite writes the first record again and again: without -o or -I that measures \
     memory.",
);
pub(super) const STRIDE: (&str, &str) = (
    "stride",
    "The strided read visits each record once. IOzone leaves out the last ones and reads some of \
     the middle twice instead.",
);
pub(super) const STRIDE_IN_PLACE: (&str, &str) = (
    "stride_in_place",
    "The file has no more records than the stride, so that IOzone's strided read reads the first \
     record again and again; so does this.",
);
pub(super) const WHOLE_NUMBERS: (&str, &str) =
    ("whole_numbers", "Values are cut off to whole numbers; kB are 1024 bytes.");
pub(super) const ZEROS: (&str, &str) = (
    "zeros_not_run",
    "A 0 under rewrite, reread, frewrite or freread is not a measurement: -+n leaves the second \
     passes out. Random read and random write run all the same.",
);
pub(super) const STONEWALL: (&str, &str) = (
    "stonewall",
    "The first process that ends stops the others. `Children see` adds up the rates that each had \
     until then, which on short runs is far more than they had together (`Parent sees`). Files of \
     the first write that it cut short are written again before the next test, unmeasured.",
);
pub(super) const THREADS: (&str, &str) = (
    "threads_of_one_process",
    "The processes are threads of one process here. They share no file and no lock, so that only \
     the cost of starting them differs, which `Parent sees` includes in IOzone.",
);
pub(super) const MIX_IS_BY_PROCESS: (&str, &str) = (
    "mix_by_process",
    "In the mix (test 8) some processes only read and the others only write; no process mixes. \
     Readers stop readers and writers stop writers, where in IOzone one stops all.",
);
pub(super) const STDIO_IS_CACHED: (&str, &str) = (
    "stdio_is_cached",
    "-I does not reach fwrite and fread, in IOzone as here: they go through the page cache.",
);
pub(super) const MAPPING_IS_CACHED: (&str, &str) = (
    "mapping_is_cached",
    "-I and -o do not reach a mapping, in IOzone as here: it goes through the page cache.",
);
pub(super) const DATA_SYNC: (&str, &str) = (
    "data_sync",
    "O_SYNC is done as O_DSYNC: each write waits for its data and for what is needed to find it, \
     but not for the time stamps of the file.",
);
pub(super) const REMOUNT: (&str, &str) = (
    "remount",
    "Nothing is unmounted: the file is written back and its pages are dropped before each test. \
     What the file system keeps of its own (inodes, maps of blocks) stays in memory.",
);
pub(super) const THINK: (&str, &str) = (
    "think_time",
    "The worker sleeps before each operation, where IOzone computes: the processor may lower its \
     clock meanwhile. Only the time inside of operations counts, as in IOzone.",
);
pub(super) const STAMPS: (&str, &str) = (
    "stamps",
    "What is written carries stamps (address, seed, checksum) instead of a pattern, and reads \
     check them. Checking is in the time, as in IOzone.",
);
pub(super) const CPUS: (&str, &str) = (
    "cpus",
    "The workers may use the CPUs from that one on, as many as there are workers; IOzone binds \
     each process to one of them.",
);
pub(super) const FILE_STAYS: (&str, &str) = (
    "file_stays",
    "The file was there before: IOzone would remove it at the end, this leaves it, as with -w.",
);
pub(super) const ONE_FILE: (&str, &str) =
    ("one_file", "All processes use one file, each going over all of it.");
pub(super) const LARGEST_FILE: (&str, &str) = (
    "largest_file",
    "The file has the largest of the sizes from the start, and each row uses the first part of it; \
     IOzone creates it again for each row.",
);

/// A note about the whole line, or about one option.
pub(super) fn about(option: &str, (code, text): (&'static str, &str), how: Treatment) -> Note {
    Note::new(code, option, how, text)
}

/// Sizes that were scaled.
pub(super) fn scaled(asked_kb: u64, used_kb: u64) -> Note {
    let text = format!(
        "The file has {} instead of the {} that the line asks for, as --scale-size says; the rows \
         print the size that was used.",
        bytes_in_words(used_kb.saturating_mul(1024)),
        bytes_in_words(asked_kb.saturating_mul(1024))
    );
    Note::new("scaled", "", Treatment::Approximated, text)
}
