//! The values of a parameter that is varied: a list as typed, or points between two ends.

use drivelab_core::quantity::digits;
use drivelab_core::units::{Size, Span};

/// Points between two ends where nobody says how many.
const POINTS: usize = 6;
/// More are not needed for a curve, and each is a whole study.
const POINTS_MAX: usize = 32;
/// Ends that are further apart than this factor have points at equal factors.
const BY_FACTORS: f64 = 4.0;
/// Digits of a value between the ends: as few as keep all values apart.
const DIGITS: std::ops::RangeInclusive<i32> = 2..=9;

/// How the ends of a range are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Whole,
    Bytes,
    Real,
}

/// `KEY=0.07..0.5`, `KEY=0.07..0.5/8` or `KEY=0.07,0.1,0.28` as the key, its values, and how they
/// were chosen.
///
/// # Errors
/// What is wrong and a line that is right.
pub fn values(text: &str) -> Result<(String, Vec<String>, String), String> {
    let wrong = |what: &str| {
        format!(
            "`{text}` {what}; give KEY=FROM..TO, KEY=FROM..TO/POINTS or KEY=A,B,C, such as \
                 spare=0.07..0.5"
        )
    };
    let (key, given) = text.split_once('=').ok_or_else(|| wrong("has no `=`"))?;
    let (key, given) = (key.trim(), given.trim());
    if key.is_empty() || given.is_empty() {
        return Err(wrong("names no parameter, or no value"));
    }
    let Some((from, rest)) = given.split_once("..") else {
        let values: Vec<String> = given.split(',').map(|it| it.trim().to_owned()).collect();
        let is_twice = |place: &usize| values[..*place].contains(&values[*place]);
        return match values.len() {
            _ if values.iter().any(String::is_empty) => Err(wrong("has an empty value")),
            1 => Err(wrong("is one value, and a sweep needs two at least")),
            many if many > POINTS_MAX => Err(too_many(many)),
            many if (0..many).any(|place| is_twice(&place)) => Err(wrong("has a value twice")),
            _ => Ok((key.into(), values, "the values as typed".into())),
        };
    };
    let (to, points) = match rest.split_once('/') {
        Some((to, points)) => {
            let points: usize =
                points.trim().parse().map_err(|_| wrong("does not say how many points"))?;
            (to, points)
        }
        None => (rest, POINTS),
    };
    if points > POINTS_MAX {
        return Err(too_many(points));
    }
    if points < 2 {
        return Err(wrong("has fewer than two points"));
    }
    let (from, to) = (from.trim(), to.trim());
    let ends = ends(key, from, to).ok_or_else(|| wrong("has an end that is not a number"))?;
    if ends.from >= ends.to {
        return Err(wrong("does not rise from its first end to its second"));
    }
    let (values, steps) = ends.points(points);
    Ok((key.into(), values, steps))
}

fn too_many(points: usize) -> String {
    format!("{points} points are too many, each is a whole study; give at most {POINTS_MAX}")
}

/// Two ends of a range, in numbers.
struct Ends {
    kind: Kind,
    from: f64,
    to: f64,
}

fn ends(key: &str, from: &str, to: &str) -> Option<Ends> {
    let plain = |text: &str| text.replace('_', "");
    let whole = |text: &str| plain(text).parse::<u64>().ok().map(|it| it as f64);
    let bytes = |text: &str| text.parse::<Size>().ok().map(|it| it.0 as f64);
    let span = |text: &str| text.parse::<Span>().ok().map(|it| it.0 as f64);
    let real = |text: &str| plain(text).parse::<f64>().ok().filter(|it| it.is_finite());
    let both = |kind, read: &dyn Fn(&str) -> Option<f64>| {
        Some(Ends { kind, from: read(from)?, to: read(to)? })
    };
    if key.ends_with("_bytes") || key.ends_with("_bytes_per_s") {
        return both(Kind::Bytes, &bytes);
    }
    if key.ends_with("_ns") {
        return both(Kind::Whole, &|text| whole(text).or_else(|| span(text)));
    }
    both(Kind::Whole, &whole)
        .or_else(|| both(Kind::Real, &real))
        .or_else(|| both(Kind::Bytes, &bytes))
}

