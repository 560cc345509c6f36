//! The camera: it shows all of the fleet, unless somebody looks closer.

use egui::{MultiTouchInfo, PointerButton, Pos2, Rect, Response, Ui, Vec2};

const CLOSEST: f32 = 8.0;

/// How the fleet is looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// How much larger than fitted, from 1.
    zoom: f32,
    /// The point of the drawing, in shares of its size, that is in the middle of the canvas.
    middle: Vec2,
    /// Are there two fingers, or were there until the last of them was lifted? That is no tap then.
    pinched: bool,
}

impl Default for Camera {
    fn default() -> Self {
        Self { zoom: 1.0, middle: Vec2::splat(0.5), pinched: false }
    }
}

impl Camera {
    /// Follows the wheel (closer, about the pointer), a drag (aside; with Shift it is not the camera's), two fingers (closer
    /// and aside) and a double click (all of it again) on the canvas, where a drawing of this size in points is. Returns
    /// whether all of it was asked for.
    pub fn follow(&mut self, ui: &Ui, canvas: Rect, drawing: Vec2, ground: &Response) -> bool {
        let (fingers, still_touched) =
            ui.input(|input| (input.multi_touch(), input.any_touches() || input.pointer.any_released()));
        self.pinched = fingers.is_some() || self.pinched && still_touched;
        if let Some(fingers) = fingers {
            // What began elsewhere, or on something that lies over the canvas, is none of its business.
            if canvas.contains(fingers.start_pos) && ui.ctx().layer_id_at(fingers.start_pos) == Some(ui.layer_id()) {
                self.pinch(canvas, drawing, &fingers);
            }
            return false;
        }
        if ground.double_clicked() && !self.pinched {
            *self = Self::default();
            return true;
        }
        let aside = !ui.input(|input| input.modifiers.shift);
        let dragged = ground.dragged_by(PointerButton::Primary) || ground.dragged_by(PointerButton::Middle);
        if dragged && aside {
            self.middle -= ground.drag_delta() / (drawing * self.zoom);
        }
        let pointer = ui.ctx().pointer_hover_pos().filter(|at| canvas.contains(*at) && ui.ui_contains_pointer());
        if let Some(at) = pointer {
            let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta.y, input.zoom_delta()));
            self.zoom_about(canvas, drawing, at, pinch * (scroll / 240.0).exp());
        }
        self.stay_inside();
        false
    }

    /// Shows this part of a drawing of this size in points, in the middle, but not larger than `most` times fitted.
    pub fn show(&mut self, canvas: Rect, drawing: Vec2, part: Rect, most: f32) {
        let fits = (canvas.width() / part.width()).min(canvas.height() / part.height());
        self.zoom = fits.min(most).clamp(1.0, CLOSEST);
        self.middle = part.center().to_vec2() / drawing;
        self.stay_inside();
    }

    /// Is what was just lifted one of two fingers, and so no tap on what lies under it?
    pub fn pinched(&self) -> bool {
        self.pinched
    }

    /// What lay between the fingers stays between them.
    fn pinch(&mut self, canvas: Rect, drawing: Vec2, fingers: &MultiTouchInfo) {
        self.middle -= fingers.translation_delta / (drawing * self.zoom);
        // Two fingers on one spot have no ratio.
        if fingers.zoom_delta.is_finite() {
            self.zoom_about(canvas, drawing, fingers.center_pos, fingers.zoom_delta);
        }
        self.stay_inside();
    }

    fn zoom_about(&mut self, canvas: Rect, drawing: Vec2, at: Pos2, factor: f32) {
        let before = self.zoom;
        self.zoom = (self.zoom * factor).clamp(1.0, CLOSEST);
        let from_middle = (at - canvas.center()) / drawing;
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
        let (drawing, at) = (vec2(350.0, 500.0), pos2(400.0, 120.0));
        let (origin, zoom) = camera.look(canvas, drawing);
        let before = (at - origin) / zoom;
        camera.zoom_about(canvas, drawing, at, 2.0);
        camera.stay_inside();
        let (origin, zoom) = camera.look(canvas, drawing);
        assert!(((at - origin) / zoom - before).length() < 0.01);
        camera.zoom_about(canvas, drawing, at, 0.01);
        camera.stay_inside();
        assert_eq!(camera, Camera::default());
    }
}
