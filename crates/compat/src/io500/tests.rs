use super::*;
use crate::front::{Found as There, Host};
use crate::front_end::Answer;
use crate::suite::{Figure, Phase as Next, Word};
use drivelab_core::plan::Found;
use drivelab_core::record::{StepBegin, StepEnd};
use drivelab_core::run::{Run, StepRun};

/// A world of one file.
struct World1 {
    text: String,
    ranks: u32,
    scale_time: Scale,
    found: There,
}

impl World for World1 {
    fn found(&self, path: &str) -> There {
        let is_there = path == "/d" || path.starts_with("/d/") && path.ends_with("-easy");
        if is_there { There::Directory } else { self.found.clone() }
    }

    fn text(&self, path: &str) -> Result<String, String> {
        match path {
            "c.ini" => Ok(self.text.clone()),
            _ => Err("No such file or directory".to_owned()),
        }
    }

    fn variable(&self, _name: &str) -> Option<String> {
        None
    }

    fn host(&self) -> Host {
        Host::default()
    }

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn scale(&self) -> Scale {
        Scale::WHOLE
    }

    fn scale_time(&self) -> Scale {
        self.scale_time
    }
}

/// Sun Nov 22 05:37:46 2026, UTC.
const NOW_MS: u64 = 1_795_325_866_000;

fn world(text: &str) -> World1 {
    World1 { text: text.to_owned(), ranks: 2, scale_time: Scale::WHOLE, found: There::Absent }
}

fn suite_in(world: &World1, line: &str) -> Result<Box<dyn Suite>, Refusal> {
    let words: Vec<String> = line.split(' ').map(String::from).collect();
    match words::parse(&words, world)? {
        Answer::Suite(mut suite) => {
            suite.begin_at(NOW_MS);
            Ok(suite)
        }
        _ => panic!("{line} is no suite"),
    }
}

fn suite(text: &str) -> Box<dyn Suite> {
    suite_in(&world(text), "c.ini").unwrap()
}

fn line_of(suite: &dyn Suite, name: &str) -> Option<String> {
    let index = suite.phases().iter().position(|phase| *phase == name).unwrap();
    suite.shown(index)
}

const PLAIN: &str = "[global]\ndatadir = /d\nresultdir = /r/\n";

#[test]
fn phases_are_the_lines_of_the_suite() {
    let plain = suite(PLAIN);
    assert_eq!(
        line_of(&*plain, "ior-easy-write").unwrap(),
        "ior -C -Q 1 -g -G 271 -k -e -o /d/2026.11.22-05.37.46/ior-easy/ior_file_easy \
         -O stoneWallingStatusFile=/r/2026.11.22-05.37.46/ior-easy.stonewall \
         -O saveRankPerformanceDetailsCSV=/r/2026.11.22-05.37.46/ior-easy-write.csv \
         -t 2m -b 9920000m -F -w -O stoneWallingWearOut=1 -D 300 -a POSIX"
    );
    assert_eq!(
        line_of(&*plain, "mdtest-hard-read").unwrap(),
        "mdtest -n 1000000 -t -F -P -w 3901 -e 3901 -G 27 -N 1 -d \
         /d/2026.11.22-05.37.46/mdtest-hard -x /r/2026.11.22-05.37.46/mdtest-hard.stonewall \
         -E -X -a POSIX"
    );
    let asked = suite(
        "[global]\ndatadir=/d\ntimestamp-datadir = false\n[IOR-Easy]\nTransferSize=1m\n\
         blockSize = 8m\nfilePerProc = 0\nAPI = POSIX --posix.odirect\n[ior-hard]\n\
         segmentCount=7\n[mdtest-easy]\nn=9\n[debug]\nstonewall-time = 4\n[ior-hard-read]\n\
         API = posix --posix.odirect\n[mdtest-easy-stat]\nrun = FALSE\n",
    );
    let has = |name: &str, part: &str| {
        let line = line_of(&*asked, name).unwrap();
        assert!(line.contains(part), "{name}: {line}");
    };
    has("ior-easy-read", "-o /d/ior-easy/ior_file_easy ");
    has("ior-easy-read", "-t 1m -b 8m -r -R -a POSIX --posix.odirect");
    has("ior-easy-write", "-D 4");
    has("ior-hard-write", "-t 47008 -b 47008 -s 7 -w");
    has("ior-hard-read", "-r -R -a POSIX --posix.odirect");
    assert!(!line_of(&*asked, "ior-hard-write").unwrap().contains("odirect"));
    has("mdtest-easy-write", "mdtest -n 9 -u -L -F -P -G 271 ");
    has("mdtest-easy-delete", "-r -a POSIX");
    assert_eq!(line_of(&*asked, "mdtest-easy-stat"), None, "it is not to be run");
    assert_eq!(line_of(&*asked, "timestamp"), None);
}

