//! A replica drawn: as a card, as a card of half the height, as a row, or as a tile.

use super::brush::{Brush, Face, MARKS};
use super::figures;
use super::flight::Rejection;
use super::kv_bar::{CELLS, KvBlock, Owner};
use super::layout::Detail;
use super::load::HOT;
use super::palette;
use super::picture::{ReplicaPicture, SharedPrefix};
use egui::{Align2, Color32, Rect, Vec2, pos2, vec2};

/// A replica with what is shown of it beside its state.
pub struct ReplicaView<'a> {
    /// Its state.
    pub state: &'a ReplicaPicture,
    /// Its number, from 1.
    pub number: usize,
    /// Its load, 0 to 1.
    pub load: f32,
    /// The share of its calls' prompts that it found, of late.
    pub hit: Option<f64>,
    /// Calls that it answers in a second, of late.
    pub per_s: Option<f64>,
    /// What it rejected just now.
    pub rejection: Option<&'a Rejection>,
    /// Is the pointer on it?
    pub hovered: bool,
    /// Is it the one whose settings are shown?
    pub selected: bool,
}

impl ReplicaView<'_> {
    fn hot(&self) -> bool {
        self.load >= HOT
    }

    /// The colour of its card.
    fn ground(&self) -> Color32 {
        if self.hovered { palette::CARD_HOVER } else { palette::CARD }
    }

    /// The colour of its load.
    fn accent(&self) -> Color32 {
        if self.hot() { palette::WARN } else { palette::GOOD }
    }

    fn waiting_colour(&self) -> Color32 {
        match self.state.waiting {
            0 => palette::FAINT,
            _ if self.hot() => palette::WARN,
            _ => palette::TEXT,
        }
    }

    fn hit_text(&self) -> String {
        self.hit.map_or(figures::NONE.into(), figures::percent)
    }

    fn hit_colour(&self) -> Color32 {
        match self.hit {
            None => palette::FAINT,
            Some(share) if share > 0.5 => palette::GOOD,
            Some(_) => palette::WARN,
        }
    }

    fn kv_text(&self) -> String {
        let tokens = figures::compact_tokens;
        format!("{} of {}", tokens(self.state.kv_used), tokens(self.state.kv_capacity))
    }

    /// How it stands to the shared prefix, in words and in one.
    fn shared_words(&self) -> (&'static str, &'static str, Color32) {
        match self.state.shared {
            SharedPrefix::Absent => ("", "", palette::FAINT),
            SharedPrefix::Copy => ("a copy of the shared prefix", "a copy", palette::FAINT),
            SharedPrefix::Home => ("home of the shared prefix", "home", palette::GOLD),
        }
    }
}

/// Draws a replica into its place.
pub fn replica(brush: &Brush, place: Rect, detail: Detail, view: &ReplicaView) {
    match detail {
        Detail::Full => full(brush, place, view),
        Detail::Short => short(brush, place, view),
        Detail::Row => row(brush, place, view),
        Detail::Narrow => narrow(brush, place, view),
        Detail::Tile => tile(brush, place, view),
        Detail::Placed => placed(brush, place, view),
    }
}

/// The three fields of a card: slots, queue, KV cache.
struct Fields {
    slots: Rect,
    queue: Rect,
    kv: Rect,
}

impl Fields {
    fn of(place: Rect, left: f32) -> Self {
        let (top, bottom) = (place.top(), place.bottom());
        let free = place.right() - 12.0 - (place.left() + left) - 36.0;
        let slots = free * 0.28;
        let queue = free * 0.25;
        let field = |x: f32, width: f32| Rect::from_min_max(pos2(x, top), pos2(x + width, bottom));
        let slots = field(place.left() + left, slots);
        let queue = field(slots.right() + 18.0, queue);
        let kv = field(queue.right() + 18.0, place.right() - 12.0 - queue.right() - 18.0);
        Self { slots, queue, kv }
    }
}