impl Ends {
    /// The values, and how they lie.
    fn points(&self, points: usize) -> (Vec<String>, String) {
        let last = (points - 1) as f64;
        let by_factors = self.from > 0.0 && self.to / self.from >= BY_FACTORS;
        let factor = (self.to / self.from).powf(1.0 / last);
        let step = (self.to - self.from) / last;
        let exact: Vec<f64> = (0..points)
            .map(|place| match (place, by_factors) {
                (0, _) => self.from,
                (place, _) if place + 1 == points => self.to,
                (place, true) => self.from * factor.powi(place as i32),
                (place, false) => self.from + step * place as f64,
            })
            .collect();
        let texts = match self.kind {
            Kind::Real => DIGITS
                .map(|digits| self.rounded(&exact, |value| significant(value, digits)))
                .find(|texts| texts.len() == points),
            Kind::Whole => Some(self.rounded(&exact, f64::round)),
            Kind::Bytes => Some(self.rounded(&exact, even_size)),
        };
        let texts = texts.unwrap_or_else(|| self.rounded(&exact, |value| value));
        let steps = match by_factors {
            true => format!("each about {} times the one before", digits(factor)),
            false => "equally far apart but for rounding".to_owned(),
        };
        let count = texts.len();
        (texts, format!("{count} values, {steps}"))
    }

    /// Each value once, the ends as they are.
    fn rounded(&self, exact: &[f64], round: impl Fn(f64) -> f64) -> Vec<String> {
        let inner =
            |value: f64| if value == self.from || value == self.to { value } else { round(value) };
        let mut texts: Vec<String> = exact.iter().map(|value| self.text(inner(*value))).collect();
        texts.dedup();
        texts
    }

    fn text(&self, value: f64) -> String {
        match self.kind {
            Kind::Real => value.to_string(),
            Kind::Whole => (value as u64).to_string(),
            Kind::Bytes => Size(value as u64).to_string(),
        }
    }
}

fn significant(value: f64, digits: i32) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    format!("{value:.*e}", (digits - 1) as usize).parse().unwrap_or(value)
}

/// A size near this one, of few binary digits: 2.5 MiB and not 2,408,550 bytes.
fn even_size(value: f64) -> f64 {
    let grain = (value / 4.0).log2().floor().exp2().max(1.0);
    (value / grain).round() * grain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        values(text).unwrap_or_else(|error| panic!("{error}")).1
    }

    #[test]
    fn ranges_have_points_at_equal_factors_or_distances() {
        assert_eq!(of("spare=0.07..0.5"), ["0.07", "0.1", "0.15", "0.23", "0.34", "0.5"]);
        assert_eq!(of("spare=0.1..0.3/3"), ["0.1", "0.2", "0.3"]);
        assert_eq!(of("spare=0.0..1.0/5"), ["0", "0.25", "0.5", "0.75", "1"]);
        assert_eq!(of("spare=0..1/5"), ["0", "1"], "whole ends have whole values between them");
        assert_eq!(of("d=1..8"), ["1", "2", "3", "5", "8"], "each once");
        assert_eq!(of("program_ns=200us..800us/3"), ["200000", "400000", "800000"]);
        let sizes = ["1MiB", "2560KiB", "5MiB", "12MiB", "28MiB", "64MiB"];
        assert_eq!(of("buffer_bytes=1MiB..64MiB"), sizes);
        assert_eq!(of("spare=0.1,0.07"), ["0.1", "0.07"]);
        assert_eq!(of("collector=greedy,fifo"), ["greedy", "fifo"]);
        assert_eq!(of("spare=0.100..0.101/5").len(), 5, "as many digits as it takes");
        let (.., steps) = values("spare=0.07..0.5").unwrap();
        assert_eq!(steps, "6 values, each about 1.48 times the one before");
    }

    #[test]
    fn what_is_no_range_is_refused_with_one_that_is() {
        for (text, says) in [
            ("spare", "has no `=`"),
            ("=1..2", "names no parameter"),
            ("spare=0.1", "is one value"),
            ("spare=0.5..0.1", "does not rise"),
            ("spare=a..b", "has an end that is not a number"),
            ("spare=0.1..0.2/1", "fewer than two"),
            ("spare=0.1..0.2/x", "how many points"),
            ("spare=0.1..0.2/99", "99 points are too many"),
            ("spare=0.1,0.1", "has a value twice"),
            ("spare=0.1,,0.2", "has an empty value"),
        ] {
            let error = values(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
