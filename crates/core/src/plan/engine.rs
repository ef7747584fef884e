//! The engines, and what is true of each.

use super::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// How I/O reaches the kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// io_uring, one ring a worker.
    #[default]
    IoUring,
    /// NVMe commands through io_uring, past the block layer.
    IoUringCmd,
    /// Kernel AIO.
    Libaio,
    /// pread and pwrite, one at a time.
    Psync,
    /// Loads and stores on a mapping.
    Mmap,
    /// fread and fwrite with a buffer of one record.
    Stdio,
    /// fallocate: a read has the file system set its range of the file aside, a write does the same
    /// and lets the file grow, a trim punches a hole.
    Falloc,
    /// ftruncate: a write makes the file end where it would begin.
    Ftruncate,
    /// Completes at once: the generator's own ceiling. It stays the last one.
    Null,
}

/// The system calls of one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Calls {
    /// One submits and another one reaps: many are in flight, and submitting has its own stamp.
    Apart,
    /// One, which returns when the I/O is done.
    One,
    /// None: nothing reaches the target.
    None,
}

/// What is true of an engine; whoever wants to know asks here, and not for its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineTraits {
    /// The word in plans, options and tables.
    pub word: &'static str,
    /// The system calls of one operation.
    pub calls: Calls,
    /// Its operations move data between the program and the target.
    pub moves_data: bool,
    /// Each of its operations changes the target, reads too, and asks of it what files alone can.
    pub changes_files: bool,
    /// It knows writes alone.
    pub only_writes: bool,
    /// It is io_uring: it has that one's modes, and can have many names in flight.
    pub is_ring: bool,
    /// It hands NVMe commands to a namespace itself: past the block layer, which neither splits nor
    /// counts them.
    pub is_passthrough: bool,
    /// It goes through the page cache whatever the file was opened for.
    pub is_through_page_cache: bool,
    /// Through the page cache, its submitting call waits for the I/O.
    pub waits_when_buffered: bool,
    /// It moves data by page faults: no flag of the file reaches its stores.
    pub is_mapping: bool,
    /// It can discard.
    pub can_trim: bool,
    /// A worker can use several files in turn.
    pub takes_several_files: bool,
}

impl EngineTraits {
    /// Whether nothing of it can bypass the page cache.
    pub const fn is_always_buffered(self) -> bool {
        self.is_through_page_cache || self.changes_files
    }

    /// An engine of which nothing in particular is true: each call does one I/O.
    const PLAIN: EngineTraits = EngineTraits {
        word: "",
        calls: Calls::One,
        moves_data: true,
        changes_files: false,
        only_writes: false,
        is_ring: false,
        is_passthrough: false,
        is_through_page_cache: false,
        waits_when_buffered: false,
        is_mapping: false,
        can_trim: true,
        takes_several_files: true,
    };
    /// One that needs the page cache.
    const CACHED: EngineTraits = EngineTraits {
        is_through_page_cache: true,
        can_trim: false,
        takes_several_files: false,
        ..EngineTraits::PLAIN
    };
    /// One that has the file system change a file and moves no data.
    const OF_FILES: EngineTraits =
        EngineTraits { moves_data: false, changes_files: true, ..EngineTraits::PLAIN };
}

impl Engine {
    /// Every engine, in order.
    pub const ALL: [Engine; Engine::Null as usize + 1] = [
        Engine::IoUring,
        Engine::IoUringCmd,
        Engine::Libaio,
        Engine::Psync,
        Engine::Mmap,
        Engine::Stdio,
        Engine::Falloc,
        Engine::Ftruncate,
        Engine::Null,
    ];

    /// Their words, in the same order.
    pub const WORDS: [&'static str; Engine::ALL.len()] = {
        let mut words = [""; Engine::ALL.len()];
        let mut index = 0;
        while index < words.len() {
            assert!(Engine::ALL[index] as usize == index, "an engine is missing or out of order");
            words[index] = Engine::ALL[index].traits().word;
            index += 1;
        }
        words
    };

