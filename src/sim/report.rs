//! The report of a run: the JSON object that the command line prints and goals are read from.

use super::calendar::Calendar;
use super::call::{Call, Pool, Reason};
use super::clock::{Micros, seconds};
use super::kv_cache::KvCache;
use super::measure::{Durations, Tally};
use super::parts::{BalancerState, Cpu, ReplicaState, Roster, Slots, Waiting};
use super::run::Run;
use serde::Serialize;
use serde_json::{Map, Value};

/// A distribution in the report; in milliseconds or seconds, as its key says. Null where there is no sample.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the names are those of the statistics")]
pub struct Percentiles {
    pub p50: Option<f64>,
    pub p90: Option<f64>,
    pub p95: Option<f64>,
    pub p99: Option<f64>,
    pub mean: Option<f64>,
    pub max: Option<f64>,
    pub count: u64,
}

impl Percentiles {
    /// From durations in microseconds, `unit` of which make one of the report's units.
    fn of(durations: &Durations, unit: f64) -> Self {
        let percentile = |percent| durations.percentile(percent).map(|micros| micros as f64 / unit);
        Self {
            p50: percentile(50),
            p90: percentile(90),
            p95: percentile(95),
            p99: percentile(99),
            mean: durations.mean().map(|micros| micros / unit),
            max: durations.max().map(|micros| micros as f64 / unit),
            count: durations.count(),
        }
    }
}

/// What the report says of a replica.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ReplicaReport {
    /// Calls answered.
    pub answered: u64,
    /// Share of the time in which a prefill was under way.
    pub prefill_busy: Option<f64>,
    /// Calls running, on average over time.
    pub mean_running: Option<f64>,
    /// Calls waiting, on average over time.
    pub mean_waiting: Option<f64>,
    /// The longest that its queue was.
    pub max_waiting: u64,
    /// Tokens found in its KV cache.
    pub hit_tokens: u64,
    /// Tokens of the prompts that it admitted.
    pub prompt_tokens: u64,
    /// Tokens evicted from its KV cache since the warm-up.
    pub evicted_tokens: u64,
    /// Tokens in its KV cache at the end.
    pub cached_tokens: u64,
}

/// What the report says of a router.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RouterReport {
    /// The longest that its queue was.
    pub max_waiting: u64,
    /// Busy share of its cores.
    pub cpu_busy: Option<f64>,
    /// Slots taken, on average over time.
    pub slots_mean: Option<f64>,
    /// Calls waiting for a slot, on average over time.
    pub mean_waiting: Option<f64>,
}

/// What the report says of a load balancer.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PartReport {
    /// Calls that it passed on since the warm-up.
    pub calls: u64,
}

/// A goal of a level and how the run did.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GoalReport {
    /// Its name in words.
    pub name: String,
    /// The report key that it reads.
    pub key: String,
    /// Is the target the least that will do, or the most?
    pub at_least: bool,
    /// The target.
    pub target: f64,
    /// What the run reached; null where there is no sample, which is not met.
    pub value: Option<f64>,
    /// Is it met?
    pub met: bool,
}

/// The report of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// The level, or the trace, that was run.
    pub level: String,
    /// The seed.
    pub seed: u64,
    /// How long the run was, in simulated seconds.
    pub seconds: f64,
    /// How much of that was warm-up.
    pub warmup_s: f64,
    /// Every setting by its key.
    pub settings: Map<String, Value>,
    /// Calls sent after the warm-up.
    pub sent: u64,
    /// Of these, calls answered.
    pub answered: u64,
    /// Of these, calls failed, by reason.
    pub rejected: Map<String, Value>,
    /// All of those that failed.
    pub rejected_total: u64,
    /// Calls still inside.
    pub in_flight: u64,
    /// Tokens found in KV caches.
    pub hit_tokens: u64,
    /// Tokens of prompts that entered prefill.
    pub prompt_tokens: u64,
    /// KV hit rate: the ratio of the two.
    pub hit_rate: Option<f64>,
    /// Share of calls whose hit was over half of their prompt.
    pub warm_calls: Option<f64>,
    /// Calls that went to the least busy replica instead of their home.
    pub spills: u64,
    /// Crashes of routers.
    pub router_crashes: u64,
    /// Time to first token, in milliseconds.
    pub ttft_ms: Percentiles,
    /// Time to last token, in milliseconds.
    pub latency_ms: Percentiles,
    /// Time from a task's first call to its last answer, in seconds.
    pub task_s: Percentiles,
    /// Tasks done.
    pub tasks_done: u64,
    /// Tasks failed.
    pub tasks_failed: u64,
    /// Calls answered a second.
    pub throughput_rps: Option<f64>,
    /// Jain's fairness index of the replicas' answered calls: 1 if all answered alike, 1/n if one answered them all
    /// (Jain, Chiu and Hawe 1984).
    pub jain: Option<f64>,
    /// The prefill busy share of the busiest replica.
    pub hottest_prefill_busy: Option<f64>,
    /// Credits spent.
    pub credits: u64,
    /// The replicas, in order.
    pub replicas: Vec<ReplicaReport>,
    /// The routers, in order.
    pub routers: Vec<RouterReport>,
    /// The first of them.
    pub router: Option<RouterReport>,
    /// The load balancers, in order.
    pub balancers: Vec<PartReport>,
    /// The level's goals.
    pub goals: Vec<GoalReport>,
    /// Are all goals met? Null for a level without goals.
    pub passed: Option<bool>,
    /// How many events the engine processed.
    pub events: u64,
    /// A hash over every call's fate and times.
    pub digest: String,
}

