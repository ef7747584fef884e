//! Every `--json` output is what its schema says, with no key more, and outputs that an earlier
//! drivelab printed still are.

use crate::cli_user::{Said, User};
use jsonschema::Validator;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

const DRIVE: &str = "sim:textbook,capacity=256MiB,state=filled";

/// Allows no key that the schema does not name: an output with a new one is not described yet.
fn closed(schema: &mut Value) {
    match schema {
        Value::Array(all) => all.iter_mut().for_each(closed),
        Value::Object(entries) => {
            let is_shared = entries.contains_key("anyOf") || entries.contains_key("oneOf");
            if entries.contains_key("properties") && is_shared {
                // The branches describe the same object: what neither names is one too many.
                for (key, value) in entries.iter_mut() {
                    if !matches!(key.as_str(), "anyOf" | "oneOf") {
                        closed(value);
                    }
                }
                entries.insert("unevaluatedProperties".into(), false.into());
                return;
            }
            entries.values_mut().for_each(closed);
            if entries.contains_key("properties") && !entries.contains_key("additionalProperties") {
                entries.insert("additionalProperties".into(), false.into());
            }
        }
        _ => {}
    }
}

fn schema(user: &User, name: &str) -> Value {
    user.types(&["schema", name]).fine().json()
}

fn validator(user: &User, name: &str) -> Validator {
    let mut schema = schema(user, name);
    closed(&mut schema);
    jsonschema::draft202012::new(&schema).unwrap()
}

fn objections(validator: &Validator, value: &Value) -> Vec<String> {
    let said =
        |error: jsonschema::ValidationError<'_>| format!("{} at {}", error, error.instance_path());
    validator.iter_errors(value).map(said).take(5).collect()
}

#[track_caller]
fn fits(user: &User, name: &str, what: &str, value: &Value) {
    let objections = objections(&validator(user, name), value);
    assert!(objections.is_empty(), "{what} against `{name}`: {objections:#?}");
}

