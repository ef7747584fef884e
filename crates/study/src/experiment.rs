//! What all studies share: a question, a plan that grows with what was found, a judgement.
//!
//! A study is a value of [`Study`]; everything in it is a pure function of what was asked, of the
//! facts, and of the run so far. That is why a study that was killed goes on: `next` looks at what
//! the run file holds, and asks for exactly what is missing.

pub mod budget;
pub mod cache;
pub mod control;
pub mod falls;
pub mod link;
pub mod loads;
pub mod narrow;
pub mod order;
pub mod prices;
pub mod published;
pub mod region;
pub mod rounds;
pub mod used;
pub mod waited;
pub mod wear;

use drivelab_core::facts::{Facts, TargetKind};
use drivelab_core::findings::Findings;
use drivelab_core::gathering::Member;
use drivelab_core::plan::Plan;
use drivelab_core::quantity::size;
use drivelab_core::run::Run;
use drivelab_core::sound::{Rules, Sound};
use drivelab_core::study::{Established, Scale, StudyOptions};
use drivelab_core::units::{Size, Span};
use prices::Offer;

/// What a study works with.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// What was asked.
    pub options: &'a StudyOptions,
    /// Target and machine.
    pub facts: &'a Facts,
}

impl Setting<'_> {
    /// Whether the target is a whole drive, real or simulated, and no file.
    pub fn is_drive(&self) -> bool {
        self.facts.target.kind.is_drive()
    }

    /// Whether time is virtual.
    pub fn is_simulated(&self) -> bool {
        self.facts.target.kind == TargetKind::Simulated
    }

    /// Bytes of the file or device.
    pub fn bytes(&self) -> u64 {
        self.options.bytes
    }
}

/// What a study may cost where nobody says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Most time that its steps may take together.
    pub time: Span,
    /// Most bytes that it may write.
    pub budget: Size,
}

/// What a study needs of its target before it begins.
#[derive(Debug, Clone, Copy)]
pub struct Needs {
    /// Targets, side by side.
    pub targets: usize,
    /// Data files that it makes in a directory.
    pub files: u32,
    /// Most bytes of the page cache that stands before a simulated drive where its name asks for
    /// none. `None`: it needs none.
    pub page_cache: fn(Scale) -> Option<u64>,
    /// A simulated drive begins in the state of its published figures, where its name has none.
    pub begins_as_published: bool,
    /// On a simulated drive, where no time passes, it may take this many times as long.
    pub simulated_times: u64,
}

impl Needs {
    /// A target with one file.
    pub const PLAIN: Needs = Needs {
        targets: 1,
        files: 1,
        page_cache: |_| None,
        begins_as_published: false,
        simulated_times: 1,
    };
}

