//! Drives that tell of their health, asked again while a run goes on: before its first step, about
//! once a minute between steps, and after its last one; never while anything is measured.

use crate::store::writer::Recorder;
use drivelab_core::facts::{DeviceFacts, Facts};
use drivelab_core::health_log::{DriveReading, HealthReading};
use drivelab_core::record::Record;
use drivelab_core::run::Run;
use drivelab_io::counters;
use drivelab_io::facts::{DeviceNumber, System, health_again};
use std::time::{Duration, Instant};

/// Between steps a drive is asked no sooner than this after it was asked last.
const EVERY: Duration = Duration::from_secs(60);

/// The drives below a target that told of their health when the target was looked at.
#[derive(Debug, Default)]
pub struct AskedDrives {
    known: Option<(System, Vec<DeviceFacts>)>,
    asked: Option<Instant>,
}

impl AskedDrives {
    /// Those below the target that `facts` describe.
    pub fn below(system: &System, facts: &Facts) -> Self {
        let tells = |device: &&DeviceFacts| device.wear.is_some();
        let known: Vec<DeviceFacts> = facts.target.devices.iter().filter(tells).cloned().collect();
        let known = (!known.is_empty()).then(|| (system.clone(), known));
        AskedDrives { known, asked: None }
    }

    /// Before the first step since the target was opened.
    pub fn open(&mut self, recorder: &mut Recorder) {
        self.ask(recorder, true);
    }

    /// Between two steps, where it is time.
    pub fn between_steps(&mut self, recorder: &mut Recorder) {
        if self.asked.is_some_and(|asked| asked.elapsed() >= EVERY) {
            self.ask(recorder, false);
        }
    }

    /// After the last step.
    pub fn close(&mut self, recorder: &mut Recorder) {
        let run = recorder.run();
        let is_new = |last: &HealthReading| (last.steps as usize) < run.steps.len();
        if run.health.last().is_some_and(is_new) {
            self.ask(recorder, false);
        }
    }

    fn ask(&mut self, recorder: &mut Recorder, opens: bool) {
        let Some((system, known)) = &self.known else { return };
        let passes_by = sends_commands(recorder.run());
        let reading = |device: &DeviceFacts| {
            let sent = kernel_written_bytes(system, device);
            let mut wear = health_again(system, device)?;
            wear.names = None;
            // Only where nothing was written meanwhile both counts are of one moment.
            let is_known = !passes_by && sent == self::kernel_written_bytes(system, device);
            let kernel_written_bytes = sent.filter(|_| is_known);
            Some(DriveReading { device: device.name.clone(), wear, kernel_written_bytes })
        };
        let drives: Vec<DriveReading> = known.iter().filter_map(reading).collect();
        self.asked = Some(Instant::now());
        let steps = recorder.run().steps.len() as u32;
        recorder.record(Record::Health(Box::new(HealthReading { steps, opens, drives })));
    }
}

/// Whether the run itself sends commands past the block layer, which the kernel does not count.
fn sends_commands(run: &Run) -> bool {
    let steps = run.plans.iter().flat_map(|plan| &plan.steps);
    steps.flat_map(|step| &step.streams).any(|stream| stream.engine.traits().is_passthrough)
}

/// What the kernel has sent an NVMe drive to write so far, where nothing is in flight and there is
/// no other path to it: which of several controllers counts what is not told.
fn kernel_written_bytes(system: &System, device: &DeviceFacts) -> Option<u64> {
    let is_alone = device.name.starts_with("nvme") && device.paths.len() <= 1;
    let number = DeviceNumber::parse(&device.number).filter(|_| is_alone)?;
    let counters = counters::devices(system, &[number]).ok()?.into_iter().next()?;
    let is_counted = !counters.switched_off && !counters.blank && counters.in_flight == 0;
    is_counted.then_some(counters.write_bytes)
}
