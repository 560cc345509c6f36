//! The palette of a board: what can be placed and what it costs, what is spent, and why something was refused.

use super::action::Deeds;
use super::theme;
use super::top_bar::open_share;
use super::view::{PlayState, PlayView};
use super::widgets::{Icon, focus_ring, icon_button, said};
use crate::blueprint::{Edit, Piece};
use crate::canvas::{figures, palette};
use egui::{
    Align, Align2, Color32, CursorIcon, Layout, Painter, Pos2, Rect, Response, ScrollArea, Sense, Stroke, StrokeKind,
    Ui, WidgetInfo, WidgetType, pos2, vec2,
};

/// Below this width the strip has two rows.
const NARROW: f32 = 560.0;
/// How high a piece is on the strip.
const PIECE: f32 = 36.0;

/// How high the strip is where there is so much room.
pub fn height(width: f32) -> f32 {
    if width < NARROW { 88.0 } else { 52.0 }
}

/// The whole strip.
pub fn show(ui: &mut Ui, view: &PlayView, state: &mut PlayState, deeds: &mut Deeds) {
    if ui.available_width() < NARROW {
        ui.horizontal(|ui| budget(ui, view, state, deeds));
        ui.add_space(2.0);
        ScrollArea::horizontal().auto_shrink([false, true]).show(ui, |ui| {
            ui.horizontal(|ui| pieces(ui, view, state, deeds));
        });
    } else {
        ui.horizontal(|ui| {
            ui.set_height(PIECE);
            pieces(ui, view, state, deeds);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| budget(ui, view, state, deeds));
        });
    }
}

fn pieces(ui: &mut Ui, view: &PlayView, state: &mut PlayState, deeds: &mut Deeds) {
    ui.spacing_mut().item_spacing.x = 6.0;
    let sold: Vec<Piece> = Piece::ALL.into_iter().filter(|piece| view.level.sells(*piece)).collect();
    let tight = ui.available_width() < 122.0 * sold.len() as f32 + 190.0;
    for piece in sold {
        let dear = view.level.budget.is_some_and(|budget| view.credits + piece.credits() > budget);
        let response = one(ui, piece, dear, tight);
        if response.clicked() {
            deeds.edit(Edit::Place { piece, at: state.middle });
        }
        response.dnd_set_drag_payload(piece);
        response.on_hover_cursor(CursorIcon::Grab).on_hover_text(if dear {
            "It costs more credits than are left"
        } else {
            "Drag it onto the board, or click: it comes to the middle"
        });
    }
}

/// A piece with its price.
fn one(ui: &mut Ui, piece: Piece, dear: bool, tight: bool) -> Response {
    let name = if tight { short_name(piece) } else { piece.name() };
    let (name_font, price_font) = (theme::strong(12.0), theme::mono(10.5));
    let text = |font, words: &str| ui.painter().layout_no_wrap(words.to_owned(), font, palette::TEXT).size().x;
    let price = if piece.credits() == 0 { "free".to_owned() } else { format!("{} cr", piece.credits()) };
    let width = 30.0 + text(name_font.clone(), name).max(text(price_font.clone(), &price)) + 10.0;
    let (rect, response) = ui.allocate_exact_size(vec2(width, PIECE), Sense::click_and_drag());
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, format!("Place: {}", piece.name())));
    let fill = if response.hovered() { palette::LINE } else { palette::CARD };
    ui.painter().rect(rect, 6.0, fill, focus_ring(&response), StrokeKind::Inside);
    let colour = if dear { palette::FAINT } else { palette::TEXT };
    sign(ui.painter(), piece, pos2(rect.left() + 16.0, rect.center().y), colour);
    let left = rect.left() + 30.0;
    ui.painter().text(pos2(left, rect.top() + 12.0), Align2::LEFT_CENTER, name, name_font, colour);
    let gold = if dear { palette::FAINT } else { palette::GOLD };
    ui.painter().text(pos2(left, rect.top() + 26.0), Align2::LEFT_CENTER, price, price_font, gold);
    response
}

fn short_name(piece: Piece) -> &'static str {
    match piece {
        Piece::Traffic => "Traffic",
        Piece::Balancer => "Balancer",
        Piece::Router => "Router",
        Piece::Replica => "Replica",
        Piece::LargeReplica => "Large",
    }
}

