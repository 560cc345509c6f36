//! Saves: where what is remembered between visits is kept, and how.
//!
//! A save is JSON with a version. It is read as untrusted input and written whole, in one step, so that a crash in the
//! middle loses nothing. One that cannot be read is kept aside under another name and never overwritten.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The largest save that is read, in bytes.
const LARGEST: usize = 1 << 22;

/// Something that is kept in a save.
pub trait Document: Default + Clone + Serialize + DeserializeOwned {
    /// What it is called: in messages, and as the name of its save.
    const WHAT: &str;
    /// The version of the format that this program writes.
    const VERSION: u32;

    /// As the text of a save.
    fn to_text(&self) -> String {
        #[derive(Serialize)]
        struct Save<'a, T> {
            version: u32,
            #[serde(flatten)]
            document: &'a T,
        }
        // A map with string keys and plain numbers always has a JSON text.
        serde_json::to_string_pretty(&Save { version: Self::VERSION, document: self }).unwrap_or_default()
    }

    /// From the text of a save.
    ///
    /// # Errors
    /// In one line, what was expected and what was found.
    fn from_text(text: &str) -> Result<Self, String> {
        if text.len() > LARGEST {
            return Err(format!("expected a save of at most {LARGEST} bytes, found {}", text.len()));
        }
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        let must = Self::VERSION;
        let wrong = |error: serde_json::Error| format!("expected a save of version {must}, found {error}");
        let Versioned { version } = serde_json::from_str(text).map_err(wrong)?;
        if version != must {
            return Err(format!("expected a save of version {must}, found version {version}"));
        }
        serde_json::from_str::<Self>(text).map_err(wrong)
    }
}

/// A place that keeps a save.
pub trait Store: Send + Sync {
    /// The text of the save; none if there is none yet.
    ///
    /// # Errors
    /// In one line, why it cannot be read.
    fn read(&self) -> Result<Option<String>, String>;

    /// Replaces the save, in one step.
    ///
    /// # Errors
    /// In one line, why it cannot be written.
    fn write(&self, text: &str) -> Result<(), String>;

    /// Moves an unreadable save aside; returns the name under which it is kept.
    ///
    /// # Errors
    /// In one line, why it cannot be moved.
    fn keep_aside(&self) -> Result<String, String>;
}

/// What came of looking for a save.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded<T> {
    /// What is remembered.
    pub document: T,
    /// What a player should be told: an unreadable save, and where it is kept.
    pub notice: Option<String>,
    /// May the store be written? Not if an unreadable save is still in its place.
    pub writable: bool,
}

/// Reads the save of a store. One that cannot be read is kept aside.
pub fn load<T: Document>(store: &dyn Store) -> Loaded<T> {
    let nothing = |notice: Option<String>, writable| Loaded { document: T::default(), notice, writable };
    let problem = match store.read() {
        Ok(None) => return nothing(None, true),
        Ok(Some(text)) => match T::from_text(&text) {
            Ok(document) => return Loaded { document, notice: None, writable: true },
            Err(problem) => problem,
        },
        Err(problem) => {
            let what = T::WHAT;
            return nothing(
                Some(format!("Your {what} could not be read, nothing is saved this time: {problem}")),
                false,
            );
        }
    };
    let what = T::WHAT;
    match store.keep_aside() {
        Ok(name) => nothing(Some(format!("Your {what} could not be read ({problem}). The old save is {name}.")), true),
        Err(error) => {
            nothing(Some(format!("Your {what} could not be read ({problem}), nor kept aside ({error}).")), false)
        }
    }
}

#[cfg(not(target_arch = "wasm32"))]
mod file {
    use super::Store;
    use std::fs::{self, File};
    use std::io::{ErrorKind, Write};
    use std::path::{Path, PathBuf};

    /// A save in a file.
    pub struct FileStore(PathBuf);

    impl FileStore {
        /// For what is called so, in the user's folder for programs' data; none where the system has no such folder.
        pub fn usual(what: &str) -> Option<Self> {
            Some(Self(dirs::data_dir()?.join("warmpath").join(what).with_extension("json")))
        }

        /// In this file.
        pub fn at(path: impl Into<PathBuf>) -> Self {
            Self(path.into())
        }

        fn tell(&self, error: &std::io::Error) -> String {
            format!("{}: {error}", self.0.display())
        }

        /// A name beside the save that is not taken.
        fn free_name(&self) -> PathBuf {
            let named = |number: u32| self.0.with_extension(format!("unreadable-{number}.json"));
            (1..).map(named).find(|path| !path.exists()).unwrap_or_else(|| named(0))
        }
    }

    impl Store for FileStore {
        fn read(&self) -> Result<Option<String>, String> {
            match fs::read(&self.0) {
                // What is not UTF-8 fails as JSON, and is kept aside as such.
                Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
                Err(error) => Err(self.tell(&error)),
            }
        }

        fn write(&self, text: &str) -> Result<(), String> {
            let folder = self.0.parent().unwrap_or(Path::new("."));
            let new = self.0.with_extension(format!("new-{}", std::process::id()));
            let written = fs::create_dir_all(folder).and_then(|()| {
                let mut file = File::create(&new)?;
                file.write_all(text.as_bytes())?;
                // On the disk before it takes the old one's place: a crash leaves the one or the other, whole.
                file.sync_all()?;
                fs::rename(&new, &self.0)
            });
            written.map_err(|error| self.tell(&error))
        }

        fn keep_aside(&self) -> Result<String, String> {
            let aside = self.free_name();
            fs::rename(&self.0, &aside).map_err(|error| self.tell(&error))?;
            Ok(aside.display().to_string())
        }
    }
}
#[cfg(not(target_arch = "wasm32"))]
pub use file::FileStore;
