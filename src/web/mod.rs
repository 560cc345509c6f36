//! The page: what JavaScript may call, and where progress is kept in a browser.
//!
//! - `play()` starts the game on the page's canvas.
//! - `run(level, settings, seed)` gives the report of a level without the game, as `warmpath run --json` prints it: `level`
//!   is the id of a level that comes with the program, or the text of a level file; `settings` an object of keys and
//!   values, applied in order, or nothing; `seed` a whole number, or nothing for the level's first. Bad input throws an
//!   `Error` with the line that the command line would print.
//! - `replay(trace, settings, seed)` does the same for a recorded trace, given as text.

mod store;
mod widgets;

pub use store::LocalStore;
pub use widgets::widgets;

use crate::app::{self, Launch};
use crate::blueprint::apply;
use crate::level::{AssignmentList, Level, Link};
use bevy::prelude::{App, Last, Local};
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

/// What the window does on a page alone: tells the page of the first picture, and tests of the widgets.
pub fn window_plugin(app: &mut App) {
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
    let level = if level.contains('(') { Level::parse("level", level) } else { Level::by_id(level) }.map_err(told)?;
    let mut blueprint = level.blueprint.clone();
    apply(&mut blueprint, &read_settings(&settings)?.0).map_err(told)?;
    let seed = read_seed(&seed)?.unwrap_or_else(|| level.first_seed());
    object(&level.report(&blueprint, seed))
}

/// Replays a recorded trace on a fleet and gives its report as an object.
///
/// # Errors
/// For bad input, the line that the command line would print.
#[wasm_bindgen]
pub fn replay(trace: String, settings: JsValue, seed: JsValue) -> Result<JsValue, JsError> {
    let changes = read_settings(&settings)?.0;
    let seed = read_seed(&seed)?;
    let text = std::io::Cursor::new(trace.into_bytes());
    let report = crate::level::replay("trace", Box::new(text), &changes, seed).map_err(told)?;
    object(&report)
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
