//! What parts are called on the screen.

use super::{Blueprint, Part, PartId};

/// The name of a part: its own, if it has one; else its kind, with its number from 1 where there are several (`count`) of
/// that kind. A replica always has its number.
pub fn name_of(id: PartId, own: Option<&str>, count: usize) -> String {
    if let Some(own) = own {
        return own.to_owned();
    }
    let kind = match id.part {
        Part::Traffic => "Traffic",
        Part::Balancer => "Balancer",
        Part::Router => "Router",
        Part::Replica => "Replica",
    };
    if id.part == Part::Replica || count > 1 { format!("{kind} {}", id.index + 1) } else { kind.into() }
}

impl Blueprint {
    /// The name of a part.
    pub fn name(&self, id: PartId) -> String {
        name_of(id, self.names.get(&id).map(String::as_str), self.count(id.part))
    }
}
