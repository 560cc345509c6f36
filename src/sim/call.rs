//! Calls and sessions, as entities.
//!
//! An entity whose call has ended is kept and used again for a later one, so that the hot path neither spawns nor
//! allocates. What refers to a call from outside (the calendar, a queue) therefore names its generation too, and is void
//! once that has passed.

use super::chance::Stream;
use super::clock::{Micros, NEVER};
use super::kv_cache::Lease;
use super::prompt::{OwnChunks, Prompt, SessionPrompt};
use bevy::prelude::{Component, Entity, Resource};
use smallvec::SmallVec;

/// A call at one of its lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallRef {
    /// The entity.
    pub entity: Entity,
    /// Which of the calls that used the entity.
    pub generation: u32,
}

/// Where a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Nowhere: the entity waits for its next call.
    Unused,
    /// It waits for a slot of a router.
    RouterQueue,
    /// It holds a slot of a router and waits for a core.
    RouterCpu,
    /// The router's latency is under way.
    RouterLatency,
    /// It waits in a replica's queue.
    ReplicaQueue,
    /// Its prefill is under way.
    Prefill,
    /// It decodes.
    Decode,
}

/// Why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The router's slots and queue were full.
    RouterQueueFull,
    /// The router was down after a crash.
    RouterDown,
    /// The router crashed with the call inside.
    RouterCrashed,
    /// The replica's queue was full.
    ReplicaQueueFull,
    /// The prompt and its output are more than the replica's KV cache.
    PromptTooLarge,
    /// The client gave up.
    TimedOut,
    /// The call came to a part that is linked to no other.
    NoWayOnward,
}

impl Reason {
    /// All of them, in the order of the report.
    pub const ALL: [Self; 7] = [
        Self::RouterQueueFull,
        Self::RouterDown,
        Self::RouterCrashed,
        Self::ReplicaQueueFull,
        Self::PromptTooLarge,
        Self::TimedOut,
        Self::NoWayOnward,
    ];

    /// Its key in the report.
    pub const fn key(self) -> &'static str {
        match self {
            Self::RouterQueueFull => "router_queue_full",
            Self::RouterDown => "router_down",
            Self::RouterCrashed => "router_crashed",
            Self::ReplicaQueueFull => "replica_queue_full",
            Self::PromptTooLarge => "prompt_too_large",
            Self::TimedOut => "timed_out",
            Self::NoWayOnward => "no_way_onward",
        }
    }

    /// In words, for the screen.
    pub const fn words(self) -> &'static str {
        match self {
            Self::RouterQueueFull => "router queue full",
            Self::RouterDown => "router down",
            Self::RouterCrashed => "router crashed",
            Self::ReplicaQueueFull => "replica queue full",
            Self::PromptTooLarge => "prompt too large",
            Self::TimedOut => "timed out",
            Self::NoWayOnward => "no way onward",
        }
    }
}

/// A call: one request to a model, from its sending to its end.
#[derive(Component)]
pub struct Call {
    /// Which of the calls that used this entity.
    pub generation: u32,
    /// Its number in the run, from 0, in the order of sending.
    pub serial: u64,
    /// The session that sent it; a recorded call has none.
    pub session: Option<Entity>,
    /// When it was sent.
    pub sent: Micros,
    /// Was it sent after the warm-up?
    pub counted: bool,
    /// What it asks.
    pub prompt: Prompt,
    /// The tokens of the prompt.
    pub prompt_tokens: u64,
    /// The tokens of its answer.
    pub output: u64,
    /// Where it is.
    pub stage: Stage,
    /// Its fate is decided, but the place it holds is not free yet.
    pub closed: bool,
    /// The router it is or was in.
    pub router: Option<Entity>,
    /// The replica it is on.
    pub replica: Option<Entity>,
    /// Will a replica find the prefix that it holds?
    pub finds: bool,
    /// Was it sent to another replica than its home, because of the home's queue?
    pub spilled: bool,
    /// When its present stage began.
    pub since: Micros,
    /// When its prefill began; never, if it has not.
    pub admitted: Micros,
    /// When its prefill ended; never, if it has not.
    pub prefilled: Micros,
    /// How many tokens of its prompt were found in the KV cache.
    pub hit: u64,
    /// What it holds of the KV cache.
    pub lease: Lease,
}

impl Default for Call {
    fn default() -> Self {
        Self {
            generation: 0,
            serial: 0,
            session: None,
            sent: 0,
            counted: false,
            prompt: Prompt::Recorded { blocks: Box::default(), tokens: 0 },
            prompt_tokens: 0,
            output: 0,
            stage: Stage::Unused,
            closed: false,
            router: None,
            replica: None,
            finds: true,
            spilled: false,
            since: 0,
            admitted: NEVER,
            prefilled: NEVER,
            hit: 0,
            lease: Lease::default(),
        }
    }
}

impl Call {
    /// Is it on its way, its fate not decided?
    pub fn in_flight(&self) -> bool {
        self.stage != Stage::Unused && !self.closed
    }
}

/// A session: a task of several steps, each a call.
#[derive(Component)]
pub struct Session {
    /// Its number in the run, from 0.
    pub number: u64,
    /// Its traffic source.
    pub traffic: Entity,
    /// The shared prefix it starts with: the traffic source's number and its tokens.
    pub shared: Option<(u32, u64)>,
    /// The lengths of its own chunks.
    pub own: OwnChunks,
    /// How many steps it has.
    pub steps: u64,
    /// The step it is at, from 1; 0 before the first.
    pub step: u64,
    /// The mean think time in seconds.
    pub think_s: f64,
    /// How long its client waits for an answer; never, if it does not give up.
    pub timeout: Micros,
    /// Its think times.
    pub thinking: Stream,
    /// When its first call was sent.
    pub started: Micros,
    /// Was that after the warm-up?
    pub counted: bool,
    /// Its home on each router that it went through: the router, the router's epoch, the replica.
    pub homes: SmallVec<[(Entity, u32, Entity); 1]>,
}

impl Session {
    /// The prompt of the step it is at.
    pub fn prompt(&self) -> SessionPrompt {
        SessionPrompt { session: self.number, shared: self.shared, own: self.own, step: self.step }
    }
}

/// Entities of calls and sessions that have ended, to be used again.
#[derive(Resource, Default)]
pub struct Pool {
    /// Of calls.
    pub calls: Vec<Entity>,
    /// Of sessions.
    pub sessions: Vec<Entity>,
    /// Every entity of a call, whether in use or not, in the order of their making.
    pub all_calls: Vec<Entity>,
}
