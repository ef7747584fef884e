//! The requests of a trace, one worker's share of them.

use super::Region;
use crate::op::{Action, DataOp, Op};
use crate::plan::Request;
use crate::quantity::counted;
use crate::queue::Trouble;

/// Every `step`-th request from a first one on, in order, and then again.
#[derive(Debug, Clone)]
pub struct Traced {
    own: Vec<Request>,
    next: usize,
}

impl Traced {
    /// Those of a worker, in a region of this many bytes.
    pub fn new(all: &[Request], bytes: u64, first: usize, step: usize) -> Result<Self, Trouble> {
        if let Some(outside) = all.iter().find(|request| request.end() > bytes) {
            return Err(Trouble::usage(format!(
                "a traced request ends at byte {}, beyond the region of {bytes} bytes; use a \
                 larger target",
                outside.end()
            )));
        }
        let own: Vec<Request> = all.iter().skip(first).step_by(step.max(1)).copied().collect();
        match own.is_empty() {
            true => Err(Trouble::usage(format!(
                "a trace for {} needs at least one request each; it has {}",
                counted(step as u64, "worker"),
                all.len()
            ))),
            false => Ok(Traced { own, next: 0 }),
        }
    }

    /// Number of requests that the trace holds for this worker.
    pub fn operations(&self) -> u64 {
        self.own.len() as u64
    }

    /// The next one in this region of a file, and the pass it belongs to.
    pub fn next(&mut self, region: &Region, file: u32, pass: &mut u64) -> (Op, u64) {
        let (request, of_pass) = (self.own[self.next], *pass);
        self.next += 1;
        if self.next == self.own.len() {
            self.next = 0;
            *pass += 1;
        }
        debug_assert!(request.end() <= region.bytes, "a traced request leaves the region");
        let base = if request.action == Action::Flush { 0 } else { region.base };
        let (action, offset) = (request.action, base + request.offset);
        (Op::Data(DataOp { action, file, offset, len: request.bytes, priority: 0 }), of_pass)
    }
}
