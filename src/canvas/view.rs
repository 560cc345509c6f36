//! The canvas: what it keeps between frames, and how a frame is drawn.

use super::board::{Draft, Hand};
use super::brush::Brush;
use super::camera::Camera;
use super::draw_replica::{self, ReplicaView};
use super::draw_upstream::{self, PartView};
use super::draw_words;
use super::figures;
use super::flight::{FleetSize, Flights};
use super::flow::{Flow, What};
use super::layout::{Counts, Layout};
use super::links::Way;
use super::load::Loads;
use super::palette;
use super::picture::{FleetPicture, SharedPrefix};
use crate::blueprint::{Part, PartId, Place};
use crate::sim::{Decision, Micros, SECOND, Sight, WINDOW};
use egui::{CursorIcon, Id, Rect, Sense, Ui, Vec2, WidgetInfo, WidgetType};
use std::collections::{BTreeSet, VecDeque};

/// From this speed on, in simulated seconds per wall second, what changes with every call is shown only now and then.
const FAST: f64 = 6.0;
/// That often then, in seconds of wall time.
const FAST_EVERY_S: f32 = 0.25;
/// The decisions change at most this often, in seconds of wall time.
const DECISIONS_EVERY_S: f32 = 0.5;
/// A pointer that has not moved for so long rests, in seconds.
const RESTS_S: f32 = 0.8;
/// Rates go back over this much wall time at least, in seconds, so that their digits can be read.
const RATE_WALL_S: f64 = 2.0;

/// The fleet drawn, with what it keeps between frames: smoothed loads, dots in flight, the camera.
#[derive(Default)]
pub struct Canvas {
    loads: Loads,
    flow: Flow,
    flights: Flights,
    hits: Hits,
    camera: Camera,
    hand: Hand,
    /// On a board: how it was last shown whole, and in which room.
    fitted: Option<(Camera, Vec2)>,
    speed: f64,
    size: FleetSize,
    /// The moment of the last picture.
    then: Option<Micros>,
    /// At a high speed: the picture that is shown, and how old it is in seconds.
    kept: Option<(FleetPicture, f32)>,
    decisions: Vec<Decision>,
    decisions_age_s: f32,
    hovered: Option<PartId>,
    selected: Option<PartId>,
    focused: Option<PartId>,
}

/// What the pointer did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CanvasResponse {
    /// The part that was clicked in this frame.
    pub clicked: Option<PartId>,
    /// The part that the pointer is on.
    pub hovered: Option<PartId>,
}

impl Canvas {
    /// Takes the sights that happened since the last frame, each with its time. `speed` is in simulated seconds per wall
    /// second, 0 when paused.
    pub fn take_sights(&mut self, sights: impl Iterator<Item = (Micros, Sight)>, speed: f64) {
        self.speed = speed;
        let sights: Vec<(Micros, Sight)> = sights.collect();
        for (at, sight) in &sights {
            self.flow.see(*at, sight);
        }
        self.flights.take(&sights, speed, self.size);
    }

    /// Forgets dots, rates and smoothing: the run was restarted. The camera stays.
    pub fn reset(&mut self) {
        let (camera, selected, fitted) = (self.camera, self.selected, self.fitted);
        let hand = std::mem::take(&mut self.hand);
        *self = Self { camera, selected, fitted, hand, ..Self::default() };
    }

    /// Marks the part whose settings are shown, or none.
    pub fn select(&mut self, part: Option<PartId>) {
        self.selected = part;
    }

