//! Where things stand: a pure function of how many parts there are and how large the canvas is.
//!
//! The kinds of parts stand in columns, upstream at the left, replicas at the right. Everything is laid out in design
//! units: points of a canvas at scale 1. A canvas that is larger shows them larger, up to a limit, and one that is too small
//! shows them smaller.

use crate::blueprint::{BOARD, Part, PartId, Place, box_of};
use egui::{Pos2, Rect, Vec2, pos2, vec2};
use std::collections::BTreeMap;

/// How many parts there are of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Sources of traffic.
    pub traffics: usize,
    /// Load balancers.
    pub balancers: usize,
    /// Routers.
    pub routers: usize,
    /// Replicas.
    pub replicas: usize,
}

impl Counts {
    fn of(&self, part: Part) -> usize {
        match part {
            Part::Traffic => self.traffics,
            Part::Balancer => self.balancers,
            Part::Router => self.routers,
            Part::Replica => self.replicas,
        }
    }
}

/// How much of a replica there is room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// A card with all there is to know.
    Full,
    /// A card of half the height.
    Short,
    /// A row: load, slots, waiting, KV cache, hits.
    Row,
    /// A narrow row, side by side with others: load, waiting, KV cache.
    Narrow,
    /// A tile that says how busy it is and whether it holds the shared prefix.
    Tile,
    /// A card of the size that it has on a board.
    Placed,
}

/// Where everything stands, in design units.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// The canvas.
    pub size: Vec2,
    /// Points per design unit.
    pub scale: f32,
    /// Sources of traffic.
    pub traffics: Vec<Rect>,
    /// Load balancers.
    pub balancers: Vec<Rect>,
    /// Routers: the squares around their circles.
    pub routers: Vec<Rect>,
    /// Replicas.
    pub replicas: Vec<Rect>,
    /// How much of each replica is drawn.
    pub detail: Detail,
    /// Where rows of replicas have their heads, one for each column of them.
    pub heads: Vec<Rect>,
    /// The legend; none where there is no room for it.
    pub legend: Option<Rect>,
    /// The last decisions; none where there is no room for them.
    pub decisions: Option<Rect>,
    /// Do the replicas stand below the other parts, not beside them? Then links come to them from the right.
    pub stacked: bool,
    /// Do parts stand where somebody put them?
    pub placed: bool,
}

const MARGIN: f32 = 16.0;
const TRAFFIC: Vec2 = vec2(106.0, 66.0);
const BALANCER: Vec2 = vec2(100.0, 56.0);
/// A replica's card on a board.
const PLACED_REPLICA: Vec2 = vec2(268.0, 80.0);
/// The side of the square around a router's circle, its CPU ring included.
const ROUTER: f32 = 96.0;
/// A router's own figures stand below its circle, a rejection above.
const ABOVE_ROUTER: f32 = 18.0;
const BELOW_ROUTER: f32 = 46.0;
const COLUMN_GAP: f32 = 18.0;
/// Links fan out here.
const FAN: f32 = 70.0;
const REPLICAS_LEAST: f32 = 400.0;
const REPLICAS_MOST: f32 = 640.0;
const LEGEND: Vec2 = vec2(196.0, 112.0);
const DECISIONS: f32 = 104.0;
const FULL_FROM: f32 = 60.0;
const SHORT_FROM: f32 = 34.0;
/// The pitch of rows, gap included, and of the line of heads above them.
const ROW_PITCH: f32 = 14.0;
const HEAD: f32 = 16.0;
const NARROW_LEAST: f32 = 120.0;
/// A canvas narrower than this is stacked, at a width of so many design units at least.
const STACKED_BELOW: f32 = 520.0;
const STACKED_WIDTH: f32 = 390.0;
/// Where its replicas begin, and the room for links at their right.
const STACKED_TOP: f32 = MARGIN + ABOVE_ROUTER + ROUTER + BELOW_ROUTER + 12.0;
const RAIL: f32 = 40.0;
const LARGEST_SCALE: f32 = 1.18;
const SMALLEST_SCALE: f32 = 0.4;
/// The canvas of a window of 1280 by 720: the smallest at which everything has its natural size.
const NATURAL: Vec2 = vec2(700.0, 490.0);

