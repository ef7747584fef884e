//! Cuts a command line of iostat into options.

use super::catalogue::{self, LAYOUT};
use super::options::{Dates, Era, Group, Options, Partitions, Shown, Unit};
use super::usage;
use crate::front::{Refusal, World};
use std::collections::VecDeque;

/// What a line says before it is judged as a whole.
#[derive(Debug, Clone, Default)]
pub(super) struct Line {
    pub(super) options: Options,
    pub(super) cpu: bool,
    pub(super) devices: bool,
    pub(super) kilobytes: bool,
    pub(super) megabytes: bool,
    /// Decimals that were asked for.
    pub(super) decimals: Option<usize>,
    pub(super) version: bool,
    /// How the option was spelt that chose the layout, if one did.
    pub(super) layout_typed: Option<String>,
    /// Options as they were typed, for what an era lacks.
    pub(super) typed: Vec<String>,
    numbers: Vec<u64>,
}

/// Reads the words of a line in their order.
///
/// # Errors
/// Options that iostat does not know, or that are not supported here.
pub(super) fn read(args: &[String], world: &dyn World) -> Result<Line, Refusal> {
    let mut line = Line::default();
    let mut rest: VecDeque<&str> = args.iter().map(String::as_str).collect();
    while let Some(word) = rest.pop_front() {
        if let Some(long) = word.strip_prefix("--") {
            line.long(long, &mut rest)?;
        } else if word == "+f" {
            return Err(not_here("+f"));
        } else if let Some(letters) = word.strip_prefix('-') {
            line.short(letters, &mut rest)?;
        } else if !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()) {
            line.numbers.push(word.parse().unwrap_or(u64::MAX));
        } else {
            line.device(word)?;
        }
    }
    line.judge(world)?;
    Ok(line)
}

/// The refusal of an option that the table has as such.
fn not_here(name: &str) -> Refusal {
    catalogue::refusal(name).unwrap_or_else(|| usage("leave it out"))
}

/// Kernel name of a device that may be given by its node.
fn kernel_name(word: &str) -> String {
    word.strip_prefix("/dev/").unwrap_or(word).to_owned()
}

/// The words that follow an option and are no options themselves.
fn names<'a>(rest: &mut VecDeque<&'a str>) -> Option<&'a str> {
    let is_name =
        |word: &&str| !word.starts_with('-') && !word.bytes().all(|byte| byte.is_ascii_digit());
    rest.front().copied().filter(is_name)?;
    rest.pop_front()
}

