//! Lines of tools that partition a drive, make a file system or trace one. drivelab runs none of
//! them; it says where what they are meant for is explained, or which line of ours does it.

use crate::outcome::Failure;

/// What drivelab does of it, and the tools that do all of it.
const TOOLS: [(&str, &[&str]); 2] = [
    ("does not partition drives", &["fdisk", "sfdisk", "cfdisk", "gdisk", "sgdisk", "parted"]),
    ("makes a file system only for `study fs`", &["mke2fs", "mkfs"]),
];
/// Tools that record what passes the block layer, or read that.
const TRACERS: [&str; 5] = ["blktrace", "btrace", "blkparse", "btt", "blkiomon"];
/// Tools such as `mkfs.ext4`.
const MAKERS: &str = "mkfs.";
/// File systems that `study fs` makes itself, on a device that is approved for it.
const MADE: [&str; 2] = ["ext4", "xfs"];

/// The refusal of a line that begins with one of them; `None`: it does not.
pub fn refusal(words: &[String]) -> Option<Failure> {
    let [_, tool, rest @ ..] = words else { return None };
    if TRACERS.contains(&tool.as_str()) {
        return Some(traced(tool, rest));
    }
    let is_maker = tool.strip_prefix(MAKERS).is_some_and(|kind| !kind.is_empty());
    let does = match is_maker {
        true => TOOLS[1].0,
        false => TOOLS.iter().find(|(_, tools)| tools.contains(&tool.as_str()))?.0,
    };
    let device = rest.iter().find(|word| word.starts_with("/dev/"));
    let untouched = match device {
        Some(device) => format!("{device} was not touched"),
        None => "nothing was touched".to_owned(),
    };
    let asked = device.map_or("DEVICE", String::as_str);
    let mut advice = format!(
        "How a partition should begin, and which stripe fits the drive:  drivelab doctor {asked}"
    );
    if let Some(kind) = made(tool, rest) {
        advice.push_str(&format!(
            "\nTo measure a file system made on it:  drivelab study fs {asked} --mkfs {kind}"
        ));
    }
    if let Some(stray) = stray(rest) {
        advice.push_str(&format!(
            "\n`{stray}` stands alone, so {tool} would take it for the device: options of -E are \
             joined by a comma."
        ));
    }
    let text = format!("refused: drivelab {does}, and never runs `{tool}`; {untouched}.");
    Some(Failure::refused(text).advise(advice.replace('\n', "\n  ")))
}

/// What is typed here instead of a tracer, or with what it recorded.
fn traced(tool: &str, rest: &[String]) -> Failure {
    let device = rest.iter().find(|word| word.starts_with("/dev/"));
    let device = device.map_or("DEVICE", String::as_str);
    let text = format!("drivelab never runs `{tool}`; it reads the kernel's trace points itself.");
    Failure::usage(text).advise(format!(
        "Where the time of an I/O goes, layer by layer:  drivelab study anatomy {device}\n  \
         To replay what blktrace has recorded:  drivelab run {device} --trace FILE"
    ))
}

/// The file system that a line makes, where `study fs` makes it too.
fn made<'a>(tool: &'a str, rest: &'a [String]) -> Option<&'a str> {
    let after = |option: &str| {
        let place = rest.iter().position(|word| word == option)?;
        rest.get(place + 1).map(String::as_str)
    };
    let kind = tool.strip_prefix(MAKERS).or_else(|| after("-t"))?;
    MADE.contains(&kind).then_some(kind)
}

/// An option of `-E` that a space cut off from the others.
fn stray(rest: &[String]) -> Option<&str> {
    let extended = rest.iter().position(|word| word == "-E")?;
    let alone = rest.get(extended + 2..)?.iter().map(String::as_str);
    alone.take_while(|word| !word.starts_with('-')).find(|word| {
        let key = word.split('=').next().unwrap_or_default();
        word.contains('=') && ["stride", "stripe-width", "stripe_width", "resize"].contains(&key)
    })
}

#[cfg(test)]
mod tests {
    use super::refusal;

    fn said(line: &str) -> Option<(String, String)> {
        let words: Vec<String> = line.split(' ').map(String::from).collect();
        refusal(&words).map(|failure| (failure.text, failure.advice.unwrap_or_default()))
    }

    #[test]
    fn the_device_that_was_named_is_in_the_answer() {
        let (text, advice) = said("drivelab fdisk -H 224 -S 56 /dev/sdd").expect("a refusal");
        assert!(text.contains("never runs `fdisk`; /dev/sdd was not touched"), "{text}");
        assert!(advice.contains("drivelab doctor /dev/sdd"), "{advice}");
        assert!(!advice.contains("study fs"), "{advice}");
        let (text, advice) = said("drivelab mkfs").expect("a refusal");
        assert!(text.contains("nothing was touched"), "{text}");
        assert!(advice.contains("drivelab doctor DEVICE"), "{advice}");
    }

    #[test]
    fn a_file_system_that_can_be_measured_is_offered_and_no_other() {
        let offers = |line: &str| said(line).is_some_and(|it| it.1.contains("study fs /dev/sdd1"));
        assert!(offers("drivelab mkfs.ext4 /dev/sdd1"));
        assert!(offers("drivelab mke2fs -t ext4 /dev/sdd1"));
        assert!(offers("drivelab mkfs -t xfs /dev/sdd1"));
        assert!(!offers("drivelab mkfs.btrfs /dev/sdd1"));
        assert!(!offers("drivelab mke2fs /dev/sdd1"), "which one is not said");
    }

    #[test]
    fn a_comma_that_is_missing_is_told_and_one_that_is_there_is_not() {
        let line = "drivelab mke2fs -t ext4 -E stripe-width=32 resize=500G /dev/sdd1";
        let (_, advice) = said(line).expect("a refusal");
        assert!(advice.contains("`resize=500G` stands alone, so mke2fs"), "{advice}");
        let (_, advice) = said(&line.replace(" resize", ",resize")).expect("a refusal");
        assert!(!advice.contains("alone"), "{advice}");
    }

    #[test]
    fn a_tracer_is_told_which_line_follows_an_io() {
        let (text, advice) = said("drivelab blktrace -d /dev/sda -o -").expect("an answer");
        assert!(text.contains("never runs `blktrace`"), "{text}");
        assert!(advice.contains("drivelab study anatomy /dev/sda\n"), "{advice}");
        assert!(advice.contains("drivelab run /dev/sda --trace FILE"), "{advice}");
        let (_, advice) = said("drivelab btt").expect("an answer");
        assert!(advice.contains("study anatomy DEVICE"), "{advice}");
    }

    #[test]
    fn other_lines_are_left_to_others() {
        for line in ["drivelab", "drivelab check", "drivelab mkfs.", "drivelab fio --help"] {
            assert_eq!(said(line), None, "{line}");
        }
    }
}
