//! What the headless commands have in common: finding a level, applying settings, running with progress.

use super::InputError;
use super::args::Settings;
use crate::blueprint::{Assignment, Blueprint, SettingError, apply};
use crate::level::{Build, Level, Shared};
use crate::sim::{Micros, NEVER, Run, micros_of_s, seconds};
use indicatif::{ProgressBar, ProgressStyle};
use std::path::Path;
use std::time::{Duration, Instant};

/// How many events are processed between two looks at the clock.
const SLICE: u64 = 50_000;
/// A run that takes longer than this shows its progress.
const PATIENCE: Duration = Duration::from_secs(1);
/// The longest run in seconds.
const LONGEST_S: f64 = 1e7;

/// The level of this file or id, with its fleet as it is given; or what a code holds.
pub fn find(name: &str) -> Result<Shared, InputError> {
    if Shared::is_code(name) {
        return Ok(Shared::parse(name)?);
    }
    let level = find_level(name)?;
    Ok(Shared { blueprint: level.blueprint.clone(), level })
}

/// The level of this file or id.
pub fn find_level(name: &str) -> Result<Level, InputError> {
    if Shared::is_code(name) {
        return Err(InputError("expected a level's file or id, found a code".into()));
    }
    let path = Path::new(name);
    match Level::by_id(name) {
        Err(_) if path.exists() => Ok(Level::read(path)?),
        found => Ok(found?),
    }
}

/// Reads each `KEY=VALUE`.
pub fn assignments(texts: &[String]) -> Result<Vec<Assignment>, SettingError> {
    texts.iter().map(|text| Assignment::parse(text)).collect()
}

/// The fleet that was found, with the solution and then the settings applied.
pub fn set_fleet(found: &Shared, settings: &Settings) -> Result<Blueprint, InputError> {
    let mut blueprint = solved(found, settings.solution.as_deref())?;
    apply(&mut blueprint, &assignments(&settings.set)?)?;
    Ok(blueprint)
}

/// The fleet that was found, with the solution of a file, if one is named.
pub fn solved(found: &Shared, solution: Option<&Path>) -> Result<Blueprint, InputError> {
    let Shared { level, blueprint } = found;
    let Some(path) = solution else { return Ok(blueprint.clone()) };
    let mut build = Build::read(path, level)?;
    build.fleet.get_or_insert(blueprint.clone());
    level.built(&build).map_err(|error| InputError(format!("{}: {error}", path.display())))
}

/// The length of a run and its warm-up in seconds; `seconds` is none for one that ends by itself.
pub fn span(settings: &Settings, given: Option<f64>, given_warmup: f64) -> Result<(Option<f64>, f64), SettingError> {
    let error =
        |key: &str, expected: String, found: f64| SettingError { key: key.into(), expected, found: found.to_string() };
    let length = settings.seconds.or(given);
    if let Some(length) = length
        && !(length > 0.0 && length <= LONGEST_S)
    {
        return Err(error("--seconds", format!("a number above 0 and up to {LONGEST_S}"), length));
    }
    let warmup = settings.warmup.unwrap_or(given_warmup);
    let below = length.unwrap_or(LONGEST_S);
    if !(warmup >= 0.0 && warmup < below) {
        return Err(error("--warmup", format!("a number from 0 up to below the {below} seconds of the run"), warmup));
    }
    Ok((length, warmup))
}

/// A progress bar that shows itself on a terminal once a run takes long.
pub struct Progress {
    began: Instant,
    shown: Option<ProgressBar>,
    wanted: bool,
    label: String,
}

impl Progress {
    /// Of what `label` says.
    pub fn new(label: impl Into<String>, quiet: bool) -> Self {
        Self { began: Instant::now(), shown: None, wanted: !quiet, label: label.into() }
    }

    /// So much of so much is done.
    pub fn show(&mut self, done: u64, whole: u64) {
        if !self.wanted || self.began.elapsed() < PATIENCE {
            return;
        }
        let bar = self.shown.get_or_insert_with(|| {
            // indicatif draws on standard error, and only where that is a terminal.
            let bar = ProgressBar::new(whole.max(1));
            if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {percent:>3} %  {eta} left") {
                bar.set_style(style);
            }
            bar.set_message(self.label.clone());
            bar
        });
        bar.set_length(whole.max(1));
        bar.set_position(done.min(whole));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}

/// Runs to the end of `length` seconds, or to the end of the trace where that is none. `position` says how far along it
/// is, as (done, whole), for a run whose length is not known.
pub fn run_to_end(run: &mut Run, length: Option<f64>, progress: &mut Progress, position: impl Fn() -> (u64, u64)) {
    let until: Micros = length.map_or(NEVER, micros_of_s);
    while !run.advance(until, SLICE) {
        let (done, whole) = match length {
            Some(length) => ((seconds(run.now()) * 1e3) as u64, (length * 1e3) as u64),
            None => position(),
        };
        progress.show(done, whole);
    }
}
