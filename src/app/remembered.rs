//! What is remembered between visits: read when the game opens, written when there is more to remember.

use crate::blueprint::Assignment;
use crate::level::{Canvases, Document, Progress, Store, Verdict, load};
use bevy::prelude::Resource;

/// A document, and where it is kept.
pub struct Kept<T> {
    /// The document.
    pub document: T,
    /// Where it is written to; nowhere in a test, or where an unreadable save is still in the way.
    store: Option<Box<dyn Store>>,
}

impl<T: Default> Default for Kept<T> {
    fn default() -> Self {
        Self { document: T::default(), store: None }
    }
}

impl<T: Document> Kept<T> {
    /// What a store holds, and what the player should be told about it.
    fn read(store: Option<Box<dyn Store>>) -> (Self, Option<String>) {
        let Some(store) = store else {
            let what = T::WHAT;
            return (
                Self::default(),
                Some(format!("This system has no folder for programs' data: {what} are not saved.")),
            );
        };
        let loaded = load(store.as_ref());
        (Self { document: loaded.document, store: loaded.writable.then_some(store) }, loaded.notice)
    }

    /// Writes it.
    fn write(&self) -> Result<(), String> {
        self.store.as_ref().map_or(Ok(()), |store| store.write(&self.document.to_text()))
    }
}

/// All that is remembered.
#[derive(Resource, Default)]
pub struct Remembered {
    progress: Kept<Progress>,
    canvases: Kept<Canvases>,
    /// Something that the player should be told about it, or about the link that opened the game.
    pub notice: Option<String>,
}

impl Remembered {
    /// What these stores hold.
    pub fn from_stores(progress: Box<dyn Store>, canvases: Box<dyn Store>) -> Self {
        Self::read(Some(progress), Some(canvases))
    }

    fn read(progress: Option<Box<dyn Store>>, canvases: Option<Box<dyn Store>>) -> Self {
        let (progress, of_progress) = Kept::read(progress);
        let (canvases, of_canvases) = Kept::read(canvases);
        Self { progress, canvases, notice: of_progress.or(of_canvases) }
    }

    /// What this system's usual places hold.
    pub fn usual() -> Self {
        let place = |what: &str| -> Option<Box<dyn Store>> {
            #[cfg(target_arch = "wasm32")]
            return Some(Box::new(crate::web::LocalStore::of(what)));
            #[cfg(not(target_arch = "wasm32"))]
            crate::level::FileStore::usual(what).map(|store| Box::new(store) as Box<dyn Store>)
        };
        Self::read(place(Progress::WHAT), place(Canvases::WHAT))
    }

    /// Which levels are won, and the best results.
    pub fn progress(&self) -> &Progress {
        &self.progress.document
    }

    /// The canvases that are kept.
    pub fn canvases(&self) -> &Canvases {
        &self.canvases.document
    }

    /// Adds a verdict on a level, and saves what is new.
    pub fn add(&mut self, level: &str, verdict: &Verdict, changes: &[Assignment]) {
        if self.progress.document.add(level, verdict, changes)
            && let Err(problem) = self.progress.write()
        {
            self.notice = Some(format!("Progress could not be saved: {problem}"));
        }
    }

    /// Changes the canvases that are kept, and saves them if `change` says so.
    pub fn change_canvases(&mut self, change: impl FnOnce(&mut Canvases) -> bool) {
        if change(&mut self.canvases.document)
            && let Err(problem) = self.canvases.write()
        {
            self.notice = Some(format!("Canvases could not be saved: {problem}"));
        }
    }
}
