//! A fleet that is being drawn: every change that a person can make to it, as plain values.
//!
//! An [`Edit`] changes a [`Board`] or is refused in one sentence and changes nothing. Each part carries a tag for as long as
//! it lives, so that a running fleet can be told which parts of a changed board are the ones it has.

use super::place::{BOARD, MOST_ON_BOARD, Place, nearest_free};
use super::{
    Assignment, Balancer, Blueprint, Part, PartId, Piece, Replica, Router, SettingError, Traffic, apply, inside_board,
};
use std::collections::{BTreeMap, BTreeSet};

/// A change of a board.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// A new part, as near to this place as there is room.
    Place {
        /// What is placed.
        piece: Piece,
        /// Where its middle is to be.
        at: Place,
    },
    /// Parts go somewhere else, together.
    Move {
        /// Which.
        parts: Vec<PartId>,
        /// To the right and down, in design units.
        by: (i32, i32),
    },
    /// A part sends to another.
    Link {
        /// The one that sends.
        from: PartId,
        /// The one that is sent to.
        to: PartId,
    },
    /// It does so no more.
    Unlink {
        /// The one that sends.
        from: PartId,
        /// The one that is sent to.
        to: PartId,
    },
    /// A part sends to every replica.
    LinkAll {
        /// The one that sends.
        from: PartId,
    },
    /// A part sends to nobody any more.
    UnlinkAll {
        /// The one that sends.
        from: PartId,
    },
    /// Another fleet takes the place of this one: one that was saved, or came from somebody.
    Open {
        /// The fleet.
        blueprint: Box<Blueprint>,
        /// What may be spent on it.
        budget: Option<u64>,
    },
    /// Parts go, with their links.
    Delete {
        /// Which.
        parts: Vec<PartId>,
    },
    /// Parts come a second time, set and linked like the first.
    Duplicate {
        /// Which.
        parts: Vec<PartId>,
    },
    /// Settings are changed.
    Set(Vec<Assignment>),
    /// What may be spent on a blank canvas; none for as much as one likes.
    Budget(Option<u64>),
    /// A source of traffic becomes one of a preset: its settings and its name.
    Preset {
        /// Which source.
        traffic: usize,
        /// What it is called from now on.
        name: String,
        /// Its settings.
        settings: Traffic,
    },
}

/// Why an edit was refused, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// A setting that cannot be so.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// Anything else.
    #[error("{0}")]
    Rule(String),
}

impl EditError {
    /// A rule that was broken.
    pub fn rule(text: impl Into<String>) -> Self {
        Self::Rule(text.into())
    }
}

/// A fleet that is being drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Board {
    blueprint: Blueprint,
    budget: Option<u64>,
    /// The tag of each part, kind by kind.
    tags: [Vec<u32>; 4],
    next_tag: u32,
}

impl Board {
    /// A board with this fleet on it, on which so many credits may be spent.
    pub fn new(blueprint: Blueprint, budget: Option<u64>) -> Self {
        let mut board = Self { blueprint, budget, tags: Default::default(), next_tag: 0 };
        board.tag();
        board
    }

    /// The fleet.
    pub fn blueprint(&self) -> &Blueprint {
        &self.blueprint
    }

    /// How many credits may be spent; none for as many as one likes.
    pub fn budget(&self) -> Option<u64> {
        self.budget
    }

    /// For each part of this board, the place among its kind that it had on another one; none if it was not there.
    pub fn origins(&self, before: &Self) -> impl Fn(PartId) -> Option<usize> + use<> {
        let origins = Part::ALL.map(|part| {
            let kind = part as usize;
            let before: BTreeMap<u32, usize> =
                before.tags[kind].iter().enumerate().map(|(index, tag)| (*tag, index)).collect();
            self.tags[kind].iter().map(|tag| before.get(tag).copied()).collect::<Vec<_>>()
        });
        move |id: PartId| origins[id.part as usize].get(id.index).copied().flatten()
    }

