//! The table of settings: key, name, unit, range, default and help of each, said once.
//!
//! Adding a setting is adding a field to its part and a row here.

use super::parts::word_of;
use super::{Balancer, BalancerPolicy, Blueprint, Part, Policy, Replica, Router, Traffic};
use serde_json::Number;

/// The value of a setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A number in the setting's unit.
    Number(f64),
    /// One of the setting's words.
    Word(&'static str),
}

impl Value {
    /// As JSON: whole numbers without a fraction.
    pub fn to_json(self) -> serde_json::Value {
        match self {
            Self::Word(word) => word.into(),
            Self::Number(x) if x.fract() == 0.0 && x.abs() < 9e15 => Number::from(x as i64).into(),
            Self::Number(x) => Number::from_f64(x).map_or(serde_json::Value::Null, Into::into),
        }
    }

    /// The number, if it is one.
    pub fn number(self) -> Option<f64> {
        match self {
            Self::Number(x) => Some(x),
            Self::Word(_) => None,
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(x) => write!(f, "{x}"),
            Self::Word(word) => f.write_str(word),
        }
    }
}

/// What values a setting takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A whole number from the first to the second.
    Count(u64, u64),
    /// A number from the first to the second.
    Real(f64, f64),
    /// A number above 0 up to this.
    Positive(f64),
    /// A share from 0 to 1, shown as a percentage.
    Share,
    /// One of these words.
    Choice(&'static [&'static str]),
}

impl Kind {
    /// The range in words, as an error message says it.
    pub fn expected(&self) -> String {
        match self {
            Self::Count(low, high) => format!("a whole number from {low} to {high}"),
            Self::Real(low, high) => format!("a number from {low} to {high}"),
            Self::Positive(high) => format!("a number above 0 and up to {high}"),
            Self::Share => "a number from 0 to 1".into(),
            Self::Choice(words) => format!("one of {}", words.join(", ")),
        }
    }

    /// Is this value one that the setting takes?
    pub fn admits(&self, value: Value) -> bool {
        match (self, value) {
            (Self::Count(low, high), Value::Number(x)) => x.fract() == 0.0 && x >= *low as f64 && x <= *high as f64,
            (Self::Real(low, high), Value::Number(x)) => x >= *low && x <= *high,
            (Self::Positive(high), Value::Number(x)) => x > 0.0 && x <= *high,
            (Self::Share, Value::Number(x)) => (0.0..=1.0).contains(&x),
            (Self::Choice(words), Value::Word(word)) => words.contains(&word),
            _ => false,
        }
    }

    /// The lowest and the highest number, for a slider; none for a choice of words.
    pub fn bounds(&self) -> Option<(f64, f64)> {
        match *self {
            Self::Count(low, high) => Some((low as f64, high as f64)),
            Self::Real(low, high) => Some((low, high)),
            Self::Positive(high) => Some((0.0, high)),
            Self::Share => Some((0.0, 1.0)),
            Self::Choice(_) => None,
        }
    }
}

type Get = fn(&Blueprint, usize) -> Value;
type Set = fn(&mut Blueprint, usize, Value);

/// One setting of one kind of part.
pub struct Setting {
    /// The key, such as `router.slots`.
    pub key: &'static str,
    /// The part that has it.
    pub part: Part,
    /// Its name on the screen.
    pub name: &'static str,
    /// Its unit on the screen, or nothing for a bare number or share.
    pub unit: &'static str,
    /// What values it takes.
    pub kind: Kind,
    /// What it is when nothing is said.
    pub default: Value,
    /// The range that a slider covers: what is useful, not what is allowed.
    pub slider: (f64, f64),
    /// What it does, in one sentence.
    pub help: &'static str,
    get: Get,
    set: Set,
}

