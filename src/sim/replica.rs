//! A replica: its queue, admission to the prefill lane, prefill, decode.

use super::calendar::Event;
use super::call::{CallRef, Reason, Stage};
use super::clock::whole_micros;
use super::fleet::Fleet;
use super::measure::Fate;
use super::parts::ReplicaPartsItem;
use bevy::prelude::Entity;

impl Fleet<'_, '_> {
    /// A call comes to a replica: it starts, or waits, or is rejected. Returns whether the replica accepted it.
    pub fn arrive_at_replica(&mut self, replica: Entity, call: Entity) -> bool {
        let now = self.clock.now;
        let Ok(parts) = self.replicas.get(replica) else { return false };
        let Ok(mut found) = self.calls.get_mut(call) else { return false };
        let seat = parts.seat.0;
        found.replica = Some(replica);
        found.stage = Stage::ReplicaQueue;
        found.since = now;
        let reference = CallRef { entity: call, generation: found.generation };
        if !parts.cache.could_fit(found.prompt_tokens, found.output) {
            self.fail(call, Reason::PromptTooLarge, seat);
            return false;
        }
        let starts = parts.waiting.is_empty() && self.try_start(replica, reference);
        if !starts {
            let Ok(mut parts) = self.replicas.get_mut(replica) else { return false };
            if !parts.waiting.has_room() {
                self.fail(call, Reason::ReplicaQueueFull, seat);
                return false;
            }
            parts.waiting.join(now, reference);
        }
        self.report_load(replica);
        true
    }

    fn report_load(&mut self, replica: Entity) {
        if let Ok(parts) = self.replicas.get_mut(replica) {
            self.standings.report(parts.contests, parts.busy());
        }
    }

    /// Starts the prefill of a call, if the lane is free, a slot is free and the KV cache can hold it.
    fn try_start(&mut self, replica: Entity, call: CallRef) -> bool {
        let now = self.clock.now;
        let Ok(mut parts) = self.replicas.get_mut(replica) else { return false };
        let ReplicaPartsItem { state, slots, cache, .. } = &mut parts;
        if state.prefilling.is_some() || !slots.free() {
            return false;
        }
        let Ok(mut found) = self.calls.get_mut(call.entity) else { return false };
        let found = &mut *found;
        // A call accepted before the cache was made smaller than it needs runs alone: what is inside never fails.
        let too_large = !cache.could_fit(found.prompt_tokens, found.output);
        let force = too_large && slots.taken.value() == 0;
        let Some((lease, held)) = cache.admit(&found.prompt, found.output, force) else { return false };
        let hit = if found.finds { held } else { 0 };
        found.lease = lease;
        found.hit = hit;
        found.admitted = now;
        found.stage = Stage::Prefill;
        found.since = now;
        slots.take(now);
        state.prefilling = Some(call);
        state.lane.set(now, 1);
        let tokens = (found.prompt_tokens - hit).max(1);
        let settings = &state.settings;
        let time = settings.prefill_base_ms * 1e3 + tokens as f64 * 1e6 / settings.prefill_tokens_per_s;
        self.calendar.at(self.clock.after(whole_micros(time)), Event::PrefillDone { replica });
        if found.counted {
            state.hit_tokens += hit;
            state.prompt_tokens += found.prompt_tokens;
            self.tally.hit_tokens += hit;
            self.tally.prompt_tokens += found.prompt_tokens;
            self.tally.prefills += 1;
            self.tally.warm += u64::from(2 * hit > found.prompt_tokens);
        }
        self.watch.note_hit(now, hit, found.prompt_tokens);
        true
    }

    /// The head of the queue starts, if it can. While the lane is busy nothing can.
    pub fn start_next(&mut self, replica: Entity) {
        let now = self.clock.now;
        let Ok(mut parts) = self.replicas.get_mut(replica) else { return };
        if parts.waiting.is_empty() || parts.state.prefilling.is_some() {
            return;
        }
        let calls = &self.calls;
        let Some(head) = parts.waiting.first(|call| Self::is_at(calls, call, Stage::ReplicaQueue)) else { return };
        if self.try_start(replica, head)
            && let Ok(mut parts) = self.replicas.get_mut(replica)
        {
            parts.waiting.leave_first(now);
        }
    }

