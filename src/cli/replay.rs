//! `warmpath replay`: a recorded trace on a fleet.

use super::args::Replay as Arguments;
use super::drive::{Progress, assignments, run_to_end, span};
use super::{InputError, Outcome, run};
use crate::level::{Counted, Replay, read_solution};
use crate::sim::TraceReader;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::atomic::Ordering;

/// Replays a trace and prints the report.
pub fn replay(arguments: &Arguments) -> Result<Outcome, InputError> {
    let settings = &arguments.settings;
    let mut changes = match &settings.solution {
        Some(path) => read_solution(path)?,
        None => Vec::new(),
    };
    changes.extend(assignments(&settings.set)?);
    let mut replay = Replay::new(&changes, settings.seed)?;
    let (length, warmup_s) = span(settings, None, 0.0)?;
    replay.warmup_s = warmup_s;

    let name = arguments.trace.display().to_string();
    let whole = validate(&arguments.trace)?;
    let (file, read) = Counted::new(open(&arguments.trace)?);
    let mut run = replay.start(Box::new(file));
    let mut progress = Progress::new(&name, arguments.output.quiet);
    run_to_end(&mut run, length, &mut progress, || (read.load(Ordering::Relaxed), whole));
    drop(progress);
    Ok(run::print(&replay.report(&name, &run)?, &arguments.output))
}

fn open(path: &Path) -> Result<File, InputError> {
    let unreadable = |error: &dyn std::fmt::Display| InputError(format!("{}: cannot be read: {error}", path.display()));
    let file = File::open(path).map_err(|error| unreadable(&error))?;
    match file.metadata() {
        Ok(metadata) if metadata.is_dir() => Err(unreadable(&"it is a folder")),
        _ => Ok(file),
    }
}

/// Reads a trace through once, so that a wrong line near its end is found before anything is run. What can be read only
/// once, such as a pipe, is checked while it is run. Returns its length in bytes.
fn validate(path: &Path) -> Result<u64, InputError> {
    let file = open(path)?;
    let length = match file.metadata() {
        Ok(metadata) if metadata.is_file() => metadata.len(),
        _ => return Ok(0),
    };
    for call in TraceReader::new(BufReader::with_capacity(1 << 16, file)) {
        call.map_err(|error| InputError(format!("{}: {error}", path.display())))?;
    }
    Ok(length)
}