impl Layout {
    /// Where everything stands in a canvas of this size, in points.
    pub fn of(counts: Counts, available: Vec2) -> Self {
        let columns = Columns::of(counts);
        if available.x < STACKED_BELOW && available.y > STACKED_TOP + 120.0 && columns.one_of_each() {
            return Self::stacked(&columns, available);
        }
        let least = vec2(columns.least_width().max(NATURAL.x), columns.least_height().max(NATURAL.y));
        let scale = (available.x / least.x).min(available.y / least.y).clamp(SMALLEST_SCALE, LARGEST_SCALE);
        // A little more room is no reason to make everything a little larger, and less crisp.
        let scale = if (1.0..1.1).contains(&scale) { 1.0 } else { scale };
        let size = (available / scale).max(least);
        let scale = scale.min(available.x / size.x).min(available.y / size.y).max(0.05);
        let replicas_width = (size.x * 0.5625).min(size.x - columns.least_width() + REPLICAS_LEAST);
        let replicas_width = replicas_width.clamp(REPLICAS_LEAST, REPLICAS_MOST);
        let area =
            Rect::from_min_max(pos2(size.x - MARGIN - replicas_width, MARGIN), pos2(size.x - MARGIN, size.y - MARGIN));
        let (replicas, detail, heads) = replicas_in(area, counts.replicas);
        let left = area.left() - columns.fan();
        let mut layout = Self {
            size,
            scale,
            traffics: Vec::new(),
            balancers: Vec::new(),
            routers: Vec::new(),
            replicas,
            detail,
            heads,
            legend: Some(Rect::from_min_size(pos2(MARGIN, MARGIN), LEGEND)),
            decisions: Some(Rect::from_min_max(
                pos2(MARGIN, size.y - MARGIN - DECISIONS),
                pos2(left.max(MARGIN + LEGEND.x), size.y - MARGIN),
            )),
            stacked: false,
            placed: false,
        };
        columns.place(&mut layout, left);
        layout
    }

    /// Parts where somebody put them, on a board that is all seen in a canvas of this size. What has no place is not seen.
    pub fn placed(counts: Counts, places: &BTreeMap<PartId, Place>, available: Vec2) -> Self {
        let size = vec2(BOARD.0 as f32, BOARD.1 as f32);
        let rects = |part: Part| {
            let place = |index| places.get(&PartId::new(part, index));
            let rect = |index| place(index).map_or(Rect::NOTHING, |at| card_at(part, point_of(*at)));
            (0..counts.of(part)).map(rect).collect()
        };
        Self {
            size,
            scale: (available.x / size.x).min(available.y / size.y).max(0.01),
            traffics: rects(Part::Traffic),
            balancers: rects(Part::Balancer),
            routers: rects(Part::Router),
            replicas: rects(Part::Replica),
            detail: Detail::Placed,
            heads: Vec::new(),
            legend: None,
            decisions: None,
            stacked: false,
            placed: true,
        }
    }

    /// Everything that stands on a board, what is drawn around it included; none on an empty one.
    pub fn bounds(&self) -> Option<Rect> {
        let all = Part::ALL.into_iter().flat_map(|part| self.places(part).iter().map(move |rect| (part, *rect)));
        let all = all.filter(|(_, rect)| rect.is_positive());
        all.map(|(part, rect)| room_at(part, rect.center())).reduce(Rect::union)
    }

    /// On a canvas as narrow as a phone: traffic and router side by side on top, the replicas below.
    fn stacked(columns: &Columns, available: Vec2) -> Self {
        let scale = (available.x / STACKED_WIDTH).min(1.0);
        let size = available / scale;
        let right = size.x - RAIL;
        let area = Rect::from_min_max(pos2(MARGIN, STACKED_TOP), pos2(right, size.y - MARGIN));
        let (replicas, detail, heads) = replicas_in(area, columns.counts.replicas);
        // From the top: a column of full cards need not be in the middle of what is left.
        let up = replicas.first().map_or(0.0, |first| first.top()) - heads.first().map_or(0.0, Rect::height);
        let up = vec2(0.0, (up - STACKED_TOP).max(0.0));
        let mut layout = Self {
            size,
            scale,
            traffics: Vec::new(),
            balancers: Vec::new(),
            routers: Vec::new(),
            replicas: replicas.into_iter().map(|place| place.translate(-up)).collect(),
            detail,
            heads: heads.into_iter().map(|place| place.translate(-up)).collect(),
            legend: None,
            decisions: None,
            stacked: true,
            placed: false,
        };
        columns.line_up(&mut layout, right, MARGIN + ABOVE_ROUTER + ROUTER / 2.0);
        layout
    }

