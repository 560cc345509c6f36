//! ScaleMySystems' policy: sticky with chance `affinity`, home until `spill` calls wait there, then to the least busy.

use super::{Choice, Desk, Home, Why, round_robin};

/// Picks a replica.
pub fn choose(desk: &mut Desk, home: impl FnOnce() -> Option<Home>) -> Choice {
    if !desk.affinity.chance(desk.settings.affinity) {
        return round_robin::choose(desk);
    }
    let spill = desk.settings.spill;
    match home() {
        None => Choice { replica: desk.least_busy(), why: Why::NoHome },
        Some(Home { waiting, .. }) if spill > 0 && waiting >= spill => {
            Choice { replica: desk.least_busy(), why: Why::Spilled { waiting } }
        }
        Some(Home { replica, .. }) => Choice { replica, why: Why::Sticky },
    }
}
