use super::*;
use crate::experiment::sample::play;
use drivelab_core::facts::Facts;
use drivelab_core::study::StudyOptions;

fn asked() -> StudyOptions {
    StudyOptions {
        name: "tune".into(),
        scale: Scale::Quick,
        seed: 7,
        budget: Size(10 << 30),
        time: Span(300 * SECOND_NS),
        delta: 0.05,
        bytes: 256 << 20,
        ..StudyOptions::default()
    }
}

fn disk() -> Facts {
    let device = DeviceFacts {
        name: "sdq".into(),
        layer: "disk".into(),
        scheduler: Some("none".into()),
        schedulers: ["none", "mq-deadline"].map(String::from).to_vec(),
        rq_affinity: Some(1),
        read_ahead_kib: Some(4096),
        queue_settable: Some(true),
        ..DeviceFacts::default()
    };
    let mut facts = Facts::default();
    facts.target.kind = TargetKind::BlockDevice;
    facts.target.path = "/dev/sdq".into();
    facts.target.devices = vec![device];
    facts
}

/// A rate with a noise of half a percent, slower by a tenth where `slow` is in the name.
fn rate(slow: &'static str) -> impl Fn(&str, u32) -> f64 {
    move |name, repetition| {
        let noise = 1.0 + 0.005 * (f64::from(repetition * 7919 % 13) / 6.5 - 1.0);
        let factor = if !slow.is_empty() && name.contains(slow) { 0.9 } else { 1.0 };
        20_000.0 * noise * factor
    }
}

#[test]
fn a_slow_value_is_found_and_no_other() {
    let (options, facts) = (asked(), disk());
    let setting = Setting { options: &options, facts: &facts };
    assert_eq!(objection(&setting), None);
    let run = play(&STUDY, &setting, "unknown", &rate("qd32, scheduler mq-deadline"));
    let findings = STUDY.judged(&setting, &run);
    let said = findings.verdict.join(" ");
    assert!(said.contains("Of 15 comparisons") && said.contains("2 differ"), "{said}");
    assert!(said.contains("With scheduler mq-deadline, random read 4K qd32 is slower"), "{said}");
    assert!(findings.beware.is_empty() && !findings.no_answer, "{findings:?}");
    let none = STUDY.judged(&setting, &play(&STUDY, &setting, "unknown", &rate("")));
    assert!(none.verdict[0].contains("No setting of sdq matters here"), "{:?}", none.verdict);
}

#[test]
fn a_faster_value_comes_with_advice() {
    let (options, facts) = (asked(), disk());
    let setting = Setting { options: &options, facts: &facts };
    let fast = |name: &str, repetition| {
        rate("")(name, repetition) * if name.ends_with("read_ahead_kb 128") { 1.3 } else { 1.0 }
    };
    let findings = STUDY.judged(&setting, &play(&STUDY, &setting, "unknown", &fast));
    let said = findings.beware.join(" ");
    assert!(said.contains("echo 128 > /sys/block/sdq/queue/read_ahead_kb"), "{said}");
    assert!(said.contains("KERNEL==\"sdq\", ATTR{queue/read_ahead_kb}=\"128\""), "{said}");
}

#[test]
fn every_value_is_set_and_set_back_around_its_loads() {
    let (options, facts) = (asked(), disk());
    let setting = Setting { options: &options, facts: &facts };
    let run = play(&STUDY, &setting, "unknown", &rate(""));
    let mut now = Vec::from(QueueSetting::ALL.map(|it| (it, present(&setting, it).unwrap())));
    let begin = now.clone();
    for step in &run.steps {
        match &step.plan.act {
            Some(Act::Queue { setting, value }) => {
                now.iter_mut().find(|(it, _)| it == setting).unwrap().1.clone_from(value);
            }
            Some(_) => {}
            None => {
                let changed: Vec<String> = now
                    .iter()
                    .filter(|it| !begin.contains(it))
                    .map(|(it, value)| format!(", {} {value}", it.word()))
                    .collect();
                assert!(changed.len() < 2, "one setting at a time: {changed:?}");
                let value = changed.first().map_or("", String::as_str);
                let name = &step.begin.name;
                assert!(name.ends_with(value), "{name} under {value}");
                let is_plain = Load::ALL.iter().any(|load| load.word() == name);
                assert!(!value.is_empty() || is_plain || step.begin.role != Role::Measure);
            }
        }
    }
    assert_eq!(now, begin);
    let count = |name: &str| done(&run.steps, name);
    assert_eq!(count("random read 4K qd1"), 10);
    assert_eq!(count("random read 4K qd1, rq_affinity 2"), 5);
    assert_eq!(count("random read 4K qd1, read_ahead_kb 128"), 0, "it cannot matter there");
}

#[test]
fn a_run_that_was_killed_sets_again_what_it_measures() {
    let (options, facts) = (asked(), disk());
    let setting = Setting { options: &options, facts: &facts };
    let whole = play(&STUDY, &setting, "unknown", &rate(""));
    let is_variant = |step: &&drivelab_core::run::StepRun| {
        step.begin.name.contains("bfq") || step.begin.name.ends_with("qd32, scheduler mq-deadline")
    };
    let first = whole.steps.iter().position(|step| is_variant(&step)).unwrap();
    let mut cut = whole.clone();
    cut.steps.truncate(first + 1);
    let plan = next(&setting, &cut).unwrap();
    let done_already = &whole.steps[first].begin.name;
    let names: Vec<&str> = plan.steps.iter().map(|step| step.name.as_str()).collect();
    let again = names.iter().position(|name| *name == "set scheduler mq-deadline").unwrap();
    let measured = names.iter().position(|name| name.ends_with(", scheduler mq-deadline")).unwrap();
    assert!(again < measured, "{names:?}");
    assert!(!names[again..].iter().take(3).any(|name| name == done_already), "{names:?}");
}

#[test]
fn what_cannot_be_set_is_refused_with_the_way_out() {
    let options = asked();
    let says = |facts: &Facts| objection(&Setting { options: &options, facts }).unwrap();
    let mut facts = disk();
    facts.target.devices[0].queue_settable = Some(false);
    assert!(says(&facts).contains("of sdq cannot be changed by this user: run as root"));
    facts.target.devices.clear();
    assert!(says(&facts).contains("there is none below /dev/sdq"));
    let mut facts = disk();
    let device = &mut facts.target.devices[0];
    device.schedulers.truncate(1);
    (device.rq_affinity, device.read_ahead_kib) = (None, None);
    assert!(says(&facts).contains("nothing to choose"));
}

#[test]
fn of_a_partition_the_disk_is_set() {
    let options = asked();
    let mut facts = disk();
    let partition = DeviceFacts {
        name: "sdq1".into(),
        layer: "partition".into(),
        ..facts.target.devices[0].clone()
    };
    facts.target.devices.insert(0, partition);
    let setting = Setting { options: &options, facts: &facts };
    assert_eq!(device(&setting).unwrap().name, "sdq");
    let findings = STUDY.judged(&setting, &play(&STUDY, &setting, "unknown", &rate("")));
    assert!(findings.deviations[0].contains("the whole of sdq"), "{:?}", findings.deviations);
}
