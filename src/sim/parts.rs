//! The parts of the running fleet: the components of traffic sources, balancers, routers and replicas.

use super::call::CallRef;
use super::chance::{LogNormal, Purpose, Stream};
use super::clock::{Micros, SECOND, micros_of_ms, whole_micros};
use super::decode::Decoding;
use super::kv_cache::KvCache;
use super::measure::OverTime;
use super::memory::Memory;
use super::standings::Contests;
use crate::blueprint::{self, Part, PartId};
use bevy::ecs::query::QueryData;
use bevy::prelude::{Component, Entity, Resource, With, Without};
use std::collections::VecDeque;

/// Which part of the blueprint this is.
#[derive(Component, Clone, Copy)]
pub struct Seat(pub PartId);

/// The parts that this one sends to, in order, and whose turn it is.
#[derive(Component, Default)]
pub struct Onward {
    /// The parts.
    pub parts: Vec<(Part, Entity)>,
    /// How many calls went on in turn.
    pub turn: u64,
}

impl Onward {
    /// The part whose turn it is.
    pub fn next_in_turn(&mut self) -> Option<(Part, Entity)> {
        let place = self.turn.checked_rem(self.parts.len() as u64)?;
        self.turn += 1;
        Some(self.parts[place as usize])
    }
}

/// The entities of the fleet by kind, each in the order of the blueprint. A removed part that is still finishing what it
/// has is not here any more.
#[derive(Resource, Default)]
pub struct Roster {
    /// Traffic sources.
    pub traffics: Vec<Entity>,
    /// Load balancers.
    pub balancers: Vec<Entity>,
    /// Routers.
    pub routers: Vec<Entity>,
    /// Replicas.
    pub replicas: Vec<Entity>,
    /// How many sources and routers there have been: the number of the next one. In a run that nobody changes it is the
    /// part's place, and none is given twice.
    pub numbers: Numbers,
}

/// How many parts with chances of their own there have been in a run, by kind.
#[derive(Default)]
pub struct Numbers {
    /// Traffic sources.
    pub traffics: usize,
    /// Routers.
    pub routers: usize,
}

/// Takes a number and leaves the next one.
pub fn take_number(next: &mut usize) -> usize {
    *next += 1;
    *next - 1
}

impl Roster {
    /// The entities of a kind.
    pub fn of(&self, part: Part) -> &Vec<Entity> {
        match part {
            Part::Traffic => &self.traffics,
            Part::Balancer => &self.balancers,
            Part::Router => &self.routers,
            Part::Replica => &self.replicas,
        }
    }

    /// The entities of a kind, to change.
    pub fn of_mut(&mut self, part: Part) -> &mut Vec<Entity> {
        match part {
            Part::Traffic => &mut self.traffics,
            Part::Balancer => &mut self.balancers,
            Part::Router => &mut self.routers,
            Part::Replica => &mut self.replicas,
        }
    }

    /// The entity of a part.
    pub fn get(&self, id: PartId) -> Option<Entity> {
        self.of(id.part).get(id.index).copied()
    }
}

/// Places of which so many may be taken at once.
#[derive(Component, Default)]
pub struct Slots {
    /// How many there are.
    pub capacity: u64,
    /// How many are taken, over time.
    pub taken: OverTime,
}

impl Slots {
    /// Is one free?
    pub fn free(&self) -> bool {
        self.taken.value() < self.capacity
    }

    /// Takes one.
    pub fn take(&mut self, now: Micros) {
        self.taken.set(now, self.taken.value() + 1);
    }

    /// Gives one back.
    pub fn give_back(&mut self, now: Micros) {
        self.taken.set(now, self.taken.value() - 1);
    }
}

/// A queue, first come, first served. A call that leaves it early stays in the line as a void reference until it comes to
/// the front or the line is swept.
#[derive(Component, Default)]
pub struct Waiting {
    /// How many may wait.
    pub capacity: u64,
    /// The line, void references included.
    pub line: VecDeque<CallRef>,
    /// How many wait, over time.
    pub length: OverTime,
}

impl Waiting {
    /// How many wait.
    pub fn len(&self) -> u64 {
        self.length.value()
    }

    /// Does nobody wait?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Is there room for one more?
    pub fn has_room(&self) -> bool {
        self.len() < self.capacity
    }

    /// One more waits, last in the line.
    pub fn join(&mut self, now: Micros, call: CallRef) {
        self.line.push_back(call);
        self.length.set(now, self.len() + 1);
    }

    /// The first of those who wait. `waits` tells a call that waits from a void reference.
    pub fn first(&mut self, mut waits: impl FnMut(CallRef) -> bool) -> Option<CallRef> {
        while let Some(&call) = self.line.front() {
            if waits(call) {
                return Some(call);
            }
            self.line.pop_front();
        }
        None
    }

