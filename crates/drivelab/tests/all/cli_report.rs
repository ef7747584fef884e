//! `drivelab report`: CSV, workbook and redaction, and what it never replaces.

use crate::cli_user::User;
use std::path::Path;
use std::process::Command;

fn with_a_run() -> User {
    let user = User::new();
    let line = ["run", ".", "--size", "8MiB", "--io", "buffered", "--operations", "300"];
    let said = user.types(&[&line[..], &["--out", "page.html"]].concat());
    // On a shared disk a run may be suspect, which is shown and is no fault of the report.
    assert!(matches!(said.status, Some(0 | 4)), "{}\n{}", said.out, said.err);
    user
}

fn bytes(user: &User, name: &str) -> Vec<u8> {
    std::fs::read(user.work().join(name)).unwrap()
}

#[test]
fn csv_and_workbook_are_written_and_replace_nothing_of_others() {
    let user = with_a_run();
    let line = ["report", "last", "--csv", "cells.csv", "--xlsx", "run.xlsx"];
    let said = user.types(&line).fine();
    assert!(said.out.contains("CSV      cells.csv"), "{}", said.out);
    assert_eq!(user.listing(), ["cells.csv", "page.html", "run.xlsx"], "no page unless asked");
    let first = (bytes(&user, "cells.csv"), bytes(&user, "run.xlsx"));
    user.types(&line).fine();
    assert!(first == (bytes(&user, "cells.csv"), bytes(&user, "run.xlsx")), "equal every time");
    user.write("notes.csv", "a,b\n1,2\n");
    user.write("notes.xlsx", "PK\u{3}\u{4} not a workbook of ours");
    for (option, kind) in
        [("--csv", "CSV"), ("--xlsx", "workbook"), ("--markdown", "Markdown"), ("--out", "report")]
    {
        // What drivelab wrote and nobody changed since may be replaced, whatever it holds.
        for file in ["notes.csv", "notes.xlsx"] {
            let before = bytes(&user, file);
            let says = format!("{file} exists and is not an unchanged {kind} of drivelab");
            user.types(&["report", "last", option, file]).refused(3, &says);
            assert!(before == bytes(&user, file), "{file} was changed by {option}");
        }
        user.types(&["report", "last", option, "/dev/null"]).refused(3, "/dev/null exists");
    }
}

#[test]
fn markdown_is_written_and_replaces_nothing_of_others() {
    let user = with_a_run();
    let line = ["report", "last", "--markdown", "run.md"];
    let said = user.types(&line).fine();
    assert!(said.out.ends_with("\nMarkdown run.md\n"), "{}", said.out);
    assert_eq!(user.listing(), ["page.html", "run.md"], "no page unless asked");
    user.types(&line).fine();
    let text = String::from_utf8(bytes(&user, "run.md")).unwrap();
    let json = user.types(&["report", "last", "--json"]).fine().json();
    let cell = &json["cells"][0];
    let count = cell["streams"][0]["read"]["merged"]["service_ns"]["count"].as_u64();
    assert!(count.is_some_and(|count| count > 0), "{cell}");
    let row = format!("\n| {} | 4 KiB | ", cell["name"].as_str().unwrap());
    assert!(text.contains(&row), "{row}\n{text}");
    let p50 = cell["streams"][0]["read"]["merged"]["service_ns"]["p50"].as_f64().unwrap();
    assert!(text.contains(&format!("| {} |", drivelab_report::units::time(p50))), "{text}");
    user.write("run.md", format!("{text}\nA note of mine.\n"));
    user.types(&line).refused(3, "run.md exists and is not an unchanged Markdown of drivelab");
    let said = user.types(&["report", "last", "--markdown", "/dev/stdout"]).fine();
    assert!(said.out.contains(&text), "{}", said.out);
}

#[test]
fn a_dash_prints_one_output_and_leaves_no_file() {
    let user = User::new();
    user.types(&[
        "run",
        "sim:textbook,state=filled",
        "--rw",
        "randread",
        "--bs",
        "4k",
        "--operations",
        "2000",
    ])
    .fine();
    let printed = user.types(&["report", "last", "--markdown", "-"]).fine().out;
    assert!(printed.starts_with('#') && !printed.contains("\nMarkdown "), "{printed}");
    let listed = user.types(&["report", "last", "--csv", "-"]).fine().out;
    assert!(listed.starts_with("drivelab_run,cell,"), "{listed}");
    let both = ["report", "last", "--csv", "-", "--markdown", "-"];
    user.types(&both).refused(2, "two of these outputs are to be printed on stdout");
    assert!(!user.listing().contains(&"-".to_string()), "{:?}", user.listing());
}

