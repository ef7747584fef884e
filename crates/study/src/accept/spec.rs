//! The SPEC of `accept`: claims in TOML, refused with line and caret where they make no sense.

use super::limit::Limit;
use drivelab_core::claims::Metric;
use drivelab_core::op::Action;
use drivelab_core::plan::{Mix, Sync};
use drivelab_core::plan_text::{PlanError, Spanned, error_at, parse_as};
use drivelab_core::units::{Size, Span};
use serde::Deserialize;
use std::ops::Range;

const SECONDS_DEFAULT: Span = Span(10_000_000_000);
/// No measurement can be shorter and say anything.
const SECONDS_MIN: Span = Span(100_000_000);
const SECONDS_MAX: Span = Span(24 * 3_600_000_000_000);

/// All claims.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// What the claims are of.
    pub title: Option<String>,
    /// At least one.
    pub claims: Vec<Claim>,
}

/// One claim: under this load, the figure keeps this limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// As in the data sheet; no two are equal.
    pub name: String,
    /// What it is about.
    pub metric: Metric,
    /// The figure must not be below this; exactly one of the two limits is given.
    pub at_least: Option<f64>,
    /// The figure must not be above this.
    pub at_most: Option<f64>,
    /// Kind and order of the I/O.
    pub rw: Kind,
    /// Request size.
    pub bs: Size,
    /// Operations in flight, per worker.
    pub depth: u32,
    /// Workers.
    pub workers: u32,
    /// How writes reach the drive for certain.
    pub sync: Sync,
    /// What of a durable write its figure is of.
    pub of: Of,
    /// The state of the drive for which it is claimed; `None`: any.
    pub state: Option<State>,
    /// Length of each repetition.
    pub seconds: Span,
}

/// Kinds of loads, in the words of `run --rw`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Sequential reads.
    Read,
    /// Sequential writes.
    Write,
    /// Random reads.
    RandRead,
    /// Random writes.
    RandWrite,
}

impl Kind {
    /// The word of the value in a specification.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Read => "read",
            Kind::Write => "write",
            Kind::RandRead => "randread",
            Kind::RandWrite => "randwrite",
        }
    }

    /// Whether addresses jump.
    pub fn is_random(self) -> bool {
        matches!(self, Kind::RandRead | Kind::RandWrite)
    }

    /// What each operation does.
    pub fn action(self) -> Action {
        match self {
            Kind::Read | Kind::RandRead => Action::Read,
            Kind::Write | Kind::RandWrite => Action::Write,
        }
    }
}

/// States of a drive, in the words of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Never written, or purged.
    Fresh,
    /// Written once, in order.
    Filled,
    /// Written once, at random.
    RandomFilled,
    /// Written at random until its speed no longer changes.
    #[serde(alias = "steady")]
    RandomSteady,
    /// Free space in pieces.
    Fragmented,
    /// Worn or disordered on purpose.
    Tortured,
    /// Discarded.
    Trimmed,
    /// Old.
    Aged,
    /// Not known.
    Unknown,
}

impl State {
    /// The word of the value in a specification.
    pub fn word(self) -> &'static str {
        match self {
            State::Fresh => "fresh",
            State::Filled => "filled",
            State::RandomFilled => "random-filled",
            State::RandomSteady => "random-steady",
            State::Fragmented => "fragmented",
            State::Tortured => "tortured",
            State::Trimmed => "trimmed",
            State::Aged => "aged",
            State::Unknown => "unknown",
        }
    }
}

impl Claim {
    /// The name of its load: claims on one load share its measurement.
    pub fn cell(&self) -> String {
        let size = self.bs.to_string().replace("iB", "").to_lowercase();
        let name = format!("{} {size} qd{}", self.rw.word(), self.depth);
        let name = if self.workers == 1 { name } else { format!("{name} x{}", self.workers) };
        if self.sync == Sync::None { name } else { format!("{name} {}", self.sync) }
    }

    /// The kind of operation that its figure is of.
    pub fn action(&self) -> Action {
        if self.of == Of::Write { self.rw.action() } else { Action::Flush }
    }

    /// Reads or writes.
    pub(super) fn mix(&self) -> Mix {
        if self.rw.action() == Action::Write { Mix::WRITE } else { Mix::READ }
    }