fn card(brush: &Brush, place: Rect, radius: f32, view: &ReplicaView) {
    brush.fill(place, radius, view.ground());
    let (width, colour) = if view.hot() { (1.5, palette::WARN) } else { (1.0, palette::LINE) };
    brush.outline(place, radius, width, colour);
    if view.selected {
        // Around the card, so that a hot one still shows that it is; rows stand too close for that.
        let out = if radius > 4.0 { 2.5 } else { 0.0 };
        brush.outline(place.expand(out), radius + out, 1.5, palette::DECODE);
    }
}

fn load_number(load: f32) -> String {
    format!("{:.0}", (load * 100.0).min(100.0))
}

fn full(brush: &Brush, place: Rect, view: &ReplicaView) {
    card(brush, place, 8.0, view);
    let middle = place.center().y;
    let ring = pos2(place.left() + 32.0, middle);
    brush.gauge(ring, 19.0, 4.0, view.load, view.accent(), view.ground());
    brush.text(ring, Align2::CENTER_CENTER, &load_number(view.load), Face::StrongFigures, 11.5, text_of_load(view));
    let fields = Fields::of(place, 64.0);
    let (first, last) = (middle - 22.0, middle + 23.0);
    let name = format!("Replica {}", view.number);
    brush.text(pos2(fields.slots.left(), first), Align2::LEFT_CENTER, &name, Face::Strong, 12.0, palette::TEXT);
    slots(brush, band(fields.slots, middle - 11.0, middle + 12.0), view.state);
    let at = pos2(fields.slots.left(), last);
    let width = brush.text(at, Align2::LEFT_CENTER, "hit", Face::Plain, 10.0, palette::DIM);
    let at = at + vec2(width + 5.0, 0.0);
    brush.text(at, Align2::LEFT_CENTER, &view.hit_text(), Face::Figures, 10.0, view.hit_colour());

    waiting_label(brush, fields.queue, first, view);
    queue(brush, band(fields.queue, middle - 11.0, middle + 12.0), view.state);
    if let Some(per_s) = view.per_s {
        rate(brush, fields.queue, last, per_s);
    }

    kv_label(brush, fields.kv, first, view);
    kv_bar(brush, band(fields.kv, middle - 10.0, middle + 11.0), view.state);
    match view.rejection {
        Some(rejection) => rejected(brush, fields.kv, last, rejection),
        None => {
            let (words, word, colour) = view.shared_words();
            let fits = brush.width(words, Face::Plain, 10.0) <= fields.kv.width();
            let at = pos2(fields.kv.left(), last);
            brush.text(at, Align2::LEFT_CENTER, if fits { words } else { word }, Face::Plain, 10.0, colour);
        }
    }
}

fn short(brush: &Brush, place: Rect, view: &ReplicaView) {
    card(brush, place, 7.0, view);
    let middle = place.center().y;
    let radius = (place.height() / 2.0 - 8.0).min(15.0);
    let ring = pos2(place.left() + 26.0, middle);
    brush.gauge(ring, radius, 3.5, view.load, view.accent(), view.ground());
    let number = load_number(view.load);
    // As large as fits inside the ring: a figure is about six tenths as wide as it is high.
    let size = (radius * 2.0 - 6.0) / (0.62 * number.len() as f32);
    brush.text(ring, Align2::CENTER_CENTER, &number, Face::StrongFigures, size.min(10.0), text_of_load(view));
    let fields = Fields::of(place, 54.0);
    let (first, second) = (place.top() + place.height() * 0.30, place.top() + place.height() * 0.71);
    let name = format!("Replica {}", view.number);
    brush.text(pos2(fields.slots.left(), first), Align2::LEFT_CENTER, &name, Face::Strong, 11.0, palette::TEXT);
    slots(brush, band(fields.slots, second - 6.0, second + 6.0), view.state);
    waiting_label(brush, fields.queue, first, view);
    queue(brush, band(fields.queue, second - 4.0, second + 5.0), view.state);
    match view.rejection {
        Some(rejection) => rejected(brush, fields.kv, first, rejection),
        None => {
            brush.text(
                pos2(fields.kv.left(), first),
                Align2::LEFT_CENTER,
                &format!("hit {}", view.hit_text()),
                Face::Figures,
                9.5,
                view.hit_colour(),
            );
            if fields.kv.width() >= 136.0 {
                let at = pos2(fields.kv.right(), first);
                brush.text(at, Align2::RIGHT_CENTER, &view.kv_text(), Face::Figures, 9.5, palette::DIM);
            }
        }
    }
    let right = if view.state.shared == SharedPrefix::Home { 38.0 } else { 0.0 };
    let bar = Rect::from_min_max(pos2(fields.kv.left(), second - 6.0), pos2(fields.kv.right() - right, second + 6.0));
    kv_bar(brush, bar, view.state);
    if right > 0.0 {
        let at = pos2(fields.kv.right(), second);
        brush.text(at, Align2::RIGHT_CENTER, "home", Face::Plain, 10.0, palette::GOLD);
    }
}

