//! Small pieces that the panels share: buttons, icons, section headings, meters.

use super::theme;
use crate::canvas::palette;
use egui::{
    Align2, Button, Color32, CornerRadius, FontId, Painter, Pos2, Rect, Response, RichText, ScrollArea, Sense, Shape,
    Stroke, StrokeKind, Ui, Vec2, WidgetInfo, WidgetType, pos2, vec2,
};

/// An icon, drawn rather than taken from a font.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Icon {
    /// Back to where one came from.
    Back,
    /// Time stands still: go on.
    Play,
    /// Time goes by: pause.
    Pause,
    /// To the next event.
    Step,
    /// From the start.
    Restart,
    /// Back to what was given.
    Reset,
    /// Not to be changed.
    Lock,
    /// Help.
    Help,
    /// One on.
    Next,
    /// Takes a change back.
    Undo,
    /// Makes a change again.
    Redo,
    /// All of it in view.
    Fit,
    /// Saves and shares.
    Share,
}

/// A button with an icon. `name` is what it is called, for assistive technology and tests.
pub fn icon_button(ui: &mut Ui, icon: Icon, name: &str, size: Vec2) -> Response {
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, ui.is_enabled(), name));
    let fill = if response.hovered() { palette::LINE } else { palette::CARD };
    ui.painter().rect(rect, 5.0, fill, focus_ring(&response), StrokeKind::Inside);
    draw_icon(ui.painter(), icon, rect.center(), palette::TEXT);
    response
}

/// The outline of what has the keyboard.
pub fn focus_ring(response: &Response) -> Stroke {
    if response.has_focus() { Stroke::new(1.5, palette::DECODE) } else { Stroke::NONE }
}

/// An icon within 12 points around `at`.
pub fn draw_icon(painter: &Painter, icon: Icon, at: Pos2, colour: Color32) {
    let stroke = Stroke::new(1.6, colour);
    let point = |x: f32, y: f32| at + vec2(x, y);
    let bar = |x: f32, wide: f32| Rect::from_center_size(point(x, 0.0), vec2(wide, 10.0));
    let wedge = |x: f32| {
        Shape::convex_polygon(
            vec![point(x - 4.0, -5.0), point(x + 4.0, 0.0), point(x - 4.0, 5.0)],
            colour,
            Stroke::NONE,
        )
    };
    match icon {
        Icon::Back => {
            painter.line(vec![point(2.5, -5.0), point(-2.5, 0.0), point(2.5, 5.0)], stroke);
        }
        Icon::Next => {
            painter.line(vec![point(-2.0, -4.0), point(2.0, 0.0), point(-2.0, 4.0)], stroke);
        }
        Icon::Play => {
            painter.add(wedge(0.5));
        }
        Icon::Pause => {
            painter.rect_filled(bar(-2.8, 3.0), 1.0, colour);
            painter.rect_filled(bar(2.8, 3.0), 1.0, colour);
        }
        Icon::Step => {
            painter.add(wedge(-1.5));
            painter.rect_filled(bar(4.5, 2.0), 1.0, colour);
        }
        Icon::Restart | Icon::Reset => turned_arrow(painter, at, if icon == Icon::Reset { 4.0 } else { 5.0 }, stroke),
        Icon::Lock => {
            let body = Rect::from_center_size(point(0.0, 1.5), vec2(7.0, 5.5));
            painter.rect_filled(body, 1.0, colour);
            let bow = vec![
                point(-2.2, -1.0),
                point(-2.2, -2.8),
                point(-1.2, -4.0),
                point(1.2, -4.0),
                point(2.2, -2.8),
                point(2.2, -1.0),
            ];
            painter.line(bow, Stroke::new(1.2, colour));
        }
        Icon::Undo | Icon::Redo => {
            let side = if icon == Icon::Undo { -1.0 } else { 1.0 };
            let back = vec![
                point(side * 5.0, -1.5),
                point(-side * 2.0, -1.5),
                point(-side * 4.6, 0.2),
                point(-side * 4.6, 2.8),
                point(-side * 2.0, 4.5),
                point(side * 1.5, 4.5),
            ];
            painter.line(back, stroke);
            painter.line(vec![point(side * 2.0, -4.8), point(side * 5.2, -1.5), point(side * 2.0, 1.8)], stroke);
        }
        Icon::Fit => {
            for (x, y) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
                let corner = point(x * 5.0, y * 5.0);
                painter.line(vec![corner - vec2(x * 3.2, 0.0), corner, corner - vec2(0.0, y * 3.2)], stroke);
            }
        }
        Icon::Share => {
            painter.line(vec![point(-2.6, -2.0), point(0.0, -5.0), point(2.6, -2.0)], stroke);
            painter.line_segment([point(0.0, -5.0), point(0.0, 2.0)], stroke);
            painter.line(
                vec![
                    point(-3.0, 0.0),
                    point(-5.0, 0.0),
                    point(-5.0, 5.2),
                    point(5.0, 5.2),
                    point(5.0, 0.0),
                    point(3.0, 0.0),
                ],
                stroke,
            );
        }
        Icon::Help => {
            painter.text(at, Align2::CENTER_CENTER, "?", theme::strong(13.0), colour);
        }
    }
}