/// The names in the list of `drivelab schema`.
fn kinds(user: &User) -> BTreeSet<String> {
    let list = user.types(&["schema"]).fine().out;
    let names = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

const SHEET: &str = "[[claim]]\nname = \"reads\"\nmetric = \"iops\"\nat_least = 100\n\
                     rw = \"randread\"\nseconds = 1\n";

/// A kind of object and the line that prints it; `LAST` and `SECOND` are runs that were made.
const LINES: [(&str, &str); 27] = [
    ("plan", "run DRIVE --rw randrw --mix 70:30 --bs 4k:9,64k:1 --sync fsync:8 --dry-run --json"),
    ("plan", "run DRIVE --rw randread --zones 0.1:0.9 --rate 100 --runtime 1s --dry-run --json"),
    ("plan", "check DRIVE --dry-run --json"),
    ("plan", "study wsat DRIVE --quick --dry-run --json"),
    ("plan", "accept sheet.toml DRIVE --dry-run --json"),
    (
        "run",
        "run DRIVE --rw randrw --mix 70:30 --bs 4k --depth 8 --runtime 300ms --repeat 3 --json",
    ),
    ("run", "run DRIVE --rw randread --rate 2000 --runtime 300ms --json"),
    ("run", "run DRIVE --rw randwrite --sync fsync:1 --runtime 300ms --json"),
    ("run", "check sim:x25-e,capacity=256MiB --time 10s --seed 7 --json"),
    ("run", "accept sheet.toml DRIVE --json"),
    ("run", "report last --json"),
    ("run", "runs last --json"),
    ("run", "study torture sim:textbook,capacity=64MiB --quick --json"),
    ("run", "study wsat sim:textbook,capacity=64MiB --quick --seed 7 --json"),
    ("run", "study steady sim:textbook,capacity=128MiB --quick --json"),
    ("run", "study stutter sim:textbook,capacity=256MiB --quick --json"),
    ("gathering", "sim sweep textbook,capacity=128MiB spare=0.1,0.3 --seed 7 --json"),
    (
        "gathering",
        "study rank sim:x25-e,capacity=256MiB sim:textbook,capacity=256MiB --quick --json",
    ),
    ("runs", "runs --json"),
    ("prune", "runs prune --max 1MB --dry-run --json"),
    ("drives", "history --json"),
    ("history", "history DRIVE --json"),
    ("list", "list --json"),
    ("health", "health --json"),
    ("clean", "doctor --clean --json"),
    ("profiles", "sim list --json"),
    ("error", "check no-such-place --json"),
];

fn typed(user: &User, line: &str) -> Said {
    let words: Vec<String> = line.split(' ').map(|word| word.replace("DRIVE", DRIVE)).collect();
    user.types(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn what_is_printed_is_what_its_schema_says() {
    let user = User::new();
    user.write("sheet.toml", SHEET);
    let mut seen = BTreeSet::new();
    for (kind, line) in LINES {
        let said = typed(&user, line);
        assert!(matches!(said.status, Some(0 | 1 | 2 | 4)), "{line}: {}", said.err);
        let value: Value = serde_json::from_str(&said.out)
            .unwrap_or_else(|error| panic!("{line}: {error}: {} {}", said.out, said.err));
        fits(&user, kind, line, &value);
        seen.insert(kind.to_owned());
    }
    for name in ["x25-e", "momentus-7200", "san", "textbook,spare=0.07"] {
        let line = format!("sim show {name} --json");
        fits(&user, "profile", &line, &typed(&user, &line).fine().json());
    }
    let made = std::fs::read_dir(user.runs()).unwrap().next().unwrap().unwrap().path();
    let made = made.to_str().unwrap();
    for line in [
        vec!["compare", made, made, "--json"],
        vec![
            "compare",
            "--baseline",
            made,
            "--max-slowdown",
            "5%",
            made,
            "--metric",
            "p99",
            "--json",
        ],
    ] {
        let said = user.types(&line);
        fits(&user, "compare", &line.join(" "), &said.json());
    }
    fits(&user, "doctor", "doctor", &user.types(&["doctor", DRIVE, "--json"]).json());
    seen.extend(["profile", "compare", "doctor"].map(String::from));
    let left: Vec<String> = kinds(&user).difference(&seen).cloned().collect();
    assert_eq!(left, ["feed", "watch"], "each kind is printed here, or in a test of its own");
}

#[test]
fn what_is_watched_is_what_its_schema_says() {
    let user = User::on_disk();
    let said = user.types(&["watch", ".", "--every", "100ms", "--count", "2", "--json"]);
    if said.status == Some(2) {
        return fits(&user, "error", "watch without a device", &said.json());
    }
    let lines: Vec<Value> =
        said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.len() >= 2, "{}", said.out);
    lines.iter().for_each(|line| fits(&user, "watch", "watch", line));
}

/// Printed by drivelab 0.1.0 of November 2026; of long runs the first steps and cells.
#[test]
fn outputs_of_before_are_still_what_the_schemas_say() {
    let user = User::new();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/json");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        fits(&user, name.split('-').next().unwrap(), &name, &value);
        names.push(name);
    }
    assert!(names.len() >= 17, "{names:?}");
}

#[test]
fn a_wrong_output_does_not_pass() {
    let user = User::new();
    let line = format!("run {DRIVE} --rw randread --runtime 300ms --json");
    let right = typed(&user, &line).fine().json();
    let validator = validator(&user, "run");
    assert_eq!(objections(&validator, &right), [""; 0]);
    let planted: [(&str, Value); 6] = [
        ("/schema", json!(2)),
        ("/seed", json!("7")),
        ("/steps/0/streams/0/read/service_ns/p99", json!("fast")),
        ("/cells/0/streams/0/read/iops", json!(12.5)),
        ("/steps/0/valid", json!("yes")),
        ("/steps/0/role", json!("measured")),
    ];
    for (place, wrong) in planted {
        let mut value = right.clone();
        *value.pointer_mut(place).unwrap_or_else(|| panic!("{place}")) = wrong;
        assert!(!validator.is_valid(&value), "{place}");
    }
    for place in ["", "/steps/0", "/cells/0/streams/0/total", "/warnings"] {
        let mut value = right.clone();
        match value.pointer_mut(place).unwrap() {
            Value::Object(entries) => {
                entries.insert("undescribed".into(), json!([1]));
            }
            Value::Array(all) => all.push(json!({ "code": "x" })),
            _ => unreachable!("{place}"),
        }
        assert!(!validator.is_valid(&value), "a key more in {place}");
    }
    let mut value = right.clone();
    value.as_object_mut().unwrap().remove("cells");
    assert!(!validator.is_valid(&value), "without cells");
}

#[test]
fn a_schema_that_is_not_there_is_refused_with_those_that_are() {
    let user = User::new();
    user.types(&["schema", "nope"]).refused(2, "there is no kind of JSON called `nope`");
    for name in kinds(&user) {
        let schema = schema(&user, &name);
        assert_eq!(schema["properties"]["schema"]["const"], 1, "{name}");
        assert!(schema["description"].as_str().unwrap().contains(": "), "{name}");
        let required = schema["required"].as_array().unwrap();
        assert!(required.contains(&json!("schema")), "{name}: {required:?}");
    }
}