/// Where the columns of a row lie, as (left, right) from the left edge of the row.
struct Row {
    number: f32,
    load: (f32, f32),
    slots: f32,
    waiting: f32,
    kv: (f32, f32),
    hit: f32,
}

impl Row {
    fn of(place: Rect) -> Self {
        let left = place.left();
        let load = (left + 34.0, left + 34.0 + (place.width() * 0.17).min(90.0));
        let hit = place.right() - 8.0;
        let slots = load.1 + 76.0;
        let waiting = slots + 46.0;
        Self { number: left + 26.0, load, slots, waiting, kv: (waiting + 16.0, hit - 42.0), hit }
    }
}

/// The heads of rows: what their columns are.
pub fn heads(brush: &Brush, place: Rect, detail: Detail) {
    let y = place.center().y;
    let head = |x: f32, align: Align2, words: &str| {
        brush.text(pos2(x, y), align, words, Face::Plain, 9.0, palette::FAINT);
    };
    if detail == Detail::Narrow {
        let row = NarrowRow::of(place);
        head(row.load.0, Align2::LEFT_CENTER, "load %");
        head(row.waiting, Align2::RIGHT_CENTER, "waiting");
        head(row.kv.0, Align2::LEFT_CENTER, "KV cache");
        return;
    }
    let row = Row::of(place);
    head(row.load.0, Align2::LEFT_CENTER, "load %");
    head(row.slots, Align2::RIGHT_CENTER, "slots");
    head(row.waiting, Align2::RIGHT_CENTER, "waiting");
    head(row.kv.0, Align2::LEFT_CENTER, "KV cache");
    head(row.hit, Align2::RIGHT_CENTER, "hit");
}

fn row(brush: &Brush, place: Rect, view: &ReplicaView) {
    card(brush, place, 3.0, view);
    let (y, row, size) = (place.center().y, Row::of(place), row_size(place));
    let number = view.number.to_string();
    brush.text(pos2(row.number, y), Align2::RIGHT_CENTER, &number, Face::StrongFigures, size, name_colour(view));
    load_bar(brush, row.load, y, view);
    let at = pos2(row.load.1 + 26.0, y);
    brush.text(at, Align2::RIGHT_CENTER, &load_number(view.load), Face::Figures, size, text_of_load(view));
    let taken = view.state.prefilling + view.state.decoding;
    let text = format!("{taken}/{}", view.state.slots);
    brush.text(pos2(row.slots, y), Align2::RIGHT_CENTER, &text, Face::Figures, size, palette::DIM);
    waiting_number(brush, row.waiting, y, size, view);
    let half = bar_half(place);
    kv_bar(brush, Rect::from_min_max(pos2(row.kv.0, y - half), pos2(row.kv.1, y + half)), view.state);
    match view.rejection {
        Some(rejection) => short_rejected(brush, pos2(row.hit, y), size, rejection),
        None => {
            let at = pos2(row.hit, y);
            brush.text(at, Align2::RIGHT_CENTER, &view.hit_text(), Face::Figures, size, view.hit_colour());
        }
    }
}

/// The columns of a narrow row.
struct NarrowRow {
    number: f32,
    load: (f32, f32),
    waiting: f32,
    kv: (f32, f32),
}

