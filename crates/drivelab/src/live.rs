//! What others can read while a run lasts: a feed of intervals, and metrics for a node exporter.
//!
//! Both are written by the thread that writes the run file, from the same records; where they
//! cannot be written any more, that is said once and the run goes on.

mod gathering;
mod open_metrics;

use crate::documents::{Document, FeedInterval};
use crate::outcome::Failure;
use crate::outputs::{Made, may_replace};
use crate::store::writer::Witness;
use crate::{print, store};
use drivelab_core::record::Record;
use drivelab_io::results::{self, There, marked_metrics};
use gathering::Gathering;
use open_metrics::Metrics;
pub use open_metrics::{escaped, family};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Metrics are replaced no more often than this.
const REPLACED_EVERY: Duration = Duration::from_millis(500);

/// What was asked for.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// Where lines of JSON go.
    pub feed: Option<PathBuf>,
    /// Where metrics are kept.
    pub openmetrics: Option<PathBuf>,
}

impl Asked {
    /// Whether anything was.
    pub fn is_any(&self) -> bool {
        self.feed.is_some() || self.openmetrics.is_some()
    }

    /// Who sees the records of the run for it; nobody where nothing was asked for.
    pub fn witness(&self) -> Option<Box<dyn Witness>> {
        self.is_any().then(|| Box::new(Live::of(self)) as Box<dyn Witness>)
    }

    /// Whether the feed is what stands on stdout.
    pub fn is_on_stdout(&self) -> bool {
        self.feed.as_deref().is_some_and(is_stdout)
    }

    /// Tries the places, before anything is measured.
    ///
    /// # Errors
    /// Something else is there, or nothing can be written there.
    pub fn is_possible(&self) -> Result<(), Failure> {
        may_replace(self.feed.as_deref().filter(|path| !is_stdout(path)), Made::Feed)?;
        let Some(path) = &self.openmetrics else { return Ok(()) };
        let there = results::look(path, store::results(None).ok().as_ref());
        if is_stdout(path) || there.is_ok_and(|there| there == There::Pipe) {
            return Err(Failure::usage("--openmetrics needs a regular file, which is replaced")
                .advise("Such as:  --openmetrics /var/lib/node_exporter/drivelab.prom"));
        }
        may_replace(Some(path), Made::Metrics)
    }
}

fn is_stdout(path: &Path) -> bool {
    path == Path::new("-") || path == Path::new("/dev/stdout")
}

/// Writes both.
#[derive(Debug, Default)]
struct Live {
    gathering: Gathering,
    feed: Option<Feed>,
    metrics: Option<(PathBuf, Metrics, Option<Instant>)>,
}

#[derive(Debug)]
enum Feed {
    Stdout,
    File(File, PathBuf),
}

impl Live {
    /// Ready for the first record.
    fn of(asked: &Asked) -> Self {
        let feed = asked.feed.as_ref().and_then(|path| match is_stdout(path) {
            true => Some(Feed::Stdout),
            false => match results::begin(path, store::results(None).ok().as_ref()) {
                Ok(file) => Some(Feed::File(file, path.clone())),
                Err(error) => {
                    lost(path, &error.to_string());
                    None
                }
            },
        });
        let metrics = asked.openmetrics.clone().map(|path| (path, Metrics::default(), None));
        Live { gathering: Gathering::default(), feed, metrics }
    }

    fn tell(&mut self, interval: &FeedInterval) {
        let failed = match &mut self.feed {
            None => None,
            Some(Feed::Stdout) => {
                print::line(Document::of(interval)).err().map(|failure| failure.text)
            }
            Some(Feed::File(file, _)) => {
                let line = serde_json::to_string(&Document::of(interval));
                let line = line.map_err(std::io::Error::from);
                let written = line.and_then(|line| file.write_all(format!("{line}\n").as_bytes()));
                written.err().map(|error| error.to_string())
            }
        };
        if let Some(error) = failed {
            if let Some(Feed::File(_, path)) = &self.feed {
                lost(path, &error);
            }
            self.feed = None;
        }
    }

    fn count(&mut self, record: &Record, intervals: &[FeedInterval]) {
        let Some((path, metrics, written)) = &mut self.metrics else { return };
        let mut is_due = !intervals.is_empty();
        match record {
            Record::Begin(begin) => metrics.begin(begin),
            Record::StepBegin(_) => metrics.step(),
            Record::End(_) => metrics.end(),
            _ => {}
        }
        intervals.iter().for_each(|interval| metrics.interval(interval));
        is_due &= written.is_none_or(|written| written.elapsed() >= REPLACED_EVERY);
        if !is_due && !matches!(record, Record::Begin(_) | Record::End(_)) {
            return;
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let text = marked_metrics(metrics.text(now));
        *written = Some(Instant::now());
        let list = store::results(None).ok();
        if let Err(error) = results::replace(path, text.as_bytes(), list.as_ref()) {
            let reason = match error.kind() {
                std::io::ErrorKind::AlreadyExists => "it is not drivelab's own any more".into(),
                _ => error.to_string(),
            };
            lost(path, &reason);
            self.metrics = None;
        }
    }

    /// Notes that the feed is drivelab's own, as it was left.
    fn end(&mut self) {
        if let Some(Feed::File(file, path)) = self.feed.take() {
            results::enter(&path, &file, store::results(None).ok().as_ref());
        }
    }
}

impl Witness for Live {
    fn see(&mut self, record: &Record) {
        if self.feed.is_none() && self.metrics.is_none() {
            return;
        }
        let intervals = self.gathering.take(record);
        for interval in &intervals {
            self.tell(interval);
        }
        self.count(record, &intervals);
        if matches!(record, Record::End(_)) {
            self.end();
        }
    }
}

fn lost(path: &Path, reason: &str) {
    let shown = path.display();
    print::error(&format!("drivelab: {shown} is not written any more: {reason}; the run goes on"));
}
