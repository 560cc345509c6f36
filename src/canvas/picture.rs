//! The fleet at one moment, copied out of a run's world: all that the canvas draws, and nothing that is not in there.

use super::kv_bar::{KvBlock, kv_blocks};
use crate::blueprint::{BalancerPolicy, Blueprint, Part, PartId, Place, Policy, name_of};
use crate::sim::{
    BalancerState, Call, Cpu, Decision, Decoding, Family, KvCache, Micros, ReplicaState, Roster, RouterState, Run,
    Slots, TrafficState, Waiting, Watch,
};
use bevy::prelude::{Entity, World};
use std::collections::BTreeMap;

/// At most so many calls of a queue are named by their prefix; beyond that a queue is a number.
pub const MOST_NAMED: usize = 24;

/// At most so many decisions are copied.
const MOST_DECISIONS: usize = 8;

/// The fleet at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FleetPicture {
    /// The moment.
    pub now: Micros,
    /// The sources of traffic, in the order of the blueprint, as the other parts.
    pub traffics: Vec<TrafficPicture>,
    /// The load balancers.
    pub balancers: Vec<BalancerPicture>,
    /// The routers.
    pub routers: Vec<RouterPicture>,
    /// The replicas.
    pub replicas: Vec<ReplicaPicture>,
    /// Who sends to whom.
    pub links: Vec<LinkPicture>,
    /// Where parts stand, where somebody put them.
    pub places: BTreeMap<PartId, Place>,
    /// The routers' last decisions, newest first; none in a run that nobody watches.
    pub decisions: Vec<Decision>,
}

/// A link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkPicture {
    /// The part that sends.
    pub from: PartId,
    /// The part that is sent to.
    pub to: PartId,
}

/// A source of traffic.
#[derive(Clone, Debug, PartialEq)]
pub struct TrafficPicture {
    /// What it is called, if it has a name of its own.
    pub name: Option<String>,
    /// How many sessions it is set to begin in a second.
    pub sessions_per_s: f64,
}

/// A load balancer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BalancerPicture {
    /// How it picks the next part.
    pub policy: BalancerPolicy,
}

/// A router.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RouterPicture {
    /// How it picks a replica.
    pub policy: Policy,
    /// The chance that a call is sticky.
    pub affinity: f64,
    /// From so many waiting at its home a sticky call spills; 0 never spills.
    pub spill: u64,
    /// Is it up? If not, it crashed and refuses calls.
    pub up: bool,
    /// Its slots.
    pub slots: u64,
    /// Those that are taken.
    pub slots_taken: u64,
    /// Calls in its queue.
    pub waiting: u64,
    /// Its cores.
    pub cores: u64,
    /// Those that are busy.
    pub cores_busy: u64,
    /// Busy cores summed over time since the start, in core-microseconds: its growth is the busy share.
    pub cpu_area: u128,
}

/// A replica.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplicaPicture {
    /// Is it a large one?
    pub large: bool,
    /// Its slots.
    pub slots: u64,
    /// Calls in prefill: one or none.
    pub prefilling: u64,
    /// Calls that decode.
    pub decoding: u64,
    /// Calls in its queue.
    pub waiting: u64,
    /// Whose prefixes the first of them carry, the head of the queue first; at most [`MOST_NAMED`].
    pub waiting_families: Vec<Family>,
    /// Tokens that its KV cache holds or has reserved.
    pub kv_used: u64,
    /// Tokens that it may hold.
    pub kv_capacity: u64,
    /// What it holds, as blocks of a bar.
    pub kv: Vec<KvBlock>,
    /// How it stands to the shared prefix.
    pub shared: SharedPrefix,
    /// Time that its prefill lane was busy since the start, in microseconds.
    pub lane_area: u128,
    /// Slots taken summed over time since the start, in slot-microseconds.
    pub slots_area: u128,
    /// Tokens found in its cache, of the calls sent since measuring began.
    pub hit_tokens: u64,
    /// Tokens of these calls' prompts.
    pub prompt_tokens: u64,
}

/// How a replica stands to a shared prefix of the fleet's traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedPrefix {
    /// Its cache does not hold it.
    Absent,
    /// Its cache holds it, but no router sends calls to it for that.
    Copy,
    /// It is where a router sends the calls that start with it, and its cache holds it.
    Home,
}

impl FleetPicture {
    /// The fleet of a run as it is.
    pub fn of(run: &Run) -> Self {
        Self::since(run, None)
    }

    /// As [`FleetPicture::of`], but with the KV bars of a picture that was taken a moment ago: what a large cache holds
    /// takes long to list, and nobody sees it change from frame to frame.
    pub fn since(run: &Run, before: Option<&Self>) -> Self {
        let before = before.filter(|before| before.replicas.len() == run.blueprint().replicas.len());
        let (world, blueprint, now) = (run.world(), run.blueprint(), run.now());
        let roster = world.resource::<Roster>();
        let homes = shared_homes(world, roster);
        Self {
            now,
            traffics: traffic_pictures(blueprint),
            balancers: roster.balancers.iter().filter_map(|&balancer| balancer_picture(world, balancer)).collect(),
            routers: roster.routers.iter().filter_map(|&router| router_picture(world, router, now)).collect(),
            replicas: (roster.replicas.iter().enumerate())
                .filter_map(|(index, &it)| {
                    replica_picture(world, it, now, &homes, before.map(|before| &before.replicas[index].kv))
                })
                .collect(),
            links: blueprint.links.iter().map(|&(from, to)| LinkPicture { from, to }).collect(),
            places: blueprint.places.clone(),
            decisions: world.resource::<Watch>().decisions.iter().take(MOST_DECISIONS).copied().collect(),
        }
    }

