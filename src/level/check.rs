//! Is a level what it claims: lost as it is given, lost by its decoys, won by its solution?

use super::file::{Build, Level};
use super::verdict::{Verdict, VerdictRun};

/// One of the fleets that a level was checked with.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckReport {
    /// What was tried, in words.
    pub name: String,
    /// Must it win?
    pub must_win: bool,
    /// What came of it.
    pub verdict: Verdict,
}

impl CheckReport {
    /// Is the level what it claims here?
    pub fn holds(&self) -> bool {
        self.verdict.passed == self.must_win
    }
}

/// Tries a level as it is given, with each decoy, and with its solution.
pub fn check(level: &Level) -> Vec<CheckReport> {
    let nothing = Build::default();
    let given = std::iter::once(("as given", false, &nothing));
    let decoys = level.decoys.iter().map(|decoy| (decoy.name.as_str(), false, &decoy.build));
    let solution = std::iter::once(("the solution", true, &level.solution));
    given.chain(decoys).chain(solution).map(|(name, must_win, build)| attempt(level, name, must_win, build)).collect()
}

fn attempt(level: &Level, name: &str, must_win: bool, build: &Build) -> CheckReport {
    // That it holds together was checked when the level was read.
    let blueprint = level.blueprint_of(build).unwrap_or_else(|_| level.blueprint.clone());
    CheckReport { name: name.to_owned(), must_win, verdict: VerdictRun::new(level, &blueprint).finish() }
}
