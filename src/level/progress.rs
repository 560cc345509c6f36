//! What is remembered between visits: which levels are won, and the best that each was.
//!
//! The save is JSON with a version. It is read as untrusted input and written whole, in one step, so that a crash in the
//! middle loses nothing. One that cannot be read is kept aside under another name and never overwritten.

use super::verdict::Verdict;
use crate::blueprint::Assignment;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the format that this program writes.
const VERSION: u32 = 1;
/// The largest save that is read, in bytes.
const LARGEST: usize = 1 << 20;

/// Which levels are won, and the best results.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// What is known of each level, by its id.
    pub levels: BTreeMap<String, LevelProgress>,
}

/// What is remembered of a level.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LevelProgress {
    /// Was it ever won?
    pub won: bool,
    /// Was it ever won with its margin goal met?
    pub margin: bool,
    /// The best verdict so far.
    pub best: Option<Best>,
}

/// A verdict worth remembering.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Best {
    /// Was it won?
    pub won: bool,
    /// Goals met, over all seeds.
    pub goals_met: u32,
    /// The value of each goal, by its key, on the worst of the seeds.
    pub values: BTreeMap<String, f64>,
    /// Credits spent.
    pub credits: u64,
    /// What was changed, as keys and values.
    pub changes: Vec<(String, String)>,
}

impl Best {
    /// What a verdict came to, with the changes that led to it.
    pub fn of(verdict: &Verdict, changes: &[Assignment]) -> Self {
        let goals = || verdict.reports.iter().flat_map(|report| &report.goals);
        let mut values: BTreeMap<String, f64> = BTreeMap::new();
        for goal in goals() {
            if let Some(value) = goal.value {
                let worst = values.entry(goal.key.clone()).or_insert(value);
                *worst = if goal.at_least { worst.min(value) } else { worst.max(value) };
            }
        }
        Self {
            won: verdict.passed,
            goals_met: goals().filter(|goal| goal.met).count() as u32,
            values,
            credits: verdict.reports.first().map_or(0, |report| report.credits),
            changes: changes.iter().map(|change| (change.key.clone(), change.value.clone())).collect(),
        }
    }

    /// Is it better than another: won before lost, then more goals met, then fewer credits?
    fn beats(&self, other: &Self) -> bool {
        let rank = |best: &Self| (best.won, best.goals_met, std::cmp::Reverse(best.credits));
        rank(self) > rank(other)
    }
}

impl Progress {
    /// Adds a verdict. Returns whether anything was better than before, so that it is worth saving.
    pub fn add(&mut self, level: &str, verdict: &Verdict, changes: &[Assignment]) -> bool {
        let known = self.levels.entry(level.to_owned()).or_default();
        let before = known.clone();
        known.won |= verdict.passed;
        known.margin |= verdict.passed && verdict.margin == Some(true);
        let best = Best::of(verdict, changes);
        if known.best.as_ref().is_none_or(|old| best.beats(old)) {
            known.best = Some(best);
        }
        *known != before
    }

    /// Was this level ever won?
    pub fn won(&self, level: &str) -> bool {
        self.levels.get(level).is_some_and(|level| level.won)
    }
}

/// The whole of a save.
#[derive(Serialize, Deserialize)]
struct Save {
    version: u32,
    #[serde(flatten)]
    progress: Progress,
}

impl Progress {
    /// As the text of a save.
    pub fn to_text(&self) -> String {
        // A map with string keys and plain numbers always has a JSON text.
        serde_json::to_string_pretty(&Save { version: VERSION, progress: self.clone() }).unwrap_or_default()
    }

    /// From the text of a save.
    ///
    /// # Errors
    /// In one line, what was expected and what was found.
    pub fn from_text(text: &str) -> Result<Self, String> {
        if text.len() > LARGEST {
            return Err(format!("expected a save of at most {LARGEST} bytes, found {}", text.len()));
        }
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        let wrong = |error: serde_json::Error| format!("expected a save of version {VERSION}, found {error}");
        let Versioned { version } = serde_json::from_str(text).map_err(wrong)?;
        if version != VERSION {
            return Err(format!("expected a save of version {VERSION}, found version {version}"));
        }
        serde_json::from_str::<Save>(text).map(|save| save.progress).map_err(wrong)
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
pub struct Loaded {
    /// What is remembered.
    pub progress: Progress,
    /// What a player should be told: an unreadable save, and where it is kept.
    pub notice: Option<String>,
    /// May the store be written? Not if an unreadable save is still in its place.
    pub writable: bool,
}

/// Reads the save of a store. One that cannot be read is kept aside.
pub fn load(store: &dyn Store) -> Loaded {
    let problem = match store.read() {
        Ok(None) => return Loaded { progress: Progress::default(), notice: None, writable: true },
        Ok(Some(text)) => match Progress::from_text(&text) {
            Ok(progress) => return Loaded { progress, notice: None, writable: true },
            Err(problem) => problem,
        },
        Err(problem) => {
            let notice = format!("Your progress could not be read and is not saved this time: {problem}");
            return Loaded { progress: Progress::default(), notice: Some(notice), writable: false };
        }
    };
    let (notice, writable) = match store.keep_aside() {
        Ok(name) => (format!("Your progress could not be read ({problem}). It is kept as {name}."), true),
        Err(error) => (format!("Your progress could not be read ({problem}), nor kept aside ({error})."), false),
    };
    Loaded { progress: Progress::default(), notice: Some(notice), writable }
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
        /// In the user's folder for programs' data; none where the system has no such folder.
        pub fn usual() -> Option<Self> {
            Some(Self(dirs::data_dir()?.join("warmpath").join("progress.json")))
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

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::sim::{GoalReport, Report};

    fn verdict(passed: bool, credits: u64) -> Verdict {
        let goal =
            GoalReport { key: "hit_rate".into(), at_least: true, value: Some(0.8), met: passed, ..Default::default() };
        Verdict {
            reports: vec![Report { credits, goals: vec![goal], ..Report::default() }],
            passed,
            margin: Some(false),
        }
    }

    #[test]
    fn a_save_comes_back_as_it_was() {
        let mut progress = Progress::default();
        assert!(progress.add("a", &verdict(false, 0), &[]));
        assert!(progress.add("a", &verdict(true, 20), &[Assignment::new("router.affinity", "1")]));
        assert!(!progress.add("a", &verdict(true, 30), &[]), "dearer is no better");
        assert!(progress.add("a", &verdict(true, 0), &[]));
        assert!(!progress.add("a", &verdict(false, 0), &[]), "a later loss takes nothing away");
        assert!(progress.won("a") && !progress.won("b"));
        assert_eq!(Progress::from_text(&progress.to_text()), Ok(progress));
    }

    #[test]
    fn an_unreadable_save_is_kept_aside_and_named() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("progress.json");
        for (round, text) in ["{", "{\"version\":99,\"levels\":{}}", "\u{0}"].into_iter().enumerate() {
            std::fs::write(&path, text).expect("it can be written");
            let store = FileStore::at(&path);
            let loaded = load(&store);
            assert!(loaded.writable && loaded.progress == Progress::default());
            let aside = folder.path().join(format!("progress.unreadable-{}.json", round + 1));
            assert!(loaded.notice.expect("it says so").contains(&aside.display().to_string()));
            assert_eq!(std::fs::read_to_string(aside).expect("it is there"), text);
            store.write(&loaded.progress.to_text()).expect("it can be written");
            assert_eq!(load(&store).notice, None);
        }
    }
}
