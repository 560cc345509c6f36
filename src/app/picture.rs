//! The canvas of a session: what of the run it is given to draw, and when it stands still.

use super::session::{Session, VerdictStage};
use crate::canvas::{Canvas, Draft, FleetPicture};
use crate::panels::{FleetDeeds, PlayState};
use egui::Ui;

/// After a step, what it showed flies on for so long, in seconds of real time.
const AFTER_STEP_S: f32 = 0.9;

/// KV bars are listed anew so often, in seconds of real time.
const BARS_EVERY_S: f32 = 0.1;

/// The drawn fleet.
#[derive(Default)]
pub struct FleetCanvas {
    canvas: Canvas,
    /// While time stands still: how long what flies goes on yet, in seconds of real time.
    flying_s: f32,
    /// The last picture, and for how long its KV bars have been shown, in seconds of real time.
    last: Option<FleetPicture>,
    bars_age_s: f32,
}

impl FleetCanvas {
    /// Another run: forgets what is under way.
    pub fn reset(&mut self) {
        self.canvas.reset();
        self.flying_s = 0.0;
        self.last = None;
    }

    /// Another level: looks at the whole fleet again, too.
    pub fn open(&mut self) {
        *self = Self::default();
    }

    /// A step was asked for: lets what it shows fly.
    pub fn stepped(&mut self) {
        self.flying_s = AFTER_STEP_S;
    }

    /// Takes what happened since the last frame.
    pub fn take_sights(&mut self, session: &mut Session) {
        let speed = if session.paused && self.flying_s <= 0.0 { 0.0 } else { session.pace() };
        self.canvas.take_sights(session.run.watched().sights.drain(..), speed);
    }

    /// Draws the fleet and returns what was done on it. `frame_s` is real time since the last frame.
    pub fn show(&mut self, ui: &mut Ui, session: &Session, state: &mut PlayState, frame_s: f32) -> FleetDeeds {
        let stands = session.paused && self.flying_s <= 0.0 || !matches!(session.verdict, VerdictStage::None);
        self.flying_s = if session.paused { (self.flying_s - frame_s).max(0.0) } else { 0.0 };
        self.canvas.select(Some(state.selected));
        let frame_s = if stands { 0.0 } else { frame_s };
        // While time goes by, KV bars are listed anew now and then; standing still, as they are.
        self.bars_age_s += frame_s;
        let before = self.last.take().filter(|_| frame_s > 0.0 && self.bars_age_s < BARS_EVERY_S);
        if before.is_none() {
            self.bars_age_s = 0.0;
        }
        let picture = FleetPicture::since(&session.run, before.as_ref());
        let mut edits = Vec::new();
        let mut board = session.level.placing.then(|| Draft {
            blueprint: session.blueprint(),
            choice: &mut state.choice,
            fit: &mut state.fit,
            middle: &mut state.middle,
            edits: &mut edits,
        });
        let clicked = self.canvas.show(ui, &picture, frame_s, state.reduced_motion, board.as_mut()).clicked;
        self.last = Some(picture);
        FleetDeeds { clicked, edits }
    }

    /// Is something under way on it although time stands still?
    pub fn moves(&self) -> bool {
        self.flying_s > 0.0
    }
}
