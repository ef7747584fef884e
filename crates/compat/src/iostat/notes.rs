//! What the figures of iostat really say.

use super::options::{Era, Group, Options, Partitions, Shown, Unit};
use crate::counters::parse_diskstats;
use crate::front::{Note, Treatment, World};

const DISKSTATS: &str = "/proc/diskstats";

/// All notes of a line.
pub(super) fn notes(options: &Options, layout_typed: Option<&str>, world: &dyn World) -> Vec<Note> {
    let mut found = Vec::new();
    let same = |code, about: &str, text: &str| Note::new(code, about, Treatment::Same, text);
    if let Some(option) = layout_typed {
        let text = format!(
            "The layout is chosen by {option}, which is drivelab's own option; the figures are \
             computed as the sysstat of that era did."
        );
        found.push(same("era", option, &text));
    }
    found.extend(words(options, world));
    let without = [
        (options.omits_first && options.interval_s.is_none(), "-y", "There is no interval."),
        (options.compact && !options.pretty, "--compact", "There is no --pretty or -h."),
        (options.short && options.json && !options.extended, "-s", "JSON has no short form of it."),
    ];
    for (_, option, why) in without.into_iter().filter(|(is_so, ..)| *is_so) {
        let text = format!("It changes nothing here. {why}");
        found.push(Note::new("no_effect", option, Treatment::Ignored, text));
    }
    if !options.skips_first() {
        let text = match options.interval_s {
            Some(_) => {
                "The first report covers all the time since the kernel started, not an \
                        interval; -y leaves it out."
            }
            None => {
                "Without an interval the only report covers all the time since the kernel \
                     started. Give an interval to see what happens now."
            }
        };
        found.push(same("since_boot", "", text));
    }
    if let Some(seconds) = options.interval_s {
        let text = format!(
            "Each figure is a mean over {seconds} s: a stall that is shorter is not seen, nor is \
             the slowest request."
        );
        found.push(same("means_over_interval", "", &text));
    }
    if options.devices {
        found.extend(of_devices(options));
    }
    if options.time {
        let text = "Dates and times are in UTC.";
        found.push(Note::new("utc", "-t", Treatment::Approximated, text));
    }
    found
}

/// Words of the line that do not mean what they look like.
fn words(options: &Options, world: &dyn World) -> Vec<Note> {
    let mut names: Vec<&String> = Vec::new();
    if let Shown::Named(named) = &options.shown {
        names.extend(named);
    }
    if let Partitions::Of(named) = &options.partitions {
        names.extend(named);
    }
    names.extend(options.groups.iter().flat_map(|group: &Group| &group.members));
    let known = world.text(DISKSTATS).map(|text| parse_diskstats(&text)).unwrap_or_default();
    let mut found = Vec::new();
    for name in names.into_iter().filter(|name| *name != "ALL") {
        let is_known = known.iter().any(|device| device.name == *name);
        let (code, text) = match name.starts_with(|c: char| c.is_ascii_digit()) {
            true if !is_known => (
                "no_interval",
                "An interval is a number of whole seconds; iostat takes this for the name of a \
                 device, and there is no such device.",
            ),
            false if !is_known && !known.is_empty() => (
                "no_such_device",
                "The kernel has no counters for a device of that name; iostat prints no row for \
                 it.",
            ),
            _ => continue,
        };
        found.push(Note::new(code, name, Treatment::Same, text));
    }
    found
}

fn of_devices(options: &Options) -> Vec<Note> {
    let old = options.era < Era::Twelve;
    let cases = [
        (
            true,
            "below_page_cache",
            "",
            "These are requests as the drive gets them: what the page cache answers is not in \
             them, and what was merged counts once.",
        ),
        (
            options.extended,
            "util_is_not_saturation",
            "%util",
            "It is the share of time with at least one request in flight. Flash serves many at \
             once and is near 100 % long before it is saturated.",
        ),
        (
            options.extended,
            "await_includes_queue",
            "await",
            "It is the mean time from the request's entry into the block layer to its end: the \
             wait in the kernel's queue is in it, and no percentile shows.",
        ),
        (
            options.extended && old,
            "svctm_means_nothing",
            "svctm",
            "It is derived, not measured: %util divided by the requests a second. That was the \
             drive's own time while a drive served one request at a time; where requests overlap \
             it is not the time of any request. Later versions of sysstat have dropped it.",
        ),
        (
            options.extended && old,
            "sectors",
            "avgrq-sz",
            "It is in sectors of 512 bytes, whatever the unit of the other columns and the blocks \
             of the drive.",
        ),
        (
            options.extended && !options.groups.is_empty(),
            "util_of_group",
            "-g",
            "%util of a group is the mean of its devices. iostat 12.6.1 divides once more by the \
             number of the report, so that its value falls from report to report.",
        ),
        (
            options.unit == Unit::Blocks,
            "blocks",
            "",
            "Blocks are of 512 bytes, whatever the drive's are.",
        ),
        (
            options.unit != Unit::Blocks,
            "binary_units",
            "",
            "kB are 1024 bytes and MB 1048576; vendors of drives count in 1000 and 1000000.",
        ),
    ];
    let said = |(_, code, about, text): &(bool, &'static str, &str, &str)| {
        let is_near = *code == "util_of_group";
        let how = if is_near { Treatment::Approximated } else { Treatment::Same };
        Note::new(code, *about, how, *text)
    };
    cases.iter().filter(|(is_so, ..)| *is_so).map(said).collect()
}
