//! Drawing in design units: a painter with a scale and an origin, and the few things that all the drawings are made of.

use super::palette;
use egui::{
    Align2, Color32, CornerRadius, FontFamily, FontId, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, Vec2,
    epaint::CubicBezierShape, pos2, vec2,
};

/// How text looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    /// Words.
    Plain,
    /// Names.
    Strong,
    /// Figures: all digits are equally wide.
    Figures,
    /// Figures that count.
    StrongFigures,
}

/// A painter in design units.
pub struct Brush {
    painter: Painter,
    origin: Pos2,
    scale: f32,
    /// The families of the strong faces, where the program has installed them.
    strong: FontFamily,
    strong_figures: FontFamily,
}

impl Brush {
    /// A brush whose origin lies at this point of the screen, with so many points per design unit.
    pub fn new(painter: Painter, origin: Pos2, scale: f32) -> Self {
        let families = painter.fonts(|fonts| fonts.definitions().families.keys().cloned().collect::<Vec<_>>());
        let installed = |name: &str, otherwise: FontFamily| {
            let family = FontFamily::Name(name.into());
            if families.contains(&family) { family } else { otherwise }
        };
        let strong = installed("semibold", FontFamily::Proportional);
        let strong_figures = installed("mono-semibold", FontFamily::Monospace);
        Self { painter, origin, scale, strong, strong_figures }
    }

    /// A point on the screen.
    pub fn on_screen(&self, at: Pos2) -> Pos2 {
        self.origin + at.to_vec2() * self.scale
    }

    /// Is everything so small that details cannot be read? Then less is drawn, and that larger.
    pub fn far(&self) -> bool {
        self.scale < 0.62
    }

    /// A point of the screen in the drawing.
    pub fn in_drawing(&self, at: Pos2) -> Pos2 {
        ((at - self.origin) / self.scale).to_pos2()
    }

    /// A way on the screen in design units.
    pub fn in_units(&self, way: Vec2) -> Vec2 {
        way / self.scale
    }

    /// A rectangle on the screen.
    pub fn rect_on_screen(&self, rect: Rect) -> Rect {
        Rect::from_min_max(self.on_screen(rect.min), self.on_screen(rect.max))
    }

    fn stroke(&self, width: f32, colour: Color32) -> Stroke {
        Stroke::new(width * self.scale, colour)
    }

    /// A filled rectangle.
    pub fn fill(&self, rect: Rect, radius: f32, colour: Color32) {
        let radius = CornerRadius::from(radius * self.scale);
        self.painter.rect_filled(self.rect_on_screen(rect), radius, colour);
    }

    /// The outline of a rectangle, inside it.
    pub fn outline(&self, rect: Rect, radius: f32, width: f32, colour: Color32) {
        let radius = CornerRadius::from(radius * self.scale);
        let stroke = self.stroke(width, colour);
        self.painter.rect_stroke(self.rect_on_screen(rect), radius, stroke, StrokeKind::Inside);
    }

    /// A filled circle.
    pub fn disc(&self, centre: Pos2, radius: f32, colour: Color32) {
        self.painter.circle_filled(self.on_screen(centre), radius * self.scale, colour);
    }

    /// The outline of a circle.
    pub fn circle(&self, centre: Pos2, radius: f32, width: f32, colour: Color32) {
        self.painter.circle_stroke(self.on_screen(centre), radius * self.scale, self.stroke(width, colour));
    }

    /// A line.
    pub fn line(&self, from: Pos2, to: Pos2, width: f32, colour: Color32) {
        self.painter.line_segment([self.on_screen(from), self.on_screen(to)], self.stroke(width, colour));
    }

    /// A Bézier curve.
    pub fn curve(&self, points: [Pos2; 4], width: f32, colour: Color32) {
        let points = points.map(|point| self.on_screen(point));
        let stroke = self.stroke(width, colour);
        self.painter.add(CubicBezierShape::from_points_stroke(points, false, Color32::TRANSPARENT, stroke));
    }

    /// A cross.
    pub fn cross(&self, centre: Pos2, half: f32, width: f32, colour: Color32) {
        self.line(centre + vec2(-half, -half), centre + vec2(half, half), width, colour);
        self.line(centre + vec2(half, -half), centre + vec2(-half, half), width, colour);
    }

