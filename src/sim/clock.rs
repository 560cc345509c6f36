//! Simulated time: a whole number of microseconds from the start.

use bevy::prelude::Resource;

/// A moment or a duration in microseconds.
pub type Micros = u64;

/// A second.
pub const SECOND: Micros = 1_000_000;

/// Later than anything that happens: the value at which durations that are too long to matter are cut off. Far enough
/// from the end of the number range that sums of a few of them stay in it.
pub const NEVER: Micros = 1 << 60;

/// A duration given in microseconds as a real number, rounded to the nearest whole one.
pub fn whole_micros(micros: f64) -> Micros {
    // The cast saturates, and takes what is negative or not a number as 0.
    (micros.round() as u64).min(NEVER)
}

/// A duration given in seconds.
pub fn micros_of_s(seconds: f64) -> Micros {
    whole_micros(seconds * 1e6)
}

/// A duration given in milliseconds.
pub fn micros_of_ms(millis: f64) -> Micros {
    whole_micros(millis * 1e3)
}

/// In seconds.
pub fn seconds(micros: Micros) -> f64 {
    micros as f64 / 1e6
}

/// The clock of one run.
#[derive(Resource, Default)]
pub struct Clock {
    /// The present moment: that of the event being processed, or the moment up to which the run has come.
    pub now: Micros,
    /// When measuring begins. A call counts if it was sent then or later.
    pub warmup: Micros,
    /// What all chance of the run comes from.
    pub seed: u64,
}

impl Clock {
    /// The moment that lies `duration` ahead.
    pub fn after(&self, duration: Micros) -> Micros {
        self.now.saturating_add(duration).min(NEVER)
    }
}
