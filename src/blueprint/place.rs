//! Where parts stand on a blank canvas.
//!
//! The board is a rectangle of design units with its origin at the left top. A part's place is its middle, on a grid. No two
//! parts come closer than their footprints, which hold all that is drawn of a part and a little air around it.

use super::{Blueprint, Part, PartId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The middle of a part on the board, in design units from the left top.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place(pub i32, pub i32);

/// How wide and how high the board is, in design units.
pub const BOARD: Place = Place(3000, 1800);
/// Places are multiples of this.
pub const GRID: i32 = 10;
/// The most parts that a board takes.
pub const MOST_ON_BOARD: usize = 100;

impl Place {
    /// Moved by so much.
    pub const fn moved(self, (x, y): (i32, i32)) -> Self {
        Self(self.0.saturating_add(x), self.1.saturating_add(y))
    }

    /// The nearest place on the grid.
    pub fn on_grid(self) -> Self {
        let snap = |x: i32| x.saturating_add(GRID / 2).div_euclid(GRID) * GRID;
        Self(snap(self.0), snap(self.1))
    }
}

/// How far a part of this kind reaches from its middle: to the left and to the right, up, and down. What is drawn around a
/// router (its figures below, a rejection above) belongs to it.
const fn footprint(part: Part) -> (i32, i32, i32) {
    match part {
        Part::Traffic => (60, 50, 50),
        Part::Balancer => (58, 46, 46),
        Part::Router => (60, 74, 114),
        Part::Replica => (142, 48, 58),
    }
}

/// A rectangle: left, top, right, bottom.
pub type Box = (i32, i32, i32, i32);

/// What a part of this kind takes up around its middle.
pub fn box_of(part: Part, at: Place) -> Box {
    let (side, up, down) = footprint(part);
    (at.0 - side, at.1 - up, at.0 + side, at.1 + down)
}

fn overlap(a: Box, b: Box) -> bool {
    a.0 < b.2 && b.0 < a.2 && a.1 < b.3 && b.1 < a.3
}

/// The middle nearest to `at` with which a part of this kind is all on the board.
pub fn inside_board(part: Part, at: Place) -> Place {
    let (side, up, down) = footprint(part);
    Place(at.0.clamp(side, BOARD.0 - side), at.1.clamp(up, BOARD.1 - down))
}

/// The shift, as small as can be found, by which all of these parts come to stand on the board and clear of the ones that
/// stand there already. None if there is no room.
pub fn nearest_free(parts: &[(Part, Place)], standing: &[(Part, Place)]) -> Option<(i32, i32)> {
    let standing: Vec<Box> = standing.iter().map(|(part, at)| box_of(*part, *at)).collect();
    let boxes: Vec<Box> = parts.iter().map(|(part, at)| box_of(*part, *at)).collect();
    let free = |(x, y): (i32, i32)| {
        boxes.iter().all(|b| {
            let moved = (b.0 + x, b.1 + y, b.2 + x, b.3 + y);
            let on_board = moved.0 >= 0 && moved.1 >= 0 && moved.2 <= BOARD.0 && moved.3 <= BOARD.1;
            on_board && !standing.iter().any(|other| overlap(moved, *other))
        })
    };
    // First onto the board as far as it takes, then around that in rings.
    let least = |low: fn(&Box) -> i32| boxes.iter().map(low).min().unwrap_or(0);
    let most = |high: fn(&Box) -> i32| boxes.iter().map(high).max().unwrap_or(0);
    let onto = |low: i32, high: i32, end: i32| if low < 0 { -low } else { (end - high).min(0) };
    let start = (onto(least(|b| b.0), most(|b| b.2), BOARD.0), onto(least(|b| b.1), most(|b| b.3), BOARD.1));
    let start = Place(start.0, start.1).on_grid();
    let rings = BOARD.0.max(BOARD.1) / (2 * GRID);
    (0..=rings).find_map(|ring| {
        let reach = ring * 2 * GRID;
        let ring = ring_of(ring).map(|(x, y)| (start.0 + x * 2 * GRID, start.1 + y * 2 * GRID));
        let mut free: Vec<(i32, i32)> = ring.filter(|shift| free(*shift)).collect();
        free.sort_by_key(|(x, y)| ((x - start.0).pow(2) + (y - start.1).pow(2), *y, *x));
        debug_assert!(free.iter().all(|(x, y)| (x - start.0).abs().max((y - start.1).abs()) == reach));
        free.first().copied()
    })
}

/// The steps around the middle at a distance, going by the larger of both directions.
fn ring_of(distance: i32) -> impl Iterator<Item = (i32, i32)> {
    let side = move |x: i32| (-distance..=distance).map(move |y| (x, y));
    let edge = move |y: i32| (1 - distance..distance).map(move |x| (x, y));
    let sides = if distance == 0 { vec![0] } else { vec![-distance, distance] };
    let edges = if distance == 0 { Vec::new() } else { vec![-distance, distance] };
    sides.into_iter().flat_map(side).chain(edges.into_iter().flat_map(edge))
}

impl Blueprint {
    /// Every part that has a place, with it.
    pub fn standing(&self) -> Vec<(Part, Place)> {
        self.places.iter().map(|(id, at)| (id.part, *at)).collect()
    }

    /// Gives every part that has no place one, kind by kind from left to right, and moves apart what overlaps. Where not all
    /// find room so, they are all placed anew, at last as close as they can stand; parts for which there is no room even
    /// then are left without.
    pub fn stand_apart(&mut self) {
        let wishes = std::mem::take(&mut self.places);
        let mut next = 0;
        let closely: BTreeMap<PartId, Place> =
            Part::ALL.into_iter().flat_map(|part| close_columns(part, self.count(part), &mut next)).collect();
        for wishes in [wishes, BTreeMap::new(), closely] {
            self.places.clear();
            self.stand_near(&wishes);
            if self.places.len() == self.parts() {
                break;
            }
        }
    }

    fn stand_near(&mut self, wishes: &BTreeMap<PartId, Place>) {
        for part in Part::ALL {
            let count = self.count(part);
            for index in 0..count {
                let id = PartId::new(part, index);
                // Wishes may come from anywhere, and so may be too far out to be reckoned with.
                let wish = wishes.get(&id).map(|wish| inside_board(part, *wish));
                let wish = wish.unwrap_or_else(|| column(part, index, count)).on_grid();
                if let Some(shift) = nearest_free(&[(part, wish)], &self.standing()) {
                    self.places.insert(id, wish.moved(shift));
                }
            }
        }
    }
}

/// Places for so many parts of a kind in full columns side by side, from `left` on, which then is where they end.
fn close_columns(part: Part, count: usize, left: &mut i32) -> Vec<(PartId, Place)> {
    let (side, up, down) = footprint(part);
    let up_to_grid = |x: i32| (x + GRID - 1).div_euclid(GRID) * GRID;
    let (width, height) = (up_to_grid(2 * side), up_to_grid(up + down));
    let rows = ((BOARD.1 - up_to_grid(up) - down) / height + 1) as usize;
    let first = Place(*left + up_to_grid(side), up_to_grid(up));
    *left += count.div_ceil(rows) as i32 * width;
    let place = |index: usize| first.moved(((index / rows) as i32 * width, (index % rows) as i32 * height));
    (0..count).map(|index| (PartId::new(part, index), place(index))).collect()
}

/// Where a part stands of itself: each kind in its column, around the middle line; many replicas in several columns.
fn column(part: Part, index: usize, count: usize) -> Place {
    const PER_COLUMN: usize = 13;
    let (side, up, down) = footprint(part);
    let x = match part {
        Part::Traffic => 800,
        Part::Balancer => 960,
        Part::Router => 1120,
        Part::Replica => 1400 + (index / PER_COLUMN) as i32 * 2 * side,
    };
    let in_column = if part == Part::Replica { count.min(PER_COLUMN) } else { count };
    let pitch = up + down + 6;
    let row = (index % in_column.max(1)) as i32;
    Place(x, BOARD.1 / 2 + pitch * (2 * row + 1 - in_column as i32) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn clear(blueprint: &Blueprint) -> bool {
        let boxes: Vec<Box> = blueprint.standing().iter().map(|(part, at)| box_of(*part, *at)).collect();
        let apart = (0..boxes.len()).all(|a| (0..a).all(|b| !overlap(boxes[a], boxes[b])));
        apart && boxes.iter().all(|b| b.0 >= 0 && b.1 >= 0 && b.2 <= BOARD.0 && b.3 <= BOARD.1)
    }

    #[test]
    fn as_many_parts_as_a_board_takes_stand_apart() {
        let mut blueprint = Blueprint::router_before(MOST_ON_BOARD - 1);
        blueprint.stand_apart();
        assert_eq!(blueprint.places.len(), MOST_ON_BOARD);
        assert!(clear(&blueprint));
        let before = blueprint.clone();
        blueprint.stand_apart();
        assert_eq!(blueprint, before, "what stands apart stays");
    }

    #[test]
    fn a_hundred_of_a_kind_stand_apart_wherever_they_were() {
        for part in Part::ALL {
            for wish in [Place(i32::MIN, i32::MAX), Place(1203, 747)] {
                let mut blueprint = Blueprint::default();
                match part {
                    Part::Traffic => blueprint.traffics.resize(100, Default::default()),
                    Part::Balancer => blueprint.balancers.resize(100, Default::default()),
                    Part::Router => blueprint.routers.resize(100, Default::default()),
                    Part::Replica => blueprint.replicas.resize(100, Default::default()),
                }
                blueprint.places = (0..100).map(|index| (PartId::new(part, index), wish)).collect();
                blueprint.stand_apart();
                assert_eq!(blueprint.places.len(), 100, "{part:?} {wish:?}");
                assert!(clear(&blueprint));
            }
        }
    }

    proptest! {
        #[test]
        fn a_free_place_is_free_and_near(
            standing in prop::collection::vec((0i32..3000, 0i32..1800), 0..20),
            (x, y) in (-500i32..3500, -500i32..2500),
        ) {
            let mut blueprint = Blueprint::router_before(standing.len());
            for (index, (x, y)) in standing.into_iter().enumerate() {
                blueprint.places.insert(PartId::new(Part::Replica, index), Place(x, y));
            }
            blueprint.stand_apart();
            blueprint.places.remove(&PartId::new(Part::Router, 0));
            let wish = Place(x, y).on_grid();
            let shift = nearest_free(&[(Part::Router, wish)], &blueprint.standing()).expect("there is room");
            blueprint.places.insert(PartId::new(Part::Router, 0), wish.moved(shift));
            prop_assert!(clear(&blueprint));
            if clear(&Blueprint { places: [(PartId::new(Part::Router, 0), wish)].into(), ..blueprint.clone() })
                && !blueprint.standing().iter().any(|(part, at)| {
                    *part == Part::Replica && overlap(box_of(*part, *at), box_of(Part::Router, wish))
                })
            {
                prop_assert_eq!(shift, (0, 0));
            }
        }
    }
}
