//! One module opens a target for writing, discarding or formatting, and no other.

use crate::tidy::source::{Tree, Violation, functions, lines_with};

/// What can change a file or device that is not ours.
const WRITERS: [&str; 38] = [
    "OpenOptions",
    "File::create",
    "File::create_new",
    "File::options",
    "fs::write",
    "fs::copy",
    "fs::rename",
    "O_WRONLY",
    "O_RDWR",
    "O_CREAT",
    "O_TRUNC",
    "O_APPEND",
    "O_TMPFILE",
    "OFlags::WRONLY",
    "OFlags::RDWR",
    "OFlags::CREATE",
    "OFlags::TRUNC",
    "OFlags::APPEND",
    "OFlags::TMPFILE",
    "BLKDISCARD",
    "BLKSECDISCARD",
    "BLKZEROOUT",
    "FALLOC_FL_PUNCH_HOLE",
    "FALLOC_FL_ZERO_RANGE",
    "FallocateFlags",
    "fallocate",
    "ftruncate",
    "set_len",
    "creat",
    "fs::truncate",
    "openat2",
    "mknod",
    "NVME_IOCTL_ADMIN_CMD",
    "SG_IO",
    "Command::new",
    "libc::mount",
    "libc::umount2",
    "fsmount",
];

/// The one place.
const OPENER: &str = "crates/io/src/opening";
/// The words by which it opens for writing.
const OPENS: [&str; 4] = ["OFlags::RDWR", "OFlags::WRONLY", "O_RDWR", "O_WRONLY"];

/// Where else a word may stand, how often, and why.
struct Allowed {
    path: &'static str,
    word: &'static str,
    times: usize,
    reason: &'static str,
}

const fn allowed(
    path: &'static str,
    word: &'static str,
    times: usize,
    reason: &'static str,
) -> Allowed {
    Allowed { path, word, times, reason }
}

const REPORT: &str = "a new report; refuses to overwrite";
const RUN_FILE: &str = "a new run file in our own directory";
const RUN_FILE_GOES_ON: &str = "a run file that was read as one, behind what is kept of it";
const RESULTS: &str = "results of a line that asked for them; what is no such file stays";
const PURGE: &str = "the command that was asked for by name, on a descriptor that the opener gave";
const NAMES: &str = "new names in a scratch directory that the opener made";
const SCRATCH: &str = "looks into a scratch directory, and not into what is mounted there";
const LEDGER: &str = "our own list of scratch, in our own directory";
const CACHE: &str = "the kernel's file of a drive's write cache, asked for by name";
const QUEUE: &str = "a setting of the kernel's queue, asked for by name and noted before";
const NOTE: &str = "our own note of what a setting was, in our own directory";
const TRACER: &str = "settings of the kernel's tracer, in an instance of our own";
const TRACER_MOUNT: &str = "the tracer's file system, mounted where no one else sees it";
const MKFS: &str = "the one function that formats, on a device approved for it and held";
const SMARTCTL: &str = "smartctl, which asks a drive for its health and changes nothing";
const MOUNT: &str = "what that function made, mounted where no one else sees it";
const SPACE: &str = "an operation that changes a file, on a descriptor that the opener gave";
const TRIM: &str = "the trim of an operation, on a descriptor that the opener gave";

const STATE: &str = "a state of a simulated drive in our own cache, in place of what was there";

const ALLOWED: &[Allowed] = &[
    allowed("crates/drivelab/src/front/files.rs", "File::options", 1, RESULTS),
    allowed("crates/drivelab/src/state_cache.rs", "fs::write", 1, STATE),
    allowed("crates/drivelab/src/state_cache.rs", "fs::rename", 1, STATE),
    allowed("crates/io/src/results.rs", "File::create_new", 3, REPORT),
    allowed("crates/io/src/results.rs", "fs::rename", 1, RESULTS),
    allowed("crates/io/src/results.rs", "File::options", 3, RESULTS),
    allowed("crates/io/src/results.rs", "set_len", 1, RESULTS),
    allowed("crates/drivelab/src/store/writer.rs", "File::options", 2, RUN_FILE),
    allowed("crates/drivelab/src/store/writer.rs", "set_len", 1, RUN_FILE_GOES_ON),
    allowed("crates/io/src/file_system.rs", "Command::new", 1, MKFS),
    allowed("crates/io/src/health/smartctl.rs", "Command::new", 1, SMARTCTL),
    allowed("crates/io/src/file_system.rs", "libc::mount", 2, MOUNT),
    allowed("crates/io/src/file_system.rs", "libc::umount2", 1, MOUNT),
    allowed("crates/io/src/passthrough/line.rs", "NVME_IOCTL_ADMIN_CMD", 2, PURGE),
    allowed("crates/io/src/passthrough/line.rs", "SG_IO", 2, PURGE),
    allowed("crates/io/src/names.rs", "OFlags::WRONLY", 1, NAMES),
    allowed("crates/io/src/names.rs", "OFlags::CREATE", 1, NAMES),
    allowed("crates/io/src/names/ring.rs", "O_WRONLY", 1, NAMES),
    allowed("crates/io/src/names/ring.rs", "O_CREAT", 1, NAMES),
    allowed("crates/io/src/scratch/list.rs", "File::options", 1, LEDGER),
    allowed("crates/io/src/scratch/removal.rs", "openat2", 1, SCRATCH),
    allowed("crates/io/src/scratch.rs", "set_len", 1, LEDGER),
    allowed("crates/io/src/scratch.rs", "fs::rename", 1, LEDGER),
    allowed("crates/io/src/write_cache.rs", "fs::write", 1, CACHE),
    allowed("crates/io/src/settings/queue.rs", "fs::write", 1, QUEUE),
    allowed("crates/io/src/settings/record.rs", "File::options", 1, NOTE),
    allowed("crates/io/src/settings/record.rs", "set_len", 1, NOTE),
    allowed("crates/io/src/tracing.rs", "OFlags::WRONLY", 1, TRACER),
    allowed("crates/io/src/tracing.rs", "OFlags::TRUNC", 1, TRACER),
    allowed("crates/io/src/tracing/root.rs", "fsmount", 2, TRACER_MOUNT),
    allowed("crates/io/src/space.rs", "FallocateFlags", 3, SPACE),
    allowed("crates/io/src/space.rs", "fallocate", 2, SPACE),
    allowed("crates/io/src/space.rs", "ftruncate", 2, SPACE),
    allowed("crates/io/src/trim.rs", "BLKDISCARD", 2, TRIM),
    allowed("crates/io/src/trim.rs", "FallocateFlags", 3, TRIM),
    allowed("crates/io/src/trim.rs", "fallocate", 3, TRIM),
];

