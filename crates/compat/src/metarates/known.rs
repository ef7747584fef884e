//! Every option of Metarates that is known, and what becomes of it here.

use crate::option::{self, Opt, near, refused, same};

/// Of a later copy.
const LATER: &str =
    "leave it out: only a later copy has it. Start the line that often, with that many tasks";

/// Every option of Metarates, with what becomes of it here.
pub const KNOWN: &[Opt] = &[
    same("-d N", "directory, which must be there"),
    same("-n N", "files of all tasks together, in equal shares"),
    same("-u", "a directory of each task"),
    same("-C", "creates"),
    same("-S", "stats"),
    same("-U", "utimes"),
    same("-s", "fsync before close in creates"),
    near("-k", "files stay", "files that one test left are not created again for the next"),
    refused("-r N", "repetitions", LATER, ""),
    refused("-o N", "nodes", LATER, ""),
    refused("-p N", "processes", LATER, ""),
    refused("-g N", "groups", LATER, ""),
];

/// Every option with how it is treated, as a table in Markdown: what the documentation shows.
pub fn table() -> String {
    option::markdown(KNOWN.iter())
}
