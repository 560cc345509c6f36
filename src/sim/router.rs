//! The inference router: its slots and queue, its cores, its latency, its decision, its crashes.

use super::calendar::Event;
use super::call::{CallRef, Reason, Stage};
use super::clock::SECOND;
use super::fleet::Fleet;
use super::parts::RouterPartsItem;
use super::policies::{self, Choice, Desk, Home, Why};
use super::prompt::Prompt;
use super::watch::Decision;
use crate::blueprint::{Part, PartId};
use bevy::prelude::Entity;

/// The busy share of the cores above which a router may crash, and how fast the chance rises above it.
const CRASH_ABOVE: f64 = 0.9;
const CRASH_SLOPE: f64 = 0.2;

impl Fleet<'_, '_> {
    /// A call comes to a router: it takes a slot, or waits for one, or is rejected.
    pub fn arrive_at_router(&mut self, from: PartId, router: Entity, call: Entity) {
        self.see_move(from, Part::Router, router, call);
        let now = self.clock.now;
        let Ok(mut parts) = self.routers.get_mut(router) else { return };
        let seat = parts.seat.0;
        if let Ok(mut call) = self.calls.get_mut(call) {
            call.router = Some(router);
        }
        if !parts.state.up {
            self.fail(call, Reason::RouterDown, seat);
        } else if parts.slots.free() {
            parts.slots.take(now);
            self.standings.report(parts.contests, parts.busy());
            self.wait_for_core(router, call);
        } else if parts.waiting.has_room() {
            if let Ok(mut found) = self.calls.get_mut(call) {
                found.stage = Stage::RouterQueue;
                parts.waiting.join(now, CallRef { entity: call, generation: found.generation });
            }
            self.standings.report(parts.contests, parts.busy());
        } else {
            self.fail(call, Reason::RouterQueueFull, seat);
        }
    }

    /// A call that holds a slot asks for a core.
    fn wait_for_core(&mut self, router: Entity, call: Entity) {
        let Some(reference) = self.enter(call, Stage::RouterCpu) else { return };
        let Ok(mut parts) = self.routers.get_mut(router) else { return };
        parts.cpu.line.push_back(reference);
        self.start_on_cores(router);
    }

    /// Calls that wait for a core start on those that are free. A call that needs no CPU time needs no core.
    pub fn start_on_cores(&mut self, router: Entity) {
        let now = self.clock.now;
        let Ok(mut parts) = self.routers.get_mut(router) else { return };
        let RouterPartsItem { state, cpu, .. } = &mut parts;
        while cpu.per_call == 0 || cpu.busy.value() < cpu.cores {
            let Some(call) = cpu.line.pop_front() else { return };
            let Ok(mut found) = self.calls.get_mut(call.entity) else { continue };
            if found.generation != call.generation || found.stage != Stage::RouterCpu {
                continue;
            }
            found.stage = Stage::RouterLatency;
            found.since = now;
            if cpu.per_call > 0 {
                if !cpu.ticking {
                    let tick = cpu.resume_ticks(now);
                    self.calendar.at(tick, Event::RouterTick { router, epoch: state.epoch });
                }
                let busy = cpu.busy.value() + 1;
                cpu.busy.set(now, busy);
                let free = self.clock.after(cpu.per_call);
                self.calendar.at(free, Event::CoreFree { router, epoch: state.epoch });
            }
            let law = state.latency;
            let latency = law.draw(&mut state.chances.latency);
            self.calendar
                .at(self.clock.after(latency), Event::Routed { call: call.entity, generation: call.generation });
        }
    }

    /// A core has done its work for a call.
    pub fn core_free(&mut self, router: Entity, epoch: u32) -> bool {
        let now = self.clock.now;
        let Ok(mut parts) = self.routers.get_mut(router) else { return false };
        if parts.state.epoch != epoch {
            return false;
        }
        let busy = parts.cpu.busy.value() - 1;
        parts.cpu.busy.set(now, busy);
        if !parts.cpu.line.is_empty() {
            self.start_on_cores(router);
        }
        true
    }

