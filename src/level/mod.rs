//! Levels: a fleet with an incident, what the player may change, goals, and the proof that it can be won.
//!
//! Level files are RON, read strictly: anything unknown, of the wrong type or out of range is one line with file, line
//! and column. The program's own levels are embedded.

mod builtin;
mod canvases;
mod check;
mod components;
mod demo;
mod file;
mod goal;
mod link;
mod placing;
mod presets;
mod progress;
mod replay;
mod share;
mod solution;
mod store;
mod verdict;

pub use builtin::builtin;
pub use canvases::Canvases;
pub use check::{CheckReport, check};
pub use components::{Component, ComponentSetting, Components, Note, NoteKind};
pub use demo::{BestPoint, Curve, CurveRun, Demo, DemoRun, Line, Point, Scale, Setup, Side, SideBySide, SideBySideRun};
pub use file::{Build, Decoy, Level, LevelError};
pub use goal::{Bound, Goal};
pub use link::Link;
pub use presets::{Preset, presets};
pub use progress::{Best, LevelProgress, Progress};
pub use replay::{Counted, Replay, replay};
pub use share::Shared;
pub use solution::{AssignmentList, read_solution};
#[cfg(not(target_arch = "wasm32"))]
pub use store::FileStore;
pub use store::{Document, Loaded, Store, load};
pub use verdict::{Failure, Verdict, VerdictRun};

use crate::blueprint::{Assignment, Blueprint, SettingError, apply};
use crate::sim::{Report, Run, RunSpec, micros_of_s};

impl Level {
    /// The levels that come with the program, in the order in which they are offered.
    pub fn builtin() -> Vec<Self> {
        builtin()
    }

    /// What there is to play: the levels that come with the program, and the blank canvas.
    pub fn offered() -> Vec<Self> {
        let mut levels = builtin();
        levels.push(Self::canvas());
        levels
    }

    /// The level of this id among those that come with the program.
    ///
    /// # Errors
    /// For an unknown id, saying which there are.
    pub fn by_id(id: &str) -> Result<Self, LevelError> {
        if id == Self::CANVAS {
            return Ok(Self::canvas());
        }
        let mut known = builtin();
        match known.iter().position(|level| level.id == id) {
            Some(place) => Ok(known.swap_remove(place)),
            None => {
                let ids: Vec<&str> = known.iter().map(|level| level.id.as_str()).collect();
                Err(LevelError::whole(
                    id,
                    format!("expected a level's file or one of {}; found neither", ids.join(", ")),
                ))
            }
        }
    }

    /// May the player change this plain key?
    pub fn is_open(&self, key: &str) -> bool {
        self.open.iter().any(|open| open == key)
    }

    /// Applies changes as a player makes them: a locked key is refused.
    ///
    /// # Errors
    /// As [`apply`], and for a key that the level locks.
    pub fn apply_as_player(&self, blueprint: &mut Blueprint, changes: &[Assignment]) -> Result<(), SettingError> {
        self.open_to_player(changes)?;
        apply(blueprint, changes)
    }

    /// A run of the level at time 0, with the fleet as it is now set.
    pub fn start(&self, blueprint: &Blueprint, seed: u64) -> Run {
        Run::new(RunSpec { blueprint: blueprint.clone(), seed, warmup: micros_of_s(self.warmup_s), recording: None })
    }

    /// Adds to a run's report what the level knows: its name, the credits spent, the goals.
    pub fn complete(&self, mut report: Report, blueprint: &Blueprint) -> Report {
        report.level.clone_from(&self.id);
        report.credits = blueprint.credits_over(&self.blueprint);
        report.goals = goal::judge_all(&self.goals, &report);
        report.passed = (!self.goals.is_empty()).then(|| report.goals.iter().all(|goal| goal.met));
        report
    }

    /// The report of a whole run of the level, with a fleet set so and this seed.
    pub fn report(&self, blueprint: &Blueprint, seed: u64) -> Report {
        let mut run = self.start(blueprint, seed);
        run.run_to(micros_of_s(self.seconds));
        self.complete(run.report(), blueprint)
    }

    /// The seed of a run for which none is named.
    pub fn first_seed(&self) -> u64 {
        self.seeds.first().copied().unwrap_or(0)
    }
}
