//! Small fleets for the tests, how they are run, and how one looks inside.

use bevy::prelude::Entity;
use proptest::test_runner::{Config, RngSeed};
use warmpath::blueprint::{Blueprint, Part, PartId, Policy, Replica, Router, Traffic};
use warmpath::sim::{Call, Micros, RecordedCall, Report, Run, RunSpec, Session, Sight, Stage, micros_of_s};

pub const MS: Micros = 1_000;
pub const S: Micros = 1_000_000;

/// The tokens of a block of a recorded call.
pub const BLOCK: u64 = 512;

/// A property test's settings: so many cases, from a fixed seed so that a red run is red again. PROPTEST_RNG_SEED and
/// PROPTEST_CASES look further.
pub fn cases(cases: u32) -> Config {
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(20_260_730);
    }
    config
}

pub fn part(part: Part, index: usize) -> PartId {
    PartId::new(part, index)
}

/// A router that costs nothing: no latency, no CPU, room for all.
pub fn free_router() -> Router {
    Router {
        slots: 1_000_000,
        queue: 10_000_000,
        vcpu: 1_024,
        cpu_ms: 0.0,
        p50_ms: 0.0,
        p99_ms: 0.0,
        restart_s: 10.0,
        policy: Policy::RoundRobin,
        affinity: 0.0,
        spill: 0,
        prefix_hit: 1.0,
    }
}

/// A replica that costs nothing: immediate prefill and decode, room for all.
pub fn free_replica() -> Replica {
    Replica {
        slots: 1_000_000,
        queue: 10_000_000,
        kv_tokens: 1_000_000_000_000,
        prefill_base_ms: 0.0,
        prefill_tokens_per_s: 1e9,
        decode_base_ms: 0.0,
        decode_per_call_ms: 0.0,
        large: false,
    }
}

/// Poisson traffic of calls that stand alone: one step, one token in, one token out.
pub fn single_calls(per_s: f64) -> Traffic {
    Traffic {
        sessions_per_s: per_s,
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
}

/// Traffic to a router before replicas that are all alike.
pub fn fleet(traffic: Traffic, router: Router, replicas: usize, replica: Replica) -> Blueprint {
    let mut fleet = Blueprint::router_before(replicas);
    fleet.traffics = vec![traffic];
    fleet.routers = vec![router];
    fleet.replicas = vec![replica; replicas];
    fleet.links.push((part(Part::Traffic, 0), part(Part::Router, 0)));
    fleet
}

/// Traffic straight to one replica.
pub fn lone_replica(traffic: Traffic, replica: Replica) -> Blueprint {
    Blueprint {
        traffics: vec![traffic],
        replicas: vec![replica],
        links: vec![(part(Part::Traffic, 0), part(Part::Replica, 0))],
        ..Blueprint::default()
    }
}

/// A router before replicas, for recorded calls.
pub fn behind(router: Router, replicas: usize, replica: Replica) -> Blueprint {
    let mut fleet = Blueprint::router_before(replicas);
    fleet.routers = vec![router];
    fleet.replicas = vec![replica; replicas];
    fleet
}

pub fn start(blueprint: &Blueprint, seed: u64, warmup_s: f64) -> Run {
    Run::new(RunSpec { blueprint: blueprint.clone(), seed, warmup: micros_of_s(warmup_s), recording: None })
}

pub fn report(blueprint: &Blueprint, seed: u64, seconds: f64, warmup_s: f64) -> Report {
    let mut run = start(blueprint, seed, warmup_s);
    run.run_to(micros_of_s(seconds));
    run.report()
}

/// A recorded call of whole blocks but for what `tokens` leaves of the last.
pub fn call(time: Micros, blocks: &[u64], tokens: u64, output: u64) -> RecordedCall {
    assert_eq!(tokens.div_ceil(BLOCK), blocks.len() as u64, "a block for every 512 tokens");
    RecordedCall { time, blocks: blocks.into(), prompt_tokens: tokens, output_tokens: output }
}

/// A run of these recorded calls, at time 0.
pub fn play(blueprint: &Blueprint, calls: &[RecordedCall]) -> Run {
    let calls: Vec<RecordedCall> = calls.to_vec();
    Run::new(RunSpec {
        blueprint: blueprint.clone(),
        seed: 1,
        warmup: 0,
        recording: Some(Box::new(calls.into_iter().map(Ok))),
    })
}

/// What happened, with its moment, from now to `until`; nothing is lost to the limit of what is kept.
pub fn sights(run: &mut Run, until: Micros) -> Vec<(Micros, Sight)> {
    run.watch();
    let mut all = Vec::new();
    loop {
        let done = run.advance(until, 500);
        all.extend(run.watched().sights.drain(..));
        if done {
            return all;
        }
    }
}

/// When calls were answered, and by which replica.
pub fn answers(sights: &[(Micros, Sight)]) -> Vec<(Micros, usize)> {
    let answer = |(time, sight): &(Micros, Sight)| match sight {
        Sight::Answered { at, .. } => Some((*time, at.index)),
        _ => None,
    };
    sights.iter().filter_map(answer).collect()
}

/// When calls failed, where and why.
pub fn failures(sights: &[(Micros, Sight)]) -> Vec<(Micros, PartId, warmpath::sim::Reason)> {
    let failure = |(time, sight): &(Micros, Sight)| match sight {
        Sight::Rejected { at, reason, .. } => Some((*time, *at, *reason)),
        _ => None,
    };
    sights.iter().filter_map(failure).collect()
}

/// Which replica each call went to, in order.
pub fn routes(sights: &[(Micros, Sight)]) -> Vec<usize> {
    let route = |(_, sight): &(Micros, Sight)| match sight {
        Sight::Moved { to, .. } if to.part == Part::Replica => Some(to.index),
        _ => None,
    };
    sights.iter().filter_map(route).collect()
}

/// The calls that are somewhere, with their entities.
pub fn calls(run: &Run) -> Vec<(Entity, &Call)> {
    let Some(mut query) = run.world().try_query::<(Entity, &Call)>() else { return Vec::new() };
    query.iter(run.world()).filter(|(_, call)| call.stage != Stage::Unused).collect()
}

/// The sessions that ever began and whose entity was not used again, by number.
pub fn sessions(run: &Run) -> Vec<&Session> {
    let Some(mut query) = run.world().try_query::<&Session>() else { return Vec::new() };
    let mut sessions: Vec<&Session> = query.iter(run.world()).filter(|session| session.step > 0).collect();
    sessions.sort_by_key(|session| session.number);
    sessions
}

/// Calls that failed for this reason.
pub fn failed(report: &Report, reason: &str) -> u64 {
    report.rejected[reason].as_u64().unwrap()
}

/// Is `found` within `tolerance` (a share) of `expected`?
#[track_caller]
pub fn assert_near(what: &str, found: f64, expected: f64, tolerance: f64) {
    let error = found / expected - 1.0;
    assert!(error.abs() <= tolerance, "{what}: found {found}, expected {expected}, off by {:.2} %", error * 100.0);
}
