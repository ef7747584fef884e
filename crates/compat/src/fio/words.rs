//! From the words of a command line to jobs: each a list of options in the order they were given.

use super::jobfile;
use super::known::{self, Known, bare, instead, no, option};
use super::shown::Format;
use crate::front::{Note, Refusal, Treatment, World};
use crate::letters::TYPOGRAPHIC;
use crate::option::Care::{self, Ignored, Same};
use crate::option::refuse;
use drivelab_core::plan_text::nearest;

/// fio's exit status for a line that it does not understand.
pub const STATUS: u8 = 1;

/// One option as it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Its first name in the list of known ones.
    pub name: &'static str,
    /// Its name as typed.
    pub typed: String,
    /// What stands behind the `=`.
    pub value: Option<String>,
}

/// One job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Job {
    /// Its name.
    pub name: String,
    /// What holds for it because of what stood before all jobs.
    pub global: Vec<Word>,
    /// Its own options.
    pub own: Vec<Word>,
}

impl Job {
    /// Its options, the last of a name wins.
    pub fn words(&self) -> impl Iterator<Item = &Word> {
        self.global.iter().chain(&self.own)
    }
}

/// A line that was taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words {
    /// Its jobs.
    pub jobs: Vec<Job>,
    /// Options that stand in a `[global]` section or before all jobs, as typed; they are printed.
    pub global_shown: Vec<(String, String)>,
    /// Layouts of the output.
    pub formats: Vec<Format>,
    /// Version of the terse layout.
    pub terse_version: u8,
    /// Where results go.
    pub output: Option<String>,
    /// Nothing may be written.
    pub readonly: bool,
    /// Nothing is to be run.
    pub parse_only: bool,
    /// Sections that are wanted; all if there are none.
    pub sections: Vec<String>,
    /// A text to print instead of running anything.
    pub text: Option<String>,
    /// What is to be said of it.
    pub notes: Vec<Note>,
}

/// Options of the program rather than of a job.
const COMMAND: [Known; 31] = [
    option("output", Same),
    option("output-format", Same),
    bare("minimal", Same),
    bare("append-terse", Same),
    option("terse-version", Same),
    bare("version", Same),
    bare("help", Same),
    bare("readonly", Same),
    option("section", Same),
    bare("parse-only", Same),
    option("eta", Ignored("progress is drivelab's own, and on a terminal only")),
    option("eta-newline", Ignored("progress is drivelab's own, and on a terminal only")),
    option("eta-interval", Ignored("progress is drivelab's own, and on a terminal only")),
    bare("warnings-fatal", Ignored("what is not understood is always fatal")),
    option("max-jobs", Ignored("there is room for 4096 jobs")),
    option("alloc-size", Ignored("no shared memory is needed")),
    option("aux-path", Ignored("no files of its own are made beside the target")),
    option("status-interval", instead("the run file has every interval")),
    bare("bandwidth-log", instead("use write_bw_log")),
    bare("showcmd", instead("--dry-run prints the plan")),
    option("debug", instead("--dry-run prints the plan")),
    option("cmdhelp", instead("docs/COMPATIBILITY.md lists every option")),
    option("enghelp", instead("docs/COMPATIBILITY.md lists every option")),
    option("client", instead("over several machines a line runs under mpirun")),
    option("server", instead("over several machines a line runs under mpirun")),
    option("daemonize", instead("over several machines a line runs under mpirun")),
    option("remote-config", instead("over several machines a line runs under mpirun")),
    option("idle-prof", instead("`drivelab doctor` tells whether the machine is idle")),
    option("inflate-log", no("logs are not compressed")),
    bare("crctest", no("it measures no drive")),
    bare("cpuclock-test", instead("`drivelab doctor` looks at the clock")),
];

