//! Each replica in turn.

use super::{Choice, Desk, Why};

/// Picks a replica.
pub fn choose(desk: &mut Desk) -> Choice {
    Choice { replica: desk.next_in_turn(), why: Why::RoundRobin }
}