#[test]
fn phases_come_in_the_order_of_the_suite() {
    let names = suite(PLAIN).phases();
    let order = "ior-easy-write mdtest-easy-write timestamp ior-hard-write mdtest-hard-write find \
                 ior-easy-read mdtest-easy-stat ior-hard-read mdtest-hard-stat mdtest-easy-delete \
                 mdtest-hard-read mdtest-hard-delete";
    assert_eq!(names.join(" "), order);
}

#[test]
fn what_makes_no_sense_is_named_with_its_line_and_a_way_out() {
    for (text, says, way) in [
        ("[global", "c.ini line 1: `[global` is not a [section]", "[global]"),
        ("x=1", "c.ini line 1: `x` stands before any [section]", "[global]"),
        ("[finds]", "c.ini line 1: [finds] is not a section of the suite", "Did you mean find?"),
        ("\n[global]\ndatdir=x", "c.ini line 3: [global] has no key datdir", "mean datadir?"),
        ("[find]\nnproc=-1", "nproc = -1 is not a whole number", "nproc = 1"),
        ("[find]\nrun=yes", "run = yes is not TRUE or FALSE", "run = TRUE"),
        ("[ior-easy]\nblockSize=x", "blockSize = x is not a size", "blockSize = 2m"),
        ("[ior-easy]\nblockSize=3m", "blockSize = 3m is not a multiple", "9920000m"),
        ("[ior-hard]\nsegmentCount=0", "segmentCount = 0 moves nothing", "1 or more"),
        ("[mdtest-hard]\nn=0", "[mdtest-hard] n = 0 files", "1 to 1073741824"),
        ("[debug]\nstonewall-time=0", "a stonewall-time of 0 s", "--scale-time"),
        ("[debug]\npause-dir=/p", "pause-dir = /p is not supported", "follow each other"),
        ("[global]\napi=MPIIO", "api = MPIIO: only POSIX is supported", "API = POSIX"),
        ("[global]\napi=POSIX --x", "`--x` is not supported here", "--posix.odirect"),
        ("[mdtest-easy]\nAPI=POSIX --posix.odirect", "`--posix.odirect` is not", "IOR alone"),
        ("[global]\ndataPacketType=z", "dataPacketType = z is not known", "timestamp, offset"),
        ("[global]\nio-buffers-on-gpu=1", "io-buffers-on-gpu = 1 is not supported", "Leave it out"),
        ("[ior-hard-write]\ncollective=TRUE", "collective = TRUE is not", "POSIX has none"),
        ("[mdtest-hard]\nfiles-per-dir=5", "files-per-dir = 5 is not", "for debugging"),
        ("[find]\nexternal-script=/x", "external-script = /x is not", "drivelab itself"),
        ("[global]\ndatadir=sim:x25-e", "is a simulated drive", "Name a directory"),
        ("[global]\nresultdir=a@b", "resultdir = a@b holds `@`", "without it"),
    ] {
        let refusal = suite_in(&world(text), "c.ini").map(|_| ()).unwrap_err();
        assert!(refusal.text.contains(says), "{text}: {refusal:?}");
        assert!(refusal.advice.contains(way), "{text}: {refusal:?}");
        assert_eq!(refusal.status, 1);
    }
    for (line, says) in [
        ("none.ini", "none.ini cannot be read: No such file or directory"),
        ("c.ini more", "more stands behind the file"),
        ("c.ini --cleanup", "--cleanup is not supported here"),
        ("c.ini --mode=extended", "--mode=extended is not supported here"),
        ("c.ini --what", "--what is not an option of io500"),
        ("c.ini --timestamp=../x", "--timestamp=../x is not the name of a directory"),
        ("c.ini --timestamp", "--timestamp= is not the name of a directory"),
    ] {
        let refusal = suite_in(&world(PLAIN), line).map(|_| ()).unwrap_err();
        assert!(refusal.text.contains(says) && !refusal.advice.is_empty(), "{line}: {refusal:?}");
    }
    let file = World1 { found: There::File { bytes: 1 }, ..world(PLAIN) };
    let refusal = suite_in(&file, "c.ini").map(|_| ()).unwrap_err();
    assert_eq!(refusal.text, "/r/ cannot be used: it is not a directory");
}