    /// How many parts of a kind there are.
    pub fn count(&self, part: Part) -> usize {
        match part {
            Part::Traffic => self.traffics.len(),
            Part::Balancer => self.balancers.len(),
            Part::Router => self.routers.len(),
            Part::Replica => self.replicas.len(),
        }
    }

    /// The name of a part: for a source of traffic its own, if it has one; else its kind, and its number from 1 where there are several of that kind. A replica always has its
    /// number.
    pub fn name(&self, id: PartId) -> String {
        let own = match id.part {
            Part::Traffic => self.traffics.get(id.index).and_then(|traffic| traffic.name.as_deref()),
            _ => None,
        };
        name_of(id, own, self.count(id.part))
    }

    /// Has it the same parts as the other one, linked alike and at the same places?
    pub fn same_parts(&self, other: &Self) -> bool {
        self.links == other.links
            && self.places == other.places
            && Part::ALL.iter().all(|&part| self.count(part) == other.count(part))
    }
}

fn traffic_pictures(blueprint: &Blueprint) -> Vec<TrafficPicture> {
    let name = |index| blueprint.names.get(&PartId::new(Part::Traffic, index)).cloned();
    let sources = blueprint.traffics.iter().enumerate();
    sources.map(|(index, source)| TrafficPicture { name: name(index), sessions_per_s: source.sessions_per_s }).collect()
}

/// The replicas that are the home of a shared prefix on a router whose policy has homes.
fn shared_homes(world: &World, roster: &Roster) -> Vec<Entity> {
    let sources = || roster.traffics.iter().filter_map(|&traffic| world.get::<TrafficState>(traffic));
    let prefixes = || sources().map(|source| (source.number as u32, source.settings.shared_tokens));
    let routers = roster.routers.iter().filter_map(|&router| world.get::<RouterState>(router));
    let routers =
        routers.filter(|router| router.settings.policy == Policy::StickySpill && router.settings.affinity > 0.0);
    routers.flat_map(|router| prefixes().filter_map(|prefix| router.memory.shared_home(prefix))).collect()
}

fn balancer_picture(world: &World, balancer: Entity) -> Option<BalancerPicture> {
    Some(BalancerPicture { policy: world.get::<BalancerState>(balancer)?.settings.policy })
}

fn router_picture(world: &World, router: Entity, now: Micros) -> Option<RouterPicture> {
    let state = world.get::<RouterState>(router)?;
    let (slots, waiting) = (world.get::<Slots>(router)?, world.get::<Waiting>(router)?);
    let cpu = world.get::<Cpu>(router)?;
    Some(RouterPicture {
        policy: state.settings.policy,
        affinity: state.settings.affinity,
        spill: state.settings.spill,
        up: state.up,
        slots: slots.capacity,
        slots_taken: slots.taken.value(),
        waiting: waiting.len(),
        cores: cpu.cores,
        cores_busy: cpu.busy.value(),
        cpu_area: cpu.busy.area(now),
    })
}

fn replica_picture(
    world: &World,
    replica: Entity,
    now: Micros,
    homes: &[Entity],
    kv: Option<&Vec<KvBlock>>,
) -> Option<ReplicaPicture> {
    let state = world.get::<ReplicaState>(replica)?;
    let (slots, waiting) = (world.get::<Slots>(replica)?, world.get::<Waiting>(replica)?);
    let cache = world.get::<KvCache>(replica)?;
    let kv = kv.cloned().unwrap_or_else(|| kv_blocks(cache.capacity, cache.used(), || cache.contents()));
    let holds = kv.iter().any(|block| block.is_shared());
    Some(ReplicaPicture {
        large: state.settings.large,
        slots: slots.capacity,
        prefilling: u64::from(state.prefilling.is_some()),
        decoding: world.get::<Decoding>(replica)?.active(),
        waiting: waiting.len(),
        waiting_families: waiting_families(world, waiting),
        kv_used: cache.used(),
        kv_capacity: cache.capacity,
        kv,
        shared: match (holds, homes.contains(&replica)) {
            (false, _) => SharedPrefix::Absent,
            (true, false) => SharedPrefix::Copy,
            (true, true) => SharedPrefix::Home,
        },
        lane_area: state.lane.area(now),
        slots_area: slots.taken.area(now),
        hit_tokens: state.hit_tokens,
        prompt_tokens: state.prompt_tokens,
    })
}

/// The line of a queue may hold references to calls that have left it: they are passed over.
fn waiting_families(world: &World, waiting: &Waiting) -> Vec<Family> {
    let calls = waiting.line.iter().filter_map(|reference| {
        let call = world.get::<Call>(reference.entity)?;
        (call.generation == reference.generation).then(|| call.prompt.family())
    });
    calls.take(MOST_NAMED.min(waiting.len() as usize)).collect()
}
