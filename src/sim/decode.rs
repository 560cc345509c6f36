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
