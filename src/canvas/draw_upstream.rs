//! What stands before the replicas, drawn: traffic, load balancers, routers.

use super::brush::{Brush, Face};
use super::figures;
use super::flight::Rejection;
use super::load::HOT;
use super::palette;
use super::picture::{BalancerPicture, RouterPicture, TrafficPicture};
use crate::blueprint::{BalancerPolicy, Policy};
use egui::{Align2, Color32, Pos2, Rect, pos2, vec2};

/// What is shown of any part beside its state.
pub struct PartView<'a> {
    /// Its name.
    pub name: String,
    /// Calls that leave it in a second, of late.
    pub per_s: Option<f64>,
    /// What it rejected just now.
    pub rejection: Option<&'a Rejection>,
    /// Is the pointer on it?
    pub hovered: bool,
    /// Is it the one whose settings are shown?
    pub selected: bool,
}

impl PartView<'_> {
    fn fill(&self) -> Color32 {
        if self.hovered { palette::CARD_HOVER } else { palette::CARD }
    }

    fn card(&self, brush: &Brush, place: Rect) {
        brush.fill(place, 8.0, self.fill());
        brush.outline(place, 8.0, 1.0, palette::LINE);
        if self.selected {
            brush.outline(place.expand(2.5), 10.5, 1.5, palette::DECODE);
        }
    }
}

/// Three lines in the middle of a card, or two where it is low: the first is its name.
fn lines(brush: &Brush, place: Rect, lines: &[(&str, Face, f32, Color32)]) {
    if brush.far() {
        // From afar only the first, as large as it may be.
        let Some(&(name, face, _, colour)) = lines.first() else { return };
        let size = (22.0 * (place.width() - 20.0) / brush.width(name, face, 22.0)).clamp(12.0, 22.0);
        brush.text_within(place.center(), Align2::CENTER_CENTER, name, face, size, colour, place.width() - 8.0);
        return;
    }
    let shown = if place.height() < 48.0 { &lines[..lines.len().min(2)] } else { lines };
    let pitch = 16.0;
    let first = place.center().y - pitch * (shown.len() as f32 - 1.0) / 2.0;
    for (index, &(text, face, size, colour)) in shown.iter().enumerate() {
        let at = pos2(place.center().x, first + pitch * index as f32);
        brush.text_within(at, Align2::CENTER_CENTER, text, face, size, colour, place.width() - 10.0);
    }
}

/// Draws a source of traffic.
pub fn traffic(brush: &Brush, place: Rect, state: &TrafficPicture, view: &PartView) {
    view.card(brush, place);
    let measured = view.per_s.map_or(figures::NONE.into(), figures::rate);
    // What the player set, as it was set.
    let rate = state.sessions_per_s;
    let set = if rate == 1.0 { "1 session/s".to_owned() } else { format!("{rate} sessions/s") };
    lines(
        brush,
        place,
        &[
            (&view.name, Face::Strong, 12.0, palette::TEXT),
            (&format!("{measured} calls/s"), Face::Figures, 10.5, palette::TEXT),
            (&set, Face::Plain, 10.0, palette::DIM),
        ],
    );
    if let Some(rejection) = view.rejection {
        rejected_over(brush, pos2(place.center().x, place.top() - 12.0), rejection);
    }
}

/// Draws a load balancer.
pub fn balancer(brush: &Brush, place: Rect, state: &BalancerPicture, view: &PartView) {
    view.card(brush, place);
    let policy = match state.policy {
        BalancerPolicy::RoundRobin => "round robin",
        BalancerPolicy::LeastBusy => "least busy",
    };
    let measured = view.per_s.map_or(figures::NONE.into(), figures::rate);
    lines(
        brush,
        place,
        &[
            (&view.name, Face::Strong, 12.0, palette::TEXT),
            (policy, Face::Plain, 10.0, palette::DIM),
            (&format!("{measured} calls/s"), Face::Figures, 10.0, palette::DIM),
        ],
    );
    if let Some(rejection) = view.rejection {
        rejected_over(brush, pos2(place.center().x, place.top() - 12.0), rejection);
    }
}

