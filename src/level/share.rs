//! A canvas or a solution as a string that can be sent, pasted and put into a link.
//!
//! A code is `WP1-`, then RON in the words of a level file, compressed (zlib, whose checksum tells a damaged code) and written
//! in the letters of URLs (base64url). It is read as untrusted input: its length, what it unpacks to, and everything in it
//! are bounded.

use super::file::{FleetFile, Level, LevelError, from_ron};
use super::solution::AssignmentList;
use crate::blueprint::{Blueprint, Part, PartId, Replica, settings_of};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use miniz_oxide::deflate::compress_to_vec_zlib;
use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_zlib_with_limit};
use serde::Deserialize;
use std::fmt::Write;

/// What a code of this version begins with.
const VERSION: &str = "WP1-";
/// The longest code that is read.
const LONGEST: usize = 1 << 16;
/// The longest text that one is unpacked to, in bytes.
const MOST_TEXT: usize = 1 << 18;
/// What errors call a code.
const NAME: &str = "code";

/// A canvas, or what a player made of a level.
#[derive(Clone, Debug, PartialEq)]
pub struct Shared {
    /// The level, or the blank canvas with its budget.
    pub level: Level,
    /// The fleet.
    pub blueprint: Blueprint,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename = "Shared")]
struct SharedFile {
    level: String,
    #[serde(default)]
    budget: Option<u64>,
    #[serde(default)]
    fleet: Option<FleetFile>,
    #[serde(default)]
    set: AssignmentList,
}

impl Shared {
    /// As a code.
    pub fn to_code(&self) -> String {
        let packed = compress_to_vec_zlib(self.to_ron().as_bytes(), 9);
        format!("{VERSION}{}", URL_SAFE_NO_PAD.encode(packed))
    }

    /// From a code. White space in it, such as that of a mail's lines, does not matter.
    ///
    /// # Errors
    /// In one line, for anything that is no code, is damaged, is too large, names an unknown level, or holds what a player
    /// of that level cannot have made.
    pub fn parse(code: &str) -> Result<Self, LevelError> {
        Self::from_ron(&unpack(code)?, None)
    }

    /// From a code for this level, which need not be one that comes with the program.
    ///
    /// # Errors
    /// As [`Shared::parse`], and for a code for another level.
    pub fn parse_for(level: &Level, code: &str) -> Result<Self, LevelError> {
        Self::from_ron(&unpack(code)?, Some(level))
    }