    /// A prefill has ended: the call decodes, and the lane is free.
    pub fn prefill_done(&mut self, replica: Entity) {
        let now = self.clock.now;
        let Ok(mut parts) = self.replicas.get_mut(replica) else { return };
        let Some(reference) = parts.state.prefilling.take() else { return };
        parts.state.lane.set(now, 0);
        let Ok(mut found) = self.calls.get_mut(reference.entity) else { return };
        let call = &mut *found;
        parts.cache.computed(&mut call.lease, &call.prompt);
        if call.closed {
            // Its client gave up meanwhile.
            self.leave_replica(replica, reference.entity, false);
            return;
        }
        call.prefilled = now;
        call.stage = Stage::Decode;
        call.since = now;
        if call.counted {
            self.tally.ttft.record(now - call.sent);
        }
        self.watch.note_ttft(now, now - call.sent);
        parts.decoding.join(now, reference, call.output);
        self.time_next_finish(replica);
        self.start_next(replica);
    }

    /// Enters the next finish of a replica's decoding calls into the calendar; what was entered before is void.
    pub fn time_next_finish(&mut self, replica: Entity) {
        let Ok(mut parts) = self.replicas.get_mut(replica) else { return };
        let calls = &self.calls;
        parts.decoding.drop_void(|call| !Self::is_at(calls, call, Stage::Decode));
        parts.decoding.version = parts.decoding.version.wrapping_add(1);
        if let Some(wait) = parts.decoding.until_first(self.clock.now) {
            let event = Event::DecodeDone { replica, version: parts.decoding.version };
            self.calendar.at(self.clock.after(wait), event);
        }
    }

    /// A call has its last token: it is answered.
    pub fn decode_done(&mut self, replica: Entity, version: u32) -> bool {
        let now = self.clock.now;
        let Ok(mut parts) = self.replicas.get_mut(replica) else { return false };
        if parts.decoding.version != version {
            return false;
        }
        let Some(call) = parts.decoding.finish_first(now) else { return false };
        if self.calls.get(call.entity).is_ok_and(|found| found.counted) {
            parts.state.answered += 1;
        }
        self.time_next_finish(replica);
        self.close(call.entity, Fate::Answered, None);
        self.leave_replica(replica, call.entity, true);
        true
    }

    /// A client gave up while its call decoded: the decode stops at once.
    pub fn stop_decode(&mut self, replica: Entity, call: Entity) {
        let now = self.clock.now;
        self.enter(call, Stage::Unused);
        if let Ok(mut parts) = self.replicas.get_mut(replica) {
            parts.decoding.leave(now);
        }
        self.time_next_finish(replica);
        self.leave_replica(replica, call, false);
    }

    /// A client gave up in a replica's queue.
    pub fn leave_replica_queue(&mut self, replica: Entity, call: Entity) {
        self.recycle(call);
        let calls = &self.calls;
        if let Ok(mut parts) = self.replicas.get_mut(replica) {
            parts.waiting.leave_early(self.clock.now, |call| Self::is_at(calls, call, Stage::ReplicaQueue));
        }
        self.report_load(replica);
        // It may have been the head that did not fit.
        self.start_next(replica);
    }

    /// A call that was running leaves its slot and its place in the KV cache; the next one may start.
    fn leave_replica(&mut self, replica: Entity, entity: Entity, answered: bool) {
        let now = self.clock.now;
        if let Ok(mut parts) = self.replicas.get_mut(replica)
            && let Ok(mut call) = self.calls.get_mut(entity)
        {
            let lease = std::mem::take(&mut call.lease);
            parts.cache.release(lease, &call.prompt, answered);
            parts.slots.give_back(now);
        }
        self.recycle(entity);
        self.report_load(replica);
        self.start_next(replica);
    }
}
