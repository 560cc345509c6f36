//! The routers' last decisions, where the canvas has no room for them: on a board.

use super::theme;
use super::view::PlayView;
use super::widgets::section;
use crate::canvas::{decision_chip, decision_reason, palette};
use crate::sim::Decision;
use egui::{Align2, Rect, Sense, Stroke, StrokeKind, Ui, WidgetInfo, WidgetType, pos2, vec2};

/// How many are shown.
const SHOWN: usize = 5;

/// The whole section; nothing where no router has decided anything yet.
pub fn show(ui: &mut Ui, view: &PlayView) {
    let decisions = &view.measures.decisions;
    if decisions.is_empty() {
        return;
    }
    ui.add_space(8.0);
    section(ui, "Last decisions");
    let several = view.blueprint.routers.len() > 1;
    for decision in decisions.iter().take(SHOWN) {
        line(ui, view, decision, several);
    }
}

fn line(ui: &mut Ui, view: &PlayView, decision: &Decision, several: bool) {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 19.0), Sense::hover());
    let (word, colour) = decision_chip(decision.why);
    let reason = decision_reason(decision);
    let whole = format!("{word}: {}, {reason}", view.blueprint.name(decision.replica));
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, &whole));
    let painter = ui.painter_at(rect);
    let chip = Rect::from_min_size(pos2(rect.left(), rect.center().y - 8.0), vec2(46.0, 16.0));
    let fill = palette::PANEL.lerp_to_gamma(colour, 0.12);
    painter.rect(chip, 4.0, fill, Stroke::new(1.0, colour), StrokeKind::Inside);
    painter.text(chip.center(), Align2::CENTER_CENTER, word, theme::strong(9.5), colour);
    let router = if several { format!("R{} ", decision.router.index + 1) } else { String::new() };
    let to = format!("{router}→ {:>2}", decision.replica.index + 1);
    let at = pos2(chip.right() + 6.0, rect.center().y);
    let to = painter.text(at, Align2::LEFT_CENTER, to, theme::mono(11.0), palette::TEXT);
    let at = pos2(to.right() + 7.0, rect.center().y);
    painter.text(at, Align2::LEFT_CENTER, reason, theme::text(11.0), palette::DIM);
    response.on_hover_text(whole);
}