    /// Draws the fleet into all of the available room. `frame_s` is wall seconds since the last frame, 0 when paused: then
    /// the picture stands still. With `reduced_motion` nothing flies: a dot is seen where it lands, and fades. On a board
    /// parts stand where they were put, and a hand changes them.
    pub fn show(
        &mut self,
        ui: &mut Ui,
        picture: &FleetPicture,
        frame_s: f32,
        reduced_motion: bool,
        mut board: Option<&mut Draft>,
    ) -> CanvasResponse {
        self.take_picture(picture, frame_s);
        let canvas = ui.available_rect_before_wrap();
        let ground = ui.allocate_rect(canvas, Sense::click_and_drag());
        let kept = self.kept.take();
        let shown = kept.as_ref().map_or(picture, |(picture, _)| picture);
        let mut layout = match board {
            Some(_) => Layout::placed(counts(shown), &shown.places, canvas.size()),
            None => Layout::of(counts(shown), canvas.size()),
        };
        let drawing = layout.size * layout.scale;
        let all = self.camera.follow(ui, canvas, drawing, &ground);
        if let Some(board) = &mut board {
            // Nobody has looked elsewhere yet: a window that changes its size shows all of it again.
            let untouched = self.fitted.is_none_or(|(then, room)| then == self.camera && room != canvas.size());
            if all || untouched || *board.fit {
                self.fit(canvas, &layout);
            }
            *board.fit = false;
            if self.camera.pinched() {
                self.hand = Hand::Empty;
            }
        }
        if let Some((parts, by)) = self.hand.moving() {
            layout.shift(parts.iter().copied(), by);
        }
        let (origin, zoom) = self.camera.look(canvas, drawing);
        let brush = Brush::new(ui.painter_at(canvas), origin, layout.scale * zoom);
        if let Some(board) = &mut board {
            let middle = brush.in_drawing(canvas.center());
            *board.middle = Place(middle.x as i32, middle.y as i32);
            self.hand.on_ground(ui, &brush, &layout, &ground, board);
            self.hand.draw_below(&brush, &layout, board);
        }
        // Whom the pointer is on is known only once the parts have been placed: drawing goes by the frame before.
        let response = self.touch(ui, canvas, &brush, &layout, shown, board.as_deref_mut());
        self.hovered = response.hovered;
        let chosen = board.as_deref().map(|board| &board.choice.parts);
        Frame { canvas: self, brush: &brush, layout: &layout, picture: shown, chosen }.draw(reduced_motion);
        if let Some(board) = board {
            for id in parts(shown) {
                if let Some(place) = layout.place(id) {
                    let pointed = self.hovered == Some(id);
                    self.hand.on_port(ui, &brush, id, place, &shown.name(id), pointed);
                }
            }
            self.hand.draw_above(ui, &brush, &layout, shown, board);
        }
        self.kept = kept;
        response
    }

    /// Shows all that stands on a board, or the middle of an empty one.
    fn fit(&mut self, canvas: Rect, layout: &Layout) {
        let natural = 1.0 / layout.scale;
        let middle = Rect::from_center_size((layout.size / 2.0).to_pos2(), canvas.size());
        let mut bounds = layout.bounds().map_or(middle, |bounds| bounds.expand(24.0));
        if layout.replicas.is_empty() && bounds.width() < canvas.width() {
            // What is to come goes on to the right.
            bounds.max.x = bounds.min.x + canvas.width();
        }
        let bounds = Rect::from_min_max(
            (bounds.min.to_vec2() * layout.scale).to_pos2(),
            (bounds.max.to_vec2() * layout.scale).to_pos2(),
        );
        self.camera.show(canvas, layout.size * layout.scale, bounds, natural);
        self.fitted = Some((self.camera, canvas.size()));
    }

    /// Lets smoothing, rates and flights come to this picture.
    fn take_picture(&mut self, picture: &FleetPicture, frame_s: f32) {
        if self.then.is_some_and(|then| picture.now < then) {
            self.reset();
        }
        self.then = Some(picture.now);
        self.size = FleetSize { links: picture.links.len(), has_balancers: !picture.balancers.is_empty() };
        self.loads.take(picture, self.speed);
        let window = WINDOW.max((self.speed * RATE_WALL_S) as Micros * SECOND);
        self.flow.close(picture.now, window);
        self.hits.take(picture, window);
        self.flights.advance(frame_s);
        self.keep(picture, frame_s);
        self.decisions_age_s += frame_s;
        if frame_s == 0.0 || self.decisions_age_s >= DECISIONS_EVERY_S || self.decisions.is_empty() {
            self.decisions.clone_from(&picture.decisions);
            self.decisions_age_s = 0.0;
        }
    }

    /// At a high speed the same picture is shown for a while; slow or paused, each as it comes.
    fn keep(&mut self, picture: &FleetPicture, frame_s: f32) {
        if self.speed < FAST || frame_s == 0.0 {
            self.kept = None;
            return;
        }
        let kept = self.kept.take().map(|(kept, age)| (kept, age + frame_s));
        self.kept = match kept {
            Some((kept, age)) if age < FAST_EVERY_S && kept.same_parts(picture) => Some((kept, age)),
            _ => Some((picture.clone(), 0.0)),
        };
    }