    /// The first leaves for what it waited for.
    pub fn leave_first(&mut self, now: Micros) {
        self.line.pop_front();
        self.length.set(now, self.len() - 1);
    }

    /// One leaves early, from wherever it is.
    pub fn leave_early(&mut self, now: Micros, waits: impl FnMut(CallRef) -> bool) {
        self.length.set(now, self.len() - 1);
        let mut waits = waits;
        if self.line.len() as u64 > 2 * self.len() + 64 {
            self.line.retain(|&call| waits(call));
        }
    }
}

/// A source of traffic.
#[derive(Component)]
pub struct TrafficState {
    /// Its settings.
    pub settings: blueprint::Traffic,
    /// Gaps between sessions.
    pub arrivals: Stream,
    /// Which sessions carry the shared prefix.
    pub shared: Stream,
    /// Sessions begun.
    pub sessions: u64,
    /// When the next session begins.
    pub next: Micros,
    /// Rises when that is re-timed.
    pub generation: u32,
    /// What its chance and its shared prefix go by: its own for as long as the run goes on, whatever its place is.
    pub number: usize,
}

impl TrafficState {
    /// A source before its first session.
    pub fn new(settings: blueprint::Traffic, seed: u64, number: usize) -> Self {
        Self {
            settings,
            arrivals: Stream::new(seed, Purpose::Arrivals, number),
            shared: Stream::new(seed, Purpose::Shared, number),
            sessions: 0,
            next: 0,
            generation: 0,
            number,
        }
    }

    /// The time until the session after this one: exponential, as between the events of a Poisson stream.
    pub fn draw_gap(&mut self) -> Micros {
        whole_micros(self.arrivals.exponential() * 1e6 / self.settings.sessions_per_s)
    }
}

/// A load balancer.
#[derive(Component)]
pub struct BalancerState {
    /// Its settings.
    pub settings: blueprint::Balancer,
    /// Its tournament among [`super::standings::Standings`].
    pub tournament: usize,
    /// Calls that it passed on since measuring began.
    pub passed: u64,
}

/// The cores of a router.
#[derive(Component, Default)]
pub struct Cpu {
    /// How many cores.
    pub cores: u64,
    /// What a call takes of one.
    pub per_call: Micros,
    /// Cores that are busy, over time.
    pub busy: OverTime,
    /// Calls that wait for a core.
    pub line: VecDeque<CallRef>,
    /// The moments of the last ticks with the busy cores' area then: what the crash check looks back on.
    pub ticks: VecDeque<(Micros, u128)>,
    /// Is the next tick in the calendar? While the cores are idle there is nothing to check.
    pub ticking: bool,
    /// Since when the router is up.
    pub up_since: Micros,
}

/// The crash check looks back over so much time.
pub const CRASH_WINDOW: Micros = 5 * SECOND;

impl Cpu {
    /// The cores were idle for as long as the crash check looks back, and are not any more: sets down the ticks that
    /// would have been, on each whole second. Returns when the next one is.
    pub fn resume_ticks(&mut self, now: Micros) -> Micros {
        let area = self.busy.area(now);
        let last = now / SECOND * SECOND;
        let earliest = (last + SECOND).saturating_sub(CRASH_WINDOW).max(self.up_since);
        self.ticks.clear();
        self.ticks.push_back((earliest, area));
        let mut tick = earliest / SECOND * SECOND + SECOND;
        while tick <= last {
            self.ticks.push_back((tick, area));
            tick += SECOND;
        }
        self.ticking = true;
        last + SECOND
    }

    /// Forgets ticks that lie too far back to matter.
    pub fn forget_ticks(&mut self, now: Micros) {
        while self.ticks.front().is_some_and(|(then, _)| then + CRASH_WINDOW < now) {
            self.ticks.pop_front();
        }
    }

    /// The busy share of the cores over the last 5 s (between two ticks: up to a second more), or since the router is up.
    pub fn recent_share(&self, now: Micros) -> f64 {
        match self.ticks.front() {
            Some(&(then, area)) if self.ticking && now > then => {
                let busy = (self.busy.area(now) - area) as f64;
                (busy / (self.cores as f64 * (now - then) as f64)).clamp(0.0, 1.0)
            }
            _ => 0.0,
        }
    }
}

/// A router.
#[derive(Component)]
pub struct RouterState {
    /// Its settings.
    pub settings: blueprint::Router,
    /// Its latency.
    pub latency: LogNormal,
    /// The replicas that it sends to, by number.
    pub replicas: Vec<Entity>,
    /// Its tournament among [`super::standings::Standings`].
    pub tournament: usize,
    /// Calls that went round robin.
    pub counter: u64,
    /// Is it up?
    pub up: bool,
    /// Rises at each crash: what an older epoch set down is void.
    pub epoch: u32,
    /// What it knows of who holds what.
    pub memory: Memory,
    /// Its chances, one stream for each purpose.
    pub chances: RouterChances,
}