/// Takes a line apart.
///
/// # Errors
/// What fio would refuse, in its words, and what cannot be done here, by name.
pub fn read(args: &[String], world: &dyn World) -> Result<Words, Refusal> {
    let mut reader = Reader {
        words: Words { terse_version: 3, ..Words::default() },
        defaults: Vec::new(),
        job: None,
        files: Vec::new(),
    };
    let mut rest = args.iter();
    while let Some(word) = rest.next() {
        reader.word(word, &mut rest)?;
        if reader.words.text.is_some() {
            return Ok(reader.words);
        }
    }
    reader.finish(world)
}

struct Reader {
    words: Words,
    defaults: Vec<Word>,
    job: Option<Job>,
    files: Vec<String>,
}

impl Reader {
    fn word<'a>(
        &mut self,
        word: &'a str,
        rest: &mut impl Iterator<Item = &'a String>,
    ) -> Result<(), Refusal> {
        let bare = word.trim_start_matches(|c| c == '-' || TYPOGRAPHIC.contains(&c));
        // A dash alone is the standard input.
        if bare.len() == word.len() || word == "-" {
            self.files.push(word.to_string());
            return Ok(());
        }
        if !word.starts_with('-') {
            self.words.notes.push(Note::new(
                "typographic_dash",
                word,
                Treatment::Same,
                "the dash is a typographic one, as word processors make it; it is read as `-`.",
            ));
        }
        let (name, value) = match bare.split_once('=') {
            Some((name, value)) => (name, Some(value.to_string())),
            None => (bare, None),
        };
        let command = COMMAND.iter().find(|known| known.name() == name);
        let known = command.or_else(|| known::find_by_beginning(name));
        let known = known.ok_or_else(|| unknown(word, name))?;
        let value = match value {
            None if !known.own.bare => Some(rest.next().cloned().ok_or_else(|| needs_value(word))?),
            value => value,
        };
        if command.is_some() {
            return self.command(known, value);
        }
        self.option(known, name, value);
        Ok(())
    }

    fn option(&mut self, known: &'static Known, typed: &str, value: Option<String>) {
        let name = known.name();
        if name == "name" {
            self.job.take().into_iter().for_each(|job| self.words.jobs.push(job));
            let title = value.unwrap_or_default();
            if title == "global" {
                self.words.global_shown.push((name.to_string(), title));
                return;
            }
            let shown = Word { name, typed: "name".into(), value: Some(title.clone()) };
            self.job = Some(Job { name: title, global: self.defaults.clone(), own: vec![shown] });
            return;
        }
        let word = Word { name, typed: typed.to_string(), value };
        match &mut self.job {
            Some(job) => job.own.push(word),
            None => {
                let shown = word.value.as_ref().map(|value| (typed.to_string(), value.clone()));
                self.words.global_shown.extend(shown);
                self.defaults.push(word);
            }
        }
    }

    fn command(&mut self, known: &Known, value: Option<String>) -> Result<(), Refusal> {
        let name = known.name();
        if !takes_effect(known, &format!("--{name}"), &mut self.words.notes)? {
            return Ok(());
        }
        let value = value.unwrap_or_default();
        match name {
            "output" => self.words.output = Some(value),
            "output-format" => self.words.formats = formats(&value)?,
            "minimal" => self.words.formats = vec![Format::Terse],
            "append-terse" => self.words.formats.push(Format::Terse),
            "terse-version" => {
                let version = value.parse().ok().filter(|version| (2..=5).contains(version));
                self.words.terse_version = version.ok_or_else(|| {
                    Refusal::new(STATUS, "fio: bad terse version format", "Use 2, 3, 4 or 5.")
                })?;
            }
            "readonly" => self.words.readonly = true,
            "parse-only" => self.words.parse_only = true,
            "section" => self.words.sections.push(value),
            "version" => self.words.text = Some("fio-3.33\n".into()),
            _ => self.words.text = Some(HELP.into()),
        }
        Ok(())
    }

    fn finish(mut self, world: &dyn World) -> Result<Words, Refusal> {
        self.job.take().into_iter().for_each(|job| self.words.jobs.push(job));
        for (number, file) in std::mem::take(&mut self.files).into_iter().enumerate() {
            let mut read = jobfile::read(&file, &self.defaults, world)?;
            // Job files run one after the other, whatever the jobs in them do.
            let first = read.jobs.first_mut().filter(|_| number > 0);
            first.into_iter().for_each(|job| job.global.push(waits()));
            self.words.jobs.extend(read.jobs);
            self.words.global_shown.extend(read.global_shown);
        }
        if !self.words.sections.is_empty() {
            let wanted = &self.words.sections;
            self.words.jobs.retain(|job| wanted.contains(&job.name));
        }
        if self.words.jobs.is_empty() {
            return Err(Refusal::new(
                STATUS,
                "No job(s) defined",
                "Give a job a name, as in  --name=test --rw=randread --size=1G  or name a job \
                 file.",
            ));
        }
        if self.words.formats.is_empty() {
            self.words.formats.push(Format::Normal);
        }
        Ok(self.words)
    }
}

