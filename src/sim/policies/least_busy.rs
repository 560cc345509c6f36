//! The replica with the fewest calls running and waiting, whatever it holds.

use super::{Choice, Desk, Why};

/// Picks a replica.
pub fn choose(desk: &mut Desk) -> Choice {
    Choice { replica: desk.least_busy(), why: Why::LeastBusy }
}