    /// An arrow to the right, 9 units long, that begins at this point.
    pub fn arrow(&self, from: Pos2, colour: Color32) {
        let tip = from + vec2(9.0, 0.0);
        self.line(from, tip, 1.2, colour);
        self.line(tip + vec2(-3.0, -2.6), tip, 1.2, colour);
        self.line(tip + vec2(-3.0, 2.6), tip, 1.2, colour);
    }

    /// A part of a ring: from the top, clockwise, over this share of it.
    pub fn arc(&self, centre: Pos2, radius: f32, width: f32, share: f32, colour: Color32) {
        let share = share.clamp(0.0, 1.0);
        if share < 0.002 {
            return;
        }
        let steps = (64.0 * share).ceil().max(2.0) as usize;
        let points = (0..=steps).map(|step| {
            let share = share * step as f32 / steps as f32;
            self.on_screen(centre + at_clock(share) * radius)
        });
        self.painter.add(Shape::line(points.collect(), self.stroke(width, colour)));
    }

    /// A ring that shows a share. Notches at 50, 70 and 90 % cut it, in the colour of what lies behind it.
    pub fn gauge(&self, centre: Pos2, radius: f32, width: f32, share: f32, colour: Color32, behind: Color32) {
        self.circle(centre, radius, width, palette::LINE);
        self.arc(centre, radius, width, share, colour);
        let half = width * 0.5 + 0.7;
        for mark in MARKS {
            let way = at_clock(mark);
            self.line(centre + way * (radius - half), centre + way * (radius + half), 1.3, behind);
        }
    }

    /// Text that is aligned to a point. Returns how wide it is.
    pub fn text(&self, at: Pos2, align: Align2, text: &str, face: Face, size: f32, colour: Color32) -> f32 {
        if text.is_empty() {
            return 0.0;
        }
        let galley = self.painter.layout_no_wrap(text.to_owned(), self.font(face, size), colour);
        let place = align.anchor_size(self.on_screen(at), galley.size());
        let width = galley.size().x / self.scale;
        // On whole pixels: else the glyphs of lines that move would swim.
        let ppp = self.painter.pixels_per_point();
        let snapped = pos2((place.min.x * ppp).round() / ppp, (place.min.y * ppp).round() / ppp);
        self.painter.galley(snapped, galley, colour);
        width
    }

    /// Text that is cut off with an ellipsis where it would be wider than `most`.
    #[allow(clippy::too_many_arguments, reason = "those of `text` and one")]
    pub fn text_within(&self, at: Pos2, align: Align2, text: &str, face: Face, size: f32, colour: Color32, most: f32) {
        if self.width(text, face, size) <= most {
            self.text(at, align, text, face, size, colour);
            return;
        }
        let mut short: Vec<char> = text.chars().collect();
        while short.pop().is_some() {
            let cut: String = short.iter().collect::<String>().trim_end().to_owned() + "…";
            if self.width(&cut, face, size) <= most || short.is_empty() {
                self.text(at, align, &cut, face, size, colour);
                return;
            }
        }
    }

    /// How wide text is.
    pub fn width(&self, text: &str, face: Face, size: f32) -> f32 {
        let galley = self.painter.layout_no_wrap(text.to_owned(), self.font(face, size), Color32::PLACEHOLDER);
        galley.size().x / self.scale
    }

    fn font(&self, face: Face, size: f32) -> FontId {
        let family = match face {
            Face::Plain => FontFamily::Proportional,
            Face::Strong => self.strong.clone(),
            Face::Figures => FontFamily::Monospace,
            Face::StrongFigures => self.strong_figures.clone(),
        };
        FontId::new(size * self.scale, family)
    }
}

/// The marks of load: from here it matters, from here it hurts, from here calls wait.
pub const MARKS: [f32; 3] = [0.5, 0.7, 0.9];

/// The direction of a share of a ring, from the top, clockwise.
fn at_clock(share: f32) -> Vec2 {
    let angle = (share - 0.25) * std::f32::consts::TAU;
    vec2(angle.cos(), angle.sin())
}