impl Setting {
    /// The setting of this plain key, such as `router.slots`.
    pub fn find(key: &str) -> Option<&'static Self> {
        Part::ALL.iter().flat_map(|part| settings_of(*part)).find(|setting| setting.key == key)
    }

    /// The setting of this key, whether with an index or without.
    pub fn find_any(key: &str) -> Option<&'static Self> {
        match super::Address::parse(key).ok()? {
            super::Address::Setting(setting, _) => Some(setting),
            super::Address::Replicas => None,
        }
    }

    /// The key without its part: `slots` of `router.slots`.
    pub fn field(&self) -> &'static str {
        self.key.split_once('.').map_or(self.key, |(_, field)| field)
    }

    /// Its value on the part of its kind at `index`, which must be there.
    pub fn get(&self, blueprint: &Blueprint, index: usize) -> Value {
        (self.get)(blueprint, index)
    }

    /// Sets it on the part of its kind at `index`, which must be there, to a value that its kind admits.
    pub fn set(&self, blueprint: &mut Blueprint, index: usize, value: Value) {
        debug_assert!(self.kind.admits(value), "{} = {value}", self.key);
        (self.set)(blueprint, index, value);
    }

    /// Reads a value as the command line writes it. No range is checked but that a word is one of the setting's.
    pub fn parse(&self, text: &str) -> Option<Value> {
        match self.kind {
            Kind::Choice(words) => words.iter().find(|word| **word == text).map(|word| Value::Word(word)),
            _ => text.trim().parse::<f64>().ok().filter(|x| !x.is_nan()).map(Value::Number),
        }
    }
}

/// The settings of this kind of part, in the order in which they are shown.
pub fn settings_of(part: Part) -> &'static [Setting] {
    match part {
        Part::Traffic => TRAFFIC,
        Part::Balancer => BALANCER,
        Part::Router => ROUTER,
        Part::Replica => REPLICA,
    }
}

/// The pair of functions that read and write a field of a part, by the type of that field.
macro_rules! field {
    ($list:ident . $field:ident : count) => {
        (
            |blueprint: &Blueprint, index: usize| Value::Number(blueprint.$list[index].$field as f64),
            |blueprint: &mut Blueprint, index: usize, value: Value| {
                if let Value::Number(x) = value {
                    blueprint.$list[index].$field = x as u64;
                }
            },
        )
    };
    ($list:ident . $field:ident : real) => {
        (
            |blueprint: &Blueprint, index: usize| Value::Number(blueprint.$list[index].$field),
            |blueprint: &mut Blueprint, index: usize, value: Value| {
                if let Value::Number(x) = value {
                    blueprint.$list[index].$field = x;
                }
            },
        )
    };
    ($list:ident . $field:ident : $words:path) => {
        (
            |blueprint: &Blueprint, index: usize| Value::Word(word_of($words, blueprint.$list[index].$field)),
            |blueprint: &mut Blueprint, index: usize, value: Value| {
                if let Value::Word(word) = value
                    && let Some((_, policy)) = $words.iter().find(|(w, _)| *w == word)
                {
                    blueprint.$list[index].$field = *policy;
                }
            },
        )
    };
}

#[allow(clippy::too_many_arguments, reason = "a row of the table")]
const fn row(
    part: Part,
    key: &'static str,
    name: &'static str,
    unit: &'static str,
    kind: Kind,
    default: Value,
    slider: (f64, f64),
    (get, set): (Get, Set),
    help: &'static str,
) -> Setting {
    Setting { key, part, name, unit, kind, default, slider, help, get, set }
}

use Kind::{Choice, Count, Positive, Real, Share};
use Value::{Number as Num, Word};

#[rustfmt::skip]
static TRAFFIC: &[Setting] = &[
    row(Part::Traffic, "traffic.sessions_per_s", "Sessions", "per s", Positive(1e5), Num(1.0), (0.1, 20.0),
        field!(traffics.sessions_per_s: real), "How many sessions begin each second, on average; they come as a Poisson stream."),
    row(Part::Traffic, "traffic.steps", "Steps", "per task", Count(1, 10_000), Num(10.0), (1.0, 50.0),
        field!(traffics.steps: count), "How many calls a session makes, one after the other's answer."),
    row(Part::Traffic, "traffic.think_s", "Think time", "s", Real(0.0, 1e6), Num(3.0), (0.0, 30.0),
        field!(traffics.think_s: real), "The mean wait between an answer and the next step's call, exponentially distributed."),
    row(Part::Traffic, "traffic.shared", "Requests on the shared prefix", "", Share, Num(0.0), (0.0, 1.0),
        field!(traffics.shared: real), "The share of sessions whose prompts start with the shared prefix."),
    row(Part::Traffic, "traffic.shared_tokens", "Shared prefix", "tokens", Count(0, 10_000_000), Num(12_000.0), (0.0, 40_000.0),
        field!(traffics.shared_tokens: count), "How long the shared prefix is: a system prompt with its tool schemas."),
    row(Part::Traffic, "traffic.base_tokens", "Own base", "tokens", Count(0, 10_000_000), Num(500.0), (0.0, 40_000.0),
        field!(traffics.base_tokens: count), "What a session with the shared prefix adds of its own before its first step."),
    row(Part::Traffic, "traffic.unshared_base_tokens", "Own base, unshared", "tokens", Count(0, 10_000_000), Num(800.0), (0.0, 40_000.0),
        field!(traffics.unshared_base_tokens: count), "What a session without the shared prefix starts with."),
    row(Part::Traffic, "traffic.input_tokens", "Input", "tokens a step", Count(1, 10_000_000), Num(300.0), (1.0, 4_000.0),
        field!(traffics.input_tokens: count), "What each step adds to the prompt."),
    row(Part::Traffic, "traffic.output_tokens", "Output", "tokens a step", Count(1, 10_000_000), Num(150.0), (1.0, 2_000.0),
        field!(traffics.output_tokens: count), "How long each answer is."),
    row(Part::Traffic, "traffic.timeout_s", "Client timeout", "s", Real(0.0, 1e6), Num(0.0), (0.0, 120.0),
        field!(traffics.timeout_s: real), "How long a client waits for the whole answer before it gives up; 0 waits for ever."),
];

