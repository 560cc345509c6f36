//! `warmpath check`: is each level what it claims?

use super::args::Check as Arguments;
use super::drive::{Progress, find_level};
use super::{InputError, Outcome, output, table};
use crate::level;

/// Checks each level and prints what came of it.
pub fn check(arguments: &Arguments) -> Result<Outcome, InputError> {
    // All are read before the first is run: a level that is not well formed is wrong input.
    let levels = arguments.levels.iter().map(|name| find_level(name)).collect::<Result<Vec<_>, _>>()?;
    let mut holds = true;
    let mut progress = Progress::new("checking", arguments.quiet);
    for (done, level) in levels.iter().enumerate() {
        progress.show(done as u64, levels.len() as u64);
        let attempts = level::check(level);
        holds &= attempts.iter().all(level::CheckReport::holds);
        if !arguments.quiet && !output::line(table::check(level, &attempts).trim_end()) {
            break;
        }
    }
    drop(progress);
    Ok(if holds { Outcome::Done } else { Outcome::NotMet })
}
