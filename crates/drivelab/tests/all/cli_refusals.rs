//! Nonsense on the command line: one clear sentence, the right exit status, nothing on stdout.

use crate::cli_user::User;

#[test]
fn nonsense_in_every_option_is_a_usage_error() {
    let user = User::new();
    let cases: &[(&[&str], &str)] = &[
        (&["--nonsense"], "unexpected argument '--nonsense'"),
        (&["--rw", "raed"], "a similar value exists: 'read'"),
        (&["--bs", "4q"], "`4q` is not a size: unknown unit `q`"),
        (&["--bs", "0"], "a request of 0 bytes moves nothing"),
        (&["--bs", "5000"], "not a multiple of the 512-byte block"),
        (&["--bs", "4k:x"], "`x` is not a weight"),
        (&["--mix", "1:2:3:4"], "is not a mix"),
        (&["--mix", "50:50", "--rw", "read"], "--mix contradicts --rw read"),
        (&["--mix", "0:0"], "no reads, no writes and no trims"),
        (&["--engine", "uring"], "invalid value 'uring'"),
        (&["--depth", "0"], "depth 0 issues nothing"),
        (&["--depth", "-1"], "unexpected argument '-1'"),
        (&["--workers", "0"], "0 workers do nothing"),
        (&["--rate", "0"], "cannot be kept"),
        (&["--rate", "-5"], "cannot be kept"),
        (&["--rate", "nan"], "cannot be kept"),
        (&["--rate", "5", "--think", "1ms"], "open loop"),
        (&["--poisson"], "need a rate"),
        (&["--burst", "2"], "does not fit depth 1"),
        (&["--think-first"], "needs a think time"),
        (&["--runtime", "0"], "ends before it begins"),
        (&["--runtime", "1y"], "`1y` is not a time: unknown unit `y`"),
        (&["--operations", "0"], "ends before it begins"),
        (&["--repeat", "0"], "--repeat 0 does nothing"),
        (&["--interval", "1ms"], "use 10ms to 1m"),
        (&["--gap-over", "0"], "would list every operation"),
        (&["--seed", "-1"], "unexpected argument '-1'"),
        (&["--seed", "18446744073709551615"], "is not a seed"),
        (&["--cpus", "3-1"], "is not a list of CPUs"),
        (&["--sync", "fsync:0"], "needs a count of writes"),
        (&["--sync", "dsync"], "dsync without writes does nothing"),
        (&["--content", "zero"], "content is about writes"),
        (&["--stride", "2", "--rw", "randread", "--pattern", "uniform"], "pattern sequential"),
        (&["--stride", "2", "--theta", "1"], "name one with --pattern"),
        (&["--share", "2"], "`share` is a probability"),
        (&["--theta", "9"], "below 5"),
        (&["--zones", "1.5:1"], "from 0 to 1"),
        (&["--zones", "half"], "is not a list of zones"),
        (&["--replay", "missing.txt"], "cannot read missing.txt"),
        (&["--actions", "read"], "`read` is not a metadata action"),
        (&["--pattern", "names"], "needs `actions`"),
        (&["--length", "1k"], "too small for 1 worker"),
        (&["--offset", "99TiB"], "beyond the end"),
        (&["--size", "0"], "must be a positive multiple of 4 KiB"),
        (&["--size", "1000"], "must be a positive multiple of 4 KiB"),
        (&["--size", "900TiB"], "room for"),
        (&["--files", "some"], "invalid value 'some'"),
        (&["--verify", "--rw", "write"], "add reads"),
        (&["--stamp"], "add writes"),
        (&["--pass", "1"], "add stamp or verify"),
        (&["--iopoll", "--io", "buffered"], "needs direct I/O"),
        (&["--sqpoll", "--engine", "psync"], "mode of io_uring"),
        (&["--engine", "psync", "--depth", "8"], "Use --workers 8 --depth 1 instead"),
        (&["--engine", "mmap", "--depth", "2"], "one operation at a time"),
        (&["--engine", "libaio", "--io", "buffered"], "Use --io direct"),
        (&["--engine", "mmap", "--io", "direct"], "goes through the page cache"),
        (&["--title"], "a value is required"),
    ];
    for (options, says) in cases {
        let mut line = vec!["run", "."];
        line.extend_from_slice(options);
        user.types(&line).refused(2, says);
    }
    assert_eq!(user.listing(), [""; 0], "something was left behind");
    assert!(!user.runs().exists(), "a refused run was recorded");
}

