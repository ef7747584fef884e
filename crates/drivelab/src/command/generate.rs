//! Man pages and shell completions, from the one definition of the command line.

use crate::cli::{CommandLine, GenerateOptions};
use crate::outcome::{Failure, Status};
use clap::CommandFactory;
use clap_complete::Shell;

/// Writes them into the directory.
pub fn generate(options: &GenerateOptions) -> Result<Status, Failure> {
    let directory = &options.directory;
    let failed = |error: std::io::Error| {
        Failure::usage(format!("cannot write to {}: {error}", directory.display()))
    };
    std::fs::create_dir_all(directory).map_err(failed)?;
    let mut command = CommandLine::command();
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut command, "drivelab", directory).map_err(failed)?;
    }
    clap_mangen::generate_to(CommandLine::command(), directory).map_err(failed)?;
    Ok(Status::Fine)
}