impl NarrowRow {
    fn of(place: Rect) -> Self {
        let left = place.left();
        let load = (left + 28.0, left + 28.0 + place.width() * 0.2);
        let waiting = load.1 + 30.0;
        Self { number: left + 22.0, load, waiting, kv: (waiting + 8.0, place.right() - 5.0) }
    }
}

fn narrow(brush: &Brush, place: Rect, view: &ReplicaView) {
    card(brush, place, 3.0, view);
    let (y, row, size) = (place.center().y, NarrowRow::of(place), row_size(place));
    let number = view.number.to_string();
    brush.text(pos2(row.number, y), Align2::RIGHT_CENTER, &number, Face::StrongFigures, size, name_colour(view));
    load_bar(brush, row.load, y, view);
    match view.rejection {
        Some(rejection) => short_rejected(brush, pos2(row.waiting, y), size, rejection),
        None => waiting_number(brush, row.waiting, y, size, view),
    }
    let half = bar_half(place);
    kv_bar(brush, Rect::from_min_max(pos2(row.kv.0, y - half), pos2(row.kv.1, y + half)), view.state);
}

/// On a board: load, name and hit on top, slots and queue, the KV cache below over the whole width.
fn placed(brush: &Brush, place: Rect, view: &ReplicaView) {
    card(brush, place, 8.0, view);
    if brush.far() {
        return placed_far(brush, place, view);
    }
    let (left, right) = (place.left() + 12.0, place.right() - 12.0);
    let ring = pos2(left + 14.0, place.top() + 25.0);
    brush.gauge(ring, 14.0, 3.5, view.load, view.accent(), view.ground());
    brush.text(ring, Align2::CENTER_CENTER, &load_number(view.load), Face::StrongFigures, 9.5, text_of_load(view));
    let (inner, first, second) = (left + 38.0, place.top() + 16.0, place.top() + 36.0);
    let size = if view.state.large { "  large" } else { "" };
    let name = format!("Replica {}", view.number);
    let width = brush.text(pos2(inner, first), Align2::LEFT_CENTER, &name, Face::Strong, 12.0, palette::TEXT);
    brush.text(pos2(inner + width, first), Align2::LEFT_CENTER, size, Face::Plain, 10.5, palette::DIM);
    match view.rejection {
        Some(rejection) => {
            let field = Rect::from_min_max(pos2(inner + 92.0, place.top()), pos2(right, place.bottom()));
            rejected(brush, field, first, rejection);
        }
        None => {
            let hit = view.hit_text();
            let width =
                brush.text(pos2(right, first), Align2::RIGHT_CENTER, &hit, Face::Figures, 10.5, view.hit_colour());
            brush.text(pos2(right - width - 5.0, first), Align2::RIGHT_CENTER, "hit", Face::Plain, 10.0, palette::DIM);
        }
    }
    let half = inner + (right - inner) * 0.44;
    slots(brush, Rect::from_min_max(pos2(inner, second - 7.0), pos2(half, second + 7.0)), view.state);
    let waits = Rect::from_min_max(pos2(half + 14.0, second - 7.0), pos2(right - 34.0, second + 7.0));
    queue(brush, waits, view.state);
    waiting_number(brush, right, second, 11.0, view);
    let bar = Rect::from_min_max(pos2(left, place.top() + 54.0), pos2(right - 92.0, place.top() + 68.0));
    kv_bar(brush, bar, view.state);
    let at = pos2(right, bar.center().y);
    brush.text(at, Align2::RIGHT_CENTER, &view.kv_text(), Face::Figures, 9.5, palette::DIM);
}

