//! The grammar of Iometer's configuration files, and what is wrong with others.

use drivelab_compat::iometer::icf::{
    Access, Assignment, Cycle, DataPattern, Growth, IcfError, Recorded, Setup, Spawned, TestType,
    parse,
};
use std::path::Path;

/// A whole file with these sections.
fn file(sections: &str) -> String {
    format!("Version 1.1.0 \n{sections}Version 1.1.0 \n")
}

fn worker(settings: &str) -> String {
    file(&format!(
        "'MANAGER LIST ====\n'Manager ID, manager name\n\t1,LAB\n'Manager network address\n\t\n\
         'Worker\n\tWorker 1\n'Worker type\n\tDISK\n{settings}'End worker\n'End manager\n\
         'END manager list\n"
    ))
}

fn setup(settings: &str) -> Result<Setup, IcfError> {
    parse(&file(&format!("'TEST SETUP ====\n{settings}'END test setup\n"))).map(|icf| icf.setup)
}

fn specification(lines: &str) -> String {
    file(&format!(
        "'ACCESS SPECIFICATIONS ===\n'Access specification name,default assignment\n\t4K; 100% \
         random,DISK\n'size,% of size,% reads,% random,delay,burst,align,reply\n{lines}'END \
         access specifications\n"
    ))
}

#[test]
fn sections_are_optional_and_defaults_are_iometers() {
    let icf = parse("Version 2006.07.27 \n").unwrap();
    assert_eq!((icf.version.as_str(), icf.machines), ("2006.07.27", None));
    assert_eq!(icf.setup, Setup::default());
    let setup = icf.setup;
    assert_eq!((setup.run_time_s, setup.ramp_up_s, setup.test), (0, 0, TestType::Normal));
    let doubling = Cycle { start: 1, step: 2, growth: Growth::Exponential };
    assert_eq!((setup.outstanding, setup.outstanding_end), (doubling, 32));
    assert_eq!(setup.disk_workers, Spawned::Cpus);
}

#[test]
fn a_set_up_is_read_in_any_case_and_spacing() {
    let found = setup(
        "'TEST description\n   My, drive \n'run time\n'\thours minutes seconds\n1,2\t 3\n'Ramp Up \
         Time\n\t7\n'Default Workers to Spawn\n\t3\n'Default Network Workers to \
         Spawn\n\tNUMBER_OF_CPUS\n'Record Results\n\tno_workers\n'Worker \
         Cycling\n\t2 3 LINEAR\n'Target Cycling\n'\tstart step step type\n\t4,5,exponential\n\
         'Queue Depth Cycling\n'\tstart end step step type\n\t1 64 2 EXPONENTIAL\n'Test \
         Type\n\tCYCLE_OUTSTANDING_IOS_AND_TARGETS\n",
    );
    let expected = Setup {
        description: "My, drive".into(),
        run_time_s: 3723,
        ramp_up_s: 7,
        disk_workers: Spawned::Count(3),
        network_workers: Spawned::Cpus,
        record: Recorded::NoWorkers,
        workers: Cycle { start: 2, step: 3, growth: Growth::Linear },
        targets: Cycle { start: 4, step: 5, growth: Growth::Exponential },
        outstanding: Cycle { start: 1, step: 2, growth: Growth::Exponential },
        outstanding_end: 64,
        test: TestType::CycleOutstandingIosAndTargets,
        test_line: 25,
    };
    assert_eq!(found.unwrap(), expected);
}

#[test]
fn an_empty_description_is_a_line_or_none() {
    for settings in ["'Test Description\n\t\n", "'Test Description\n", "'Test Description\n\n\n"] {
        let found = setup(&format!("{settings}'Run Time\n0 0 5\n")).unwrap();
        assert_eq!((found.description.as_str(), found.run_time_s), ("", 5));
    }
}

#[test]
fn a_specification_has_eight_values_a_line() {
    let icf =
        parse(&specification("\t4096,60,67,100,1,2,512,0\n8192 40 0 50 0 1 0 8192\n")).unwrap();
    let [found] = icf.specifications.as_slice() else { panic!("{icf:?}") };
    assert_eq!((found.name.as_str(), found.assignment), ("4K; 100% random", Assignment::Disk));
    let expected = Access {
        line: 6,
        size: 4096,
        share: 60,
        reads: 67,
        random: 100,
        delay_ms: 1,
        burst: 2,
        align: 512,
        reply: 0,
    };
    assert_eq!((found.lines[0], found.lines[1].reply), (expected, 8192));
}