impl Line {
    fn long(&mut self, word: &str, rest: &mut VecDeque<&str>) -> Result<(), Refusal> {
        self.typed.push(format!("--{}", word.split('=').next().unwrap_or_default()));
        match word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value))) {
            ("human", None) => self.options.human = true,
            ("pretty", None) => self.options.pretty = true,
            ("compact", None) => self.options.compact = true,
            ("dec", Some(value)) => {
                let found = ["0", "1", "2"].iter().position(|digit| *digit == value);
                self.decimals = Some(found.ok_or_else(|| usage("--dec takes 0, 1 or 2"))?);
            }
            (name, value) if LAYOUT.contains(&name) => {
                self.options.era = match value.or_else(|| rest.pop_front()) {
                    Some("9") => Era::Nine,
                    Some("10") => Era::Ten,
                    Some("12") => Era::Twelve,
                    _ => {
                        let text =
                            format!("--{name} is 9, 10 or 12, for the layouts of these sysstats");
                        return Err(Refusal::new(1, text, "leave it out for 12"));
                    }
                };
                self.layout_typed = Some(format!("--{name}"));
            }
            _ => return Err(usage(&format!("--{word} is not an option of iostat"))),
        }
        Ok(())
    }

    fn short(&mut self, letters: &str, rest: &mut VecDeque<&str>) -> Result<(), Refusal> {
        if !letters.is_empty() {
            self.typed.extend(letters.chars().map(|letter| format!("-{letter}")));
        }
        match letters {
            "f" | "j" => return Err(not_here(&format!("-{letters}"))),
            "o" => {
                self.options.json = rest.pop_front() == Some("JSON");
                let advice = "-o stands alone and takes JSON";
                return if self.options.json { Ok(()) } else { Err(usage(advice)) };
            }
            "g" => {
                let name = rest.pop_front().filter(|name| !name.starts_with('-'));
                let name =
                    name.ok_or_else(|| usage("-g stands alone and takes a name"))?.to_owned();
                self.options.groups.push(Group { name, members: Vec::new() });
                return Ok(());
            }
            "p" => {
                self.options.partitions = match names(rest) {
                    None => Partitions::OfUsed,
                    Some("ALL") => Partitions::OfAll,
                    Some(list) => Partitions::Of(list.split(',').map(kernel_name).collect()),
                };
                return Ok(());
            }
            _ => {}
        }
        for letter in letters.chars() {
            self.letter(letter)?;
        }
        Ok(())
    }

    fn letter(&mut self, letter: char) -> Result<(), Refusal> {
        let options = &mut self.options;
        match letter {
            'c' => self.cpu = true,
            'd' => self.devices = true,
            'h' => (options.human, options.pretty) = (true, true),
            'H' => options.groups_only = true,
            'k' => self.kilobytes = true,
            'm' => self.megabytes = true,
            'N' => options.mapped_names = true,
            'p' => options.partitions = Partitions::OfUsed,
            's' => options.short = true,
            't' => options.time = true,
            'V' => self.version = true,
            'x' => options.extended = true,
            'y' => options.omits_first = true,
            'z' => options.active_only = true,
            _ => return Err(usage(&format!("-{letter} cannot be combined with other letters"))),
        }
        Ok(())
    }

    fn device(&mut self, word: &str) -> Result<(), Refusal> {
        if word.is_empty() {
            return Err(usage("a device has a name; leave it out for all of them"));
        }
        let name = kernel_name(word);
        if let Some(group) = self.options.groups.last_mut() {
            group.members.push(name);
            return Ok(());
        }
        match (&mut self.options.shown, word) {
            (shown, "ALL") => *shown = Shown::All,
            (Shown::All, _) => {}
            (Shown::Named(names), _) => names.push(name),
            (shown @ Shown::Used, _) => *shown = Shown::Named(vec![name]),
        }
        Ok(())
    }

    /// What follows from all words together.
    fn judge(&mut self, world: &dyn World) -> Result<(), Refusal> {
        let (interval, count) = match self.numbers[..] {
            [] => (None, None),
            [interval] => (Some(interval), None),
            [interval, count] if count > 0 => (Some(interval), Some(count)),
            [_, _] => return Err(usage("a count is at least 1; leave it out for no end")),
            _ => return Err(usage("there is one interval and one count")),
        };
        let posix = world.variable("POSIXLY_CORRECT").is_some();
        let options = &mut self.options;
        if self.kilobytes && self.megabytes {
            return Err(usage("-k or -m, not both"));
        }
        if options.groups_only && options.groups.is_empty() {
            return Err(usage("-H needs a group: -g NAME with devices"));
        }
        options.interval_s = interval.filter(|seconds| *seconds > 0);
        options.count = count.filter(|_| options.interval_s.is_some());
        let blocks = posix || options.era == Era::Nine;
        options.unit = match (self.megabytes, self.kilobytes) {
            (true, _) => Unit::Megabytes,
            (_, true) => Unit::Kilobytes,
            (false, false) if blocks => Unit::Blocks,
            (false, false) => Unit::Kilobytes,
        };
        let names_some = options.shown != Shown::Used
            || options.partitions != Partitions::None
            || !options.groups.is_empty();
        options.cpu = self.cpu || !self.devices;
        options.devices = self.devices || !self.cpu || options.extended || names_some;
        options.decimals = self.decimals.unwrap_or(2);
        options.dates = dates(world);
        if options.era < Era::Twelve
            && let Some(typed) = self.typed.iter().find(|typed| catalogue::is_later(typed))
        {
            let asks = self.layout_typed.as_deref().unwrap_or_default();
            let text = format!("{typed} came after the sysstat whose layout {asks} asks for");
            return Err(Refusal::new(1, text, "leave out one of them"));
        }
        Ok(())
    }
}

/// How dates are written here: in ISO's way where S_TIME_FORMAT says so, else as the locale has it.
fn dates(world: &dyn World) -> Dates {
    if world.variable("S_TIME_FORMAT").as_deref() == Some("ISO") {
        return Dates::Iso;
    }
    let set = ["LC_ALL", "LC_TIME", "LANG"].into_iter();
    let locale = set.filter_map(|name| world.variable(name)).find(|value| !value.is_empty());
    match locale.is_some_and(|locale| locale.starts_with("en_US")) {
        true => Dates::American,
        false => Dates::C,
    }
}
