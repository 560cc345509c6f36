//! Requests in flight as dots, and rejections as crosses.
//!
//! The model has no network time: a call is at the next part the moment it is sent on. A dot's flight is therefore an
//! animation of fixed length in wall time, started by the move. The hops of one call follow each other, so that it is seen
//! to pass the router; a dot may reach a replica up to a second of wall time after the call did.

use super::palette;
use crate::blueprint::{Part, PartId};
use crate::sim::{Micros, Reason, Sight};
use egui::Color32;

/// How long the last hop takes, to a replica, in seconds of wall time.
const FLIGHT_S: f32 = 0.45;
/// How long the hops before it take.
const HOP_S: f32 = 0.22;
/// At most so many dots are on a link; what is more shows as the thickness of the link.
pub const MOST_ON_A_LINK: usize = 8;
/// Above this speed there are fewer, so that the picture stays calm: a dot stands for a flow then, not for a call.
const CALM_ABOVE: f64 = 4.0;
/// So it is with more links than this.
const MANY_LINKS: f64 = 24.0;
/// How long a rejection is seen after the last of its kind.
const REJECTION_S: f32 = 2.5;
/// Without motion a dot is seen where it lands for this long.
const STILL_S: f32 = 0.35;
/// The moves of one frame start at most this much apart.
const SPREAD_S: f64 = 0.25;
/// Paused, an event that the player steps to is shown half-way, where it is seen best.
const STEPPED: f32 = 0.5;

/// A dot on a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dot {
    /// The part it left.
    pub from: PartId,
    /// The part it flies to.
    pub to: PartId,
    /// Its colour: whose prefix it carries.
    pub colour: Color32,
    /// Is it filled? On the way to a replica: does that hold more than half of the prompt?
    pub filled: bool,
    /// Seconds until it starts; negative once it flies.
    wait_s: f32,
}

impl Dot {
    fn flight_s(&self) -> f32 {
        if self.to.part == Part::Replica { FLIGHT_S } else { HOP_S }
    }

    /// How much of its way it has flown: 0 to 1 with a soft start and landing, or none while it waits to start.
    pub fn share(&self) -> Option<f32> {
        let time = -self.wait_s / self.flight_s();
        (time >= 0.0).then(|| {
            let time = time.min(1.0);
            // The hops before the last keep their pace: a call does not stop at a router for longer than it did.
            if self.to.part == Part::Replica { time * (2.0 - time) } else { time }
        })
    }

    fn has_landed(&self) -> bool {
        -self.wait_s > self.flight_s()
    }

    /// Without motion: how strongly it is seen where it lands, or none before and after.
    pub fn glow(&self) -> Option<f32> {
        let since = -self.wait_s - self.flight_s();
        (0.0..STILL_S).contains(&since).then(|| 1.0 - since / STILL_S)
    }
}

/// Rejections of one kind at one part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rejection {
    /// Where.
    pub at: PartId,
    /// Why.
    pub reason: Reason,
    /// How many since this was last not seen.
    pub count: u64,
    /// Seconds since the last of them; negative until its dot has landed.
    age_s: f32,
}

impl Rejection {
    /// How strongly it is seen: 1 at first, then fading to 0.
    pub fn strength(&self) -> f32 {
        if self.age_s < 0.0 { 0.0 } else { ((REJECTION_S - self.age_s) / (REJECTION_S * 0.6)).clamp(0.0, 1.0) }
    }
}

/// What flights must know of the fleet.
#[derive(Clone, Copy, Debug, Default)]
pub struct FleetSize {
    /// How many links it has.
    pub links: usize,
    /// Has it load balancers? Then a call's way to its replica has a hop more.
    pub has_balancers: bool,
}

/// All that is in flight.
#[derive(Default)]
pub struct Flights {
    dots: Vec<Dot>,
    rejections: Vec<Rejection>,
}