    /// A call's latency is over: it is routed on the state at this moment, then its slot is free.
    pub fn routed(&mut self, call: CallRef) -> bool {
        let Ok(found) = self.calls.get(call.entity) else { return false };
        if found.generation != call.generation || found.stage != Stage::RouterLatency {
            return false;
        }
        let Some(router) = found.router else { return false };
        if found.closed {
            self.recycle(call.entity);
        } else {
            self.route(router, call.entity);
        }
        self.free_slot(router);
        true
    }

    /// A slot of the router is free: the first of its queue takes it.
    fn free_slot(&mut self, router: Entity) {
        if let Ok(mut parts) = self.routers.get_mut(router) {
            parts.slots.give_back(self.clock.now);
            self.standings.report(parts.contests, parts.busy());
        }
        self.fill_slots(router);
    }

    /// Calls of the queue take slots as far as there are free ones.
    pub fn fill_slots(&mut self, router: Entity) {
        let now = self.clock.now;
        loop {
            let Ok(mut parts) = self.routers.get_mut(router) else { return };
            if parts.waiting.is_empty() || !parts.slots.free() {
                return;
            }
            let calls = &self.calls;
            let Some(call) = parts.waiting.first(|call| Self::is_at(calls, call, Stage::RouterQueue)) else { return };
            parts.waiting.leave_first(now);
            parts.slots.take(now);
            self.wait_for_core(router, call.entity);
        }
    }

    /// Picks a replica for a call and hands it over.
    fn route(&mut self, router: Entity, call: Entity) {
        let Ok(mut parts) = self.routers.get_mut(router) else { return };
        let Ok(mut found) = self.calls.get_mut(call) else { return };
        let seat = parts.seat.0;
        let state = &mut *parts.state;
        found.finds = state.chances.prefix_hit.chance(state.settings.prefix_hit);
        if state.replicas.is_empty() {
            self.fail(call, Reason::NoWayOnward, seat);
            return;
        }
        let mut desk = Desk {
            settings: &state.settings,
            replicas: &state.replicas,
            counter: &mut state.counter,
            affinity: &mut state.chances.affinity,
            pick: &mut state.chances.pick,
            standings: &self.standings.0[state.tournament],
        };
        let (memory, epoch, replicas, sessions) = (&state.memory, state.epoch, &self.replicas, &self.sessions);
        let choice = policies::choose(&mut desk, || {
            let home = match &found.prompt {
                Prompt::Recorded { blocks, tokens } => memory.recorded_home(blocks, *tokens),
                Prompt::Session(prompt) => match prompt.shared {
                    Some(prefix) => memory.shared_home(prefix),
                    None => found.session.and_then(|session| sessions.get(session).ok()).and_then(|session| {
                        let home = session.homes.iter().find(|home| home.0 == router && home.1 == epoch);
                        home.map(|home| home.2)
                    }),
                },
            }?;
            // A home that was removed is none.
            let parts = replicas.get(home).ok().filter(|parts| !parts.state.leaving)?;
            Some(Home { replica: home, waiting: parts.waiting.len() })
        });
        let spilled = matches!(choice.why, Why::Spilled { .. });
        found.spilled = spilled;
        if spilled && found.counted {
            self.tally.spills += 1;
        }
        if self.watch.on {
            self.see_decision(seat, choice, call);
        }
        self.see_move(seat, Part::Replica, choice.replica, call);
        if self.arrive_at_replica(choice.replica, call) {
            self.remember(router, call, choice.replica);
        }
    }

    fn see_decision(&mut self, router: PartId, choice: Choice, call: Entity) {
        let (Ok(call), Ok(replica)) = (self.calls.get(call), self.replicas.get(choice.replica)) else { return };
        self.watch.decide(Decision {
            at: self.clock.now,
            router,
            replica: replica.seat.0,
            why: choice.why,
            family: call.prompt.family(),
            held: if call.finds { replica.cache.peek(&call.prompt) } else { 0 },
            prompt_tokens: call.prompt_tokens,
        });
    }

