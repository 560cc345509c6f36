//! The load balancer: it knows no prefixes, takes no time and has no slots.

use super::fleet::Fleet;
use crate::blueprint::{BalancerPolicy, Part, PartId};
use bevy::prelude::Entity;

impl Fleet<'_, '_> {
    /// A call comes to a balancer and goes on at once.
    pub fn arrive_at_balancer(&mut self, from: PartId, balancer: Entity, call: Entity) {
        self.see_move(from, Part::Balancer, balancer, call);
        let Ok((seat, mut state, mut onward)) = self.balancers.get_mut(balancer) else { return };
        state.passed += 1;
        let to = match state.settings.policy {
            BalancerPolicy::RoundRobin => onward.next_in_turn(),
            BalancerPolicy::LeastBusy => {
                let place = self.standings.0[state.tournament].least_busy();
                place.and_then(|place| onward.parts.get(place).copied())
            }
        };
        let from = seat.0;
        self.deliver(from, to, call);
    }
}
