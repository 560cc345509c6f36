//! How a router picks a replica: a file for each policy, and here what a policy may look at.

mod least_busy;
mod random;
mod round_robin;
mod sticky_spill;

use super::chance::Stream;
use super::standings::Tournament;
use crate::blueprint::{Policy, Router};
use bevy::prelude::Entity;

/// What lies before a router when it decides. There is at least one replica.
pub struct Desk<'a> {
    /// The router's settings.
    pub settings: &'a Router,
    /// The replicas that it may pick, by number.
    pub replicas: &'a [Entity],
    /// How many calls went round robin so far.
    pub counter: &'a mut u64,
    /// Chances for stickiness.
    pub affinity: &'a mut Stream,
    /// Chances for a random pick.
    pub pick: &'a mut Stream,
    /// Which replica is least busy.
    pub standings: &'a Tournament,
}

/// The replica that a call would go back to.
#[derive(Clone, Copy, Debug)]
pub struct Home {
    /// The replica.
    pub replica: Entity,
    /// Calls in its queue.
    pub waiting: u64,
}

/// The replica picked, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// The replica.
    pub replica: Entity,
    /// Why it was picked.
    pub why: Why,
}

/// Why a replica was picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It is the call's home.
    Sticky,
    /// The call has no home yet: it is the least busy one, and becomes the home.
    NoHome,
    /// Too many calls wait at the home: it is the least busy one.
    Spilled {
        /// Calls waiting at the home.
        waiting: u64,
    },
    /// It was its turn.
    RoundRobin,
    /// By chance.
    Random,
    /// It has the fewest calls running and waiting.
    LeastBusy,
}

impl Desk<'_> {
    /// The replica with the fewest calls running and waiting, the lowest number of equals.
    fn least_busy(&self) -> Entity {
        self.replicas[self.standings.least_busy().unwrap_or(0)]
    }

    /// The replica whose turn it is.
    fn next_in_turn(&mut self) -> Entity {
        let place = *self.counter % self.replicas.len() as u64;
        *self.counter += 1;
        self.replicas[place as usize]
    }
}

/// Picks a replica. `home` is asked for only by a policy that has a use for it.
pub fn choose(desk: &mut Desk, home: impl FnOnce() -> Option<Home>) -> Choice {
    match desk.settings.policy {
        Policy::StickySpill => sticky_spill::choose(desk, home),
        Policy::RoundRobin => round_robin::choose(desk),
        Policy::Random => random::choose(desk),
        Policy::LeastBusy => least_busy::choose(desk),
    }
}
