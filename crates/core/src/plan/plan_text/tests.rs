use super::*;
use crate::op::Action;
use crate::plan::{
    Act, Arrival, Content, Engine, Files, Jump, Level, Mix, Names, Pattern, Rate, RateMin, Request,
    Sequence, Step, Stream, Switch, Sync, Think, Unevenness, Until, Zone,
};
use crate::units::{Size, Span};
use drivelab_stats::Random;

fn message(text: &str) -> String {
    parse(text, "plan.toml").expect_err("must be refused").to_string()
}

#[test]
fn an_unknown_key_is_shown_with_line_caret_and_suggestion() {
    let text = "title = \"x\"\n\n[[steps]]\nname = \"a\"\n\n[[steps.streams]]\n  qdepth = 32\n";
    assert_eq!(
        message(text),
        "plan.toml line 7, column 3: unknown key `qdepth` in [[steps.streams]]\n    \
         7 |   qdepth = 32\n      |   ^^^^^^ did you mean `depth`?"
    );
}

#[test]
fn the_section_is_named_at_every_level() {
    assert!(message("tittle = 1").contains("unknown key `tittle` in the plan"));
    assert!(message("[[steps]]\nnmae = 1").contains("unknown key `nmae` in [[steps]]"));
    let until = message("[[steps]]\nuntil = { elpsed = 1 }");
    assert!(until.contains("unknown key `elpsed` in `steps.until`"), "{until}");
    let mix = message("[[steps]]\n[[steps.streams]]\nmix.raed = 1");
    assert!(mix.contains("unknown key `raed` in `steps.streams.mix`"), "{mix}");
    assert!(mix.contains("did you mean `read`?"), "{mix}");
}

#[test]
fn a_wrong_word_lists_what_is_known() {
    let wrong = message("[[steps]]\n[[steps.streams]]\npattern = \"zigzag\"");
    assert!(wrong.contains("line 3, column 11: unknown word `zigzag`; known are"), "{wrong}");
    let near = message("[[steps]]\n[[steps.streams]]\npattern = \"unifrom\"");
    assert!(near.contains("did you mean `uniform`?"), "{near}");
    let size = message("[[steps]]\n[[steps.streams]]\nsize = \"4q\"");
    assert!(size.contains("line 3, column 8: `4q` is not a size: unknown unit `q`"), "{size}");
}

#[test]
fn broken_text_never_panics_and_always_has_a_place() {
    for text in ["=", "[[", "a = \"\u{e9}", "\u{0}", "x = 1\u{e9}", "[steps]", "steps = 3", "\r\r"]
    {
        let error = parse(text, "p").expect_err(text);
        assert!(error.line >= 1 && error.column >= 1 && error.marked >= 1, "{text:?}");
        assert!(error.to_string().lines().count() == 3, "{error}");
    }
    let whole = render(&sample(&mut Random::new(7)));
    let mut random = Random::new(1);
    for _ in 0..20_000 {
        let mut bytes = whole.clone().into_bytes();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len() as u64) as usize;
            match random.below(3) {
                0 => bytes[at] = random.below(256) as u8,
                1 => drop(bytes.remove(at)),
                _ => bytes.insert(at, b"[]{}=\"'.,\n#-\xc3"[random.below(13) as usize]),
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        if let Err(error) = parse(&text, "fuzz") {
            assert!(error.to_string().lines().count() == 3, "{text}");
        }
    }
}

#[test]
fn what_is_rendered_reads_back_equal() {
    let mut random = Random::new(42);
    for round in 0..500 {
        let plan = sample(&mut random);
        let text = render(&plan);
        let back = parse(&text, "rendered").unwrap_or_else(|error| panic!("{round}: {error}"));
        assert_eq!(back, plan, "{text}");
    }
    let mut huge = Plan { seed: u64::MAX, ..Plan::default() };
    huge.steps.push(Step::default());
    assert_eq!(parse(&render(&huge), "huge").unwrap(), huge);
}

#[test]
fn a_rendered_plan_reads_well() {
    let step = Step {
        name: "mix".into(),
        until: Until { elapsed: Some(Span(10_000_000_000)), ..Until::default() },
        repeat: 3,
        streams: vec![Stream { mix: Mix { read: 70, write: 30, trim: 0 }, ..Stream::default() }],
        ..Step::default()
    };
    let text = render(&Plan { title: "t".into(), seed: 7, steps: vec![step], ..Plan::default() });
    for line in ["seed = 7", "[[steps]]", "until = { elapsed = \"10s\" }", "[[steps.streams]]"] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
    assert!(text.contains("mix = { read = 70, write = 30 }\nsize = \"4KiB\""), "{text}");
}

fn sample(random: &mut Random) -> Plan {
    let steps = (0..1 + random.below(3)).map(|_| sample_step(random)).collect();
    let title = ["", "a \"quoted\" title", "zwei\nZeilen é \\"][random.below(3) as usize];
    Plan { title: title.into(), seed: random.next_u64() >> 1, steps, ..Plan::default() }
}