    /// What it can do to the state of the drive: nothing, little, much.
    pub(super) fn harm(&self) -> u32 {
        match self.rw {
            Kind::Read | Kind::RandRead => 0,
            Kind::Write => 1,
            Kind::RandWrite => 2,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    title: Option<String>,
    #[serde(default)]
    claim: Vec<Spanned<Entry>>,
}

/// What of a durable write a figure is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Of {
    /// The write alone.
    Write,
    /// The fsync or fdatasync alone.
    Flush,
    /// Both: from the first write since the last flush to the end of the flush.
    Commit,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: Spanned<String>,
    metric: Metric,
    at_least: Option<Spanned<Limit>>,
    at_most: Option<Spanned<Limit>>,
    rw: Kind,
    bs: Option<Spanned<Size>>,
    depth: Option<Spanned<u32>>,
    workers: Option<Spanned<u32>>,
    sync: Option<Spanned<Sync>>,
    of: Option<Spanned<Of>>,
    state: Option<State>,
    seconds: Option<Spanned<Span>>,
}

/// What is wrong and where.
type Wrong = (Range<usize>, String);

/// Reads a SPEC. The error says line, column and what was probably meant.
///
/// # Errors
/// The text is no TOML, a key or word is not known, or a claim makes no sense.
pub fn parse(text: &str, file_name: &str) -> Result<Spec, PlanError> {
    let file: File = parse_as(text, file_name, "the claims")?;
    let at = |(span, message): Wrong| error_at(text, file_name, span, message);
    if file.claim.is_empty() {
        return Err(at((0..0, "there are no claims; add a [[claim]] section".into())));
    }
    let mut claims: Vec<Claim> = Vec::with_capacity(file.claim.len());
    for entry in file.claim {
        let name = entry.get_ref().name.clone();
        let claim = claim(entry).map_err(at)?;
        if claims.iter().any(|known| known.name == claim.name) {
            let message = format!("a second claim is called {:?}; give it a name", claim.name);
            return Err(at((name.span(), format!("{message} of its own"))));
        }
        claims.push(claim);
    }
    Ok(Spec { title: file.title, claims })
}

fn claim(entry: Spanned<Entry>) -> Result<Claim, Wrong> {
    let whole = entry.span();
    let entry = entry.into_inner();
    let need = |fine: bool, span: Range<usize>, text: &str| match fine {
        true => Ok(()),
        false => Err((span, text.to_owned())),
    };
    let named = entry.name.get_ref().chars().any(|c| !c.is_whitespace() && !c.is_control());
    need(named, entry.name.span(), "a claim needs a name that can be read")?;
    let limit = match (&entry.at_least, &entry.at_most) {
        (Some(limit), None) | (None, Some(limit)) => limit,
        (Some(_), Some(second)) => {
            let text = "a claim has either at_least or at_most; make two claims of it";
            return Err((second.span(), text.into()));
        }
        (None, None) => {
            return Err((whole, "a claim needs a limit; add at_least or at_most".into()));
        }
    };
    let value = limit.get_ref().of(entry.metric).map_err(|why| (limit.span(), why))?;
    let is_positive = value.is_finite() && value > 0.0;
    need(is_positive, limit.span(), "a limit is a number above 0")?;
    let mut numbers = [1, 1];
    let given = [(&entry.depth, "depth"), (&entry.workers, "workers")];
    for (number, (given, key)) in numbers.iter_mut().zip(given) {
        if let Some(given) = given {
            need(*given.get_ref() > 0, given.span(), &format!("{key} 0 does nothing; use 1"))?;
            *number = *given.get_ref();
        }
    }
    if let Some(size) = &entry.bs {
        need(size.get_ref().0 > 0, size.span(), "requests of 0 bytes move nothing; use \"4k\"")?;
    }
    let (sync, of) = durable(&entry)?;
    if let Some(seconds) = &entry.seconds {
        let fine = (SECONDS_MIN..=SECONDS_MAX).contains(seconds.get_ref());
        need(fine, seconds.span(), "each repetition takes 100 ms to a day; use 60")?;
    }
    Ok(Claim {
        name: entry.name.into_inner(),
        metric: entry.metric,
        at_least: entry.at_least.map(|_| value),
        at_most: entry.at_most.map(|_| value),
        rw: entry.rw,
        bs: entry.bs.map_or(Size(4096), Spanned::into_inner),
        depth: numbers[0],
        workers: numbers[1],
        sync,
        of,
        state: entry.state,
        seconds: entry.seconds.map_or(SECONDS_DEFAULT, Spanned::into_inner),
    })
}

/// How its writes become durable, and whether the claim is on what makes them so.
fn durable(entry: &Entry) -> Result<(Sync, Of), Wrong> {
    let sync = entry.sync.as_ref().map_or(Sync::None, |sync| *sync.get_ref());
    if let Some(given) = &entry.sync
        && (sync == Sync::End || entry.rw.action() != Action::Write)
    {
        let text = "sync is for writes, and is dsync, fsync:N or fdatasync:N, as in \"fsync:1\"";
        return Err((given.span(), text.into()));
    }
    let Some(of) = entry.of.as_ref().filter(|of| *of.get_ref() != Of::Write) else {
        return Ok((sync, Of::Write));
    };
    let depth = entry.depth.as_ref().map_or(1, |depth| *depth.get_ref());
    let is_rate = matches!(entry.metric, Metric::Iops | Metric::BandwidthBytesPerS);
    match sync {
        _ if is_rate => {
            Err((of.span(), "flushes have no rate of their own; claim that of the writes".into()))
        }
        _ if *of.get_ref() == Of::Commit && depth > 1 => {
            Err((of.span(), "commits are timed one after the other; use depth = 1".into()))
        }
        Sync::Fsync(_) | Sync::Fdatasync(_) => Ok((sync, *of.get_ref())),
        _ => Err((of.span(), "there is no flush; add sync = \"fdatasync:1\" or fsync:N".into())),
    }
}