/// The same from afar: load, number, queue, hit rate and KV cache, and nothing that could not be read.
fn placed_far(brush: &Brush, place: Rect, view: &ReplicaView) {
    let (left, right, line) = (place.left() + 12.0, place.right() - 12.0, place.top() + 26.0);
    let ring = pos2(left + 17.0, line);
    brush.gauge(ring, 15.0, 5.5, view.load, view.accent(), view.ground());
    let number = view.number.to_string();
    let at = pos2(left + 44.0, line);
    let width = brush.text(at, Align2::LEFT_CENTER, &number, Face::StrongFigures, 23.0, name_colour(view));
    if view.state.large {
        brush.text(at + vec2(width + 7.0, 0.0), Align2::LEFT_CENTER, "L", Face::Strong, 17.0, palette::DIM);
    }
    match view.rejection {
        Some(rejection) => short_rejected(brush, pos2(right, line), 20.0, rejection),
        None => {
            let text = view.hit_text();
            brush.text(pos2(right, line), Align2::RIGHT_CENTER, &text, Face::Figures, 20.0, view.hit_colour());
        }
    }
    if view.state.waiting > 0 {
        waiting_number(brush, place.center().x + 24.0, line, 20.0, view);
    }
    kv_bar(brush, Rect::from_min_max(pos2(left, place.top() + 50.0), pos2(right, place.bottom() - 10.0)), view.state);
}

/// A tile fills from below with its load; a gold corner says that it holds the shared prefix.
fn tile(brush: &Brush, place: Rect, view: &ReplicaView) {
    card(brush, place, 1.5, view);
    let inner = place.shrink((place.width() * 0.1).min(2.0));
    let top = inner.bottom() - inner.height() * view.load.clamp(0.0, 1.0);
    brush.fill(Rect::from_min_max(pos2(inner.left(), top), inner.max), 1.0, view.accent().gamma_multiply(0.55));
    let radius = (inner.width() * 0.14).min(4.0);
    let corner = Vec2::splat(radius * 1.5);
    if view.state.shared != SharedPrefix::Absent {
        brush.disc(inner.left_top() + corner, radius, palette::GOLD);
    }
    if inner.width() >= 26.0 {
        let (at, number) = (pos2(inner.right() - 2.0, inner.top() + corner.y), view.number.to_string());
        brush.text(at, Align2::RIGHT_CENTER, &number, Face::Figures, 8.5, palette::TEXT);
    }
    if let Some(rejection) = view.rejection {
        brush.cross(place.center(), inner.width() * 0.25, 1.5, palette::BAD.gamma_multiply(rejection.strength()));
    }
}

fn row_size(place: Rect) -> f32 {
    (place.height() * 0.78).clamp(8.0, 11.0)
}

fn bar_half(place: Rect) -> f32 {
    (place.height() * 0.28).min(6.0)
}

fn name_colour(view: &ReplicaView) -> Color32 {
    if view.hot() { palette::WARN } else { palette::TEXT }
}

fn text_of_load(view: &ReplicaView) -> Color32 {
    if view.hot() { palette::WARN } else { palette::TEXT }
}

fn band(field: Rect, top: f32, bottom: f32) -> Rect {
    Rect::from_min_max(pos2(field.left(), top), pos2(field.right(), bottom))
}

fn load_bar(brush: &Brush, (left, right): (f32, f32), y: f32, view: &ReplicaView) {
    let bar = Rect::from_min_max(pos2(left, y - 2.0), pos2(right, y + 2.0));
    brush.fill(bar, 2.0, palette::LINE);
    let filled = bar.with_max_x(left + bar.width() * view.load.clamp(0.0, 1.0));
    if filled.width() > 0.5 {
        brush.fill(filled, 2.0, view.accent());
    }
    for mark in MARKS {
        let x = left + bar.width() * mark;
        brush.line(pos2(x, y + 2.5), pos2(x, y + 4.5), 1.0, palette::FAINT);
    }
}

fn waiting_label(brush: &Brush, field: Rect, y: f32, view: &ReplicaView) {
    brush.text(pos2(field.left(), y), Align2::LEFT_CENTER, "waiting", Face::Plain, 10.0, palette::DIM);
    waiting_number(brush, field.right(), y, 11.0, view);
}

fn waiting_number(brush: &Brush, right: f32, y: f32, size: f32, view: &ReplicaView) {
    let text = figures::count(view.state.waiting);
    brush.text(pos2(right, y), Align2::RIGHT_CENTER, &text, Face::StrongFigures, size, view.waiting_colour());
}

