//! From the words of a command line to jobs: each a list of options in the order they were given.

use super::help;
use super::jobfile;
use super::known::{self, Known, bare, instead, no, option};
use super::output::packed;
use super::shown::Format;
use crate::front::{Note, Refusal, Treatment, World};
use crate::letters::TYPOGRAPHIC;
use crate::option::Care::{self, Ignored, InPart, Same};
use crate::option::{find, refuse, sentence};
use drivelab_core::plan_text::nearest;
use std::iter::Peekable;

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

/// A line that was parsed.
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
    /// `--debug=random`: the numbers that the orders of jobs follow from are printed.
    pub shows_orders: bool,
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
    /// What is in its way, as far as it can be told from the words.
    pub refusals: Vec<Refusal>,
}

/// Options of the program rather than of a job.
const COMMAND: &[Known] = &[
    option("output", Same),
    option("output-format", Same),
    bare("minimal", Same),
    bare("append-terse", Same),
    option("terse-version", Same),
    bare("version, v", Same),
    bare("help, h", Same),
    bare("cmdhelp", Same),
    bare("enghelp", Same),
    bare("showcmd", Same),
    bare("readonly", Same),
    option("section", Same),
    bare("parse-only", Same),
    option("eta", Ignored("progress is drivelab's own, and on a terminal only")),
    option("eta-newline", Ignored("progress is drivelab's own, and on a terminal only")),
    option("eta-interval", Ignored("progress is drivelab's own, and on a terminal only")),
    option("status-interval", Ignored(ONCE)),
    option("debug", InPart(DEBUG)),
    option("idle-prof", Ignored("`drivelab doctor` shows whether the processors are idle")),
    bare("warnings-fatal", Ignored("what is not understood is always fatal")),
    option("max-jobs", Ignored("there is room for 4096 jobs")),
    option("alloc-size", Ignored("no shared memory is needed")),
    option("aux-path", Ignored("no other files are made next to the target")),
    bare("bandwidth-log", Ignored("the run file has it; write_bw_log writes it for each job")),
    option("client", instead("over several machines a line runs under mpirun")),
    option("server", instead("over several machines a line runs under mpirun")),
    option("daemonize", instead("over several machines a line runs under mpirun")),
    option("remote-config", instead("over several machines a line runs under mpirun")),
    option("trigger-file, trigger, trigger-timeout", no("drivelab runs no other programs")),
    option("trigger-remote", no("drivelab runs no other programs")),
    option("merge-blktrace-only", instead("use `drivelab run --trace`, which replays traces")),
    option("inflate-log", Same),
    bare("crctest", no("it does not measure a drive")),
    bare("cpuclock-test", instead("`drivelab doctor` looks at the clock")),
];

const DEBUG: &str = "random prints the number that the order of a job follows from; nothing else \
                     is printed, and --dry-run prints the plan";
const ONCE: &str = "results are printed once, at the end; the run file has every interval";

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
        appends_terse: false,
        shows_line: false,
        stored: Vec::new(),
    };
    let mut rest = args.iter().peekable();
    while let Some(word) = rest.next() {
        if let Err(refusal) = reader.word(word, &mut rest) {
            reader.words.refusals.push(refusal);
        }
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
    appends_terse: bool,
    shows_line: bool,
    /// Logs that are to be printed.
    stored: Vec<String>,
}

