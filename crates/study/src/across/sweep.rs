//! One drive with one parameter varied: a table and a curve for each number that depends on it.

use crate::experiment::Study;
use crate::experiment::capital;
use drivelab_core::findings::{
    Axis, Entry, Figure, Findings, Head, Line, LineKind, Picture, Table, Unit,
};
use drivelab_core::gathering::{Member, Sweep};
use drivelab_core::quantity::{bandwidth, count, digits, operations, percent, size, time};
use drivelab_core::units::{Size, Span};
use drivelab_stats::Estimate;

/// Figures of a study that declares none for a sweep.
const FIGURES_MAX: usize = 3;
/// A change from one value to the next by less is called none.
const LEVEL: f64 = 0.005;
/// How the programmed bytes for each byte of the host are called.
const AMPLIFICATION: &str = "write amplification";

/// One number at every value of the parameter.
struct Series {
    name: String,
    unit: Unit,
    /// `None`: the run has none.
    at: Vec<Option<Estimate>>,
}

impl Series {
    fn known(&self) -> impl Iterator<Item = (usize, f64)> {
        let point = |(place, one): (usize, &Option<Estimate>)| Some((place, one.as_ref()?.value));
        self.at.iter().enumerate().filter_map(point)
    }
}

/// What the runs say together. A member without a number is named; with fewer than two points of
/// every number there is no answer.
pub fn findings(study: &Study, members: &[Member<'_>], sweep: &Sweep) -> Findings {
    let series = series(study, members);
    let mut found = Findings::default();
    for one in &series {
        found.verdict.extend(course(one, sweep));
    }
    for (member, value) in members.iter().zip(&sweep.values) {
        let name = format!("{}={value}", sweep.key);
        let Some(own) = &member.run.findings else {
            found.unknown.push(format!("What {name} does: its run did not end."));
            continue;
        };
        let named = |list: &[String]| -> Vec<String> {
            list.iter().map(|text| format!("{name}: {text}")).collect()
        };
        found.suspect.extend(named(&own.suspect));
        found.beware.extend(named(&own.beware));
    }
    found.unknown.extend(gaps(study, &series, members, sweep));
    found.pictures = series.iter().filter_map(|one| picture(one, sweep)).collect();
    found.tables = vec![table(&series, sweep, study, &differences(members, sweep))];
    found.no_answer = found.verdict.is_empty();
    found
}

fn figures<'a>(member: &Member<'a>) -> &'a [Figure] {
    member.run.findings.as_ref().map_or(&[], |findings| &findings.figures)
}

fn series(study: &Study, members: &[Member<'_>]) -> Vec<Series> {
    let mut names: Vec<(&str, Unit)> = Vec::new();
    for figure in members.iter().flat_map(figures) {
        let is_wanted = match study.swept.figures {
            [] => names.len() < FIGURES_MAX,
            declared => declared.contains(&figure.name.as_str()),
        };
        let known = (figure.name.as_str(), figure.unit);
        if is_wanted && !names.contains(&known) {
            names.push(known);
        }
    }
    let declared = |name: &str| study.swept.figures.iter().position(|one| *one == name);
    names.sort_by_key(|(name, _)| declared(name));
    let of = |(name, unit): (&str, Unit)| Series {
        name: name.into(),
        unit,
        at: members.iter().map(|member| figure(member, name, unit)).collect(),
    };
    let mut series: Vec<Series> = names.into_iter().map(of).collect();
    let amplified = study.swept.amplified.map(|step| Series {
        name: AMPLIFICATION.into(),
        unit: Unit::Factor,
        at: members.iter().map(|member| amplification(member, step)).collect(),
    });
    series.extend(amplified.filter(|one| one.known().next().is_some()));
    series
}

fn figure(member: &Member<'_>, name: &str, unit: Unit) -> Option<Estimate> {
    let found = figures(member).iter().find(|it| it.name == name && it.unit == unit)?;
    Some(found.estimate)
}

/// What a simulated drive programmed for each byte of the host, in the steps of this name.
fn amplification(member: &Member<'_>, step: &str) -> Option<Estimate> {
    let no_answer = member.run.findings.as_ref().is_none_or(|findings| findings.no_answer);
    let steps = member.run.steps.iter().filter(|it| it.begin.name == step && !no_answer);
    let insides = steps.filter_map(|step| step.end.as_ref()?.inside);
    let each: Vec<f64> = insides.filter_map(|inside| inside.write_amplification()).collect();
    Estimate::positive_mean_of(&each)
}

fn shown(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Iops => operations(value),
        Unit::BytesPerS => bandwidth(value),
        Unit::Bytes => size(value.max(0.0) as u64),
        Unit::Ns => time(value),
        Unit::Share => percent(value),
        Unit::Factor => digits(value),
        Unit::Count => count(value.max(0.0) as u64),
    }
}