#[test]
fn workers_of_every_era_are_read() {
    let place = |settings: &str| {
        let text = format!(
            "'Default target settings for worker\n{settings}'End default target settings for \
             worker\n"
        );
        let machines = parse(&worker(&text)).unwrap().machines.unwrap();
        machines[0].workers[0].clone()
    };
    let plain = "'Number of outstanding IOs,test connection rate,transactions per connection\n\
                 \t16,DISABLED,1\n'Disk maximum size,starting sector\n\t2048,64\n";
    let found = place(plain);
    assert_eq!((found.outstanding, found.maximum_sectors, found.starting_sector), (16, 2048, 64));
    assert_eq!((found.pattern, found.seed, found.connection), (DataPattern::Unsaid, None, None));
    let queue = "'Number of outstanding IOs,test connection rate,transactions per connection,use \
                 fixed seed,fixed seed value\n";
    let found = place(&format!("{queue}\t4,ENABLED,9,ENABLED,12345\n"));
    assert_eq!((found.seed, found.connection), (Some(12345), Some((13, 9))));
    assert_eq!(place(&format!("{queue}\t4,DISABLED,9,DISABLED,12345\n")).seed, None);
    for (column, value, expected) in [
        ("Data pattern", 0, DataPattern::RepeatingBytes),
        ("Data pattern", 1, DataPattern::PseudoRandom),
        ("Data pattern", 2, DataPattern::FullRandom),
        ("Use Random Data", 0, DataPattern::Unsaid),
        ("Use Random Data", 1, DataPattern::FullRandom),
    ] {
        let settings = format!("'Disk maximum size,starting sector,{column}\n\t0,0,{value}\n");
        assert_eq!(place(&settings).pattern, expected);
    }
}

#[test]
fn assignments_keep_their_lines() {
    let text = worker(
        "'Assigned access specs\n\tIdle\n\t4K, all\n'End assigned access specs\n'Target \
         assignments\n'Target\n\tC: \"Vol, 0\"\n'Target type\n\tDISK\n'End target\n'Target\n\tD:\n\
         'End target\n'End target assignments\n",
    );
    let machines = parse(&text).unwrap().machines.unwrap();
    let found = &machines[0].workers[0];
    assert_eq!(found.assigned, [(12, "Idle".to_owned()), (13, "4K, all".to_owned())]);
    assert_eq!(found.targets, [(17, "C: \"Vol, 0\"".to_owned()), (22, "D:".to_owned())]);
    assert_eq!((machines[0].name.as_str(), machines[0].address.as_str()), ("LAB", ""));
}

#[test]
fn a_network_worker_is_not_read_further() {
    let text = worker("").replace("\tDISK\n", "\tNETWORK,TCP\n'Whatever it has\n\t1\n");
    let machines = parse(&text).unwrap().machines.unwrap();
    assert_eq!(machines[0].workers[0].network.as_deref(), Some("NETWORK,TCP"));
}

#[test]
fn a_display_matters_only_where_it_records() {
    let display = |settings: &str| {
        parse(&file(&format!("'RESULTS DISPLAY ===\n{settings}'END results display\n")))
    };
    let key = "'Record Last Update Results,Update Frequency,Update Type\n";
    let bars = "'Bar chart 1 statistic\n\tTotal I/Os per Second\n'Bar chart 1 worker ID, worker \
                name\n\t1,Worker 1\n";
    let off = display(&format!("{key}\tDISABLED,1,LAST_UPDATE\n{bars}")).unwrap();
    assert_eq!((off.has_display, off.update_results_line), (true, None));
    let on = display(&format!("{key}\tENABLED,1,LAST_UPDATE\n")).unwrap();
    assert_eq!(on.update_results_line, Some(4));
    let old = display("'Update Frequency,Update Type\n\t0,WHOLE_TEST\n").unwrap();
    assert_eq!(old.update_results_line, None);
}

