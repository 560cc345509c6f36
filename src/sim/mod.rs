//! The simulation: an ECS world in which requests, routers and replicas are entities, and an exact event-driven engine.
//!
//! [`SimulationPlugin`] is the whole of it; [`Run`] is one run, in a world of its own, as the game and the headless
//! commands both use it. A calendar holds what happens next; one system processes it up to the moment asked for. How far
//! that is at a time, and how often it is asked, changes nothing of what happens.
//!
//! What is not modelled: [`LEFT_OUT`].

mod balancer;
mod calendar;
mod call;
mod chance;
mod clock;
mod decode;
mod fleet;
mod kv_cache;
mod lru_trie;
mod measure;
mod memory;
mod parts;
mod policies;
mod prompt;
mod recording;
mod replica;
mod report;
mod router;
mod run;
mod standings;
mod traffic;
mod watch;

pub use call::{Call, Reason, Session, Stage};
pub use clock::{Micros, NEVER, SECOND, micros_of_s, seconds};
pub use decode::Decoding;
pub use kv_cache::KvCache;
pub use parts::{
    BalancerState, Cpu, IsReplica, IsRouter, Onward, ReplicaParts, ReplicaState, Roster, RouterParts, RouterState,
    Seat, Slots, TrafficState, Waiting,
};
pub use policies::Why;
pub use prompt::Family;
pub use recording::{Calls, RecordedCall, TraceError, TraceReader};
pub use report::{GoalReport, PartReport, Percentiles, ReplicaReport, Report, RouterReport, dotted};
pub use run::{Run, RunSpec, SimulationPlugin};
pub use watch::{Decision, Sample, Sight, WINDOW, Watch};

/// What the model leaves out, in the words in which the program says it to a learner.
pub const LEFT_OUT: &[&str] = &[
    "No network time: a call is at the next part the moment it is sent on.",
    "Prefill and decode do not slow each other down on a replica.",
    "No preemption: a call that runs, runs to its end.",
    "Output lengths are known when a call is admitted, so its KV room is reserved whole.",
];