#[rustfmt::skip]
static BALANCER: &[Setting] = &[
    row(Part::Balancer, "balancer.policy", "Policy", "", Choice(&["round-robin", "least-busy"]), Word("round-robin"), (0.0, 0.0),
        field!(balancers.policy: BalancerPolicy::WORDS), "How the balancer picks the next part; it knows no prefixes."),
];

#[rustfmt::skip]
static ROUTER: &[Setting] = &[
    row(Part::Router, "router.slots", "Concurrency", "slots", Count(1, 1_000_000), Num(64.0), (1.0, 256.0),
        field!(routers.slots: count), "How many calls the router handles at once; a call holds its slot until it is routed."),
    row(Part::Router, "router.queue", "Queue capacity", "calls", Count(0, 10_000_000), Num(256.0), (0.0, 1024.0),
        field!(routers.queue: count), "How many calls may wait for a slot; any more are rejected."),
    row(Part::Router, "router.vcpu", "vCPU", "cores", Count(1, 1024), Num(4.0), (1.0, 32.0),
        field!(routers.vcpu: count), "Cores that share the router's work; the wait rises steeply above 90 % busy, and a crash comes near."),
    row(Part::Router, "router.cpu_ms", "CPU per call", "ms", Real(0.0, 1e6), Num(5.0), (0.0, 100.0),
        field!(routers.cpu_ms: real), "How long each call keeps one core busy."),
    row(Part::Router, "router.p50_ms", "Latency p50", "ms", Real(0.0, 1e6), Num(5.0), (0.0, 100.0),
        field!(routers.p50_ms: real), "Half of the calls are routed within this time once they have a core."),
    row(Part::Router, "router.p99_ms", "Latency p99", "ms", Real(0.0, 1e6), Num(20.0), (0.0, 500.0),
        field!(routers.p99_ms: real), "All but one in a hundred calls are routed within this time once they have a core."),
    row(Part::Router, "router.restart_s", "Restart", "s", Real(0.0, 1e5), Num(10.0), (0.0, 60.0),
        field!(routers.restart_s: real), "How long the router refuses calls after a crash."),
    row(Part::Router, "router.policy", "Policy", "", Choice(&["sticky-spill", "round-robin", "random", "least-busy"]), Word("sticky-spill"), (0.0, 0.0),
        field!(routers.policy: Policy::WORDS), "How the router picks a replica."),
    row(Part::Router, "router.affinity", "Session affinity", "", Share, Num(1.0), (0.0, 1.0),
        field!(routers.affinity: real), "The chance that a call goes home, to the replica that holds its prefix; the others go round robin."),
    row(Part::Router, "router.prefix_hit", "Prefix-cache hit, same replica", "", Share, Num(1.0), (0.0, 1.0),
        field!(routers.prefix_hit: real), "The chance that a replica finds the prefix it holds; 100 % leaves it to the cache alone."),
    row(Part::Router, "router.spill", "Spill when queue reaches", "calls", Count(0, 10_000_000), Num(8.0), (0.0, 128.0),
        field!(routers.spill: count), "From this many calls waiting at its home, a sticky call goes to the least busy replica; 0 never spills."),
];

