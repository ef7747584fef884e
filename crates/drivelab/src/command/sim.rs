//! `drivelab sim`: lists, shows and sweeps simulated drives.

mod sweep;

use crate::bounded;
use crate::cli::sim::{SimCommand, SimListOptions, SimOptions, SimShowOptions};
use crate::documents::{DescribedProfile, ProfileParameter, ProfileRow, Profiles};
use crate::outcome::{Failure, Status};
use crate::print;
use drivelab_report::{hanging, units};
use drivelab_sim::profile::{EMBEDDED, Model, Parameter, Profile, TomlValue};
use drivelab_sim::target::SimTarget;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Dies of one channel that a picture draws one by one.
const DIES_DRAWN: u64 = 8;
/// Channels that a picture draws one by one.
const CHANNELS_DRAWN: u64 = 16;

/// What stands before the title of a drive, and before the meaning of a figure.
const TITLE_COLUMNS: usize = 27;
const FIGURE_COLUMNS: usize = 47;

/// Shows simulated drives.
pub fn sim(options: &SimOptions) -> Result<Status, Failure> {
    match &options.command {
        SimCommand::List(options) => list(options),
        SimCommand::Show(options) => show(options),
        SimCommand::Sweep(options) => sweep::sweep(options),
    }
}

fn list(options: &SimListOptions) -> Result<Status, Failure> {
    let mut drives = Vec::new();
    for (name, _) in EMBEDDED {
        let target = SimTarget::parse(name, no_file).map_err(Failure::usage)?;
        drives.push((*name, target));
    }
    if options.json {
        let row = |(name, target): &(&'static str, SimTarget)| {
            let title = target.profile.title.clone();
            ProfileRow { name, title, bytes: target.bytes() }
        };
        print::document(Profiles { simulated: drives.iter().map(row).collect() })?;
        return Ok(Status::Fine);
    }
    let mut text = String::new();
    for (name, target) in &drives {
        let bytes = target.bytes().map(units::capacity).unwrap_or_default();
        let label = format!("  {name:<14} {bytes:>8}  ");
        text.push_str(&hanging(&label, &target.profile.title, TITLE_COLUMNS));
    }
    text.push_str(
        "\nAny command takes one as its target, as in  drivelab check sim:x25-e\n\
         `drivelab sim show NAME` says what it is made of.\n",
    );
    print::text(&text);
    Ok(Status::Fine)
}

fn no_file(file: &str) -> Result<String, String> {
    Err(format!("{file} is not the name of a simulated drive"))
}

fn show(options: &SimShowOptions) -> Result<Status, Failure> {
    let read = |file: &str| {
        bounded::text(file, bounded::TEXT_BYTES_MAX)
            .map_err(|error| format!("cannot read the profile {file}: {error}"))
    };
    let target = SimTarget::parse(&options.profile, read).map_err(Failure::usage)?;
    target.check().map_err(Failure::usage)?;
    let written_by_day = options.per_day.map(|size| size.0);
    let figures = target.figures(written_by_day).map_err(Failure::usage)?;
    let profile = &target.profile;
    if options.json {
        let section = |(name, parameters): (&&str, &BTreeMap<String, Parameter>)| {
            ((*name).to_owned(), parameters.iter().map(parameter).collect())
        };
        let value = |value: f64| Some(value).filter(|value| value.is_finite());
        print::document(DescribedProfile {
            name: profile.name.clone(),
            title: profile.title.clone(),
            about: profile.about.clone(),
            bytes: target.bytes(),
            differences: target.facts().target.differences,
            derived: figures.iter().map(|figure| (figure.name, value(figure.value))).collect(),
            parameters: profile.sections.iter().map(section).collect(),
        })?;
        return Ok(Status::Fine);
    }
    let mut text = format!("{}  ·  {}\n\n", profile.name, profile.title);
    text.push_str(&hanging("", &profile.about, 0));
    for found in &target.differences {
        text.push_str(&hanging("", &found.text, 0));
    }
    text.push_str(&picture(profile));
    for figure in &figures {
        let label = format!("  {:<28} {:>14}  ", figure.name, figure.words);
        text.push_str(&hanging(&label, figure.meaning, FIGURE_COLUMNS));
    }
    for (section, parameters) in &profile.sections {
        let _ = writeln!(text, "\n[{section}]");
        for (key, parameter) in parameters {
            let value = in_words(key, &parameter.value);
            let label = format!("  {key:<28} {value:>14}  {:<8}  ", parameter.status.word());
            text.push_str(&hanging(&label, &parameter.source, FIGURE_COLUMNS + 10));
        }
    }
    print::text(&text);
    Ok(Status::Fine)
}