/// One experiment.
#[derive(Debug, Clone, Copy)]
pub struct Study {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it asks, in one line.
    pub question: &'static str,
    /// What a quick one costs next to its time, where that is not what its allowance says.
    pub quick_cost: Option<&'static str>,
    /// What it needs of its target.
    pub needs: Needs,
    /// What it costs by default on a target of this many bytes.
    pub allowance: fn(Scale, u64) -> Allowance,
    /// Why it cannot be done as asked, if it cannot.
    pub objection: fn(&Setting<'_>) -> Option<String>,
    /// What it will do in all, where that is known before it begins.
    pub forecast: fn(&Setting<'_>) -> Option<String>,
    /// Most bytes that it will write, where that is known before it begins.
    pub written_bytes: fn(&Setting<'_>) -> Option<u64>,
    /// The next plan; `None` ends the run.
    pub next: fn(&Setting<'_>, &Run) -> Option<Plan>,
    /// A state that the run so far proves.
    pub established: fn(&Setting<'_>, &Run) -> Option<Established>,
    /// What speaks against a number here.
    pub rules: Rules,
    /// What the sound part of the run says; [`Study::judged`] asks it.
    pub judge: fn(&Setting<'_>, &Sound<'_>) -> Findings,
    /// What its runs on several targets say together, where it asks about all of them; their own
    /// verdicts are left out then. `None`: the verdicts of the runs stand next to each other.
    pub across: Option<fn(&[Member<'_>]) -> Findings>,
    /// What its runs on several targets say only together, in sentences before the verdicts of
    /// each.
    pub together: fn(&[Member<'_>]) -> Vec<String>,
    /// How its answer is laid out.
    pub presentation: Presentation,
    /// Names of its figures that a price is divided by.
    pub priced: &'static [&'static str],
    /// What is drawn of it where one parameter of a drive is varied.
    pub swept: Swept,
    /// Options that only it takes, or it and studies like it.
    pub options: &'static [OwnOption],
}

/// An option of `drivelab study` that not every study takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum OwnOption {
    Profile,
    WriteCache,
    Mkfs,
    Mount,
    StripeWidth,
    PerDay,
    Cycles,
    Legs,
    Absolute,
    Reference,
    Article,
    Load,
    Protocol,
}

impl OwnOption {
    /// As it is typed.
    pub fn word(self) -> &'static str {
        match self {
            OwnOption::Profile => "--profile",
            OwnOption::WriteCache => "--write-cache",
            OwnOption::Mkfs => "--mkfs",
            OwnOption::Mount => "--mount",
            OwnOption::StripeWidth => "--stripe-width",
            OwnOption::PerDay => "--per-day",
            OwnOption::Cycles => "--cycles",
            OwnOption::Legs => "--legs",
            OwnOption::Absolute => "--absolute",
            OwnOption::Reference => "--reference",
            OwnOption::Article => "--article",
            OwnOption::Load => "--load",
            OwnOption::Protocol => "--protocol",
        }
    }
}

/// What a study gives to a curve over a varied parameter.
#[derive(Debug, Clone, Copy)]
pub struct Swept {
    /// Names of its figures; empty: the first that several runs have.
    pub figures: &'static [&'static str],
    /// The step in which a simulated drive tells its write amplification.
    pub amplified: Option<&'static str>,
}

/// How the answer of a study is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presentation {
    /// The question, its figures, what was found; each cell that was kept out is named.
    Findings,
    /// A line for each cell, then what hurts.
    Cells,
    /// A line for each claim.
    Claims,
}

impl Study {
    /// What a study does not declare for itself.
    pub const PLAIN: Study = Study {
        name: "",
        question: "",
        quick_cost: None,
        needs: Needs::PLAIN,
        allowance: |_, _| Allowance { time: Span(0), budget: Size(0) },
        objection: |_| None,
        forecast: |_| None,
        written_bytes: |_| None,
        next: |_, _| None,
        established: |_, _| None,
        rules: Rules::STRICT,
        judge: |_, _| Findings::default(),
        across: None,
        together: |_| Vec::new(),
        presentation: Presentation::Findings,
        priced: &[],
        swept: Swept { figures: &[], amplified: None },
        options: &[],
    };

    /// What the run says: of sound numbers only, with the names of those that were kept out.
    pub fn judged(&self, setting: &Setting<'_>, run: &Run) -> Findings {
        let sound = Sound::of(run, self.rules);
        let mut findings = (self.judge)(setting, &sound);
        if setting.options.price.is_some() {
            let (options, facts) = (setting.options, setting.facts);
            let figures = &findings.figures;
            let offer = Offer { name: "this drive", options, facts, figures };
            findings.tables.extend(prices::table(self, &[offer]));
        }
        if self.presentation != Presentation::Findings {
            return findings.closed();
        }
        let is_excused = |name: &str| findings.not_applicable.iter().any(|it| it.cell == name);
        let kept_out = sound.kept_out().filter(|cell| !is_excused(&cell.name));
        let told: Vec<String> = kept_out
            .filter_map(|cell| Some(format!("{}: {}", cell.name, cell.against()?)))
            .collect();
        findings.suspect.splice(0..0, told);
        findings.closed()
    }
}

/// The words as they begin a sentence.
pub fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Bytes of a scratch file for a study of this budget: an eighth of it, at most 1 GiB for a quick
/// one and 8 GiB otherwise.
pub fn scratch_bytes(scale: Scale, budget: Size) -> u64 {
    let most = if scale == Scale::Quick { 1 << 30 } else { 8 << 30 };
    let grain = 1 << 20;
    (budget.0 / 8).min(most) / grain * grain
}

/// The least file or device that a study makes sense on.
pub const BYTES_MIN: u64 = 64 << 20;

/// Why the budget is too small for a study that needs `least`, if it is.
pub fn too_small(setting: &Setting<'_>, least: Size) -> Option<String> {
    let options = setting.options;
    (options.budget.0 < least.0).then(|| {
        format!(
            "a budget of {} is too small for `{}` here; give at least {}",
            options.budget,
            options.name,
            budget::at_least(least.0)
        )
    })
}

/// 5, 10 or 20, by the scale.
pub fn repetitions(scale: Scale) -> usize {
    match scale {
        Scale::Quick => 5,
        Scale::Default => 10,
        Scale::Full => 20,
    }
}

/// The longest time of a step of one of many cells, by the scale; in virtual time, where nobody
/// disturbs, this part of it.
pub fn longest_ns(setting: &Setting<'_>, virtual_part: u64) -> u64 {
    let seconds = match setting.options.scale {
        Scale::Quick => 1,
        Scale::Default => 3,
        Scale::Full => 10,
    };
    let ns = seconds * 1_000_000_000;
    if setting.is_simulated() { ns / virtual_part } else { ns }
}

/// Why nothing can be studied with these bounds, whatever the study is.
pub fn impossible(setting: &Setting<'_>) -> Option<String> {
    let options = setting.options;
    if options.bytes < BYTES_MIN {
        return Some(format!(
            "a target of {} is too small for `{}`; it needs at least {}",
            size(options.bytes),
            options.name,
            Size(BYTES_MIN)
        ));
    }
    if let Some(text) = cache::objection(setting) {
        return Some(text);
    }
    if !(options.delta > 0.0 && options.delta < 0.5) {
        return Some("the band must lie between 0 and 50 %, such as --band 5%".into());
    }
    if options.time.0 < 10_000_000_000 {
        return Some(format!("{} is too short for any study; give at least 10s", options.time));
    }
    None
}

#[cfg(test)]
pub mod sample;
#[cfg(test)]
mod silence;
#[cfg(test)]
pub(crate) mod tests;
