//! A session: one level being played. Its run, its settings as the player has them, and what is kept for the panels.

use super::observe::{self, Reading};
use crate::blueprint::{Assignment, Blueprint, SettingError};
use crate::level::{Level, Verdict, VerdictRun};
use crate::panels::{Mark, Measures, PlayView, PlayerChange, Series, Speed, VerdictView, of_setting};
use crate::sim::{GoalReport, Micros, Report, Run, micros_of_s, seconds};
use bevy::platform::time::Instant;
use bevy::prelude::Resource;
use std::collections::VecDeque;
use std::time::Duration;

/// How many events are processed between two looks at the wall clock.
const SLICE: u64 = 2_000;
/// A step goes on until something can be seen, but by no more than so many events.
const MOST_STEP_EVENTS: u64 = 20_000;
/// Changes of one setting that follow each other within this real time are one change: a slider on its way.
const ONE_CHANGE: Duration = Duration::from_millis(1_500);

/// A level being played.
#[derive(Resource)]
pub struct Session {
    /// The level.
    pub level: Level,
    /// The fleet as it is set now.
    pub blueprint: Blueprint,
    /// The run that is watched.
    pub run: Run,
    /// Which of the level's seeds it has, from 0.
    pub seed: usize,
    /// Does time stand still?
    pub paused: bool,
    /// How fast it goes by.
    pub speed: Speed,
    /// The verdict, if one was asked for.
    pub verdict: VerdictStage,
    /// What the player changed during this run.
    pub marks: Vec<Mark>,
    /// The last change that was refused.
    pub refusal: Option<SettingError>,
    /// The report of the run so far, as of the last look.
    pub report: Report,
    /// How it does at each goal, as of the last look.
    pub goals: Vec<GoalReport>,
    /// What was measured of late, as of the last look.
    pub measures: Measures,
    /// The lines of the charts, as of the last look.
    pub series: Series,
    /// What was counted at moments of the last seconds.
    readings: VecDeque<Reading>,
    /// How far the run is to come; runs ahead of its present by less than a microsecond.
    target: f64,
    /// Simulated seconds for each real one, as of late.
    pace: f64,
    last_change: Option<Instant>,
}

/// How far the verdict is.
#[derive(Default)]
pub enum VerdictStage {
    /// None was asked for.
    #[default]
    None,
    /// On its way.
    Running(Box<VerdictRun>),
    /// Here.
    Done(Box<Verdict>),
}

impl Session {
    /// A session at 0:00, with the level as it is given.
    pub fn new(level: Level) -> Self {
        let blueprint = level.blueprint.clone();
        let run = start(&level, &blueprint, 0);
        let mut session = Self {
            level,
            blueprint,
            run,
            seed: 0,
            paused: false,
            speed: Speed::default(),
            verdict: VerdictStage::None,
            marks: Vec::new(),
            refusal: None,
            report: Report::default(),
            goals: Vec::new(),
            measures: Measures::default(),
            series: Series::default(),
            readings: VecDeque::new(),
            target: 0.0,
            pace: 1.0,
            last_change: None,
        };
        session.look();
        session
    }

    /// A session at 0:00, with changes that a player could make.
    pub fn with_changes(level: Level, changes: &[Assignment]) -> Self {
        let mut session = Self::new(level);
        // Links are checked before they come here; what does not hold none the less leaves the level as it is given.
        if session.level.apply_as_player(&mut session.blueprint, changes).is_ok() {
            session.restart(0);
        }
        session
    }

    /// When the level ends.
    pub fn end(&self) -> Micros {
        micros_of_s(self.level.seconds)
    }

    /// Is the run at the level's end?
    pub fn over(&self) -> bool {
        self.run.now() >= self.end()
    }

    /// Begins again at 0:00 with the settings as they are, on this seed.
    pub fn restart(&mut self, seed: usize) {
        if self.speed == Speed::Max {
            // At that speed a level ends before anything can be changed.
            self.speed = Speed::default();
        }
        self.seed = seed % self.level.seeds.len().max(1);
        self.run = start(&self.level, &self.blueprint, self.seed);
        self.target = 0.0;
        self.paused = false;
        self.verdict = VerdictStage::None;
        self.marks.clear();
        self.readings.clear();
        self.refusal = None;
        self.look();
    }

    /// Goes on by as much simulated time as `real_s` seconds are at this speed, but works no longer than `budget`. What
    /// it could not do is let go: time then goes by more slowly, and what happens in it stays the same.
    pub fn go_on(&mut self, real_s: f64, budget: Duration) {
        if self.paused || self.over() {
            return;
        }
        let (end, before) = (self.end() as f64, self.run.now());
        self.target = self.speed.factor().map_or(end, |factor| (self.target + real_s * factor * 1e6).min(end));
        let began = Instant::now();
        while !self.run.advance(self.target as Micros, SLICE) {
            if began.elapsed() >= budget {
                self.target = self.run.now() as f64;
                break;
            }
        }
        if real_s > 0.0 {
            let pace = seconds(self.run.now() - before) / real_s;
            // Smoothed: a frame more or less must not show.
            self.pace += (pace - self.pace) * 0.2;
        }
        self.pause_at_end();
    }

    /// How fast time goes by: as set, or as fast as it went of late. In simulated seconds for each real one.
    pub fn pace(&self) -> f64 {
        self.speed.factor().unwrap_or(self.pace)
    }