#[test]
fn what_asks_for_nothing_is_taken_and_what_differs_is_said() {
    let nothing = suite(
        "[global]\nio-buffers-on-gpu = FALSE\nverbosity = 1\n[ior-hard]\ncollective = 0\n\
         [find]\npfind-queue-length = 10000\nexternal-script =\n",
    );
    let codes =
        |suite: &dyn Suite| -> Vec<&str> { suite.notes().iter().map(|note| note.code).collect() };
    assert_eq!(codes(&*nothing), ["times_of_phases", "caches_stay"]);
    let asked = suite("[global]\ndrop-caches=TRUE\n[find]\npfind-steal-next=1\n[find-easy]\nx=1\n");
    assert_eq!(
        codes(&*asked),
        ["without_effect", "without_effect", "extended_mode", "times_of_phases"]
    );
}

fn outcome(suite: &dyn Suite, name: &str, score: f64, seconds: f64) -> Outcome {
    let phase = suite.phases().iter().position(|phase| *phase == name).unwrap();
    let figure = Figure { score, seconds, found: None };
    let measured = (name != "timestamp").then_some((figure, Word::Valid));
    let between_ms = (NOW_MS, NOW_MS + 1000);
    suite.outcome(Done { phase, line: "line".into(), measured, between_ms, run: None })
}

/// Bandwidths of 1, 2, 4 and 8, names at 8 each.
fn planted(suite: &dyn Suite, seconds: f64) -> Vec<Outcome> {
    let mut bandwidths = [1.0, 2.0, 4.0, 8.0].into_iter();
    let score = |name: &str, next: &mut dyn Iterator<Item = f64>| match name.starts_with("ior") {
        true => next.next().unwrap(),
        false => 8.0,
    };
    let names = suite.phases();
    names.iter().map(|name| outcome(suite, name, score(name, &mut bandwidths), seconds)).collect()
}

#[test]
fn the_score_is_the_root_of_both_geometric_means() {
    let suite = suite(PLAIN);
    let all = planted(&*suite, 300.5);
    let score = Score::of(&all);
    // The fourth root of 64, and the square root of 8 times that.
    assert!((score.bandwidth - 2.828_427_125).abs() < 1e-9, "{score:?}");
    assert!((score.metadata - 8.0).abs() < 1e-9, "{score:?}");
    assert!((score.total - 4.756_828_460).abs() < 1e-9, "{score:?}");
    assert_eq!(suite.invalid(&all), Vec::<String>::new());
    assert!(suite.score(&all).starts_with(
        "[SCORE ] Bandwidth 2.828427 GiB/s : IOPS 8.000000 kiops : TOTAL 4.756828\n\nResults: "
    ));
    // As in the suite, a phase of nothing is left out of the mean, and the score is not valid.
    let mut without = all.clone();
    without[0] = outcome(&*suite, "ior-easy-write", 0.0, 300.5);
    assert!((Score::of(&without).bandwidth - 4.0).abs() < 1e-9);
    assert_eq!(suite.invalid(&without), ["ior-easy-write: nothing was measured"]);
    assert!(suite.score(&without).contains("[INVALID]\n"));
    assert_eq!(Score::of(&[]), Score::default());
}