#[test]
fn a_workbook_that_someone_else_saved_is_kept() {
    let user = with_a_run();
    user.types(&["report", "last", "--xlsx", "run.xlsx"]).fine();
    let path = user.work().join("run.xlsx");
    saved_by_another(&path);
    let before = bytes(&user, "run.xlsx");
    let line = ["report", "last", "--xlsx", "run.xlsx"];
    user.types(&line).refused(3, "run.xlsx exists and is not an unchanged workbook of drivelab");
    assert!(before == bytes(&user, "run.xlsx"));
}

/// The same workbook as a spreadsheet program would save it: its maker stays, who saved it is new.
fn saved_by_another(path: &Path) {
    use std::io::{Read, Write};
    let mut old = zip::ZipArchive::new(std::fs::File::open(path).unwrap()).unwrap();
    let mut new = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for index in 0..old.len() {
        let mut file = old.by_index(index).unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        let (mine, other) = ("<cp:lastModifiedBy>drivelab", "<cp:lastModifiedBy>Ann");
        new.start_file(file.name().unwrap(), zip::write::SimpleFileOptions::default()).unwrap();
        new.write_all(text.replace(mine, other).as_bytes()).unwrap();
    }
    std::fs::write(path, new.finish().unwrap().into_inner()).unwrap();
}

#[test]
fn a_bad_place_is_found_before_anything_is_written() {
    let user = with_a_run();
    user.write("precious.txt", "do not lose me");
    let line = ["report", "last", "--csv", "cells.csv", "--xlsx", "precious.txt"];
    user.types(&line).refused(3, "precious.txt exists");
    assert_eq!(user.listing(), ["page.html", "precious.txt"]);
    user.types(&["report", "last", "--csv", "nowhere/cells.csv"]).status(2);
}

#[test]
fn names_stay_at_home_when_redacted() {
    let user = with_a_run();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim().to_lowercase();
    let plain = user.types(&["report", "last", "--out", "plain.html"]).fine();
    let line = ["report", "last", "--redact", "--out", "clean.html", "--csv", "clean.csv"];
    let clean = user.types(&line).fine();
    let json = user.types(&["report", "last", "--redact", "--json"]).fine();
    assert!(json.json()["steps"].as_array().unwrap().len() > 1);
    let text = |name: &str| String::from_utf8(bytes(&user, name)).unwrap().to_lowercase();
    let name = format!("<td>{host}");
    assert!(text("plain.html").contains(&name), "the host name is a fact of the run");
    assert!(!text("clean.html").contains(&name));
    assert!(text("clean.html").contains("<td>[host]"));
    assert_eq!(plain.out.lines().count(), clean.out.lines().count() - 1, "one more file");
    assert!(text("clean.csv").starts_with("drivelab_run,"));
}

#[test]
fn what_another_tools_line_comes_to_is_on_its_page_and_can_be_run_again() {
    let user = User::new();
    let program = user.work().join("fio");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_drivelab"), &program).unwrap();
    let line = ["--name=my job", "--rw=write", "--size=1m", "--ioengine=io_uring", "--iodepth=4"];
    let output = Command::new(&program)
        .args(line)
        .current_dir(user.work())
        .env("XDG_DATA_HOME", user.runs().ancestors().nth(2).unwrap())
        .env("DRIVELAB_NOTES", "stderr")
        .output()
        .unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{err}");
    let late = err.lines().find(|line| line.contains("In flight on average")).unwrap();
    let late = late.strip_prefix("note: ").unwrap();
    let run = std::fs::read_to_string(user.last_run()).unwrap();
    assert_eq!(run.matches("In flight on average").count(), 1);
    assert!(run.find("In flight on average") > run.rfind("\"record\":\"step_end\""));
    assert!(run.lines().last().unwrap().starts_with("{\"record\":\"end\""));
    let said = user.types(&["report", "last", "--out", "page.html"]).fine();
    assert!(said.out.contains("Note     "), "{}", said.out);
    assert!(!said.out.contains("Warning  "), "{}", said.out);
    let page = String::from_utf8(bytes(&user, "page.html")).unwrap();
    let notes = page.split_once("<section class=\"remarks\">").unwrap().1;
    let notes = notes.split_once("</section>").unwrap().0;
    assert!(notes.contains(late.split('\'').next().unwrap()), "{late}\n{notes}");
    let again = page.split_once("<h2>Again</h2><pre class=\"wrap\">").unwrap().1;
    let again = again.split_once("</pre>").unwrap().0.replace("&#39;", "'");
    let typed = "--rw=write --size=1m --ioengine=io_uring --iodepth=4";
    assert_eq!(again, format!("drivelab fio '--name=my job' {typed}"));
}
