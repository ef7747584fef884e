//! `drivelab schema`: the JSON that drivelab prints, described for programs.

use super::watch;
use crate::cli::SchemaOptions;
use crate::documents::{
    Cleaned, Compared, DescribedProfile, DoctorAnswer, Document, Drives, FeedInterval, Healths,
    Listed, OneHistory, Planned, Profiles, Pruned, Refusal, Results, RunList,
};
use crate::outcome::{Failure, Status};
use crate::print;
use drivelab_core::gathering::Gathering;
use drivelab_core::summary::SCHEMA;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// Columns of the names in the list.
const NAME_COLUMNS: usize = 12;

/// Lists the kinds, or prints the schema of one.
pub fn schema(options: &SchemaOptions) -> Result<Status, Failure> {
    match &options.name {
        None => print::text(&list()),
        Some(name) => {
            let kind = Kind::named(name).ok_or_else(|| unknown(name))?;
            print::json(&kind.schema())?;
        }
    }
    Ok(Status::Fine)
}

fn list() -> String {
    let row = |kind: &Kind| {
        format!(
            "  {:<NAME_COLUMNS$}{}\n  {:<NAME_COLUMNS$}{}\n",
            kind.name, kind.what, "", kind.lines
        )
    };
    let rows: String = KINDS.iter().map(row).collect();
    format!("{rows}\n`drivelab schema NAME` prints one; docs/JSON.md says what holds for all.\n")
}

fn unknown(name: &str) -> Failure {
    let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
    Failure::usage(format!("there is no kind of JSON called `{name}`"))
        .advise(format!("Name one of {}.", names.join(", ")))
}

/// One kind of object.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// What it is called: `drivelab schema NAME`.
    pub name: &'static str,
    /// The lines that print it.
    pub lines: &'static str,
    /// What it holds, in a few words.
    pub what: &'static str,
    /// Its schema, as derived.
    derived: fn() -> Schema,
}

/// All kinds, in the order in which they are listed.
pub const KINDS: [Kind; 17] = [
    Kind {
        name: "run",
        lines: "check, run, study, accept, resume, report, runs RUN",
        what: "one run in numbers, with its findings",
        derived: derived::<Results<'_>>,
    },
    Kind {
        name: "gathering",
        lines: "study NAME with several targets, sim sweep",
        what: "several runs of one study, and what follows from all of them",
        derived: derived::<Gathering>,
    },
    Kind {
        name: "plan",
        lines: "check, run, study, accept with --dry-run",
        what: "the plan, and what it costs",
        derived: derived::<Document<Planned<'_>>>,
    },
    Kind {
        name: "compare",
        lines: "compare",
        what: "two sides, cell by cell, and what the gate says",
        derived: derived::<Document<Compared<'_>>>,
    },
    Kind {
        name: "runs",
        lines: "runs",
        what: "the runs kept here",
        derived: derived::<Document<RunList>>,
    },
    Kind {
        name: "prune",
        lines: "runs prune",
        what: "run files that were removed, or would be",
        derived: derived::<Document<Pruned>>,
    },
    Kind {
        name: "history",
        lines: "history DRIVE",
        what: "each figure of one drive over its runs",
        derived: derived::<Document<OneHistory>>,
    },
    Kind {
        name: "drives",
        lines: "history",
        what: "the drives of which runs are kept",
        derived: derived::<Document<Drives>>,
    },
    Kind {
        name: "list",
        lines: "list",
        what: "devices and file systems of this machine",
        derived: derived::<Document<Listed>>,
    },
    Kind {
        name: "doctor",
        lines: "doctor",
        what: "whether this machine is fit to measure",
        derived: derived::<Document<DoctorAnswer>>,
    },
    Kind {
        name: "health",
        lines: "health",
        what: "what drives say of themselves: life used, errors, warnings",
        derived: derived::<Document<Healths>>,
    },
    Kind {
        name: "clean",
        lines: "doctor --clean",
        what: "scratch files that killed runs had left",
        derived: derived::<Document<Cleaned>>,
    },
    Kind {
        name: "watch",
        lines: "watch, one object a line",
        what: "what the kernel counted of one device in one interval",
        derived: derived::<Document<watch::Line>>,
    },
    Kind {
        name: "feed",
        lines: "check, run, study with --feed, one object a line",
        what: "one interval of one stream, while it runs",
        derived: derived::<Document<FeedInterval>>,
    },
    Kind {
        name: "profiles",
        lines: "sim list",
        what: "the simulated drives",
        derived: derived::<Document<Profiles>>,
    },
    Kind {
        name: "profile",
        lines: "sim show",
        what: "one simulated drive with its parameters",
        derived: derived::<Document<DescribedProfile>>,
    },
    Kind {
        name: "error",
        lines: "every line that is refused or fails before it has results",
        what: "why there is no result",
        derived: derived::<Document<Refusal>>,
    },
];

impl Kind {
    /// The one of this name.
    pub fn named(name: &str) -> Option<&'static Kind> {
        KINDS.iter().find(|kind| kind.name == name)
    }

    /// Its JSON Schema, draft 2020-12.
    pub fn schema(&self) -> Value {
        let mut schema = Value::from((self.derived)());
        in_json_words(&mut schema);
        schema["title"] = format!("drivelab {}", self.name).into();
        schema["description"] = format!("{}: {}", self.lines, self.what).into();
        schema["properties"]["schema"]["const"] = SCHEMA.into();
        schema
    }
}

fn derived<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>()
}

/// Descriptions come from the code, where absent is `None` and names of types are links.
fn in_json_words(schema: &mut Value) {
    match schema {
        Value::Array(all) => all.iter_mut().for_each(in_json_words),
        Value::Object(entries) => {
            for (key, value) in entries.iter_mut() {
                match value {
                    Value::String(text) if key == "description" => {
                        *text =
                            text.replace("`None`", "null").replace("[`", "`").replace("`]", "`");
                    }
                    other => in_json_words(other),
                }
            }
        }
        _ => {}
    }
}