#[test]
fn what_the_rules_do_not_take_is_invalid() {
    let of = |text: &str, scale_time, seconds| {
        let world = World1 { scale_time, ..world(text) };
        let suite = suite_in(&world, "c.ini").unwrap();
        suite.invalid(&planted(&*suite, seconds))
    };
    let hundredth = Scale { numerator: 1, denominator: 100 };
    let found = of(PLAIN, hundredth, 3.5);
    assert_eq!(found[0], "--scale-time makes the stonewall one of 3 s");
    assert_eq!(found[1], "ior-easy-write: it took 3.500 s, and the rules ask for 300 s");
    assert_eq!(found.len(), 5, "four phases write: {found:?}");
    let found = of(PLAIN, Scale::WHOLE, 299.0);
    assert_eq!(found[0], "ior-easy-write: it took 299.000 s, less than the stonewall of 300 s");
    assert_eq!(found.len(), 8);
    let found = of("[debug]\nstonewall-time=30\n", Scale::WHOLE, 301.0);
    assert_eq!(found, ["stonewall-time is 30 s, and the rules ask for 300 s"]);
    let students = "[debug]\nstonewall-time=30\n[global]\nscc=TRUE\n";
    assert_eq!(of(students, Scale::WHOLE, 31.0), Vec::<String>::new());
    let suite = suite(PLAIN);
    let skipped = suite.outcome(Done { phase: 5, ..Done::default() });
    assert_eq!(suite.invalid(&[skipped]), ["find: the phase was not run"]);
    let figure = Figure { score: 1.0, seconds: 1.0, found: Some(Found { matched: 0, total: 9 }) };
    let measured = Some((figure, Word::NotChecked(None)));
    let none = suite.outcome(Done { phase: 5, measured, ..Done::default() });
    assert_eq!(suite.invalid(&[none]), ["find: no file was found"]);
}

#[test]
fn results_are_laid_out_as_those_of_the_suite() {
    let suite = suite(PLAIN);
    let row = |outcome: &Outcome| suite.row(outcome);
    assert_eq!(
        row(&outcome(&*suite, "ior-easy-write", 1.25, 2.0)),
        "[RESULT]       ior-easy-write        1.250000 GiB/s : time 2.000 seconds [INVALID]  \
         guard: valid\n"
    );
    assert_eq!(
        row(&outcome(&*suite, "mdtest-easy-stat", 1234.5, 2.0)),
        "[RESULT]     mdtest-easy-stat     1234.500000 kIOPS : time 2.000 seconds  guard: valid\n"
    );
    assert_eq!(
        row(&outcome(&*suite, "timestamp", 0.0, 0.0)),
        "[      ]            timestamp        0.000000 kIOPS : time 0.000 seconds\n"
    );
    let text = |files: Vec<OutputFile>, name: &str| {
        let file = files.into_iter().find(|file| file.place.path.ends_with(name)).unwrap();
        String::from_utf8(file.bytes).unwrap()
    };
    let some = [outcome(&*suite, "ior-easy-write", 1.25, 2.0)];
    let result = text(suite.told_files(&some), "/result.txt");
    let expected = format!(
        "[run]\nprocs           = 2\nversion         = {VERSION}\nresult-dir      = \
         /r/2026.11.22-05.37.46\nmode            = standard\n; measured by drivelab, not by the \
         program of the committee, and without its hashes\n\n[ior-easy-write]\nt_start         = \
         2026-11-22 05:37:46\nexe             = line\n; ERROR INVALID it took 2.000 s, less than \
         the stonewall of 300 s\n; ERROR INVALID it took 2.000 s, and the rules ask for 300 s\n\
         score           = 1.250000\nt_delta         = 2.0000\nt_end           = 2026-11-22 \
         05:37:47\nguard           = valid\n"
    );
    assert_eq!(result, expected);
    let all = planted(&*suite, 300.5);
    let result = text(suite.told_files(&all), "/result.txt");
    assert!(result.ends_with(
        "\n[SCORE]\nMD              = 8.000000\nBW              = 2.828427\nSCORE           = \
         4.756828\n"
    ));
    let summary = text(suite.told_files(&all), "/result_summary.txt");
    assert_eq!(summary.lines().count(), 1 + 13 + 1, "{summary}");
    assert!(!summary.contains("guard"), "as the suite's own: {summary}");
    assert_eq!(text(suite.asked_files(), "/config-orig.ini"), PLAIN);
    let full = text(suite.asked_files(), "/config.ini");
    let again = Config::of("again", &full, &mut Vec::new()).unwrap();
    assert_eq!(again.in_full(), full, "it reads back as what it says");
    assert!(full.contains("[debug]\nstonewall-time = 300\n"), "{full}");
}

