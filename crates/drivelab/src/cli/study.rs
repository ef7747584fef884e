//! The options of `drivelab study` and `drivelab resume`.

use super::compare::share;
use super::run::seed;
use super::{LiveOptions, SafetyOptions, StoreOptions, TagOption};
use crate::cli::Terms;
use crate::shown::Shown;
use clap::{Args, ValueEnum};
use drivelab_core::plan::{FileSystem, Switch};
use drivelab_core::study::{Leg, Neighbour, Profile, Protocol, UnderOptions};
use drivelab_core::units::{Size, Span};
use drivelab_study::experiment::OwnOption;
use drivelab_study::registry;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  drivelab study wsat sim:x25-m,capacity=4GiB
                                    on a simulated drive, in seconds
  drivelab study aa .                           on a scratch file here
  drivelab study rank /mnt/a /mnt/b sim:essd    the same loads on each, ranked
  drivelab study trim /dev/sdb --quick --erase TOKEN
                                                a whole device; the refusal
                                                prints the token
  drivelab study fs /dev/sdb --mkfs xfs --erase TOKEN
                                                the device against a file
                                                system made on it
  drivelab study pts-iops /dev/sdb --full --purge nvme-format --erase TOKEN
                                                SNIA's test to the letter;
                                                takes a day
  drivelab resume last                          continues an interrupted study

A study states which state of the drive it needs and establishes it. What it
will write and how long it takes is printed before it starts (--dry-run prints
only that), and is not exceeded. Exit status: 0 an answer, 1 a bad finding, 2
usage, 3 refused for safety, 4 no valid answer.";

/// The studies, then the examples.
fn after_help() -> String {
    format!(
        "Studies, each with its question, and the most that it costs with --quick:\n{}\n{EXAMPLES}",
        registry::help()
    )
}

/// Options of `study`.
#[derive(Debug, Args, Clone)]
#[command(after_help = after_help())]
pub struct StudyCommandOptions {
    /// Which study; the list is below
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Directory, file, block device, or simulated drive (sim:NAME); several go side by side
    #[arg(value_name = "TARGET", num_args = 1..)]
    #[arg(required_unless_present_all = ["rated", "per_day"])]
    pub targets: Vec<String>,
    /// At most 5 minutes (apps, stutter: 7) and 10 GiB
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// As long as the method requires
    #[arg(long)]
    pub full: bool,
    /// Write budget, including preparation [default: by study and scale]
    #[arg(long, value_name = "SIZE")]
    pub budget: Option<Size>,
    /// Time budget of all steps together; several targets share it evenly
    /// [default: by study and scale, for each target]
    #[arg(long, value_name = "TIME")]
    pub time: Option<Span>,
    /// Changes smaller than this count as no change; fixed before anything is measured
    #[arg(long, value_name = "PERCENT", value_parser = share, default_value = "5%")]
    pub band: f64,
    /// Purge the drive first: discard, none, or by name nvme-format, nvme-sanitize,
    /// ata-secure-erase, which are untested on real hardware
    #[arg(long, value_name = "HOW", default_value = "discard")]
    pub purge: String,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub pts: PtsOptions,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub file_system: FileSystemWords,
    /// Rated endurance of the drive in bytes written (TBW), such as 600TB [default: what the
    /// drive reports]
    #[arg(long, value_name = "SIZE")]
    pub rated: Option<Size>,
    /// endurance: bytes written per day, such as 40GB [default: one full drive write]
    #[arg(long, value_name = "SIZE")]
    pub per_day: Option<Size>,
    /// torture: cycles of measuring, torturing and measuring again
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..=100))]
    pub cycles: Option<u64>,
    /// torture: recoveries to try afterwards: idle, trim, purge
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = leg)]
    pub legs: Vec<Leg>,
    /// patterns: IOPS of every cell, in tables as on Da Zhou's slides, instead of ratios
    #[arg(long)]
    pub absolute: bool,
    /// apps: the target that the others are compared with, measured with them [default: the
    /// first]
    #[arg(long, value_name = "TARGET")]
    pub reference: Option<String>,
    /// What the targets cost, in their order or by name: 300,650USD or x25-m=300
    #[arg(long, value_name = "LIST")]
    pub price: Option<String>,
    /// modes: only direct against buffered, 70 % reads at depth 64 by libaio, a column per target
    #[arg(long)]
    pub article: bool,
    /// under: the load that runs at the same time, and its rate in IOPS: oltp, import,
    /// oltp:2000 [default: oltp:500]
    #[arg(long, value_name = "LOAD[:RATE]", value_parser = neighbour)]
    pub load: Option<UnderOptions>,
    /// steady, fs: use the loads of a published review: pblaze5 (sequential 128 KiB at
    /// depth 256, random 4 KiB by 8 workers of depth 64)
    #[arg(long, value_name = "NAME", value_enum, hide_possible_values = true)]
    pub protocol: Option<ProtocolWord>,
    /// Size of the file to create, if there is none (of all together, where there are several)
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Size>,
    /// CPUs that the workers may use, such as 0-3,8 [default: any]
    #[arg(long, value_name = "LIST", default_value = "", hide_default_value = true)]
    pub cpus: String,
    /// Seed of everything random [default: random, printed]
    #[arg(long, value_name = "NUMBER", value_parser = seed)]
    pub seed: Option<u64>,
    /// Print the first plan, the bytes and the time, and touch nothing
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub live: LiveOptions,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub shown: ShownOptions,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub safety: SafetyOptions,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub called: TagOption,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub store: StoreOptions,
}

