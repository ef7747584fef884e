//! Every option of iostat (sysstat 12.6.1), and how it is understood here.

use crate::front::Refusal;
use crate::option::{self, Opt, near, refused, same};

/// Our own option, without its dashes, under both of its names.
pub(super) const LAYOUT: [&str; 2] = ["layout", "era"];
/// What iostat ends with at a line that it does not take.
pub(super) const USAGE: u8 = 1;
/// Options that sysstat 9 and 10 do not have, or not with this meaning.
const LATER: [&str; 9] =
    ["-s", "-h", "-H", "-g", "-o", "--human", "--pretty", "--compact", "--dec"];
const LINKS: &str = "it needs the links below /dev/disk";

const ENTRIES: &[Opt] = &[
    same("-c", "the processors"),
    same("--compact", "one block of devices with --pretty"),
    same("-d", "the devices"),
    same("--dec=N", "decimals, 0 to 2"),
    refused("-f DIR", "counters from files in DIR", "the kernel's own are read", "leave it out"),
    refused("+f DIR", "those of DIR as well", "the kernel's own are read", "leave it out"),
    near("-g NAME", "a sum of the devices that follow", "its %util is the mean in every report"),
    same("-h", "as --human --pretty"),
    same("-H", "only the sums of -g"),
    same("--human", "sizes with letters"),
    refused("-j TYPE", "names by ID, LABEL, PATH, UUID", LINKS, "see `ls -l /dev/disk/by-id`"),
    same("-k", "kB of 1024 bytes"),
    same("-m", "MB of 1024 kB"),
    same("-N", "names of the device mapper"),
    same("-o JSON", "JSON"),
    same("-p [DEVICE,...|ALL]", "devices with their partitions"),
    same("--pretty", "names at the end, a block for each kind of request"),
    same("-s", "short lines"),
    near("-t", "the time of each report", "in UTC"),
    same("-V", "version"),
    same("-x", "extended figures"),
    same("-y", "no report since the start of the kernel, with an interval"),
    same("-z", "no devices without requests in the interval"),
    same("DEVICE ...", "these devices, by kernel name or node"),
    same("ALL", "devices that were never used too"),
    same("INTERVAL [COUNT]", "whole seconds between reports, and how many"),
];

/// All options.
pub fn entries() -> impl Iterator<Item = &'static Opt> {
    ENTRIES.iter()
}

/// The refusal of an option that is not supported, if it is one.
pub(super) fn refusal(name: &str) -> Option<Refusal> {
    option::find(entries(), name)?.care.refusal(USAGE, &format!("{name} is not supported here"))
}

/// Whether sysstat 9 and 10 lack an option.
pub(super) fn is_later(name: &str) -> bool {
    LATER.contains(&name)
}

/// The table of the reference page, in Markdown.
pub fn markdown() -> String {
    option::markdown(entries())
}
