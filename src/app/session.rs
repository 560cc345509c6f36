//! A session: one level being played. Its run, its settings as the player has them, and what is kept for the panels.

use super::observe::{self, Reading};
use crate::blueprint::{Blueprint, Board, Change, Edit, EditError, History, Outcome, Part, PartId};
use crate::level::{Level, Shared, Verdict, VerdictRun};
use crate::panels::{Mark, Measures, PlayView, Series, ShareView, Speed, VerdictView};
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
    /// The fleet as it is now, and what was done to it.
    history: History,
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
    pub refusal: Option<EditError>,
    /// The parts that the last change was about, until somebody asks: what was placed is to be selected.
    about: Option<Vec<PartId>>,
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
    /// The fleet as a code, once it was asked for.
    code: Option<String>,
    /// What came of the last thing that was asked of the canvases that are kept.
    pub share_notice: Option<String>,
    /// Was something changed that is not kept yet?
    pub unkept: bool,
    /// Did parts come or go since somebody last asked? Then what is known by their places is void.
    rebuilt: bool,
    /// Is nobody looking at it yet?
    fresh: bool,
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
        Self::with_blueprint(level, blueprint)
    }

    /// A session at 0:00, with a fleet that a player of the level could make.
    pub fn with_blueprint(level: Level, blueprint: Blueprint) -> Self {
        let run = start(&level, &blueprint, 0);
        let mut session = Self {
            // A canvas is drawn first, and run when its maker says so.
            paused: level.placing,
            history: History::new(Board::new(blueprint, level.budget)),
            level,
            run,
            seed: 0,
            speed: Speed::default(),
            verdict: VerdictStage::None,
            marks: Vec::new(),
            refusal: None,
            about: None,
            report: Report::default(),
            goals: Vec::new(),
            measures: Measures::default(),
            series: Series::default(),
            readings: VecDeque::new(),
            target: 0.0,
            pace: 1.0,
            last_change: None,
            code: None,
            share_notice: None,
            unkept: false,
            rebuilt: false,
            fresh: true,
        };
        session.look();
        session
    }

    /// The fleet as it is now.
    pub fn blueprint(&self) -> &Blueprint {
        self.history.blueprint()
    }

    /// The fleet as a code.
    pub fn code(&mut self) -> &str {
        let shared = || Shared { level: self.level.clone(), blueprint: self.history.blueprint().clone() };
        self.code.get_or_insert_with(|| shared().to_code())
    }

    /// Did parts come or go since this was last asked?
    pub fn take_rebuilt(&mut self) -> bool {
        std::mem::take(&mut self.rebuilt)
    }

    /// Another fleet of the same level takes the place of this one, at 0:00; undo brings this one back.
    pub fn open(&mut self, blueprint: Blueprint, budget: Option<u64>) {
        self.edit(&Edit::Open { blueprint: Box::new(blueprint), budget });
        self.restart(self.seed);
        self.paused = true;
        self.fresh = true;
    }

    /// Is nobody looking at it yet? Only the first time.
    pub fn take_fresh(&mut self) -> bool {
        std::mem::take(&mut self.fresh)
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
        self.run = start(&self.level, self.history.blueprint(), self.seed);
        self.target = 0.0;
        // Whoever comes from a verdict on what they drew draws on first.
        self.paused = self.level.placing && !matches!(self.verdict, VerdictStage::None);
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

    /// Changes the running fleet, as the player may; what is refused changes nothing and is kept to be shown.
    pub fn edit(&mut self, edit: &Edit) {
        let now = Instant::now();
        let same = self.last_change.is_some_and(|last| now.duration_since(last) < ONE_CHANGE);
        let level = &self.level;
        let made = level
            .allows(edit)
            .and_then(|()| self.history.edit(edit, same, |board| level.admits_for(board.blueprint(), board.budget())));
        match made {
            Ok(outcome) => {
                self.refusal = None;
                if let Some(outcome) = outcome {
                    self.last_change = Some(now);
                    self.take(outcome, same);
                }
            }
            Err(refusal) => self.refusal = Some(refusal),
        }
    }

    /// Takes the last change back.
    pub fn undo(&mut self) {
        self.end_change();
        self.refusal = None;
        if let Some(outcome) = self.history.undo() {
            self.take(outcome, false);
        }
    }

    /// Makes the change again that was taken back last.
    pub fn redo(&mut self) {
        self.end_change();
        self.refusal = None;
        if let Some(outcome) = self.history.redo() {
            self.take(outcome, false);
        }
    }

    /// What is changed next is another change, however soon it comes.
    pub fn end_change(&mut self) {
        self.last_change = None;
    }

    /// The running fleet comes to be what the board now says, and the change is marked.
    fn take(&mut self, outcome: Outcome, same: bool) {
        self.code = None;
        self.unkept = true;
        self.level.budget = self.history.board().budget();
        if !outcome.about.is_empty() {
            self.about = Some(outcome.about);
        }
        let counts = |blueprint: &Blueprint| Part::ALL.map(|part| blueprint.count(part));
        self.rebuilt |= counts(outcome.before.blueprint()) != counts(self.history.blueprint());
        if self.level.placing && self.over() {
            // What ended is the run of another fleet: this one has none yet.
            self.restart(self.seed);
            self.paused = true;
            return;
        }
        let board = self.history.board();
        self.run.rearrange(board.blueprint(), board.origins(&outcome.before));
        // What was drawn before the run began is what it began with.
        let began = !self.level.placing || self.run.now() > 0;
        if outcome.change.runs() && began {
            self.mark(outcome.change, same);
        }
        self.look();
    }

    /// The parts that the last changes were about, once.
    pub fn take_about(&mut self) -> Option<Vec<PartId>> {
        self.about.take()
    }

    /// Notes what was changed; a slider on its way is one change.
    fn mark(&mut self, change: Change, same: bool) {
        let at = self.run.now();
        if let Some(last) = self.marks.last_mut()
            && let (Change::Setting { key, from, to }, Change::Setting { key: again, to: now, .. }) =
                (&mut last.change, &change)
            && key == again
            && (same || last.at == at)
        {
            *to = *now;
            if *to == *from {
                self.marks.pop();
            }
            return;
        }
        self.marks.push(Mark { at, change });
    }

    /// Asks for the verdict on the settings as they are; time stands still meanwhile.
    pub fn ask_verdict(&mut self) {
        self.paused = true;
        self.verdict = VerdictStage::Running(Box::new(VerdictRun::new(&self.level, self.history.blueprint())));
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
        self.report = self.level.complete(report, self.history.blueprint());
        self.goals.clone_from(&self.report.goals);
        observe::read(&mut self.readings, &self.run);
        observe::series(&mut self.run, &mut self.series);
        self.measures = observe::measures(&self.run, &self.readings, &self.series);
    }

    /// What the panels show.
    pub fn view(&self) -> PlayView<'_> {
        self.view_with(ShareView { notice: self.share_notice.as_deref(), ..ShareView::default() })
    }

    /// What the panels show, while the window that saves and shares is open, too.
    pub fn view_with<'a>(&'a self, share: ShareView<'a>) -> PlayView<'a> {
        PlayView {
            level: &self.level,
            blueprint: self.history.blueprint(),
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
            credits: self.history.blueprint().credits_over(&self.level.blueprint),
            refusal: self.refusal.as_ref(),
            undoable: self.history.undoable(),
            redoable: self.history.redoable(),
            share,
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
