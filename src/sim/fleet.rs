//! The running fleet as its handlers see it: every resource and query that an event may need, in one system parameter.
//!
//! Each kind of part has its handlers in its own file (`traffic`, `balancer`, `router`, `replica`), all of them methods of
//! [`Fleet`]. Here is what they have in common: dispatch, and the beginning and end of a call.

use super::calendar::{Calendar, Event};
use super::call::{Call, CallRef, Pool, Reason, Session, Stage};
use super::clock::{Clock, Micros, NEVER};
use super::kv_cache::Lease;
use super::measure::{Fate, Tally};
use super::parts::{BalancerState, IsReplica, IsRouter, Onward, ReplicaParts, Roster, RouterParts, Seat, TrafficState};
use super::prompt::Prompt;
use super::recording::Recording;
use super::standings::Standings;
use super::watch::{Sight, Watch};
use crate::blueprint::{Part, PartId};
use bevy::ecs::system::SystemParam;
use bevy::prelude::{Entity, Query, Res, ResMut};

/// Everything an event's handler may need.
#[derive(SystemParam)]
pub struct Fleet<'w, 's> {
    /// The clock.
    pub clock: ResMut<'w, Clock>,
    /// What happens next.
    pub calendar: ResMut<'w, Calendar>,
    /// The parts in order.
    pub roster: Res<'w, Roster>,
    /// What is measured.
    pub tally: ResMut<'w, Tally>,
    /// What is kept for somebody who watches.
    pub watch: ResMut<'w, Watch>,
    /// Entities to be used again.
    pub pool: ResMut<'w, Pool>,
    /// Who is least busy.
    pub standings: ResMut<'w, Standings>,
    /// The recorded trace, if there is one.
    pub recording: ResMut<'w, Recording>,
    /// Traffic sources.
    pub traffics: Query<'w, 's, (&'static Seat, &'static mut TrafficState, &'static mut Onward), TrafficOnly>,
    /// Sessions.
    pub sessions: Query<'w, 's, &'static mut Session>,
    /// Calls.
    pub calls: Query<'w, 's, &'static mut Call>,
    /// Balancers.
    pub balancers: Query<'w, 's, (&'static Seat, &'static mut BalancerState, &'static mut Onward), BalancerOnly>,
    /// Routers.
    pub routers: Query<'w, 's, RouterParts, IsRouter>,
    /// Replicas.
    pub replicas: Query<'w, 's, ReplicaParts, IsReplica>,
}

type TrafficOnly = bevy::prelude::Without<BalancerState>;
type BalancerOnly = bevy::prelude::Without<TrafficState>;

/// Why the fleet stopped to process events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Every event up to the moment asked for is processed.
    Reached,
    /// As many events as were allowed are processed.
    Allowance,
    /// The next event may need an entity that is not there yet.
    NeedsEntities,
    /// The recorded trace and all its calls have ended, or a line of it is wrong.
    Over,
}

impl Fleet<'_, '_> {
    /// Processes events up to `until`, at most `allowance` of them.
    pub fn run(&mut self, until: Micros, allowance: &mut u64) -> Stop {
        loop {
            if self.recording.failed() || (self.recording.is_over() && self.tally.inside == 0) {
                if until < NEVER {
                    self.clock.now = self.clock.now.max(until);
                }
                return Stop::Over;
            }
            if self.pool.calls.is_empty() || self.pool.sessions.is_empty() {
                return Stop::NeedsEntities;
            }
            if *allowance == 0 {
                return Stop::Allowance;
            }
            if self.watch.on {
                self.sample_until(until);
            }
            let Some((time, event)) = self.calendar.pop_until(until) else {
                self.clock.now = self.clock.now.max(until);
                return Stop::Reached;
            };
            self.clock.now = time;
            if self.handle(event) {
                self.calendar.processed += 1;
                *allowance -= 1;
            }
        }
    }