/// What has a job wait for those before it.
fn waits() -> Word {
    let name = "stonewall";
    Word { name, typed: name.into(), value: None }
}

fn formats(text: &str) -> Result<Vec<Format>, Refusal> {
    let of = |word: &str| match word.trim() {
        "normal" => Ok(Format::Normal),
        "terse" | "minimal" => Ok(Format::Terse),
        "json" => Ok(Format::Json),
        "json+" => Ok(Format::JsonPlus),
        other => Err(Refusal::new(
            STATUS,
            format!("fio: invalid output format {other}"),
            "Use normal, terse, json or json+.",
        )),
    };
    text.split(',').map(of).collect()
}

/// An option that fio does not know either.
pub fn unknown(word: &str, name: &str) -> Refusal {
    let known: Vec<&str> = known::ALL.iter().flat_map(Known::names).collect();
    let advice = match nearest(name, &known) {
        Some(name) => format!("Did you mean --{name}?"),
        None => "docs/COMPATIBILITY.md lists every option.".to_string(),
    };
    Refusal::new(STATUS, format!("fio: unrecognized option '{word}'"), advice)
}

fn needs_value(word: &str) -> Refusal {
    let text = format!("fio: option '{word}' requires an argument");
    Refusal::new(STATUS, text, format!("Write it as {word}=VALUE."))
}

/// What is not to be had here of fio, and what to do instead.
pub fn not_to_be_had(what: &str, way: &str) -> Refusal {
    refuse(STATUS, &clause(what), "", Some(way))
}

/// The refusal of an option or of its value, if it is not to be had.
pub fn refusal(what: &str, care: Care) -> Option<Refusal> {
    care.refusal(STATUS, &clause(what))
}

fn clause(what: &str) -> String {
    format!("fio's {what} is not to be had in drivelab")
}

/// Whether an option changes anything here; what it does not quite mean here is said.
///
/// # Errors
/// It is not to be had.
pub fn takes_effect(known: &Known, typed: &str, notes: &mut Vec<Note>) -> Result<bool, Refusal> {
    if let Some(refusal) = refusal(typed, known.care) {
        return Err(refusal);
    }
    let (code, clause) = match known.care {
        Ignored(_) => ("ignored", "it changes nothing here"),
        _ => ("approximated", "nearly the same here"),
    };
    notes.extend(known.care.note(code, typed, clause));
    Ok(!matches!(known.care, Ignored(_)))
}

const HELP: &str = "\
drivelab runs fio's command lines and job files on its own engine, and prints what fio prints.

  drivelab fio --name=test --rw=randread --bs=4k --size=1G --iodepth=32 --ioengine=libaio --direct=1
  drivelab fio JOBFILE …    (- is the standard input)

Options of drivelab's own, anywhere: --scale-size F and --scale-time F (a share such as 1/1024 of
all sizes or times), --erase TOKEN, --runs DIR, --dry-run (prints the plan), --notes FILE.
docs/COMPATIBILITY.md lists every option of fio: same, approximated, or not to be had.
";