    /// Where a part stands.
    pub fn place(&self, id: PartId) -> Option<Rect> {
        self.places(id.part).get(id.index).copied().filter(Rect::is_positive)
    }

    fn places(&self, part: Part) -> &Vec<Rect> {
        match part {
            Part::Traffic => &self.traffics,
            Part::Balancer => &self.balancers,
            Part::Router => &self.routers,
            Part::Replica => &self.replicas,
        }
    }

    /// Parts of a board go aside by so much: somebody drags them.
    pub fn shift(&mut self, parts: impl IntoIterator<Item = PartId>, by: Vec2) {
        for id in parts {
            if let Some(rect) = self.places_mut(id.part).get_mut(id.index) {
                *rect = rect.translate(by);
            }
        }
    }

    fn places_mut(&mut self, part: Part) -> &mut Vec<Rect> {
        match part {
            Part::Traffic => &mut self.traffics,
            Part::Balancer => &mut self.balancers,
            Part::Router => &mut self.routers,
            Part::Replica => &mut self.replicas,
        }
    }

    /// The right edge of the replicas.
    pub fn replicas_right(&self) -> f32 {
        self.replicas.iter().map(Rect::right).fold(0.0, f32::max)
    }

    /// The left edge of the replicas.
    pub fn replicas_left(&self) -> f32 {
        self.replicas.iter().map(Rect::left).fold(self.size.x - MARGIN, f32::min)
    }
}

/// A place on the board as a point.
pub fn point_of(at: Place) -> Pos2 {
    pos2(at.0 as f32, at.1 as f32)
}

/// The card of a part on a board; of a router, the square around its circle.
pub fn card_at(part: Part, middle: Pos2) -> Rect {
    let size = match part {
        Part::Traffic => TRAFFIC,
        Part::Balancer => BALANCER,
        Part::Router => Vec2::splat(ROUTER),
        Part::Replica => PLACED_REPLICA,
    };
    Rect::from_center_size(middle, size)
}

/// All the room that a part takes up on a board.
pub fn room_at(part: Part, middle: Pos2) -> Rect {
    let (left, top, right, bottom) = box_of(part, Place(0, 0));
    Rect::from_min_max(pos2(left as f32, top as f32), pos2(right as f32, bottom as f32)).translate(middle.to_vec2())
}

/// The columns before the replicas.
struct Columns {
    counts: Counts,
    kinds: Vec<(Part, usize)>,
}

impl Columns {
    fn of(counts: Counts) -> Self {
        let kinds = [Part::Traffic, Part::Balancer, Part::Router];
        Self { counts, kinds: kinds.map(|part| (part, counts.of(part))).into_iter().filter(|(_, n)| *n > 0).collect() }
    }

    fn width(part: Part) -> f32 {
        match part {
            Part::Traffic => TRAFFIC.x,
            Part::Balancer => BALANCER.x,
            _ => ROUTER,
        }
    }

    /// The least height that a part of this kind takes, what stands around it and the gap included.
    fn least_pitch(part: Part) -> f32 {
        match part {
            Part::Router => ROUTER * 0.6 + ABOVE_ROUTER + BELOW_ROUTER,
            _ => 48.0,
        }
    }

    fn widths(&self) -> f32 {
        self.kinds.iter().map(|(part, _)| Self::width(*part)).sum()
    }

    fn fan(&self) -> f32 {
        if self.counts.replicas > 0 { FAN } else { 0.0 }
    }

    fn least_width(&self) -> f32 {
        let gaps = self.kinds.len().saturating_sub(1) as f32 * COLUMN_GAP;
        2.0 * MARGIN + self.widths() + gaps + FAN + REPLICAS_LEAST
    }

    fn least_height(&self) -> f32 {
        let tallest = self.kinds.iter().map(|(part, count)| Self::least_pitch(*part) * *count as f32);
        2.0 * MARGIN + LEGEND.y + DECISIONS + 16.0 + tallest.fold(0.0, f32::max)
    }

    /// Is there at most one part of each kind?
    fn one_of_each(&self) -> bool {
        self.kinds.iter().all(|(_, count)| *count == 1)
    }

    /// Places one part of each kind side by side around the line at `y`, up to `right`.
    fn line_up(&self, layout: &mut Layout, right: f32, y: f32) {
        let gap = (right - MARGIN - self.widths()) / self.kinds.len().saturating_sub(1).max(1) as f32;
        let mut x = MARGIN;
        for &(part, count) in &self.kinds {
            let width = Self::width(part);
            *layout.places_mut(part) = stack(part, count, pos2(x + width / 2.0, y), f32::INFINITY);
            x += width + gap;
        }
    }

