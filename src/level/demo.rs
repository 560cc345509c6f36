//! What is shown live: one fleet run in several ways side by side, and curves of a result over a setting.
//!
//! A demo is data, its run a state machine in steps of bounded work. The steps change nothing of what comes out: every
//! number is that of [`Level::report`] with the same settings and seed.

use super::file::Level;
use super::goal::{Bound, Goal};
use crate::blueprint::{Assignment, Blueprint, apply};
use crate::sim::{Micros, Report, Run, SECOND, micros_of_s, seconds};
use serde::Deserialize;

/// Something that is shown by running it.
#[derive(Clone, Debug, PartialEq)]
pub enum Demo {
    /// One fleet run in several ways at once.
    SideBySide(SideBySide),
    /// A result over a setting.
    Curve(Curve),
}

/// The fleet of a demo.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// The level, set as the demo wants it.
    pub level: Level,
    /// What was set, as it was written.
    pub set: Vec<Assignment>,
    /// The seed.
    pub seed: u64,
}

/// One way to run a demo's fleet.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// What it is called.
    pub name: String,
    /// The fleet.
    pub blueprint: Blueprint,
}

/// One fleet on the same traffic, run in several ways at once.
#[derive(Clone, Debug, PartialEq)]
pub struct SideBySide {
    /// What it shows.
    pub title: String,
    /// The fleet.
    pub setup: Setup,
    /// Simulated seconds for each real one.
    pub pace: f64,
    /// The ways.
    pub sides: Vec<Line>,
}

/// A result over a setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// What it shows.
    pub title: String,
    /// The fleet.
    pub setup: Setup,
    /// The key of the setting.
    pub vary: String,
    /// Its values, each with the word that it is shown as, if not as a number.
    pub values: Vec<(f64, Option<String>)>,
    /// What the values are.
    pub axis: String,
    /// The report key of the result.
    pub reads: String,
    /// How the result is drawn.
    pub scale: Scale,
    /// The lines.
    pub lines: Vec<Line>,
    /// What is best, if that is to be marked.
    pub best: Option<BestPoint>,
}

/// How a result is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Scale {
    /// Equal steps are equally high.
    Linear,
    /// Equal ratios are equally high.
    Log,
}

/// Which result is the best one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum BestPoint {
    /// The lowest.
    Lowest,
    /// The highest.
    Highest,
}

/// A demo under way, or done.
pub enum DemoRun {
    /// Side by side.
    SideBySide(Box<SideBySideRun>),
    /// A curve.
    Curve(Box<CurveRun>),
}

impl DemoRun {
    /// At its start.
    pub fn new(demo: &Demo) -> Self {
        match demo {
            Demo::SideBySide(demo) => Self::SideBySide(Box::new(SideBySideRun::new(demo))),
            Demo::Curve(demo) => Self::Curve(Box::new(CurveRun::new(demo))),
        }
    }

    /// Is everything computed?
    pub fn done(&self) -> bool {
        match self {
            Self::SideBySide(run) => run.done(),
            Self::Curve(run) => run.done(),
        }
    }

    /// Goes on by `real_s` real seconds, a step at a time while `more` says so. A step is done whole, so that what is
    /// there after it does not depend on when the others were.
    pub fn go_on(&mut self, real_s: f64, mut more: impl FnMut() -> bool) {
        match self {
            Self::SideBySide(run) => run.go_on(real_s, more),
            Self::Curve(run) => {
                while !run.done() && more() {
                    run.step();
                }
            }
        }
    }
}

/// So much simulated time is a step of fleets that run side by side.
const STEP: Micros = SECOND;

/// Fleets running side by side, all at the same moment.
pub struct SideBySideRun {
    demo: SideBySide,
    sides: Vec<Side>,
    now: Micros,
    /// How far they are to come.
    target: f64,
}

/// One of them.
pub struct Side {
    run: Run,
    /// How it stands.
    pub report: Report,
    /// Its hit rate since measuring began, at each second: (seconds, share).
    pub hit_rates: Vec<(f64, f64)>,
}

impl SideBySideRun {
    fn new(demo: &SideBySide) -> Self {
        let level = &demo.setup.level;
        let sides = demo.sides.iter().map(|side| {
            let run = level.start(&side.blueprint, demo.setup.seed);
            let report = level.complete(run.report(), &side.blueprint);
            Side { run, report, hit_rates: Vec::new() }
        });
        Self { sides: sides.collect(), demo: demo.clone(), now: 0, target: 0.0 }
    }

    /// What is shown.
    pub fn demo(&self) -> &SideBySide {
        &self.demo
    }

