//! Canvases that are kept between visits: those that were saved by name, and what was last drawn at each level.

use super::store::Document;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// At most so many canvases are saved by name.
const MOST: usize = 200;
/// The longest name, in letters.
const LONGEST_NAME: usize = 60;

/// Canvases that are kept, as codes (see [`super::Shared`]).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Canvases {
    /// Those that were saved, by name.
    #[serde(default)]
    pub saved: BTreeMap<String, String>,
    /// What was last drawn at each level in which parts are placed, by the level's id.
    #[serde(default)]
    pub current: BTreeMap<String, String>,
}

impl Document for Canvases {
    const WHAT: &str = "canvases";
    const VERSION: u32 = 1;
}

impl Canvases {
    /// Saves a canvas by name; one of the same name is replaced.
    ///
    /// # Errors
    /// In one sentence, for a name that is none or too long, or one canvas too many.
    pub fn save(&mut self, name: &str, code: String) -> Result<(), String> {
        let name = name.trim();
        if name.is_empty() {
            return Err("Give it a name first.".into());
        }
        if name.chars().count() > LONGEST_NAME {
            return Err(format!("A name has at most {LONGEST_NAME} letters."));
        }
        if self.saved.len() >= MOST && !self.saved.contains_key(name) {
            return Err(format!("{MOST} canvases are saved already: delete one first."));
        }
        self.saved.insert(name.to_owned(), code);
        Ok(())
    }

    /// Keeps what is drawn at a level. Returns whether that is news.
    pub fn keep(&mut self, level: &str, code: String) -> bool {
        self.current.insert(level.to_owned(), code.clone()) != Some(code)
    }

    /// What was drawn at a level cannot be opened any more: keeps its code among the saved ones, so that it is not lost.
    pub fn set_aside(&mut self, level: &str) {
        if let Some(code) = self.current.remove(level) {
            let name = (1..).map(|number| format!("{level}, unreadable {number}"));
            if let Some(name) = name.into_iter().find(|name| !self.saved.contains_key(name)) {
                self.saved.insert(name, code);
            }
        }
    }
}
