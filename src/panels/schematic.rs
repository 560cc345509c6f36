//! A small picture of a fleet: its traffic, its router, its replicas and what they would come to hold.

use super::theme;
use crate::blueprint::{Blueprint, Policy};
use crate::canvas::palette;
use crate::sim::Family;
use egui::{Align2, Color32, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, pos2, vec2};

/// The most replicas drawn.
const MOST: usize = 10;

/// Draws the fleet into a rectangle.
pub fn draw(painter: &Painter, rect: Rect, fleet: &Blueprint) {
    let shown = fleet.replicas.len().min(MOST);
    let (source, router) = (pos2(rect.left() + 10.0, rect.center().y), pos2(rect.left() + 74.0, rect.center().y));
    let cards = Rect::from_min_max(pos2(rect.right() - 84.0, rect.top()), rect.right_bottom());
    painter.line_segment([source, router], Stroke::new(1.2, palette::LINE));
    for index in 0..shown {
        let card = card_rect(cards, index, shown);
        link(painter, router, card.left_center());
        replica(painter, card, fleet, index);
    }
    painter.circle(source, 5.0, palette::CARD, Stroke::new(1.2, palette::DIM));
    for (place, x) in [26.0, 40.0, 52.0].into_iter().enumerate() {
        let colour = if shared_first(fleet) && place != 1 { palette::GOLD } else { session(place) };
        painter.circle_filled(pos2(rect.left() + x, rect.center().y), 2.2, colour);
    }
    painter.circle(router, 13.0, palette::CARD, Stroke::new(1.6, palette::DECODE));
    painter.text(router, Align2::CENTER_CENTER, "R", theme::strong(10.0), palette::TEXT);
}

/// Draws a board into a rectangle: the parts that are given on it, and room for those that are to come.
pub fn draw_board(painter: &Painter, rect: Rect, fleet: &Blueprint) {
    let step = 13.0;
    for column in 0..=(rect.width() / step) as usize {
        for row in 0..=(rect.height() / step) as usize {
            let at = rect.min + vec2(column as f32 * step, row as f32 * step);
            painter.circle_filled(at, 0.8, palette::LINE);
        }
    }
    for (index, y) in rows(rect, fleet.traffics.len()).enumerate() {
        let source = pos2(rect.left() + 12.0, y);
        painter.circle(source, 5.0, palette::CARD, Stroke::new(1.2, palette::DIM));
        let shared = fleet.traffics[index].shared > 0.5;
        for (place, x) in [14.0, 26.0, 36.0].into_iter().enumerate() {
            let family =
                if shared && place != 1 { Family::Shared(index as u32) } else { Family::Session(place as u64) };
            painter.circle_filled(source + vec2(x, 0.0), 2.2, palette::family(family));
        }
    }
    let middle = pos2(rect.left() + 92.0, rect.center().y);
    plus(painter, middle, 11.0);
    let given = fleet.replicas.len();
    let count = if given == 0 { 3 } else { given };
    for y in rows(rect, count) {
        let card = Rect::from_center_size(pos2(rect.right() - 36.0, y), vec2(64.0, 11.0));
        if given > 0 {
            painter.rect(card, 2.0, palette::CARD, Stroke::new(1.0, palette::DIM), StrokeKind::Inside);
        } else {
            painter.add(Shape::dashed_line(&corners(card), Stroke::new(1.0, palette::FAINT), 4.0, 3.0));
        }
    }
}

/// So many lines, evenly over the height.
fn rows(rect: Rect, count: usize) -> impl Iterator<Item = f32> {
    (0..count).map(move |row| rect.top() + rect.height() * (row as f32 + 0.5) / count as f32)
}

fn corners(rect: Rect) -> Vec<Pos2> {
    vec![rect.left_top(), rect.right_top(), rect.right_bottom(), rect.left_bottom(), rect.left_top()]
}

/// Where something is to be placed.
fn plus(painter: &Painter, at: Pos2, radius: f32) {
    painter.circle(at, radius, palette::CARD, Stroke::new(1.4, palette::DECODE));
    for way in [vec2(4.5, 0.0), vec2(0.0, 4.5)] {
        painter.line_segment([at - way, at + way], Stroke::new(1.4, palette::TEXT));
    }
}

fn card_rect(all: Rect, index: usize, count: usize) -> Rect {
    let pitch = all.height() / count.max(1) as f32;
    let top = all.top() + pitch * index as f32;
    Rect::from_min_size(pos2(all.left(), top + 1.0), vec2(all.width(), (pitch - 3.0).clamp(4.0, 16.0)))
}

fn link(painter: &Painter, from: Pos2, to: Pos2) {
    let bend = vec2((to.x - from.x) * 0.5, 0.0);
    let curve = egui::epaint::CubicBezierShape::from_points_stroke(
        [from, from + bend, to - bend, to],
        false,
        Color32::TRANSPARENT,
        Stroke::new(1.0, palette::LINE),
    );
    painter.add(Shape::CubicBezier(curve));
}

fn shared_first(fleet: &Blueprint) -> bool {
    fleet.traffics.first().is_some_and(|traffic| traffic.shared > 0.5)
}

fn session(place: usize) -> Color32 {
    palette::family(Family::Session(place as u64))
}

/// A replica with blocks of its cache: everything everywhere where calls go round robin; the shared prefix on the first
/// where it is sticky; else sessions each at home.
fn replica(painter: &Painter, card: Rect, fleet: &Blueprint, index: usize) {
    painter.rect(card, 2.0, palette::CARD, Stroke::new(1.0, palette::LINE), StrokeKind::Inside);
    let router = fleet.routers.first();
    let sticky = router.is_some_and(|router| router.policy == Policy::StickySpill && router.affinity >= 0.5);
    let blocks = 8;
    let width = (card.width() - 6.0) / blocks as f32;
    for block in 0..blocks {
        let colour = match (sticky, shared_first(fleet)) {
            (true, true) if index == 0 && block < 7 => palette::GOLD,
            (true, true) if block < 2 => session(index),
            (true, false) if block < 4 => session(index),
            (false, _) => session(block * 5 + index),
            _ => continue,
        };
        let left = card.left() + 3.0 + width * block as f32;
        let rect = Rect::from_min_size(pos2(left, card.top() + 2.0), vec2(width - 1.0, (card.height() - 4.0).max(1.0)));
        painter.rect_filled(rect, 0.5, colour.gamma_multiply(0.75));
    }
}
