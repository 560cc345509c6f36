//! `warmpath code`: a fleet as a string that can be sent, opened in the game and run.

use super::args::Code as Arguments;
use super::drive::{assignments, find, solved};
use super::{InputError, Outcome, output};
use crate::level::Shared;

/// Prints the code of a fleet that a player could make of the level.
pub fn code(arguments: &Arguments) -> Result<Outcome, InputError> {
    let mut found = find(&arguments.level)?;
    if arguments.solved {
        found.blueprint = found.level.blueprint_of(&found.level.solution)?;
    }
    let mut blueprint = solved(&found, arguments.solution.as_deref())?;
    found.level.apply_as_player(&mut blueprint, &assignments(&arguments.set)?)?;
    found.level.admits(&blueprint)?;
    output::line(&Shared { level: found.level, blueprint }.to_code());
    Ok(Outcome::Done)
}
