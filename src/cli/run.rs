//! `warmpath run`: a level without a window.

use super::args::{Output, Run as Arguments};
use super::drive::{Progress, find, run_to_end, set_fleet, span};
use super::{InputError, Outcome, output, table};
use crate::level::{Level, Shared};
use crate::sim::Report;

/// Runs a level and prints its report.
pub fn run(arguments: &Arguments) -> Result<Outcome, InputError> {
    let mut found = find(&arguments.level)?;
    if let Some(code) = &arguments.code {
        found = Shared::parse_for(&found.level, code)?;
    }
    let blueprint = set_fleet(&found, &arguments.settings)?;
    let mut level = found.level;
    shorten(&mut level, &arguments.settings)?;
    let seed = arguments.settings.seed.unwrap_or_else(|| level.first_seed());
    let mut run = level.start(&blueprint, seed);
    let mut progress = Progress::new(&level.id, arguments.output.quiet);
    run_to_end(&mut run, Some(level.seconds), &mut progress, || (0, 1));
    drop(progress);
    let report = level.complete(run.report(), &blueprint);
    Ok(print(&report, &arguments.output))
}

/// Gives the level the length and warm-up that the options say.
pub fn shorten(level: &mut Level, settings: &super::args::Settings) -> Result<(), InputError> {
    let (length, warmup) = span(settings, Some(level.seconds), level.warmup_s)?;
    level.seconds = length.unwrap_or(level.seconds);
    level.warmup_s = warmup;
    Ok(())
}

/// Prints a report as the options say.
pub fn print(report: &Report, options: &Output) -> Outcome {
    if options.json {
        output::line(&serde_json::to_string(report).unwrap_or_default());
    } else if !options.quiet {
        output::line(table::report(report).trim_end());
    }
    match report.passed {
        Some(false) => Outcome::NotMet,
        _ => Outcome::Done,
    }
}
