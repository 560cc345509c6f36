//! Who is least busy: a tournament over the parts that a router or balancer may pick.
//!
//! The winner is read in one step and a change costs the logarithm of the number of parts, so that hundreds of replicas
//! cost what eight do.

use bevy::prelude::{Component, Resource};
use smallvec::SmallVec;

/// One tournament: for each place the calls inside the part that stands there.
#[derive(Default)]
pub struct Tournament {
    leaves: usize,
    /// Node i has the children 2i and 2i + 1; the leaves come last. Each holds (calls inside, place) of its winner.
    tree: Vec<(u64, u32)>,
}

const NOBODY: (u64, u32) = (u64::MAX, u32::MAX);

impl Tournament {
    /// A tournament between parts with so many calls inside.
    pub fn new(busy: impl ExactSizeIterator<Item = u64>) -> Self {
        let leaves = busy.len().next_power_of_two();
        let mut tree = vec![NOBODY; 2 * leaves];
        for (place, calls) in busy.enumerate() {
            tree[leaves + place] = (calls, place as u32);
        }
        for node in (1..leaves).rev() {
            tree[node] = tree[2 * node].min(tree[2 * node + 1]);
        }
        Self { leaves, tree }
    }

    /// Says how many calls are inside the part at a place.
    pub fn set(&mut self, place: u32, calls: u64) {
        let mut node = self.leaves + place as usize;
        self.tree[node] = (calls, place);
        while node > 1 {
            node /= 2;
            let winner = self.tree[2 * node].min(self.tree[2 * node + 1]);
            if self.tree[node] == winner {
                return;
            }
            self.tree[node] = winner;
        }
    }

    /// The place with the fewest calls inside, the lowest of equals.
    pub fn least_busy(&self) -> Option<usize> {
        self.tree.get(1).filter(|winner| **winner != NOBODY).map(|(_, place)| *place as usize)
    }
}

/// The tournaments of a run, one for each router and each balancer.
#[derive(Resource, Default)]
pub struct Standings(pub Vec<Tournament>);

/// In which tournaments a part takes part, and at which place of each.
#[derive(Component, Default, Clone)]
pub struct Contests(pub SmallVec<[(u32, u32); 2]>);

impl Standings {
    /// Says everywhere how many calls are inside a part.
    pub fn report(&mut self, contests: &Contests, calls: u64) {
        for &(tournament, place) in &contests.0 {
            self.0[tournament as usize].set(place, calls);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a scan, after every one of many changes.
        #[test]
        fn the_winner_is_what_a_scan_finds(count in 1usize..40, changes in prop::collection::vec((0usize..40, 0u64..6), 0..200)) {
            let mut busy = vec![0; count];
            let mut tournament = Tournament::new(busy.iter().copied());
            for (place, calls) in changes {
                let place = place % count;
                busy[place] = calls;
                tournament.set(place as u32, calls);
                let scanned = (0..count).min_by_key(|&place| (busy[place], place));
                prop_assert_eq!(tournament.least_busy(), scanned);
            }
        }
    }
}
