//! The commands that open the window: thin calls into the app.

use super::args::Shot as Arguments;
use super::{InputError, Outcome};

#[cfg(not(feature = "window"))]
mod without {
    use super::{Arguments, InputError, Outcome};

    const NO_WINDOW: &str = "this build has no window: it was built with --no-default-features";

    /// Says that there is no window.
    pub fn open(_level: Option<&str>) -> Result<Outcome, InputError> {
        Err(InputError(NO_WINDOW.into()))
    }

    /// Says that there is no window.
    pub fn shot(_arguments: &Arguments) -> Result<Outcome, InputError> {
        Err(InputError(NO_WINDOW.into()))
    }
}
#[cfg(not(feature = "window"))]
pub use without::{open, shot};

#[cfg(feature = "window")]
mod with {
    use super::{Arguments, InputError, Outcome};
    use crate::app;
    use crate::blueprint::{Assignment, Blueprint, SettingError, apply};
    use crate::cli::args;
    use crate::cli::drive::{assignments, find};
    use crate::level::{Level, Link, Shared};
    use bevy::app::AppExit;

    /// The least and the most that a side of the window may be, in pixels.
    const SIDES: std::ops::RangeInclusive<u32> = 320..=7680;

    /// Opens the game, at a level if one is named.
    pub fn open(level: Option<&str>) -> Result<Outcome, InputError> {
        let link = level.map(find).transpose()?.map(Link::from);
        match app::play(app::Launch { link, notice: None }).map_err(InputError)? {
            AppExit::Success => Ok(Outcome::Done),
            AppExit::Error(_) => Err(InputError("the window closed with an error".into())),
        }
    }

    /// Saves a picture of the window.
    pub fn shot(arguments: &Arguments) -> Result<Outcome, InputError> {
        let Shared { level, mut blueprint } = find(&arguments.level)?;
        if arguments.solved {
            blueprint = level.blueprint_of(&level.solution).map_err(|error| InputError(error.to_string()))?;
        }
        apply(&mut blueprint, &assignments(&arguments.set)?)?;
        let at_s = arguments.at;
        if !(0.0..=level.seconds).contains(&at_s) {
            let expected = format!("a number from 0 to the {} seconds of the level", level.seconds);
            return Err(SettingError { key: "--at".into(), expected, found: at_s.to_string() }.into());
        }
        let size = size(&arguments.size)?;
        let seed = arguments.seed.unwrap_or_else(|| level.first_seed());
        let out = arguments.out.clone();
        let changes = changes(&level, &blueprint, &arguments.change)?;
        let screen = match arguments.screen {
            args::ShotScreen::Play => app::ShotScreen::Play,
            args::ShotScreen::Verdict => app::ShotScreen::Verdict,
            args::ShotScreen::Help => app::ShotScreen::Help,
            args::ShotScreen::Levels => app::ShotScreen::Levels,
            args::ShotScreen::Components => app::ShotScreen::Components,
        };
        app::shot(app::Shot { level, blueprint, at_s, out, size, seed, screen, changes }).map_err(InputError)?;
        Ok(Outcome::Done)
    }

    /// Reads changes as `SECONDS:KEY=VALUE`, each one that a player could make.
    fn changes(level: &Level, blueprint: &Blueprint, texts: &[String]) -> Result<Vec<(f64, Assignment)>, InputError> {
        let mut blueprint = blueprint.clone();
        texts
            .iter()
            .map(|text| {
                let wrong = || SettingError {
                    key: "--change".into(),
                    expected: "SECONDS:KEY=VALUE, such as 60:router.spill=8".into(),
                    found: format!("{text:?}"),
                };
                let (at, change) = text.split_once(':').ok_or_else(wrong)?;
                let at: f64 = at.parse().ok().filter(|at: &f64| *at >= 0.0).ok_or_else(wrong)?;
                let change = Assignment::parse(change).map_err(|_| wrong())?;
                level.apply_as_player(&mut blueprint, std::slice::from_ref(&change))?;
                Ok((at, change))
            })
            .collect()
    }

    /// Reads a size as `1280x720`.
    fn size(text: &str) -> Result<(u32, u32), SettingError> {
        let side = |side: &str| side.parse().ok().filter(|side| SIDES.contains(side));
        let size = text.split_once('x').and_then(|(width, height)| Some((side(width)?, side(height)?)));
        size.ok_or_else(|| SettingError {
            key: "--size".into(),
            expected: format!("WxH, each from {} to {}, such as 1280x720", SIDES.start(), SIDES.end()),
            found: format!("{text:?}"),
        })
    }
}
#[cfg(feature = "window")]
pub use with::{open, shot};
