//! A sign for each part, as the canvas draws it in large.

use super::accent;
use crate::blueprint::{Part, Piece};
use crate::canvas::palette;
use crate::level::Component;
use crate::panels::theme;
use egui::{Align2, Painter, Pos2, Rect, Stroke, StrokeKind, pos2, vec2};

/// The sign of a part, of this radius.
pub fn draw(painter: &Painter, at: Pos2, radius: f32, card: &Component) {
    let stroke = Stroke::new((radius * 0.12).max(1.3), accent(card.piece.part()));
    match card.piece.part() {
        Part::Traffic => {
            for (place, x) in [-0.75, 0.0, 0.75].into_iter().enumerate() {
                let colour = if place == 1 { palette::GOLD } else { palette::family(crate::sim::Family::Session(0)) };
                painter.circle_filled(at + vec2(x * radius, 0.0), radius * 0.24, colour);
            }
        }
        Part::Balancer => {
            for turn in [-0.7, 0.0, 0.7] {
                painter.line_segment([at - vec2(radius * 0.8, 0.0), at + vec2(radius * 0.8, turn * radius)], stroke);
            }
        }
        Part::Router => {
            painter.circle(at, radius, palette::CARD, stroke);
            painter.text(at, Align2::CENTER_CENTER, "R", theme::strong(radius * 0.95), palette::TEXT);
        }
        Part::Replica => replicas(painter, at, radius, stroke, card.piece == Piece::LargeReplica),
    }
}

fn replicas(painter: &Painter, at: Pos2, radius: f32, stroke: Stroke, large: bool) {
    let high = if large { 1.7 } else { 1.0 };
    let body = Rect::from_center_size(at, vec2(radius * 1.9, radius * high));
    painter.rect(body, radius * 0.2, palette::CARD, stroke, StrokeKind::Inside);
    let rows = if large { 2 } else { 1 };
    for row in 0..rows {
        let y = body.top() + body.height() * (row as f32 + 0.5) / rows as f32;
        let inside = body.shrink(radius * 0.32);
        for (from, to, colour) in [(0.0, 0.3, palette::GOLD), (0.36, 0.7, palette::DECODE)] {
            let x = |share: f32| inside.left() + inside.width() * share;
            let block = Rect::from_min_max(pos2(x(from), y - radius * 0.17), pos2(x(to), y + radius * 0.17));
            painter.rect_filled(block, 1.0, colour.gamma_multiply(0.85));
        }
    }
}
