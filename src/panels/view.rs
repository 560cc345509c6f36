//! What the play screen shows: a snapshot of a session, plain data that no panel changes.

use super::action::Speed;
use super::quantity::of_setting;
use super::share::{ShareState, ShareView};
use crate::blueprint::{BOARD, Blueprint, Change, EditError, Part, PartId, Place, Setting, SettingError, Value};
use crate::canvas::{Choice, figures};
use crate::level::{Level, Verdict};
use crate::sim::{Decision, GoalReport, Micros, Report};
use egui_plot::PlotPoint;

/// A session at a moment.
pub struct PlayView<'a> {
    /// The level.
    pub level: &'a Level,
    /// The fleet as it is set now.
    pub blueprint: &'a Blueprint,
    /// The report of the run so far.
    pub report: &'a Report,
    /// How it does at each goal so far.
    pub goals: &'a [GoalReport],
    /// What was measured of late.
    pub measures: &'a Measures,
    /// The lines of the charts.
    pub series: &'a Series,
    /// What the player changed during this run.
    pub marks: &'a [Mark],
    /// The simulated moment.
    pub now: Micros,
    /// Does time stand still?
    pub paused: bool,
    /// Is the run at the level's end?
    pub over: bool,
    /// How fast time goes by.
    pub speed: Speed,
    /// Which of the level's seeds it is, from 1, and how many there are.
    pub seed: (usize, usize),
    /// Credits spent beyond what the level gives.
    pub credits: u64,
    /// The last change that was refused.
    pub refusal: Option<&'a EditError>,
    /// The change that would be taken back.
    pub undoable: Option<&'a Change>,
    /// The change that would be made again.
    pub redoable: Option<&'a Change>,
    /// What is to be saved and shared, while that window is open.
    pub share: ShareView<'a>,
    /// The verdict, if one was asked for.
    pub verdict: VerdictView<'a>,
}

/// The verdict of the settings as they are.
#[derive(Clone, Copy, Default)]
pub enum VerdictView<'a> {
    /// None was asked for.
    #[default]
    None,
    /// It is on its way: how far, from 0 to 1.
    Running(f32),
    /// Here it is.
    Done(&'a Verdict),
}

impl PlayView<'_> {
    /// The setting that was refused last, if what was refused was one.
    pub fn refused_setting(&self) -> Option<&SettingError> {
        match self.refusal {
            Some(EditError::Setting(error)) => Some(error),
            _ => None,
        }
    }

    /// Why anything else was refused last.
    pub fn refused(&self) -> Option<&str> {
        match self.refusal {
            Some(EditError::Rule(why)) => Some(why),
            _ => None,
        }
    }
}

/// What the player changed, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// The simulated moment.
    pub at: Micros,
    /// The change.
    pub change: Change,
}

impl Mark {
    /// As the charts say it: `spill 0 → 8`.
    pub fn text(&self) -> String {
        change_text(&self.change)
    }
}

/// A change in a few words: `spill 0 → 8`, `Replica 3 placed`.
pub fn change_text(change: &Change) -> String {
    match change {
        Change::Parts { what, .. } => what.clone(),
        Change::Setting { key, from, to } => {
            let kind = Setting::find_any(key).map(|setting| setting.kind);
            let say = |value: &Option<Value>| match (value, kind) {
                (None, _) => "none".to_owned(),
                (Some(value), Some(kind)) => of_setting(kind, *value),
                (Some(value), None) => figures::count(value.number().unwrap_or(0.0) as u64),
            };
            let name = key.rsplit('.').next().unwrap_or(key).replace('_', " ");
            format!("{name} {} → {}", say(from), say(to))
        }
    }
}

