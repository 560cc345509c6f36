//! The way of a link: a smooth curve from the right side of a part to the left side of the next.
//!
//! Where rows of replicas stand in several columns, a link to one of the later columns goes through the gap above its row,
//! so that it never crosses a card. Among tiles it ends at the left side of them all.

use super::layout::{Detail, Layout};
use crate::blueprint::{Part, PartId};
use egui::{Pos2, Rect, epaint::CubicBezierShape, pos2};

/// How far the handles of a link around the right side stand out: three quarters of it is how far the link does.
const BULGE: f32 = 44.0;

/// The points of a link's way.
#[derive(Clone, Debug, PartialEq)]
pub struct Way {
    /// A Bézier curve.
    pub curve: [Pos2; 4],
    /// Straight on from its end.
    pub tail: Option<Pos2>,
}

impl Way {
    /// The way between two parts; none if one of them has no place.
    pub fn between(layout: &Layout, from: PartId, to: PartId) -> Option<Self> {
        let (start, target) = (layout.place(from)?, layout.place(to)?);
        let start = pos2(start.right(), start.center().y);
        if layout.stacked && to.part == Part::Replica {
            // Around, on the right side of everything.
            let end = pos2(layout.replicas_right(), target.center().y);
            let out = start.x.max(end.x) + BULGE;
            return Some(Self { curve: [start, pos2(out, start.y), pos2(out, end.y), end], tail: None });
        }
        if layout.placed {
            return Some(Self::free(start, pos2(target.left(), target.center().y)));
        }
        let (end, tail) = ends(layout, to, target);
        let bend = (end.x - start.x) * 0.5;
        Some(Self { curve: [start, pos2(start.x + bend, start.y), pos2(end.x - bend, end.y), end], tail })
    }

    /// The way from the right side of something to the left side of something, wherever the two are.
    pub fn free(start: Pos2, end: Pos2) -> Self {
        let (aside, down) = (end.x - start.x, (end.y - start.y).abs());
        // Backwards it goes around: further out the more there is to go around.
        let bend =
            if aside >= 80.0 { aside * 0.5 } else { 40.0 + (80.0 - aside).min(240.0) * 0.25 + down.min(120.0) * 0.2 };
        Self { curve: [start, pos2(start.x + bend, start.y), pos2(end.x - bend, end.y), end], tail: None }
    }

    /// How far a point is from it, at most about.
    pub fn distance(&self, point: Pos2) -> f32 {
        const STEPS: usize = 32;
        let at = |step: usize| self.at(step as f32 / STEPS as f32);
        let pairs = (0..STEPS).map(|step| (at(step), at(step + 1)));
        let ways = pairs.map(|(a, b)| {
            let along = b - a;
            let share = ((point - a).dot(along) / along.length_sq().max(1e-6)).clamp(0.0, 1.0);
            (point - (a + along * share)).length()
        });
        ways.fold(f32::INFINITY, f32::min)
    }

    /// The place at a share of the curve. What goes straight on from its end lies between cards that stand too close
    /// for a dot.
    pub fn at(&self, share: f32) -> Pos2 {
        let curve = CubicBezierShape {
            points: self.curve,
            closed: false,
            fill: Default::default(),
            stroke: Default::default(),
        };
        curve.sample(share.clamp(0.0, 1.0))
    }
}

/// Where the curve to a part ends, and where it goes on to from there.
fn ends(layout: &Layout, to: PartId, target: Rect) -> (Pos2, Option<Pos2>) {
    let direct = pos2(target.left(), target.center().y);
    let left = layout.replicas_left();
    if to.part != Part::Replica || target.left() <= left + 1.0 {
        return (direct, None);
    }
    match layout.detail {
        Detail::Tile => (pos2(left - 4.0, target.center().y), None),
        _ => {
            let gap = target.top() - 1.5;
            (pos2(left - 2.0, gap), Some(pos2(target.left(), gap)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canvas::layout::Counts;
    use egui::vec2;

    #[test]
    fn no_link_crosses_a_card() {
        for replicas in [1, 6, 8, 16, 40, 64] {
            for canvas in [vec2(730.0, 505.0), vec2(1370.0, 800.0), vec2(360.0, 560.0)] {
                let layout = Layout::of(Counts { traffics: 1, balancers: 0, routers: 1, replicas }, canvas);
                for index in 0..replicas {
                    let (router, replica) = (PartId::new(Part::Router, 0), PartId::new(Part::Replica, index));
                    let way = Way::between(&layout, router, replica).expect("both have a place");
                    for step in 0..=400 {
                        let share = step as f32 / 200.0;
                        let point = match way.tail {
                            Some(tail) if share > 1.0 => way.curve[3].lerp(tail, share - 1.0),
                            _ => way.at(share),
                        };
                        let cards = [&layout.replicas, &layout.traffics].into_iter().flatten();
                        for card in cards.chain(&layout.legend).chain(&layout.decisions) {
                            assert!(!card.shrink(0.5).contains(point), "{replicas} in {canvas}: {index} at {point}");
                        }
                    }
                }
            }
        }
    }
}
