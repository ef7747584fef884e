//! How much each worker of the latest step issued.

use drivelab_core::driver::Driver;
use drivelab_core::queue::{Finished, Trouble};
use drivelab_core::tally::Phase;

/// Operations by stream and worker.
#[derive(Debug, Default)]
pub(super) struct Issued(Vec<(u32, u32, u64)>);

impl Issued {
    /// Of a step that has ended.
    pub(super) fn of<'a>(phases: impl IntoIterator<Item = &'a Phase>) -> Self {
        let of = |phase: &Phase| (phase.stream, phase.worker, phase.issued);
        Issued(phases.into_iter().map(of).collect())
    }

    /// The same of what drivers left behind.
    pub(super) fn of_finished(finished: &[Finished]) -> Self {
        Issued::of(finished.iter().map(|finished| &finished.phase))
    }

    /// Ends each driver that does as much as one of that step did.
    pub(super) fn bound(&self, drivers: &mut [Driver]) -> Result<(), Trouble> {
        for driver in drivers {
            let setup = driver.setup();
            let Some(stream) = setup.until.issued_by else { continue };
            let issuer = (stream, setup.worker);
            let found = self.0.iter().find(|(stream, worker, _)| (*stream, *worker) == issuer);
            // A worker that never began has issued nothing.
            driver.issue_at_most(found.map_or(0, |(.., operations)| *operations))?;
        }
        Ok(())
    }
}