    /// How each way stands, in the order of [`SideBySide::sides`].
    pub fn sides(&self) -> &[Side] {
        &self.sides
    }

    /// The moment at which all of them are, in simulated seconds.
    pub fn now_s(&self) -> f64 {
        seconds(self.now)
    }

    fn end(&self) -> Micros {
        micros_of_s(self.demo.setup.level.seconds)
    }

    /// Are they at the end?
    pub fn done(&self) -> bool {
        self.now >= self.end()
    }

    /// What there is no time for is let go: time then goes by more slowly, and what happens in it stays the same.
    fn go_on(&mut self, real_s: f64, mut more: impl FnMut() -> bool) {
        self.target = (self.target + real_s * self.demo.pace * 1e6).min(self.end() as f64);
        while !self.done() && ((self.now + STEP).min(self.end()) as f64) <= self.target {
            if !more() {
                self.target = self.now as f64;
                return;
            }
            self.step();
        }
    }

    /// All of them one step on.
    fn step(&mut self) {
        self.now = (self.now + STEP).min(self.end());
        let level = &self.demo.setup.level;
        for (side, line) in self.sides.iter_mut().zip(&self.demo.sides) {
            side.run.run_to(self.now);
            side.report = level.complete(side.run.report(), &line.blueprint);
            side.hit_rates.extend(side.report.hit_rate.map(|share| (seconds(self.now), share)));
        }
    }
}

/// Events in a step of a curve.
const SLICE: u64 = 2_000;

/// A curve being computed, point by point.
pub struct CurveRun {
    demo: Curve,
    points: Vec<Vec<Point>>,
    /// The run of the next point.
    run: Option<Run>,
    done: usize,
}

/// A point of a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The result; none where there is no sample.
    pub value: Option<f64>,
    /// Calls that failed.
    pub failed: u64,
    /// Calls sent, of which those are a part.
    pub sent: u64,
}

impl CurveRun {
    fn new(demo: &Curve) -> Self {
        let mut run = Self { points: vec![Vec::new(); demo.lines.len()], demo: demo.clone(), run: None, done: 0 };
        run.begin();
        run
    }

    /// What is shown.
    pub fn demo(&self) -> &Curve {
        &self.demo
    }

    /// The points so far of each line, in the order of the values.
    pub fn points(&self) -> &[Vec<Point>] {
        &self.points
    }

    /// How many points are there, and how many there will be.
    pub fn progress(&self) -> (usize, usize) {
        (self.done, self.demo.values.len() * self.demo.lines.len())
    }

    /// Is every point there?
    pub fn done(&self) -> bool {
        self.progress().0 == self.progress().1
    }

    /// Which of the points so far of the first line is the best: none fails more calls than another, and among those it is
    /// the value that counts. None before there is a point.
    pub fn best(&self) -> Option<usize> {
        let sign = match self.demo.best? {
            BestPoint::Lowest => 1.0,
            BestPoint::Highest => -1.0,
        };
        let points = self.points.first()?.iter().enumerate();
        let rated = points.filter_map(|(place, point)| Some((place, point.failed, sign * point.value?)));
        rated.min_by(|a, b| a.1.cmp(&b.1).then(a.2.total_cmp(&b.2))).map(|(place, ..)| place)
    }

    /// The line and the value of the next point: the lines grow together.
    fn next(&self) -> (usize, usize) {
        (self.done % self.demo.lines.len(), self.done / self.demo.lines.len())
    }

    /// The fleet of a point.
    pub fn fleet(demo: &Curve, line: usize, value: usize) -> Blueprint {
        let mut blueprint = demo.lines[line].blueprint.clone();
        let applied = apply(&mut blueprint, &[Assignment::new(&demo.vary, demo.values[value].0.to_string())]);
        // That every value applies was checked when the page was read.
        debug_assert!(applied.is_ok(), "{applied:?}");
        blueprint
    }

    fn begin(&mut self) {
        let setup = &self.demo.setup;
        self.run = (!self.done()).then(|| {
            let (line, value) = self.next();
            setup.level.start(&Self::fleet(&self.demo, line, value), setup.seed)
        });
    }

    fn step(&mut self) {
        let Some(run) = &mut self.run else { return };
        if !run.advance(micros_of_s(self.demo.setup.level.seconds), SLICE) {
            return;
        }
        let report = run.report();
        let reader = Goal { name: String::new(), key: self.demo.reads.clone(), bound: Bound::AtLeast(0.0) };
        let value = reader.judge(&report).value;
        let line = self.next().0;
        self.points[line].push(Point { value, failed: report.rejected_total, sent: report.sent });
        self.done += 1;
        self.begin();
    }
}
