//! The lines of the articles that drivelab comes from, word for word (article_lines.txt), and what
//! comes of each on a simulated drive, scaled. What they say of real files stands
//! in docs/compat/article-lines.md.

use crate::cli_user::User;
use std::path::Path;

/// One line as it is printed, how it is made smaller, and what is true of it.
#[derive(Debug)]
struct Line {
    article: String,
    printed: String,
    replaced: Option<(String, String)>,
    more: String,
    status: i32,
    says: Vec<String>,
}

fn lines() -> Vec<Line> {
    let mut all: Vec<Line> = Vec::new();
    let text = include_str!("article_lines.txt").lines();
    for line in text.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let Some(own) = line.strip_prefix("    ") else {
            let (article, printed) = line.split_once(": ").unwrap();
            all.push(Line {
                article: article.into(),
                printed: printed.into(),
                replaced: None,
                more: String::new(),
                status: 0,
                says: Vec::new(),
            });
            continue;
        };
        let last = all.last_mut().unwrap();
        match own.split_once(' ').unwrap() {
            ("replaced", pair) => {
                let (from, to) = pair.split_once(" by ").unwrap();
                assert!(last.printed.contains(from), "{from} is not in {}", last.printed);
                last.replaced = Some((from.into(), to.into()));
            }
            ("more", words) => last.more = words.into(),
            ("status", number) => last.status = number.parse().unwrap(),
            ("says", text) => last.says.push(text.into()),
            other => panic!("{other:?}"),
        }
    }
    all
}

/// The words of a shell's line; the only quotes are double ones.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut is_quoted, mut is_in_word) = (Vec::<String>::new(), false, false);
    for letter in line.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ' ' if !is_quoted => is_in_word = false,
            _ => {
                if !is_in_word {
                    words.push(String::new());
                }
                is_in_word = true;
                words.last_mut().unwrap().push(letter);
            }
        }
    }
    words
}

/// From the tool on: without a launcher before it, without a path, and without where its output
/// goes.
fn from_tool(printed: &str) -> String {
    let line = printed.split(" > ").next().unwrap();
    let launched = line.contains("mpirun").then(|| line.rfind(" ./")).flatten();
    let line = launched.map_or(line, |at| &line[at + 1..]);
    line.trim_start_matches('.').trim_start_matches('/').to_string()
}

fn typed(line: &Line) -> Vec<String> {
    let mut own = from_tool(&line.printed);
    if let Some((from, to)) = &line.replaced {
        own = own.replace(from, to);
    }
    words(&format!("{own} {}", line.more))
}

#[test]
fn each_line_of_the_articles_runs_and_says_what_it_should() {
    let mut wrong = Vec::new();
    for line in lines() {
        let typed = typed(&line);
        let said = User::new().types(&typed.iter().map(String::as_str).collect::<Vec<_>>());
        let all = format!("{}{}", said.out, said.err);
        let missing: Vec<&String> = line.says.iter().filter(|it| !all.contains(*it)).collect();
        if said.status != Some(line.status) || !missing.is_empty() || all.contains("panicked") {
            let what = format!("{:?}, not said: {missing:?}", said.status);
            wrong.push(format!("{}: {}\n{what}\n{all}", line.article, typed.join(" ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn none_is_left_out_here_or_on_the_page_of_real_files() {
    let all = lines();
    let of_tools = ["fio", "IOzone", "iozone", "metarates", "IOR"];
    let is_of_tool = |line: &&Line| {
        let tool = from_tool(&line.printed);
        of_tools.contains(&tool.split(' ').next().unwrap())
    };
    assert_eq!(all.iter().filter(is_of_tool).count(), 24);
    assert!(all.iter().all(|line| !line.says.is_empty()), "a line of which nothing is true");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/compat/article-lines.md");
    let page = std::fs::read_to_string(page).unwrap();
    let missing: Vec<String> = all
        .iter()
        .filter(|line| !["fdisk", "mke2fs"].iter().any(|tool| line.printed.starts_with(tool)))
        .map(|line| from_tool(&line.printed))
        .filter(|line| !page.contains(line))
        .collect();
    assert!(missing.is_empty(), "not on the page: {missing:#?}");
}

#[test]
fn words_are_split_as_a_shell_does() {
    assert_eq!(words("fio -name=\"a b\"  -rw=read"), ["fio", "-name=a b", "-rw=read"]);
    assert_eq!(from_tool("time mpirun -np 4 ./metarates -d x"), "metarates -d x");
    assert_eq!(from_tool("/iozone -O > output"), "iozone -O");
}

/// Under mpirun, on files.
mod team {
    use super::{from_tool, lines, words};
    use crate::support::launched::Launcher;

    #[test]
    fn the_lines_of_mpirun_run_on_four_processes() {
        let launched: Vec<_> =
            lines().into_iter().filter(|line| line.printed.contains("mpirun ")).collect();
        assert_eq!(launched.len(), 3);
        let launcher = Launcher::new();
        std::fs::create_dir(launcher.path("junk")).unwrap();
        for line in launched {
            let line = format!("{} --scale-size 1/1000", from_tool(&line.printed));
            let typed = words(&line);
            let words: Vec<&str> = typed.iter().map(String::as_str).collect();
            let said = launcher.run(4, &words).expect_status(0).stdout;
            let is_shared = match words[0] {
                "metarates" => said.contains("with 4 pes:"),
                _ => said.contains("clients            = 4 (4 per node)"),
            };
            assert!(is_shared, "{line}\n{said}");
        }
    }
}