    /// Goes on to the next thing that can be seen to happen, and pauses there.
    pub fn step(&mut self) {
        self.paused = true;
        let before = self.run.watched().sights.back().copied();
        let end = self.end();
        for _ in 0..MOST_STEP_EVENTS {
            if self.run.advance(end, 1) || self.run.watched().sights.back().copied() != before {
                break;
            }
        }
        self.target = self.run.now() as f64;
        self.look();
    }

    /// Goes on to a moment at once, however long that takes.
    pub fn run_to(&mut self, until: Micros) {
        self.run.run_to(until.min(self.end()));
        self.target = self.run.now() as f64;
        self.pause_at_end();
        self.look();
    }

    fn pause_at_end(&mut self) {
        if self.over() {
            self.paused = true;
            self.look();
        }
    }

    /// Pauses or goes on; at the level's end it begins again.
    pub fn toggle_pause(&mut self) {
        if self.over() {
            self.restart(self.seed);
        } else {
            self.paused = !self.paused;
        }
    }

    /// Changes a setting of the running fleet, as the player may; what is refused changes nothing and is kept to be shown.
    pub fn change(&mut self, change: &PlayerChange) {
        let before = self.blueprint.clone();
        let assignment = Assignment::new(&change.key, &change.value);
        match self.level.apply_as_player(&mut self.blueprint, std::slice::from_ref(&assignment)) {
            Ok(()) => {
                self.refusal = None;
                if self.blueprint != before {
                    self.run.reconfigure(&self.blueprint);
                    self.mark(&change.key, &before);
                    self.look();
                }
            }
            Err(refusal) => self.refusal = Some(refusal),
        }
    }

    /// What is changed next is another change, however soon it comes.
    pub fn end_change(&mut self) {
        self.last_change = None;
    }

    /// Notes what was changed; a slider on its way is one change.
    fn mark(&mut self, key: &str, before: &Blueprint) {
        let (Some(from), Some(to)) = (in_words(before, key), in_words(&self.blueprint, key)) else { return };
        let now = Instant::now();
        let soon = self.last_change.is_some_and(|last| now.duration_since(last) < ONE_CHANGE);
        self.last_change = Some(now);
        let at = self.run.now();
        match self.marks.last_mut() {
            Some(last) if last.key == key && (soon || last.at == at) => {
                last.to = to;
                if last.to == last.from {
                    self.marks.pop();
                }
            }
            _ => self.marks.push(Mark { at, key: key.to_owned(), from, to }),
        }
    }

    /// Asks for the verdict on the settings as they are; time stands still meanwhile.
    pub fn ask_verdict(&mut self) {
        self.paused = true;
        self.verdict = VerdictStage::Running(Box::new(VerdictRun::new(&self.level, &self.blueprint)));
    }

    /// Goes on with a verdict under way, for no longer than `budget`. Returns whether it is there now, and was not
    /// before.
    pub fn judge(&mut self, budget: Duration) -> bool {
        let VerdictStage::Running(run) = &mut self.verdict else { return false };
        let began = Instant::now();
        while !run.advance(SLICE) {
            if began.elapsed() >= budget {
                return false;
            }
        }
        if let VerdictStage::Running(run) = std::mem::take(&mut self.verdict) {
            self.verdict = VerdictStage::Done(Box::new(run.finish()));
        }
        true
    }

    /// Takes the report, the measures and the lines of the charts anew.
    pub fn look(&mut self) {
        let report = self.run.report();
        self.report = self.level.complete(report, &self.blueprint);
        self.goals.clone_from(&self.report.goals);
        observe::read(&mut self.readings, &self.run);
        observe::series(&mut self.run, &mut self.series);
        self.measures = observe::measures(&self.run, &self.readings, &self.series);
    }

    /// What the panels show.
    pub fn view(&self) -> PlayView<'_> {
        PlayView {
            level: &self.level,
            blueprint: &self.blueprint,
            report: &self.report,
            goals: &self.goals,
            measures: &self.measures,
            series: &self.series,
            marks: &self.marks,
            now: self.run.now(),
            paused: self.paused,
            over: self.over(),
            speed: self.speed,
            seed: (self.seed + 1, self.level.seeds.len().max(1)),
            credits: self.blueprint.credits_over(&self.level.blueprint),
            refusal: self.refusal.as_ref(),
            verdict: match &self.verdict {
                VerdictStage::None => VerdictView::None,
                VerdictStage::Running(run) => VerdictView::Running(run.progress()),
                VerdictStage::Done(verdict) => VerdictView::Done(verdict),
            },
        }
    }
}

fn start(level: &Level, blueprint: &Blueprint, seed: usize) -> Run {
    let mut run = level.start(blueprint, level.seeds.get(seed).copied().unwrap_or(0));
    run.watch();
    run
}

/// The value at a key, in words.
fn in_words(blueprint: &Blueprint, key: &str) -> Option<String> {
    use crate::blueprint::Address;
    match Address::parse(key).ok()? {
        Address::Replicas => Some(blueprint.replicas.len().to_string()),
        Address::Setting(setting, index) => {
            let index = index.unwrap_or(0);
            (index < blueprint.count(setting.part)).then(|| of_setting(setting.kind, setting.get(blueprint, index)))
        }
    }
}
