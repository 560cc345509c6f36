//! What a hand does on a fleet that is being drawn: it places, moves, links and chooses parts.
//!
//! Nothing here changes the fleet: what was done comes out as [`Edit`]s. A drag is under way in [`Hand`] until it is let go;
//! Escape lets it go without a trace.

use super::brush::{Brush, Face};
use super::layout::{Layout, card_at, point_of, room_at};
use super::links::Way;
use super::palette;
use super::picture::FleetPicture;
use crate::blueprint::{Blueprint, Edit, GRID, Part, PartId, Piece, Place, inside_board, why_not_linked};
use egui::{
    Align2, Color32, CursorIcon, DragAndDrop, Id, Key, PointerButton, Pos2, Rect, Response, Sense, Ui, Vec2,
    WidgetInfo, WidgetType, pos2, vec2,
};
use std::collections::BTreeSet;

/// What is chosen on a board.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choice {
    /// Parts.
    pub parts: BTreeSet<PartId>,
    /// A link.
    pub link: Option<(PartId, PartId)>,
    /// The part that is to be linked to the next one that is clicked.
    pub linking: Option<PartId>,
}

impl Choice {
    /// This part and nothing else.
    pub fn only(&mut self, id: PartId) {
        self.link = None;
        self.parts = BTreeSet::from([id]);
    }

    /// Lets go of what is not there any more.
    pub fn prune(&mut self, blueprint: &Blueprint) {
        let there = |id: &PartId| id.index < blueprint.count(id.part);
        self.parts.retain(there);
        self.link = self.link.filter(|link| blueprint.links.contains(link));
        self.linking = self.linking.filter(there);
    }
}

/// What the canvas is told of the board, and what it tells.
pub struct Draft<'a> {
    /// The fleet.
    pub blueprint: &'a Blueprint,
    /// What is chosen.
    pub choice: &'a mut Choice,
    /// Is all of it to be shown?
    pub fit: &'a mut bool,
    /// Where the middle of what is seen lies: a part that is placed without a pointer comes there.
    pub middle: &'a mut Place,
    /// What was done.
    pub edits: &'a mut Vec<Edit>,
}

/// What a hand is about.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Hand {
    /// Nothing.
    #[default]
    Empty,
    /// It moves parts: by so much so far.
    Moving { parts: Vec<PartId>, by: Vec2 },
    /// It draws a link: the pointer is there.
    Linking { from: PartId, at: Pos2 },
    /// It draws a frame around parts, from one corner to the other.
    Framing { from: Pos2, to: Pos2 },
}

/// The side of a port, in design units: where a link begins.
const PORT: f32 = 20.0;
/// So near to a link it is the link that is clicked, in points.
const NEAR: f32 = 7.0;

impl Hand {
    /// The parts that it moves, and by how much.
    pub fn moving(&self) -> Option<(&[PartId], Vec2)> {
        match self {
            Self::Moving { parts, by } => Some((parts, *by)),
            _ => None,
        }
    }

    /// What the hand does to a part in this frame.
    pub fn on_part(&mut self, ui: &Ui, brush: &Brush, id: PartId, touched: &Response, board: &mut Draft) {
        if touched.clicked() {
            let several = ui.input(|input| input.modifiers.shift || input.modifiers.command);
            if let Some(from) = board.choice.linking.take().filter(|from| *from != id) {
                board.edits.push(Edit::Link { from, to: id });
            } else if several {
                if !board.choice.parts.remove(&id) {
                    board.choice.parts.insert(id);
                }
                board.choice.link = None;
            } else {
                board.choice.only(id);
            }
        }
        if touched.drag_started_by(PointerButton::Primary) {
            if !board.choice.parts.contains(&id) {
                board.choice.only(id);
            }
            *self = Self::Moving { parts: board.choice.parts.iter().copied().collect(), by: Vec2::ZERO };
        }
        if let Self::Moving { parts, by } = self
            && parts.contains(&id)
            && touched.dragged_by(PointerButton::Primary)
        {
            *by += brush.in_units(touched.drag_delta());
        }
        if touched.drag_stopped()
            && let Self::Moving { parts, by } = std::mem::take(self)
        {
            let by = on_grid(by);
            if by != (0, 0) {
                board.edits.push(Edit::Move { parts, by });
            }
        }
    }

