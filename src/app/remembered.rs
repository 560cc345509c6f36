//! What is remembered between visits: read when the game opens, written after each verdict that adds to it.

use crate::blueprint::Assignment;
use crate::level::{Progress, Store, Verdict, load};
use bevy::prelude::Resource;

/// Progress, and where it is kept.
#[derive(Resource, Default)]
pub struct Remembered {
    /// Which levels are won, and the best results.
    pub progress: Progress,
    /// Something that the player should be told about it, or about the link that opened the game.
    pub notice: Option<String>,
    /// Where it is written to; nowhere in a test, or where an unreadable save is still in the way.
    store: Option<Box<dyn Store>>,
}

impl Remembered {
    /// What a store holds.
    pub fn from_store(store: Box<dyn Store>) -> Self {
        let loaded = load(store.as_ref());
        Self { progress: loaded.progress, notice: loaded.notice, store: loaded.writable.then_some(store) }
    }

    /// What this system's usual place holds.
    pub fn usual() -> Self {
        #[cfg(target_arch = "wasm32")]
        return Self::from_store(Box::new(crate::web::LocalStore));
        #[cfg(not(target_arch = "wasm32"))]
        match crate::level::FileStore::usual() {
            Some(store) => Self::from_store(Box::new(store)),
            None => Self {
                notice: Some("This system has no folder for programs' data: progress is not saved.".into()),
                ..Self::default()
            },
        }
    }

    /// Adds a verdict on a level, and saves what is new.
    pub fn add(&mut self, level: &str, verdict: &Verdict, changes: &[Assignment]) {
        if self.progress.add(level, verdict, changes)
            && let Some(store) = &self.store
            && let Err(problem) = store.write(&self.progress.to_text())
        {
            self.notice = Some(format!("Progress could not be saved: {problem}"));
        }
    }
}