    /// Processes an event; false if it was void.
    fn handle(&mut self, event: Event) -> bool {
        match event {
            Event::WarmupEnds => self.begin_measuring(),
            Event::SessionArrives { traffic, generation } => return self.session_arrives(traffic, generation),
            Event::StepDue { session } => self.step_due(session),
            Event::RecordedDue => self.recorded_due(),
            Event::CoreFree { router, epoch } => return self.core_free(router, epoch),
            Event::Routed { call, generation } => return self.routed(CallRef { entity: call, generation }),
            Event::RouterTick { router, epoch } => return self.router_tick(router, epoch),
            Event::RouterUp { router } => return self.router_up(router),
            Event::PrefillDone { replica } => self.prefill_done(replica),
            Event::DecodeDone { replica, version } => return self.decode_done(replica, version),
            Event::TimedOut { call, generation } => return self.timed_out(CallRef { entity: call, generation }),
        }
        true
    }

    /// Measuring begins: averages over time start anew, and what was evicted so far does not count.
    fn begin_measuring(&mut self) {
        let now = self.clock.now;
        self.tally.crashes = 0;
        for mut router in &mut self.routers {
            router.cpu.busy.begin(now);
            router.slots.taken.begin(now);
            router.waiting.length.begin(now);
        }
        for mut replica in &mut self.replicas {
            replica.state.lane.begin(now);
            replica.slots.taken.begin(now);
            replica.waiting.length.begin(now);
            replica.state.evicted_before = replica.cache.evicted;
        }
        for (_, mut balancer, _) in &mut self.balancers {
            balancer.passed = 0;
        }
    }

    /// Is this reference still to the call it was made for, and is that call at this stage?
    pub fn is_at(calls: &Query<&'static mut Call>, call: CallRef, stage: Stage) -> bool {
        calls.get(call.entity).is_ok_and(|found| found.generation == call.generation && found.stage == stage)
    }

    /// Moves a call to a stage; returns a reference to it.
    pub fn enter(&mut self, entity: Entity, stage: Stage) -> Option<CallRef> {
        let now = self.clock.now;
        let mut call = self.calls.get_mut(entity).ok()?;
        call.stage = stage;
        call.since = now;
        Some(CallRef { entity, generation: call.generation })
    }

    /// Sends a new call from a source to the first part of its way.
    pub fn send(
        &mut self,
        source: PartId,
        to: Option<(Part, Entity)>,
        session: Option<Entity>,
        prompt: Prompt,
        output: u64,
        timeout: Micros,
    ) {
        let Some(entity) = self.pool.calls.pop() else { return };
        let (now, counted) = (self.clock.now, self.clock.now >= self.clock.warmup);
        let serial = self.tally.serial;
        self.tally.serial += 1;
        self.tally.inside += 1;
        self.tally.sent += u64::from(counted);
        let Ok(mut call) = self.calls.get_mut(entity) else { return };
        let generation = call.generation;
        let prompt_tokens = prompt.tokens();
        *call =
            Call { generation, serial, session, sent: now, counted, prompt, prompt_tokens, output, ..Call::default() };
        call.stage = Stage::RouterQueue;
        call.since = now;
        if timeout < NEVER {
            self.calendar.at(self.clock.after(timeout), Event::TimedOut { call: entity, generation });
        }
        self.deliver(source, to, entity);
    }

    /// Hands a call to the next part of its way.
    pub fn deliver(&mut self, from: PartId, to: Option<(Part, Entity)>, call: Entity) {
        match to {
            None | Some((Part::Traffic, _)) => self.fail(call, Reason::NoWayOnward, from),
            Some((Part::Balancer, balancer)) => self.arrive_at_balancer(from, balancer, call),
            Some((Part::Router, router)) => self.arrive_at_router(from, router, call),
            Some((Part::Replica, replica)) => {
                self.see_move(from, Part::Replica, replica, call);
                self.arrive_at_replica(replica, call);
            }
        }
    }

