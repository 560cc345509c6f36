//! The page: what JavaScript may call, and where progress is kept in a browser.
//!
//! - `play()` starts the game on the page's canvas.
//! - `run(level, settings, seed)` gives the report of a level without the game, as `warmpath run --json` prints it: `level`
//!   is the id of a level that comes with the program, the text of a level file, or a code (`WP1-…`); `settings` an object of keys and
//!   values, applied in order, or nothing; `seed` a whole number, or nothing for the level's first. Bad input throws an
//!   `Error` with the line that the command line would print.
//! - `replay(trace, settings, seed)` does the same for a recorded trace, given as text.
//! - `runWithProgress(level, settings, seed, onProgress)` and `replayWithProgress(trace, settings, seed, onProgress)` give a
//!   promise of the same report and leave the page alive meanwhile: they work in slices, and after each they call
//!   `onProgress` with the share that is done, from 0 to 1. What it throws ends the run and rejects the promise.

mod keyboard;
mod slices;
mod store;
mod widgets;

pub use store::LocalStore;
pub use widgets::widgets;

use crate::app::{self, Launch};
use crate::blueprint::{Blueprint, apply};
use crate::level::{AssignmentList, Counted, Level, Link, Replay, Shared};
use crate::sim::{NEVER, micros_of_s};
use bevy::prelude::{App, Last, Local};
use js_sys::Function;
use std::io::Cursor;
use std::sync::atomic::Ordering;
use wasm_bindgen::prelude::{JsError, JsValue, wasm_bindgen};

/// Starts the game on the page's canvas, at what the page's address names behind its `#`.
#[wasm_bindgen]
pub fn play() {
    let hash = web_sys::window().and_then(|window| window.location().hash().ok()).unwrap_or_default();
    let launch = match Link::parse(&hash) {
        Ok(link) => Launch { link, notice: None },
        Err(error) => Launch { link: None, notice: Some(error.to_string()) },
    };
    if let Err(problem) = app::play(launch) {
        wasm_bindgen::throw_str(&problem);
    }
}

/// The address of the page, without what stands behind its `#`.
pub fn address() -> Option<String> {
    let location = web_sys::window()?.location();
    Some(format!("{}{}{}", location.origin().ok()?, location.pathname().ok()?, location.search().ok()?))
}

/// What the window does on a page alone: tells the page of the first picture, and tests of the widgets; shows the on-screen
/// keyboard.
pub fn window_plugin(app: &mut App) {
    keyboard::plugin(app);
    widgets::plugin(app);
    app.add_systems(Last, say_started);
}

/// Tells the page that the first picture is drawn: a few frames on, when fonts and layout have settled.
fn say_started(mut frames: Local<u32>) {
    const SETTLED: u32 = 3;
    *frames = frames.saturating_add(1);
    if *frames != SETTLED {
        return;
    }

    if let Some(window) = web_sys::window()
        && let Ok(event) = web_sys::Event::new("warmpath-started")
    {
        // Nobody on the page has to listen.
        let _heard = window.dispatch_event(&event);
    }
}

/// Runs a level and gives its report as an object.
///
/// # Errors
/// For bad input, the line that the command line would print.
#[wasm_bindgen]
pub fn run(level: &str, settings: JsValue, seed: JsValue) -> Result<JsValue, JsError> {
    let (level, blueprint, seed) = prepare(level, &settings, &seed)?;
    object(&level.report(&blueprint, seed))
}

/// Runs a level in slices between which the page lives, and gives its report as an object.
///
/// # Errors
/// As [`run`], and what `on_progress` throws.
#[wasm_bindgen(js_name = runWithProgress)]
pub async fn run_with_progress(
    level: String,
    settings: JsValue,
    seed: JsValue,
    on_progress: Option<Function>,
) -> Result<JsValue, JsValue> {
    let (level, blueprint, seed) = prepare(&level, &settings, &seed)?;
    let mut run = level.start(&blueprint, seed);
    let end = micros_of_s(level.seconds);
    slices::run(&mut run, end, |run| run.now() as f64 / end as f64, on_progress.as_ref()).await?;
    Ok(object(&level.complete(run.report(), &blueprint))?)
}

