//! The verdict: every seed of a level run afresh from time 0, with the fleet as it is now set.

use super::file::Level;
use crate::blueprint::Blueprint;
use crate::sim::{Reason, Report, Run, micros_of_s};

/// A verdict on its way, in steps of bounded work. The steps change nothing of what comes out.
pub struct VerdictRun {
    level: Level,
    blueprint: Blueprint,
    run: Run,
    reports: Vec<Report>,
}

/// How a fleet did on every seed of a level.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The report of each seed, goals included.
    pub reports: Vec<Report>,
    /// Were all goals met on all seeds?
    pub passed: bool,
    /// Was the margin goal met on all of them, too? None for a level without one.
    pub margin: Option<bool>,
}

/// What failed most.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The reason.
    pub reason: Reason,
    /// How many calls, over all seeds.
    pub calls: u64,
    /// How many calls were sent, over all seeds.
    pub sent: u64,
}

impl VerdictRun {
    /// Begins with the level's first seed.
    pub fn new(level: &Level, blueprint: &Blueprint) -> Self {
        let run = level.start(blueprint, level.first_seed());
        Self { level: level.clone(), blueprint: blueprint.clone(), run, reports: Vec::new() }
    }

    /// Goes on by at most `allowance` events. Returns whether every seed is done.
    pub fn advance(&mut self, allowance: u64) -> bool {
        if self.reports.len() == self.level.seeds.len() {
            return true;
        }
        if self.run.advance(micros_of_s(self.level.seconds), allowance) {
            self.reports.push(self.level.complete(self.run.report(), &self.blueprint));
            if let Some(&seed) = self.level.seeds.get(self.reports.len()) {
                self.run = self.level.start(&self.blueprint, seed);
            }
        }
        self.reports.len() == self.level.seeds.len()
    }

    /// How far it is, from 0 to 1.
    pub fn progress(&self) -> f32 {
        let seeds = self.level.seeds.len();
        if self.reports.len() == seeds {
            return 1.0;
        }
        let of_this = self.run.now() as f64 / micros_of_s(self.level.seconds) as f64;
        ((self.reports.len() as f64 + of_this) / seeds as f64) as f32
    }

    /// Runs what is left of it and gives the verdict.
    pub fn finish(mut self) -> Verdict {
        while !self.advance(u64::MAX) {}
        let passed = self.reports.iter().all(|report| report.passed != Some(false));
        let margin = self.level.margin.as_ref().map(|goal| self.reports.iter().all(|report| goal.judge(report).met));
        Verdict { reports: self.reports, passed, margin }
    }
}

impl Verdict {
    /// What failed most; none if no call failed.
    pub fn worst_failure(&self) -> Option<Failure> {
        let calls = |reason: Reason| -> u64 {
            self.reports.iter().filter_map(|report| report.rejected.get(reason.key())?.as_u64()).sum()
        };
        let reason = Reason::ALL.into_iter().max_by_key(|&reason| calls(reason)).filter(|&reason| calls(reason) > 0)?;
        Some(Failure { reason, calls: calls(reason), sent: self.reports.iter().map(|report| report.sent).sum() })
    }
}
