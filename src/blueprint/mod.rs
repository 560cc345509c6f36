//! The blueprint: which parts a fleet has, how each is set and how they are linked.
//!
//! A blueprint is plain data. A level file or the player writes it, the simulation turns it into entities, and nothing
//! in here knows how either works. Every setting is said once, in [`settings`], and from there used by the inspector,
//! the command line, the level files and the report.

mod address;
mod board;
mod history;
mod names;
mod part_file;
mod parts;
mod piece;
mod place;
mod settings;

pub use address::{Address, Assignment, SettingError, apply};
pub use board::{Board, Edit, EditError, why_not_linked};
pub use history::{Change, History, Outcome};
pub use names::name_of;
pub use part_file::{PartFile, Tag, tag};
pub use parts::{Balancer, BalancerPolicy, Part, Policy, Replica, Router, Traffic};
pub use piece::Piece;
pub use place::{BOARD, GRID, MOST_ON_BOARD, Place, box_of, inside_board};
pub use settings::{Kind, Setting, Value, settings_of};

use serde_json::{Map, Number};
use std::collections::BTreeMap;

/// A kind of part and its place among its kind, counted from 0 in the order of the file or of placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PartId {
    /// The kind of part.
    pub part: Part,
    /// Its place among its kind, from 0.
    pub index: usize,
}

impl PartId {
    /// The part of this kind at this place.
    pub const fn new(part: Part, index: usize) -> Self {
        Self { part, index }
    }
}

/// A whole fleet: its parts, each with its settings, and the links between them.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Blueprint {
    /// The sources of traffic.
    pub traffics: Vec<Traffic>,
    /// The load balancers.
    pub balancers: Vec<Balancer>,
    /// The inference routers.
    pub routers: Vec<Router>,
    /// The model replicas.
    pub replicas: Vec<Replica>,
    /// Who sends to whom. The order of a part's links is the order in which it takes its next parts in turn.
    pub links: Vec<(PartId, PartId)>,
    /// What sources of traffic are called on the screen, where they have a name of their own.
    pub names: BTreeMap<PartId, String>,
    /// Where parts stand, where somebody put them.
    pub places: BTreeMap<PartId, Place>,
}

/// The most replicas a fleet may have.
pub const MOST_REPLICAS: usize = 4096;

impl Blueprint {
    /// A router before `replicas` replicas, all with the default settings and without traffic: where a replay starts.
    pub fn router_before(replicas: usize) -> Self {
        let router = PartId::new(Part::Router, 0);
        Self {
            routers: vec![Router::default()],
            replicas: vec![Replica::default(); replicas],
            links: (0..replicas).map(|index| (router, PartId::new(Part::Replica, index))).collect(),
            ..Self::default()
        }
    }

    /// How many parts of this kind there are.
    pub fn count(&self, part: Part) -> usize {
        match part {
            Part::Traffic => self.traffics.len(),
            Part::Balancer => self.balancers.len(),
            Part::Router => self.routers.len(),
            Part::Replica => self.replicas.len(),
        }
    }