#[test]
fn targets_that_cannot_be() {
    let user = User::new();
    user.types(&["run", "nowhere/at/all", "--rw", "read"]).refused(2, "there is no file");
    user.types(&["run", "/dev/null"]).refused(2, "");
    user.types(&["run", "/dev/nosuchdrive", "--size", "1m"]).refused(2, "does not exist");
    user.types(&["run", "sim:x25-z"]).refused(2, "did you mean `x25-");
    user.types(&["run"]).refused(2, "required");
    user.types(&["run", "a", "b", "c"]).refused(2, "");
    let file = user.write("names", "x".repeat(8192));
    let line = ["run", file.to_str().unwrap(), "--actions", "create"];
    user.types(&line).refused(2, "need a directory or a simulated drive as target");
}

#[test]
fn a_foreign_file_is_never_written() {
    let user = User::new();
    let content = vec![7; 1 << 20];
    let file = user.write("precious.dat", &content);
    for kind in ["write", "randwrite", "randrw", "trim"] {
        user.types(&["run", "precious.dat", "--rw", kind, "--runtime", "1"])
            .refused(3, "was not made by drivelab");
    }
    user.types(&["check", "precious.dat"]).refused(3, "was not made by drivelab");
    assert_eq!(std::fs::read(file).unwrap(), content);
}

#[test]
fn an_unknown_key_is_shown_as_the_manual_shows_it() {
    let user = User::new();
    user.write(
        "plan.toml",
        "[[steps]]\nname = \"a\"\n[[steps.streams]]\nsize = \"4k\"\n  qdepth = 3\n",
    );
    let said = user.types(&["run", "plan.toml", "scratch.dat"]).refused(2, "qdepth");
    assert_eq!(
        said.err,
        "drivelab: plan.toml line 5, column 3: unknown key `qdepth` in [[steps.streams]]\n    \
         5 |   qdepth = 3\n      |   ^^^^^^ did you mean `depth`?\n"
    );
}

#[test]
fn plans_that_cannot_be() {
    let user = User::new();
    let plan = |text: &str, status: i32, says: &str| {
        user.write("p.toml", text);
        user.types(&["run", "p.toml", "."]).refused(status, says);
    };
    plan("", 2, "the plan has no steps");
    plan("[[steps]]", 2, "nothing to do");
    plan("[[steps]]\n[[steps.streams]]", 2, "nothing says when the step ends");
    plan("[[steps]]\nuntil.elapsed = \"1s\"\n[[steps.streams]]\ndepth = 0", 2, "depth 0");
    plan("[[steps]]\nuntil = 3", 2, "p.toml line 2, column 9");
    plan("= = =", 2, "p.toml line 1");
    user.write("latin.toml", b"title = \"\xe9\"\n");
    user.types(&["run", "latin.toml", "."]).refused(2, "latin.toml line 1: not UTF-8");
    user.types(&["run", "none.toml", "."]).refused(2, "cannot read the plan none.toml");
    user.types(&["run", "p.toml"]).refused(2, "is a plan; name a target after it");
    user.write(
        "good.toml",
        "[[steps]]\nuntil.elapsed = \"1s\"\n[[steps.streams]]\nsize = \"4k\"\n",
    );
    user.types(&["run", "good.toml", ".", "--depth", "4"]).refused(2, "--depth describes a load");
}

#[test]
fn help_fits_a_screen_and_teaches_by_example() {
    let user = User::new();
    let help = user.types(&["--help"]).fine();
    assert!(help.out.lines().count() <= 41, "{}", help.out);
    assert!(help.out.lines().all(|line| line.chars().count() <= 80), "{}", help.out);
    assert!(help.out.contains("drivelab run . --rw randread --bs 4k --depth 32 --runtime 10"));
    for tool in drivelab_compat::TOOLS {
        assert!(help.out.contains(tool.word()), "{}: {}", tool.word(), help.out);
    }
    let run = user.types(&["run", "--help"]).fine();
    for heading in ["What to do:", "How hard:", "How long", "On what:", "How it is recorded:"] {
        assert!(run.out.contains(heading), "{heading}");
    }
    user.types(&["--version"]).fine();
    user.types(&["frobnicate"]).refused(2, "unrecognized subcommand");
}

