//! The traffic that a source on the canvas can be set to: `assets/traffic.ron`.

use super::file::{LevelError, from_ron};
use crate::blueprint::{Blueprint, PartFile, Traffic, tag};
use serde::Deserialize;
use serde::de::{Deserializer, Error};
use std::sync::OnceLock;

/// What the file is called, and its text.
const FILE: (&str, &str) = ("assets/traffic.ron", include_str!("../../assets/traffic.ron"));

/// Traffic that a source can be set to.
#[derive(Clone, Debug, PartialEq)]
pub struct Preset {
    /// Its name, which the source takes, too.
    pub name: String,
    /// What it is like, in one sentence.
    pub about: String,
    /// Its settings.
    pub settings: Traffic,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename = "Preset")]
struct PresetFile {
    name: String,
    about: String,
    settings: Settings,
}

/// The settings of a source of traffic, without a name, links or a place.
struct Settings(Traffic);

impl<'de> Deserialize<'de> for Settings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let file = PartFile::<tag::Traffic>::deserialize(deserializer)?;
        if file.name.is_some() || file.at.is_some() || !file.to.is_empty() {
            return Err(D::Error::custom("settings: expected the settings of a traffic alone, found name, at or to"));
        }
        let mut scratch = Blueprint { traffics: vec![Traffic::default()], ..Blueprint::default() };
        for (setting, value) in file.rows() {
            setting.set(&mut scratch, 0, value);
        }
        Ok(Self(scratch.traffics.swap_remove(0)))
    }
}

fn parse(name: &str, text: &str) -> Result<Vec<Preset>, LevelError> {
    let presets: Vec<PresetFile> = from_ron(name, text)?;
    let preset = |PresetFile { name, about, settings }| Preset { name, about, settings: settings.0 };
    Ok(presets.into_iter().map(preset).collect())
}

/// The traffic that a source on the canvas can be set to, in the order in which it is offered.
///
/// # Panics
/// If the file is not well formed: a test reads it.
pub fn presets() -> &'static [Preset] {
    static READ: OnceLock<Vec<Preset>> = OnceLock::new();
    READ.get_or_init(|| parse(FILE.0, FILE.1).unwrap_or_else(|error| panic!("{error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blueprint::{Board, Edit, Piece, Place};
    use crate::level::Level;

    #[test]
    fn the_first_two_are_the_traffic_of_the_problems() {
        let levels = Level::builtin();
        for (preset, level) in presets().iter().zip(&levels).take(2) {
            assert_eq!(preset.settings, level.blueprint.traffics[0], "{}", preset.name);
            assert_eq!(level.blueprint.names.values().next(), Some(&preset.name));
        }
        assert!(presets().len() >= 4);
    }

    #[test]
    fn every_preset_can_be_had_on_the_canvas() {
        let canvas = Level::canvas();
        for Preset { name, about, settings } in presets() {
            assert!(about.ends_with('.') && !about.contains('\n'), "{about}");
            let mut board = Board::new(canvas.blueprint.clone(), None);
            board.edit(&Edit::Place { piece: Piece::Traffic, at: Place(700, 700) }).expect("there is room");
            let edit = Edit::Preset { traffic: 0, name: name.clone(), settings: settings.clone() };
            assert!(canvas.allows(&edit).is_ok());
            board.edit(&edit).expect("the source is there");
            assert_eq!(canvas.admits(board.blueprint()), Ok(()), "{name}");
            assert_eq!(board.blueprint().traffics.as_slice(), std::slice::from_ref(settings));
        }
    }

    #[test]
    fn what_is_no_preset_is_refused_with_its_place() {
        let good = r#"[(name: "A", about: "B.", settings: (steps: 2))]"#;
        assert!(parse("t.ron", good).is_ok());
        for (from, to, says) in [
            ("steps: 2", "steps: 0", "traffic.steps"),
            ("steps: 2", "step: 2", "step"),
            ("steps: 2", "to: [\"router\"]", "settings"),
            ("steps: 2", "name: \"A\"", "settings"),
            ("about: \"B.\", ", "", "about"),
            ("name:", "title:", "title"),
        ] {
            let line = parse("t.ron", &good.replacen(from, to, 1)).expect_err(to).to_string();
            assert!(line.starts_with("t.ron:1:") && line.contains(says) && !line.contains('\n'), "{line}");
        }
    }
}
