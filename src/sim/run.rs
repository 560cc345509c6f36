//! One run of a fleet: the plugin, the world it runs in, and how it is driven, looked at and changed.

use super::calendar::{Calendar, Event};
use super::call::{Call, Pool, Session};
use super::chance::{Purpose, Stream};
use super::clock::{Clock, Micros, NEVER};
use super::decode::Decoding;
use super::fleet::{Fleet, Stop};
use super::kv_cache::KvCache;
use super::measure::{OverTime, Tally};
use super::parts::{
    BalancerState, Cpu, Onward, ReplicaState, Roster, RouterState, Seat, Slots, TrafficState, Waiting, take_number,
};
use super::prompt::OwnChunks;
use super::recording::{Calls, Recording, TraceError};
use super::standings::{Contests, Standings, Tournament};
use super::watch::Watch;
use crate::blueprint::{Blueprint, Part, PartId, Replica};
use bevy::ecs::schedule::{LogLevel, ScheduleBuildSettings, ScheduleLabel, SingleThreadedExecutor};
use bevy::ecs::system::SystemState;
use bevy::prelude::{App, Entity, Plugin, Resource, Schedule, World};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// The schedule that advances the simulation.
#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Simulate;

/// How far the next run of [`Simulate`] goes.
#[derive(Resource, Default)]
struct Horizon {
    /// Up to this moment.
    until: Micros,
    /// At most so many events.
    allowance: u64,
    /// Where it stopped.
    stop: Option<Stop>,
}

/// The simulation. It adds the clock, the calendar and the other resources of a run, and [`Simulate`].
pub struct SimulationPlugin;

impl Plugin for SimulationPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Clock>()
            .init_resource::<Calendar>()
            .init_resource::<Roster>()
            .init_resource::<Tally>()
            .init_resource::<Watch>()
            .init_resource::<Pool>()
            .init_resource::<Standings>()
            .init_resource::<Recording>()
            .init_resource::<Horizon>();
        let mut schedule = Schedule::new(Simulate);
        schedule.set_executor(SingleThreadedExecutor::new());
        schedule.set_build_settings(ScheduleBuildSettings {
            ambiguity_detection: LogLevel::Error,
            ..ScheduleBuildSettings::default()
        });
        schedule.add_systems(advance);
        app.add_schedule(schedule);
    }
}

/// Processes what is due; makes room for new calls and sessions whenever there is none.
fn advance(world: &mut World, state: &mut SystemState<Fleet>) {
    let Horizon { until, mut allowance, .. } = *world.resource::<Horizon>();
    let stop = loop {
        // The parameter asks for resources that the plugin adds, so it is there.
        let Ok(mut fleet) = state.get_mut(world) else { break Stop::Over };
        match fleet.run(until, &mut allowance) {
            Stop::NeedsEntities => make_entities(world),
            stop => break stop,
        }
    };
    world.resource_mut::<Horizon>().stop = Some(stop);
}

fn make_entities(world: &mut World) {
    let (calls, sessions) = {
        let pool = world.resource::<Pool>();
        let more = (pool.all_calls.len() / 2).clamp(64, 65_536);
        (if pool.calls.is_empty() { more } else { 0 }, if pool.sessions.is_empty() { more } else { 0 })
    };
    let calls: Vec<Entity> = world.spawn_batch((0..calls).map(|_| Call::default())).collect();
    let sessions: Vec<Entity> = world.spawn_batch((0..sessions).map(|_| blank_session())).collect();
    let mut pool = world.resource_mut::<Pool>();
    pool.all_calls.extend(&calls);
    pool.calls.extend(calls.iter().rev());
    pool.sessions.extend(sessions.iter().rev());
}

/// What an entity holds before its first session.
fn blank_session() -> Session {
    Session {
        number: 0,
        traffic: Entity::PLACEHOLDER,
        shared: None,
        own: OwnChunks { base: 0, input: 0, output: 0 },
        steps: 0,
        step: 0,
        think_s: 0.0,
        timeout: NEVER,
        thinking: Stream::new(0, Purpose::Think, 0),
        started: 0,
        counted: false,
        homes: SmallVec::new(),
    }
}