    /// Gives tags to the parts that came at the end of their kind, and takes those of parts that went from there.
    fn tag(&mut self) {
        for part in Part::ALL {
            let tags = &mut self.tags[part as usize];
            let count = self.blueprint.count(part);
            tags.truncate(count);
            while tags.len() < count {
                tags.push(self.next_tag);
                self.next_tag += 1;
            }
        }
    }

    /// Carries out an edit. Returns the parts that it was about, where they now are.
    ///
    /// # Errors
    /// In one sentence, why it cannot be; the board is then as it was.
    pub fn edit(&mut self, edit: &Edit) -> Result<Vec<PartId>, EditError> {
        let mut board = self.clone();
        let about = board.carry_out(edit)?;
        board.blueprint.order_links();
        board.tag();
        *self = board;
        Ok(about)
    }

    fn carry_out(&mut self, edit: &Edit) -> Result<Vec<PartId>, EditError> {
        let blueprint = &mut self.blueprint;
        match edit {
            Edit::Place { piece, at } => place(blueprint, *piece, *at).map(|id| vec![id]),
            Edit::Move { parts, by } => shift(blueprint, parts, *by),
            Edit::Link { from, to } => link(blueprint, *from, *to),
            Edit::Unlink { from, to } => {
                let before = blueprint.links.len();
                blueprint.links.retain(|link| *link != (*from, *to));
                match blueprint.links.len() < before {
                    true => Ok(Vec::new()),
                    false => Err(EditError::rule("They are not linked.")),
                }
            }
            Edit::LinkAll { from } => link_all(blueprint, *from),
            Edit::UnlinkAll { from } => {
                blueprint.links.retain(|(sender, _)| sender != from);
                Ok(Vec::new())
            }
            Edit::Open { blueprint, budget } => {
                self.blueprint = (**blueprint).clone();
                self.budget = *budget;
                // They are other parts, even where they stand in the place of the old ones.
                self.tags = Default::default();
                Ok(Vec::new())
            }
            Edit::Delete { parts } => {
                there(blueprint, parts)?;
                self.delete(parts);
                Ok(Vec::new())
            }
            Edit::Duplicate { parts } => duplicate(blueprint, parts),
            Edit::Set(changes) => apply(blueprint, changes).map(|()| Vec::new()).map_err(EditError::from),
            Edit::Budget(budget) => {
                self.budget = *budget;
                Ok(Vec::new())
            }
            Edit::Preset { traffic, name, settings } => {
                let id = PartId::new(Part::Traffic, *traffic);
                there(blueprint, &[id])?;
                blueprint.traffics[*traffic] = settings.clone();
                let name = free_name(blueprint, name, id);
                blueprint.names.insert(id, name);
                Ok(vec![id])
            }
        }
    }

    fn delete(&mut self, parts: &[PartId]) {
        // From the end, so that the places of those still to go stay what they are.
        let mut parts = parts.to_vec();
        parts.sort_unstable();
        parts.dedup();
        for id in parts.into_iter().rev() {
            self.blueprint.remove(id);
            self.tags[id.part as usize].remove(id.index);
        }
    }
}

fn there(blueprint: &Blueprint, parts: &[PartId]) -> Result<(), EditError> {
    match parts.iter().all(|id| id.index < blueprint.count(id.part)) {
        true => Ok(()),
        false => Err(EditError::rule("That part is not there any more.")),
    }
}

fn room_for(blueprint: &Blueprint, more: usize) -> Result<(), EditError> {
    let there = blueprint.parts();
    match there + more <= MOST_ON_BOARD {
        true => Ok(()),
        false => Err(EditError::rule(format!("The board takes {MOST_ON_BOARD} parts, and {there} are there."))),
    }
}

const NO_ROOM: &str = "There is no room left on the board: move or delete something.";