    /// What is true of it.
    pub const fn traits(self) -> EngineTraits {
        let (plain, cached) = (EngineTraits::PLAIN, EngineTraits::CACHED);
        let of_files = EngineTraits::OF_FILES;
        match self {
            Engine::IoUring => {
                EngineTraits { word: "io_uring", calls: Calls::Apart, is_ring: true, ..plain }
            }
            Engine::IoUringCmd => EngineTraits {
                word: "io_uring_cmd",
                calls: Calls::Apart,
                is_ring: true,
                is_passthrough: true,
                ..plain
            },
            Engine::Libaio => EngineTraits {
                word: "libaio",
                calls: Calls::Apart,
                waits_when_buffered: true,
                ..plain
            },
            Engine::Psync => EngineTraits { word: "psync", ..plain },
            Engine::Mmap => EngineTraits { word: "mmap", is_mapping: true, ..cached },
            Engine::Stdio => EngineTraits { word: "stdio", ..cached },
            Engine::Falloc => EngineTraits { word: "falloc", ..of_files },
            Engine::Ftruncate => {
                EngineTraits { word: "ftruncate", only_writes: true, can_trim: false, ..of_files }
            }
            Engine::Null => {
                EngineTraits { word: "null", calls: Calls::None, moves_data: false, ..plain }
            }
        }
    }

    /// The word in plans and tables.
    pub const fn word(self) -> &'static str {
        self.traits().word
    }

    /// Whether a call returns only when its I/O is done.
    pub fn is_synchronous(self) -> bool {
        self.traits().calls == Calls::One
    }

    /// Whether operations of one worker are in flight together.
    pub fn is_asynchronous(self) -> bool {
        self.traits().calls == Calls::Apart
    }

    /// Whether it moves data at all.
    pub fn moves_data(self) -> bool {
        self.traits().moves_data
    }

    /// Whether its operations reach a target, whatever they do there.
    pub fn reaches_target(self) -> bool {
        self.traits().calls != Calls::None
    }

    /// The words of those that are so, as in `io_uring, libaio or psync`.
    pub fn words_of(is_so: impl Fn(Engine) -> bool) -> String {
        let words: Vec<&str> =
            Engine::ALL.into_iter().filter(|engine| is_so(*engine)).map(Engine::word).collect();
        match words.split_last() {
            Some((last, [])) => (*last).to_string(),
            Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
            None => String::new(),
        }
    }
}

impl FromStr for Engine {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Engine::ALL
            .into_iter()
            .find(|engine| engine.word() == text)
            .ok_or_else(|| format!("`{text}` is not an engine; use {}", Engine::words_of(|_| true)))
    }
}

impl Stream {
    /// Whether it moves data on a target: the null engine has none, names hold none, and what
    /// changes a file alone moves none.
    pub fn moves_data(&self) -> bool {
        !self.is_metadata() && self.engine.moves_data()
    }

    /// Whether it works on the files or the device of a target, and not on names.
    pub fn reaches_target(&self) -> bool {
        !self.is_metadata() && self.engine.reaches_target()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_the_same_in_a_plan_and_on_a_command_line() {
        for (engine, word) in Engine::ALL.into_iter().zip(Engine::WORDS) {
            assert_eq!(serde_json::to_value(engine).expect("a word"), word);
            assert_eq!(word.parse(), Ok(engine));
        }
        let said = "uring".parse::<Engine>().expect_err("no engine");
        let all = "io_uring, io_uring_cmd, libaio, psync, mmap, stdio, falloc, ftruncate or null";
        assert_eq!(said, format!("`uring` is not an engine; use {all}"));
        assert_eq!(Engine::words_of(Engine::is_asynchronous), "io_uring, io_uring_cmd or libaio");
        assert_eq!(Engine::words_of(|engine| !engine.moves_data()), "falloc, ftruncate or null");
        assert_eq!(Engine::words_of(|engine| !engine.reaches_target()), "null");
    }

    #[test]
    fn what_needs_the_page_cache_is_a_call_of_its_own() {
        for engine in Engine::ALL.into_iter().filter(|it| it.traits().is_through_page_cache) {
            let traits = engine.traits();
            assert!(engine.is_synchronous() && !traits.can_trim && !traits.is_ring, "{engine:?}");
        }
    }
}