/// An arrow that runs nearly full circle, against the clock.
fn turned_arrow(painter: &Painter, at: Pos2, radius: f32, stroke: Stroke) {
    let on = |turn: f32| {
        let angle = turn * std::f32::consts::TAU;
        at + vec2(angle.cos(), angle.sin()) * radius
    };
    let arc: Vec<Pos2> = (0..=20).map(|i| on(-0.62 + 0.8 * i as f32 / 20.0)).collect();
    let tip = arc[0];
    painter.line(arc, stroke);
    let head = vec![tip + vec2(-3.6, -1.0), tip + vec2(2.2, -2.6), tip + vec2(1.0, 3.2)];
    painter.add(Shape::convex_polygon(head, stroke.color, Stroke::NONE));
}

/// A button with a word; `selected` outlines it as the one of several that holds.
pub fn word_button(ui: &mut Ui, text: &str, selected: bool, width: f32) -> Response {
    let colour = if selected { palette::TEXT } else { palette::DIM };
    let stroke = if selected { Stroke::new(1.0, palette::DECODE) } else { Stroke::NONE };
    let fill = if selected { Color32::from_rgb(0x1d, 0x2b, 0x3d) } else { palette::CARD };
    let button = Button::new(RichText::new(text).font(theme::text(12.0)).color(colour));
    let response = ui.add(button.fill(fill).stroke(stroke).corner_radius(5.0).min_size(vec2(width, 26.0)));
    if response.has_focus() {
        ui.painter().rect_stroke(response.rect, 5.0, focus_ring(&response), StrokeKind::Inside);
    }
    response
}

/// The button for what one most likely wants to do next.
pub fn main_button(ui: &mut Ui, text: &str) -> Response {
    let button = Button::new(RichText::new(text).font(theme::strong(13.0)).color(palette::GROUND));
    let response = ui.add(button.fill(palette::DECODE).corner_radius(6.0).min_size(vec2(116.0, 32.0)));
    if response.has_focus() || response.hovered() {
        let ring = Stroke::new(1.5, palette::TEXT);
        ui.painter().rect_stroke(response.rect.expand(1.0), 6.0, ring, StrokeKind::Outside);
    }
    response
}

/// Gives the keyboard to the main button of a window that has just opened, where nothing else has it.
pub fn take_focus(button: &Response) {
    if button.ctx.memory(|memory| memory.focused().is_none()) {
        button.request_focus();
    }
}

/// The button for something else that one may do.
pub fn plain_button(ui: &mut Ui, text: &str) -> Response {
    let button = Button::new(RichText::new(text).font(theme::text(13.0)).color(palette::TEXT));
    let response = ui.add(button.fill(palette::CARD).corner_radius(6.0).min_size(vec2(96.0, 32.0)));
    if response.has_focus() {
        ui.painter().rect_stroke(response.rect, 6.0, focus_ring(&response), StrokeKind::Inside);
    }
    response
}

/// The heading of a section.
pub fn section(ui: &mut Ui, title: &str) {
    ui.label(RichText::new(title.to_uppercase()).font(theme::strong(10.5)).color(palette::FAINT));
}

/// Text in a colour and a font.
pub fn said(text: impl Into<String>, font: FontId, colour: Color32) -> RichText {
    RichText::new(text).font(font).color(colour)
}

/// The sign of a goal: a full circle when it is met, a hollow one when it is not. Shape as well as colour tells.
pub fn goal_sign(painter: &Painter, at: Pos2, met: bool, radius: f32) {
    if met {
        painter.circle_filled(at, radius, palette::GOOD);
        let tick = vec![at + vec2(-2.6, 0.2), at + vec2(-0.8, 2.2), at + vec2(2.8, -2.2)];
        painter.line(tick, Stroke::new(1.6, palette::GROUND));
    } else {
        painter.circle_stroke(at, radius - 0.75, Stroke::new(1.5, palette::WARN));
    }
}

/// A thin bar filled to a share, with a tick at another.
pub fn meter(painter: &Painter, rect: Rect, share: f32, tick: Option<f32>, colour: Color32) {
    let round = CornerRadius::same(2);
    painter.rect_filled(rect, round, palette::LINE);
    let mut full = rect;
    full.set_width(rect.width() * share.clamp(0.0, 1.0));
    painter.rect_filled(full, round, colour);
    if let Some(tick) = tick {
        let x = rect.left() + rect.width() * tick.clamp(0.0, 1.0);
        let ends = [pos2(x, rect.top() - 2.0), pos2(x, rect.bottom() + 2.0)];
        painter.line_segment(ends, Stroke::new(1.5, palette::TEXT));
    }
}

/// A window over everything else, of this width where there is room for it.
pub fn modal<T>(ctx: &egui::Context, id: &str, width: f32, fill: impl FnOnce(&mut Ui) -> T) -> egui::ModalResponse<T> {
    let room = ctx.content_rect().size();
    let margin = if room.x < 560.0 { 16 } else { 24 };
    let frame = egui::Frame::popup(&ctx.global_style()).inner_margin(margin).corner_radius(10.0);
    egui::Modal::new(egui::Id::new(id)).frame(frame).backdrop_color(Color32::from_black_alpha(130)).show(ctx, |ui| {
        ui.set_width((room.x - 32.0 - 2.0 * f32::from(margin)).min(width));
        fill(ui)
    })
}

/// What scrolls in such a window where it would be higher than this. It has its height at once: left to itself it would
/// grow a little with each frame.
pub fn scroll_area(most: f32) -> ScrollArea {
    let most = most.max(160.0);
    ScrollArea::vertical().auto_shrink([false, true]).max_height(most).min_scrolled_height(most)
}

/// A seconds clock with tenths: `03:42.6`.
pub fn clock(seconds: f64) -> String {
    let tenths = (seconds.max(0.0) * 10.0) as u64;
    format!("{:02}:{:02}.{}", tenths / 600, tenths / 10 % 60, tenths % 10)
}