#[test]
fn the_word_of_the_guard_has_its_reason() {
    let suspect = Word::Suspect(vec!["it came from memory.".into(), "more".into()]);
    assert_eq!(suspect.in_full(), "suspect: it came from memory");
    assert_eq!(Word::NotChecked(None).in_full(), "not checked");
    assert_eq!(Word::of(&Run::default(), &[0]), Word::NotChecked(None));
}

#[test]
fn the_find_looks_for_what_the_rules_say_and_counts_all() {
    let suite = suite("[global]\ndatadir=/d\n[find]\nnproc=1\n");
    let index = suite.phases().iter().position(|name| *name == "find").unwrap();
    let Ok(Next::Run(begun)) = suite.begin(index, &world(""), 5) else { panic!("a run") };
    assert_eq!(begun.job.target, "/d/2026.11.22-05.37.46");
    let wanted = Find {
        name: "01".into(),
        bytes: Some(Size(3901)),
        changed_from_ns: Some(5),
        processes: Some(1),
    };
    assert_eq!(begun.job.plan.steps[0].act, Some(Act::Find(wanted)));
    let end = StepEnd {
        act_ns: Some(2_000_000_000),
        found: Some(Found { matched: 7, total: 6000 }),
        ..StepEnd::default()
    };
    let begin = StepBegin {
        step: 0,
        plan_step: 0,
        plan: 0,
        repetition: 1,
        name: "find".into(),
        role: Role::Measure,
        state: String::new(),
        opened: Vec::new(),
    };
    let step = StepRun {
        begin,
        plan: Step::default(),
        tallies: Vec::new(),
        insides: Vec::new(),
        anatomy: None,
        requests: Vec::new(),
        end: Some(end),
    };
    let mut run = Run { steps: vec![step], ..Run::default() };
    let (figure, steps) = (begun.measure)(&run).unwrap();
    assert_eq!((figure.score, figure.seconds, steps), (3.0, 2.0, vec![0]));
    assert_eq!(figure.found, Some(Found { matched: 7, total: 6000 }));
    run.steps[0].end.as_mut().unwrap().incomplete = Some("interrupted".into());
    assert!((begun.measure)(&run).is_none(), "a part of it is no result");
}

#[test]
fn caches_are_dropped_behind_what_was_written_where_that_is_asked() {
    let last = |text: &str, index| {
        let suite = suite(text);
        let Ok(Next::Run(begun)) = suite.begin(index, &world(text), 0) else { panic!("a run") };
        begun.job.plan.steps.last().and_then(|step| step.act.clone())
    };
    let asked = "[global]\ndatadir=/d\ndrop-caches=TRUE\n";
    assert_eq!(last(asked, 0), Some(Act::DropCaches));
    assert_eq!(last(PLAIN, 0), None);
}
