//! The parts of a fleet and what can be set on each. Meaning, unit and range of every field stand in [`super::settings`].

use std::fmt;

/// A kind of part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// A source of traffic: sessions that come and send calls.
    Traffic,
    /// A load balancer: it knows no prefixes.
    Balancer,
    /// An inference router: the component that this program is about.
    Router,
    /// A model replica: an engine with a KV cache.
    Replica,
}

impl Part {
    /// All kinds, upstream first.
    pub const ALL: [Self; 4] = [Self::Traffic, Self::Balancer, Self::Router, Self::Replica];

    /// The word that setting keys begin with.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Traffic => "traffic",
            Self::Balancer => "balancer",
            Self::Router => "router",
            Self::Replica => "replica",
        }
    }

    /// May a part of this kind send to one of that kind?
    pub const fn may_send_to(self, to: Self) -> bool {
        matches!(
            (self, to),
            (Self::Traffic, Self::Balancer | Self::Router | Self::Replica)
                | (Self::Balancer, Self::Router | Self::Replica)
                | (Self::Router, Self::Replica)
        )
    }
}

/// How a router picks a replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Sticky with chance `affinity`, spilling to the least busy replica when the home's queue reaches `spill`.
    StickySpill,
    /// Each replica in turn.
    RoundRobin,
    /// Any replica, all equally likely.
    Random,
    /// The replica with the fewest calls running and waiting.
    LeastBusy,
}

impl Policy {
    /// The policies by the words of the command line.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("sticky-spill", Self::StickySpill),
        ("round-robin", Self::RoundRobin),
        ("random", Self::Random),
        ("least-busy", Self::LeastBusy),
    ];
}

/// How a load balancer picks the next part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BalancerPolicy {
    /// Each next part in turn.
    RoundRobin,
    /// The next part with the fewest calls inside.
    LeastBusy,
}

impl BalancerPolicy {
    /// The policies by the words of the command line.
    pub const WORDS: &'static [(&'static str, Self)] =
        &[("round-robin", Self::RoundRobin), ("least-busy", Self::LeastBusy)];
}

/// The word for a policy, from its table.
pub(super) fn word_of<P: PartialEq + Copy>(words: &[(&'static str, P)], policy: P) -> &'static str {
    words.iter().find(|(_, p)| *p == policy).map_or("", |(word, _)| word)
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(word_of(Self::WORDS, *self))
    }
}

/// A source of traffic: a Poisson stream of sessions, each a task of several steps.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "each field is described once, in the table of settings")]
pub struct Traffic {
    pub sessions_per_s: f64,
    pub steps: u64,
    pub think_s: f64,
    pub shared: f64,
    pub shared_tokens: u64,
    pub base_tokens: u64,
    pub unshared_base_tokens: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub timeout_s: f64,
}

/// A load balancer.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "each field is described once, in the table of settings")]
pub struct Balancer {
    pub policy: BalancerPolicy,
}

/// An inference router.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "each field is described once, in the table of settings")]
pub struct Router {
    pub slots: u64,
    pub queue: u64,
    pub vcpu: u64,
    pub cpu_ms: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
    pub restart_s: f64,
    pub policy: Policy,
    pub affinity: f64,
    pub spill: u64,
    pub prefix_hit: f64,
}

/// A model replica. `large` says which of the two on sale it is: what it costs, and what of it cannot be set on a canvas.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "each field is described once, in the table of settings")]
pub struct Replica {
    pub slots: u64,
    pub queue: u64,
    pub kv_tokens: u64,
    pub prefill_base_ms: f64,
    pub prefill_tokens_per_s: f64,
    pub decode_base_ms: f64,
    pub decode_per_call_ms: f64,
    pub large: bool,
}
