//! How busy the parts are, smoothed over simulated time.
//!
//! The load of a replica is the larger of two shares: of the time that its prefill lane was busy, and of its slots that were
//! taken. Either of them at 100 % makes calls wait. The load of a router is the busy share of its cores. Between two
//! pictures each is exact (areas over time from the simulation); over several it is an exponential average.

use super::picture::{FleetPicture, ReplicaPicture, RouterPicture};
use crate::sim::{Micros, SECOND};

/// The time constant of the average, in simulated time.
const SMOOTH_S: f64 = 2.5;
/// At a high speed the average goes over this much wall time instead, so that the ring does not flutter, in seconds.
const SMOOTH_WALL_S: f64 = 0.5;

/// From this load on a part is hot.
pub const HOT: f32 = 0.9;

/// How busy the parts are.
#[derive(Default)]
pub struct Loads {
    then: Option<Micros>,
    replicas: Vec<Average>,
    lanes: Vec<Average>,
    routers: Vec<Average>,
}

/// An average of a share, with the area from which its next value comes.
#[derive(Clone, Copy, Default)]
struct Average {
    area: u128,
    share: f64,
}

impl Average {
    /// `area` has grown in the last `passed` out of `capacity` units; `present` is the share at this very moment. `weight`
    /// is how much the time since counts.
    fn grow(&mut self, area: u128, passed: Micros, capacity: u64, present: f64, weight: f64) {
        let grown = area.checked_sub(self.area).map(|grown| grown as f64 / (capacity.max(1) as f64 * passed as f64));
        self.area = area;
        // When measuring begins, areas start anew: that once the present share has to do.
        self.share += (grown.unwrap_or(present).clamp(0.0, 1.0) - self.share) * weight;
    }
}

impl Loads {
    /// The next picture, at a speed in simulated seconds per wall second.
    pub fn take(&mut self, picture: &FleetPicture, speed: f64) {
        self.replicas.resize(picture.replicas.len(), Average::default());
        self.lanes.resize(picture.replicas.len(), Average::default());
        self.routers.resize(picture.routers.len(), Average::default());
        let passed = match self.then.replace(picture.now) {
            Some(then) => picture.now.saturating_sub(then),
            None => picture.now,
        };
        if passed == 0 {
            return;
        }
        let weight = 1.0 - (-(passed as f64 / SECOND as f64) / SMOOTH_S.max(SMOOTH_WALL_S * speed)).exp();
        let replicas = self.replicas.iter_mut().zip(&mut self.lanes).zip(&picture.replicas);
        for ((slots, lane), replica) in replicas {
            slots.grow(replica.slots_area, passed, replica.slots, slots_share(replica), weight);
            lane.grow(replica.lane_area, passed, 1, replica.prefilling as f64, weight);
        }
        for (cores, router) in self.routers.iter_mut().zip(&picture.routers) {
            cores.grow(router.cpu_area, passed, router.cores, cores_share(router), weight);
        }
    }

    /// The load of a replica, 0 to 1.
    pub fn replica(&self, index: usize) -> f32 {
        let share = |list: &[Average]| list.get(index).map_or(0.0, |average| average.share);
        share(&self.replicas).max(share(&self.lanes)) as f32
    }

    /// The busy share of a router's cores, 0 to 1.
    pub fn router(&self, index: usize) -> f32 {
        self.routers.get(index).map_or(0.0, |average| average.share) as f32
    }
}

fn slots_share(replica: &ReplicaPicture) -> f64 {
    (replica.prefilling + replica.decoding) as f64 / replica.slots.max(1) as f64
}

fn cores_share(router: &RouterPicture) -> f64 {
    router.cores_busy as f64 / router.cores.max(1) as f64
}
