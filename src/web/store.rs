//! Saves in a browser: in the page's local storage, where an entry is replaced in one step.

use crate::level::Store;

/// A save in the browser's local storage, by the name of its entry.
pub struct LocalStore(String);

impl LocalStore {
    /// For what is called so.
    pub fn of(what: &str) -> Self {
        Self(format!("warmpath.{what}"))
    }
}

fn storage() -> Result<web_sys::Storage, String> {
    let blocked = || "the browser keeps nothing for this page".to_owned();
    web_sys::window().and_then(|window| window.local_storage().ok().flatten()).ok_or_else(blocked)
}

impl Store for LocalStore {
    fn read(&self) -> Result<Option<String>, String> {
        storage()?.get_item(&self.0).map_err(|_| "the browser's storage cannot be read".into())
    }

    fn write(&self, text: &str) -> Result<(), String> {
        storage()?.set_item(&self.0, text).map_err(|_| "the browser's storage is full or closed".into())
    }

    fn keep_aside(&self) -> Result<String, String> {
        let storage = storage()?;
        let text = self.read()?.unwrap_or_default();
        let taken = |name: &String| storage.get_item(name).is_ok_and(|entry| entry.is_some());
        let name = (1..).map(|number| format!("{}.unreadable-{number}", self.0)).find(|name| !taken(name));
        let name = name.unwrap_or_else(|| format!("{}.unreadable", self.0));
        let moved = storage.set_item(&name, &text).and_then(|()| storage.remove_item(&self.0));
        moved.map(|()| name).map_err(|_| "the browser's storage is full or closed".into())
    }
}