impl Reader {
    fn word<'a>(
        &mut self,
        word: &'a str,
        rest: &mut Peekable<impl Iterator<Item = &'a String>>,
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
                "typographic dash treated as `-`.",
            ));
        }
        let (name, value) = match bare.split_once('=') {
            Some((name, value)) => (name, Some(value.to_string())),
            None => (bare, None),
        };
        let command = find(COMMAND.iter(), name);
        let known = command.or_else(|| known::find_by_beginning(name));
        let Some(known) = known else {
            // What follows it may be its value, and then is no job file.
            let is_value = |next: &&String| value.is_none() && !next.starts_with('-');
            rest.next_if(is_value);
            return Err(unknown(word, name));
        };
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
            "append-terse" => self.appends_terse = true,
            "terse-version" => {
                let version = value.parse().ok().filter(|version| (2..=5).contains(version));
                self.words.terse_version = version.ok_or_else(|| {
                    Refusal::new(STATUS, "fio: bad terse version format", "Use 2, 3, 4 or 5.")
                })?;
            }
            "debug" => self.debug(&value),
            "readonly" => self.words.readonly = true,
            "parse-only" => self.words.parse_only = true,
            "section" => self.words.sections.push(value),
            "version" => self.words.text = Some("fio-3.33\n".into()),
            "inflate-log" => self.stored.push(value),
            "showcmd" => self.shows_line = true,
            "cmdhelp" => self.words.text = Some(help::of_options(&value)),
            "enghelp" => self.words.text = Some(help::of_engines(&value)),
            _ => self.words.text = Some(help::GENERAL.into()),
        }
        Ok(())
    }

    /// Of what fio would print about itself.
    fn debug(&mut self, wanted: &str) {
        let mut kinds = wanted.split(',');
        self.words.shows_orders |= kinds.clone().any(|kind| matches!(kind, "random" | "all"));
        if kinds.any(|kind| kind != "random") {
            let text = "fio's view of itself is not printed; --dry-run prints the plan.";
            self.words.notes.push(Note::new("ignored", "--debug", Treatment::Ignored, text));
        }
    }

    fn finish(mut self, world: &dyn World) -> Result<Words, Refusal> {
        if !self.stored.is_empty() {
            let texts: Result<Vec<String>, Refusal> =
                self.stored.iter().map(|path| stored_log(path, world)).collect();
            self.words.text = Some(texts?.concat());
            return Ok(self.words);
        }
        self.job.take().into_iter().for_each(|job| self.words.jobs.push(job));
        for (number, file) in std::mem::take(&mut self.files).into_iter().enumerate() {
            let mut read = jobfile::read(&file, &self.defaults, world)?;
            // Job files run one after the other, whatever the jobs in them do.
            let first = read.jobs.first_mut().filter(|_| number > 0);
            first.into_iter().for_each(|job| job.global.push(waits()));
            self.words.jobs.extend(read.jobs);
            self.words.global_shown.extend(read.global_shown);
            self.words.refusals.extend(read.refusals);
        }
        if !self.words.sections.is_empty() {
            let wanted = &self.words.sections;
            self.words.jobs.retain(|job| wanted.contains(&job.name));
        }
        if self.words.jobs.is_empty() && self.words.refusals.is_empty() {
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
        // It comes on top of whatever else is printed.
        self.words.formats.extend(self.appends_terse.then_some(Format::Terse));
        if self.shows_line {
            self.words.text = Some(help::as_line(&self.words.jobs));
        }
        Ok(self.words)
    }
}

/// The lines of a log that was stored compressed.
fn stored_log(path: &str, world: &dyn World) -> Result<String, Refusal> {
    let lines = world.bytes(path).and_then(|data| packed::unpack(&data));
    lines.map_err(|why| {
        Refusal::new(
            STATUS,
            format!("fio: failed inflating log {path}: {why}"),
            "Name a log that log_store_compressed made (NAME.log.fz).",
        )
    })
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
    let known: Vec<&str> = known::all().flat_map(Known::names).collect();
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

/// The refusal of what drivelab does not support of fio, with what to do instead.
pub fn unsupported(what: &str, way: &str) -> Refusal {
    refuse(STATUS, &clause(what), "", Some(way))
}

/// The refusal of an option or of its value, if drivelab does not support it.
pub fn refusal(what: &str, care: Care) -> Option<Refusal> {
    care.refusal(STATUS, &clause(what))
}

/// All that is in the way of a line, as one refusal.
pub fn together(mut refusals: Vec<Refusal>) -> Option<Refusal> {
    let mut seen = Vec::new();
    refusals.retain(|refusal| {
        let is_new = !seen.contains(refusal);
        seen.push(refusal.clone());
        is_new
    });
    if refusals.len() < 2 {
        return refusals.pop();
    }
    let reason = |refusal: &Refusal| {
        let text = &refusal.text;
        let what = text.strip_prefix(UNSUPPORTED).or(text.strip_prefix("fio: ")).unwrap_or(text);
        let what = what.replace('\n', "; ");
        let ending = if what.ends_with('.') { "" } else { ". " };
        format!("\n  {what}{ending}{}", sentence(&refusal.advice)).trim_end().to_owned()
    };
    let reasons: String = refusals.iter().map(reason).collect();
    let text = format!("fio: {} things are in the way of this line:{reasons}", refusals.len());
    Some(Refusal::new(STATUS, text, "Nothing was run or written."))
}

const UNSUPPORTED: &str = "drivelab does not support fio's ";

fn clause(what: &str) -> String {
    format!("{UNSUPPORTED}{what}")
}

/// Whether an option changes anything here; what it does not quite mean here is said.
///
/// # Errors
/// It is not supported.
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