    /// The port of a part, at the right of it: a link is drawn from there.
    pub fn on_port(&mut self, ui: &Ui, brush: &Brush, id: PartId, place: Rect, name: &str, pointed: bool) {
        if id.part == Part::Replica {
            return;
        }
        let port = Rect::from_center_size(place.right_center(), Vec2::splat(PORT));
        let touched = ui.interact(brush.rect_on_screen(port), Id::new("port").with(id), Sense::drag());
        touched.widget_info(|| WidgetInfo::labeled(WidgetType::Other, true, format!("Link from {name}")));
        if touched.drag_started()
            && let Some(at) = touched.interact_pointer_pos()
        {
            *self = Self::Linking { from: id, at: brush.in_drawing(at) };
        }
        let linking = matches!(self, Self::Linking { from, .. } if *from == id);
        if linking && let Some(at) = touched.interact_pointer_pos() {
            *self = Self::Linking { from: id, at: brush.in_drawing(at) };
        }
        let lit = touched.hovered() || linking;
        let radius = if lit { 6.0 } else { 4.5 };
        let colour = if lit || pointed { palette::DECODE } else { palette::FAINT };
        brush.disc(port.center(), radius + 1.5, palette::GROUND);
        brush.disc(port.center(), radius, colour);
        touched.on_hover_cursor(CursorIcon::Crosshair).on_hover_text("Drag to the part that it is to send to  (K)");
    }

    /// Lets go of a link that is drawn: over a part it is linked to that.
    fn let_go(&mut self, over: Option<PartId>, board: &mut Draft) {
        if let Self::Linking { from, .. } = std::mem::take(self)
            && let Some(to) = over
        {
            board.edits.push(Edit::Link { from, to });
        }
    }

    /// What the hand does to the board itself, and what it holds over it.
    pub fn on_ground(&mut self, ui: &Ui, brush: &Brush, layout: &Layout, ground: &Response, board: &mut Draft) {
        if ui.input(|input| input.key_pressed(Key::Escape)) {
            *self = Self::Empty;
            board.choice.linking = None;
            DragAndDrop::clear_payload(ui.ctx());
        }
        let pointer = ground.hover_pos().or(ground.interact_pointer_pos()).map(|at| brush.in_drawing(at));
        let released = ui.input(|input| input.pointer.any_released());
        match self {
            Self::Linking { at, .. } if released => {
                let over = part_at(layout, board.blueprint, *at);
                self.let_go(over, board);
            }
            // Whatever it held is not held any more: a drag that the window lost, or two fingers.
            Self::Moving { .. } if !released && !ui.input(|input| input.pointer.any_down()) => *self = Self::Empty,
            _ => {}
        }
        if ground.drag_started_by(PointerButton::Primary)
            && ui.input(|input| input.modifiers.shift)
            && let Some(at) = pointer
        {
            *self = Self::Framing { from: at, to: at };
        }
        if let Self::Framing { from, to } = self {
            *to = pointer.unwrap_or(*to);
            let frame = Rect::from_two_pos(*from, *to);
            if ground.drag_stopped() || released {
                let inside =
                    board.blueprint.ids().filter(|id| layout.place(*id).is_some_and(|it| frame.intersects(it)));
                board.choice.parts = inside.collect();
                board.choice.link = None;
                *self = Self::Empty;
            }
        }
        if ground.clicked() {
            let near = pointer.and_then(|at| link_at(brush, layout, board.blueprint, at));
            *board.choice = Choice { link: near, ..Choice::default() };
        }
        if let Some(piece) = ground.dnd_release_payload::<Piece>()
            && let Some(at) = pointer
        {
            board.edits.push(Edit::Place { piece: *piece, at: place_of(at) });
        }
    }

    /// What is drawn below the parts: what is chosen.
    pub fn draw_below(&self, brush: &Brush, layout: &Layout, board: &Draft) {
        grid(brush, layout);
        if layout.bounds().is_none() {
            let middle = (layout.size / 2.0).to_pos2();
            let words = "Drag parts from the palette onto the board";
            // Between two lines of the grid.
            brush.text(middle + vec2(0.0, 50.0), Align2::CENTER_CENTER, words, Face::Plain, 14.0, palette::FAINT);
        }
        if let Some((from, to)) = board.choice.link
            && let Some(way) = Way::between(layout, from, to)
        {
            brush.curve(way.curve, 4.5, palette::DECODE);
        }
    }

    /// What is drawn above the parts: what the hand holds.
    pub fn draw_above(&self, ui: &Ui, brush: &Brush, layout: &Layout, picture: &FleetPicture, board: &Draft) {
        for id in board.blueprint.ids() {
            if let (Some(place), Some(missing)) = (layout.place(id), board.blueprint.missing(id)) {
                lacks(brush, id, place, missing);
            }
        }
        match self {
            Self::Linking { from, at } => linking(brush, layout, picture, board, *from, *at),
            Self::Framing { from, to } => {
                let frame = Rect::from_two_pos(*from, *to);
                brush.fill(frame, 2.0, palette::DECODE.gamma_multiply(0.08));
                brush.outline(frame, 2.0, 1.0, palette::DECODE);
            }
            _ => {}
        }
        if let Some(piece) = DragAndDrop::payload::<Piece>(ui.ctx())
            && let Some(at) = ui.ctx().pointer_interact_pos()
            && ui.clip_rect().contains(at)
        {
            let part = piece.part();
            let at = point_of(inside_board(part, place_of(brush.in_drawing(at))).on_grid());
            brush.fill(card_at(part, at), 8.0, palette::DECODE.gamma_multiply(0.12));
            brush.outline(card_at(part, at), 8.0, 1.5, palette::DECODE);
            brush.text(at, Align2::CENTER_CENTER, piece.name(), Face::Strong, 12.0, palette::TEXT);
        }
    }
}

