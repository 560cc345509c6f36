//! The decoding calls of a replica, re-timed exactly whenever their number changes.
//!
//! All calls decoding on a replica make tokens at the same pace: with b of them, one token takes
//! `decode_base + decode_per_call x b` for each. So one running count of tokens serves them all: a call that joins when
//! the count stands at V and wants n tokens is done when it stands at V + n, whatever joins and leaves meanwhile. Only
//! the pace of the count changes, and only the first to finish has an event in the calendar. (Processor sharing in
//! virtual time, as in Parekh and Gallager 1993.)

use super::call::CallRef;
use super::clock::{Micros, whole_micros};
use bevy::prelude::Component;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// The decoding calls of a replica.
#[derive(Component, Default)]
pub struct Decoding {
    /// What a token takes with no call at all, in microseconds.
    base_us: f64,
    /// What each call adds to it, in microseconds.
    per_call_us: f64,
    /// Calls decoding.
    active: u64,
    /// The count of tokens at `since`.
    tokens: f64,
    since: Micros,
    line: BinaryHeap<Finish>,
    joined: u64,
    /// Rises whenever the next finish is re-timed: an event of an older version is void.
    pub version: u32,
}

struct Finish {
    at_tokens: f64,
    order: u64,
    call: CallRef,
}

impl Finish {
    /// The earliest finish is the greatest, as the heap wants it; of equal ones the one that joined first.
    fn rank(&self, other: &Self) -> Ordering {
        other.at_tokens.total_cmp(&self.at_tokens).then(other.order.cmp(&self.order))
    }
}
impl PartialEq for Finish {
    fn eq(&self, other: &Self) -> bool {
        self.rank(other) == Ordering::Equal
    }
}
impl Eq for Finish {}
impl PartialOrd for Finish {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Finish {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank(other)
    }
}

impl Decoding {
    /// None decoding, at this pace: milliseconds a token, and milliseconds that each call adds to it.
    pub fn new(base_ms: f64, per_call_ms: f64) -> Self {
        Self { base_us: base_ms * 1e3, per_call_us: per_call_ms * 1e3, ..Self::default() }
    }

    /// Another pace from `now` on.
    pub fn set_pace(&mut self, now: Micros, base_ms: f64, per_call_ms: f64) {
        self.bring_to(now);
        self.base_us = base_ms * 1e3;
        self.per_call_us = per_call_ms * 1e3;
    }

    /// Calls decoding.
    pub fn active(&self) -> u64 {
        self.active
    }

    /// What a token takes at present, in microseconds.
    fn token_us(&self) -> f64 {
        self.base_us + self.per_call_us * self.active as f64
    }

    fn bring_to(&mut self, now: Micros) {
        if self.active == 0 {
            // Nobody counts on the count: starting it anew keeps it small, and so precise.
            self.tokens = 0.0;
        } else if now > self.since && self.token_us() > 0.0 {
            self.tokens += (now - self.since) as f64 / self.token_us();
        }
        self.since = now;
    }

    /// A call begins to decode `tokens` tokens.
    pub fn join(&mut self, now: Micros, call: CallRef, tokens: u64) {
        self.bring_to(now);
        self.active += 1;
        self.joined += 1;
        let at_tokens = self.tokens + tokens as f64;
        self.line.push(Finish { at_tokens, order: self.joined, call });
    }

    /// A call stops before its last token. Its place in the line is void: the caller drops it with [`Self::drop_void`].
    pub fn leave(&mut self, now: Micros) {
        self.bring_to(now);
        self.active -= 1;
    }

    /// Drops what stands first in the line while `void` says that the call is gone.
    pub fn drop_void(&mut self, mut void: impl FnMut(CallRef) -> bool) {
        while self.line.peek().is_some_and(|finish| void(finish.call)) {
            self.line.pop();
        }
    }

    /// The first call of the line has its last token.
    pub fn finish_first(&mut self, now: Micros) -> Option<CallRef> {
        self.bring_to(now);
        let finish = self.line.pop()?;
        // The event came at the nearest whole microsecond, so the count may fall short by a part of one. It stays as it
        // is: bringing it up would give all the others that part, again with every finish.
        self.active -= 1;
        Some(finish.call)
    }