/// The random streams of a router.
pub struct RouterChances {
    /// Latencies.
    pub latency: Stream,
    /// Whether a call is sticky.
    pub affinity: Stream,
    /// Whether a replica finds the prefix that it holds.
    pub prefix_hit: Stream,
    /// The random policy.
    pub pick: Stream,
    /// Crashes.
    pub crash: Stream,
}

impl RouterState {
    /// A router that knows nothing yet and is linked to nothing.
    pub fn new(settings: &blueprint::Router, seed: u64, index: usize) -> Self {
        let stream = |purpose| Stream::new(seed, purpose, index);
        Self {
            settings: settings.clone(),
            latency: LogNormal::from_percentiles(settings.p50_ms, settings.p99_ms),
            replicas: Vec::new(),
            tournament: 0,
            counter: 0,
            up: true,
            epoch: 0,
            memory: Memory::default(),
            chances: RouterChances {
                latency: stream(Purpose::Latency),
                affinity: stream(Purpose::Affinity),
                prefix_hit: stream(Purpose::PrefixHit),
                pick: stream(Purpose::Pick),
                crash: stream(Purpose::Crash),
            },
        }
    }

    /// Takes over changed settings.
    pub fn set(&mut self, settings: &blueprint::Router, slots: &mut Slots, waiting: &mut Waiting, cpu: &mut Cpu) {
        self.settings = settings.clone();
        self.latency = LogNormal::from_percentiles(settings.p50_ms, settings.p99_ms);
        slots.capacity = settings.slots;
        waiting.capacity = settings.queue;
        cpu.cores = settings.vcpu;
        cpu.per_call = micros_of_ms(settings.cpu_ms);
    }
}

/// A replica.
#[derive(Component)]
pub struct ReplicaState {
    /// Its settings.
    pub settings: blueprint::Replica,
    /// The call in its prefill lane.
    pub prefilling: Option<CallRef>,
    /// Is a call in the lane? Over time.
    pub lane: OverTime,
    /// It was removed: it takes no new call.
    pub leaving: bool,
    /// Calls answered, of those sent after the warm-up.
    pub answered: u64,
    /// Tokens found, of calls sent after the warm-up.
    pub hit_tokens: u64,
    /// Tokens of prompts, of calls sent after the warm-up.
    pub prompt_tokens: u64,
    /// Tokens evicted before measuring began.
    pub evicted_before: u64,
}

impl ReplicaState {
    /// An empty replica.
    pub fn new(settings: &blueprint::Replica, now: Micros) -> Self {
        Self {
            settings: settings.clone(),
            prefilling: None,
            lane: OverTime::starting(now),
            leaving: false,
            answered: 0,
            hit_tokens: 0,
            prompt_tokens: 0,
            evicted_before: 0,
        }
    }
}

/// All of a router.
#[derive(QueryData)]
#[query_data(mutable)]
pub struct RouterParts {
    /// Its entity.
    pub entity: Entity,
    /// Which part of the blueprint it is.
    pub seat: &'static Seat,
    /// Settings, knowledge, health.
    pub state: &'static mut RouterState,
    /// Its slots.
    pub slots: &'static mut Slots,
    /// Its queue.
    pub waiting: &'static mut Waiting,
    /// Its cores.
    pub cpu: &'static mut Cpu,
    /// Where its load is reported.
    pub contests: &'static Contests,
}

/// What tells routers from replicas for queries over both.
pub type IsRouter = (With<RouterState>, Without<ReplicaState>);

/// All of a replica.
#[derive(QueryData)]
#[query_data(mutable)]
pub struct ReplicaParts {
    /// Its entity.
    pub entity: Entity,
    /// Which part of the blueprint it is.
    pub seat: &'static Seat,
    /// Settings, prefill lane, counts.
    pub state: &'static mut ReplicaState,
    /// Its slots.
    pub slots: &'static mut Slots,
    /// Its queue.
    pub waiting: &'static mut Waiting,
    /// Its KV cache.
    pub cache: &'static mut KvCache,
    /// Its decoding calls.
    pub decoding: &'static mut Decoding,
    /// Where its load is reported.
    pub contests: &'static Contests,
}

/// What tells replicas from routers for queries over both.
pub type IsReplica = (With<ReplicaState>, Without<RouterState>);

impl RouterPartsItem<'_, '_> {
    /// Calls in slots and queue.
    pub fn busy(&self) -> u64 {
        self.slots.taken.value() + self.waiting.len()
    }
}

impl ReplicaPartsItem<'_, '_> {
    /// Calls running and waiting.
    pub fn busy(&self) -> u64 {
        self.slots.taken.value() + self.waiting.len()
    }
}