/// What was measured over the last seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measures {
    /// Calls sent a second, by each source of traffic.
    pub traffics: Vec<Option<f64>>,
    /// Calls sent a second, by all of them.
    pub calls_per_s: Option<f64>,
    /// Each router.
    pub routers: Vec<RouterMeasure>,
    /// Each replica.
    pub replicas: Vec<ReplicaMeasure>,
    /// TTFT p50 and p99 of the last window, in milliseconds.
    pub ttft_ms: (Option<f64>, Option<f64>),
    /// KV hit rate of the last window.
    pub hit_rate: Option<f64>,
    /// The routers' last decisions, newest first.
    pub decisions: Vec<Decision>,
}

/// A router at this moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RouterMeasure {
    /// Slots taken.
    pub slots_taken: u64,
    /// Calls waiting for a slot.
    pub waiting: u64,
    /// The busy share of its cores over the last seconds.
    pub cpu_busy: f64,
    /// Is it up?
    pub up: bool,
}

/// A replica at this moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReplicaMeasure {
    /// Calls running.
    pub running: u64,
    /// Calls waiting.
    pub waiting: u64,
    /// Tokens in its KV cache.
    pub kv_tokens: u64,
    /// Is a prefill under way?
    pub prefilling: bool,
}

/// The lines of the charts, over simulated seconds.
#[derive(Default)]
pub struct Series {
    /// Median TTFT in milliseconds.
    pub ttft_p50: Vec<PlotPoint>,
    /// The 99th percentile of TTFT in milliseconds.
    pub ttft_p99: Vec<PlotPoint>,
    /// KV hit rate in per cent.
    pub hit_rate: Vec<PlotPoint>,
    /// Calls waiting, for each replica.
    pub waiting: Vec<Vec<PlotPoint>>,
    /// The most calls that wait at any one replica.
    pub waiting_longest: Vec<PlotPoint>,
    /// Calls waiting at a replica, on average over the replicas.
    pub waiting_mean: Vec<PlotPoint>,
}

/// What the panels of the play screen remember from frame to frame.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayState {
    /// The part that the inspector shows.
    pub selected: PartId,
    /// The setting that has the attention: its key.
    pub focus: Option<String>,
    /// How many hints are open.
    pub hints: usize,
    /// How many of them were scrolled to.
    pub hints_seen: usize,
    /// Is the help open?
    pub help: bool,
    /// Is the keyboard to go to the inspector: to the setting that has the attention, or else to its first?
    pub enter_settings: bool,
    /// Does nothing fly on the canvas?
    pub reduced_motion: bool,
    /// On a narrow window: which panel is shown.
    pub tab: Tab,
    /// Is the window open that saves and shares?
    pub share: Option<ShareState>,
    /// On a board: what is chosen.
    pub choice: Choice,
    /// On a board: is all of it to be shown?
    pub fit: bool,
    /// On a board: the middle of what is seen of it.
    pub middle: Place,
}

impl PlayState {
    /// These parts are the chosen ones; the inspector shows the first.
    pub fn choose(&mut self, parts: &[PartId]) {
        self.choice = Choice { parts: parts.iter().copied().collect(), ..Choice::default() };
        if let Some(first) = parts.first() {
            self.selected = *first;
            self.focus = None;
        }
    }
}

impl Default for PlayState {
    fn default() -> Self {
        Self {
            selected: PartId::new(Part::Router, 0),
            focus: None,
            hints: 0,
            hints_seen: 0,
            help: false,
            enter_settings: false,
            reduced_motion: false,
            tab: Tab::Fleet,
            share: None,
            choice: Choice::default(),
            fit: false,
            middle: Place(BOARD.0 / 2, BOARD.1 / 2),
        }
    }
}

/// The panels of a narrow window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tab {
    /// The canvas.
    Fleet,
    /// Goals, brief and hints.
    Brief,
    /// The inspector.
    Settings,
    /// The charts.
    Charts,
}

impl Tab {
    /// All of them with their names.
    pub const ALL: [(Self, &'static str); 4] =
        [(Self::Fleet, "Fleet"), (Self::Brief, "Goals"), (Self::Settings, "Settings"), (Self::Charts, "Charts")];
}
