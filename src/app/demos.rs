//! The component page's fleets: they run while they are on the screen, for a bounded time in each frame.
//!
//! [`Demos`] is there while the page is open, and goes with it.

use super::frame_time::FrameTime;
use crate::level::{Components, DemoRun};
use crate::panels::Action;
use bevy::platform::time::Instant;
use bevy::prelude::*;
use std::time::Duration;

/// A frame works on the page's fleets no longer than this.
const FRAME_BUDGET: Duration = Duration::from_millis(6);

/// The page, and its fleets as far as they have come.
#[derive(Resource)]
pub struct Demos {
    /// The page.
    pub page: Components,
    /// In the order of [`Components::demos`]; none for one that has not been on the screen.
    runs: Vec<Option<DemoRun>>,
    /// Which of them are on the screen.
    on_screen: Vec<bool>,
    /// For pictures: does time stand still?
    still: bool,
}

impl Default for Demos {
    fn default() -> Self {
        let page = Components::builtin();
        let runs = page.demos.iter().map(|_| None).collect();
        Self { on_screen: vec![false; page.demos.len()], page, runs, still: false }
    }
}

impl Demos {
    /// For pictures: every curve computed, what runs in time at this simulated moment, and there it stands.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn at(at_s: f64) -> Self {
        use crate::level::Demo;

        let mut demos = Self { still: true, ..Self::default() };
        for (run, demo) in demos.runs.iter_mut().zip(&demos.page.demos) {
            let real_s = match demo {
                Demo::SideBySide(demo) => at_s / demo.pace,
                Demo::Curve(_) => 0.0,
            };
            run.insert(DemoRun::new(demo)).go_on(real_s, || true);
        }
        demos
    }

    /// How far each has come.
    pub fn runs(&self) -> &[Option<DemoRun>] {
        &self.runs
    }

    /// Says which are on the screen now: one that is there for the first time begins. Returns whether that is new.
    pub fn attend(&mut self, on_screen: &[bool]) -> bool {
        let new = self.on_screen != on_screen;
        if new {
            self.on_screen.clear();
            self.on_screen.extend_from_slice(on_screen);
            for (place, run) in self.runs.iter_mut().enumerate() {
                if on_screen.get(place) == Some(&true) && run.is_none() {
                    *run = Some(DemoRun::new(&self.page.demos[place]));
                }
            }
        }
        new
    }

    /// Those on the screen that are not done.
    fn under_way(&mut self) -> impl Iterator<Item = &mut DemoRun> {
        let on_screen = self.on_screen.iter().chain(std::iter::repeat(&false));
        let shown = self.runs.iter_mut().zip(on_screen).filter(|(_, on_screen)| **on_screen);
        shown.filter_map(|(run, _)| run.as_mut()).filter(|run| !run.done())
    }

    /// Does anything on the screen move on with time?
    pub fn move_on(&self) -> bool {
        let on_screen = |place: usize| self.on_screen.get(place) == Some(&true);
        let moves = |run: &Option<DemoRun>| run.as_ref().is_some_and(|run| !run.done());
        !self.still && self.runs.iter().enumerate().any(|(place, run)| on_screen(place) && moves(run))
    }

    /// Those on the screen go on by `real_s` real seconds, but work no longer than `budget` together.
    pub fn go_on(&mut self, real_s: f64, budget: Duration) {
        if self.still {
            return;
        }
        let share = budget / self.under_way().count().max(1) as u32;
        for run in self.under_way() {
            let began = Instant::now();
            run.go_on(real_s, || began.elapsed() < share);
        }
    }

    /// Begins one anew, if it has begun.
    pub fn restart(&mut self, place: usize) {
        if let Some(Some(run)) = self.runs.get_mut(place) {
            *run = DemoRun::new(&self.page.demos[place]);
        }
    }
}

/// The page is opened; for a picture its fleets are there already.
pub(super) fn enter(mut commands: Commands, there: Option<Res<Demos>>) {
    if there.is_none() {
        commands.insert_resource(Demos::default());
    }
}

pub(super) fn act(mut actions: MessageReader<Action>, mut demos: ResMut<Demos>) {
    for action in actions.read() {
        if let Action::RestartDemo(place) = action {
            demos.restart(*place);
        }
    }
}

pub(super) fn go_on(mut demos: ResMut<Demos>, frame: Res<FrameTime>) {
    demos.go_on(frame.s, FRAME_BUDGET);
}
