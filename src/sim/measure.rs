//! What is measured while the fleet runs: counts, percentiles, averages over time, and a digest of every call's fate.

use super::call::{Call, Reason};
use super::clock::{Micros, NEVER};
use bevy::prelude::Resource;
use hdrhistogram::Histogram;
use xxhash_rust::xxh3::Xxh3;

/// A distribution of durations: percentiles off by at most 0.1 %, mean and maximum exact.
pub struct Durations {
    histogram: Histogram<u64>,
    sum: u128,
    max: Micros,
}

impl Default for Durations {
    fn default() -> Self {
        // Three significant digits is a number that the constructor takes.
        let histogram = Histogram::new(3).unwrap_or_else(|_| unreachable!("three digits are allowed"));
        Self { histogram, sum: 0, max: 0 }
    }
}

impl Durations {
    /// Adds a duration.
    pub fn record(&mut self, duration: Micros) {
        // The histogram grows as needed, up to beyond `NEVER`: this cannot fail.
        let recorded = self.histogram.record(duration.min(NEVER));
        debug_assert!(recorded.is_ok(), "{recorded:?}");
        self.sum += u128::from(duration);
        self.max = self.max.max(duration);
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The nearest-rank percentile in microseconds, or none without a sample.
    pub fn percentile(&self, percent: u64) -> Option<Micros> {
        if self.count() == 0 {
            return None;
        }
        let rank = (u128::from(self.count()) * u128::from(percent)).div_ceil(100).max(1) as u64;
        let mut seen = 0;
        for step in self.histogram.iter_recorded() {
            seen += step.count_since_last_iteration();
            if seen >= rank {
                return Some(step.value_iterated_to().min(self.max));
            }
        }
        Some(self.max)
    }

    /// The mean in microseconds, or none without a sample.
    pub fn mean(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum as f64 / self.count() as f64)
    }

    /// The maximum, or none without a sample.
    pub fn max(&self) -> Option<Micros> {
        (self.count() > 0).then_some(self.max)
    }
}

/// A number that changes by steps, averaged over the time since measuring began.
#[derive(Clone, Copy, Default, Debug)]
pub struct OverTime {
    value: u64,
    since: Micros,
    area: u128,
    began: Micros,
    area_before: u128,
    max: u64,
}

impl OverTime {
    /// A number that is 0 from `now` on.
    pub fn starting(now: Micros) -> Self {
        Self { since: now, began: now, ..Self::default() }
    }

    /// The number changes.
    pub fn set(&mut self, now: Micros, value: u64) {
        self.area += u128::from(self.value) * u128::from(now - self.since);
        self.since = now;
        self.value = value;
        self.max = self.max.max(value);
    }

    /// Measuring begins anew, with the number as it is.
    pub fn begin(&mut self, now: Micros) {
        let area = self.area(now);
        *self = Self { value: self.value, since: now, area, began: now, area_before: area, max: self.value };
    }

    /// The number as it is.
    pub fn value(&self) -> u64 {
        self.value
    }

    /// The greatest since measuring began.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The sum over time since the start, in units times microseconds.
    pub fn area(&self, now: Micros) -> u128 {
        self.area + u128::from(self.value) * u128::from(now - self.since)
    }

    /// The average since measuring began, or none if that is now.
    pub fn mean(&self, now: Micros) -> Option<f64> {
        (now > self.began).then(|| (self.area(now) - self.area_before) as f64 / (now - self.began) as f64)
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was answered.
    Answered,
    /// It failed.
    Failed(Reason),
}

/// The counts and distributions of a run. All but the digest are of calls sent after the warm-up.
#[derive(Resource, Default)]
pub struct Tally {
    /// Calls sent, since the start.
    pub serial: u64,
    /// Sessions begun, since the start.
    pub sessions: u64,
    /// Calls whose fate is not decided, since the start.
    pub inside: u64,
    /// Calls sent.
    pub sent: u64,
    /// Calls answered.
    pub answered: u64,
    /// Calls failed, by reason.
    pub rejected: [u64; Reason::ALL.len()],
    /// Tokens found in KV caches, of calls that entered prefill.
    pub hit_tokens: u64,
    /// Tokens of the prompts of calls that entered prefill.
    pub prompt_tokens: u64,
    /// Calls that entered prefill.
    pub prefills: u64,
    /// Of these, calls whose hit was over half of the prompt.
    pub warm: u64,
    /// Calls sent to the least busy replica instead of their home.
    pub spills: u64,
    /// Crashes of routers since measuring began.
    pub crashes: u64,
    /// From sending to the end of prefill.
    pub ttft: Durations,
    /// From sending to the last token.
    pub latency: Durations,
    /// From a session's first call to its last answer.
    pub task: Durations,
    /// Sessions that failed.
    pub tasks_failed: u64,
    digest: Xxh3,
}

impl Tally {
    /// A call has ended: adds it to the counts and to the digest. `replica` is the number of the one it was on.
    pub fn ended(&mut self, call: &Call, fate: Fate, now: Micros, replica: Option<u32>) {
        let code = match fate {
            Fate::Answered => 0,
            Fate::Failed(reason) => 1 + reason as u64,
        };
        if call.counted {
            match fate {
                Fate::Answered => {
                    self.answered += 1;
                    self.latency.record(now - call.sent);
                }
                Fate::Failed(reason) => self.rejected[reason as usize] += 1,
            }
        }
        let place = replica.map_or(u64::MAX, u64::from);
        self.digest_words(&[call.serial, call.sent, now, call.prefilled, call.hit, place << 8 | code]);
    }

    fn digest_words<const N: usize>(&mut self, words: &[u64; N]) {
        let mut bytes = [[0; 8]; N];
        for (bytes, word) in bytes.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
        self.digest.update(bytes.as_flattened());
    }

    /// The hash (XXH3, 64 bits) over every call's fate and times, those still inside included as (serial, sent).
    pub fn digest(&self, inside: &[(u64, Micros)]) -> u64 {
        let mut digest = self.digest.clone();
        for (serial, sent) in inside {
            digest.update(&serial.to_le_bytes());
            digest.update(&sent.to_le_bytes());
        }
        digest.digest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against sorting: nearest rank, off by at most 1 %.
        #[test]
        fn percentiles_are_those_of_the_sorted_list(
            mut list in prop::collection::vec(prop_oneof![0u64..2_000, 0u64..100_000_000, 0u64..(1 << 50)], 1..400)
        ) {
            let mut durations = Durations::default();
            for &duration in &list {
                durations.record(duration);
            }
            list.sort_unstable();
            for percent in [1u64, 50, 90, 95, 99, 100] {
                let rank = (list.len() as u64 * percent).div_ceil(100).max(1) as usize;
                let exact = list[rank - 1] as f64;
                let found = durations.percentile(percent).expect("there are samples") as f64;
                prop_assert!((found - exact).abs() <= exact * 0.01, "p{percent}: {found} for {exact}");
            }
            prop_assert_eq!(durations.max(), list.last().copied());
        }
    }

    #[test]
    fn a_number_over_time_is_its_area() {
        let mut busy = OverTime::starting(0);
        busy.set(10, 4);
        busy.set(20, 1);
        assert_eq!(busy.mean(40), Some((4.0 * 10.0 + 20.0) / 40.0));
        busy.begin(40);
        assert_eq!((busy.max(), busy.mean(50), busy.mean(40)), (1, Some(1.0), None));
    }
}
