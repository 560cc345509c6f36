//! Where all randomness comes from.
//!
//! Each purpose has a stream of its own, so that drawing more for one leaves the others as they were: the same traffic
//! comes whatever the router does (common random numbers). The generator is PCG-32, whose values are fixed; logarithms
//! and the like come from `libm`, which gives the same bits on every platform.

use super::clock::{Micros, micros_of_s, whole_micros};
use rand::Rng;
use rand_pcg::Pcg32;

/// What a stream of random numbers is for.
#[derive(Clone, Copy)]
#[repr(u64)]
pub enum Purpose {
    /// Gaps between the sessions of a traffic source.
    Arrivals = 1,
    /// Which of its sessions carry the shared prefix.
    Shared,
    /// The think times of a session.
    Think,
    /// A router's latency.
    Latency,
    /// Whether a call is sticky.
    Affinity,
    /// Whether a replica finds the prefix that it holds.
    PrefixHit,
    /// A router's random policy.
    Pick,
    /// A router's crashes.
    Crash,
}

/// A stream of random numbers.
#[derive(Clone)]
pub struct Stream(Pcg32);

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014): spreads nearby seeds over the whole range.
fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Stream {
    /// The stream for a purpose of one part: the same for the same seed.
    pub fn new(seed: u64, purpose: Purpose, part: usize) -> Self {
        Self::of_member(seed, purpose, part, 0)
    }

    /// As [`Stream::new`], one for each member of the part, such as a session.
    pub fn of_member(seed: u64, purpose: Purpose, part: usize, member: u64) -> Self {
        let place = mix(purpose as u64 ^ mix(part as u64));
        Self(Pcg32::new(mix(seed ^ place), mix(place ^ mix(member))))
    }

    /// A number from 0 (included) to 1 (excluded), with 53 random bits.
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Is a thing of this probability the case? One draw, whatever the probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// A whole number below `count`.
    pub fn below(&mut self, count: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(count)) >> 64) as u64
    }

    /// An exponential of mean 1, by inverse transform.
    pub fn exponential(&mut self) -> f64 {
        -libm::log1p(-self.uniform())
    }

    /// An exponentially distributed time.
    pub fn exponential_time(&mut self, mean_s: f64) -> Micros {
        micros_of_s(self.exponential() * mean_s)
    }

    /// A standard normal, by the method of Box and Muller (1958), the cosine half.
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log1p(-self.uniform()));
        radius * libm::cos(std::f64::consts::TAU * self.uniform())
    }
}

/// The standard normal's 99th percentile.
const Z99: f64 = 2.326_347_874_040_841;

/// The lognormal that has a given median and 99th percentile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogNormal {
    median_us: f64,
    sigma: f64,
}

impl LogNormal {
    /// From the median and the 99th percentile in milliseconds, the second not below the first. Equal ones make a
    /// constant. A lognormal has no median of 0: one is taken as a microsecond, the clock's finest step.
    pub fn from_percentiles(p50_ms: f64, p99_ms: f64) -> Self {
        if p50_ms == p99_ms {
            return Self { median_us: p50_ms * 1e3, sigma: 0.0 };
        }
        let median_us = (p50_ms * 1e3).max(1.0);
        Self { median_us, sigma: (libm::log(p99_ms * 1e3 / median_us) / Z99).max(0.0) }
    }

    /// A draw. A constant draws nothing the less, so that the stream stays in step whatever the settings.
    pub fn draw(&self, stream: &mut Stream) -> Micros {
        whole_micros(self.median_us * libm::exp(self.sigma * stream.normal()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of the streams are part of what a seed means: a change here changes every report.
    #[test]
    fn streams_are_fixed() {
        let mut stream = Stream::new(1, Purpose::Arrivals, 0);
        let first: Vec<u64> = (0..3).map(|_| stream.below(1_000_000)).collect();
        let mut again = Stream::new(1, Purpose::Arrivals, 0);
        assert_eq!(first, (0..3).map(|_| again.below(1_000_000)).collect::<Vec<_>>());
        let mut other = Stream::new(1, Purpose::Shared, 0);
        assert_ne!(first[0], other.below(1_000_000));
    }

    /// The moments of each distribution, from their formulas, within five standard errors.
    #[test]
    fn moments_are_those_of_the_formulas() {
        let n = 200_000;
        let mut stream = Stream::new(7, Purpose::Think, 3);
        let mean = |draws: &mut dyn FnMut() -> f64| (0..n).map(|_| draws()).sum::<f64>() / f64::from(n);
        let error = 5.0 / f64::from(n).sqrt();
        assert!((mean(&mut || stream.uniform()) - 0.5).abs() < error * 0.289);
        assert!((mean(&mut || stream.exponential()) - 1.0).abs() < error);
        assert!(mean(&mut || stream.normal()).abs() < error);
        assert!((mean(&mut || stream.normal().powi(2)) - 1.0).abs() < error * 1.5);
    }

    #[test]
    fn the_lognormal_has_its_percentiles() {
        let law = LogNormal::from_percentiles(5.0, 20.0);
        let mut stream = Stream::new(3, Purpose::Latency, 0);
        let mut draws: Vec<Micros> = (0..100_000).map(|_| law.draw(&mut stream)).collect();
        draws.sort_unstable();
        assert!((draws[49_999] as f64 / 5_000.0 - 1.0).abs() < 0.02, "{}", draws[49_999]);
        assert!((draws[98_999] as f64 / 20_000.0 - 1.0).abs() < 0.04, "{}", draws[98_999]);
        let constant = LogNormal::from_percentiles(7.5, 7.5);
        assert!((0..100).all(|_| constant.draw(&mut stream) == 7_500));
    }
}