    /// Gives each part a place that can be clicked, pointed at and found by its name.
    fn touch(
        &mut self,
        ui: &Ui,
        canvas: Rect,
        brush: &Brush,
        layout: &Layout,
        picture: &FleetPicture,
        mut board: Option<&mut Draft>,
    ) -> CanvasResponse {
        let mut response = CanvasResponse::default();
        let sense = if board.is_some() { Sense::click_and_drag() } else { Sense::click() };
        self.focused = None;
        for id in parts(picture) {
            let Some(place) = layout.place(id) else { continue };
            let rect = brush.rect_on_screen(place).intersect(canvas);
            if !rect.is_positive() {
                continue;
            }
            let touched = ui.interact(rect, Id::new("part on the canvas").with(id), sense);
            let name = picture.name(id);
            touched.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, &name));
            if touched.clicked() && !self.camera.pinched() {
                response.clicked = Some(id);
            }
            if let Some(board) = board.as_deref_mut().filter(|_| !self.camera.pinched()) {
                self.hand.on_part(ui, brush, id, &touched, board);
                if touched.drag_started() {
                    response.clicked = Some(id);
                }
            }
            if touched.hovered() {
                response.hovered = Some(id);
            }
            if touched.has_focus() {
                self.focused = Some(id);
            }
            let touched = touched.on_hover_cursor(CursorIcon::PointingHand);
            // On a board, only once the hand rests: else words would lie over what it is about to do.
            let rests = ui.input(|input| {
                input.pointer.time_since_last_movement() > RESTS_S && !input.pointer.any_down() && !input.any_touches()
            });
            if (board.is_none() || rests)
                && let Part::Router | Part::Replica = id.part
            {
                touched.on_hover_ui(|ui| {
                    ui.label(if id.part == Part::Router {
                        self.router_in_words(picture, id.index)
                    } else {
                        self.replica_in_words(picture, id.index)
                    });
                });
            }
        }
        response
    }

    /// A router in words: what its rings mean.
    fn router_in_words(&self, picture: &FleetPicture, index: usize) -> String {
        let Some(state) = picture.routers.get(index) else { return String::new() };
        let count = figures::count;
        let cpu = figures::percent(f64::from(self.loads.router(index)));
        let mut lines = vec![
            picture.name(PartId::new(Part::Router, index)),
            format!("CPU {cpu} busy: the ring, of {} vCPU", count(state.cores)),
            "above 90 % it may crash".into(),
            format!("{} of {} slots taken", count(state.slots_taken), count(state.slots)),
            format!("{} waiting for a slot", count(state.waiting)),
        ];
        if !state.up {
            lines.insert(1, "down after a crash: it refuses calls".into());
        }
        lines.join("\n")
    }

    /// A replica in words: what its picture has no room for.
    fn replica_in_words(&self, picture: &FleetPicture, index: usize) -> String {
        let Some(state) = picture.replicas.get(index) else { return String::new() };
        let id = PartId::new(Part::Replica, index);
        let count = figures::count;
        let mut lines = vec![
            picture.name(id),
            format!("load {:.0} %: the busier of prefill lane and slots", self.loads.replica(index) * 100.0),
            format!(
                "{} in prefill, {} decoding, {} slots",
                state.prefilling,
                count(state.decoding),
                count(state.slots)
            ),
            format!("{} waiting", count(state.waiting)),
            format!("KV cache {} of {} tokens", count(state.kv_used), count(state.kv_capacity)),
        ];
        if let Some(hit) = self.hit(index) {
            lines.push(format!("hit {}", figures::percent(hit)));
        }
        if let Some(rejection) = self.flights.rejection_at(id) {
            lines.push(format!("rejected {}: {}", count(rejection.count), rejection.reason.words()));
        }
        match state.shared {
            SharedPrefix::Absent => {}
            SharedPrefix::Copy => lines.push("a copy of the shared prefix".into()),
            SharedPrefix::Home => lines.push("home of the shared prefix".into()),
        }
        lines.join("\n")
    }

    /// The share of its calls' prompts that a replica found, of late: as admitted, or, before measuring has begun, as held
    /// when the calls came.
    fn hit(&self, index: usize) -> Option<f64> {
        self.hits.share(index).or_else(|| self.flow.held_share(PartId::new(Part::Replica, index)))
    }
}

/// All parts of a picture, upstream first.
fn parts(picture: &FleetPicture) -> impl Iterator<Item = PartId> + '_ {
    Part::ALL.into_iter().flat_map(|part| (0..picture.count(part)).map(move |index| PartId::new(part, index)))
}

fn counts(picture: &FleetPicture) -> Counts {
    Counts {
        traffics: picture.traffics.len(),
        balancers: picture.balancers.len(),
        routers: picture.routers.len(),
        replicas: picture.replicas.len(),
    }
}

/// Hit tokens of late, from the replicas' own counts.
#[derive(Default)]
struct Hits {
    /// When, and (hit, prompt) tokens of each replica then.
    past: VecDeque<(Micros, Vec<(u64, u64)>)>,
}

impl Hits {
    fn take(&mut self, picture: &FleetPicture, window: Micros) {
        if self.past.back().is_some_and(|(then, _)| picture.now < then + SECOND / 2) {
            return;
        }
        let now = picture.replicas.iter().map(|replica| (replica.hit_tokens, replica.prompt_tokens)).collect();
        self.past.push_back((picture.now, now));
        // One from before the window stays, to count from.
        while self.past.get(1).is_some_and(|(then, _)| then + window <= picture.now) {
            self.past.pop_front();
        }
    }

