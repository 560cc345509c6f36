//! Lists of settings in RON: a level's solution and decoys, and the files of `--solution`, which may also build a fleet.

use super::file::{Build, FleetFile, Level, LevelError};
use crate::blueprint::Assignment;
use serde::Deserialize as DeriveDeserialize;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::path::Path;

/// Key and value pairs, in order: `[("router.affinity", 1), ("router.policy", "random")]`, or as a map with braces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AssignmentList(pub Vec<Assignment>);

/// A value as a file writes it: a number or a word.
struct Written(String);

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = Written;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a word in quotes")
            }
            fn visit_i64<E: Error>(self, x: i64) -> Result<Written, E> {
                Ok(Written(x.to_string()))
            }
            fn visit_u64<E: Error>(self, x: u64) -> Result<Written, E> {
                Ok(Written(x.to_string()))
            }
            fn visit_f64<E: Error>(self, x: f64) -> Result<Written, E> {
                Ok(Written(x.to_string()))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Written, E> {
                Ok(Written(text.to_owned()))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl<'de> Deserialize<'de> for AssignmentList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = AssignmentList;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of pairs of a setting's key and its value")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<AssignmentList, A::Error> {
                let mut assignments = Vec::new();
                while let Some((key, Written(value))) = list.next_element::<(String, Written)>()? {
                    assignments.push(Assignment::new(key, value));
                }
                Ok(AssignmentList(assignments))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<AssignmentList, A::Error> {
                let mut assignments = Vec::new();
                while let Some((key, Written(value))) = map.next_entry::<String, Written>()? {
                    assignments.push(Assignment::new(key, value));
                }
                Ok(AssignmentList(assignments))
            }
        }
        deserializer.deserialize_any(Pairs)
    }
}

/// What a file of `--solution` says where parts can be placed: a fleet in the words of a level file, and settings.
#[derive(DeriveDeserialize)]
#[serde(deny_unknown_fields, rename = "Solution")]
struct BuildFile {
    #[serde(default)]
    fleet: Option<FleetFile>,
    #[serde(default)]
    set: AssignmentList,
}

/// Reads a file that is a list of settings.
///
/// # Errors
/// Where the file cannot be read or is not such a list.
pub fn read_solution(path: &Path) -> Result<Vec<Assignment>, LevelError> {
    let name = path.display().to_string();
    let text = super::file::read_text(path)?;
    let list: AssignmentList = super::file::from_ron(&name, &text)?;
    Ok(list.0)
}

impl Build {
    /// Reads the file of `--solution` for a level: a list of settings, or `(fleet: (..), set: [..])` where parts can be
    /// placed. Whether a player could have made it is another question: see [`Level::built`].
    ///
    /// # Errors
    /// Where the file cannot be read, is neither, or does not hold together.
    pub fn read(path: &Path, level: &Level) -> Result<Self, LevelError> {
        let name = path.display().to_string();
        let text = super::file::read_text(path)?;
        if !begins_with_a_bracket(&text) {
            let list: AssignmentList = super::file::from_ron(&name, &text)?;
            return Ok(Self { fleet: None, set: list.0 });
        }
        let file: BuildFile = super::file::from_ron(&name, &text)?;
        level.build(file.fleet, file.set).map_err(|problem| LevelError::whole(&name, problem))
    }
}

/// Does a RON text begin with a round bracket, after what comments there are?
fn begins_with_a_bracket(text: &str) -> bool {
    let mut rest = text.trim_start();
    loop {
        rest = match (rest.strip_prefix("//"), rest.strip_prefix("/*")) {
            (Some(comment), _) => comment.split_once('\n').map_or("", |(_, rest)| rest),
            (_, Some(comment)) => comment.split_once("*/").map_or("", |(_, rest)| rest),
            _ => return rest.starts_with('('),
        }
        .trim_start();
    }
}
