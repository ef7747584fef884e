//! The kernel's tracer around a step: begun just before it, read just after it.

use crate::descriptors::Descriptors;
use drivelab_core::anatomy::{Anatomy, Stamped, dissect};
use drivelab_core::op::Time;
use drivelab_core::plan::{Files, Step};
use drivelab_core::trace::block::Trace;
use drivelab_io::facts::System;
use drivelab_io::opening::{Mode, Target};
use drivelab_io::tracing::{Place, Tracing, kernel_number, place_of};
use std::rc::Rc;

/// I/Os of one step whose stamps are kept.
const IOS_MAX: usize = 1 << 16;
/// Events of an I/O that goes through a scheduler.
const EVENTS_PER_IO: u64 = 5;

/// I/Os of a step that can be broken down.
pub fn ios_max(step: &Step) -> usize {
    let planned = step.until.operations.and_then(|operations| usize::try_from(operations).ok());
    planned.map_or(IOS_MAX, |planned| planned.min(IOS_MAX))
}

/// Watches one step.
pub struct Tracer {
    at_work: Result<(Tracing, Rc<Target>, System), String>,
}

/// What it saw, or why it saw nothing.
pub struct Traced {
    seen: Result<(Trace, Place), String>,
}

impl Tracer {
    /// Begins to watch the disk below the target.
    pub fn begin(system: &System, descriptors: &Descriptors, step: &Step) -> Tracer {
        Tracer { at_work: begin(system, descriptors, step) }
    }

    /// Ends it.
    pub fn stop(self) -> Traced {
        let stop = |(mut tracing, target, system): (Tracing, Rc<Target>, System)| {
            let trace = tracing.stop()?;
            // Only now is everything where it stays: what was written got its place on the way.
            Ok((trace, place(&system, &target)?))
        };
        Traced { seen: self.at_work.and_then(stop) }
    }
}

fn begin(
    system: &System,
    descriptors: &Descriptors,
    step: &Step,
) -> Result<(Tracing, Rc<Target>, System), String> {
    let target = descriptors.at().ok_or("there is no data on a drive in this step")?;
    if step.streams.iter().any(|stream| stream.files == Files::Each) {
        return Err("I/O of several files cannot be distinguished; use one file".into());
    }
    let place = place(system, &target)?;
    let tracing = Tracing::open(system, place.disk, ios_max(step) as u64 * EVENTS_PER_IO)?;
    tracing.start()?;
    Ok((tracing, target, system.clone()))
}

fn place(system: &System, target: &Target) -> Result<Place, String> {
    let file = target.descriptor(0, Mode::default()).map_err(|error| error.to_string())?;
    place_of(system, file, target.bytes)
}

impl Traced {
    /// What it says of the I/Os with these stamps; `zero` is their beginning on the kernel's clock.
    pub fn anatomy(self, step: u32, zero: Time, stamps: Vec<Stamped>) -> Anatomy {
        match self.seen {
            Err(why) => Anatomy::refused(step, why),
            Ok((trace, place)) => {
                let disk = kernel_number(place.disk);
                let anatomy = dissect(&trace, zero, disk, stamps, &place.pieces);
                Anatomy { step, device: place.name, ..anatomy }
            }
        }
    }
}