    /// Places the columns between the left margin and `left`, each centred between legend and decisions.
    fn place(&self, layout: &mut Layout, left: f32) {
        let free = (left - MARGIN - self.widths()).max(0.0);
        let gap = free / (self.kinds.len().saturating_sub(1).max(1)) as f32;
        // One column alone stands at the side of the replicas.
        let mut x = if self.kinds.len() == 1 { MARGIN + free } else { MARGIN };
        let middle = layout.size.y / 2.0;
        let above = layout.legend.map_or(0.0, |legend| legend.bottom()) + 8.0;
        let below = layout.decisions.map_or(layout.size.y, |decisions| decisions.top()) - 8.0;
        let half = (middle - above).min(below - middle);
        for &(part, count) in &self.kinds {
            let width = Self::width(part);
            *layout.places_mut(part) = stack(part, count, pos2(x + width / 2.0, middle), half);
            x += width + gap;
        }
    }
}

/// `count` parts of a kind, one below the other around `centre`, at most `half` above and below it.
fn stack(part: Part, count: usize, centre: Pos2, half: f32) -> Vec<Rect> {
    let room = 2.0 * half / count.max(1) as f32;
    let (size, above, below) = match part {
        Part::Router => {
            let side = ROUTER.min(room - ABOVE_ROUTER - BELOW_ROUTER - 1.0).max(40.0);
            (vec2(side, side), ABOVE_ROUTER, BELOW_ROUTER)
        }
        Part::Traffic => (vec2(TRAFFIC.x, TRAFFIC.y.min(room - 8.0)), 4.0, 4.0),
        _ => (vec2(BALANCER.x, BALANCER.y.min(room - 8.0)), 4.0, 4.0),
    };
    // A lone part stands on the middle line, so that its links leave it evenly.
    let pitch = if count == 1 { 0.0 } else { room.min(size.y + above + below + 28.0) };
    let shift = if count == 1 { 0.0 } else { (above - below) / 2.0 };
    let first = centre.y - pitch * (count as f32 - 1.0) / 2.0 + shift;
    (0..count)
        .map(|index| Rect::from_center_size(pos2(centre.x, (first + pitch * index as f32).round()), size))
        .collect()
}

/// Where `count` replicas stand in `area`, how much of each is drawn, and the heads of their rows.
fn replicas_in(area: Rect, count: usize) -> (Vec<Rect>, Detail, Vec<Rect>) {
    if count == 0 {
        return (Vec::new(), Detail::Full, Vec::new());
    }
    let pitch = area.height() / count as f32;
    let gap = (pitch * 0.125).clamp(5.0, 10.0);
    if pitch - gap >= SHORT_FROM {
        let height = (pitch - gap).min(84.0).floor();
        let pitch = if count == 1 { 0.0 } else { ((area.height() - height) / (count as f32 - 1.0)).min(height + 40.0) };
        let first = area.center().y - (pitch * (count as f32 - 1.0) + height) / 2.0;
        let card = |index: usize| {
            Rect::from_min_size(pos2(area.left(), (first + pitch * index as f32).round()), vec2(area.width(), height))
        };
        let detail = if height >= FULL_FROM { Detail::Full } else { Detail::Short };
        return ((0..count).map(card).collect(), detail, Vec::new());
    }
    let most_rows = ((area.height() - HEAD) / ROW_PITCH).floor().max(1.0) as usize;
    let columns = count.div_ceil(most_rows);
    let width = (area.width() + 10.0) / columns as f32 - 10.0;
    if columns > 1 && width < NARROW_LEAST {
        return (tiles_in(area, count), Detail::Tile, Vec::new());
    }
    let rows = count.div_ceil(columns);
    let pitch = ((area.height() - HEAD) / rows as f32).min(30.0);
    let gap = (pitch * 0.2).clamp(2.5, 5.0);
    let top = area.center().y - (pitch * rows as f32 - gap - HEAD) / 2.0;
    let left = |column: usize| area.left() + column as f32 * (width + 10.0);
    let row = |index: usize| {
        let (column, row) = (index / rows, index % rows);
        Rect::from_min_size(pos2(left(column), top + pitch * row as f32), vec2(width, pitch - gap))
    };
    let head = |column| Rect::from_min_size(pos2(left(column), top - HEAD), vec2(width, HEAD));
    let detail = if columns == 1 { Detail::Row } else { Detail::Narrow };
    ((0..count).map(row).collect(), detail, (0..columns).map(head).collect())
}