impl Flights {
    /// The sights of a frame, at a speed in simulated seconds per wall second; 0 when the player steps.
    pub fn take(&mut self, sights: &[(Micros, Sight)], speed: f64, fleet: FleetSize) {
        let FleetSize { links, has_balancers } = fleet;
        let Some(&(first, _)) = sights.first() else { return };
        if speed <= 0.0 {
            self.advance(FLIGHT_S * STEPPED);
        }
        for (at, sight) in sights {
            let later = if speed > 0.0 { ((at - first) as f64 / 1e6 / speed).min(SPREAD_S) as f32 } else { 0.0 };
            match *sight {
                Sight::Moved { from, to, family, held, prompt_tokens } => {
                    let filled = held.is_none_or(|held| 2 * held > prompt_tokens);
                    let colour = palette::family(family);
                    let lead = lead_s(from.part, has_balancers) + scatter_s(*at, speed);
                    let wait_s = if speed > 0.0 { later + lead } else { 0.0 };
                    self.start(Dot { from, to, colour, filled, wait_s }, most_on_a_link(speed, links));
                }
                Sight::Rejected { at, reason, .. } => {
                    let lands =
                        if speed > 0.0 && reason != Reason::TimedOut { lands_s(at.part, has_balancers) } else { 0.0 };
                    self.reject(at, reason, later + lands);
                }
                Sight::Answered { .. } => {}
            }
        }
        if speed <= 0.0 {
            for dot in self.dots.iter_mut().filter(|dot| dot.wait_s == 0.0) {
                dot.wait_s = -dot.flight_s() * STEPPED;
            }
        }
    }

    fn start(&mut self, dot: Dot, most: usize) {
        let on_the_link = self.dots.iter().filter(|it| it.from == dot.from && it.to == dot.to && !it.has_landed());
        if on_the_link.count() < most {
            self.dots.push(dot);
        }
    }

    fn reject(&mut self, at: PartId, reason: Reason, lands_s: f32) {
        match self.rejections.iter_mut().find(|it| it.at == at && it.reason == reason) {
            Some(known) => {
                known.count += 1;
                // Not before the first of them has landed.
                known.age_s = known.age_s.min(0.0);
            }
            None => self.rejections.push(Rejection { at, reason, count: 1, age_s: -lands_s }),
        }
    }

    /// Wall time passes.
    pub fn advance(&mut self, seconds: f32) {
        for dot in &mut self.dots {
            dot.wait_s -= seconds;
        }
        self.dots.retain(|dot| -dot.wait_s < dot.flight_s() + STILL_S);
        for rejection in &mut self.rejections {
            rejection.age_s += seconds;
        }
        self.rejections.retain(|rejection| rejection.age_s < REJECTION_S);
    }

    /// The dots.
    pub fn dots(&self) -> &[Dot] {
        &self.dots
    }

    /// The rejection that was seen last at a part.
    pub fn rejection_at(&self, at: PartId) -> Option<&Rejection> {
        let here = self.rejections.iter().filter(|it| it.at == at && it.strength() > 0.0);
        here.min_by(|a, b| a.age_s.total_cmp(&b.age_s))
    }

    /// How many kinds of rejections are remembered.
    #[cfg(test)]
    pub fn rejections(&self) -> usize {
        self.rejections.len()
    }
}

/// At a speed at which a dot stands for a flow, dots start scattered over a flight: on links that are always full they
/// would else all start together, flight after flight, and the picture would pulse. The moment's last digits do for chance.
fn scatter_s(at: Micros, speed: f64) -> f32 {
    if speed > CALM_ABOVE { FLIGHT_S * (at % 997) as f32 / 997.0 } else { 0.0 }
}

/// How many dots a link may have at this speed in a fleet with so many links.
fn most_on_a_link(speed: f64, links: usize) -> usize {
    let fewer = (speed / CALM_ABOVE).max(1.0).sqrt() * (links as f64 / MANY_LINKS).max(1.0);
    ((MOST_ON_A_LINK as f64 / fewer) as usize).max(if links > 100 { 1 } else { 2 })
}

/// How long the hops before this part take.
fn lead_s(from: Part, has_balancers: bool) -> f32 {
    match from {
        Part::Traffic | Part::Replica => 0.0,
        Part::Balancer => HOP_S,
        Part::Router => HOP_S * if has_balancers { 2.0 } else { 1.0 },
    }
}