/// `help CMD` is `CMD --help`, of commands, of their own commands, of studies and of tools.
#[test]
fn help_of_a_command_is_its_help() {
    let user = User::new();
    for tool in drivelab_compat::TOOLS {
        let help = user.types(&["help", tool.word()]).fine().out;
        assert!(help.contains(tool.example) && help.contains("--notes only"), "{help}");
    }
    for line in ["check", "sim sweep", "study", "study wsat", ""] {
        let words: Vec<&str> = line.split_whitespace().collect();
        let help = user.types(&[&["help"], &words[..]].concat()).fine().out;
        assert_eq!(help, user.types(&[&words[..], &["--help"]].concat()).fine().out, "{line}");
        assert!(help.lines().count() > 5, "{line}: {help}");
    }
    user.types(&["help", "frobnicate"]).refused(2, "unrecognized subcommand");
    let study = user.types(&["help", "study", "wsat"]).fine().out;
    for part in ["When does the write cliff come", "Method:", "--quick", "reads like this:"] {
        assert!(study.contains(part), "{part}: {study}");
    }
}

#[test]
fn completions_and_man_pages_come_from_the_command_line() {
    let user = User::new();
    for (shell, says) in
        [("bash", "complete -F"), ("zsh", "#compdef drivelab"), ("fish", "complete -c")]
    {
        let text = user.types(&["completions", shell]).fine().out;
        assert!(text.contains(says) && text.contains("stuck-after"), "{shell}");
    }
    user.types(&["completions", "csh"]).refused(2, "csh");
    assert!(user.types(&["man"]).fine().out.contains(".TH drivelab 1"));
    let directory = user.work().join("made");
    let line = ["man", directory.to_str().unwrap()];
    // Twice: pages of its own are replaced.
    user.types(&line).fine();
    user.types(&line).fine();
    for name in ["drivelab.1", "drivelab-run.1", "drivelab-sim-sweep.1"] {
        assert!(directory.join(name).metadata().unwrap().len() > 100, "{name}");
    }
    std::fs::write(directory.join("drivelab-run.1"), "mine").unwrap();
    user.types(&line).refused(3, "is not a man page of drivelab");
    assert_eq!(std::fs::read(directory.join("drivelab-run.1")).unwrap(), b"mine");
}

/// A file that is created is laid out first, in steps that nobody wrote.
#[test]
fn a_refused_plan_is_told_by_the_numbers_of_its_steps() {
    let user = User::new();
    let step = |more: &str| {
        let load = "[[steps.streams]]\nmix = { read = 100 }";
        format!("[[steps]]\nname = \"a\"\nuntil = {{ operations = 1 }}\n{load}\n{more}\n")
    };
    let refused = |text: String, said: &str| {
        user.write("plan.toml", text);
        user.types(&["run", "plan.toml", ".", "--size", "1MiB"]).refused(2, said);
        assert_eq!(user.listing(), ["plan.toml"]);
    };
    let size = "step 2, stream 1: size 5000 bytes is not a multiple";
    refused(step("size = \"4k\"") + &step("size = \"5000\""), size);
    refused(step("size = \"5000\""), "drivelab: size 5000 bytes is not a multiple");
}

#[test]
fn tools_that_lay_out_a_drive_are_not_run() {
    let user = User::new();
    let typed = |line: &str| user.types(&line.split(' ').collect::<Vec<_>>());
    let said = typed("fdisk -H 224 -S 56 /dev/sdd").refused(3, "never runs `fdisk`");
    assert!(said.err.contains("drivelab doctor /dev/sdd\n"), "{}", said.err);
    let line = "mke2fs -t ext4 -E stripe-width=32 resize=500G /dev/sdd1";
    let said = typed(line).refused(3, "/dev/sdd1 was not touched");
    assert!(said.err.contains("`resize=500G` stands alone"), "{}", said.err);
    typed("mkfs.ext4 --json /dev/sdd1").refused(3, "study fs /dev/sdd1 --mkfs ext4");
    let said = typed("blktrace -d /dev/sdd").refused(2, "never runs `blktrace`");
    assert!(said.err.contains("drivelab study anatomy /dev/sdd\n"), "{}", said.err);
    assert_eq!(user.listing(), [""; 0]);
}