    /// Every part, upstream first.
    pub fn ids(&self) -> impl Iterator<Item = PartId> + use<'_> {
        Part::ALL.into_iter().flat_map(|part| (0..self.count(part)).map(move |index| PartId::new(part, index)))
    }

    /// How many parts there are in all.
    pub fn parts(&self) -> usize {
        Part::ALL.iter().map(|part| self.count(*part)).sum()
    }

    /// The parts that this one sends to, in the order of its links.
    pub fn next_of(&self, from: PartId) -> impl Iterator<Item = PartId> + '_ {
        self.links.iter().filter(move |(a, _)| *a == from).map(|(_, b)| *b)
    }

    /// Makes it `count` replicas. Those that go are the last ones; those that come are set and linked like the first.
    pub fn resize_replicas(&mut self, count: usize) {
        let model = self.replicas.first().cloned().unwrap_or_default();
        let first = PartId::new(Part::Replica, 0);
        let upstream: Vec<PartId> = self.links.iter().filter(|(_, to)| *to == first).map(|(from, _)| *from).collect();
        let before = self.replicas.len();
        self.replicas.resize(count, model);
        self.places.retain(|id, _| id.part != Part::Replica || id.index < count);
        self.links.retain(|(_, to)| to.part != Part::Replica || to.index < count);
        for index in before..count {
            self.links.extend(upstream.iter().map(|&from| (from, PartId::new(Part::Replica, index))));
        }
        if !self.places.is_empty() {
            self.stand_apart();
        }
    }

    /// What was added to `given`, in credits: parts that a problem gives are free, and bring nothing back when they go.
    pub fn credits_over(&self, given: &Self) -> u64 {
        let added = |piece: Piece| self.count_of(piece).saturating_sub(given.count_of(piece)) as u64 * piece.credits();
        Piece::ALL.into_iter().map(added).sum()
    }

    /// How many parts of this piece there are.
    fn count_of(&self, piece: Piece) -> usize {
        match piece.part() {
            Part::Replica => self.replicas.iter().filter(|replica| replica.piece() == piece).count(),
            part => self.count(part),
        }
    }

    /// Every key with its value, as the report prints it. Where all parts of a kind agree the plain key speaks for them
    /// all; where they do not, it is the first one's, and each that differs follows with its index.
    pub fn settings_json(&self) -> Map<String, serde_json::Value> {
        let mut map = Map::new();
        if !self.replicas.is_empty() {
            map.insert("replicas".into(), Number::from(self.replicas.len()).into());
        }
        for part in Part::ALL {
            for setting in settings_of(part) {
                let mut plain = None;
                for index in 0..self.count(part) {
                    let value = setting.get(self, index);
                    match &plain {
                        None => {
                            map.insert(setting.key.into(), value.to_json());
                            plain = Some(value);
                        }
                        Some(first) if *first == value => {}
                        Some(_) => {
                            let key = format!("{}[{index}].{}", part.key(), setting.field());
                            map.insert(key, value.to_json());
                        }
                    }
                }
            }
        }
        map
    }

    /// The changes that make `given` this blueprint, as far as settings and the number of replicas go. Where all parts of a
    /// kind come to agree the plain key says it once.
    pub fn changes_from(&self, given: &Self) -> Vec<Assignment> {
        let mut changes = Vec::new();
        let mut given = given.clone();
        if self.replicas.len() != given.replicas.len() {
            changes.push(Assignment::new("replicas", self.replicas.len().to_string()));
            given.resize_replicas(self.replicas.len());
        }
        for part in Part::ALL {
            let count = self.count(part).min(given.count(part));
            for setting in settings_of(part) {
                let value = |index: usize| setting.get(self, index);
                let changed: Vec<usize> =
                    (0..count).filter(|&index| value(index) != setting.get(&given, index)).collect();
                if changed.is_empty() {
                    continue;
                }
                if (1..count).all(|index| value(index) == value(0)) {
                    changes.push(Assignment::new(setting.key, value(0).to_string()));
                } else {
                    changes.extend(changed.into_iter().map(|index| {
                        let key = format!("{}[{index}].{}", part.key(), setting.field());
                        Assignment::new(key, value(index).to_string())
                    }));
                }
            }
        }
        changes
    }

    /// What does not hold between settings, each of which is in its own range: the key and what is wrong with it.
    pub fn inconsistency(&self) -> Option<SettingError> {
        self.routers.iter().enumerate().find_map(|(index, router)| {
            (router.p99_ms < router.p50_ms).then(|| SettingError {
                key: if self.routers.len() == 1 { "router.p99_ms".into() } else { format!("router[{index}].p99_ms") },
                expected: format!("at least the median, router.p50_ms = {}", router.p50_ms),
                found: router.p99_ms.to_string(),
            })
        })
    }
}