/// Calls a second, its number right aligned in a field of its own, so that the unit stands still.
fn rate(brush: &Brush, field: Rect, y: f32, per_s: f64) {
    let unit = brush.text(pos2(field.right(), y), Align2::RIGHT_CENTER, "calls/s", Face::Plain, 10.0, palette::DIM);
    let at = pos2(field.right() - unit - 4.0, y);
    brush.text(at, Align2::RIGHT_CENTER, &figures::rate(per_s), Face::Figures, 10.0, palette::DIM);
}

fn kv_label(brush: &Brush, field: Rect, y: f32, view: &ReplicaView) {
    let at = pos2(field.right(), y);
    let width = brush.text(at, Align2::RIGHT_CENTER, &view.kv_text(), Face::Figures, 10.0, palette::DIM);
    if width + brush.width("KV cache", Face::Plain, 10.0) + 6.0 <= field.width() {
        brush.text(pos2(field.left(), y), Align2::LEFT_CENTER, "KV cache", Face::Plain, 10.0, palette::DIM);
    }
}

/// A cross, the reason, and how often.
fn rejected(brush: &Brush, field: Rect, y: f32, rejection: &Rejection) {
    let colour = palette::BAD.gamma_multiply(rejection.strength());
    brush.cross(pos2(field.left() + 4.0, y), 3.5, 1.8, colour);
    let count = figures::count(rejection.count);
    let width = brush.text(pos2(field.right(), y), Align2::RIGHT_CENTER, &count, Face::Figures, 10.0, colour);
    let at = pos2(field.left() + 13.0, y);
    let most = field.width() - 13.0 - width - 6.0;
    // Whose queue it is is plain here.
    let words = rejection.reason.words().trim_start_matches("replica ");
    brush.text_within(at, Align2::LEFT_CENTER, words, Face::Plain, 10.0, colour, most);
}

/// A cross and how often, where there is no room for the reason.
fn short_rejected(brush: &Brush, right: egui::Pos2, size: f32, rejection: &Rejection) {
    let colour = palette::BAD.gamma_multiply(rejection.strength());
    let count = figures::count(rejection.count.min(999));
    let width = brush.text(right, Align2::RIGHT_CENTER, &count, Face::Figures, size, colour);
    brush.cross(right - vec2(width + 6.0, 0.0), 2.5, 1.5, colour);
}

/// The slots as squares: prefill, decode, free. More than fit are a bar with the same shares.
fn slots(brush: &Brush, field: Rect, state: &ReplicaPicture) {
    let Some((rows, pitch)) = slot_grid(field, state.slots) else {
        slots_bar(brush, field, state);
        return;
    };
    let columns = state.slots.div_ceil(rows);
    let top = field.center().y - pitch * rows as f32 / 2.0;
    let side = pitch - if pitch > 7.0 { 1.6 } else { 1.0 };
    for slot in 0..state.slots {
        let corner = pos2(field.left() + (slot % columns) as f32 * pitch, top + (slot / columns) as f32 * pitch);
        let colour = if slot < state.prefilling {
            palette::PREFILL
        } else if slot < state.prefilling + state.decoding {
            palette::DECODE
        } else {
            palette::EMPTY
        };
        brush.fill(Rect::from_min_size(corner, vec2(side, side)), (side * 0.2).min(2.0), colour);
    }
}

/// In how many rows so many squares stand, and at which pitch: the fewest rows among those at which they are about as large
/// as they can be. None if they would be too small.
fn slot_grid(field: Rect, slots: u64) -> Option<(u64, f32)> {
    let pitch = |rows: u64| {
        let columns = slots.div_ceil(rows).max(1);
        (field.width() / columns as f32).min(field.height() / rows as f32).min(11.0)
    };
    let best = (1..=8).map(pitch).fold(0.0, f32::max);
    let rows = (1..=8).find(|rows| pitch(*rows) >= 0.9 * best)?;
    (best >= 3.5).then(|| (rows, pitch(rows)))
}