#[rustfmt::skip]
static REPLICA: &[Setting] = &[
    row(Part::Replica, "replica.slots", "Slots", "calls", Count(1, 1_000_000), Num(32.0), (1.0, 256.0),
        field!(replicas.slots: count), "How many calls run at once: at most one in prefill, the others decoding."),
    row(Part::Replica, "replica.queue", "Queue", "calls", Count(0, 10_000_000), Num(200.0), (0.0, 1024.0),
        field!(replicas.queue: count), "How many calls may wait for a slot; any more are rejected."),
    row(Part::Replica, "replica.kv_tokens", "KV cache", "tokens", Count(1, 1_000_000_000_000), Num(300_000.0), (10_000.0, 2_000_000.0),
        field!(replicas.kv_tokens: count), "How many tokens the KV cache holds, of running calls and of prefixes kept for later."),
    row(Part::Replica, "replica.prefill_base_ms", "Prefill, fixed", "ms", Real(0.0, 1e6), Num(20.0), (0.0, 100.0),
        field!(replicas.prefill_base_ms: real), "What each prefill takes whatever its length."),
    row(Part::Replica, "replica.prefill_tokens_per_s", "Prefill speed", "tokens/s", Positive(1e9), Num(20_000.0), (1_000.0, 200_000.0),
        field!(replicas.prefill_tokens_per_s: real), "How fast the prompt tokens that were not found in the cache are computed."),
    row(Part::Replica, "replica.decode_base_ms", "Decode, fixed", "ms a token", Real(0.0, 1e6), Num(12.0), (0.0, 100.0),
        field!(replicas.decode_base_ms: real), "What one token takes however many calls decode."),
    row(Part::Replica, "replica.decode_per_call_ms", "Decode, per call", "ms a token", Real(0.0, 1e6), Num(0.3), (0.0, 10.0),
        field!(replicas.decode_per_call_ms: real), "What each call decoding at the same time adds to every token."),
];

/// A part with every setting at its default, from the table.
macro_rules! default_from_table {
    ($type:ident, $list:ident, $part:path, $blank:expr) => {
        impl Default for $type {
            fn default() -> Self {
                let mut scratch = Blueprint { $list: vec![$blank], ..Blueprint::default() };
                for setting in settings_of($part) {
                    setting.set(&mut scratch, 0, setting.default);
                }
                scratch.$list.swap_remove(0)
            }
        }
    };
}

default_from_table!(
    Traffic,
    traffics,
    Part::Traffic,
    Traffic {
        sessions_per_s: 1.0,
        steps: 1,
        think_s: 0.0,
        shared: 0.0,
        shared_tokens: 0,
        base_tokens: 0,
        unshared_base_tokens: 0,
        input_tokens: 1,
        output_tokens: 1,
        timeout_s: 0.0,
    }
);
default_from_table!(Balancer, balancers, Part::Balancer, Balancer { policy: BalancerPolicy::RoundRobin });
default_from_table!(
    Router,
    routers,
    Part::Router,
    Router {
        slots: 1,
        queue: 0,
        vcpu: 1,
        cpu_ms: 0.0,
        p50_ms: 0.0,
        p99_ms: 0.0,
        restart_s: 0.0,
        policy: Policy::StickySpill,
        affinity: 0.0,
        spill: 0,
        prefix_hit: 0.0,
    }
);
default_from_table!(
    Replica,
    replicas,
    Part::Replica,
    Replica {
        slots: 1,
        queue: 0,
        kv_tokens: 1,
        prefill_base_ms: 0.0,
        prefill_tokens_per_s: 1.0,
        decode_base_ms: 0.0,
        decode_per_call_ms: 0.0,
        large: false,
    }
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_in_its_range_and_reads_back() {
        let mut blueprint = Blueprint::router_before(1);
        blueprint.traffics.push(Traffic::default());
        blueprint.balancers.push(Balancer::default());
        for setting in Part::ALL.iter().flat_map(|part| settings_of(*part)) {
            assert!(setting.kind.admits(setting.default), "{}", setting.key);
            assert_eq!(setting.get(&blueprint, 0), setting.default, "{}", setting.key);
            assert_eq!(setting.key.split('.').next(), Some(setting.part.key()));
            if let Some((low, high)) = setting.kind.bounds() {
                assert!(setting.slider.0 >= low && setting.slider.1 <= high, "{}", setting.key);
            }
        }
    }
}
