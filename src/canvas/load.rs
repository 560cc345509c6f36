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

/// A picture that weighs more than this is the first, or the first after a jump in time.
const JUMP: f64 = 0.9;

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
        // A part in the place of another starts anew: that once the present share has to do.
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
            if weight > JUMP {
                // A mean over a long jump says little of the present; the slots as they are say more.
                slots.share = slots_share(replica).min(1.0);
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blueprint::{Blueprint, Part, PartId, Traffic};
    use crate::sim::{Run, RunSpec};

    /// Watched by small steps, the averages come to what the report says of a long time; the load is the larger of the two.
    #[test]
    fn loads_come_to_the_means_of_the_run() {
        let mut blueprint = Blueprint::router_before(2);
        blueprint.traffics.push(Traffic { sessions_per_s: 1.0, steps: 3, think_s: 1.0, ..Traffic::default() });
        blueprint.links.push((PartId::new(Part::Traffic, 0), PartId::new(Part::Router, 0)));
        let mut run = Run::new(RunSpec { blueprint, seed: 3, warmup: 10 * SECOND, recording: None });
        let (mut loads, mut sums, mut steps) = (Loads::default(), [0.0; 2], 0.0);
        while run.now() < 200 * SECOND {
            run.run_to(run.now() + SECOND / 20);
            loads.take(&FleetPicture::of(&run), 1.0);
            if run.now() > 10 * SECOND {
                let average = &loads.lanes[0];
                sums = [sums[0] + average.share, sums[1] + f64::from(loads.replica(0))];
                steps += 1.0;
                assert!((0.0..=1.0).contains(&loads.replica(0)) && (0.0..=1.0).contains(&loads.router(0)));
            }
        }
        let told = run.report().replicas[0].prefill_busy.expect("it was measured");
        assert!((sums[0] / steps - told).abs() < 0.02, "{} for {told}", sums[0] / steps);
        assert!(sums[1] >= sums[0]);
    }
}