fn slots_bar(brush: &Brush, field: Rect, state: &ReplicaPicture) {
    let bar = Rect::from_center_size(field.center(), vec2(field.width(), 8.0));
    brush.fill(bar, 2.0, palette::EMPTY);
    let width = |slots: u64| bar.width() * (slots as f32 / state.slots.max(1) as f32).min(1.0);
    let taken = width(state.prefilling + state.decoding);
    if taken > 0.0 {
        brush.fill(bar.with_max_x(bar.left() + taken.max(1.0)), 2.0, palette::DECODE);
    }
    if state.prefilling > 0 {
        brush.fill(bar.with_max_x(bar.left() + width(state.prefilling).max(3.0)), 2.0, palette::PREFILL);
    }
}

/// The queue as dots in the colours of the prefixes that wait, its head first.
fn queue(brush: &Brush, field: Rect, state: &ReplicaPicture) {
    let (pitch, radius) = (7.0, 2.5);
    let columns = (field.width() / pitch).floor().max(1.0) as usize;
    let rows = ((field.height() + 1.0) / pitch).floor().max(1.0) as usize;
    let shown = state.waiting_families.len().min(columns * rows);
    let more = state.waiting > shown as u64;
    let used = shown.div_ceil(columns).max(1);
    let top = field.center().y - pitch * (used as f32 - 1.0) / 2.0;
    for (place, family) in state.waiting_families.iter().take(shown).enumerate() {
        let at = pos2(field.left() + radius + (place % columns) as f32 * pitch, top + (place / columns) as f32 * pitch);
        // The last ones fade where the queue goes on beyond what is drawn.
        let left = shown - place;
        let fade = if more && left <= 3 { 0.2 + 0.2 * left as f32 } else { 1.0 };
        brush.disc(at, radius, palette::family(*family).gamma_multiply(fade));
    }
}

/// The KV cache as blocks in the colours of the prefixes that it holds; what is reserved is an outline.
fn kv_bar(brush: &Brush, field: Rect, state: &ReplicaPicture) {
    brush.fill(field, 2.0, palette::EMPTY);
    let cell = field.width() / CELLS as f32;
    let gap = (cell * 0.25).min(1.0);
    let mut from = 0;
    for block in &state.kv {
        let left = field.left() + from as f32 * cell;
        from += block.cells;
        let right = field.left() + from as f32 * cell - gap;
        kv_block(brush, Rect::from_min_max(pos2(left, field.top()), pos2(right, field.bottom())), block);
    }
}

fn kv_block(brush: &Brush, rect: Rect, block: &KvBlock) {
    let colour = match block.owner {
        Owner::Reserved => {
            brush.fill(rect, 1.0, palette::PREFILL.gamma_multiply(0.18));
            brush.outline(rect, 1.0, 1.0, palette::PREFILL.gamma_multiply(0.7));
            return;
        }
        Owner::Output => palette::FAINT,
        Owner::Family(family) => palette::family(family),
    };
    if block.is_shared() {
        // Never dimmed, and a little taller than the others: where the shared prefix lives is what the eye looks for.
        brush.fill(rect.expand2(vec2(0.0, (rect.height() * 0.12).min(2.0))), 1.0, colour);
        return;
    }
    let strength = if block.in_use { 0.78 } else { 0.44 };
    brush.fill(rect, 1.0, palette::CARD.lerp_to_gamma(colour, strength));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_squares_in_their_field_up_to_a_hundred_and_more() {
        let field = Rect::from_min_size(pos2(0.0, 0.0), vec2(83.0, 23.0));
        for slots in [1, 2, 7, 8, 16, 31, 32, 64, 100] {
            let (rows, pitch) = slot_grid(field, slots).expect("they fit");
            assert!(rows as f32 * pitch <= 23.01 && slots.div_ceil(rows) as f32 * pitch <= 83.01, "{slots}");
        }
        assert_eq!(slot_grid(field, 8).map(|(rows, _)| rows), Some(1));
        assert_eq!(slot_grid(field, 1_000), None);
    }
}