/// What a run is of.
pub struct RunSpec {
    /// The fleet.
    pub blueprint: Blueprint,
    /// What its chance comes from.
    pub seed: u64,
    /// When measuring begins.
    pub warmup: Micros,
    /// A recorded trace, in the place of or beside the fleet's traffic sources; it goes to the routers in turn.
    pub recording: Option<Calls>,
}

/// A run of a fleet in a world of its own, at some moment.
#[derive(Resource)]
pub struct Run {
    world: World,
    blueprint: Blueprint,
}

impl Run {
    /// A run at time 0.
    pub fn new(spec: RunSpec) -> Self {
        let mut app = App::empty();
        app.add_plugins(SimulationPlugin);
        let mut world = std::mem::take(app.world_mut());
        *world.resource_mut::<Clock>() = Clock { now: 0, warmup: spec.warmup, seed: spec.seed };
        if spec.warmup > 0 {
            world.resource_mut::<Calendar>().at(spec.warmup, Event::WarmupEnds);
        }
        if let Some(calls) = spec.recording {
            let recording = Recording::new(calls);
            if let Some(first) = recording.next_time() {
                world.resource_mut::<Calendar>().at(first, Event::RecordedDue);
            }
            world.insert_resource(recording);
        }
        let mut run = Self { world, blueprint: Blueprint::default() };
        run.reconfigure(&spec.blueprint);
        run
    }

    /// Keeps from now on what somebody who watches wants to see.
    pub fn watch(&mut self) {
        self.world.resource_mut::<Watch>().on = true;
    }

    /// The fleet as it is set now.
    pub fn blueprint(&self) -> &Blueprint {
        &self.blueprint
    }