#[test]
fn errors_name_line_and_column_and_what_was_expected() {
    let spec = |lines: &str| specification(lines);
    for (text, line, column, found, expected) in [
        (String::new(), 1, 1, "the end", "Version 1.1.0"),
        ("Version x\n".into(), 1, 1, "`Version x`", "Version 1.1.0"),
        (file("'MORE ===\n"), 2, 1, "`'MORE ===`", "a section"),
        (file("'TEST SETUP\n'Run Time\n"), 4, 1, "2 values", "3 values"),
        (file("'TEST SETUP\n'Run Time\n 1 2\n"), 4, 2, "2 values", "3 values (hours"),
        (file("'TEST SETUP\n'Run Time\n 1 x 2\n"), 4, 4, "`x`", "a time, a whole number"),
        (file("'TEST SETUP\n'Run Time\n 9999999 0 0\n"), 4, 2, "`9999999`", "up to 8784"),
        (file("'TEST SETUP\n'Record Results\n\tSOME\n"), 4, 2, "`SOME`", "ALL, NO_TARGETS"),
        (file("'TEST SETUP\n"), 3, 1, "`Version 1.1.0`", "'END test setup"),
        ("Version 1.1.0\n'TEST SETUP\n".into(), 2, 1, "the end", "'END test setup"),
        (spec(""), 5, 1, "`'size,", "lines of eight values"),
        (spec("\t1,2,3\n"), 6, 2, "3 values", "8 values"),
        (spec("\t1,100,0,0,0,1,0,0,9\n"), 6, 20, "9 values", "8 values"),
        (spec("\t0,100,0,0,0,1,0,0\n"), 6, 2, "`0`", "at least 1"),
        (spec("\t1073741824,100,0,0,0,1,0,0\n"), 6, 2, "`1073741824`", "up to 1073741823"),
        (spec("\t-1,100,0,0,0,1,0,0\n"), 6, 2, "`-1`", "a whole number"),
        (spec("\t4096,100,+5,0,0,1,0,0\n"), 6, 11, "`+5`", "% reads"),
        (spec("\t4096,99,0,0,0,1,0,0\n"), 6, 1, "99 in all", "100"),
        (spec(&"\t512,1,0,0,0,1,0,0\n".repeat(101)), 106, 2, "`512,1", "at most 100 lines"),
        (spec("\t512,100,0,0,0,1,0,0\n").replace(",DISK", ",SOME"), 4, 2, "`4K;", "NONE, ALL"),
        (worker("'More\n"), 11, 1, "`'More`", "'Worker type"),
        (worker("'Target assignments\n\tC:\n"), 12, 2, "`C:`", "'Target"),
        (worker("'Assigned access specs\n'End worker\n"), 12, 1, "`'End worker`", "the name of"),
        (file("") + "more\n", 3, 1, "`more`", "the end of the file"),
    ] {
        let error = parse(&text).unwrap_err();
        assert_eq!((error.line, error.column), (line, column), "{error}\n{text}");
        assert!(error.found.starts_with(found), "{error}\n{text}");
        assert!(error.expected.contains(expected), "{error}\n{text}");
        let text = error.to_string();
        assert!(text.starts_with(&format!("line {line}, column {column}: found {found}")));
    }
}

#[test]
fn two_specifications_of_one_name_are_refused() {
    let one = "'Access specification name,default assignment\n\tOne,NONE\n'size,% of size,% \
               reads,% random,delay,burst,align,reply\n\t512,100,0,0,0,1,0,0\n";
    let two = one.replace("One", "ONE");
    let text = file(&format!("'ACCESS SPECIFICATIONS\n{one}{two}'END access specifications\n"));
    let error = parse(&text).unwrap_err();
    assert_eq!((error.line, error.found.as_str()), (8, "`ONE,NONE`"));
}

/// A small generator: the same texts in every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound
    }
}

fn corpus() -> Vec<String> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/iometer");
    let entries = std::fs::read_dir(directory).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let files = paths.iter().filter(|path| path.extension().is_some_and(|it| it == "icf"));
    files.map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

/// Whatever the text, there is an answer, and an error has its place in the text.
fn answered(text: &str) {
    match parse(text) {
        Ok(icf) => assert!(!icf.version.is_empty()),
        Err(error) => {
            assert!(error.line >= 1 && error.column >= 1, "{error}");
            assert!(error.line <= text.lines().count().max(1), "{error}\n{text}");
            assert!(!error.found.is_empty() && !error.expected.is_empty(), "{error}");
        }
    }
}

#[test]
fn no_text_makes_the_parser_panic() {
    let files = corpus();
    let lines: Vec<&str> = files.iter().flat_map(|file| file.lines()).collect();
    let mut draw = Draw(0x001c_f1cf);
    for _ in 0..20_000 {
        // Lines of any file in any order, a few of them damaged.
        let mut text = String::from("Version 1.1.0\n");
        for _ in 0..draw.below(30) {
            let line = lines[draw.below(lines.len())];
            let mut characters: Vec<char> = line.chars().collect();
            if draw.below(4) == 0 && !characters.is_empty() {
                let at = draw.below(characters.len());
                characters[at] = ['\0', '\'', ',', '-', '9', '=', 'é', '\u{2028}'][draw.below(8)];
            }
            text.extend(characters);
            text.push(['\n', '\n', '\n', '\r', ' '][draw.below(5)]);
        }
        answered(&text);
    }
    for text in &files {
        let ends = text.char_indices().map(|(at, _)| at);
        for at in ends.filter(|at| at % 7 == 0) {
            answered(&text[..at]);
            let mut changed = text.clone();
            changed.insert_str(at, ["99999999999999999999", "'", "\n", "é,"][draw.below(4)]);
            answered(&changed);
        }
    }
}
