//! What is remembered between visits: which levels are won, and the best that each was.

use super::store::Document;
use super::verdict::Verdict;
use crate::blueprint::Assignment;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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

impl Document for Progress {
    const WHAT: &str = "progress";
    const VERSION: u32 = 1;
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::level::{FileStore, Store, load};
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
            let loaded = load::<Progress>(&store);
            assert!(loaded.writable && loaded.document == Progress::default());
            let aside = folder.path().join(format!("progress.unreadable-{}.json", round + 1));
            assert!(loaded.notice.expect("it says so").contains(&aside.display().to_string()));
            assert_eq!(std::fs::read_to_string(aside).expect("it is there"), text);
            store.write(&loaded.document.to_text()).expect("it can be written");
            assert_eq!(load::<Progress>(&store).notice, None);
        }
    }
}