/// The shape that a piece has on the board, small.
fn sign(painter: &Painter, piece: Piece, at: Pos2, colour: Color32) {
    let stroke = Stroke::new(1.4, colour);
    let card = |wide: f32, high: f32| Rect::from_center_size(at, vec2(wide, high));
    match piece {
        Piece::Traffic => {
            for (x, y) in [(-5.0, 0.0), (0.0, -4.0), (0.0, 4.0), (5.0, 0.0)] {
                painter.circle_filled(at + vec2(x, y), 2.0, colour);
            }
        }
        Piece::Balancer => {
            painter.rect_stroke(card(15.0, 11.0), 2.0, stroke, StrokeKind::Middle);
            painter.line_segment([at - vec2(3.0, 0.0), at + vec2(3.0, 0.0)], stroke);
        }
        Piece::Router => {
            painter.circle_stroke(at, 7.5, stroke);
            painter.circle_filled(at, 2.2, colour);
        }
        Piece::Replica | Piece::LargeReplica => {
            let high = if piece == Piece::LargeReplica { 16.0 } else { 10.0 };
            let card = card(18.0, high);
            painter.rect_stroke(card, 2.0, stroke, StrokeKind::Middle);
            let bar = Rect::from_min_max(card.left_bottom() + vec2(3.0, -4.5), card.right_bottom() - vec2(3.0, 2.5));
            painter.rect_filled(bar, 0.0, colour);
        }
    }
}

/// What is spent, of how much, and the button that shows all of the board.
fn budget(ui: &mut Ui, view: &PlayView, state: &mut PlayState, deeds: &mut Deeds) {
    if icon_button(ui, Icon::Fit, "Fit to view", vec2(28.0, 28.0)).on_hover_text("All of the board  (0)").clicked() {
        state.fit = true;
    }
    if ui.available_width() < NARROW && !ui.layout().prefer_right_to_left() {
        // There is no room for it in the bar at the top.
        let share = icon_button(ui, Icon::Share, "Save and share", vec2(28.0, 28.0));
        if share.on_hover_text("Save by name, export, import").clicked() {
            open_share(view, state, deeds);
        }
    }
    ui.add_space(4.0);
    let spent = figures::count(view.credits);
    match view.level.budget {
        Some(budget) => {
            let left = budget.saturating_sub(view.credits);
            let text = format!("{spent} of {budget} cr");
            let label = format!("{spent} of {budget} credits spent, {left} left");
            let response = ui.label(said(text, theme::mono_strong(12.5), palette::GOLD));
            response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, &label));
            response.on_hover_text(label);
        }
        None => {
            let label = format!("{spent} credits spent, no budget");
            let response = ui.label(said(format!("{spent} cr"), theme::mono_strong(12.5), palette::GOLD));
            response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, &label));
            response.on_hover_text(label);
        }
    }
    if view.level.is_canvas() {
        budget_menu(ui, view, deeds);
    }
}

/// On the blank canvas the budget is one's own.
fn budget_menu(ui: &mut Ui, view: &PlayView, deeds: &mut Deeds) {
    let choices = [None, Some(50), Some(100), Some(200), Some(500)];
    let say = |budget: Option<u64>| budget.map_or_else(|| "no budget".to_owned(), |budget| format!("{budget} cr"));
    ui.menu_button(said("budget", theme::text(11.5), palette::DIM), |ui| {
        for budget in choices {
            if ui.selectable_label(view.level.budget == budget, say(budget)).clicked() {
                deeds.edit(Edit::Budget(budget));
            }
        }
    });
}

/// Why the last change of the board was refused, over its lower edge.
pub fn refusal(ui: &mut Ui, view: &PlayView) {
    let Some(why) = view.refused() else { return };
    let room = ui.max_rect();
    let galley = ui.painter().layout(why.to_owned(), theme::text(12.5), palette::TEXT, room.width() - 60.0);
    let size = galley.size() + vec2(38.0, 16.0);
    let rect = Rect::from_center_size(pos2(room.center().x, room.bottom() - 14.0 - size.y / 2.0), size);
    let response = ui.interact(rect, ui.id().with("refusal"), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, why));
    let painter = ui.painter();
    painter.rect(rect, 6.0, palette::PANEL, Stroke::new(1.0, palette::BAD), StrokeKind::Inside);
    let (sign, arm) = (pos2(rect.left() + 16.0, rect.center().y), 4.0);
    for way in [vec2(arm, arm), vec2(arm, -arm)] {
        painter.line_segment([sign - way, sign + way], Stroke::new(2.0, palette::BAD));
    }
    painter.galley(rect.min + vec2(28.0, 8.0), galley, palette::TEXT);
}