fn place(blueprint: &mut Blueprint, piece: Piece, at: Place) -> Result<PartId, EditError> {
    room_for(blueprint, 1)?;
    let part = piece.part();
    let wish = inside_board(part, at).on_grid();
    let shift = nearest_free(&[(part, wish)], &blueprint.standing()).ok_or_else(|| EditError::rule(NO_ROOM))?;
    let id = PartId::new(part, blueprint.count(part));
    match piece {
        Piece::Traffic => blueprint.traffics.push(Traffic::default()),
        Piece::Balancer => blueprint.balancers.push(Balancer::default()),
        Piece::Router => blueprint.routers.push(Router::default()),
        Piece::Replica => blueprint.replicas.push(Replica::default()),
        Piece::LargeReplica => blueprint.replicas.push(Replica::large()),
    }
    blueprint.places.insert(id, wish.moved(shift));
    Ok(id)
}

/// Each part once, in the order in which they are named.
fn once(parts: &[PartId]) -> Vec<PartId> {
    let mut seen = BTreeSet::new();
    parts.iter().copied().filter(|id| seen.insert(*id)).collect()
}

fn shift(blueprint: &mut Blueprint, parts: &[PartId], by: (i32, i32)) -> Result<Vec<PartId>, EditError> {
    there(blueprint, parts)?;
    let parts = once(parts);
    // Further than that all are off the board anyway, and so no sum overflows.
    let by = (by.0.clamp(-BOARD.0, BOARD.0), by.1.clamp(-BOARD.1, BOARD.1));
    let moving = |id: &PartId| Some((id.part, blueprint.places.get(id)?.moved(by).on_grid()));
    let moving: Vec<(Part, Place)> = parts.iter().filter_map(moving).collect();
    let standing = blueprint.places.iter().filter(|(id, _)| !parts.contains(id));
    let standing: Vec<(Part, Place)> = standing.map(|(id, at)| (id.part, *at)).collect();
    let shift = nearest_free(&moving, &standing).ok_or_else(|| EditError::rule(NO_ROOM))?;
    for id in &parts {
        if let Some(at) = blueprint.places.get_mut(id) {
            *at = at.moved(by).on_grid().moved(shift);
        }
    }
    Ok(parts)
}

/// Why a part cannot send to another, in one sentence; none if it can, or does.
pub fn why_not_linked(from: PartId, to: PartId) -> Option<&'static str> {
    if from == to {
        return Some("A part cannot send to itself.");
    }
    if from.part.may_send_to(to.part) {
        return None;
    }
    Some(match (from.part, to.part) {
        (Part::Replica, _) => "A replica answers calls itself: nothing goes on from it.",
        (_, Part::Traffic) => "Traffic only sends: nothing can be linked to it.",
        (Part::Router, _) => "A router picks a replica: link it to replicas.",
        _ => "A load balancer sends to routers or replicas.",
    })
}

fn link(blueprint: &mut Blueprint, from: PartId, to: PartId) -> Result<Vec<PartId>, EditError> {
    there(blueprint, &[from, to])?;
    if let Some(why) = why_not_linked(from, to) {
        return Err(EditError::rule(why));
    }
    if blueprint.links.contains(&(from, to)) {
        return Err(EditError::rule("They are linked already."));
    }
    blueprint.links.push((from, to));
    Ok(Vec::new())
}

fn link_all(blueprint: &mut Blueprint, from: PartId) -> Result<Vec<PartId>, EditError> {
    there(blueprint, &[from])?;
    if let Some(why) = why_not_linked(from, PartId::new(Part::Replica, usize::MAX)) {
        return Err(EditError::rule(why));
    }
    for index in 0..blueprint.replicas.len() {
        let link = (from, PartId::new(Part::Replica, index));
        if !blueprint.links.contains(&link) {
            blueprint.links.push(link);
        }
    }
    Ok(Vec::new())
}

