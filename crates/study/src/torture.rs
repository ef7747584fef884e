//! `torture`: did heavy use change the drive, and by how much?
//!
//! A battery is measured, the drive is tortured, the battery is measured again; after that, what
//! may bring it back is tried if that was asked for. Ten repetitions after one torture are ten
//! looks at one torture: with several cycles each cycle is one value.

mod article;
mod cause;
mod figures;
mod judge;
mod phases;
#[cfg(test)]
mod tests;

use crate::battery::ior::{self, Layout, Owner};
use crate::battery::iozone::{self, Test};
use crate::battery::names::{self, Names};
use crate::battery::{self, Group, MEBIBYTE, Shape};
use crate::experiment::budget::Left;
use crate::experiment::order::missing;
use crate::experiment::{Allowance, Needs, OwnOption, Setting, Study, impossible, loads};
use drivelab_core::op::Action;
use drivelab_core::plan::{Files, Plan, Role};
use drivelab_core::quantity::size;
use drivelab_core::run::Run;
use drivelab_core::study::{Emptying, Leg, Scale};
use drivelab_core::units::{Size, Span};

/// The study.
pub const STUDY: Study = Study {
    name: "torture",
    question: "Did heavy use change the drive, and by how much?",
    allowance,
    objection,
    next,
    judge: judge::judge,
    needs: Needs {
        files: battery::WORKERS,
        page_cache,
        simulated_times: battery::SIMULATED_TIMES,
        ..Needs::PLAIN
    },
    forecast: |setting| Some(forecast(setting)),
    written_bytes: |setting| Some(written_bytes(setting)),
    options: &[OwnOption::Cycles, OwnOption::Legs],
    ..Study::PLAIN
};

/// A quick one makes do without.
fn page_cache(scale: Scale) -> Option<u64> {
    match scale {
        Scale::Quick => None,
        Scale::Default => Some(128 << 20),
        Scale::Full => Some(8 << 30),
    }
}

const SECOND_NS: u64 = 1_000_000_000;
const LAYOUTS: [Layout; 2] = [ior::SMALL, ior::LARGE];
/// Record sizes of the quick battery: where the article saw most.
const QUICK_LARGE: u64 = 4 << 20;
const QUICK_SMALL: u64 = 32 << 10;
/// A file has at least one of the largest records, and is a multiple of it.
const FILE_GRAIN: u64 = 16 * MEBIBYTE;
/// Each of the two tortures of a quick study on a real drive.
const QUICK_TORTURE: u64 = 512 * MEBIBYTE;
/// What workers torture is a multiple of this.
const TORTURE_GRAIN: u64 = 4 * MEBIBYTE;

/// Everything that is done, as far as it does not depend on what was found.
#[derive(Debug, Clone, PartialEq)]
struct Program {
    groups: Vec<Group>,
    /// Repetitions of each battery.
    rounds: u64,
    file_bytes: u64,
    /// Bytes of each of the two tortures, and times they are written and read.
    torture_bytes: [u64; 2],
    passes: u64,
    shape: Shape,
}

impl Program {
    /// Bytes that both batteries of all cycles write.
    fn battery_bytes(&self, batteries: u64) -> u64 {
        batteries * self.rounds * battery::written_bytes(&self.groups)
    }

    /// Bytes that one torture writes.
    fn tortured_bytes(&self) -> u64 {
        self.passes * self.torture_bytes.iter().sum::<u64>()
    }
}

fn rounds(scale: Scale) -> u64 {
    if scale == Scale::Quick { 5 } else { 10 }
}

fn passes(scale: Scale) -> u64 {
    match scale {
        Scale::Quick => 1,
        Scale::Default => 2,
        Scale::Full => 10,
    }
}

fn allowance(scale: Scale, bytes: u64) -> Allowance {
    let (minutes, budget) = match scale {
        Scale::Quick => (5, 10 << 30),
        Scale::Default => (4 * 60, 320 << 30),
        Scale::Full => {
            let all = bytes.saturating_mul(u64::from(battery::WORKERS));
            let torture = LAYOUTS.map(|layout| published(&layout).min(all));
            let file = bytes.min(16 << 30);
            (60 * 24 * 60, 645 * file + 11 * torture.iter().sum::<u64>())
        }
    };
    Allowance { time: Span(minutes * 60 * SECOND_NS), budget: Size(budget) }
}

