//! What follows what: empty and fill, measure, torture, measure, and what is tried afterwards.

use super::{LAYOUTS, Program, SECOND_NS, torture_stream};
use crate::battery;
use crate::experiment::Setting;
use crate::experiment::loads;
use drivelab_core::plan::{Act, Mix, Role, Step, Stream, Until};
use drivelab_core::quantity::size;
use drivelab_core::run::Run;
use drivelab_core::study::{Emptying, Leg, Scale};
use drivelab_core::units::{Size, Span};

/// Orders of rounds are drawn by number; each battery has numbers of its own.
const NUMBERS: u64 = 1000;

/// What follows the names of a battery before the torture.
pub fn before(cycles: u64, cycle: u64) -> String {
    format!(", before{}", of_cycle(cycles, cycle))
}

/// What follows the names of a battery after the torture.
pub fn after(cycles: u64, cycle: u64) -> String {
    format!(", after{}", of_cycle(cycles, cycle))
}

/// What follows the names of a battery after a leg.
pub fn after_leg(leg: Leg) -> String {
    format!(", after {}", leg.word())
}

fn of_cycle(cycles: u64, cycle: u64) -> String {
    if cycles > 1 { format!(" {}", cycle + 1) } else { String::new() }
}

/// All phases with all of their steps.
pub fn all(setting: &Setting<'_>, program: &Program, run: &Run) -> Vec<Vec<Step>> {
    let options = &setting.options.torture;
    let cycles = options.cycles.max(1);
    let mut phases = Vec::new();
    let mut number = 0;
    let mut battery = |phases: &mut Vec<Vec<Step>>, label: &str| {
        let first = number * NUMBERS;
        let of = |round| battery::round(setting, &program.groups, first + round, label);
        phases.push((0..program.rounds).flat_map(of).collect());
        number += 1;
    };
    for cycle in 0..cycles {
        phases.push(begin(setting, program, run, cycle));
        battery(&mut phases, &before(cycles, cycle));
        phases.push(torture(setting, program, &of_cycle(cycles, cycle)));
        battery(&mut phases, &after(cycles, cycle));
    }
    for leg in &options.legs {
        phases.push(try_leg(setting, program, *leg));
        battery(&mut phases, &after_leg(*leg));
    }
    phases
}

/// Each cycle begins alike: a drive is emptied, then what will be read is written.
fn begin(setting: &Setting<'_>, program: &Program, run: &Run, cycle: u64) -> Vec<Step> {
    let mut steps = Vec::new();
    let number = if cycle == 0 { String::new() } else { format!(" {}", cycle + 1) };
    let is_fresh = cycle == 0 && run.begin.state.as_deref() == Some("fresh");
    if let Some(empty) = loads::empty(setting).filter(|_| !is_fresh) {
        steps.push(Step { name: format!("{}{number}", loads::EMPTY), ..empty });
    }
    if cycle == 0 || setting.is_drive() {
        let name = format!("{}{number}", loads::FILL);
        steps.push(battery::fill(setting, &name, program.file_bytes));
    }
    // The first plan shows what a run needs: here a directory for names.
    let names = program.groups.iter().flat_map(|group| &group.loads);
    let names = names.map(|load| &load.stream).find(|it| it.is_metadata());
    if let Some(stream) = names.filter(|_| cycle == 0) {
        let stream = Stream { workers: 1, ..stream.clone() };
        let stream = stream.with_names(|names| names.names = Some(100));
        let until = Until { passes: Some(1), ..Until::default() };
        steps.push(loads::step(setting, "first names", Role::Prepare, until, stream));
    }
    steps
}

fn torture(setting: &Setting<'_>, program: &Program, suffix: &str) -> Vec<Step> {
    let is_bounded = setting.options.scale != Scale::Full;
    let elapsed = is_bounded.then(|| Span((setting.options.time.0 / 16).max(1)));
    let mut steps = Vec::new();
    for (index, layout) in LAYOUTS.iter().enumerate() {
        for _ in 0..program.passes {
            for (word, mix) in [("write", Mix::WRITE), ("read", Mix::READ)] {
                let stream = torture_stream(setting, program, index, mix);
                let name = format!("torture, {word} in {}{suffix}", size(layout.transfer));
                let until = Until { passes: Some(1), elapsed, ..Until::default() };
                steps.push(loads::step(setting, &name, Role::Torture, until, stream));
            }
        }
    }
    steps
}

fn try_leg(setting: &Setting<'_>, program: &Program, leg: Leg) -> Vec<Step> {
    let act = match (leg, setting.options.emptying) {
        (Leg::Idle, _) => Act::Idle(idle(setting.options.scale)),
        (Leg::Purge, Emptying::Purge(purge)) => Act::Purge(purge),
        _ => Act::Trim { offset: Size(0), length: None },
    };
    let role = if leg == Leg::Idle { Role::Idle } else { Role::Prepare };
    let name = format!("leg {}", leg.word());
    let mut steps = vec![Step { name, role, act: Some(act), repeat: 1, ..Step::default() }];
    if leg != Leg::Idle {
        let name = format!("fill after {}", leg.word());
        steps.push(battery::fill(setting, &name, program.file_bytes));
    }
    steps
}

/// How long a drive is left alone.
pub fn idle(scale: Scale) -> Span {
    let seconds = if scale == Scale::Quick { 30 } else { 600 };
    Span(seconds * SECOND_NS)
}
