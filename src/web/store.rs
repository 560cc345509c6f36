//! Progress in a browser: in the page's local storage, where an entry is replaced in one step.

use crate::level::Store;

/// The name of the entry.
const KEY: &str = "warmpath.progress";

/// A save in the browser's local storage.
pub struct LocalStore;

fn storage() -> Result<web_sys::Storage, String> {
    let blocked = || "the browser keeps nothing for this page".to_owned();
    web_sys::window().and_then(|window| window.local_storage().ok().flatten()).ok_or_else(blocked)
}

impl Store for LocalStore {
    fn read(&self) -> Result<Option<String>, String> {
        storage()?.get_item(KEY).map_err(|_| "the browser's storage cannot be read".into())
    }

    fn write(&self, text: &str) -> Result<(), String> {
        storage()?.set_item(KEY, text).map_err(|_| "the browser's storage is full or closed".into())
    }

    fn keep_aside(&self) -> Result<String, String> {
        let storage = storage()?;
        let text = self.read()?.unwrap_or_default();
        let taken = |name: &String| storage.get_item(name).is_ok_and(|entry| entry.is_some());
        let name = (1..).map(|number| format!("{KEY}.unreadable-{number}")).find(|name| !taken(name));
        let name = name.unwrap_or_else(|| format!("{KEY}.unreadable"));
        let moved = storage.set_item(&name, &text).and_then(|()| storage.remove_item(KEY));
        moved.map(|()| name).map_err(|_| "the browser's storage is full or closed".into())
    }
}