/// Bytes of a torture as it was published.
fn published(layout: &Layout) -> u64 {
    u64::from(battery::WORKERS) * layout.segments * layout.block
}

/// Bytes that can be tortured: all files, or the drive.
fn target_bytes(setting: &Setting<'_>) -> u64 {
    match ior::has_one_file(setting) {
        true => setting.bytes(),
        false => setting.bytes() * u64::from(battery::WORKERS),
    }
}

fn groups(setting: &Setting<'_>, shape: &Shape) -> Vec<Group> {
    if setting.options.scale == Scale::Quick {
        // What the last group left behind must not decide how this one reads: it writes first.
        let large =
            [Test::Write, Test::RandomRead, Test::RandomWrite, Test::Backward, Test::Strided];
        let small = [Test::Write, Test::RandomRead, Test::RandomWrite];
        return vec![
            iozone::throughput(setting, shape, QUICK_LARGE, &large),
            iozone::operations(shape, QUICK_SMALL, &small),
        ];
    }
    let large = iozone::LARGE.map(|it| iozone::throughput(setting, shape, it, &Test::ALL));
    let small = iozone::SMALL.map(|it| iozone::operations(shape, it, &Test::OPERATIONS));
    let mut all: Vec<Group> = large.into_iter().chain(small).collect();
    if battery::has_names(setting) {
        let count = if setting.options.scale == Scale::Full { 1_000_000 } else { 20_000 };
        let count = battery::names_most(setting).min(count);
        let actions = [Action::Create, Action::Stat, Action::Utime, Action::Unlink];
        all.extend(names::WORKERS.map(|workers| {
            let names = Names { count, workers, directories: Files::One };
            names::group(names, "names", &actions, &actions[..3])
        }));
    }
    all
}

/// What fits: first the batteries, then as much torture as there is room for.
fn program(setting: &Setting<'_>, cell_ns: Option<u64>) -> Program {
    let options = setting.options;
    let (rounds, passes) = (rounds(options.scale), passes(options.scale));
    let unit = Shape::of(setting, MEBIBYTE);
    let per_byte = battery::written_bytes(&groups(setting, &unit)) / MEBIBYTE;
    let batteries = batteries(setting);
    let most = match (options.scale, setting.is_simulated()) {
        (Scale::Full, _) => 16 << 30,
        (Scale::Default, true) => simulated_file_bytes(setting.bytes()),
        (Scale::Quick, true) => (128 * MEBIBYTE).min(setting.bytes() / 32).max(FILE_GRAIN),
        _ => 128 * MEBIBYTE,
    };
    // Two thirds for the batteries where bytes are short.
    let affordable = options.budget.0 / 3 * 2 / (batteries * rounds * per_byte + batteries).max(1);
    let enough = match options.scale {
        Scale::Full => options.budget.0 / (batteries * rounds * per_byte + batteries).max(1),
        _ => affordable,
    };
    let file_bytes = most.min(enough).min(setting.bytes() / 2) / FILE_GRAIN * FILE_GRAIN;
    let shape = Shape { cell_ns, ..Shape::of(setting, file_bytes) };
    let groups = groups(setting, &shape);
    let spent = batteries * (rounds * battery::written_bytes(&groups) + file_bytes);
    let cycles = options.torture.cycles.max(1);
    let each = options.budget.0.saturating_sub(spent) / cycles / passes / LAYOUTS.len() as u64;
    let torture_bytes = LAYOUTS.map(|layout| {
        let all = target_bytes(setting);
        let whole = match published(&layout) {
            fits if fits <= all => fits,
            _ => (u128::from(all) * u128::from(layout.percent) / 100) as u64,
        };
        let is_short = options.scale == Scale::Quick && !setting.is_simulated();
        let most = if is_short { whole.min(QUICK_TORTURE) } else { whole };
        let grain = layout.block * u64::from(battery::WORKERS);
        most.min(each) / grain * grain
    });
    Program { groups, rounds, file_bytes, torture_bytes, passes, shape }
}

/// 256 MiB, which are quickly done: of a drive of 1 GiB a quarter, as 16 GiB were of 64 GB. Of
/// smaller drives a sixteenth, because a quarter would fit the page cache.
fn simulated_file_bytes(bytes: u64) -> u64 {
    let most = 256 * MEBIBYTE;
    if bytes < 4 * most { (bytes / 16).max(FILE_GRAIN) } else { most }
}

