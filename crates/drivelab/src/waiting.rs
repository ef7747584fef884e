//! Waiting until a simulated drive is in its state: a line on how far that is, and what was kept.

use crate::print;
use crate::state_cache::{FILE_BYTES_MAX, StateCache};
use drivelab_report::units;
use drivelab_sim::attendant::Attendant;
use std::time::{Duration, Instant};

/// After so long it is said what is waited for.
const SAID_AFTER: Duration = Duration::from_secs(1);
/// And so often how far it is.
const DRAWN_EVERY: Duration = Duration::from_millis(200);

/// Waits for one drive.
#[derive(Debug)]
pub struct Waiting<'a> {
    target: &'a str,
    state: &'static str,
    begin: Instant,
    drawn: Option<Instant>,
    cache: Option<StateCache>,
}

impl<'a> Waiting<'a> {
    /// For this drive in this state.
    pub fn new(target: &'a str, state: &'static str) -> Self {
        Waiting { target, state, begin: Instant::now(), drawn: None, cache: StateCache::of_user() }
    }

    fn line(&self, share: f64) -> String {
        let Waiting { target, state, .. } = self;
        format!("computing state={state} of {target}: {:.0} %", 100.0 * share)
    }
}

impl Attendant for Waiting<'_> {
    fn progress(&mut self, share: f64) {
        if self.begin.elapsed() < SAID_AFTER {
            return;
        }
        if print::shows_progress() {
            if self.drawn.is_none_or(|drawn| drawn.elapsed() >= DRAWN_EVERY) {
                self.drawn = Some(Instant::now());
                print::progress(&self.line(share));
            }
        } else if self.drawn.is_none() {
            self.drawn = Some(Instant::now());
            print::error(&self.line(share));
        }
    }

    fn kept(&mut self, key: &str) -> Option<Vec<u8>> {
        self.cache.as_ref()?.find(key)
    }

    fn keep(&mut self, key: &str, bytes: &[u8]) {
        let Some(cache) = &self.cache else { return };
        if !cache.keep(key, bytes) && self.drawn.is_some() {
            print::error(&format!(
                "state={} of {} takes {}, more than the {} of a state that is kept: it is \
                 computed each time",
                self.state,
                self.target,
                units::size(bytes.len() as u64),
                units::size(FILE_BYTES_MAX)
            ));
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.drawn.is_some() && print::shows_progress() {
            print::progress("");
        }
    }
}
