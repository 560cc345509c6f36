//! The legend and the routers' last decisions.

use super::brush::{Brush, Face};
use super::figures;
use super::palette;
use crate::sim::{Decision, Why};
use egui::{Align2, Color32, Rect, pos2, vec2};

/// Draws the legend: dots, then slots.
pub fn legend(brush: &Brush, place: Rect) {
    let pitch = 16.5;
    let at = |row: f32| pos2(place.left() + 5.0, place.top() + 8.0 + pitch * row);
    let words = |row: f32, x: f32, words: &str| {
        brush.text(at(row) + vec2(x, 0.0), Align2::LEFT_CENTER, words, Face::Plain, 10.5, palette::DIM);
    };
    let session = palette::family(crate::sim::Family::Session(0));
    brush.disc(at(0.0), 4.2, palette::GOLD);
    words(0.0, 12.0, "shared prefix, found");
    brush.disc(at(1.0), 4.2, session);
    words(1.0, 12.0, "own session, found");
    brush.circle(at(2.0), 3.6, 1.7, session);
    words(2.0, 12.0, "not found: full prefill");
    brush.cross(at(3.0), 3.6, 2.0, palette::BAD);
    words(3.0, 12.0, "rejected");
    let slot = |x: f32, colour: Color32| {
        brush.fill(Rect::from_center_size(at(4.25) + vec2(x, 0.0), vec2(8.5, 8.5)), 1.8, colour)
    };
    slot(0.0, palette::PREFILL);
    words(4.25, 12.0, "prefill");
    slot(58.0, palette::DECODE);
    words(4.25, 70.0, "decode");
    slot(122.0, palette::EMPTY);
    words(4.25, 134.0, "free slot");
}

/// Draws the last decisions, the newest first, as many as fit. `several` routers are told apart by their number.
pub fn decisions(brush: &Brush, place: Rect, decisions: &[Decision], several: bool) {
    if decisions.is_empty() {
        return;
    }
    let pitch = 22.0;
    let rows = (((place.height() - 18.0) / pitch).floor() as usize).min(5);
    let shown = decisions.len().min(rows);
    let top = place.bottom() - pitch * rows as f32;
    brush.text(pos2(place.left(), top - 9.0), Align2::LEFT_CENTER, "LAST DECISIONS", Face::Strong, 9.5, palette::FAINT);
    for (row, decision) in decisions.iter().take(shown).enumerate() {
        let y = top + pitch * (row as f32 + 0.5);
        decision_line(
            brush,
            Rect::from_min_max(pos2(place.left(), y - 9.0), pos2(place.right(), y + 9.0)),
            decision,
            several,
        );
    }
}

fn decision_line(brush: &Brush, place: Rect, decision: &Decision, several: bool) {
    let (chip, colour) = chip(decision.why);
    let y = place.center().y;
    let frame = Rect::from_min_size(pos2(place.left(), y - 8.0), vec2(48.0, 16.0));
    brush.fill(frame, 4.0, palette::GROUND.lerp_to_gamma(colour, 0.12));
    brush.outline(frame, 4.0, 1.0, colour);
    brush.text(frame.center(), Align2::CENTER_CENTER, chip, Face::Strong, 9.5, colour);
    let mut x = frame.right() + 7.0;
    if several {
        let router = format!("R{}", decision.router.index + 1);
        x += brush.text(pos2(x, y), Align2::LEFT_CENTER, &router, Face::Figures, 10.0, palette::DIM) + 5.0;
    }
    brush.arrow(pos2(x, y), palette::DIM);
    // Room for two digits, so that the words behind stand in one line.
    let number = (decision.replica.index + 1).to_string();
    let width = brush.width("00", Face::StrongFigures, 10.5).max(brush.width(&number, Face::StrongFigures, 10.5));
    brush.text(pos2(x + 15.0 + width, y), Align2::RIGHT_CENTER, &number, Face::StrongFigures, 10.5, palette::TEXT);
    let at = pos2(x + 15.0 + width + 7.0, y);
    let most = place.right() - at.x;
    brush.text_within(at, Align2::LEFT_CENTER, &reason(decision), Face::Plain, 10.0, palette::DIM, most);
}

/// The word for a decision, and its colour.
pub fn chip(why: Why) -> (&'static str, Color32) {
    match why {
        Why::Sticky => ("sticky", palette::GOOD),
        Why::NoHome => ("first", palette::DECODE),
        Why::Spilled { .. } => ("spill", palette::SPILL),
        Why::RoundRobin => ("turn", palette::DIM),
        Why::Random => ("random", palette::DIM),
        Why::LeastBusy => ("least", palette::DIM),
    }
}

/// What there is to say beside the chip: what the replica finds, or what sent the call away from its home.
pub fn reason(decision: &Decision) -> String {
    let prompt = figures::count(decision.prompt_tokens);
    match (decision.why, decision.held) {
        (Why::Spilled { waiting }, _) => format!("{} wait at its home", figures::count(waiting)),
        (Why::NoHome, 0) => "no home yet".into(),
        (_, 0) => format!("holds nothing of {prompt}"),
        (_, held) => format!("holds {} of {prompt}", figures::count(held)),
    }
}