/// Times that the battery is measured.
fn batteries(setting: &Setting<'_>) -> u64 {
    let options = &setting.options.torture;
    2 * options.cycles.max(1) + options.legs.len() as u64
}

fn objection(setting: &Setting<'_>) -> Option<String> {
    let options = setting.options;
    let needs_drive = options.torture.legs.iter().find(|leg| **leg != Leg::Idle);
    if let Some(leg) = needs_drive.filter(|_| !setting.is_drive()) {
        return Some(format!(
            "the leg `{}` needs a whole drive, real or simulated; name a block device, or leave it \
             out",
            leg.word()
        ));
    }
    if options.torture.legs.contains(&Leg::Purge) && !matches!(options.emptying, Emptying::Purge(_))
    {
        return Some(
            "the leg `purge` needs the command that purges the drive; name it, such as --purge \
             nvme-format"
                .into(),
        );
    }
    impossible(setting).or_else(|| {
        let program = program(setting, None);
        let is_short = program.file_bytes < FILE_GRAIN
            || program.torture_bytes.iter().any(|bytes| *bytes < TORTURE_GRAIN);
        is_short.then(|| {
            format!(
                "{} on {} leave `torture` no room: each byte of its file is written {} times; give \
                 a larger --budget or a larger target",
                options.budget,
                size(target_bytes(setting)),
                batteries(setting) * program.rounds
            )
        })
    })
}

fn next(setting: &Setting<'_>, run: &Run) -> Option<Plan> {
    let left = Left::of(setting, run);
    if left.time_ns == 0 {
        return None;
    }
    let counted = program(setting, None);
    let all = batteries(setting) * counted.rounds * battery::count(&counted.groups);
    let measured = run.steps.iter().filter(|step| step.begin.role == Role::Measure).count() as u64;
    // A quarter of the time is the torture's.
    let is_tortured = run.steps.iter().any(|step| step.begin.role == Role::Torture);
    let time_ns = if is_tortured { left.time_ns } else { left.time_ns / 4 * 3 };
    let rest = all.saturating_sub(measured).max(1);
    let cell_ns = battery::cell_ns(setting, &Left { time_ns, ..left }, rest);
    let program = program(setting, cell_ns);
    phases::all(setting, &program, run)
        .into_iter()
        .map(|phase| missing(phase, run))
        .find(|rest| !rest.is_empty())
        .map(|rest| {
            let is_torture = rest[0].role == Role::Torture;
            let interval_ns = battery::interval_ns(setting);
            let interval_ns = if is_torture { interval_ns.max(SECOND_NS) } else { interval_ns };
            loads::plan(setting, interval_ns, battery::one_round(rest, &program.groups))
        })
}

/// Most bytes that batteries, fills and tortures write.
pub fn written_bytes(setting: &Setting<'_>) -> u64 {
    let program = program(setting, None);
    let (batteries, cycles) = (batteries(setting), setting.options.torture.cycles.max(1));
    let of_fills = batteries * program.file_bytes;
    program.battery_bytes(batteries) + of_fills + cycles * program.tortured_bytes()
}

/// What it will write, in a sentence for those who ask before.
pub fn forecast(setting: &Setting<'_>) -> String {
    let program = program(setting, None);
    let (batteries, cycles) = (batteries(setting), setting.options.torture.cycles.max(1));
    let of_batteries = program.battery_bytes(batteries);
    let of_torture = cycles * program.tortured_bytes();
    let gibibytes = |bytes: u64| {
        drivelab_core::quantity::count((bytes as f64 / f64::from(1 << 30)).round() as u64)
    };
    format!(
        "{} GiB of data writes: {} GiB in {batteries} batteries of {} cells, {} repetitions each \
         on a file of {}, and {} GiB in {} of {} passes of {} and {}",
        gibibytes(of_batteries + of_torture),
        gibibytes(of_batteries),
        battery::cells(&program.groups).len(),
        program.rounds,
        size(program.file_bytes),
        gibibytes(of_torture),
        drivelab_core::quantity::counted(cycles, "torture"),
        program.passes,
        size(program.torture_bytes[0]),
        size(program.torture_bytes[1])
    )
}

/// The stream of one torture.
fn torture_stream(
    setting: &Setting<'_>,
    program: &Program,
    index: usize,
    mix: drivelab_core::plan::Mix,
) -> drivelab_core::plan::Stream {
    let bytes = program.torture_bytes[index];
    ior::stream(setting, &program.shape, &LAYOUTS[index], Owner::Each, bytes, mix)
}