/// A level, its fleet with the settings, and the seed.
fn prepare(level: &str, settings: &JsValue, seed: &JsValue) -> Result<(Level, Blueprint, u64), JsError> {
    let Shared { level, mut blueprint } = if Shared::is_code(level) {
        Shared::parse(level).map_err(told)?
    } else {
        let level =
            if level.contains('(') { Level::parse("level", level) } else { Level::by_id(level) }.map_err(told)?;
        Shared { blueprint: level.blueprint.clone(), level }
    };
    apply(&mut blueprint, &read_settings(settings)?.0).map_err(told)?;
    let seed = read_seed(seed)?.unwrap_or_else(|| level.first_seed());
    Ok((level, blueprint, seed))
}

/// What reports call a trace, which has no name here.
const TRACE: &str = "trace";

/// Replays a recorded trace on a fleet and gives its report as an object.
///
/// # Errors
/// For bad input, the line that the command line would print.
#[wasm_bindgen]
pub fn replay(trace: String, settings: JsValue, seed: JsValue) -> Result<JsValue, JsError> {
    let changes = read_settings(&settings)?.0;
    let seed = read_seed(&seed)?;
    let text = Cursor::new(trace.into_bytes());
    let report = crate::level::replay(TRACE, Box::new(text), &changes, seed).map_err(told)?;
    object(&report)
}

/// Replays a recorded trace in slices between which the page lives, and gives its report as an object.
///
/// # Errors
/// As [`replay`], and what `on_progress` throws.
#[wasm_bindgen(js_name = replayWithProgress)]
pub async fn replay_with_progress(
    trace: String,
    settings: JsValue,
    seed: JsValue,
    on_progress: Option<Function>,
) -> Result<JsValue, JsValue> {
    let replay = Replay::new(&read_settings(&settings)?.0, read_seed(&seed)?).map_err(told)?;
    let whole = trace.len() as f64;
    let (text, read) = Counted::new(Cursor::new(trace.into_bytes()));
    let mut run = replay.start(Box::new(text));
    slices::run(&mut run, NEVER, |_| read.load(Ordering::Relaxed) as f64 / whole, on_progress.as_ref()).await?;
    Ok(object(&replay.report(TRACE, &run).map_err(told)?)?)
}

fn told(error: impl std::fmt::Display) -> JsError {
    JsError::new(&error.to_string())
}

/// A report as a JavaScript object.
fn object(report: &crate::sim::Report) -> Result<JsValue, JsError> {
    let text = serde_json::to_string(report).map_err(told)?;
    js_sys::JSON::parse(&text).map_err(|_| JsError::new("the report is not JSON"))
}

/// Settings as an object of keys and values, in the object's order.
fn read_settings(settings: &JsValue) -> Result<AssignmentList, JsError> {
    if settings.is_undefined() || settings.is_null() {
        return Ok(AssignmentList::default());
    }
    let text = js_sys::JSON::stringify(settings).ok().and_then(|text| text.as_string());
    let list = text.and_then(|text| serde_json::from_str(&text).ok());
    list.ok_or_else(|| {
        JsError::new("settings: expected an object of keys and values, such as {\"router.affinity\": 1}")
    })
}

/// A seed: a whole number that JavaScript holds exactly.
fn read_seed(seed: &JsValue) -> Result<Option<u64>, JsError> {
    const LARGEST: f64 = 9_007_199_254_740_991.0;
    match seed.as_f64() {
        None if seed.is_undefined() || seed.is_null() => Ok(None),
        Some(seed) if seed.fract() == 0.0 && (0.0..=LARGEST).contains(&seed) => Ok(Some(seed as u64)),
        _ => Err(JsError::new(&format!("seed: expected a whole number from 0 to {LARGEST}, found {seed:?}"))),
    }
}
