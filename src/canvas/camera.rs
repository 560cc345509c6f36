//! The camera: it shows all of the fleet, unless somebody looks closer.

use egui::{PointerButton, Pos2, Rect, Response, Ui, Vec2};

const CLOSEST: f32 = 6.0;

/// How the fleet is looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// How much larger than fitted, from 1.
    zoom: f32,
    /// The point of the canvas, in shares of its size, that is in the middle.
    middle: Vec2,
}

impl Default for Camera {
    fn default() -> Self {
        Self { zoom: 1.0, middle: Vec2::splat(0.5) }
    }
}

impl Camera {
    /// Follows the wheel (closer, about the pointer), a drag (aside) and a double click (all of it again) on the canvas.
    pub fn follow(&mut self, ui: &Ui, canvas: Rect, ground: &Response) {
        if ground.double_clicked() {
            *self = Self::default();
            return;
        }
        if ground.dragged_by(PointerButton::Primary) || ground.dragged_by(PointerButton::Middle) {
            self.middle -= ground.drag_delta() / (canvas.size() * self.zoom);
        }
        let pointer = ui.ctx().pointer_hover_pos().filter(|at| canvas.contains(*at) && ui.ui_contains_pointer());
        if let Some(at) = pointer {
            let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta.y, input.zoom_delta()));
            self.zoom_about(canvas, at, pinch * (scroll / 240.0).exp());
        }
        self.stay_inside();
    }

    fn zoom_about(&mut self, canvas: Rect, at: Pos2, factor: f32) {
        let before = self.zoom;
        self.zoom = (self.zoom * factor).clamp(1.0, CLOSEST);
        let from_middle = (at - canvas.center()) / canvas.size();
        self.middle += from_middle * (1.0 / before - 1.0 / self.zoom);
    }

    fn stay_inside(&mut self) {
        let half = Vec2::splat(0.5 / self.zoom);
        self.middle = self.middle.max(half).min(Vec2::splat(1.0) - half);
    }

    /// Where the origin of a drawing of this size in points lies on the screen, and how much larger it is.
    pub fn look(&self, canvas: Rect, drawing: Vec2) -> (Pos2, f32) {
        (canvas.center() - drawing * self.middle * self.zoom, self.zoom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::{pos2, vec2};

    #[test]
    fn the_point_under_the_pointer_stays_there() {
        let canvas = Rect::from_min_size(pos2(100.0, 50.0), vec2(700.0, 500.0));
        let mut camera = Camera::default();
        let at = pos2(300.0, 120.0);
        let (origin, zoom) = camera.look(canvas, canvas.size());
        let before = (at - origin) / zoom;
        camera.zoom_about(canvas, at, 2.0);
        camera.stay_inside();
        let (origin, zoom) = camera.look(canvas, canvas.size());
        assert!(((at - origin) / zoom - before).length() < 0.01);
        camera.zoom_about(canvas, at, 0.01);
        camera.stay_inside();
        assert_eq!(camera, Camera::default());
    }
}