fn place_of(at: Pos2) -> Place {
    Place(at.x.round() as i32, at.y.round() as i32)
}

fn on_grid(by: Vec2) -> (i32, i32) {
    let step = |x: f32| (x / GRID as f32).round() as i32 * GRID;
    (step(by.x), step(by.y))
}

/// The part whose room holds a point.
fn part_at(layout: &Layout, blueprint: &Blueprint, at: Pos2) -> Option<PartId> {
    blueprint.ids().find(|id| layout.place(*id).is_some_and(|place| room_at(id.part, place.center()).contains(at)))
}

/// The link that passes a point closely.
fn link_at(brush: &Brush, layout: &Layout, blueprint: &Blueprint, at: Pos2) -> Option<(PartId, PartId)> {
    let near = brush.in_units(vec2(NEAR, 0.0)).x;
    let distance = |(from, to): (PartId, PartId)| Way::between(layout, from, to).map(|way| way.distance(at));
    let links = blueprint.links.iter().filter_map(|link| Some((distance(*link)?, *link)));
    links.filter(|(distance, _)| *distance <= near).min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, link)| link)
}

/// The board and its grid.
fn grid(brush: &Brush, layout: &Layout) {
    let board = Rect::from_min_size(Pos2::ZERO, layout.size);
    brush.outline(board, 12.0, 1.5, palette::LINE);
    let step = 100.0;
    for column in 1..(layout.size.x / step) as usize {
        for row in 1..(layout.size.y / step) as usize {
            brush.disc(pos2(column as f32 * step, row as f32 * step), 1.3, palette::LINE);
        }
    }
}

/// What a part lacks, below it.
fn lacks(brush: &Brush, id: PartId, place: Rect, missing: &str) {
    let words = missing.split(':').next().unwrap_or(missing);
    let onward = missing.starts_with("leads");
    let colour = if onward { palette::WARN } else { palette::DIM };
    let below = if id.part == Part::Router { 56.0 } else { 9.0 };
    let below = if brush.far() { 11.0 } else { below };
    let size = if brush.far() { 17.0 } else { 10.0 };
    let at = pos2(place.center().x, place.bottom() + below);
    let width = brush.width(words, Face::Plain, size);
    brush.text(at + vec2(6.0, 0.0), Align2::CENTER_CENTER, words, Face::Plain, size, colour);
    let sign = pos2(at.x - width / 2.0 - 3.0, at.y);
    if onward {
        brush.disc(sign, 5.0, colour);
        brush.text(sign, Align2::CENTER_CENTER, "!", Face::Strong, 8.5, palette::GROUND);
    } else {
        brush.circle(sign, 4.0, 1.2, colour);
    }
}

/// A link on its way from a part to the pointer.
fn linking(brush: &Brush, layout: &Layout, picture: &FleetPicture, board: &Draft, from: PartId, at: Pos2) {
    let Some(start) = layout.place(from).map(|place| place.right_center()) else { return };
    let over = part_at(layout, board.blueprint, at).filter(|id| *id != from);
    let known = over.is_some_and(|to| board.blueprint.links.contains(&(from, to)));
    let why = over.and_then(|to| why_not_linked(from, to)).or(known.then_some("They are linked already."));
    let end = match (over.and_then(|id| layout.place(id)), why) {
        (Some(place), None) => place.left_center(),
        _ => at,
    };
    let colour = match (over, why) {
        (_, Some(_)) => palette::BAD,
        (Some(_), None) => palette::GOOD,
        (None, None) => palette::DECODE,
    };
    brush.curve(Way::free(start, end).curve, 2.5, colour);
    brush.disc(end, 4.0, colour);
    if let Some(place) = over.and_then(|id| layout.place(id)) {
        brush.outline(place.expand(3.0), 10.0, 1.5, colour);
    }
    let words = match (why, over) {
        (Some(why), _) => why.to_owned(),
        (None, Some(id)) => format!("to {}", picture.name(id)),
        (None, None) => return,
    };
    label(brush, at + vec2(14.0, 18.0), &words, colour);
}

fn label(brush: &Brush, at: Pos2, words: &str, colour: Color32) {
    let width = brush.width(words, Face::Plain, 11.0);
    let ground = Rect::from_min_size(at - vec2(6.0, 9.0), vec2(width + 12.0, 18.0));
    brush.fill(ground, 4.0, palette::PANEL);
    brush.outline(ground, 4.0, 1.0, colour);
    brush.text(at, Align2::LEFT_CENTER, words, Face::Plain, 11.0, palette::TEXT);
}
