//! `steadystate`, `steadystate_duration` and `steadystate_ramp_time`: a job that ends when its
//! rate is level.

use super::settings::Settings;
use super::value::{BadValue, size};
use super::words::{STATUS, unsupported};
use crate::front::{Refusal, World};
use drivelab_core::op::SECOND;
use drivelab_core::plan::{Level, Rate, Unevenness};
use drivelab_core::units::Span;

/// What a job says of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Asked {
    /// `steadystate`: what is counted, what must fall below the limit, the limit, in percent.
    pub criterion: (Rate, Unevenness, f64, bool),
    /// `steadystate` was given.
    pub is_given: bool,
    /// `steadystate_duration`.
    pub window_ns: u64,
    /// `steadystate_ramp_time`.
    pub after_ns: u64,
    /// `steadystate_check_interval`.
    pub every_ns: u64,
}

impl Default for Asked {
    /// fio's own: off, and with a duration alone the slope of IOPS within 0.01 %.
    fn default() -> Self {
        let criterion = (Rate::Operations, Unevenness::Slope, 0.01, true);
        Asked { criterion, is_given: false, window_ns: 0, after_ns: 0, every_ns: SECOND }
    }
}

const CRITERION: BadValue =
    BadValue::wants("iops, bw or lat, each with _slope or without, and a limit: iops_slope:0.3%");

const CRITERIA: [(&str, Rate, Unevenness); 6] = [
    ("lat", Rate::Latency, Unevenness::Deviation),
    ("lat_slope", Rate::Latency, Unevenness::Slope),
    ("iops", Rate::Operations, Unevenness::Deviation),
    ("iops_slope", Rate::Operations, Unevenness::Slope),
    ("bw", Rate::Bytes, Unevenness::Deviation),
    ("bw_slope", Rate::Bytes, Unevenness::Slope),
];

/// The criterion in fio's words, as it prints it.
pub fn words(level: &Level) -> String {
    let (name, sign) = (name(level), if level.percent { "%" } else { "" });
    format!("{name}:{:.6}{sign}", level.limit)
}

/// fio's word for what is judged.
fn name(level: &Level) -> &'static str {
    let is_its = |(_, of, by): &&(&str, Rate, Unevenness)| (*of, *by) == (level.of, level.by);
    CRITERIA.iter().find(is_its).map_or("", |(name, ..)| name)
}

impl Settings {
    /// Whether its rate may end it: fio counts whole seconds of the duration.
    pub fn ends_when_steady(&self) -> bool {
        self.steadystate.window_ns >= SECOND
    }
}

/// What `steadystate` says: what is counted, what must fall below the limit, the limit, in percent.
///
/// # Errors
/// It is none that fio knows.
pub fn criterion(text: &str) -> Result<(Rate, Unevenness, f64, bool), BadValue> {
    let (name, limit) = text.split_once(':').ok_or(CRITERION)?;
    let (_, of, by) = *CRITERIA.iter().find(|(known, ..)| *known == name).ok_or(CRITERION)?;
    let (limit, percent) = match limit.strip_suffix('%') {
        Some(limit) => (limit, true),
        None => (limit, false),
    };
    let limit = limit.trim();
    // A whole number may have a unit; what else there may be, fio would only read the beginning of.
    let is_plain = limit.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let limit = match is_plain {
        true => limit.parse().map_err(|_| CRITERION)?,
        false => size(limit, 1024)? as f64,
    };
    Ok((of, by, limit, percent))
}

/// The bound of a job of this reporting group.
pub fn level(settings: &Settings, world: &dyn World) -> Option<Level> {
    let asked = &settings.steadystate;
    let (of, by, limit, percent) = asked.criterion;
    let times = world.scale_time();
    let window = Span(times.of(asked.window_ns / SECOND * SECOND, SECOND));
    let after = Span(times.of(asked.after_ns, 1_000_000));
    let every = Span(times.of(asked.every_ns, SECOND));
    let level = Level { of, by, limit, percent, window, every, after, group: None };
    settings.ends_when_steady().then_some(level)
}

/// Jobs that are reported as one are judged as one, so they must ask for the same.
///
/// # Errors
/// Two of a group that do not.
pub fn check_group<'a>(jobs: impl Iterator<Item = (u32, &'a Settings)>) -> Result<(), Refusal> {
    let mut first: Option<(u32, &Settings)> = None;
    for (group, settings) in jobs.filter(|(_, settings)| settings.group_reporting) {
        let of = |settings: &Settings| settings.ends_when_steady().then_some(settings.steadystate);
        match first {
            Some((known, before)) if known == group => {
                if of(before) != of(settings) {
                    return Err(Refusal::new(
                        STATUS,
                        "fio: job rejected: steadystate options must be consistent within \
                         reporting groups",
                        "Give all jobs of the group the same, or leave group_reporting out.",
                    ));
                }
            }
            _ => first = Some((group, settings)),
        }
    }
    Ok(())
}

/// What does not go with it.
///
/// # Errors
/// Logs whose lines do not divide a second; values that do not divide the window.
pub fn check_interval(settings: &Settings, interval_ns: u64) -> Result<(), Refusal> {
    let asked = &settings.steadystate;
    let every_ns = asked.every_ns.max(1);
    let refused = |text: String, way: &str| Err(Refusal::new(STATUS, text, way));
    if settings.ends_when_steady() && every_ns < SECOND {
        return refused(
            "fio: steadystate_check_interval is shorter than 1 s".into(),
            "Say 1 or more seconds.",
        );
    }
    let is_whole = every_ns.is_multiple_of(SECOND) && asked.window_ns.is_multiple_of(every_ns);
    let is_one = every_ns == SECOND;
    if settings.ends_when_steady() && !is_one && !(is_whole && asked.window_ns > every_ns) {
        return refused(
            format!(
                "fio: steadystate_duration of {} s must be a multiple of the \
                 steadystate_check_interval of {} s",
                asked.window_ns / SECOND,
                every_ns as f64 / SECOND as f64
            ),
            "Say whole seconds, and a duration of several intervals.",
        );
    }
    if settings.ends_when_steady() && !every_ns.is_multiple_of(interval_ns.max(1)) {
        return Err(unsupported(
            &format!("log_avg_msec={} with steadystate", interval_ns / 1_000_000),
            "use a log_avg_msec that divides steadystate_check_interval, 1 s unless it is said",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn criteria_are_those_of_fio() {
        let of = |text| criterion(text).ok();
        let (iops, slope) = (Rate::Operations, Unevenness::Slope);
        assert_eq!(of("iops:0.3%"), Some((iops, Unevenness::Deviation, 0.3, true)));
        assert_eq!(of("iops:50"), Some((iops, Unevenness::Deviation, 50.0, false)));
        assert_eq!(of("bw_slope:1m"), Some((Rate::Bytes, slope, 1_048_576.0, false)));
        for bad in ["iops", "foo:3", "iops:", "iops:x", "iops:-1", "iops:nan", "iops:3%%", "bw:1e3"]
        {
            assert_eq!(of(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_criterion_is_printed_as_fio_does() {
        let level = Level {
            of: Rate::Operations,
            by: Unevenness::Slope,
            limit: 0.0001,
            percent: true,
            window: Span(SECOND),
            every: Span(SECOND),
            after: Span(0),
            group: None,
        };
        assert_eq!(words(&level), "iops_slope:0.000100%");
        let level = Level { of: Rate::Bytes, by: Unevenness::Deviation, percent: false, ..level };
        assert_eq!(words(&Level { limit: 1.0, ..level }), "bw:1.000000");
    }
}