impl StudyCommandOptions {
    /// Those of the options that were typed which not every study takes.
    pub fn own(&self) -> impl Iterator<Item = OwnOption> {
        let given = [
            (OwnOption::Profile, self.pts.profile.is_some()),
            (OwnOption::WriteCache, self.pts.write_cache.is_some()),
            (OwnOption::Mkfs, self.file_system.mkfs.is_some()),
            (OwnOption::Mount, self.file_system.mount.is_some()),
            (OwnOption::StripeWidth, self.file_system.stripe_width.is_some()),
            (OwnOption::PerDay, self.per_day.is_some()),
            (OwnOption::Cycles, self.cycles.is_some()),
            (OwnOption::Legs, !self.legs.is_empty()),
            (OwnOption::Absolute, self.absolute),
            (OwnOption::Reference, self.reference.is_some()),
            (OwnOption::Article, self.article),
            (OwnOption::Load, self.load.is_some()),
            (OwnOption::Protocol, self.protocol.is_some()),
        ];
        given.into_iter().filter(|(_, is_given)| *is_given).map(|(option, _)| option)
    }
}

/// What only SNIA's tests need.
#[derive(Debug, Args, Clone)]
pub struct PtsOptions {
    /// pts-*: SNIA's profile: client (3/4 of the drive, 2 workers of 16) or enterprise (4 of 32)
    /// [default: enterprise]
    #[arg(long, value_enum, hide_possible_values = true)]
    pub profile: Option<ProfileWord>,
    /// pts-*: turn the drive's volatile write cache on or off until the run ends [default: leave
    /// it; the client profile wants it on, enterprise off]
    #[arg(long, value_name = "on|off", value_enum, hide_possible_values = true)]
    pub write_cache: Option<SwitchWord>,
}

/// A profile, as typed.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[allow(missing_docs)]
pub enum ProfileWord {
    Client,
    Enterprise,
}

impl From<ProfileWord> for Profile {
    fn from(word: ProfileWord) -> Self {
        match word {
            ProfileWord::Client => Profile::Client,
            ProfileWord::Enterprise => Profile::Enterprise,
        }
    }
}

/// A protocol, as typed.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[allow(missing_docs)]
pub enum ProtocolWord {
    Pblaze5,
}

impl From<ProtocolWord> for Protocol {
    fn from(word: ProtocolWord) -> Self {
        match word {
            ProtocolWord::Pblaze5 => Protocol::Pblaze5,
        }
    }
}

/// On or off, as typed.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[allow(missing_docs)]
pub enum SwitchWord {
    On,
    Off,
}