    /// Does this look like a code, of whatever version?
    pub fn is_code(text: &str) -> bool {
        let version = text.trim_start().strip_prefix("WP").and_then(|rest| rest.split_once('-'));
        version.is_some_and(|(digits, _)| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
    }

    fn from_ron(text: &str, of: Option<&Level>) -> Result<Self, LevelError> {
        let file: SharedFile = from_ron(NAME, text)?;
        let wrong = |problem: String| LevelError::whole(NAME, problem);
        let mut level = match of {
            None => Level::by_id(&file.level)?,
            Some(level) if level.id == file.level => level.clone(),
            Some(level) => return Err(wrong(format!("expected one for {}, found one for {:?}", level.id, file.level))),
        };
        if level.is_canvas() {
            level.budget = file.budget;
        }
        let build = level.build(file.fleet, file.set).map_err(wrong)?;
        let blueprint = level.built(&build).map_err(|error| wrong(error.to_string()))?;
        Ok(Self { level, blueprint })
    }

    fn to_ron(&self) -> String {
        let mut text = format!("(level:{:?}", self.level.id);
        if let Some(budget) = self.level.budget.filter(|_| self.level.is_canvas()) {
            // A string never fails to be written to.
            let _ = write!(text, ",budget:{budget}");
        }
        if self.level.placing {
            let _ = write!(text, ",fleet:{}", fleet_ron(&self.blueprint, &self.level.blueprint));
        } else {
            text.push_str(",set:[");
            for change in self.blueprint.changes_from(&self.level.blueprint) {
                let _ = write!(text, "({:?},{:?}),", change.key, change.value);
            }
            text.push(']');
        }
        text.push(')');
        text
    }
}

/// The text that a code holds.
fn unpack(code: &str) -> Result<String, LevelError> {
    let wrong = |problem: &str| LevelError::whole(NAME, problem);
    if code.len() > LONGEST {
        return Err(wrong("expected a code of at most 65536 letters, found a longer one"));
    }
    let code: String = code.split_whitespace().collect();
    let Some(body) = code.strip_prefix(VERSION) else {
        let found: String = code.chars().take(12).collect();
        return Err(wrong(&format!("expected one that begins with {VERSION}, found {found:?}")));
    };
    let packed = URL_SAFE_NO_PAD.decode(body).map_err(|_| wrong("it is damaged: letters are missing or wrong"))?;
    let text = decompress_to_vec_zlib_with_limit(&packed, MOST_TEXT).map_err(|error| match error.status {
        TINFLStatus::HasMoreOutput => wrong("it unpacks to more than a canvas has"),
        _ => wrong("it is damaged: letters are missing or wrong"),
    })?;
    String::from_utf8(text).map_err(|_| wrong("it is damaged: it holds no text"))
}

/// A fleet in the words of a level file. Of `given` parts it says what is changed, of others what is not as they are bought.
fn fleet_ron(blueprint: &Blueprint, given: &Blueprint) -> String {
    let mut text = String::from("(");
    for part in Part::ALL {
        let list = match part {
            Part::Traffic => "traffic",
            Part::Balancer => "balancers",
            Part::Router => "routers",
            Part::Replica => "replicas",
        };
        if blueprint.count(part) == 0 {
            continue;
        }
        let _ = write!(text, "{list}:[");
        for index in 0..blueprint.count(part) {
            part_ron(&mut text, blueprint, given, PartId::new(part, index));
        }
        text.push_str("],");
    }
    text.push(')');
    text
}

fn part_ron(text: &mut String, blueprint: &Blueprint, given: &Blueprint, id: PartId) {
    text.push('(');
    let named = id.part != Part::Traffic && blueprint.links.iter().any(|(_, to)| *to == id);
    if let Some(name) = blueprint.names.get(&id) {
        let _ = write!(text, "name:{},", ron_string(name));
    } else if named {
        let _ = write!(text, "name:{},", ron_string(&link_name(blueprint, id)));
    }
    if let Some(at) = blueprint.places.get(&id) {
        let _ = write!(text, "at:({},{}),", at.0, at.1);
    }
    let mut shop = Blueprint::default();
    let (model, place) = if id.index < given.count(id.part) {
        (given, id.index)
    } else {
        match id.part {
            Part::Traffic => shop.traffics.push(Default::default()),
            Part::Balancer => shop.balancers.push(Default::default()),
            Part::Router => shop.routers.push(Default::default()),
            Part::Replica => {
                let large = blueprint.replicas[id.index].large;
                if large {
                    text.push_str("size:\"large\",");
                }
                shop.replicas.push(Replica::bought(large));
            }
        }
        (&shop, 0)
    };
    for setting in settings_of(id.part) {
        let value = setting.get(blueprint, id.index);
        if value != setting.get(model, place) {
            let _ = match value.number() {
                Some(x) => write!(text, "{}:{x},", setting.field()),
                None => write!(text, "{}:\"{value}\",", setting.field()),
            };
        }
    }
    let next: Vec<PartId> = blueprint.next_of(id).collect();
    if !next.is_empty() {
        text.push_str("to:[");
        for to in next {
            let _ = write!(text, "{},", ron_string(&link_name(blueprint, to)));
        }
        text.push(']');
    }
    text.push_str("),");
}

/// What links call a part in a code: letter and number, with as many primes as it takes to differ from every name that a
/// source of traffic has.
fn link_name(blueprint: &Blueprint, id: PartId) -> String {
    let mut name = format!("{}{}", &id.part.key()[..2], id.index);
    while blueprint.names.values().any(|taken| *taken == name) {
        name.push('\'');
    }
    name
}

/// A string in RON.
fn ron_string(text: &str) -> String {
    ron::to_string(text).unwrap_or_else(|_| "\"\"".into())
}
