//! The commands that open the window: thin calls into the app.

use super::args::Shot;
use super::{InputError, Outcome};

#[cfg(not(feature = "window"))]
const NO_WINDOW: &str = "this build has no window (it was built with --no-default-features)";

/// Opens the game, at a level if one is named.
#[cfg(not(feature = "window"))]
pub fn open(_level: Option<&str>) -> Result<Outcome, InputError> {
    Err(InputError(NO_WINDOW.into()))
}

/// Saves a picture of the window.
#[cfg(not(feature = "window"))]
pub fn shot(_shot: &Shot) -> Result<Outcome, InputError> {
    Err(InputError(NO_WINDOW.into()))
}

/// Opens the game, at a level if one is named.
#[cfg(feature = "window")]
pub fn open(_level: Option<&str>) -> Result<Outcome, InputError> {
    Err(InputError("the window is not there yet".into()))
}

/// Saves a picture of the window.
#[cfg(feature = "window")]
pub fn shot(_shot: &Shot) -> Result<Outcome, InputError> {
    Err(InputError("the window is not there yet".into()))
}