/// Jain's index of these numbers; none where all are 0.
fn jain(numbers: impl Iterator<Item = u64> + Clone) -> Option<f64> {
    let (count, sum) = numbers.clone().fold((0.0, 0.0), |(count, sum), x| (count + 1.0, sum + x as f64));
    let squares: f64 = numbers.map(|x| x as f64 * x as f64).sum();
    (squares > 0.0).then(|| sum * sum / (count * squares))
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Every value of a report that holds no others, under its key with dots: `ttft_ms.p99`, `replicas.0.answered`.
pub fn dotted(report: &Value) -> Vec<(String, &Value)> {
    fn walk<'a>(path: &str, value: &'a Value, leaves: &mut Vec<(String, &'a Value)>) {
        let under = |step: &str| if path.is_empty() { step.to_owned() } else { format!("{path}.{step}") };
        match value {
            Value::Object(map) => map.iter().for_each(|(step, value)| walk(&under(step), value, leaves)),
            Value::Array(list) => {
                list.iter().enumerate().for_each(|(place, value)| walk(&under(&place.to_string()), value, leaves));
            }
            leaf => leaves.push((path.to_owned(), leaf)),
        }
    }
    let mut leaves = Vec::new();
    walk("", report, &mut leaves);
    leaves
}

impl Run {
    /// The report of the run so far. The caller adds what it knows beyond the fleet: level, credits, goals.
    pub fn report(&self) -> Report {
        let world = self.world();
        let (now, tally) = (self.now(), world.resource::<Tally>());
        let roster = world.resource::<Roster>();
        let calls = world.resource::<Pool>().all_calls.iter().filter_map(|&entity| world.get::<Call>(entity));
        let mut inside: Vec<(u64, Micros, bool)> =
            calls.filter(|call| call.in_flight()).map(|call| (call.serial, call.sent, call.counted)).collect();
        inside.sort_unstable();
        let in_flight = inside.iter().filter(|(_, _, counted)| *counted).count() as u64;
        let inside: Vec<(u64, Micros)> = inside.into_iter().map(|(serial, sent, _)| (serial, sent)).collect();

        let replicas: Vec<ReplicaReport> =
            roster.replicas.iter().filter_map(|&entity| self.replica_report(entity, now)).collect();
        let routers: Vec<RouterReport> =
            roster.routers.iter().filter_map(|&entity| self.router_report(entity, now)).collect();
        let balancers = roster.balancers.iter().filter_map(|&entity| world.get::<BalancerState>(entity));
        let measured = seconds(now) - seconds(self.warmup());
        Report {
            level: String::new(),
            seed: world.resource::<super::clock::Clock>().seed,
            seconds: seconds(now),
            warmup_s: seconds(self.warmup()),
            settings: self.blueprint().settings_json(),
            sent: tally.sent,
            answered: tally.answered,
            rejected: Reason::ALL
                .iter()
                .map(|&reason| (reason.key().to_owned(), tally.rejected[reason as usize].into()))
                .collect(),
            rejected_total: tally.rejected.iter().sum(),
            in_flight,
            hit_tokens: tally.hit_tokens,
            prompt_tokens: tally.prompt_tokens,
            hit_rate: share(tally.hit_tokens, tally.prompt_tokens),
            warm_calls: share(tally.warm, tally.prefills),
            spills: tally.spills,
            router_crashes: tally.crashes,
            ttft_ms: Percentiles::of(&tally.ttft, 1e3),
            latency_ms: Percentiles::of(&tally.latency, 1e3),
            task_s: Percentiles::of(&tally.task, 1e6),
            tasks_done: tally.task.count(),
            tasks_failed: tally.tasks_failed,
            throughput_rps: (measured > 0.0).then(|| tally.answered as f64 / measured),
            jain: jain(replicas.iter().map(|replica| replica.answered)),
            hottest_prefill_busy: replicas.iter().filter_map(|replica| replica.prefill_busy).max_by(f64::total_cmp),
            credits: 0,
            replicas,
            router: routers.first().cloned(),
            routers,
            balancers: balancers.map(|state| PartReport { calls: state.passed }).collect(),
            goals: Vec::new(),
            passed: None,
            events: world.resource::<Calendar>().processed,
            digest: format!("{:016x}", tally.digest(&inside)),
        }
    }

    fn replica_report(&self, entity: bevy::prelude::Entity, now: Micros) -> Option<ReplicaReport> {
        let world = self.world();
        let state = world.get::<ReplicaState>(entity)?;
        let (slots, waiting) = (world.get::<Slots>(entity)?, world.get::<Waiting>(entity)?);
        let cache = world.get::<KvCache>(entity)?;
        Some(ReplicaReport {
            answered: state.answered,
            prefill_busy: state.lane.mean(now),
            mean_running: slots.taken.mean(now),
            mean_waiting: waiting.length.mean(now),
            max_waiting: waiting.length.max(),
            hit_tokens: state.hit_tokens,
            prompt_tokens: state.prompt_tokens,
            evicted_tokens: cache.evicted - state.evicted_before,
            cached_tokens: cache.used(),
        })
    }

    fn router_report(&self, entity: bevy::prelude::Entity, now: Micros) -> Option<RouterReport> {
        let world = self.world();
        let (slots, waiting) = (world.get::<Slots>(entity)?, world.get::<Waiting>(entity)?);
        let cpu = world.get::<Cpu>(entity)?;
        Some(RouterReport {
            max_waiting: waiting.length.max(),
            cpu_busy: cpu.busy.mean(now).map(|busy| busy / cpu.cores as f64),
            slots_mean: slots.taken.mean(now),
            mean_waiting: waiting.length.mean(now),
        })
    }
}
