//! The canvas of a session: what of the run it is given to draw.

use super::session::Session;
use crate::blueprint::PartId;
use egui::Ui;

/// The drawn fleet.
#[derive(Default)]
pub struct FleetCanvas {
    seen: bool,
}

impl FleetCanvas {
    /// Forgets what is under way.
    pub fn reset(&mut self) {
        self.seen = false;
    }

    /// Takes what happened since the last frame.
    pub fn take_sights(&mut self, session: &mut Session) {
        session.run.watched().sights.clear();
    }

    /// Draws the fleet and returns the part that was clicked.
    pub fn show(&mut self, _ui: &mut Ui, _session: &Session, _frame_s: f32) -> Option<PartId> {
        None
    }

    /// Is something under way on it that time alone moves?
    pub fn moves(&self) -> bool {
        self.seen
    }
}