fn parameter((key, parameter): (&String, &Parameter)) -> (String, ProfileParameter) {
    let Parameter { value, source, status } = parameter;
    let value = serde_json::to_value(value).unwrap_or_default();
    (key.clone(), ProfileParameter { value, source: source.clone(), status: status.word() })
}

/// A value with the unit that its key names.
fn in_words(key: &str, value: &TomlValue) -> String {
    let whole = value.as_integer().and_then(|number| u64::try_from(number).ok());
    match (whole, key) {
        (Some(number), key) if key.ends_with("_bytes_per_s") => units::bandwidth(number as f64),
        (Some(number), key) if key.ends_with("_bytes") => match number {
            number if number.is_multiple_of(1024) => units::size(number),
            number => units::capacity(number),
        },
        (Some(number), key) if key.ends_with("_ns") => units::time(number as f64),
        (Some(number), _) => units::count(number),
        (None, _) => value.as_str().map_or_else(|| value.to_string(), str::to_owned),
    }
}

/// Host, controller, buffer, channels and dies, or arms, as far as a profile has them.
fn picture(profile: &Profile) -> String {
    let number = |key: &str| {
        profile.get(key).and_then(TomlValue::as_integer).and_then(|n| u64::try_from(n).ok())
    };
    let size = |key: &str| number(key).filter(|bytes| *bytes > 0).map(units::size);
    let mut text = String::from("\n  host\n");
    if let Some(rate) = number("link_bytes_per_s") {
        let _ = writeln!(text, "   │  {}", units::bandwidth(rate as f64));
    }
    let memory = size("buffer_bytes").or_else(|| size("write_cache_bytes"));
    let buffer = memory.map_or(String::new(), |bytes| format!(", buffer {bytes}"));
    let _ = writeln!(text, "  controller{buffer}");
    match profile.model {
        Model::Flash | Model::LogBlock | Model::BlockMap => {
            let channels = number("channels").unwrap_or(1);
            let dies = number("dies_per_channel")
                .or_else(|| number("dies").map(|dies| dies / channels.max(1)))
                .unwrap_or(1);
            let drawn = "▢ ".repeat(dies.min(DIES_DRAWN) as usize);
            let more = match dies {
                dies if dies > DIES_DRAWN => format!("… {dies} dies"),
                1 => "1 die".to_owned(),
                dies => format!("{dies} dies"),
            };
            for channel in 0..channels.min(CHANNELS_DRAWN) {
                let last = channel + 1 == channels.min(CHANNELS_DRAWN);
                let corner = if last { '└' } else { '├' };
                let words = if channel == 0 { more.as_str() } else { "" };
                let line = format!("   {corner}── channel {channel:<3} {drawn}{words}");
                text.push_str(line.trim_end());
                text.push('\n');
            }
            if channels > CHANNELS_DRAWN {
                let _ = writeln!(text, "       … {channels} channels");
            }
        }
        Model::Array => {
            let members = number("members").unwrap_or(0);
            let _ =
                writeln!(text, "   └── {}{members} disks", "◎ ".repeat(members.min(16) as usize));
        }
        Model::Disk => text.push_str("   └── ◎ one arm\n"),
        Model::Volume => text.push_str("   └── token buckets\n"),
    }
    text.push('\n');
    text
}