/// From where to where a number goes, and whether always in one direction; nothing of one point.
fn course(series: &Series, sweep: &Sweep) -> Option<String> {
    let known: Vec<(usize, f64)> = series.known().collect();
    let ((first, from), (last, to)) = (*known.first()?, *known.last()?);
    if first == last {
        return None;
    }
    let at = |place: usize| format!("{}={}", sweep.key, sweep.values[place]);
    let (value, name, unit) = (&sweep.values[last], capital(&series.name), series.unit);
    let steps: Vec<f64> = known.windows(2).map(|pair| pair[1].1 / pair[0].1 - 1.0).collect();
    if steps.iter().all(|step| step.abs() < LEVEL) {
        return Some(format!(
            "{name}: {} from {} to {value}; it changes by less than {} from value to value.",
            shown(from, unit),
            at(first),
            percent(LEVEL)
        ));
    }
    let (rises, falls) = (steps.iter().all(|it| *it > 0.0), steps.iter().all(|it| *it < 0.0));
    let by_value = |one: &&(usize, f64), other: &&(usize, f64)| one.1.total_cmp(&other.1);
    let ends = || {
        let most = known.iter().max_by(by_value).map_or(first, |it| it.0);
        let least = known.iter().min_by(by_value).map_or(first, |it| it.0);
        format!("; it is largest at {} and smallest at {}", at(most), at(least))
    };
    let direction = match (rises, falls) {
        // Two points have no other way, and words no direction.
        _ if known.len() < 3 || numbers(sweep).is_none() => String::new(),
        (true, _) => "; it rises from each value to the next".into(),
        (_, true) => "; it falls from each value to the next".into(),
        _ => ends(),
    };
    Some(format!(
        "{name}: {} at {}, {} at {value}, a factor of {}{direction}.",
        shown(from, unit),
        at(first),
        shown(to, unit),
        digits(to / from)
    ))
}