/// `count` square tiles that fill `area`, row by row.
fn tiles_in(area: Rect, count: usize) -> Vec<Rect> {
    let mut columns = 1;
    while (area.width() / columns as f32) * count.div_ceil(columns) as f32 > area.height() {
        columns += 1;
    }
    let pitch = area.width() / columns as f32;
    let gap = (pitch * 0.15).min(4.0);
    let height = pitch * count.div_ceil(columns) as f32;
    let corner = pos2(area.left(), area.center().y - height / 2.0);
    let tile = |index: usize| {
        let place = vec2((index % columns) as f32, (index / columns) as f32) * pitch;
        Rect::from_min_size(corner + place, Vec2::splat(pitch - gap))
    };
    (0..count).map(tile).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CANVASES: [Vec2; 4] = [vec2(730.0, 505.0), vec2(1370.0, 800.0), vec2(360.0, 420.0), vec2(1100.0, 480.0)];

    fn fleet(replicas: usize) -> Counts {
        Counts { traffics: 1, balancers: 0, routers: 1, replicas }
    }

    fn all(layout: &Layout) -> Vec<Rect> {
        let lists = [&layout.traffics, &layout.balancers, &layout.routers, &layout.replicas];
        let mut rects: Vec<Rect> = lists.into_iter().flatten().copied().collect();
        rects.extend(layout.legend.iter().chain(&layout.decisions));
        rects.extend(&layout.heads);
        rects
    }

    fn assert_apart_and_inside(layout: &Layout, what: &str) {
        let rects = all(layout);
        let canvas = Rect::from_min_size(Pos2::ZERO, layout.size).expand(0.01);
        for (place, rect) in rects.iter().enumerate() {
            assert!(canvas.contains_rect(*rect), "{what}: {rect:?} leaves {canvas:?}");
            assert!(rect.width() > 1.0 && rect.height() > 1.0, "{what}: {rect:?}");
            for other in &rects[place + 1..] {
                assert!(!rect.shrink(0.01).intersects(other.shrink(0.01)), "{what}: {rect:?} on {other:?}");
            }
        }
    }

    #[test]
    fn nothing_overlaps_or_leaves_the_canvas() {
        for canvas in CANVASES {
            for replicas in (0..=72).chain([100, 160, 500, 4_096]) {
                let layout = Layout::of(fleet(replicas), canvas);
                assert_eq!(layout.replicas.len(), replicas);
                assert_apart_and_inside(&layout, &format!("{replicas} replicas in {canvas:?}"));
            }
        }
    }

    #[test]
    fn so_it_is_in_general_fleets() {
        for canvas in CANVASES {
            for (traffics, balancers, routers) in [(2, 1, 2), (3, 2, 4), (1, 1, 0), (1, 0, 0), (0, 0, 1), (5, 3, 3)] {
                let layout = Layout::of(Counts { traffics, balancers, routers, replicas: 8 }, canvas);
                let what = format!("{traffics}, {balancers}, {routers} in {canvas:?}");
                assert_apart_and_inside(&layout, &what);
                let around: Vec<Rect> = layout
                    .routers
                    .iter()
                    .map(|it| Rect::from_min_max(it.min - vec2(0.0, ABOVE_ROUTER), it.max + vec2(0.0, BELOW_ROUTER)))
                    .collect();
                assert!(around.windows(2).all(|pair| pair[0].bottom() <= pair[1].top() + 0.01), "{what}: {around:?}");
            }
        }
    }

    #[test]
    fn it_is_fitted_to_the_canvas() {
        for canvas in CANVASES {
            for replicas in [1, 6, 16, 64] {
                let layout = Layout::of(fleet(replicas), canvas);
                let drawn = layout.size * layout.scale;
                assert!(drawn.x <= canvas.x + 0.5 && drawn.y <= canvas.y + 0.5, "{drawn:?} in {canvas:?}");
            }
        }
    }

    #[test]
    fn the_more_replicas_the_less_of_each() {
        let details = [1, 6, 8, 16, 30, 64, 1_000].map(|n| Layout::of(fleet(n), CANVASES[0]).detail);
        let expected =
            [Detail::Full, Detail::Full, Detail::Short, Detail::Row, Detail::Row, Detail::Narrow, Detail::Tile];
        assert_eq!(details, expected);
        assert_eq!(Layout::of(fleet(40), CANVASES[1]).detail, Detail::Row);
    }
}