    /// Lets a watcher see a call go from a part to another.
    pub fn see_move(&mut self, from: PartId, part: Part, to: Entity, call: Entity) {
        if !self.watch.on {
            return;
        }
        let Ok(call) = self.calls.get(call) else { return };
        let (seat, held) = match part {
            Part::Router => (self.routers.get(to).map(|router| *router.seat).ok(), None),
            Part::Replica => match self.replicas.get(to) {
                Ok(replica) => (Some(*replica.seat), Some(replica.cache.peek(&call.prompt))),
                Err(_) => (None, None),
            },
            Part::Balancer => (self.balancers.get(to).map(|(seat, ..)| *seat).ok(), None),
            Part::Traffic => (None, None),
        };
        if let Some(Seat(to)) = seat {
            let held = held.filter(|_| call.finds).or(held.map(|_| 0));
            let sight =
                Sight::Moved { from, to, family: call.prompt.family(), held, prompt_tokens: call.prompt_tokens };
            self.watch.see(self.clock.now, sight);
        }
    }

    /// A call fails where it is; its place is given up by the caller.
    pub fn fail(&mut self, call: Entity, reason: Reason, at: PartId) {
        self.close(call, Fate::Failed(reason), Some(at));
        self.recycle(call);
    }

    /// A call's fate is decided: it is counted, and its task goes on or ends. Its entity stays for now.
    pub fn close(&mut self, entity: Entity, fate: Fate, at: Option<PartId>) {
        let now = self.clock.now;
        let Ok(mut call) = self.calls.get_mut(entity) else { return };
        call.closed = true;
        let seat = call.replica.and_then(|replica| self.replicas.get(replica).ok()).map(|replica| replica.seat.0);
        self.tally.ended(&call, fate, now, seat.map(|seat| seat.index as u32));
        self.tally.inside -= 1;
        if self.watch.on {
            let family = call.prompt.family();
            match (fate, at, seat) {
                (Fate::Failed(reason), Some(at), _) => {
                    self.watch.see(now, Sight::Rejected { at, family, reason });
                }
                (Fate::Answered, _, Some(at)) => self.watch.see(now, Sight::Answered { at, family }),
                _ => {}
            }
        }
        if let Some(session) = call.session.take() {
            match fate {
                Fate::Answered => self.step_answered(session),
                Fate::Failed(_) => self.end_session(session, false),
            }
        }
    }

    /// A call's entity is free for another.
    pub fn recycle(&mut self, entity: Entity) {
        let Ok(mut call) = self.calls.get_mut(entity) else { return };
        call.generation = call.generation.wrapping_add(1);
        call.stage = Stage::Unused;
        call.lease = Lease::default();
        self.pool.calls.push(entity);
    }

    /// A client gives up: the call leaves a queue at once, and a decode stops at once; a latency or a prefill under way
    /// is finished first.
    fn timed_out(&mut self, call: CallRef) -> bool {
        let entity = call.entity;
        let Ok(found) = self.calls.get(entity) else { return false };
        if found.generation != call.generation || !found.in_flight() {
            return false;
        }
        let (stage, router, replica) = (found.stage, found.router, found.replica);
        let at = match (router, replica) {
            (_, Some(replica)) => self.replicas.get(replica).map(|replica| replica.seat.0).ok(),
            (Some(router), None) => self.routers.get(router).map(|router| router.seat.0).ok(),
            (None, None) => None,
        };
        self.close(entity, Fate::Failed(Reason::TimedOut), at);
        match (stage, router, replica) {
            (Stage::RouterQueue, Some(router), _) => self.leave_router_queue(router, entity),
            (Stage::RouterCpu, Some(router), _) => self.leave_router_cpu(router, entity),
            (Stage::ReplicaQueue, _, Some(replica)) => self.leave_replica_queue(replica, entity),
            (Stage::Decode, _, Some(replica)) => self.stop_decode(replica, entity),
            _ => {}
        }
        true
    }
}
