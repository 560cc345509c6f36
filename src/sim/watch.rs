//! What is kept for somebody who watches: moves of calls, the last decisions, series over time.
//!
//! Off in a headless run. It observes and changes nothing: a watched run has the digest of an unwatched one.

use super::call::Reason;
use super::clock::{Micros, SECOND};
use super::fleet::Fleet;
use super::policies::Why;
use super::prompt::Family;
use crate::blueprint::{Part, PartId};
use bevy::prelude::Resource;
use std::collections::VecDeque;

/// Something that a watcher sees happen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sight {
    /// A call goes from a part to another.
    Moved {
        /// The part it leaves.
        from: PartId,
        /// The part it goes to.
        to: PartId,
        /// Whose prefix it carries.
        family: Family,
        /// On the way to a replica: how many tokens of its prompt that will find in its cache, as things are.
        held: Option<u64>,
        /// The tokens of its prompt.
        prompt_tokens: u64,
    },
    /// A call fails.
    Rejected {
        /// Where.
        at: PartId,
        /// Whose prefix it carries.
        family: Family,
        /// Why.
        reason: Reason,
    },
    /// A call is answered.
    Answered {
        /// By which replica.
        at: PartId,
        /// Whose prefix it carries.
        family: Family,
    },
}

/// A decision of a router.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// When.
    pub at: Micros,
    /// Which router.
    pub router: PartId,
    /// The replica that it picked.
    pub replica: PartId,
    /// Why.
    pub why: Why,
    /// Whose prefix the call carries.
    pub family: Family,
    /// How many tokens of the prompt the replica finds.
    pub held: u64,
    /// The tokens of the prompt.
    pub prompt_tokens: u64,
}

/// The state of the fleet at a moment, for the charts.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// When.
    pub at: Micros,
    /// Median TTFT of the calls of the last [`WINDOW`], in microseconds.
    pub ttft_p50: Option<Micros>,
    /// 99th percentile of the same.
    pub ttft_p99: Option<Micros>,
    /// KV hit rate of the calls admitted in the last [`WINDOW`].
    pub hit_rate: Option<f64>,
    /// Calls waiting on each replica; none on one that was not there yet.
    pub waiting: Vec<Option<u32>>,
}

/// How far back the figures of a sample look.
pub const WINDOW: Micros = 15 * SECOND;

/// At most so many sights are kept until they are looked at, decisions, samples, and calls in the window.
const MOST_SIGHTS: usize = 4_096;
const MOST_DECISIONS: usize = 32;
const MOST_SAMPLES: usize = 1_200;
const MOST_IN_WINDOW: usize = 4_096;

/// What is kept for a watcher.
#[derive(Resource)]
pub struct Watch {
    /// Is somebody watching?
    pub on: bool,
    /// What happened since it was last looked at, oldest first; beyond the limit the oldest are dropped.
    pub sights: VecDeque<(Micros, Sight)>,
    /// The last decisions, newest first.
    pub decisions: VecDeque<Decision>,
    /// Samples at even steps of time, oldest first; when there are too many every other one goes.
    pub samples: Vec<Sample>,
    step: Micros,
    next: Micros,
    ttfts: VecDeque<(Micros, Micros)>,
    hits: VecDeque<(Micros, u64, u64)>,
}

impl Default for Watch {
    fn default() -> Self {
        Self {
            on: false,
            sights: VecDeque::new(),
            decisions: VecDeque::new(),
            samples: Vec::new(),
            step: SECOND,
            next: 0,
            ttfts: VecDeque::new(),
            hits: VecDeque::new(),
        }
    }
}

impl Watch {
    /// Something happens.
    pub fn see(&mut self, now: Micros, sight: Sight) {
        if self.sights.len() == MOST_SIGHTS {
            self.sights.pop_front();
        }
        self.sights.push_back((now, sight));
    }

    /// A router decides.
    pub fn decide(&mut self, decision: Decision) {
        self.decisions.truncate(MOST_DECISIONS - 1);
        self.decisions.push_front(decision);
    }

    /// A call's prefill has ended.
    pub fn note_ttft(&mut self, now: Micros, ttft: Micros) {
        if self.on {
            push_bounded(&mut self.ttfts, (now, ttft));
        }
    }

    /// A call was admitted.
    pub fn note_hit(&mut self, now: Micros, hit: u64, prompt: u64) {
        if self.on {
            push_bounded(&mut self.hits, (now, hit, prompt));
        }
    }

    /// The parts have other places now: what names them by their old ones follows, or goes where it is soon replaced.
    pub fn rearrange(&mut self, origin: impl Fn(PartId) -> Option<usize>, replicas: usize) {
        self.sights.clear();
        self.decisions.clear();
        let origins: Vec<Option<usize>> =
            (0..replicas).map(|index| origin(PartId::new(Part::Replica, index))).collect();
        for sample in &mut self.samples {
            let before = std::mem::take(&mut sample.waiting);
            sample.waiting =
                origins.iter().map(|origin| origin.and_then(|place| before.get(place).copied().flatten())).collect();
        }
    }

    fn sample(&mut self, at: Micros, waiting: Vec<Option<u32>>) {
        let horizon = at.saturating_sub(WINDOW);
        while self.ttfts.front().is_some_and(|(time, _)| *time < horizon) {
            self.ttfts.pop_front();
        }
        while self.hits.front().is_some_and(|(time, ..)| *time < horizon) {
            self.hits.pop_front();
        }
        let mut ttfts: Vec<Micros> = self.ttfts.iter().map(|(_, ttft)| *ttft).collect();
        ttfts.sort_unstable();
        let rank = |percent: usize| (ttfts.len() * percent).div_ceil(100).checked_sub(1).map(|place| ttfts[place]);
        let (hit, prompt) = self.hits.iter().fold((0, 0), |(hit, prompt), (_, h, p)| (hit + h, prompt + p));
        self.samples.push(Sample {
            at,
            ttft_p50: rank(50),
            ttft_p99: rank(99),
            hit_rate: (prompt > 0).then(|| hit as f64 / prompt as f64),
            waiting,
        });
        if self.samples.len() >= MOST_SAMPLES {
            let mut keep = false;
            self.samples.retain(|_| {
                keep = !keep;
                keep
            });
            self.step *= 2;
        }
    }
}

fn push_bounded<T>(list: &mut VecDeque<T>, item: T) {
    if list.len() == MOST_IN_WINDOW {
        list.pop_front();
    }
    list.push_back(item);
}

impl Fleet<'_, '_> {
    /// Takes the samples that are due before the next event, and by `until`.
    pub fn sample_until(&mut self, until: Micros) {
        let next_event = self.calendar.next_time().unwrap_or(until);
        while self.watch.next < next_event && self.watch.next <= until {
            let at = self.watch.next;
            // A queue has at most ten million places.
            let queue = |entity| self.replicas.get(entity).ok().map(|parts| parts.waiting.len() as u32);
            let waiting = self.roster.replicas.iter().map(|&entity| queue(entity)).collect();
            self.watch.sample(at, waiting);
            self.watch.next = at + self.watch.step;
        }
    }
}