    fn share(&self, index: usize) -> Option<f64> {
        let newest = self.past.back()?.1.get(index)?;
        // A replica that was added since has counted from 0; the run may have been looked at for the first time just now.
        let oldest = match self.past.len() {
            1 => (0, 0),
            _ => self.past.front()?.1.get(index).copied().unwrap_or((0, 0)),
        };
        let prompt = newest.1.checked_sub(oldest.1).filter(|prompt| *prompt > 0)?;
        Some(newest.0.saturating_sub(oldest.0) as f64 / prompt as f64)
    }
}

/// One frame being drawn.
struct Frame<'a> {
    canvas: &'a Canvas,
    brush: &'a Brush,
    layout: &'a Layout,
    picture: &'a FleetPicture,
    /// On a board: the parts that are chosen.
    chosen: Option<&'a BTreeSet<PartId>>,
}

impl Frame<'_> {
    fn draw(&self, reduced_motion: bool) {
        self.links();
        if let Some(place) = self.layout.legend {
            draw_words::legend(self.brush, place);
        }
        let several = self.picture.routers.len() > 1;
        if let Some(place) = self.layout.decisions {
            draw_words::decisions(self.brush, place, &self.canvas.decisions, several);
        }
        for head in &self.layout.heads {
            draw_replica::heads(self.brush, *head, self.layout.detail);
        }
        for id in parts(self.picture) {
            if let Some(place) = self.layout.place(id) {
                self.part(id, place);
            }
        }
        self.dots(reduced_motion);
    }

    /// The links, thicker with more calls on them.
    fn links(&self) {
        for link in &self.picture.links {
            let Some(way) = Way::between(self.layout, link.from, link.to) else { continue };
            let per_s = self.canvas.flow.per_s(What::Moved(link.from, link.to)).unwrap_or(0.0);
            let lit = [link.from, link.to].iter().any(|end| self.canvas.hovered == Some(*end));
            let colour = if lit { palette::FAINT } else { palette::LINE };
            let width = link_width(per_s);
            self.brush.curve(way.curve, width, colour);
            if let Some(tail) = way.tail {
                self.brush.line(way.curve[3], tail, width.min(2.0), colour);
            }
        }
    }

    fn part(&self, id: PartId, place: Rect) {
        let (index, canvas) = (id.index, self.canvas);
        let rejection = canvas.flights.rejection_at(id);
        let hovered = canvas.hovered == Some(id);
        let chosen = self.chosen.map_or(canvas.selected == Some(id), |chosen| chosen.contains(&id));
        let selected = chosen || canvas.focused == Some(id);
        if id.part == Part::Replica {
            let view = ReplicaView {
                state: &self.picture.replicas[index],
                number: index + 1,
                load: canvas.loads.replica(index),
                hit: canvas.hit(index),
                per_s: canvas.flow.per_s(What::Answered(id)),
                rejection,
                hovered,
                selected,
            };
            draw_replica::replica(self.brush, place, self.layout.detail, &view);
            return;
        }
        let per_s = canvas.flow.per_s(What::Left(id));
        let view = PartView { name: self.picture.name(id), per_s, rejection, hovered, selected };
        match id.part {
            Part::Traffic => draw_upstream::traffic(self.brush, place, &self.picture.traffics[index], &view),
            Part::Balancer => draw_upstream::balancer(self.brush, place, &self.picture.balancers[index], &view),
            Part::Router | Part::Replica => {
                let cpu = canvas.loads.router(index);
                draw_upstream::router(self.brush, place, &self.picture.routers[index], cpu, &view);
            }
        }
    }

    /// The calls in flight.
    fn dots(&self, reduced_motion: bool) {
        for dot in self.canvas.flights.dots() {
            let Some(way) = Way::between(self.layout, dot.from, dot.to) else { continue };
            let (share, strength) = if reduced_motion {
                (1.0, dot.glow())
            } else {
                let share = dot.share().unwrap_or(1.0);
                (share, dot.share().filter(|share| *share < 1.0).map(|_| 1.0))
            };
            let Some(strength) = strength else { continue };
            let at = way.at(share);
            let colour = dot.colour.gamma_multiply(strength);
            // A ground-coloured rim keeps dots apart that follow each other closely.
            self.brush.disc(at, 5.4, palette::GROUND.gamma_multiply(strength));
            if dot.filled {
                self.brush.disc(at, 4.2, colour);
            } else {
                self.brush.circle(at, 3.5, 1.7, colour);
            }
        }
    }
}

/// How thick a link with so many calls a second is, in design units: never so thick that it hides another.
fn link_width(per_s: f64) -> f32 {
    1.0 + 4.0 * (1.0 - (-per_s / 25.0).exp()) as f32
}