    /// The world, to look at.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// What was kept for a watcher, to take away what was looked at.
    pub fn watched(&mut self) -> bevy::prelude::Mut<'_, Watch> {
        self.world.resource_mut::<Watch>()
    }

    /// The present moment.
    pub fn now(&self) -> Micros {
        self.world.resource::<Clock>().now
    }

    /// Calls sent since the start, the warm-up included.
    pub fn calls_sent(&self) -> u64 {
        self.world.resource::<Tally>().serial
    }

    /// When measuring begins.
    pub fn warmup(&self) -> Micros {
        self.world.resource::<Clock>().warmup
    }

    /// Goes on up to `until`, but by at most `allowance` events. Returns whether it came so far (or the recorded trace
    /// ended before).
    pub fn advance(&mut self, until: Micros, allowance: u64) -> bool {
        *self.world.resource_mut::<Horizon>() = Horizon { until, allowance, stop: None };
        self.world.run_schedule(Simulate);
        self.world.resource::<Horizon>().stop != Some(Stop::Allowance)
    }

    /// Goes on to `until`.
    pub fn run_to(&mut self, until: Micros) {
        self.advance(until, u64::MAX);
    }

    /// Processes the next event, whenever it is.
    pub fn step(&mut self) {
        if self.world.resource::<Calendar>().next_time().is_some() {
            self.advance(NEVER, 1);
        }
    }

    /// The line of the recorded trace that was wrong, if one was: then the run is void.
    pub fn trace_error(&self) -> Option<&TraceError> {
        self.world.resource::<Recording>().error()
    }

    /// Makes the running fleet what `blueprint` says: settings act from now on, removed parts finish what they have,
    /// added ones are empty. What is inside never fails for it. The parts of a kind are taken to be the same as before up
    /// to the smaller number of them.
    pub fn reconfigure(&mut self, blueprint: &Blueprint) {
        let before = Part::ALL.map(|part| self.blueprint.count(part));
        self.rearrange(blueprint, |id| (id.index < before[id.part as usize]).then_some(id.index));
    }

    /// As [`Run::reconfigure`], where parts may have other places than before: `origin` tells the place that a part of the
    /// new blueprint had, or none if it is new. No two may have had the same one.
    pub fn rearrange(&mut self, blueprint: &Blueprint, origin: impl Fn(PartId) -> Option<usize>) {
        let mut moved = false;
        let mut places: [Vec<Option<Entity>>; 4] = Default::default();
        for part in Part::ALL {
            let before = std::mem::take(self.world.resource_mut::<Roster>().of_mut(part));
            let old = |index| origin(PartId::new(part, index)).and_then(|place: usize| before.get(place).copied());
            let now: Vec<Option<Entity>> = (0..blueprint.count(part)).map(old).collect();
            let shared = now.len().min(before.len());
            moved |= (0..shared).any(|index| now[index] != Some(before[index]));
            let staying: FxHashSet<Entity> = now.iter().flatten().copied().collect();
            for &entity in before.iter().filter(|entity| !staying.contains(entity)) {
                self.leave(entity);
            }
            places[part as usize] = now;
        }
        let mut repaced = Vec::new();
        for part in Part::ALL {
            for (index, entity) in places[part as usize].iter().enumerate() {
                if let Some(entity) = *entity
                    && self.change_part(entity, blueprint, PartId::new(part, index))
                {
                    repaced.push(entity);
                }
            }
        }
        for part in Part::ALL {
            let entities = std::mem::take(&mut places[part as usize]).into_iter().enumerate();
            for (index, entity) in entities {
                let entity = entity.unwrap_or_else(|| self.add_part(blueprint, PartId::new(part, index)));
                self.world.resource_mut::<Roster>().of_mut(part).push(entity);
            }
        }
        if moved {
            self.world.resource_mut::<Watch>().rearrange(&origin, blueprint.replicas.len());
        }
        // A part that no link of the blueprint names may still be named by a removed one.
        let counted = |part| self.blueprint.count(part) == blueprint.count(part);
        let same = !moved && self.blueprint.links == blueprint.links && Part::ALL.into_iter().all(counted);
        self.blueprint = blueprint.clone();
        if !same {
            self.link();
        }
        self.wake(&repaced);
    }

    fn roster_of(&self, part: Part) -> Vec<Entity> {
        self.world.resource::<Roster>().of(part).clone()
    }

    /// A part that stays has this place and these settings from now on. Returns whether it is a replica that now decodes at
    /// another pace.
    fn change_part(&mut self, entity: Entity, blueprint: &Blueprint, id: PartId) -> bool {
        let mut repaced = false;
        let now = self.now();
        if let Some(mut seat) = self.world.get_mut::<Seat>(entity) {
            seat.0 = id;
        }
        match id.part {
            Part::Traffic => self.change_traffic(entity, &blueprint.traffics[id.index]),
            Part::Balancer => {
                if let Some(mut state) = self.world.get_mut::<BalancerState>(entity) {
                    state.settings = blueprint.balancers[id.index].clone();
                }
            }
            Part::Router => {
                let new = &blueprint.routers[id.index];
                let mut query = self.world.query::<(&mut RouterState, &mut Slots, &mut Waiting, &mut Cpu)>();
                if let Ok((mut state, mut slots, mut waiting, mut cpu)) = query.get_mut(&mut self.world, entity)
                    && state.settings != *new
                {
                    state.set(new, &mut slots, &mut waiting, &mut cpu);
                }
            }
            Part::Replica => {
                let new = &blueprint.replicas[id.index];
                let mut query =
                    self.world.query::<(&mut ReplicaState, &mut Slots, &mut Waiting, &mut KvCache, &mut Decoding)>();
                if let Ok((mut state, mut slots, mut waiting, mut cache, mut decoding)) =
                    query.get_mut(&mut self.world, entity)
                    && state.settings != *new
                {
                    let pace = |replica: &Replica| (replica.decode_base_ms, replica.decode_per_call_ms);
                    repaced = pace(&state.settings) != pace(new);
                    state.settings = new.clone();
                    slots.capacity = new.slots;
                    waiting.capacity = new.queue;
                    cache.capacity = new.kv_tokens;
                    if repaced {
                        decoding.set_pace(now, new.decode_base_ms, new.decode_per_call_ms);
                    }
                }
            }
        }
        repaced
    }

    /// A source's next session comes the sooner the more there are: the same exponential, stretched to the new rate.
    fn change_traffic(&mut self, entity: Entity, new: &crate::blueprint::Traffic) {
        let now = self.now();
        let Some(mut state) = self.world.get_mut::<TrafficState>(entity).filter(|state| state.settings != *new) else {
            return;
        };
        let stretch = state.settings.sessions_per_s / new.sessions_per_s;
        let retimed = stretch != 1.0;
        state.settings = new.clone();
        if retimed {
            let wait = super::clock::whole_micros((state.next - now) as f64 * stretch);
            state.next = now.saturating_add(wait).min(NEVER);
            state.generation += 1;
            let (next, generation) = (state.next, state.generation);
            let event = Event::SessionArrives { traffic: entity, generation };
            self.world.resource_mut::<Calendar>().at(next, event);
        }
    }

    /// A part goes. It takes no new call and finishes what it has.
    fn leave(&mut self, entity: Entity) {
        if let Some(mut state) = self.world.get_mut::<ReplicaState>(entity) {
            state.leaving = true;
        }
        // The tournaments are laid anew without it: its place in one is another's now.
        if let Some(mut contests) = self.world.get_mut::<Contests>(entity) {
            contests.0.clear();
        }
        if let Some(mut state) = self.world.get_mut::<TrafficState>(entity) {
            // Its next session does not come; those that it has go on.
            state.generation += 1;
        }
    }

    /// A part comes; it is empty.
    fn add_part(&mut self, blueprint: &Blueprint, id: PartId) -> Entity {
        let (now, seed) = (self.now(), self.world.resource::<Clock>().seed);
        let (seat, index) = (Seat(id), id.index);
        match id.part {
            Part::Traffic => {
                let number = take_number(&mut self.world.resource_mut::<Roster>().numbers.traffics);
                let mut state = TrafficState::new(blueprint.traffics[index].clone(), seed, number);
                state.next = now.saturating_add(state.draw_gap()).min(NEVER);
                let (next, generation) = (state.next, state.generation);
                let entity = self.world.spawn((seat, state, Onward::default())).id();
                let event = Event::SessionArrives { traffic: entity, generation };
                self.world.resource_mut::<Calendar>().at(next, event);
                entity
            }
            Part::Balancer => {
                let settings = blueprint.balancers[index].clone();
                let state = BalancerState { settings, tournament: 0, passed: 0 };
                self.world.spawn((seat, state, Onward::default())).id()
            }
            Part::Router => self.add_router(seat, &blueprint.routers[index], seed),
            Part::Replica => {
                let settings = &blueprint.replicas[index];
                let slots = Slots { capacity: settings.slots, taken: OverTime::starting(now) };
                let waiting =
                    Waiting { capacity: settings.queue, length: OverTime::starting(now), ..Waiting::default() };
                let decoding = Decoding::new(settings.decode_base_ms, settings.decode_per_call_ms);
                let state = ReplicaState::new(settings, now);
                let cache = KvCache::new(settings.kv_tokens);
                self.world.spawn((seat, state, slots, waiting, cache, decoding, Contests::default())).id()
            }
        }
    }

    fn add_router(&mut self, seat: Seat, settings: &crate::blueprint::Router, seed: u64) -> Entity {
        let now = self.now();
        let number = take_number(&mut self.world.resource_mut::<Roster>().numbers.routers);
        let mut state = RouterState::new(settings, seed, number);
        let mut slots = Slots { taken: OverTime::starting(now), ..Slots::default() };
        let mut waiting = Waiting { length: OverTime::starting(now), ..Waiting::default() };
        let mut cpu = Cpu { busy: OverTime::starting(now), up_since: now, ..Cpu::default() };
        state.set(settings, &mut slots, &mut waiting, &mut cpu);
        self.world.spawn((seat, state, slots, waiting, cpu, Contests::default())).id()
    }

    /// Lays the links anew: who sends to whom, and between whom each router and balancer picks the least busy.
    fn link(&mut self) {
        let roster = |part| self.world.resource::<Roster>().of(part).clone();
        let (traffics, balancers, routers, replicas) =
            (roster(Part::Traffic), roster(Part::Balancer), roster(Part::Router), roster(Part::Replica));
        for &entity in routers.iter().chain(&replicas) {
            if let Some(mut contests) = self.world.get_mut::<Contests>(entity) {
                contests.0.clear();
            }
        }
        let mut tournaments = Vec::new();
        for (index, &entity) in traffics.iter().enumerate() {
            let parts = self.next_entities(PartId::new(Part::Traffic, index));
            if let Some(mut onward) = self.world.get_mut::<Onward>(entity) {
                onward.parts = parts;
            }
        }
        for (index, &entity) in balancers.iter().enumerate() {
            let parts = self.next_entities(PartId::new(Part::Balancer, index));
            let tournament = tournaments.len();
            tournaments.push(self.contest(tournament, parts.iter().map(|(_, entity)| *entity).collect()));
            if let Some(mut state) = self.world.get_mut::<BalancerState>(entity) {
                state.tournament = tournament;
            }
            if let Some(mut onward) = self.world.get_mut::<Onward>(entity) {
                onward.parts = parts;
            }
        }
        for (index, &entity) in routers.iter().enumerate() {
            let mut next: Vec<PartId> = self.blueprint.next_of(PartId::new(Part::Router, index)).collect();
            next.sort_unstable();
            let parts: Vec<Entity> = next.iter().filter_map(|id| self.world.resource::<Roster>().get(*id)).collect();
            let tournament = tournaments.len();
            tournaments.push(self.contest(tournament, parts.clone()));
            if let Some(mut state) = self.world.get_mut::<RouterState>(entity) {
                state.tournament = tournament;
                state.replicas = parts;
            }
        }
        self.cut_removed(&mut tournaments);
        self.world.resource_mut::<Standings>().0 = tournaments;
        self.world.resource_mut::<Recording>().onward.parts =
            routers.iter().map(|&router| (Part::Router, router)).collect();
    }

    /// Removed sources and routers that still finish what they have send it only to parts that are still there.
    fn cut_removed(&mut self, tournaments: &mut Vec<Tournament>) {
        let roster = self.world.resource::<Roster>();
        let (traffics, routers) = (roster.traffics.clone(), roster.routers.clone());
        let (next, replicas) =
            (roster.routers.iter().chain(&roster.balancers).chain(&roster.replicas), &roster.replicas);
        let (next, replicas): (Vec<Entity>, Vec<Entity>) = (next.copied().collect(), replicas.clone());
        let mut query = self.world.query::<(Entity, &mut Onward, &TrafficState)>();
        for (entity, mut onward, _) in query.iter_mut(&mut self.world) {
            if !traffics.contains(&entity) {
                onward.parts.retain(|(_, part)| next.contains(part));
            }
        }
        let mut query = self.world.query::<(Entity, &RouterState)>();
        let mut removed: Vec<(Entity, Vec<Entity>)> = (query.iter(&self.world))
            .filter(|(entity, _)| !routers.contains(entity))
            .map(|(entity, state)| {
                (entity, state.replicas.iter().copied().filter(|part| replicas.contains(part)).collect())
            })
            .collect();
        removed.sort_unstable();
        for (entity, parts) in removed {
            let tournament = tournaments.len();
            tournaments.push(self.contest(tournament, parts.clone()));
            if let Some(mut state) = self.world.get_mut::<RouterState>(entity) {
                state.tournament = tournament;
                state.replicas = parts;
            }
        }
    }

    fn next_entities(&self, from: PartId) -> Vec<(Part, Entity)> {
        let roster = self.world.resource::<Roster>();
        self.blueprint.next_of(from).filter_map(|id| Some((id.part, roster.get(id)?))).collect()
    }

    /// A tournament between these parts, each told where it stands in it.
    fn contest(&mut self, tournament: usize, parts: Vec<Entity>) -> Tournament {
        let mut busy = Vec::with_capacity(parts.len());
        for (place, &entity) in parts.iter().enumerate() {
            let taken = self.world.get::<Slots>(entity).map_or(0, |slots| slots.taken.value());
            let waiting = self.world.get::<Waiting>(entity).map_or(0, Waiting::len);
            busy.push(taken + waiting);
            if let Some(mut contests) = self.world.get_mut::<Contests>(entity) {
                contests.0.push((tournament as u32, place as u32));
            }
        }
        Tournament::new(busy.into_iter())
    }

    /// After a change: calls that waited for what is there now go on, and decodes are timed at their new pace.
    fn wake(&mut self, repaced: &[Entity]) {
        let (routers, replicas) = (self.roster_of(Part::Router), self.roster_of(Part::Replica));
        let mut state = SystemState::<Fleet>::new(&mut self.world);
        let Ok(mut fleet) = state.get_mut(&mut self.world) else { return };
        for router in routers {
            fleet.fill_slots(router);
            fleet.start_on_cores(router);
        }
        // Only these: what is entered anew comes after whatever else is due at the same moment.
        for replica in repaced {
            fleet.time_next_finish(*replica);
        }
        for replica in replicas {
            fleet.start_next(replica);
        }
    }
}