/// The values at which numbers are missing, a sentence for each set of values.
fn gaps(study: &Study, series: &[Series], members: &[Member<'_>], sweep: &Sweep) -> Vec<String> {
    let mut missing: Vec<(Vec<usize>, Vec<&str>)> = Vec::new();
    for one in series {
        let places: Vec<usize> = (0..one.at.len()).filter(|at| one.at[*at].is_none()).collect();
        match missing.iter_mut().find(|(known, _)| *known == places) {
            Some((_, names)) => names.push(&one.name),
            None => missing.push((places, vec![&one.name])),
        }
    }
    let told = |(places, names): (Vec<usize>, Vec<&str>)| {
        let first = *places.first()?;
        let values: Vec<&str> = places.iter().map(|place| sweep.values[*place].as_str()).collect();
        Some(format!(
            "{} at {}={}: the quick study did not show it. A longer one may: `drivelab study {} \
             {}`.",
            capital(&names.join(" and ")),
            sweep.key,
            values.join(", "),
            study.name,
            members[first].target
        ))
    };
    missing.into_iter().filter_map(told).collect()
}

/// The values as numbers, and what those are; `None` where one is a word.
fn numbers(sweep: &Sweep) -> Option<(Vec<f64>, Unit)> {
    let key = sweep.key.as_str();
    let plain = |text: &str| text.replace('_', "").parse::<f64>().ok();
    let bytes = |text: &str| text.parse::<Size>().ok().map(|size| size.0 as f64);
    let span = |text: &str| text.parse::<Span>().ok().map(|span| span.0 as f64);
    let all = |read: &dyn Fn(&str) -> Option<f64>| -> Option<Vec<f64>> {
        let numbers = sweep.values.iter().map(|value| read(value).filter(|it| it.is_finite()));
        numbers.collect()
    };
    if key.ends_with("_bytes_per_s") {
        return Some((all(&bytes)?, Unit::BytesPerS));
    }
    if key.ends_with("_bytes") {
        return Some((all(&bytes)?, Unit::Bytes));
    }
    if key.ends_with("_ns") {
        return Some((all(&plain)?, Unit::Ns));
    }
    if let Some(numbers) = all(&plain) {
        let is_whole = numbers.iter().all(|number| number.fract() == 0.0);
        let is_share = numbers.iter().all(|number| (0.0..=1.0).contains(number));
        let unit = match (is_whole, is_share) {
            (true, _) => Unit::Count,
            (_, true) => Unit::Share,
            _ => Unit::Factor,
        };
        return Some((numbers, unit));
    }
    let of_bytes = all(&bytes).map(|numbers| (numbers, Unit::Bytes));
    of_bytes.or_else(|| Some((all(&span)?, Unit::Ns)))
}

/// A number over the values, if both are numbers at two places at least.
fn picture(series: &Series, sweep: &Sweep) -> Option<Picture> {
    let (places, unit) = numbers(sweep)?;
    let mut points: Vec<(f64, f64)> =
        series.known().map(|(place, value)| (places[place], value)).collect();
    if points.len() < 2 {
        return None;
    }
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    Some(Picture {
        title: format!("{} by {}", capital(&series.name), sweep.key),
        note: format!("One quick study at each value of {}, on a new drive.", sweep.key),
        x: Axis { quantity: sweep.key.clone(), unit },
        y: Axis { quantity: series.name.clone(), unit: series.unit },
        lines: vec![Line { label: series.name.clone(), kind: LineKind::Measured, points }],
        marks: Vec::new(),
    })
}

/// In what the drives are not what was typed, each sentence once.
fn differences(members: &[Member<'_>], sweep: &Sweep) -> String {
    let told = |member: &Member<'_>| member.run.begin.facts.target.differences.clone();
    let of_all = |text: &String| members.iter().all(|member| told(member).contains(text));
    let mut texts: Vec<String> = Vec::new();
    for (member, value) in members.iter().zip(&sweep.values) {
        for text in told(member) {
            let text = match of_all(&text) {
                true => text,
                false => format!("{}={value}: {text}", sweep.key),
            };
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
    }
    texts.join(" ")
}

fn table(series: &[Series], sweep: &Sweep, study: &Study, differences: &str) -> Table {
    let head = |one: &Series| Head { name: one.name.clone(), unit: Some(one.unit) };
    let entry = |one: &Series, place: usize| {
        one.at[place].as_ref().map_or(Entry::Nothing, |it| Entry::Number(it.value))
    };
    let row = |(place, value): (usize, &String)| {
        let numbers = series.iter().map(|one| entry(one, place));
        std::iter::once(Entry::Text(value.clone())).chain(numbers).collect()
    };
    Table {
        title: format!("{} with {} varied", sweep.drive, sweep.key),
        note: format!(
            "Each row is a new drive and one quick run of `{}` with the same seed; {}. \
             {differences}",
            study.name, sweep.steps
        )
        .trim_end()
        .into(),
        heads: std::iter::once(Head { name: sweep.key.clone(), unit: None })
            .chain(series.iter().map(head))
            .collect(),
        rows: sweep.values.iter().enumerate().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wsat;
    use drivelab_core::run::Run;

    fn run(steady: Option<f64>) -> Run {
        let figure = |value| Figure {
            name: "steady state".into(),
            estimate: Estimate::point(value, 5),
            unit: Unit::Iops,
            note: String::new(),
        };
        let findings = Findings {
            verdict: vec!["It falls.".into()],
            figures: steady.map(figure).into_iter().collect(),
            no_answer: steady.is_none(),
            ..Findings::default()
        };
        let mut run = Run { findings: Some(findings), ..Run::default() };
        let differences = &mut run.begin.facts.target.differences;
        differences.push("It is small.".into());
        differences.extend(steady.filter(|it| *it == 20e3).map(|_| "It is uneven.".into()));
        run
    }

    fn of(values: &[&str], rates: &[Option<f64>]) -> Findings {
        let runs: Vec<Run> = rates.iter().map(|rate| run(*rate)).collect();
        let targets: Vec<String> = values.iter().map(|it| format!("sim:x,spare={it}")).collect();
        let members: Vec<Member<'_>> =
            runs.iter().zip(&targets).map(|(run, target)| Member { target, run }).collect();
        let sweep = Sweep {
            key: "spare".into(),
            values: values.iter().map(|it| (*it).into()).collect(),
            steps: "as typed".into(),
            drive: "sim:x".into(),
        };
        findings(&wsat::STUDY, &members, &sweep)
    }

    #[test]
    fn a_course_is_told_as_it_is() {
        let rising = of(&["0.1", "0.2", "0.4"], &[Some(10e3), Some(20e3), Some(30e3)]);
        let text = &rising.verdict[0];
        assert!(text.starts_with("Steady state: ") && text.contains(" at spare=0.1, "), "{text}");
        assert!(text.contains(" at 0.4, a factor of 3.00; it rises from each"), "{text}");
        let note = &rising.tables[0].note;
        assert!(note.ends_with("as typed. It is small. spare=0.2: It is uneven."), "{note}");
        let falling = of(&["1", "2"], &[Some(2e3), Some(1e3)]);
        assert!(falling.verdict[0].ends_with("a factor of 0.50."), "two points");
        let falling = of(&["1", "2", "3"], &[Some(3e3), Some(2e3), Some(1e3)]);
        assert!(falling.verdict[0].contains("; it falls from each value to the next"));
        let both = of(&["1", "2", "3"], &[Some(2e3), Some(3e3), Some(1e3)]);
        let text = &both.verdict[0];
        assert!(text.contains("it is largest at spare=2 and smallest at spare=3"));
        let level = of(&["1", "2"], &[Some(1000.0), Some(1001.0)]);
        assert!(level.verdict[0].contains("changes by less than 0.5 %"));
        let [picture] = rising.pictures.as_slice() else { panic!("{:?}", rising.pictures) };
        assert_eq!(picture.lines[0].points, [(0.1, 10e3), (0.2, 20e3), (0.4, 30e3)]);
        assert_eq!(rising.tables[0].rows[1], [Entry::Text("0.2".into()), Entry::Number(20e3)]);
    }

    #[test]
    fn a_value_without_an_answer_is_named_and_not_drawn() {
        let found = of(&["0.1", "0.2", "0.4"], &[Some(10e3), None, Some(30e3)]);
        assert_eq!(found.pictures[0].lines[0].points.len(), 2);
        assert_eq!(found.tables[0].rows[1][1], Entry::Nothing);
        let text = &found.unknown[0];
        assert!(text.contains("Steady state at spare=0.2: the quick study did not"), "{text}");
        assert!(text.contains("`drivelab study wsat sim:x,spare=0.2`"), "{text}");
        assert!(!found.no_answer);
        let none = of(&["0.1", "0.2"], &[Some(10e3), None]);
        assert!(none.no_answer && none.pictures.is_empty(), "one point is no curve");
    }

    #[test]
    fn words_have_a_table_and_no_curve() {
        let found = of(&["fifo", "greedy"], &[Some(10e3), Some(30e3)]);
        assert!(found.pictures.is_empty() && found.tables[0].rows.len() == 2);
        assert!(found.verdict[0].ends_with("a factor of 3.00."), "{:?}", found.verdict);
        let of = |key: &str, values: &[&str]| {
            let values = values.iter().map(|it| (*it).into()).collect();
            let (key, none) = (key.into(), String::new);
            numbers(&Sweep { key, values, steps: none(), drive: none() })
        };
        let sizes = (vec![1048576.0, 2097152.0], Unit::Bytes);
        assert_eq!(of("buffer_bytes", &["1MiB", "2MiB"]), Some(sizes.clone()));
        assert_eq!(of("capacity", &["1MiB", "2MiB"]), Some(sizes));
        assert_eq!(of("program_ns", &["200_000"]), Some((vec![200_000.0], Unit::Ns)));
        assert_eq!(of("spare", &["0.07", "1"]), Some((vec![0.07, 1.0], Unit::Share)));
        assert_eq!(of("d", &["1", "8"]), Some((vec![1.0, 8.0], Unit::Count)));
        assert_eq!(of("skew", &["0.5", "1.5"]), Some((vec![0.5, 1.5], Unit::Factor)));
        assert_eq!(of("collector", &["greedy", "2"]), None);
    }
}