    /// How long from `now` until the first call of the line has its last token, as things are.
    pub fn until_first(&mut self, now: Micros) -> Option<Micros> {
        self.bring_to(now);
        let finish = self.line.peek()?;
        Some(whole_micros((finish.at_tokens - self.tokens).max(0.0) * self.token_us()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy::prelude::Entity;
    use proptest::prelude::*;

    fn call(generation: u32) -> CallRef {
        CallRef { entity: Entity::PLACEHOLDER, generation }
    }

    /// When each call is done, by steps of a microsecond: in each, every call makes its part of a token.
    fn small_steps(
        base_us: f64,
        per_call_us: f64,
        joins: &[(Micros, u64)],
        leaves: &[Option<Micros>],
    ) -> Vec<Option<Micros>> {
        let mut left: Vec<Option<f64>> = vec![None; joins.len()];
        let mut done = vec![None; joins.len()];
        let mut gone = 0;
        for now in 0.. {
            for (place, &(join, tokens)) in joins.iter().enumerate() {
                if join == now {
                    left[place] = Some(tokens as f64);
                }
                if left[place].is_some() && leaves[place] == Some(now) {
                    left[place] = None;
                    gone += 1;
                }
                if left[place].is_some_and(|left| left <= 1e-9) {
                    left[place] = None;
                    done[place] = Some(now);
                    gone += 1;
                }
            }
            if gone == joins.len() {
                break;
            }
            let calls = left.iter().flatten().count() as f64;
            for left in left.iter_mut().flatten() {
                *left -= 1.0 / (base_us + per_call_us * calls);
            }
        }
        done
    }

    /// The same by the count of tokens, from event to event.
    fn by_count(
        base_us: f64,
        per_call_us: f64,
        joins: &[(Micros, u64)],
        leaves: &[Option<Micros>],
    ) -> Vec<Option<Micros>> {
        let mut decoding = Decoding::new(base_us / 1e3, per_call_us / 1e3);
        let count = joins.len();
        let (mut joined, mut left, mut done) = (vec![false; count], vec![false; count], vec![None; count]);
        let mut now = 0;
        loop {
            decoding.drop_void(|call| left[call.generation as usize]);
            let finish = decoding.until_first(now).map(|wait| now + wait);
            let join = (0..count).filter(|&place| !joined[place]).min_by_key(|&place| joins[place].0);
            let inside = |&place: &usize| joined[place] && !left[place] && done[place].is_none();
            let leave = (0..count).filter(inside).filter(|&place| leaves[place].is_some());
            let leave = leave.min_by_key(|&place| leaves[place]);
            let times = (leave.and_then(|place| leaves[place]), finish, join.map(|place| joins[place].0));
            let Some(next) = [times.0, times.1, times.2].into_iter().flatten().min() else { return done };
            now = next;
            if let (Some(place), true) = (leave, times.0 == Some(now)) {
                left[place] = true;
                decoding.leave(now);
            } else if times.1 == Some(now) {
                let call = decoding.finish_first(now).expect("one is due");
                done[call.generation as usize] = Some(now);
            } else if let Some(place) = join {
                joined[place] = true;
                decoding.join(now, call(place as u32), joins[place].1);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

        /// The steps of the one are a microsecond; the finishes of the other lie at the nearest. Each finish moves those
        /// after it by less than that again.
        #[test]
        fn finishes_are_those_of_an_integration_by_small_steps(
            base_us in 0.0f64..900.0,
            per_call_us in 1.0f64..400.0,
            calls in prop::collection::vec((1u64..4_000, 1u64..40, prop::option::weighted(0.3, 1u64..20_000)), 1..10),
        ) {
            let mut time = 0;
            let (mut joins, mut leaves) = (Vec::new(), Vec::new());
            for (pause, tokens, patience) in calls {
                time += pause;
                joins.push((time, tokens));
                leaves.push(patience.map(|patience| time + patience));
            }
            let expected = small_steps(base_us, per_call_us, &joins, &leaves);
            let found = by_count(base_us, per_call_us, &joins, &leaves);
            for (place, (found, expected)) in found.iter().zip(&expected).enumerate() {
                match (found, expected) {
                    (Some(found), Some(expected)) => {
                        prop_assert!(found.abs_diff(*expected) <= 2 + joins.len() as u64, "{}: {} for {}", place, found, expected);
                    }
                    // It may leave in the very microsecond in which it is done.
                    (Some(at), None) | (None, Some(at)) => {
                        prop_assert!(leaves[place].is_some_and(|leave| leave.abs_diff(*at) <= 2 + joins.len() as u64));
                    }
                    (None, None) => {}
                }
            }
        }
    }

    #[test]
    fn a_look_changes_nothing() {
        let finish = |looks: &[Micros]| {
            let mut decoding = Decoding::new(5.0, 5.0);
            decoding.join(0, call(0), 10);
            looks.iter().for_each(|&now| assert_eq!(decoding.until_first(now), Some(100_000 - now)));
            decoding.until_first(99_000)
        };
        assert_eq!(finish(&[]), Some(1_000));
        assert_eq!(finish(&[1, 30_000, 70_500]), Some(1_000));
    }
}