fn duplicate(blueprint: &mut Blueprint, parts: &[PartId]) -> Result<Vec<PartId>, EditError> {
    there(blueprint, parts)?;
    let parts = once(parts);
    room_for(blueprint, parts.len())?;
    let aside = |id: &PartId| Some((id.part, blueprint.places.get(id)?.moved((40, 40))));
    let wishes: Vec<(Part, Place)> = parts.iter().filter_map(aside).collect();
    let shift = nearest_free(&wishes, &blueprint.standing()).ok_or_else(|| EditError::rule(NO_ROOM))?;
    let mut twins: BTreeMap<PartId, PartId> = BTreeMap::new();
    for id in parts {
        let twin = PartId::new(id.part, blueprint.count(id.part));
        match id.part {
            Part::Traffic => blueprint.traffics.push(blueprint.traffics[id.index].clone()),
            Part::Balancer => blueprint.balancers.push(blueprint.balancers[id.index].clone()),
            Part::Router => blueprint.routers.push(blueprint.routers[id.index].clone()),
            Part::Replica => blueprint.replicas.push(blueprint.replicas[id.index].clone()),
        }
        if let Some(name) = blueprint.names.get(&id).cloned() {
            let name = free_name(blueprint, &name, twin);
            blueprint.names.insert(twin, name);
        }
        if let Some(at) = blueprint.places.get(&id) {
            let at = at.moved((40, 40)).moved(shift);
            blueprint.places.insert(twin, at);
        }
        twins.insert(id, twin);
    }
    let known = blueprint.links.clone();
    for (from, to) in known {
        let (from_twin, to_twin) = (twins.get(&from), twins.get(&to));
        if from_twin.is_some() || to_twin.is_some() {
            blueprint.links.push((from_twin.copied().unwrap_or(from), to_twin.copied().unwrap_or(to)));
        }
    }
    Ok(twins.into_values().collect())
}

/// A name that no other source of traffic has: this one, or it with a number.
fn free_name(blueprint: &Blueprint, name: &str, own: PartId) -> String {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end();
    let stem = if stem.is_empty() { name } else { stem };
    let taken = |name: &str| blueprint.names.iter().any(|(id, known)| *id != own && known == name);
    if !taken(name) {
        return name.to_owned();
    }
    (2..).map(|number| format!("{stem} {number}")).find(|name| !taken(name)).unwrap_or_default()
}

impl Blueprint {
    /// A part goes, with its links; those behind it in its kind move up.
    fn remove(&mut self, id: PartId) {
        match id.part {
            Part::Traffic => drop(self.traffics.remove(id.index)),
            Part::Balancer => drop(self.balancers.remove(id.index)),
            Part::Router => drop(self.routers.remove(id.index)),
            Part::Replica => drop(self.replicas.remove(id.index)),
        }
        let moved = |other: PartId| match other.part == id.part && other.index > id.index {
            true => PartId::new(other.part, other.index - 1),
            false => other,
        };
        self.links.retain(|(from, to)| *from != id && *to != id);
        for (from, to) in &mut self.links {
            (*from, *to) = (moved(*from), moved(*to));
        }
        let keep = |other: &PartId| *other != id;
        let names = std::mem::take(&mut self.names).into_iter().filter(|(other, _)| keep(other));
        self.names = names.map(|(other, name)| (moved(other), name)).collect();
        let places = std::mem::take(&mut self.places).into_iter().filter(|(other, _)| keep(other));
        self.places = places.map(|(other, at)| (moved(other), at)).collect();
    }

    /// Brings the links into the order of the parts that they leave. The order of each part's own links, which is the order
    /// of its turns, stays.
    pub fn order_links(&mut self) {
        self.links.sort_by_key(|(from, _)| *from);
    }

    /// What a part lacks for calls to pass through it, in a few words.
    pub fn missing(&self, id: PartId) -> Option<&'static str> {
        let onward = id.part == Part::Replica || self.next_of(id).next().is_some();
        if !onward {
            return Some(match id.part {
                Part::Traffic => "leads nowhere: link it to a router, a balancer or a replica",
                Part::Balancer => "leads nowhere: link it to routers or replicas",
                _ => "leads nowhere: link it to replicas",
            });
        }
        let inward = id.part == Part::Traffic || self.links.iter().any(|(_, to)| *to == id);
        (!inward).then_some("nothing sends to it")
    }
}
