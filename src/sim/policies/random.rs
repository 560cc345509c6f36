//! Any replica, all equally likely.

use super::{Choice, Desk, Why};

/// Picks a replica.
pub fn choose(desk: &mut Desk) -> Choice {
    let place = desk.pick.below(desk.replicas.len() as u64);
    Choice { replica: desk.replicas[place as usize], why: Why::Random }
}