/// Draws a router: its CPU as a ring, its policy inside, its slots and queue below.
pub fn router(brush: &Brush, place: Rect, state: &RouterPicture, cpu: f32, view: &PartView) {
    let centre = place.center();
    let outer = place.width() / 2.0;
    let inner = outer - 6.5;
    let hot = cpu >= HOT;
    brush.gauge(centre, outer - 2.0, 3.5, cpu, if hot { palette::WARN } else { palette::GOOD }, palette::GROUND);
    let (edge, fill) = match (state.up, hot) {
        (false, _) => (palette::BAD, palette::CARD.lerp_to_gamma(palette::BAD, 0.22)),
        (true, _) => (palette::DECODE, view.fill()),
    };
    brush.disc(centre, inner, fill);
    brush.circle(centre, inner, 1.8, edge);
    if view.selected {
        brush.circle(centre, outer + 3.0, 1.5, palette::DECODE);
    }
    if state.up {
        let name = centre - vec2(0.0, if outer > 36.0 && !brush.far() { 9.0 } else { 0.0 });
        brush.text(
            name,
            Align2::CENTER_CENTER,
            &view.name,
            Face::Strong,
            match (brush.far(), outer > 36.0) {
                (true, _) => 17.0,
                (false, true) => 13.0,
                (false, false) => 10.5,
            },
            palette::TEXT,
        );
        if outer > 36.0 && !brush.far() {
            policy(brush, centre + vec2(0.0, 8.0), state);
        }
    } else {
        brush.cross(centre - vec2(0.0, 14.0), 6.0, 2.4, palette::BAD);
        brush.text(centre + vec2(0.0, 4.0), Align2::CENTER_CENTER, "down", Face::Strong, 14.0, palette::BAD);
        if outer > 36.0 {
            brush.text(
                centre + vec2(0.0, 19.0),
                Align2::CENTER_CENTER,
                "refuses calls",
                Face::Plain,
                9.5,
                palette::TEXT,
            );
        }
    }
    if !brush.far() {
        stats(brush, pos2(centre.x, place.bottom() + 11.0), state, cpu, hot);
    }
    if let Some(rejection) = view.rejection {
        rejected_over(brush, pos2(centre.x, place.top() - 11.0), rejection);
    }
}

/// The policy in one line or two.
fn policy(brush: &Brush, at: Pos2, state: &RouterPicture) {
    let line = |y: f32, words: &str| {
        brush.text(at + vec2(0.0, y), Align2::CENTER_CENTER, words, Face::Plain, 9.5, palette::DIM);
    };
    let spill = match state.spill {
        0 => "no spill".to_owned(),
        n => format!("spill {}", figures::count(n)),
    };
    match state.policy {
        Policy::StickySpill if state.affinity >= 1.0 && spill.len() <= 8 => line(0.0, &format!("sticky · {spill}")),
        Policy::StickySpill if state.affinity >= 1.0 => {
            line(0.0, "sticky");
            line(13.0, &spill);
        }
        // What it then is, by its own name.
        Policy::StickySpill if state.affinity == 0.0 => line(0.0, "round robin"),
        Policy::StickySpill => {
            line(0.0, &format!("sticky {}", figures::percent(state.affinity)));
            line(13.0, &spill);
        }
        Policy::RoundRobin => line(0.0, "round robin"),
        Policy::Random => line(0.0, "random"),
        Policy::LeastBusy => line(0.0, "least busy"),
    }
}

/// Slots, queue and CPU, each with its number right aligned on one line of numbers.
fn stats(brush: &Brush, top: Pos2, state: &RouterPicture, cpu: f32, hot: bool) {
    let full = state.slots_taken >= state.slots;
    let waits = state.waiting > 0;
    let busy = |is: bool| if is { palette::WARN } else { palette::DIM };
    let line = |row: f32, label: &str, number: String, colour: Color32| {
        let y = top.y + 13.0 * row;
        brush.text(pos2(top.x - 44.0, y), Align2::LEFT_CENTER, label, Face::Plain, 10.0, palette::DIM);
        brush.text(pos2(top.x + 44.0, y), Align2::RIGHT_CENTER, &number, Face::Figures, 10.0, colour);
    };
    let slots = format!("{} of {}", figures::count(state.slots_taken), figures::count(state.slots));
    line(0.0, "slots", slots, busy(full));
    line(1.0, "waiting", figures::count(state.waiting), busy(waits));
    line(2.0, "CPU", format!("{:.0} %", cpu * 100.0), busy(hot));
}

/// A cross with the reason beside it, centred over a part.
fn rejected_over(brush: &Brush, at: Pos2, rejection: &Rejection) {
    let colour = palette::BAD.gamma_multiply(rejection.strength());
    let mut words = rejection.reason.words().to_owned();
    if rejection.count > 1 {
        words = format!("{words}  {}", figures::count(rejection.count));
    }
    let width = brush.width(&words, Face::Plain, 10.5);
    let left = at.x - (width + 12.0) / 2.0;
    brush.cross(pos2(left + 4.0, at.y), 3.8, 2.0, colour);
    brush.text(pos2(left + 13.0, at.y), Align2::LEFT_CENTER, &words, Face::Plain, 10.5, colour);
}