/// How long after its sending a call is seen to land on a part of this kind.
fn lands_s(at: Part, has_balancers: bool) -> f32 {
    match at {
        Part::Replica => lead_s(Part::Router, has_balancers) + FLIGHT_S,
        other => lead_s(other, has_balancers),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::{Family, SECOND};

    const TRAFFIC: PartId = PartId::new(Part::Traffic, 0);
    const ROUTER: PartId = PartId::new(Part::Router, 0);
    const REPLICA: PartId = PartId::new(Part::Replica, 2);

    const FLEET: FleetSize = FleetSize { links: 7, has_balancers: false };

    fn moved(from: PartId, to: PartId, held: Option<u64>) -> Sight {
        Sight::Moved { from, to, family: Family::Shared(0), held, prompt_tokens: 1_000 }
    }

    fn flying(flights: &Flights) -> Vec<(PartId, f32)> {
        flights.dots().iter().filter_map(|dot| Some((dot.to, dot.share()?))).filter(|(_, share)| *share < 1.0).collect()
    }

    #[test]
    fn a_call_is_seen_to_pass_the_router() {
        let mut flights = Flights::default();
        let sights = [(5, moved(TRAFFIC, ROUTER, None)), (5, moved(ROUTER, REPLICA, Some(501)))];
        flights.take(&sights, 1.0, FLEET);
        assert_eq!(flying(&flights), [(ROUTER, 0.0)]);
        flights.advance(HOP_S + 0.01);
        assert_eq!(flying(&flights).iter().map(|(to, _)| *to).collect::<Vec<_>>(), [REPLICA]);
        flights.advance(FLIGHT_S);
        assert!(flying(&flights).is_empty());
        flights.advance(STILL_S);
        assert!(flights.dots().is_empty());
    }

    #[test]
    fn more_than_half_of_the_prompt_fills_the_dot() {
        let mut flights = Flights::default();
        flights.take(&[(0, moved(ROUTER, REPLICA, Some(500))), (0, moved(ROUTER, REPLICA, Some(501)))], 1.0, FLEET);
        assert_eq!(flights.dots().iter().map(|dot| dot.filled).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn dots_are_capped_on_each_link() {
        let mut flights = Flights::default();
        let sights: Vec<_> = (0..4_000).map(|at| (at * 1_000, moved(ROUTER, REPLICA, Some(0)))).collect();
        flights.take(&sights, 4.0, FLEET);
        flights.take(&[(0, moved(TRAFFIC, ROUTER, None))], 4.0, FLEET);
        assert_eq!(flights.dots().len(), MOST_ON_A_LINK + 1);
        assert_eq!([0.0, 1.0, 4.0, 16.0, 64.0, 1e6].map(|speed| most_on_a_link(speed, 7)), [8, 8, 8, 4, 2, 2]);
    }

    #[test]
    fn paused_they_stand_and_a_step_is_seen_half_way() {
        let mut flights = Flights::default();
        flights.take(&[(0, moved(ROUTER, REPLICA, Some(0)))], 0.0, FLEET);
        let before = flying(&flights);
        flights.advance(0.0);
        assert_eq!(flying(&flights), before);
        assert!(before.len() == 1 && (0.4..0.9).contains(&before[0].1), "{before:?}");
    }

    #[test]
    fn rejections_of_a_kind_are_one_cross_that_expires() {
        let mut flights = Flights::default();
        let family = Family::Session(1);
        let full = Sight::Rejected { at: REPLICA, family, reason: Reason::ReplicaQueueFull };
        let sights: Vec<_> = (0..30).map(|at| (at * SECOND / 100, full)).collect();
        flights.take(&sights, 1.0, FLEET);
        flights.advance(1.2);
        let seen = flights.rejection_at(REPLICA).map(|it| (it.reason, it.count));
        assert_eq!(seen, Some((Reason::ReplicaQueueFull, 30)));
        assert_eq!(flights.rejection_at(ROUTER), None);
        flights.advance(REJECTION_S);
        assert_eq!((flights.rejections(), flights.rejection_at(REPLICA)), (0, None));
    }
}
