//! What happened of late, counted: calls a second on each link, answers a second, hits.
//!
//! The counts go back over a window of simulated time. The sights that a run keeps are limited, so at a very high speed some
//! are missing: each batch therefore counts for the time that it covers, not for the time that has passed.

use crate::blueprint::PartId;
use crate::sim::{Micros, Sight};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// Calls that went over a link.
    Moved(PartId, PartId),
    /// Calls that left a part.
    Left(PartId),
    /// Calls that a replica answered.
    Answered(PartId),
    /// Tokens of prompts that a replica held when the calls came to it.
    Held(PartId),
    /// Tokens of these prompts.
    Prompt(PartId),
}

/// The counts of one stretch of simulated time.
#[derive(Default)]
struct Slice {
    covered: Micros,
    counts: FxHashMap<What, u64>,
}

/// What happened of late.
#[derive(Default)]
pub struct Flow {
    slices: VecDeque<Slice>,
    totals: FxHashMap<What, u64>,
    covered: Micros,
    /// What was seen since the last picture.
    pending: Slice,
    first: Option<Micros>,
    seen: usize,
    /// The moment of the last picture.
    last: Option<Micros>,
}

/// So many sights at once are all that a run keeps: some may be missing before them.
const KEPT_BY_THE_RUN: usize = 4_096;

/// A slice is at least this long, so that a window has not more of them than it needs.
const SLICE: Micros = 250_000;

impl Flow {
    /// A sight.
    pub fn see(&mut self, at: Micros, sight: &Sight) {
        self.first.get_or_insert(at);
        self.seen += 1;
        let mut add = |what, number| *self.pending.counts.entry(what).or_insert(0) += number;
        match *sight {
            Sight::Moved { from, to, held, prompt_tokens, .. } => {
                add(What::Moved(from, to), 1);
                add(What::Left(from), 1);
                if let Some(held) = held {
                    add(What::Held(to), held);
                    add(What::Prompt(to), prompt_tokens);
                }
            }
            Sight::Answered { at, .. } => add(What::Answered(at), 1),
            Sight::Rejected { .. } => {}
        }
    }

    /// The run has come to `now`: what was seen since the last time is of the time between, and what is older than
    /// `window` goes.
    pub fn close(&mut self, now: Micros, window: Micros) {
        let last = self.last.replace(now).unwrap_or(0);
        let since = if self.seen >= KEPT_BY_THE_RUN { self.first.unwrap_or(last).max(last) } else { last };
        self.pending.covered += now.saturating_sub(since);
        (self.first, self.seen) = (None, 0);
        if self.pending.covered < SLICE {
            return;
        }
        let slice = std::mem::take(&mut self.pending);
        for (&what, number) in &slice.counts {
            *self.totals.entry(what).or_insert(0) += number;
        }
        self.covered += slice.covered;
        self.slices.push_back(slice);
        while self.slices.front().is_some_and(|oldest| self.covered - oldest.covered >= window) {
            let Some(oldest) = self.slices.pop_front() else { break };
            self.covered -= oldest.covered;
            for (what, number) in oldest.counts {
                if let Some(total) = self.totals.get_mut(&what) {
                    *total -= number;
                }
            }
        }
    }

    /// How many in the window.
    pub fn total(&self, what: What) -> u64 {
        self.totals.get(&what).copied().unwrap_or(0)
    }

    /// How many a second over the window, or none before anything was covered.
    pub fn per_s(&self, what: What) -> Option<f64> {
        (self.covered > 0).then(|| self.total(what) as f64 * 1e6 / self.covered as f64)
    }

    /// The share of the prompts' tokens that a replica held when the calls of the window came to it; none without a call.
    pub fn held_share(&self, replica: PartId) -> Option<f64> {
        let prompt = self.total(What::Prompt(replica));
        (prompt > 0).then(|| self.total(What::Held(replica)) as f64 / prompt as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blueprint::Part;
    use crate::sim::{Family, SECOND};

    const ROUTER: PartId = PartId::new(Part::Router, 0);
    const REPLICA: PartId = PartId::new(Part::Replica, 0);

    fn moved(held: u64) -> Sight {
        Sight::Moved { from: ROUTER, to: REPLICA, family: Family::Shared(0), held: Some(held), prompt_tokens: 100 }
    }

    #[test]
    fn rates_are_of_the_window_alone() {
        let mut flow = Flow::default();
        for second in 0..40u64 {
            for _ in 0..if second < 20 { 9 } else { 3 } {
                flow.see(second * SECOND, &moved(if second < 20 { 0 } else { 80 }));
            }
            flow.close((second + 1) * SECOND, 10 * SECOND);
        }
        assert_eq!(flow.per_s(What::Moved(ROUTER, REPLICA)), Some(3.0));
        assert_eq!(flow.held_share(REPLICA), Some(0.8));
        assert_eq!(flow.held_share(ROUTER), None);
    }

    #[test]
    fn sights_that_are_missing_do_not_lower_a_rate() {
        let mut flow = Flow::default();
        // Of 8,192 calls in 8 s the run kept those of the last 4 s.
        for number in 0..4_096u64 {
            flow.see(4 * SECOND + number * 4 * SECOND / 4_096, &moved(0));
        }
        flow.close(8 * SECOND, 15 * SECOND);
        assert_eq!(flow.per_s(What::Left(ROUTER)), Some(1_024.0));
    }
}