/// Words that write, outside the one place and the list.
pub fn elsewhere(tree: &Tree) -> Vec<Violation> {
    let mut violations = elsewhere_but(tree, ALLOWED);
    for allowed in ALLOWED {
        let lines = tree
            .files
            .get(allowed.path)
            .map_or(0, |file| lines_with(&file.shipped, allowed.word).len());
        if lines < allowed.times || allowed.reason.is_empty() {
            let what = format!(
                "`{}` is allowed {} times and stands there {lines} times: lower the list",
                allowed.word, allowed.times
            );
            violations.push(Violation { path: allowed.path.into(), line: 0, what });
        }
    }
    violations
}

fn elsewhere_but(tree: &Tree, list: &[Allowed]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in tree.rust().filter(|file| !file.path.starts_with(OPENER)) {
        for word in WRITERS {
            let lines = lines_with(&file.shipped, word);
            let entry = list.iter().find(|entry| entry.path == file.path && entry.word == word);
            let free = entry.map_or(0, |entry| entry.times);
            for line in lines.into_iter().skip(free) {
                let what = format!("`{word}`: only {OPENER} opens for writing");
                violations.push(Violation { path: file.path.clone(), line, what });
            }
        }
    }
    violations
}

/// Functions of the one place that ask for write access, each for another kind of thing: a file
/// that is there, a file that is made, a whole device, a descriptor of what these have pinned, and
/// the device by which a namespace takes commands whose block device is one of these.
const OPENING: [&str; 5] =
    ["open_existing", "make_file", "hold_device", "descriptor", "command_device"];

/// Functions of the one place that open for writing and are none of these.
pub fn known_functions(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in tree.rust().filter(|file| file.path.starts_with(OPENER)) {
        for line in OPENS.iter().flat_map(|word| lines_with(&file.shipped, word)) {
            let all = functions(&file.shipped);
            let inside =
                all.iter().filter(|known| (known.line..known.line + known.lines).contains(&line));
            let name = inside
                .max_by_key(|known| known.line)
                .map_or("no function", |known| known.name.as_str());
            if !OPENING.contains(&name) {
                let what = format!("`{name}` opens for writing, besides {}", OPENING.join(", "));
                violations.push(Violation { path: file.path.clone(), line, what });
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::source::one;

    #[test]
    fn a_second_opener_is_found() {
        for text in [
            "fn f() { std::fs::OpenOptions::new().write(true).open(p); }",
            "fn f() { rustix::fs::open(p, OFlags::RDWR | OFlags::DIRECT, m); }",
            "fn f() { libc::open(p, libc::O_WRONLY); }",
            "fn f() { fs::write(p, b); }",
            "fn f() { ioctl(fd, BLKDISCARD, range); }",
        ] {
            assert_eq!(elsewhere_but(&one("crates/io/src/x.rs", text), &[]).len(), 1, "{text}");
            let tested = format!("#[cfg(test)]\nmod tests {{ {text} }}");
            assert_eq!(elsewhere_but(&one("crates/io/src/x.rs", &tested), &[]).len(), 0, "{text}");
        }
        let list = [Allowed {
            path: "crates/drivelab/src/x.rs",
            word: "fs::write",
            times: 1,
            reason: "the report",
        }];
        let text = "fn f() { fs::write(p, b); }\n";
        let path = "crates/drivelab/src/x.rs";
        assert_eq!(elsewhere_but(&one(path, text), &list).len(), 0);
        assert_eq!(elsewhere_but(&one(path, &text.repeat(2)), &list).len(), 1);
    }

    #[test]
    fn another_function_in_the_one_place_is_found() {
        let first = "fn make_file() { open(p, OFlags::RDWR); }\n";
        let second = "fn b() { open(p, OFlags::WRONLY); }\n";
        assert_eq!(known_functions(&one("crates/io/src/opening.rs", first)).len(), 0);
        let both = format!("{first}{second}");
        assert_eq!(known_functions(&one("crates/io/src/opening.rs", &both)).len(), 1);
    }
}
