//! A laboratory for storage drives: the program.
#![forbid(unsafe_code)]

mod bounded;
mod cli;
mod command;
mod descriptors;
mod entropy;
mod evidence;
mod execute;
mod forecast;
mod front;
mod job;
mod layout;
mod load;
mod outcome;
mod outputs;
mod patience;
mod print;
mod progress;
mod ranks;
mod ready;
mod results;
mod session;
mod shown;
mod state_cache;
mod store;
mod target;
mod target_actions;
mod tracer;
mod waiting;
mod wall_clock;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches};
use cli::{Command, CommandLine};
use drivelab_io::ranks::Ranks;
use outcome::{Failure, Status};
use print::Output;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let ranks = match Ranks::join() {
        Ok(ranks) => ranks,
        Err(trouble) => {
            let failure = Failure::from(trouble);
            print::failure(&failure);
            return ExitCode::from(failure.status as u8);
        }
    };
    Output::of(ranks).set();
    let status = match ranks::same_command_line(ranks, &words) {
        Ok(()) => front::attempt(ranks, &words).unwrap_or_else(|| command_line(ranks, &words)),
        Err(failure) => {
            print::failure(&failure);
            failure.status as u8
        }
    };
    let status = heard(status);
    let message = print::final_message(status);
    print::others(&message, &ranks.exchange_final_messages(&message));
    ranks.finalize(status);
    ExitCode::from(status)
}

/// The exit status of a command whose results may not have arrived.
fn heard(status: u8) -> u8 {
    match print::lost() {
        Some(lost) if status == Status::Fine as u8 => {
            print::failure(&lost);
            lost.status as u8
        }
        Some(lost) => {
            print::error(&lost.to_string());
            status
        }
        None => status,
    }
}

/// Whether our own command line asks for JSON, even one that makes no sense otherwise.
fn asks_json(words: &[String]) -> bool {
    words.iter().skip(1).take_while(|word| *word != "--").any(|word| word == "--json")
}

/// Our own command line; gives the exit status.
fn command_line(ranks: Ranks, words: &[String]) -> u8 {
    let as_json = asks_json(words);
    if let Some(help) = command::study::help(words) {
        print::text(&help);
        return 0;
    }
    if let Some(refused) = command::elsewhere::refusal(words) {
        print::refusal(&refused, as_json);
        return refused.status as u8;
    }
    let matches = match CommandLine::command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => return usage(&error, as_json),
    };
    let parsed = match CommandLine::from_arg_matches(&matches) {
        Ok(parsed) => parsed,
        Err(error) => return usage(&error.format(&mut CommandLine::command()), as_json),
    };
    drivelab_io::signal::install();
    if !matches!(parsed.command, Command::Run(_))
        && let Err(failure) = ranks::refuse_several(ranks, "this command")
    {
        print::refusal(&failure, as_json);
        return failure.status as u8;
    }
    let outcome = match &parsed.command {
        Command::Run(options) => {
            let given = matches.subcommand_matches("run").map(command::run::given_options);
            command::run::run(ranks, options, &given.unwrap_or_default())
        }
        Command::Study(options) => command::study::study(options),
        Command::Resume(options) => command::study::resume(options),
        Command::Compare(options) => command::compare::compare(options),
        Command::Report(options) => command::report::report(options),
        Command::Runs(options) => command::runs::runs(options),
        Command::History(options) => command::history::history(options),
        Command::List(options) => command::list::list(options),
        Command::Watch(options) => command::watch::watch(options),
        Command::Sim(options) => command::sim::sim(options),
        Command::Bare(options) => command::bare::bare(options),
        Command::Generate(options) => command::generate::generate(options),
        Command::Check(options) => command::check::check(options),
        Command::Doctor(options) => command::doctor::doctor(options),
        Command::Accept(options) => command::accept::accept(options),
    };
    match outcome {
        Ok(status) => status as u8,
        Err(failure) => {
            print::refusal(&failure, as_json);
            failure.status as u8
        }
    }
}

/// Help goes to stdout; everything else that clap has to say is a usage error.
fn usage(error: &clap::Error, as_json: bool) -> u8 {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            print::text(&error.render().to_string());
            0
        }
        _ => {
            let text = error.render().to_string();
            let text = text.strip_prefix("error: ").unwrap_or(&text);
            print::refusal(&Failure::usage(text.trim_end()), as_json);
            Status::Usage as u8
        }
    }
}