    /// The replica accepted the call: it is the home of what the call carries.
    fn remember(&mut self, router: Entity, call: Entity, replica: Entity) {
        let Ok(mut parts) = self.routers.get_mut(router) else { return };
        let Ok(found) = self.calls.get(call) else { return };
        let epoch = parts.state.epoch;
        let memory = &mut parts.state.memory;
        match &found.prompt {
            Prompt::Recorded { blocks, tokens } => memory.note_sent(blocks, *tokens, replica),
            Prompt::Session(prompt) => {
                if let Some(prefix) = prompt.shared {
                    let gone = |home| self.replicas.get(home).map_or(true, |parts| parts.state.leaving);
                    if memory.shared_home(prefix).is_none_or(gone) {
                        memory.set_shared_home(prefix, replica);
                    }
                }
                if let Some(session) = found.session
                    && let Ok(mut session) = self.sessions.get_mut(session)
                {
                    match session.homes.iter_mut().find(|home| home.0 == router) {
                        Some(home) => *home = (router, epoch, replica),
                        None => session.homes.push((router, epoch, replica)),
                    }
                }
            }
        }
    }

    /// A second has passed: the router crashes with a chance that rises with the busy share of its cores.
    pub fn router_tick(&mut self, router: Entity, epoch: u32) -> bool {
        let now = self.clock.now;
        let Ok(mut parts) = self.routers.get_mut(router) else { return false };
        if parts.state.epoch != epoch {
            return false;
        }
        let cpu = &mut *parts.cpu;
        cpu.forget_ticks(now);
        let share = cpu.recent_share(now);
        cpu.ticks.push_back((now, cpu.busy.area(now)));
        if share > CRASH_ABOVE && parts.state.chances.crash.chance(CRASH_SLOPE * (share - CRASH_ABOVE)) {
            self.crash(router);
        } else if share == 0.0 && cpu.busy.value() == 0 {
            cpu.ticking = false;
        } else {
            self.calendar.at(self.clock.after(SECOND), Event::RouterTick { router, epoch });
        }
        true
    }

    /// The router crashes: every call inside fails, it forgets what it knew, and refuses calls until it is up again.
    fn crash(&mut self, router: Entity) {
        let now = self.clock.now;
        let Ok(mut parts) = self.routers.get_mut(router) else { return };
        let seat = parts.seat.0;
        parts.state.up = false;
        parts.state.epoch += 1;
        parts.state.memory.forget();
        parts.slots.taken.set(now, 0);
        parts.waiting.line.clear();
        parts.waiting.length.set(now, 0);
        parts.cpu.line.clear();
        parts.cpu.busy.set(now, 0);
        parts.cpu.ticking = false;
        self.standings.report(parts.contests, 0);
        let restart = super::clock::micros_of_s(parts.state.settings.restart_s);
        self.calendar.at(self.clock.after(restart), Event::RouterUp { router });
        if now >= self.clock.warmup {
            self.tally.crashes += 1;
        }
        let mut inside: Vec<(u64, Entity, bool)> = Vec::new();
        for entity in self.pool.all_calls.iter().copied() {
            let Ok(call) = self.calls.get(entity) else { continue };
            let in_router = matches!(call.stage, Stage::RouterQueue | Stage::RouterCpu | Stage::RouterLatency);
            if in_router && call.router == Some(router) {
                inside.push((call.serial, entity, call.closed));
            }
        }
        inside.sort_unstable();
        for (_, call, closed) in inside {
            if closed {
                self.recycle(call);
            } else {
                self.fail(call, Reason::RouterCrashed, seat);
            }
        }
    }

    /// A crashed router is up again, knowing nothing.
    pub fn router_up(&mut self, router: Entity) -> bool {
        let now = self.clock.now;
        let Ok(mut parts) = self.routers.get_mut(router) else { return false };
        parts.state.up = true;
        parts.cpu.up_since = now;
        true
    }

    /// A client gave up in the router's queue.
    pub fn leave_router_queue(&mut self, router: Entity, call: Entity) {
        self.recycle(call);
        let Ok(mut parts) = self.routers.get_mut(router) else { return };
        let calls = &self.calls;
        parts.waiting.leave_early(self.clock.now, |call| Self::is_at(calls, call, Stage::RouterQueue));
        self.standings.report(parts.contests, parts.busy());
    }

    /// A client gave up waiting for a core: that is a queue, so the call leaves at once and its slot is free.
    pub fn leave_router_cpu(&mut self, router: Entity, call: Entity) {
        self.recycle(call);
        self.free_slot(router);
    }
}
