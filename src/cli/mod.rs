//! The command line: run, replay, sweep, check, code, shot, and the two ways to open the game.
//!
//! What it takes and prints is a contract that scripts rely on: keys may be added, never renamed. Exit status: 0 done, 1
//! goals not met or a level that fails its check, 2 the input is wrong, said in one line on standard error.

mod args;
mod check;
mod code;
mod drive;
mod output;
mod replay;
mod run;
mod sweep;
mod table;
mod window;

pub use args::Arguments;

use args::Command;
use std::process::ExitCode;

/// What a command came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Done, and goals met where there are goals.
    Done,
    /// Goals not met, or a level that fails its check.
    NotMet,
}

/// Wrong input, in one line.
#[derive(Debug)]
struct InputError(String);

impl<E: std::error::Error> From<E> for InputError {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

/// Carries out what the arguments say.
pub fn main(arguments: Arguments) -> ExitCode {
    let outcome = match arguments.command {
        None => window::open(None),
        Some(Command::Play(play)) => window::open(Some(&play.level)),
        Some(Command::Run(command)) => run::run(&command),
        Some(Command::Replay(command)) => replay::replay(&command),
        Some(Command::Sweep(command)) => sweep::sweep(&command),
        Some(Command::Check(command)) => check::check(&command),
        Some(Command::Code(command)) => code::code(&command),
        Some(Command::Shot(command)) => window::shot(&command),
    };
    match outcome {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::NotMet) => ExitCode::from(1),
        Err(InputError(line)) => {
            let line = line.split(['\n', '\r']).filter(|part| !part.trim().is_empty()).collect::<Vec<_>>().join(" ");
            output::error_line(&line);
            ExitCode::from(2)
        }
    }
}