fn sample_step(random: &mut Random) -> Step {
    let act = match random.below(6) {
        0 => Some(Act::Idle(Span(random.below(9_000_000_000)))),
        1 => Some(Act::DropCaches),
        3 => Some(Act::WriteCache(Switch::Off)),
        2 => Some(Act::Trim { offset: Size(random.below(1 << 40)), length: None }),
        _ => None,
    };
    Step {
        name: format!("step {}", random.below(100)),
        act,
        ramp: Span(random.below(3) * 1_500_000),
        until: Until {
            elapsed: (random.below(2) == 0).then(|| Span(random.below(1 << 40))),
            operations: (random.below(2) == 0).then(|| random.below(1 << 60)),
            bytes: (random.below(2) == 0).then(|| Size(random.next_u64())),
            passes: (random.below(2) == 0).then(|| random.below(9)),
            steady: random.below(2) == 0,
            ends_all: random.below(2) == 0,
            stonewall: random.below(2) == 0,
            wear_out: random.below(2) == 0,
            issued_by: (random.below(2) == 0).then(|| random.next_u64() as u32),
            level: (random.below(2) == 0).then(|| sample_level(random)),
            rate_min: (random.below(2) == 0).then(|| sample_rate_min(random)),
        },
        repeat: random.below(4) as u32,
        streams: (0..random.below(3)).map(|_| sample_stream(random)).collect(),
        ..Step::default()
    }
}

fn sample_rate_min(random: &mut Random) -> RateMin {
    RateMin {
        of: [Rate::Operations, Rate::Bytes][random.below(2) as usize],
        read: random.below(1 << 40),
        write: random.below(2) * 1000,
        trim: random.below(2),
        every: Span((1 + random.below(3)) * 500_000_000),
        after: Span(random.below(2) * 1_500_000),
    }
}

fn sample_level(random: &mut Random) -> Level {
    Level {
        of: [Rate::Operations, Rate::Bytes, Rate::Latency][random.below(3) as usize],
        by: [Unevenness::Deviation, Unevenness::Slope][random.below(2) as usize],
        limit: random.unit_f64(),
        percent: random.below(2) == 0,
        window: Span(random.below(1 << 40)),
        every: Span((1 + random.below(3)) * 1_000_000_000),
        after: Span(random.below(2) * 1_500_000),
        group: (random.below(2) == 0).then(|| random.next_u64() as u32),
    }
}

/// Every order, with and without what it may leave out.
fn sample_pattern(random: &mut Random) -> Pattern {
    let maybe = |random: &mut Random| (random.below(2) == 0).then(|| random.unit_f64());
    let size = |random: &mut Random| Size(random.next_u64());
    match random.below(13) {
        0 => Pattern::Sequential(Sequence {
            stride: (random.below(2) == 0).then(|| random.next_u64() as i64),
            begin: (random.below(2) == 0).then(|| size(random)),
            restart: random.below(2) == 0,
            each_kind_in_order: random.below(2) == 0,
        }),
        1 => Pattern::Uniform,
        2 => Pattern::Permutation,
        12 => Pattern::RandomMap,
        3 => Pattern::SemiRandom(match random.below(2) {
            0 => Jump::Share(maybe(random)),
            _ => Jump::Run(1 + random.below(1 << 40)),
        }),
        4 => Pattern::Zipf { theta: maybe(random) },
        5 => Pattern::SelfSimilar { skew: maybe(random) },
        6 => Pattern::Bell { plateau: maybe(random) },
        7 => Pattern::HotZones(
            (0..random.below(3))
                .map(|_| Zone { addresses: random.unit_f64(), accesses: random.unit_f64() })
                .collect(),
        ),
        8 => Pattern::Segments {
            block: size(random),
            segments: (random.below(2) == 0).then(|| random.next_u64()),
        },
        9 => Pattern::Replay((0..random.below(4)).map(|_| size(random)).collect()),
        10 => Pattern::Trace(vec![Request {
            at_ns: random.next_u64(),
            action: Action::Write,
            offset: random.next_u64(),
            bytes: random.next_u64() as u32,
        }]),
        _ => Pattern::Names(Names {
            actions: vec![Action::Create, Action::Stat],
            names: (random.below(2) == 0).then(|| random.next_u64() as u32),
            directories: [Files::One, Files::Each][random.below(2) as usize],
            form: (random.below(2) == 0).then(|| "n{name}".into()),
            of_directories: random.below(2) == 0,
            name_bytes: Size(random.below(2) * 4096),
            existing: random.below(2) == 0,
        }),
    }
}

fn sample_arrival(random: &mut Random) -> Arrival {
    match random.below(3) {
        0 => Arrival::Open { rate: random.exponential(1e6), poisson: random.below(2) == 0 },
        1 => Arrival::AT_ONCE,
        _ => Arrival::Closed {
            burst: (random.below(2) == 0).then(|| random.next_u64() as u32),
            think: (random.below(2) == 0).then(|| Think {
                time: Span(1 + random.below(1 << 50)),
                first: random.below(2) == 0,
            }),
        },
    }
}

fn sample_stream(random: &mut Random) -> Stream {
    Stream {
        engine: Engine::ALL[random.below(6) as usize],
        pattern: sample_pattern(random),
        sync: [Sync::None, Sync::Fsync(4), Sync::End][random.below(3) as usize],
        content: [Content::Zero, Content::Compressible(30)][random.below(2) as usize],
        arrival: sample_arrival(random),
        mix: Mix { read: random.below(101) as u32, write: random.below(101) as u32, trim: 0 },
        size: Size(random.next_u64() >> random.below(64)),
        depth: random.next_u64() as u32,
        verify: random.below(2) == 0,
        read_back: (random.below(2) == 0)
            .then(|| Mix { read: random.below(101) as u32, ..Mix::WRITE }),
        ..Stream::default()
    }
}