impl From<SwitchWord> for Switch {
    fn from(word: SwitchWord) -> Self {
        match word {
            SwitchWord::On => Switch::On,
            SwitchWord::Off => Switch::Off,
        }
    }
}

/// What only `fs` needs.
#[derive(Debug, Args, Clone)]
pub struct FileSystemWords {
    /// fs: make this file system on the device, which erases it: xfs, ext4
    #[arg(long, value_name = "KIND", value_enum, hide_possible_values = true)]
    pub mkfs: Option<FileSystemWord>,
    /// fs: compare plain ext4 with ext4 of this stripe width, in blocks of 4 KiB over all
    /// members
    #[arg(long, value_name = "BLOCKS", requires = "mkfs", conflicts_with = "mount")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub stripe_width: Option<u32>,
    /// fs: with --stripe-width, blocks of 4 KiB of one member
    #[arg(long, value_name = "BLOCKS", requires = "stripe_width")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub stride: Option<u32>,
    /// fs: use the file system of the device that is mounted here
    #[arg(long, value_name = "DIR")]
    pub mount: Option<PathBuf>,
}

/// A file system, as typed.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[allow(missing_docs)]
pub enum FileSystemWord {
    Xfs,
    Ext4,
}

impl From<FileSystemWord> for FileSystem {
    fn from(word: FileSystemWord) -> Self {
        match word {
            FileSystemWord::Xfs => FileSystem::Xfs,
            FileSystemWord::Ext4 => FileSystem::Ext4,
        }
    }
}

fn leg(word: &str) -> Result<Leg, String> {
    let known = Leg::ALL.iter().find(|(_, known)| *known == word);
    known.map(|(leg, _)| *leg).ok_or_else(|| {
        format!("`{word}` is not a recovery; give idle, trim, purge, or several, such as idle,trim")
    })
}

fn neighbour(text: &str) -> Result<UnderOptions, String> {
    let (word, rate) = match text.split_once(':') {
        Some((word, rate)) => (word, Some(rate)),
        None => (text, None),
    };
    let known = Neighbour::ALL.iter().find(|(_, known)| *known == word);
    let (load, _) =
        known.ok_or_else(|| format!("there is no load `{word}`; give oltp, import, oltp:2000"))?;
    let parsed = |rate: &str| match rate.parse() {
        Ok(rate @ 1..=10_000_000) => Ok(rate),
        _ => Err(format!("`{rate}` must be operations a second, 1 to 10000000, as in oltp:2000")),
    };
    Ok(UnderOptions { load: *load, rate: rate.map(parsed).transpose()? })
}

/// How results are shown, and when an operation is given up.
#[derive(Debug, Args, Clone)]
pub struct ShownOptions {
    /// Where to write the HTML report [default: drivelab-ID.html; none with --json]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    /// Abort if an operation takes longer than this
    #[arg(long, value_name = "TIME", default_value = "120s")]
    pub stuck_after: Span,
}

impl ShownOptions {
    /// What is asked whatever the command.
    pub fn terms<'a>(
        &self,
        safety: &'a SafetyOptions,
        store: &'a StoreOptions,
        is_dry: bool,
    ) -> Terms<'a> {
        Terms { safety, store, tag: None, stuck_after: self.stuck_after, is_dry, live: None }
    }

    /// How results are shown.
    pub fn shown(&self) -> Shown<'_> {
        Shown::with_page(self.json, self.out.as_deref())
    }
}

const RESUME_EXAMPLES: &str = "\
Examples:
  drivelab resume last              continues the latest run
  drivelab resume 20261120-150312-7f3a --erase TOKEN
                                    a device needs its token again

What was measured is kept. On a simulated drive the study continues as if it
had not been interrupted. A real drive was closed in between, so its state is
unknown: the study establishes the state again, and repeats what must follow it
without a pause.";

/// Options of `resume`.
#[derive(Debug, Args)]
#[command(after_help = RESUME_EXAMPLES)]
pub struct ResumeOptions {
    /// A path, an ID, or `last`
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub shown: ShownOptions,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub safety: SafetyOptions,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub store: StoreOptions,
}
