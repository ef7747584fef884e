//! With `--json` a refusal is one JSON object on stdout, whatever the command and the reason; the
//! sentence on stderr and the exit status are those of the same line without it.

use crate::cli_user::User;
use serde_json::Value;

/// A line, its exit status, its code, a piece of its text.
type Case<'a> = (&'a [&'a str], i32, &'a str, &'a str);

const CASES: &[Case<'_>] = &[
    (&["check", "--nonsense"], 2, "usage", "unexpected argument '--nonsense' found"),
    (&["check", "no-such-place"], 2, "usage", "there is no file or directory `no-such-place`"),
    (&["check", "nvme-tlc"], 2, "usage", "Did you mean the simulated drive?"),
    (&["check", "theirs.bin"], 3, "refused", "refused: "),
    (
        &["check", ".", "--out", "theirs.bin"],
        3,
        "refused",
        "is not an unchanged report of \
                                                            drivelab",
    ),
    (&["run"], 2, "usage", "required arguments were not provided"),
    (&["run", "no-such.toml"], 2, "usage", "there is no such plan"),
    (&["run", "bad.toml", "."], 2, "usage", "bad.toml"),
    (&["run", ".", "--rw", "raed"], 2, "usage", "invalid value 'raed' for '--rw"),
    (&["run", "theirs.bin", "--rw", "write", "--bs", "4k"], 3, "refused", "theirs.bin"),
    (&["run", "sim:textbook,capcity=1GiB", "--rw", "read"], 2, "usage", "capcity"),
    (&["study", "nope", "sim:x25-m"], 2, "usage", "there is no study `nope`"),
    (&["study", "wsat"], 2, "usage", "required arguments were not provided"),
    (&["study", "wsat", "sim:textbook", "--budget", "1MiB"], 2, "usage", "budget"),
    (&["study", "rank", "sim:x25-m"], 2, "usage", "only one was named"),
    (&["study", "rank", "sim:x25-m", "no-such"], 2, "usage", "there is no file or directory"),
    (&["study", "wsat", "theirs.bin"], 3, "refused", "theirs.bin"),
    (&["resume", "no-such-run"], 2, "usage", "no-such-run"),
    (&["compare", "one.jsonl", "two.jsonl"], 2, "usage", "one.jsonl"),
    (&["compare", "one.jsonl"], 2, "usage", "`one.jsonl` is not a run"),
    (&["accept", "no-such.toml", "sim:x25-m"], 2, "usage", "no-such.toml"),
    (&["accept", "bad.toml", "sim:x25-m"], 2, "usage", "bad.toml"),
    (&["report", "no-such-run"], 2, "usage", "no-such-run"),
    (&["report", "bad.toml"], 2, "usage", "bad.toml"),
    (&["runs", "no-such-run"], 2, "usage", "no-such-run"),
    (&["doctor", "no-such-place"], 2, "usage", "no-such-place"),
    (&["sim", "show", "no-such-profile"], 2, "usage", "no-such-profile"),
    (&["sim", "--nonsense"], 2, "usage", "unexpected argument"),
];

#[test]
fn a_refusal_is_one_object_on_stdout_for_who_asks_for_json() {
    let user = User::new();
    let theirs = user.write("theirs.bin", "somebody's");
    std::fs::File::options().write(true).open(theirs).unwrap().set_len(256 << 20).unwrap();
    user.write("bad.toml", "nonsense = [");
    for (line, status, code, piece) in CASES {
        let plain = user.types(line);
        let told = user.types(&[*line, &["--json"]].concat());
        assert_eq!(
            (plain.status, told.status),
            (Some(*status), Some(*status)),
            "{line:?}: {}",
            told.err
        );
        assert_eq!(plain.out, "", "{line:?}: without --json stdout stays empty");
        let object: Value = serde_json::from_str(&told.out)
            .unwrap_or_else(|error| panic!("{line:?}: {error}: {}", told.out));
        let keys: Vec<&String> = object.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["error", "schema"], "{line:?}");
        assert_eq!(object["schema"], 1, "{line:?}");
        assert_eq!(object["error"]["code"], *code, "{line:?}");
        let text = object["error"]["text"].as_str().unwrap();
        assert!(text.contains(piece), "{line:?}: {text}");
        assert!(!text.contains('\n') && !text.starts_with("drivelab"), "{line:?}: {text}");
        let hint = &object["error"]["hint"];
        assert!(hint.is_null() || hint.as_str().is_some_and(|it| !it.is_empty()), "{line:?}");
    }
    assert_eq!(user.listing(), ["bad.toml", "theirs.bin"], "nothing was made");
}

#[test]
fn the_hint_of_a_refusal_for_safety_holds_the_way_out() {
    let user = User::new();
    user.write("theirs.bin", vec![1_u8; 1 << 20]);
    let told = user.types(&["run", "theirs.bin", "--rw", "write", "--bs", "4k", "--json"]);
    let object: Value = serde_json::from_str(&told.out).unwrap();
    assert!(object["error"]["hint"].is_string(), "{}", told.out);
}

#[test]
fn what_is_no_option_is_no_wish_for_json() {
    let user = User::new();
    let said = user.types(&["check", "--", "--json"]);
    assert_eq!((said.status, said.out.as_str()), (Some(2), ""), "{}", said.err);
}
