//! A laboratory for storage drives: the program.
#![forbid(unsafe_code)]

mod asked_drives;
mod bounded;
mod card;
mod cli;
mod command;
mod descriptors;
mod documents;
mod entropy;
mod evidence;
mod execute;
mod forecast;
mod front;
mod job;
mod layout;
mod live;
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

use clap::FromArgMatches;
use clap::error::ErrorKind;
use cli::{Command, CommandLine};
use drivelab_io::ranks::Ranks;
use outcome::{Failure, Status};
use print::Output;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let help = command::shell::help_words(&words);
    let is_help = help.is_some();
    let words = help.unwrap_or(words);
    let ranks = match Ranks::join() {
        Ok(ranks) => ranks,
        Err(trouble) => {
            let failure = Failure::from(trouble);
            print::failure(&failure);
            return ExitCode::from(failure.status as u8);
        }
    };
    Output::of(ranks).set();
    print::look_at_screen();
    let status = match ranks::same_command_line(ranks, &words) {
        Ok(()) => {
            front::attempt(ranks, &words).unwrap_or_else(|| command_line(ranks, &words, is_help))
        }
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
fn command_line(ranks: Ranks, words: &[String], is_help: bool) -> u8 {
    let as_json = asks_json(words);
    if let Some(help) = command::study::help(words) {
        print::text(&help);
        return 0;
    }
    let refused = command::elsewhere::refusal(words);
    let refused = refused.or_else(|| command::near_misses::refusal(words));
    if let Some(refused) = refused.or_else(|| command::fixed_loads::refusal(words)) {
        print::refusal(&refused, as_json);
        return refused.status as u8;
    }
    // What was typed may hold names that are not UTF-8; the words of `help` were put together here.
    let matched = match is_help {
        true => cli::definition().try_get_matches_from(words),
        false => cli::definition().try_get_matches(),
    };
    let matches = match matched {
        Ok(matches) => matches,
        Err(error) => return usage(&error, as_json),
    };
    let parsed = match CommandLine::from_arg_matches(&matches) {
        Ok(parsed) => parsed,
        Err(error) => return usage(&error.format(&mut cli::definition()), as_json),
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
        Command::Schema(options) => command::schema::schema(options),
        Command::Completions(options) => command::shell::completions(options),
        Command::Man(options) => command::shell::man(options),
        Command::Help(options) => command::shell::help(options),
        Command::Check(options) => command::check::check(options),
        Command::Doctor(options) => command::doctor::doctor(options),
        Command::Health(options) => command::health::health(options),
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

/// No option takes a negative number, so that no way to pass one is a way out.
fn without_negative_tip(text: &str) -> String {
    let negative = |line: &str| {
        let rest = line.trim_start().strip_prefix("tip: to pass '-")?;
        rest.starts_with(|c: char| c.is_ascii_digit()).then_some(())
    };
    let tip = "  tip: numbers are not negative here";
    text.lines()
        .map(|line| if negative(line).is_some() { tip } else { line })
        .collect::<Vec<_>>()
        .join("\n")
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
            let text = without_negative_tip(text);
            print::refusal(&Failure::usage(text.trim_end()), as_json);
            Status::Usage as u8
        }
    }
}
