//! Replaying a recorded trace on a fleet.

use super::file::LevelError;
use crate::blueprint::{Address, Assignment, Blueprint, SettingError, apply};
use crate::sim::{NEVER, Report, Run, RunSpec, TraceReader, micros_of_s};
use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many replicas the default fleet has.
const REPLICAS: usize = 8;
/// The seed where none is named.
const SEED: u64 = 1;

/// A fleet before a recorded trace.
pub struct Replay {
    /// The fleet.
    pub blueprint: Blueprint,
    /// What its chance comes from.
    pub seed: u64,
    /// How much of it is warm-up, in seconds.
    pub warmup_s: f64,
}

impl Replay {
    /// The default fleet with these changes.
    ///
    /// # Errors
    /// As [`apply`], and for a key of the traffic.
    pub fn new(changes: &[Assignment], seed: Option<u64>) -> Result<Self, SettingError> {
        for change in changes {
            if Address::parse(&change.key)?.plain_key().starts_with("traffic.") {
                let expected = "a key of the fleet, for the traffic is the trace's".to_owned();
                return Err(SettingError { key: change.key.clone(), expected, found: "one of the traffic".into() });
            }
        }
        let mut blueprint = Blueprint::router_before(REPLICAS);
        apply(&mut blueprint, changes)?;
        Ok(Self { blueprint, seed: seed.unwrap_or(SEED), warmup_s: 0.0 })
    }

    /// A run of it at time 0.
    pub fn start(&self, trace: Box<dyn BufRead + Send + Sync>) -> Run {
        Run::new(RunSpec {
            blueprint: self.blueprint.clone(),
            seed: self.seed,
            warmup: micros_of_s(self.warmup_s),
            recording: Some(Box::new(TraceReader::new(trace))),
        })
    }

    /// The report of a run so far; `name` is what it calls the trace.
    ///
    /// # Errors
    /// Where a line of the trace was wrong.
    pub fn report(&self, name: &str, run: &Run) -> Result<Report, LevelError> {
        if let Some(error) = run.trace_error() {
            return Err(LevelError::whole(name, error.to_string()));
        }
        let mut report = run.report();
        report.level = name.to_owned();
        report.credits = self.blueprint.credits_over(&Blueprint::router_before(REPLICAS));
        Ok(report)
    }
}

/// A trace that counts what was read of it, so that its replay can say how far along it is.
pub struct Counted<R> {
    trace: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Counted<R> {
    /// The trace, to be read in large pieces, and the bytes that were read of it so far.
    pub fn new(trace: R) -> (BufReader<Self>, Arc<AtomicU64>) {
        let read = Arc::new(AtomicU64::new(0));
        let counted = Self { trace, read: Arc::clone(&read) };
        (BufReader::with_capacity(1 << 16, counted), read)
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.trace.read(buffer)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Replays a whole trace on the default fleet with these changes.
///
/// # Errors
/// Where a change cannot be made or a line of the trace is wrong.
pub fn replay(
    name: &str,
    trace: Box<dyn BufRead + Send + Sync>,
    changes: &[Assignment],
    seed: Option<u64>,
) -> Result<Report, LevelError> {
    let replay = Replay::new(changes, seed)?;
    let mut run = replay.start(trace);
    run.advance(NEVER, u64::MAX);
    replay.report(name, &run)
}
